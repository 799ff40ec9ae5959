//! What choices lose on the pieces of an array, at one tradeoff and mode.

use super::dataset::Example;
use crate::config::{DEFAULT_BANDWIDTH, PerfMode};
use crate::cost::{Objective, Totals};

/// Logarithms of share, seconds per byte to compress and to decompress, of each class.
pub(super) type Costs = [[f32; 3]];

/// The pieces of one array, and what is to be minimised over all of them.
pub(super) struct Choices<'e> {
    objective: Objective,
    pieces: &'e [&'e Example],
    /// The best one class for all pieces.
    best: Totals,
}

impl<'e> Choices<'e> {
    pub(super) fn new(t: f64, perf_mode: PerfMode, pieces: &'e [&'e Example]) -> Self {
        let objective = objective(t, perf_mode);
        let classes = pieces.first().map_or(0, |piece| piece.costs.len());
        let sums: Vec<Totals> =
            (0..classes).map(|class| sum(&objective, measured(pieces), class)).collect();
        let best = first(&objective, &sums).map_or(Totals::default(), |class| sums[class]);
        Self { objective, pieces, best }
    }

    /// For each piece the best of the `count` classes that are predicted to be best for it.
    pub(super) fn each(&self, predicted: &[Vec<[f32; 3]>], count: usize) -> f64 {
        let pairs = self.pieces.iter().zip(predicted);
        self.regret(pairs.map(|(piece, predicted)| {
            let expected: Vec<Totals> =
                predicted.iter().map(|costs| totals(&self.objective, *costs)).collect();
            let order = ranked(&self.objective, &expected).into_iter().take(count);
            let tried: Vec<Totals> =
                order.map(|class| totals(&self.objective, piece.costs[class])).collect();
            first(&self.objective, &tried).map_or(Totals::default(), |at| tried[at])
        }))
    }

    /// For all pieces the class that is predicted to be best for them together.
    pub(super) fn once(&self, predicted: &[Vec<[f32; 3]>]) -> f64 {
        let classes = predicted.first().map_or(0, Vec::len);
        let rows = || predicted.iter().map(Vec::as_slice);
        let sums: Vec<Totals> =
            (0..classes).map(|class| sum(&self.objective, rows(), class)).collect();
        self.fixed(first(&self.objective, &sums).unwrap_or(0))
    }

    /// This class for all pieces.
    pub(super) fn fixed(&self, class: usize) -> f64 {
        self.regret(self.pieces.iter().map(|piece| totals(&self.objective, piece.costs[class])))
    }

    fn regret(&self, chosen: impl Iterator<Item = Totals>) -> f64 {
        let sum = chosen.fold(Totals::default(), |sum, totals| sum + totals);
        self.objective.regret(&sum, &self.best)
    }
}

pub(super) fn objective(t: f64, perf_mode: PerfMode) -> Objective {
    Objective { t, perf_mode, bandwidth: f64::from(DEFAULT_BANDWIDTH) * 1024.0 }
}

/// Costs of a byte as totals.
pub(super) fn totals(objective: &Objective, costs: [f32; 3]) -> Totals {
    let [share, ctime, dtime] = costs.map(|x| f64::from(x).exp());
    let seconds = match objective.perf_mode {
        PerfMode::Comp => ctime,
        PerfMode::Decomp => dtime,
        PerfMode::Balanced => ctime + dtime,
    };
    Totals { nbytes: 1.0, cbytes: share, time: seconds + objective.travel(share) }
}

fn measured<'e>(pieces: &'e [&'e Example]) -> impl Iterator<Item = &'e Costs> {
    pieces.iter().map(|piece| piece.costs.as_slice())
}

fn sum<'c>(objective: &Objective, rows: impl Iterator<Item = &'c Costs>, class: usize) -> Totals {
    rows.fold(Totals::default(), |sum, costs| sum + totals(objective, costs[class]))
}

