//! Networks as ONNX files.

use prost::Message;

use super::proto::{
    AttributeProto, DimProto, FLOAT, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ShapeProto,
    StringStringEntryProto, TensorProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use super::{Activation, Network};

const IR_VERSION: i64 = 7;
const OPSET: i64 = 13;
/// Attribute type `INT`.
const INT: i32 = 2;

pub(super) fn network(network: &Network) -> Vec<u8> {
    let mut graph = GraphProto {
        name: "btune".to_owned(),
        input: vec![value("features", network.inputs())],
        output: vec![value("costs", network.outputs())],
        ..GraphProto::default()
    };
    let mut current = "features".to_owned();
    let last = network.layers.len() - 1;
    for (i, dense) in network.layers.iter().enumerate() {
        let layer = dense.layer();
        let (weights, bias) = (format!("weights{i}"), format!("bias{i}"));
        graph.initializer.push(tensor(&weights, &[dense.outputs(), dense.inputs()], &layer.weights));
        graph.initializer.push(tensor(&bias, &[dense.outputs()], &layer.bias));
        let operation = operation(layer.activation);
        let output = if i == last { "costs".to_owned() } else { format!("layer{i}") };
        let sums = if operation.is_some() { format!("sums{i}") } else { output.clone() };
        let transposed =
            AttributeProto { name: "transB".to_owned(), i: 1, r#type: INT, ..AttributeProto::default() };
        graph.node.push(node("Gemm", vec![current, weights, bias], &sums, vec![transposed]));
        if let Some(operation) = operation {
            graph.node.push(node(operation, vec![sums], &output, Vec::new()));
        }
        current = output;
    }
    let entry = |(key, value): (&String, &String)| StringStringEntryProto { key: key.clone(), value: value.clone() };
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "btune".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPSET }],
        metadata_props: network.metadata.iter().map(entry).collect(),
        functions: Vec::new(),
    };
    model.encode_to_vec()
}

const fn operation(activation: Activation) -> Option<&'static str> {
    match activation {
        Activation::Identity => None,
        Activation::Relu => Some("Relu"),
        Activation::Sigmoid => Some("Sigmoid"),
        Activation::Tanh => Some("Tanh"),
        Activation::Softmax => Some("Softmax"),
    }
}

fn node(operation: &str, input: Vec<String>, output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        input,
        output: vec![output.to_owned()],
        name: format!("make_{output}"),
        op_type: operation.to_owned(),
        attribute,
        domain: String::new(),
    }
}

fn tensor(name: &str, dims: &[usize], numbers: &[f32]) -> TensorProto {
    TensorProto {
        dims: dims.iter().map(|&n| n as i64).collect(),
        data_type: FLOAT,
        name: name.to_owned(),
        raw_data: numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ..TensorProto::default()
    }
}

/// One row of so many floats.
fn value(name: &str, width: usize) -> ValueInfoProto {
    let dim = |n: usize| DimProto { dim_value: Some(n as i64), dim_param: String::new() };
    let shape = ShapeProto { dim: vec![dim(1), dim(width)] };
    let tensor_type = TensorTypeProto { elem_type: FLOAT, shape: Some(shape) };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { tensor_type: Some(tensor_type) }),
    }
}
