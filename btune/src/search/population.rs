//! Which candidates are worth a probe, by what is predicted and what has been seen.

use super::genome::FILTERS;
use super::round::Tried;
use super::spread::Prediction;
use crate::config::PerfMode;
use crate::cost::{Objective, RATIO_WEIGHT, WORTHWHILE};
use crate::cparams::{Codec, Cparams, Filter};

/// Candidates that take less than this many seconds per byte (600 MB/s) are fast.
const FAST: f64 = 1.0 / 600e6;
/// And those that take longer than this (300 MB/s) are slow.
const TYPICAL: f64 = 1.0 / 300e6;
/// Below this weight of time all that counts is size.
const TIMELESS: f64 = 0.02;
/// Slow candidates can take this many times what is predicted: the strongest levels of zstd slow down most
/// where data repeat most.
const SLOW_RISK: f64 = 2.0;
/// Predictions of J that differ by less are about as good.
const AS_GOOD: f64 = 0.03;
/// Logarithm of the most by which one measurement may correct the pace: more is taken for a disturbance.
const SURPRISE: f64 = 1.0;
/// Candidates that the first generation's results point to.
pub(super) const FOLLOWERS: usize = 4;
/// Candidates for data that nothing has shrunk yet.
const STRONGEST: usize = 3;
/// A candidate that takes this many times as long as the first one is not tried only to see whether data
/// shrink.
const SLOW: f64 = 4.0;

/// Candidates that a model proposes for a first look, and those that their results point to.
const PROPOSED: usize = 4;
const CORRECTED: usize = 4;
/// What a candidate may be predicted to lose: against the best; and where its probe takes longer than so many times
/// that of the best.
const NEAR: f64 = 0.15;
const LEVEL: f64 = 0.04;
const QUICK: f64 = 3.0;
/// How many that save enough are looked at, where the best one does not.
const SAVING: usize = 2;
/// What the best candidate of a filter may be predicted to lose, to be looked at all the same.
const OUTSIDER: f64 = 0.6;
/// The same for the best candidate of a codec.
const OTHER_CODEC: f64 = 0.35;
/// How many levels of a codec with the same filter are looked at first.
const LEVELS: usize = 2;
/// How much what one candidate was off its prediction says of another: with the same codec and filter, with
/// one of them, with none.
const ALIKE: [f64; 3] = [0.1, 0.4, 1.0];
/// What the predictions weigh beside measurements.
const TRUST: f64 = 0.5;
/// What is expected to lose more against the best measured is not worth a probe.
const WORTH: f64 = 0.04;

/// Predictions, best first, and how far measurements are off them.
#[derive(Debug, Clone)]
pub(super) struct Ranking {
    objective: Objective,
    predictions: Vec<Prediction>,
    /// They are of this kind of data, and not means over many.
    informed: bool,
    /// Logarithm of measured over predicted compression time: this machine against the predicted one.
    pace: f64,
}

impl Ranking {
    pub(super) fn new(objective: Objective, predictions: Vec<Prediction>, informed: bool) -> Self {
        let mut ranking = Self { objective, predictions, informed, pace: 0.0 };
        ranking.sort();
        ranking
    }

    /// Takes what is predicted for a later chunk; what was learnt of this machine stays.
    pub(super) fn renew(&mut self, predictions: Vec<Prediction>) {
        self.predictions = predictions;
        self.sort();
    }

    fn sort(&mut self) {
        let j = |p: &Prediction| self.objective.j(&p.totals(&self.objective));
        self.predictions.sort_by(|a, b| j(a).total_cmp(&j(b)));
    }

    /// Whether the predictions come from a model.
    pub(super) fn is_informed(&self) -> bool {
        self.informed
    }

    /// What to start from: what a model predicts to be best; without one a fast candidate, so that the first probe
    /// costs little; or storing, where only speed counts.
    pub(super) fn start(&self) -> Cparams {
        if self.objective.t == 0.0 || self.unhurried() || self.informed {
            return self.first();
        }
        self.population().first().copied().unwrap_or(Cparams::STORE)
    }

    /// Seconds per byte that a chunk is expected to take in this run: those of what is predicted best, slow
    /// ones left out where the time to compress counts.
    ///
    /// Where that time does not count, what is best may be much slower than what is predicted: all that a model
    /// proposes can be tried.
    pub(super) fn typical(&self) -> f64 {
        let first = self.first();
        let typical = self.nearest(&first).map_or(0.0, |p| p.ctime);
        let proposed = if self.informed && self.unhurried() { self.proposed() } else { Vec::new() };
        let slowest = proposed
            .iter()
            .filter_map(|c| self.nearest(c))
            .map(|p| p.ctime)
            .fold(typical, f64::max);
        slowest * self.pace.exp()
    }

