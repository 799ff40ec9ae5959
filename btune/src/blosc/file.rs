//! Files of Blosc2: frames of any number of chunks, read one chunk at a time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{BackendError, FileError, FrameError};

use super::b2nd::{self, Layer};
use super::backend::Backend;
use super::copy::Grid;
use super::encode::grown;
use super::frame::{Fields, Metalayers, Stored, index};
use super::write::FIXED_HEADER;
use super::{CHUNK_HEADER, MAX_CHUNK_BYTES};

/// The file of a folder of chunks that is no chunk.
const INDEX: &str = "chunks.b2frame";
/// The most chunks of a file: 128 MiB of places.
const MAX_CHUNKS: usize = 16 << 20;

/// A file of Blosc2 (`.b2nd`, `.b2frame`), or a folder with a file for each chunk. Nothing that it says is
/// trusted.
///
/// ```no_run
/// let mut file = btune::blosc::FrameFile::open("array.b2nd".as_ref())?;
/// let mut bytes = Vec::new();
/// for index in 0..file.chunks() {
///     file.read_chunk(index, &mut bytes)?;
/// }
/// # Ok::<(), btune::FileError>(())
/// ```
#[derive(Debug)]
pub struct FrameFile {
    file: File,
    /// Where chunks are in files of their own.
    folder: Option<PathBuf>,
    /// Bytes of the file.
    len: u64,
    fields: Fields,
    array: Option<Array>,
    /// Where each chunk is, or below 0 a special value.
    places: Vec<i64>,
    backend: Backend,
}

/// What an array of several dimensions is like.
#[derive(Debug)]
struct Array {
    shape: Vec<usize>,
    grid: Grid,
    dtype: Option<String>,
}

impl FrameFile {
    /// Opens a file or a folder and reads where its chunks are.
    ///
    /// # Errors
    /// [`FileError`] where it is no frame, or one of a kind that is not read.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let folder = path.is_dir().then(|| path.to_owned());
        let mut file = File::open(folder.as_ref().map_or(path.to_owned(), |f| f.join(INDEX)))?;
        let len = file.metadata()?.len();
        let mut head = bytes_at(&mut file, len, 0, FIXED_HEADER as u64)?;
        let fields = Fields::read(&head)?;
        if fields.sparse != folder.is_some() {
            return Err(
                unsupported("its chunks are in files of their own: name their folder").into()
            );
        }
        head = bytes_at(&mut file, len, 0, fields.head as u64)?;
        let layers = Metalayers::parse(&head)?;
        if layers.find(b2nd::OLD_NAME).is_some() {
            return Err(unsupported("an array of a form older than b2nd").into());
        }
        let array = layers.find(b2nd::NAME).filter(|_| fields.nbytes > 0);
        let array = array.map(|layer| Array::read(layer, &fields)).transpose()?;
        let places = places(&mut file, len, &fields)?;
        let backend = Backend::new();
        let file = Self { file, folder, len, fields, array, places, backend };
        match &file.array {
            Some(array) if array.chunks() != Some(file.chunks()) => {
                Err(invalid("it has not the chunks that its shape asks for").into())
            }
            _ => Ok(file),
        }
    }

    /// Bytes per element.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.array.as_ref().map_or(self.fields.typesize, |array| array.grid.item).max(1)
    }

    /// The type of an element as `NumPy` writes it, where the file says so.
    #[must_use]
    pub fn dtype(&self) -> Option<&str> {
        self.array.as_ref()?.dtype.as_deref()
    }

    /// Chunks.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.places.len()
    }

    /// Bytes that a chunk holds; at the end, and at the far edges of an array, it may hold fewer.
    #[must_use]
    pub fn chunk_bytes(&self) -> usize {
        self.array.as_ref().map_or(self.fields.chunk_size, |array| array.grid.nbytes())
    }

    /// Appends the data of a chunk to `out`: in C order, and without the padding at the far edges.
    ///
    /// # Errors
    /// [`FileError`]; `out` is then as it was.
    ///
    /// # Panics
    /// Where there is no such chunk.
    pub fn read_chunk(&mut self, index: usize, out: &mut Vec<u8>) -> Result<(), FileError> {
        let place = self.places[index];
        let Fields { typesize, block_size, chunk_size, nbytes, .. } = self.fields;
        // Chunks of an array are padded, all others are full except the last one.
        let whole = if self.array.is_some() {
            chunk_size
        } else {
            chunk_size.min(nbytes.saturating_sub(index.saturating_mul(chunk_size)))
        };
        let bytes = if place < 0 { Vec::new() } else { self.stored(place as u64)? };
        let stored = if place < 0 {
            Stored::special(place, typesize, whole, block_size)?
        } else {
            Stored::parse(&bytes)?
        };
        if stored.nbytes() != whole {
            return Err(invalid("a chunk has not the size it should have").into());
        }
        let mut data = Vec::new();
        grown(&mut data, whole)?;
        self.backend.decode(&stored, &mut data)?;
        match &self.array {
            Some(array) => out.extend(array.undo(index, &data)?),
            None => out.append(&mut data),
        }
        Ok(())
    }

    /// The compressed chunk at a place, or of a number where each has a file.
    fn stored(&mut self, place: u64) -> Result<Vec<u8>, FileError> {
        if let Some(folder) = &self.folder {
            let file = File::open(folder.join(format!("{place:08X}.chunk")))?;
            let most = (MAX_CHUNK_BYTES + CHUNK_HEADER) as u64;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        let at = place.saturating_add(self.fields.head as u64);
        chunk_at(&mut self.file, self.len, at)
    }
}

