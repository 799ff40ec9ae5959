//! What the user asked for.

mod tradeoff;
mod vars;

use std::path::PathBuf;

use serde::Serialize;

use crate::cparams::Cparams;
use crate::error::ConfigError;

pub use tradeoff::Tradeoff;
pub use vars::Vars;

/// Default bandwidth in kB/s: 20 GiB/s.
pub(crate) const DEFAULT_BANDWIDTH: u32 = 20 * 1024 * 1024;

const PERF_MODE_ALLOWED: &str = "COMP, DECOMP or BALANCED";

/// Which time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PerfMode {
    /// Compression time.
    #[default]
    Comp,
    /// Decompression time.
    Decomp,
    /// Their sum.
    Balanced,
}

impl PerfMode {
    /// All modes, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Comp, Self::Decomp, Self::Balanced];

    /// 0, 1 or 2, as in `btune.h`.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The mode of a code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name in `BTUNE_PERF_MODE` and the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comp => "COMP",
            Self::Decomp => "DECOMP",
            Self::Balanced => "BALANCED",
        }
    }

    /// Whether decompression has to be measured.
    #[must_use]
    pub const fn needs_dtime(self) -> bool {
        !matches!(self, Self::Comp)
    }

    /// Reads the name, in capitals.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] for anything else.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text.trim())
            .ok_or_else(|| invalid("BTUNE_PERF_MODE", text, PERF_MODE_ALLOWED))
    }
}

/// What happens when all readapts have been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepeatMode {
    /// The best parameters stay.
    #[default]
    Stop,
    /// Soft readapts go on.
    Soft,
    /// All of it starts again.
    All,
}

impl RepeatMode {
    /// The name in the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "STOP",
            Self::Soft => "SOFT",
            Self::All => "ALL",
        }
    }
}

/// When the search looks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// Chunks that pass between two readapts.
    pub waits: u32,
    /// Soft readapts before a hard one.
    pub softs: u32,
    /// Hard readapts before the repeat mode decides. The first one, that starts a search without a hint,
    /// is not counted.
    pub hards: u32,
    /// What happens then.
    pub repeat: RepeatMode,
}

impl Default for Behaviour {
    /// No waits, 5 softs, 10 hards, then stop: the defaults of Btune's interface.
    fn default() -> Self {
        Self { waits: 0, softs: 5, hards: 10, repeat: RepeatMode::Stop }
    }
}

/// Which parameters there are to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Space {
    /// All that Blosc2 has.
    #[default]
    Blosc2,
    /// All but bytedelta, the newest filter, which not every reader of Blosc2 has.
    WithoutByteDelta,
    /// What Blosc has, its predecessor: no bytedelta, and no choice of the split, which stays
    /// [`SplitMode::ForwardCompat`](crate::SplitMode::ForwardCompat).
    Blosc1,
}

/// How the trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// A banner and a table for people.
    Table,
    /// One JSON object per line.
    Json,
}

/// All settings of a tuner.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Size against time.
    pub tradeoff: Tradeoff,
    /// Which time counts.
    pub perf_mode: PerfMode,
    /// Speed in kB/s at which compressed bytes travel; the way there counts as time.
    pub bandwidth: u32,
    /// When the search looks again.
    pub behaviour: Behaviour,
    /// Parameters to start from, instead of a hard readapt.
    pub hint: Option<Cparams>,
    /// Chunks whose parameters a model proposes: -1 all, 0 none, N the first N.
    pub use_inference: i32,
    /// The folder of the model `model.onnx`, where there is to be inference.
    pub models_dir: Option<PathBuf>,
    /// An ONNX Runtime library that evaluates models, instead of the evaluator that is built in.
    pub onnx_runtime: Option<PathBuf>,
    /// Whether and how to trace.
    pub trace: Option<TraceFormat>,
    /// Which parameters there are to choose from.
    pub space: Space,
    /// The most threads that may be chosen, from 1; what a search starts with.
    pub max_threads: u16,
    /// The size in bytes that all blocks must have, where it is not to be chosen.
    pub block_size: Option<u32>,
    /// Whether a chunk counts that is the same as an earlier one: not where a host compresses a chunk again
    /// whenever it is filled up.
    pub repeats_count: bool,
    /// Whether blocks as large as the chunk may be chosen: best size, no random access inside a chunk.
    pub whole_chunk_blocks: bool,
    /// Time for probes, as a share of the compression time so far (0.05 = 5 %). On top of it comes the time
    /// of one chunk, or of 256 KiB if that is more, at the start.
    pub probe_share: f64,
    /// Seed of the genetic search.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            tradeoff: Tradeoff::default(),
            perf_mode: PerfMode::default(),
            bandwidth: DEFAULT_BANDWIDTH,
            behaviour: Behaviour::default(),
            hint: None,
            use_inference: -1,
            models_dir: None,
            onnx_runtime: None,
            trace: None,
            space: Space::default(),
            max_threads: 1,
            block_size: None,
            repeats_count: false,
            whole_chunk_blocks: true,
            probe_share: 0.05,
            seed: 0x0062_7475_6e65,
        }
    }
}

fn invalid(name: &'static str, value: &str, allowed: &'static str) -> ConfigError {
    ConfigError::Invalid { name, value: value.to_owned(), allowed }
}
