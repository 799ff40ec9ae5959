//! The numbers of a layer, and Adam, which changes them.

use ndarray::{Array1, Array2, ArrayBase, DataMut, Dimension, RawData, Zip};

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;
/// How much the newest step counts in the average: it is one over the last few hundred.
const NEWEST: f32 = 2e-3;

/// One layer's weights by input, and biases; also their gradients, and what Adam keeps for each of them.
#[derive(Clone)]
pub(super) struct Weights {
    pub(super) by_input: Array2<f32>,
    pub(super) bias: Array1<f32>,
}

impl Weights {
    fn zeros(like: &Self) -> Self {
        Self { by_input: Array2::zeros(like.by_input.dim()), bias: Array1::zeros(like.bias.dim()) }
    }

    /// Uniform, with the variance that keeps that of the row through a `Relu`.
    pub(super) fn random(inputs: usize, outputs: usize, rng: &mut fastrand::Rng) -> Self {
        let most = (6.0 / inputs as f32).sqrt();
        let by_input =
            Array2::from_shape_simple_fn((inputs, outputs), || (rng.f32() * 2.0 - 1.0) * most);
        Self { by_input, bias: Array1::zeros(outputs) }
    }
}

/// Adam with decoupled weight decay, and the average over the way.
pub(super) struct Adam {
    first: Vec<Weights>,
    second: Vec<Weights>,
    /// The mean of the layers over the last few hundred steps: it generalises better than the last step.
    pub(super) average: Vec<Weights>,
    step: i32,
}

impl Adam {
    pub(super) fn new(layers: &[Weights]) -> Self {
        let zeros: Vec<Weights> = layers.iter().map(Weights::zeros).collect();
        Self { first: zeros.clone(), second: zeros, average: layers.to_vec(), step: 0 }
    }

    /// A step against the gradients. Of the weights, not of the biases, the share `rate * decay` is taken away.
    pub(super) fn step(
        &mut self,
        layers: &mut [Weights],
        gradients: &[Weights],
        rate: f32,
        decay: f32,
    ) {
        self.step += 1;
        let (correct1, correct2) = (1.0 - BETA1.powi(self.step), 1.0 - BETA2.powi(self.step));
        let change = |x: &mut f32, m: &mut f32, v: &mut f32, g: f32, kept: f32| {
            *m = BETA1 * *m + (1.0 - BETA1) * g;
            *v = BETA2 * *v + (1.0 - BETA2) * g * g;
            *x = *x * kept - rate * (*m / correct1) / ((*v / correct2).sqrt() + EPSILON);
        };
        let state = self.first.iter_mut().zip(&mut self.second).zip(&mut self.average);
        let newest = (1.0 / self.step as f32).max(NEWEST);
        for ((x, g), ((m, v), mean)) in layers.iter_mut().zip(gradients).zip(state) {
            let kept = 1.0 - rate * decay;
            Zip::from(&mut x.by_input)
                .and(&mut m.by_input)
                .and(&mut v.by_input)
                .and(&g.by_input)
                .for_each(|x, m, v, &g| change(x, m, v, g, kept));
            Zip::from(&mut x.bias)
                .and(&mut m.bias)
                .and(&mut v.bias)
                .and(&g.bias)
                .for_each(|x, m, v, &g| change(x, m, v, g, 1.0));
            approach(&mut mean.by_input, &x.by_input, newest);
            approach(&mut mean.bias, &x.bias, newest);
        }
    }
}

/// Moves the mean towards the value by that share of the way.
fn approach<S, D>(mean: &mut ArrayBase<S, D>, value: &ArrayBase<S, D>, share: f32)
where
    S: DataMut<Elem = f32> + RawData<Elem = f32>,
    D: Dimension,
{
    Zip::from(mean).and(value).for_each(|mean, &value| *mean += (value - *mean) * share);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_find_a_minimum_and_decay_draws_weights_to_0() {
        let find = |decay: f32| {
            let mut layers = [Weights::random(1, 1, &mut fastrand::Rng::with_seed(1))];
            let mut adam = Adam::new(&layers);
            for _ in 0..3000 {
                // Of the squares of the distances from 2 and from -1.
                let by_input = layers[0].by_input.mapv(|x| x - 2.0);
                let gradients = [Weights { by_input, bias: layers[0].bias.mapv(|x| x + 1.0) }];
                adam.step(&mut layers, &gradients, 1e-2, decay);
            }
            (adam.average[0].by_input[(0, 0)], adam.average[0].bias[0])
        };
        let (weight, bias) = find(0.0);
        assert!((weight - 2.0).abs() < 0.02 && (bias + 1.0).abs() < 0.02, "{weight} {bias}");
        let (weight, bias) = find(0.5);
        assert!(weight < 1.95 && (bias + 1.0).abs() < 0.02, "{weight} {bias}");
    }
}
