//! Which pieces of which arrays a model learns from.

use super::augment::Variant;
use super::synthetic::{FAMILIES, synthetic};
use super::values::Dtype;

/// An array to learn from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name: no two have the same.
    pub name: String,
    /// How its elements are stored.
    pub dtype: Dtype,
    /// Little-endian elements.
    pub bytes: Vec<u8>,
}

/// How much is sampled.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Pieces of each array.
    pub originals: usize,
    /// Ways to change an array, for each of them.
    pub variants: usize,
    /// Pieces of each changed array.
    pub pieces: usize,
    /// Pieces of each synthetic family.
    pub synthetic: usize,
    /// Same seed, same pieces.
    pub seed: u64,
}

impl Default for Sampling {
    /// What the shipped model was trained with.
    fn default() -> Self {
        Self { originals: 32, variants: 10, pieces: 6, synthetic: 48, seed: 1 }
    }
}

/// What a piece comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Source { index: usize, variant: Variant, position: f64 },
    Synthetic(usize),
}

/// Some bytes to measure parameters on. It holds no bytes: they are made when they are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Names it among all pieces of the same arrays, sampling and seed.
    pub key: String,
    from: From,
    nbytes: usize,
    seed: u64,
}

/// Sizes of pieces. Small ones twice: they cost less.
const SIZES: [usize; 5] = [32 << 10, 128 << 10, 128 << 10, 256 << 10, 512 << 10];

impl Piece {
    /// All pieces, in random order: the first ones are a sample of all.
    #[must_use]
    pub fn all(sources: &[Source], sampling: &Sampling) -> Vec<Self> {
        let mut pieces = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            let mut rng = fastrand::Rng::with_seed(sampling.seed ^ hash(&source.name));
            let mut variants = Variant::all(source.dtype).split_off(1);
            rng.shuffle(&mut variants);
            let counts = [(Variant::Original, sampling.originals)].into_iter();
            let counts = counts
                .chain(variants.into_iter().take(sampling.variants).map(|v| (v, sampling.pieces)));
            for (variant, count) in counts {
                for i in 0..count {
                    let position = (i as f64 + rng.f64()) / count as f64;
                    let from = From::Source { index, variant, position };
                    let key = format!("{}|{variant:?}|{i}", source.name);
                    pieces.push(Self::new(key, from, &mut rng));
                }
            }
        }
        for (family, name) in FAMILIES.iter().enumerate() {
            let mut rng = fastrand::Rng::with_seed(sampling.seed ^ hash(name));
            for i in 0..sampling.synthetic {
                pieces.push(Self::new(format!("{name}|{i}"), From::Synthetic(family), &mut rng));
            }
        }
        fastrand::Rng::with_seed(sampling.seed).shuffle(&mut pieces);
        pieces
    }

    fn new(key: String, from: From, rng: &mut fastrand::Rng) -> Self {
        Self { key, from, nbytes: SIZES[rng.usize(..SIZES.len())], seed: rng.u64(..) }
    }

    /// The source that it comes from, if it is none of the synthetic families.
    #[must_use]
    pub fn source(&self) -> Option<usize> {
        match self.from {
            From::Source { index, .. } => Some(index),
            From::Synthetic(_) => None,
        }
    }

    /// Whether it is a piece of an array as it is.
    #[must_use]
    pub fn is_original(&self) -> bool {
        matches!(self.from, From::Source { variant: Variant::Original, .. })
    }

    /// The bytes, whole elements, and the size of an element.
    #[must_use]
    pub fn bytes(&self, sources: &[Source]) -> (Vec<u8>, usize) {
        let (mut bytes, typesize) = match self.from {
            From::Synthetic(family) => synthetic(family, self.nbytes, self.seed),
            From::Source { index, variant, position } => {
                let Source { dtype, bytes, .. } = &sources[index];
                let needed = variant.source_bytes(*dtype, self.nbytes).min(bytes.len());
                let room = (bytes.len() - needed) / dtype.size;
                let start = (room as f64 * position) as usize * dtype.size;
                let end = start + needed / dtype.size * dtype.size;
                let mut rng = fastrand::Rng::with_seed(self.seed);
                (variant.apply(&bytes[start..end], *dtype, &mut rng), variant.dtype(*dtype).size)
            }
        };
        bytes.truncate(self.nbytes / typesize * typesize);
        (bytes, typesize)
    }
}

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Kind;

    #[test]
    fn pieces_replay_have_distinct_keys_and_hold_whole_elements() {
        let dtype = Dtype::new(Kind::Float, 4);
        let bytes = (0..100_000).flat_map(|i| (i as f32).sqrt().to_le_bytes()).collect();
        let sources = [Source { name: "ramp".into(), dtype, bytes }];
        let sampling = Sampling { originals: 3, variants: 5, pieces: 2, synthetic: 2, seed: 1 };
        let pieces = Piece::all(&sources, &sampling);
        assert_eq!(pieces.len(), 3 + 5 * 2 + 2 * FAMILIES.len());
        let keys: std::collections::HashSet<_> = pieces.iter().map(|p| &p.key).collect();
        assert_eq!(keys.len(), pieces.len());
        for piece in &pieces {
            let (bytes, typesize) = piece.bytes(&sources);
            assert!(!bytes.is_empty() && bytes.len().is_multiple_of(typesize), "{}", piece.key);
            assert_eq!((bytes, typesize), piece.bytes(&sources));
        }
        assert_eq!(pieces, Piece::all(&sources, &sampling));
    }
}
