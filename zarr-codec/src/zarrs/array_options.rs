//! What an array's codec is told that does not belong into the metadata.

use std::path::PathBuf;

use btune::{PerfMode, Tradeoff};

use crate::options::Options;

/// Options for the codecs of an array, to be put into zarrs' `CodecSpecificOptions`. What is given counts in place
/// of what the metadata says, which stays as it is; the environment variables `BTUNE_*` win over both.
///
/// ```
/// use btune_zarr::ArrayOptions;
/// use zarrs_codec::CodecSpecificOptions;
///
/// let options = ArrayOptions { threads: Some(4), ..ArrayOptions::default() };
/// let options = CodecSpecificOptions::default().with_option(options);
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArrayOptions {
    /// Bytes per element.
    pub typesize: Option<usize>,
    /// Size against time.
    pub tradeoff: Option<Tradeoff>,
    /// Which time counts.
    pub perf_mode: Option<PerfMode>,
    /// The most threads that compress a chunk.
    pub threads: Option<u16>,
    /// A file of what was learnt before, to start from.
    pub profile: Option<PathBuf>,
}

impl ArrayOptions {
    /// The options, with what is given here in their place.
    pub(super) fn over(&self, options: Options) -> Options {
        Options {
            typesize: self.typesize.unwrap_or(options.typesize),
            tradeoff: self.tradeoff.unwrap_or(options.tradeoff),
            perf_mode: self.perf_mode.unwrap_or(options.perf_mode),
            threads: self.threads.unwrap_or(options.threads),
            profile: self.profile.clone().or(options.profile),
            ..options
        }
    }
}