/// Positions by J, best first; those that save too little come last where others save enough.
fn ranked(objective: &Objective, each: &[Totals]) -> Vec<usize> {
    let floor = objective.t > 0.0 && each.iter().any(Totals::saves);
    let mut keys: Vec<(bool, f64, usize)> = each
        .iter()
        .enumerate()
        .map(|(at, totals)| (floor && !totals.saves(), objective.j(totals), at))
        .collect();
    keys.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    keys.into_iter().map(|(.., at)| at).collect()
}

fn first(objective: &Objective, each: &[Totals]) -> Option<usize> {
    ranked(objective, each).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::FEATURE_COUNT;

    /// Costs with these shares and nanoseconds per byte.
    fn costs(classes: &[(f32, f32)]) -> Vec<[f32; 3]> {
        let nanoseconds = |time: f32| (time * 1e-9).ln();
        classes
            .iter()
            .map(|&(share, time)| [share.ln(), nanoseconds(time), nanoseconds(time)])
            .collect()
    }

    fn example(classes: &[(f32, f32)]) -> Example {
        Example { group: 0, original: true, features: [0.0; FEATURE_COUNT], costs: costs(classes) }
    }

    /// Class 0 stores, quickly; 1 is good for the first piece and 2 for the second.
    fn pieces() -> [Example; 2] {
        [
            example(&[(1.0, 0.1), (0.2, 1.0), (0.4, 1.0)]),
            example(&[(1.0, 0.1), (0.4, 1.0), (0.2, 1.0)]),
        ]
    }

    /// At tradeoff 1 J is the logarithm of the share, so that regrets can be told beforehand.
    #[test]
    fn regrets_are_those_of_the_sums() {
        let [a, b] = pieces();
        let pieces = [&a, &b];
        let choices = Choices::new(1.0, PerfMode::Comp, &pieces);
        let right = [a.costs.clone(), b.costs.clone()];
        let wrong = [b.costs.clone(), a.costs.clone()];
        let near =
            |regret: f64, expected: f64| assert!((regret - expected).abs() < 1e-6, "{regret}");
        near(choices.fixed(1), 0.0);
        near(choices.fixed(0), 2.0 / 0.6 - 1.0);
        near(choices.each(&right, 1), 0.4 / 0.6 - 1.0);
        near(choices.each(&wrong, 1), 0.8 / 0.6 - 1.0);
        near(choices.each(&wrong, 2), 0.4 / 0.6 - 1.0);
        near(choices.once(&wrong), 0.0);
    }

    #[test]
    fn storing_is_chosen_at_tradeoff_0_and_where_nothing_saves() {
        let [a, b] = pieces();
        let pieces = [&a, &b];
        let predicted = [a.costs.clone(), b.costs.clone()];
        // Ten times as fast, but it does not compress: forbidden above 0, best at 0.
        let little = Choices::new(0.01, PerfMode::Comp, &pieces);
        assert!(little.each(&predicted, 1).abs() < 0.05);
        assert!((little.fixed(0) - (2.0 / 0.6 - 1.0)).abs() < 1e-6);
        let none = Choices::new(0.0, PerfMode::Comp, &pieces);
        assert!(none.each(&predicted, 1).abs() < 1e-9 && none.fixed(1) > 5.0);
        let noise = example(&[(1.0, 0.1), (0.98, 1.0), (0.99, 2.0)]);
        let pieces = [&noise];
        let raw = Choices::new(0.5, PerfMode::Decomp, &pieces);
        assert!(
            raw.fixed(0).abs() < 1e-9 && raw.once(std::slice::from_ref(&noise.costs)).abs() < 1e-9
        );
    }

    #[test]
    fn balanced_counts_both_times() {
        let one = |class: [f32; 3]| totals(&objective(0.5, PerfMode::Balanced), class).time;
        let class = [0.5f32.ln(), 1e-9f32.ln(), 2e-9f32.ln()];
        assert!((one(class) - 3e-9 - 0.5 / (20.0 * 1024.0f64.powi(3))).abs() < 1e-14);
    }
}
