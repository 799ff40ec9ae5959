use std::collections::BTreeMap;

use super::*;

fn layer(rows: &[&[f32]], bias: &[f32], activation: Activation) -> Layer {
    Layer { weights: rows.concat(), bias: bias.to_vec(), activation }
}

/// What a network makes of a row.
fn run(network: &Network, input: &[f32]) -> Vec<f32> {
    let (mut output, mut scratch) = (Vec::new(), Scratch::default());
    network.run(input, &mut output, &mut scratch);
    output
}

/// Two inputs, three numbers between, two outputs; numbers that floats hold exactly.
fn small() -> Network {
    let layers = vec![
        layer(&[&[1.0, 2.0], &[-1.0, 0.5], &[0.0, -4.0]], &[0.5, 1.0, 0.0], Activation::Relu),
        layer(&[&[1.0, 0.0, 3.0], &[2.0, -1.0, 0.25]], &[0.0, -8.0], Activation::Identity),
    ];
    let metadata = BTreeMap::from([("kind".to_owned(), "small".to_owned())]);
    Network::new(layers, metadata).unwrap()
}

#[test]
fn a_network_is_what_it_says() {
    let network = small();
    assert_eq!((network.inputs(), network.outputs()), (2, 2));
    // [0.5 + 2 + 6, 0.5, 0] and [0.5 - 2 - 2, 2.5, 4] before the second layer.
    assert_eq!(run(&network, &[2.0, 3.0]), [8.5, 17.0 - 0.5 - 8.0]);
    assert_eq!(run(&network, &[-2.0, -1.0]), [12.0, -2.5 + 1.0 - 8.0]);
}

#[test]
fn a_file_is_the_network_again() {
    let network = small();
    let file = network.to_onnx();
    assert_eq!(Network::from_onnx(&file).unwrap(), network);
}
