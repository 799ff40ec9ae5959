//! ONNX files as networks. Nothing in them is trusted.

use std::collections::{BTreeMap, HashMap};

use prost::Message;

use super::dense::Dense;
use super::proto::{
    FLOAT, GraphProto, INT64, ModelProto, NodeProto, StringStringEntryProto, TensorProto, ValueInfoProto,
};
use super::{Activation, MAX_FILE_BYTES, MAX_LAYERS, MAX_WIDTH, Network};
use crate::error::OnnxError;

/// The most nodes: a layer can be spread over several.
const MAX_NODES: usize = 4 * MAX_LAYERS;
/// The most entries of the metadata, and bytes of all of them.
const MAX_ENTRIES: usize = 64;
const MAX_METADATA: usize = 64 << 10;
/// Versions of the file format, and of the operations, that are understood.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;
const OPSETS: std::ops::RangeInclusive<i64> = 7..=28;

pub(super) fn network(bytes: &[u8]) -> Result<Network, OnnxError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(OnnxError::Limit { what: "bytes", found: bytes.len(), most: MAX_FILE_BYTES });
    }
    let model = ModelProto::decode(bytes).map_err(|_| OnnxError::Bytes)?;
    if !IR_VERSIONS.contains(&model.ir_version) {
        return Err(OnnxError::Version { what: "IR", found: model.ir_version, known: "3 to 14" });
    }
    let opset = model.opset_import.iter().find(|set| set.domain.is_empty() || set.domain == "ai.onnx");
    match opset.map_or(0, |set| set.version) {
        version if OPSETS.contains(&version) => {}
        found => return Err(OnnxError::Version { what: "opset", found, known: "7 to 28" }),
    }
    if !model.functions.is_empty() {
        return Err(OnnxError::Unsupported("functions"));
    }
    let metadata = metadata(&model.metadata_props)?;
    let graph = model.graph.ok_or(OnnxError::Unsupported("a file without a graph"))?;
    Network::of_dense(Chain::read(&graph)?, metadata)
}

fn metadata(entries: &[StringStringEntryProto]) -> Result<BTreeMap<String, String>, OnnxError> {
    if entries.len() > MAX_ENTRIES {
        return Err(OnnxError::Limit { what: "metadata", found: entries.len(), most: MAX_ENTRIES });
    }
    let length = entries.iter().map(|entry| entry.key.len() + entry.value.len()).sum();
    if length > MAX_METADATA {
        return Err(OnnxError::Limit { what: "bytes of metadata", found: length, most: MAX_METADATA });
    }
    Ok(entries.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect())
}

/// What is multiplied with and added to each number of a row, before the next layer.
struct Affine {
    factors: Vec<f32>,
    terms: Vec<f32>,
}

/// The layers so far, of a graph that is a chain.
struct Chain<'g> {
    constants: HashMap<&'g str, &'g TensorProto>,
    layers: Vec<Dense>,
    /// What follows the last layer's activation, where there is something.
    pending: Option<Affine>,
    current: &'g str,
    width: usize,
}

