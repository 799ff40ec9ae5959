//! The codec for the `zarrs` crate.

mod array_options;
mod codec;
mod partial_decoder;
mod plugin;
mod portable;

pub use array_options::ArrayOptions;
pub use codec::BtuneCodec;
pub use plugin::{register, register_portable_blosc};
pub use portable::PortableBlosc;

use zarrs_codec::{
    BytesRepresentation, CodecError, PartialDecoderCapability, PartialEncoderCapability,
};

use crate::codec::Codec;
use crate::error::Error;

/// All stored bytes are needed, but not all blocks are decompressed.
const PARTIAL_DECODER: PartialDecoderCapability =
    PartialDecoderCapability { partial_read: false, partial_decode: true };
/// A chunk is encoded as a whole.
const PARTIAL_ENCODER: PartialEncoderCapability =
    PartialEncoderCapability { partial_encode: false };

fn codec_error(error: &Error) -> CodecError {
    CodecError::Other(format!("btune: {error}"))
}

/// The size of what a chunk is stored in.
fn bounded(codec: &Codec, decoded: &BytesRepresentation) -> BytesRepresentation {
    decoded.size().map_or(BytesRepresentation::UnboundedSize, |size| {
        let bound = usize::try_from(size).map_or(u64::MAX, |size| codec.bound(size) as u64);
        BytesRepresentation::BoundedSize(bound)
    })
}

/// A chunk of a few bytes may claim to hold 2 GiB: what it holds must be what the array expects.
fn check_size(stored: usize, decoded: &BytesRepresentation) -> Result<(), Error> {
    let fits = match *decoded {
        BytesRepresentation::FixedSize(size) => stored as u64 == size,
        BytesRepresentation::BoundedSize(size) => stored as u64 <= size,
        BytesRepresentation::UnboundedSize => true,
    };
    let expected = decoded.size().unwrap_or(0);
    if fits { Ok(()) } else { Err(Error::Size { stored, expected }) }
}
