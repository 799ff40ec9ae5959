//! What the user asked for.

use std::path::PathBuf;

use serde::Serialize;

use crate::cparams::Cparams;
use crate::error::ConfigError;

/// Default bandwidth in kB/s: 20 GiB/s.
pub(crate) const DEFAULT_BANDWIDTH: u32 = 20 * 1024 * 1024;

const TRADEOFF: &str = "BTUNE_TRADEOFF";
const TRADEOFF_ALLOWED: &str = "a number from 0 (speed) to 1 (ratio), or three from 0 to 1 (ratio, speed, quality) that sum to 1";
const PERF_MODE_ALLOWED: &str = "COMP, DECOMP or BALANCED";
const INFERENCE_ALLOWED: &str = "-1 (every chunk), 0 (none) or a number of chunks";

/// The tolerance within which a triple must sum to 1.
const SUM_TOLERANCE: f64 = 1e-4;

/// What to trade: size against time, and in a triple also the quality of lossy values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tradeoff {
    ratio: f32,
    speed: f32,
    quality: f32,
}

impl Tradeoff {
    /// A tradeoff `t` from 0 (only speed counts) to 1 (only size counts).
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] outside that range, and for NaN.
    pub fn new(t: f32) -> Result<Self, ConfigError> {
        if (0.0..=1.0).contains(&t) {
            Ok(Self { ratio: t, speed: 1.0 - t, quality: 0.0 })
        } else {
            Err(invalid(TRADEOFF, &t.to_string(), TRADEOFF_ALLOWED))
        }
    }

    /// Weights of ratio, speed and quality, each from 0 to 1, with a sum of 1 (to within 1e-4).
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] for anything else.
    pub fn triple(ratio: f32, speed: f32, quality: f32) -> Result<Self, ConfigError> {
        let parts = [ratio, speed, quality];
        let sum: f64 = parts.iter().copied().map(f64::from).sum();
        if parts.iter().all(|p| (0.0..=1.0).contains(p)) && (sum - 1.0).abs() <= SUM_TOLERANCE {
            Ok(Self { ratio, speed, quality })
        } else {
            Err(invalid(TRADEOFF, &format!("{ratio},{speed},{quality}"), TRADEOFF_ALLOWED))
        }
    }

    /// Reads `0.25`, `(0.3, 0.1, 0.6)` or `0.3,0.1,0.6`; spaces are free.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with the text as it was given.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let error = || invalid(TRADEOFF, text, TRADEOFF_ALLOWED);
        let inner = text.trim();
        let inner = match (inner.strip_prefix('('), inner.ends_with(')')) {
            (Some(rest), true) => &rest[..rest.len() - 1],
            (None, false) => inner,
            _ => return Err(error()),
        };
        let parts = inner
            .split(',')
            .map(|part| part.trim().parse::<f32>())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| error())?;
        match parts[..] {
            [t] => Self::new(t),
            [ratio, speed, quality] => Self::triple(ratio, speed, quality),
            _ => Err(error()),
        }
        .map_err(|_| error())
    }

    /// The weight of size, 0 to 1.
    #[must_use]
    pub const fn ratio(&self) -> f32 {
        self.ratio
    }

    /// The weight of time, 0 to 1.
    #[must_use]
    pub const fn speed(&self) -> f32 {
        self.speed
    }

    /// The weight of quality, 0 to 1; 0 for a lossless tradeoff.
    #[must_use]
    pub const fn quality(&self) -> f32 {
        self.quality
    }

    /// Whether a loss of quality is allowed.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        self.quality > 0.0
    }

    /// The tradeoff of lossless compression, 0 to 1. The weight of quality, which lossless compression
    /// serves in full, is shared out evenly between ratio and speed.
    #[must_use]
    pub fn t(&self) -> f64 {
        (f64::from(self.ratio) + f64::from(self.quality) / 2.0).clamp(0.0, 1.0)
    }
}

impl Default for Tradeoff {
    /// 0.5: 10 % of size is worth about 25 % of time.
    fn default() -> Self {
        Self { ratio: 0.5, speed: 0.5, quality: 0.0 }
    }
}

/// Which time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PerfMode {
    /// Compression time.
    #[default]
    Comp,
    /// Decompression time.
    Decomp,
    /// Their sum.
    Balanced,
}

impl PerfMode {
    /// All modes, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Comp, Self::Decomp, Self::Balanced];

