//! The messages of an ONNX file, as much of them as a chain of layers needs.

use std::collections::BTreeMap;

use super::tensor::{Port, Tensor};
use super::wire::{Fields, Value};
use super::{MAX_FILE_BYTES, MAX_METADATA, MAX_METADATA_BYTES, MAX_NODES, capped};
use crate::error::OnnxError;

/// Inputs, outputs or attributes of one node at most.
const MAX_LIST: usize = 16;
/// Versions of the format and of the operators that are known.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;
const OPSETS: std::ops::RangeInclusive<i64> = 7..=28;

/// A file.
pub(super) struct Model<'a> {
    pub(super) opset: i64,
    pub(super) graph: Graph<'a>,
    pub(super) metadata: BTreeMap<String, String>,
}

#[derive(Default)]
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) tensors: BTreeMap<&'a str, Tensor<'a>>,
    pub(super) inputs: Vec<Port<'a>>,
    pub(super) outputs: Vec<Port<'a>>,
}

#[derive(Default)]
pub(super) struct Node<'a> {
    pub(super) name: &'a str,
    pub(super) op: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    pub(super) attributes: Vec<Attribute<'a>>,
}

/// A setting of a node. Where its kind is another, both numbers are absent.
#[derive(Default)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) float: Option<f32>,
    pub(super) int: Option<i64>,
}

/// Whether the name is that of the operators of ONNX itself.
fn is_onnx(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// Keeps one more element, where the list is not full.
fn push<T>(list: &mut Vec<T>, item: T, what: &'static str, cap: usize) -> Result<(), OnnxError> {
    capped(what, list.len() + 1, cap)?;
    list.push(item);
    Ok(())
}

impl<'a> Model<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, OnnxError> {
        capped("bytes of the file", file.len(), MAX_FILE_BYTES)?;
        let (mut ir, mut opset, mut graph) = (0, None, None);
        let mut metadata = Metadata::default();
        for field in Fields(file) {
            let (number, value) = field?;
            match number {
                1 => ir = value.int()?,
                7 if graph.is_some() => return Err(OnnxError::Model("it has two graphs")),
                7 => graph = Some(value),
                8 => opset = parse_opset(value)?.or(opset),
                14 => metadata.add(value)?,
                20 => return Err(OnnxError::Model("it has training graphs, which are not read")),
                25 => return Err(OnnxError::Model("it has functions, which are not read")),
                _ => {}
            }
        }
        // The version tells what the rest means.
        if !IR_VERSIONS.contains(&ir) {
            return Err(OnnxError::Ir(ir));
        }
        let opset = opset.ok_or(OnnxError::Model("it names no opset"))?;
        if !OPSETS.contains(&opset) {
            return Err(OnnxError::Opset(opset));
        }
        let graph = graph.ok_or(OnnxError::Model("it has no graph"))?;
        Ok(Self { opset, graph: Graph::parse(graph)?, metadata: metadata.pairs })
    }
}

/// The version, where the set is that of ONNX itself.
fn parse_opset(message: Value<'_>) -> Result<Option<i64>, OnnxError> {
    let (mut domain, mut version) = ("", 0);
    for field in message.fields()? {
        match field? {
            (1, value) => domain = value.text()?,
            (2, value) => version = value.int()?,
            _ => {}
        }
    }
    Ok(is_onnx(domain).then_some(version))
}

#[derive(Default)]
struct Metadata {
    pairs: BTreeMap<String, String>,
    bytes: usize,
}

impl Metadata {
    fn add(&mut self, message: Value<'_>) -> Result<(), OnnxError> {
        let (mut key, mut text) = ("", "");
        for field in message.fields()? {
            match field? {
                (1, value) => key = value.text()?,
                (2, value) => text = value.text()?,
                _ => {}
            }
        }
        self.bytes += key.len() + text.len();
        capped("bytes of metadata", self.bytes, MAX_METADATA_BYTES)?;
        if self.pairs.insert(key.to_owned(), text.to_owned()).is_some() {
            return Err(OnnxError::Model("its metadata has a key twice"));
        }
        capped("pairs of metadata", self.pairs.len(), MAX_METADATA)
    }
}

