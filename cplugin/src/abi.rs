//! The structs of `btune.h`, as C lays them out.
#![allow(non_camel_case_types, reason = "the names of the C interface")]

use std::ffi::{c_char, c_int};

use btune::Record;

/// `BTUNE_PERF_*`: any number may come from C.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct btune_performance_mode(pub u32);

/// `BTUNE_STOP` and its like: any number may come from C.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct btune_repeat_mode(pub u32);

/// When the search looks again for better parameters.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct btune_behaviour {
    /// Chunks that pass between two readapts.
    pub nwaits_before_readapt: u32,
    /// Soft readapts before a hard one.
    pub nsofts_before_hard: u32,
    /// Hard readapts before the repeat mode decides.
    pub nhards_before_stop: u32,
    /// What happens then.
    pub repeat_mode: btune_repeat_mode,
}

/// The settings of a context: what `cparams.tuner_params` points to. Start from `BTUNE_CONFIG_DEFAULTS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct btune_config {
    /// Speed in kB/s at which compressed bytes travel; the way there counts as time. Above 0.
    pub bandwidth: u32,
    /// Which time counts. `BTUNE_PERF_AUTO`: what `BTUNE_PERF_MODE` says, else compression time.
    pub perf_mode: btune_performance_mode,
    /// From 0 (speed) to 1 (ratio); or ratio, speed and quality with a sum of 1. `BTUNE_TRADEOFF` in the
    /// environment wins.
    pub tradeoff: [f32; 3],
    /// Numbers in `tradeoff` that count: 1 or 3.
    pub tradeoff_nelems: c_int,
    /// When the search looks again.
    pub behaviour: btune_behaviour,
    /// Start from the compression parameters of the context, instead of a hard readapt.
    pub cparams_hint: bool,
    /// Chunks whose parameters a model proposes: -1 all, 0 none, N the first N. `BTUNE_USE_INFERENCE` wins.
    pub use_inference: c_int,
    /// Where models are, up to a zero byte; empty for the one that is built in. `BTUNE_MODELS_DIR` wins.
    pub models_dir: [c_char; 4096],
}

/// What chunks in a row were compressed with. The codes are those of `blosc2.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct btune_record {
    /// How many chunks in a row.
    pub nchunks: u64,
    /// The codec.
    pub codec: u8,
    /// Codec metadata.
    pub codec_meta: u8,
    /// The level; 0: stored; 255: not known.
    pub clevel: u8,
    /// `BLOSC_ALWAYS_SPLIT` or `BLOSC_NEVER_SPLIT`.
    pub splitmode: u8,
    /// Filters, in the order of their use.
    pub filters: [u8; 6],
    /// Filter metadata.
    pub filters_meta: [u8; 6],
    /// Bytes per block.
    pub blocksize: i32,
    /// Threads that compressed.
    pub nthreads: i16,
    /// `BTUNE_PERF_COMP`, `_DECOMP` or `_BALANCED`.
    pub perf_mode: u8,
    /// Where the parameters come from: 0 a model, 1 the genetic search, 2 the user's hint, 3 a fixed choice.
    pub origin: u8,
    /// Ratio, speed and quality.
    pub tradeoff: [f32; 3],
}

impl btune_record {
    /// The level of a chunk of which only the header is known.
    pub(crate) const UNKNOWN_LEVEL: u8 = 255;

    /// A chunk with that record.
    pub(crate) fn new(record: &Record) -> Self {
        let part = |ten_thousandths: u16| f32::from(ten_thousandths) / 10_000.0;
        let speed = 10_000u16.saturating_sub(record.ratio).saturating_sub(record.quality);
        Self {
            nchunks: 1,
            codec: record.codec,
            codec_meta: record.codec_meta,
            clevel: record.clevel,
            splitmode: record.split,
            filters: record.filters,
            filters_meta: record.filters_meta,
            blocksize: i32::try_from(record.block_size).unwrap_or(i32::MAX),
            nthreads: i16::try_from(record.threads).unwrap_or(i16::MAX),
            perf_mode: record.perf_mode.code(),
            origin: record.origin.code(),
            tradeoff: [part(record.ratio), part(speed), part(record.quality)],
        }
    }

    /// Whether chunks of the two were compressed alike.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        *self == Self { nchunks: self.nchunks, ..*other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn structs_lie_as_programs_that_are_compiled_already_expect() {
        assert_eq!(size_of::<btune_config>(), 4144);
        assert_eq!(offset_of!(btune_config, bandwidth), 0);
        assert_eq!(offset_of!(btune_config, perf_mode), 4);
        assert_eq!(offset_of!(btune_config, tradeoff), 8);
        assert_eq!(offset_of!(btune_config, tradeoff_nelems), 20);
        assert_eq!(offset_of!(btune_config, behaviour), 24);
        assert_eq!(offset_of!(btune_behaviour, repeat_mode), 12);
        assert_eq!(offset_of!(btune_config, cparams_hint), 40);
        assert_eq!(offset_of!(btune_config, use_inference), 44);
        assert_eq!(offset_of!(btune_config, models_dir), 48);
        assert_eq!(size_of::<btune_record>(), 48);
        assert_eq!(offset_of!(btune_record, blocksize), 24);
        assert_eq!(offset_of!(btune_record, tradeoff), 32);
    }
}
