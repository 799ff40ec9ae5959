//! Trying candidates out, as far as there is time for it.

use super::round::Stage;
use super::{Duel, Search};
use crate::chunk::Chunk;
use crate::cparams::Cparams;
use crate::search::Readapt;
use crate::tuner::{Probe, Probed, Prober};

/// Below this tradeoff a small difference of time decides: there is less time to look, and the finalists are
/// timed twice.
pub(super) const TIMED_TWICE_BELOW: f64 = 0.7;
/// A probe that takes this many times as long as expected was disturbed.
const DISTURBED: f64 = 4.0;
/// A candidate whose probe has to wait for the time of this many chunks is left out of a readapt.
const SCREEN_WAIT: f64 = 40.0;
/// A challenger that has to wait for the time of this many is given up.
const DUEL_WAIT: f64 = 160.0;

impl Search {
    /// One probe of the round; none where there is no time for it.
    pub(super) fn step(&mut self, chunk: &Chunk<'_>, prober: &mut dyn Prober) -> Option<f64> {
        let round = self.round.as_ref()?;
        self.last = round.kind;
        let Some(cparams) = round.next() else {
            self.advance();
            return Some(0.0);
        };
        let twice = round.stage == Stage::Final && self.objective.t < TIMED_TWICE_BELOW;
        let request = Probe {
            bytes: round.bytes(),
            typesize: round.typesize,
            cparams,
            decompress: self.objective.perf_mode.needs_dtime(),
            repeats: if twice { 2 } else { 1 },
        };
        if !self.affords(&request) {
            let patient = round.stage == Stage::Final || self.wait(&request, chunk) <= SCREEN_WAIT;
            if !patient && let Some(round) = &mut self.round {
                round.record(None);
            }
            return (!patient).then_some(0.0);
        }
        let expected = self.expected(&request);
        let result = prober.probe(&request);
        self.book(&cparams, expected, result.as_ref(), chunk);
        let totals = result.as_ref().and_then(|p| self.objective.totals(&p.measurement));
        if let Some(round) = &mut self.round {
            round.record(totals);
        }
        self.judge(cparams);
        Some(result?.seconds)
    }

    /// A challenger compresses the whole chunk; the best does so next, when the chunk is stored.
    pub(super) fn challenge(
        &mut self,
        trial: u64,
        chunk: &Chunk<'_>,
        prober: &mut dyn Prober,
    ) -> Option<f64> {
        if self.duel.is_some() {
            return None;
        }
        let challenger = *self.challengers.front()?;
        let request = Probe {
            bytes: chunk.bytes(),
            typesize: chunk.typesize(),
            cparams: challenger,
            decompress: self.objective.perf_mode.needs_dtime(),
            repeats: 1,
        };
        if !self.affords(&request) {
            let patient = self.wait(&request, chunk) <= DUEL_WAIT;
            if !patient {
                self.challengers.pop_front();
            }
            return (!patient).then_some(0.0);
        }
        self.last = if self.last == Readapt::Wait { Readapt::Soft } else { self.last };
        self.challengers.pop_front();
        let expected = self.expected(&request);
        let result = prober.probe(&request);
        self.book(&challenger, expected, result.as_ref(), chunk);
        let result = result?;
        if let Some(totals) = self.objective.totals(&result.measurement) {
            self.duel = Some(Duel { trial, best: self.best, challenger, totals });
        }
        Some(result.seconds)
    }

    fn affords(&self, probe: &Probe<'_>) -> bool {
        self.budget.unknown() || self.budget.affords(self.expected(probe))
    }

    /// The chunks like this one that bring in the time for a probe.
    fn wait(&self, probe: &Probe<'_>, chunk: &Chunk<'_>) -> f64 {
        let ctime = self.ranking.seconds_per_byte(&self.best) * chunk.bytes().len() as f64;
        self.expected(probe) / (ctime * self.budget.share())
    }

    fn expected(&self, probe: &Probe<'_>) -> f64 {
        let seconds = self.ranking.seconds_per_byte(&probe.cparams) * probe.bytes.len() as f64;
        seconds * f64::from(probe.repeats)
    }

    /// Books what a probe took and what it tells of this machine. What took very much longer than expected was
    /// disturbed, by another program say, and is booked as if it had not been: else one disturbance would
    /// use up the time of all other probes.
    fn book(
        &mut self,
        cparams: &Cparams,
        expected: f64,
        probed: Option<&Probed>,
        chunk: &Chunk<'_>,
    ) {
        let Some(probed) = probed else { return };
        let m = &probed.measurement;
        self.ranking.learn_pace(cparams, m.ctime / m.nbytes as f64);
        self.budget.start(self.ranking.typical(), chunk.bytes().len());
        self.budget.spend(probed.seconds.min(DISTURBED * expected));
        if *cparams == self.best {
            self.dtime_rate = m.dtime.map(|dtime| dtime / m.nbytes as f64).or(self.dtime_rate);
        }
    }
}
