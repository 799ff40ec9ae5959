//! The search for the best parameters of one kind of data: a state machine without clock, I/O or globals.
//!
//! A hard readapt screens a population on a small sample, follows where the results point, breeds, and
//! compares the finalists on a larger sample; a soft one compares the neighbours of the best. What is left
//! then, block sizes, threads and close runners-up, compresses chunks of the run; so do the finalists, where
//! the larger sample would take too long.

mod budget;
mod contest;
mod evidence;
mod explore;
mod genome;
mod judge;
mod population;
mod round;
mod schedule;
mod spread;
mod state;

use std::collections::HashSet;

use crate::chunk::Chunk;
use crate::config::{Config, PerfMode};
use crate::cost::{Measurement, Objective, Totals};
use crate::cparams::{BlockSize, Cparams};
use crate::tuner::Prober;

use budget::Budget;
use contest::Contests;
use evidence::Evidence;
use genome::Limits;
use population::Ranking;
use round::{FINALISTS, Round, Stage, Tried};
use schedule::Schedule;

pub use schedule::Readapt;
pub use spread::{Origin, Prediction, Prior, Spread};
pub use state::State;

/// Runners-up this near to the best are compared again on a whole chunk.
const CLOSE: f64 = 0.05;

/// A chunk that is this many times as large as the sample said is a disappointment.
const DISAPPOINTING: f64 = 1.1;
/// The best with another filter is compared on a whole chunk if it lost no more by the sample.
const OTHER_FILTER: f64 = 0.2;
/// What is this much better, but saves too little of a sample, is tried on a whole chunk.
const DOUBTFUL: f64 = 0.1;
/// And how many of these are.
const DOUBTFUL_TRIED: usize = 2;

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
    contests: Contests,
    /// What the best made of the last round's sample, until a whole chunk has confirmed it.
    unconfirmed: Option<f64>,
    last: Readapt,
    /// The last chunk was used to compare threads.
    threads_tried: bool,
    /// A readapt is under way whose end has not been booked; whether it has changed the best.
    under_way: Option<bool>,
    soft_blocks: bool,
    /// Seconds per byte that the best took to decompress when it was last measured.
    dtime_rate: Option<f64>,
    /// Sums over what was told, for this kind of data and for all others of the run.
    own: Totals,
    others: Totals,
}

impl Search {
    /// A search that starts from the hint, from `inherited` parameters, or from what is predicted best, for
    /// chunks of `nbytes` bytes.
    pub(crate) fn new(
        config: &Config,
        nbytes: usize,
        origin: Origin,
        predictions: Vec<Prediction>,
        inherited: Option<Cparams>,
    ) -> Self {
        let objective = Objective::new(config);
        let limits = Limits::new(config, nbytes);
        let predictions = distinct(predictions, limits);
        let informed = origin == Origin::Inference;
        let ranking = Ranking::new(objective, predictions, informed);
        let (best, origin) = match (config.hint, inherited) {
            (_, Some(best)) => (limits.fit(best), Origin::Genetic),
            (Some(hint), None) => (limits.fit(hint), Origin::Hint),
            (None, None) => (limits.start(ranking.start()), origin),
        };
        Self {
            objective,
            limits,
            ranking,
            schedule: Schedule::new(config.behaviour, inherited.is_none() && config.hint.is_some()),
            budget: Budget::new(config.probe_share),
            evidence: Evidence::default(),
            rng: fastrand::Rng::with_seed(config.seed),
            best,
            origin,
            round: None,
            contests: Contests::default(),
            unconfirmed: None,
            last: Readapt::Wait,
            threads_tried: false,
            under_way: None,
            soft_blocks: false,
            dtime_rate: None,
            own: Totals::default(),
            others: Totals::default(),
        }
    }

    /// What to compress the chunk of that trial with: the best, or a challenger.
    pub(crate) fn chosen(&self, trial: u64) -> Cparams {
        self.contests.challenger(trial).unwrap_or(self.best)
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
        match self.last {
            Readapt::Wait if self.schedule.finished() => State::Stop,
            _ if self.best.is_store() => State::Memcpy,
            Readapt::Wait => State::Waiting,
            _ if self.threads_tried && self.objective.perf_mode == PerfMode::Decomp => {
                State::ThreadsDecomp
            }
            _ if self.threads_tried => State::ThreadsComp,
            Readapt::Hard => State::CodecFilter,
            Readapt::Soft => State::Clevel,
        }
    }