    /// 0, 1 or 2, as in `btune.h`.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The mode of a code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name in `BTUNE_PERF_MODE` and the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comp => "COMP",
            Self::Decomp => "DECOMP",
            Self::Balanced => "BALANCED",
        }
    }

    /// Whether decompression has to be measured.
    #[must_use]
    pub const fn needs_dtime(self) -> bool {
        !matches!(self, Self::Comp)
    }

    /// Reads the name, in capitals.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] for anything else.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text.trim())
            .ok_or_else(|| invalid("BTUNE_PERF_MODE", text, PERF_MODE_ALLOWED))
    }
}

/// What happens when all readapts have been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepeatMode {
    /// The best parameters stay.
    #[default]
    Stop,
    /// Soft readapts go on.
    Soft,
    /// All of it starts again.
    All,
}

impl RepeatMode {
    /// The name in the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "STOP",
            Self::Soft => "SOFT",
            Self::All => "ALL",
        }
    }
}

/// When the search looks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// Chunks that pass between two readapts.
    pub waits: u32,
    /// Soft readapts before a hard one.
    pub softs: u32,
    /// Hard readapts before the repeat mode decides. The first one, that starts a search without a hint,
    /// is not counted.
    pub hards: u32,
    /// What happens then.
    pub repeat: RepeatMode,
}

impl Default for Behaviour {
    /// No waits, 5 softs, 10 hards, then stop: the defaults of Btune's interface.
    fn default() -> Self {
        Self { waits: 0, softs: 5, hards: 10, repeat: RepeatMode::Stop }
    }
}

/// How the trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// A banner and a table for people.
    Table,
    /// One JSON object per line.
    Json,
}

/// All settings of a tuner.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Size against time.
    pub tradeoff: Tradeoff,
    /// Which time counts.
    pub perf_mode: PerfMode,
    /// Speed in kB/s at which compressed bytes travel; the way there counts as time.
    pub bandwidth: u32,
    /// When the search looks again.
    pub behaviour: Behaviour,
    /// Parameters to start from, instead of a hard readapt.
    pub hint: Option<Cparams>,
    /// Chunks whose parameters a model proposes: -1 all, 0 none, N the first N.
    pub use_inference: i32,
    /// Where models are, instead of the built-in one.
    pub models_dir: Option<PathBuf>,
    /// Whether and how to trace.
    pub trace: Option<TraceFormat>,
    /// The most threads that may be chosen, from 1.
    pub max_threads: u16,
    /// Whether blocks as large as the chunk may be chosen: best size, no random access inside a chunk.
    pub whole_chunk_blocks: bool,
    /// Time for probes, as a share of the compression time so far (0.05 = 5 %). On top of it comes the time
    /// of one chunk, or of 256 KiB if that is more, at the start.
    pub probe_share: f64,
    /// Seed of the genetic search.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            tradeoff: Tradeoff::default(),
            perf_mode: PerfMode::default(),
            bandwidth: DEFAULT_BANDWIDTH,
            behaviour: Behaviour::default(),
            hint: None,
            use_inference: -1,
            models_dir: None,
            trace: None,
            max_threads: 1,
            whole_chunk_blocks: true,
            probe_share: 0.05,
            seed: 0x0062_7475_6e65,
        }
    }
}

impl Config {
    /// Reads the `BTUNE_*` variables through `get`. A bad value is reported and its default used.
    ///
    /// ```
    /// let (config, errors) = btune::Config::from_vars(|name| {
    ///     (name == "BTUNE_TRADEOFF").then(|| "abc".to_owned())
    /// });
    /// assert_eq!(config.tradeoff.t(), 0.5);
    /// assert!(errors[0].to_string().starts_with("BTUNE_TRADEOFF=\"abc\" is not valid"));
    /// ```
    pub fn from_vars(get: impl Fn(&str) -> Option<String>) -> (Self, Vec<ConfigError>) {
        let mut config = Self::default();
        let mut errors = Vec::new();
        if let Some(text) = get(TRADEOFF) {
            keep(Tradeoff::parse(&text), &mut config.tradeoff, &mut errors);
        }
        if let Some(text) = get("BTUNE_PERF_MODE") {
            keep(PerfMode::parse(&text), &mut config.perf_mode, &mut errors);
        }
        if let Some(text) = get("BTUNE_USE_INFERENCE") {
            keep(parse_inference(&text), &mut config.use_inference, &mut errors);
        }
        config.models_dir =
            get("BTUNE_MODELS_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        config.trace = get("BTUNE_TRACE").map(|text| match text.as_str() {
            "json" => TraceFormat::Json,
            _ => TraceFormat::Table,
        });
        (config, errors)
    }
}

