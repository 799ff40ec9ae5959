//! Why a context cannot be tuned.

use thiserror::Error;

/// Why a context is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub(crate) enum InitError {
    /// Nothing, or more than one thing, is known of where the fields lie.
    #[error(
        "this C-Blosc2 has a context of a layout that is not known: nothing is compressed with this tuner. \
         Known are C-Blosc2 2.10 to 2.23 and 3.0 to 3.3"
    )]
    Layout,
    /// The version of the library does not go with the layout.
    #[error(
        "C-Blosc2 {0} has a context of another layout than that version has: nothing is compressed with this tuner"
    )]
    Version(String),
    /// A field of `btune_config`.
    #[error("btune_config: {field} {value} is not valid: {allowed}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What it holds.
        value: String,
        /// What it may hold.
        allowed: &'static str,
    },
}
