//! Small neural networks as ONNX files: reading, evaluating and writing them.
//!
//! A [`Network`] is a chain of dense layers that turns one row of numbers into another. Files that
//! hold more than such a chain are refused; where one is to be used all the same, `Runtime` runs it
//! in the ONNX Runtime library that the user names. Only that one touches the world.

mod fold;
mod graph;
mod kernel;
mod messages;
mod network;
#[cfg(feature = "runtime")]
mod runtime;
mod shape;
mod tensor;
mod wire;
mod write;

pub use network::{Activation, Layer, Network, Scratch};
#[cfg(feature = "runtime")]
pub use runtime::Runtime;

use crate::error::OnnxError;

/// Bytes of a file at most.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// Nodes of a graph at most, and as many initializers.
pub const MAX_NODES: usize = 256;
/// Layers of a network at most.
pub const MAX_LAYERS: usize = 32;
/// Numbers in a row at most, also between the layers.
pub const MAX_WIDTH: usize = 4096;
/// Weights and biases of a network at most: 2 MiB.
pub const MAX_PARAMETERS: usize = 1 << 19;
/// Pairs of metadata at most.
pub const MAX_METADATA: usize = 128;
/// Bytes of all keys and values of the metadata at most.
pub const MAX_METADATA_BYTES: usize = 1 << 20;

/// Refuses more than `cap`.
fn capped(what: &'static str, number: usize, cap: usize) -> Result<(), OnnxError> {
    if number > cap {
        return Err(OnnxError::TooLarge { what, number, cap });
    }
    Ok(())
}

#[cfg(test)]
mod refusals;
#[cfg(test)]
mod tests;
