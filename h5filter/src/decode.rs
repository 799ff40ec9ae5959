//! Decompression of a stored chunk.

use btune::BackendError;
use btune::blosc::Stored;

use crate::buffer::Buffer;
use crate::cd_values::Values;
use crate::error::FilterError;
use crate::worker::Worker;

/// What a chunk of a few bytes may always grow to.
const ALWAYS: usize = 64 << 20;

/// Decompresses a stored chunk. It may be longer or shorter than a chunk of the data set, where filters that
/// came before this one changed its length.
pub(crate) fn decode(
    values: &[u32],
    stored: &[u8],
    worker: &mut Worker,
) -> Result<Buffer, FilterError> {
    let values = Values::parse(values);
    let stored = Stored::parse(stored).map_err(BackendError::from)?;
    let nbytes = stored.nbytes();
    if nbytes > most(values.chunk_bytes) {
        return Err(FilterError::Inflated(nbytes));
    }
    let shape = stored.shapes().map(|(chunk, _)| chunk);
    if shape.is_some_and(|shape| !values.dims.is_empty() && *shape != *values.dims) {
        return Err(FilterError::Shape);
    }
    // HDF5 does not look whether a chunk has the bytes that it should have.
    let mut buffer = Buffer::with_room(nbytes, values.chunk_bytes)?;
    worker.backend.decode(&stored, buffer.bytes_mut())?;
    Ok(buffer)
}

/// The most bytes for which a data set with chunks of `chunk_bytes` (0: not known) gives room. A few stored
/// bytes can stand for 2 GiB.
fn most(chunk_bytes: usize) -> usize {
    match chunk_bytes {
        0 => usize::MAX,
        bytes => bytes.saturating_mul(2).max(ALWAYS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_chunks_may_grow_and_large_ones_may_double() {
        assert_eq!(most(0), usize::MAX);
        assert_eq!(most(4096), ALWAYS);
        assert_eq!(most(100 << 20), 200 << 20);
    }
}