impl Array {
    fn read(layer: &[u8], fields: &Fields) -> Result<Self, FrameError> {
        let layer = Layer::read(layer)?;
        let typesize = if fields.typesize > 255 { 1 } else { fields.typesize };
        let grid = layer.grid(typesize, fields.chunk_size)?;
        Ok(Self { shape: layer.shape, grid, dtype: layer.dtype.map(str::to_owned) })
    }

    /// Chunks along each dimension.
    fn sides(&self) -> impl Iterator<Item = usize> {
        self.shape.iter().zip(&self.grid.shape).map(|(n, chunk)| n.div_ceil(*chunk))
    }

    fn chunks(&self) -> Option<usize> {
        self.sides().try_fold(1, usize::checked_mul)
    }

    /// The data of a chunk, from its blocks.
    fn undo(&self, mut index: usize, blocks: &[u8]) -> Result<Vec<u8>, BackendError> {
        let mut data = Vec::new();
        grown(&mut data, self.grid.nbytes())?;
        self.grid.scatter(blocks, &mut data);
        let mut corner = self.grid.shape.clone();
        let sides: Vec<usize> = self.sides().collect();
        for axis in (0..sides.len()).rev() {
            let start = index % sides[axis] * corner[axis];
            index /= sides[axis];
            corner[axis] = corner[axis].min(self.shape[axis] - start);
        }
        let whole = corner == self.grid.shape;
        Ok(if whole { data } else { self.grid.corner(&data, &corner) })
    }
}

fn invalid(why: &'static str) -> FrameError {
    FrameError::Invalid { what: "frame", why }
}

fn unsupported(why: &'static str) -> FrameError {
    FrameError::Unsupported { what: "frame", why }
}

/// Reads where the chunks are.
fn places(file: &mut File, len: u64, fields: &Fields) -> Result<Vec<i64>, FileError> {
    if fields.nbytes == 0 {
        return Ok(Vec::new());
    }
    if fields.chunk_size == 0 || fields.chunk_size > MAX_CHUNK_BYTES {
        return Err(unsupported("its chunks are of several sizes, or too large").into());
    }
    let count = fields.nbytes.div_ceil(fields.chunk_size);
    if count > MAX_CHUNKS {
        return Err(unsupported("it holds more than 16 million chunks").into());
    }
    let chunks = if fields.sparse { 0 } else { fields.cbytes as u64 };
    let bytes = chunk_at(file, len, chunks.saturating_add(fields.head as u64))?;
    let places = index(&bytes, count)?;
    Ok(places.ok_or(invalid("its index has not a place for each chunk"))?)
}

