//! The command `btune`.

mod arrays;
mod bench;
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
    Bench(bench::Args),
    Train(train::Args),
}

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let done = match &command {
        Command::Bench(args) => bench::run(args),
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
