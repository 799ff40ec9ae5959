//! Arrays in files of several formats, all read in the same way: whole, or of large ones evenly spread parts.

mod blosc2;
mod hdf5;
mod npy;
mod parts;
mod zarr;

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use btune::train::{Dtype, Source};

/// Bytes of an array that are read at most.
const LIMIT: u64 = 256 << 20;

/// What is read, for messages.
const FORMATS: &str = ".npy, .npz, HDF5 (and NetCDF-4), Zarr and Blosc2 (.b2nd, .b2frame)";

/// What came of an array.
enum Found {
    /// Little-endian elements.
    Array(Dtype, Vec<u8>),
    /// It is not an array of numbers, and this is why: of interest only where someone named it.
    NoNumbers(String),
    /// It cannot be read here, and this is why. Where no one named it, it is passed over with a warning.
    Unavailable(String),
}

/// The arrays of one file.
struct Sink {
    /// The file, for messages.
    file: String,
    /// Bytes of an array that are read at most.
    limit: u64,
    /// The path of each in the file, empty where the file is one array.
    arrays: Vec<(String, Dtype, Vec<u8>)>,
}

impl Sink {
    fn new(file: &Path, limit: u64) -> Self {
        Self { file: file.display().to_string(), limit, arrays: Vec::new() }
    }

    /// Takes an array that was named by someone, or merely found.
    fn add(&mut self, path: &str, named: bool, found: Found) -> Result<()> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}: ") };
        match found {
            Found::Array(dtype, bytes) => self.arrays.push((path.to_owned(), dtype, bytes)),
            Found::NoNumbers(why) | Found::Unavailable(why) if named => bail!("{prefix}{why}"),
            Found::NoNumbers(_) => {}
            Found::Unavailable(why) => {
                eprintln!("btune: {}: {prefix}{}; passed over", self.file, one_line(&why));
            }
        }
        Ok(())
    }
}

/// What a file or folder is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Format {
    Npy,
    Npz,
    Hdf5,
    Zarr,
    Blosc2,
    /// Classic `NetCDF`, which is not read.
    Netcdf3,
}

/// A file, or a folder that is one array or group, and what of it is read.
struct Item {
    path: PathBuf,
    /// A dataset, group or member in it.
    inner: Option<String>,
    /// Whether it was given, and not found in a folder.
    given: bool,
    /// Names begin with this: the folder it is in, seen from the one that was given.
    prefix: String,
}

/// The arrays in these files, and in all files of these folders; no two have the same name. `FILE::PATH` is one dataset
/// or group of a file that has several.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources: Vec<Source> = Vec::new();
    for path in paths {
        for item in items(path)? {
            for source in read(&item, LIMIT).with_context(|| item.path.display().to_string())? {
                if sources.iter().any(|other| other.name == source.name) {
                    let file = item.path.display();
                    bail!("{file}: there is another array of the name {:?}", source.name);
                }
                sources.push(source);
            }
        }
    }
    if sources.is_empty() {
        bail!("no arrays: files {FORMATS}, or folders of them, are read");
    }
    Ok(sources)
}

/// What an argument stands for: itself, or all that is found in a folder.
fn items(argument: &Path) -> Result<Vec<Item>> {
    let (path, inner) = split(argument);
    if path.is_dir() && format(&path)?.is_none() {
        if inner.is_some() {
            bail!("{}: PATH in FILE::PATH needs a file, or a Zarr group", path.display());
        }
        let mut files = Vec::new();
        walk(&path, "", &mut files).with_context(|| path.display().to_string())?;
        return Ok(files);
    }
    Ok(vec![Item { path, inner, given: true, prefix: String::new() }])
}

/// `FILE::PATH`, if there is no file of that name.
fn split(argument: &Path) -> (PathBuf, Option<String>) {
    let whole = || (argument.to_owned(), None);
    match argument.to_str().and_then(|text| text.split_once("::")) {
        Some((file, inner)) if !argument.exists() => {
            (file.into(), Some(inner.trim_matches('/').to_owned()))
        }
        _ => whole(),
    }
}

/// All files in a folder and the folders in it, in the order of their names.
fn walk(folder: &Path, prefix: &str, found: &mut Vec<Item>) -> Result<()> {
    let entries: Result<Vec<_>, _> = fs::read_dir(folder)?.collect();
    let mut entries = entries?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        // What has no end is no file: pipes, and links to a folder above.
        let folder = entry.file_type()?.is_dir();
        if name.starts_with('.') || !(folder || path.is_file()) {
            continue;
        }
        let format = format(&path).with_context(|| path.display().to_string())?;
        match format {
            None if folder => walk(&path, &format!("{prefix}{name}/"), found)?,
            None => {}
            // Many things are zip files.
            Some(Format::Npz) if path.extension().is_none_or(|extension| extension != "npz") => {}
            Some(_) => {
                let prefix = prefix.to_owned();
                found.push(Item { path, inner: None, given: false, prefix });
            }
        }
    }
    Ok(())
}

