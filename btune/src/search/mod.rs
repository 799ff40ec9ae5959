//! The search for the best parameters of one kind of data: a state machine without clock, I/O or globals.
//!
//! A hard readapt screens a population on a small sample, follows where the results point, breeds, and
//! compares the finalists on a larger sample; a soft one compares the neighbours of the best. What is left
//! then, block sizes, threads and close runners-up, meets the best in a duel on a whole chunk. All
//! comparisons are between results on the same bytes.

mod budget;
mod evidence;
mod genome;
mod population;
mod round;
mod schedule;
mod spread;

use std::collections::VecDeque;

use serde::Serialize;

use crate::chunk::Chunk;
use crate::config::Config;
use crate::cost::{Measurement, Objective, Totals};
use crate::cparams::Cparams;
use crate::tuner::{Probe, Probed, Prober};

use budget::Budget;
use evidence::Evidence;
use genome::Limits;
use population::Ranking;
use round::{Round, Stage, Tried};
use schedule::Schedule;

pub use schedule::Readapt;
pub use spread::{Origin, Prediction, Prior, Spread};

/// How much better J must be, by its logarithm: 2 % on samples of 128 KiB and more, 4 % on the small ones.
const MARGIN: f64 = 0.02;
const SCREEN_MARGIN: f64 = 0.04;
/// What a comparison weighs, by the bytes that were compared.
const SCREEN_WEIGHT: f64 = 1.0;
const FINAL_WEIGHT: f64 = 3.0;
const DUEL_WEIGHT: f64 = 6.0;
/// Runners-up this near to the best are compared again on a whole chunk.
const CLOSE: f64 = 0.05;
/// Below this weight of size a small difference of time decides, and the finalists are timed twice.
const TIMED_TWICE_BELOW: f64 = 0.7;
/// A candidate that cannot be tried within this many chunks is left out of a readapt.
const PATIENCE: f64 = 20.0;
/// A kind of data that makes up less of a run than this is judged as if it made up this much.
const LEAST_PART: f64 = 0.05;

/// What the search is at, as the trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Codecs and filters are compared.
    CodecFilter,
    /// Threads are compared.
    ThreadsComp,
    /// Levels and block sizes are compared.
    Clevel,
    /// Chunks are stored.
    Memcpy,
    /// Nothing until the waits are over or there is time for probes.
    Waiting,
    /// Nothing any more.
    Stop,
}

impl State {
    /// The name in the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CodecFilter => "CODEC_FILTER",
            Self::ThreadsComp => "THREADS_COMP",
            Self::Clevel => "CLEVEL",
            Self::Memcpy => "MEMCPY",
            Self::Waiting => "WAITING",
            Self::Stop => "STOP",
        }
    }
}

/// A challenger that has compressed a whole chunk, and waits for the best to do the same.
#[derive(Debug, Clone)]
struct Duel {
    trial: u64,
    best: Cparams,
    challenger: Cparams,
    totals: Totals,
}

/// The search for one kind of data.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    objective: Objective,
    limits: Limits,
    ranking: Ranking,
    schedule: Schedule,
    budget: Budget,
    evidence: Evidence,
    rng: fastrand::Rng,
    best: Cparams,
    origin: Origin,
    round: Option<Round>,
    challengers: VecDeque<Cparams>,
    duel: Option<Duel>,
    last: Readapt,
    /// A readapt is under way whose end has not been booked.
    open: bool,
    changed: bool,
    soft_blocks: bool,
    /// Seconds per byte that the best took to decompress when it was last measured.
    dtime_rate: Option<f64>,
    /// Sums over what was told, for this kind of data and for all others of the run.
    own: Totals,
    others: Totals,
}

