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
        let mut round = self.round.take()?;
        self.last = round.kind;
        let Some(cparams) = round.next() else {
            self.advance(round);
            return Some(0.0);
        };
        let twice = round.stage == Stage::Final && self.objective.t < TIMED_TWICE_BELOW;
        let request = Probe {
            bytes: round.bytes(),
            typesize: round.typesize,
            // A sample has too few blocks for more than one thread.
            cparams: Cparams { threads: 1, ..cparams },
            decompress: self.objective.perf_mode.needs_dtime(),
            repeats: if twice { 2 } else { 1 },
        };
        let cost = self.expected(&request);
        if !self.affords(cost) {
            let patient = round.stage == Stage::Final || self.wait(cost, chunk) <= SCREEN_WAIT;
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

    /// A challenger compresses the whole chunk; the best does so next, when the chunk is stored, or, where
    /// another library stores it, at once.
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
        let request = self.whole(challenger, chunk);
        let mut cost = self.expected(&request);
        if self.foreign {
            cost += self.expected(&self.whole(self.best, chunk));
        }
        if !self.affords(cost) {
            let patient = self.wait(cost, chunk) <= DUEL_WAIT;
            if !patient {
                self.challengers.pop_front();
            }
            return (!patient).then_some(0.0);
        }
        self.last = if self.last == Readapt::Wait { Readapt::Soft } else { self.last };
        self.threads_tried = challenger.threads != self.best.threads;
        self.challengers.pop_front();
        let tried = self.probe(&request, chunk, prober)?;
        let mut seconds = tried.seconds;
        let Some(totals) = self.objective.totals(&tried.measurement) else { return Some(seconds) };
        if self.foreign {
            let best = self.probe(&self.whole(self.best, chunk), chunk, prober)?;
            seconds += best.seconds;
            if let Some(best) = self.objective.totals(&best.measurement) {
                self.settle(challenger, &totals, &best);
            }
        } else {
            self.duel = Some(Duel { trial, best: self.best, challenger, totals });
        }
        Some(seconds)
    }

    /// A probe of a whole chunk.
    fn whole<'a>(&self, cparams: Cparams, chunk: &Chunk<'a>) -> Probe<'a> {
        Probe {
            bytes: chunk.bytes(),
            typesize: chunk.typesize(),
            cparams,
            decompress: self.objective.perf_mode.needs_dtime(),
            repeats: 1,
        }
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
        self.budget.spend(result.seconds.min(DISTURBED * expected));
        // A sample knows one thread only.
        if (Cparams { threads: self.best.threads, ..request.cparams }) == self.best {
            self.dtime_rate = m.dtime.map(|dtime| dtime / m.nbytes as f64).or(self.dtime_rate);
        }
        Some(result)
    }
}
