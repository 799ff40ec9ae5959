//! The filter's values in a data set's header, as the registered filter has them.
//!
//! | value | meaning |
//! |---|---|
//! | 0 | revision, and what the registered filter ignores: see [`Slot`] |
//! | 1 | block size in bytes, 0 automatic |
//! | 2 | bytes per element |
//! | 3 | bytes per chunk |
//! | 4, 5, 6 | compression level, filter, codec |
//! | 7, 8… | from rank 2 to 16: the rank and the chunk's dimensions; then an extension, if any |

use btune::blosc::MAX_CHUNK_BYTES;
use btune::{Codec, Filter};

use crate::error::{FilterError, ValueError};
use crate::slot::{Slot, Tuned};
use crate::token::Token;

/// The fewest values that a reader of the registered filter accepts.
pub(crate) const FEWEST: usize = 4;
const CHOICE_AT: usize = 4;
const RANK_AT: usize = 7;
const DIMS_AT: usize = 8;
const MAX_RANK: usize = 16;

const ALLOWED_LEVELS: &str = "0 to 9";
const ALLOWED_FILTERS: &str =
    "0 (none), 1 (shuffle), 2 (bitshuffle), 3 (delta) or 35 (shuffle and bytedelta)";
const ALLOWED_CODECS: &str = "0 (blosclz), 1 (lz4), 2 (lz4hc), 4 (zlib) or 5 (zstd)";

/// Codec, filter and level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) clevel: u8,
    pub(crate) filter: Filter,
    pub(crate) codec: Codec,
}

impl Default for Choice {
    /// What the registered filter takes where nothing is given.
    fn default() -> Self {
        Self { clevel: 5, filter: Filter::Shuffle, codec: Codec::BloscLz }
    }
}

impl Choice {
    /// Reads values 4 to 6. Those that are missing or not valid have their default.
    fn parse(values: &[u32], bad: &mut Vec<ValueError>) -> Self {
        let mut choice = Self::default();
        let given = |at: usize| values.get(CHOICE_AT + at).copied();
        if let Some(value) = given(0) {
            let level = u8::try_from(value).ok().filter(|level| *level <= 9);
            let error = ValueError { name: "compression level", value, allowed: ALLOWED_LEVELS };
            keep(level, &mut choice.clevel, error, bad);
        }
        if let Some(value) = given(1) {
            // Truncated precision needs a number of bits, for which there is no value.
            let filter = Filter::from_code(value).ok().filter(|f| *f != Filter::TruncPrec);
            let error = ValueError { name: "filter", value, allowed: ALLOWED_FILTERS };
            keep(filter, &mut choice.filter, error, bad);
        }
        if let Some(value) = given(2) {
            let error = ValueError { name: "codec", value, allowed: ALLOWED_CODECS };
            keep(Codec::from_code(value).ok(), &mut choice.codec, error, bad);
        }
        choice
    }
}

fn keep<T>(parsed: Option<T>, field: &mut T, error: ValueError, bad: &mut Vec<ValueError>) {
    match parsed {
        Some(value) => *field = value,
        None => bad.push(error),
    }
}

/// What the values say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) slot: Slot,
    /// 0 for automatic.
    pub(crate) block_size: u32,
    /// 0 if it is not known.
    pub(crate) typesize: usize,
    /// 0 if it is not known.
    pub(crate) chunk_bytes: usize,
    pub(crate) choice: Choice,
    /// The chunk's dimensions, for rank 2 to 16; else empty.
    pub(crate) dims: Vec<usize>,
}

impl Values {
    /// Reads any list of values: what is missing or makes no sense is as if it was not given.
    pub(crate) fn parse(values: &[u32]) -> Self {
        let at = |i: usize| values.get(i).copied().unwrap_or(0);
        let rank = at(RANK_AT) as usize;
        let dims = match values.get(DIMS_AT..DIMS_AT + rank.min(MAX_RANK + 1)) {
            Some(dims) if (2..=MAX_RANK).contains(&rank) => {
                dims.iter().map(|&n| n as usize).collect()
            }
            _ => Vec::new(),
        };
        Self {
            slot: Slot::parse(at(0)),
            block_size: at(1),
            typesize: at(2) as usize,
            chunk_bytes: at(3) as usize,
            choice: Choice::parse(values, &mut Vec::new()),
            dims,
        }
    }
}

