//! Makes dense layers from the steps of a graph.

use super::network::{Activation, Layer};
use super::{MAX_LAYERS, MAX_PARAMETERS, MAX_WIDTH, capped};
use crate::error::OnnxError;

/// The chain so far. Scaling of single numbers goes into the layer before it or the one behind it.
pub(super) struct Fold {
    /// Numbers in the row.
    width: usize,
    layers: Vec<Layer>,
    /// Weights and biases of all layers.
    parameters: usize,
    /// What happened to each number since the last activation, where no layer took it up.
    pending: Option<Vec<Scale>>,
}

/// `x * factor + term`. In `f64`: where rows are normalised, a small difference of large terms stays.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    pub(super) factor: f64,
    pub(super) term: f64,
}

impl Fold {
    pub(super) fn new(width: usize) -> Self {
        Self { width, layers: Vec::new(), parameters: 0, pending: None }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// A layer whose activation is still open: what is linear goes into it.
    fn open(&mut self) -> Option<&mut Layer> {
        self.layers.last_mut().filter(|layer| layer.activation == Activation::Identity)
    }

    /// Multiplies the row by a matrix: `weight(output, input)`, then adds `bias(output)`.
    pub(super) fn dense(
        &mut self,
        outputs: usize,
        weight: impl Fn(usize, usize) -> f64,
        bias: impl Fn(usize) -> f64,
    ) -> Result<(), OnnxError> {
        let inputs = self.width;
        capped("numbers in a row", outputs.max(inputs), MAX_WIDTH)?;
        capped("layers", self.layers.len() + 1, MAX_LAYERS)?;
        self.parameters += outputs * (inputs + 1);
        capped("weights", self.parameters, MAX_PARAMETERS)?;
        let pending = self.pending.take();
        let scale = |input: usize| match &pending {
            Some(scales) => scales[input],
            None => Scale { factor: 1.0, term: 0.0 },
        };
        let mut layer = Layer {
            weights: Vec::with_capacity(outputs * inputs),
            bias: Vec::with_capacity(outputs),
            activation: Activation::Identity,
        };
        for output in 0..outputs {
            let row = (0..inputs).map(|input| weight(output, input) * scale(input).factor);
            layer.weights.extend(row.map(|weight| weight as f32));
            let terms = (0..inputs).map(|input| weight(output, input) * scale(input).term);
            layer.bias.push((bias(output) + terms.sum::<f64>()) as f32);
        }
        self.layers.push(layer);
        self.width = outputs;
        Ok(())
    }

    /// Scales each number of the row.
    pub(super) fn scale(&mut self, scale: impl Fn(usize) -> Scale) -> Result<(), OnnxError> {
        capped("numbers in a row", self.width, MAX_WIDTH)?;
        if let Some(layer) = self.open() {
            let inputs = layer.weights.len() / layer.bias.len();
            let rows = layer.weights.chunks_exact_mut(inputs).zip(&mut layer.bias);
            for (output, (row, bias)) in rows.enumerate() {
                let Scale { factor, term } = scale(output);
                for weight in row {
                    *weight = (f64::from(*weight) * factor) as f32;
                }
                *bias = (f64::from(*bias) * factor + term) as f32;
            }
            return Ok(());
        }
        let one = Scale { factor: 1.0, term: 0.0 };
        let pending = self.pending.get_or_insert_with(|| vec![one; self.width]);
        for (at, now) in pending.iter_mut().enumerate() {
            let Scale { factor, term } = scale(at);
            *now = Scale { factor: now.factor * factor, term: now.term * factor + term };
        }
        Ok(())
    }

    /// Ends a layer. Where there is none, or scaling since, one that only scales is made.
    pub(super) fn activate(&mut self, activation: Activation) -> Result<(), OnnxError> {
        if self.open().is_none() {
            let weight = |output, input| if output == input { 1.0 } else { 0.0 };
            self.dense(self.width, weight, |_| 0.0)?;
        }
        if let Some(layer) = self.open() {
            layer.activation = activation;
        }
        Ok(())
    }

    /// The layers, of which there is at least one.
    pub(super) fn finish(mut self) -> Result<Vec<Layer>, OnnxError> {
        if self.pending.is_some() || self.layers.is_empty() {
            self.activate(Activation::Identity)?;
        }
        Ok(self.layers)
    }
}
