//! Writing of frames that hold one chunk.

use crate::record::Record;

use super::copy::Grid;
use super::header::{ChunkHeader, Special};
use super::msgpack::{
    ARRAY16, BIN32, FALSE, FIXARRAY, FIXEXT16, FIXSTR, I16, I32, I64, MAP16, U16, U32, U64, Writer,
};
use super::plan::Form;
use super::{CHUNK_HEADER, b2nd};

/// Bytes of a frame's header without metalayers.
pub(super) const FIXED_HEADER: usize = 87;
/// First bytes of a frame: an array, and in it a string of 8 bytes.
pub(super) const MAGIC: &[u8; 10] = b"\x9e\xa8b2frame\0";
/// Bytes of the list of metalayers when it is empty.
const EMPTY_LIST: usize = 10;
/// Bytes of a metalayer around its name and content.
const METALAYER: usize = 6 + 5;
/// Bytes of the index of one chunk, itself a stored chunk.
pub(super) const INDEX: usize = CHUNK_HEADER + 8;
/// Bytes of a trailer without metalayers.
const TRAILER: usize = 35;
/// Bytes that a record adds to a frame.
pub(super) const RECORD: usize = METALAYER + Record::NAME.len() + Record::LEN;

/// Bytes that a frame may have at most for a chunk of `nbytes`: room that is always enough for
/// [`Backend::encode_frame`](super::Backend::encode_frame).
#[must_use]
pub fn frame_bound(nbytes: usize, form: &Form) -> usize {
    let array = match form {
        Form::Plain => 0,
        Form::B2nd { shape, .. } => METALAYER + b2nd::NAME.len() + b2nd::len(shape.len(), 255),
    };
    FIXED_HEADER + EMPTY_LIST + array + RECORD + CHUNK_HEADER + nbytes + INDEX + TRAILER
}

/// Bytes of the header of a frame.
pub(super) fn header_len(grid: Option<&Grid>, record: bool) -> usize {
    let array = grid
        .map_or(0, |grid| METALAYER + b2nd::NAME.len() + b2nd::len(grid.shape.len(), grid.item));
    FIXED_HEADER + EMPTY_LIST + array + if record { RECORD } else { 0 }
}

/// Bytes of what follows the chunk.
pub(super) fn tail_len(empty: bool) -> usize {
    if empty { TRAILER } else { INDEX + TRAILER }
}

/// What the header of a frame says.
#[derive(Debug)]
pub(super) struct FrameHeader<'a> {
    pub(super) chunk: &'a ChunkHeader,
    pub(super) clevel: u8,
    pub(super) split: u8,
    pub(super) grid: Option<&'a Grid>,
    pub(super) record: Option<&'a Record>,
    /// Bytes of the chunk in the frame: none for a special value.
    pub(super) stored: usize,
}

impl FrameHeader<'_> {
    /// Writes the header to the front of `dest`, and index and trailer behind the chunk. Returns the bytes
    /// of the frame.
    pub(super) fn write(&self, buffer: &mut Vec<u8>, dest: &mut [u8]) -> usize {
        let empty = self.chunk.nbytes == 0;
        let head = header_len(self.grid, self.record.is_some());
        let total = head + self.stored + tail_len(empty);
        let mut out = Writer::new(std::mem::take(buffer));
        self.fixed(head, total, &mut out);
        self.metalayers(&mut out);
        debug_assert_eq!(out.len(), head);
        let mut front = out.into_bytes();
        dest[..head].copy_from_slice(&front);
        front.clear();
        let mut out = Writer::new(front);
        if !empty {
            index(self.chunk.special, &mut out);
        }
        trailer(&mut out);
        *buffer = out.into_bytes();
        dest[head + self.stored..total].copy_from_slice(buffer);
        total
    }

    fn fixed(&self, head: usize, total: usize, out: &mut Writer) {
        let chunk = self.chunk;
        let pipeline = chunk.pipeline;
        // Format version 2, offsets of 64 bits; a contiguous frame.
        let flags = [0x12, 0, chunk.codec.code() | self.clevel << 4, self.split - 1];
        out.bytes(MAGIC).u32(I32, head).u64(U64, total).bytes(&[FIXSTR + 4]).bytes(&flags);
        out.u64(I64, chunk.nbytes).u64(I64, self.stored);
        out.u32(I32, chunk.typesize).u32(I32, chunk.block_size).u32(I32, chunk.nbytes);
        // Threads to compress and decompress: what a reader starts with.
        out.u16(I16, 1).u16(I16, 1).bytes(&[FALSE]);
        out.bytes(&[FIXEXT16, 6]).bytes(&pipeline.filters);
        out.bytes(&[chunk.codec.code(), chunk.codec_meta]).bytes(&pipeline.metas).bytes(&[0, 0]);
    }

    fn metalayers(&self, out: &mut Writer) {
        let mut array = Writer::default();
        if let Some(grid) = self.grid {
            b2nd::write(grid, &mut array);
        }
        let array = array.into_bytes();
        let record = self.record.map(Record::to_bytes);
        let layers: [(&str, &[u8]); 2] =
            [(b2nd::NAME, &array), (Record::NAME, record.as_ref().map_or(&[], |r| r))];
        let layers = layers.iter().filter(|(_, content)| !content.is_empty());
        let names: usize = layers.clone().map(|(name, _)| 1 + name.len() + 5).sum();
        let count = layers.clone().count();
        out.bytes(&[FIXARRAY + 3]).u16(U16, 7 + names).u16(MAP16, count);
        let mut places = Vec::with_capacity(count);
        for (name, _) in layers.clone() {
            out.bytes(&[FIXSTR + name.len() as u8]).bytes(name.as_bytes()).u32(I32, 0);
            places.push(out.len() - 4);
        }
        out.u16(ARRAY16, count);
        for ((_, content), place) in layers.zip(places) {
            out.patch_u32(place, out.len());
            out.u32(BIN32, content.len()).bytes(content);
        }
    }
}

/// The bytes of the header of a chunk that is stored as it is.
pub(super) fn stored_header(chunk: &ChunkHeader) -> [u8; CHUNK_HEADER] {
    let mut header = [0; CHUNK_HEADER];
    // Format version 5, codec version 1; the header is the long one, and the bytes are stored.
    header[..4].copy_from_slice(&[5, 1, 0x07, chunk.typesize as u8]);
    for (at, size) in [(4, chunk.nbytes), (8, chunk.block_size), (12, chunk.cbytes)] {
        header[at..at + 4].copy_from_slice(&(size as u32).to_le_bytes());
    }
    header
}

/// The index: the place of the chunk after the header, or the value that it is.
fn index(special: Option<Special>, out: &mut Writer) {
    let offset = match special {
        None | Some(Special::Value) => 0,
        Some(Special::Zeros) => 0x81,
        Some(Special::Nan) => 0x82,
        Some(Special::Uninit) => 0x84,
    };
    out.bytes(&stored_header(&ChunkHeader::of_stored(8, 8, 8)))
        .bytes(&[0, 0, 0, 0, 0, 0, 0, offset]);
}

fn trailer(out: &mut Writer) {
    // Version 1 and no metalayers; then its length, and no fingerprint.
    out.bytes(&[FIXARRAY + 4, 1, FIXARRAY + 3]).u16(U16, 6).u16(MAP16, 0).u16(ARRAY16, 0);
    out.u32(U32, TRAILER).bytes(&[FIXEXT16, 0]).bytes(&[0; 16]);
}
