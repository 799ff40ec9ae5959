//! Arrays of zarrs with the codec: what is written is read, whatever the form, the type and the way.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

mod support;

use std::borrow::Cow;
use std::sync::Arc;

use btune::blosc::{Stored, StoredForm};
use btune::{PerfMode, Tradeoff};
use btune_zarr::{ArrayOptions, BtuneCodec, Configuration, Format, register};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::{Value, json};
use support::{array, btune, get, v2, v3, values};
use zarrs::array::{ArrayBuilder, ArraySubset, data_type};
use zarrs::storage::store::MemoryStore;
use zarrs_codec::{
    BytesRepresentation, BytesToBytesCodecTraits, CodecOptions, CodecSpecificOptions, CodecTraits,
};

/// Writes two chunks, opens the array again, and reads them.
fn goes_there_and_back(metadata: &Value) -> Vec<u8> {
    let array = array(metadata);
    let elements = values(1, 2 * 60 * 70);
    array.store_array_subset(&array.subset_all(), &elements[..]).unwrap();
    let stored = get(&array, "c/1/0").or_else(|| get(&array, "1.0")).expect("a chunk");
    let again = zarrs::array::Array::open(array.storage(), "/").unwrap();
    let read: Vec<f32> = again.retrieve_array_subset(&again.subset_all()).unwrap();
    assert!(read == elements, "{metadata}");
    let part: Vec<f32> =
        again.retrieve_array_subset(&ArraySubset::new_with_ranges(&[58..63, 5..9])).unwrap();
    let expected: Vec<f32> =
        (58..63).flat_map(|y| elements[y * 70 + 5..y * 70 + 9].to_vec()).collect();
    assert_eq!(part, expected);
    stored
}

#[test]
fn every_stored_form_is_read_back() {
    let stored =
        |codec| goes_there_and_back(&v3("float32", &[120, 70], &[60, 70], &json!(0), &[codec]));
    let form = |stored: &[u8]| Stored::parse(stored).unwrap().form();
    let typesize = |stored: &[u8]| Stored::parse(stored).unwrap().header().typesize;
    let frame = stored(btune(&json!({"typesize": 4, "tradeoff": 0.9})));
    assert_eq!((form(&frame), typesize(&frame)), (StoredForm::Plain, 4));
    let tradeoff = Tradeoff::new(0.9).unwrap();
    let record = *Stored::parse(&frame).unwrap().record().expect("a record");
    assert_eq!(record, record.with_tradeoff(&tradeoff));
    let chunk = stored(btune(&json!({"typesize": 4, "format": "chunk", "perf_mode": "DECOMP"})));
    assert_eq!((form(&chunk), typesize(&chunk)), (StoredForm::Chunk, 4));
    assert_eq!(typesize(&stored(btune(&json!({})))), 1);
    assert_eq!(typesize(&stored(json!({"name": "btune"}))), 1);
    // As `imagecodecs` writes it.
    let theirs = json!({"level": 5, "compressor": "zstd", "shuffle": null, "typesize": 4});
    for name in ["imagecodecs_blosc2", "blosc2", "numcodecs.blosc2"] {
        let chunk = stored(json!({"name": name, "configuration": theirs}));
        assert_eq!((form(&chunk), typesize(&chunk)), (StoredForm::Chunk, 4), "{name}");
        assert_eq!(typesize(&stored(json!({"name": name}))), 1, "{name}");
    }
}

#[test]
fn arrays_of_version_2_are_read_back() {
    for (id, form) in [("btune", StoredForm::Plain), ("blosc2", StoredForm::Chunk)] {
        let compressor = json!({"id": id, "typesize": 4});
        let stored = goes_there_and_back(&v2("<f4", &[120, 70], &[60, 70], &compressor));
        assert_eq!(Stored::parse(&stored).unwrap().form(), form);
    }
}