impl Search {
    /// A search that starts from the hint, from `inherited` parameters, or from what is predicted best.
    pub(crate) fn new(
        config: &Config,
        origin: Origin,
        predictions: Vec<Prediction>,
        inherited: Option<Cparams>,
    ) -> Self {
        let objective = Objective::new(config);
        let ranking = Ranking::new(objective, predictions);
        let (best, origin) = match (config.hint, inherited) {
            (_, Some(best)) => (best, Origin::Genetic),
            (Some(hint), None) => (hint, Origin::Hint),
            (None, None) => (ranking.start(), origin),
        };
        Self {
            objective,
            limits: Limits {
                max_threads: config.max_threads.max(1),
                whole_chunk: config.whole_chunk_blocks,
            },
            ranking,
            schedule: Schedule::new(config.behaviour, inherited.is_none() && config.hint.is_some()),
            budget: Budget::new(config.probe_share),
            evidence: Evidence::default(),
            rng: fastrand::Rng::with_seed(config.seed),
            best,
            origin,
            round: None,
            challengers: VecDeque::new(),
            duel: None,
            last: Readapt::Wait,
            open: false,
            changed: false,
            soft_blocks: false,
            dtime_rate: None,
            own: Totals::default(),
            others: Totals::default(),
        }
    }

    /// The best parameters known.
    pub(crate) fn best(&self) -> Cparams {
        self.best
    }

    /// Where they come from.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// The readapt that the last chunk took part in.
    pub(crate) fn readapt(&self) -> Readapt {
        self.last
    }

    /// What the search is at.
    pub(crate) fn state(&self) -> State {
        let threads = |c: &Cparams| c.threads != self.best.threads;
        match self.last {
            Readapt::Wait if self.schedule.finished() => State::Stop,
            _ if self.best.is_store() => State::Memcpy,
            Readapt::Wait => State::Waiting,
            _ if self.duel.as_ref().is_some_and(|d| threads(&d.challenger)) => State::ThreadsComp,
            Readapt::Hard => State::CodecFilter,
            Readapt::Soft => State::Clevel,
        }
    }

    /// Sums over the chunks told.
    pub(crate) fn own(&self) -> Totals {
        self.own
    }

    /// Whether the trial's decompression time is needed: for a duel.
    pub(crate) fn needs_dtime(&self, trial: u64) -> bool {
        self.objective.perf_mode.needs_dtime()
            && self.duel.as_ref().is_some_and(|d| d.trial == trial)
    }

    /// Looks further, as long as there is time for it; `others` are the sums of the run's other kinds of
    /// data. Gives the seconds spent.
    pub(crate) fn explore(
        &mut self,
        trial: u64,
        chunk: &Chunk<'_>,
        others: Totals,
        prober: &mut dyn Prober,
    ) -> f64 {
        self.others = others;
        self.last = Readapt::Wait;
        let mut spent = 0.0;
        loop {
            if self.round.is_none() && self.challengers.is_empty() {
                self.close();
                if self.duel.is_some() || !self.begin(chunk) {
                    break;
                }
            }
            let step = if self.round.is_some() {
                self.step(chunk, prober)
            } else {
                self.challenge(trial, chunk, prober)
            };
            match step {
                Some(seconds) => spent += seconds,
                None => break,
            }
        }
        spent
    }

    /// Learns from the chunk that was compressed with `cparams` for `trial`. Gives what the chunk counts.
    pub(crate) fn told(&mut self, trial: u64, cparams: &Cparams, m: &Measurement) -> Totals {
        let totals = self.totals_of(m);
        self.budget.earn(m.ctime);
        self.ranking.learn_pace(cparams, m.ctime / m.nbytes as f64);
        self.own += totals;
        self.schedule.chunk();
        if self.duel.as_ref().is_some_and(|d| d.trial == trial) {
            if let Some(duel) = self.duel.take()
                && duel.best == *cparams
                && self.best == *cparams
            {
                if let Some(dtime) = m.dtime {
                    self.dtime_rate = Some(dtime / m.nbytes as f64);
                    self.budget.spend(dtime);
                }
                let saves = |t| self.saves(Some(&totals), t);
                if self.objective.t == 0.0 || saves(&duel.totals) || !saves(&totals) {
                    self.compare(duel.challenger, &duel.totals, &totals, DUEL_WEIGHT, MARGIN);
                }
            }
        } else if self.duel.as_ref().is_some_and(|d| d.trial + 64 < trial) {
            // The chunk of that trial was never stored.
            self.duel = None;
        }
        totals
    }

