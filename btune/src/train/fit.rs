//! Fitting a network to examples: dense layers, Adam, and an average over the way there.

use ndarray::{Array1, Array2, Axis, Zip};

use super::adam::{Adam, Weights};
use super::dataset::{Dataset, Example};
use super::members::side_by_side;
use super::scale::Scale;
use crate::error::TrainError;
use crate::features::FEATURE_COUNT;
use crate::onnx::{Activation, Layer};

/// Inputs are standardised, and taken as no further from the mean than this many deviations when training.
const FARTHEST: f32 = 5.0;
/// Residuals beyond this many standard deviations count in proportion, not squared.
const HUBER: f32 = 1.0;

/// How a network is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// Outputs of each hidden layer, of each member.
    pub hidden: Vec<usize>,
    /// Networks that are fitted from other starts, and averaged: put side by side they are one network.
    pub members: usize,
    /// Passes over the examples.
    pub epochs: usize,
    /// Examples of a step.
    pub batch: usize,
    /// Of the first steps; it falls to 0 along a cosine.
    pub learning_rate: f32,
    /// How much of the weights a step takes away, times the learning rate.
    pub weight_decay: f32,
    /// Deviation of the noise that is added to standardised inputs.
    pub input_noise: f32,
    /// Same seed, same network (on the same kind of processor).
    pub seed: u64,
}

impl Default for Fitting {
    /// What the shipped model was fitted with.
    fn default() -> Self {
        Self {
            hidden: vec![64, 64],
            members: 2,
            epochs: 200,
            batch: 64,
            learning_rate: 2e-3,
            weight_decay: 0.02,
            input_noise: 0.1,
            seed: 1,
        }
    }
}

/// Fits a network to those examples that `of` holds for. It takes features as they are, and gives logarithms of
/// costs, three for each class. `progress` is called after each epoch with the share that is done.
///
/// # Errors
/// [`TrainError::Empty`] without examples.
pub fn fit(
    dataset: &Dataset,
    of: impl Fn(&Example) -> bool,
    fitting: &Fitting,
    mut progress: impl FnMut(f64),
) -> Result<Vec<Layer>, TrainError> {
    let all = dataset.weight(&of);
    let chosen: Vec<(&Example, f32)> =
        dataset.examples.iter().zip(all).filter(|(example, _)| of(example)).collect();
    if chosen.is_empty() {
        return Err(TrainError::Empty);
    }
    let outputs = dataset.classes.len() * 3;
    let rows = chosen.len();
    let input = Array2::from_shape_fn((rows, FEATURE_COUNT), |(i, j)| chosen[i].0.features[j]);
    let target = Array2::from_shape_fn((rows, outputs), |(i, j)| chosen[i].0.costs[j / 3][j % 3]);
    let weights = Array1::from_iter(chosen.iter().map(|(_, weight)| *weight));
    let weights = &weights * (rows as f32 / weights.sum());
    let (in_scale, out_scale) =
        (Scale::of(&input, &weights), Scale::of(&target, &weights).periodic(3));
    let input = in_scale.apply(&input).mapv(|x| x.clamp(-FARTHEST, FARTHEST));
    let target = out_scale.apply(&target);

    let members = fitting.members.max(1);
    let mut fitted = Vec::with_capacity(members);
    for member in 0..members {
        let mut training = Training::new(fitting, member, outputs);
        for epoch in 0..fitting.epochs {
            training.epoch(epoch, &input, &target, &weights);
            let done = member * fitting.epochs + epoch + 1;
            progress(done as f64 / (members * fitting.epochs) as f64);
        }
        fitted.push(training.layers(&in_scale, &out_scale));
    }
    Ok((0..=fitting.hidden.len()).map(|at| side_by_side(&fitted, at)).collect())
}

struct Training<'f> {
    fitting: &'f Fitting,
    rng: fastrand::Rng,
    layers: Vec<Weights>,
    adam: Adam,
}

