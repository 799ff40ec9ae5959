//! The bytes-to-bytes codec.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use zarrs_codec::{
    ArrayBytesRaw, BytesPartialDecoderTraits, BytesRepresentation, BytesToBytesCodecTraits,
    CodecError, CodecMetadataOptions, CodecOptions, CodecSpecificOptions, CodecTraits,
    PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs_metadata::Configuration as Metadata;
use zarrs_plugin::{ExtensionName, PluginCreateError, ZarrVersion};

use super::partial_decoder::PartialDecoder;
use super::{ArrayOptions, PARTIAL_DECODER, PARTIAL_ENCODER, bounded, check_size, codec_error};
use crate::codec::Codec;
use crate::config::Configuration;
use crate::decode::{decode_parsed, parse};
use crate::error::Error;
use crate::format::Format;
use crate::options::Options;

/// The name of the codec.
pub(super) const NAME: &str = "btune";
/// The name by which `imagecodecs` reads and writes Blosc2 chunks.
const PORTABLE: &str = "imagecodecs_blosc2";

/// The codec `btune`, and the same for others who store Blosc2 chunks. It reads chunks of every form.
#[derive(Debug)]
pub struct BtuneCodec {
    name: Cow<'static, str>,
    /// As it is in the metadata.
    metadata: Metadata,
    options: Options,
    codec: Codec,
}

impl BtuneCodec {
    /// The codec `btune`.
    ///
    /// # Errors
    /// [`Error::Options`] for a value that is not what it may be.
    pub fn new(configuration: &Configuration) -> Result<Self, Error> {
        let metadata = match serde_json::to_value(configuration) {
            Ok(serde_json::Value::Object(map)) => map.into(),
            _ => Metadata::default(),
        };
        Ok(Self::made(NAME.into(), metadata, configuration.options()?))
    }

    /// The codec under the name `imagecodecs_blosc2`: Blosc2 chunks that `imagecodecs` reads, and nothing in the
    /// metadata. The typesize is in the options.
    #[must_use]
    pub fn portable(options: &ArrayOptions) -> Self {
        let chunk = Options { format: Format::Chunk, bytedelta: false, ..Options::default() };
        Self::made(PORTABLE.into(), Metadata::default(), options.over(chunk))
    }

    /// The codec that metadata asks for. The configuration of others is theirs to define: of that only the typesize
    /// is looked at.
    pub(super) fn from_metadata(
        name: &str,
        metadata: &Metadata,
    ) -> Result<Self, PluginCreateError> {
        let options = if name == NAME {
            let configuration: Configuration = metadata.to_typed()?;
            configuration.options().map_err(|error| error.to_string())?
        } else {
            Options {
                typesize: typesize(metadata).unwrap_or(1),
                format: Format::Chunk,
                bytedelta: false,
                ..Options::default()
            }
        };
        Ok(Self::made(name.to_owned().into(), metadata.clone(), options))
    }

    fn made(name: Cow<'static, str>, metadata: Metadata, options: Options) -> Self {
        Self { name, metadata, codec: Codec::new(options.clone()), options }
    }

    /// What was learnt, for another codec to start from: a small JSON text.
    #[must_use]
    pub fn profile(&self) -> String {
        self.codec.profile()
    }
}

/// The typesize in a configuration.
pub(super) fn typesize(metadata: &Metadata) -> Option<usize> {
    metadata.get("typesize")?.as_u64().and_then(|n| usize::try_from(n).ok())
}

impl ExtensionName for BtuneCodec {
    fn name(&self, _version: ZarrVersion) -> Option<Cow<'static, str>> {
        Some(self.name.clone())
    }
}

impl CodecTraits for BtuneCodec {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(
        &self,
        _version: ZarrVersion,
        _options: &CodecMetadataOptions,
    ) -> Option<Metadata> {
        Some(self.metadata.clone())
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PARTIAL_DECODER
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PARTIAL_ENCODER
    }
}

impl BytesToBytesCodecTraits for BtuneCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn with_codec_specific_options(
        self: Arc<Self>,
        options: &CodecSpecificOptions,
    ) -> Arc<dyn BytesToBytesCodecTraits> {
        match options.get_option::<ArrayOptions>() {
            Some(given) => {
                let options = given.over(self.options.clone());
                Arc::new(Self::made(self.name.clone(), self.metadata.clone(), options))
            }
            None => self,
        }
    }

    fn recommended_concurrency(
        &self,
        _decoded: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(self.codec.threads()))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        bounded(&self.codec, decoded)
    }

    fn encode<'a>(
        &self,
        decoded_value: ArrayBytesRaw<'a>,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        self.codec.encode(&decoded_value).map(Cow::Owned).map_err(|error| codec_error(&error))
    }

    fn decode<'a>(
        &self,
        encoded_value: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        decode(&encoded_value, decoded).map(Cow::Owned).map_err(|error| codec_error(&error))
    }

    fn partial_decoder(
        self: Arc<Self>,
        input_handle: Arc<dyn BytesPartialDecoderTraits>,
        decoded: &BytesRepresentation,
        _options: &CodecOptions,
    ) -> Result<Arc<dyn BytesPartialDecoderTraits>, CodecError> {
        Ok(Arc::new(PartialDecoder::new(input_handle, *decoded, None)))
    }
}

/// The chunk, which must be of the size that the array expects.
pub(super) fn decode(stored: &[u8], decoded: &BytesRepresentation) -> Result<Vec<u8>, Error> {
    let parsed = parse(stored)?;
    check_size(parsed.nbytes(), decoded)?;
    decode_parsed(&parsed, stored)
}