impl<'g> Chain<'g> {
    fn read(graph: &'g GraphProto) -> Result<Vec<Dense>, OnnxError> {
        if graph.node.len() > MAX_NODES {
            return Err(OnnxError::Limit { what: "nodes", found: graph.node.len(), most: MAX_NODES });
        }
        if !graph.sparse_initializer.is_empty() {
            return Err(OnnxError::Unsupported("sparse tensors"));
        }
        let constants: HashMap<&str, &TensorProto> =
            graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
        // Old files list constants among the inputs.
        let mut inputs = graph.input.iter().filter(|input| !constants.contains_key(input.name.as_str()));
        let (Some(input), None, [output]) = (inputs.next(), inputs.next(), &graph.output[..]) else {
            return Err(OnnxError::Unsupported("other than one input and one output"));
        };
        let width = row(input)?;
        let mut chain = Self { constants, layers: Vec::new(), pending: None, current: &input.name, width };
        for node in &graph.node {
            chain.node(node)?;
        }
        if chain.current != output.name {
            return Err(OnnxError::Unsupported("a graph whose last node does not give its output"));
        }
        if output.r#type.is_some() && row(output)? != chain.width {
            return Err(OnnxError::Shape("the output has another shape than the last node gives"));
        }
        chain.materialise()?;
        Ok(chain.layers)
    }

    fn node(&mut self, node: &'g NodeProto) -> Result<(), OnnxError> {
        let [output] = &node.output[..] else {
            return Err(OnnxError::Unsupported("nodes with other than one output"));
        };
        if !node.domain.is_empty() && node.domain != "ai.onnx" {
            return Err(OnnxError::Operation(named(&node.domain)));
        }
        if node.attribute.iter().any(|attribute| attribute.g.is_some()) {
            return Err(OnnxError::Unsupported("loops and branches"));
        }
        if node.input.iter().filter(|input| *input == self.current).count() != 1 {
            return Err(OnnxError::Unsupported("a graph that is no chain of nodes"));
        }
        match node.op_type.as_str() {
            "Gemm" => self.gemm(node)?,
            "MatMul" => self.multiply(node, false, 1.0)?,
            operation @ ("Add" | "Sub" | "Mul" | "Div") => self.arithmetic(node, operation)?,
            "Relu" => self.activate(Activation::Relu)?,
            "Sigmoid" => self.activate(Activation::Sigmoid)?,
            "Tanh" => self.activate(Activation::Tanh)?,
            "Softmax" if matches!(integer(node, "axis"), None | Some(-1 | 1)) => {
                self.activate(Activation::Softmax)?;
            }
            "Softmax" => return Err(OnnxError::Unsupported("Softmax over another axis than the last")),
            "Identity" => {}
            "Flatten" if matches!(integer(node, "axis"), None | Some(0 | 1 | -1)) => {}
            "Flatten" => return Err(OnnxError::Shape("Flatten with an axis that a row does not have")),
            "Cast" if integer(node, "to") == Some(i64::from(FLOAT)) => {}
            "Cast" => return Err(OnnxError::Unsupported("Cast to other than float")),
            "Reshape" => self.reshape(node)?,
            other => return Err(OnnxError::Operation(named(other))),
        }
        if self.layers.len() > MAX_LAYERS {
            return Err(OnnxError::Limit { what: "layers", found: self.layers.len(), most: MAX_LAYERS });
        }
        self.current = output;
        Ok(())
    }

    fn gemm(&mut self, node: &NodeProto) -> Result<(), OnnxError> {
        if integer(node, "transA").unwrap_or(0) != 0 {
            return Err(OnnxError::Unsupported("Gemm with transA"));
        }
        let float = |name| node.attribute.iter().find(|a| a.name == name).map_or(1.0, |a| a.f);
        self.multiply(node, integer(node, "transB").unwrap_or(0) != 0, float("alpha"))?;
        if node.input.get(2).is_some_and(|name| !name.is_empty()) {
            let beta = float("beta");
            let terms: Vec<f32> = self.vector(node, 2)?.into_iter().map(|x| x * beta).collect();
            self.affine(vec![1.0; self.width], terms)?;
        }
        Ok(())
    }

    /// A layer whose weights are the node's second input.
    fn multiply(&mut self, node: &NodeProto, transposed: bool, factor: f32) -> Result<(), OnnxError> {
        if node.input.first().map(String::as_str) != Some(self.current) {
            return Err(OnnxError::Unsupported("weights as the first input of a product"));
        }
        let tensor = self.constant(node, 1)?;
        let mut numbers = floats(tensor)?;
        let &[rows, columns] = &dims(tensor)?[..] else {
            return Err(OnnxError::Shape("weights that are no matrix"));
        };
        let (inputs, outputs) = if transposed { (columns, rows) } else { (rows, columns) };
        if inputs != self.width || outputs == 0 {
            return Err(OnnxError::Shape("weights for another number of inputs"));
        }
        numbers.iter_mut().for_each(|x| *x *= factor);
        let zeros = vec![0.0; outputs];
        let mut dense = if transposed {
            Dense::new(&super::Layer { weights: numbers, bias: zeros, activation: Activation::Identity })?
        } else {
            Dense::by_input(numbers, zeros, Activation::Identity)?
        };
        if let Some(Affine { factors, terms }) = self.pending.take() {
            dense.scale_inputs(&factors, &terms);
        }
        self.layers.push(dense);
        self.width = outputs;
        Ok(())
    }

    fn arithmetic(&mut self, node: &NodeProto, operation: &str) -> Result<(), OnnxError> {
        if node.input.len() != 2 {
            return Err(OnnxError::Unsupported("arithmetic of other than two inputs"));
        }
        let first = node.input[0] == self.current;
        let numbers = self.vector(node, usize::from(first))?;
        let (ones, zeros) = (vec![1.0; self.width], vec![0.0; self.width]);
        let each = |f: fn(f32) -> f32| numbers.iter().map(|&x| f(x)).collect::<Vec<_>>();
        match (operation, first) {
            ("Add", _) => self.affine(ones, numbers),
            ("Mul", _) => self.affine(numbers, zeros),
            ("Sub", true) => self.affine(ones, each(|x| -x)),
            ("Sub", false) => self.affine(vec![-1.0; self.width], numbers),
            ("Div", true) => self.affine(each(|x| 1.0 / x), zeros),
            _ => Err(OnnxError::Unsupported("division by what is not constant")),
        }
    }

    /// Multiplies and adds: in the last layer, or before the next.
    fn affine(&mut self, factors: Vec<f32>, terms: Vec<f32>) -> Result<(), OnnxError> {
        if factors.iter().chain(&terms).any(|x| !x.is_finite()) {
            return Err(OnnxError::NotFinite);
        }
        if let Some(before) = &mut self.pending {
            for (((a, b), factor), term) in before.factors.iter_mut().zip(&mut before.terms).zip(&factors).zip(&terms) {
                *a *= factor;
                *b = *b * factor + term;
            }
        } else if let Some(last) = self.layers.last_mut().filter(|l| l.activation() == Activation::Identity) {
            last.scale_outputs(&factors, &terms);
        } else {
            self.pending = Some(Affine { factors, terms });
        }
        Ok(())
    }

    fn activate(&mut self, activation: Activation) -> Result<(), OnnxError> {
        let free = |l: &Dense| l.activation() == Activation::Identity;
        if self.pending.is_none() && !self.layers.last().is_some_and(free) {
            self.pending = Some(Affine { factors: vec![1.0; self.width], terms: vec![0.0; self.width] });
        }
        self.materialise()?;
        if let Some(last) = self.layers.last_mut() {
            last.set_activation(activation);
        }
        Ok(())
    }

    /// Makes a layer of what no layer has taken up.
    fn materialise(&mut self) -> Result<(), OnnxError> {
        if let Some(Affine { factors, terms }) = self.pending.take() {
            let n = self.width;
            let mut square = vec![0.0; n * n];
            square.iter_mut().step_by(n + 1).zip(&factors).for_each(|(x, factor)| *x = *factor);
            self.layers.push(Dense::by_input(square, terms, Activation::Identity)?);
        }
        Ok(())
    }

    fn reshape(&self, node: &NodeProto) -> Result<(), OnnxError> {
        let shape = integers(self.constant(node, 1)?)?;
        let width = self.width as i64;
        let row = matches!(shape[..], [1 | -1 | 0, n] if n == width) || matches!(shape[..], [1 | 0, -1 | 0]);
        if row { Ok(()) } else { Err(OnnxError::Shape("Reshape to other than one row")) }
    }

    fn constant(&self, node: &NodeProto, at: usize) -> Result<&'g TensorProto, OnnxError> {
        let name = node.input.get(at).map_or("", String::as_str);
        self.constants.get(name).copied().ok_or(OnnxError::Unsupported("a graph that is no chain of nodes"))
    }

    /// A constant as one number for each number of the row.
    fn vector(&self, node: &NodeProto, at: usize) -> Result<Vec<f32>, OnnxError> {
        let tensor = self.constant(node, at)?;
        let numbers = floats(tensor)?;
        match (numbers.len(), &dims(tensor)?[..]) {
            (1, [] | [1] | [1, 1]) => Ok(vec![numbers[0]; self.width]),
            (n, [_] | [1, _]) if n == self.width => Ok(numbers),
            _ => Err(OnnxError::Shape("a constant that does not fit the row")),
        }
    }
}

