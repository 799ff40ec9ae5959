//! How often each byte value occurs.

/// Bytes from which on two tables are faster than one, which would have to wait for itself where bytes repeat.
const LONG: usize = 512;

/// Counts of byte values, in samples of less than 65536 bytes.
pub(super) struct Counts {
    of: [u16; 256],
    total: u32,
}

impl Counts {
    pub(super) const fn new() -> Self {
        Self { of: [0; 256], total: 0 }
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut counts = Self::new();
        counts.add(bytes);
        counts
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u32;
        let mut single = bytes;
        if bytes.len() >= LONG {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let mut second = [0u16; 256];
            for &[a, b] in pairs {
                let (a, b) = (&mut self.of[usize::from(a)], &mut second[usize::from(b)]);
                *a = a.wrapping_add(1);
                *b = b.wrapping_add(1);
            }
            self.of.iter_mut().zip(&second).for_each(|(a, b)| *a = a.wrapping_add(*b));
            single = rest;
        }
        for &byte in single {
            let count = &mut self.of[usize::from(byte)];
            *count = count.wrapping_add(1);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.of.iter_mut().zip(&other.of) {
            *mine = mine.wrapping_add(*theirs);
        }
        self.total += other.total;
    }

    #[cfg(test)]
    pub(super) fn total(&self) -> u32 {
        self.total
    }

    /// The share of zeros.
    pub(super) fn zeros(&self) -> f32 {
        f32::from(self.of[0]) / self.total.max(1) as f32
    }

    /// Collision entropy as a share of 8 bits, 0 to 1.
    pub(super) fn entropy(&self) -> f32 {
        if self.total < 2 {
            return 0.0;
        }
        let square = |&c: &u16| u32::from(c).wrapping_mul(u32::from(c));
        let squares: u32 = self.of.iter().map(square).fold(0, u32::wrapping_add);
        let pairs = squares.saturating_sub(self.total);
        let all = u64::from(self.total) * u64::from(self.total - 1);
        if pairs == 0 {
            return 1.0;
        }
        (-(pairs as f32 / all as f32).log2() / 8.0).clamp(0.0, 1.0)
    }
}
