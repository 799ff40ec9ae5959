//! What is known before anything is measured: the seam for a model, and the fixed spread that stands in.

use std::fmt::Debug;

use serde::Serialize;

use crate::chunk::Chunk;
use crate::config::PerfMode;
use crate::cost::{Objective, Totals};
use crate::cparams::{BlockSize, Codec, Cparams, Filter, SplitMode};

use Codec::{BloscLz, Lz4, Lz4hc, Zlib, Zstd};
use Filter::{BitShuffle, ByteDelta, None as NoFilter, Shuffle};
use SplitMode::{Always, Never};

/// Where the parameters of a chunk come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Origin {
    /// Code 0: a model proposed them.
    Inference,
    /// Code 1: the search found them.
    Genetic,
    /// Code 2: the user proposed them.
    Hint,
    /// Code 3: fixed, by the user or as the start of a search.
    Fixed,
}

impl Origin {
    /// All origins, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Inference, Self::Genetic, Self::Hint, Self::Fixed];

    /// The code that records hold.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The origin of a code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name in records and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Genetic => "genetic",
            Self::Hint => "hint",
            Self::Fixed => "fixed",
        }
    }
}

/// What some parameters are expected to cost, for each byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The parameters.
    pub cparams: Cparams,
    /// Compressed bytes per byte.
    pub share: f64,
    /// Seconds per byte to compress.
    pub ctime: f64,
    /// Seconds per byte to decompress.
    pub dtime: f64,
}

impl Prediction {
    /// As the totals of one byte.
    #[must_use]
    pub fn totals(&self, objective: &Objective) -> Totals {
        let seconds = match objective.perf_mode {
            PerfMode::Comp => self.ctime,
            PerfMode::Decomp => self.dtime,
            PerfMode::Balanced => self.ctime + self.dtime,
        };
        Totals { nbytes: 1.0, cbytes: self.share, time: seconds + objective.travel(self.share) }
    }
}

/// A source of predictions. [`Spread`] knows no chunk from another; a model does.
pub trait Prior: Debug + Send {
    /// What parameters that it proposes are recorded as.
    fn origin(&self) -> Origin;

    /// Predictions for every class of parameters that it knows, in any order.
    fn predict(&self, chunk: &Chunk<'_>) -> Vec<Prediction>;
}

/// A fixed spread over the space of parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spread;

impl Prior for Spread {
    fn origin(&self) -> Origin {
        Origin::Fixed
    }

