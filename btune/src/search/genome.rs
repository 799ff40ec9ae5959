//! Parameters as genes: what may vary, and how.

use crate::config::{Config, Space};
use crate::cparams::{BlockSize, Codec, Cparams, Filter, SplitMode};

/// Levels that are tried: those between are worth 0.4 % at most.
const LADDER: [u8; 6] = [1, 2, 3, 5, 6, 9];
/// Filters that are tried.
pub(super) const FILTERS: [Filter; 4] =
    [Filter::None, Filter::Shuffle, Filter::BitShuffle, Filter::ByteDelta];

/// In chunks of at most this many bytes, and where speed counts most, the search starts with a single block: on
/// 48 arrays with chunks of 512 KiB that is worth 9 % at tradeoff 0.1, and little above.
const ONE_BLOCK: usize = 1 << 20;
const ONE_BLOCK_BELOW: f64 = 0.3;

/// What the genes may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The most threads.
    pub(crate) max_threads: u16,
    /// Whether blocks may be as large as the chunk.
    pub(crate) whole_chunk: bool,
    /// The only size that blocks may have.
    pub(crate) block_size: Option<u32>,
    /// Chunks start with a single block.
    pub(crate) one_block: bool,
    /// Which parameters there are.
    pub(crate) space: Space,
}

impl Limits {
    pub(crate) fn new(config: &Config, nbytes: usize) -> Self {
        let one_block = config.whole_chunk_blocks
            // A single block keeps a single thread busy.
            && config.max_threads <= 1
            && nbytes <= ONE_BLOCK
            && config.tradeoff.t() < ONE_BLOCK_BELOW;
        Self {
            max_threads: config.max_threads.max(1),
            whole_chunk: config.whole_chunk_blocks,
            block_size: config.block_size.filter(|&bytes| bytes > 0),
            one_block,
            space: config.space,
        }
    }

    /// The parameters, within the limits, with as many threads as there may be.
    pub(crate) fn start(self, cparams: Cparams) -> Cparams {
        let block_size = if self.one_block { BlockSize::WholeChunk } else { cparams.block_size };
        self.fit(Cparams { block_size, threads: self.max_threads, ..cparams })
    }

    /// The parameters, or what is most like them of what may be chosen.
    pub(crate) fn fit(self, cparams: Cparams) -> Cparams {
        let block_size = self.block_size.map_or(cparams.block_size, BlockSize::Bytes);
        let (filter, split) = match (self.space, cparams.filter) {
            (Space::WithoutByteDelta, Filter::ByteDelta) => (Filter::Shuffle, cparams.split),
            (Space::Blosc2 | Space::WithoutByteDelta, filter) => (filter, cparams.split),
            (Space::Blosc1, Filter::ByteDelta) => (Filter::Shuffle, SplitMode::ForwardCompat),
            (Space::Blosc1, filter) => (filter, SplitMode::ForwardCompat),
        };
        Cparams { filter, split, block_size, ..cparams }
    }

    /// Other block sizes to try, the largest first.
    fn block_sizes(self) -> impl Iterator<Item = BlockSize> {
        [BlockSize::WholeChunk, BlockSize::Doubled, BlockSize::Auto].into_iter().filter(
            move |&size| {
                self.block_size.is_none()
                    && (self.whole_chunk || size != BlockSize::WholeChunk)
                    // C-Blosc knows no such size.
                    && (self.space != Space::Blosc1 || size != BlockSize::Doubled)
            },
        )
    }
}

/// A child: codec and level of one parent, filter and split of the other.
pub(crate) fn crossover(a: &Cparams, b: &Cparams) -> Cparams {
    Cparams { filter: b.filter, split: b.split, ..*a }
}

/// A copy with one gene changed.
pub(crate) fn mutate(parent: &Cparams, rng: &mut fastrand::Rng) -> Cparams {
    let mut child = *parent;
    match rng.u8(..4) {
        0 => child.codec = Codec::ALL[rng.usize(..Codec::ALL.len())],
        1 => child.filter = FILTERS[rng.usize(..FILTERS.len())],
        2 => child.clevel = LADDER[rng.usize(..LADDER.len())],
        _ => child.split = flipped(parent.split),
    }
    child
}