fn keep<T>(parsed: Result<T, ConfigError>, field: &mut T, errors: &mut Vec<ConfigError>) {
    match parsed {
        Ok(value) => *field = value,
        Err(error) => errors.push(error),
    }
}

fn parse_inference(text: &str) -> Result<i32, ConfigError> {
    match text.trim().parse() {
        Ok(n) if n >= -1 => Ok(n),
        _ => Err(invalid("BTUNE_USE_INFERENCE", text, INFERENCE_ALLOWED)),
    }
}

fn invalid(name: &'static str, value: &str, allowed: &'static str) -> ConfigError {
    ConfigError::Invalid { name, value: value.to_owned(), allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_tradeoff_is_read() {
        for (text, ratio, speed, quality) in [
            ("0.25", 0.25, 0.75, 0.0),
            ("0.33", 0.33, 0.67, 0.0),
            (" 1 ", 1.0, 0.0, 0.0),
            ("0", 0.0, 1.0, 0.0),
            ("(0.5)", 0.5, 0.5, 0.0),
            ("(0.3, 0.1, 0.6)", 0.3, 0.1, 0.6),
            ("0.3,0.1,0.6", 0.3, 0.1, 0.6),
            ("0.33333,0.33333,0.33333", 0.33333, 0.33333, 0.33333),
        ] {
            let t = Tradeoff::parse(text).expect(text);
            assert!((t.ratio() - ratio).abs() < 1e-6, "{text}");
            assert!((t.speed() - speed).abs() < 1e-6, "{text}");
            assert!((t.quality() - quality).abs() < 1e-6, "{text}");
        }
    }

    #[test]
    fn bad_tradeoffs_name_variable_value_and_what_is_allowed() {
        for text in [
            "abc",
            "2",
            "-0.1",
            "",
            " ",
            "0.5,",
            "(0.5",
            "0.5)",
            "NaN",
            "inf",
            "0.3,0.3,0.3",
            "0.5,0.5",
            "0.2,0.2,0.3,0.3",
            "1.2,-0.1,-0.1",
            "0.3;0.1;0.6",
            "((0.5))",
            "0,5",
        ] {
            let message = Tradeoff::parse(text).expect_err(text).to_string();
            assert!(message.contains("BTUNE_TRADEOFF"), "{message}");
            assert!(message.contains(&format!("{text:?}")), "{message}");
            assert!(message.contains("from 0 (speed) to 1 (ratio)"), "{message}");
            assert!(!message.contains('\n'));
        }
    }

    #[test]
    fn a_lossy_triple_shares_quality_between_ratio_and_speed() {
        assert!((Tradeoff::parse("0.3,0.1,0.6").unwrap().t() - 0.6).abs() < 1e-6);
        assert!((Tradeoff::parse("0.7").unwrap().t() - 0.7).abs() < 1e-6);
    }

    #[test]
    fn variables_are_all_read_and_a_bad_one_spares_the_rest() {
        let (config, errors) = Config::from_vars(|name| {
            let value = match name {
                "BTUNE_TRADEOFF" => "0.9",
                "BTUNE_PERF_MODE" => "decomp",
                "BTUNE_USE_INFERENCE" => "3",
                "BTUNE_MODELS_DIR" => "/models",
                "BTUNE_TRACE" => "json",
                _ => return None,
            };
            Some(value.to_owned())
        });
        assert!((config.tradeoff.t() - 0.9).abs() < 1e-6);
        assert_eq!(config.perf_mode, PerfMode::Comp);
        assert_eq!(config.use_inference, 3);
        assert_eq!(config.models_dir, Some(PathBuf::from("/models")));
        assert_eq!(config.trace, Some(TraceFormat::Json));
        assert_eq!(errors.len(), 1);
        assert!(errors[0].to_string().contains("COMP, DECOMP or BALANCED"));
    }

    #[test]
    fn bad_inference_counts_are_refused() {
        for text in ["-2", "x", "1.5", "99999999999"] {
            assert!(parse_inference(text).is_err(), "{text}");
        }
        assert_eq!(parse_inference("-1"), Ok(-1));
    }
}
