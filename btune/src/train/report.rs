//! How good a model's choices are on arrays that it has not seen.

use std::fmt::Write as _;

use serde::Serialize;

use super::dataset::{Dataset, Example};
use super::fit::{Fitting, fit};
use crate::chunk::Chunk;
use crate::config::{DEFAULT_BANDWIDTH, PerfMode};
use crate::cost::{Objective, Totals};
use crate::cparams::{Codec, Cparams, Filter};
use crate::error::TrainError;
use crate::onnx::{Network, Scratch};
use crate::search::{Prior, Spread};

/// Tradeoffs and modes that are looked at.
pub const CELLS: [(f64, PerfMode); 4] =
    [(0.1, PerfMode::Comp), (0.5, PerfMode::Comp), (0.9, PerfMode::Comp), (0.5, PerfMode::Decomp)];
/// How many of the best predicted a search is thought to try.
const TOPS: [usize; 2] = [3, 6];

/// What the choices for one array lose, at one tradeoff and mode, against the best class in hindsight: 0.1 is 10 %.
#[derive(Debug, Clone, Serialize)]
pub struct Regret {
    /// The array.
    pub array: String,
    /// The tradeoff.
    pub tradeoff: f64,
    /// The mode.
    pub perf_mode: PerfMode,
    /// For each piece what the model predicts to be best.
    pub model: f64,
    /// For each piece the best of the first three predicted.
    pub top3: f64,
    /// For each piece the best of the first six predicted.
    pub top6: f64,
    /// What is best on average over the arrays that the model has seen.
    pub single: f64,
    /// What a search without a model begins with.
    pub spread: f64,
    /// zstd at level 5 (or the class that is nearest) with shuffle.
    pub stock: f64,
}

/// Deviation of predicted from measured logarithms.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Errors {
    /// Of the share.
    pub share: f64,
    /// Of the seconds to compress.
    pub ctime: f64,
    /// Of the seconds to decompress.
    pub dtime: f64,
}

/// Held-out figures of all arrays.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// One for each array and each of [`CELLS`].
    pub regrets: Vec<Regret>,
    /// Over all pieces.
    pub errors: Errors,
    /// Pieces that were evaluated on.
    pub pieces: usize,
}

/// Holds out the arrays of one domain after the other: fits a network to all others, and lets it choose for them.
/// `domains` has a number for each of the dataset's groups: those with the same one are held out together.
/// `progress` is called with the share that is done.
///
/// # Errors
/// [`TrainError::Empty`] where nothing is left to learn from.
pub fn validate(
    dataset: &Dataset,
    domains: &[usize],
    fitting: &Fitting,
    mut progress: impl FnMut(f64),
) -> Result<Report, TrainError> {
    let domain = |example: &Example| domains.get(example.group).copied().unwrap_or(usize::MAX);
    let mut held: Vec<usize> = dataset.examples.iter().filter(|e| e.original).map(domain).collect();
    held.sort_unstable();
    held.dedup();
    let mut report = Report { regrets: Vec::new(), errors: Errors::default(), pieces: 0 };
    for (i, &out) in held.iter().enumerate() {
        let done = |share: f64| (i as f64 + share) / held.len() as f64;
        let layers = fit(dataset, |e| domain(e) != out, fitting, |share| progress(done(share)))?;
        let network = Network::new(layers, [].into()).map_err(|_| TrainError::Empty)?;
        let seen: Vec<&Example> =
            dataset.examples.iter().filter(|e| domain(e) != out && e.original).collect();
        for group in 0..dataset.groups.len() {
            let own = |e: &&Example| e.original && e.group == group && domain(e) == out;
            let pieces: Vec<&Example> = dataset.examples.iter().filter(own).collect();
            if !pieces.is_empty() {
                report.add(dataset, &network, &pieces, &seen);
            }
        }
    }
    for error in [&mut report.errors.share, &mut report.errors.ctime, &mut report.errors.dtime] {
        *error = (*error / (report.pieces * dataset.classes.len()).max(1) as f64).sqrt();
    }
    Ok(report)
}

