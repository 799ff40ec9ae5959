//! That this crate is linked is enough for zarrs to find the codec.

use btune_zarr as _;
use zarrs::metadata::v2::MetadataV2;
use zarrs::metadata::v3::MetadataV3;
use zarrs_codec::Codec;

#[test]
fn zarrs_finds_the_codec_by_all_its_names() {
    for name in ["btune", "imagecodecs_blosc2", "blosc2", "numcodecs.blosc2"] {
        let codec = Codec::from_metadata(&MetadataV3::new(name)).expect(name);
        assert!(matches!(codec, Codec::BytesToBytes(_)));
    }
    for name in ["btune", "imagecodecs_blosc2", "blosc2"] {
        let metadata: MetadataV2 =
            serde_json::from_value(serde_json::json!({"id": name})).expect(name);
        assert!(matches!(Codec::from_metadata(&metadata), Ok(Codec::BytesToBytes(_))), "{name}");
    }
}
