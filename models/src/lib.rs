//! The model that is built into btune. What it was trained on, and how well it predicts, says the model card,
//! `README.md` beside it.

/// The file `model.onnx`, as `btune train` wrote it.
pub const MODEL: &[u8] = include_bytes!("../model.onnx");
