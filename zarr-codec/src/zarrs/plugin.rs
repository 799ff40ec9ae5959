//! How zarrs finds the codecs.

use std::sync::{Arc, Once};

use zarrs_codec::{
    Codec, CodecPluginV2, CodecPluginV3, CodecRuntimePluginV2, CodecRuntimePluginV3,
    CodecRuntimeRegistryHandleV3, CodecTraitsV2, CodecTraitsV3, register_codec_v2,
    register_codec_v3,
};
use zarrs_metadata::v2::MetadataV2;
use zarrs_metadata::v3::MetadataV3;
use zarrs_plugin::{ExtensionAliasesV2, ExtensionAliasesV3, PluginCreateError};

use super::codec::typesize;
use super::{ArrayOptions, BtuneCodec, PortableBlosc};

/// The core codec.
const BLOSC: &str = "blosc";

/// Makes a [`BtuneCodec`] for each of its names: its own, and those of others who store Blosc2 chunks (`imagecodecs`,
/// `ocf_blosc2`, and `VirtualiZarr` for the HDF5 filter 32026).
struct Btune;

zarrs_plugin::impl_extension_aliases!(
    Btune,
    v3: "btune", ["imagecodecs_blosc2", "blosc2", "numcodecs.blosc2"],
    v2: "btune", ["imagecodecs_blosc2", "blosc2"]
);

inventory::submit! { CodecPluginV3::new::<Btune>() }
inventory::submit! { CodecPluginV2::new::<Btune>() }

impl CodecTraitsV3 for Btune {
    fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
        let configuration = metadata.configuration().cloned().unwrap_or_default();
        created(metadata.name(), BtuneCodec::from_metadata(metadata.name(), &configuration))
    }
}

impl CodecTraitsV2 for Btune {
    fn create(metadata: &MetadataV2) -> Result<Codec, PluginCreateError> {
        let codec = BtuneCodec::from_metadata(metadata.id(), metadata.configuration());
        created(metadata.id(), codec)
    }
}

/// Names the codec in the error: an array may have several.
fn created(
    name: &str,
    codec: Result<BtuneCodec, PluginCreateError>,
) -> Result<Codec, PluginCreateError> {
    match codec {
        Ok(codec) => Ok(Codec::BytesToBytes(Arc::new(codec))),
        Err(error) => Err(format!("codec {name}: {error}").into()),
    }
}

/// Registers the codec with zarrs. A program that refers to this crate in any other way needs no call: it is linked,
/// and zarrs finds it.
pub fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        register_codec_v3(CodecRuntimePluginV3::new(
            Btune::matches_name_v3,
            <Btune as CodecTraitsV3>::create,
        ));
        register_codec_v2(CodecRuntimePluginV2::new(
            Btune::matches_name_v2,
            <Btune as CodecTraitsV2>::create,
        ));
    });
}

/// Lets arrays of Zarr version 3 whose codec is `blosc` be encoded tuned, if they are opened or created from now on. The
/// metadata does not change, and every reader of `blosc` reads the chunks. `zarrs_codec::unregister_codec_v3` with the
/// handle undoes it. (For arrays of version 2 zarrs takes its own codec `blosc`, whatever is registered.)
#[must_use = "the handle is what undoes it"]
pub fn register_portable_blosc(options: ArrayOptions) -> CodecRuntimeRegistryHandleV3 {
    register_codec_v3(CodecRuntimePluginV3::new(
        |name| name == BLOSC,
        move |metadata: &MetadataV3| portable(metadata, &options),
    ))
}

fn portable(metadata: &MetadataV3, options: &ArrayOptions) -> Result<Codec, PluginCreateError> {
    let stock = inventory::iter::<CodecPluginV3>
        .into_iter()
        .find(|plugin| plugin.match_name(BLOSC))
        .ok_or_else(|| "the codec blosc is not built into zarrs: enable its feature".to_owned())?;
    match stock.create(metadata)? {
        Codec::BytesToBytes(stock) => {
            let typesize = metadata.configuration().and_then(typesize).unwrap_or(1);
            Ok(Codec::BytesToBytes(Arc::new(PortableBlosc::new(stock, typesize, options))))
        }
        other => Ok(other),
    }
}