    /// The parameters that are predicted to be best, slow ones left out where the time to compress counts; where
    /// it does not, the fastest of those that are about as good. Storing is proposed only at tradeoff 0.
    fn first(&self) -> Cparams {
        let fits = |p: &&Prediction| p.ctime < TYPICAL || self.unhurried() || self.informed;
        let mut candidates = self.predictions.iter().filter(|p| self.proposes(p)).filter(fits);
        let Some(best) = candidates.next() else { return Cparams::STORE };
        if self.objective.perf_mode != PerfMode::Decomp {
            return best.cparams;
        }
        let j = |p: &Prediction| self.objective.j(&p.totals(&self.objective));
        let as_good = candidates.filter(|p| j(p) < j(best) + AS_GOOD);
        as_good.fold(best, |a, b| if b.ctime < a.ctime { b } else { a }).cparams
    }

    /// The first population of a hard readapt, fastest first: for every filter what is predicted to be best,
    /// and what is best among fast ones or, if that is the same, second best. How well a filter fits is what
    /// differs most from one kind of data to the next; how much a strong level gains comes second.
    ///
    /// Of a model's predictions simply the best, best first.
    pub(super) fn population(&self) -> Vec<Cparams> {
        if self.informed {
            return self.proposed();
        }
        let mut picked: Vec<&Prediction> = Vec::new();
        for filter in FILTERS {
            let mut same: Vec<&Prediction> = self
                .predictions
                .iter()
                .filter(|p| p.cparams.filter == filter && self.proposes(p))
                .collect();
            if same.is_empty() {
                continue;
            }
            picked.push(same.remove(0));
            let fast = same.iter().find(|p| p.ctime < FAST);
            picked.extend(fast.or(same.first()));
        }
        // Where speed counts more the means leave zstd out, which often wins all the same.
        if picked.iter().all(|p| p.cparams.codec != Codec::Zstd) {
            picked.extend(self.predictions.iter().find(|p| p.cparams.codec == Codec::Zstd));
        }
        picked.sort_by(|a, b| a.ctime.total_cmp(&b.ctime));
        picked.into_iter().map(|p| p.cparams).collect()
    }

    /// The best predictions, and for each filter and codec that is not among them its best, where that may still be
    /// right: that is where a model errs most. What is predicted to be worse is worth no long probe.
    fn proposed(&self) -> Vec<Cparams> {
        let j = |p: &Prediction| self.objective.j(&p.totals(&self.objective));
        let mut picked: Vec<&Prediction> = Vec::new();
        let mut saving = SAVING;
        for p in self.predictions.iter().filter(|p| self.proposes(p)) {
            let Some(first) = picked.first() else {
                picked.push(p);
                continue;
            };
            let delta = j(p) - j(first);
            let of = |same: fn(&Cparams, &Cparams) -> bool| {
                picked.iter().filter(|other| same(&other.cparams, &p.cparams)).count()
            };
            let new_filter = of(|a, b| a.filter == b.filter) == 0;
            let new_codec = of(|a, b| a.codec == b.codec) == 0;
            let new = new_filter || (new_codec && delta < OTHER_CODEC);
            let alike = of(|a, b| (a.codec, a.filter) == (b.codec, b.filter));
            let near = picked.len() < PROPOSED && alike < LEVELS && delta < NEAR;
            let quick = p.ctime < first.ctime * QUICK || delta < LEVEL;
            let saves =
                saving > 0 && new_filter && first.share > WORTHWHILE && p.share <= WORTHWHILE;
            if (delta < OUTSIDER && quick && (near || new)) || saves {
                picked.push(p);
                saving -= usize::from(saves);
            }
        }
        picked.into_iter().map(|p| p.cparams).collect()
    }

    /// Whether a model proposes these parameters, apart from block size and threads.
    pub(super) fn has_proposed(&self, cparams: &Cparams) -> bool {
        let same = |c: &Cparams| {
            Cparams { block_size: c.block_size, threads: c.threads, ..*cparams } == *c
        };
        self.informed && self.proposed().iter().any(same)
    }

    /// What these parameters are predicted to lose against others; none where a model has not seen the data.
    pub(super) fn predicted_delta(&self, cparams: &Cparams, best: &Cparams) -> Option<f64> {
        let delta = self.predicted_j(cparams)? - self.predicted_j(best)?;
        self.informed.then_some(delta)
    }

