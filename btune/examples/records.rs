//! Lists the Blosc2 frames in files of any kind (HDF5, Zarr, `.b2frame`) with how they were compressed:
//!
//!     cargo run --example records -- [--json] FILE...

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use btune::blosc::Stored;
use serde_json::{Value, json};

/// What a frame begins with.
const MAGIC: &[u8] = b"\x9e\xa8b2frame\0";

/// A frame in a file.
struct Found<'a> {
    offset: usize,
    bytes: &'a [u8],
}

/// The frames in `file`, by their first bytes and the length that they state.
fn frames(file: &[u8]) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let mut offset = 0;
    while let Some(at) = file[offset..].windows(MAGIC.len()).position(|w| w == MAGIC) {
        offset += at;
        let rest = &file[offset..];
        let length = rest.get(16..24).and_then(|field| field.first_chunk());
        let length = length.map_or(0, |field| u64::from_be_bytes(*field) as usize);
        let bytes = rest.get(..length).unwrap_or(rest);
        found.push(Found { offset, bytes });
        offset += bytes.len().max(MAGIC.len());
    }
    found
}

/// How a chunk was compressed: its record, or what its header says.
fn describe(stored: &Stored<'_>) -> String {
    if let Some(record) = stored.record() {
        return record.to_string();
    }
    let header = stored.header();
    match header.special {
        Some(special) => format!("special: {special:?}"),
        None if header.stored => "stored".to_owned(),
        None => {
            let filters = header.pipeline.filters.iter().filter(|&&code| code != 0);
            let filters: Vec<_> = filters.map(ToString::to_string).collect();
            let (codec, block) = (header.codec.name(), header.block_size);
            format!("{codec} filters:[{}] blocks:{block} (no record)", filters.join(","))
        }
    }
}

fn as_json(path: &str, found: &Found<'_>, stored: &Stored<'_>) -> Value {
    let header = stored.header();
    json!({
        "file": path,
        "offset": found.offset,
        "nbytes": stored.nbytes(),
        "frame": found.bytes.len(),
        "cbytes": header.cbytes,
        "codec": header.codec,
        "filters": header.pipeline.filters,
        "block_size": header.block_size,
        "shape": stored.shapes().map(|(shape, _)| shape),
        "block_shape": stored.shapes().map(|(_, block)| block),
        "record": stored.record(),
    })
}

/// Frames and bytes by their description.
#[derive(Default)]
struct Totals(BTreeMap<String, (usize, usize, usize)>);

impl Totals {
    fn add(&mut self, what: String, nbytes: usize, frame: usize) {
        let total = self.0.entry(what).or_default();
        *total = (total.0 + 1, total.1 + nbytes, total.2 + frame);
    }

    fn print(&self) {
        println!("{:>8} {:>14} {:>14} {:>7}", "frames", "bytes", "compressed", "ratio");
        for (what, (frames, nbytes, length)) in &self.0 {
            let ratio = *nbytes as f64 / (*length).max(1) as f64;
            println!("{frames:>8} {nbytes:>14} {length:>14} {ratio:>7.2}  {what}");
        }
    }
}

/// Lists one file; the number of frames that cannot be read.
fn list(path: &str, to_json: bool, totals: &mut Totals) -> Result<usize, Box<dyn Error>> {
    let file = fs::read(path)?;
    let all = frames(&file);
    let mut bad = 0;
    if all.is_empty() {
        eprintln!("{path}: no Blosc2 frame");
    }
    for found in &all {
        match Stored::parse(found.bytes) {
            Ok(stored) if to_json => println!("{}", as_json(path, found, &stored)),
            Ok(stored) => {
                let (offset, nbytes, length) = (found.offset, stored.nbytes(), found.bytes.len());
                let what = describe(&stored);
                println!("{path} {offset:>10} {nbytes:>10} -> {length:>10}  {what}");
                totals.add(what, nbytes, length);
            }
            Err(error) => {
                eprintln!("{path}: at {}: {error}", found.offset);
                bad += 1;
            }
        }
    }
    Ok(bad)
}

fn main() -> ExitCode {
    let mut paths: Vec<String> = env::args().skip(1).collect();
    let given = paths.len();
    paths.retain(|path| path != "--json");
    let to_json = paths.len() < given;
    if paths.is_empty() {
        eprintln!("usage: records [--json] FILE...");
        return ExitCode::from(2);
    }
    let mut totals = Totals::default();
    let mut bad = 0;
    for path in &paths {
        match list(path, to_json, &mut totals) {
            Ok(in_file) => bad += in_file,
            Err(error) => {
                eprintln!("{path}: {error}");
                bad += 1;
            }
        }
    }
    if !to_json {
        totals.print();
    }
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
