//! The nodes that change how a row is written, not what is in it.

use super::graph::{Chain, ONE_CHAIN, RANGE};
use super::messages::Node;
use super::tensor::FLOAT;
use crate::error::OnnxError;

impl Chain<'_> {
    pub(super) fn cast(&self, node: &Node<'_>) -> Result<(), OnnxError> {
        self.alone(node, &["to", "saturate", "round_mode"])?;
        if node.int("to", 0)? == FLOAT {
            return Ok(());
        }
        Err(node.refuse("only a cast to float is read"))
    }

    /// The attribute `axis`, from 0 to the number of dimensions.
    pub(super) fn axis(&self, node: &Node<'_>, default: i64) -> Result<usize, OnnxError> {
        let rank = self.dims.len();
        let axis = node.int("axis", default)?;
        let axis = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
        let axis = usize::try_from(axis).ok().filter(|&axis| axis <= rank);
        axis.ok_or_else(|| node.refuse(RANGE))
    }

    pub(super) fn flatten(&mut self, node: &Node<'_>) -> Result<(), OnnxError> {
        self.alone(node, &["axis"])?;
        let (left, right) = self.dims.split_at(self.axis(node, 1)?);
        self.dims = vec![left.iter().product(), right.iter().product()];
        Ok(())
    }

    pub(super) fn reshape(&mut self, node: &Node<'_>) -> Result<(), OnnxError> {
        Self::attributes(node, &["allowzero"])?;
        let shape = match node.inputs[..] {
            [row, shape] if self.is_row(row) => self.graph.tensors.get(shape),
            _ => None,
        };
        let shape = shape.ok_or_else(|| node.refuse(ONE_CHAIN))?.shape()?;
        let keep = node.int("allowzero", 0)? == 0;
        self.dims = reshaped(&shape, &self.dims, keep)
            .ok_or_else(|| node.refuse("its shape has not as many numbers as its input"))?;
        Ok(())
    }
}

/// The dimensions that a row of dimensions `old` gets: of a `shape`, 0 keeps a dimension and -1 is
/// what is left. `None` if it does not fit.
fn reshaped(shape: &[i64], old: &[usize], keep: bool) -> Option<Vec<usize>> {
    let mut left = None;
    let mut dims = Vec::with_capacity(shape.len());
    for (at, &dim) in shape.iter().enumerate() {
        dims.push(match dim {
            0 if keep => *old.get(at)?,
            -1 if left.is_none() => {
                left = Some(at);
                1
            }
            dim => usize::try_from(dim).ok()?,
        });
    }
    let count = |dims: &[usize]| dims.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
    let width = count(old)?;
    if let Some(at) = left {
        dims[at] = width.checked_div(count(&dims)?)?;
    }
    (count(&dims)? == width).then_some(dims)
}
