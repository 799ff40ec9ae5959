//! Frames of all kinds, written and read back.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use btune::blosc::{
    Backend, BlockShape, Encoded, Form, Intent, Special, Stored, StoredForm, frame_bound,
};
use btune::{
    BlockSize, Chunk, Codec, Cparams, Filter, PerfMode, Probe, Prober, SplitMode, Tradeoff,
};
use proptest::prelude::*;

/// What the bytes of a chunk look like.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Ramp,
    Noise,
    Zeros,
    Constant,
    Patches,
}

fn bytes(kind: Kind, length: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    match kind {
        Kind::Ramp => (0..length).map(|i| (i / 5 + i % 3) as u8).collect(),
        Kind::Noise => (0..length).map(|_| random.u8(..)).collect(),
        Kind::Zeros => vec![0; length],
        Kind::Constant => vec![0x5a; length],
        Kind::Patches => {
            (0..length).map(|i| if i / 700 % 2 == 0 { random.u8(..4) } else { 0 }).collect()
        }
    }
}

fn cparams() -> impl Strategy<Value = Cparams> {
    let block_size = prop_oneof![
        Just(BlockSize::Auto),
        Just(BlockSize::Doubled),
        Just(BlockSize::WholeChunk),
        (1u32..20_000).prop_map(BlockSize::Bytes),
    ];
    // Truncated precision loses bits, and is left out.
    let filters: Vec<_> = Filter::ALL.into_iter().filter(|f| *f != Filter::TruncPrec).collect();
    (
        prop::sample::select(&Codec::ALL[..]),
        prop::sample::select(filters),
        0u8..=9,
        prop::sample::select(&SplitMode::ALL[..]),
        block_size,
        1u16..3,
    )
        .prop_map(|(codec, filter, clevel, split, block_size, threads)| Cparams {
            codec,
            filter,
            clevel,
            split,
            block_size,
            threads,
        })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Ramp),
        Just(Kind::Noise),
        Just(Kind::Zeros),
        Just(Kind::Constant),
        Just(Kind::Patches),
    ]
}

/// A shape, and bytes per element.
fn array() -> impl Strategy<Value = (Vec<usize>, usize)> {
    let typesize = prop::sample::select(vec![1usize, 2, 3, 4, 8, 12, 16, 17, 100, 255, 300]);
    let shape = prop_oneof![
        prop::collection::vec(1usize..200, 1..3),
        prop::collection::vec(1usize..30, 3..5),
        prop::collection::vec(1usize..4, 5..10),
        Just(vec![1; 16]),
        Just(vec![1; 17]),
    ];
    (shape, typesize)
}

fn round_trip(
    chunk: &Chunk<'_>,
    form: &Form,
    cparams: &Cparams,
    intent: Option<&Intent>,
) -> (Encoded, Vec<u8>) {
    let mut backend = Backend::new();
    // Neither more than the bound is written, nor less of the source left as it was.
    let bound = frame_bound(chunk.bytes().len(), form);
    let mut dest = vec![0xee; bound + 8];
    let encoded =
        backend.encode_frame(chunk, form, cparams, intent, true, &mut dest[..bound]).unwrap();
    assert!(encoded.len <= bound);
    assert_eq!(dest[bound..], [0xee; 8]);
    dest.truncate(encoded.len);
    let stored = Stored::parse(&dest).unwrap();
    let mut back = vec![0xdd; stored.nbytes()];
    backend.decode(&stored, &mut back).unwrap();
    assert!(back == chunk.bytes(), "{form:?} {cparams:?}");
    (encoded, dest)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn arrays_come_back(
        (shape, typesize) in array(),
        kind in kind(),
        cparams in cparams(),
        stock in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let elements: usize = shape.iter().product();
        let data = bytes(kind, elements * typesize, seed);
        let dims = shape.len();
        let blocks = if stock { BlockShape::Stock } else { BlockShape::Rows };
        let form = Form::B2nd { shape, blocks };
        let intent = Intent::default();
        let (encoded, frame) = round_trip(&Chunk::new(&data, typesize), &form, &cparams, Some(&intent));
        let stored = Stored::parse(&frame).unwrap();
        let array = dims <= 16 && typesize < 256;
        prop_assert_eq!(stored.form() == StoredForm::B2nd, array);
        let m = encoded.measurement;
        prop_assert_eq!(m.nbytes, data.len());
        prop_assert!(m.cbytes <= data.len() + 32 && m.ctime > 0.0 && m.dtime.is_some_and(|t| t > 0.0));
        prop_assert_eq!(stored.record().copied(), (frame.len() > 1024).then_some(encoded.record));
    }

    #[test]
    fn bytes_come_back(
        length in prop_oneof![0usize..300, 0usize..100_000],
        typesize in 0usize..400,
        kind in kind(),
        cparams in cparams(),
        seed in any::<u64>(),
    ) {
        let data = bytes(kind, length, seed);
        let chunk = Chunk::new(&data, typesize);
        let (_, frame) = round_trip(&chunk, &Form::Plain, &cparams, None);
        prop_assert!(Stored::parse(&frame).unwrap().record().is_none());

        let mut backend = Backend::new();
        let mut raw = vec![1, 2, 3];
        let m = backend.compress(&chunk, &cparams, false, &mut raw).unwrap();
        prop_assert_eq!(m.cbytes, raw.len());
        let mut back = vec![0xdd; length];
        backend.decompress(&raw, &mut back).unwrap();
        prop_assert!(back == data);
    }
}

