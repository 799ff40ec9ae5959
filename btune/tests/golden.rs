//! What other writers have stored, and what this one stored when it was new.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use std::fs;

use btune::blosc::{Backend, BlockShape, Form, Intent, Stored, StoredForm, frame_bound};
use btune::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};
use support::{data, folder, golden};

#[test]
fn all_of_it_is_read() {
    let mut backend = Backend::new();
    for file in golden() {
        let stored = Stored::parse(&file.stored).unwrap_or_else(|e| panic!("{}: {e}", file.name));
        let mut dest = vec![0xee; stored.nbytes()];
        backend.decode(&stored, &mut dest).unwrap_or_else(|e| panic!("{}: {e}", file.name));
        assert!(dest == file.data, "{}", file.name);
    }
}

#[test]
fn every_kind_is_there() {
    let files = golden();
    let stored: Vec<_> = files.iter().map(|file| Stored::parse(&file.stored).unwrap()).collect();
    let any = |what: &dyn Fn(&Stored<'_>) -> bool| stored.iter().any(what);
    for form in [StoredForm::Chunk, StoredForm::Plain, StoredForm::B2nd] {
        assert!(any(&|s| s.form() == form), "{form:?}");
    }
    for codec in Codec::ALL {
        assert!(any(&|s| s.header().codec == codec && s.header().cbytes > 32), "{codec:?}");
    }
    assert!(any(&|s| s.header().dictionary));
    assert!(any(&|s| s.header().stored));
    assert!(any(&|s| s.header().version < 3));
    assert!(any(&|s| s.header().special.is_some() && s.form() == StoredForm::B2nd));
    assert!(any(&|s| s.shapes().is_some_and(|(shape, _)| shape.len() == 16)));
    assert!(any(&|s| s.record().is_some()));
    for code in [1, 2, 3, 35] {
        assert!(any(&|s| s.header().pipeline.filters.contains(&code)), "filter {code}");
    }
    for writer in ["hdf5plugin-4.1.1", "hdf5plugin-7", "blosc2-4", "blosc-1", "btune-0"] {
        assert!(files.iter().any(|file| file.name.starts_with(writer)), "{writer}");
    }
}

/// Writes the files of this version.
#[test]
#[ignore = "writes to tests/golden"]
fn write() {
    let rows = |shape: &[usize]| Form::B2nd { shape: shape.to_vec(), blocks: BlockShape::Rows };
    let cases = [
        ("flat-lz4", "squares", 4, 3000, Form::Plain, Codec::Lz4, Filter::Shuffle, 5),
        ("flat-bytedelta", "squares", 8, 3000, Form::Plain, Codec::Zstd, Filter::ByteDelta, 7),
        ("flat-small", "squares", 4, 100, Form::Plain, Codec::Zstd, Filter::Shuffle, 5),
        ("flat-stored", "noise", 4, 500, Form::Plain, Codec::Lz4, Filter::Shuffle, 1),
        ("flat-empty", "zeros", 4, 0, Form::Plain, Codec::Lz4, Filter::Shuffle, 1),
        ("grid-rows", "squares", 4, 4000, rows(&[40, 100]), Codec::Lz4, Filter::Shuffle, 1),
        ("grid-tail", "squares", 4, 4141, rows(&[41, 101]), Codec::BloscLz, Filter::BitShuffle, 1),
        ("grid-mixed", "squares", 4, 4058, rows(&[2, 2029]), Codec::Zlib, Filter::Shuffle, 9),
        ("grid-stored", "noise", 2, 600, rows(&[20, 30]), Codec::Zstd, Filter::None, 1),
        ("grid-zeros", "zeros", 2, 600, rows(&[20, 30]), Codec::Zstd, Filter::None, 1),
    ];
    let mut backend = Backend::new();
    for (what, kind, itemsize, elements, form, codec, filter, clevel) in cases {
        let block_size = BlockSize::Bytes(4000);
        let split = SplitMode::Always;
        let cparams = Cparams { codec, filter, clevel, split, block_size, threads: 1 };
        let bytes = data(kind, itemsize, elements);
        let chunk = Chunk::new(&bytes, itemsize);
        let mut dest = vec![0; frame_bound(bytes.len(), &form)];
        let intent = Intent::default();
        let encoded =
            backend.encode_frame(&chunk, &form, &cparams, Some(&intent), false, &mut dest).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let name = format!("btune-{version}-{what}.{kind}.{itemsize}.{elements}.b2frame");
        fs::write(folder().join(name), &dest[..encoded.len]).unwrap();
    }
}
