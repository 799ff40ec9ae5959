//! The little of `MessagePack` that frames use: big-endian numbers behind marker bytes.

use crate::error::FrameError;

/// Markers.
pub(super) const BIN32: u8 = 0xc6;
pub(super) const U16: u8 = 0xcd;
pub(super) const U32: u8 = 0xce;
pub(super) const U64: u8 = 0xcf;
pub(super) const I16: u8 = 0xd1;
pub(super) const I32: u8 = 0xd2;
pub(super) const I64: u8 = 0xd3;
pub(super) const FIXEXT16: u8 = 0xd8;
pub(super) const STR32: u8 = 0xdb;
pub(super) const ARRAY16: u8 = 0xdc;
pub(super) const MAP16: u8 = 0xde;
pub(super) const FIXARRAY: u8 = 0x90;
pub(super) const FIXSTR: u8 = 0xa0;
pub(super) const FALSE: u8 = 0xc2;

/// Reads from the front of some bytes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// `what` is named in errors.
    pub(super) const fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    pub(super) fn invalid(&self, why: &'static str) -> FrameError {
        FrameError::Invalid { what: self.what, why }
    }

    pub(super) fn bytes(&mut self, n: usize) -> Result<&'a [u8], FrameError> {
        let (front, rest) = self.rest.split_at_checked(n).ok_or(FrameError::Truncated {
            what: self.what,
            needed: n,
            available: self.rest.len(),
        })?;
        self.rest = rest;
        Ok(front)
    }

    pub(super) fn byte(&mut self) -> Result<u8, FrameError> {
        Ok(self.bytes(1)?[0])
    }

    /// The next byte must be this one.
    pub(super) fn marker(&mut self, marker: u8) -> Result<(), FrameError> {
        if self.byte()? == marker {
            Ok(())
        } else {
            Err(self.invalid("a marker is not the one expected"))
        }
    }

    /// A marker and a big-endian number of `N` bytes after it.
    fn number<const N: usize>(&mut self, marker: u8) -> Result<[u8; N], FrameError> {
        self.marker(marker)?;
        self.bytes(N)?.first_chunk().copied().ok_or(self.invalid("a number is cut off"))
    }

    pub(super) fn u16(&mut self, marker: u8) -> Result<usize, FrameError> {
        self.number(marker).map(|b| usize::from(u16::from_be_bytes(b)))
    }

    pub(super) fn u32(&mut self, marker: u8) -> Result<usize, FrameError> {
        self.number(marker).map(|b| u32::from_be_bytes(b) as usize)
    }

    /// A number that must not be negative.
    pub(super) fn i32(&mut self) -> Result<usize, FrameError> {
        let value = i32::from_be_bytes(self.number(I32)?);
        usize::try_from(value).map_err(|_| self.invalid("a number is negative"))
    }

    /// A number that must not be negative.
    pub(super) fn i64(&mut self, marker: u8) -> Result<usize, FrameError> {
        let value = i64::from_be_bytes(self.number(marker)?);
        usize::try_from(value).map_err(|_| self.invalid("a number is negative or too large"))
    }
}

/// Writes to the end of some bytes.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        Self(buffer)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn u16(&mut self, marker: u8, value: usize) -> &mut Self {
        self.bytes(&[marker]).bytes(&(value as u16).to_be_bytes())
    }

    pub(super) fn u32(&mut self, marker: u8, value: usize) -> &mut Self {
        self.bytes(&[marker]).bytes(&(value as u32).to_be_bytes())
    }

    pub(super) fn u64(&mut self, marker: u8, value: usize) -> &mut Self {
        self.bytes(&[marker]).bytes(&(value as u64).to_be_bytes())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts a number where there are four bytes for it.
    pub(super) fn patch_u32(&mut self, at: usize, value: usize) {
        self.0[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes());
    }
}
