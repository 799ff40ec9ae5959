//! What stored chunks say of how they were compressed.

use btune::blosc::{ChunkHeader, Intent, Params, Stored};
use btune::{Cparams, FrameError};

use crate::abi::btune_record;

/// The record of a frame or a chunk, and whether it was stored with it: else it is what the chunk's header
/// shows.
///
/// # Errors
/// [`FrameError`] for what is no frame or chunk of Blosc2, or not a valid one.
pub(crate) fn read(stored: &[u8]) -> Result<(btune_record, bool), FrameError> {
    let stored = Stored::parse(stored)?;
    if let Some(record) = stored.record() {
        return Ok((btune_record::new(record), true));
    }
    Ok((of_header(stored.header(), &Intent::default()), false))
}

/// What the header of a chunk shows that someone else has compressed.
pub(crate) fn of_header(header: &ChunkHeader, intent: &Intent) -> btune_record {
    // Nothing of these parameters is in what the header shows, but for the level.
    let params =
        Params::new(header.nbytes, header.typesize, &Cparams { clevel: 1, ..Cparams::STORE });
    let record = btune_record::new(&params.record(header, intent));
    let clevel = if record.clevel == 0 { 0 } else { btune_record::UNKNOWN_LEVEL };
    btune_record { clevel, nthreads: 0, tradeoff: [0.0; 3], ..record }
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::blosc::{Backend, Form, frame_bound};
    use btune::{BlockSize, Chunk, Codec, Filter, SplitMode};

    #[test]
    fn a_frame_with_a_record_and_a_chunk_without() {
        let bytes: Vec<u8> = (0..50_000u32).flat_map(|i| (i * i / 3).to_le_bytes()).collect();
        let chunk = Chunk::new(&bytes, 4);
        let cparams = Cparams {
            codec: Codec::Zstd,
            filter: Filter::ByteDelta,
            clevel: 3,
            split: SplitMode::Never,
            block_size: BlockSize::Bytes(8192),
            threads: 1,
        };
        let mut backend = Backend::new();
        let mut frame = vec![0; frame_bound(bytes.len(), &Form::Plain)];
        let intent = Intent::default();
        let encoded = backend
            .encode_frame(&chunk, &Form::Plain, &cparams, Some(&intent), false, &mut frame)
            .unwrap();
        let (record, found) = read(&frame[..encoded.len]).unwrap();
        assert!(found);
        assert_eq!((record.codec, record.clevel, record.nthreads), (5, 3, 1));
        assert!((record.tradeoff[0] - 0.5).abs() < 1e-6 && record.tradeoff[2] == 0.0);

        let mut plain = Vec::new();
        backend.compress(&chunk, &cparams, false, &mut plain).unwrap();
        let (record, found) = read(&plain).unwrap();
        assert!(!found);
        assert_eq!((record.codec, record.clevel, record.blocksize), (5, 255, 8192));
        assert_eq!(record.filters, [0, 0, 0, 0, 1, 35]);

        backend.compress(&chunk, &Cparams::STORE, false, &mut plain).unwrap();
        assert_eq!(read(&plain).unwrap().0.clevel, 0);
        assert!(read(b"no frame").is_err());
    }
}
