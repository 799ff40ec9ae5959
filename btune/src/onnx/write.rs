//! Writes an ONNX file.

use std::collections::BTreeMap;

use super::network::{Activation, Layer};
use super::tensor::FLOAT;
use super::wire::Message;

const IR_VERSION: u64 = 7;
const OPSET: u64 = 13;
/// `AttributeProto.AttributeType` of an integer.
const INT: u64 = 2;
const INPUT: &str = "features";
const OUTPUT: &str = "costs";

impl Activation {
    /// The operator, where one is needed.
    fn op(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Relu => Some("Relu"),
            Self::Sigmoid => Some("Sigmoid"),
            Self::Tanh => Some("Tanh"),
            Self::Softmax => Some("Softmax"),
        }
    }
}

/// The file of these layers, of which there is at least one.
pub(super) fn model(layers: &[Layer], metadata: &BTreeMap<String, String>) -> Vec<u8> {
    let opset = Message::default().int(2, OPSET);
    let mut model = Message::default()
        .int(1, IR_VERSION)
        .text(2, env!("CARGO_PKG_NAME"))
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, &graph(layers))
        .message(8, &opset);
    for (key, value) in metadata {
        model = model.message(14, &Message::default().text(1, key).text(2, value));
    }
    model.into_bytes()
}

fn graph(layers: &[Layer]) -> Message {
    let mut graph = Message::default();
    let mut row = INPUT.to_owned();
    let (mut inputs, mut outputs) = (0, 0);
    for (at, layer) in layers.iter().enumerate() {
        let (weights, bias, sums) =
            (format!("weights{at}"), format!("bias{at}"), format!("sums{at}"));
        let last = at + 1 == layers.len();
        let name = |name: String| if last { OUTPUT.to_owned() } else { name };
        outputs = layer.bias.len();
        let width = layer.weights.len() / outputs;
        if at == 0 {
            inputs = width;
        }
        let op = layer.activation.op();
        let sums = if op.is_some() { sums } else { name(sums) };
        // The matrix is stored with one row per output.
        let attribute = Message::default().text(1, "transB").int(3, 1).int(20, INT);
        let gemm = node("Gemm", &[&row, &weights, &bias], &sums).message(5, &attribute);
        graph = graph.message(1, &gemm);
        row = sums;
        if let Some(op) = op {
            let result = name(format!("row{at}"));
            graph = graph.message(1, &node(op, &[&row], &result));
            row = result;
        }
        graph = graph
            .message(5, &tensor(&weights, &[outputs, width], &layer.weights))
            .message(5, &tensor(&bias, &[outputs], &layer.bias));
    }
    graph.text(2, "btune").message(11, &port(INPUT, inputs)).message(12, &port(OUTPUT, outputs))
}

/// A node that has the name of its result.
fn node(op: &str, inputs: &[&str], output: &str) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
    node.text(2, output).text(3, output).text(4, op)
}

fn tensor(name: &str, dims: &[usize], values: &[f32]) -> Message {
    let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.int(1, *dim as u64));
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    tensor.int(2, FLOAT.cast_unsigned()).text(8, name).bytes(9, &raw)
}

/// One row of `width` numbers.
fn port(name: &str, width: usize) -> Message {
    let shape = [1, width].iter().fold(Message::default(), |shape, dim| {
        shape.message(1, &Message::default().int(1, *dim as u64))
    });
    let tensor = Message::default().int(1, FLOAT.cast_unsigned()).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}
