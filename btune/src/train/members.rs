//! Networks side by side.

use crate::onnx::Layer;

/// A layer of all networks: the first one's inputs are the same for all, the last one gives the mean, and between
/// them each has its own.
pub(super) fn side_by_side(networks: &[Vec<Layer>], at: usize) -> Layer {
    let layers: Vec<&Layer> = networks.iter().map(|network| &network[at]).collect();
    let (first, last) = (at == 0, at + 1 == networks[0].len());
    let (outputs, share) = (layers[0].bias.len(), 1.0 / layers.len() as f32);
    let inputs = layers[0].weights.len() / outputs;
    let (rows, columns) = (
        if last { outputs } else { outputs * layers.len() },
        if first { inputs } else { inputs * layers.len() },
    );
    let mut weights = vec![0.0; rows * columns];
    let mut bias = vec![0.0; rows];
    let factor = if last { share } else { 1.0 };
    for (i, layer) in layers.iter().enumerate() {
        let (down, right) =
            (if last { 0 } else { i * outputs }, if first { 0 } else { i * inputs });
        for row in 0..outputs {
            let start = (down + row) * columns + right;
            let place = &mut weights[start..start + inputs];
            let own = &layer.weights[row * inputs..(row + 1) * inputs];
            place.iter_mut().zip(own).for_each(|(to, from)| *to += from * factor);
            bias[down + row] += layer.bias[row] * factor;
        }
    }
    Layer { weights, bias, activation: layers[0].activation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx::{Activation, Network, Scratch};

    fn network(rng: &mut fastrand::Rng) -> Vec<Layer> {
        let sizes = [(3, 5), (5, 4), (4, 2)];
        let layer = |(inputs, outputs): (usize, usize)| Layer {
            weights: (0..inputs * outputs).map(|_| rng.f32() - 0.5).collect(),
            bias: (0..outputs).map(|_| rng.f32() - 0.5).collect(),
            activation: if outputs == 2 { Activation::Identity } else { Activation::Relu },
        };
        sizes.map(layer).into()
    }

    fn run(layers: Vec<Layer>, row: [f32; 3]) -> Vec<f32> {
        let mut out = Vec::new();
        Network::new(layers, [].into()).unwrap().run(&row, &mut out, &mut Scratch::default());
        out
    }

    #[test]
    fn networks_side_by_side_give_their_mean() {
        let mut rng = fastrand::Rng::with_seed(8);
        let three: Vec<Vec<Layer>> = (0..3).map(|_| network(&mut rng)).collect();
        let all: Vec<Layer> = (0..3).map(|at| side_by_side(&three, at)).collect();
        for row in [[1.0, -2.0, 3.0], [0.0, 0.5, -0.5]] {
            let each: Vec<Vec<f32>> = three.iter().map(|layers| run(layers.clone(), row)).collect();
            for (at, out) in run(all.clone(), row).iter().enumerate() {
                let mean = each.iter().map(|out| out[at]).sum::<f32>() / 3.0;
                assert!((out - mean).abs() < 1e-6, "{out} {mean}");
            }
        }
        assert_eq!(side_by_side(&three[..1], 1), three[0][1]);
    }
}
