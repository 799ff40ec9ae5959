//! Compression parameters: the genome of the search and what the backend is given.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::ParamsError;

/// A codec, with the codes of C-Blosc2's `blosc2.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// Code 0.
    BloscLz,
    /// Code 1.
    Lz4,
    /// Code 2.
    Lz4hc,
    /// Code 4.
    Zlib,
    /// Code 5.
    Zstd,
}

impl Codec {
    /// All codecs, in the order of their codes.
    pub const ALL: [Self; 5] = [Self::BloscLz, Self::Lz4, Self::Lz4hc, Self::Zlib, Self::Zstd];

    /// The code of `blosc2.h`.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Lz4hc => 2,
            Self::Zlib => 4,
            Self::Zstd => 5,
        }
    }

    /// The codec of a code.
    ///
    /// # Errors
    /// [`ParamsError::Codec`] for any other code.
    pub fn from_code(code: u32) -> Result<Self, ParamsError> {
        Self::ALL.into_iter().find(|c| u32::from(c.code()) == code).ok_or(ParamsError::Codec(code))
    }

    /// The name C-Blosc2 uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }
}

/// The six filter slots of a chunk and their metadata bytes, as C-Blosc2 stores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pipeline {
    /// Filter codes, applied from slot 0 to slot 5.
    pub filters: [u8; 6],
    /// One metadata byte per slot.
    pub metas: [u8; 6],
}

/// A filter, or for bytedelta the pair of filters that makes sense of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// Code 0: the bytes as they are.
    None,
    /// Code 1: byte shuffle.
    Shuffle,
    /// Code 2: bit shuffle.
    BitShuffle,
    /// Code 3: exclusive or with the first block. Written only where a user asked for it.
    Delta,
    /// Code 4: truncated precision (lossy). Written only where a user asked for it.
    TruncPrec,
    /// Code 35: byte shuffle, then the difference of neighbouring bytes.
    ByteDelta,
}

impl Filter {
    /// All filters, in the order of their codes.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Shuffle,
        Self::BitShuffle,
        Self::Delta,
        Self::TruncPrec,
        Self::ByteDelta,
    ];

    /// The code of `blosc2.h`; for bytedelta that of the second filter.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Shuffle => 1,
            Self::BitShuffle => 2,
            Self::Delta => 3,
            Self::TruncPrec => 4,
            Self::ByteDelta => 35,
        }
    }

    /// The filter of a code.
    ///
    /// # Errors
    /// [`ParamsError::Filter`] for any other code.
    pub fn from_code(code: u32) -> Result<Self, ParamsError> {
        Self::ALL.into_iter().find(|f| u32::from(f.code()) == code).ok_or(ParamsError::Filter(code))
    }

    /// Whether all bytes come back.
    #[must_use]
    pub const fn is_lossless(self) -> bool {
        !matches!(self, Self::TruncPrec)
    }

    /// The name C-Blosc2 uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "nofilter",
            Self::Shuffle => "shuffle",
            Self::BitShuffle => "bitshuffle",
            Self::Delta => "delta",
            Self::TruncPrec => "trunc_prec",
            Self::ByteDelta => "bytedelta",
        }
    }

    /// The filter that fills these slots; `None` where no single one does.
    #[must_use]
    pub fn of_pipeline(pipeline: &Pipeline) -> Option<Self> {
        let mut codes = pipeline.filters.into_iter().filter(|&code| code != 0);
        match (codes.next(), codes.next(), codes.next()) {
            (None, ..) => Some(Self::None),
            (Some(1), Some(35), None) => Some(Self::ByteDelta),
            (Some(35), None, _) => None,
            (Some(lone), None, _) => Self::from_code(lone.into()).ok(),
            _ => None,
        }
    }

    /// The slots that C-Blosc2 is given. A lone filter sits in the last slot, as C-Blosc2's own default
    /// does; bytedelta's metadata is the typesize (0 stands for 256 and more, where C-Blosc2 takes it
    /// from the chunk).
    #[must_use]
    pub fn pipeline(self, typesize: usize) -> Pipeline {
        let mut pipeline = Pipeline::default();
        match self {
            Self::ByteDelta => {
                pipeline.filters[4] = Self::Shuffle.code();
                pipeline.filters[5] = Self::ByteDelta.code();
                pipeline.metas[5] = u8::try_from(typesize).unwrap_or(0);
            }
            lone => pipeline.filters[5] = lone.code(),
        }
        pipeline
    }
}

