//! Automatic choice of Blosc2 compression parameters for numeric arrays.
//!
//! A [`Tuner`] is asked for the parameters of each chunk and told what they cost:
//!
//! ```
//! use btune::{Chunk, Config, Tuner, blosc::Backend};
//!
//! let data: Vec<u8> = (0..65536u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
//! let mut tuner = Tuner::new(Config::default());
//! let mut backend = Backend::new();
//!
//! let chunk = Chunk::new(&data, 4);
//! let trial = tuner.ask(&chunk, &mut backend);
//! let mut stored = Vec::new();
//! let measurement = backend.compress(&chunk, &trial.cparams, trial.measure_dtime, &mut stored)?;
//! tuner.tell(&trial, &measurement)?;
//!
//! let mut back = vec![0; data.len()];
//! backend.decompress(&stored, &mut back)?;
//! assert_eq!(back, data);
//! assert!(stored.len() < data.len() / 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The decision modules (`config`, `cparams`, `chunk`, `cost`, `search`, `tuner`) have no clock, I/O,
//! globals or FFI: the same measurements lead to the same decisions. Nor has [`onnx`], apart from its
//! `Runtime`. The [`blosc`] module holds what
//! touches the world: C-Blosc2 contexts and the frame format; [`process`] holds what plugins share.

pub mod blosc;
mod chunk;
mod config;
mod cost;
mod cparams;
mod error;
mod features;
mod model;
pub mod onnx;
pub mod process;
mod profile;
mod record;
mod search;
pub mod trace;
pub mod train;
mod tuner;

pub use chunk::Chunk;
pub use config::{Behaviour, Config, PerfMode, RepeatMode, Space, TraceFormat, Tradeoff, Vars};
pub use cost::{Measurement, Objective, Totals};
pub use cparams::{BlockSize, Codec, Cparams, Filter, Pipeline, SplitMode};
pub use error::{
    BackendError, ConfigError, FileError, FrameError, ModelError, OnnxError, ParamsError,
    ProfileError, RecordError, TrainError, TunerError,
};
pub use features::{FEATURE_COUNT, FEATURES_ID, Features};
pub use model::{CALIBRATION_ID, Learned, Model, Speeds};
pub use profile::Profile;
pub use record::Record;
pub use search::{Origin, Prediction, Prior, Readapt, Spread, State};
pub use tuner::{Probe, Probed, Prober, Told, Trial, Tuner};
