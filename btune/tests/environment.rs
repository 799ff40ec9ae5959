//! The variables of Btune and C-Blosc2, which the C library looks at: what is stored can be read, its record
//! is true, and nothing is printed or started.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::process::Command;

use btune::blosc::{Backend, BlockShape, Form, Intent, Stored, frame_bound};
use btune::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};

fn frames() -> Vec<(Cparams, Form, usize, Vec<u8>)> {
    let cparams = |codec, filter, split, block_size| Cparams {
        codec,
        filter,
        clevel: 5,
        split,
        block_size,
        threads: 1,
    };
    let rows = |shape: &[usize]| Form::B2nd { shape: shape.to_vec(), blocks: BlockShape::Rows };
    let data: Vec<u8> = (0..120_000u32).map(|i| (i / 7 % 251) as u8).collect();
    let mut all = Vec::new();
    for (filter, split) in [
        (Filter::Shuffle, SplitMode::Always),
        (Filter::ByteDelta, SplitMode::Never),
        (Filter::Delta, SplitMode::Auto),
    ] {
        for block_size in [BlockSize::Auto, BlockSize::Bytes(4000)] {
            let cparams = cparams(Codec::Zstd, filter, split, block_size);
            all.push((cparams, Form::Plain, 8, data.clone()));
            all.push((cparams, rows(&[150, 100]), 8, data.clone()));
            all.push((cparams, rows(&[1009, 29]), 4, data[..1009 * 29 * 4].to_vec()));
            all.push((cparams, Form::Plain, 8, data[..100_003].to_vec()));
            all.push((cparams, Form::Plain, 8, data[..7].to_vec()));
        }
    }
    all
}

#[test]
#[ignore = "run by the tests below"]
fn child() {
    let mut backend = Backend::new();
    for _ in 0..2 {
        for (cparams, form, typesize, data) in frames() {
            let chunk = Chunk::new(&data, typesize);
            let mut dest = vec![0; frame_bound(data.len(), &form)];
            let intent = Intent::default();
            let encoded = backend
                .encode_frame(&chunk, &form, &cparams, Some(&intent), true, &mut dest)
                .unwrap();
            let stored = Stored::parse(&dest[..encoded.len]).unwrap();
            let mut back = vec![0; data.len()];
            backend.decode(&stored, &mut back).unwrap();
            assert!(back == data, "{form:?} {cparams:?}");
            let (header, record) = (stored.header(), encoded.record);
            if header.has_blocks() {
                assert_eq!(record.codec, header.codec.code());
                assert_eq!(record.filters, header.pipeline.filters);
            }
            assert_eq!(record.block_size as usize, header.block_size);
            let mut raw = Vec::new();
            backend.compress(&chunk, &cparams, false, &mut raw).unwrap();
            backend.decompress(&raw, &mut back).unwrap();
            assert!(back == data);
        }
    }
}

fn run(variables: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "child"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{variables:?}\n{out}{err}");
    assert!(err.is_empty(), "{variables:?}\n{err}");
}

#[test]
fn btune_variables() {
    run(&[("BTUNE_TRADEOFF", "0.5"), ("BTUNE_PERF_MODE", "COMP"), ("BTUNE_USE_INFERENCE", "3")]);
}

#[test]
fn every_variable_of_c_blosc2() {
    for (name, values) in [
        ("BLOSC_CLEVEL", &["0", "1", "9", "20", "-1", "x"][..]),
        ("BLOSC_SHUFFLE", &["NOSHUFFLE", "SHUFFLE", "BITSHUFFLE", "x"]),
        ("BLOSC_DELTA", &["1", "0"]),
        ("BLOSC_TYPESIZE", &["1", "3", "100", "300", "100000", "0"]),
        ("BLOSC_COMPRESSOR", &["blosclz", "lz4hc", "zlib", "none"]),
        ("BLOSC_NTHREADS", &["1", "3", "0"]),
        ("BLOSC_BLOCKSIZE", &["1", "3", "40", "4096", "65536", "100000000", "0"]),
        ("BLOSC_SPLITMODE", &["ALWAYS", "NEVER", "AUTO", "FORWARD_COMPAT", "x"]),
        ("BLOSC_NOLOCK", &["1"]),
        ("BLOSC_BLOSC1_COMPAT", &["1"]),
    ] {
        for value in values {
            run(&[(name, value), ("BTUNE_TRADEOFF", "0.5")]);
        }
    }
}

#[test]
fn variables_together() {
    run(&[
        ("BLOSC_CLEVEL", "7"),
        ("BLOSC_SHUFFLE", "BITSHUFFLE"),
        ("BLOSC_DELTA", "1"),
        ("BLOSC_BLOCKSIZE", "5000"),
        ("BLOSC_NTHREADS", "2"),
        ("BLOSC_SPLITMODE", "NEVER"),
        ("BLOSC_COMPRESSOR", "lz4"),
    ]);
}
