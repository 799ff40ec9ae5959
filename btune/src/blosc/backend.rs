//! What carries out compressions and measures them.

use std::time::Instant;

use crate::chunk::Chunk;
use crate::config::{PerfMode, Tradeoff};
use crate::cost::Measurement;
use crate::cparams::Cparams;
use crate::error::{BackendError, FrameError};
use crate::record::Record;
use crate::search::Origin;
use crate::tuner::{Probe, Probed, Prober};

use super::MAX_CHUNK_BYTES;
use super::copy::Relation;
use super::encode::{self, Body, fills, grown};
use super::frame::Stored;
use super::header::{ChunkHeader, Special};
use super::plan::{Form, Plan};
use super::pool::Pool;
use super::write::frame_bound;

/// The part of a record that the stored bytes do not show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intent {
    /// What was traded.
    pub tradeoff: Tradeoff,
    /// Which time counted.
    pub perf_mode: PerfMode,
    /// Where the parameters came from.
    pub origin: Origin,
}

impl Default for Intent {
    fn default() -> Self {
        let (tradeoff, perf_mode) = (Tradeoff::default(), PerfMode::default());
        Self { tradeoff, perf_mode, origin: Origin::Fixed }
    }
}

/// A frame that was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoded {
    /// Bytes of the frame, at the front of the destination.
    pub len: usize,
    /// What it cost.
    pub measurement: Measurement,
    /// What was really done.
    pub record: Record,
}

/// Compresses and decompresses with C-Blosc2. For one thread at a time; contexts and buffers are kept for the
/// next call. After a fork the child begins with new contexts.
///
/// The environment variables `BLOSC_*` of C-Blosc2 have no part in it.
#[derive(Debug)]
pub struct Backend {
    pool: Pool,
    /// An array in blocks, or a chunk that a probe made.
    scratch: Vec<u8>,
    /// Decompressed bytes that only the clock is interested in.
    timed: Vec<u8>,
    header: Vec<u8>,
}

impl Default for Backend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend {
    /// A backend without contexts yet.
    #[must_use]
    pub fn new() -> Self {
        Self { pool: Pool::new(), scratch: Vec::new(), timed: Vec::new(), header: Vec::new() }
    }

    /// Compresses to a Blosc2 chunk without a frame, which replaces what is in `out`.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`].
    pub fn compress(
        &mut self,
        chunk: &Chunk<'_>,
        cparams: &Cparams,
        measure_dtime: bool,
        out: &mut Vec<u8>,
    ) -> Result<Measurement, BackendError> {
        check_len(chunk.bytes().len())?;
        let plan = Plan::new(chunk, &Form::Plain, cparams);
        let (header, seconds) = match encode::compress(&plan, chunk, &mut self.pool, out) {
            Some(compressed) => compressed,
            None => encode::store(chunk, out)?,
        };
        let dtime = if measure_dtime { Some(self.time_decode(&header, out)?) } else { None };
        Ok(measurement(chunk.bytes().len(), &header, seconds, dtime))
    }

    /// Decompresses a chunk, or a frame, to exactly `dest`.
    ///
    /// # Errors
    /// [`BackendError::Frame`] where the stored bytes are not valid, [`BackendError::Length`] where `dest`
    /// has another length than the data, and [`BackendError::Decompress`] where a block cannot be undone;
    /// what `dest` then holds is not defined.
    pub fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<(), BackendError> {
        self.decode(&Stored::parse(chunk)?, dest)
    }

    /// Decompresses to exactly `dest`, in C order.
    ///
    /// # Errors
    /// As [`Backend::decompress`].
    pub fn decode(&mut self, stored: &Stored<'_>, dest: &mut [u8]) -> Result<(), BackendError> {
        let header = stored.header();
        if dest.len() != stored.nbytes() {
            return Err(BackendError::Length { chunk: stored.nbytes(), destination: dest.len() });
        }
        match &stored.grid {
            Some(grid) if grid.relation() != Relation::Same && !fills(header) => {
                let mut blocks = std::mem::take(&mut self.scratch);
                let result = grown(&mut blocks, header.nbytes)
                    .and_then(|blocks| self.decode_chunk(header, stored.chunk, blocks));
                if result.is_ok() {
                    grid.scatter(&blocks[..header.nbytes], dest);
                }
                self.scratch = blocks;
                result
            }
            _ => self.decode_chunk(header, stored.chunk, dest),
        }
    }

    /// The seconds that a chunk takes to decompress, in memory of our own.
    ///
    /// # Errors
    /// As [`Backend::decompress`], also for chunks of a version of C-Blosc2 that is newer than ours.
    pub fn time_decompress(&mut self, chunk: &[u8]) -> Result<f64, BackendError> {
        let stored = Stored::parse(chunk)?;
        self.time_decode(stored.header(), stored.chunk)
    }