impl<'f> Training<'f> {
    fn new(fitting: &'f Fitting, member: usize, outputs: usize) -> Self {
        let mut rng = fastrand::Rng::with_seed(fitting.seed.wrapping_add(member as u64 * 1000));
        let widths: Vec<usize> = [FEATURE_COUNT]
            .into_iter()
            .chain(fitting.hidden.iter().copied())
            .chain([outputs])
            .collect();
        let pairs = widths.windows(2);
        let layers: Vec<Weights> =
            pairs.map(|pair| Weights::random(pair[0], pair[1], &mut rng)).collect();
        let adam = Adam::new(&layers);
        Self { fitting, rng, layers, adam }
    }

    fn epoch(
        &mut self,
        epoch: usize,
        input: &Array2<f32>,
        target: &Array2<f32>,
        weights: &Array1<f32>,
    ) {
        let mut order: Vec<usize> = (0..input.nrows()).collect();
        self.rng.shuffle(&mut order);
        let progress = epoch as f32 / self.fitting.epochs as f32;
        let rate =
            self.fitting.learning_rate * 0.5 * (1.0 + (std::f32::consts::PI * progress).cos());
        for batch in order.chunks(self.fitting.batch.max(1)) {
            let mut rows = input.select(Axis(0), batch);
            let noise = self.fitting.input_noise;
            if noise > 0.0 {
                let rng = &mut self.rng;
                rows.mapv_inplace(|x| x + super::augment::gaussian(rng) as f32 * noise);
            }
            let gradients = self.gradients(
                rows,
                &target.select(Axis(0), batch),
                &weights.select(Axis(0), batch),
            );
            let decay = self.fitting.weight_decay;
            self.adam.step(&mut self.layers, &gradients, rate, decay);
        }
    }

    /// What each number adds to the loss.
    fn gradients(
        &self,
        input: Array2<f32>,
        target: &Array2<f32>,
        weights: &Array1<f32>,
    ) -> Vec<Weights> {
        let last = self.layers.len() - 1;
        let mut rows = vec![input];
        for (i, layer) in self.layers.iter().enumerate() {
            let mut next = rows[i].dot(&layer.by_input) + &layer.bias;
            if i < last {
                next.mapv_inplace(|x| x.max(0.0));
            }
            rows.push(next);
        }
        let n = target.len() as f32;
        let mut delta = (&rows[last + 1] - target).mapv(|x| x.clamp(-HUBER, HUBER)) / n;
        delta *= &weights.view().insert_axis(Axis(1));
        let mut gradients = Vec::with_capacity(self.layers.len());
        for i in (0..=last).rev() {
            let by_input = rows[i].t().dot(&delta);
            gradients.push(Weights { by_input, bias: delta.sum_axis(Axis(0)) });
            if i > 0 {
                delta = delta.dot(&self.layers[i].by_input.t());
                Zip::from(&mut delta)
                    .and(&rows[i])
                    .for_each(|d, &x| *d = if x > 0.0 { *d } else { 0.0 });
            }
        }
        gradients.reverse();
        gradients
    }