impl Report {
    fn add(
        &mut self,
        dataset: &Dataset,
        network: &Network,
        pieces: &[&Example],
        seen: &[&Example],
    ) {
        let predicted: Vec<Vec<[f32; 3]>> =
            pieces.iter().map(|piece| predict(network, piece)).collect();
        self.pieces += pieces.len();
        for (piece, predicted) in pieces.iter().zip(&predicted) {
            for (a, b) in piece.costs.iter().zip(predicted) {
                let off: [f64; 3] = std::array::from_fn(|i| f64::from(a[i] - b[i]).powi(2));
                self.errors.share += off[0];
                self.errors.ctime += off[1];
                self.errors.dtime += off[2];
            }
        }
        for (t, perf_mode) in CELLS {
            let objective = objective(t, perf_mode);
            let best = Fixed::of(&objective, dataset, pieces);
            let regret = |totals: Totals| (objective.j(&totals) - best.j).exp_m1();
            let choose = |count: usize| {
                let each = pieces.iter().zip(&predicted).map(|(piece, predicted)| {
                    let ranked = ranked(&objective, predicted);
                    let tried = ranked
                        .into_iter()
                        .take(count)
                        .map(|class| totals(&objective, piece.costs[class]));
                    least(&objective, tried)
                });
                regret(each.fold(Totals::default(), |sum, t| sum + t))
            };
            let fixed = |class: usize| regret(sum(&objective, pieces, class));
            let spread = Spread.predict(&Chunk::new(&[], 4));
            let j = |at: usize| objective.j(&spread[at].totals(&objective));
            let first =
                (1..spread.len().min(dataset.classes.len())).min_by(|&a, &b| j(a).total_cmp(&j(b)));
            self.regrets.push(Regret {
                array: dataset.groups[pieces[0].group].clone(),
                tradeoff: t,
                perf_mode,
                model: choose(1),
                top3: choose(TOPS[0]),
                top6: choose(TOPS[1]),
                single: fixed(single(&objective, dataset, seen)),
                spread: fixed(first.unwrap_or(0)),
                stock: fixed(stock(&dataset.classes)),
            });
        }
    }

    /// Geometric mean and worst of a column, over the arrays of a cell or, without one, all.
    #[must_use]
    pub fn summary(
        &self,
        cell: Option<(f64, PerfMode)>,
        column: impl Fn(&Regret) -> f64,
    ) -> (f64, f64) {
        let of = |r: &&Regret| cell.is_none_or(|cell| cell == (r.tradeoff, r.perf_mode));
        let logs: Vec<f64> = self.regrets.iter().filter(of).map(|r| column(r).ln_1p()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        (mean.exp_m1(), logs.iter().copied().fold(f64::NEG_INFINITY, f64::max).exp_m1())
    }

    /// A table for people, in per cent.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = String::new();
        let columns: [(&str, Column); 6] = [
            ("model", |r| r.model),
            ("top 3", |r| r.top3),
            ("top 6", |r| r.top6),
            ("one for all", |r| r.single),
            ("no model", |r| r.spread),
            ("zstd-5", |r| r.stock),
        ];
        let _ = write!(out, "{:24} {:10}", "regret in %, held out", "");
        for (name, _) in columns {
            let _ = write!(out, "{name:>12}");
        }
        for regret in &self.regrets {
            let cell = format!("{} {}", regret.tradeoff, regret.perf_mode.name());
            let _ = write!(out, "\n{:24} {cell:10}", regret.array);
            for (_, of) in columns {
                let _ = write!(out, "{:12.1}", of(regret) * 100.0);
            }
        }
        for cell in CELLS.map(Some).into_iter().chain([None]) {
            let name = cell.map_or("all".to_owned(), |(t, mode)| format!("{t} {}", mode.name()));
            let _ = write!(out, "\n{:24} {name:10}", "mean (worst)");
            for (_, of) in columns {
                let (mean, worst) = self.summary(cell, of);
                let _ =
                    write!(out, "{:>12}", format!("{:.1} ({:.0})", mean * 100.0, worst * 100.0));
            }
        }
        let Errors { share, ctime, dtime } = self.errors;
        let _ = write!(
            out,
            "\n{} pieces; predictions are off by a factor of {:.2} (size), {:.2} (time to compress), {:.2} (to decompress)",
            self.pieces,
            share.exp(),
            ctime.exp(),
            dtime.exp()
        );
        out
    }
}

/// One of the figures.
type Column = fn(&Regret) -> f64;

fn objective(t: f64, perf_mode: PerfMode) -> Objective {
    Objective { t, perf_mode, bandwidth: f64::from(DEFAULT_BANDWIDTH) * 1024.0 }
}

fn predict(network: &Network, example: &Example) -> Vec<[f32; 3]> {
    let mut out = Vec::new();
    network.run(&example.features, &mut out, &mut Scratch::default());
    out.as_chunks::<3>().0.to_vec()
}

