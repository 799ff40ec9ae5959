//! The shapes of blocks in an array of several dimensions.

use super::MAX_BLOCK_BYTES;

/// A block shape near `target` bytes whose blocks are runs of the array in C order, wherever the shape
/// allows that: 1 along the outer dimensions, some rows, and the inner dimensions whole.
///
/// The number of rows divides its dimension if it can, so that the bytes need neither padding nor copying.
pub(super) fn rows(shape: &[usize], item: usize, target: usize) -> Vec<usize> {
    let target = target.clamp(item, MAX_BLOCK_BYTES.max(item));
    let mut block = vec![1; shape.len()];
    let mut inner = item;
    for axis in (0..shape.len()).rev() {
        let whole = inner.saturating_mul(shape[axis]);
        if whole > target {
            let outer: usize = shape[..axis].iter().product();
            block[axis] = rows_along(shape[axis], target / inner, outer == 1);
            break;
        }
        block[axis] = shape[axis];
        inner = whole;
    }
    block
}

/// About `want` rows of `length`, which divide it. With nothing but them outside (`outermost`) a remainder is
/// padding at the end, and if no divisor is near, the parts are made equal. Elsewhere padding would lie
/// inside the chunk: hdf5plugin up to 4.2 reads wrong data then, so the rows always divide, and may be all.
fn rows_along(length: usize, want: usize, outermost: bool) -> usize {
    let want = want.max(1);
    let distance = |rows: usize| rows.max(want) as f64 / rows.min(want) as f64;
    let enough = divisors(length).filter(|rows| rows * 2 >= want);
    let best = enough.min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(length);
    if outermost && distance(best) > 1.5 { length.div_ceil(length.div_ceil(want)) } else { best }
}

fn divisors(n: usize) -> impl Iterator<Item = usize> {
    (1..=n.isqrt()).filter(move |d| n.is_multiple_of(*d)).flat_map(move |d| [d, n / d])
}

/// Blocks of one row each along the outer dimensions, as large as `MAX_BLOCK_BYTES` allows, for bytes that
/// are not compressed: nothing is padded. `None` where a row is larger than a block may be.
pub(super) fn exact(shape: &[usize], item: usize) -> Option<Vec<usize>> {
    let mut block = vec![1; shape.len()];
    let mut inner = item;
    for axis in (0..shape.len()).rev() {
        inner = inner.saturating_mul(shape[axis]);
        if inner > MAX_BLOCK_BYTES {
            break;
        }
        block[axis] = shape[axis];
    }
    (item <= MAX_BLOCK_BYTES
        && (shape.is_empty() || block[shape.len() - 1] == shape[shape.len() - 1]))
        .then_some(block)
}

/// The block shape that the registered HDF5 filter chooses for blocks of at most `target` bytes: all sides
/// begin at 2 and are doubled in turn, the last dimension first, as long as the block fits.
pub(super) fn stock(shape: &[usize], item: usize, target: usize) -> Vec<usize> {
    let room = target / item;
    let mut block: Vec<usize> = shape.iter().map(|&n| n.min(2)).collect();
    let mut items: usize = block.iter().product();
    if items >= room {
        return block;
    }
    loop {
        let before = items;
        for (side, &length) in block.iter_mut().zip(shape).rev() {
            let larger = (*side * 2).min(length);
            let grown = items / *side * larger;
            if grown <= room {
                items = grown;
                *side = larger;
            }
        }
        if items == before {
            return block;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::copy::{Grid, Relation};
    use super::*;

    #[test]
    fn rows_are_runs_near_the_target() {
        for (shape, item, target, expected) in [
            (vec![100, 100], 4, 100_000, vec![100, 100]),
            (vec![512, 512], 4, 131_072, vec![64, 512]),
            (vec![8, 181, 181], 4, 131_072, vec![1, 181, 181]),
            (vec![3, 1000, 10], 1, 2500, vec![1, 250, 10]),
            (vec![1, 9001], 8, 8192, vec![1, 1001]),
            (vec![5, 7], 200, 10, vec![1, 1]),
            (vec![1009, 1013], 4, 65_536, vec![16, 1013]),
        ] {
            assert_eq!(rows(&shape, item, target), expected, "{shape:?} {item} {target}");
        }
    }

    #[test]
    fn blocks_are_never_padded_inside_the_chunk() {
        for outer in [1, 4, 6, 10] {
            for height in [10, 60, 64, 90, 100, 128, 180, 181, 217, 256, 721, 1000, 1009] {
                for width in [10, 64, 144, 181, 360, 1440, 1024] {
                    let shape = vec![outer, height, width];
                    let block = rows(&shape, 4, 65_536);
                    let grid = Grid { shape, block, item: 4 };
                    let bytes = grid.block_bytes().unwrap();
                    let plane = grid.block[1] == height;
                    assert!(bytes <= 8 * 65_536 || plane, "{grid:?}");
                    assert!(bytes >= 65_536 / 2 || bytes == grid.nbytes(), "{grid:?}");
                    assert!(grid.relation() != Relation::Mixed, "{grid:?}");
                }
            }
        }
    }

    /// Seen with hdf5plugin 7.1.0: shape, typesize, target, block shape.
    #[test]
    fn stock_shapes_are_those_of_the_registered_filter() {
        for (shape, item, target, expected) in [
            (vec![64, 48], 4, 12_288, vec![64, 48]),
            (vec![5, 30, 343], 16, 5000, vec![4, 8, 8]),
            (vec![457, 24, 65], 4, 262_144, vec![32, 24, 65]),
            (vec![2893, 1, 43], 12, 4 << 20, vec![2893, 1, 43]),
            (vec![5, 572_433], 1, 524_288, vec![5, 65_536]),
            (vec![2, 547, 36, 1], 8, 16_384, vec![2, 32, 32, 1]),
            (vec![38, 4, 1, 3, 6], 100, 8192, vec![2, 2, 1, 3, 6]),
            (vec![26, 6, 2, 43], 12, 100_000, vec![16, 6, 2, 43]),
            (vec![1036, 440], 2, 131_072, vec![256, 256]),
        ] {
            assert_eq!(stock(&shape, item, target), expected, "{shape:?} {item} {target}");
        }
    }

    #[test]
    fn exact_shapes_have_no_padding() {
        assert_eq!(exact(&[100, 200, 3], 8), Some(vec![100, 200, 3]));
        assert_eq!(exact(&[2, 1 << 20, 1 << 10], 1), Some(vec![1, 1, 1 << 10]));
        assert_eq!(exact(&[2, 1 << 30], 1), None);
    }
}
