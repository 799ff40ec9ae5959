//! One readapt: candidates that are compared on the same bytes.

use std::collections::VecDeque;

use super::genome::{self, Limits};
use super::population::Ranking;
use super::schedule::Readapt;
use crate::chunk::Chunk;
use crate::cost::Totals;
use crate::cparams::Cparams;

/// Bytes on which candidates are first tried. Measured on 48 arrays: the best of 66 by 32 KiB loses 6 %
/// against the best by whole chunks, by 16 KiB 10 %.
const SCREEN_BYTES: usize = 32 << 10;
/// Where speed counts, of a chunk of less than 512 KiB a sixteenth, down to this, so that there is time for as
/// many candidates. Where size counts there is more time, and small pieces flatter strong levels.
const LEAST_SCREEN_BYTES: usize = 16 << 10;
/// Bytes on which the best of them are compared: 3 to 4 % loss.
pub(super) const FINAL_BYTES: usize = 128 << 10;
/// Parents of a generation, and finalists.
const PARENTS: usize = 4;
pub(super) const FINALISTS: usize = 3;
/// Children of a generation.
const CHILDREN: usize = 5;
/// Generations after the first population: one that the predictions point to, then children.
const GENERATIONS: u8 = 2;

/// How many bytes are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Many candidates on few bytes.
    Screen,
    /// Few candidates on more bytes.
    Final,
}

/// What a candidate cost on the sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    pub(super) cparams: Cparams,
    pub(super) totals: Totals,
}

/// A readapt under way. It may last for several chunks, as the time for probes comes in.
#[derive(Debug, Clone)]
pub(super) struct Round {
    pub(super) kind: Readapt,
    pub(super) typesize: usize,
    pub(super) stage: Stage,
    sample: Vec<u8>,
    screen_bytes: usize,
    queue: VecDeque<Cparams>,
    tried: Vec<Tried>,
    finals: Vec<Tried>,
    generation: u8,
    rescued: bool,
    generations: u8,
}

impl Round {
    /// A hard readapt: all candidates are screened, then bred, then the best compared again. With `brief` the
    /// pieces that they are screened on may be smaller.
    pub(super) fn hard(
        chunk: &Chunk<'_>,
        position: f64,
        population: Vec<Cparams>,
        brief: bool,
    ) -> Self {
        let mut round = Self::new(Readapt::Hard, Stage::Screen, chunk, position, population);
        if brief {
            round.screen_bytes = (chunk.bytes().len() / 16).clamp(LEAST_SCREEN_BYTES, SCREEN_BYTES);
        }
        round
    }

    /// Without children: the population is a model's, and what may be better is known.
    pub(super) fn without_children(mut self) -> Self {
        self.generations = 1;
        self
    }

    /// A soft readapt: a few candidates are compared at once on the larger sample.
    pub(super) fn soft(chunk: &Chunk<'_>, position: f64, candidates: Vec<Cparams>) -> Self {
        Self::new(Readapt::Soft, Stage::Final, chunk, position, candidates)
    }

    fn new(
        kind: Readapt,
        stage: Stage,
        chunk: &Chunk<'_>,
        position: f64,
        queue: Vec<Cparams>,
    ) -> Self {
        let mut round = Self {
            kind,
            stage,
            typesize: chunk.typesize(),
            sample: chunk.piece(FINAL_BYTES, position).to_vec(),
            screen_bytes: SCREEN_BYTES,
            queue: VecDeque::new(),
            tried: Vec::new(),
            finals: Vec::new(),
            generation: 0,
            rescued: false,
            generations: GENERATIONS,
        };
        round.enqueue(queue);
        round
    }

    /// The next candidate, which stays in the queue until [`record`](Self::record) is called.
    pub(super) fn next(&self) -> Option<Cparams> {
        self.queue.front().copied()
    }

    /// The candidates that are still to be tried.
    pub(super) fn queue(&self) -> impl Iterator<Item = &Cparams> {
        self.queue.iter()
    }

    /// The bytes that candidates are tried on now.
    pub(super) fn bytes(&self) -> &[u8] {
        match self.stage {
            Stage::Screen => Chunk::new(&self.sample, self.typesize).piece(self.screen_bytes, 0.5),
            Stage::Final => &self.sample,
        }
    }