/// The chunk that begins there, as long as it says itself.
fn chunk_at(file: &mut File, len: u64, at: u64) -> Result<Vec<u8>, FileError> {
    let head = bytes_at(file, len, at, 16)?;
    let size = head.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    bytes_at(file, len, at, u64::from(size))
}

/// Bytes of a file; none that it has not.
fn bytes_at(file: &mut File, len: u64, at: u64, count: u64) -> Result<Vec<u8>, FileError> {
    if at.checked_add(count).is_none_or(|end| end > len) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is cut short").into());
    }
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == count {
        Ok(bytes)
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file is cut short").into())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::msgpack::{
        ARRAY16, BIN32, FIXARRAY, FIXSTR, I16, I32, I64, MAP16, STR32, U16, U64, Writer,
    };
    use super::super::write::MAGIC;
    use super::*;
    use crate::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};

    const TYPESIZE: usize = 4;
    const CPARAMS: Cparams = Cparams {
        codec: Codec::Zstd,
        filter: Filter::Shuffle,
        clevel: 1,
        split: SplitMode::Always,
        block_size: BlockSize::Auto,
        threads: 1,
    };

    fn compressed(bytes: &[u8], typesize: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let chunk = Chunk::new(bytes, typesize);
        Backend::new().compress(&chunk, &CPARAMS, false, &mut out).unwrap();
        out
    }

    /// A frame of chunks that hold `chunk_size` bytes, of which those of zeros are not stored.
    fn frame(chunks: &[Vec<u8>], chunk_size: usize, block: usize, layer: &[u8]) -> Vec<u8> {
        let (mut body, mut index) = (Vec::new(), Vec::new());
        for chunk in chunks {
            let zeros = chunk.iter().all(|&byte| byte == 0);
            let place =
                if zeros { -1i64 << 63 | 1 << 56 } else { i64::try_from(body.len()).unwrap() };
            index.extend(place.to_le_bytes());
            if !zeros {
                body.extend(compressed(chunk, TYPESIZE));
            }
        }
        let mut list = Writer::new(Vec::new());
        if !layer.is_empty() {
            list.bytes(&[FIXARRAY + 3]).u16(U16, 0).u16(MAP16, 1).bytes(&[FIXSTR + 4]);
            list.bytes(b"b2nd").u32(I32, FIXED_HEADER + 20).u16(ARRAY16, 1);
            list.u32(BIN32, layer.len()).bytes(layer);
        }
        let list = list.into_bytes();
        let index = compressed(&index, 8);
        let head = FIXED_HEADER + list.len();
        let mut out = Writer::new(Vec::new());
        out.bytes(MAGIC).u32(I32, head).u64(U64, head + body.len() + index.len());
        out.bytes(&[FIXSTR + 4, 0x12, 0, 0, 0]);
        let nbytes = chunks.iter().map(Vec::len).sum();
        out.u64(I64, nbytes).u64(I64, body.len()).u32(I32, TYPESIZE).u32(I32, block);
        out.u32(I32, chunk_size).u16(I16, 1).u16(I16, 1).bytes(&[0xc2, 0xd8]).bytes(&[0; 17]);
        assert_eq!(out.len(), FIXED_HEADER);
        out.bytes(&list).bytes(&body).bytes(&index);
        out.into_bytes()
    }

    /// The metalayer of an array of 5 x 7 in chunks of 4 x 4 and blocks of 2 x 3.
    fn layer(dtype: &str) -> Vec<u8> {
        let mut out = Writer::new(Vec::new());
        out.bytes(&[FIXARRAY + 7, 0, 2, FIXARRAY + 2]).u64(I64, 5).u64(I64, 7);
        for side in [[4, 4], [2, 3]] {
            out.bytes(&[FIXARRAY + 2]).u32(I32, side[0]).u32(I32, side[1]);
        }
        out.bytes(&[0]).u32(STR32, dtype.len()).bytes(dtype.as_bytes());
        out.into_bytes()
    }

    /// The blocks of chunks with the elements 0 to 34.
    fn chunks() -> Vec<Vec<u8>> {
        let grid = Grid { shape: vec![4, 4], block: vec![2, 3], item: TYPESIZE };
        let chunk = |row: usize, column: usize| {
            let value = |i: usize| (row + i / 4, column + i % 4);
            let element = |(y, x)| if y < 5 && x < 7 { y as u32 * 7 + x as u32 } else { 999 };
            let data: Vec<u8> = (0..16).flat_map(|i| element(value(i)).to_le_bytes()).collect();
            let mut blocks = vec![0; grid.padded_bytes().unwrap()];
            grid.gather(&data, &mut blocks);
            blocks
        };
        vec![chunk(0, 0), chunk(0, 4), chunk(4, 0), chunk(4, 4)]
    }

    fn read(path: &Path) -> Result<Vec<u8>, FileError> {
        let mut file = FrameFile::open(path)?;
        let mut out = Vec::new();
        (0..file.chunks()).try_for_each(|index| file.read_chunk(index, &mut out))?;
        Ok(out)
    }

    fn written(folder: &Path, bytes: &[u8]) -> PathBuf {
        let path = folder.join("a.b2frame");
        fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn chunks_are_read_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let chunk = |i: u8| (0..4000u32).flat_map(move |n| (n / 9 * u32::from(i)).to_le_bytes());
        let mut chunks: Vec<Vec<u8>> = (0..4).map(|i| chunk(i).collect()).collect();
        chunks[3].truncate(1000);
        let path = written(folder.path(), &frame(&chunks, 16_000, 8000, &[]));
        assert_eq!(read(&path).unwrap(), chunks.concat());
        let file = FrameFile::open(&path).unwrap();
        assert_eq!((file.typesize(), file.dtype(), file.chunk_bytes()), (TYPESIZE, None, 16_000));
    }

    #[test]
    fn an_array_is_read_without_its_padding() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = frame(&chunks(), 96, 24, &layer("<u4"));
        let path = written(folder.path(), &bytes);
        let read = read(&path).unwrap();
        let elements: Vec<u32> =
            read.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)).collect();
        assert_eq!(elements[..6], [0, 1, 2, 3, 7, 8]);
        assert_eq!(elements[16..20], [4, 5, 6, 11]);
        assert_eq!(elements[28..], [28, 29, 30, 31, 32, 33, 34]);
        let file = FrameFile::open(&path).unwrap();
        assert_eq!((file.typesize(), file.dtype(), file.chunk_bytes()), (4, Some("<u4"), 64));
    }

    #[test]
    fn golden_frames_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
        let mut frames = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "b2frame") {
                let bytes = fs::read(&path).unwrap();
                let mut whole = vec![0; Stored::parse(&bytes).unwrap().nbytes()];
                Backend::new().decompress(&bytes, &mut whole).unwrap();
                assert_eq!(read(&path).unwrap(), whole, "{}", path.display());
                frames += 1;
            }
        }
        assert!(frames > 10);
    }

    #[test]
    fn what_is_broken_is_refused_or_read_without_harm() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = frame(&chunks(), 96, 24, &layer("<u4"));
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut broken = bytes.clone();
                broken[at] ^= flip;
                let _ = read(&written(folder.path(), &broken));
            }
            assert!(read(&written(folder.path(), &bytes[..at])).is_err(), "{at}");
        }
        assert!(read(&folder.path().join("none")).is_err());
        assert!(read(folder.path()).is_err());
    }
}
