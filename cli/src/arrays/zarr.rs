//! Folders of Zarr, version 2 or 3.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use btune::train::{Dtype, Kind};
use serde_json::Value;
use zarrs::array::{Array, ArrayBytes, ArrayShardedExt, ArraySubset};
use zarrs::filesystem::FilesystemStore;

use super::parts::regions;
use super::{Found, Sink, one_line, said};

/// Files that are in a folder which is a group or an array.
pub(super) const MARKS: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// Reads an array, or those in all groups, or those in one group, or one of them.
pub(super) fn read(root: &Path, inner: Option<&str>, given: bool, sink: &mut Sink) -> Result<()> {
    // Makes sure that the codec is linked: nothing else names it.
    btune_zarr::register();
    let from = inner.unwrap_or_default();
    if from.split('/').any(|part| part == "..") || !root.join(from).is_dir() {
        bail!("there is no array or group {from:?} in it");
    }
    let store = FilesystemStore::new(root).map_err(said)?;
    let store = Arc::new(store);
    let mut open = vec![from.to_owned()];
    while let Some(path) = open.pop() {
        let folder = root.join(&path);
        match metadata(&folder).with_context(|| path.clone())? {
            Some(metadata) => {
                let named = path == from && (given || inner.is_some());
                let found = array(&store, &path, &metadata, sink.limit);
                sink.add(&path, named, found.with_context(|| path.clone())?)?;
            }
            None => open.extend(members(&folder, &path)?),
        }
    }
    Ok(())
}

/// The folders in a group, the last one first.
fn members(folder: &Path, path: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        if entry.file_type()?.is_dir() {
            names.push(if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") });
        }
    }
    names.sort();
    names.reverse();
    Ok(names)
}

/// The metadata of an array; none where the folder is a group, or just a folder.
fn metadata(folder: &Path) -> Result<Option<Value>> {
    for name in [MARKS[0], MARKS[1]] {
        let path = folder.join(name);
        if path.is_file() {
            let json: Value = serde_json::from_slice(&fs::read(path)?)
                .map_err(|error| anyhow!("{name}: {error}"))?;
            let is_array = name == MARKS[1] || json["node_type"] == "array";
            return Ok(is_array.then_some(json));
        }
    }
    Ok(None)
}

fn array(store: &Arc<FilesystemStore>, path: &str, metadata: &Value, limit: u64) -> Result<Found> {
    let Some(dtype) = dtype(metadata) else {
        let name = metadata.get("data_type").unwrap_or(&metadata["dtype"]);
        return Ok(Found::NoNumbers(format!("elements of type {name} are no numbers")));
    };
    let array = match Array::open(Arc::clone(store), &format!("/{path}")) {
        Ok(array) => array,
        // A codec that is not there, mostly.
        Err(error) => return Ok(Found::Unavailable(one_line(&error))),
    };
    let shape = array.shape();
    if shape.is_empty() || shape.contains(&0) {
        return Ok(Found::NoNumbers("a single value, or none, is no array".into()));
    }
    let chunk = match array.effective_subchunk_shape() {
        Some(chunk) => Some(chunk),
        None => array.chunk_shape(&vec![0; shape.len()]).ok(),
    };
    let chunk: Option<Vec<u64>> = chunk.map(|chunk| chunk.iter().map(|n| n.get()).collect());
    let mut bytes = Vec::new();
    for region in regions(shape, chunk.as_deref(), dtype.size as u64, limit) {
        let subset = ArraySubset::new_with_start_shape(region.start, region.count)?;
        let data: ArrayBytes<'_> = array.retrieve_array_subset(&subset).map_err(said)?;
        bytes.extend_from_slice(&data.into_fixed()?);
    }
    Ok(Found::Array(dtype, bytes))
}

