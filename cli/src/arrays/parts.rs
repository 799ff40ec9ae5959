//! Which parts of an array are read.

use std::iter;
use std::ops::Range;

/// The most parts of an array, if it is not read whole.
const RUNS: u64 = 64;
/// Chunks of fewer bytes are not read one by one.
const SMALL_CHUNK: u64 = 4096;
/// Bytes that are read at a time, where there are no chunks to go by.
const BATCH: u64 = 4 << 20;

/// A box in an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// Where it begins.
    pub(super) start: Vec<u64>,
    /// Its sides.
    pub(super) count: Vec<u64>,
}

/// Of so many units, `take`: all, or runs of them that are spread evenly from the first to the last.
pub(super) fn spread(units: u64, take: u64) -> Vec<Range<u64>> {
    if take >= units {
        return iter::once(0..units).collect();
    }
    let runs = take.clamp(1, RUNS);
    let len = (take / runs).max(1);
    let start = |run: u64| {
        let last = u128::from(runs - 1).max(1);
        (u128::from(units - len) * u128::from(run) / last) as u64
    };
    (0..runs).map(|run| start(run)..start(run) + len).collect()
}

/// The boxes to read of an array whose elements have `item` bytes, no more than `limit` bytes in all: its chunks one by
/// one if it has chunks of a sensible size, or else its rows. None of `shape` and `chunk` is 0.
pub(super) fn regions(shape: &[u64], chunk: Option<&[u64]>, item: u64, limit: u64) -> Vec<Region> {
    let chunk = chunk.filter(|chunk| chunk.len() == shape.len() && !chunk.contains(&0));
    let chunk: Option<Vec<u64>> =
        chunk.map(|chunk| chunk.iter().zip(shape).map(|(c, n)| *c.min(n)).collect());
    match chunk {
        Some(chunk) if (SMALL_CHUNK.min(limit)..=limit).contains(&bytes(&chunk, item)) => {
            chunks(shape, &chunk, limit / bytes(&chunk, item))
        }
        _ => rows(shape, item, limit),
    }
}

/// Bytes of a box; more than there can be are as many as can be counted.
fn bytes(sides: &[u64], item: u64) -> u64 {
    sides.iter().fold(item, |bytes, &n| bytes.saturating_mul(n))
}

fn chunks(shape: &[u64], chunk: &[u64], take: u64) -> Vec<Region> {
    let sides: Vec<u64> = shape.iter().zip(chunk).map(|(n, c)| n.div_ceil(*c)).collect();
    let region = |number| {
        let start: Vec<u64> = place(number, &sides).iter().zip(chunk).map(|(i, c)| i * c).collect();
        let count = (0..shape.len()).map(|axis| chunk[axis].min(shape[axis] - start[axis]));
        Region { count: count.collect(), start }
    };
    spread(bytes(&sides, 1), take).into_iter().flatten().map(region).collect()
}

/// Whole rows along the first dimension whose rows are not too large.
fn rows(shape: &[u64], item: u64, limit: u64) -> Vec<Region> {
    let most = limit.min(BATCH);
    let small = |&axis: &usize| bytes(&shape[axis + 1..], item) <= most;
    let axis = (0..shape.len()).find(small).unwrap_or(shape.len() - 1);
    let row = bytes(&shape[axis + 1..], item);
    let batch = (most / row).max(1);
    let mut regions = Vec::new();
    for run in spread(bytes(&shape[..=axis], 1), (limit / row).max(1)) {
        let mut at = run.start;
        while at < run.end {
            let start = place(at, &shape[..=axis]);
            let count = batch.min(run.end - at).min(shape[axis] - start[axis]);
            at += count;
            regions.push(band(shape, start, count));
        }
    }
    regions
}

/// So many rows from a place on, which has as many indices as there are dimensions above a row.
fn band(shape: &[u64], mut start: Vec<u64>, count: u64) -> Region {
    let mut sides = vec![1; start.len()];
    if let Some(last) = sides.last_mut() {
        *last = count;
    }
    sides.extend(&shape[start.len()..]);
    start.resize(shape.len(), 0);
    Region { start, count: sides }
}

/// The indices of the unit of this number, the last dimension fastest.
fn place(mut number: u64, sides: &[u64]) -> Vec<u64> {
    let mut indices = vec![0; sides.len()];
    for (index, &side) in indices.iter_mut().zip(sides).rev() {
        *index = number % side;
        number /= side;
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of all elements, in the order in which they are read.
    fn elements(shape: &[u64], regions: &[Region]) -> Vec<u64> {
        let number = |region: &Region, at: u64| {
            let within = place(at, &region.count);
            let index = within.iter().zip(&region.start).map(|(w, s)| w + s);
            index.zip(shape).fold(0, |number, (i, n)| number * n + i)
        };
        let of = |region: &Region| {
            (0..bytes(&region.count, 1)).map(|at| number(region, at)).collect::<Vec<_>>()
        };
        regions.iter().flat_map(of).collect()
    }

    #[test]
    fn runs_are_spread_from_the_first_to_the_last() {
        assert_eq!(spread(10, 10), iter::once(0..10).collect::<Vec<_>>());
        assert_eq!(spread(10, 3), [0..1, 4..5, 9..10]);
        assert_eq!(spread(10, 0), iter::once(0..1).collect::<Vec<_>>());
        let runs = spread(1_000_000, 1000);
        assert_eq!(
            (runs.len(), runs[0].clone(), runs[63].clone()),
            (64, 0..15, 999_985..1_000_000)
        );
        assert!(runs.windows(2).all(|two| two[0].end <= two[1].start));
        assert_eq!(spread(u64::MAX, 1)[0], 0..1);
    }

    #[test]
    fn chunks_and_rows_hold_every_element_once() {
        for chunk in [None, Some(&[32, 8, 16][..]), Some(&[1000, 1000, 1000]), Some(&[1, 1, 1])] {
            let shape = [50, 21, 40];
            let mut all = elements(&shape, &regions(&shape, chunk, 4, 1 << 30));
            assert_eq!(all.is_sorted(), chunk != Some(&[32, 8, 16]));
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..50 * 21 * 40), "{chunk:?}");
        }
    }

    #[test]
    fn what_is_too_large_is_read_in_parts_of_the_size_allowed() {
        for (shape, chunk) in [
            (&[1000, 1000][..], None),
            (&[1000, 1000], Some(&[64, 64][..])),
            (&[3, 5_000_000], None),
            (&[15_000_000], Some(&[8_000_000])),
            (&[u64::MAX / 2, 3], None),
            (&[1, 1, u64::MAX], Some(&[1, 1, 2048])),
        ] {
            let limit = 1 << 20;
            let regions = regions(shape, chunk, 4, limit);
            let read: u64 = regions.iter().map(|region| bytes(&region.count, 4)).sum();
            assert!((limit / 2..=limit).contains(&read), "{shape:?}: {read}");
            let end = |axis| regions.iter().map(|r| r.start[axis] + r.count[axis]).max();
            assert!((0..shape.len()).all(|axis| end(axis) == Some(shape[axis])), "{shape:?}");
        }
    }
}