    /// Compresses to a frame at the front of `dest`, which must have [`frame_bound`] bytes. With an intent
    /// the frame holds a [`Record`], if it has more than 1024 bytes. Where C-Blosc2 fails, and where it saves
    /// nothing, the bytes are stored as they are.
    ///
    /// # Errors
    /// [`BackendError::TooLarge`], and [`BackendError::Length`] where `dest` is too short.
    pub fn encode_frame(
        &mut self,
        chunk: &Chunk<'_>,
        form: &Form,
        cparams: &Cparams,
        intent: Option<&Intent>,
        measure_dtime: bool,
        dest: &mut [u8],
    ) -> Result<Encoded, BackendError> {
        let nbytes = chunk.bytes().len();
        check_len(nbytes)?;
        let bound = frame_bound(nbytes, form);
        if dest.len() < bound {
            return Err(BackendError::Length { chunk: bound, destination: dest.len() });
        }
        let plan = Plan::new(chunk, form, cparams);
        let with_record = intent.is_some();
        let (pool, blocks) = (&mut self.pool, &mut self.scratch);
        let body = Body::compress(plan, chunk, with_record, pool, blocks, dest)
            .unwrap_or_else(|| Body::store(chunk, form, with_record, dest));
        let header = &body.header;
        let dtime =
            if measure_dtime { Some(self.time_decode(header, body.chunk(dest))?) } else { None };
        let record = body.record(&intent.copied().unwrap_or_default());
        Ok(Encoded {
            len: body.finish(intent.map(|_| &record), &mut self.header, dest),
            measurement: measurement(nbytes, header, body.seconds, dtime),
            record,
        })
    }

    fn decode_chunk(
        &mut self,
        header: &ChunkHeader,
        chunk: &[u8],
        dest: &mut [u8],
    ) -> Result<(), BackendError> {
        let body = chunk.get(header.length..).unwrap_or_default();
        match header.special {
            Some(Special::Nan) if header.typesize == 4 => fill(dest, &f32::NAN.to_le_bytes()),
            Some(Special::Nan) => fill(dest, &f64::NAN.to_le_bytes()),
            Some(Special::Value) => fill(dest, body),
            Some(Special::Zeros | Special::Uninit) => dest.fill(0),
            None if header.stored => dest.copy_from_slice(body),
            None if header.nbytes == 0 => {}
            None if header.is_misread() => {
                let why =
                    "bitshuffle of Blosc, with a last block that C-Blosc2 does not read in full";
                return Err(FrameError::Unsupported { what: "chunk", why }.into());
            }
            None => {
                let (block, typesize) = (header.block_size, header.typesize);
                let context =
                    self.pool.decompressor(block, typesize).ok_or(BackendError::Context)?;
                let result = context.decompress(chunk, dest);
                if header.dictionary {
                    self.pool.forget_decompressor(block, typesize);
                }
                result.map_err(BackendError::Decompress)?;
            }
        }
        Ok(())
    }

    fn time_decode(&mut self, header: &ChunkHeader, chunk: &[u8]) -> Result<f64, BackendError> {
        let mut dest = std::mem::take(&mut self.timed);
        let begin = Instant::now();
        let result =
            grown(&mut dest, header.nbytes).and_then(|dest| self.decode_chunk(header, chunk, dest));
        let time = seconds(begin);
        self.timed = dest;
        result.map(|()| time)
    }

    /// One measurement of a probe.
    fn measure(&mut self, probe: &Probe<'_>, out: &mut Vec<u8>) -> Option<Measurement> {
        let chunk = Chunk::new(probe.bytes, probe.typesize);
        let plan = Plan::new(&chunk, &Form::Plain, &probe.cparams);
        let (header, ctime) = if plan.store {
            encode::store(&chunk, out).ok()?
        } else {
            encode::compress(&plan, &chunk, &mut self.pool, out)?
        };
        let dtime =
            if probe.decompress { Some(self.time_decode(&header, out).ok()?) } else { None };
        Some(measurement(probe.bytes.len(), &header, ctime, dtime))
    }
}

impl Prober for Backend {
    /// Compresses once without looking at the clock where a context is new.
    fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
        let begin = Instant::now();
        check_len(probe.bytes.len()).ok()?;
        let mut out = std::mem::take(&mut self.scratch);
        let made = self.pool.made();
        let first = self.measure(probe, &mut out);
        let warm = self.pool.made() == made;
        let mut best = first.filter(|_| warm);
        for _ in usize::from(warm)..usize::from(probe.repeats.max(1)) {
            let next = first.and_then(|_| self.measure(probe, &mut out));
            best = match (best, next) {
                (Some(a), Some(b)) => Some(least(a, b)),
                (a, b) => a.or(b),
            };
        }
        self.scratch = out;
        best.map(|measurement| Probed { measurement, seconds: seconds(begin) })
    }
}

fn least(a: Measurement, b: Measurement) -> Measurement {
    let dtime = a.dtime.zip(b.dtime).map(|(a, b)| a.min(b));
    Measurement { ctime: a.ctime.min(b.ctime), dtime, ..b }
}

fn check_len(nbytes: usize) -> Result<(), BackendError> {
    if nbytes <= MAX_CHUNK_BYTES { Ok(()) } else { Err(BackendError::TooLarge(nbytes)) }
}

/// Seconds since; above 0 also where the clock has not moved.
pub(super) fn seconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64().max(1e-9)
}

fn fill(dest: &mut [u8], value: &[u8]) {
    for place in dest.chunks_mut(value.len().max(1)) {
        place.copy_from_slice(&value[..place.len()]);
    }
}

fn measurement(nbytes: usize, header: &ChunkHeader, ctime: f64, dtime: Option<f64>) -> Measurement {
    let special = header.special.is_some();
    Measurement { nbytes, cbytes: header.cbytes, ctime, dtime, special }
}