    /// The layers, with the scales taken up by the first and the last.
    fn layers(self, input: &Scale, output: &Scale) -> Vec<Layer> {
        let mut layers = self.adam.average;
        let last = layers.len() - 1;
        let first = &mut layers[0];
        for ((mut row, mean), deviation) in
            first.by_input.rows_mut().into_iter().zip(&input.mean).zip(&input.deviation)
        {
            row /= *deviation;
            first.bias -= &(&row * *mean);
        }
        let end = &mut layers[last];
        end.by_input *= &output.deviation;
        end.bias = &end.bias * &output.deviation + &output.mean;
        let layer = |(i, weights): (usize, &Weights)| Layer {
            weights: weights.by_input.t().iter().copied().collect(),
            bias: weights.bias.to_vec(),
            activation: if i < last { Activation::Relu } else { Activation::Identity },
        };
        layers.iter().enumerate().map(layer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cparams::Cparams;
    use crate::onnx::{Network, Scratch};

    fn dataset(rows: usize) -> Dataset {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut dataset = Dataset { classes: vec![Cparams::STORE; 2], ..Dataset::default() };
        for i in 0..rows {
            let features: [f32; FEATURE_COUNT] = std::array::from_fn(|_| rng.f32() * 3.0 + 1.0);
            let share = (-(features[0] * features[1]) / 4.0).exp();
            let time = (features[2] - 20.0).exp();
            dataset
                .add(&format!("{}", i % 3), true, features, &[[share, time, time * 2.0]; 2])
                .unwrap();
        }
        dataset
    }

    #[test]
    fn a_function_is_learnt_and_the_seed_decides() {
        let dataset = dataset(1500);
        let fitting = Fitting {
            epochs: 150,
            input_noise: 0.0,
            hidden: vec![32],
            members: 1,
            ..Fitting::default()
        };
        let layers = fit(&dataset, |e| e.group < 2, &fitting, |_| ()).unwrap();
        assert_eq!(layers, fit(&dataset, |e| e.group < 2, &fitting, |_| ()).unwrap());
        let network = Network::new(layers, [].into()).unwrap();
        assert_eq!(Network::from_onnx(&network.to_onnx()).unwrap(), network);
        let (mut out, mut error, mut spread) = (Vec::new(), 0.0, 0.0);
        for example in dataset.examples.iter().filter(|e| e.group == 2) {
            network.run(&example.features, &mut out, &mut Scratch::default());
            error +=
                (out[0] - example.costs[0][0]).powi(2) + (out[4] - example.costs[1][1]).powi(2);
            spread += (example.costs[0][0] + 1.6).powi(2) + (example.costs[1][1] + 17.5).powi(2);
        }
        assert!(error / spread < 0.1, "{error} {spread}");
    }

    #[test]
    fn gradients_agree_with_small_differences() {
        let fitting = Fitting { hidden: vec![7], ..Fitting::default() };
        let mut training = Training::new(&fitting, 0, 3);
        let mut rng = fastrand::Rng::with_seed(6);
        let input = Array2::from_shape_simple_fn((5, FEATURE_COUNT), || rng.f32() - 0.5);
        let target = Array2::from_shape_simple_fn((5, 3), || rng.f32() - 0.5);
        let weights = Array1::from_iter((0..5).map(|i| 1.0 + i as f32));
        let loss = |training: &Training| {
            let hidden = (input.dot(&training.layers[0].by_input) + &training.layers[0].bias)
                .mapv(|x| x.max(0.0));
            let off = hidden.dot(&training.layers[1].by_input) + &training.layers[1].bias - &target;
            let each = off.mapv(|x| {
                f64::from(if x.abs() < HUBER {
                    x * x / 2.0
                } else {
                    HUBER * (x.abs() - HUBER / 2.0)
                })
            });
            (each.sum_axis(Axis(1)) * weights.mapv(f64::from)).sum() / target.len() as f64
        };
        let gradients = training.gradients(input.clone(), &target, &weights);
        for (layer, gradients) in gradients.iter().enumerate() {
            for at in [(0, 0), (3, 2), (6, 1)] {
                let old = training.layers[layer].by_input[at];
                let mut at_offset = |offset| {
                    training.layers[layer].by_input[at] = old + offset;
                    loss(&training)
                };
                let slope = (at_offset(1e-2) - at_offset(-1e-2)) / 2e-2;
                at_offset(0.0);
                let gradient = f64::from(gradients.by_input[at]);
                assert!(
                    (slope - gradient).abs() < 2e-3 * (1.0 + slope.abs()),
                    "{layer} {at:?} {slope} {gradient}"
                );
            }
        }
    }

    #[test]
    fn without_examples_there_is_no_network() {
        assert_eq!(
            fit(&dataset(9), |_| false, &Fitting::default(), |_| ()),
            Err(TrainError::Empty)
        );
    }
}