    fn predict(&self, _chunk: &Chunk<'_>) -> Vec<Prediction> {
        CLASSES.iter().map(Row::prediction).collect()
    }
}

/// One class: its parameters, compressed bytes per byte, and MB/s to compress and decompress.
struct Row(Codec, Filter, u8, SplitMode, f64, f64, f64);

impl Row {
    fn prediction(&self) -> Prediction {
        let &Self(codec, filter, clevel, split, share, compress, decompress) = self;
        let cparams =
            Cparams { codec, filter, clevel, split, block_size: BlockSize::Auto, threads: 1 };
        Prediction { cparams, share, ctime: 1e-6 / compress, dtime: 1e-6 / decompress }
    }
}

/// Classes that between them come within 0.3 % of the best parameters of 216, on average over ten arrays
/// (climate, ocean, brain images, molecular dynamics, seismograms, network weights, time stamps), eight
/// pairs of tradeoff and mode. Shares and speeds are geometric means over those arrays, chunks of 512 KiB, one
/// thread; speeds are of one machine, and only their ratios matter.
#[rustfmt::skip]
const CLASSES: &[Row] = &[
    Row(BloscLz, NoFilter, 0, Never, 1.0, 8000.0, 9000.0),
    Row(BloscLz, NoFilter, 1, Always, 0.257, 1300.0, 4000.0),
    Row(BloscLz, NoFilter, 1, Never, 0.252, 1900.0, 8600.0),
    Row(BloscLz, NoFilter, 3, Never, 0.259, 1100.0, 8500.0),
    Row(BloscLz, NoFilter, 9, Never, 0.266, 1600.0, 8800.0),
    Row(BloscLz, Shuffle, 1, Always, 0.235, 1500.0, 6100.0),
    Row(BloscLz, Shuffle, 9, Always, 0.183, 880.0, 4100.0),
    Row(BloscLz, BitShuffle, 1, Always, 0.201, 1200.0, 4900.0),
    Row(Lz4, NoFilter, 1, Never, 0.234, 1900.0, 8000.0),
    Row(Lz4, Shuffle, 1, Never, 0.195, 1300.0, 4500.0),
    Row(Lz4, Shuffle, 3, Never, 0.194, 1400.0, 4100.0),
    Row(Lz4, Shuffle, 5, Always, 0.191, 1300.0, 3700.0),
    Row(Lz4, Shuffle, 5, Never, 0.188, 1300.0, 4500.0),
    Row(Lz4, Shuffle, 9, Always, 0.192, 1200.0, 3700.0),
    Row(Lz4, Shuffle, 9, Never, 0.183, 1200.0, 4000.0),
    Row(Lz4, BitShuffle, 1, Never, 0.192, 1400.0, 3300.0),
    Row(Lz4, BitShuffle, 3, Never, 0.185, 1500.0, 3300.0),
    Row(Lz4, BitShuffle, 5, Always, 0.177, 1100.0, 2400.0),
    Row(Lz4, BitShuffle, 5, Never, 0.180, 1200.0, 3100.0),
    Row(Lz4, ByteDelta, 7, Never, 0.145, 1200.0, 2700.0),
    Row(Lz4, ByteDelta, 9, Never, 0.145, 1100.0, 2600.0),
    Row(Lz4hc, NoFilter, 5, Never, 0.228, 81.0, 4200.0),
    Row(Lz4hc, Shuffle, 5, Always, 0.156, 110.0, 4100.0),
    Row(Lz4hc, Shuffle, 7, Always, 0.156, 70.0, 3500.0),
    Row(Lz4hc, Shuffle, 9, Always, 0.155, 48.0, 3000.0),
    Row(Lz4hc, BitShuffle, 1, Never, 0.184, 730.0, 3600.0),
    Row(Lz4hc, ByteDelta, 1, Never, 0.144, 750.0, 3700.0),
    Row(Lz4hc, ByteDelta, 3, Always, 0.154, 160.0, 2800.0),
    Row(Zlib, Shuffle, 1, Always, 0.206, 330.0, 1000.0),
    Row(Zlib, Shuffle, 6, Always, 0.132, 84.0, 680.0),
    Row(Zlib, Shuffle, 9, Always, 0.130, 34.0, 680.0),
    Row(Zstd, NoFilter, 1, Never, 0.171, 830.0, 1400.0),
    Row(Zstd, NoFilter, 2, Always, 0.169, 690.0, 1400.0),
    Row(Zstd, NoFilter, 2, Never, 0.165, 670.0, 1400.0),
    Row(Zstd, NoFilter, 3, Never, 0.160, 340.0, 1200.0),
    Row(Zstd, NoFilter, 7, Always, 0.158, 51.0, 1200.0),
    Row(Zstd, NoFilter, 9, Never, 0.147, 8.0, 910.0),
    Row(Zstd, Shuffle, 1, Always, 0.134, 850.0, 2100.0),
    Row(Zstd, Shuffle, 2, Always, 0.133, 630.0, 1900.0),
    Row(Zstd, Shuffle, 3, Always, 0.132, 380.0, 1900.0),
    Row(Zstd, Shuffle, 6, Never, 0.116, 150.0, 2300.0),
    Row(Zstd, Shuffle, 7, Always, 0.113, 44.0, 2100.0),
    Row(Zstd, Shuffle, 9, Always, 0.105, 6.0, 1800.0),
    Row(Zstd, Shuffle, 9, Never, 0.104, 9.0, 1600.0),
    Row(Zstd, BitShuffle, 1, Never, 0.151, 680.0, 2000.0),
    Row(Zstd, BitShuffle, 3, Never, 0.136, 500.0, 2200.0),
    Row(Zstd, BitShuffle, 6, Never, 0.118, 220.0, 1900.0),
    Row(Zstd, BitShuffle, 9, Never, 0.106, 14.0, 1300.0),
    Row(Zstd, ByteDelta, 1, Always, 0.120, 810.0, 1700.0),
    Row(Zstd, ByteDelta, 2, Always, 0.118, 650.0, 1700.0),
    Row(Zstd, ByteDelta, 5, Always, 0.098, 200.0, 1800.0),
    Row(Zstd, ByteDelta, 6, Always, 0.100, 93.0, 1700.0),
    Row(Zstd, ByteDelta, 9, Never, 0.084, 12.0, 1300.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_cover_the_space_once_each() {
        let classes = Spread.predict(&Chunk::new(&[], 1));
        let distinct: std::collections::HashSet<_> = classes.iter().map(|p| p.cparams).collect();
        assert_eq!(distinct.len(), classes.len());
        for filter in [NoFilter, Shuffle, BitShuffle, ByteDelta] {
            for codec in [Lz4, Zstd] {
                let found = classes
                    .iter()
                    .filter(|p| p.cparams.filter == filter && p.cparams.codec == codec);
                assert!(found.count() >= 1, "{codec:?} {filter:?}");
            }
        }
    }

    #[test]
    fn stronger_levels_are_predicted_smaller_and_slower() {
        let classes = Spread.predict(&Chunk::new(&[], 1));
        let of = |clevel| {
            let wanted = |p: &&Prediction| {
                p.cparams.codec == Zstd && p.cparams.filter == Shuffle && p.cparams.clevel == clevel
            };
            *classes.iter().find(wanted).unwrap()
        };
        assert!(of(9).share < of(1).share && of(9).ctime > of(1).ctime);
    }

    #[test]
    fn origin_codes_round_trip() {
        for origin in Origin::ALL {
            assert_eq!(Origin::from_code(origin.code()), Some(origin));
        }
        assert_eq!(Origin::from_code(4), None);
    }
}
