//! Trying candidates out, as far as there is time for it.

use super::Search;
use super::round::{FINAL_BYTES, Stage};
use crate::chunk::Chunk;
use crate::cparams::Cparams;
use crate::tuner::{Probe, Probed, Prober};

/// Below this tradeoff a small difference of time decides: there is less time to look, and the finalists are
/// timed twice.
pub(super) const TIMED_TWICE_BELOW: f64 = 0.7;
/// A probe that takes this many times as long as expected was disturbed.
const DISTURBED: f64 = 4.0;
/// A probe that takes this many times as long as what it measured has waited for something that happens once: a new
/// context, code that is read from disk.
const WARMING: f64 = 2.5;
/// A candidate whose probe has to wait for the time of this many chunks is left out of a readapt.
const SCREEN_WAIT: f64 = 40.0;
/// The same, where a model has proposed the candidates: the first ones are most likely right.
const INFORMED_WAIT: f64 = 10.0;
/// Finalists that would have to wait for the time of this many chunks are tried on chunks of the run instead.
const FINALS_WAIT: f64 = 8.0;

impl Search {
    /// One probe of the round; none where there is no time for it.
    pub(super) fn step(&mut self, chunk: &Chunk<'_>, prober: &mut dyn Prober) -> Option<f64> {
        let mut round = self.round.take()?;
        self.last = round.kind;
        let Some(cparams) = round.next() else {
            self.advance(round, chunk);
            return Some(0.0);
        };
        let request = Probe {
            bytes: round.bytes(),
            typesize: round.typesize,
            // A sample has too few blocks for more than one thread.
            cparams: Cparams { threads: 1, ..cparams },
            decompress: self.objective.perf_mode.needs_dtime(),
            repeats: if round.stage == Stage::Final { self.final_repeats() } else { 1 },
        };
        let cost = self.expected(&request);
        // What has to be known before data are stored as they are is looked at on credit.
        let rescue = round.is_rescue() && !self.something_saves(&round);
        if !rescue && !self.affords(cost) {
            let limit = if self.ranking.is_informed() { INFORMED_WAIT } else { SCREEN_WAIT };
            let patient = round.stage == Stage::Final || self.wait(cost, chunk) <= limit;
            if !patient {
                round.record(None);
            }
            self.round = Some(round);
            return (!patient).then_some(0.0);
        }
        let tried = self.probe(&request, chunk, prober);
        round.record(tried.and_then(|p| self.objective.totals(&p.measurement)));
        self.judge(&round, cparams);
        self.round = Some(round);
        Some(tried?.seconds)
    }

    /// Whether the larger sample is too large to compare that many candidates on it soon.
    pub(super) fn finals_are_slow<'c>(
        &self,
        candidates: impl IntoIterator<Item = &'c Cparams>,
        chunk: &Chunk<'_>,
    ) -> bool {
        let bytes = chunk.bytes().len().min(FINAL_BYTES) as f64;
        let each = candidates.into_iter().map(|c| self.ranking.seconds_per_byte(c) * bytes);
        let seconds: f64 = each.sum();
        self.wait(seconds * f64::from(self.final_repeats()), chunk) > FINALS_WAIT
    }

    fn final_repeats(&self) -> u8 {
        if self.objective.t < TIMED_TWICE_BELOW { 2 } else { 1 }
    }

    fn affords(&self, seconds: f64) -> bool {
        self.budget.unknown() || self.budget.affords(seconds)
    }

    /// The chunks like this one that bring in so much time for probes.
    fn wait(&self, seconds: f64, chunk: &Chunk<'_>) -> f64 {
        let ctime = self.ranking.seconds_per_byte(&self.best) * chunk.bytes().len() as f64;
        seconds / (ctime * self.budget.share())
    }

    fn expected(&self, probe: &Probe<'_>) -> f64 {
        let seconds = self.ranking.seconds_per_byte(&probe.cparams) * probe.bytes.len() as f64;
        seconds * f64::from(probe.repeats)
    }

    /// Carries a probe out, and books what it took and what it tells of this machine. What took very much longer
    /// than expected was disturbed, by another program say, and is booked as if it had not been: else one
    /// disturbance would use up the time of all other probes.
    fn probe(
        &mut self,
        request: &Probe<'_>,
        chunk: &Chunk<'_>,
        prober: &mut dyn Prober,
    ) -> Option<Probed> {
        let expected = self.expected(request);
        let result = prober.probe(request)?;
        let m = &result.measurement;
        self.ranking.learn_pace(&request.cparams, m.ctime / m.nbytes as f64);
        let typical = self.ranking.typical() / f64::from(self.limits.max_threads);
        self.budget.start(typical, chunk.bytes().len());
        let measured = (m.ctime + m.dtime.unwrap_or(0.0)) * f64::from(request.repeats);
        self.budget.spend(result.seconds.min(DISTURBED * expected).min(WARMING * measured));
        // A sample knows one thread only.
        if (Cparams { threads: self.best.threads, ..request.cparams }) == self.best {
            self.dtime_rate = m.dtime.map(|dtime| dtime / m.nbytes as f64).or(self.dtime_rate);
        }
        Some(result)
    }
}
