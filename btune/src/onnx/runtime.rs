//! Models that the embedded evaluator does not read, in an ONNX Runtime library that the user names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::session::Session;
use ort::value::{TensorElementType, TensorRef, ValueType};

use super::{MAX_METADATA, MAX_METADATA_BYTES, MAX_WIDTH, capped};
use crate::error::OnnxError;

/// Minor versions of ONNX Runtime 1: the oldest that has the interface this is built for, and the
/// first that starts a thread which reports to its maker and writes into the user's cache, whatever
/// the settings of the interface say.
const OLDEST: u32 = 24;
const REPORTS: u32 = 29;
/// The variable that stops the reports, if it is set before the library is loaded.
const NO_REPORTS: &str = "ORT_DISABLE_TELEMETRY";

/// A library and what it keeps for the process, of which it allows one.
static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// A model that an ONNX Runtime library evaluates, in the thread that calls it.
///
/// A model of a stranger may keep it busy for ever; the embedded [`Network`](super::Network) ends.
#[derive(Debug)]
pub struct Runtime {
    session: Session,
    shape: Vec<i64>,
    inputs: usize,
    outputs: usize,
    metadata: BTreeMap<String, String>,
}

fn refuse(why: impl std::fmt::Display) -> OnnxError {
    // The library's messages may have many lines.
    let line: Vec<_> = why.to_string().split_whitespace().map(str::to_owned).collect();
    OnnxError::Runtime(line.join(" ").chars().take(400).collect())
}

impl Runtime {
    /// Loads the library at the path `library` (version 1.24 or newer), once per process, and the
    /// file `model` into it: one `float` input with one row, one `float` output.
    ///
    /// # Errors
    ///
    /// If there is no such library, another one was loaded before, it is 1.29 or newer and the
    /// environment has not `ORT_DISABLE_TELEMETRY=1`, or it refuses the model.
    pub fn open(library: &Path, model: &[u8]) -> Result<Self, OnnxError> {
        let environment = environment(library)?;
        let session = Session::builder(&environment)
            .and_then(|builder| Ok(builder.with_intra_threads(1)?.with_inter_threads(1)?))
            .and_then(|mut builder| builder.commit_from_memory(model))
            .map_err(refuse)?;
        let shape = input_shape(&session)?;
        let metadata = metadata(&session)?;
        // Not empty: the shape was checked.
        let inputs = shape.iter().product::<i64>().unsigned_abs() as usize;
        let mut runtime = Self { session, shape, inputs, outputs: 0, metadata };
        let mut output = Vec::new();
        runtime.run(&vec![0.0; inputs], &mut output)?;
        runtime.outputs = output.len();
        Ok(runtime)
    }

    /// Numbers in a row that goes in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers in a row that comes out, as they were for a row of zeros.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// What the file says about the model (`metadata_props`).
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Evaluates one row into `output`, which is cleared first.
    ///
    /// # Errors
    ///
    /// If `input` has not [`inputs`](Self::inputs) numbers, or the library reports an error.
    pub fn run(&mut self, input: &[f32], output: &mut Vec<f32>) -> Result<(), OnnxError> {
        output.clear();
        let row = TensorRef::from_array_view((&self.shape[..], input)).map_err(refuse)?;
        let results = self.session.run(ort::inputs![row]).map_err(refuse)?;
        let (_, numbers) = results[0].try_extract_tensor().map_err(refuse)?;
        capped("numbers in a row", numbers.len(), MAX_WIDTH)?;
        output.extend_from_slice(numbers);
        Ok(())
    }
}

/// Loads the library, or finds that it is loaded.
fn environment(library: &Path) -> Result<Environment, OnnxError> {
    let name = library.display();
    // A path that is not absolute would be looked for beside the program.
    let path = library
        .canonicalize()
        .map_err(|error| refuse(format_args!("the library {name} cannot be read: {error}")))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((other, environment)) = &*loaded {
        if *other == path {
            return Ok(environment.clone());
        }
        let other = other.display();
        return Err(refuse(format_args!("the process has loaded {other} and cannot load {name}")));
    }
    let version = ort::util::probe(&path).ok_or_else(|| {
        refuse(format_args!("{name} is not a library of ONNX Runtime 1 that can be loaded here"))
    })?;
    if version < OLDEST {
        return Err(refuse(format_args!(
            "{name} has version 1.{version}: 1.{OLDEST} or newer is needed"
        )));
    }
    if version >= REPORTS && std::env::var_os(NO_REPORTS).is_none_or(|value| value != "1") {
        return Err(refuse(format_args!(
            "{name} has version 1.{version}, which reports to its maker: set {NO_REPORTS}=1 before the \
             program starts, or use a version before 1.{REPORTS}"
        )));
    }
    let environment = ort::init_from(&path)
        .map_err(refuse)?
        .with_telemetry(false)
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(refuse)?;
    *loaded = Some((path, environment.clone()));
    Ok(environment)
}

/// The shape of one row. A first dimension without a size is 1.
fn input_shape(session: &Session) -> Result<Vec<i64>, OnnxError> {
    let ([input], [output]) = (session.inputs(), session.outputs()) else {
        return Err(refuse("the model must have one input and one output"));
    };
    let float = |dtype: &ValueType| {
        matches!(dtype, ValueType::Tensor { ty: TensorElementType::Float32, .. })
    };
    let ValueType::Tensor { shape, .. } = input.dtype() else {
        return Err(refuse("the input of the model must be of type float"));
    };
    if !float(input.dtype()) || !float(output.dtype()) {
        return Err(refuse("the input and the output of the model must be of type float"));
    }
    let mut shape = shape.to_vec();
    if let [first, _, ..] = &mut shape[..]
        && *first == -1
    {
        *first = 1;
    }
    if shape.first() == Some(&1) && super::tensor::sizes(&shape, MAX_WIDTH).is_some() {
        return Ok(shape);
    }
    Err(refuse("the input of the model must have the shape [1, N], N from 1 to 4096"))
}

fn metadata(session: &Session) -> Result<BTreeMap<String, String>, OnnxError> {
    let metadata = session.metadata().map_err(refuse)?;
    let keys = metadata.custom_keys().map_err(refuse)?;
    capped("pairs of metadata", keys.len(), MAX_METADATA)?;
    let pairs = keys.into_iter().map(|key| {
        let value = metadata.custom(&key).unwrap_or_default();
        (key, value)
    });
    let pairs: BTreeMap<_, _> = pairs.collect();
    let bytes = pairs.iter().map(|(key, value)| key.len() + value.len()).sum();
    capped("bytes of metadata", bytes, MAX_METADATA_BYTES)?;
    Ok(pairs)
}
