//! The token of a data set: 13 bits that tell most data sets apart.

/// A hash of numbers, in the order given. It has no counter, clock or random part: every rank of a
/// collective creation, and every creation of the same data set, comes to the same token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token(u64);

impl Token {
    /// The token of nothing.
    pub(crate) const fn new() -> Self {
        // FNV-1a, 64 bits.
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a number.
    #[must_use]
    pub(crate) fn with(self, number: u64) -> Self {
        Self(number.to_le_bytes().iter().fold(self.0, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// Adds a list: its length, then its numbers.
    #[must_use]
    pub(crate) fn with_all(self, numbers: &[u64]) -> Self {
        numbers.iter().fold(self.with(numbers.len() as u64), |token, &n| token.with(n))
    }

    /// All bits of the hash, folded into 13.
    pub(crate) fn bits(self) -> u16 {
        let folded = (0..5).fold(0, |bits, part| bits ^ self.0 >> (13 * part));
        (folded & 0x1fff) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tokens_never_change() {
        assert_eq!(Token::new().bits(), 0x1293);
        assert_eq!(Token::new().with_all(&[1, 2, 3]).bits(), 0x2cb);
    }

    #[test]
    fn lists_are_told_apart_by_where_they_end() {
        let split = Token::new().with_all(&[1, 2]).with_all(&[3]);
        let other = Token::new().with_all(&[1]).with_all(&[2, 3]);
        assert_ne!(split.bits(), other.bits());
    }

    #[test]
    fn small_numbers_spread_over_the_13_bits() {
        let tokens: HashSet<_> = (0..1000).map(|n| Token::new().with(n).bits()).collect();
        assert!(tokens.len() > 900);
    }
}
