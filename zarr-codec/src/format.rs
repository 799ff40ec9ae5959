//! The forms that a chunk is stored in.

use btune::blosc::{Form, MAX_CHUNK_BYTES, frame_bound};
use serde::{Serialize, Serializer};

use crate::blosc1;

/// What a Blosc2 chunk may be longer than its data.
const CHUNK_OVERHEAD: usize = 32;

/// How chunks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// A Blosc2 frame, with the record beside the chunk.
    #[default]
    Cframe,
    /// A Blosc2 chunk.
    Chunk,
    /// A Blosc (1) chunk, as Zarr's core codec `blosc` stores it.
    Blosc,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cframe, Self::Chunk, Self::Blosc];

    /// The name in configurations and options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cframe => "cframe",
            Self::Chunk => "chunk",
            Self::Blosc => "blosc",
        }
    }

    /// The most bytes that a chunk may have.
    #[must_use]
    pub const fn most(self) -> usize {
        match self {
            Self::Cframe | Self::Chunk => MAX_CHUNK_BYTES,
            Self::Blosc => blosc1::MAX_CHUNK_BYTES,
        }
    }

    /// The most bytes that a chunk of `nbytes` bytes is stored in; `form` matters to frames.
    #[must_use]
    pub(crate) fn bound(self, nbytes: usize, form: &Form) -> usize {
        // Beyond the limit there is no stored form, but whoever asks must not be made to panic.
        let bytes = nbytes.min(self.most());
        let bound = match self {
            Self::Cframe => frame_bound(bytes, form),
            Self::Chunk => bytes + CHUNK_OVERHEAD,
            Self::Blosc => bytes + blosc1::OVERHEAD,
        };
        bound.saturating_add(nbytes - bytes)
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_above_the_size_and_never_overflow() {
        for format in Format::ALL {
            for nbytes in [0, 1, 1 << 20, format.most(), usize::MAX - 200, usize::MAX] {
                assert!(format.bound(nbytes, &Form::Plain) >= nbytes, "{format:?} {nbytes}");
            }
        }
        assert_eq!(Format::Chunk.bound(100, &Form::Plain), 132);
        assert_eq!(Format::Blosc.bound(100, &Form::Plain), 116);
    }
}