/// The levels next to the parent's, the easier one first.
pub(crate) fn level_neighbours(parent: &Cparams) -> Vec<Cparams> {
    let below = LADDER.iter().rev().find(|&&level| level < parent.clevel);
    let above = LADDER.iter().find(|&&level| level > parent.clevel);
    let split = Cparams { split: flipped(parent.split), ..*parent };
    let levels = below.into_iter().chain(above).map(|&clevel| Cparams { clevel, ..*parent });
    levels.chain([split]).collect()
}

/// The other block sizes and numbers of threads.
pub(crate) fn block_neighbours(parent: &Cparams, limits: Limits) -> Vec<Cparams> {
    let mut out: Vec<Cparams> = limits
        .block_sizes()
        .filter(|&size| size != parent.block_size)
        .map(|block_size| Cparams { block_size, ..*parent })
        .collect();
    for threads in [parent.threads.saturating_mul(2).min(limits.max_threads), parent.threads / 2] {
        if threads > 0 && threads != parent.threads {
            out.push(Cparams { threads, ..*parent });
        }
    }
    out
}

fn flipped(split: SplitMode) -> SplitMode {
    if split == SplitMode::Always { SplitMode::Never } else { SplitMode::Always }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Tradeoff;

    const PARENT: Cparams = Cparams {
        codec: Codec::Zstd,
        filter: Filter::Shuffle,
        clevel: 3,
        split: SplitMode::Always,
        block_size: BlockSize::Auto,
        threads: 1,
    };

    #[test]
    fn a_child_takes_codec_and_level_from_one_and_the_filter_from_the_other() {
        let other = Cparams {
            codec: Codec::Lz4,
            filter: Filter::ByteDelta,
            clevel: 9,
            split: SplitMode::Never,
            ..PARENT
        };
        let child = crossover(&PARENT, &other);
        assert_eq!((child.codec, child.clevel), (Codec::Zstd, 3));
        assert_eq!((child.filter, child.split), (Filter::ByteDelta, SplitMode::Never));
    }

    #[test]
    fn mutation_changes_one_gene_and_reaches_all_values() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..2000 {
            let child = mutate(&PARENT, &mut rng);
            let changed = u8::from(child.codec != PARENT.codec)
                + u8::from(child.filter != PARENT.filter)
                + u8::from(child.clevel != PARENT.clevel)
                + u8::from(child.split != PARENT.split);
            assert!(changed <= 1);
            seen.insert(child);
        }
        assert_eq!(seen.len(), 1 + 4 + 3 + 5 + 1);
    }

    #[test]
    fn neighbours_stay_inside_the_limits() {
        let levels: Vec<u8> = level_neighbours(&PARENT).iter().map(|c| c.clevel).collect();
        assert_eq!(levels, [2, 5, 3]);
        assert_eq!(level_neighbours(&Cparams { clevel: 9, ..PARENT })[0].clevel, 6);
        let one = Limits {
            max_threads: 1,
            whole_chunk: false,
            block_size: None,
            one_block: false,
            space: Space::Blosc2,
        };
        assert!(
            block_neighbours(&PARENT, one)
                .iter()
                .all(|c| c.threads == 1 && c.block_size == BlockSize::Doubled)
        );
        let four = Limits { max_threads: 4, whole_chunk: true, ..one };
        assert!(
            block_neighbours(&Cparams { threads: 3, ..PARENT }, four)
                .iter()
                .any(|c| c.threads == 4)
        );
        let fixed = Limits { block_size: Some(4096), ..four };
        let start = fixed.start(PARENT);
        assert_eq!((start.block_size, start.threads), (BlockSize::Bytes(4096), 4));
        let kept = |c: &Cparams| c.block_size == BlockSize::Bytes(4096);
        assert!(block_neighbours(&start, fixed).iter().all(kept));
    }

    #[test]
    fn where_speed_counts_a_small_chunk_starts_with_one_block() {
        let start = |t: f32, max_threads, nbytes| {
            let tradeoff = Tradeoff::new(t).unwrap();
            let config = Config { tradeoff, max_threads, ..Config::default() };
            Limits::new(&config, nbytes).start(PARENT).block_size
        };
        assert_eq!(start(0.1, 1, 1 << 20), BlockSize::WholeChunk);
        assert_eq!(start(0.5, 1, 1 << 20), BlockSize::Auto);
        assert_eq!(start(0.1, 2, 1 << 20), BlockSize::Auto);
        assert_eq!(start(0.1, 1, 2 << 20), BlockSize::Auto);
    }
}
