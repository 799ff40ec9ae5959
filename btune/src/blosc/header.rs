//! The header of a Blosc chunk, of format version 1 or 2 (Blosc) or 3 to 5 (Blosc2).

use crate::cparams::{Codec, Filter, Pipeline};
use crate::error::FrameError;

use super::{CHUNK_HEADER, MAX_BLOCK_BYTES, MAX_CHUNK_BYTES};

/// Bytes of the header of a Blosc (1) chunk.
const SHORT_HEADER: usize = 16;
/// Both shuffle flags together: the header is the longer one of Blosc2.
const EXTENDED: u8 = 0x01 | 0x04;
const STORED: u8 = 0x02;
const UNSPLIT: u8 = 0x10;
/// `blosc2_flags`.
const DICTIONARY: u8 = 0x01;
const LAZY: u8 = 0x08;
const INSTRUMENTED: u8 = 0x80;
/// The newest format version of Blosc; later ones are of Blosc2.
const BLOSC1: u8 = 2;
/// A format version whose writers left the last filter slot undefined.
const ALPHA: u8 = 3;
/// Filters beyond [`Filter`] that can be undone: the first form of bytedelta, and integer truncation.
const BYTEDELTA_OLD: u8 = 34;
const INT_TRUNC: u8 = 36;

/// A chunk that holds one value only, and no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Special {
    /// All bytes are zero.
    Zeros,
    /// All elements are NaN.
    Nan,
    /// All elements are the value that follows the header.
    Value,
    /// No one has set a value; read as zeros.
    Uninit,
}

impl Special {
    /// From the three bits of a chunk's flags or of an offset; `None` for 0, no special value.
    pub(super) fn from_code(code: u8) -> Result<Option<Self>, FrameError> {
        match code {
            0 => Ok(None),
            1 => Ok(Some(Self::Zeros)),
            2 => Ok(Some(Self::Nan)),
            3 => Ok(Some(Self::Value)),
            4 => Ok(Some(Self::Uninit)),
            _ => Err(unsupported("an unknown kind of special value")),
        }
    }
}

/// What the header of a chunk says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkHeader {
    /// Format version, 1 to 5.
    pub version: u8,
    /// The codec. LZ4HC is told from LZ4 only where the writer did so. Without meaning in a chunk that is
    /// stored or special.
    pub codec: Codec,
    /// Codec metadata.
    pub codec_meta: u8,
    /// Filters and their metadata.
    pub pipeline: Pipeline,
    /// Bytes per element, 1 to 255.
    pub typesize: usize,
    /// Uncompressed bytes.
    pub nbytes: usize,
    /// Bytes per block.
    pub block_size: usize,
    /// Compressed bytes, with the header; 0 for a special value that a frame holds in its index.
    pub cbytes: usize,
    /// Bytes of the header.
    pub length: usize,
    /// Whether blocks are split into one stream per byte of the typesize.
    pub split: bool,
    /// Whether the data follows the header as it is.
    pub stored: bool,
    /// Whether the blocks need a dictionary that precedes them.
    pub dictionary: bool,
    /// The chunk is one value.
    pub special: Option<Special>,
}

fn invalid(why: &'static str) -> FrameError {
    FrameError::Invalid { what: "chunk", why }
}

fn unsupported(why: &'static str) -> FrameError {
    FrameError::Unsupported { what: "chunk", why }
}

fn require(ok: bool, why: &'static str) -> Result<(), FrameError> {
    if ok { Ok(()) } else { Err(invalid(why)) }
}