    /// What a chunk counts; a decompression that was not measured is taken to last as long per byte as the
    /// last one that was.
    fn totals_of(&self, m: &Measurement) -> Totals {
        let assumed = self.dtime_rate.map_or(m.ctime, |rate| rate * m.nbytes as f64);
        let full = Measurement { dtime: m.dtime.or(Some(assumed)), ..*m };
        self.objective.totals(&full).unwrap_or_default()
    }

    /// Begins the readapt that is due.
    fn begin(&mut self, chunk: &Chunk<'_>) -> bool {
        if !self.budget.unknown() && !self.budget.affords(0.0) {
            return false;
        }
        let Some(kind) = self.schedule.begin() else { return false };
        self.open = true;
        self.changed = false;
        let position = self.rng.f64();
        let mut candidates = vec![self.best];
        if kind == Readapt::Hard {
            candidates.extend(self.ranking.population());
            candidates.extend(self.evidence.nearest(2));
            self.round = Some(Round::hard(chunk, position, candidates));
            return true;
        }
        // Soft readapts take turns between levels and blocks.
        self.soft_blocks = !self.soft_blocks;
        if self.soft_blocks {
            self.challenge_blocks();
        } else {
            candidates.extend(genome::level_neighbours(&self.best));
            candidates.extend(self.evidence.nearest(1));
            self.round = Some(Round::soft(chunk, position, candidates));
        }
        true
    }

    /// Books the end of a readapt.
    fn close(&mut self) {
        if self.open && self.duel.is_none() {
            self.open = false;
            self.schedule.ended();
            self.budget.readapted(self.changed);
        }
    }

