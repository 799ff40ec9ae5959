//! Files of `NumPy`: .npy, and .npz, which is a zip file of them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, bail};
use btune::train::Dtype;
use npyz::{DType, Endianness, NpyHeader, TypeChar};
use zip::ZipArchive;
use zip::result::ZipError;

use super::parts::spread;
use super::{Found, Sink, cut_short, one_line, said, swap};

/// Bytes of a run of elements, from which on rows are read in part.
const LONG_ROW: u64 = 1 << 20;

pub(super) fn read(path: &Path, given: bool, sink: &mut Sink) -> Result<()> {
    let file = File::open(path)?;
    let skip = |reader: &mut BufReader<File>, n: u64| {
        i64::try_from(n).map_err(io::Error::other).and_then(|n| reader.seek_relative(n))
    };
    let found = array(BufReader::new(file), skip, sink.limit)?;
    sink.add("", given, found)
}

/// The arrays in a zip file, or one of them.
pub(super) fn read_archive(path: &Path, inner: Option<&str>, sink: &mut Sink) -> Result<()> {
    let file = BufReader::new(File::open(path)?);
    let mut archive = ZipArchive::new(file).map_err(said).context("not a .npz file")?;
    let names: Result<Vec<_>, _> = archive.file_names().collect();
    let names = names.map_err(said)?;
    let mut names: Vec<String> = names.into_iter().map(Cow::into_owned).collect();
    names.sort();
    let short = |name: &str| name.strip_suffix(".npy").unwrap_or(name).to_owned();
    names.retain(|name| match inner {
        Some(inner) => short(name) == short(inner),
        None => short(name) != *name,
    });
    if let (Some(inner), true) = (inner, names.is_empty()) {
        bail!("there is no array {inner:?} in it");
    }
    for name in names {
        let member = match archive.by_name(&name) {
            Err(
                error @ (ZipError::UnsupportedArchive(_)
                | ZipError::CompressionMethodNotSupported(_)),
            ) => Err(one_line(&error)),
            other => Ok(other.map_err(said).with_context(|| name.clone())?),
        };
        let found = match member {
            Ok(member) => array(member, pass, sink.limit).with_context(|| name.clone())?,
            Err(why) => Found::Unavailable(why),
        };
        sink.add(&short(&name), inner.is_some(), found)?;
    }
    Ok(())
}

