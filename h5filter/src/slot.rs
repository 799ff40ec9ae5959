//! The first of the filter's values, whose upper bits the registered filter ignores.

use btune::{PerfMode, Tradeoff};

/// The revision of the values that the registered filter writes.
const REVISION: u32 = 1;
const TUNED: u32 = 1 << 8;
const MODE_AT: u32 = 9;
const MODE_MASK: u32 = 0b11;
const TRADEOFF_AT: u32 = 11;
const TRADEOFF_MASK: u32 = 0x7f;
const EXTENSION: u32 = 1 << 18;
const TOKEN_AT: u32 = 19;

/// What slot 0 says of tuning:
///
/// | bits | field |
/// |---|---|
/// | 0–7 | revision: 1 |
/// | 8 | tuned |
/// | 9–10 | performance mode |
/// | 11–17 | tradeoff in per cent |
/// | 18 | an extension follows the dimensions |
/// | 19–31 | token of the data set |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Slot {
    /// How the data set is to be tuned, if at all.
    pub(crate) tuned: Option<Tuned>,
    /// Whether an extension follows the dimensions.
    pub(crate) extension: bool,
    /// Token of the data set, 13 bits.
    pub(crate) token: u16,
}

/// Tradeoff and mode of a tuned data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tuned {
    /// Which time counts.
    pub(crate) mode: PerfMode,
    /// The lossless tradeoff, 0 (speed) to 100 (ratio).
    pub(crate) percent: u8,
}

impl Tuned {
    /// The nearest that a slot can hold.
    pub(crate) fn new(mode: PerfMode, tradeoff: &Tradeoff) -> Self {
        Self { mode, percent: (tradeoff.t() * 100.0).round() as u8 }
    }

    /// The tradeoff.
    pub(crate) fn tradeoff(self) -> Tradeoff {
        Tradeoff::new(f32::from(self.percent) / 100.0).unwrap_or_default()
    }
}

impl Slot {
    /// Reads the value. Of an unknown revision, and of a mode or tradeoff that nobody writes, nothing
    /// is kept.
    pub(crate) fn parse(value: u32) -> Self {
        if value & 0xff != REVISION {
            return Self::default();
        }
        let mode = PerfMode::from_code((value >> MODE_AT & MODE_MASK) as u8);
        let percent = (value >> TRADEOFF_AT & TRADEOFF_MASK) as u8;
        let tuned = match mode {
            Some(mode) if value & TUNED != 0 && percent <= 100 => Some(Tuned { mode, percent }),
            _ => None,
        };
        Self { tuned, extension: value & EXTENSION != 0, token: (value >> TOKEN_AT) as u16 }
    }

    /// The value.
    pub(crate) fn value(self) -> u32 {
        let tuned = self.tuned.map_or(0, |tuned| {
            TUNED
                | u32::from(tuned.mode.code()) << MODE_AT
                | u32::from(tuned.percent) << TRADEOFF_AT
        });
        let extension = if self.extension { EXTENSION } else { 0 };
        REVISION | tuned | extension | u32::from(self.token) << TOKEN_AT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_bits() {
        let tuned = Some(Tuned { mode: PerfMode::Balanced, percent: 100 });
        let slot = Slot { tuned, extension: true, token: 0x1fff };
        assert_eq!(slot.value(), !(0xfe | 1 << 9 | 0b001_1011 << 11));
        assert_eq!(Slot::parse(slot.value()), slot);
        assert_eq!(Slot { tuned: None, extension: false, token: 0 }.value(), 1);
        let tuned = Some(Tuned { mode: PerfMode::Decomp, percent: 50 });
        let slot = Slot { tuned, extension: false, token: 5 };
        assert_eq!(slot.value(), 1 | 1 << 8 | 1 << 9 | 50 << 11 | 5 << 19);
        assert_eq!(Slot::parse(slot.value()), slot);
    }

    #[test]
    fn what_nobody_writes_is_not_tuned() {
        assert_eq!(Slot::parse(0), Slot::default());
        assert_eq!(Slot::parse(2 | TUNED), Slot::default());
        assert_eq!(Slot::parse(1 | TUNED | 3 << MODE_AT).tuned, None);
        assert_eq!(Slot::parse(1 | TUNED | 101 << TRADEOFF_AT).tuned, None);
        assert_eq!(Slot::parse(1 | 50 << TRADEOFF_AT).tuned, None);
    }

    #[test]
    fn every_per_cent_comes_back() {
        for percent in 0..=100 {
            let tuned = Tuned { mode: PerfMode::Comp, percent };
            assert_eq!(Tuned::new(tuned.mode, &tuned.tradeoff()), tuned);
        }
    }
}
