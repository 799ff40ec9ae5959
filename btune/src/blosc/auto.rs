//! The block size that C-Blosc2 chooses, known before it is asked.

use crate::cparams::{Codec, Filter, SplitMode};

use super::MAX_BLOCK_BYTES;

const KB: usize = 1024;
/// Smaller chunks are stored, and smaller pieces not split.
const MIN_BUFFER: usize = 32;
/// The most streams that the automatic split makes of a block.
const MAX_STREAMS: usize = 16;

/// What the choice depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) codec: Codec,
    pub(super) filter: Filter,
    pub(super) clevel: u8,
    pub(super) split: SplitMode,
    pub(super) typesize: usize,
}

impl Choice {
    /// Whether blocks of `block` bytes are split.
    fn splits(&self, block: usize) -> bool {
        let fast = match self.codec {
            Codec::BloscLz | Codec::Lz4 => true,
            Codec::Zstd => self.clevel <= 5,
            Codec::Lz4hc | Codec::Zlib => false,
        };
        let shuffled = matches!(self.filter, Filter::Shuffle | Filter::ByteDelta);
        match self.split {
            SplitMode::Always => true,
            SplitMode::Never => false,
            SplitMode::Auto | SplitMode::ForwardCompat => {
                fast && shuffled
                    && self.typesize <= MAX_STREAMS
                    && block / self.typesize >= MIN_BUFFER
            }
        }
    }

    /// The automatic block size for a chunk of `nbytes`.
    pub(super) fn block(&self, nbytes: usize) -> usize {
        let block = if self.clevel > 0 && self.splits(nbytes) {
            let per_stream = match self.clevel {
                1..=3 => 32 * KB,
                4..=6 => 64 * KB,
                7 => 128 * KB,
                8 => 256 * KB,
                _ => 512 * KB,
            };
            (per_stream * self.typesize).min(4096 * KB)
        } else if nbytes >= 32 * KB {
            let strong = matches!(self.codec, Codec::Lz4hc | Codec::Zlib | Codec::Zstd);
            let base = if strong { 64 * KB } else { 32 * KB };
            match self.clevel {
                0 => base / 4,
                1 => base / 2,
                2 => base,
                3 => base * 2,
                4 | 5 => base * 4,
                9 if strong => base * 16,
                _ => base * 8,
            }
        } else {
            nbytes
        };
        whole_elements(block, self.typesize, nbytes)
    }
}

/// A block size cut to what C-Blosc2 takes for a chunk of `nbytes`: no more than the chunk, whole elements,
/// and large enough that the table of blocks stays small.
pub(super) fn whole_elements(block: usize, typesize: usize, nbytes: usize) -> usize {
    let block = block.clamp(MIN_BUFFER.max(typesize), MAX_BLOCK_BYTES).min(nbytes);
    if block > typesize { block / typesize * typesize } else { block }
}

#[cfg(test)]
mod tests {
    use super::super::context::Compressor;
    use super::super::header::ChunkHeader;
    use super::super::params::Params;
    use super::*;

    /// What C-Blosc2 chooses when it is left to it.
    fn chosen(choice: &Choice, zeros: &[u8], out: &mut [u8]) -> usize {
        let params = Params {
            codec: choice.codec,
            clevel: choice.clevel,
            pipeline: choice.filter.pipeline(choice.typesize),
            split: choice.split,
            typesize: choice.typesize,
            block: 0,
            threads: 1,
        };
        let mut compressor = Compressor::new(1).unwrap();
        compressor.set(&params);
        let n = compressor.compress(zeros, out).unwrap();
        ChunkHeader::parse(&out[..n]).unwrap().block_size
    }

    #[test]
    fn it_is_the_choice_of_c_blosc2() {
        let zeros = vec![0; 9_000_000];
        let mut out = vec![0; 5 * zeros.len()];
        let sizes = [1, 31, 100, 511, 4096, 32_767, 32_768, 100_001, 262_144, 1_000_000, 9_000_000];
        for typesize in [1, 2, 3, 8, 16, 17, 255] {
            for codec in Codec::ALL {
                for filter in [Filter::None, Filter::Shuffle, Filter::BitShuffle, Filter::ByteDelta]
                {
                    for (split, clevel) in
                        SplitMode::ALL.into_iter().zip([0, 5, 9, 3].into_iter().cycle())
                    {
                        for nbytes in sizes.into_iter().filter(|&n| n >= typesize) {
                            let choice = Choice { codec, filter, clevel, split, typesize };
                            let block = choice.block(nbytes);
                            let expected = chosen(&choice, &zeros[..nbytes], &mut out);
                            assert_eq!(block, expected, "{choice:?} {nbytes}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_level_is_the_choice_of_c_blosc2() {
        let zeros = vec![0; 5_000_000];
        let mut out = vec![0; 5 * zeros.len()];
        for clevel in 0..=9 {
            for codec in Codec::ALL {
                for split in SplitMode::ALL {
                    let choice =
                        Choice { codec, filter: Filter::Shuffle, clevel, split, typesize: 4 };
                    assert_eq!(
                        choice.block(5_000_000),
                        chosen(&choice, &zeros, &mut out),
                        "{choice:?}"
                    );
                }
            }
        }
    }
}
