//! How the fields of configurations and options are read, with messages that name the field, what was given
//! and what is allowed.

use btune::{ConfigError, PerfMode, Tradeoff};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::format::Format;

const TYPESIZE: &str = "a whole number from 1 (above 255 it counts as 1)";
const TRADEOFF: &str = "a number from 0 (speed) to 1 (ratio), or a list of three from 0 to 1 (ratio, speed, \
                        quality) that sum to 1";
const PERF_MODE: &str = "\"COMP\", \"DECOMP\" or \"BALANCED\"";
const STORED: &str = "\"cframe\" or \"chunk\"";
const FORMAT: &str = "\"cframe\", \"chunk\" or \"blosc\"";
const SIZE: &str = "a whole number from 0 (what is not from 1 to 255 counts as 1)";
const BYTEDELTA: &str = "true or false";
const THREADS: &str = "a whole number from 1";

/// What is traded, as it was written: one number or three.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Weights {
    /// From 0 (speed) to 1 (ratio).
    One(f64),
    /// Ratio, speed and quality, with a sum of 1.
    Three([f64; 3]),
}

impl Weights {
    /// The tradeoff.
    ///
    /// # Errors
    /// [`ConfigError`] where the numbers are not what they may be.
    pub fn tradeoff(self) -> Result<Tradeoff, ConfigError> {
        match self {
            Self::One(t) => Tradeoff::new(t as f32),
            Self::Three([ratio, speed, quality]) => {
                Tradeoff::triple(ratio as f32, speed as f32, quality as f32)
            }
        }
    }
}

/// Reads a value with `parse`, or says what is allowed.
fn read<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    name: &str,
    allowed: &str,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    parse(&value)
        .ok_or_else(|| D::Error::custom(format_args!("{name} {value} is not valid: {allowed}")))
}

pub(crate) fn bytedelta<'de, D: Deserializer<'de>>(d: D) -> Result<bool, D::Error> {
    read(d, "bytedelta", BYTEDELTA, Value::as_bool)
}

pub(crate) fn typesize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    read(d, "typesize", TYPESIZE, |value| value.as_u64().filter(|&n| n > 0)).map(Some)
}

pub(crate) fn any_typesize<'de, D: Deserializer<'de>>(d: D) -> Result<usize, D::Error> {
    let parse = |value: &Value| value.as_u64().map(|n| usize::try_from(n).unwrap_or(1));
    read(d, "typesize", SIZE, parse)
}

pub(crate) fn weights<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Weights>, D::Error> {
    let parse = |value: &Value| {
        let weights = Weights::deserialize(value).ok()?;
        weights.tradeoff().is_ok().then_some(weights)
    };
    read(d, "tradeoff", TRADEOFF, parse).map(Some)
}

pub(crate) fn tradeoff<'de, D: Deserializer<'de>>(d: D) -> Result<Tradeoff, D::Error> {
    let parse = |value: &Value| Weights::deserialize(value).ok()?.tradeoff().ok();
    read(d, "tradeoff", TRADEOFF, parse)
}

pub(crate) fn perf_mode<'de, D: Deserializer<'de>>(d: D) -> Result<PerfMode, D::Error> {
    let parse = |value: &Value| PerfMode::ALL.into_iter().find(|m| value == m.name());
    read(d, "perf_mode", PERF_MODE, parse)
}

pub(crate) fn given_mode<'de, D: Deserializer<'de>>(d: D) -> Result<Option<PerfMode>, D::Error> {
    perf_mode(d).map(Some)
}

pub(crate) fn format<'de, D: Deserializer<'de>>(d: D) -> Result<Format, D::Error> {
    let parse = |value: &Value| Format::ALL.into_iter().find(|f| value == f.name());
    read(d, "format", FORMAT, parse)
}

pub(crate) fn stored_format<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Format>, D::Error> {
    let parse =
        |value: &Value| [Format::Cframe, Format::Chunk].into_iter().find(|f| value == f.name());
    read(d, "format", STORED, parse).map(Some)
}

pub(crate) fn threads<'de, D: Deserializer<'de>>(d: D) -> Result<u16, D::Error> {
    let parse = |value: &Value| {
        let threads = value.as_u64().filter(|&n| n > 0)?;
        Some(u16::try_from(threads).unwrap_or(u16::MAX))
    };
    read(d, "threads", THREADS, parse)
}
