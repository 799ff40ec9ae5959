//! Which chunks are looked at, where a look at each would take too long.

use crate::chunk::Chunk;

/// Seconds that a sketch takes, typically (1 to 5 us were measured).
const SKETCH: f64 = 3e-6;
/// Share of a chunk's compression time that sketches may take.
const SHARE: f64 = 0.01;
/// One chunk of so many is looked at in any case.
const SELDOM: f64 = 8.0;

/// Chunks that are fast to compress are not all looked at, while all of them are of one kind.
#[derive(Debug, Default)]
pub(crate) struct Glances {
    /// One of so many.
    every: u32,
    since: u32,
    typesize: usize,
    nbytes: usize,
}

impl Glances {
    /// Whether this chunk need not be looked at, if the last ones were of one kind.
    pub(crate) fn skip(&mut self, chunk: &Chunk<'_>) -> bool {
        let (typesize, nbytes) = (chunk.typesize(), chunk.bytes().len());
        let same = (typesize, nbytes) == (self.typesize, self.nbytes);
        (self.typesize, self.nbytes) = (typesize, nbytes);
        self.since += 1;
        if same && self.since < self.every {
            return true;
        }
        self.since = 0;
        false
    }

    /// A chunk took so many seconds to compress.
    pub(crate) fn told(&mut self, ctime: f64) {
        self.every = (SKETCH / (SHARE * ctime)).ceil().min(SELDOM) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(ctime: f64, lengths: impl Iterator<Item = usize>) -> usize {
        let mut glances = Glances::default();
        let bytes = [0; 2000];
        let mut look = |length| {
            let skipped = glances.skip(&Chunk::new(&bytes[..length], 4));
            glances.told(ctime);
            usize::from(!skipped)
        };
        lengths.map(&mut look).sum()
    }

    #[test]
    fn fast_chunks_are_looked_at_less_often() {
        let same = || std::iter::repeat_n(1000, 80);
        assert_eq!(looks(1e-3, same()), 80);
        assert_eq!(looks(100e-6, same()), 27);
        assert_eq!(looks(1e-6, same()), 10);
    }

    #[test]
    fn a_chunk_of_another_length_is_looked_at() {
        assert_eq!(looks(1e-6, (0..80).map(|i| 1000 + i % 2)), 80);
    }
}
