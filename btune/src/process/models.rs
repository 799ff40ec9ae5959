//! Models of this process: each is read once, however many tuners use it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use btune_models::MODEL;

use crate::blosc::Backend;
use crate::chunk::Chunk;
use crate::config::Config;
use crate::model::{Learned, Model, Speeds};
use crate::search::Prior;
use crate::tuner::Tuner;

use super::{PerProcess, report};

/// The name of a model in its folder.
const FILE: &str = "model.onnx";
/// A file with more bytes is not read.
const MAX_BYTES: u64 = 4 << 20;

/// The folder of a model, none for the one that is built in; and the library that evaluates it.
type Wanted = (Option<PathBuf>, Option<PathBuf>);

static MODELS: PerProcess<Models> = PerProcess::new();

#[derive(Debug, Default)]
struct Models {
    /// Those that cannot be used are remembered too: they are reported once.
    known: HashMap<Wanted, Option<Arc<Model>>>,
    /// This machine's, measured when the first model is used; none where a codec did not work.
    speeds: OnceCell<Option<Speeds>>,
}

/// A tuner with these settings: with the model in `models_dir`, or with the one that is built in; without one if
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
    let wanted = (config.models_dir.clone(), config.onnx_runtime.clone());
    let new = !known.contains_key(&wanted);
    let model = known.entry(wanted).or_insert_with_key(|(folder, library)| {
        load(folder.as_deref(), library.as_deref()).map(Arc::new)
    });
    let model = model.clone()?;
    let speeds = *speeds.get_or_init(|| Speeds::measure(&mut Backend::new()));
    let learned = Learned::new(model, speeds?);
    if new {
        // The first prediction reads code and weights into memory: no chunk need wait for that.
        learned.predict(&Chunk::new(&[0; 1024], 4));
    }
    Some(learned)
}

fn load(folder: Option<&Path>, library: Option<&Path>) -> Option<Model> {
    let (bytes, path) = match folder {
        None => (Cow::Borrowed(MODEL), PathBuf::from("the built-in model")),
        Some(folder) => {
            let path = folder.join(FILE);
            match read(&path) {
                Ok(bytes) => (Cow::Owned(bytes), path),
                Err(why) => return refused(&path, &why),
            }
        }
    };
    if let Some(library) = library {
        match Model::in_runtime(library, &bytes) {
            Ok(model) => return Some(model),
            Err(why) => report::once(format_args!(
                "BTUNE_ONNX_RUNTIME: {why}; the built-in evaluator is used"
            )),
        }
    }
    Model::from_onnx(&bytes).map_or_else(|why| refused(&path, &why), Some)
}

fn refused(path: &Path, why: &dyn Display) -> Option<Model> {
    report::once(format_args!("{}: {why}; going on without inference", path.display()));
    None
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
