//! What parameters cost on single chunks, measured apart from the runs and with less noise.

use std::collections::HashMap;

use anyhow::Result;
use btune::blosc::Backend;
use btune::{Cparams, Measurement};

use super::series::Series;

/// What takes longer than this many seconds is measured once.
const LONG: f64 = 20e-3;
/// How often the rest is measured; the least time counts.
const TIMES: usize = 4;

/// Costs of chunks, each measured once.
pub(super) struct Costs<'a> {
    series: &'a Series<'a>,
    known: HashMap<(usize, Cparams), Measurement>,
    backend: Backend,
    stored: Vec<u8>,
}

impl<'a> Costs<'a> {
    pub(super) fn new(series: &'a Series<'a>) -> Self {
        Self { series, known: HashMap::new(), backend: Backend::new(), stored: Vec::new() }
    }

    /// What the parameters cost on the chunk of that number.
    pub(super) fn of(&mut self, number: usize, cparams: &Cparams) -> Result<Measurement> {
        if let Some(known) = self.known.get(&(number, *cparams)) {
            return Ok(*known);
        }
        let m = measure(&mut self.backend, self.series, number, cparams, &mut self.stored)?;
        self.known.insert((number, *cparams), m);
        Ok(m)
    }
}

fn measure(
    backend: &mut Backend,
    series: &Series<'_>,
    number: usize,
    cparams: &Cparams,
    stored: &mut Vec<u8>,
) -> Result<Measurement> {
    let chunk = series.chunk(number);
    let mut least = backend.compress(chunk, cparams, true, stored)?;
    for _ in 1..TIMES {
        if least.ctime > LONG {
            break;
        }
        let m = backend.compress(chunk, cparams, true, stored)?;
        let dtime = [least.dtime, m.dtime].into_iter().flatten().reduce(f64::min);
        least = Measurement { ctime: least.ctime.min(m.ctime), dtime, ..m };
    }
    Ok(least)
}
