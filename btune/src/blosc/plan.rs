//! What a chunk is to be compressed with, settled before C-Blosc2 is called.

use crate::chunk::Chunk;
use crate::cparams::{Cparams, Filter};

use super::copy::Grid;
use super::params::Params;
use super::{MAX_BLOCK_BYTES, MAX_DIMS, shape};

/// What a frame holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Bytes.
    Plain,
    /// An array of 1 to 16 dimensions in C order. Where that cannot be stored (elements of more than 255
    /// bytes, or a shape that is not the chunk's) the frame is plain.
    B2nd {
        /// Elements along each dimension.
        shape: Vec<usize>,
        /// How blocks are shaped.
        blocks: BlockShape,
    },
}

/// How the blocks of an array are shaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockShape {
    /// Runs in C order, wherever possible.
    Rows,
    /// As the registered HDF5 filter shapes them.
    Stock,
}

/// The context and the grid for a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) params: Params,
    /// The array that is stored; none in a plain frame.
    pub(super) grid: Option<Grid>,
    /// Nothing is to be compressed.
    pub(super) store: bool,
}

impl Plan {
    pub(super) fn new(chunk: &Chunk<'_>, form: &Form, cparams: &Cparams) -> Self {
        let (nbytes, typesize) = (chunk.bytes().len(), chunk.typesize());
        // The registered filter asks for the block size before it sets its filter.
        let stock = matches!(form, Form::B2nd { blocks: BlockShape::Stock, .. });
        let sizes = stock.then_some(Filter::Shuffle);
        let mut params = Params::sized(nbytes, typesize, cparams, sizes);
        let grid = grid(chunk, form, params.block);
        params.block = grid.as_ref().and_then(Grid::block_bytes).unwrap_or(params.block);
        Self { params, grid, store: params.clevel == 0 }
    }
}

/// The grid of an array that can be stored as one.
fn grid(chunk: &Chunk<'_>, form: &Form, target: usize) -> Option<Grid> {
    let Form::B2nd { shape, blocks } = form else { return None };
    let item = item_of(chunk, shape)?;
    let block = match blocks {
        BlockShape::Rows => shape::rows(shape, item, target),
        BlockShape::Stock => shape::stock(shape, item, target),
    };
    let grid = Grid { shape: shape.clone(), block, item };
    let fits = |bytes: Option<usize>, limit| bytes.is_some_and(|n| n <= limit);
    (fits(grid.block_bytes(), MAX_BLOCK_BYTES) && fits(grid.padded_bytes(), super::MAX_CHUNK_BYTES))
        .then_some(grid)
}

/// Bytes per element, if the chunk is an array of that shape and of elements that Blosc2 has a size for.
pub(super) fn item_of(chunk: &Chunk<'_>, shape: &[usize]) -> Option<usize> {
    let nbytes = chunk.bytes().len();
    let in_range = shape.iter().all(|&n| i32::try_from(n).is_ok_and(|n| n > 0));
    let elements = shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n))?;
    let item = nbytes.checked_div(elements)?;
    let dims = (1..=MAX_DIMS).contains(&shape.len());
    (dims && in_range && item == chunk.typesize() && item * elements == nbytes).then_some(item)
}
