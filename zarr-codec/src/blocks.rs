//! The blocks of a stored chunk, and chunks made of some of them.

use std::ops::Range;

use btune::Filter;
use btune::blosc::{ChunkHeader, Stored, StoredForm};

/// Where a frame's header says how long it is.
const HEAD_AT: usize = 11;
/// Where a chunk's header says how many bytes it holds, and how many it is stored in.
const NBYTES_AT: usize = 4;
const CBYTES_AT: usize = 12;

/// A chunk whose blocks can be decompressed apart, and hold the data in C order one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks<'a> {
    header: ChunkHeader,
    /// With its header.
    chunk: &'a [u8],
}

impl<'a> Blocks<'a> {
    /// The blocks of what is stored in `bytes`; none where they are not as said above.
    pub(crate) fn of(stored: &Stored<'_>, bytes: &'a [u8]) -> Option<Self> {
        let header = *stored.header();
        let delta = header.pipeline.filters.contains(&Filter::Delta.code());
        let in_order = stored.shapes().is_none_or(|(shape, block)| is_rows(shape, block));
        if !header.has_blocks() || header.dictionary || delta || !in_order {
            return None;
        }
        let chunk = chunk_of(stored.form(), &header, bytes)?;
        Some(Self { header, chunk })
    }

    /// The number of blocks.
    pub(crate) fn count(&self) -> usize {
        self.header.nbytes.div_ceil(self.header.block_size)
    }

    /// The blocks that hold these bytes, of which there is at least one. A last block that is shorter than the
    /// others does not come alone: a chunk cannot consist of it.
    pub(crate) fn that_hold(&self, bytes: &Range<usize>) -> Range<usize> {
        let size = self.header.block_size;
        let (start, end) = (bytes.start / size, bytes.end.div_ceil(size));
        let short = start + 1 == self.count() && !self.header.nbytes.is_multiple_of(size);
        start.saturating_sub(usize::from(short))..end
    }

    /// The bytes that these blocks hold.
    pub(crate) fn bytes_in(&self, blocks: &Range<usize>) -> Range<usize> {
        let size = self.header.block_size;
        blocks.start * size..(blocks.end * size).min(self.header.nbytes)
    }

    /// A chunk of these blocks alone.
    pub(crate) fn pick(&self, blocks: &Range<usize>) -> Option<Vec<u8>> {
        let length = self.header.length;
        let places: Vec<_> =
            blocks.clone().map(|index| self.place(index)).collect::<Option<_>>()?;
        let table = length + 4 * places.len();
        let cbytes = table + places.iter().map(ExactSizeIterator::len).sum::<usize>();
        let mut picked = Vec::with_capacity(cbytes);
        picked.extend_from_slice(&self.chunk[..length]);
        let nbytes = self.bytes_in(blocks).len();
        for (at, size) in [(NBYTES_AT, nbytes), (CBYTES_AT, cbytes)] {
            picked[at..at + 4].copy_from_slice(&i32::try_from(size).ok()?.to_le_bytes());
        }
        let mut start = table;
        for place in &places {
            picked.extend_from_slice(&i32::try_from(start).ok()?.to_le_bytes());
            start += place.len();
        }
        for place in places {
            picked.extend_from_slice(&self.chunk[place]);
        }
        Some(picked)
    }

    /// Where a block's streams are.
    fn place(&self, index: usize) -> Option<Range<usize>> {
        let start = usize::try_from(self.i32_at(self.header.length + 4 * index)?).ok()?;
        let size = self.header.block_size;
        let full = self.bytes_in(&(index..index + 1)).len() == size;
        let streams = if self.header.split && full { self.header.typesize } else { 1 };
        let mut end = start;
        for _ in 0..streams {
            // Below 0: a run of one byte, after which comes a token.
            let stream = usize::try_from(self.i32_at(end)?).unwrap_or(1);
            end = end.checked_add(4)?.checked_add(stream)?;
        }
        (end <= self.chunk.len()).then_some(start..end)
    }

    fn i32_at(&self, at: usize) -> Option<i32> {
        Some(i32::from_le_bytes(*self.chunk.get(at..)?.first_chunk()?))
    }
}

/// The chunk in what is stored. In a frame it is the first thing after the header, wherever a writer has not left
/// something else there, which its header tells.
pub(crate) fn chunk_of<'a>(
    form: StoredForm,
    header: &ChunkHeader,
    bytes: &'a [u8],
) -> Option<&'a [u8]> {
    let head = match form {
        StoredForm::Chunk => 0,
        _ => u32::from_be_bytes(*bytes.get(HEAD_AT..)?.first_chunk()?),
    };
    let chunk = bytes.get(usize::try_from(head).ok()?..)?;
    let found = ChunkHeader::parse(chunk).ok()?;
    if found == *header { chunk.get(..header.cbytes) } else { None }
}

/// Whether blocks of an array are runs in C order, with padding behind the last one at most.
fn is_rows(shape: &[usize], block: &[usize]) -> bool {
    let first = block.iter().position(|&n| n != 1).unwrap_or(block.len().saturating_sub(1));
    let whole = block.iter().zip(shape).skip(first + 1).all(|(b, s)| b == s);
    let fits = |at: usize| shape[at].is_multiple_of(block[at].max(1));
    let lone = shape.iter().take(first).all(|&n| n == 1);
    whole && (block.is_empty() || fits(first) || lone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_are_runs_are_told_from_others() {
        for (shape, block, rows) in [
            (&[10, 20][..], &[2, 20][..], true),
            (&[10, 20], &[3, 20], true),
            (&[10, 20], &[1, 5], true),
            (&[10, 20], &[1, 6], false),
            (&[1, 20], &[1, 6], true),
            (&[10, 20], &[2, 10], false),
            (&[4, 10, 20], &[1, 3, 20], false),
            (&[4, 10, 20], &[1, 5, 20], true),
            (&[7], &[7], true),
            (&[1, 1], &[1, 1], true),
        ] {
            assert_eq!(is_rows(shape, block), rows, "{shape:?} {block:?}");
        }
    }
}