    /// The best prediction with another filter than these parameters have, by a model.
    pub(super) fn other_filter(&self, cparams: &Cparams) -> Option<Cparams> {
        let mut others = self
            .predictions
            .iter()
            .filter(|p| self.proposes(p) && p.cparams.filter != cparams.filter);
        others.next().filter(|_| self.informed).map(|p| p.cparams)
    }

    /// Whether a model leaves it open that these parameters are better than others.
    pub(super) fn is_worth_a_probe(&self, cparams: &Cparams, best: &Cparams) -> bool {
        self.predicted_delta(cparams, best).is_none_or(|delta| delta < OUTSIDER)
    }

    /// What the first results point to.
    pub(super) fn followers(&self, tried: &[Tried]) -> Vec<Cparams> {
        if self.informed { self.corrected(tried) } else { self.moved(tried) }
    }

    /// Predictions, each corrected by how far similar candidates were off their own, as long as they may be better
    /// than what was measured.
    fn corrected(&self, tried: &[Tried]) -> Vec<Cparams> {
        let j = |t: &Tried| self.objective.j(&t.totals);
        let off: Vec<(Cparams, f64)> = tried
            .iter()
            .filter_map(|t| Some((t.cparams, j(t) - self.predicted_j(&t.cparams)?)))
            .collect();
        // Where anything saves enough, only what does so may be chosen.
        let saving = tried.iter().any(|t| t.totals.saves());
        let allowed = tried.iter().filter(|t| !saving || t.totals.saves());
        let best = allowed.map(j).fold(f64::INFINITY, f64::min);
        let corrected = |p: &Prediction| {
            let (mut sum, mut weights) = (0.0, TRUST);
            for (other, off) in &off {
                let c = &p.cparams;
                let same =
                    usize::from(other.codec == c.codec) + usize::from(other.filter == c.filter);
                sum += off * ALIKE[same];
                weights += ALIKE[same];
            }
            self.objective.j(&p.totals(&self.objective)) + sum / weights
        };
        let known = |c: &Cparams| tried.iter().any(|t| t.cparams == *c);
        let allowed = |p: &&Prediction| !saving || p.share <= WORTHWHILE;
        let unknown = self.predictions.iter().filter(|p| self.proposes(p) && !known(&p.cparams));
        let unknown = unknown.filter(allowed);
        let mut candidates: Vec<(f64, Cparams)> =
            unknown.map(|p| (corrected(p), p.cparams)).filter(|c| c.0 < best + WORTH).collect();
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        candidates.into_iter().take(CORRECTED).map(|c| c.1).collect()
    }

    /// Predictions, moved by how far each filter's best result was off its own prediction.
    fn moved(&self, tried: &[Tried]) -> Vec<Cparams> {
        let known = |c: &Cparams| tried.iter().any(|t| t.cparams == *c);
        let residuals: Vec<(Filter, f64)> = tried
            .iter()
            .filter_map(|t| {
                Some((
                    t.cparams.filter,
                    self.objective.j(&t.totals) - self.predicted_j(&t.cparams)?,
                ))
            })
            .collect();
        let worst = residuals.iter().map(|r| r.1).fold(0.0, f64::max);
        let residual = |filter| {
            let same = residuals.iter().filter(|r| r.0 == filter).map(|r| r.1);
            same.min_by(f64::total_cmp).unwrap_or(worst)
        };
        let mut candidates: Vec<(f64, Cparams)> = self
            .predictions
            .iter()
            .filter(|p| self.proposes(p) && !known(&p.cparams))
            .map(|p| {
                (
                    self.objective.j(&p.totals(&self.objective)) + residual(p.cparams.filter),
                    p.cparams,
                )
            })
            .collect();
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        candidates.into_iter().take(FOLLOWERS).map(|c| c.1).collect()
    }

    /// What shrinks most without being much slower than the first, each with another filter; and storing,
    /// which is right where even these save nothing.
    pub(super) fn strongest(&self) -> Vec<Cparams> {
        let first = self.first();
        let limit = self.nearest(&first).map_or(f64::INFINITY, |p| (p.ctime * SLOW).max(FAST));
        let mut by_share: Vec<&Prediction> =
            self.predictions.iter().filter(|p| p.ctime < limit).collect();
        by_share.sort_by(|a, b| a.share.total_cmp(&b.share));
        let mut picked: Vec<Cparams> = Vec::new();
        for p in by_share {
            if picked.len() < STRONGEST && picked.iter().all(|c| c.filter != p.cparams.filter) {
                picked.push(p.cparams);
            }
        }
        picked
    }

