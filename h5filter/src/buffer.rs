//! A buffer of the C allocator, which HDF5 takes over.
#![allow(unsafe_code, reason = "memory of malloc that HDF5 frees")]

use std::ptr::NonNull;
use std::slice;

use libc::c_void;

use crate::error::FilterError;

/// Bytes from `malloc`, freed when dropped.
pub(crate) struct Buffer {
    start: NonNull<c_void>,
    len: usize,
}

impl Buffer {
    /// `len` bytes, of any value; at least one is allocated.
    pub(crate) fn new(len: usize) -> Result<Self, FilterError> {
        // SAFETY: malloc has no preconditions.
        let start = NonNull::new(unsafe { libc::malloc(len.max(1)) });
        start.map(|start| Self { start, len }).ok_or(FilterError::Memory(len))
    }

    /// `len` bytes of any value, with zeros behind them up to `room` bytes, which are not counted.
    pub(crate) fn with_room(len: usize, room: usize) -> Result<Self, FilterError> {
        let mut buffer = Self::new(room.max(len))?;
        buffer.bytes_mut()[len..].fill(0);
        buffer.len = len;
        Ok(buffer)
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes, to be written before they are read.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start` is an allocation of at least `len` bytes that only this value points to, and
        // every value of a byte is a valid one.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
    }

    /// Hands the allocation over: whoever gets it has to `free` it.
    pub(crate) fn into_raw(self) -> *mut c_void {
        let start = self.start.as_ptr();
        std::mem::forget(self);
        start
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: from malloc, and not handed over.
        unsafe { libc::free(self.start.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn bytes_are_kept_and_impossible_sizes_are_an_error() {
        let mut buffer = Buffer::new(1000).unwrap();
        buffer.bytes_mut().fill(7);
        assert_eq!(buffer.len(), 1000);
        assert!(buffer.bytes_mut().iter().all(|&b| b == 7));
        assert!(Buffer::new(0).is_ok());
        let mut roomy = Buffer::with_room(10, 100).unwrap();
        assert_eq!((roomy.len(), roomy.bytes_mut().len()), (10, 10));
        assert_eq!(Buffer::with_room(10, 0).unwrap().len(), 10);
        // Opaque: an allocation that nobody uses may be optimised away, and then always succeeds.
        let impossible = black_box(Buffer::new(black_box(usize::MAX)));
        assert!(matches!(impossible, Err(FilterError::Memory(usize::MAX))));
    }
}
