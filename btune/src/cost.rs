//! What compression cost, and what is minimised.

use std::ops::{Add, AddAssign};

use crate::config::{Config, PerfMode};

/// How much a ratio weighs against a time at tradeoff 0.5: there, 10 % of size is worth about 25 % of time.
pub(crate) const RATIO_WEIGHT: f64 = 2.5;

/// Parameters that leave more than this share of the bytes save too little to count as compressing.
pub(crate) const WORTHWHILE: f64 = 0.97;

/// What one compression cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// Uncompressed bytes.
    pub nbytes: usize,
    /// Compressed bytes, with the chunk's header, without a frame around it.
    pub cbytes: usize,
    /// Seconds to compress.
    pub ctime: f64,
    /// Seconds to decompress, where it was measured.
    pub dtime: Option<f64>,
    /// The chunk is one repeated value: it says nothing of the parameters.
    pub special: bool,
}

/// Sums over several compressions of the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Totals {
    /// Uncompressed bytes.
    pub nbytes: f64,
    /// Compressed bytes.
    pub cbytes: f64,
    /// Seconds that count: see [`Objective::totals`].
    pub time: f64,
}

impl Totals {
    /// The sums multiplied by `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            nbytes: self.nbytes * factor,
            cbytes: self.cbytes * factor,
            time: self.time * factor,
        }
    }

    /// Compressed bytes as a share of the uncompressed ones.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.cbytes / self.nbytes
    }

    /// Whether at least 3 % is saved.
    #[must_use]
    pub fn saves(&self) -> bool {
        self.share() <= WORTHWHILE
    }
}

impl Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            nbytes: self.nbytes + other.nbytes,
            cbytes: self.cbytes + other.cbytes,
            time: self.time + other.time,
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What is minimised: with tradeoff t,
///
/// `J = ((1 - t) ln(time / nbytes) + 2.5 t ln(cbytes / nbytes)) / (1 - t + 2.5 t)`
///
/// so that `exp(J)` is a weighted geometric mean of seconds per byte and of the size ratio, and
/// `exp(J - J_best) - 1` is the regret of a choice. For a run of several chunks it is the J of the sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// The lossless tradeoff, 0 (speed) to 1 (ratio).
    pub t: f64,
    /// Which time counts.
    pub perf_mode: PerfMode,
    /// Bytes per second at which compressed bytes travel; 0 = the way costs nothing.
    pub bandwidth: f64,
}

