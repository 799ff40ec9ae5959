use std::collections::BTreeMap;

use proptest::prelude::*;

use super::wire::Message;
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
    let wide = layer(&[&[0.0; 4096 * 128]], &[0.0; 128], Activation::Relu);
    assert!(new(vec![wide]).contains("524416 weights, at most 524288"));
    let metadata = (0..129).map(|key| (key.to_string(), String::new())).collect();
    let error = Network::new(small().layers().to_vec(), metadata).unwrap_err();
    assert!(error.to_string().contains("129 pairs of metadata"));
    let metadata = BTreeMap::from([(String::new(), "x".repeat(MAX_METADATA_BYTES + 1))]);
    assert!(Network::new(small().layers().to_vec(), metadata).is_err());
}

#[test]
fn the_largest_network_fits_in_a_file() {
    let layers = vec![layer(&[&[0.5; 4095 * 128]], &[0.0; 128], Activation::Tanh)];
    let metadata = BTreeMap::from([(String::new(), "x".repeat(MAX_METADATA_BYTES))]);
    let network = Network::new(layers, metadata).unwrap();
    assert_eq!(Network::from_onnx(&network.to_onnx()).unwrap(), network);
}

/// A file of one graph of these nodes, from `x` of shape `[1, 2]` to `y`, with constants.
fn file(nodes: &[Message]) -> Vec<u8> {
    model(8, 13, &graph(nodes, port("x", 1, &[1, 2]), port("y", 1, &[])))
}

fn model(ir: u64, opset: u64, graph: &Message) -> Vec<u8> {
    let opset = Message::default().int(2, opset);
    Message::default().int(1, ir).message(7, graph).message(8, &opset).into_bytes()
}

fn graph(nodes: &[Message], input: Message, output: Message) -> Message {
    let graph = Message::default().message(11, &input).message(12, &output);
    let graph = nodes.iter().fold(graph, |graph, node| graph.message(1, node));
    let constants = [
        tensor("w", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        tensor("b", &[3], &[0.5; 3]),
        tensor("two", &[2], &[2.0, 4.0]),
        tensor("zero", &[], &[0.0]),
        tensor("nan", &[2], &[1.0, f32::NAN]),
        tensor("short", &[3], &[1.0; 2]),
        tensor("none", &[0], &[]),
        tensor("huge", &[1 << 40, 1 << 40], &[]),
        tensor("large", &[1 << 20], &[]),
        // A matrix that a few bytes cannot hold is one of a type that is not read.
        Message::default().int(1, 2).int(2, 11).text(8, "double"),
        Message::default().int(1, 2).int(2, 7).text(8, "shape").bytes(7, &[3, 1]),
    ];
    constants.iter().fold(graph, |graph, constant| graph.message(5, constant))
}

fn tensor(name: &str, dims: &[u64], values: &[f32]) -> Message {
    let raw: Vec<_> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.int(1, *dim));
    tensor.int(2, 1).text(8, name).bytes(9, &raw)
}

/// An input or output; without dimensions its shape is unknown. A dimension of 0 has a name.
fn port(name: &str, elem: u64, dims: &[u64]) -> Message {
    let mut tensor = Message::default().int(1, elem);
    if !dims.is_empty() {
        let shape = dims.iter().fold(Message::default(), |shape, dim| {
            let size = Message::default();
            shape.message(1, &if *dim == 0 { size.text(2, "rows") } else { size.int(1, *dim) })
        });
        tensor = tensor.message(2, &shape);
    }
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

fn node(op: &str, inputs: &[&str], output: &str) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
    node.text(2, output).text(4, op)
}

fn with_int(node: Message, name: &str, value: i64) -> Message {
    node.message(5, &Message::default().text(1, name).int(3, value.cast_unsigned()).int(20, 2))
}

#[track_caller]
fn refused(file: &[u8], why: &str) {
    let error = Network::from_onnx(file).expect_err(why).to_string();
    assert!(error.contains(why) && !error.contains('\n'), "{error}");
}

#[test]
fn steps_fold_into_layers() {
    let nodes = [
        node("Sub", &["x", "two"], "a"),
        node("Div", &["a", "two"], "b1"),
        node("MatMul", &["b1", "w"], "c"),
        node("Add", &["b", "c"], "d"),
        node("Relu", &["d"], "e"),
        with_int(node("Flatten", &["e"], "f"), "axis", -1),
        node("Sub", &["zero", "f"], "y"),
    ];
    let network = Network::from_onnx(&file(&nodes)).unwrap();
    assert_eq!(network.layers().len(), 2);
    // (4 - 2) / 2 = 1 and (0 - 4) / 4 = -1: the rows of `w` are subtracted.
    assert_eq!(run(&network, &[4.0, 0.0]), [-0.0, 0.0, 0.0]);
    assert_eq!(run(&network, &[0.0, 8.0]), [-3.5, -3.5, -3.5]);
}

