//! Files of Blosc2: super-chunks and arrays.

use std::path::Path;

use anyhow::Result;
use btune::blosc::FrameFile;
use btune::train::{Dtype, Kind};
use btune::{BackendError, FileError, FrameError};

use super::parts::spread;
use super::{Found, Sink, swap};

pub(super) fn read(path: &Path, given: bool, sink: &mut Sink) -> Result<()> {
    let found = match array(path, sink.limit) {
        Err(FileError::Backend(BackendError::Frame(error @ FrameError::Unsupported { .. }))) => {
            Found::Unavailable(error.to_string())
        }
        other => other?,
    };
    sink.add("", given, found)
}

/// Reads chunk by chunk.
fn array(path: &Path, limit: u64) -> Result<Found, FileError> {
    let mut file = FrameFile::open(path)?;
    let Some((dtype, swapped)) = dtype(&file) else {
        let name = file.dtype().unwrap_or_default();
        return Ok(Found::NoNumbers(format!("elements of type {name} are no numbers")));
    };
    if file.chunks() == 0 {
        return Ok(Found::NoNumbers("the array has no elements".into()));
    }
    let take = (limit / file.chunk_bytes().max(1) as u64).max(1);
    let mut bytes = Vec::new();
    for index in spread(file.chunks() as u64, take).into_iter().flatten() {
        file.read_chunk(index as usize, &mut bytes)?;
    }
    let whole = bytes.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
    bytes.truncate(whole - whole % dtype.size);
    if swapped {
        swap(&mut bytes, dtype.size);
    }
    Ok(Found::Array(dtype, bytes))
}

/// The type, and whether its elements have to be turned the other way round. What has no type is taken for unsigned
/// integers.
fn dtype(file: &FrameFile) -> Option<(Dtype, bool)> {
    let plain = match file.typesize() {
        size @ (1 | 2 | 4 | 8) => Dtype::new(Kind::Uint, size),
        size => Dtype::new(Kind::Opaque, size),
    };
    let Some(name) = file.dtype() else { return Some((plain, false)) };
    let short = name.trim_start_matches(['<', '>', '|', '=']);
    // Without the unit of a time.
    let dtype = Dtype::parse(short.split('[').next()?).filter(|dtype| dtype.size == plain.size)?;
    match short.as_bytes().first()? {
        b'b' | b'i' | b'u' | b'f' | b'm' | b'M' => Some((dtype, name.starts_with('>'))),
        b'c' => Some((dtype, false)),
        // As which our own codec stores elements, of which it knows only the size.
        b'V' => Some((plain, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use btune::blosc::{Backend, BlockShape, Form, frame_bound};
    use btune::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};

    use super::*;
    use crate::arrays::LIMIT;

    const CPARAMS: Cparams = Cparams {
        codec: Codec::Zstd,
        filter: Filter::Shuffle,
        clevel: 1,
        split: SplitMode::Always,
        block_size: BlockSize::Auto,
        threads: 1,
    };

    #[test]
    fn a_frame_is_read_as_unsigned_integers() {
        let folder = tempfile::tempdir().unwrap();
        let data: Vec<u8> = (0..5000u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
        for (name, form) in [
            ("a.b2frame", Form::Plain),
            ("a.b2nd", Form::B2nd { shape: vec![50, 100], blocks: BlockShape::Stock }),
        ] {
            let mut frame = vec![0; frame_bound(data.len(), &form)];
            let chunk = Chunk::new(&data, 4);
            let written = Backend::new()
                .encode_frame(&chunk, &form, &CPARAMS, None, false, &mut frame)
                .unwrap();
            let path = folder.path().join(name);
            fs::write(&path, &frame[..written.len]).unwrap();
            let mut sink = Sink::new(&path, LIMIT);
            read(&path, true, &mut sink).unwrap();
            assert_eq!(sink.arrays, [(String::new(), Dtype::new(Kind::Uint, 4), data.clone())]);
            let mut sink = Sink::new(&path, 999);
            read(&path, true, &mut sink).unwrap();
            assert_eq!(sink.arrays[0].2, data[..996]);
            fs::write(&path, &frame[..written.len / 2]).unwrap();
            let error = read(&path, true, &mut sink).unwrap_err();
            assert_eq!(error.to_string(), "the file is cut short");
        }
    }
}
