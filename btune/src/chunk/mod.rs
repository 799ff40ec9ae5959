//! The bytes to compress, and the parts of them that are looked at.

mod signature;
mod sketch;

pub(crate) use signature::{Seen, Signature};
pub(crate) use sketch::Sketch;

/// A chunk of an array: bytes and the size of an element.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    bytes: &'a [u8],
    typesize: usize,
}

impl<'a> Chunk<'a> {
    /// A chunk of elements of `typesize` bytes. 0, and what is above 255, is taken as 1: C-Blosc2 stores a
    /// typesize in one byte.
    #[must_use]
    pub fn new(bytes: &'a [u8], typesize: usize) -> Self {
        Self { bytes, typesize: if (1..=255).contains(&typesize) { typesize } else { 1 } }
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes per element, 1 to 255.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.typesize
    }

    /// Whether every element is the same, as in the buffer of fill values that HDF5 encodes. Looks at all
    /// bytes only where a few agree.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        let (bytes, size) = (self.bytes, self.typesize);
        bytes.len() <= size
            || (bytes.len().is_multiple_of(size) && bytes[size..] == bytes[..bytes.len() - size])
    }

    /// A contiguous piece of at most `length` bytes that starts at the share `position` (0 to 1) of the room
    /// there is, cut at elements.
    #[must_use]
    pub fn piece(&self, length: usize, position: f64) -> &'a [u8] {
        let length =
            (length / self.typesize * self.typesize).max(self.typesize).min(self.bytes.len());
        let room = self.bytes.len() - length;
        let start =
            (room as f64 * position.clamp(0.0, 1.0)) as usize / self.typesize * self.typesize;
        &self.bytes[start..start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typesizes_that_blosc2_cannot_store_become_one() {
        for (given, kept) in [(0, 1), (1, 1), (255, 255), (256, 1), (70_000, 1)] {
            assert_eq!(Chunk::new(&[], given).typesize(), kept);
        }
    }

    #[test]
    fn a_constant_chunk_is_one_repeated_element() {
        assert!(Chunk::new(&[1, 2, 1, 2, 1, 2], 2).is_constant());
        assert!(!Chunk::new(&[1, 2, 1, 2, 1, 3], 2).is_constant());
        assert!(!Chunk::new(&[1, 2, 1, 2, 1], 2).is_constant());
        assert!(Chunk::new(&[7], 8).is_constant());
        assert!(Chunk::new(&[], 8).is_constant());
    }

    #[test]
    fn pieces_are_whole_elements_inside_the_chunk() {
        let bytes: Vec<u8> = (0..100).collect();
        let chunk = Chunk::new(&bytes, 8);
        for length in [0, 1, 8, 20, 96, 100, 1000] {
            for position in [0.0, 0.3, 1.0, 7.0] {
                let piece = chunk.piece(length, position);
                assert!(piece.len() <= 100 && !piece.is_empty());
                assert_eq!(piece[0] % 8, 0);
            }
        }
        assert_eq!(chunk.piece(16, 0.0), &bytes[..16]);
        assert_eq!(chunk.piece(1000, 0.5), &bytes[..]);
        assert_eq!(Chunk::new(&[], 4).piece(16, 0.5), &[] as &[u8]);
    }
}
