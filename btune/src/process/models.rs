//! Models of this process: each is read once, however many tuners use it.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blosc::Backend;
use crate::config::Config;
use crate::model::{Learned, Model, Speeds};
use crate::tuner::Tuner;

use super::{PerProcess, report};

/// The name of a model in its folder.
const FILE: &str = "model.onnx";
/// A file with more bytes is not read.
const MAX_BYTES: u64 = 4 << 20;

static MODELS: PerProcess<Models> = PerProcess::new();

#[derive(Debug, Default)]
struct Models {
    /// Those that cannot be used are remembered too: they are reported once.
    known: HashMap<Option<PathBuf>, Option<Arc<Model>>>,
    /// Measured when the first model is used.
    speeds: Option<Option<Speeds>>,
}

/// A tuner with these settings: with the model in `models_dir`, or else the one that is built in; without one if
/// `use_inference` is 0, or where the model cannot be used, which is reported in one line on stderr.
#[must_use]
pub fn tuner(config: Config) -> Tuner {
    match learned(&config) {
        Some(prior) => Tuner::with_prior(config, Box::new(prior)),
        None => Tuner::new(config),
    }
}

/// Forgets all models; those that tuners have go with them.
pub fn free_all() {
    MODELS.lock().known.clear();
}

fn learned(config: &Config) -> Option<Learned> {
    if config.use_inference == 0 || config.tradeoff.t() == 0.0 {
        return None;
    }
    let mut models = MODELS.lock();
    let Models { known, speeds } = &mut *models;
    let model = match known.get(&config.models_dir) {
        Some(model) => model.clone(),
        None => {
            let model = load(config.models_dir.as_deref());
            known.insert(config.models_dir.clone(), model.clone());
            model
        }
    }?;
    let speeds = speeds.get_or_insert_with(|| Speeds::measure(&mut Backend::new()));
    Some(Learned::new(model, (*speeds)?))
}

fn load(folder: Option<&Path>) -> Option<Arc<Model>> {
    let Some(folder) = folder else {
        return Model::from_onnx(btune_models::MODEL).ok().map(Arc::new);
    };
    let path = folder.join(FILE);
    let model = read(&path).and_then(|bytes| Model::from_onnx(&bytes).map_err(|e| e.to_string()));
    match model {
        Ok(model) => Some(Arc::new(model)),
        Err(why) => {
            report::once(format_args!("{}: {why}; going on without inference", path.display()));
            None
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("more than {MAX_BYTES} bytes"));
    }
    Ok(bytes)
}
