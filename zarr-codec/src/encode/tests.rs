use std::sync::{Arc, Mutex};
use std::thread;

use btune::blosc::{Stored, StoredForm};
use btune::{PerfMode, Tradeoff};

use super::*;
use crate::blosc1::tests::read;
use crate::codec::Codec as Encoder;
use crate::decode::{decode, decode_into, decoded_size};
use crate::options::Options;

/// Values that change slowly, with noise in the low bits.
fn chunk(seed: u64, nbytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut value = 1000.0f32;
    let values = std::iter::repeat_with(|| {
        value += random.f32() - 0.45;
        value.round().to_le_bytes()
    });
    values.flatten().take(nbytes).collect()
}

/// Values that grow by nearly the same from one to the next.
fn ramp(seed: u64, nbytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut value = 0u32;
    let values = std::iter::repeat_with(|| {
        value = value.wrapping_add(70_000 + random.u32(..300));
        value.to_le_bytes()
    });
    values.flatten().take(nbytes).collect()
}

fn options(format: Format) -> Options {
    Options { format, typesize: 4, ..Options::default() }
}

#[test]
fn every_form_of_every_length_is_read_back() {
    for format in Format::ALL {
        for perf_mode in PerfMode::ALL {
            for typesize in [0, 1, 2, 4, 7, 8, 255, 300] {
                let codec = Encoder::new(Options { typesize, perf_mode, ..options(format) });
                for nbytes in [0, 1, 3, 4, 7, 16, 127, 1000, 4096, 9999, 70_001] {
                    let bytes = chunk(nbytes as u64, nbytes);
                    let stored = codec.encode(&bytes).unwrap();
                    let what = format!("{format:?} {perf_mode:?} {typesize} {nbytes}");
                    assert!(stored.len() <= codec.bound(nbytes), "{what}");
                    assert_eq!(decoded_size(&stored), Ok(nbytes), "{what}");
                    assert!(decode(&stored).unwrap() == bytes, "{what}");
                    let mut dest = vec![0; nbytes + 3];
                    assert_eq!(decode_into(&stored, &mut dest), Ok(nbytes), "{what}");
                    assert!(dest[..nbytes] == bytes && dest[nbytes..] == [0; 3], "{what}");
                    if format == Format::Blosc && nbytes > 0 {
                        assert!(read(&stored) == bytes, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_form_is_the_one_that_was_asked_for() {
    let bytes = chunk(1, 60_000);
    let stored = |options| Encoder::new(options).encode(&bytes).unwrap();
    let form = |stored: &[u8]| Stored::parse(stored).unwrap().form();
    assert_eq!(form(&stored(options(Format::Cframe))), StoredForm::Plain);
    let array = Options { shape: Some(vec![30, 500]), ..options(Format::Cframe) };
    let stored_array = stored(array);
    assert_eq!(form(&stored_array), StoredForm::B2nd);
    assert!(decode(&stored_array).unwrap() == bytes);
    let other = Options { shape: Some(vec![31, 500]), ..options(Format::Cframe) };
    assert_eq!(form(&stored(other)), StoredForm::Plain);
    let (raw, blosc) = (stored(options(Format::Chunk)), stored(options(Format::Blosc)));
    assert_eq!((form(&raw), raw[0]), (StoredForm::Chunk, 5));
    assert_eq!((form(&blosc), blosc[0]), (StoredForm::Chunk, 2));
}

#[test]
fn a_frame_has_the_record_of_what_was_asked_for() {
    let tradeoff = Tradeoff::new(0.9).unwrap();
    let codec = Encoder::new(Options {
        tradeoff,
        perf_mode: PerfMode::Balanced,
        ..options(Format::Cframe)
    });
    let stored = codec.encode(&chunk(2, 200_000)).unwrap();
    let stored = Stored::parse(&stored).unwrap();
    let record = stored.record().unwrap();
    assert_eq!(record.perf_mode, PerfMode::Balanced);
    assert_eq!(*record, record.with_tradeoff(&tradeoff));
}

#[test]
fn the_tradeoff_matters() {
    for format in Format::ALL {
        let size = |t: f32| {
            let tradeoff = Tradeoff::new(t).unwrap();
            let codec = Encoder::new(Options { tradeoff, ..options(format) });
            (0..40).map(|seed| codec.encode(&chunk(seed, 100_000)).unwrap().len()).sum::<usize>()
        };
        let (fast, small) = (size(0.0), size(1.0));
        assert!(small * 2 < fast, "{format:?}: {small} and {fast}");
    }
}

#[test]
fn threads_share_a_codec() {
    for format in Format::ALL {
        let codec = Encoder::new(options(format));
        thread::scope(|scope| {
            for worker in 0..4 {
                let codec = &codec;
                scope.spawn(move || {
                    for seed in 0..25 {
                        let bytes = chunk(worker * 100 + seed, 50_000);
                        assert!(decode(&codec.encode(&bytes).unwrap()).unwrap() == bytes);
                    }
                });
            }
        });
        assert!(codec.profile().contains("kinds"));
    }
}

#[test]
fn a_chunk_that_is_encoded_again_teaches_nothing() {
    let codec = Encoder::new(options(Format::Cframe));
    let bytes = chunk(3, 100_000);
    codec.encode(&bytes).unwrap();
    let learnt = codec.profile();
    for _ in 0..20 {
        assert!(decode(&codec.encode(&bytes).unwrap()).unwrap() == bytes);
    }
    assert_eq!(codec.profile(), learnt);
    codec.encode(&chunk(4, 100_000)).unwrap();
    assert_ne!(codec.profile(), learnt);
}

#[test]
fn a_profile_is_started_from_and_a_bad_one_is_not() {
    let dir = std::env::temp_dir().join(format!("btune-zarr-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (good, bad) = (dir.join("good.json"), dir.join("bad.json"));
    let codec = Encoder::new(options(Format::Chunk));
    for seed in 0..20 {
        codec.encode(&chunk(seed, 100_000)).unwrap();
    }
    let learnt = codec.profile();
    std::fs::write(&good, &learnt).unwrap();
    std::fs::write(&bad, "{").unwrap();
    let warm = |path| Encoder::new(Options { profile: Some(path), ..options(Format::Chunk) });
    assert_eq!(warm(good).profile(), learnt);
    for path in [bad, dir.join("none.json")] {
        let cold = warm(path);
        assert_eq!(cold.profile(), Encoder::new(options(Format::Chunk)).profile());
        let bytes = chunk(1, 5000);
        assert!(decode(&cold.encode(&bytes).unwrap()).unwrap() == bytes);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

/// Not even where another codec has learnt that it is best.
#[test]
fn bytedelta_is_left_out_where_that_is_asked_for() {
    let path = std::env::temp_dir().join(format!("btune-bytedelta-{}.json", std::process::id()));
    let tradeoff = Tradeoff::new(0.9).unwrap();
    let given = |bytedelta| Options { tradeoff, bytedelta, ..options(Format::Chunk) };
    let uses = |codec: &Encoder, seed| {
        let bytes = ramp(seed, 400_000);
        let stored = codec.encode(&bytes).unwrap();
        assert!(decode(&stored).unwrap() == bytes);
        let filters = Stored::parse(&stored).unwrap().header().pipeline.filters;
        filters.contains(&Filter::ByteDelta.code())
    };
    let all = Encoder::new(given(true));
    let chunks_with = (0..40).filter(|&seed| uses(&all, seed)).count();
    assert!(chunks_with > 20, "bytedelta is not best here: {chunks_with}");
    assert!(all.profile().contains("bytedelta"), "{}", all.profile());
    std::fs::write(&path, all.profile()).unwrap();
    for profile in [None, Some(path.clone())] {
        let codec = Encoder::new(Options { profile, ..given(false) });
        assert!(!(0..40).any(|seed| uses(&codec, seed)));
    }
    let warm = Encoder::new(Options { profile: Some(path.clone()), ..given(true) });
    assert!(uses(&warm, 100), "the profile is not started from");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_chunk_that_is_too_large_is_refused() {
    // Memory that is never touched.
    let bytes = vec![0u8; 1 << 31];
    for format in Format::ALL {
        let error = Encoder::new(options(format)).encode(&bytes).unwrap_err();
        assert_eq!(error, Error::TooLarge { nbytes: 1 << 31, most: format.most() });
        assert!(error.to_string().contains("choose chunks of at most"));
    }
}

#[test]
fn a_destination_that_is_too_short_is_an_error() {
    let codec = Encoder::new(options(Format::Chunk));
    let bytes = chunk(1, 10_000);
    let mut dest = vec![0; codec.bound(bytes.len())];
    let len = codec.encode_into(&bytes, &mut dest).unwrap();
    assert!(decode(&dest[..len]).unwrap() == bytes);
    let result = codec.encode_into(&bytes, &mut dest[..40]);
    assert!(matches!(result, Err(Error::Destination { available: 40, .. })), "{result:?}");
    let result = decode_into(&dest[..len], &mut [0; 9999]);
    assert_eq!(result, Err(Error::Destination { needed: 10_000, available: 9999 }));
}

#[test]
fn a_tuner_that_fails_does_not_fail_the_chunk() {
    let bytes = chunk(5, 30_000);
    for format in Format::ALL {
        let (settings, _) = Settings::new(options(format), |_| None);
        let mut worker = Worker::default();
        let len = encode(&settings, &bytes, || panic!("no tuner"), &mut worker).unwrap();
        assert!(decode(&worker.out[..len]).unwrap() == bytes);
        assert!(len < bytes.len(), "{format:?}");
    }
}

#[test]
fn a_tuner_that_another_thread_left_locked_by_a_panic_goes_on() {
    let shared = Arc::new(Mutex::new(Tuner::new(btune::Config::default())));
    let other = Arc::clone(&shared);
    let panicked = thread::spawn(move || {
        let _guard = other.lock();
        panic!("while it is locked");
    });
    assert!(panicked.join().is_err() && shared.is_poisoned());
    let (settings, _) = Settings::new(options(Format::Cframe), |_| None);
    let (bytes, mut worker) = (chunk(6, 30_000), Worker::default());
    let len = encode(&settings, &bytes, || (Arc::clone(&shared), 0), &mut worker).unwrap();
    let stored = Stored::parse(&worker.out[..len]).unwrap();
    assert!(stored.record().is_some(), "it was tuned");
}
