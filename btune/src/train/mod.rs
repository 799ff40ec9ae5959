//! Making a model: pieces of arrays, what every class of parameters costs on them, and a network that learns it.

mod adam;
mod augment;
mod baselines;
mod choices;
mod dataset;
mod fit;
mod members;
mod report;
mod sample;
mod scale;
mod summary;
mod sweep;
mod synthetic;
mod values;

pub use augment::Variant;
pub use dataset::{Dataset, Example};
pub use fit::{Fitting, fit};
pub use report::{CELLS, Errors, Regret, Report, validate};
pub use sample::{Piece, Sampling, Source};
pub use summary::Summary;
pub use sweep::sweep;
pub use synthetic::{FAMILIES, synthetic};
pub use values::{Dtype, Kind};
