//! Between an array in C order and the same array in blocks.

/// An array cut into blocks of equal shape; blocks at the far edges are padded to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grid {
    /// Elements along each dimension.
    pub(super) shape: Vec<usize>,
    /// Elements of a block along each dimension, from 1 to those of the array.
    pub(super) block: Vec<usize>,
    /// Bytes per element.
    pub(super) item: usize,
}

/// How the bytes of an array and those of its blocks are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are the same.
    Same,
    /// The blocks have padding after the last byte of the array.
    Tail,
    /// They are in another order.
    Mixed,
}

impl Grid {
    /// Bytes of the array.
    pub(super) fn nbytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.item
    }

    /// Bytes of a block; `None` where they cannot be counted.
    pub(super) fn block_bytes(&self) -> Option<usize> {
        self.block.iter().try_fold(self.item, |bytes, &n| bytes.checked_mul(n))
    }

    /// Bytes of all blocks, with padding; `None` where they cannot be counted.
    pub(super) fn padded_bytes(&self) -> Option<usize> {
        let sides = self.shape.iter().zip(&self.block);
        sides.map(|(&n, &b)| n.div_ceil(b)).try_fold(self.block_bytes()?, usize::checked_mul)
    }

    /// The number of leading dimensions left when the inner ones, along which a block is as large as the
    /// array, are seen as part of the element; at least one.
    fn outer(&self) -> usize {
        let whole = |&axis: &usize| axis > 0 && self.shape[axis] == self.block[axis];
        let inner = (0..self.shape.len()).rev().take_while(whole).count();
        self.shape.len() - inner
    }

    pub(super) fn relation(&self) -> Relation {
        let outer = self.outer();
        let Some(axis) = outer.checked_sub(1) else { return Relation::Same };
        if self.block[..axis].iter().any(|&side| side > 1) {
            return Relation::Mixed;
        }
        if self.shape[axis].is_multiple_of(self.block[axis]) {
            Relation::Same
        } else if self.shape[..axis].iter().all(|&n| n == 1) {
            Relation::Tail
        } else {
            Relation::Mixed
        }
    }

    /// Copies an array to its blocks. `blocks` has [`Grid::padded_bytes`]; padding becomes zeros.
    pub(super) fn gather(&self, array: &[u8], blocks: &mut [u8]) {
        if self.padded_bytes() != Some(self.nbytes()) {
            blocks[if self.relation() == Relation::Tail { array.len() } else { 0 }..].fill(0);
        }
        if self.relation() != Relation::Mixed {
            blocks[..array.len()].copy_from_slice(array);
            return;
        }
        self.runs(|at, in_blocks, n| {
            blocks[in_blocks..in_blocks + n].copy_from_slice(&array[at..at + n]);
        });
    }

    /// Copies the blocks of an array to its C order.
    pub(super) fn scatter(&self, blocks: &[u8], array: &mut [u8]) {
        if self.relation() != Relation::Mixed {
            array.copy_from_slice(&blocks[..array.len()]);
            return;
        }
        self.runs(|at, in_blocks, n| {
            array[at..at + n].copy_from_slice(&blocks[in_blocks..in_blocks + n]);
        });
    }

    /// Of an array in C order, the elements in the corner at its beginning with these sides, which are from
    /// 1 to those of the array.
    pub(super) fn corner(&self, array: &[u8], sides: &[usize]) -> Vec<u8> {
        let mut corner = Vec::new();
        let last = sides.len() - 1;
        let mut row = vec![0; last];
        loop {
            let number = row.iter().zip(&self.shape).fold(0, |at, (i, n)| at * n + i);
            let at = number * self.shape[last] * self.item;
            corner.extend_from_slice(&array[at..at + sides[last] * self.item]);
            if !advance(&mut row, |axis| sides[axis], |_| 1) {
                return corner;
            }
        }
    }

    /// Calls `copy(place in the array, place in the blocks, length)` for every run of bytes that lies
    /// together in both.
    fn runs(&self, mut copy: impl FnMut(usize, usize, usize)) {
        let outer = self.outer();
        let item = self.item * self.shape[outer..].iter().product::<usize>();
        let (shape, block) = (&self.shape[..outer], &self.block[..outer]);
        let last = outer - 1;
        let block_bytes = item * block.iter().product::<usize>();
        let mut start = vec![0; outer];
        let mut base = 0;
        while start[0] < shape[0] {
            let run = block[last].min(shape[last] - start[last]) * item;
            let mut within = vec![0; last];
            loop {
                let (mut at, mut in_block) = (0, 0);
                for axis in 0..last {
                    at = at * shape[axis] + start[axis] + within[axis];
                    in_block = in_block * block[axis] + within[axis];
                }
                at = (at * shape[last] + start[last]) * item;
                copy(at, base + in_block * block[last] * item, run);
                if !advance(&mut within, |axis| block[axis].min(shape[axis] - start[axis]), |_| 1) {
                    break;
                }
            }
            base += block_bytes;
            if !advance(&mut start, |axis| shape[axis], |axis| block[axis]) {
                break;
            }
        }
    }
}