    /// Seconds per byte that these parameters are expected to take: compression, and decompression where
    /// it is measured, shared out among the threads.
    pub(super) fn seconds_per_byte(&self, cparams: &Cparams) -> f64 {
        let seconds = self.nearest(cparams).map_or(0.0, |p| {
            let risk = if p.ctime > 3.0 * TYPICAL { SLOW_RISK } else { 1.0 };
            p.ctime * risk + if self.objective.perf_mode.needs_dtime() { p.dtime } else { 0.0 }
        });
        seconds * self.pace.exp() / f64::from(cparams.threads.max(1))
    }

    /// Learns this machine's pace from a measured compression time.
    pub(super) fn learn_pace(&mut self, cparams: &Cparams, seconds_per_byte: f64) {
        if let Some(p) = self.nearest(cparams) {
            let seconds_per_byte = seconds_per_byte * f64::from(cparams.threads.max(1));
            let off = (seconds_per_byte / p.ctime).ln() - self.pace;
            self.pace += off.clamp(-SURPRISE, SURPRISE) * 0.3;
        }
    }

    /// Whether the time to compress hardly counts.
    fn unhurried(&self) -> bool {
        self.timeless() || self.objective.perf_mode == PerfMode::Decomp
    }

    /// Whether time hardly counts.
    fn timeless(&self) -> bool {
        let (time, size) = (1.0 - self.objective.t, RATIO_WEIGHT * self.objective.t);
        time < TIMELESS * (time + size)
    }

    fn proposes(&self, p: &Prediction) -> bool {
        !p.cparams.is_store() || self.objective.t == 0.0
    }

    fn predicted_j(&self, cparams: &Cparams) -> Option<f64> {
        self.nearest(cparams).map(|p| self.objective.j(&p.totals(&self.objective)))
    }

    /// The prediction for the most similar parameters: codec first, then filter, then level.
    fn nearest(&self, cparams: &Cparams) -> Option<&Prediction> {
        self.predictions.iter().min_by_key(|p| {
            let c = &p.cparams;
            (
                c.is_store() != cparams.is_store(),
                c.codec != cparams.codec,
                c.clevel.abs_diff(cparams.clevel),
                c.filter != cparams.filter,
                c.split != cparams.split,
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::config::PerfMode;
    use crate::search::{Prior, Spread};

    fn ranking(t: f64, perf_mode: PerfMode) -> Ranking {
        let objective = Objective { t, perf_mode, bandwidth: 2e10 };
        Ranking::new(objective, Spread.predict(&Chunk::new(&[], 4)), false)
    }

    #[test]
    fn a_population_has_every_filter_and_no_store() {
        for t in [0.1, 0.5, 0.9] {
            for mode in PerfMode::ALL {
                let population = ranking(t, mode).population();
                assert!((8..=9).contains(&population.len()), "{t} {mode:?}");
                assert!(population.iter().all(|c| !c.is_store()));
            }
        }
    }

    #[test]
    fn a_balanced_tradeoff_tries_zstd_and_bytedelta() {
        for t in [0.3, 0.5, 0.6] {
            let population = ranking(t, PerfMode::Comp).population();
            assert!(population.iter().any(|c| c.codec == Codec::Zstd), "{t}");
            assert!(population.iter().any(|c| c.filter == Filter::ByteDelta), "{t}");
        }
    }

    #[test]
    fn the_ends_of_the_tradeoff_start_at_the_ends() {
        assert!(ranking(0.0, PerfMode::Comp).start().is_store());
        assert_eq!(ranking(1.0, PerfMode::Comp).start().clevel, 9);
        let fast = ranking(0.1, PerfMode::Comp);
        assert!(fast.typical() < 1.2e-9);
    }

    #[test]
    fn followers_go_where_a_filter_did_better_than_predicted() {
        let ranking = ranking(0.5, PerfMode::Comp);
        let tried: Vec<Tried> = ranking
            .population()
            .into_iter()
            .map(|cparams| {
                let mut totals = ranking.nearest(&cparams).unwrap().totals(&ranking.objective);
                if cparams.filter == Filter::ByteDelta {
                    totals.cbytes /= 8.0;
                }
                Tried { cparams, totals }
            })
            .collect();
        let followers = ranking.followers(&tried);
        assert_eq!(followers.len(), FOLLOWERS);
        assert!(followers.iter().all(|c| c.filter == Filter::ByteDelta), "{followers:?}");
    }

    #[test]
    fn the_pace_of_the_machine_is_learnt() {
        let mut ranking = ranking(0.5, PerfMode::Comp);
        let first = ranking.first();
        let before = ranking.seconds_per_byte(&first);
        for _ in 0..40 {
            ranking.learn_pace(&first, before * 3.0);
        }
        assert!((ranking.seconds_per_byte(&first) / before - 3.0).abs() < 0.01);
    }
}
