//! One layer, as it is evaluated.
#![allow(unsafe_code, reason = "the call of a function for processors that have AVX2")]

use super::{Activation, Layer, MAX_WIDTH};
use crate::error::OnnxError;

/// A dense layer with its weights in the order in which they are used: for each input a number for each output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dense {
    by_input: Vec<f32>,
    bias: Vec<f32>,
    activation: Activation,
}

impl Dense {
    pub(super) fn new(layer: &Layer) -> Result<Self, OnnxError> {
        let outputs = layer.bias.len();
        if outputs == 0 || layer.weights.is_empty() || !layer.weights.len().is_multiple_of(outputs) {
            return Err(OnnxError::Shape("the weights of a layer are no rows for each of its outputs"));
        }
        let inputs = layer.weights.len() / outputs;
        let by_input = (0..inputs)
            .flat_map(|i| (0..outputs).map(move |o| layer.weights[o * inputs + i]))
            .collect();
        Self::by_input(by_input, layer.bias.clone(), layer.activation)
    }

    /// From weights in the order in which they are kept.
    pub(super) fn by_input(
        by_input: Vec<f32>,
        bias: Vec<f32>,
        activation: Activation,
    ) -> Result<Self, OnnxError> {
        let outputs = bias.len();
        let inputs = by_input.len() / outputs.max(1);
        if outputs == 0 || inputs == 0 || by_input.len() != inputs * outputs {
            return Err(OnnxError::Shape("a layer without inputs or outputs"));
        }
        let width = inputs.max(outputs);
        if width > MAX_WIDTH {
            return Err(OnnxError::Limit { what: "numbers in a row", found: width, most: MAX_WIDTH });
        }
        Ok(Self { by_input, bias, activation })
    }

    pub(super) fn inputs(&self) -> usize {
        self.by_input.len() / self.bias.len()
    }

    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn weights(&self) -> usize {
        self.by_input.len()
    }

    pub(super) fn is_finite(&self) -> bool {
        self.by_input.iter().chain(&self.bias).all(|x| x.is_finite())
    }

    /// As it was given.
    pub(super) fn layer(&self) -> Layer {
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let weights = (0..outputs)
            .flat_map(|o| (0..inputs).map(move |i| self.by_input[i * outputs + o]))
            .collect();
        Layer { weights, bias: self.bias.clone(), activation: self.activation }
    }

    pub(super) fn activation(&self) -> Activation {
        self.activation
    }

    pub(super) fn set_activation(&mut self, activation: Activation) {
        self.activation = activation;
    }

    /// Multiplies each output before the activation, and adds to it.
    pub(super) fn scale_outputs(&mut self, factors: &[f32], terms: &[f32]) {
        for row in self.by_input.chunks_exact_mut(factors.len()) {
            row.iter_mut().zip(factors).for_each(|(weight, factor)| *weight *= factor);
        }
        for ((bias, factor), term) in self.bias.iter_mut().zip(factors).zip(terms) {
            *bias = *bias * factor + term;
        }
    }

    /// Lets each input be multiplied and added to first.
    pub(super) fn scale_inputs(&mut self, factors: &[f32], terms: &[f32]) {
        let rows = self.by_input.chunks_exact_mut(self.bias.len());
        for ((row, factor), term) in rows.zip(factors).zip(terms) {
            for (weight, bias) in row.iter_mut().zip(&mut self.bias) {
                *bias += *weight * term;
                *weight *= factor;
            }
        }
    }

    pub(super) fn run(&self, input: &[f32], output: &mut Vec<f32>) {
        output.clear();
        output.extend_from_slice(&self.bias);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: this processor has AVX2.
            unsafe { multiply_avx2(&self.by_input, input, output) };
            self.activate(output);
            return;
        }
        multiply(&self.by_input, input, output);
        self.activate(output);
    }

    fn activate(&self, output: &mut [f32]) {
        match self.activation {
            Activation::Identity => {}
            Activation::Relu => output.iter_mut().for_each(|x| *x = x.max(0.0)),
            Activation::Sigmoid => output.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp())),
            Activation::Tanh => output.iter_mut().for_each(|x| *x = x.tanh()),
            Activation::Softmax => {
                let most = output.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                output.iter_mut().for_each(|x| *x = (*x - most).exp());
                let sum: f32 = output.iter().sum();
                output.iter_mut().for_each(|x| *x /= sum);
            }
        }
    }
}

/// As [`multiply`], in vectors of eight.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_avx2(by_input: &[f32], input: &[f32], output: &mut [f32]) {
    multiply(by_input, input, output);
}

/// Adds the products. Multiplications and additions stay apart, so that every processor rounds the same.
#[inline(always)]
#[allow(clippy::inline_always, reason = "compiled for each kind of processor")]
fn multiply(by_input: &[f32], input: &[f32], output: &mut [f32]) {
    for (row, &x) in by_input.chunks_exact(output.len()).zip(input) {
        // Many inputs of a layer after a `Relu` are 0.
        if x != 0.0 {
            for (out, weight) in output.iter_mut().zip(row) {
                *out += weight * x;
            }
        }
    }
}
