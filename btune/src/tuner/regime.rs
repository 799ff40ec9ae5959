//! Kinds of data within one run, each with a search of its own.

use crate::chunk::Sketch;
use crate::cost::Totals;
use crate::cparams::Cparams;
use crate::search::Search;

/// How fast the picture of a kind follows its chunks.
const RATE: f32 = 0.1;
/// After so many chunks of one kind the next ones are taken to be of that kind.
const STEADY: u32 = 4;
/// Kinds remembered; the one not seen for longest is forgotten.
const REMEMBERED: usize = 16;

/// A kind of data and what is known of it.
#[derive(Debug)]
pub(crate) struct Regime {
    pub(crate) id: u64,
    pub(crate) search: Search,
    sketch: Sketch,
    last_seen: u64,
    /// It has had a chunk to learn from; before, its sketch says nothing.
    begun: bool,
}

/// The kinds of data seen so far.
#[derive(Debug, Default)]
pub(crate) struct Regimes {
    known: Vec<Regime>,
    next_id: u64,
    clock: u64,
    /// The last chunk's kind, and how many sketches before were of that kind too.
    last: u64,
    alike: u32,
}

impl Regimes {
    /// The kind that a chunk belongs to, and the sums over all other kinds. A new kind (the data have
    /// drifted) starts from the parameters in `known`, or from the best ones of the nearest kind, with a hard
    /// readapt.
    pub(crate) fn of(
        &mut self,
        sketch: &Sketch,
        known: Option<Cparams>,
        new_search: impl FnOnce(Option<Cparams>) -> Search,
    ) -> (&mut Regime, Totals) {
        self.clock += 1;
        let at = match self.closest(sketch) {
            Some((at, _)) if !self.known[at].begun => {
                self.known[at].sketch = *sketch;
                at
            }
            Some((at, _)) if self.known[at].sketch.is_near(sketch) => {
                self.known[at].sketch.follow(sketch, RATE);
                at
            }
            closest => {
                let nearest = closest.map(|(at, _)| self.known[at].search.best());
                self.add(sketch, new_search(known.or(nearest)))
            }
        };
        self.known[at].begun = true;
        let id = self.known[at].id;
        self.alike = if id == self.last { self.alike + 1 } else { 0 };
        self.last = id;
        self.visit(at)
    }

    /// The kind of the last chunks, if they were all of one kind, and the sums over all other kinds: for a chunk that
    /// is taken to be of that kind without a look.
    pub(crate) fn steady(&mut self) -> Option<(&mut Regime, Totals)> {
        let at = self.known.iter().position(|r| r.id == self.last)?;
        (self.alike >= STEADY).then(|| self.visit(at))
    }

    /// The kind that is nearest to a chunk, which does not count as one of its chunks.
    pub(crate) fn nearest(
        &mut self,
        sketch: &Sketch,
        new_search: impl FnOnce(Option<Cparams>) -> Search,
    ) -> (&mut Regime, Totals) {
        let at = match self.closest(sketch) {
            Some((at, _)) => at,
            None => self.add(sketch, new_search(None)),
        };
        self.visit(at)
    }

    /// The kinds that have had chunks: what they look like, what is best for them, and bytes so far.
    pub(crate) fn learnt(&self) -> impl Iterator<Item = (&Sketch, Cparams, Totals)> {
        let begun = self.known.iter().filter(|r| r.begun && r.search.own().nbytes > 0.0);
        begun.map(|r| (&r.sketch, r.search.best(), r.search.own()))
    }

    /// The kind with this number, if it is remembered.
    pub(crate) fn get(&mut self, id: u64) -> Option<&mut Regime> {
        self.known.iter_mut().find(|r| r.id == id)
    }

    fn visit(&mut self, at: usize) -> (&mut Regime, Totals) {
        let others = self.known.iter().enumerate().filter(|(i, _)| *i != at);
        let others = others.fold(Totals::default(), |sum, (_, r)| sum + r.search.own());
        let regime = &mut self.known[at];
        regime.last_seen = self.clock;
        (regime, others)
    }

    fn closest(&self, sketch: &Sketch) -> Option<(usize, f32)> {
        let distances = self.known.iter().map(|r| r.sketch.distance(sketch)).enumerate();
        distances.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn add(&mut self, sketch: &Sketch, search: Search) -> usize {
        if self.known.len() == REMEMBERED {
            let oldest = (0..REMEMBERED).min_by_key(|&i| self.known[i].last_seen);
            self.known.swap_remove(oldest.unwrap_or(0));
        }
        self.known.push(Regime {
            id: self.next_id,
            search,
            sketch: *sketch,
            last_seen: self.clock,
            begun: false,
        });
        self.next_id += 1;
        self.known.len() - 1
    }
}
