//! What can be told of a chunk before anything is compressed.
//!
//! A few short pieces of the chunk are put together to a sample, the sample goes through each of the filters, and
//! a small match finder and some counts look at what comes out: what a codec would find there.

mod filters;
mod matches;
mod planes;

use crate::chunk::Chunk;

use matches::Finder;
use planes::Counts;

/// Pieces of the chunk in a sample. One place alone is often no picture of a chunk: half an ocean is land.
const PIECES: usize = 8;
/// Bytes of each piece. Four times as many lower the regret of the model's choice by 1 %, for three times the time.
const PIECE: usize = 384;
/// Bytes of a sample, where a piece is not longer than that for the sake of one whole element.
const SAMPLE: usize = PIECES * PIECE;
/// Byte planes that have numbers of their own; those of longer elements are folded onto them.
const PLANES: usize = 8;

/// Names the list of features and how they are computed: a model says which list it was made for.
pub const FEATURES_ID: &str = "btune-features-1";

/// How many features there are.
pub const FEATURE_COUNT: usize = NAMES.len();

const NAMES: [&str; 46] = [
    "typesize.log2",
    "typesize.is1",
    "typesize.is2",
    "typesize.is4",
    "typesize.is8",
    "nbytes.log2",
    "elements.equal",
    "elements.zero",
    "none.matched",
    "none.sequences",
    "none.length",
    "none.literals",
    "none.entropy",
    "none.zeros",
    "shuffle.matched",
    "shuffle.sequences",
    "shuffle.length",
    "shuffle.literals",
    "shuffle.entropy",
    "shuffle.zeros",
    "bytedelta.matched",
    "bytedelta.sequences",
    "bytedelta.length",
    "bytedelta.literals",
    "bytedelta.entropy",
    "bytedelta.zeros",
    "bitshuffle.matched",
    "bitshuffle.sequences",
    "bitshuffle.length",
    "bitshuffle.literals",
    "bitshuffle.entropy",
    "bitshuffle.zeros",
    "plane0.entropy",
    "plane1.entropy",
    "plane2.entropy",
    "plane3.entropy",
    "plane4.entropy",
    "plane5.entropy",
    "plane6.entropy",
    "plane7.entropy",
    "delta0.entropy",
    "delta1.entropy",
    "delta2.entropy",
    "delta3.entropy",
    "delta4-7.entropy",
    "pieces.differ",
];

/// The features of a chunk, in the order of [`Features::names`]. All are finite; all but the logarithms are from
/// 0 to 1, or little more.
///
/// | name | what | range |
/// |---|---|---|
/// | `typesize.log2`, `typesize.is…` | binary logarithm of the bytes per element; 1 where there are just so many | 0–8; 0, 1 |
/// | `nbytes.log2` | binary logarithm of the bytes of the chunk | 0–31 |
/// | `elements.equal`, `.zero` | share of elements that are as the one before, that are zero | 0–1 |
/// | `FILTER.matched` | share of the filtered sample that a match finder covers with copies of earlier bytes | 0–1 |
/// | `FILTER.sequences` | copies per 16 bytes | 0–4 |
/// | `FILTER.length` | binary logarithm of a copy's mean length, as a share of 12 | 0–1 |
/// | `FILTER.literals` | entropy of the bytes that are no copies, as a share of 8 bits, times their share | 0–1 |
/// | `FILTER.entropy` | entropy of all bytes (shuffle, bytedelta: the mean over the byte planes) | 0–1 |
/// | `FILTER.zeros` | share of bytes that are zero | 0–1 |
/// | `planeN.entropy` | entropy of the byte plane, from the most significant one on; 0 where there is none | 0–1 |
/// | `deltaN.entropy` | the same of the differences within the plane | 0–1 |
/// | `pieces.differ` | how much the places of the chunk that were looked at differ in their share of equal bytes | 0–1 |
///
/// Entropies are collision entropies, `-log2` of the chance that two bytes drawn from the sample are the same: the
/// estimate has no bias, however short the sample.
///
/// ```
/// let bytes: Vec<u8> = (0..4096u32).flat_map(u32::to_le_bytes).collect();
/// let features = btune::Features::of(&btune::Chunk::new(&bytes, 4));
/// let of = |name| features.values()[btune::Features::names().iter().position(|n| *n == name).unwrap()];
/// assert!(of("bytedelta.matched") > of("none.matched"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Features([f32; FEATURE_COUNT]);

impl Features {
    /// Looks at the chunk. The same bytes have the same features.
    #[must_use]
    pub fn of(chunk: &Chunk<'_>) -> Self {
        let sample = Sample::of(chunk);
        let mut out = Out { values: [0.0; FEATURE_COUNT], len: 0 };
        sample.describe_elements(chunk, &mut out);
        let mut finder = Finder::new();
        let shuffled = Streams::of(&sample.shuffled, sample.typesize);
        out.filtered(&finder.scan(&sample.bytes), shuffled.all.entropy(), &shuffled.all);
        out.filtered(&finder.scan(&sample.shuffled), shuffled.mean(), &shuffled.all);
        let mut filtered = vec![0; sample.bytes.len()];
        filters::delta(&sample.shuffled, sample.typesize, &mut filtered);
        let deltas = Streams::of(&filtered, sample.typesize);
        out.filtered(&finder.scan(&filtered), deltas.mean(), &deltas.all);
        filters::bitshuffle(&sample.shuffled, sample.typesize, &mut filtered);
        let counts = Counts::of(&filtered);
        out.filtered(&finder.scan(&filtered), counts.entropy(), &counts);

        shuffled.entropies.into_iter().for_each(|entropy| out.push(entropy));
        deltas.entropies[..4].iter().for_each(|&entropy| out.push(entropy));
        out.push(deltas.entropies[4..].iter().sum::<f32>() / 4.0);
        out.push(sample.differ);
        Self(out.values)
    }

