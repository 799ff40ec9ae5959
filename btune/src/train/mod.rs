//! Making a model: pieces of arrays, what every class of parameters costs on them, and a network that learns it.

mod augment;
mod choices;
mod dataset;
mod fit;
mod report;
mod sample;
mod sweep;
mod synthetic;
mod values;

pub use augment::Variant;
pub use dataset::{Dataset, Example};
pub use fit::{Fitting, fit};
pub use report::{CELLS, Errors, Regret, Report, Summary, validate};
pub use sample::{Piece, Sampling, Source};
pub use sweep::sweep;
pub use synthetic::{FAMILIES, synthetic};
pub use values::{Dtype, Kind};
