//! Follows the chain of nodes from the input to the output.

use super::MAX_WIDTH;
use super::fold::{Fold, Scale};
use super::messages::{Graph, Model, Node};
use super::network::{Activation, Layer};
use super::tensor::{FLOAT, Floats, Port, sizes};
use crate::error::OnnxError;

/// The opset since which `Softmax` is over one dimension, not over all from one on.
const SOFTMAX_OF_ONE_AXIS: i64 = 13;

pub(super) const ONE_CHAIN: &str = "it must take the result of the node before it and constants: only a plain \
                         chain is read";
const ONE_ROW: &str = "it must take one row";
pub(super) const RANGE: &str = "its axis is out of range";

/// The value that the next node takes.
pub(super) struct Chain<'a> {
    pub(super) graph: &'a Graph<'a>,
    opset: i64,
    /// The names of all values so far; the last is that of the row.
    names: Vec<&'a str>,
    /// Its dimensions; their product is the width of the row.
    pub(super) dims: Vec<usize>,
    fold: Fold,
}

/// The layers of a graph.
pub(super) fn layers(model: &Model<'_>) -> Result<Vec<Layer>, OnnxError> {
    let graph = &model.graph;
    // Old files list the constants among the inputs.
    let mut inputs = graph.inputs.iter().filter(|port| !graph.tensors.contains_key(port.name));
    let (Some(input), None) = (inputs.next(), inputs.next()) else {
        return Err(OnnxError::Model("it must have one input"));
    };
    let [output] = &graph.outputs[..] else {
        return Err(OnnxError::Model("it must have one output"));
    };
    let dims = input_dims(input)?;
    let width = dims.iter().product();
    let fold = Fold::new(width);
    let mut chain = Chain { graph, opset: model.opset, names: vec![input.name], dims, fold };
    for node in &graph.nodes {
        chain.step(node)?;
    }
    chain.check_output(output)?;
    chain.fold.finish()
}

/// The dimensions of the input, the first of which is 1.
fn input_dims(port: &Port<'_>) -> Result<Vec<usize>, OnnxError> {
    let refuse = |why| OnnxError::port(port.name, why);
    if port.elem_type != FLOAT {
        return Err(refuse("the input must be of type float"));
    }
    let dims: Option<Vec<_>> = port.dims.clone().and_then(|dims| dims.into_iter().collect());
    let dims = dims.ok_or_else(|| refuse("the input must have the shape [1, N], without names"))?;
    let (dims, _) = sizes(&dims, MAX_WIDTH)
        .ok_or_else(|| refuse("the input must have the shape [1, N], N from 1 to 4096"))?;
    if dims.first() != Some(&1) {
        return Err(refuse("the input must have the shape [1, N]: one row"));
    }
    Ok(dims)
}

impl<'a> Chain<'a> {
    fn step(&mut self, node: &'a Node<'a>) -> Result<(), OnnxError> {
        match node.op {
            "Gemm" => self.gemm(node)?,
            "MatMul" => self.matmul(node)?,
            "Add" | "Sub" | "Mul" | "Div" => self.scale(node)?,
            "Relu" => self.activate(node, Activation::Relu)?,
            "Sigmoid" => self.activate(node, Activation::Sigmoid)?,
            "Tanh" => self.activate(node, Activation::Tanh)?,
            "Softmax" => self.softmax(node)?,
            "Identity" => self.alone(node, &[])?,
            "Cast" => self.cast(node)?,
            "Flatten" => self.flatten(node)?,
            "Reshape" => self.reshape(node)?,
            _ => {
                return Err(node.refuse(
                    "this operator is not read: Gemm, MatMul, Add, Sub, Mul, Div, Relu, Sigmoid, \
                     Tanh, Softmax, Identity, Reshape, Flatten or Cast",
                ));
            }
        }
        let [output] = node.outputs[..] else {
            return Err(node.refuse("it must have one output"));
        };
        if self.names.contains(&output) || self.graph.tensors.contains_key(output) {
            return Err(node.refuse("its output has the name of another value"));
        }
        self.names.push(output);
        Ok(())
    }

    pub(super) fn is_row(&self, name: &str) -> bool {
        self.names.last() == Some(&name)
    }

    /// Checks that the node has no attributes but these.
    pub(super) fn attributes(node: &Node<'_>, known: &[&str]) -> Result<(), OnnxError> {
        if node.attributes.iter().all(|attribute| known.contains(&attribute.name)) {
            return Ok(());
        }
        Err(node.refuse("it has an attribute that is not known"))
    }

    /// Checks that the node takes the row and nothing else.
    pub(super) fn alone(&self, node: &Node<'_>, attributes: &[&str]) -> Result<(), OnnxError> {
        Self::attributes(node, attributes)?;
        match node.inputs[..] {
            [row] if self.is_row(row) => Ok(()),
            _ => Err(node.refuse(ONE_CHAIN)),
        }
    }

    fn constant(&self, node: &Node<'_>, name: &str) -> Result<Floats, OnnxError> {
        self.graph.tensors.get(name).ok_or_else(|| node.refuse(ONE_CHAIN))?.floats()
    }

