//! The arithmetic of one layer.
#![cfg_attr(
    target_arch = "x86_64",
    allow(unsafe_code, reason = "a function for AVX2 is called where the processor has it")
)]

use super::network::{Activation, Layer};

/// Outputs that are summed together: four registers of AVX2.
const LANES: usize = 32;

/// The numbers of as many outputs.
pub(super) type Panel = [f32; LANES];

/// No numbers.
pub(super) const ZERO: Panel = [0.0; LANES];

/// A layer, with its weights in the order in which they are used.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    inputs: usize,
    outputs: usize,
    /// For each panel of outputs, for each input, its weights; those of no output are 0.
    weights: Vec<Panel>,
    bias: Vec<Panel>,
    activation: Activation,
}

impl Dense {
    /// The layer has at least one input and one output, and its lengths fit.
    pub(super) fn new(layer: &Layer) -> Self {
        let outputs = layer.bias.len();
        let inputs = layer.weights.len() / outputs;
        let panels = outputs.div_ceil(LANES);
        let mut weights = vec![ZERO; panels * inputs];
        let mut bias = vec![ZERO; panels];
        for (output, row) in layer.weights.chunks_exact(inputs).enumerate() {
            let (panel, lane) = (output / LANES, output % LANES);
            bias[panel][lane] = layer.bias[output];
            for (input, weight) in row.iter().enumerate() {
                weights[panel * inputs + input][lane] = *weight;
            }
        }
        Self { inputs, outputs, weights, bias, activation: layer.activation }
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// Panels of outputs.
    pub(super) fn panels(&self) -> usize {
        self.bias.len()
    }

    /// `input` has at least as many numbers as the layer has inputs; more are not looked at.
    /// So has `output` panels.
    pub(super) fn run(&self, input: &[f32], output: &mut [Panel]) {
        self.sums(input, output);
        self.activation.apply(&mut output.as_flattened_mut()[..self.outputs]);
    }

    #[cfg(target_arch = "x86_64")]
    fn sums(&self, input: &[f32], output: &mut [Panel]) {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the function is safe but for the instructions it is compiled to, and the
            // processor was just found to have both AVX2 and FMA.
            unsafe { self.sums_avx2(input, output) }
        } else {
            self.sums_portable(input, output);
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn sums(&self, input: &[f32], output: &mut [Panel]) {
        self.sums_portable(input, output);
    }

    /// The same code as below, compiled for wider registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn sums_avx2(&self, input: &[f32], output: &mut [Panel]) {
        self.sums_with(input, output, f32::mul_add);
    }

    fn sums_portable(&self, input: &[f32], output: &mut [Panel]) {
        self.sums_with(input, output, |weight, input, sum| weight * input + sum);
    }

    #[allow(clippy::inline_always, reason = "it is compiled as its caller is")]
    #[inline(always)]
    fn sums_with(
        &self,
        input: &[f32],
        output: &mut [Panel],
        multiply_add: impl Fn(f32, f32, f32) -> f32,
    ) {
        let panels = self.weights.chunks_exact(self.inputs).zip(&self.bias);
        for ((weights, bias), output) in panels.zip(output) {
            let mut sums = *bias;
            for (weights, input) in weights.iter().zip(input) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum = multiply_add(*weight, *input, *sum);
                }
            }
            *output = sums;
        }
    }
}

impl Activation {
    fn apply(self, row: &mut [f32]) {
        match self {
            Self::Identity => {}
            // A NaN stays one.
            Self::Relu => row.iter_mut().for_each(|x| *x = if *x < 0.0 { 0.0 } else { *x }),
            Self::Sigmoid => row.iter_mut().for_each(|x| *x = 1.0 / (1.0 + (-*x).exp())),
            Self::Tanh => row.iter_mut().for_each(|x| *x = x.tanh()),
            Self::Softmax => softmax(row),
        }
    }
}

fn softmax(row: &mut [f32]) {
    let largest = row.iter().fold(f32::NEG_INFINITY, |largest, x| largest.max(*x));
    let mut sum = 0.0;
    for x in &mut *row {
        *x = (*x - largest).exp();
        sum += *x;
    }
    for x in row {
        *x /= sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_and_wide_registers_sum_alike() {
        for (inputs, outputs) in [(1, 1), (5, 31), (40, 32), (7, 33), (64, 160)] {
            let numbers = |count, step| (0..count).map(move |at| ((at * step) % 17) as f32 - 8.0);
            let layer = Layer {
                weights: numbers(inputs * outputs, 5).collect(),
                bias: numbers(outputs, 3).collect(),
                activation: Activation::Identity,
            };
            let dense = Dense::new(&layer);
            let input: Vec<_> = numbers(inputs, 7).collect();
            let mut rows = [vec![ZERO; dense.panels()], vec![ZERO; dense.panels()]];
            dense.sums(&input, &mut rows[0]);
            dense.sums_portable(&input, &mut rows[1]);
            // Small integers: nothing is rounded.
            assert_eq!(rows[0], rows[1]);
            let sum = |(row, bias): (&[f32], &f32)| {
                row.iter().zip(&input).map(|(weight, input)| weight * input).sum::<f32>() + bias
            };
            let expected: Vec<_> = layer.weights.chunks(inputs).zip(&layer.bias).map(sum).collect();
            assert_eq!(rows[0].as_flattened()[..outputs], expected);
        }
    }
}
