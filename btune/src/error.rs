//! What can go wrong, one enum per concern.

use thiserror::Error;

/// A setting that is not what it may be. The text names the setting, its value and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A value outside what the setting allows.
    #[error("{name}={value:?} is not valid: {allowed}")]
    Invalid {
        /// The variable or field.
        name: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: &'static str,
    },
}

/// A codec, filter or split mode code that C-Blosc2 does not have, or a parameter out of range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// Not a codec that this library can write.
    #[error("codec {0} is not known: 0 (blosclz), 1 (lz4), 2 (lz4hc), 4 (zlib) or 5 (zstd)")]
    Codec(u32),
    /// Not a filter that this library can write.
    #[error(
        "filter {0} is not known: 0 (none), 1 (shuffle), 2 (bitshuffle), 3 (delta), 4 (truncated \
         precision) or 35 (bytedelta)"
    )]
    Filter(u32),
    /// Not a split mode.
    #[error(
        "split mode {0} is not known: 1 (always), 2 (never), 3 (auto) or 4 (forward compatible)"
    )]
    SplitMode(u32),
    /// Not a compression level.
    #[error("compression level {0} is out of range: 0 to 9")]
    Clevel(u32),
}

/// Bytes that are not a Blosc2 chunk or frame that can be read safely.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Fewer bytes than the structure needs.
    #[error("{what} needs {needed} bytes, only {available} are there")]
    Truncated {
        /// The structure being read.
        what: &'static str,
        /// Bytes that it needs.
        needed: usize,
        /// Bytes that are there.
        available: usize,
    },
    /// A field that contradicts the format or another field.
    #[error("not a valid Blosc2 {what}: {why}")]
    Invalid {
        /// The structure being read.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Valid, but of a kind that this library does not read.
    #[error("unsupported Blosc2 {what}: {why}")]
    Unsupported {
        /// The structure being read.
        what: &'static str,
        /// What is not supported.
        why: &'static str,
    },
}

/// C-Blosc2 could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The chunk is larger than the format allows.
    #[error("a chunk of {0} bytes is too large for Blosc2: at most {max} bytes", max = crate::blosc::MAX_CHUNK_BYTES)]
    TooLarge(usize),
    /// There is no memory for a buffer.
    #[error("no memory for {0} bytes")]
    Memory(usize),
    /// C-Blosc2 refused the parameters.
    #[error("C-Blosc2 made no context for these parameters")]
    Context,
    /// C-Blosc2 returned an error code from compression.
    #[error("C-Blosc2 could not compress the chunk (error {0})")]
    Compress(i32),
    /// C-Blosc2 returned an error code from decompression.
    #[error("C-Blosc2 could not decompress the chunk (error {0})")]
    Decompress(i32),
    /// The destination does not hold the chunk's uncompressed bytes.
    #[error("the chunk holds {chunk} bytes, the destination {destination}")]
    Length {
        /// Uncompressed bytes of the chunk.
        chunk: usize,
        /// Bytes of the destination.
        destination: usize,
    },
    /// The stored bytes are not valid.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// A file of Blosc2 that cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system could not read it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What it holds is not valid, or cannot be decompressed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl From<FrameError> for FileError {
    fn from(error: FrameError) -> Self {
        Self::Backend(error.into())
    }
}

/// A stored record that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Not as long as a record of that version.
    #[error("a btune record of version 1 has 32 bytes, this one {0}")]
    Length(usize),
    /// A version from the future.
    #[error("btune record version {0} is not known: 1")]
    Version(u8),
    /// A field with a value that no writer stores.
    #[error("btune record: {0} is out of range")]
    Field(&'static str),
}

/// A call of [`Tuner::tell`](crate::Tuner::tell) that was refused; the tuner is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TunerError {
    /// The trial was told already, or comes from another tuner, or is too old.
    #[error("trial {0} is not open: it was told already or was never asked for")]
    NotOpen(u64),
    /// A time or size that is not a finite positive number.
    #[error("the measurement's {0} is not a finite number above zero")]
    Measurement(&'static str),
}

