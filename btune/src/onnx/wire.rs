//! The wire format of Protocol Buffers, as much of it as ONNX files need.
//!
//! Values borrow from the file, so that a short file cannot ask for much memory: a generated reader
//! makes a struct of hundreds of bytes from a message of two.

use crate::error::OnnxError;

/// One value, before it is known what the field holds.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Varint(u64),
    Fixed32([u8; 4]),
    Fixed64,
    Bytes(&'a [u8]),
}

const TRUNCATED: OnnxError = OnnxError::Wire("it is cut off");
const KIND: OnnxError = OnnxError::Wire("a field holds a value of another kind");

impl<'a> Value<'a> {
    pub(super) fn int(self) -> Result<i64, OnnxError> {
        match self {
            Self::Varint(value) => Ok(value.cast_signed()),
            _ => Err(KIND),
        }
    }

    pub(super) fn float(self) -> Result<f32, OnnxError> {
        match self {
            Self::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(KIND),
        }
    }

    pub(super) fn bytes(self) -> Result<&'a [u8], OnnxError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(KIND),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, OnnxError> {
        str::from_utf8(self.bytes()?).map_err(|_| OnnxError::Wire("a text is not UTF-8"))
    }

    pub(super) fn fields(self) -> Result<Fields<'a>, OnnxError> {
        self.bytes().map(Fields)
    }

    /// Appends the numbers of a repeated field, which is packed or not, up to `cap` of them.
    pub(super) fn ints(self, list: &mut Vec<i64>, cap: usize) -> Result<(), OnnxError> {
        let mut packed = match self {
            Self::Bytes(packed) => packed,
            value => {
                list.push(value.int()?);
                return super::capped("integers in a list", list.len(), cap);
            }
        };
        while !packed.is_empty() {
            list.push(varint(&mut packed)?.cast_signed());
            super::capped("integers in a list", list.len(), cap)?;
        }
        Ok(())
    }

    /// Appends the numbers of a repeated field, which is packed or not.
    pub(super) fn floats(self, list: &mut Vec<f32>) -> Result<(), OnnxError> {
        let Self::Bytes(packed) = self else {
            list.push(self.float()?);
            return Ok(());
        };
        let (words, rest) = packed.as_chunks();
        if !rest.is_empty() {
            return Err(TRUNCATED);
        }
        list.extend(words.iter().map(|word| f32::from_le_bytes(*word)));
        Ok(())
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, OnnxError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(TRUNCATED)?;
        *bytes = rest;
        // Of the tenth byte one bit is left, which is not checked: nor do other readers.
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(OnnxError::Wire("a number has more than ten bytes"))
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], OnnxError> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or(TRUNCATED)?;
    *bytes = rest;
    Ok(taken)
}

/// The fields of a message, in the order of the file.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u64, Value<'a>), OnnxError> {
        let key = varint(&mut self.0)?;
        let value = match key & 7 {
            0 => Value::Varint(varint(&mut self.0)?),
            1 => {
                take(&mut self.0, 8)?;
                Value::Fixed64
            }
            2 => {
                let length = usize::try_from(varint(&mut self.0)?).map_err(|_| TRUNCATED)?;
                Value::Bytes(take(&mut self.0, length)?)
            }
            5 => {
                let (word, rest) = self.0.split_first_chunk().ok_or(TRUNCATED)?;
                self.0 = rest;
                Value::Fixed32(*word)
            }
            _ => return Err(OnnxError::Wire("a field is of an unknown kind")),
        };
        match key >> 3 {
            0 => Err(OnnxError::Wire("a field has the number 0")),
            number => Ok((number, value)),
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    /// The number of the field and a value.
    type Item = Result<(u64, Value<'a>), OnnxError>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.field())
    }
}

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(super) fn int(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
