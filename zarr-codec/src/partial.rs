//! Decompression of parts of a stored chunk.

use std::ops::Range;

use btune::blosc::Stored;

use crate::blocks::Blocks;
use crate::decode::{decode, decode_parsed, parse};
use crate::error::Error;

/// Where the blocks that are needed are more than this share of all, all are decompressed at once: (3, 4) is 3/4.
const MOST: (usize, usize) = (3, 4);

/// Parts of the chunk, in C order. Only the blocks that hold them are decompressed, wherever blocks are independent
/// of each other and in C order.
///
/// # Errors
/// As [`decode`](crate::decode), and [`Error::Range`] where a part is not all in the chunk.
pub fn decode_ranges(stored: &[u8], ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, Error> {
    ranges_of(&parse(stored)?, stored, ranges)
}

/// The same, of what was found in `stored`.
pub(crate) fn ranges_of(
    parsed: &Stored<'_>,
    stored: &[u8],
    ranges: &[Range<u64>],
) -> Result<Vec<Vec<u8>>, Error> {
    let nbytes = parsed.nbytes();
    let ranges: Vec<_> =
        ranges.iter().map(|range| within(range, nbytes)).collect::<Result<_, _>>()?;
    let runs = match Blocks::of(parsed, stored) {
        Some(blocks) => runs(&blocks, &ranges)?,
        None => None,
    };
    let runs = match runs {
        Some(runs) => runs,
        None => vec![Run { start: 0, bytes: decode_parsed(parsed, stored)? }],
    };
    Ok(ranges.into_iter().map(|range| cut(&runs, range)).collect())
}

/// Decompressed bytes from `start` on.
struct Run {
    start: usize,
    bytes: Vec<u8>,
}

fn within(range: &Range<u64>, nbytes: usize) -> Result<Range<usize>, Error> {
    let error = Error::Range { start: range.start, end: range.end, nbytes };
    match (usize::try_from(range.start), usize::try_from(range.end)) {
        (Ok(start), Ok(end)) if start <= end && end <= nbytes => Ok(start..end),
        _ => Err(error),
    }
}

/// All bytes of the ranges, in runs in ascending order; none where that is most of the chunk.
fn runs(blocks: &Blocks<'_>, ranges: &[Range<usize>]) -> Result<Option<Vec<Run>>, Error> {
    let needed = joined(ranges.iter().filter(|r| !r.is_empty()).map(|r| blocks.that_hold(r)));
    let count: usize = needed.iter().map(ExactSizeIterator::len).sum();
    if count * MOST.1 > blocks.count() * MOST.0 {
        return Ok(None);
    }
    let mut runs = Vec::with_capacity(needed.len());
    for run in needed {
        let Some(picked) = blocks.pick(&run) else { return Ok(None) };
        runs.push(Run { start: blocks.bytes_in(&run).start, bytes: decode(&picked)? });
    }
    Ok(Some(runs))
}

/// The ranges in ascending order, those that touch joined.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut sorted: Vec<_> = ranges.collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// A range of bytes, which are in one of the runs if there are any.
fn cut(runs: &[Run], range: Range<usize>) -> Vec<u8> {
    let at = runs.partition_point(|run| run.start <= range.start).saturating_sub(1);
    let bytes = runs.get(at).filter(|_| !range.is_empty());
    bytes.map_or_else(Vec::new, |run| {
        run.bytes[range.start - run.start..range.end - run.start].to_vec()
    })
}

#[cfg(test)]
mod tests;
