//! Compression of a chunk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{MutexGuard, PoisonError};

use btune::blosc::{Backend, Intent};
use btune::process::report;
use btune::{
    BackendError, BlockSize, Chunk, Codec, Cparams, Filter, Measurement, Prober, SplitMode,
    TraceFormat, Trial, Tuner, trace,
};

use crate::blosc1::{self, Blosc1};
use crate::error::Error;
use crate::format::Format;
use crate::settings::Settings;
use crate::tuners::Shared;
use crate::worker::Worker;

/// What is taken where tuning fails.
const FIXED: Cparams = Cparams {
    codec: Codec::Lz4,
    filter: Filter::Shuffle,
    clevel: 5,
    split: SplitMode::ForwardCompat,
    block_size: BlockSize::Auto,
    threads: 1,
};

/// Stores the chunk in `worker.out`, and returns how many bytes that makes. `tuner` gives a tuner and its number.
///
/// That tuning fails is no reason to fail: then fixed parameters are taken, and if those cannot be used either,
/// the bytes are stored as they are.
pub(crate) fn encode(
    settings: &Settings,
    bytes: &[u8],
    tuner: impl Fn() -> (Shared, u64),
    worker: &mut Worker,
) -> Result<usize, Error> {
    let (nbytes, most) = (bytes.len(), settings.format.most());
    if nbytes > most {
        return Err(Error::TooLarge { nbytes, most });
    }
    let chunk = Chunk::new(bytes, settings.typesize);
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let (tuner, number) = tuner();
        tuned(settings, &chunk, &tuner, number, worker)
    }));
    match attempt {
        Ok(Ok(len)) => return Ok(len),
        Ok(Err(error)) => log(settings, &error),
        Err(_) => *worker = Worker::default(),
    }
    let mut plain =
        |cparams| compress(settings, &chunk, cparams, None, false, worker).map(|(len, _)| len);
    plain(&FIXED).or_else(|error| {
        log(settings, &error);
        plain(&Cparams::STORE)
    })
}

fn tuned(
    settings: &Settings,
    chunk: &Chunk<'_>,
    tuner: &Shared,
    number: u64,
    worker: &mut Worker,
) -> Result<usize, Error> {
    // Other threads may compress while this one does: the tuner is locked only to decide and to learn.
    let lock = || -> MutexGuard<'_, Tuner> { tuner.lock().unwrap_or_else(PoisonError::into_inner) };
    let trial = lock().ask(chunk, prober(settings.format, worker));
    let (len, measurement) = compress(
        settings,
        chunk,
        &trial.cparams,
        Some(&intent(settings, &trial)),
        trial.measure_dtime,
        worker,
    )?;
    // A measurement that the tuner refuses teaches nothing; the chunk is compressed all the same.
    let told = lock().tell(&trial, &measurement);
    if let (Some(format), Ok(Some(row))) = (settings.config.trace, told.map(|told| told.row)) {
        if row.chunk == 0 && format == TraceFormat::Table {
            report::line(trace::banner(&settings.config));
        }
        report::line(row.line(format, &key(settings, chunk, number)));
    }
    Ok(len)
}

fn prober(format: Format, worker: &mut Worker) -> &mut dyn Prober {
    match format {
        Format::Cframe | Format::Chunk => &mut worker.backend,
        Format::Blosc => &mut worker.blosc1,
    }
}

fn intent(settings: &Settings, trial: &Trial) -> Intent {
    let config = &settings.config;
    Intent { tradeoff: config.tradeoff, perf_mode: config.perf_mode, origin: trial.origin }
}

/// Compresses into `worker.out`. Returns how many bytes that makes, and what it cost. With an intent a frame holds a
/// record.
fn compress(
    settings: &Settings,
    chunk: &Chunk<'_>,
    cparams: &Cparams,
    intent: Option<&Intent>,
    measure_dtime: bool,
    worker: &mut Worker,
) -> Result<(usize, Measurement), Error> {
    let Worker { backend, blosc1, out } = worker;
    match settings.format {
        Format::Cframe => frame(settings, chunk, cparams, intent, measure_dtime, backend, out),
        Format::Chunk => {
            let measurement = backend.compress(chunk, cparams, measure_dtime, out)?;
            Ok((out.len(), measurement))
        }
        Format::Blosc => blosc(chunk, cparams, measure_dtime, blosc1, out),
    }
}

fn frame(
    settings: &Settings,
    chunk: &Chunk<'_>,
    cparams: &Cparams,
    intent: Option<&Intent>,
    measure_dtime: bool,
    backend: &mut Backend,
    out: &mut Vec<u8>,
) -> Result<(usize, Measurement), Error> {
    let bound = settings.format.bound(chunk.bytes().len(), &settings.form);
    if out.len() < bound {
        out.try_reserve_exact(bound - out.len()).map_err(|_| BackendError::Memory(bound))?;
        out.resize(bound, 0);
    }
    let dest = &mut out[..bound];
    let encoded =
        backend.encode_frame(chunk, &settings.form, cparams, intent, measure_dtime, dest)?;
    Ok((encoded.len, encoded.measurement))
}

fn blosc(
    chunk: &Chunk<'_>,
    cparams: &Cparams,
    measure_dtime: bool,
    blosc1: &mut Blosc1,
    out: &mut Vec<u8>,
) -> Result<(usize, Measurement), Error> {
    let mut measurement = blosc1::compress(chunk, cparams, out)?;
    if measure_dtime {
        measurement.dtime = blosc1.time_decompress(out, chunk.bytes().len());
    }
    Ok((out.len(), measurement))
}

/// Says what went wrong, where the user wants a trace.
fn log(settings: &Settings, error: &Error) {
    if settings.config.trace.is_some() {
        report::line(format_args!("btune: {error}"));
    }
}

/// Names an array in the trace: the number of its codec, bytes per element, and bytes of the chunk.
fn key(settings: &Settings, chunk: &Chunk<'_>, number: u64) -> String {
    format!("zarr{number}-{}-{}", settings.typesize, chunk.bytes().len())
}

#[cfg(test)]
mod tests;
