//! Reading of parts of a chunk.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zarrs_codec::{
    ArrayBytesRaw, BytesPartialDecoderTraits, BytesRepresentation, BytesToBytesCodecTraits,
    CodecError, CodecOptions,
};
use zarrs_storage::StorageError;
use zarrs_storage::byte_range::{ByteRange, ByteRangeIterator, extract_byte_ranges};

use super::portable::is_foreign;
use super::{check_size, codec_error};
use crate::decode::parse;
use crate::error::Error;
use crate::partial::ranges_of;

/// Decompresses only the blocks that are asked for. The stored bytes are read as a whole.
pub(super) struct PartialDecoder {
    input: Arc<dyn BytesPartialDecoderTraits>,
    decoded: BytesRepresentation,
    /// What decodes chunks that are not for us to read.
    stock: Option<Arc<dyn BytesToBytesCodecTraits>>,
}

impl PartialDecoder {
    pub(super) fn new(
        input: Arc<dyn BytesPartialDecoderTraits>,
        decoded: BytesRepresentation,
        stock: Option<Arc<dyn BytesToBytesCodecTraits>>,
    ) -> Self {
        Self { input, decoded, stock }
    }

    fn parts(&self, stored: &[u8], regions: &[ByteRange]) -> Result<Vec<Vec<u8>>, Error> {
        let parsed = parse(stored)?;
        let nbytes = parsed.nbytes();
        check_size(nbytes, &self.decoded)?;
        let ranges: Vec<_> = regions.iter().map(|region| range(*region, nbytes as u64)).collect();
        ranges_of(&parsed, stored, &ranges)
    }
}

/// The bytes of a region, which need not be in the chunk.
fn range(region: ByteRange, nbytes: u64) -> Range<u64> {
    match region {
        ByteRange::FromStart(start, Some(length)) => start..start.saturating_add(length),
        ByteRange::FromStart(start, None) => start..nbytes,
        // One that is too long begins beyond the end.
        ByteRange::Suffix(length) => nbytes.checked_sub(length).unwrap_or(u64::MAX)..nbytes,
    }
}

impl BytesPartialDecoderTraits for PartialDecoder {
    fn exists(&self) -> Result<bool, StorageError> {
        self.input.exists()
    }

    fn size_held(&self) -> usize {
        self.input.size_held()
    }

    fn partial_decode_many(
        &self,
        decoded_regions: ByteRangeIterator<'_>,
        options: &CodecOptions,
    ) -> Result<Option<Vec<ArrayBytesRaw<'_>>>, CodecError> {
        let Some(stored) = self.input.decode(options)? else { return Ok(None) };
        let regions: Vec<_> = decoded_regions.collect();
        let parts = match (self.parts(&stored, &regions), &self.stock) {
            (Err(error), Some(stock)) if is_foreign(&error) => {
                let whole = stock.decode(stored, &self.decoded, options)?;
                extract_byte_ranges(&whole, Box::new(regions.into_iter()))?
            }
            (result, _) => result.map_err(|error| codec_error(&error))?,
        };
        Ok(Some(parts.into_iter().map(Cow::Owned).collect()))
    }

    fn supports_partial_decode(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_of_every_kind_are_ranges() {
        assert_eq!(range(ByteRange::FromStart(3, Some(4)), 10), 3..7);
        assert_eq!(range(ByteRange::FromStart(3, None), 10), 3..10);
        assert_eq!(range(ByteRange::Suffix(4), 10), 6..10);
        assert_eq!(range(ByteRange::Suffix(11), 10).start, u64::MAX);
        assert_eq!(range(ByteRange::FromStart(3, Some(u64::MAX)), 10), 3..u64::MAX);
    }
}
