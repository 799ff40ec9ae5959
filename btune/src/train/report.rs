//! How good a model's choices are on arrays that it has not seen.

use std::fmt::Write as _;

use serde::Serialize;

use super::baselines::{single, spread, stock};
use super::choices::Choices;
use super::dataset::{Dataset, Example};
use super::fit::{Fitting, fit};
use super::summary::Summary;
use crate::config::PerfMode;
use crate::error::TrainError;
use crate::onnx::{Network, Scratch};

/// Tradeoffs and modes that are looked at.
pub const CELLS: [(f64, PerfMode); 8] = [
    (0.1, PerfMode::Comp),
    (0.3, PerfMode::Comp),
    (0.5, PerfMode::Comp),
    (0.7, PerfMode::Comp),
    (0.9, PerfMode::Comp),
    (0.5, PerfMode::Decomp),
    (0.9, PerfMode::Decomp),
    (0.5, PerfMode::Balanced),
];
/// How many of the best predicted a search is thought to try.
const TOPS: [usize; 3] = [3, 5, 8];

/// What the choices for one array lose, at one tradeoff and mode, against the best class in hindsight: 0.1 is 10 %.
/// Below 0 they are better than any one class for the whole array, since they are made for each piece.
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
    /// For all pieces what the model predicts to be best for them together.
    pub once: f64,
    /// For each piece the best of the first three predicted.
    pub top3: f64,
    /// For each piece the best of the first five predicted.
    pub top5: f64,
    /// For each piece the best of the first eight predicted.
    pub top8: f64,
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
            let choices = Choices::new(t, perf_mode, pieces);
            let [top3, top5, top8] = TOPS.map(|count| choices.each(&predicted, count));
            self.regrets.push(Regret {
                array: dataset.groups[pieces[0].group].clone(),
                tradeoff: t,
                perf_mode,
                model: choices.each(&predicted, 1),
                once: choices.once(&predicted),
                top3,
                top5,
                top8,
                single: choices.fixed(single(t, perf_mode, dataset, seen)),
                spread: choices.fixed(spread(t, perf_mode, &dataset.classes)),
                stock: choices.fixed(stock(&dataset.classes)),
            });
        }
    }

    /// Of a column, over the arrays of a cell or, without one, all.
    #[must_use]
    pub fn summary(
        &self,
        cell: Option<(f64, PerfMode)>,
        column: impl Fn(&Regret) -> f64,
    ) -> Summary {
        let of = |r: &&Regret| cell.is_none_or(|cell| cell == (r.tradeoff, r.perf_mode));
        Summary::of(self.regrets.iter().filter(of).map(column).collect())
    }

    /// A table for people, in per cent: for each array geometric means over [`CELLS`], for each cell geometric
    /// mean, median and maximum over the arrays.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = format!("{:26}", "regret in %, held out");
        for (name, _) in COLUMNS {
            let _ = write!(out, "{name:>17}");
        }
        let mut arrays: Vec<&str> = self.regrets.iter().map(|r| r.array.as_str()).collect();
        arrays.dedup();
        for array in arrays {
            let _ = write!(out, "\n{array:26}");
            for (_, column) in COLUMNS {
                let of = |r: &&Regret| r.array == array;
                let each = self.regrets.iter().filter(of).map(column).collect();
                let _ = write!(out, "{:17.1}", Summary::of(each).mean * 100.0);
            }
        }
        let _ = write!(out, "\nmean, median (worst)");
        for cell in CELLS.map(Some).into_iter().chain([None]) {
            let name = cell.map_or("all".to_owned(), |(t, mode)| format!("{t} {}", mode.name()));
            let _ = write!(out, "\n{name:26}");
            for (_, column) in COLUMNS {
                let s = self.summary(cell, column);
                let [mean, median, worst] = [s.mean, s.median, s.worst].map(|x| x * 100.0);
                let _ = write!(out, "{:>17}", format!("{mean:.1}, {median:.1} ({worst:.0})"));
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

type Column = fn(&Regret) -> f64;

/// Columns of the table.
const COLUMNS: [(&str, Column); 8] = [
    ("model", |r| r.model),
    ("model, once", |r| r.once),
    ("top 3", |r| r.top3),
    ("top 5", |r| r.top5),
    ("top 8", |r| r.top8),
    ("one for all", |r| r.single),
    ("no model", |r| r.spread),
    ("zstd-5", |r| r.stock),
];

/// What the model predicts, as it is used: nothing grows when it is compressed.
fn predict(network: &Network, example: &Example) -> Vec<[f32; 3]> {
    let mut out = Vec::new();
    network.run(&example.features, &mut out, &mut Scratch::default());
    let costs = out.as_chunks::<3>().0.iter();
    costs.map(|&[share, ctime, dtime]| [share.min(0.0), ctime, dtime]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::cparams::Cparams;
    use crate::features::FEATURE_COUNT;
    use crate::search::{Prior, Spread};

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
            assert!(regret.top3 <= regret.model + 1e-9 && regret.top5 <= regret.top3 + 1e-9);
            assert!((regret.once - regret.single).abs() < 0.5, "{regret:?}");
            assert!(regret.single > -1e-9);
        }
        let summary = report.summary(None, |r| r.model);
        assert!(summary.mean <= summary.worst && summary.worst < 0.0);
        assert!(report.table().contains("array4"));
    }

    /// What the networks of the folds have seen shows in what they predict: the held-out arrays' costs are out of
    /// reach of one that has not.
    #[test]
    fn arrays_of_a_domain_are_held_out_together() {
        let mut dataset = dataset();
        let (odd, mut twin) = (dataset.examples[0].group, Vec::new());
        for example in dataset.examples.iter_mut().filter(|e| e.group == odd) {
            example.costs.iter_mut().for_each(|cost| cost[1] += 3.0);
            twin.push(Example { group: 5, original: false, ..example.clone() });
        }
        dataset.groups.push("twin".into());
        dataset.examples.extend(twin);
        let fitting = Fitting { epochs: 40, hidden: vec![8], ..Fitting::default() };
        let error =
            |domains: &[usize]| validate(&dataset, domains, &fitting, |_| ()).unwrap().errors.ctime;
        let (together, apart) = (error(&[0, 1, 2, 3, 4, 0]), error(&[0, 1, 2, 3, 4, 5]));
        assert!(together > 1.0 && apart < together, "{together} {apart}");
    }
}
