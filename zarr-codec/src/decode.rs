//! Decompression of a stored chunk, of whatever form.

use btune::blosc::Stored;
use btune::{BackendError, FrameError};

use crate::blocks::chunk_of;
use crate::blosc1;
use crate::error::Error;
use crate::worker::Worker;

/// The bytes of a chunk that is stored as a Blosc2 frame (of bytes or of an array), a Blosc2 chunk or a Blosc chunk.
///
/// # Errors
/// [`Error::Backend`] for bytes that are none of these, or not valid to the last byte.
pub fn decoded_size(stored: &[u8]) -> Result<usize, Error> {
    Ok(parse(stored)?.nbytes())
}

/// The chunk, in C order.
///
/// # Errors
/// As [`decoded_size`], where it cannot be decompressed, and [`Error::Memory`].
pub fn decode(stored: &[u8]) -> Result<Vec<u8>, Error> {
    decode_parsed(&parse(stored)?, stored)
}

/// The chunk, in C order, at the front of `dest`. Returns how many bytes were written.
///
/// # Errors
/// As [`decode`], and [`Error::Destination`].
pub fn decode_into(stored: &[u8], dest: &mut [u8]) -> Result<usize, Error> {
    let parsed = parse(stored)?;
    let (needed, available) = (parsed.nbytes(), dest.len());
    let dest = dest.get_mut(..needed).ok_or(Error::Destination { needed, available })?;
    decode_to(&parsed, stored, dest)?;
    Ok(needed)
}

pub(crate) fn parse(stored: &[u8]) -> Result<Stored<'_>, Error> {
    Ok(Stored::parse(stored).map_err(BackendError::from)?)
}

/// What was found in `bytes`.
pub(crate) fn decode_parsed(stored: &Stored<'_>, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut chunk = zeros(stored.nbytes())?;
    decode_to(stored, bytes, &mut chunk)?;
    Ok(chunk)
}

/// What was found in `bytes`, to exactly `dest`.
fn decode_to(stored: &Stored<'_>, bytes: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    if stored.header().is_misread() {
        let why = "it is a chunk of Blosc with bitshuffle, and not where frames have their chunk";
        let error = BackendError::from(FrameError::Unsupported { what: "frame", why });
        let chunk = chunk_of(stored.form(), stored.header(), bytes).ok_or(error)?;
        return blosc1::decompress(chunk, dest);
    }
    Ok(Worker::with(|worker| worker.backend.decode(stored, dest))?)
}

/// A few stored bytes can stand for 2 GiB, which there may be no memory for.
pub(crate) fn zeros(len: usize) -> Result<Vec<u8>, Error> {
    // The memory of `vec![0; len]` is zeroed by the system; whether there is as much is asked first.
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| Error::Memory(len))?;
    Ok(vec![0; len])
}

#[cfg(test)]
mod tests;