fn lz4() -> Cparams {
    Cparams {
        codec: Codec::Lz4,
        filter: Filter::Shuffle,
        clevel: 5,
        split: SplitMode::Always,
        block_size: BlockSize::Auto,
        threads: 1,
    }
}

#[test]
fn a_record_says_what_was_done() {
    let data = bytes(Kind::Ramp, 400_000, 0);
    let intent = Intent {
        tradeoff: Tradeoff::triple(0.25, 0.5, 0.25).unwrap(),
        perf_mode: PerfMode::Balanced,
        origin: btune::Origin::Genetic,
    };
    let cparams = Cparams { filter: Filter::ByteDelta, clevel: 3, threads: 2, ..lz4() };
    let form = Form::B2nd { shape: vec![100, 1000], blocks: BlockShape::Rows };
    let (encoded, frame) = round_trip(&Chunk::new(&data, 4), &form, &cparams, Some(&intent));
    let record = *Stored::parse(&frame).unwrap().record().unwrap();
    assert_eq!(record, encoded.record);
    assert_eq!((record.codec, record.clevel, record.split, record.threads), (1, 3, 1, 2));
    assert_eq!(record.filters, [0, 0, 0, 0, 1, 35]);
    assert_eq!(record.filters_meta[5], 4);
    assert_eq!((record.ratio, record.quality), (2500, 2500));
    assert_eq!((record.perf_mode, record.origin), (PerfMode::Balanced, btune::Origin::Genetic));
    let stored = Stored::parse(&frame).unwrap();
    assert_eq!(record.block_size as usize, stored.header().block_size);
}

#[test]
fn what_cannot_be_made_smaller_is_stored_and_says_so() {
    let data = bytes(Kind::Noise, 50_000, 0);
    let (encoded, frame) =
        round_trip(&Chunk::new(&data, 4), &Form::Plain, &lz4(), Some(&Intent::default()));
    assert!(Stored::parse(&frame).unwrap().header().stored);
    assert_eq!((encoded.record.clevel, encoded.record.filters), (0, [0; 6]));
    assert_eq!(encoded.measurement.cbytes, 50_032);
}

#[test]
fn zeros_are_special_and_need_no_chunk() {
    let data = bytes(Kind::Zeros, 50_000, 0);
    let (encoded, frame) =
        round_trip(&Chunk::new(&data, 4), &Form::Plain, &lz4(), Some(&Intent::default()));
    assert!(encoded.measurement.special);
    assert_eq!(Stored::parse(&frame).unwrap().header().special, Some(Special::Zeros));
    assert!(frame.len() < 200);
}

#[test]
fn bytedelta_is_not_written_where_it_would_lose_bytes() {
    let data = bytes(Kind::Ramp, 4003, 0);
    let cparams = Cparams { filter: Filter::ByteDelta, ..lz4() };
    let (encoded, _) = round_trip(&Chunk::new(&data, 4), &Form::Plain, &cparams, None);
    assert_eq!(encoded.record.filters, [0, 0, 0, 0, 0, 1]);
}

#[test]
fn rows_that_fit_need_no_copy_and_any_codec_has_its_own_blocks() {
    let data = bytes(Kind::Ramp, 512 * 512 * 4, 0);
    let chunk = Chunk::new(&data, 4);
    let form = Form::B2nd { shape: vec![512, 512], blocks: BlockShape::Rows };
    for (block_size, expected) in [
        (BlockSize::Auto, [128, 512]),
        (BlockSize::Doubled, [256, 512]),
        (BlockSize::WholeChunk, [512, 512]),
        (BlockSize::Bytes(2048), [1, 512]),
    ] {
        let (_, frame) = round_trip(&chunk, &form, &Cparams { block_size, ..lz4() }, None);
        let stored = Stored::parse(&frame).unwrap();
        assert_eq!(stored.shapes(), Some((&[512, 512][..], &expected[..])));
    }
}

#[test]
fn a_short_destination_and_a_wrong_one_are_errors() {
    let data = bytes(Kind::Ramp, 1000, 0);
    let chunk = Chunk::new(&data, 4);
    let mut backend = Backend::new();
    let mut dest = vec![0; frame_bound(1000, &Form::Plain)];
    let short = dest.len() - 1;
    assert!(
        backend
            .encode_frame(&chunk, &Form::Plain, &lz4(), None, false, &mut dest[..short])
            .is_err()
    );
    let encoded =
        backend.encode_frame(&chunk, &Form::Plain, &lz4(), None, false, &mut dest).unwrap();
    for wrong in [0, 999, 1001] {
        assert!(backend.decompress(&dest[..encoded.len], &mut vec![0; wrong]).is_err());
    }
}

#[test]
fn probes_measure_what_is_asked_for() {
    let data = bytes(Kind::Ramp, 100_000, 0);
    let mut backend = Backend::new();
    for cparams in [lz4(), Cparams::STORE] {
        for (decompress, repeats) in [(false, 1), (true, 3), (true, 0)] {
            let probe = Probe { bytes: &data, typesize: 4, cparams, decompress, repeats };
            let probed = backend.probe(&probe).unwrap();
            let m = probed.measurement;
            assert_eq!(m.nbytes, data.len());
            assert_eq!(m.cbytes < data.len(), !cparams.is_store());
            assert_eq!(m.dtime.is_some(), decompress);
            assert!(m.ctime > 0.0 && probed.seconds >= m.ctime);
        }
    }
}
