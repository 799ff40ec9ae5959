use btune::blosc::Backend;
use btune::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};

use super::*;
use crate::blosc1;
use crate::decode::decode;
use crate::format::Format;
use crate::options::Options;

fn data(random: &mut fastrand::Rng, nbytes: usize) -> Vec<u8> {
    (0..nbytes).map(|i| if i % 4 == 0 { random.u8(..) } else { (i / 50) as u8 }).collect()
}

fn check(stored: &[u8], bytes: &[u8], random: &mut fastrand::Rng, what: &str) {
    for _ in 0..6 {
        let ranges: Vec<_> = (0..random.usize(0..4))
            .map(|_| {
                let start = random.usize(..=bytes.len());
                let end = (start + random.usize(..=5000)).min(bytes.len());
                start as u64..end as u64
            })
            .collect();
        let parts = decode_ranges(stored, &ranges).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(parts.len(), ranges.len());
        for (part, range) in parts.iter().zip(&ranges) {
            assert!(*part == bytes[range.start as usize..range.end as usize], "{what} {range:?}");
        }
    }
}

#[test]
fn parts_of_chunks_with_any_parameters_are_those_of_the_whole() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut backend = Backend::new();
    let mut stored = Vec::new();
    for case in 0..1500 {
        let nbytes = random.usize(1..60_000);
        let bytes = data(&mut random, nbytes);
        let typesize = [1, 2, 3, 4, 7, 8, 16][random.usize(..7)];
        let cparams = Cparams {
            codec: Codec::ALL[random.usize(..5)],
            filter: Filter::ALL[[0, 1, 2, 3, 5][random.usize(..5)]],
            clevel: [0, 1, 5, 9][random.usize(..4)],
            split: [SplitMode::Always, SplitMode::Never][random.usize(..2)],
            block_size: [BlockSize::Auto, BlockSize::Bytes(random.u32(64..9000))]
                [usize::from(case % 4 > 0)],
            threads: 1,
        };
        let chunk = Chunk::new(&bytes, typesize);
        let what = format!("{nbytes} bytes, typesize {typesize}, {cparams}");
        backend.compress(&chunk, &cparams, false, &mut stored).unwrap();
        check(&stored, &bytes, &mut random, &what);
        blosc1::compress(&chunk, &cparams, &mut stored).unwrap();
        check(&stored, &bytes, &mut random, &format!("Blosc: {what}"));
    }
}

#[test]
fn parts_of_frames_are_those_of_the_whole() {
    let mut random = fastrand::Rng::with_seed(8);
    let bytes = data(&mut random, 4 * 100 * 90 * 11);
    let constant = 1.5f32.to_le_bytes().repeat(9900);
    for shape in [None, Some(vec![100, 90, 11]), Some(vec![9900, 10]), Some(vec![99_000])] {
        for bytes in [&bytes, &vec![0; bytes.len()], &constant] {
            let codec = crate::Codec::new(Options {
                typesize: 4,
                shape: shape.clone(),
                ..Options::default()
            });
            let stored = codec.encode(bytes).unwrap();
            check(&stored, bytes, &mut random, &format!("{shape:?}"));
        }
    }
}

/// A chunk of ten blocks.
fn ten_blocks(format: Format) -> (Vec<u8>, Vec<u8>) {
    let bytes = data(&mut fastrand::Rng::with_seed(9), 100_000);
    let cparams = Cparams {
        codec: Codec::Zstd,
        filter: Filter::Shuffle,
        clevel: 3,
        split: SplitMode::Never,
        block_size: BlockSize::Bytes(10_000),
        threads: 1,
    };
    let (chunk, mut stored) = (Chunk::new(&bytes, 4), Vec::new());
    match format {
        Format::Blosc => drop(blosc1::compress(&chunk, &cparams, &mut stored).unwrap()),
        _ => drop(Backend::new().compress(&chunk, &cparams, false, &mut stored).unwrap()),
    }
    (bytes, stored)
}

#[test]
fn blocks_that_are_not_needed_are_not_decompressed() {
    for format in [Format::Chunk, Format::Blosc] {
        let (bytes, mut stored) = ten_blocks(format);
        let last = stored.len() - 200;
        stored[last..].fill(0xaa);
        assert!(decode(&stored).is_err(), "the last block cannot be decompressed");
        let parts = decode_ranges(&stored, &[5..25_000, 60_000..60_001, 0..0]).unwrap();
        assert!(parts[0] == bytes[5..25_000] && parts[1] == bytes[60_000..60_001]);
        assert!(parts[2].is_empty());
        assert!(decode_ranges(&stored, &[99_000..100_000, 0..1]).is_err());
    }
}

#[test]
fn what_is_not_in_the_chunk_is_an_error() {
    let (_, stored) = ten_blocks(Format::Chunk);
    for (start, end) in [(0, 100_001), (100_001, 100_001), (5, 4), (u64::MAX, 3), (0, u64::MAX)] {
        let error = decode_ranges(&stored, &[0..1, start..end]).unwrap_err();
        assert_eq!(error, Error::Range { start, end, nbytes: 100_000 });
    }
    assert!(decode_ranges(&stored[..stored.len() - 1], &[0..1, 1..2]).is_err());
}

#[test]
fn ranges_that_touch_are_joined() {
    let joined = |ranges: &[Range<usize>]| super::joined(ranges.iter().cloned());
    assert_eq!(joined(&[5..6, 0..2, 1..3, 3..4, 8..9]), [0..4, 5..6, 8..9]);
    assert_eq!(joined(&[]), Vec::<Range<usize>>::new());
    assert_eq!(joined(&[0..9, 2..3]), vec![0..9]);
}
