//! Tests: files that are read, and files that are not.

use super::tests::run;
use super::wire::Message;
use super::{MAX_FILE_BYTES, Network};

/// A file of one graph of these nodes, from `x` of shape `[1, 2]` to `y`, with constants.
fn file(nodes: &[Message]) -> Vec<u8> {
    model(8, 13, &graph(nodes, [&port("x", 1, &[1, 2]), &port("y", 1, &[])]))
}

fn model(ir: u64, opset: u64, graph: &Message) -> Vec<u8> {
    let opset = Message::default().int(2, opset);
    Message::default().int(1, ir).message(7, graph).message(8, &opset).into_bytes()
}

fn graph(nodes: &[Message], [input, output]: [&Message; 2]) -> Message {
    let graph = Message::default().message(11, input).message(12, output);
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
    let plain = || graph(&relu(), [&port("x", 1, &[1, 2]), &port("y", 1, &[])]);
    let input = |elem, dims: &[u64]| {
        model(8, 13, &graph(&relu(), [&port("x", elem, dims), &port("y", 1, &[])]))
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
        model(8, 13, &graph(&relu(), [&port("x", 1, &[1, 2]), &port("y", elem, dims)]))
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
        .message(6, &graph(&[], [&port("x", 1, &[]), &port("y", 1, &[])]));
    refused(&file(&[relu("x", "y").message(5, &body)]), "subgraph");
    let name = |at: i32| at.to_string();
    let chain: Vec<_> = (0..300).map(|at| node("Relu", &[&name(at)], &name(at + 1))).collect();
    refused(&file(&chain), "257 nodes, at most 256");
    refused(&vec![0; MAX_FILE_BYTES + 1], "bytes of the file");
    let external = |tensor: Message| {
        let graph = graph(&[relu("x", "y")], [&port("x", 1, &[1, 2]), &port("y", 1, &[])]);
        model(8, 13, &graph.message(5, &tensor))
    };
    refused(&external(tensor("e", &[2], &[]).int(14, 1)), "\"e\": its data is in another file");
    refused(&external(tensor("e", &[2], &[]).text(13, "")), "\"e\": its data is in another file");
    refused(&external(tensor("w", &[2], &[])), "there are two of this name");
}