    /// Sums over the chunks told.
    pub(crate) fn own(&self) -> Totals {
        self.own
    }

    /// Looks further, as long as there is time for it; `others` are the sums of the run's other kinds of
    /// data, and `prior` what may be asked about the chunk. Gives the seconds spent.
    pub(crate) fn explore(
        &mut self,
        trial: u64,
        chunk: &Chunk<'_>,
        others: Totals,
        prober: &mut dyn Prober,
        prior: Option<&dyn Prior>,
    ) -> f64 {
        self.others = others;
        self.last = Readapt::Wait;
        // Where only speed counts, nothing is faster than storing.
        if self.objective.t == 0.0 {
            return 0.0;
        }
        self.threads_tried = false;
        let mut spent = 0.0;
        loop {
            if self.round.is_none() {
                self.challenge(trial);
                if !self.contests.is_empty() {
                    break;
                }
                self.close();
                if !self.begin(chunk, prior) {
                    break;
                }
            } else if let Some(seconds) = self.step(chunk, prober) {
                spent += seconds;
            } else {
                self.challenge_meanwhile(trial);
                break;
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
        if *cparams == self.best {
            self.confirm(totals.share());
        }
        if let Some(dtime) = m.dtime {
            self.budget.spend(dtime);
            if *cparams == self.best {
                self.dtime_rate = Some(dtime / m.nbytes as f64);
            }
        }
        self.contested(trial, cparams, m, totals);
        totals
    }

    /// A chunk that shrank much less than the sample did puts the runners-up on again: what was compared may
    /// hold for small blocks only.
    fn confirm(&mut self, share: f64) {
        let Some(sample) = self.unconfirmed.take() else { return };
        if share <= sample * DISAPPOINTING {
            return;
        }
        let lost = self.objective.of_size((share / sample).ln());
        let runners_up = self.evidence.nearest(usize::MAX);
        let other = runners_up.iter().find(|c| c.codec != self.best.codec);
        for runner_up in runners_up.first().into_iter().chain(other) {
            let known = self.evidence.delta(runner_up).unwrap_or(0.0);
            self.contests.add_first(*runner_up, known - lost);
        }
    }

    /// What a chunk counts; a decompression that was not measured is taken to last as long per byte as the
    /// last one that was.
    fn totals_of(&self, m: &Measurement) -> Totals {
        let assumed = self.dtime_rate.map_or(m.ctime, |rate| rate * m.nbytes as f64);
        let full = Measurement { dtime: m.dtime.or(Some(assumed)), ..*m };
        self.objective.totals(&full).unwrap_or_default()
    }

    /// Begins the readapt that is due. A hard one looks at what `prior` predicts for this chunk.
    fn begin(&mut self, chunk: &Chunk<'_>, prior: Option<&dyn Prior>) -> bool {
        if !self.budget.unknown() && !self.budget.affords(0.0) {
            return false;
        }
        let Some(kind) = self.schedule.begin() else { return false };
        self.under_way = Some(false);
        let position = self.rng.f64();
        let mut candidates = vec![self.best];
        if kind == Readapt::Hard {
            self.contests.forget_losses();
            if let Some(prior) = prior.filter(|_| self.own.nbytes > 0.0) {
                self.ranking.renew(distinct(prior.predict(chunk), self.limits));
            }
            candidates.extend(self.ranking.population());
            candidates.extend(self.evidence.nearest(2));
            let brief = self.objective.t < explore::TIMED_TWICE_BELOW;
            let round = Round::hard(chunk, position, candidates, brief);
            let first = self.own.nbytes == 0.0 && self.ranking.is_informed();
            self.round = Some(if first { round.without_children() } else { round });
            return true;
        }
        // Soft readapts take turns between levels and blocks.
        self.soft_blocks = !self.soft_blocks;
        if self.soft_blocks {
            self.challenge_blocks();
        } else {
            let neighbours = genome::level_neighbours(&self.best).into_iter();
            candidates.extend(neighbours.map(|c| self.limits.fit(c)).filter(|c| *c != self.best));
            candidates.extend(self.evidence.nearest(1));
            if self.finals_are_slow(&candidates, chunk) {
                self.contests.add(candidates.split_off(1));
            } else {
                self.round = Some(Round::soft(chunk, position, candidates));
            }
        }
        true
    }

    /// Books the end of a readapt.
    fn close(&mut self) {
        if let Some(changed) = self.under_way.take() {
            self.schedule.ended();
            self.budget.readapted(changed);
        }
    }

    /// The round has tried its candidates: sets it on its next step, or ends it.
    fn advance(&mut self, mut round: Round, chunk: &Chunk<'_>) {
        let screened = round.stage == Stage::Screen;
        let mut ranked: Vec<Tried> = round.results().to_vec();
        ranked.retain(|t| self.admits(&round, &t.totals));
        ranked.sort_by(|a, b| self.objective.j(&a.totals).total_cmp(&self.objective.j(&b.totals)));
        let ranked: Vec<Cparams> = ranked.iter().map(|t| t.cparams).collect();
        let saves = self.something_saves(&round);
        if round.advance(self.best, &ranked, saves, &self.ranking, self.limits, &mut self.rng) {
            let finals = screened && round.stage == Stage::Final;
            if !finals || !saves || !self.finals_are_slow(round.queue(), chunk) {
                self.round = Some(round);
                return;
            }
            let others = ranked.into_iter().filter(|c| *c != self.best).take(FINALISTS);
            self.contests.add(others);
        }
        let sample = round.totals(&self.best).or_else(|| round.screened(&self.best));
        self.unconfirmed = sample.map(|t| t.share());
        if round.kind == Readapt::Hard {
            if self.origin == Origin::Fixed {
                self.origin = Origin::Genetic;
            }
            self.challenge_doubtful(&round);
            self.challenge_blocks();
            if self.ranking.is_informed() {
                self.challenge_other_filter();
            }
            let close = self.evidence.nearest(2).into_iter();
            let close = close.filter(|c| self.evidence.delta(c).is_some_and(|delta| delta < CLOSE));
            self.contests.add(close.collect::<Vec<_>>());
        }
    }

    /// How well a filter fits is what a sample tells least of: repeats that are far apart show in whole chunks only.
    fn challenge_other_filter(&mut self) {
        let other = |c: &&Cparams| {
            c.filter != self.best.filter
                && self.evidence.grade(c) < judge::CHUNK_WEIGHT
                && self.evidence.delta(c).is_some_and(|delta| delta < OTHER_FILTER)
        };
        let nearest = self.evidence.nearest(usize::MAX);
        let known = nearest.iter().find(other).copied();
        let predicted = || {
            let other = self
                .ranking
                .other_filter(&self.best)
                .filter(|c| self.evidence.delta(c).is_none())?;
            self.ranking.is_worth_a_probe(&other, &self.best).then_some(other)
        };
        self.contests.add(known.or_else(predicted));
    }

    /// What was much better than the best, but saved too little of the sample to be chosen, may save enough
    /// of a whole chunk.
    fn challenge_doubtful(&mut self, round: &Round) {
        let Some(best) = round.screened(&self.best) else { return };
        let doubtful = round.screen().iter().filter(|t| !self.saves(Some(&best), &t.totals));
        let compressing = doubtful.filter(|t| !t.cparams.is_store());
        let better = compressing.map(|t| (self.delta(&t.totals, &best), t.cparams));
        let better = better.filter(|(delta, _)| *delta < -DOUBTFUL);
        let mut better: Vec<_> = better.collect();
        better.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, cparams) in better.into_iter().take(DOUBTFUL_TRIED) {
            let block_size =
                if self.limits.whole_chunk { BlockSize::WholeChunk } else { cparams.block_size };
            self.contests.add([self.limits.fit(Cparams { block_size, ..cparams })]);
        }
    }
}

/// Predictions for parameters as they may be chosen, each once.
fn distinct(mut predictions: Vec<Prediction>, limits: Limits) -> Vec<Prediction> {
    for prediction in &mut predictions {
        prediction.cparams = limits.start(prediction.cparams);
    }
    let mut known = HashSet::new();
    predictions.retain(|prediction| known.insert(prediction.cparams));
    predictions
}

#[cfg(test)]
mod tests;
