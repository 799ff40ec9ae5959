//! The metalayer that makes a frame an array of several dimensions.

use crate::error::FrameError;

use super::MAX_DIMS;
use super::copy::Grid;
use super::msgpack::{FIXARRAY, I32, I64, Reader, STR32, Writer};

/// Name of the metalayer.
pub(super) const NAME: &str = "b2nd";
/// Name and form of an older one, which is not read.
pub(super) const OLD_NAME: &str = "caterva";

/// Bytes of the metalayer for an array of `dims` dimensions and elements of `item` bytes.
pub(super) fn len(dims: usize, item: usize) -> usize {
    let text = 2 + item.checked_ilog10().map_or(1, |log| log as usize + 1);
    3 + 3 + dims * (9 + 5 + 5) + 1 + 5 + text
}

/// Writes the metalayer of an array that is one chunk.
pub(super) fn write(grid: &Grid, out: &mut Writer) {
    let dims = grid.shape.len() as u8;
    let array = FIXARRAY + dims;
    out.bytes(&[FIXARRAY + 7, 0, dims, array]);
    for &n in &grid.shape {
        out.u64(I64, n);
    }
    for shape in [&grid.shape, &grid.block] {
        out.bytes(&[array]);
        for &n in shape {
            out.u32(I32, n);
        }
    }
    let dtype = format!("|V{}", grid.item);
    out.bytes(&[0]).u32(STR32, dtype.len()).bytes(dtype.as_bytes());
}

/// What the metalayer says.
#[derive(Debug, Clone)]
pub(super) struct Layer<'a> {
    /// Elements of the array, of a chunk and of a block along each dimension.
    pub(super) shape: Vec<usize>,
    pub(super) chunk: Vec<usize>,
    pub(super) block: Vec<usize>,
    /// The type of an element; older versions do not name it.
    pub(super) dtype: Option<&'a str>,
}

impl<'a> Layer<'a> {
    /// Reads the metalayer. The sides of blocks are from 1 to those of chunks.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, FrameError> {
        let mut reader = Reader::new(bytes, "b2nd metalayer");
        // Version 0 had no element type at first.
        let fields = reader.byte()?;
        if fields != FIXARRAY + 7 && fields != FIXARRAY + 5 {
            return Err(reader.invalid("it has not the fields it should have"));
        }
        reader.byte()?;
        let dims = usize::from(reader.byte()?);
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(reader.invalid("it has not from 1 to 16 dimensions"));
        }
        let array = FIXARRAY + dims as u8;
        reader.marker(array)?;
        let shape = (0..dims).map(|_| reader.i64(I64)).collect::<Result<Vec<_>, _>>()?;
        reader.marker(array)?;
        let chunk = (0..dims).map(|_| reader.i32()).collect::<Result<Vec<_>, _>>()?;
        reader.marker(array)?;
        let block = (0..dims).map(|_| reader.i32()).collect::<Result<Vec<_>, _>>()?;
        if chunk.iter().zip(&block).any(|(n, b)| !(1..=*n).contains(b)) {
            return Err(reader.invalid("a block has a side of 0, or longer than that of the array"));
        }
        let dtype = reader.byte().and_then(|_| reader.u32(STR32)).and_then(|n| reader.bytes(n));
        let dtype = dtype.ok().and_then(|text| std::str::from_utf8(text).ok());
        Ok(Self { shape, chunk, block, dtype })
    }

    /// The blocks of a chunk, which has `nbytes` uncompressed bytes and elements of `typesize`.
    pub(super) fn grid(&self, typesize: usize, nbytes: usize) -> Result<Grid, FrameError> {
        let elements = Grid { shape: self.chunk.clone(), block: self.block.clone(), item: 1 };
        let padded = elements.padded_bytes().filter(|&n| nbytes.is_multiple_of(n));
        let item = padded.map(|n| nbytes / n).filter(|&item| item == typesize || typesize == 1);
        match item {
            Some(item) if item > 0 => Ok(Grid { item, ..elements }),
            _ => Err(invalid("its shape is not that of the chunk")),
        }
    }
}

fn invalid(why: &'static str) -> FrameError {
    FrameError::Invalid { what: "b2nd metalayer", why }
}

/// Reads the metalayer of an array of one chunk. `typesize` is that of the chunk, and `nbytes` its
/// uncompressed bytes.
pub(super) fn parse(bytes: &[u8], typesize: usize, nbytes: usize) -> Result<Grid, FrameError> {
    let layer = Layer::read(bytes)?;
    if layer.shape != layer.chunk {
        return Err(invalid("the array is not exactly one chunk"));
    }
    layer.grid(typesize, nbytes)
}