/// Costs of a byte as totals.
fn totals(objective: &Objective, costs: [f32; 3]) -> Totals {
    let [share, ctime, dtime] = costs.map(|x| f64::from(x).exp());
    let seconds = match objective.perf_mode {
        PerfMode::Comp => ctime,
        PerfMode::Decomp => dtime,
        PerfMode::Balanced => ctime + dtime,
    };
    Totals { nbytes: 1.0, cbytes: share, time: seconds + objective.travel(share) }
}

fn sum(objective: &Objective, pieces: &[&Example], class: usize) -> Totals {
    pieces.iter().fold(Totals::default(), |sum, piece| sum + totals(objective, piece.costs[class]))
}

/// Classes by predicted J, best first; those that save too little come last where others save enough.
fn ranked(objective: &Objective, predicted: &[[f32; 3]]) -> Vec<usize> {
    let each: Vec<Totals> = predicted.iter().map(|costs| totals(objective, *costs)).collect();
    let floor = each.iter().any(Totals::saves);
    let mut order: Vec<usize> = (0..each.len()).collect();
    let key = |at: usize| (floor && !each[at].saves(), objective.j(&each[at]));
    order.sort_by(|&a, &b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    order
}

/// The one with the least J, of those that save enough if any does.
fn least(objective: &Objective, tried: impl Iterator<Item = Totals>) -> Totals {
    let tried: Vec<Totals> = tried.collect();
    let floor = tried.iter().any(Totals::saves);
    let admitted = tried.into_iter().filter(|t| !floor || t.saves());
    admitted.min_by(|a, b| objective.j(a).total_cmp(&objective.j(b))).unwrap_or_default()
}

/// The best class for all pieces together.
struct Fixed {
    j: f64,
}

impl Fixed {
    fn of(objective: &Objective, dataset: &Dataset, pieces: &[&Example]) -> Self {
        let sums = (0..dataset.classes.len()).map(|class| sum(objective, pieces, class));
        Self { j: objective.j(&least(objective, sums)) }
    }
}

/// The class that is best on average over all arrays of these pieces.
fn single(objective: &Objective, dataset: &Dataset, seen: &[&Example]) -> usize {
    let mean = |class: usize| {
        let mut sums = vec![(0.0, 0u32); dataset.groups.len()];
        for piece in seen {
            let slot = &mut sums[piece.group];
            *slot = (slot.0 + objective.j(&totals(objective, piece.costs[class])), slot.1 + 1);
        }
        sums.iter().filter(|(_, n)| *n > 0).map(|(sum, n)| sum / f64::from(*n)).sum::<f64>()
    };
    let compressing =
        (0..dataset.classes.len()).filter(|&class| !dataset.classes[class].is_store());
    compressing.min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0)
}

fn stock(classes: &[Cparams]) -> usize {
    let zstd = |c: &Cparams| c.codec == Codec::Zstd && c.filter == Filter::Shuffle;
    let all = classes.iter().enumerate().filter(|(_, c)| zstd(c));
    all.min_by_key(|(_, c)| c.clevel.abs_diff(5)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FEATURE_COUNT;

    /// Two kinds of data, which the first feature tells apart: on each another class is four times as small.
    fn dataset() -> Dataset {
        let classes: Vec<Cparams> =
            Spread.predict(&Chunk::new(&[], 4)).iter().map(|p| p.cparams).take(3).collect();
        let mut dataset = Dataset { classes, ..Dataset::default() };
        let mut rng = fastrand::Rng::with_seed(1);
        for i in 0..400 {
            let kind = i % 2;
            let mut features = [0.5; FEATURE_COUNT];
            features[0] = kind as f32;
            features[1] = rng.f32();
            let costs: Vec<[f32; 3]> = (0..3)
                .map(|class| [if class == kind + 1 { 0.2 } else { 0.8 }, 1e-9, 1e-9])
                .collect();
            dataset.add(&format!("array{}", i % 5), true, features, &costs).unwrap();
        }
        dataset
    }

    #[test]
    fn a_model_that_tells_kinds_apart_beats_every_fixed_class() {
        let fitting = Fitting { epochs: 40, hidden: vec![16], ..Fitting::default() };
        let report = validate(&dataset(), &[0, 1, 2, 2, 3], &fitting, |_| ()).unwrap();
        assert_eq!(report.regrets.len(), 5 * CELLS.len());
        assert_eq!(report.pieces, 400);
        for regret in &report.regrets {
            assert!(regret.model < -0.05, "{regret:?}");
            assert!(regret.top3 <= regret.model + 1e-9);
            assert!(regret.single > -1e-9);
        }
        let (mean, worst) = report.summary(None, |r| r.model);
        assert!(mean <= worst && worst < 0.0);
        assert!(report.table().contains("array4"));
    }
}
