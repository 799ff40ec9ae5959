//! A chunk inside the frame that is being written.

use std::time::Instant;

use crate::chunk::Chunk;
use crate::error::BackendError;
use crate::record::Record;

use super::auto::whole_elements;
use super::backend::{Intent, seconds};
use super::copy::{Grid, Relation};
use super::header::{ChunkHeader, Special};
use super::params::Params;
use super::plan::{Form, Plan, item_of};
use super::pool::Pool;
use super::write::{FrameHeader, RECORD, header_len, stored_header, tail_len};
use super::{CHUNK_HEADER, shape};

/// Frames of no more bytes than this are written without a record.
const RECORD_FROM: usize = 1024;
/// Bytes per block of a chunk that is stored as it is.
const STORED_BLOCK: usize = 256 << 10;

/// A chunk at its place in a frame, of which the rest is not written yet.
#[derive(Debug)]
pub(super) struct Body {
    grid: Option<Grid>,
    params: Params,
    /// Bytes before the chunk.
    head: usize,
    pub(super) header: ChunkHeader,
    pub(super) seconds: f64,
}

impl Body {
    /// Compresses; `None` where the bytes have to be stored as they are. `with_record` leaves room for one.
    pub(super) fn compress(
        plan: Plan,
        chunk: &Chunk<'_>,
        with_record: bool,
        pool: &mut Pool,
        blocks: &mut Vec<u8>,
        dest: &mut [u8],
    ) -> Option<Self> {
        if plan.store {
            return None;
        }
        let bytes = chunk.bytes();
        let compressor = pool.compressor(&plan.params)?;
        let Plan { params, grid, .. } = plan;
        let head = header_len(grid.as_ref(), with_record);
        let room = &mut dest[head..head + bytes.len() + CHUNK_HEADER];
        let begin = Instant::now();
        let source = match &grid {
            Some(grid) if grid.relation() != Relation::Same => {
                let blocks = grown(blocks, grid.padded_bytes()?).ok()?;
                grid.gather(bytes, blocks);
                &*blocks
            }
            _ => bytes,
        };
        let len = compressor.compress(source, room).ok().filter(|&len| len > 0)?;
        let seconds = seconds(begin);
        let header = ChunkHeader::parse(&room[..len]).ok()?;
        Some(Self { grid, params, head, header, seconds })
    }

    /// Stores the bytes as they are.
    pub(super) fn store(
        chunk: &Chunk<'_>,
        form: &Form,
        with_record: bool,
        dest: &mut [u8],
    ) -> Self {
        let begin = Instant::now();
        let grid = match form {
            Form::Plain => None,
            Form::B2nd { shape, .. } => {
                item_of(chunk, shape).and_then(|item| grid_to_store(shape, item))
            }
        };
        let header = header_to_store(chunk, grid.as_ref().and_then(Grid::block_bytes));
        let head = header_len(grid.as_ref(), with_record);
        let (front, body) = dest[head..head + header.cbytes].split_at_mut(CHUNK_HEADER);
        front.copy_from_slice(&stored_header(&header));
        body.copy_from_slice(chunk.bytes());
        let params = Params::stored(&header);
        Self { grid, params, head, header, seconds: seconds(begin) }
    }

    /// The chunk.
    pub(super) fn chunk<'a>(&self, dest: &'a [u8]) -> &'a [u8] {
        &dest[self.head..self.head + self.header.cbytes]
    }

    /// What was really done.
    pub(super) fn record(&self, intent: &Intent) -> Record {
        self.params.record(&self.header, intent)
    }

    /// Writes what surrounds the chunk, with the record if room was left for one and the frame is large
    /// enough. Returns the bytes of the frame.
    pub(super) fn finish(
        &self,
        record: Option<&Record>,
        buffer: &mut Vec<u8>,
        dest: &mut [u8],
    ) -> usize {
        let empty = self.header.nbytes == 0;
        let stored = if empty || fills(&self.header) { 0 } else { self.header.cbytes };
        let grid = self.grid.as_ref();
        let bare = header_len(grid, false) + stored + tail_len(empty);
        let kept = record.filter(|_| bare > RECORD_FROM);
        if record.is_some() && kept.is_none() {
            dest.copy_within(self.head..self.head + stored, self.head - RECORD);
        }
        let frame = FrameHeader {
            chunk: &self.header,
            clevel: self.params.clevel,
            split: self.params.split.code(),
            grid,
            record: kept,
            stored,
        };
        frame.write(buffer, dest)
    }
}

/// Compresses to a chunk without a frame, which replaces what is in `out`; `None` where the bytes have to be
/// stored as they are. Returns the seconds it took, too.
pub(super) fn compress(
    plan: &Plan,
    chunk: &Chunk<'_>,
    pool: &mut Pool,
    out: &mut Vec<u8>,
) -> Option<(ChunkHeader, f64)> {
    if plan.store {
        return None;
    }
    let bytes = chunk.bytes();
    let compressor = pool.compressor(&plan.params)?;
    let room = bytes.len() + CHUNK_HEADER;
    out.clear();
    out.try_reserve(room).ok()?;
    let begin = Instant::now();
    compressor.append(bytes, out, room).ok().filter(|&len| len > 0)?;
    let seconds = seconds(begin);
    Some((ChunkHeader::parse(out).ok()?, seconds))
}

/// Stores the bytes as they are in a chunk without a frame, which replaces what is in `out`. Returns the
/// seconds it took, too.
pub(super) fn store(
    chunk: &Chunk<'_>,
    out: &mut Vec<u8>,
) -> Result<(ChunkHeader, f64), BackendError> {
    let header = header_to_store(chunk, None);
    out.clear();
    out.try_reserve(header.cbytes).map_err(|_| BackendError::Memory(header.cbytes))?;
    let begin = Instant::now();
    out.extend_from_slice(&stored_header(&header));
    out.extend_from_slice(chunk.bytes());
    Ok((header, seconds(begin)))
}

/// Blocks that need no padding; `None` where there are none.
fn grid_to_store(shape: &[usize], item: usize) -> Option<Grid> {
    let grid = |block| Grid { shape: shape.to_vec(), block, item };
    let rows = grid(shape::rows(shape, item, STORED_BLOCK));
    if rows.relation() == Relation::Same { Some(rows) } else { shape::exact(shape, item).map(grid) }
}

fn header_to_store(chunk: &Chunk<'_>, block: Option<usize>) -> ChunkHeader {
    let (nbytes, typesize) = (chunk.bytes().len(), chunk.typesize());
    let block = block.unwrap_or_else(|| whole_elements(STORED_BLOCK, typesize, nbytes).max(1));
    ChunkHeader::of_stored(typesize, nbytes, block)
}

/// Whether a frame holds the chunk in its index, and any part of the data looks the same.
pub(super) fn fills(header: &ChunkHeader) -> bool {
    matches!(header.special, Some(Special::Zeros | Special::Nan | Special::Uninit))
}

/// The first `len` bytes, made if there are not as many yet.
pub(super) fn grown(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8], BackendError> {
    if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len()).map_err(|_| BackendError::Memory(len))?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}
