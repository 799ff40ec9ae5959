use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn layer(rows: &[&[f32]], bias: &[f32], activation: Activation) -> Layer {
    Layer { weights: rows.concat(), bias: bias.to_vec(), activation }
}

/// What a network makes of a row.
pub(super) fn run(network: &Network, input: &[f32]) -> Vec<f32> {
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
fn activations_are_what_they_say() {
    let results = |activation| {
        let unit: &[&[f32]] = &[&[1.0, 0.0], &[0.0, 1.0]];
        let network = Network::new(vec![layer(unit, &[0.0; 2], activation)], BTreeMap::new());
        run(&network.unwrap(), &[-1.0, 2.0])
    };
    let close = |found: Vec<f32>, expected: [f32; 2]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
    };
    close(results(Activation::Identity), [-1.0, 2.0]);
    close(results(Activation::Relu), [0.0, 2.0]);
    close(results(Activation::Sigmoid), [0.268_941_4, 0.880_797]);
    close(results(Activation::Tanh), [-0.761_594_2, 0.964_027_6]);
    close(results(Activation::Softmax), [0.047_425_87, 0.952_574_1]);
}

#[test]
fn what_is_not_a_number_stays_so() {
    assert!(run(&small(), &[f32::NAN, 0.0]).iter().all(|result| result.is_nan()));
}

#[test]
fn networks_that_do_not_fit_are_refused() {
    let new = |layers: Vec<Layer>| Network::new(layers, BTreeMap::new()).unwrap_err().to_string();
    let narrow = layer(&[&[1.0, 1.0]], &[0.0], Activation::Relu);
    assert_eq!(new(vec![]), "layer 0 of the network: there must be one");
    assert!(
        new(vec![narrow.clone(), narrow.clone()]).starts_with("layer 1 of the network: it must")
    );
    assert!(new(vec![Layer { bias: vec![], ..narrow.clone() }]).contains("each output must"));
    assert!(new(vec![Layer { bias: vec![f32::NAN], ..narrow.clone() }]).contains("be finite"));
    assert!(new(vec![narrow; 33]).contains("33 layers, at most 32"));
    assert!(new(vec![layer(&[&[0.0; 4097]], &[0.0], Activation::Relu)]).contains("at most 4096"));
    let wide = layer(&[&vec![0.0; 4096 * 128]], &[0.0; 128], Activation::Relu);
    assert!(new(vec![wide]).contains("524416 weights, at most 524288"));
    let metadata = (0..129).map(|key| (key.to_string(), String::new())).collect();
    let error = Network::new(small().layers().to_vec(), metadata).unwrap_err();
    assert!(error.to_string().contains("129 pairs of metadata"));
    let metadata = BTreeMap::from([(String::new(), "x".repeat(MAX_METADATA_BYTES + 1))]);
    assert!(Network::new(small().layers().to_vec(), metadata).is_err());
}

#[test]
fn the_largest_network_fits_in_a_file() {
    let layers = vec![layer(&[&vec![0.5; 4095 * 128]], &[0.0; 128], Activation::Tanh)];
    let metadata = BTreeMap::from([(String::new(), "x".repeat(MAX_METADATA_BYTES))]);
    let network = Network::new(layers, metadata).unwrap();
    assert_eq!(Network::from_onnx(&network.to_onnx()).unwrap(), network);
}

/// A network of random numbers.
fn networks() -> impl Strategy<Value = (Network, Vec<f32>)> {
    let activations = prop::sample::select(vec![
        Activation::Identity,
        Activation::Relu,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Softmax,
    ]);
    let widths = prop::collection::vec((1usize..70, activations), 2..6);
    (widths, any::<u64>(), "\\PC*").prop_map(|(widths, seed, text)| {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut numbers = |count| (0..count).map(|_| random.f32() * 4.0 - 2.0).collect::<Vec<_>>();
        let layers = widths.windows(2).map(|pair| Layer {
            weights: numbers(pair[0].0 * pair[1].0),
            bias: numbers(pair[1].0),
            activation: pair[1].1,
        });
        let network = Network::new(layers.collect(), BTreeMap::from([(text.clone(), text)]));
        (network.unwrap(), numbers(widths[0].0))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_the_network_again((network, row) in networks()) {
        let again = Network::from_onnx(&network.to_onnx()).unwrap();
        prop_assert_eq!(&again, &network);
        let bits = |network| run(network, &row).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&again), bits(&network));
    }

    #[test]
    fn the_kernel_sums_as_written((network, row) in networks()) {
        let mut expected: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
        let first = &network.layers()[0];
        let sum = |(weights, bias): (&[f32], &f32)| {
            let products = weights.iter().zip(&expected).map(|(w, x)| f64::from(*w) * x);
            products.sum::<f64>() + f64::from(*bias)
        };
        expected = first.weights.chunks(row.len()).zip(&first.bias).map(sum).collect();
        let linear = Layer { activation: Activation::Identity, ..first.clone() };
        let found = run(&Network::new(vec![linear], BTreeMap::new()).unwrap(), &row);
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((f64::from(*found) - expected).abs() < 1e-4);
        }
    }
}