/// A text that is no profile, or one that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Not the JSON of a profile.
    #[error("not a profile of btune: {0}")]
    Text(String),
    /// Another version's.
    #[error("a profile of version {0}: version 1 is known")]
    Version(u32),
    /// A field that holds what nobody writes.
    #[error("not a valid profile: {0}")]
    Field(&'static str),
}

/// A network or a model file that is not used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// Bytes that are no Protocol Buffers.
    #[error("not an ONNX file: {0}")]
    Wire(&'static str),
    /// More of something than is read.
    #[error("the ONNX model is too large: {number} {what}, at most {cap} are read")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How many there are, at least.
        number: usize,
        /// How many there may be.
        cap: usize,
    },
    /// A version of the format that is not known.
    #[error("the ONNX model has IR version {0}: 3 to 14 are read")]
    Ir(i64),
    /// A version of the operators that is not known.
    #[error("the ONNX model has opset {0}: 7 to 28 are read")]
    Opset(i64),
    /// Something that concerns the model as a whole.
    #[error("the ONNX model is not read: {0}")]
    Model(&'static str),
    /// An input, an output, a constant or a node that is not as it must be.
    #[error("the ONNX model is not read: {what}: {why}")]
    Part {
        /// Kind and name, at most 64 characters of it.
        what: String,
        /// What is wrong, or what is allowed.
        why: &'static str,
    },
    /// The ONNX Runtime library is not used, or reports an error.
    #[error("ONNX Runtime: {0}")]
    Runtime(String),
    /// A layer that does not fit its neighbours, or has numbers that are not finite.
    #[error("layer {layer} of the network: {why}")]
    Layer {
        /// Its number, from 0.
        layer: usize,
        /// What is wrong.
        why: &'static str,
    },
}

/// A name from a file, on one line.
fn short(name: &str) -> String {
    let end = name.char_indices().nth(64).map_or(name.len(), |(at, _)| at);
    format!("{:?}", &name[..end])
}

impl OnnxError {
    fn part(kind: &str, name: &str, why: &'static str) -> Self {
        Self::Part { what: format!("{kind} {}", short(name)), why }
    }

    pub(crate) fn tensor(name: &str, why: &'static str) -> Self {
        Self::part("constant", name, why)
    }

    pub(crate) fn port(name: &str, why: &'static str) -> Self {
        Self::part("value", name, why)
    }

    pub(crate) fn node(op: &str, name: &str, why: &'static str) -> Self {
        Self::part(&format!("{} node", short(op)), name, why)
    }
}

/// An ONNX file that is no model of ours, or one that was made for something else.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not an ONNX file that is understood.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// The metadata do not say what it was made for.
    #[error("the metadata of the model have no {0}")]
    Missing(&'static str),
    /// It was made for something else.
    #[error("{key} of the model is {found:?}: {expected:?} is what this version works with")]
    Mismatch {
        /// The entry of the metadata.
        key: &'static str,
        /// What the model says.
        found: String,
        /// What it should say.
        expected: &'static str,
    },
    /// An entry of the metadata that cannot be understood.
    #[error("{0} of the model cannot be understood")]
    Value(&'static str),
    /// Inputs and outputs that do not fit the features and the classes.
    #[error("the model has {} inputs and {} outputs: {} and {} fit its metadata", found.0, found.1, expected.0, expected.1)]
    Shape {
        /// Inputs and outputs.
        found: (usize, usize),
        /// What fits.
        expected: (usize, usize),
    },
}

/// What cannot be learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// There is nothing to learn from.
    #[error("there are no examples to learn from")]
    Empty,
    /// Measurements of other classes, or no measurements.
    #[error("the costs of an example are not those of the classes, or not above zero")]
    Costs,
}