    fn gemm(&mut self, node: &Node<'_>) -> Result<(), OnnxError> {
        Self::attributes(node, &["alpha", "beta", "transA", "transB"])?;
        let (row, weights, bias) = match node.inputs[..] {
            [row, weights] | [row, weights, ""] => (row, weights, None),
            [row, weights, bias] => (row, weights, Some(bias)),
            _ => return Err(node.refuse("it must have two or three inputs")),
        };
        if !self.is_row(row) {
            return Err(node.refuse(ONE_CHAIN));
        }
        if node.int("transA", 0)? != 0 {
            return Err(node.refuse("transA must be 0"));
        }
        let transposed = node.int("transB", 0)? != 0;
        let (alpha, beta) = (node.float("alpha", 1.0)?, node.float("beta", 1.0)?);
        let weights = self.constant(node, weights)?;
        let ([1, inputs], [rows, columns]) = (&self.dims[..], &weights.dims[..]) else {
            return Err(node.refuse("it must take one row of shape [1, N] and a matrix"));
        };
        let (fits, outputs) =
            if transposed { (columns == inputs, *rows) } else { (rows == inputs, *columns) };
        if !fits {
            return Err(node.refuse("its matrix has not as many rows as its input has numbers"));
        }
        let bias = match bias {
            Some(bias) => spread(&self.constant(node, bias)?, &[1, outputs])
                .ok_or_else(|| node.refuse("its bias must have one number per output"))?,
            None => vec![0.0; outputs],
        };
        let stride = *columns;
        let weight = |output: usize, input: usize| {
            let at = if transposed { output * stride + input } else { input * stride + output };
            alpha * f64::from(weights.values[at])
        };
        self.fold.dense(outputs, weight, |output| beta * bias[output])?;
        self.dims = vec![1, outputs];
        Ok(())
    }

    fn matmul(&mut self, node: &Node<'_>) -> Result<(), OnnxError> {
        Self::attributes(node, &[])?;
        let weights = match node.inputs[..] {
            [row, weights] if self.is_row(row) => self.constant(node, weights)?,
            _ => return Err(node.refuse(ONE_CHAIN)),
        };
        let (Some(last), [rows, outputs]) = (self.dims.last_mut(), &weights.dims[..]) else {
            return Err(node.refuse("it must multiply by a matrix"));
        };
        if *last != self.fold.width() {
            return Err(node.refuse(ONE_ROW));
        }
        if last != rows {
            return Err(node.refuse("its matrix has not as many rows as its input has numbers"));
        }
        *last = *outputs;
        let weight = |output: usize, input: usize| weights.values[input * outputs + output].into();
        self.fold.dense(*outputs, weight, |_| 0.0)
    }

    fn scale(&mut self, node: &Node<'_>) -> Result<(), OnnxError> {
        Self::attributes(node, &[])?;
        let (first, constant) = match node.inputs[..] {
            [row, constant] if self.is_row(row) => (true, constant),
            [constant, row] if self.is_row(row) => (false, constant),
            _ => return Err(node.refuse(ONE_CHAIN)),
        };
        let constant = self.constant(node, constant)?;
        let by = spread(&constant, &self.dims)
            .ok_or_else(|| node.refuse("its constant must have the shape of the row"))?;
        if node.op == "Div" && !first {
            return Err(node.refuse("it must divide by a constant"));
        }
        if node.op == "Div" && by.contains(&0.0) {
            return Err(node.refuse("it divides by zero"));
        }
        self.fold.scale(|at| {
            let (factor, term) = match node.op {
                "Add" => (1.0, by[at]),
                "Sub" if first => (1.0, -by[at]),
                "Sub" => (-1.0, by[at]),
                "Mul" => (by[at], 0.0),
                _ => (1.0 / by[at], 0.0),
            };
            Scale { factor, term }
        })?;
        let more = constant.dims.len().saturating_sub(self.dims.len());
        self.dims.splice(0..0, std::iter::repeat_n(1, more));
        Ok(())
    }

    fn activate(&mut self, node: &Node<'_>, activation: Activation) -> Result<(), OnnxError> {
        self.alone(node, &[])?;
        self.fold.activate(activation)
    }

    fn softmax(&mut self, node: &Node<'_>) -> Result<(), OnnxError> {
        self.alone(node, &["axis"])?;
        let one = self.opset >= SOFTMAX_OF_ONE_AXIS;
        let axis = self.axis(node, if one { -1 } else { 1 })?;
        let over = match self.dims.get(axis) {
            Some(&dim) if one => dim,
            Some(_) => self.dims[axis..].iter().product(),
            None => return Err(node.refuse(RANGE)),
        };
        if over != self.fold.width() {
            return Err(node.refuse("it must be over the whole row"));
        }
        self.fold.activate(Activation::Softmax)
    }

    /// Checks that the chain ends in the output and that it is as the file says.
    fn check_output(&self, port: &Port<'_>) -> Result<(), OnnxError> {
        let refuse = |why| Err(OnnxError::port(port.name, why));
        if !self.is_row(port.name) {
            return refuse("the output must be the result of the last node");
        }
        // A type or a dimension may be left out.
        if ![0, FLOAT].contains(&port.elem_type) {
            return refuse("the output must be of type float");
        }
        let Some(dims) = &port.dims else { return Ok(()) };
        let same = |(said, size): (&Option<i64>, &usize)| {
            said.is_none_or(|said| usize::try_from(said) == Ok(*size))
        };
        if dims.len() == self.dims.len() && dims.iter().zip(&self.dims).all(same) {
            return Ok(());
        }
        refuse("the output has not the shape that the file says")
    }
}

/// The numbers of a constant for each place of a row with these dimensions, as broadcasting has it.
fn spread(constant: &Floats, dims: &[usize]) -> Option<Vec<f64>> {
    let width: usize = dims.iter().product();
    let count = constant.values.len();
    let fits = |(dim, size): (&usize, &usize)| *dim == 1 || dim == size;
    let more = constant.dims.iter().rev().skip(dims.len()).all(|&dim| dim == 1);
    if !more || !constant.dims.iter().rev().zip(dims.iter().rev()).all(fits) {
        return None;
    }
    match count {
        1 => Some(vec![constant.values[0].into(); width]),
        _ => (count == width).then(|| constant.values.iter().map(|&value| value.into()).collect()),
    }
}