/// Steps a position through a box, the last dimension fastest; false at the end.
fn advance(
    position: &mut [usize],
    length: impl Fn(usize) -> usize,
    step: impl Fn(usize) -> usize,
) -> bool {
    for axis in (0..position.len()).rev() {
        position[axis] += step(axis);
        if position[axis] < length(axis) {
            return true;
        }
        position[axis] = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid() -> impl Strategy<Value = Grid> {
        let side = (1usize..9).prop_flat_map(|n| (Just(n), 1..=n));
        (prop::collection::vec(side, 1..5), 1usize..4).prop_map(|(sides, item)| {
            let (shape, block) = sides.into_iter().unzip();
            Grid { shape, block, item }
        })
    }

    /// The place of an element in blocks, counted one dimension at a time.
    fn place(grid: &Grid, index: &[usize]) -> usize {
        let (mut block, mut within) = (0, 0);
        for (axis, &i) in index.iter().enumerate() {
            let side = grid.block[axis];
            block = block * grid.shape[axis].div_ceil(side) + i / side;
            within = within * side + i % side;
        }
        (block * grid.block.iter().product::<usize>() + within) * grid.item
    }

    proptest! {
        #[test]
        fn elements_are_where_they_belong(grid in grid()) {
            let array: Vec<u8> = (0..grid.nbytes()).map(|i| (i % 255) as u8 + 1).collect();
            let mut blocks = vec![0xee; grid.padded_bytes().unwrap()];
            grid.gather(&array, &mut blocks);
            let mut index = vec![0; grid.shape.len()];
            let mut filled = 0;
            for element in array.chunks(grid.item) {
                let at = place(&grid, &index);
                prop_assert_eq!(&blocks[at..at + grid.item], element);
                filled += grid.item;
                advance(&mut index, |axis| grid.shape[axis], |_| 1);
            }
            let padding = blocks.iter().map(|&b| usize::from(b == 0)).sum::<usize>();
            prop_assert_eq!(padding, blocks.len() - filled);
            let mut back = vec![0; array.len()];
            grid.scatter(&blocks, &mut back);
            prop_assert_eq!(back, array);
        }

        #[test]
        fn a_relation_is_what_it_says(grid in grid()) {
            let array: Vec<u8> = (0..grid.nbytes()).map(|i| (i % 255) as u8 + 1).collect();
            let mut blocks = vec![0; grid.padded_bytes().unwrap()];
            grid.runs(|at, to, n| blocks[to..to + n].copy_from_slice(&array[at..at + n]));
            match grid.relation() {
                Relation::Same => prop_assert_eq!(blocks, array),
                Relation::Tail => prop_assert_eq!(&blocks[..array.len()], &array[..]),
                Relation::Mixed => prop_assert!(grid.block != grid.shape),
            }
        }
    }
}