#[test]
fn all_kinds_of_elements_are_read_back() {
    let codec = |typesize| btune(&json!({"typesize": typesize}));
    let bools = array(&v3("bool", &[99], &[33], &json!(false), &[codec(1)]));
    let elements: Vec<bool> = (0..99).map(|i| i % 3 == 0).collect();
    bools.store_array_subset(&bools.subset_all(), &elements[..]).unwrap();
    assert_eq!(bools.retrieve_array_subset::<Vec<bool>>(&bools.subset_all()).unwrap(), elements);

    let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let doubles = array(&v3("float64", &[10_001], &[5001], &json!("NaN"), &[big, codec(8)]));
    let elements: Vec<f64> = (0..10_001).map(|i| f64::from(i).sqrt()).collect();
    doubles.store_array_subset(&doubles.subset_all(), &elements[..]).unwrap();
    assert_eq!(doubles.retrieve_array_subset::<Vec<f64>>(&doubles.subset_all()).unwrap(), elements);

    let text = json!({"name": "vlen-utf8"});
    let strings = array(&v3("string", &[300], &[100], &json!(""), &[text, codec(1)]));
    let elements: Vec<String> = (0..300).map(|i| "é".repeat(i % 17)).collect();
    strings.store_array_subset(&strings.subset_all(), &elements[..]).unwrap();
    assert_eq!(
        strings.retrieve_array_subset::<Vec<String>>(&strings.subset_all()).unwrap(),
        elements
    );

    for count in [1, 7, 33, 1001] {
        let shorts = array(&v3("int16", &[count], &[count], &json!(-1), &[codec(2)]));
        let elements: Vec<i16> = (0..count).map(|i| (i * 77) as i16).collect();
        shorts.store_chunk(&[0], &elements[..]).unwrap();
        assert_eq!(shorts.retrieve_chunk::<Vec<i16>>(&[0]).unwrap(), elements);
    }
}

#[test]
fn chunks_of_nothing_but_the_fill_value_are_not_stored() {
    let array = array(&v3("float32", &[20], &[10], &json!(7), &[btune(&json!({"typesize": 4}))]));
    array.store_array_subset(&array.subset_all(), &[7.0f32; 20][..]).unwrap();
    assert_eq!(get(&array, "c/0"), None);
    assert_eq!(array.retrieve_chunk::<Vec<f32>>(&[1]).unwrap(), [7.0; 10]);
}

#[test]
fn shards_are_written_in_parts_and_read_back() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    for format in ["cframe", "chunk"] {
        let inner = btune(&json!({"typesize": 4, "format": format}));
        let sharding = json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": [16, 64], "codecs": [bytes, inner], "index_location": "end",
            "index_codecs": [bytes, {"name": "crc32c"}]}});
        let array = array(&v3("float32", &[64, 128], &[64, 128], &json!(0), &[sharding]));
        let elements = values(2, 64 * 128);
        // Each of these reads the shard and writes it again.
        for y in (0..64u64).step_by(4) {
            let rows = &elements[y as usize * 128..(y as usize + 4) * 128];
            array
                .store_array_subset(&ArraySubset::new_with_ranges(&[y..y + 4, 0..128]), rows)
                .unwrap();
        }
        let read: Vec<f32> = array.retrieve_array_subset(&array.subset_all()).unwrap();
        assert!(read == elements);
        let row: Vec<f32> =
            array.retrieve_array_subset(&ArraySubset::new_with_ranges(&[17..18, 3..70])).unwrap();
        assert_eq!(row, elements[17 * 128 + 3..17 * 128 + 70]);
    }
}

