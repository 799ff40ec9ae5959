//! What parameters will cost, predicted from the features of a chunk.
//!
//! A model is one ONNX file that serves every tradeoff and performance mode, because it predicts costs and not a
//! choice: for each class of parameters the logarithms of the share of bytes that is left, of the seconds per
//! byte to compress, and to decompress. Its metadata say what it was made for:
//!
//! | key | value |
//! |---|---|
//! | `btune.features` | the list of features, [`FEATURES_ID`] |
//! | `btune.classes` | the classes, in the order of the outputs, three of each: `zstd-1 shuffle always; …` |
//! | `btune.calibration` | how the machine's speeds were measured, [`CALIBRATION_ID`] |
//! | `btune.speeds` | the speeds of the machine that it was trained on: see [`Speeds`] |
//! | `btune.training` | what it was trained on, for people |

mod class;
mod engine;
mod speeds;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::chunk::Chunk;
use crate::cparams::Cparams;
use crate::error::ModelError;
use crate::features::{FEATURE_COUNT, FEATURES_ID, Features};
use crate::search::{Origin, Prediction, Prior, Spread};

use engine::Engine;

pub use speeds::{CALIBRATION_ID, Speeds};

/// Outputs of each class.
const OUTPUTS: usize = 3;
/// The most classes.
const MAX_CLASSES: usize = 1000;
/// Logarithms beyond this are no costs of anything.
const MOST: f32 = 60.0;

/// A network that predicts costs, and what its outputs mean.
#[derive(Debug)]
pub struct Model {
    engine: Engine,
    classes: Vec<Cparams>,
    speeds: Speeds,
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// [`ModelError`] where the bytes are no ONNX file of the kind that is understood, or where it was made for
    /// other features, or says of its outputs nothing that fits their number.
    pub fn from_onnx(bytes: &[u8]) -> Result<Self, ModelError> {
        Self::of(Engine::embedded(bytes)?)
    }

    /// Reads a model into the ONNX Runtime library at the path, which evaluates it from then on: also one of a kind
    /// that [`from_onnx`](Self::from_onnx) does not understand.
    ///
    /// # Errors
    /// [`ModelError`] as there, and where the library cannot be used.
    pub fn in_runtime(library: &Path, bytes: &[u8]) -> Result<Self, ModelError> {
        Self::of(Engine::runtime(library, bytes)?)
    }

    fn of(engine: Engine) -> Result<Self, ModelError> {
        let (inputs, outputs, metadata) = engine.describe();
        let text = |key| metadata.get(key).map(String::as_str).ok_or(ModelError::Missing(key));
        let expect = |key, expected: &'static str| match text(key)? {
            found if found == expected => Ok(()),
            found => Err(ModelError::Mismatch { key, found: found.to_owned(), expected }),
        };
        expect("btune.features", FEATURES_ID)?;
        expect("btune.calibration", CALIBRATION_ID)?;
        let classes = class::parse_all(text("btune.classes")?)?;
        let speeds =
            Speeds::parse(text("btune.speeds")?).ok_or(ModelError::Value("btune.speeds"))?;
        let shape = (inputs, outputs);
        let expected = (FEATURE_COUNT, classes.len() * OUTPUTS);
        if shape != expected || classes.len() > MAX_CLASSES {
            return Err(ModelError::Shape { found: shape, expected });
        }
        Ok(Self { engine, classes, speeds })
    }

    /// The metadata that make a network of these classes a model, trained on a machine with these speeds.
    #[must_use]
    pub fn metadata(
        classes: &[Cparams],
        speeds: &Speeds,
        training: &str,
    ) -> BTreeMap<String, String> {
        let entries = [
            ("btune.features", FEATURES_ID.to_owned()),
            ("btune.classes", class::print_all(classes)),
            ("btune.calibration", CALIBRATION_ID.to_owned()),
            ("btune.speeds", speeds.print()),
            ("btune.training", training.to_owned()),
        ];
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// The classes.
    #[must_use]
    pub fn classes(&self) -> &[Cparams] {
        &self.classes
    }

    /// What each class is expected to cost on a machine with these speeds; none where the model cannot be evaluated
    /// now, which happens to those in a library only.
    #[must_use]
    pub fn predict(&self, features: &Features, here: &Speeds) -> Option<Vec<Prediction>> {
        let costs = self.engine.run(features.values())?;
        let exp = |x: f32| f64::from(if x.is_nan() { MOST } else { x.clamp(-MOST, MOST) }).exp();
        let costs = costs.as_chunks::<OUTPUTS>().0;
        let class = |(&cparams, &[share, ctime, dtime]): (&Cparams, &[f32; OUTPUTS])| {
            let (compress, decompress) = here.against(&self.speeds, &cparams);
            let (ctime, dtime) = (exp(ctime) * compress, exp(dtime) * decompress);
            Prediction { cparams, share: exp(share).min(1.0), ctime, dtime }
        };
        Some(self.classes.iter().zip(costs).map(class).collect())
    }
}

/// A model as a tuner's prior, on a machine with certain speeds.
#[derive(Debug, Clone)]
pub struct Learned {
    model: Arc<Model>,
    speeds: Speeds,
}

impl Learned {
    /// What the model predicts for a machine with these speeds.
    #[must_use]
    pub const fn new(model: Arc<Model>, speeds: Speeds) -> Self {
        Self { model, speeds }
    }
}

impl Prior for Learned {
    fn origin(&self) -> Origin {
        Origin::Inference
    }

    fn predict(&self, chunk: &Chunk<'_>) -> Vec<Prediction> {
        let predictions = self.model.predict(&Features::of(chunk), &self.speeds);
        predictions.unwrap_or_else(|| Spread.predict(chunk))
    }
}

#[cfg(test)]
mod tests;
