//! What the search is at.

use serde::Serialize;

/// What the search is at, as the trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Codecs and filters are compared.
    CodecFilter,
    /// Threads are compared.
    ThreadsComp,
    /// Threads are compared by how fast they decompress.
    ThreadsDecomp,
    /// Levels and block sizes are compared.
    Clevel,
    /// Chunks are stored.
    Memcpy,
    /// Nothing until the waits are over or there is time for probes.
    Waiting,
    /// Nothing any more.
    Stop,
}

impl State {
    /// The name in the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CodecFilter => "CODEC_FILTER",
            Self::ThreadsComp => "THREADS_COMP",
            Self::ThreadsDecomp => "THREADS_DECOMP",
            Self::Clevel => "CLEVEL",
            Self::Memcpy => "MEMCPY",
            Self::Waiting => "WAITING",
            Self::Stop => "STOP",
        }
    }
}