impl<'a> Graph<'a> {
    fn parse(message: Value<'a>) -> Result<Self, OnnxError> {
        let mut graph = Self::default();
        for field in message.fields()? {
            let (number, value) = field?;
            match number {
                1 => push(&mut graph.nodes, Node::parse(value)?, "nodes", MAX_NODES)?,
                5 => graph.add_tensor(Tensor::parse(value)?)?,
                // With initializers among them, as old files have it.
                11 => push(&mut graph.inputs, Port::parse(value)?, "inputs", MAX_NODES)?,
                12 => push(&mut graph.outputs, Port::parse(value)?, "outputs", MAX_NODES)?,
                15 => return Err(OnnxError::Model("it has sparse tensors, which are not read")),
                _ => {}
            }
        }
        Ok(graph)
    }

    fn add_tensor(&mut self, tensor: Tensor<'a>) -> Result<(), OnnxError> {
        capped("tensors", self.tensors.len() + 1, MAX_NODES)?;
        match self.tensors.insert(tensor.name, tensor) {
            Some(twice) => Err(OnnxError::tensor(twice.name, "there are two of this name")),
            None => Ok(()),
        }
    }
}

impl<'a> Node<'a> {
    fn parse(message: Value<'a>) -> Result<Self, OnnxError> {
        let mut node = Self::default();
        let mut domain = "";
        for field in message.fields()? {
            let (number, value) = field?;
            match number {
                1 => push(&mut node.inputs, value.text()?, "inputs of a node", MAX_LIST)?,
                2 => push(&mut node.outputs, value.text()?, "outputs of a node", MAX_LIST)?,
                3 => node.name = value.text()?,
                4 => node.op = value.text()?,
                5 => {
                    let attribute = Attribute::parse(value)?;
                    push(&mut node.attributes, attribute, "attributes of a node", MAX_LIST)?;
                }
                7 => domain = value.text()?,
                _ => {}
            }
        }
        if !is_onnx(domain) {
            return Err(node.refuse("its operator is not one of ONNX itself"));
        }
        Ok(node)
    }

    pub(super) fn refuse(&self, why: &'static str) -> OnnxError {
        OnnxError::node(self.op, self.name, why)
    }

    fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// An integer attribute, or what ONNX takes where there is none.
    pub(super) fn int(&self, name: &str, default: i64) -> Result<i64, OnnxError> {
        let Some(attribute) = self.attribute(name) else { return Ok(default) };
        attribute.int.ok_or_else(|| self.refuse("an attribute must be an integer"))
    }

    /// A finite attribute, or what ONNX takes where there is none.
    pub(super) fn float(&self, name: &str, default: f32) -> Result<f64, OnnxError> {
        let Some(attribute) = self.attribute(name) else { return Ok(default.into()) };
        let value = attribute.float.filter(|value| value.is_finite());
        value.map(f64::from).ok_or_else(|| self.refuse("an attribute must be a finite number"))
    }
}

impl<'a> Attribute<'a> {
    fn parse(message: Value<'a>) -> Result<Self, OnnxError> {
        let mut attribute = Self::default();
        let mut kind = 0;
        for field in message.fields()? {
            let (number, value) = field?;
            match number {
                1 => attribute.name = value.text()?,
                2 => attribute.float = Some(value.float()?),
                3 => attribute.int = Some(value.int()?),
                20 => kind = value.int()?,
                6 | 11 => {
                    return Err(OnnxError::Model(
                        "a node has a subgraph: only a plain chain is read",
                    ));
                }
                _ => {}
            }
        }
        // Some writers leave out a zero.
        match kind {
            1 => _ = attribute.float.get_or_insert(0.0),
            2 => _ = attribute.int.get_or_insert(0),
            _ => {}
        }
        Ok(attribute)
    }
}
