//! Telling a chunk that is stored again from a new one.
//!
//! A host encodes a chunk again when it evicts a part-filled one from its cache, or when a writer comes
//! back to it. What was data before is still there; what was fill has become data. Such an encode says
//! nothing new about the data.

use std::collections::VecDeque;

use super::Chunk;

/// Places of a chunk that are compared.
const PLACES: usize = 16;
/// Bytes compared at each place.
const WINDOW: usize = 64;
/// Bytes at either end of a place that must not be constant: the place may lie across the edge of the fill.
const END: usize = 16;
/// Chunks remembered.
const REMEMBERED: usize = 64;

/// What a few places of a chunk hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signature {
    nbytes: usize,
    /// A hash for each place; none where either end of it holds one repeated element, as fill does.
    places: [Option<u64>; PLACES],
}

impl Signature {
    /// Looks at places spread evenly over the chunk.
    pub(crate) fn of(chunk: &Chunk<'_>) -> Self {
        let bytes = chunk.bytes();
        let window = WINDOW.min(bytes.len());
        let room = bytes.len() - window;
        let places = std::array::from_fn(|i| {
            let start = room * i / (PLACES - 1);
            let place = &bytes[start..start + window];
            let end = END.max(2 * chunk.typesize()).min(window);
            let plain = constant(&place[..end], chunk.typesize())
                || constant(&place[window - end..], chunk.typesize());
            (!plain).then(|| fnv1a(place))
        });
        Self { nbytes: bytes.len(), places }
    }

    /// Whether `self` is `earlier` stored again: all that was data is unchanged.
    fn repeats(&self, earlier: &Self) -> bool {
        let mut same = 0;
        for (now, then) in self.places.iter().zip(&earlier.places) {
            match then {
                Some(_) if now != then => return false,
                Some(_) => same += 1,
                None => {}
            }
        }
        same > 0 && self.nbytes == earlier.nbytes
    }
}

fn constant(bytes: &[u8], typesize: usize) -> bool {
    let period = typesize.min(bytes.len());
    bytes[period..] == bytes[..bytes.len() - period]
}

/// FNV-1a: short, and the same in every build, so that decisions replay.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| {
        (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The chunks seen last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(VecDeque<Signature>);

impl Seen {
    /// Whether the chunk was seen before; it is remembered from now on.
    pub(crate) fn again(&mut self, signature: &Signature) -> bool {
        if let Some(earlier) = self.0.iter_mut().find(|s| signature.repeats(s)) {
            *earlier = *signature;
            return true;
        }
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(*signature);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, len: usize) -> Vec<u8> {
        let mut rng = fastrand::Rng::with_seed(seed);
        (0..len).map(|_| rng.u8(..)).collect()
    }

    fn again(seen: &mut Seen, bytes: &[u8]) -> bool {
        seen.again(&Signature::of(&Chunk::new(bytes, 4)))
    }

    #[test]
    fn a_part_filled_chunk_that_grows_is_the_same_chunk() {
        let full = noise(1, 40_000);
        let mut seen = Seen::default();
        let mut partial = vec![0; full.len()];
        partial[..8_000].copy_from_slice(&full[..8_000]);
        assert!(!again(&mut seen, &partial));
        partial[8_000..24_000].copy_from_slice(&full[8_000..24_000]);
        assert!(again(&mut seen, &partial));
        assert!(again(&mut seen, &full));
        assert!(again(&mut seen, &full));
    }

    #[test]
    fn other_data_is_new_even_where_both_hold_fill() {
        let mut seen = Seen::default();
        let mut a = vec![0; 40_000];
        a[..4_000].copy_from_slice(&noise(1, 4_000));
        let mut b = vec![0; 40_000];
        b[..4_000].copy_from_slice(&noise(2, 4_000));
        assert!(!again(&mut seen, &a));
        assert!(!again(&mut seen, &b));
        assert!(!again(&mut seen, &vec![0; 40_000]));
        assert!(!again(&mut seen, &vec![0; 40_000]), "fill is never evidence of a repeat");
    }

    #[test]
    fn overwritten_data_is_new() {
        let mut seen = Seen::default();
        assert!(!again(&mut seen, &noise(1, 1000)));
        assert!(!again(&mut seen, &noise(2, 1000)));
        assert!(!again(&mut seen, &noise(1, 996)), "another length is another chunk");
    }

    #[test]
    fn tiny_and_empty_chunks_have_a_signature() {
        let mut seen = Seen::default();
        assert!(!again(&mut seen, &[]));
        assert!(!again(&mut seen, &[1]));
        assert!(!again(&mut seen, &[1, 2, 3, 4, 5, 6, 7]));
        assert!(again(&mut seen, &[1, 2, 3, 4, 5, 6, 7]));
    }
}
