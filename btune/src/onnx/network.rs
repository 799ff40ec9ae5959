//! A chain of dense layers.

use std::collections::BTreeMap;

use super::kernel::{Dense, Panel, ZERO};
use super::messages::Model;
use super::{MAX_LAYERS, MAX_METADATA, MAX_METADATA_BYTES, MAX_PARAMETERS, MAX_WIDTH};
use super::{capped, graph, write};
use crate::error::OnnxError;

/// What is applied to the result of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// `max(x, 0)`.
    Relu,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `exp(x)`, divided by the sum over the row.
    Softmax,
}

/// `activation(weights * input + bias)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// `bias.len()` rows, one per output, each with one weight per input.
    pub weights: Vec<f32>,
    /// One term per output.
    pub bias: Vec<f32>,
    /// What is applied to the sums.
    pub activation: Activation,
}

/// A network that turns one row of numbers into another.
#[derive(Debug, Clone)]
pub struct Network {
    layers: Vec<Layer>,
    metadata: BTreeMap<String, String>,
    /// The layers once more, as the kernel wants them.
    dense: Vec<Dense>,
}

/// Memory for [`Network::run`], which any network may use. It grows once.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    row: Vec<Panel>,
    next: Vec<Panel>,
}

/// Two networks are the same if their files are.
impl PartialEq for Network {
    fn eq(&self, other: &Self) -> bool {
        self.layers == other.layers && self.metadata == other.metadata
    }
}

impl Network {
    /// A network of these layers, the first of which takes the input. `metadata` goes into the file.
    ///
    /// # Errors
    ///
    /// If there is no layer, a layer has other inputs than the one before it has outputs, a weight or
    /// bias is not finite, or a cap of this module is exceeded.
    pub fn new(layers: Vec<Layer>, metadata: BTreeMap<String, String>) -> Result<Self, OnnxError> {
        capped("layers", layers.len(), MAX_LAYERS)?;
        capped("pairs of metadata", metadata.len(), MAX_METADATA)?;
        let bytes = metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
        capped("bytes of metadata", bytes, MAX_METADATA_BYTES)?;
        let parameters = layers.iter().map(|layer| layer.weights.len() + layer.bias.len()).sum();
        capped("weights", parameters, MAX_PARAMETERS)?;
        if layers.is_empty() {
            return Err(OnnxError::Layer { layer: 0, why: "there must be one" });
        }
        let mut before = None;
        for (at, layer) in layers.iter().enumerate() {
            check(at, layer, before)?;
            before = Some(layer.bias.len());
        }
        let dense = layers.iter().map(Dense::new).collect();
        Ok(Self { layers, metadata, dense })
    }

    /// Reads an ONNX file: IR version 3 to 14, opset 7 to 28, float, one input of shape `[1, N]`.
    ///
    /// What it holds must be one chain of `Gemm`, `MatMul`, `Add`, `Sub`, `Mul`, `Div` (with
    /// constants), `Relu`, `Sigmoid`, `Tanh`, `Softmax`, `Identity`, `Reshape`, `Flatten` and `Cast`.
    ///
    /// # Errors
    ///
    /// If it is anything else, or exceeds a cap of this module.
    pub fn from_onnx(file: &[u8]) -> Result<Self, OnnxError> {
        let model = Model::parse(file)?;
        Self::new(graph::layers(&model)?, model.metadata)
    }

    /// An ONNX file (IR version 7, opset 13) with the input `features` of shape `[1, inputs]` and the
    /// output `costs` of shape `[1, outputs]`. The same network makes the same bytes.
    #[must_use]
    pub fn to_onnx(&self) -> Vec<u8> {
        write::model(&self.layers, &self.metadata)
    }

    /// Numbers in a row that goes in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.dense.first().map_or(0, Dense::inputs)
    }

    /// Numbers in a row that comes out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.bias.len())
    }

    /// The layers, the first of which takes the input. There is at least one.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What the file says about the network (`metadata_props`).
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Evaluates one row into `output`, which is cleared first. Nothing is allocated once both
    /// `output` and `scratch` were used with this network. Processors with and without AVX2 round
    /// differently.
    ///
    /// # Panics
    ///
    /// If `input` has not [`inputs`](Self::inputs) numbers.
    pub fn run(&self, input: &[f32], output: &mut Vec<f32>, scratch: &mut Scratch) {
        assert_eq!(input.len(), self.inputs(), "numbers in a row of features");
        let Scratch { row, next } = scratch;
        // Both at once: with an odd number of layers they change places from run to run.
        let most = self.dense.iter().map(Dense::panels).max().unwrap_or(0);
        for row in [&mut *row, &mut *next] {
            row.resize(most.max(row.len()), ZERO);
        }
        let mut first = Some(input);
        for layer in &self.dense {
            layer.run(first.take().unwrap_or(row.as_flattened()), next);
            std::mem::swap(row, next);
        }
        output.clear();
        output.extend_from_slice(&row.as_flattened()[..self.outputs()]);
    }
}

/// Checks one layer, which has `before` inputs.
fn check(at: usize, layer: &Layer, before: Option<usize>) -> Result<(), OnnxError> {
    let refuse = |why| Err(OnnxError::Layer { layer: at, why });
    let (weights, outputs) = (layer.weights.len(), layer.bias.len());
    if outputs == 0 || weights == 0 || weights % outputs != 0 {
        return refuse("each output must have one bias and as many weights as the others");
    }
    let inputs = weights / outputs;
    capped("numbers in a row", inputs.max(outputs), MAX_WIDTH)?;
    if before.is_some_and(|before| before != inputs) {
        return refuse("it must have as many inputs as the layer before has outputs");
    }
    if !layer.weights.iter().chain(&layer.bias).all(|value| value.is_finite()) {
        return refuse("its weights and biases must be finite");
    }
    Ok(())
}
