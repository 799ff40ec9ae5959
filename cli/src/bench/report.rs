//! The figures: a line for each array and cell, and means.

use std::fmt::Write as _;

use anyhow::Result;
use btune::train::Summary;
use btune::{Config, Measurement, Objective, Totals};
use serde::Serialize;

use super::costs::Costs;
use super::runs::{Player, Run};

/// Choices that lose less than this are as good as the best, for `within`.
const NEAR: f64 = 0.1;

/// A run against the best fixed parameters.
#[derive(Debug, Serialize)]
struct Played {
    /// What the whole run loses: `exp(J - J of the best) - 1`.
    regret: f64,
    ratio: f64,
    /// GB/s of uncompressed data over the time that counts, the tuner's included.
    speed: f64,
    /// It saves less than 3 %, where the best fixed parameters save more.
    stored_raw: bool,
}

/// What is known of a tuner's run besides.
#[derive(Debug, Serialize)]
struct Tuned {
    #[serde(flatten)]
    run: Played,
    /// What the choice for the first chunk loses.
    first_chunk: f64,
    /// Chunks until the choice for one lost less than a tenth; none if that never happened.
    within: Option<usize>,
    /// The tuner's time as a share of the compression time.
    asking: f64,
}

/// One array in one cell.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    array: String,
    tradeoff: f64,
    perf_mode: &'static str,
    /// The best fixed parameters.
    best: String,
    best_ratio: f64,
    best_speed: f64,
    tuner: Tuned,
    without_model: Tuned,
    stock: Played,
}

impl Row {
    /// `runs` are those of the tuner, of the tuner without a model, of the stock parameters, and of the `fixed` ones.
    pub(super) fn new(
        array: &str,
        config: &Config,
        runs: &[Vec<Run>],
        fixed: &[Player],
        costs: &mut Costs<'_>,
    ) -> Result<Self> {
        let objective = Objective::new(config);
        let j = |run: &Run| objective.j(&totals(&objective, &run.measurement()));
        let (tuners, references) = runs.split_at(runs.len() - fixed.len());
        let medians: Vec<f64> =
            references.iter().map(|runs| median(runs.iter().map(j).collect())).collect();
        let first = (0..medians.len()).min_by(|a, b| medians[*a].total_cmp(&medians[*b]));
        let reference = &references[first.unwrap_or(0)];
        let best = reference[0].choices[0].1;
        let speed = |run: &Run| {
            let totals = totals(&objective, &run.measurement());
            totals.nbytes / totals.time / 1e9
        };
        let saves = |run: &Run| totals(&objective, &run.measurement()).saves();
        let played = |runs: &[Run]| {
            let pairs = || runs.iter().zip(reference);
            let middle = median(runs.iter().map(speed).collect());
            Played {
                regret: median(pairs().map(|(run, best)| j(run) - j(best)).collect()).exp_m1(),
                ratio: ratio(&runs[0]),
                speed: middle,
                stored_raw: objective.t > 0.0 && saves(&reference[0]) && !saves(&runs[0]),
            }
        };
        let mut tuned = |runs: &[Run]| -> Result<Tuned> {
            let mut regrets = Vec::new();
            for &(number, cparams, challenger) in &runs[0].choices {
                let chosen = totals(&objective, &costs.of(number, &cparams)?);
                let ideal = totals(&objective, &costs.of(number, &best)?);
                regrets.push((objective.regret(&chosen, &ideal), challenger));
            }
            let near = |&(regret, challenger): &(f64, bool)| !challenger && regret < NEAR;
            let share = |run: &Run| run.asking / (run.measurement().ctime - run.asking);
            Ok(Tuned {
                run: played(runs),
                first_chunk: regrets.first().map_or(0.0, |first| first.0),
                within: regrets.iter().position(near).map(|at| at + 1),
                asking: median(runs.iter().map(share).collect()),
            })
        };
        Ok(Self {
            array: array.to_owned(),
            // Of a number with few digits, as f64.
            tradeoff: (objective.t * 1e6).round() / 1e6,
            perf_mode: config.perf_mode.name(),
            best: best.to_string(),
            best_ratio: ratio(&reference[0]),
            best_speed: median(reference.iter().map(speed).collect()),
            tuner: tuned(&tuners[0])?,
            without_model: tuned(&tuners[1])?,
            stock: played(&tuners[2]),
        })
    }
}