#[test]
fn threads_write_one_array() {
    let path = std::env::temp_dir().join(format!("btune-zarrs-{}", std::process::id()));
    let store = Arc::new(zarrs::filesystem::FilesystemStore::new(&path).unwrap());
    let mut builder = ArrayBuilder::new([64 * 50, 100], [50, 100], data_type::float32(), 0.0f32);
    let configuration = Configuration { typesize: Some(4), ..Configuration::default() };
    builder.bytes_to_bytes_codecs(vec![Arc::new(BtuneCodec::new(&configuration).unwrap())]);
    let array = builder.build(Arc::clone(&store), "/a").unwrap();
    array.store_metadata().unwrap();
    let chunk = |i: u64| values(i, 5000);
    (0..64u64).into_par_iter().for_each(|i| array.store_chunk(&[i, 0], &chunk(i)[..]).unwrap());
    let again = zarrs::array::Array::open(store, "/a").unwrap();
    (0..64u64).into_par_iter().for_each(|i| {
        assert!(again.retrieve_chunk::<Vec<f32>>(&[i, 0]).unwrap() == chunk(i));
    });
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn metadata_is_written_as_it_was_given() {
    register();
    let given = json!({"typesize": 4, "tradeoff": [0.3, 0.1, 0.6], "format": "chunk"});
    let array = array(&v3("float32", &[4], &[4], &json!(0), &[btune(&given)]));
    let written: Value = serde_json::from_slice(&get(&array, "zarr.json").unwrap()).unwrap();
    assert_eq!(written["codecs"][1], btune(&given));

    let configuration = Configuration {
        typesize: Some(8),
        perf_mode: Some(PerfMode::Balanced),
        format: Some(Format::Cframe),
        ..Configuration::default()
    };
    let codecs: [(Arc<dyn BytesToBytesCodecTraits>, Value); 2] = [
        (
            Arc::new(BtuneCodec::new(&configuration).unwrap()),
            btune(&json!({"typesize": 8, "perf_mode": "BALANCED", "format": "cframe"})),
        ),
        (
            Arc::new(BtuneCodec::portable(&ArrayOptions::default())),
            json!({"name": "imagecodecs_blosc2"}),
        ),
    ];
    for (codec, expected) in codecs {
        let mut builder = ArrayBuilder::new([4], [4], data_type::float64(), 0.0f64);
        builder.bytes_to_bytes_codecs(vec![codec]);
        let array = builder.build(Arc::new(MemoryStore::new()), "/").unwrap();
        let metadata = serde_json::to_value(array.metadata()).unwrap();
        let codec = &metadata["codecs"][1];
        assert_eq!(codec["name"], expected["name"]);
        let configuration = codec.get("configuration").cloned().unwrap_or(json!({}));
        assert_eq!(configuration, expected.get("configuration").cloned().unwrap_or(json!({})));
    }
}

#[test]
fn options_of_an_array_are_not_in_its_metadata() {
    let array =
        array(&v3("float32", &[100], &[100], &json!(0), &[json!({"name": "imagecodecs_blosc2"})]));
    let before = array.metadata().clone();
    let options = ArrayOptions { typesize: Some(4), ..ArrayOptions::default() };
    let array =
        array.with_codec_specific_options(&CodecSpecificOptions::default().with_option(options));
    array.store_chunk(&[0], &values(3, 100)[..]).unwrap();
    assert_eq!(*array.metadata(), before);
    let chunk = get(&array, "c/0").unwrap();
    assert_eq!(Stored::parse(&chunk).unwrap().header().typesize, 4);
    assert_eq!(array.retrieve_chunk::<Vec<f32>>(&[0]).unwrap(), values(3, 100));
}

#[test]
fn bounds_hold_and_are_those_of_the_form() {
    let options = CodecOptions::default();
    let mut random = fastrand::Rng::with_seed(4);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(70_000).collect();
    for (format, room) in [(Format::Cframe, 300), (Format::Chunk, 32)] {
        let configuration =
            Configuration { typesize: Some(4), format: Some(format), ..Configuration::default() };
        let codec = BtuneCodec::new(&configuration).unwrap();
        for size in [0usize, 1, 33, 1000, 65_537] {
            let decoded = BytesRepresentation::FixedSize(size as u64);
            let bound = codec.encoded_representation(&decoded).size().unwrap();
            assert!(bound <= size as u64 + room);
            for bytes in [&noise[..size], &vec![0; size]] {
                let stored = codec.encode(Cow::Borrowed(bytes), &options).unwrap();
                assert!(stored.len() as u64 <= bound, "{format:?} {size}");
                assert!(codec.decode(stored, &decoded, &options).unwrap() == bytes);
            }
        }
        let unbounded = codec.encoded_representation(&BytesRepresentation::UnboundedSize);
        assert_eq!(unbounded, BytesRepresentation::UnboundedSize);
        let decoded = BytesRepresentation::FixedSize(1000);
        assert_eq!(codec.recommended_concurrency(&decoded).unwrap().max(), 1);
        assert!(codec.partial_decoder_capability().partial_decode);
    }
}