impl ChunkHeader {
    /// Reads the header of a chunk that `bytes` start with, and checks it: what it says fits in itself, and
    /// the chunk is no longer than `bytes`.
    ///
    /// # Errors
    /// [`FrameError`] for what is not a chunk, is cut off, or can not be decompressed here.
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameError> {
        let short: &[u8; SHORT_HEADER] =
            bytes.first_chunk().ok_or(truncated(SHORT_HEADER, bytes))?;
        let [version, _, flags, typesize, ..] = *short;
        require((1..=5).contains(&version), "the format version is not from 1 to 5")?;
        require(typesize > 0, "the typesize is 0")?;
        let size = |at: usize| {
            let field =
                i32::from_le_bytes([short[at], short[at + 1], short[at + 2], short[at + 3]]);
            usize::try_from(field).map_err(|_| invalid("a size is negative"))
        };
        let mut header = Self {
            version,
            codec: Codec::BloscLz,
            codec_meta: 0,
            pipeline: flag_filters(flags, typesize),
            typesize: usize::from(typesize),
            nbytes: size(4)?,
            block_size: size(8)?,
            cbytes: size(12)?,
            length: SHORT_HEADER,
            split: flags & UNSPLIT == 0,
            stored: flags & STORED != 0,
            dictionary: false,
            special: None,
        };
        if flags & EXTENDED == EXTENDED {
            let long = bytes.first_chunk().ok_or(truncated(CHUNK_HEADER, bytes))?;
            header.extend(long)?;
        }
        header.check(bytes)?;
        if header.has_blocks() {
            header.codec = codec(flags >> 5, bytes, header.length)?;
            header.check_filters()?;
        }
        Ok(header)
    }

    /// The header of a chunk of bytes that are stored as they are.
    pub(super) fn of_stored(typesize: usize, nbytes: usize, block_size: usize) -> Self {
        let header = Self::of_special(Special::Zeros, typesize, nbytes, block_size);
        Self { cbytes: nbytes + CHUNK_HEADER, stored: true, special: None, ..header }
    }

    /// The header of a chunk that a frame does not hold, because it is all one value.
    pub(super) fn of_special(
        special: Special,
        typesize: usize,
        nbytes: usize,
        block_size: usize,
    ) -> Self {
        Self {
            version: 5,
            codec: Codec::BloscLz,
            codec_meta: 0,
            pipeline: Pipeline::default(),
            typesize,
            nbytes,
            block_size,
            cbytes: 0,
            length: CHUNK_HEADER,
            split: false,
            stored: false,
            dictionary: false,
            special: Some(special),
        }
    }

    /// Whether blocks follow, which is so neither for stored bytes nor for special values.
    #[must_use]
    pub fn has_blocks(&self) -> bool {
        self.nbytes > 0 && !self.stored && self.special.is_none()
    }

    /// Whether C-Blosc2 would leave bytes at the end of the data undefined: it forgets those behind the last whole
    /// element of a Blosc chunk (format 1 or 2) with bitshuffle whose last block has a multiple of 8 elements.
    /// C-Blosc reads such chunks; [`Backend`](super::Backend) refuses them.
    #[must_use]
    pub fn is_misread(&self) -> bool {
        let last = match self.nbytes.checked_rem(self.block_size) {
            None | Some(0) => self.block_size,
            Some(rest) => rest,
        };
        self.version <= BLOSC1
            && self.has_blocks()
            && self.pipeline.filters.contains(&Filter::BitShuffle.code())
            && !last.is_multiple_of(self.typesize)
            && (last / self.typesize).is_multiple_of(8)
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.nbytes.div_ceil(self.block_size.max(1))
    }

    /// Uncompressed bytes of block `index`.
    pub(super) fn block_len(&self, index: usize) -> usize {
        self.block_size.min(self.nbytes - index * self.block_size)
    }

    fn extend(&mut self, long: &[u8; CHUNK_HEADER]) -> Result<(), FrameError> {
        let flags = long[31];
        self.length = CHUNK_HEADER;
        self.codec_meta = long[23];
        self.pipeline.filters.copy_from_slice(&long[16..22]);
        self.pipeline.metas.copy_from_slice(&long[24..30]);
        if self.version == ALPHA {
            self.pipeline.filters[5] = 0;
            self.pipeline.metas[5] = 0;
        }
        self.special = Special::from_code(flags >> 4 & 7)?;
        self.dictionary = flags & DICTIONARY != 0;
        if flags & LAZY != 0 && self.special.is_none() {
            return Err(unsupported("its blocks are elsewhere (lazy)"));
        }
        if flags & INSTRUMENTED != 0 {
            return Err(unsupported("it holds measurements, not data"));
        }
        if self.version == 5 && long[30] != 0 {
            return Err(unsupported("its blocks are of a kind not known"));
        }
        Ok(())
    }

