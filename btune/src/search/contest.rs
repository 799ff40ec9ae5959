//! Challengers that compress chunks of the run in the best's place.
//!
//! Samples flatter small blocks and know nothing of threads, and to compress whole chunks twice, only to
//! compare, takes the time of many probes. A challenger that may well be better costs nothing when it compresses
//! a chunk that has to be compressed anyway. Its chunk is compared with those of the best around it.

use std::collections::VecDeque;

use super::judge::CHUNK_WEIGHT;
use super::{CLOSE, Search, genome};
use crate::cost::{Measurement, Totals};
use crate::cparams::Cparams;
use crate::search::Readapt;

/// Chunks of the best that a challenger's chunk is compared with: two before it and one after, the middle one of
/// which counts, so that one that was disturbed does not.
const NEIGHBOURS: usize = 3;
/// What a challenger of which nothing is known is expected to lose.
const UNKNOWN: f64 = 0.05;
/// What a challenger's chunk counts at least, in chunks: so that there is an end to them where all are as good.
const LEAST_COST: f64 = 0.02;
/// What a former best is expected to lose at most when it is compared once more.
const REMATCH: f64 = 0.1;
/// What is expected to lose more is no challenger.
const HOPELESS: f64 = 0.2;
/// A challenger that has to wait for this many chunks is given up.
const PATIENCE: f64 = 100.0;
/// How much of the difference between the neighbours a challenger has to win by.
const UNLIKE: f64 = 0.3;
/// How much better J must be, by its logarithm, and how much of that the noise of a single timing adds, where only
/// time counts.
const MARGIN: f64 = 0.02;
const TIMING: f64 = 0.04;
/// A chunk that was given up by its host is waited for no longer than for this many others.
const LOST: u64 = 64;

/// A challenger and its chunk.
#[derive(Debug, Clone)]
struct Contest {
    trial: u64,
    challenger: Cparams,
    /// It was the best, and is compared once more with what took its place.
    again: bool,
    /// What its chunk cost, once that is known.
    totals: Option<Totals>,
}

/// Who waits, who is being tried, and what the best makes of the chunks around.
#[derive(Debug, Clone, Default)]
pub(super) struct Contests {
    /// Who was the best before the last contest: it may have lost to a disturbance.
    former: Option<Cparams>,
    /// With what they are expected to lose, where what is known of them is no guide.
    waiting: VecDeque<(Cparams, Option<f64>)>,
    current: Option<Contest>,
    neighbours: VecDeque<Totals>,
    /// Who has lost since the last hard readapt, and is not tried again before the next.
    lost: Vec<Cparams>,
}

impl Contests {
    /// Whether nobody waits or is being tried.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.current.is_none()
    }

    /// Lets challengers wait for their turn.
    pub(super) fn add(&mut self, challengers: impl IntoIterator<Item = Cparams>) {
        for challenger in challengers {
            if self.waiting.iter().all(|(known, _)| *known != challenger) {
                self.waiting.push_back((challenger, None));
            }
        }
    }

    /// Lets a challenger be the next, which is expected to lose so much.
    pub(super) fn add_first(&mut self, challenger: Cparams, expected: f64) {
        self.waiting.retain(|(known, _)| *known != challenger);
        self.waiting.push_front((challenger, Some(expected)));
    }

    /// Lets those who have lost try again: the data may have changed.
    pub(super) fn forget_losses(&mut self) {
        self.lost.clear();
    }

    /// What compresses the chunk of that trial, if it is a challenger.
    pub(super) fn challenger(&self, trial: u64) -> Option<Cparams> {
        self.current.as_ref().filter(|c| c.trial == trial).map(|c| c.challenger)
    }

    /// The best has changed; its first chunk is known.
    pub(super) fn new_best(&mut self, totals: Option<Totals>) {
        self.neighbours.clear();
        self.neighbours.extend(totals);
    }

    /// Adds a chunk of the best; chunks of another length say nothing of one another.
    fn add_neighbour(&mut self, totals: Totals) {
        self.neighbours.retain(|t| same_length(t, &totals));
        if self.neighbours.len() == NEIGHBOURS {
            self.neighbours.pop_front();
        }
        self.neighbours.push_back(totals);
    }
}

fn same_length(a: &Totals, b: &Totals) -> bool {
    (a.nbytes - b.nbytes).abs() < 0.5
}

