use super::*;
use proptest::prelude::*;

fn random(rng: &mut fastrand::Rng, inputs: usize, widths: &[usize]) -> Network {
    let mut layers = Vec::new();
    let mut before = inputs;
    let all = [Activation::Relu, Activation::Sigmoid, Activation::Tanh, Activation::Identity, Activation::Softmax];
    for &width in widths {
        let weights = (0..before * width).map(|_| rng.f32() - 0.5).collect();
        let bias = (0..width).map(|_| rng.f32() - 0.5).collect();
        layers.push(Layer { weights, bias, activation: all[rng.usize(..all.len())] });
        before = width;
    }
    Network::new(layers, [("key".to_owned(), "value".to_owned())].into()).unwrap()
}

fn run(network: &Network, input: &[f32]) -> Vec<f32> {
    let mut output = Vec::new();
    network.run(input, &mut output, &mut Scratch::default());
    output
}

/// The plain sum, in double precision.
fn expected(network: &Network, input: &[f32]) -> Vec<f64> {
    let mut row: Vec<f64> = input.iter().map(|&x| f64::from(x)).collect();
    for dense in &network.layers {
        let layer = dense.layer();
        let sums = layer.weights.chunks_exact(row.len()).zip(&layer.bias).map(|(weights, &bias)| {
            weights.iter().zip(&row).map(|(&w, x)| f64::from(w) * x).sum::<f64>() + f64::from(bias)
        });
        let sums: Vec<f64> = sums.collect();
        let total: f64 = sums.iter().map(|x| x.exp()).sum();
        row = sums
            .into_iter()
            .map(|x| match layer.activation {
                Activation::Identity => x,
                Activation::Relu => x.max(0.0),
                Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
                Activation::Tanh => x.tanh(),
                Activation::Softmax => x.exp() / total,
            })
            .collect();
    }
    row
}

proptest! {
    #[test]
    fn networks_are_evaluated_right_and_come_back_from_a_file(
        seed in any::<u64>(), inputs in 1usize..40, widths in prop::collection::vec(1usize..70, 1..5),
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let network = random(&mut rng, inputs, &widths);
        let input: Vec<f32> = (0..inputs).map(|_| rng.f32() * 4.0 - 2.0).collect();
        let output = run(&network, &input);
        for (a, b) in output.iter().zip(expected(&network, &input)) {
            prop_assert!((f64::from(*a) - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
        }
        prop_assert_eq!(&Network::from_onnx(&network.to_onnx()).unwrap(), &network);
    }

    #[test]
    fn damaged_files_are_refused_or_read_but_never_panic(
        seed in any::<u64>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = random(&mut fastrand::Rng::with_seed(seed), 4, &[6, 3]).to_onnx();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(network) = Network::from_onnx(&bytes) {
            run(&network, &[0.5; 4]);
        }
        bytes.truncate(cut.index(bytes.len()));
        let _ = Network::from_onnx(&bytes);
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(Network::from_onnx(&bytes).is_err());
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let layer = |inputs: usize, outputs: usize| Layer {
        weights: vec![0.5; inputs * outputs],
        bias: vec![0.0; outputs],
        activation: Activation::Relu,
    };
    let new = |layers| Network::new(layers, BTreeMap::new());
    assert!(new(vec![layer(2, 3), layer(3, 1)]).is_ok());
    assert!(matches!(new(vec![layer(2, 3), layer(2, 1)]), Err(OnnxError::Shape(_))));
    assert!(matches!(new(vec![]), Err(OnnxError::Limit { .. })));
    assert!(matches!(new(vec![layer(2, 2); 65]), Err(OnnxError::Limit { .. })));
    assert!(matches!(new(vec![layer(1, MAX_WIDTH + 1)]), Err(OnnxError::Limit { .. })));
    assert!(matches!(new(vec![Layer { bias: vec![], ..layer(2, 2) }]), Err(OnnxError::Shape(_))));
    let infinite = Layer { weights: vec![f32::INFINITY; 4], ..layer(2, 2) };
    assert!(matches!(new(vec![infinite]), Err(OnnxError::NotFinite)));
}

#[test]
#[ignore = "a measurement: cargo test --release -p btune onnx::tests::time -- --ignored --nocapture"]
fn time() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut network = random(&mut rng, 46, &[64, 64, 159]);
    for layer in &mut network.layers {
        layer.set_activation(Activation::Relu);
    }
    let input: Vec<f32> = (0..46).map(|_| rng.f32()).collect();
    let (mut output, mut scratch) = (Vec::new(), Scratch::default());
    let mut best = f64::INFINITY;
    for _ in 0..2000 {
        let start = std::time::Instant::now();
        network.run(std::hint::black_box(&input), &mut output, &mut scratch);
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("46-64-64-159: {:.2} µs", best * 1e6);
}
