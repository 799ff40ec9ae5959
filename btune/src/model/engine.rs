//! What evaluates a model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use crate::error::OnnxError;
use crate::onnx::{Network, Runtime, Scratch};

/// The evaluator that is built in, or an ONNX Runtime library.
#[derive(Debug)]
pub(super) enum Engine {
    Embedded(Network),
    /// It is for one thread at a time.
    Runtime(Box<Mutex<Runtime>>),
}

impl Engine {
    pub(super) fn embedded(bytes: &[u8]) -> Result<Self, OnnxError> {
        Network::from_onnx(bytes).map(Self::Embedded)
    }

    pub(super) fn runtime(library: &Path, bytes: &[u8]) -> Result<Self, OnnxError> {
        Runtime::open(library, bytes).map(|runtime| Self::Runtime(Box::new(Mutex::new(runtime))))
    }

    /// Numbers that go in and come out, and the metadata.
    pub(super) fn describe(&self) -> (usize, usize, BTreeMap<String, String>) {
        match self {
            Self::Embedded(network) => {
                (network.inputs(), network.outputs(), network.metadata().clone())
            }
            Self::Runtime(runtime) => match runtime.lock() {
                Ok(runtime) => (runtime.inputs(), runtime.outputs(), runtime.metadata().clone()),
                Err(_) => (0, 0, BTreeMap::new()),
            },
        }
    }

    /// Evaluates a row of the right length; none where the library fails, or is at work for another thread: it may
    /// be one that a forked child does not have.
    pub(super) fn run(&self, input: &[f32]) -> Option<Vec<f32>> {
        let mut output = Vec::new();
        match self {
            Self::Embedded(network) => network.run(input, &mut output, &mut Scratch::default()),
            Self::Runtime(runtime) => runtime.try_lock().ok()?.run(input, &mut output).ok()?,
        }
        Some(output)
    }
}
