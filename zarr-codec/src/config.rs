//! The configuration of the codec in the metadata of an array.

use btune::PerfMode;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fields::{self, Weights};
use crate::format::Format;
use crate::options::Options;

/// What the metadata says. What it leaves out has its default, and is not written back.
///
/// ```
/// use btune_zarr::Configuration;
///
/// let json = r#"{"typesize":4,"tradeoff":0.9,"perf_mode":"COMP"}"#;
/// let configuration: Configuration = serde_json::from_str(json)?;
/// assert_eq!(serde_json::to_string(&configuration)?, json);
///
/// let error = serde_json::from_str::<Configuration>(r#"{"tradeoff": 2}"#).unwrap_err();
/// assert!(error.to_string().starts_with("tradeoff 2 is not valid: a number from 0 (speed) to 1 (ratio)"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Bytes per element, from 1; 1 where it is left out, which is rarely right.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "fields::typesize")]
    pub typesize: Option<u64>,
    /// Size against time.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "fields::weights")]
    pub tradeoff: Option<Weights>,
    /// Which time counts.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "fields::given_mode")]
    pub perf_mode: Option<PerfMode>,
    /// [`Format::Cframe`] or [`Format::Chunk`].
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "fields::stored_format")]
    pub format: Option<Format>,
}

impl Configuration {
    /// The options that it stands for.
    ///
    /// # Errors
    /// [`Error::Options`] where a value is not what it may be. (One that was read from JSON is.)
    pub fn options(&self) -> Result<Options, Error> {
        let given = Options::default();
        let tradeoff = match self.tradeoff {
            Some(weights) => {
                weights.tradeoff().map_err(|error| Error::Options(error.to_string()))?
            }
            None => given.tradeoff,
        };
        match (self.typesize, self.format) {
            (Some(0), _) => Err(Error::Options("typesize 0 is not valid: from 1".into())),
            (_, Some(Format::Blosc)) => {
                let why =
                    "format \"blosc\" is not valid: it goes by the name of the codec \"blosc\"";
                Err(Error::Options(why.into()))
            }
            (typesize, format) => Ok(Options {
                typesize: typesize.and_then(|n| usize::try_from(n).ok()).unwrap_or(1),
                tradeoff,
                perf_mode: self.perf_mode.unwrap_or(given.perf_mode),
                format: format.unwrap_or(given.format),
                ..given
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Configuration, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_given_is_written_back_and_nothing_else() {
        for json in [
            "{}",
            r#"{"typesize":4}"#,
            r#"{"typesize":1024,"tradeoff":[0.3,0.1,0.6],"perf_mode":"BALANCED","format":"chunk"}"#,
            r#"{"tradeoff":0.1,"perf_mode":"COMP","format":"cframe"}"#,
        ] {
            let configuration = read(json).unwrap();
            assert_eq!(serde_json::to_string(&configuration).unwrap(), json);
            assert!(configuration.options().is_ok());
        }
        assert_eq!(read("{}").unwrap().options(), Ok(Options::default()));
    }

    #[test]
    fn options_are_those_of_the_metadata() {
        let json = r#"{"typesize":8,"tradeoff":1,"perf_mode":"DECOMP","format":"chunk"}"#;
        let options = read(json).unwrap().options().unwrap();
        assert_eq!((options.typesize, options.format), (8, Format::Chunk));
        assert_eq!(options.perf_mode, PerfMode::Decomp);
        assert!((options.tradeoff.t() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn errors_name_the_key_the_value_and_what_is_allowed() {
        for (json, parts) in [
            (r#"{"tradeof":1}"#, ["unknown field `tradeof`", "`tradeoff`"]),
            (r#"{"tradeoff":2}"#, ["tradeoff 2 ", "from 0 (speed) to 1"]),
            (r#"{"tradeoff":"0.5"}"#, ["tradeoff \"0.5\"", "from 0"]),
            (r#"{"tradeoff":[0.5,0.2,0.2]}"#, ["tradeoff [0.5,0.2,0.2]", "sum to 1"]),
            (r#"{"typesize":0}"#, ["typesize 0 ", "from 1"]),
            (r#"{"typesize":2.5}"#, ["typesize 2.5", "whole number"]),
            (r#"{"typesize":null}"#, ["typesize null", "whole number"]),
            (r#"{"perf_mode":"comp"}"#, ["perf_mode \"comp\"", "\"BALANCED\""]),
            (r#"{"format":"blosc"}"#, ["format \"blosc\"", "\"cframe\" or \"chunk\""]),
        ] {
            let message = read(json).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }

    #[test]
    fn a_configuration_made_in_code_is_checked_too() {
        let bad = |configuration: Configuration| configuration.options().is_err();
        assert!(bad(Configuration { typesize: Some(0), ..Default::default() }));
        assert!(bad(Configuration { tradeoff: Some(Weights::One(2.0)), ..Default::default() }));
        assert!(bad(Configuration { format: Some(Format::Blosc), ..Default::default() }));
    }
}