impl Search {
    /// Lets the next challenger compress this chunk, if it may.
    pub(super) fn challenge(&mut self, trial: u64) {
        while self.contests.current.is_none() && !self.contests.neighbours.is_empty() {
            let Some((challenger, expected)) = self.contests.waiting.front().copied() else {
                return;
            };
            let known = expected.or_else(|| self.evidence.delta(&challenger));
            let predicted = || {
                self.ranking
                    .predicted_delta(&challenger, &self.best)
                    .map(|delta| delta.max(UNKNOWN))
            };
            let expected = known.or_else(predicted).unwrap_or(UNKNOWN);
            let cost = expected.exp_m1().max(LEAST_COST);
            let lost = self.contests.lost.contains(&challenger);
            let hopeless = challenger == self.best || lost || expected > HOPELESS;
            if hopeless || self.budget.chunks_until(cost) > PATIENCE {
                self.contests.waiting.pop_front();
                continue;
            }
            if self.budget.chunks_until(cost) > 0.0 {
                return;
            }
            self.contests.waiting.pop_front();
            self.last = if self.last == Readapt::Wait { Readapt::Soft } else { self.last };
            self.threads_tried = challenger.threads != self.best.threads;
            let again = self.contests.former.take_if(|former| *former == challenger).is_some();
            self.contests.current = Some(Contest { trial, challenger, again, totals: None });
        }
    }

    /// While a readapt waits for time to probe: what chunks of the run can tell of the best so far, and of those
    /// that came near to it, need not wait.
    pub(super) fn challenge_meanwhile(&mut self, trial: u64) {
        if self.contests.is_empty() && !self.best.is_store() {
            let near = |c: &Cparams| self.evidence.delta(c).is_some_and(|delta| delta < CLOSE);
            let blocks = genome::block_neighbours(&self.best, self.limits).into_iter();
            let near = self.evidence.nearest(2).into_iter().filter(near);
            let new = |c: &Cparams| self.evidence.grade(c) < CHUNK_WEIGHT;
            let challengers: Vec<Cparams> = blocks.chain(near).filter(new).collect();
            self.contests.add(challengers);
        }
        self.challenge(trial);
    }

    /// Whether the trial's decompression time is needed: where it counts, for a challenger's chunk and those
    /// around it.
    pub(crate) fn needs_dtime(&self) -> bool {
        self.objective.perf_mode.needs_dtime() && !self.contests.is_empty()
    }

    /// Takes what a chunk of the run cost.
    pub(super) fn contested(
        &mut self,
        trial: u64,
        cparams: &Cparams,
        m: &Measurement,
        totals: Totals,
    ) {
        let complete = m.dtime.is_some() || !self.objective.perf_mode.needs_dtime();
        if let Some(contest) = &mut self.contests.current {
            if contest.trial == trial {
                contest.totals = Some(totals).filter(|_| complete);
                if !complete || contest.challenger != *cparams {
                    self.contests.current = None;
                }
                return;
            }
            if contest.trial + LOST < trial {
                self.contests.current = None;
            }
        }
        if *cparams == self.best && complete {
            self.contests.add_neighbour(totals);
            self.decide();
        }
    }

    /// Compares the challenger's chunk with those of the best around it, once they are all known.
    fn decide(&mut self) {
        let Some(tried) = self.contests.current.as_ref().and_then(|c| c.totals) else { return };
        let Some(contest) = self.contests.current.take() else { return };
        let mut around: Vec<(f64, Totals)> =
            self.contests.neighbours.iter().map(|t| (self.objective.j(t), *t)).collect();
        around.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, best)) = around.get(around.len() / 2).copied() else { return };
        if !same_length(&best, &tried) {
            return;
        }
        // How much chunks differ among themselves: those two that are most alike, of three; but where the third is
        // of quite another kind, so may the challenger's be.
        let gaps = around.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let span = around.last().map_or(0.0, |last| last.0 - around[0].0);
        let noise = gaps.min_by(f64::total_cmp).unwrap_or(0.0).max(span * UNLIKE);
        let saves = |t| self.saves(Some(&best), t);
        let admitted = self.objective.t == 0.0 || saves(&tried) || !saves(&best);
        let delta = self.compare_chunks(contest.challenger, &tried, &best);
        self.budget.spend_on_contest(delta.exp_m1().max(LEAST_COST));
        let margin = MARGIN + TIMING * (1.0 - self.objective.t);
        if admitted && delta < -noise.max(margin) {
            let former = self.best;
            self.adopt(contest.challenger);
            self.contests.new_best(Some(tried));
            if !contest.again {
                self.contests.add_first(former, (-delta).min(REMATCH));
                self.contests.former = Some(former);
            }
        } else if delta > 0.0 || !admitted {
            self.contests.lost.push(contest.challenger);
        }
    }

    /// The other block sizes and numbers of threads wait for their turn.
    pub(super) fn challenge_blocks(&mut self) {
        if !self.best.is_store() {
            self.contests.add(genome::block_neighbours(&self.best, self.limits));
        }
    }
}