/// What a data set to be created is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// HDF5's number of the type's class.
    pub(crate) class: i32,
    /// Bytes of an element.
    pub(crate) bytes: u64,
    /// Bytes that belong together: those of an array type's base type, else those of an element.
    pub(crate) typesize: u32,
    /// The chunk's dimensions.
    pub(crate) chunk: Vec<u64>,
}

/// The values to store for a data set of that layout, where the user gave `given`; `tune` says how to tune
/// one for which the first of them asks for (some), or asks for nothing (none).
///
/// A data set is tuned where no level, filter or codec was given, and where the values come from a tuned
/// one.
pub(crate) fn build(
    given: &[u32],
    layout: &Layout,
    tune: impl Fn(Option<Tuned>) -> Tuned,
    bad: &mut Vec<ValueError>,
) -> Result<Vec<u32>, FilterError> {
    let chunk_bytes = layout.chunk.iter().fold(layout.bytes, |all, &n| all.saturating_mul(n));
    let chunk_value = u32::try_from(chunk_bytes).unwrap_or(u32::MAX);
    if chunk_value as usize > MAX_CHUNK_BYTES {
        return Err(FilterError::TooLarge(chunk_bytes));
    }
    let mut slot = Slot::parse(given.first().copied().unwrap_or(0));
    slot.tuned = match slot.tuned {
        Some(tuned) => Some(tune(Some(tuned))),
        None if given.len() <= CHOICE_AT => Some(tune(None)),
        None => None,
    };
    let choice = Choice::parse(given, bad);
    let block_size = given.get(1).copied().unwrap_or(0);
    let options =
        [block_size, choice.clevel.into(), choice.filter.code().into(), choice.codec.code().into()];

    let mut values = vec![0, block_size, layout.typesize, chunk_value];
    values.extend_from_slice(&options[1..]);
    let extension = extension_of(given, slot).filter(|_| layout.chunk.len() >= 2);
    slot.extension = false;
    if (2..=MAX_RANK).contains(&layout.chunk.len()) {
        values.push(layout.chunk.len() as u32);
        values.extend(layout.chunk.iter().map(|&n| n as u32));
        if let Some(extension) = extension {
            slot.extension = true;
            values.extend_from_slice(extension);
        }
    }
    slot.token = Token::new()
        .with_all(&[layout.class.cast_unsigned().into(), layout.bytes, layout.typesize.into()])
        .with_all(&layout.chunk)
        .with_all(&options.map(u64::from))
        .bits();
    values[0] = slot.value();
    Ok(values)
}

