//! Reading of what is stored: a frame of one chunk, or a chunk without a frame.

use crate::error::FrameError;
use crate::record::Record;

use super::context::Decompressor;
use super::copy::Grid;
use super::header::{ChunkHeader, Special, check_nan};
use super::msgpack::{
    ARRAY16, BIN32, FIXARRAY, FIXEXT16, FIXSTR, I16, I64, MAP16, Reader, U16, U32, U64,
};
use super::write::{FIXED_HEADER, MAGIC};
use super::{MAX_CHUNK_BYTES, b2nd, streams};

/// Bytes of a trailer after its metalayers, from the length on.
const TRAILER_END: usize = 23;
/// The most metalayers in a frame.
const MAX_METALAYERS: usize = 16;

/// How a chunk is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredForm {
    /// A Blosc or Blosc2 chunk without a frame.
    Chunk,
    /// A frame of bytes.
    Plain,
    /// A frame of an array of several dimensions.
    B2nd,
}

/// A stored chunk, validated: C-Blosc2 can decompress it safely, to exactly [`Stored::nbytes`].
#[derive(Debug, Clone)]
pub struct Stored<'a> {
    header: ChunkHeader,
    /// With its header; empty where the frame holds a special value, or nothing.
    pub(super) chunk: &'a [u8],
    pub(super) grid: Option<Grid>,
    form: StoredForm,
    record: Option<Record>,
}

impl<'a> Stored<'a> {
    /// Looks through all of `bytes`: a contiguous frame of one chunk or none, or a chunk.
    ///
    /// # Errors
    /// [`FrameError`] for anything that is not valid to the last byte, or can not be read here.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, FrameError> {
        if bytes.starts_with(MAGIC) {
            return parse_frame(bytes);
        }
        let (header, chunk) = parse_chunk(bytes)?;
        if chunk.len() < bytes.len() {
            return Err(invalid("chunk", "bytes follow it"));
        }
        Ok(Self { header, chunk, grid: None, form: StoredForm::Chunk, record: None })
    }

    /// A chunk that a frame holds in its index, because it is all one value: below 0 is what the index says.
    pub(super) fn special(
        offset: i64,
        typesize: usize,
        nbytes: usize,
        block_size: usize,
    ) -> Result<Self, FrameError> {
        let special = Special::from_code((offset >> 56) as u8 & 7)?
            .filter(|&special| special != Special::Value)
            .ok_or(invalid("frame", "a special value that is none"))?;
        if special == Special::Nan {
            check_nan(typesize, nbytes)?;
        }
        let typesize = if (1..=255).contains(&typesize) { typesize } else { 1 };
        let header = ChunkHeader::of_special(special, typesize, nbytes, block_size);
        Ok(Self { header, chunk: &[], grid: None, form: StoredForm::Chunk, record: None })
    }

    /// Bytes of the data, in C order and without the padding of blocks.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.grid.as_ref().map_or(self.header.nbytes, Grid::nbytes)
    }

    /// What the header of the chunk says. Its `nbytes` include padding.
    #[must_use]
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// The record in the frame. One that cannot be read is taken as none.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    /// How the chunk is stored.
    #[must_use]
    pub fn form(&self) -> StoredForm {
        self.form
    }

    /// The shapes of array and blocks, where it is an array.
    #[must_use]
    pub fn shapes(&self) -> Option<(&[usize], &[usize])> {
        self.grid.as_ref().map(|grid| (&grid.shape[..], &grid.block[..]))
    }
}

fn invalid(what: &'static str, why: &'static str) -> FrameError {
    FrameError::Invalid { what, why }
}

/// The chunk that `bytes` start with.
fn parse_chunk(bytes: &[u8]) -> Result<(ChunkHeader, &[u8]), FrameError> {
    let header = ChunkHeader::parse(bytes)?;
    let chunk = &bytes[..header.cbytes];
    if header.has_blocks() {
        streams::check(&header, chunk)?;
    }
    Ok((header, chunk))
}

