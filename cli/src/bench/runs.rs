//! Runs: all chunks of a series, with fixed parameters or with the tuner's.

use std::time::Instant;

use anyhow::{Result, ensure};
use btune::blosc::Backend;
use btune::process::models;
use btune::{Config, Cparams, Measurement, PerfMode};

use super::series::Series;

/// Who chooses the parameters.
pub(super) enum Player {
    Fixed(Cparams),
    Tuner(Config),
}

/// What a run cost.
#[derive(Default)]
pub(super) struct Run {
    nbytes: usize,
    cbytes: usize,
    ctime: f64,
    dtime: f64,
    /// Seconds of `ctime` that are the tuner's: it looks at the data, and probes.
    pub(super) asking: f64,
    /// For each chunk its number, the parameters, and whether these were only tried.
    pub(super) choices: Vec<(usize, Cparams, bool)>,
}

impl Run {
    /// All of it, as if it were one chunk.
    pub(super) fn measurement(&self) -> Measurement {
        let &Self { nbytes, cbytes, ctime, dtime, .. } = self;
        Measurement { nbytes, cbytes, ctime, dtime: Some(dtime), special: false }
    }

    fn add(&mut self, m: &Measurement, dtime: f64) {
        self.nbytes += m.nbytes;
        self.cbytes += m.cbytes;
        self.ctime += m.ctime;
        self.dtime += dtime;
    }
}

impl Player {
    /// A run from a cold start: contexts and memory are new.
    pub(super) fn run(&self, series: &Series<'_>, perf_mode: PerfMode) -> Result<Run> {
        let mut host = Host { backend: Backend::new(), stored: Vec::new(), back: Vec::new() };
        match self {
            Self::Fixed(cparams) => host.fixed(*cparams, series, perf_mode),
            Self::Tuner(config) => host.tuned(config, series, perf_mode),
        }
    }
}

struct Host {
    backend: Backend,
    stored: Vec<u8>,
    back: Vec<u8>,
}

impl Host {
    fn fixed(&mut self, cparams: Cparams, series: &Series<'_>, mode: PerfMode) -> Result<Run> {
        let mut run = Run::default();
        for (number, chunk) in series.iter() {
            let m = self.backend.compress(chunk, &cparams, false, &mut self.stored)?;
            let dtime = self.check(chunk.bytes(), mode)?;
            run.add(&m, dtime);
            run.choices.push((number, cparams, false));
        }
        Ok(run)
    }

    fn tuned(&mut self, config: &Config, series: &Series<'_>, mode: PerfMode) -> Result<Run> {
        let mut run = Run::default();
        let begin = Instant::now();
        let mut tuner = models::tuner(config.clone());
        let mut asking = begin.elapsed().as_secs_f64();
        for (number, chunk) in series.iter() {
            let begin = Instant::now();
            let trial = tuner.ask(chunk, &mut self.backend);
            asking += begin.elapsed().as_secs_f64();
            let measured = trial.measure_dtime;
            let m = self.backend.compress(chunk, &trial.cparams, measured, &mut self.stored)?;
            asking += m.dtime.unwrap_or(0.0);
            let begin = Instant::now();
            tuner.tell(&trial, &m)?;
            asking += begin.elapsed().as_secs_f64();
            let dtime = self.check(chunk.bytes(), mode)?;
            run.add(&m, dtime);
            run.choices.push((number, trial.cparams, trial.challenger));
        }
        run.asking = asking;
        run.ctime += asking;
        Ok(run)
    }

    /// Decompresses what was compressed, and compares; gives the seconds, where they count.
    fn check(&mut self, bytes: &[u8], mode: PerfMode) -> Result<f64> {
        let needed = mode.needs_dtime();
        let seconds = if needed { self.backend.time_decompress(&self.stored)? } else { 0.0 };
        self.back.clear();
        self.back.resize(bytes.len(), 0);
        self.backend.decompress(&self.stored, &mut self.back)?;
        ensure!(self.back == bytes, "a chunk was decompressed to other bytes");
        Ok(seconds)
    }
}