/// The type that metadata of version 2 or 3 name; none where it is no number.
fn dtype(metadata: &Value) -> Option<Dtype> {
    if let Some(name) = metadata["dtype"].as_str() {
        // Without the unit of a time.
        let name = name.split('[').next()?;
        let kind = name.trim_start_matches(['<', '>', '|']).chars().next()?;
        return Dtype::parse(name).filter(|_| "biufcmM".contains(kind));
    }
    let of = &metadata["data_type"];
    let name = of.as_str().or_else(|| of["name"].as_str())?;
    let (kind, size) = match name {
        "bool" | "uint8" => (Kind::Uint, 1),
        "uint16" => (Kind::Uint, 2),
        "uint32" => (Kind::Uint, 4),
        "uint64" => (Kind::Uint, 8),
        "int8" => (Kind::Int, 1),
        "int16" => (Kind::Int, 2),
        "int32" => (Kind::Int, 4),
        "int64" | "numpy.datetime64" | "numpy.timedelta64" => (Kind::Int, 8),
        "float16" | "bfloat16" => (Kind::Opaque, 2),
        "float32" => (Kind::Float, 4),
        "float64" => (Kind::Float, 8),
        "complex64" => (Kind::Opaque, 8),
        "complex128" => (Kind::Opaque, 16),
        _ => return None,
    };
    Some(Dtype::new(kind, size))
}

#[cfg(test)]
mod tests {
    use zarrs::array::ArrayBuilder;
    use zarrs::array::codec::{GzipCodec, ZstdCodec};
    use zarrs::array::data_type;

    use super::*;
    use crate::arrays::{LIMIT, refusal};

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
        fs::write(folder.path().join("zarr.json"), group).unwrap();
        let store = Arc::new(FilesystemStore::new(folder.path()).unwrap());
        let data: Vec<u16> = (0..6 * 5).collect();
        for (path, sharded) in [("/plain", false), ("/group/sharded", true)] {
            let mut array = ArrayBuilder::new(vec![6, 5], vec![4, 4], data_type::uint16(), 7u16);
            array.bytes_to_bytes_codecs(if sharded {
                vec![Arc::new(GzipCodec::new(5).unwrap())]
            } else {
                vec![Arc::new(ZstdCodec::new(5, true))]
            });
            if sharded {
                array.subchunk_shape(vec![2, 2]);
            }
            let array = array.build(Arc::clone(&store), path).unwrap();
            array.store_metadata().unwrap();
            array.store_array_subset(&array.subset_all(), &data[..]).unwrap();
        }
        folder
    }

    fn elements(bytes: &[u8]) -> Vec<u16> {
        bytes.as_chunks::<2>().0.iter().map(|two| u16::from_le_bytes(*two)).collect()
    }

    #[test]
    fn the_arrays_of_all_groups_are_read_in_parts_where_they_are_large() {
        let folder = folder();
        let mut sink = Sink::new(folder.path(), LIMIT);
        read(folder.path(), None, true, &mut sink).unwrap();
        let names: Vec<&str> = sink.arrays.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(names, ["group/sharded", "plain"]);
        for (_, dtype, bytes) in &sink.arrays {
            assert_eq!(*dtype, Dtype::new(Kind::Uint, 2));
            // Chunks this small are not read one by one.
            assert_eq!(elements(bytes), (0..30).collect::<Vec<_>>());
        }
        let mut sink = Sink::new(folder.path(), 32);
        read(folder.path(), Some("plain"), false, &mut sink).unwrap();
        assert_eq!(
            elements(&sink.arrays[0].2),
            [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18]
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_one_line() {
        let folder = folder();
        let one = |path: &str| refusal(folder.path(), path);
        assert!(one("nothing").contains("no array or group \"nothing\""));
        assert!(one("plain/../plain").contains("no array or group"));
        let metadata = folder.path().join("plain/zarr.json");
        let json = fs::read_to_string(&metadata).unwrap();
        fs::write(&metadata, json.replace("\"zstd\"", "\"unheard\"")).unwrap();
        assert!(one("plain").contains("unheard"), "{}", one("plain"));
        fs::write(&metadata, json.replace("\"uint16\"", "\"string\"")).unwrap();
        assert!(one("plain").contains("\"string\" are no numbers"));
        fs::write(&metadata, "{").unwrap();
        assert!(one("plain").contains("plain: zarr.json: EOF"), "{}", one("plain"));
        fs::write(&metadata, json).unwrap();
        fs::write(folder.path().join("plain/c/0/0"), "hello").unwrap();
        assert!(one("plain").contains("plain: "));
    }
}
