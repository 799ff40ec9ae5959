//! The tuner's state of one context.

use std::sync::{Arc, PoisonError};

use btune::blosc::{Backend, ChunkHeader, Intent, Params};
use btune::process::{PerThread, report};
use btune::{Chunk, Config, Cparams, Filter, Measurement, Origin, TraceFormat, Trial, trace};

use crate::abi::btune_record;
use crate::live;
use crate::records;
use crate::warm::{Key, Lease};

/// What an instance begins with.
const MAGIC: u64 = u64::from_le_bytes(*b"btune-01");

thread_local! {
    /// What carries probes out.
    static BACKEND: PerThread<Backend> = const { PerThread::new() };
}

/// A chunk that is being compressed.
#[derive(Debug)]
struct Pending {
    /// None where the parameters are not ours.
    params: Option<Params>,
    /// None where nothing is to be learnt.
    trial: Option<Trial>,
    nbytes: usize,
}

/// What belongs to one context from its beginning to its end.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Instance {
    magic: u64,
    context: usize,
    config: Config,
    /// From the first chunk on.
    lease: Option<Lease>,
    pending: Option<Pending>,
    last: Option<Cparams>,
    log: live::Shared,
}

impl Instance {
    /// For the context at that address, of the super-chunk at that address if it is not 0.
    pub(crate) fn new(context: usize, schunk: usize, config: Config) -> Self {
        let log = live::Shared::default();
        live::add(context, schunk, Arc::clone(&log));
        Self { magic: MAGIC, context, config, lease: None, pending: None, last: None, log }
    }

    /// Whether it is what it should be, and belongs to the context at that address.
    pub(crate) fn is_of(&self, context: usize) -> bool {
        self.magic == MAGIC && self.context == context
    }

    /// What to compress the next chunk with. `source` is none where its bytes cannot be seen: then what was
    /// last chosen serves again. None: as the context has it, but for [`block`](Self::block).
    pub(crate) fn choose(
        &mut self,
        source: Option<&[u8]>,
        nbytes: usize,
        typesize: usize,
    ) -> Option<Params> {
        self.pending = Some(Pending { params: None, trial: None, nbytes });
        let (trial, cparams, typesize) = match source {
            Some(bytes) if !bytes.is_empty() => {
                let chunk = Chunk::new(bytes, typesize);
                let trial = self.ask(&chunk);
                (Some(trial), trial.cparams, chunk.typesize())
            }
            _ => (None, self.last?, Chunk::new(&[], typesize).typesize()),
        };
        self.last = Some(cparams);
        let params = self.params(nbytes, typesize, &cparams);
        self.pending = Some(Pending { params: Some(params), trial, nbytes });
        Some(params)
    }

    /// The block size for a chunk that is compressed with the user's parameters: the user's, or what C-Blosc2
    /// would choose for them. None for an empty chunk.
    pub(crate) fn block(
        &self,
        nbytes: usize,
        typesize: usize,
        users: Option<&Cparams>,
    ) -> Option<usize> {
        let typesize = Chunk::new(&[], typesize).typesize();
        let chosen = || Params::new(nbytes, typesize, users.unwrap_or(&Cparams::STORE)).block;
        Some(self.given_block(nbytes, typesize).unwrap_or_else(chosen)).filter(|&block| block > 0)
    }

    /// Learns from the chunk that was compressed in `ctime` seconds. No bytes: it did not fit.
    pub(crate) fn learn(&mut self, compressed: &[u8], ctime: f64) {
        let Some(pending) = self.pending.take().filter(|_| !compressed.is_empty()) else { return };
        let header = ChunkHeader::parse(compressed).ok();
        self.note(&pending, header.as_ref());
        let (Some(trial), Some(lease)) = (pending.trial, &mut self.lease) else { return };
        let measurement = Measurement {
            nbytes: pending.nbytes,
            cbytes: compressed.len(),
            ctime,
            dtime: if trial.measure_dtime { time_decompress(compressed) } else { None },
            special: header.is_some_and(|header| header.special.is_some()),
        };
        // A measurement that the tuner refuses teaches nothing.
        let told = lease.tuner.tell(&trial, &measurement);
        if let (Some(format), Ok(Some(row))) = (self.config.trace, told.map(|told| told.row)) {
            report::line(row.line(format, &lease.name()));
        }
    }

    /// The context ends: what was learnt is kept.
    pub(crate) fn end(self) {
        live::remove(self.context);
        if let Some(lease) = self.lease {
            lease.give_back();
        }
    }

    fn ask(&mut self, chunk: &Chunk<'_>) -> Trial {
        let config = &self.config;
        let lease = self.lease.get_or_insert_with(|| {
            let (nbytes, typesize) = (chunk.bytes().len(), chunk.typesize());
            let (lease, new) = Lease::take(Key { typesize, nbytes, config: config.clone() });
            if new && config.trace == Some(TraceFormat::Table) {
                report::line(trace::banner(config));
            }
            lease
        });
        PerThread::with(&BACKEND, |backend| lease.tuner.ask(chunk, backend))
    }

    /// What C-Blosc2 is given.
    fn params(&self, nbytes: usize, typesize: usize, cparams: &Cparams) -> Params {
        let mut params = Params::new(nbytes, typesize, cparams);
        if let Some(block) = self.given_block(nbytes, typesize) {
            params.block = block;
        }
        if !params.block.is_multiple_of(typesize) && cparams.filter == Filter::ByteDelta {
            params.pipeline = Filter::Shuffle.pipeline(typesize);
        }
        params
    }

    /// The block size that the user gave, as it can be used: whole elements, and no more than the chunk has.
    fn given_block(&self, nbytes: usize, typesize: usize) -> Option<usize> {
        let given = self.config.block_size? as usize;
        let whole = if given > typesize { given / typesize * typesize } else { given };
        Some(whole.min(nbytes))
    }

    /// Notes what the chunk was compressed with.
    fn note(&self, pending: &Pending, header: Option<&ChunkHeader>) {
        let origin = pending.trial.map_or(Origin::Fixed, |trial| trial.origin);
        let intent =
            Intent { tradeoff: self.config.tradeoff, perf_mode: self.config.perf_mode, origin };
        let record = match (pending.params, header) {
            (Some(params), Some(header)) => btune_record::new(&params.record(header, &intent)),
            (Some(params), None) => btune_record::new(&params.intended(&intent)),
            (None, Some(header)) => records::of_header(header, &intent),
            (None, None) => return,
        };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

/// Seconds to decompress, where that C-Blosc2's chunks can be decompressed here: they may be newer.
fn time_decompress(compressed: &[u8]) -> Option<f64> {
    PerThread::with(&BACKEND, |backend| backend.time_decompress(compressed)).ok()
}
