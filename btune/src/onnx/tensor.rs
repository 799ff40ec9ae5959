//! Constants of a graph.

use super::wire::{Fields, Value};
use super::{MAX_PARAMETERS, capped};
use crate::error::OnnxError;

/// Dimensions of a tensor at most, and integers in one.
pub(super) const MAX_RANK: usize = 8;
/// `TensorProto.DataType` of what can be read.
pub(super) const FLOAT: i64 = 1;
const INT64: i64 = 7;
/// `TensorProto.DataLocation` of data in another file.
const EXTERNAL: i64 = 1;

/// A tensor as it is in the file.
#[derive(Default)]
pub(super) struct Tensor<'a> {
    pub(super) name: &'a str,
    dims: Vec<i64>,
    data_type: i64,
    raw: Option<&'a [u8]>,
    floats: Vec<f32>,
    ints: Vec<i64>,
}

/// The numbers of a `float` tensor, in row-major order.
pub(super) struct Floats {
    pub(super) dims: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// Checks dimensions and multiplies them.
pub(super) fn sizes(dims: &[i64], cap: usize) -> Option<(Vec<usize>, usize)> {
    let sizes: Vec<_> =
        dims.iter().map(|&dim| usize::try_from(dim)).collect::<Result<_, _>>().ok()?;
    let count = sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
    (1..=cap).contains(&count).then_some((sizes, count))
}

impl<'a> Tensor<'a> {
    pub(super) fn parse(message: Value<'a>) -> Result<Self, OnnxError> {
        let mut tensor = Self::default();
        let mut external = false;
        for field in message.fields()? {
            let (number, value) = field?;
            match number {
                1 => value.ints(&mut tensor.dims, MAX_RANK)?,
                2 => tensor.data_type = value.int()?,
                4 => value.floats(&mut tensor.floats)?,
                7 => value.ints(&mut tensor.ints, MAX_RANK)?,
                8 => tensor.name = value.text()?,
                9 => tensor.raw = Some(value.bytes()?),
                13 => external = true,
                14 => external |= value.int()? == EXTERNAL,
                _ => {}
            }
        }
        if external {
            return Err(tensor.refuse("its data is in another file: it must be in the model"));
        }
        Ok(tensor)
    }

    fn refuse(&self, why: &'static str) -> OnnxError {
        OnnxError::tensor(self.name, why)
    }

    /// The numbers of a `float` tensor; any number of dimensions, none of size 0.
    pub(super) fn floats(&self) -> Result<Floats, OnnxError> {
        if self.data_type != FLOAT {
            return Err(self.refuse("its numbers must be of type float"));
        }
        let (dims, count) = sizes(&self.dims, usize::MAX)
            .ok_or_else(|| self.refuse("its dimensions must be 1 or more"))?;
        capped("numbers in a tensor", count, MAX_PARAMETERS)?;
        let values = match self.raw {
            Some(raw) if self.floats.is_empty() => {
                let mut values = Vec::new();
                Value::Bytes(raw).floats(&mut values)?;
                values
            }
            Some(_) => return Err(self.refuse("it has data of two kinds")),
            None => self.floats.clone(),
        };
        if values.len() != count {
            return Err(self.refuse("it has not as many numbers as its dimensions say"));
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err(self.refuse("its numbers must be finite"));
        }
        Ok(Floats { dims, values })
    }

    /// The numbers of an `int64` tensor of one dimension: a shape.
    pub(super) fn shape(&self) -> Result<Vec<i64>, OnnxError> {
        if self.data_type != INT64 {
            return Err(self.refuse("a shape must be of type int64"));
        }
        let ints = match self.raw {
            Some(raw) => {
                let (words, rest) = raw.as_chunks();
                capped("integers in a list", words.len(), MAX_RANK)?;
                if !rest.is_empty() || !self.ints.is_empty() {
                    return Err(self.refuse("its data is not whole"));
                }
                words.iter().map(|word| i64::from_le_bytes(*word)).collect()
            }
            None => self.ints.clone(),
        };
        let [count] = self.dims[..] else {
            return Err(self.refuse("a shape must have one dimension"));
        };
        if usize::try_from(count) != Ok(ints.len()) {
            return Err(self.refuse("it has not as many numbers as its dimensions say"));
        }
        Ok(ints)
    }
}

/// The name and the dimensions of an input or output.
pub(super) struct Port<'a> {
    pub(super) name: &'a str,
    pub(super) elem_type: i64,
    /// `None` is a dimension that has a name or nothing; no list at all is an unknown rank.
    pub(super) dims: Option<Vec<Option<i64>>>,
}

impl<'a> Port<'a> {
    pub(super) fn parse(message: Value<'a>) -> Result<Self, OnnxError> {
        let mut port = Self { name: "", elem_type: 0, dims: None };
        for field in message.fields()? {
            match field? {
                (1, value) => port.name = value.text()?,
                (2, value) => port.parse_type(value.fields()?)?,
                _ => {}
            }
        }
        Ok(port)
    }

    fn parse_type(&mut self, fields: Fields<'a>) -> Result<(), OnnxError> {
        for field in fields {
            // Sequences, maps and so on leave the type of elements unknown.
            let (1, tensor) = field? else { continue };
            for field in tensor.fields()? {
                match field? {
                    (1, value) => self.elem_type = value.int()?,
                    (2, value) => self.parse_shape(value.fields()?)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn parse_shape(&mut self, fields: Fields<'a>) -> Result<(), OnnxError> {
        let dims = self.dims.get_or_insert_default();
        for field in fields {
            let (1, message) = field? else { continue };
            let mut size = None;
            for field in message.fields()? {
                match field? {
                    (1, value) => size = Some(value.int()?),
                    (2, _) => size = None,
                    _ => {}
                }
            }
            dims.push(size);
            capped("dimensions", dims.len(), MAX_RANK)?;
        }
        Ok(())
    }
}
