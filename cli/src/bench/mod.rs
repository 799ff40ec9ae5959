//! `btune bench`: what the tuner's choices lose, against the best fixed parameters in hindsight.

mod costs;
mod fixed;
mod report;
mod runs;
mod series;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use btune::{Config, PerfMode, Tradeoff};
use clap::builder::{TypedValueParser, ValueParserFactory};

use crate::{arrays, progress};

use costs::Costs;
use fixed::Sweep;
use report::{Report, Row};
use runs::{Player, Run};
use series::Series;

/// Compares the tuner with the best fixed parameters that anyone could have picked, and with zstd-5 and shuffle.
///
/// Every array is cut into chunks (and taken again from its start, as long as there are too few), which are compressed
/// one after the other on one thread, from a cold start; what the tuner spends on its search counts. The figures are
/// regrets: by how many per cent the run's weighted mean of time and size is worse than that of the best fixed
/// parameters. All that is compressed is decompressed and compared.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files with arrays, or folders of them
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// What counts: 0 speed alone, 1 size alone
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.5,0.9", value_name = "T,T")]
    tradeoff: Vec<Share>,
    /// Which time counts: COMP, DECOMP or BALANCED
    #[arg(long, value_delimiter = ',', default_value = "COMP", value_name = "MODE,MODE")]
    mode: Vec<Mode>,
    /// KiB of a chunk
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    chunk_size: u32,
    /// Chunks of a run
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    chunks: u32,
    /// Runs of each kind, side by side; the middle one counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// The folder of the model, if not the one that is built in
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Write all figures as JSON here
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A tradeoff on the command line.
#[derive(Debug, Clone, Copy)]
struct Share(Tradeoff);

/// A performance mode on the command line.
#[derive(Debug, Clone, Copy)]
struct Mode(PerfMode);

impl ValueParserFactory for Share {
    type Parser = clap::builder::ValueParser;

    fn value_parser() -> Self::Parser {
        let parse = |text: String| Tradeoff::parse(&text).map(Self);
        clap::builder::ValueParser::new(clap::builder::StringValueParser::new().try_map(parse))
    }
}

impl ValueParserFactory for Mode {
    type Parser = clap::builder::ValueParser;

    fn value_parser() -> Self::Parser {
        let parse = |text: String| PerfMode::parse(&text).map(Self);
        clap::builder::ValueParser::new(clap::builder::StringValueParser::new().try_map(parse))
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let sources = arrays::read_all(&args.inputs)?;
    let cells: Vec<(Tradeoff, PerfMode)> =
        args.mode.iter().flat_map(|m| args.tradeoff.iter().map(|t| (t.0, m.0))).collect();
    let mut report = Report::new(args.chunks, args.chunk_size, args.repeats);
    let bar = progress::bar("arrays", (sources.len() * (cells.len() + 1)) as u64);
    for source in &sources {
        let series = Series::new(source, args.chunk_size as usize * 1024, args.chunks as usize);
        let sweep = Sweep::of(&series).with_context(|| source.name.clone())?;
        bar.inc(1);
        let mut costs = Costs::new(&series);
        for &(tradeoff, perf_mode) in &cells {
            let config = Config {
                tradeoff,
                perf_mode,
                models_dir: args.models.clone(),
                repeats_count: true,
                ..Config::default()
            };
            let row = compare(&source.name, &series, &sweep, &mut costs, &config, args.repeats)
                .with_context(|| source.name.clone())?;
            bar.suspend(|| println!("{}", report.add(row)));
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    println!("{}", report.summary());
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&report)?;
        fs::write(path, json).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// All players' runs in turn, so that a machine that slows down slows all of them.
fn compare(
    name: &str,
    series: &Series<'_>,
    sweep: &Sweep,
    costs: &mut Costs<'_>,
    config: &Config,
    repeats: u16,
) -> Result<Row> {
    let mut players = vec![
        Player::Tuner(config.clone()),
        Player::Tuner(Config { use_inference: 0, ..config.clone() }),
        Player::Fixed(fixed::STOCK),
    ];
    let tuners = players.len();
    players.extend(sweep.candidates(config).into_iter().map(Player::Fixed));
    let mut runs: Vec<Vec<Run>> = players.iter().map(|_| Vec::new()).collect();
    for _ in 0..repeats {
        for (player, runs) in players.iter().zip(&mut runs) {
            runs.push(player.run(series, config.perf_mode)?);
        }
    }
    let fixed: Vec<_> = players.split_off(tuners);
    Row::new(name, config, &runs, &fixed, costs)
}