    /// One probe of the round; none where there is no time for it.
    fn step(&mut self, chunk: &Chunk<'_>, prober: &mut dyn Prober) -> Option<f64> {
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
            let patient = round.stage == Stage::Final || self.affords_soon(&request, chunk);
            if !patient && let Some(round) = &mut self.round {
                round.record(None);
            }
            return (!patient).then_some(0.0);
        }
        let probed = prober.probe(&request);
        self.book(&cparams, probed.as_ref(), chunk);
        let totals = probed.as_ref().and_then(|p| self.objective.totals(&p.measurement));
        if let Some(round) = &mut self.round {
            round.record(totals);
        }
        self.judge(cparams);
        Some(probed?.seconds)
    }

    /// A challenger compresses the whole chunk; the best does so next, when the chunk is stored.
    fn challenge(&mut self, trial: u64, chunk: &Chunk<'_>, prober: &mut dyn Prober) -> Option<f64> {
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
            return None;
        }
        self.last = if self.last == Readapt::Wait { Readapt::Soft } else { self.last };
        self.challengers.pop_front();
        let probed = prober.probe(&request);
        self.book(&challenger, probed.as_ref(), chunk);
        let probed = probed?;
        if let Some(totals) = self.objective.totals(&probed.measurement) {
            self.duel = Some(Duel { trial, best: self.best, challenger, totals });
        }
        Some(probed.seconds)
    }

    fn affords(&self, probe: &Probe<'_>) -> bool {
        self.budget.unknown() || self.budget.affords(self.expected(probe))
    }

    /// Whether there will be time for a probe within the next chunks like this one.
    fn affords_soon(&self, probe: &Probe<'_>, chunk: &Chunk<'_>) -> bool {
        let ctime = self.ranking.seconds_per_byte(&self.best) * chunk.bytes().len() as f64;
        self.budget.affords_after(PATIENCE * ctime, self.expected(probe))
    }

    fn expected(&self, probe: &Probe<'_>) -> f64 {
        let seconds = self.ranking.seconds_per_byte(&probe.cparams) * probe.bytes.len() as f64;
        seconds * f64::from(probe.repeats)
    }

    /// Books what a probe took and what it tells of this machine.
    fn book(&mut self, cparams: &Cparams, probed: Option<&Probed>, chunk: &Chunk<'_>) {
        let Some(probed) = probed else { return };
        let m = &probed.measurement;
        self.ranking.learn_pace(cparams, m.ctime / m.nbytes as f64);
        self.budget.start(self.ranking.typical(), chunk.bytes().len());
        self.budget.spend(probed.seconds);
        if *cparams == self.best {
            self.dtime_rate = m.dtime.map(|dtime| dtime / m.nbytes as f64).or(self.dtime_rate);
        }
    }

    /// Compares the candidate that was just tried with the best, on the bytes of the round.
    fn judge(&mut self, candidate: Cparams) {
        let Some(round) = &self.round else { return };
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

    /// Adds a comparison; the candidate becomes the best if it wins by more than the margin.
    fn compare(
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
    fn admits(&self, round: &Round, tried: &Totals) -> bool {
        let saves = self.saves(round.totals(&self.best).as_ref(), tried);
        self.objective.t == 0.0 || saves || !self.something_saves(round)
    }

    fn something_saves(&self, round: &Round) -> bool {
        let best = round.totals(&self.best);
        round.results().iter().any(|t| self.saves(best.as_ref(), &t.totals))
    }

    /// Whether the run saves 3 % with these parameters, as far as some bytes tell: what they make of them
    /// against what the best makes of them.
    fn saves(&self, best: Option<&Totals>, tried: &Totals) -> bool {
        match best {
            Some(best) if self.own.nbytes > 0.0 => {
                let own =
                    Totals { cbytes: self.own.cbytes * tried.cbytes / best.cbytes, ..self.own };
                (self.others + own).saves()
            }
            _ => tried.saves(),
        }
    }

    fn adopt(&mut self, next: Cparams) {
        self.evidence.rebase(self.best, &next);
        self.best = next;
        self.origin = Origin::Genetic;
        self.changed = true;
        self.dtime_rate = None;
    }

    /// The round has tried its candidates: sets it on its next step, or ends it.
    fn advance(&mut self) {
        let Some(mut round) = self.round.take() else { return };
        let mut ranked: Vec<Tried> = round.results().to_vec();
        ranked.retain(|t| self.admits(&round, &t.totals));
        ranked.sort_by(|a, b| self.objective.j(&a.totals).total_cmp(&self.objective.j(&b.totals)));
        let ranked: Vec<Cparams> = ranked.iter().map(|t| t.cparams).collect();
        let saves = self.something_saves(&round);
        if round.advance(self.best, &ranked, saves, &self.ranking, &mut self.rng) {
            self.round = Some(round);
        } else if round.kind == Readapt::Hard {
            if self.origin == Origin::Fixed {
                self.origin = Origin::Genetic;
            }
            self.challenge_blocks();
            let close = self.evidence.nearest(2).into_iter();
            let close = close.filter(|c| self.evidence.delta(c).is_some_and(|delta| delta < CLOSE));
            self.challengers.extend(close.collect::<Vec<_>>());
        }
    }

    fn challenge_blocks(&mut self) {
        if !self.best.is_store() {
            self.challengers.extend(genome::block_neighbours(&self.best, self.limits));
        }
    }

    /// J of the run with the candidate minus J of the run with the best, as if this kind of data were the
    /// whole run.
    fn delta(&self, candidate: &Totals, best: &Totals) -> f64 {
        let own = self.own.nbytes.max(candidate.nbytes);
        let part = own / (own + self.others.nbytes);
        let run = |t: &Totals| self.objective.j(&(self.others + t.scaled(own / t.nbytes)));
        (run(candidate) - run(best)) / part.max(LEAST_PART)
    }
}

#[cfg(test)]
mod tests;