/// The fields of a frame's header that are needed.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) head: usize,
    /// Bytes of the frame.
    pub(super) total: usize,
    pub(super) nbytes: usize,
    pub(super) cbytes: usize,
    pub(super) typesize: usize,
    pub(super) block_size: usize,
    pub(super) chunk_size: usize,
    /// Whether chunks are in files of their own.
    pub(super) sparse: bool,
}

fn parse_frame(bytes: &[u8]) -> Result<Stored<'_>, FrameError> {
    let fields = parse_fields(bytes)?;
    let layers = Metalayers::parse(&bytes[..fields.head])?;
    let record = layers.find(Record::NAME).and_then(|layer| Record::from_bytes(layer).ok());
    if layers.find(b2nd::OLD_NAME).is_some() {
        let why = "an array of a form older than b2nd";
        return Err(FrameError::Unsupported { what: "frame", why });
    }
    let tail = trailer_len(bytes)?;
    let body = fields.head..bytes.len().saturating_sub(tail);
    let body = bytes.get(body).ok_or(invalid("frame", "header and trailer overlap"))?;
    let (header, chunk) = if fields.nbytes == 0 {
        // There is neither a chunk nor an index.
        (ChunkHeader::of_special(Special::Zeros, 1, 0, 1), &[][..])
    } else {
        parse_body(&fields, body)?
    };
    let grid = match layers.find(b2nd::NAME) {
        Some(layer) if header.nbytes > 0 => {
            Some(b2nd::parse(layer, header.typesize, header.nbytes)?)
        }
        _ => None,
    };
    if grid.as_ref().is_some_and(|grid| grid.block_bytes() != Some(header.block_size)) {
        return Err(invalid("b2nd metalayer", "its blocks are not those of the chunk"));
    }
    let form = if grid.is_some() { StoredForm::B2nd } else { StoredForm::Plain };
    Ok(Stored { header, chunk, grid, form, record })
}

impl Fields {
    /// Reads the front of a frame's header.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, FrameError> {
        let mut reader = Reader::new(bytes, "frame");
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err(reader.invalid("it does not begin as one"));
        }
        let head = reader.i32()?;
        let total = reader.i64(U64)?;
        reader.marker(FIXSTR + 4)?;
        let sparse = reader.bytes(4)?[1] & 0x0f != 0;
        let nbytes = reader.i64(I64)?;
        let cbytes = reader.i64(I64)?;
        let (typesize, block_size, chunk_size) = (reader.i32()?, reader.i32()?, reader.i32()?);
        reader.u16(I16)?;
        reader.u16(I16)?;
        // Whether the trailer holds metalayers.
        reader.byte()?;
        reader.marker(FIXEXT16)?;
        if !(FIXED_HEADER..=total).contains(&head) {
            return Err(reader.invalid("the length of its header is too small or too large"));
        }
        Ok(Self { head, total, nbytes, cbytes, typesize, block_size, chunk_size, sparse })
    }
}

const SEVERAL: &str = "it holds more than one chunk";

/// The fields of a frame of one chunk, which is all of `bytes`.
fn parse_fields(bytes: &[u8]) -> Result<Fields, FrameError> {
    let fields = Fields::read(bytes)?;
    let (needed, available) = (fields.total, bytes.len());
    if needed > available {
        return Err(FrameError::Truncated { what: "frame", needed, available });
    }
    if needed < available {
        return Err(invalid("frame", "bytes follow it"));
    }
    if fields.sparse {
        let why = "its chunks are in files of their own";
        return Err(FrameError::Unsupported { what: "frame", why });
    }
    if fields.nbytes > fields.chunk_size || fields.nbytes > MAX_CHUNK_BYTES {
        return Err(FrameError::Unsupported { what: "frame", why: SEVERAL });
    }
    Ok(fields)
}

