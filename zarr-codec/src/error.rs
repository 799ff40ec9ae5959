//! Why a codec could not be made, or a chunk not be encoded or decoded.

use btune::BackendError;
use thiserror::Error;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// An option, or a value in the metadata, that is not what it may be. The text names it, what was given and
    /// what is allowed.
    #[error("{0}")]
    Options(String),
    /// More bytes than there is room for in a chunk of that form.
    #[error("a chunk of {nbytes} bytes is too large: choose chunks of at most {most} bytes")]
    TooLarge {
        /// Bytes of the chunk.
        nbytes: usize,
        /// The most that it may have.
        most: usize,
    },
    /// The destination is too short.
    #[error("{needed} bytes do not fit into a destination of {available}")]
    Destination {
        /// Bytes to write.
        needed: usize,
        /// Bytes of the destination.
        available: usize,
    },
    /// A stored chunk holds another number of bytes than a chunk of its array.
    #[error("a stored chunk holds {stored} bytes where {expected} are expected")]
    Size {
        /// What it holds.
        stored: usize,
        /// What it should hold.
        expected: u64,
    },
    /// Bytes that are asked for are not all in the chunk.
    #[error("bytes {start} to {end} are not all in a chunk of {nbytes} bytes")]
    Range {
        /// The first of them.
        start: u64,
        /// The one after the last of them.
        end: u64,
        /// Bytes of the chunk.
        nbytes: usize,
    },
    /// C-Blosc could not compress a chunk, or decompress it.
    #[error("C-Blosc failed, with result {0}")]
    Blosc1(i32),
    /// No memory.
    #[error("no memory for {0} bytes")]
    Memory(usize),
    /// C-Blosc2, or a stored chunk that is not valid.
    #[error("{0}")]
    Backend(#[from] BackendError),
}
