//! Stored chunks made by several writers, and what they hold.
#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::path::{Path, PathBuf};

/// A stored chunk from `tests/golden`.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) stored: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

/// All of them; the name ends in `.DATA.ITEMSIZE.ELEMENTS.EXTENSION`.
pub(crate) fn golden() -> Vec<Golden> {
    let mut all: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "b2frame" || e == "chunk"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let parts: Vec<_> = name.rsplitn(5, '.').collect();
            let [_, elements, itemsize, kind, _] = parts[..] else { panic!("{name}") };
            let data = data(kind, itemsize.parse().unwrap(), elements.parse().unwrap());
            Golden { stored: fs::read(path).unwrap(), data, name }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Elements of `itemsize` bytes, little endian, as `tests/golden/make.py` computes them.
pub(crate) fn data(kind: &str, itemsize: usize, elements: usize) -> Vec<u8> {
    let integers = |value: &dyn Fn(u64) -> u64| {
        (0..elements as u64)
            .flat_map(|i| value(i).to_le_bytes().into_iter().take(itemsize))
            .collect()
    };
    match kind {
        "squares" => integers(&|i| i * i / 5 % 65521),
        "sevens" => integers(&|_| 7),
        "zeros" => vec![0; itemsize * elements],
        "nans" if itemsize == 4 => f32::NAN.to_le_bytes().repeat(elements),
        "nans" => f64::NAN.to_le_bytes().repeat(elements),
        "noise" => {
            let mut state = 1u64;
            let mut next = || {
                state = (state * 1_103_515_245 + 12345) % (1 << 31);
                (state >> 16 & 255) as u8
            };
            (0..itemsize * elements).map(|_| next()).collect()
        }
        _ => panic!("{kind}"),
    }
}
