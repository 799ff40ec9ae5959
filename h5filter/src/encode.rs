//! Compression of a chunk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{MutexGuard, PoisonError};

use btune::blosc::{Backend, BlockShape, Form, Intent, MAX_CHUNK_BYTES, frame_bound};
use btune::process::report;
use btune::{
    BackendError, BlockSize, Chunk, Config, Cparams, SplitMode, TraceFormat, Tuner, trace,
};

use crate::cd_values::{FEWEST, Values};
use crate::error::FilterError;
use crate::state;
use crate::worker::Worker;

/// What HDF5 asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// An address in the calling HDF5 library, the same at each call.
    pub(crate) caller: usize,
    /// Whether the chunk may be stored as it is.
    pub(crate) optional: bool,
    /// The filter's values.
    pub(crate) values: &'a [u32],
    /// The chunk.
    pub(crate) input: &'a [u8],
}

/// Compresses the chunk into `worker.out`, and returns how many bytes that makes.
///
/// That tuning fails is no reason to fail: then the parameters in the values are taken, and if those cannot
/// be used either, the chunk is stored in a frame.
pub(crate) fn encode(call: &Call<'_>, worker: &mut Worker) -> Result<usize, FilterError> {
    let nbytes = call.input.len();
    if nbytes > MAX_CHUNK_BYTES {
        return Err(FilterError::TooLarge(nbytes as u64));
    }
    // Readers of the registered filter could not open what this would write.
    if call.optional && call.values.len() < FEWEST {
        return Err(FilterError::NoValues);
    }
    let values = Values::parse(call.values);
    let chunk = Chunk::new(call.input, values.typesize);
    if let Some(config) = worker.settings.config(values.slot.tuned) {
        match tuned_or_panic(call, &chunk, &values, config, worker) {
            Some(Ok(len)) => return Ok(len),
            Some(Err(error)) => worker.log(&error),
            None => {}
        }
    }
    let form = form(&values, nbytes, BlockShape::Stock);
    let cparams = fixed(&values, worker);
    compress(&chunk, &form, &cparams, worker).or_else(|error| {
        worker.log(&error);
        Ok(compress(&chunk, &Form::Plain, &Cparams::STORE, worker)?)
    })
}

/// [`tuned`], or none where it panicked.
fn tuned_or_panic(
    call: &Call<'_>,
    chunk: &Chunk<'_>,
    values: &Values,
    config: Config,
    worker: &mut Worker,
) -> Option<Result<usize, BackendError>> {
    let result = catch_unwind(AssertUnwindSafe(|| tuned(call, chunk, values, config, worker)));
    if result.is_err() {
        worker.backend = Backend::new();
    }
    result.ok()
}

fn tuned(
    call: &Call<'_>,
    chunk: &Chunk<'_>,
    values: &Values,
    config: Config,
    worker: &mut Worker,
) -> Result<usize, BackendError> {
    let format = config.trace;
    let (tradeoff, perf_mode) = (config.tradeoff, config.perf_mode);
    let (state, new) = state::tuner(call.caller, call.values, config);
    // Other threads may compress while this one does: the tuner is locked only to decide and to learn.
    let lock = || -> MutexGuard<'_, Tuner> { state.lock().unwrap_or_else(PoisonError::into_inner) };
    if new && format == Some(TraceFormat::Table) {
        report::line(trace::banner(lock().config()));
    }
    let trial = lock().ask(chunk, &mut worker.backend);
    let form = form(values, chunk.bytes().len(), BlockShape::Rows);
    let intent = Intent { tradeoff, perf_mode, origin: trial.origin };
    let dest = worker_out(&mut worker.out, chunk.bytes().len(), &form)?;
    let encoded = worker.backend.encode_frame(
        chunk,
        &form,
        &trial.cparams,
        Some(&intent),
        trial.measure_dtime,
        dest,
    )?;
    // A measurement that the tuner refuses teaches nothing; the chunk is compressed all the same.
    let told = lock().tell(&trial, &encoded.measurement);
    if let (Some(format), Ok(Some(row))) = (format, told.map(|told| told.row)) {
        report::line(row.line(format, &key(values)));
    }
    Ok(encoded.len)
}

fn compress(
    chunk: &Chunk<'_>,
    form: &Form,
    cparams: &Cparams,
    worker: &mut Worker,
) -> Result<usize, BackendError> {
    let dest = worker_out(&mut worker.out, chunk.bytes().len(), form)?;
    let encoded = worker.backend.encode_frame(chunk, form, cparams, None, false, dest)?;
    Ok(encoded.len)
}

/// The parameters that the values ask for, as the registered filter takes them.
fn fixed(values: &Values, worker: &Worker) -> Cparams {
    let choice = &values.choice;
    let block_size = match values.block_size {
        0 => BlockSize::Auto,
        bytes => BlockSize::Bytes(bytes),
    };
    Cparams {
        codec: choice.codec,
        filter: choice.filter,
        clevel: choice.clevel,
        split: SplitMode::ForwardCompat,
        block_size,
        threads: worker.settings.threads(),
    }
}

/// An array where the chunk is one. It is not where an earlier filter has changed its length, nor where
/// elements are arrays themselves or too large for Blosc2.
fn form(values: &Values, nbytes: usize, blocks: BlockShape) -> Form {
    let bytes = values.dims.iter().try_fold(values.typesize, |all, &n| all.checked_mul(n));
    if values.dims.is_empty() || bytes != Some(nbytes) || !(1..=255).contains(&values.typesize) {
        return Form::Plain;
    }
    Form::B2nd { shape: values.dims.clone(), blocks }
}

/// Room for a frame.
fn worker_out<'a>(
    out: &'a mut Vec<u8>,
    nbytes: usize,
    form: &Form,
) -> Result<&'a mut [u8], BackendError> {
    let bound = frame_bound(nbytes, form);
    if out.len() < bound {
        out.try_reserve_exact(bound - out.len()).map_err(|_| BackendError::Memory(bound))?;
        out.resize(bound, 0);
    }
    Ok(&mut out[..bound])
}

/// Names a data set in the trace: its token, bytes per element, and the chunk's shape or bytes.
fn key(values: &Values) -> String {
    let dims: Vec<_> = values.dims.iter().map(ToString::to_string).collect();
    let chunk = if dims.is_empty() { values.chunk_bytes.to_string() } else { dims.join("x") };
    format!("{:04x}-{}-{chunk}", values.slot.token, values.typesize)
}
