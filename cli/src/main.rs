//! The command `btune`.

mod arrays;
mod progress;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chooses compression parameters for numeric arrays.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(train::Args),
}

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let done = match &command {
        Command::Train(args) => train::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line, however many causes there are.
            eprintln!("btune: {error:#}");
            ExitCode::FAILURE
        }
    }
}
