//! tmp
use btune::{Chunk, Features, Prior, Spread, blosc::Backend, train::*};
use std::io::Write;
fn npy(path: &std::path::Path) -> Source {
    let raw = std::fs::read(path).unwrap();
    let header = usize::from(raw[8]) + 256 * usize::from(raw[9]);
    let text = String::from_utf8_lossy(&raw[10..10 + header]).into_owned();
    let at = text.find("'descr': '").unwrap() + 10;
    let descr = &text[at..at + text[at..].find('\'').unwrap()];
    Source { name: path.file_stem().unwrap().to_string_lossy().into_owned(), dtype: Dtype::parse(descr).unwrap(), bytes: raw[10 + header..].to_vec() }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut files: Vec<_> = std::fs::read_dir(&args[2]).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "npy")).collect();
    files.sort();
    let sources: Vec<Source> = files.iter().map(|p| npy(p)).collect();
    let pieces = Piece::all(&sources, &Sampling::default());
    eprintln!("{} pieces", pieces.len());
    let classes: Vec<_> = Spread.predict(&Chunk::new(&[], 4)).iter().map(|p| p.cparams).collect();
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    let part: usize = args[3].parse().unwrap();
    let parts: usize = args[4].parse().unwrap();
    if args[1] == "classes" {
        for c in &classes { writeln!(out, "{c}").unwrap(); }
        return;
    }
    let mut backend = Backend::new();
    let start = std::time::Instant::now();
    for (i, piece) in pieces.iter().enumerate().filter(|(i, _)| i % parts == part) {
        let (bytes, typesize) = piece.bytes(&sources);
        let group = piece.source().map_or("synthetic".to_owned(), |s| sources[s].name.clone());
        if args[1] == "features" {
            let f = Features::of(&Chunk::new(&bytes, typesize));
            writeln!(out, "{}", serde_json::json!({"key": piece.key, "group": group, "original": piece.is_original(), "features": f.values().to_vec()})).unwrap();
        } else {
            let Some(costs) = sweep(&bytes, typesize, &classes, &mut backend) else { continue };
            writeln!(out, "{}", serde_json::json!({"key": piece.key, "group": group, "original": piece.is_original(), "typesize": typesize, "nbytes": bytes.len(), "costs": costs})).unwrap();
            out.flush().unwrap();
            if i % 50 == 0 { eprintln!("{i} {:.0}s", start.elapsed().as_secs_f64()); }
        }
    }
}