/// What follows the dimensions in values that have an extension.
fn extension_of(values: &[u32], slot: Slot) -> Option<&[u32]> {
    let rank = *values.get(RANK_AT)? as usize;
    let extension = values.get(DIMS_AT.checked_add(rank)?..)?;
    (slot.extension && rank >= 2 && !extension.is_empty()).then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::PerfMode;
    use proptest::prelude::*;

    const HALF: Tuned = Tuned { mode: PerfMode::Comp, percent: 50 };

    fn layout(chunk: &[u64]) -> Layout {
        Layout { class: 0, bytes: 4, typesize: 4, chunk: chunk.to_vec() }
    }

    fn built(given: &[u32], chunk: &[u64]) -> Vec<u32> {
        let mut bad = Vec::new();
        let values = build(given, &layout(chunk), |t| t.unwrap_or(HALF), &mut bad).unwrap();
        assert_eq!(bad, []);
        values
    }

    #[test]
    fn no_options_mean_tuned_with_the_registered_defaults() {
        let values = built(&[], &[50, 20]);
        assert_eq!(values[1..], [0, 4, 4000, 5, 1, 0, 2, 50, 20]);
        assert_eq!(Slot::parse(values[0]).tuned, Some(HALF));
        assert_eq!(values[0] & 0x7ffff, 1 | 1 << 8 | 50 << 11);
        assert_eq!(built(&[0, 0, 0, 0], &[50, 20]), values);
    }

    #[test]
    fn explicit_options_are_kept_and_not_tuned() {
        let values = built(&[1, 4096, 0, 0, 9, 2, 5], &[50, 20]);
        assert_eq!(values[1..], [4096, 4, 4000, 9, 2, 5, 2, 50, 20]);
        assert_eq!(values[0] & 0x7ffff, 1);
        let values = built(&[1, 0, 0, 0, 3], &[1000]);
        assert_eq!(values[1..], [0, 4, 4000, 3, 1, 0]);
        let values = built(&[1, 0, 0, 0, 9, 2, 5, 7, 7, 7, 7], &[50, 20]);
        assert_eq!(values[1..], [0, 4, 4000, 9, 2, 5, 2, 50, 20]);
    }

    #[test]
    fn a_tuned_data_set_stays_tuned_when_it_is_made_again() {
        let tuned = Tuned { mode: PerfMode::Balanced, percent: 90 };
        let values = built(&[Slot { tuned: Some(tuned), ..Slot::default() }.value()], &[50, 20]);
        assert_eq!(Slot::parse(values[0]).tuned, Some(tuned));
        let again = built(&values, &[20, 50]);
        assert_eq!(Slot::parse(again[0]).tuned, Some(tuned));
        assert_eq!(again[7..], [2, 20, 50]);
        assert_ne!(Slot::parse(again[0]).token, Slot::parse(values[0]).token);
        assert_eq!(built(&again, &[50, 20]), values);
    }

    #[test]
    fn one_dimension_and_more_than_sixteen_end_with_the_codec() {
        assert_eq!(built(&[], &[1000]).len(), 7);
        assert_eq!(built(&[], &[2; 17]).len(), 7);
        assert_eq!(built(&[], &[2; 16]).len(), 8 + 16);
    }

    #[test]
    fn an_extension_follows_the_dimensions() {
        let slot = Slot { tuned: Some(HALF), extension: true, token: 0 }.value();
        let given = [slot, 0, 4, 4000, 5, 1, 0, 2, 50, 20, 77, 78];
        let values = built(&given, &[10, 10, 10]);
        assert_eq!(values[7..], [3, 10, 10, 10, 77, 78]);
        assert!(Slot::parse(values[0]).extension);
        let values = built(&given, &[1000]);
        assert_eq!((values.len(), Slot::parse(values[0]).extension), (7, false));
    }

    #[test]
    fn options_that_are_not_valid_are_named_and_replaced() {
        let mut bad = Vec::new();
        let given = [1, 0, 0, 0, 10, 4, 3];
        let values = build(&given, &layout(&[50, 20]), |_| HALF, &mut bad).unwrap();
        assert_eq!(values[4..7], [5, 1, 0]);
        let bad: Vec<_> = bad.iter().map(ToString::to_string).collect();
        assert!(bad[0].contains("compression level 10 is not valid: 0 to 9"), "{bad:?}");
        assert!(bad[1].contains("filter 4 is not valid"), "{bad:?}");
        assert!(bad[2].contains("codec 3 is not valid"), "{bad:?}");
    }

    #[test]
    fn two_gibibytes_are_refused() {
        let result = build(&[], &layout(&[1 << 29]), |_| HALF, &mut Vec::new());
        assert_eq!(result, Err(FilterError::TooLarge(1 << 31)));
    }

    proptest! {
        #[test]
        fn any_values_can_be_read_and_built_upon(
            given in proptest::collection::vec(prop_oneof![0u32..20, any::<u32>()], 0..30),
            chunk in proptest::collection::vec(1u64..4, 1..20),
        ) {
            let _ = Values::parse(&given);
            let values = build(&given, &layout(&chunk), |t| t.unwrap_or(HALF), &mut Vec::new());
            if let Ok(values) = values {
                let read = Values::parse(&values);
                prop_assert_eq!(read.typesize, 4);
                prop_assert_eq!(read.chunk_bytes as u64, chunk.iter().product::<u64>() * 4);
                let dims: Vec<_> = chunk.iter().map(|&n| n as usize).collect();
                let stored = if (2..=16).contains(&dims.len()) { dims } else { Vec::new() };
                prop_assert_eq!(read.dims, stored);
                prop_assert!(values.len() == 7 || values.len() >= 8 + chunk.len());
            }
        }
    }
}