    /// Takes the first candidate off the queue, with what it cost; without, it cannot be used.
    pub(super) fn record(&mut self, totals: Option<Totals>) {
        if let (Some(cparams), Some(totals)) = (self.queue.pop_front(), totals) {
            self.results_mut().push(Tried { cparams, totals });
        }
    }

    /// Nothing had saved enough: before the data are taken to be incompressible, the strongest are tried.
    pub(super) fn is_rescue(&self) -> bool {
        self.rescued
    }

    /// What was tried on the bytes of this stage.
    pub(super) fn results(&self) -> &[Tried] {
        match self.stage {
            Stage::Screen => &self.tried,
            Stage::Final => &self.finals,
        }
    }

    /// What was tried on the smaller sample.
    pub(super) fn screen(&self) -> &[Tried] {
        &self.tried
    }

    /// What these parameters cost on the smaller sample.
    pub(super) fn screened(&self, cparams: &Cparams) -> Option<Totals> {
        totals_in(&self.tried, cparams)
    }

    /// What these parameters cost on the bytes of this stage.
    pub(super) fn totals(&self, cparams: &Cparams) -> Option<Totals> {
        totals_in(self.results(), cparams)
    }

    /// The queue is empty: fills it for the next step and says whether there is one. `ranked` holds the
    /// admissible parameters tried in this stage, best first; `saves` says whether any of them saves enough.
    pub(super) fn advance(
        &mut self,
        best: Cparams,
        ranked: &[Cparams],
        saves: bool,
        ranking: &Ranking,
        limits: Limits,
        rng: &mut fastrand::Rng,
    ) -> bool {
        if self.stage == Stage::Final {
            return false;
        }
        if !self.rescued && !saves {
            self.rescued = true;
            self.enqueue(ranking.strongest());
        }
        while self.queue.is_empty() && self.generation < self.generations {
            self.generation += 1;
            let next = match self.generation {
                1 => ranking.followers(&self.tried),
                _ => self.children(ranked, ranking, limits, rng),
            };
            self.enqueue(next);
        }
        if self.queue.is_empty() {
            self.stage = Stage::Final;
            // Before data are taken to be incompressible, the strongest are tried on more of them.
            let others = if saves {
                ranked.iter().filter(|c| **c != best).take(FINALISTS).copied().collect()
            } else {
                [ranking.strongest(), vec![Cparams::STORE]].concat()
            };
            self.enqueue([vec![best], others].concat());
        }
        true
    }

    fn children(
        &self,
        ranked: &[Cparams],
        ranking: &Ranking,
        limits: Limits,
        rng: &mut fastrand::Rng,
    ) -> Vec<Cparams> {
        let parents = &ranked[..ranked.len().min(PARENTS)];
        let mut children: Vec<Cparams> = Vec::new();
        if parents.is_empty() {
            return children;
        }
        // Children are drawn at random; those known already are thrown away, so the draws are bounded.
        for draw in 0..CHILDREN * 4 {
            let parent = &parents[rng.usize(..parents.len())];
            let child = if draw % 2 == 0 {
                genome::crossover(parent, &parents[rng.usize(..parents.len())])
            } else {
                limits.fit(genome::mutate(parent, rng))
            };
            let new = !self.tried.iter().any(|t| t.cparams == child) && !children.contains(&child);
            if new && ranking.is_worth_a_probe(&child, &parents[0]) {
                children.push(child);
            }
            if children.len() == CHILDREN {
                break;
            }
        }
        children
    }

    fn enqueue(&mut self, candidates: Vec<Cparams>) {
        for candidate in candidates {
            if self.totals(&candidate).is_none() && !self.queue.contains(&candidate) {
                self.queue.push_back(candidate);
            }
        }
    }

    fn results_mut(&mut self) -> &mut Vec<Tried> {
        match self.stage {
            Stage::Screen => &mut self.tried,
            Stage::Final => &mut self.finals,
        }
    }
}

fn totals_in(results: &[Tried], cparams: &Cparams) -> Option<Totals> {
    results.iter().find(|t| t.cparams == *cparams).map(|t| t.totals)
}
