//! What a codec is made from: the configuration of an array, and what is not for its metadata.

use std::path::PathBuf;

use btune::{PerfMode, Tradeoff};
use serde::Deserialize;

use crate::error::Error;
use crate::fields;
use crate::format::Format;

/// The options of a codec. The environment variables `BTUNE_*` win over them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// How chunks are stored.
    #[serde(deserialize_with = "fields::format")]
    pub format: Format,
    /// Bytes per element. What is not from 1 to 255 counts as 1.
    #[serde(deserialize_with = "fields::any_typesize")]
    pub typesize: usize,
    /// Size against time.
    #[serde(deserialize_with = "fields::tradeoff")]
    pub tradeoff: Tradeoff,
    /// Which time counts.
    #[serde(deserialize_with = "fields::perf_mode")]
    pub perf_mode: PerfMode,
    /// Whether the filter bytedelta may be chosen, which is the newest one: not every reader has it.
    #[serde(deserialize_with = "fields::bytedelta")]
    pub bytedelta: bool,
    /// The most threads that compress a chunk; no more are taken than there are processors.
    #[serde(deserialize_with = "fields::threads")]
    pub threads: u16,
    /// A file of what was learnt before, to start from.
    pub profile: Option<PathBuf>,
    /// The shape of a chunk, in elements: frames then hold an array of that shape.
    pub shape: Option<Vec<usize>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: Format::default(),
            typesize: 1,
            tradeoff: Tradeoff::default(),
            perf_mode: PerfMode::default(),
            bytedelta: true,
            threads: 1,
            profile: None,
            shape: None,
        }
    }
}

impl Options {
    /// Reads a JSON object. What it leaves out has its default.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown key and for a value that is not what it may be.
    ///
    /// ```
    /// use btune_zarr::Options;
    ///
    /// assert_eq!(Options::from_json(r#"{"typesize": 4, "tradeoff": 0.9}"#)?.typesize, 4);
    /// let error = Options::from_json(r#"{"format": "zip"}"#).unwrap_err().to_string();
    /// assert_eq!(error, r#"format "zip" is not valid: "cframe", "chunk" or "blosc""#);
    /// # Ok::<(), btune_zarr::Error>(())
    /// ```
    pub fn from_json(json: &str) -> Result<Self, Error> {
        serde_json::from_str::<serde_json::Value>(json)
            .and_then(Self::deserialize)
            .map_err(|error| Error::Options(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_optional_and_read() {
        assert_eq!(Options::from_json("{}"), Ok(Options::default()));
        let json = r#"{"format": "blosc", "typesize": 8, "tradeoff": [0.2, 0.7, 0.1], "perf_mode": "DECOMP",
            "bytedelta": false, "threads": 4, "profile": "a/b.json", "shape": [3, 4]}"#;
        let options = Options::from_json(json).unwrap();
        assert_eq!((options.format, options.typesize, options.threads), (Format::Blosc, 8, 4));
        assert_eq!(options.tradeoff, Tradeoff::triple(0.2, 0.7, 0.1).unwrap());
        assert_eq!((options.perf_mode, options.bytedelta), (PerfMode::Decomp, false));
        assert_eq!(options.profile, Some(PathBuf::from("a/b.json")));
        assert_eq!(options.shape, Some(vec![3, 4]));
    }

    #[test]
    fn errors_name_the_key_the_value_and_what_is_allowed() {
        for (json, parts) in [
            ("[", ["EOF", ""]),
            ("3", ["expected struct", ""]),
            (r#"{"level": 3}"#, ["unknown field `level`", "`perf_mode`"]),
            (r#"{"threads": 0}"#, ["threads 0 ", "from 1"]),
            (r#"{"bytedelta": 1}"#, ["bytedelta 1 ", "true or false"]),
            (r#"{"typesize": -1}"#, ["typesize -1", "whole number"]),
            (r#"{"shape": [1.5]}"#, ["1.5", ""]),
        ] {
            let message = Options::from_json(json).unwrap_err().to_string();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
            assert!(!message.contains('\n'));
        }
        assert_eq!(Options::from_json(r#"{"typesize": 0}"#).unwrap().typesize, 0);
    }
}
