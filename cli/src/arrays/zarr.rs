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
use super::{Found, Sink, one_line};

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
    let store = FilesystemStore::new(root).map_err(|error| anyhow!(one_line(&error)))?;
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

fn array(
    store: &Arc<FilesystemStore>,
    path: &str,
    metadata: &Value,
    limit: u64,
) -> Result<Found> {
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
        let data: ArrayBytes<'_> =
            array.retrieve_array_subset(&subset).map_err(|error| anyhow!(one_line(&error)))?;
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
