//! What is wrong is said: metadata when an array is opened, chunks when they are read.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use std::sync::Arc;

use btune::blosc::Backend;
use btune::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};
use serde_json::{Value, json};
use support::{array, btune, create, get, set, v2, v3, values};
use zarrs::array::ArraySubset;
use zarrs::storage::store::MemoryStore;

fn error(metadata: &Value) -> String {
    create(&Arc::new(MemoryStore::new()), metadata).expect_err("it is wrong").to_string()
}

#[test]
fn wrong_metadata_fails_when_the_array_is_opened() {
    for (configuration, parts) in [
        (json!({"tradeof": 0.5}), ["unknown field `tradeof`", "`typesize`, `tradeoff`"]),
        (json!({"tradeoff": 2}), ["tradeoff 2 is not valid", "from 0 (speed) to 1 (ratio)"]),
        (json!({"typesize": 0}), ["typesize 0 is not valid", "from 1"]),
        (json!({"perf_mode": "FAST"}), ["perf_mode \"FAST\"", "\"DECOMP\""]),
        (json!({"format": "blosc"}), ["format \"blosc\"", "\"cframe\" or \"chunk\""]),
    ] {
        let message = error(&v3("float32", &[4], &[4], &json!(0), &[btune(&configuration)]));
        assert!(message.contains("btune"), "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let message = error(&v2("<f4", &[4], &[4], &json!({"id": "btune", "tradeoff": 2})));
    assert!(message.contains("codec btune: ") && message.contains("tradeoff 2 "), "{message}");
}

fn floats() -> support::Stored {
    let array =
        array(&v3("float32", &[3000], &[3000], &json!(0), &[btune(&json!({"typesize": 4}))]));
    array.store_chunk(&[0], &values(1, 3000)[..]).unwrap();
    array
}

#[test]
fn damaged_chunks_fail_when_they_are_read() {
    let array = floats();
    let whole = get(&array, "c/0").unwrap();
    let first = ArraySubset::new_with_start_shape(vec![0], vec![1]).unwrap();
    let read = |bytes: Vec<u8>| {
        set(&array, "c/0", bytes);
        let part = array.retrieve_array_subset::<Vec<f32>>(&first);
        assert!(part.is_err());
        array.retrieve_chunk::<Vec<f32>>(&[0]).expect_err("it is damaged").to_string()
    };
    for damaged in [
        whole[..whole.len() - 1].to_vec(),
        whole[1..].to_vec(),
        [&whole[..], &[0]].concat(),
        vec![],
    ] {
        let message = read(damaged);
        assert!(message.contains("btune: "), "{message}");
    }
    set(&array, "c/0", whole);
    assert_eq!(array.retrieve_chunk::<Vec<f32>>(&[0]).unwrap(), values(1, 3000));
}

#[test]
fn a_chunk_of_another_size_is_refused_before_there_is_room_for_it() {
    let array = floats();
    let other = |nbytes: usize| {
        let codec = btune_zarr::Codec::new(btune_zarr::Options::default());
        set(&array, "c/0", codec.encode(&vec![1; nbytes]).unwrap());
        array.retrieve_chunk::<Vec<f32>>(&[0]).expect_err("another size").to_string()
    };
    for nbytes in [0, 11_999, 12_001, 100_000] {
        let message = other(nbytes);
        let expected = format!("a stored chunk holds {nbytes} bytes where 12000 are expected");
        assert!(message.contains(&expected), "{message}");
    }
    // A chunk of zeros of 2 GB, which has 32 bytes.
    let mut zeros = vec![5, 1, 7, 4];
    for size in [2_000_000_000, 1 << 20, 32i32] {
        zeros.extend_from_slice(&size.to_le_bytes());
    }
    zeros.resize(31, 0);
    zeros[2] = 5;
    zeros.push(0x10);
    assert_eq!(btune_zarr::decoded_size(&zeros), Ok(2_000_000_000));
    set(&array, "c/0", zeros);
    let message = array.retrieve_chunk::<Vec<f32>>(&[0]).unwrap_err().to_string();
    assert!(message.contains("2000000000 bytes where 12000"), "{message}");
}

#[test]
fn only_the_blocks_that_are_asked_for_are_read() {
    let array = array(&v3("float32", &[30_000], &[30_000], &json!(0), &[btune(&json!({}))]));
    let elements = values(2, 30_000);
    let bytes: Vec<u8> = elements.iter().flat_map(|value| value.to_le_bytes()).collect();
    let cparams = Cparams {
        codec: Codec::Zstd,
        filter: Filter::Shuffle,
        clevel: 3,
        split: SplitMode::Never,
        block_size: BlockSize::Bytes(12_000),
        threads: 1,
    };
    let mut stored = Vec::new();
    Backend::new().compress(&Chunk::new(&bytes, 4), &cparams, false, &mut stored).unwrap();
    let last = stored.len() - 100;
    stored[last..].fill(0xaa);
    set(&array, "c/0", stored);
    let part =
        |range| array.retrieve_array_subset::<Vec<f32>>(&ArraySubset::new_with_ranges(&[range]));
    assert_eq!(part(5..9000).unwrap(), elements[5..9000]);
    assert!(part(29_000..29_500).is_err(), "the last block is damaged");
    assert!(array.retrieve_chunk::<Vec<f32>>(&[0]).is_err());
}