/// What there is at a path, by its first bytes; none where these say nothing, and neither does the name.
fn format(path: &Path) -> Result<Option<Format>> {
    if path.is_dir() {
        let has = |name: &str| path.join(name).is_file();
        return Ok(if zarr::MARKS.iter().any(|name| has(name)) {
            Some(Format::Zarr)
        } else {
            has("chunks.b2frame").then_some(Format::Blosc2)
        });
    }
    let mut file = File::open(path)?;
    let mut first = Vec::new();
    (&mut file).take(16).read_to_end(&mut first)?;
    let begins = |mark: &[u8]| first.starts_with(mark);
    if begins(b"\x93NUMPY") {
        Ok(Some(Format::Npy))
    } else if begins(b"PK\x03\x04") || begins(b"PK\x05\x06") {
        Ok(Some(Format::Npz))
    } else if begins(b"\x9e\xa8b2frame\0") {
        Ok(Some(Format::Blosc2))
    } else if [1, 2, 5].iter().any(|&version| begins(&[b'C', b'D', b'F', version])) {
        Ok(Some(Format::Netcdf3))
    } else if is_hdf5(&mut file)? {
        Ok(Some(Format::Hdf5))
    } else {
        Ok(by_name(path))
    }
}

/// The signature is at the beginning, or after a block of 512 bytes (or 1024, 2048 …) that is the user's.
fn is_hdf5(file: &mut File) -> Result<bool> {
    let len = file.metadata()?.len();
    let mut at = 0;
    while at + 8 <= len {
        let mut bytes = [0; 8];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        if bytes == *b"\x89HDF\r\n\x1a\n" {
            return Ok(true);
        }
        at = if at == 0 { 512 } else { at * 2 };
    }
    Ok(false)
}

/// What the name promises: the reader then says what is wrong.
fn by_name(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "npy" => Some(Format::Npy),
        "npz" => Some(Format::Npz),
        "h5" | "hdf5" | "nc" | "nc4" | "he5" => Some(Format::Hdf5),
        "b2nd" | "b2frame" | "b2f" | "bl2" => Some(Format::Blosc2),
        _ => None,
    }
}

/// The arrays of one file or folder.
fn read(item: &Item, limit: u64) -> Result<Vec<Source>> {
    let Item { path, inner, given, .. } = item;
    let mut sink = Sink::new(path, limit);
    let inner = inner.as_deref();
    let format =
        format(path)?.with_context(|| format!("not a file of a known format: {FORMATS}"))?;
    match format {
        Format::Npy | Format::Blosc2 if inner.is_some() => bail!("it is one array: name the file"),
        Format::Npy => npy::read(path, *given, &mut sink)?,
        Format::Npz => npy::read_archive(path, inner, &mut sink)?,
        Format::Hdf5 => hdf5::read(path, inner, &mut sink)?,
        Format::Zarr => zarr::read(path, inner, *given, &mut sink)?,
        Format::Blosc2 => blosc2::read(path, *given, &mut sink)?,
        Format::Netcdf3 => {
            let why =
                "a file of NetCDF before version 4, which is not read: `nccopy -k nc4` converts it";
            sink.add("", *given, Found::Unavailable(why.to_owned()))?;
        }
    }
    if sink.arrays.is_empty() && *given {
        bail!("there are no arrays of numbers in it");
    }
    Ok(named(item, sink.arrays))
}

/// One array has the name of its file, several have their paths, too; so has one that was named.
fn named(item: &Item, arrays: Vec<(String, Dtype, Vec<u8>)>) -> Vec<Source> {
    let stem = item.path.file_stem().unwrap_or_default().to_string_lossy();
    let file = format!("{}{stem}", item.prefix);
    let single = arrays.len() == 1 && item.inner.is_none();
    let name = |path: String| {
        if single || path.is_empty() { file.clone() } else { format!("{file}/{path}") }
    };
    arrays
        .into_iter()
        .map(|(path, dtype, bytes)| Source { name: name(path), dtype, bytes })
        .collect()
}

/// What a library says, on one line.
fn one_line(error: &impl ToString) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error of a library, on one line.
#[allow(clippy::needless_pass_by_value, reason = "as map_err passes it")]
fn said(error: impl ToString) -> anyhow::Error {
    anyhow!(one_line(&error))
}

/// For errors that are no errors: the end of the data, before all that the header promises was there.
fn cut_short(error: std::io::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::UnexpectedEof { anyhow!("cut short") } else { error.into() }
}

/// Turns elements of so many bytes the other way round.
fn swap(bytes: &mut [u8], size: usize) {
    if size > 1 {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
}

/// What is said, on one line, of a part of a file that is not read.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "it is for tests")]
fn refusal(file: &Path, inner: &str) -> String {
    let argument = format!("{}::{inner}", file.display());
    let error = read_all(&[argument.into()]).map(|_| ()).unwrap_err();
    let error = format!("{error:#}");
    assert!(!error.contains('\n'), "{error}");
    error
}
