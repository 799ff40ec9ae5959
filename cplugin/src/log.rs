//! What the chunks of a context were compressed with.

use std::collections::VecDeque;

use crate::abi::btune_record;

/// The most runs that are kept; then the oldest is forgotten.
const MAX_RUNS: usize = 16 * 1024;

/// Runs of chunks that were compressed alike, in the order of compression.
#[derive(Debug, Default)]
pub(crate) struct Log(VecDeque<btune_record>);

impl Log {
    /// Adds a chunk.
    pub(crate) fn push(&mut self, record: btune_record) {
        if let Some(last) = self.0.back_mut().filter(|last| last.is_like(&record)) {
            last.nchunks += record.nchunks;
            return;
        }
        if self.0.len() == MAX_RUNS {
            self.0.pop_front();
        }
        self.0.push_back(record);
    }

    /// The runs, the newest last.
    pub(crate) fn runs(&self) -> impl ExactSizeIterator<Item = btune_record> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::Cparams;
    use btune::blosc::{Intent, Params};

    #[test]
    fn equal_chunks_make_one_run_and_the_oldest_run_goes() {
        let record = |nbytes| {
            let params = Params::new(nbytes, 1, &Cparams::STORE);
            btune_record::new(&params.intended(&Intent::default()))
        };
        let mut log = Log::default();
        for nbytes in [100, 100, 200, 100] {
            log.push(record(nbytes));
        }
        assert_eq!(log.runs().map(|run| run.nchunks).collect::<Vec<_>>(), [2, 1, 1]);
        for nbytes in 1000..1000 + MAX_RUNS {
            log.push(record(nbytes));
        }
        assert_eq!(log.runs().len(), MAX_RUNS);
        assert_eq!(log.runs().next().unwrap().blocksize, 1000);
    }
}
