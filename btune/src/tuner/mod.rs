//! Ask and tell: the parameters of each chunk, and what they cost.

mod glances;
mod regime;

use std::collections::VecDeque;

use crate::chunk::{Chunk, Seen, Signature, Sketch};
use crate::config::Config;
use crate::cost::{Measurement, Objective, Totals};
use crate::cparams::Cparams;
use crate::error::TunerError;
use crate::profile::{self, Profile};
use crate::search::{Origin, Prior, Readapt, Search, Spread, State};
use crate::trace::Row;

use glances::Glances;
use regime::Regimes;

/// Trials that may be open at a time; the oldest is given up when there are more.
const OPEN_TRIALS: usize = 256;

/// A compression to try out, on a copy of some bytes of the data.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Bytes per element, 1 to 255.
    pub typesize: usize,
    /// The parameters.
    pub cparams: Cparams,
    /// Whether the decompression time is wanted too.
    pub decompress: bool,
    /// How often to measure; the least time counts.
    pub repeats: u8,
}

/// The result of a probe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probed {
    /// What the compression cost.
    pub measurement: Measurement,
    /// Seconds that the probe took in all, with warming up and repeating.
    pub seconds: f64,
}

/// What carries probes out: the backend.
pub trait Prober {
    /// Compresses the bytes; `None` where that is not possible with these parameters.
    fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed>;
}

/// The parameters to compress a chunk with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Names the trial to [`Tuner::tell`].
    pub id: u64,
    /// The parameters.
    pub cparams: Cparams,
    /// Where they come from.
    pub origin: Origin,
    /// Whether they are not the best known so far, but are compared with it on this chunk.
    pub challenger: bool,
    /// Whether the decompression time should be measured, on a copy of the chunk.
    pub measure_dtime: bool,
    /// Seconds spent on probes for this chunk.
    pub probe_time: f64,
}

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// A line for the trace; none where the chunk had been seen before and says nothing new.
    pub row: Option<Row>,
}

/// A trial that has not been told.
#[derive(Debug, Clone, Copy)]
struct Open {
    id: u64,
    cparams: Cparams,
    regime: u64,
    readapt: Readapt,
    state: State,
    probe_time: f64,
    kind: Kind,
    /// It is a challenger that compresses the chunk.
    contest: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Evidence,
    Constant,
    Again,
}

/// Chooses parameters for the chunks of a data set, and learns from what they cost.
///
/// Kinds of data that differ are told apart, each with a search of its own; the sum over all chunks is what
/// is minimised. A chunk that was seen before (unless repeats count), and one that holds a single repeated value,
/// get the best parameters known and teach nothing.
#[derive(Debug)]
pub struct Tuner {
    config: Config,
    objective: Objective,
    prior: Box<dyn Prior>,
    regimes: Regimes,
    seen: Seen,
    open: VecDeque<Open>,
    next_id: u64,
    chunks: u64,
    last_best: Option<Cparams>,
    glances: Glances,
    /// What another process has learnt.
    profile: Profile,
}

