//! Who wins: comparisons on the same bytes, and what may be chosen at all.

use super::Search;
use super::round::{Round, Stage};
use crate::cost::Totals;
use crate::cparams::Cparams;
use crate::search::Origin;

/// How much better J must be, by its logarithm: 2 % on samples of 128 KiB and more, 4 % on the small ones.
const MARGIN: f64 = 0.02;
const SCREEN_MARGIN: f64 = 0.04;
/// What a comparison weighs, by the bytes that were compared.
const SCREEN_WEIGHT: f64 = 1.0;
const FINAL_WEIGHT: f64 = 3.0;
pub(super) const CHUNK_WEIGHT: f64 = 6.0;
/// A kind of data that makes up less of a run than this is judged as if it made up this much.
const LEAST_PART: f64 = 0.05;

impl Search {
    /// Compares the candidate that was just tried with the best, on the bytes of the round.
    pub(super) fn judge(&mut self, round: &Round, candidate: Cparams) {
        let (Some(tried), Some(best)) = (round.totals(&candidate), round.totals(&self.best)) else {
            return;
        };
        if candidate == self.best || !self.admits(round, &tried) {
            return;
        }
        let (weight, margin) = match round.stage {
            Stage::Screen => (SCREEN_WEIGHT, SCREEN_MARGIN),
            Stage::Final => (FINAL_WEIGHT, MARGIN),
        };
        let margin = if self.admits(round, &best) { margin } else { f64::NEG_INFINITY };
        self.compare(candidate, &tried, &best, weight, margin);
    }

    /// Adds a comparison of chunks of the run; gives the mean.
    pub(super) fn compare_chunks(
        &mut self,
        challenger: Cparams,
        tried: &Totals,
        best: &Totals,
    ) -> f64 {
        let delta = self.delta(tried, best);
        self.evidence.add(challenger, delta, CHUNK_WEIGHT)
    }

    /// Adds a comparison; the candidate becomes the best if it wins by more than the margin.
    pub(super) fn compare(
        &mut self,
        candidate: Cparams,
        tried: &Totals,
        best: &Totals,
        weight: f64,
        margin: f64,
    ) {
        let delta = self.delta(tried, best);
        if self.evidence.add(candidate, delta, weight) < -margin {
            self.adopt(candidate);
        }
    }

    /// Whether a result of the round may be chosen. Above tradeoff 0 what can be compressed is compressed:
    /// where something makes the run save 3 %, only what does so.
    pub(super) fn admits(&self, round: &Round, tried: &Totals) -> bool {
        let saves = self.saves(round.totals(&self.best).as_ref(), tried);
        self.objective.t == 0.0 || saves || !self.something_saves(round)
    }

    pub(super) fn something_saves(&self, round: &Round) -> bool {
        let best = round.totals(&self.best);
        round.results().iter().any(|t| self.saves(best.as_ref(), &t.totals))
    }

    /// Whether these bytes, or the whole run, save 3 % with these parameters, as far as some bytes tell: what they
    /// make of them against what the best makes of them.
    pub(super) fn saves(&self, best: Option<&Totals>, tried: &Totals) -> bool {
        let run = match best {
            Some(best) if self.own.nbytes > 0.0 => {
                let own =
                    Totals { cbytes: self.own.cbytes * tried.cbytes / best.cbytes, ..self.own };
                (self.others + own).saves()
            }
            _ => false,
        };
        run || tried.saves()
    }

    pub(super) fn adopt(&mut self, next: Cparams) {
        self.evidence.rebase(self.best, &next);
        self.best = next;
        self.origin =
            if self.ranking.has_proposed(&next) { Origin::Inference } else { Origin::Genetic };
        self.under_way = self.under_way.map(|_| true);
        self.dtime_rate = None;
        self.contests.new_best(None);
    }

    /// J of the run with the candidate minus J of the run with the best, as if this kind of data were the
    /// whole run.
    pub(super) fn delta(&self, candidate: &Totals, best: &Totals) -> f64 {
        let own = self.own.nbytes.max(candidate.nbytes);
        let part = own / (own + self.others.nbytes);
        let run = |t: &Totals| self.objective.j(&(self.others + t.scaled(own / t.nbytes)));
        (run(candidate) - run(best)) / part.max(LEAST_PART)
    }
}