/// The chunk and the index that follows it.
fn parse_body<'a>(fields: &Fields, body: &'a [u8]) -> Result<(ChunkHeader, &'a [u8]), FrameError> {
    let (chunks, index) = body
        .split_at_checked(fields.cbytes)
        .ok_or(invalid("frame", "its chunk goes beyond the frame"))?;
    let offset = parse_index(index)?;
    if offset < 0 {
        if fields.nbytes != fields.chunk_size {
            return Err(invalid("frame", "the sizes of frame and chunk differ"));
        }
        let &Fields { typesize, nbytes, block_size, .. } = fields;
        return Ok((Stored::special(offset, typesize, nbytes, block_size)?.header, &[]));
    }
    let chunk = usize::try_from(offset)
        .ok()
        .and_then(|offset| chunks.get(offset..))
        .ok_or(invalid("frame", "its chunk is not where the index says"))?;
    let (header, chunk) = parse_chunk(chunk)?;
    if header.nbytes != fields.nbytes {
        return Err(invalid("frame", "the sizes of frame and chunk differ"));
    }
    Ok((header, chunk))
}

/// The place of the one chunk, or below 0 a special value.
fn parse_index(bytes: &[u8]) -> Result<i64, FrameError> {
    let index = index(bytes, 1)?.ok_or(FrameError::Unsupported { what: "frame", why: SEVERAL })?;
    index.first().copied().ok_or(invalid("frame", "no index"))
}

/// The places of `count` chunks, or below 0 special values; none where the index is of another number of
/// chunks. It is a chunk itself.
pub(super) fn index(bytes: &[u8], count: usize) -> Result<Option<Vec<i64>>, FrameError> {
    let (header, chunk) = parse_chunk(bytes)?;
    if Some(header.nbytes) != count.checked_mul(8) {
        return Ok(None);
    }
    let body = &chunk[header.length..];
    let places = match header.special {
        Some(Special::Value) => body.iter().copied().cycle().take(header.nbytes).collect(),
        Some(_) => vec![0; header.nbytes],
        None if header.stored => body.to_vec(),
        None => {
            let mut places = vec![0; header.nbytes];
            Decompressor::new()
                .and_then(|mut context| context.decompress(chunk, &mut places).ok())
                .ok_or(invalid("frame", "its index cannot be decompressed"))?;
            places
        }
    };
    Ok(Some(places.as_chunks::<8>().0.iter().map(|place| i64::from_le_bytes(*place)).collect()))
}

/// Bytes of the trailer.
fn trailer_len(bytes: &[u8]) -> Result<usize, FrameError> {
    let start = bytes.len().saturating_sub(TRAILER_END);
    let mut reader = Reader::new(&bytes[start..], "frame trailer");
    let length = reader.u32(U32)?;
    reader.marker(FIXEXT16)?;
    let first = bytes.len().checked_sub(length).and_then(|at| bytes.get(at));
    if length < TRAILER_END || first.is_none_or(|&marker| marker & 0xf0 != FIXARRAY) {
        return Err(reader.invalid("its length is not right"));
    }
    Ok(length)
}

/// The metalayers of a frame's header.
#[derive(Debug)]
pub(super) struct Metalayers<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Metalayers<'a> {
    /// `head` is all of the header.
    pub(super) fn parse(head: &'a [u8]) -> Result<Self, FrameError> {
        let list = &head[FIXED_HEADER..];
        if list.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let mut reader = Reader::new(list, "list of metalayers");
        reader.marker(FIXARRAY + 3)?;
        reader.u16(U16)?;
        let count = reader.u16(MAP16)?;
        if count > MAX_METALAYERS {
            return Err(reader.invalid("there are more than 16"));
        }
        let mut layers = Vec::with_capacity(count);
        for _ in 0..count {
            let length = reader.byte()?;
            if length & 0xe0 != FIXSTR {
                return Err(reader.invalid("a name is not a short string"));
            }
            let name = reader.bytes(usize::from(length & 0x1f))?;
            let place = reader.i32()?;
            let mut content = Reader::new(head.get(place..).unwrap_or_default(), "metalayer");
            let length = content.u32(BIN32)?;
            layers.push((name, content.bytes(length)?));
        }
        reader.u16(ARRAY16)?;
        Ok(Self(layers))
    }

    pub(super) fn find(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|(other, _)| *other == name.as_bytes()).map(|&(_, content)| content)
    }
}
