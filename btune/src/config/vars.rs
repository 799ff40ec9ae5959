//! The environment variables `BTUNE_*`.

use std::path::PathBuf;

use crate::error::ConfigError;

use super::{Config, PerfMode, TraceFormat, Tradeoff, invalid};

const INFERENCE: &str = "BTUNE_USE_INFERENCE";
const INFERENCE_ALLOWED: &str = "-1 (every chunk), 0 (none) or a number of chunks";

/// What the variables say; none where one is not set, is empty, or is not valid.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vars {
    /// `BTUNE_TRADEOFF`
    pub tradeoff: Option<Tradeoff>,
    /// `BTUNE_PERF_MODE`
    pub perf_mode: Option<PerfMode>,
    /// `BTUNE_USE_INFERENCE`
    pub use_inference: Option<i32>,
    /// `BTUNE_MODELS_DIR`
    pub models_dir: Option<PathBuf>,
    /// `BTUNE_ONNX_RUNTIME`
    pub onnx_runtime: Option<PathBuf>,
    /// `BTUNE_TRACE`: `json`, or anything else for the table.
    pub trace: Option<TraceFormat>,
}

impl Vars {
    /// The variables that are read.
    pub const NAMES: [&str; 6] = [
        "BTUNE_TRADEOFF",
        "BTUNE_PERF_MODE",
        INFERENCE,
        "BTUNE_MODELS_DIR",
        "BTUNE_ONNX_RUNTIME",
        "BTUNE_TRACE",
    ];

    /// Reads the variables through `get`. Values that are not valid are reported.
    ///
    /// ```
    /// use btune::{Config, Vars};
    ///
    /// let (vars, errors) = Vars::read(|name| (name == "BTUNE_TRADEOFF").then(|| "abc".to_owned()));
    /// assert_eq!(vars.over(Config::default()).tradeoff.t(), 0.5);
    /// assert!(errors[0].to_string().starts_with("BTUNE_TRADEOFF=\"abc\" is not valid"));
    /// ```
    pub fn read(get: impl Fn(&str) -> Option<String>) -> (Self, Vec<ConfigError>) {
        let get = |name| get(name).filter(|text| !text.is_empty());
        let mut errors = Vec::new();
        let vars = Self {
            tradeoff: kept(get("BTUNE_TRADEOFF").map(|text| Tradeoff::parse(&text)), &mut errors),
            perf_mode: kept(get("BTUNE_PERF_MODE").map(|text| PerfMode::parse(&text)), &mut errors),
            use_inference: kept(get(INFERENCE).map(|text| parse_inference(&text)), &mut errors),
            models_dir: get("BTUNE_MODELS_DIR").map(PathBuf::from),
            onnx_runtime: get("BTUNE_ONNX_RUNTIME").map(PathBuf::from),
            trace: get("BTUNE_TRACE").map(|text| match text.as_str() {
                "json" => TraceFormat::Json,
                _ => TraceFormat::Table,
            }),
        };
        (vars, errors)
    }

    /// The configuration, with what the variables say in place of what it says.
    #[must_use]
    pub fn over(self, config: Config) -> Config {
        Config {
            tradeoff: self.tradeoff.unwrap_or(config.tradeoff),
            perf_mode: self.perf_mode.unwrap_or(config.perf_mode),
            use_inference: self.use_inference.unwrap_or(config.use_inference),
            models_dir: self.models_dir.or(config.models_dir),
            onnx_runtime: self.onnx_runtime.or(config.onnx_runtime),
            trace: self.trace.or(config.trace),
            ..config
        }
    }
}

fn kept<T>(parsed: Option<Result<T, ConfigError>>, errors: &mut Vec<ConfigError>) -> Option<T> {
    parsed?.map_err(|error| errors.push(error)).ok()
}

fn parse_inference(text: &str) -> Result<i32, ConfigError> {
    match text.trim().parse() {
        Ok(n) if n >= -1 => Ok(n),
        _ => Err(invalid(INFERENCE, text, INFERENCE_ALLOWED)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_all_read_and_a_bad_one_spares_the_rest() {
        let (vars, errors) = Vars::read(|name| {
            let value = match name {
                "BTUNE_TRADEOFF" => "0.9",
                "BTUNE_PERF_MODE" => "decomp",
                "BTUNE_USE_INFERENCE" => "3",
                "BTUNE_MODELS_DIR" => "/models",
                "BTUNE_ONNX_RUNTIME" => "/lib/libonnxruntime.so",
                "BTUNE_TRACE" => "json",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let config = vars.over(Config { perf_mode: PerfMode::Balanced, ..Config::default() });
        assert!((config.tradeoff.t() - 0.9).abs() < 1e-6);
        assert_eq!(config.perf_mode, PerfMode::Balanced);
        assert_eq!(config.use_inference, 3);
        assert_eq!(config.models_dir, Some(PathBuf::from("/models")));
        assert_eq!(config.onnx_runtime, Some(PathBuf::from("/lib/libonnxruntime.so")));
        assert_eq!(config.trace, Some(TraceFormat::Json));
        assert_eq!(errors.len(), 1);
        assert!(errors[0].to_string().contains("COMP, DECOMP or BALANCED"));
    }

    #[test]
    fn the_names_are_those_that_are_read() {
        let asked = std::cell::RefCell::new(Vec::new());
        let _ = Vars::read(|name| {
            asked.borrow_mut().push(name.to_owned());
            None
        });
        assert_eq!(asked.into_inner(), Vars::NAMES);
    }

    #[test]
    fn bad_inference_counts_are_refused() {
        for text in ["-2", "x", "1.5", "99999999999"] {
            assert!(parse_inference(text).is_err(), "{text}");
        }
        assert_eq!(parse_inference("-1"), Ok(-1));
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        assert_eq!(Vars::read(|_| Some(String::new())), (Vars::default(), Vec::new()));
    }
}