    /// The numbers.
    #[must_use]
    pub fn values(&self) -> &[f32; FEATURE_COUNT] {
        &self.0
    }

    /// What each number is called.
    #[must_use]
    pub const fn names() -> &'static [&'static str; FEATURE_COUNT] {
        &NAMES
    }
}

/// The features so far.
struct Out {
    values: [f32; FEATURE_COUNT],
    len: usize,
}

impl Out {
    fn push(&mut self, value: f32) {
        if let Some(slot) = self.values.get_mut(self.len) {
            *slot = value;
            self.len += 1;
        }
    }

    fn filtered(&mut self, found: &matches::Found, entropy: f32, counts: &Counts) {
        for value in found.values() {
            self.push(value);
        }
        self.push(entropy);
        self.push(counts.zeros());
    }
}

/// Pieces of a chunk, one after the other.
struct Sample {
    bytes: Vec<u8>,
    shuffled: Vec<u8>,
    typesize: usize,
    differ: f32,
}

impl Sample {
    fn of(chunk: &Chunk<'_>) -> Self {
        let typesize = chunk.typesize();
        let mut bytes = Vec::with_capacity(SAMPLE + PIECES * typesize);
        let mut equal = [0.0f32; PIECES];
        if chunk.bytes().len() <= SAMPLE {
            bytes.extend_from_slice(chunk.bytes());
        } else {
            for (i, equal) in equal.iter_mut().enumerate() {
                let piece = chunk.piece(PIECE, (i as f64 + 0.5) / PIECES as f64);
                *equal = share_equal(piece, typesize);
                bytes.extend_from_slice(piece);
            }
        }
        let least = equal.iter().copied().fold(1.0, f32::min);
        let most = equal.iter().copied().fold(0.0, f32::max);
        let mut shuffled = vec![0; bytes.len()];
        filters::shuffle(&bytes, typesize, &mut shuffled);
        Self { bytes, shuffled, typesize, differ: (most - least).max(0.0) }
    }

    /// Of the chunk and its elements.
    fn describe_elements(&self, chunk: &Chunk<'_>, out: &mut Out) {
        let size = self.typesize;
        out.push((size as f32).log2());
        for known in [1, 2, 4, 8] {
            out.push(f32::from(size == known));
        }
        out.push((chunk.bytes().len().max(1) as f32).log2());
        let (equal, zero) = match size {
            1 => elements::<1>(&self.bytes),
            2 => elements::<2>(&self.bytes),
            4 => elements::<4>(&self.bytes),
            8 => elements::<8>(&self.bytes),
            _ => compare(self.bytes.chunks_exact(size)),
        };
        let n = (self.bytes.len() / size).max(1) as f32;
        out.push(equal as f32 / n);
        out.push(zero as f32 / n);
    }
}

/// As [`compare`], with a size that the compiler knows.
fn elements<const SIZE: usize>(bytes: &[u8]) -> (usize, usize) {
    compare(bytes.as_chunks::<SIZE>().0.iter())
}

/// How many elements are as the one before, and how many are zero.
fn compare<T: AsRef<[u8]> + PartialEq>(
    elements: impl Iterator<Item = T> + Clone,
) -> (usize, usize) {
    let zero = elements.clone().filter(|element| element.as_ref().iter().all(|&b| b == 0)).count();
    let equal = elements.clone().zip(elements.skip(1)).filter(|(a, b)| a == b).count();
    (equal, zero)
}

fn share_equal(bytes: &[u8], typesize: usize) -> f32 {
    let later = bytes.get(typesize..).unwrap_or(&[]);
    let equal: usize = later.iter().zip(bytes).map(|(a, b)| usize::from(a == b)).sum();
    equal as f32 / later.len().max(1) as f32
}

/// The byte planes of a shuffled sample.
struct Streams {
    /// From the most significant one on.
    entropies: [f32; PLANES],
    used: usize,
    all: Counts,
}

impl Streams {
    fn of(filtered: &[u8], typesize: usize) -> Self {
        let planes = folded(typesize);
        let elements = filtered.len() / typesize;
        let mut counts = [const { Counts::new() }; PLANES];
        for (plane, stream) in filtered.chunks_exact(elements.max(1)).enumerate() {
            counts[plane % planes].add(stream);
        }
        let mut all = Counts::new();
        let mut entropies = [0.0; PLANES];
        for (plane, counts) in counts[..planes].iter().enumerate() {
            entropies[planes - 1 - plane] = counts.entropy();
            all.merge(counts);
        }
        Self { entropies, used: planes, all }
    }

    fn mean(&self) -> f32 {
        self.entropies.iter().sum::<f32>() / self.used as f32
    }
}

/// How many planes stand for those of an element: of several numbers in one element, those of a number.
const fn folded(typesize: usize) -> usize {
    match typesize {
        1..=PLANES => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ if typesize.is_multiple_of(4) => 4,
        _ if typesize.is_multiple_of(2) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
