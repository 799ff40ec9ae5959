//! Stored bytes that are refused, each for its reason.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use btune::FrameError;
use btune::blosc::{Backend, Stored};
use support::golden;

fn named(what: &str) -> Vec<u8> {
    golden().into_iter().find(|file| file.name.contains(what)).unwrap().stored
}

fn reason(stored: &[u8]) -> &'static str {
    match Stored::parse(stored).unwrap_err() {
        FrameError::Invalid { why, .. } | FrameError::Unsupported { why, .. } => why,
        FrameError::Truncated { .. } => "truncated",
        _ => "something else",
    }
}

/// Writes `value` at `at`, and says why the result is refused.
fn with(stored: &[u8], at: usize, value: &[u8]) -> &'static str {
    let mut changed = stored.to_vec();
    changed[at..at + value.len()].copy_from_slice(value);
    reason(&changed)
}

#[test]
fn headers_of_chunks() {
    let chunk = named("compress2.squares");
    let large = |n: i32| n.to_le_bytes();
    for (at, value, why) in [
        (0, &[0][..], "the format version is not from 1 to 5"),
        (0, &[6], "the format version is not from 1 to 5"),
        (2, &[0xc5], "a codec that is not known or needs a plugin"),
        (3, &[0], "the typesize is 0"),
        (4, &large(-1), "a size is negative"),
        (8, &large(0), "the block size is 0 or larger than the chunk"),
        (8, &large(12_001), "the block size is 0 or larger than the chunk"),
        (12, &large(31), "the chunk is shorter than its header"),
        (12, &large(i32::MAX), "truncated"),
        (20, &[160], "a filter that is not known or needs a plugin"),
        (20, &[33], "a filter that is not known or needs a plugin"),
        (31, &[0x08], "its blocks are elsewhere (lazy)"),
        (31, &[0x80], "it holds measurements, not data"),
        (31, &[0x50], "an unknown kind of special value"),
        (31, &[0x01], "a dictionary for another codec than zstd"),
        (30, &[1], "its blocks are of a kind not known"),
        (32, &large(32), "it starts inside the table of blocks"),
        (32, &large(i32::MAX), "it ends inside a number"),
    ] {
        assert_eq!(with(&chunk, at, value), why, "{value:?} at {at}");
    }
    // Delta after shuffle leaves bytes undefined; before it, it is fine.
    let mut filters = chunk.clone();
    filters[16..22].copy_from_slice(&[3, 0, 0, 0, 0, 1]);
    assert!(Stored::parse(&filters).is_ok());
    filters[16..22].copy_from_slice(&[1, 0, 0, 0, 0, 3]);
    assert_eq!(reason(&filters), "delta comes after another filter");
}

#[test]
fn streams_of_blocks() {
    let chunk = named("compress2.squares");
    let start = i32::from_le_bytes(chunk[32..36].try_into().unwrap()) as usize;
    for (size, why) in [
        (12_001, "a stream has grown"),
        (-256, "a stream of a kind not known"),
        (i32::MIN, "a stream of a kind not known"),
    ] {
        assert_eq!(with(&chunk, start, &i32::to_le_bytes(size)), why, "{size}");
    }
}

#[test]
fn special_values() {
    let frame = named("grid-full");
    let at = frame.windows(4).rposition(|w| w == [5, 1, 7, 8]).unwrap();
    let chunk = at - 34;
    assert_eq!(&frame[chunk + 31..at], [0x30, 7, 0]);
    // A value of no bytes, and one that is longer than what is there.
    let cbytes = |n: i32| with(&frame, chunk + 12, &n.to_le_bytes());
    assert_eq!(cbytes(32), "the value does not fit the chunk");
    assert_eq!(cbytes(1 << 20), "truncated");
    let nans = named("grid-nans");
    let shape = nans.len() - 36;
    assert_eq!(nans[shape], 0x82);
    assert_eq!(with(&nans, shape, &[0x83]), "a special value that is none");
    assert_eq!(with(&nans, 48, &2i32.to_be_bytes()), "NaN of a typesize that is neither 4 nor 8");
}

#[test]
fn frames() {
    let frame = named("7.1.0-grid-zstd");
    let long = |n: i64| n.to_be_bytes();
    let short = |n: i32| n.to_be_bytes();
    for (at, value, why) in [
        (11, &short(-1)[..], "a number is negative"),
        (11, &short(86), "the length of its header is too small or too large"),
        (11, &short(100_000), "the length of its header is too small or too large"),
        (16, &long(-1), "a number is negative or too large"),
        (16, &long(100_000), "truncated"),
        (16, &long(1000), "bytes follow it"),
        (26, &[1], "its chunks are in files of their own"),
        (30, &long(12_289), "it holds more than one chunk"),
        (30, &long(12_287), "the sizes of frame and chunk differ"),
        (39, &long(100_000), "its chunk goes beyond the frame"),
        // The index is looked for where the chunk is.
        (39, &long(0), "it holds more than one chunk"),
    ] {
        assert_eq!(with(&frame, at, value), why, "{value:?} at {at}");
    }
    let array = frame.windows(4).rposition(|w| w == b"b2nd").unwrap();
    let shape = array + 4 + 5 + 3 + 5 + 4;
    assert_eq!(frame[shape], 0xd3);
    assert_eq!(with(&frame, shape + 8, &[63]), "the array is not exactly one chunk");
    let block = shape + 2 * 9 + 1 + 2 * 5 + 1;
    assert_eq!(with(&frame, block + 1, &short(0)), SIDES);
    assert_eq!(with(&frame, block + 1, &short(65)), SIDES);
    assert_eq!(with(&frame, block + 1, &short(32)), "its blocks are not those of the chunk");
    assert_eq!(with(&frame, block + 1, &short(63)), "its shape is not that of the chunk");
}

const SIDES: &str = "a block has a side of 0, or longer than that of the array";

#[test]
fn a_record_that_cannot_be_read_is_none() {
    let mut frame = named("btune-0.1.0-grid-rows");
    let at = frame.windows(6).position(|w| w == b"\xa5btune").unwrap();
    let place = i32::from_be_bytes(frame[at + 7..at + 11].try_into().unwrap()) as usize + 5;
    assert!(Stored::parse(&frame).unwrap().record().is_some());
    frame[place] = 2;
    let stored = Stored::parse(&frame).unwrap();
    assert!(stored.record().is_none());
    Backend::new().decode(&stored, &mut vec![0; stored.nbytes()]).unwrap();
}
