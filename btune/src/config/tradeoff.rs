//! Size against time.

use crate::error::ConfigError;

use super::invalid;

const NAME: &str = "BTUNE_TRADEOFF";
const ALLOWED: &str = "a number from 0 (speed) to 1 (ratio), or three from 0 to 1 (ratio, speed, quality) that sum to 1";

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
            Err(invalid(NAME, &t.to_string(), ALLOWED))
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
            Err(invalid(NAME, &format!("{ratio},{speed},{quality}"), ALLOWED))
        }
    }

    /// Reads `0.25`, `(0.3, 0.1, 0.6)` or `0.3,0.1,0.6`; spaces are free.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with the text as it was given.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let error = || invalid(NAME, text, ALLOWED);
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
}