/// Goes on by so many bytes where there is no seeking.
fn pass(reader: &mut impl Read, n: u64) -> io::Result<()> {
    if io::copy(&mut reader.take(n), &mut io::sink())? == n {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Reads an array; `skip` goes on by so many bytes.
fn array<R: Read>(
    mut reader: R,
    skip: impl Fn(&mut R, u64) -> io::Result<()>,
    limit: u64,
) -> Result<Found> {
    let header = NpyHeader::from_reader(&mut reader).context("not a .npy file")?;
    let (dtype, swapped) = match dtype(&header.dtype()) {
        Ok(dtype) => dtype,
        Err(why) => return Ok(Found::NoNumbers(why)),
    };
    let shape = header.shape();
    let total = shape.iter().try_fold(dtype.size as u64, |n, &m| n.checked_mul(m));
    let total = total.context("an impossible shape")?;
    if total == 0 {
        return Ok(Found::NoNumbers("the array has no elements".into()));
    }
    if shape.is_empty() {
        return Ok(Found::NoNumbers("a single number is no array".into()));
    }
    let mut bytes = Vec::new();
    let mut at = 0;
    for run in runs(shape, dtype.size as u64, total, limit) {
        skip(&mut reader, run.start - at).map_err(cut_short)?;
        at = run.start + (&mut reader).take(run.end - run.start).read_to_end(&mut bytes)? as u64;
        if at < run.end {
            bail!("cut short: {at} of {total} bytes are there");
        }
    }
    if let Some(size) = swapped {
        swap(&mut bytes, size);
    }
    Ok(Found::Array(dtype, bytes))
}

/// The bytes that are read: whole rows along the first dimension, if they are not too long.
fn runs(shape: &[u64], item: u64, total: u64, limit: u64) -> Vec<Range<u64>> {
    let row = total / shape[0];
    let unit = if row <= LONG_ROW.min(limit) { row } else { item };
    let runs = spread(total / unit, limit / unit);
    runs.into_iter().map(|run| run.start * unit..run.end * unit).collect()
}

/// The type, and the size of what has to be turned the other way round; or why it is none.
fn dtype(dtype: &DType) -> Result<(Dtype, Option<usize>), String> {
    let DType::Plain(text) = dtype else {
        return Err(format!("elements of type {} are no numbers", dtype.descr()));
    };
    let kind = match text.type_char() {
        TypeChar::Bool => 'b',
        TypeChar::Int => 'i',
        TypeChar::Uint => 'u',
        TypeChar::Float => 'f',
        TypeChar::Complex => 'c',
        TypeChar::TimeDelta => 'm',
        TypeChar::DateTime => 'M',
        _ => return Err(format!("elements of type {} are no numbers", dtype.descr())),
    };
    // Without the unit of a time.
    let ours = Dtype::parse(&format!("{kind}{}", text.size_field()))
        .ok_or_else(|| format!("elements of type {} have an unknown size", dtype.descr()))?;
    let part = if kind == 'c' { ours.size / 2 } else { ours.size };
    Ok((ours, (text.endianness() == Endianness::Big).then_some(part)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;
    use crate::arrays::{LIMIT, read_all};

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = format!("{header:117}\n");
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn file(folder: &Path, name: &str, header: &str, data: &[u8]) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, npy(header, data)).unwrap();
        path
    }

    fn header(descr: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
    }

    fn parts(path: &Path, limit: u64) -> Vec<(String, Dtype, Vec<u8>)> {
        let mut sink = Sink::new(path, limit);
        read(path, true, &mut sink).unwrap();
        sink.arrays
    }

    #[test]
    fn arrays_are_read_in_the_order_of_bytes_of_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "big.npy", &header("'>i2'", "(2, 1)"), &[0, 1, 0, 2]);
        file(folder.path(), "small.npy", &header("'<i2'", "(2, 1)"), &[1, 0, 2, 0]);
        file(folder.path(), "time.npy", &header("'>M8[ns]'", "(1,)"), &[0, 1, 2, 3, 4, 5, 6, 7]);
        file(folder.path(), "turn.npy", &header("'>c8'", "(1,)"), &[0, 1, 2, 3, 4, 5, 6, 7]);
        let sources = read_all(&[folder.path().to_path_buf()]).unwrap();
        let read: Vec<_> = sources.iter().map(|s| (s.name.as_str(), s.bytes.clone())).collect();
        let time = vec![7, 6, 5, 4, 3, 2, 1, 0];
        let turn = vec![3, 2, 1, 0, 7, 6, 5, 4];
        let expected = [
            ("big", vec![1, 0, 2, 0]),
            ("small", vec![1, 0, 2, 0]),
            ("time", time),
            ("turn", turn),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_no_array_of_numbers_is_refused_in_one_line_where_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let whole = file(folder.path(), "a.npy", &header("'|u1'", "(4,)"), &[1; 4]);
        let strings = file(folder.path(), "c.npy", &header("'<U3'", "(4,)"), &[0; 48]);
        for (path, message) in [
            (file(folder.path(), "b.npy", &header("'|u1'", "(4,)"), &[1; 3]), "cut short: 3 of 4"),
            (strings.clone(), "no numbers"),
            (folder.path().join("missing.npy"), "No such file"),
        ] {
            let error = format!("{:#}", read_all(&[path]).unwrap_err());
            assert!(error.contains(message) && !error.contains('\n'), "{error}");
        }
        fs::remove_file(folder.path().join("b.npy")).unwrap();
        assert_eq!(read_all(&[folder.path().to_path_buf()]).unwrap()[0].name, "a");
        let text = folder.path().join("text.npy");
        fs::write(&text, "hello").unwrap();
        assert!(format!("{:#}", read_all(&[text]).unwrap_err()).contains("not a .npy file"));
        let twice = read_all(&[whole.clone(), whole]).unwrap_err();
        assert!(twice.to_string().contains("another array"));
        let empty = tempfile::tempdir().unwrap();
        let error = read_all(&[empty.path().to_path_buf()]).unwrap_err();
        assert!(error.to_string().contains("no arrays"));
    }

    #[test]
    fn of_a_large_array_rows_are_read_here_and_there() {
        let folder = tempfile::tempdir().unwrap();
        let data: Vec<u8> = (0..200u8).flat_map(|row| [row; 5]).collect();
        let path = file(folder.path(), "a.npy", &header("'|u1'", "(200, 5)"), &data);
        assert_eq!(parts(&path, LIMIT)[0].2, data);
        let read = &parts(&path, 99)[0].2;
        assert_eq!(read.len(), 95);
        let rows: Vec<u8> = read.chunks(5).map(|row| row[0]).collect();
        assert!(read.chunks(5).all(|row| row == [row[0]; 5]) && rows.is_sorted());
        assert_eq!((rows[0], rows[18]), (0, 199));
    }

    #[test]
    fn all_members_of_an_archive_are_read_or_the_one_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.npz");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        let deflated = options.compression_method(zip::CompressionMethod::Deflated);
        let stored = options.compression_method(zip::CompressionMethod::Stored);
        for (name, descr, options) in
            [("b.npy", "'>u2'", deflated), ("a.npy", "'<u2'", stored), ("s.npy", "'|S2'", stored)]
        {
            archive.start_file(name, options).unwrap();
            archive.write_all(&npy(&header(descr, "(300,)"), &[1, 2].repeat(300))).unwrap();
        }
        archive.finish().unwrap();
        let names = |path: &Path| -> Vec<_> {
            read_all(&[path.into()]).unwrap().into_iter().map(|s| (s.name, s.bytes[0])).collect()
        };
        assert_eq!(names(&path), [("two/a".to_owned(), 1), ("two/b".to_owned(), 2)]);
        let one = |member: &str| PathBuf::from(format!("{}::{member}", path.display()));
        assert_eq!(names(&one("b")), [("two/b".to_owned(), 2)]);
        let error = format!("{:#}", read_all(&[one("s")]).unwrap_err());
        assert!(error.contains("s: elements of type '|S2' are no numbers"), "{error}");
        let error = format!("{:#}", read_all(&[one("x")]).unwrap_err());
        assert!(error.contains("no array \"x\""), "{error}");
        let mut sink = Sink::new(&path, 100);
        read_archive(&path, None, &mut sink).unwrap();
        assert_eq!(sink.arrays[1].2, [2, 1].repeat(50));
    }
}
