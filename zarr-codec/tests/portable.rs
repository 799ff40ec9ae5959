//! The core codec `blosc`, tuned: stock readers read it, and its metadata does not change. One test, because what it
//! registers counts for the whole process.

mod support;

use std::sync::Arc;

use btune_zarr::{ArrayOptions, register_portable_blosc};
use serde_json::{Value, json};
use support::{Stored, create, get, v3, values};
use zarrs::array::{Array, ArraySubset};
use zarrs::storage::store::MemoryStore;
use zarrs_codec::unregister_codec_v3;

fn blosc(cname: &str, shuffle: &str) -> Value {
    let configuration =
        json!({"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0});
    json!({"name": "blosc", "configuration": configuration})
}

fn reopened(array: &Stored) -> Stored {
    Array::open(array.storage(), "/").expect("an array")
}

fn read(array: &Stored) -> Vec<f32> {
    array.retrieve_array_subset(&array.subset_all()).expect("elements")
}

fn write(array: &Stored, elements: &[f32]) {
    array.store_array_subset(&array.subset_all(), elements).expect("a store");
}

/// All chunks as they are stored.
fn stored(array: &Stored) -> Vec<Vec<u8>> {
    (0..8).map(|i| get(array, &format!("c/{i}/0")).expect("a chunk")).collect()
}

#[test]
fn stock_readers_read_tuned_chunks() {
    let stock: Vec<Stored> = [("lz4", "shuffle"), ("snappy", "bitshuffle"), ("zstd", "noshuffle")]
        .iter()
        .map(|(cname, shuffle)| {
            let codec = blosc(cname, shuffle);
            let metadata = v3("float32", &[101, 90], &[13, 90], &json!(0), &[codec]);
            create(&Arc::new(MemoryStore::new()), &metadata).unwrap()
        })
        .collect();
    let (first, second) = (values(1, 101 * 90), values(2, 101 * 90));
    for array in &stock {
        write(array, &first);
    }

    let tradeoff = Some(btune::Tradeoff::new(0.9).unwrap());
    let handle = register_portable_blosc(ArrayOptions { tradeoff, ..ArrayOptions::default() });
    for array in &stock {
        let tuned = reopened(array);
        let what = tuned.metadata().to_string_pretty();
        assert_eq!(tuned.metadata(), array.metadata());
        assert!(read(&tuned) == first, "what the stock codec wrote: {what}");
        let part = ArraySubset::new_with_ranges(&[14..15, 3..80]);
        let row: Vec<f32> = tuned.retrieve_array_subset(&part).unwrap();
        assert_eq!(row, first[14 * 90 + 3..14 * 90 + 80]);

        write(&tuned, &second);
        assert!(read(&tuned) == second, "{what}");
        assert!(read(array) == second, "what the stock codec reads: {what}");
        let row: Vec<f32> = array.retrieve_array_subset(&part).unwrap();
        assert_eq!(row, second[14 * 90 + 3..14 * 90 + 80]);
        tuned.store_metadata().unwrap();
        assert_eq!(reopened(array).metadata(), array.metadata());

        let chunks = stored(array);
        assert!(chunks.iter().all(|chunk| chunk[0] == 2), "chunks of Blosc: {what}");
        write(array, &second);
        assert_ne!(chunks, stored(array), "their parameters were chosen: {what}");
    }

    assert!(unregister_codec_v3(&handle));
    let again = reopened(&stock[0]);
    write(&again, &first);
    let one = get(&again, "c/1/0");
    write(&stock[0], &first);
    assert_eq!(one, get(&stock[0], "c/1/0"), "the stock codec again");
}
