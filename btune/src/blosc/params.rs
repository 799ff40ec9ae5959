//! What C-Blosc2 is given.

use crate::cparams::{BlockSize, Codec, Cparams, Filter, Pipeline, SplitMode};
use crate::record::Record;

use super::auto::{Choice, whole_elements};
use super::backend::Intent;
use super::header::ChunkHeader;

/// What a context compresses a chunk with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Params {
    /// The codec.
    pub codec: Codec,
    /// The level; 0 stores the bytes.
    pub clevel: u8,
    /// Filters and their metadata.
    pub pipeline: Pipeline,
    /// The split mode.
    pub split: SplitMode,
    /// Bytes per element, 1 to 255.
    pub typesize: usize,
    /// Bytes per block, no more than the chunk has. 0: C-Blosc2 chooses.
    pub block: usize,
    /// Threads, from 1.
    pub threads: u16,
}

impl Params {
    /// For a chunk of `nbytes` bytes. A filter that would lose bytes of a chunk that is not whole elements is
    /// left out.
    #[must_use]
    pub fn new(nbytes: usize, typesize: usize, cparams: &Cparams) -> Self {
        Self::sized(nbytes, typesize, cparams, None)
    }

    /// With the block size that C-Blosc2 chooses for filter `sizes`, where that is another one.
    pub(super) fn sized(
        nbytes: usize,
        typesize: usize,
        cparams: &Cparams,
        sizes: Option<Filter>,
    ) -> Self {
        let filter = lossless_on(cparams.filter, nbytes, typesize);
        let choice = Choice {
            codec: cparams.codec,
            filter: sizes.unwrap_or(filter),
            clevel: cparams.clevel,
            split: cparams.split,
            typesize,
        };
        let block = match cparams.block_size {
            BlockSize::Auto => choice.block(nbytes),
            BlockSize::Doubled => choice.block(nbytes) * 2,
            BlockSize::WholeChunk => nbytes,
            BlockSize::Bytes(n) => n as usize,
        };
        Self {
            codec: cparams.codec,
            clevel: if nbytes < typesize { 0 } else { cparams.clevel },
            pipeline: filter.pipeline(typesize),
            split: cparams.split,
            typesize,
            block: whole_elements(block, typesize, nbytes),
            threads: cparams.threads.max(1),
        }
    }

    /// Parameters that store the chunk with this header.
    pub(super) fn stored(header: &ChunkHeader) -> Self {
        Self {
            codec: Codec::BloscLz,
            clevel: 0,
            pipeline: Pipeline::default(),
            split: SplitMode::Never,
            typesize: header.typesize,
            block: header.block_size,
            threads: 1,
        }
    }

    /// The record of a chunk that is made with these parameters, as far as they tell.
    #[must_use]
    pub fn intended(&self, intent: &Intent) -> Record {
        let split = if self.split == SplitMode::Always { self.split } else { SplitMode::Never };
        let record = Record {
            codec: self.codec.code(),
            codec_meta: 0,
            filters: self.pipeline.filters,
            filters_meta: self.pipeline.metas,
            clevel: self.clevel,
            split: split.code(),
            block_size: self.block.max(1) as u32,
            threads: self.threads,
            ratio: 0,
            quality: 0,
            perf_mode: intent.perf_mode,
            origin: intent.origin,
        };
        record.with_tradeoff(&intent.tradeoff)
    }

    /// The record of a chunk that was made with these parameters, and of which this is the header: what was
    /// really done.
    #[must_use]
    pub fn record(&self, header: &ChunkHeader, intent: &Intent) -> Record {
        let split =
            if header.split && !header.stored { SplitMode::Always } else { SplitMode::Never };
        let pipeline = if header.stored { Pipeline::default() } else { header.pipeline };
        Record {
            codec: if header.has_blocks() { header.codec } else { self.codec }.code(),
            codec_meta: header.codec_meta,
            filters: pipeline.filters,
            filters_meta: pipeline.metas,
            clevel: if header.stored { 0 } else { self.clevel },
            split: split.code(),
            block_size: header.block_size.max(1) as u32,
            ..self.intended(intent)
        }
    }
}

/// Delta and bytedelta lose bytes of blocks that are not whole elements.
fn lossless_on(filter: Filter, nbytes: usize, typesize: usize) -> Filter {
    match filter {
        Filter::ByteDelta if !nbytes.is_multiple_of(typesize) => Filter::Shuffle,
        Filter::Delta if !nbytes.is_multiple_of(typesize) => Filter::None,
        filter => filter,
    }
}