/// Whether the bytes of a block are compressed in one stream per byte of the typesize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SplitMode {
    /// Code 1.
    Always,
    /// Code 2.
    Never,
    /// Code 3: C-Blosc2 decides by codec and filter. Written only where a user asked for it.
    Auto,
    /// Code 4: as C-Blosc 1.11 did; the default of C-Blosc2. Written only where a user asked for it.
    ForwardCompat,
}

impl SplitMode {
    /// All modes, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Always, Self::Never, Self::Auto, Self::ForwardCompat];

    /// The code of `blosc2.h`.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Always => 1,
            Self::Never => 2,
            Self::Auto => 3,
            Self::ForwardCompat => 4,
        }
    }

    /// The mode of a code.
    ///
    /// # Errors
    /// [`ParamsError::SplitMode`] for any other code.
    pub fn from_code(code: u32) -> Result<Self, ParamsError> {
        Self::ALL
            .into_iter()
            .find(|s| u32::from(s.code()) == code)
            .ok_or(ParamsError::SplitMode(code))
    }

    /// The name C-Blosc2 uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Never => "never",
            Self::Auto => "auto",
            Self::ForwardCompat => "forward_compat",
        }
    }
}

/// How large a chunk's blocks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BlockSize {
    /// What C-Blosc2 chooses from codec, level, split mode and typesize.
    Auto,
    /// Twice what C-Blosc2 chooses.
    Doubled,
    /// One block per chunk: best size, no random access inside the chunk.
    WholeChunk,
    /// A size in bytes that a user gave, above 0.
    Bytes(u32),
}

impl fmt::Display for BlockSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Doubled => f.pad("double"),
            Self::WholeChunk => f.pad("chunk"),
            Self::Bytes(n) => f.pad(&n.to_string()),
        }
    }
}

macro_rules! serialize_as_text {
    ($($type:ty => $text:expr),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($text(self).as_ref())
            }
        }
    )*};
}
serialize_as_text!(
    Codec => |c: &Codec| c.name(),
    Filter => |f: &Filter| f.name(),
    SplitMode => |s: &SplitMode| s.name(),
    BlockSize => ToString::to_string
);

/// What a chunk is compressed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cparams {
    /// The codec.
    pub codec: Codec,
    /// The filter.
    pub filter: Filter,
    /// Compression level, 0 (store) to 9.
    pub clevel: u8,
    /// The split mode.
    pub split: SplitMode,
    /// The block size.
    pub block_size: BlockSize,
    /// Threads that compress, from 1.
    pub threads: u16,
}

impl Cparams {
    /// Plain storing: level 0, no filter.
    pub const STORE: Self = Self {
        codec: Codec::BloscLz,
        filter: Filter::None,
        clevel: 0,
        split: SplitMode::Never,
        block_size: BlockSize::Auto,
        threads: 1,
    };

    /// Whether nothing is compressed, whatever the other fields say.
    #[must_use]
    pub const fn is_store(&self) -> bool {
        self.clevel == 0
    }
}

impl fmt::Display for Cparams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_store() {
            return f.pad("store");
        }
        let text = format!(
            "{}-{} {} split:{} blocks:{}",
            self.codec.name(),
            self.clevel,
            self.filter.name(),
            self.split.name(),
            self.block_size
        );
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip_and_others_are_refused() {
        for code in 0..300 {
            assert!(
                Codec::from_code(code).is_ok_and(|c| u32::from(c.code()) == code)
                    || ![0, 1, 2, 4, 5].contains(&code)
            );
            assert!(
                Filter::from_code(code).is_ok_and(|c| u32::from(c.code()) == code)
                    || ![0, 1, 2, 3, 4, 35].contains(&code)
            );
            assert!(
                SplitMode::from_code(code).is_ok_and(|c| u32::from(c.code()) == code)
                    || !(1..=4).contains(&code)
            );
        }
        assert_eq!(Codec::from_code(3), Err(ParamsError::Codec(3)));
    }

    #[test]
    fn bytedelta_follows_shuffle_and_carries_the_typesize() {
        let p = Filter::ByteDelta.pipeline(8);
        assert_eq!((p.filters, p.metas), ([0, 0, 0, 0, 1, 35], [0, 0, 0, 0, 0, 8]));
        assert_eq!(Filter::BitShuffle.pipeline(8).filters, [0, 0, 0, 0, 0, 2]);
        for filter in Filter::ALL {
            assert_eq!(Filter::of_pipeline(&filter.pipeline(8)), Some(filter));
        }
        for filters in [[0, 0, 0, 0, 0, 35], [0, 0, 0, 0, 2, 35], [0, 0, 0, 1, 35, 2], [9; 6]] {
            assert_eq!(Filter::of_pipeline(&Pipeline { filters, metas: [0; 6] }), None);
        }
    }
}
