//! What a codec of the Lempel-Ziv family would find: copies of earlier bytes.

use super::planes::Counts;

/// Binary logarithm of the slots for places seen.
const SLOTS_LOG2: u32 = 10;
/// The shortest copy.
const LEAST: usize = 4;
/// After so many bytes without a copy, as a power of two, the finder takes longer steps.
const PATIENCE_LOG2: usize = 5;

/// Looks for copies; keeps its table.
pub(super) struct Finder {
    slots: [u16; 1 << SLOTS_LOG2],
}

/// What was found.
pub(super) struct Found {
    bytes: usize,
    matched: usize,
    sequences: usize,
    literals: Counts,
}

impl Finder {
    pub(super) const fn new() -> Self {
        Self { slots: [0; 1 << SLOTS_LOG2] }
    }

    /// Goes through the bytes once, with the last place of each hash as the only candidate, as fast codecs do.
    pub(super) fn scan(&mut self, bytes: &[u8]) -> Found {
        self.slots.fill(0);
        let mut found =
            Found { bytes: bytes.len(), matched: 0, sequences: 0, literals: Counts::new() };
        let (mut at, mut anchor) = (0, 0);
        while at + LEAST <= bytes.len() {
            let word = word(bytes, at);
            let slot =
                &mut self.slots[(word.wrapping_mul(0x9e37_79b1) >> (32 - SLOTS_LOG2)) as usize];
            // Places are kept plus one; 0 stands for none. A sample has less than 65536 bytes, or its end is
            // looked at with wrong candidates, which do no harm.
            let candidate = usize::from(*slot);
            *slot = (at + 1) as u16;
            if candidate > 0 && candidate <= at && self::word(bytes, candidate - 1) == word {
                let length = common(bytes, candidate - 1, at);
                found.literals.add(&bytes[anchor..at]);
                found.matched += length;
                found.sequences += 1;
                at += length;
                anchor = at;
            } else {
                at += 1 + ((at - anchor) >> PATIENCE_LOG2);
            }
        }
        found.literals.add(&bytes[anchor.min(bytes.len())..]);
        found
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

/// How many bytes from `b` on are the same as those from `a` on.
fn common(bytes: &[u8], a: usize, b: usize) -> usize {
    let (before, now) = (&bytes[a..], &bytes[b..]);
    let mut length = 0;
    for (x, y) in before.as_chunks::<8>().0.iter().zip(now.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return length + (differ.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + now[length..].iter().zip(&before[length..]).take_while(|(x, y)| x == y).count()
}

impl Found {
    /// The share that is covered, copies per 16 bytes, the logarithm of their mean length, and the entropy of
    /// what is left.
    pub(super) fn values(&self) -> [f32; 4] {
        let n = self.bytes.max(1) as f32;
        let length = self.matched as f32 / self.sequences.max(1) as f32;
        let left = 1.0 - self.matched as f32 / n;
        [
            self.matched as f32 / n,
            self.sequences as f32 * 16.0 / n,
            length.max(1.0).log2() / 12.0,
            self.literals.entropy() * left,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Found {
        Finder::new().scan(bytes)
    }

    #[test]
    fn runs_and_repeats_are_found_and_noise_is_not() {
        let run = found(&[7; 4096]);
        assert_eq!((run.sequences, run.matched), (1, 4095));
        let period: Vec<u8> = (0..4096).map(|i| (i % 100) as u8).collect();
        let period = found(&period);
        assert!((3990..=3996).contains(&period.matched), "{}", period.matched);
        let mut rng = fastrand::Rng::with_seed(3);
        let noise: Vec<u8> = (0..4096).map(|_| rng.u8(..)).collect();
        assert!(found(&noise).matched < 40);
        assert!(found(&noise).values()[3] > 0.9);
    }

    #[test]
    fn every_byte_is_a_copy_or_a_literal() {
        let mut rng = fastrand::Rng::with_seed(4);
        for len in (0..40).chain([1000, 5000]) {
            let bytes: Vec<u8> = (0..len).map(|_| rng.u8(..3)).collect();
            let found = found(&bytes);
            assert_eq!(found.matched + found.literals.total() as usize, len);
        }
    }
}
