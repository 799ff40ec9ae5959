//! A small picture of what kind of data a chunk holds, to tell one kind from another.

use super::Chunk;

/// Byte planes that are looked at; those of longer elements are folded onto them.
const PLANES: usize = 8;
/// Pieces that are looked at, spread evenly over the chunk.
const PIECES: usize = 8;
/// Elements looked at in each piece, so that the look at a chunk stays short beside its compression.
const ELEMENTS: usize = 12;
/// Sketches nearer than this are of one kind. In 20 real arrays, chunks are 0.005 to 0.11 from the mean of
/// their kind (medians), and 53 of 59 pairs of arrays of the same typesize are farther than this apart; with
/// three times as many elements it is the same.
const NEAR: f32 = 0.2;
/// Values per plane: see [`Sketch::of`].
const VALUES: usize = 3;

/// For each byte plane three numbers from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sketch {
    values: [f32; PLANES * VALUES],
    typesize: usize,
}

/// Counts of one byte plane: 16 bits suffice for the elements that are looked at, also where many planes are
/// folded onto one.
#[derive(Default, Clone, Copy)]
struct Plane {
    equal: u16,
    zero: u16,
    steps: [u16; 16],
}

impl Sketch {
    /// Counts, for each byte plane, how often a byte equals that of the element before, how often it is
    /// zero, and how spread out the high halves of the differences are (collision entropy, as a share of the
    /// most possible).
    pub(crate) fn of(chunk: &Chunk<'_>) -> Self {
        let size = chunk.typesize();
        let elements = chunk.bytes().len() / size;
        let planes = size.min(PLANES);
        let mut counts = [Plane::default(); PLANES];
        let run = ELEMENTS.min(elements);
        for piece in 0..PIECES {
            let start = (elements - run) * piece / (PIECES - 1);
            let bytes = &chunk.bytes()[start * size..(start + run) * size];
            let mut plane = 0;
            for (&now, &before) in bytes.iter().skip(size).zip(bytes) {
                counts[plane % PLANES].add(now, before);
                plane = if plane + 1 == size { 0 } else { plane + 1 };
            }
        }
        let mut values = [0.0; PLANES * VALUES];
        for (plane, out) in counts[..planes].iter().zip(values.chunks_exact_mut(VALUES)) {
            out.copy_from_slice(&plane.values());
        }
        Self { values, typesize: size }
    }

    /// The numbers, [`VALUES`] for each plane.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values[..self.typesize.min(PLANES) * VALUES]
    }

    /// Bytes per element.
    pub(crate) fn typesize(&self) -> usize {
        self.typesize
    }

    /// A sketch of these numbers; none if there are not as many as elements of `typesize` bytes have, or if they
    /// are not from 0 to 1.
    pub(crate) fn from_values(typesize: usize, values: &[f32]) -> Option<Self> {
        let planes = typesize.min(PLANES);
        let valid = values.iter().all(|value| (0.0..=1.0).contains(value));
        if !valid || planes == 0 || values.len() != planes * VALUES {
            return None;
        }
        let mut all = [0.0; PLANES * VALUES];
        all[..values.len()].copy_from_slice(values);
        Some(Self { values: all, typesize })
    }

    /// Root of the mean squared difference, 0 to 1; 1 for another typesize.
    pub(crate) fn distance(&self, other: &Self) -> f32 {
        if self.typesize != other.typesize {
            return 1.0;
        }
        let both = self.values().iter().zip(other.values());
        let sum: f32 = both.map(|(a, b)| (a - b) * (a - b)).sum();
        (sum / self.values().len() as f32).sqrt()
    }

    /// Whether both are of one kind of data.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        self.distance(other) < NEAR
    }

    /// Moves towards `other` by the share `rate`.
    pub(crate) fn follow(&mut self, other: &Self, rate: f32) {
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            *mine += (theirs - *mine) * rate;
        }
    }
}

impl Plane {
    fn add(&mut self, now: u8, before: u8) {
        self.equal += u16::from(now == before);
        self.zero += u16::from(now == 0);
        self.steps[usize::from(now.wrapping_sub(before).wrapping_add(8) >> 4)] += 1;
    }

    fn values(&self) -> [f32; VALUES] {
        let pairs: u16 = self.steps.iter().sum();
        if pairs == 0 {
            return [0.0; VALUES];
        }
        let n = f32::from(pairs);
        let collisions: f32 = self.steps.iter().map(|&c| f32::from(c) * f32::from(c)).sum();
        let entropy = -(collisions / (n * n)).log2();
        [f32::from(self.equal) / n, f32::from(self.zero) / n, entropy / 4.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(values: impl Iterator<Item = f32>) -> Sketch {
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        Sketch::of(&Chunk::new(&bytes, 4))
    }

    /// A random walk, as many measured quantities are.
    fn smooth(seed: u64) -> Sketch {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut value = 280.0;
        sketch((0..20_000).map(move |_| {
            value += rng.f32() - 0.5;
            value
        }))
    }

    fn noisy(seed: u64) -> Sketch {
        let mut rng = fastrand::Rng::with_seed(seed);
        sketch((0..20_000).map(move |_| rng.f32()))
    }

    #[test]
    fn chunks_of_one_kind_are_near_and_of_two_kinds_far() {
        assert!(smooth(1).is_near(&smooth(2)));
        assert!(noisy(1).is_near(&noisy(2)));
        assert!(!noisy(1).is_near(&smooth(1)));
        assert!(!noisy(1).is_near(&sketch(std::iter::repeat_n(0.0, 20_000))));
        let doubles: Vec<u8> = (0..9999).flat_map(|i| f64::from(i).to_le_bytes()).collect();
        assert!(
            !noisy(1).is_near(&Sketch::of(&Chunk::new(&doubles, 8))),
            "another typesize is another kind"
        );
    }

    #[test]
    fn short_and_odd_chunks_have_a_sketch() {
        for len in 0..40 {
            let bytes = vec![3; len];
            let a = Sketch::of(&Chunk::new(&bytes, 8));
            assert!(a.distance(&a).abs() < f32::EPSILON);
        }
    }
}
