//! The cost model that btune comes with: see `README.md` beside it.

/// An ONNX file.
pub const MODEL: &[u8] = include_bytes!("../model.onnx");