impl Objective {
    /// The objective of a configuration.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            t: config.tradeoff.t(),
            perf_mode: config.perf_mode,
            bandwidth: f64::from(config.bandwidth) * 1024.0,
        }
    }

    /// A measurement as totals. Where the mode asks for a decompression time that was not measured, there
    /// is none.
    #[must_use]
    pub fn totals(&self, m: &Measurement) -> Option<Totals> {
        let seconds = match self.perf_mode {
            PerfMode::Comp => m.ctime,
            PerfMode::Decomp => m.dtime?,
            PerfMode::Balanced => m.ctime + m.dtime?,
        };
        let cbytes = m.cbytes as f64;
        Some(Totals { nbytes: m.nbytes as f64, cbytes, time: seconds + self.travel(cbytes) })
    }

    /// Seconds that compressed bytes are under way.
    #[must_use]
    pub fn travel(&self, cbytes: f64) -> f64 {
        if self.bandwidth > 0.0 { cbytes / self.bandwidth } else { 0.0 }
    }

    /// J of the totals; smaller is better.
    #[must_use]
    pub fn j(&self, totals: &Totals) -> f64 {
        let size = RATIO_WEIGHT * self.t;
        let time = 1.0 - self.t;
        (time * (totals.time / totals.nbytes).ln() + size * totals.share().ln()) / (time + size)
    }

    /// What a choice loses against the best one: `exp(J - J of the best) - 1`. One that saves less than 3 %, where the
    /// best saves more, is forbidden at tradeoffs above 0, however fast it is: it loses at least what it loses in
    /// size. Else storing would seem better than the best.
    #[must_use]
    pub fn regret(&self, chosen: &Totals, best: &Totals) -> f64 {
        let regret = (self.j(chosen) - self.j(best)).exp_m1();
        let forbidden = self.t > 0.0 && best.saves() && !chosen.saves();
        if forbidden { regret.max(chosen.share() / best.share() - 1.0) } else { regret }
    }

    /// What a change of the logarithm of the size is worth in J.
    pub(crate) fn of_size(&self, change: f64) -> f64 {
        let size = RATIO_WEIGHT * self.t;
        size * change / (1.0 - self.t + size)
    }

    /// GB/s of uncompressed data over the time that counts, as the trace shows it.
    #[must_use]
    pub fn score(&self, totals: &Totals) -> f64 {
        totals.nbytes / totals.time / f64::from(1 << 30)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_chosen_loses_what_it_loses_in_size() {
        let objective = |t| Objective { t, perf_mode: PerfMode::Comp, bandwidth: 0.0 };
        let totals = |cbytes, time| Totals { nbytes: 1000.0, cbytes, time };
        let (best, raw) = (totals(500.0, 1.0), totals(1000.0, 1e-3));
        let of = |t| objective(t).regret(&raw, &best).ln_1p();
        assert!((of(0.1) - 2.0f64.ln()).abs() < 1e-9);
        assert!(of(0.0) < -6.0);
        assert!(objective(0.1).regret(&totals(600.0, 1e-3), &best).ln_1p() < -1.0);
    }

    fn objective(t: f64) -> Objective {
        Objective { t, perf_mode: PerfMode::Comp, bandwidth: 20.0 * f64::from(1 << 30) }
    }

    fn measured(cbytes: usize, ctime: f64) -> Measurement {
        Measurement { nbytes: 1_000_000, cbytes, ctime, dtime: None, special: false }
    }

    #[test]
    fn j_is_a_weighted_mean_of_logarithms() {
        let o = objective(0.5);
        let totals = Totals { nbytes: 1e6, cbytes: 2.5e5, time: 1e-3 };
        let expected = (0.5 * 1e-9f64.ln() + 1.25 * 0.25f64.ln()) / 1.75;
        assert!((o.j(&totals) - expected).abs() < 1e-12);
    }

    #[test]
    fn half_way_ten_per_cent_of_size_is_worth_a_quarter_of_time() {
        let o = Objective { bandwidth: 0.0, ..objective(0.5) };
        let a = o.totals(&measured(500_000, 1e-3)).unwrap();
        let smaller = o.totals(&measured(450_000, 1.25e-3)).unwrap();
        let slower = o.totals(&measured(450_000, 1.35e-3)).unwrap();
        assert!(o.j(&smaller) < o.j(&a));
        assert!(o.j(&slower) > o.j(&a));
    }

    #[test]
    fn the_ends_look_at_one_thing_only() {
        let fast = Totals { nbytes: 1e6, cbytes: 9e5, time: 1e-4 };
        let small = Totals { nbytes: 1e6, cbytes: 1e5, time: 1e-2 };
        assert!(objective(0.0).j(&fast) < objective(0.0).j(&small));
        assert!(objective(1.0).j(&small) < objective(1.0).j(&fast));
        assert!(objective(1.0).j(&small) - (0.1f64).ln() < 1e-12);
    }

    #[test]
    fn a_mode_that_needs_a_decompression_time_has_no_totals_without_one() {
        let o = Objective { perf_mode: PerfMode::Balanced, ..objective(0.5) };
        let mut m = measured(1000, 1e-3);
        assert_eq!(o.totals(&m), None);
        m.dtime = Some(1e-3);
        assert!((o.totals(&m).unwrap().time - (2e-3 + 1000.0 / o.bandwidth)).abs() < 1e-12);
    }
}