    /// The sizes fit together, and in `bytes`.
    fn check(&self, bytes: &[u8]) -> Result<(), FrameError> {
        require(self.nbytes <= MAX_CHUNK_BYTES, "the chunk is larger than chunks may be")?;
        require(self.cbytes >= self.length, "the chunk is shorter than its header")?;
        if self.cbytes > bytes.len() {
            return Err(truncated(self.cbytes, bytes));
        }
        if self.nbytes > 0 {
            let sizes = 1..=self.nbytes.min(MAX_BLOCK_BYTES);
            require(
                sizes.contains(&self.block_size),
                "the block size is 0 or larger than the chunk",
            )?;
        }
        let body = self.cbytes - self.length;
        match self.special {
            Some(Special::Value) => require(
                body > 0 && self.nbytes.is_multiple_of(body),
                "the value does not fit the chunk",
            ),
            Some(Special::Nan) => check_nan(self.typesize, self.nbytes),
            None if self.stored => {
                require(body == self.nbytes, "the stored bytes are too few or too many")
            }
            _ => Ok(()),
        }
    }

    /// The filters can be undone in this order, and leave no byte of a block undefined.
    fn check_filters(&self) -> Result<(), FrameError> {
        let active = |code: u8| code != Filter::None.code() && code != Filter::TruncPrec.code();
        let filters = &self.pipeline.filters;
        let first = filters.iter().position(|&code| active(code));
        let last_block = self.block_len(self.blocks() - 1);
        for (slot, (&code, &meta)) in filters.iter().zip(&self.pipeline.metas).enumerate() {
            let delta = code == Filter::Delta.code();
            require(!delta || first == Some(slot), "delta comes after another filter")?;
            if code == Filter::ByteDelta.code() || code == BYTEDELTA_OLD {
                let period = usize::from(meta);
                let whole = |bytes: usize| period > 0 && bytes.is_multiple_of(period);
                require(
                    whole(last_block) && (self.blocks() == 1 || whole(self.block_size)),
                    "bytedelta over blocks that are not whole elements",
                )?;
            } else if code != INT_TRUNC && (code > 4 && active(code)) {
                return Err(unsupported("a filter that is not known or needs a plugin"));
            }
        }
        Ok(())
    }
}

/// NaN is a kind of float.
pub(super) fn check_nan(typesize: usize, nbytes: usize) -> Result<(), FrameError> {
    require(matches!(typesize, 4 | 8), "NaN of a typesize that is neither 4 nor 8")?;
    require(nbytes.is_multiple_of(typesize), "the chunk is not whole elements")
}

fn truncated(needed: usize, bytes: &[u8]) -> FrameError {
    FrameError::Truncated { what: "chunk", needed, available: bytes.len() }
}

/// The filters of a short header.
fn flag_filters(flags: u8, typesize: u8) -> Pipeline {
    let mut pipeline = Pipeline::default();
    if flags & 0x01 != 0 && typesize > 1 {
        pipeline.filters[5] = Filter::Shuffle.code();
    }
    if flags & 0x04 != 0 {
        pipeline.filters[5] = Filter::BitShuffle.code();
    }
    if flags & 0x08 != 0 {
        pipeline.filters[4] = Filter::Delta.code();
    }
    pipeline
}

/// The codec of a format number; a long header has its code too.
fn codec(format: u8, bytes: &[u8], length: usize) -> Result<Codec, FrameError> {
    let lz4hc = length == CHUNK_HEADER && bytes[22] == Codec::Lz4hc.code();
    match format {
        0 => Ok(Codec::BloscLz),
        1 if lz4hc => Ok(Codec::Lz4hc),
        1 => Ok(Codec::Lz4),
        3 => Ok(Codec::Zlib),
        4 => Ok(Codec::Zstd),
        _ => Err(unsupported("a codec that is not known or needs a plugin")),
    }
}
