//! The blocks of a chunk: every length in them is checked before C-Blosc2 follows it.

use crate::cparams::Codec;
use crate::error::FrameError;

use super::header::ChunkHeader;

/// The largest dictionary.
const MAX_DICTIONARY: usize = 128 * 1024;

fn invalid(why: &'static str) -> FrameError {
    FrameError::Invalid { what: "block", why }
}

fn i32_at(chunk: &[u8], at: usize) -> Result<i32, FrameError> {
    chunk
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|bytes| i32::from_le_bytes(*bytes))
        .ok_or(invalid("it ends inside a number"))
}

fn size_at(chunk: &[u8], at: usize) -> Result<usize, FrameError> {
    usize::try_from(i32_at(chunk, at)?).map_err(|_| invalid("a size or place is negative"))
}

/// Checks the table of blocks, the dictionary and every stream of a chunk of exactly `header.cbytes` bytes
/// that has blocks.
pub(super) fn check(header: &ChunkHeader, chunk: &[u8]) -> Result<(), FrameError> {
    let mut start = header.length + 4 * header.blocks();
    if start > chunk.len() {
        let available = chunk.len();
        return Err(FrameError::Truncated { what: "table of blocks", needed: start, available });
    }
    if header.dictionary {
        if header.codec != Codec::Zstd {
            let why = "a dictionary for another codec than zstd";
            return Err(FrameError::Unsupported { what: "chunk", why });
        }
        let length = size_at(chunk, start)?;
        start += 4 + length;
        if !(1..=MAX_DICTIONARY).contains(&length) || start > chunk.len() {
            return Err(invalid("the dictionary is empty, too large or cut off"));
        }
    }
    for index in 0..header.blocks() {
        let at = size_at(chunk, header.length + 4 * index)?;
        if at < start {
            return Err(invalid("it starts inside the table of blocks"));
        }
        check_block(header, chunk, at, header.block_len(index))?;
    }
    Ok(())
}

fn check_block(
    header: &ChunkHeader,
    chunk: &[u8],
    mut at: usize,
    length: usize,
) -> Result<(), FrameError> {
    // A last block that is shorter is not split.
    let streams = if header.split && length == header.block_size { header.typesize } else { 1 };
    if !length.is_multiple_of(streams) {
        return Err(invalid("it is split, but not whole elements"));
    }
    for _ in 0..streams {
        let size = i32_at(chunk, at)?;
        at += 4;
        match usize::try_from(size) {
            Ok(size) if size > length / streams => return Err(invalid("a stream has grown")),
            Ok(size) => at += size,
            // A run of one byte, which is the size negated; a token follows.
            Err(_) if size >= -255 && chunk.get(at).is_some_and(|token| token & 1 == 1) => at += 1,
            Err(_) => return Err(invalid("a stream of a kind not known")),
        }
        if at > chunk.len() {
            return Err(invalid("a stream goes beyond the chunk"));
        }
    }
    Ok(())
}