/// The numbers in the row that an input or output is.
fn row(value: &ValueInfoProto) -> Result<usize, OnnxError> {
    let tensor = value.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let tensor = tensor.filter(|t| t.elem_type == FLOAT);
    let shape = tensor.and_then(|t| t.shape.as_ref()).ok_or(OnnxError::Shape("no row of floats"))?;
    let [batch, width] = &shape.dim[..] else {
        return Err(OnnxError::Shape("an input or output that is no row"));
    };
    // A name, as exporters give it, stands for any number of rows.
    if batch.dim_value.is_some_and(|n| n != 1 && n != -1) {
        return Err(OnnxError::Shape("an input or output of several rows"));
    }
    let width = width.dim_value.and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=MAX_WIDTH).contains(n));
    width.ok_or(OnnxError::Shape("a row of no known length"))
}

fn integer(node: &NodeProto, name: &str) -> Option<i64> {
    node.attribute.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.i)
}

fn dims(tensor: &TensorProto) -> Result<Vec<usize>, OnnxError> {
    let small = |&n: &i64| usize::try_from(n).ok().filter(|n| *n <= MAX_FILE_BYTES);
    let dims: Option<Vec<usize>> = tensor.dims.iter().map(small).collect();
    dims.filter(|dims| dims.len() <= 4).ok_or(OnnxError::Shape("a tensor of an impossible shape"))
}

