//! The core codec `blosc` with chunks that are tuned.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use btune::{BackendError, FrameError};
use zarrs_codec::{
    ArrayBytesRaw, BytesPartialDecoderTraits, BytesRepresentation, BytesToBytesCodecTraits,
    CodecError, CodecMetadataOptions, CodecOptions, CodecSpecificOptions, CodecTraits,
    PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs_metadata::Configuration as Metadata;
use zarrs_plugin::{ExtensionName, ZarrVersion};

use super::codec::decode;
use super::partial_decoder::PartialDecoder;
use super::{ArrayOptions, PARTIAL_DECODER, PARTIAL_ENCODER, bounded, codec_error};
use crate::codec::Codec;
use crate::error::Error;
use crate::format::Format;
use crate::options::Options;

/// A codec `blosc` of an array, of which only the encoding is replaced: the metadata is that of the stock codec, and
/// every reader of `blosc` reads the chunks.
#[derive(Debug)]
pub struct PortableBlosc {
    stock: Arc<dyn BytesToBytesCodecTraits>,
    options: Options,
    codec: Codec,
}

impl PortableBlosc {
    /// The codec in place of `stock`, which is a codec `blosc` for elements of `typesize` bytes.
    #[must_use]
    pub fn new(
        stock: Arc<dyn BytesToBytesCodecTraits>,
        typesize: usize,
        options: &ArrayOptions,
    ) -> Self {
        let blosc = Options { format: Format::Blosc, typesize, ..Options::default() };
        Self::made(stock, options.over(blosc))
    }

    fn made(stock: Arc<dyn BytesToBytesCodecTraits>, options: Options) -> Self {
        Self { stock, codec: Codec::new(options.clone()), options }
    }
}

/// Whether a chunk is not for us to read: of a codec that is not built in here, such as snappy.
pub(super) fn is_foreign(error: &Error) -> bool {
    matches!(error, Error::Backend(BackendError::Frame(FrameError::Unsupported { .. })))
}

impl ExtensionName for PortableBlosc {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        self.stock.name(version)
    }
}

impl CodecTraits for PortableBlosc {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn configuration(
        &self,
        version: ZarrVersion,
        options: &CodecMetadataOptions,
    ) -> Option<Metadata> {
        self.stock.configuration(version, options)
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PARTIAL_DECODER
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PARTIAL_ENCODER
    }
}

impl BytesToBytesCodecTraits for PortableBlosc {
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
                Arc::new(Self::made(Arc::clone(&self.stock), options))
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
        options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        match decode(&encoded_value, decoded) {
            Ok(chunk) => Ok(Cow::Owned(chunk)),
            Err(error) if is_foreign(&error) => self.stock.decode(encoded_value, decoded, options),
            Err(error) => Err(codec_error(&error)),
        }
    }

    fn partial_decoder(
        self: Arc<Self>,
        input_handle: Arc<dyn BytesPartialDecoderTraits>,
        decoded: &BytesRepresentation,
        _options: &CodecOptions,
    ) -> Result<Arc<dyn BytesPartialDecoderTraits>, CodecError> {
        let stock = Some(Arc::clone(&self.stock));
        Ok(Arc::new(PartialDecoder::new(input_handle, *decoded, stock)))
    }
}
