//! Arrays in files.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use btune::train::{Dtype, Source};
use npyz::{DType, Endianness, NpyHeader, TypeChar};

/// The arrays in these files, and in all files of these folders; no two have the same name.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        let files = if path.is_dir() { files_in(path)? } else { vec![path.clone()] };
        for file in files {
            let source = read(&file).with_context(|| file.display().to_string())?;
            if sources.iter().any(|other| other.name == source.name) {
                bail!("{}: there is another array of the name {:?}", file.display(), source.name);
            }
            sources.push(source);
        }
    }
    if sources.is_empty() {
        bail!("no arrays: files .npy, or folders of them, are read");
    }
    Ok(sources)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = || folder.display().to_string();
    let entries = fs::read_dir(folder).with_context(name)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|e| e.path())).collect();
    let mut paths = paths.with_context(name)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "npy"));
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Source> {
    let mut reader = BufReader::new(File::open(path)?);
    let header = NpyHeader::from_reader(&mut reader).context("not a .npy file")?;
    let (dtype, big_endian) = dtype(&header.dtype())?;
    let shape: Option<u64> = header.shape().iter().try_fold(1u64, |n, &m| n.checked_mul(m));
    let nbytes =
        shape.and_then(|n| n.checked_mul(dtype.size as u64)).context("an impossible shape")?;
    let mut bytes = Vec::new();
    reader.take(nbytes).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != nbytes {
        bail!("cut short: {} of {nbytes} bytes are there", bytes.len());
    }
    if bytes.is_empty() {
        bail!("the array has no elements");
    }
    if big_endian {
        bytes.chunks_exact_mut(dtype.size).for_each(<[u8]>::reverse);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Source { name, dtype, bytes })
}

/// The type, and whether its bytes are the other way round.
fn dtype(dtype: &DType) -> Result<(Dtype, bool)> {
    let numeric = match dtype {
        DType::Plain(text) => match text.type_char() {
            TypeChar::Bool
            | TypeChar::Int
            | TypeChar::Uint
            | TypeChar::Float
            | TypeChar::Complex
            | TypeChar::TimeDelta
            | TypeChar::DateTime => Some(text),
            _ => None,
        },
        _ => None,
    };
    let text =
        numeric.with_context(|| format!("elements of type {} are no numbers", dtype.descr()))?;
    let ours = Dtype::parse(&text.to_string()).context("elements of an unknown size")?;
    let parts = if text.type_char() == TypeChar::Complex { 2 } else { 1 };
    Ok((ours, text.endianness() == Endianness::Big && ours.size > 1 && parts == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, name: &str, header: &str, data: &[u8]) -> PathBuf {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = format!("{header:117}\n");
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn arrays_are_read_in_the_order_of_bytes_of_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let header = "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 1), }";
        file(folder.path(), "big.npy", header, &[0, 1, 0, 2]);
        file(folder.path(), "small.npy", &header.replace('>', "<"), &[1, 0, 2, 0]);
        let sources = read_all(&[folder.path().to_path_buf()]).unwrap();
        let read: Vec<_> = sources.iter().map(|s| (s.name.as_str(), s.bytes.clone())).collect();
        assert_eq!(read, [("big", vec![1, 0, 2, 0]), ("small", vec![1, 0, 2, 0])]);
    }

    #[test]
    fn what_is_no_array_of_numbers_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let header =
            |descr: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (4,), }}");
        let whole = file(folder.path(), "a.npy", &header("'|u1'"), &[1; 4]);
        for (path, message) in [
            (file(folder.path(), "b.npy", &header("'|u1'"), &[1; 3]), "cut short: 3 of 4"),
            (file(folder.path(), "c.npy", &header("'<U3'"), &[0; 48]), "no numbers"),
            (folder.path().join("missing.npy"), "No such file"),
        ] {
            let error = format!("{:#}", read_all(&[path]).unwrap_err());
            assert!(error.contains(message) && !error.contains('\n'), "{error}");
        }
        let text = folder.path().join("text.npy");
        fs::write(&text, "hello").unwrap();
        assert!(format!("{:#}", read_all(&[text]).unwrap_err()).contains("not a .npy file"));
        assert!(
            format!("{:#}", read_all(&[whole.clone(), whole]).unwrap_err())
                .contains("another array")
        );
        let empty = tempfile::tempdir().unwrap();
        assert!(
            read_all(&[empty.path().to_path_buf()]).unwrap_err().to_string().contains("no arrays")
        );
    }
}