fn check(tensor: &TensorProto, data_type: i32) -> Result<usize, OnnxError> {
    if tensor.data_location != 0 || !tensor.external_data.is_empty() {
        return Err(OnnxError::Unsupported("tensors in other files"));
    }
    if tensor.data_type != data_type {
        return Err(OnnxError::Unsupported("tensors of other types"));
    }
    let count = dims(tensor)?.into_iter().try_fold(1usize, usize::checked_mul);
    count.ok_or(OnnxError::Shape("a tensor of an impossible shape"))
}

fn floats(tensor: &TensorProto) -> Result<Vec<f32>, OnnxError> {
    let count = check(tensor, FLOAT)?;
    let numbers: Vec<f32> = if tensor.raw_data.is_empty() {
        tensor.float_data.clone()
    } else {
        tensor.raw_data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    };
    let exact = tensor.raw_data.is_empty() || tensor.raw_data.len() == count * 4;
    if numbers.len() != count || !exact {
        return Err(OnnxError::Shape("a tensor with more or fewer numbers than its shape says"));
    }
    if numbers.iter().any(|x| !x.is_finite()) {
        return Err(OnnxError::NotFinite);
    }
    Ok(numbers)
}

fn integers(tensor: &TensorProto) -> Result<Vec<i64>, OnnxError> {
    let count = check(tensor, INT64)?;
    let raw = tensor.raw_data.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b));
    let numbers: Vec<i64> = if tensor.raw_data.is_empty() { tensor.int64_data.clone() } else { raw.collect() };
    if numbers.len() == count { Ok(numbers) } else { Err(OnnxError::Shape("a shape that is cut short")) }
}

/// A name from a file, fit for an error message.
fn named(text: &str) -> String {
    text.chars().filter(char::is_ascii_graphic).take(40).collect()
}
