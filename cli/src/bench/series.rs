//! The chunks of a run.

use btune::Chunk;
use btune::train::Source;

/// Chunks of an array, as many as a run has.
pub(super) struct Series<'a> {
    chunks: Vec<Chunk<'a>>,
    length: usize,
}

impl<'a> Series<'a> {
    /// `length` chunks of `nbytes` bytes, or of what the array has; from its start again where it has too few.
    pub(super) fn new(source: &'a Source, nbytes: usize, length: usize) -> Self {
        let typesize = source.dtype.size;
        let items = (nbytes.min(source.bytes.len()) / typesize).max(1);
        let chunks = source.bytes.chunks_exact(items * typesize).take(length);
        Self { chunks: chunks.map(|bytes| Chunk::new(bytes, typesize)).collect(), length }
    }

    /// All chunks of the run, with the number of those that are the same.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Chunk<'a>)> {
        let distinct = self.chunks.iter().enumerate();
        distinct.cycle().take(self.length)
    }

    /// The chunk of that number.
    pub(super) fn chunk(&self, number: usize) -> &Chunk<'a> {
        &self.chunks[number]
    }

    /// Three chunks: the first, the last, and the one between them.
    pub(super) fn some(&self) -> Vec<&Chunk<'a>> {
        let mut places = vec![0, self.chunks.len() / 2, self.chunks.len() - 1];
        places.dedup();
        places.into_iter().map(|place| &self.chunks[place]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::train::Dtype;

    #[test]
    fn an_array_that_is_too_short_is_taken_again() {
        let bytes: Vec<u8> = (0..70).collect();
        let source = Source { name: "a".into(), dtype: Dtype::parse("<i4").unwrap(), bytes };
        let series = Series::new(&source, 34, 5);
        let chunks: Vec<_> = series.iter().map(|(at, chunk)| (at, chunk.bytes()[0])).collect();
        assert_eq!(chunks, [(0, 0), (1, 32), (0, 0), (1, 32), (0, 0)]);
        assert!(series.iter().all(|(_, chunk)| chunk.bytes().len() == 32));
        let whole = Series::new(&source, 1000, 2);
        assert_eq!(
            whole.iter().map(|(at, c)| (at, c.bytes().len())).collect::<Vec<_>>(),
            [(0, 68); 2]
        );
    }
}
