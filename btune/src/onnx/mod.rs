//! Plain networks in ONNX files: read with suspicion, evaluated without any runtime, and written.
//!
//! What is understood are chains of dense layers: `Gemm`, `MatMul`, arithmetic with constants, `Relu`, `Sigmoid`,
//! `Tanh`, `Softmax`, and what changes nothing (`Identity`, `Flatten`, `Reshape`, `Cast` to float). One row of
//! 32-bit floats goes in, one comes out.

mod dense;
mod proto;
mod read;
mod write;

use std::collections::BTreeMap;

use crate::error::OnnxError;

use dense::Dense;

/// The most bytes that a file may have.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// The most numbers in a row, between any two layers.
pub(crate) const MAX_WIDTH: usize = 4096;
/// The most layers.
pub(crate) const MAX_LAYERS: usize = 64;
/// The most weights of a network: those of a file of the greatest length.
pub(crate) const MAX_WEIGHTS: usize = MAX_FILE_BYTES / 4;

/// What is done to each output of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// The greater one of it and 0.
    Relu,
    /// `1 / (1 + exp(-x))`
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `exp(x)`, divided by the sum over all outputs.
    Softmax,
}

/// A dense layer: `activation(weights · input + bias)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// A row for each output, with a number for each input.
    pub weights: Vec<f32>,
    /// A number for each output.
    pub bias: Vec<f32>,
    /// What follows.
    pub activation: Activation,
}

/// Room for what is between two layers, so that evaluation allocates nothing when it is used again.
#[derive(Debug, Default)]
pub struct Scratch(Vec<f32>);

/// A network of dense layers.
///
/// ```
/// use btune::onnx::{Activation, Layer, Network, Scratch};
///
/// let layer = Layer { weights: vec![1.0, 2.0, 3.0, 4.0], bias: vec![0.0, -20.0], activation: Activation::Relu };
/// let network = Network::new(vec![layer], [("made by".into(), "hand".into())].into())?;
/// let network = Network::from_onnx(&network.to_onnx())?;
/// let mut output = Vec::new();
/// network.run(&[1.0, 1.0], &mut output, &mut Scratch::default());
/// assert_eq!(output, [3.0, 0.0]);
/// assert_eq!(network.metadata()["made by"], "hand");
/// # Ok::<(), btune::OnnxError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    layers: Vec<Dense>,
    metadata: BTreeMap<String, String>,
}

impl Network {
    /// A network of these layers, first one first.
    ///
    /// # Errors
    /// [`OnnxError`] where the layers do not fit together, where there are none or too many, and where a number is not
    /// finite.
    pub fn new(
        layers: Vec<Layer>,
        metadata: BTreeMap<String, String>,
    ) -> Result<Self, OnnxError> {
        let layers = layers.iter().map(Dense::new).collect::<Result<Vec<_>, _>>()?;
        Self::of_dense(layers, metadata)
    }

    fn of_dense(
        layers: Vec<Dense>,
        metadata: BTreeMap<String, String>,
    ) -> Result<Self, OnnxError> {
        if layers.is_empty() || layers.len() > MAX_LAYERS {
            return Err(OnnxError::Limit { what: "layers", found: layers.len(), most: MAX_LAYERS });
        }
        let weights = layers.iter().map(Dense::weights).sum();
        if weights > MAX_WEIGHTS {
            return Err(OnnxError::Limit { what: "weights", found: weights, most: MAX_WEIGHTS });
        }
        if layers.windows(2).any(|pair| pair[0].outputs() != pair[1].inputs()) {
            return Err(OnnxError::Shape("a layer takes another number of inputs than the one before gives"));
        }
        if !layers.iter().all(Dense::is_finite) {
            return Err(OnnxError::NotFinite);
        }
        Ok(Self { layers, metadata })
    }

    /// Reads an ONNX file.
    ///
    /// # Errors
    /// [`OnnxError`] for what is no ONNX file, and for any network of another kind: see the module.
    pub fn from_onnx(bytes: &[u8]) -> Result<Self, OnnxError> {
        read::network(bytes)
    }

    /// An ONNX file (opset 13, IR version 7) with the input `features` and the output `costs`.
    #[must_use]
    pub fn to_onnx(&self) -> Vec<u8> {
        write::network(self)
    }

    /// Numbers that go in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.layers.first().map_or(0, Dense::inputs)
    }

    /// Numbers that come out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, Dense::outputs)
    }

    /// What the file says of itself.
    #[must_use]
    pub const fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Evaluates the network. Missing inputs are taken as 0, and inputs too many are not looked at. The result is
    /// the same on every processor.
    pub fn run(&self, input: &[f32], output: &mut Vec<f32>, scratch: &mut Scratch) {
        output.clear();
        output.extend_from_slice(&input[..input.len().min(self.inputs())]);
        output.resize(self.inputs(), 0.0);
        for layer in &self.layers {
            layer.run(output, &mut scratch.0);
            std::mem::swap(output, &mut scratch.0);
        }
    }
}

#[cfg(test)]
mod tests;