impl Tuner {
    /// A tuner that starts from a fixed spread of parameters.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self::with_prior(config, Box::new(Spread))
    }

    /// A tuner that starts from the predictions of `prior`.
    #[must_use]
    pub fn with_prior(config: Config, prior: Box<dyn Prior>) -> Self {
        Self {
            objective: Objective::new(&config),
            config,
            prior,
            regimes: Regimes::default(),
            seen: Seen::default(),
            open: VecDeque::new(),
            next_id: 0,
            chunks: 0,
            last_best: None,
            glances: Glances::default(),
            profile: Profile::default(),
        }
    }

    /// Lets kinds of data that are new, but known from a profile, start from what is best there. It says nothing
    /// to a tuner of another tradeoff or performance mode.
    pub fn start_from(&mut self, profile: Profile) {
        self.profile = profile;
    }

    /// What was learnt so far, with what it started from.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let mut profile = self.profile.clone();
        for (sketch, best, own) in self.regimes.learnt() {
            profile.add(profile::Kind {
                tradeoff: self.config.tradeoff.t(),
                perf_mode: self.config.perf_mode,
                sketch: *sketch,
                nbytes: own.nbytes as u64,
                best: Cparams { threads: 1, ..best },
            });
        }
        profile
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The parameters for a chunk. May probe, within the time there is for it.
    pub fn ask(&mut self, chunk: &Chunk<'_>, prober: &mut dyn Prober) -> Trial {
        let id = self.next_id;
        self.next_id += 1;
        let kind = if chunk.is_constant() {
            Kind::Constant
        } else if !self.config.repeats_count && self.seen.again(&Signature::of(chunk)) {
            Kind::Again
        } else {
            Kind::Evidence
        };
        let config = &self.config;
        let infers = u64::try_from(config.use_inference).map_or(true, |first| id < first);
        let prior: &dyn Prior = if infers { &*self.prior } else { &Spread };
        let new_search = |inherited| {
            let nbytes = chunk.bytes().len();
            Search::new(config, nbytes, prior.origin(), prior.predict(chunk), inherited)
        };
        let unseen = kind == Kind::Evidence && self.glances.skip(chunk);
        let steady = if unseen { self.regimes.steady() } else { None };
        let (regime, others) = if let Some(steady) = steady {
            steady
        } else {
            let sketch = Sketch::of(chunk);
            if kind == Kind::Evidence {
                let known = self.profile.best(&self.config, &sketch);
                self.regimes.of(&sketch, known, new_search)
            } else {
                self.regimes.nearest(&sketch, new_search)
            }
        };
        let search = &mut regime.search;
        let mut probe_time = 0.0;
        if kind == Kind::Evidence {
            probe_time = search.explore(id, chunk, others, prober, infers.then_some(prior));
        }
        let cparams = search.chosen(id);
        let trial = Trial {
            id,
            cparams,
            origin: search.origin(),
            challenger: cparams != search.best(),
            measure_dtime: kind == Kind::Evidence && search.needs_dtime(),
            probe_time,
        };
        let open = Open {
            id,
            cparams: trial.cparams,
            regime: regime.id,
            readapt: search.readapt(),
            state: search.state(),
            probe_time,
            kind,
            contest: trial.challenger,
        };
        if self.open.len() == OPEN_TRIALS {
            self.open.pop_front();
        }
        self.open.push_back(open);
        trial
    }

    /// Takes what a trial's chunk cost.
    ///
    /// # Errors
    /// [`TunerError`], and the tuner is as it was: for a trial that is not open, and for times and sizes
    /// that are not finite numbers above zero. (A chunk of no bytes is accepted and teaches nothing.)
    pub fn tell(&mut self, trial: &Trial, m: &Measurement) -> Result<Told, TunerError> {
        let at = self.open.iter().position(|o| o.id == trial.id && o.cparams == trial.cparams);
        let at = at.ok_or(TunerError::NotOpen(trial.id))?;
        check(m)?;
        self.glances.told(m.ctime);
        let Some(open) = self.open.remove(at) else { return Err(TunerError::NotOpen(trial.id)) };
        if open.kind == Kind::Again || m.nbytes == 0 {
            return Ok(Told { row: None });
        }
        let special = m.special || open.kind == Kind::Constant;
        let totals = match self.regimes.get(open.regime) {
            Some(regime) if !special => regime.search.told(open.id, &open.cparams, m),
            _ => self
                .objective
                .totals(&Measurement { dtime: m.dtime.or(Some(m.ctime)), ..*m })
                .unwrap_or_default(),
        };
        let row = self.row(&open, trial.origin, m, &totals, special);
        self.chunks += 1;
        if !special && !open.contest {
            self.last_best = Some(open.cparams);
        }
        Ok(Told { row: Some(row) })
    }

    fn row(
        &self,
        open: &Open,
        origin: Origin,
        m: &Measurement,
        totals: &Totals,
        special: bool,
    ) -> Row {
        Row {
            chunk: self.chunks,
            cparams: open.cparams,
            origin,
            readapt: open.readapt,
            state: open.state,
            nbytes: m.nbytes,
            cbytes: m.cbytes,
            ctime: m.ctime,
            dtime: m.dtime,
            score: self.objective.score(totals),
            j: self.objective.j(totals),
            winner: match special {
                true => 'S',
                false if !open.contest && self.last_best != Some(open.cparams) => 'W',
                false => '-',
            },
            regime: open.regime,
            probe_time: open.probe_time,
        }
    }
}

fn check(m: &Measurement) -> Result<(), TunerError> {
    let time = |t: f64| t.is_finite() && t > 0.0;
    if m.nbytes == 0 {
        return Ok(());
    }
    if m.cbytes == 0 {
        return Err(TunerError::Measurement("cbytes"));
    }
    if !time(m.ctime) {
        return Err(TunerError::Measurement("ctime"));
    }
    if m.dtime.is_some_and(|t| !time(t)) {
        return Err(TunerError::Measurement("dtime"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
