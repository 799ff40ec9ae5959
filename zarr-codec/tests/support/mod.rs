//! Arrays of zarrs in memory.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{Array, ArrayCreateError};
use zarrs::metadata::ArrayMetadata;
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{Bytes, ReadableStorageTraits, StoreKey, WritableStorageTraits};

pub(crate) type Stored = Array<MemoryStore>;

/// Metadata of version 3. The codec `bytes` comes first, unless there is one for arrays among `codecs`.
pub(crate) fn v3(
    data_type: &str,
    shape: &[u64],
    chunk: &[u64],
    fill: &Value,
    codecs: &[Value],
) -> Value {
    let arrays = ["sharding_indexed", "vlen-utf8", "bytes"];
    let named = |codec: &Value| arrays.iter().any(|name| codec["name"] == **name);
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let first = if codecs.iter().any(named) { None } else { Some(bytes) };
    let codecs: Vec<_> = first.into_iter().chain(codecs.iter().cloned()).collect();
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": codecs,
    })
}

/// Metadata of version 2.
pub(crate) fn v2(dtype: &str, shape: &[u64], chunks: &[u64], compressor: &Value) -> Value {
    json!({
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "fill_value": 0, "order": "C",
        "filters": null, "compressor": compressor,
    })
}

/// Makes an array in a store, and opens it.
pub(crate) fn create(
    store: &Arc<MemoryStore>,
    metadata: &Value,
) -> Result<Stored, ArrayCreateError> {
    let metadata: ArrayMetadata = serde_json::from_value(metadata.clone()).expect("metadata");
    Array::new_with_metadata(Arc::clone(store), "/", metadata)?.store_metadata().expect("a store");
    Array::open(Arc::clone(store), "/")
}

/// An array of its own.
pub(crate) fn array(metadata: &Value) -> Stored {
    create(&Arc::new(MemoryStore::new()), metadata).expect("an array")
}

/// The codec `btune`.
pub(crate) fn btune(configuration: &Value) -> Value {
    json!({"name": "btune", "configuration": configuration})
}

pub(crate) fn key(key: &str) -> StoreKey {
    StoreKey::new(key).expect("a key")
}

/// What is stored of a chunk.
pub(crate) fn get(array: &Stored, at: &str) -> Option<Vec<u8>> {
    array.storage().get(&key(at)).expect("a store").map(|bytes| bytes.to_vec())
}

pub(crate) fn set(array: &Stored, at: &str, bytes: Vec<u8>) {
    array.storage().set(&key(at), Bytes::from(bytes)).expect("a store");
}

/// Values that change slowly.
pub(crate) fn values(seed: u64, count: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut value = 100.0f32;
    std::iter::repeat_with(|| {
        value += random.f32() - 0.45;
        value.round()
    })
    .take(count)
    .collect()
}