#[test]
fn other_versions_and_ports_are_refused() {
    let relu = || [node("Relu", &["x"], "y")];
    let plain = || graph(&relu(), port("x", 1, &[1, 2]), port("y", 1, &[]));
    let input = |elem, dims: &[u64]| {
        model(8, 13, &graph(&relu(), port("x", elem, dims), port("y", 1, &[])))
    };
    assert!(Network::from_onnx(&file(&relu())).is_ok());
    for ir in [0, 2, 15, u64::MAX] {
        refused(&model(ir, 13, &plain()), "IR version");
    }
    for opset in [0, 6, 29] {
        refused(&model(8, opset, &plain()), "opset");
    }
    for dims in [&[][..], &[2], &[0, 2], &[2, 2], &[1, 0], &[1, 1 << 40], &[1, 4097]] {
        refused(&input(1, dims), "value \"x\": the input must have the shape [1, N]");
    }
    refused(&input(11, &[1, 2]), "the input must be of type float");
    let output = |elem, dims: &[u64]| {
        model(8, 13, &graph(&relu(), port("x", 1, &[1, 2]), port("y", elem, dims)))
    };
    refused(&output(7, &[1, 2]), "the output must be of type float");
    refused(&output(1, &[1, 3]), "the output has not the shape");
    let two = |number| model(8, 13, &plain().message(number, &port("z", 1, &[1, 2])));
    refused(&two(11), "it must have one input");
    refused(&two(12), "it must have one output");
    let more =
        |number| [&file(&relu())[..], &Message::default().text(number, "").into_bytes()].concat();
    refused(&more(7), "two graphs");
    refused(&more(20), "training graphs");
    refused(&more(25), "functions");
}

#[test]
fn other_graphs_are_refused() {
    let one = |op: &str, inputs: &[&str]| file(&[node(op, inputs, "y")]);
    let int = |op: &str, inputs: &[&str], name, value| {
        file(&[with_int(node(op, inputs, "y"), name, value)])
    };
    refused(&one("Loop\n", &["x"]), "\"Loop\\n\" node \"\": this operator is not read");
    refused(&one("Add", &["x", "x"]), "only a plain chain");
    refused(&one("Relu", &["w"]), "only a plain chain");
    refused(&one("Gemm", &["w", "x"]), "only a plain chain");
    refused(&one("MatMul", &["x", "nowhere"]), "only a plain chain");
    refused(&one("Div", &["two", "x"]), "divide by a constant");
    refused(&one("Div", &["x", "zero"]), "divides by zero");
    refused(&one("Mul", &["x", "b"]), "shape of the row");
    refused(&one("MatMul", &["x", "b"]), "multiply by a matrix");
    refused(&int("Gemm", &["x", "w"], "transB", 1), "not as many rows");
    refused(&int("Gemm", &["x", "w"], "transA", 1), "transA must be 0");
    refused(&int("Gemm", &["x", "w"], "other", 1), "an attribute that is not known");
    refused(&one("Gemm", &["x", "w", "two"]), "one number per output");
    refused(&int("Softmax", &["x"], "axis", 2), "axis is out of range");
    refused(&int("Softmax", &["x"], "axis", 0), "over the whole row");
    refused(&int("Flatten", &["x"], "axis", 3), "axis is out of range");
    refused(&int("Flatten", &["x"], "axis", i64::MIN), "axis is out of range");
    refused(&int("Cast", &["x"], "to", 7), "only a cast to float");
    refused(&one("Reshape", &["x", "shape"]), "as many numbers as its input");
    refused(&one("Reshape", &["x", "two"]), "type int64");
    for (name, why) in [
        ("nan", "must be finite"),
        ("short", "not as many numbers as its dimensions"),
        ("none", "must be 1 or more"),
        ("huge", "must be 1 or more"),
        ("large", "1048576 numbers in a tensor"),
        ("double", "must be of type float"),
    ] {
        refused(&one("Mul", &["x", name]), why);
    }
    let relu = |input, output| node("Relu", &[input], output);
    refused(&file(&[relu("x", "y"), relu("y", "z")]), "the output must be the result of the last");
    refused(&file(&[relu("x", "z"), relu("x", "y")]), "only a plain chain");
    refused(&file(&[relu("x", "x")]), "the name of another value");
    refused(&file(&[relu("x", "w")]), "the name of another value");
    refused(&file(&[relu("x", "y").text(2, "z")]), "one output");
    refused(&file(&[relu("x", "y").text(7, "com.microsoft")]), "not one of ONNX itself");
    let body = Message::default()
        .text(1, "body")
        .message(6, &graph(&[], port("x", 1, &[]), port("y", 1, &[])));
    refused(&file(&[relu("x", "y").message(5, &body)]), "subgraph");
    let name = |at: i32| at.to_string();
    let chain: Vec<_> = (0..300).map(|at| node("Relu", &[&name(at)], &name(at + 1))).collect();
    refused(&file(&chain), "257 nodes, at most 256");
    refused(&vec![0; MAX_FILE_BYTES + 1], "bytes of the file");
    let external = |tensor: Message| {
        let graph = graph(&[relu("x", "y")], port("x", 1, &[1, 2]), port("y", 1, &[]));
        model(8, 13, &graph.message(5, &tensor))
    };
    refused(&external(tensor("e", &[2], &[]).int(14, 1)), "\"e\": its data is in another file");
    refused(&external(tensor("e", &[2], &[]).text(13, "")), "\"e\": its data is in another file");
    refused(&external(tensor("w", &[2], &[])), "there are two of this name");
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
