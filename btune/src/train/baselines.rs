//! Choices without a model, to compare with.

use super::choices::{objective, totals};
use super::dataset::{Dataset, Example};
use crate::chunk::Chunk;
use crate::config::PerfMode;
use crate::cparams::{Codec, Cparams, Filter};
use crate::search::{Prior, Spread};

/// The class that is best on average over all arrays of these pieces.
pub(super) fn single(t: f64, perf_mode: PerfMode, dataset: &Dataset, seen: &[&Example]) -> usize {
    let objective = objective(t, perf_mode);
    let mean = |class: usize| {
        let mut sums = vec![(0.0, 0u32); dataset.groups.len()];
        for piece in seen {
            let slot = &mut sums[piece.group];
            *slot = (slot.0 + objective.j(&totals(&objective, piece.costs[class])), slot.1 + 1);
        }
        sums.iter().filter(|(_, n)| *n > 0).map(|(sum, n)| sum / f64::from(*n)).sum::<f64>()
    };
    let compressing =
        (0..dataset.classes.len()).filter(|&class| !dataset.classes[class].is_store());
    compressing.min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0)
}

/// The class that is best by the fixed spread.
pub(super) fn spread(t: f64, perf_mode: PerfMode, classes: &[Cparams]) -> usize {
    let objective = objective(t, perf_mode);
    let predictions = Spread.predict(&Chunk::new(&[], 1));
    let j = |class: &Cparams| {
        let found = predictions.iter().find(|p| p.cparams == *class && !class.is_store());
        found.map_or(f64::INFINITY, |p| objective.j(&p.totals(&objective)))
    };
    (0..classes.len()).min_by(|&a, &b| j(&classes[a]).total_cmp(&j(&classes[b]))).unwrap_or(0)
}

/// zstd with shuffle, of the level that is nearest to 5.
pub(super) fn stock(classes: &[Cparams]) -> usize {
    let zstd = |c: &Cparams| c.codec == Codec::Zstd && c.filter == Filter::Shuffle;
    let all = classes.iter().enumerate().filter(|(_, c)| zstd(c));
    all.min_by_key(|(_, c)| c.clevel.abs_diff(5)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_and_the_stock_class_are_found_by_their_parameters() {
        let mut classes: Vec<Cparams> =
            Spread.predict(&Chunk::new(&[], 1)).iter().map(|p| p.cparams).collect();
        classes.reverse();
        let stock = classes[stock(&classes)];
        assert_eq!((stock.codec, stock.filter, stock.clevel), (Codec::Zstd, Filter::Shuffle, 6));
        let at = |t| classes[spread(t, PerfMode::Comp, &classes)];
        assert!(at(0.9).codec == Codec::Zstd && at(0.1).codec != Codec::Zstd);
        assert!(!at(0.0).is_store());
    }
}
