//! Why a chunk or a data set could not be filtered.

use btune::BackendError;
use btune::blosc::MAX_CHUNK_BYTES;
use thiserror::Error;

/// Why the filter gave up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum FilterError {
    /// More bytes than Blosc2 has room for.
    #[error(
        "a chunk of {0} bytes is too large for Blosc2: choose chunks of at most {MAX_CHUNK_BYTES} bytes"
    )]
    TooLarge(u64),
    /// The data set has too few filter values for a reader of the registered filter.
    #[error("the filter's values were not set: fewer than 4 of them")]
    NoValues,
    /// A stored chunk claims to hold far more than a chunk of its data set.
    #[error("a stored chunk claims {0} bytes, far more than a chunk of its data set has")]
    Inflated(usize),
    /// A stored chunk is an array of another shape than a chunk of its data set.
    #[error("a stored chunk has another shape than a chunk of its data set")]
    Shape,
    /// No memory.
    #[error("no memory for {0} bytes")]
    Memory(usize),
    /// C-Blosc2 or the frame.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// A filter value that is not what it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("filter 32026: {name} {value} is not valid: {allowed}; the default is used")]
pub(crate) struct ValueError {
    /// What the value means.
    pub(crate) name: &'static str,
    /// What was given.
    pub(crate) value: u32,
    /// What may be given.
    pub(crate) allowed: &'static str,
}