/// All rows of a run of the command.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    chunks: u32,
    chunk_kib: u32,
    repeats: u16,
    rows: Vec<Row>,
}

/// A figure of a row, in per cent, its heading, and how its mean is taken.
type Column = (&'static str, fn(&Row) -> f64);

const COLUMNS: [Column; 5] = [
    ("tuner", |r| r.tuner.run.regret),
    ("no model", |r| r.without_model.run.regret),
    ("zstd-5", |r| r.stock.regret),
    ("1st chunk", |r| r.tuner.first_chunk),
    ("asking", |r| r.tuner.asking),
];

impl Report {
    pub(super) fn new(chunks: u32, chunk_kib: u32, repeats: u16) -> Self {
        Self { chunks, chunk_kib, repeats, rows: Vec::new() }
    }

    /// Adds a row; gives its line, after the headings if it is the first.
    pub(super) fn add(&mut self, row: Row) -> String {
        let mut line = String::new();
        if self.rows.is_empty() {
            line =
                format!("{:39}", format!("{} chunks of {} KiB, in %", self.chunks, self.chunk_kib));
            for (name, _) in COLUMNS {
                let _ = write!(line, "{name:>11}");
            }
            line += "  within  best fixed\n";
        }
        let figures: Vec<f64> = COLUMNS.iter().map(|(_, of)| of(&row)).collect();
        let within = row.tuner.within.map_or(f64::INFINITY, |n| n as f64);
        let raw = if row.tuner.run.stored_raw { "; STORED RAW" } else { "" };
        line += &print(&row.array, &cell(&row), &figures, within);
        let _ = write!(line, "  {}{raw}", row.best);
        self.rows.push(row);
        line
    }

    /// For each cell the geometric mean of each column, and for all of them the median and the worst too. (Of `within`
    /// the median.)
    pub(super) fn summary(&self) -> String {
        let mut cells: Vec<String> = Vec::new();
        for row in &self.rows {
            if !cells.contains(&cell(row)) {
                cells.push(cell(row));
            }
        }
        let lines = cells.iter().map(|name| self.means("mean", Some(name), |s| s.mean));
        let all = [
            self.means("mean", None, |s| s.mean),
            self.means("median", None, |s| s.median),
            self.means("worst", None, |s| s.worst),
        ];
        lines.chain(all).collect::<Vec<_>>().join("\n")
    }

    fn means(&self, name: &str, of_cell: Option<&str>, figure: fn(&Summary) -> f64) -> String {
        let rows = || self.rows.iter().filter(|row| of_cell.is_none_or(|name| cell(row) == name));
        let figures: Vec<f64> =
            COLUMNS.iter().map(|(_, of)| figure(&Summary::of(rows().map(of).collect()))).collect();
        let within = rows().map(|row| row.tuner.within.map_or(f64::INFINITY, |n| n as f64));
        let within: Vec<f64> = within.collect();
        let within = match name {
            "worst" => within.iter().copied().fold(0.0, f64::max),
            _ => median(within),
        };
        print(name, of_cell.unwrap_or("all"), &figures, within)
    }
}

/// A line: figures in per cent, and chunks.
fn print(name: &str, cell: &str, figures: &[f64], within: f64) -> String {
    let mut line = format!("{name:26} {cell:12}");
    for figure in figures {
        let _ = write!(line, "{:11.1}", figure * 100.0);
    }
    let within = if within.is_finite() { within.to_string() } else { "never".to_owned() };
    let _ = write!(line, "  {within:>6}");
    line
}

fn cell(row: &Row) -> String {
    format!("{} {}", row.tradeoff, row.perf_mode)
}

fn totals(objective: &Objective, m: &Measurement) -> Totals {
    objective.totals(m).unwrap_or_default()
}

fn ratio(run: &Run) -> f64 {
    let m = run.measurement();
    m.nbytes as f64 / m.cbytes as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
