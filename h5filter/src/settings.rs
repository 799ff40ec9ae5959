//! What the environment asks for.

use std::env;
use std::ffi::OsString;
use std::thread::available_parallelism;

use btune::process::report;
use btune::{Config, Vars};

use crate::slot::Tuned;

const TRADEOFF: &str = "BTUNE_TRADEOFF";
const THREADS: &str = "BLOSC_NTHREADS";

/// The variables that matter.
const NAMES: [&str; 7] = {
    let [a, b, c, d, e, f] = Vars::NAMES;
    [a, b, c, d, e, f, THREADS]
};

type Texts = [Option<OsString>; NAMES.len()];

/// The settings, as they were when the environment was last looked at.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    texts: Texts,
    config: Config,
    /// `BTUNE_TRADEOFF` is set: everything is tuned.
    tune_all: bool,
    has_tradeoff: bool,
    has_mode: bool,
}

impl Settings {
    /// Looks at the environment again, which may have changed; reports what is not valid in it.
    pub(crate) fn refresh(&mut self) {
        let texts = NAMES.map(env::var_os);
        if texts != self.texts {
            let (settings, errors) = Self::parse(texts);
            for error in errors {
                report::once(error);
            }
            *self = settings;
        }
    }

    fn parse(texts: Texts) -> (Self, Vec<String>) {
        let text = |name: &str| {
            let at = NAMES.iter().position(|&n| n == name)?;
            Some(texts[at].as_ref()?.to_string_lossy().into_owned())
        };
        let (vars, errors) = Vars::read(text);
        let (has_tradeoff, has_mode) = (vars.tradeoff.is_some(), vars.perf_mode.is_some());
        let mut config = vars.over(Config::default());
        let mut lines: Vec<_> =
            errors.iter().map(|error| format!("{error}; the default is used")).collect();
        if config.tradeoff.is_lossy() {
            lines.push(format!(
                "{TRADEOFF}: this filter is lossless; tuning with the tradeoff {:.2}",
                config.tradeoff.t()
            ));
        }
        config.max_threads = text(THREADS).and_then(|text| threads(&text)).unwrap_or(1);
        let tune_all = text(TRADEOFF).is_some_and(|text| !text.is_empty());
        (Self { texts, config, tune_all, has_tradeoff, has_mode }, lines)
    }

    /// How a data set is tuned whose values say `stored`.
    pub(crate) fn tuned(&self, stored: Option<Tuned>) -> Tuned {
        let set = Tuned::new(self.config.perf_mode, &self.config.tradeoff);
        let stored = stored.unwrap_or(set);
        Tuned {
            mode: if self.has_mode { set.mode } else { stored.mode },
            percent: if self.has_tradeoff { set.percent } else { stored.percent },
        }
    }

    /// The tuner's configuration for a data set whose values say `stored`; none where it is not tuned.
    pub(crate) fn config(&self, stored: Option<Tuned>) -> Option<Config> {
        if stored.is_none() && !self.tune_all {
            return None;
        }
        let mut config = self.config.clone();
        if let Some(stored) = stored {
            config.perf_mode = self.tuned(Some(stored)).mode;
            if !self.has_tradeoff {
                config.tradeoff = stored.tradeoff();
            }
        }
        Some(config)
    }

    /// The most threads to use.
    pub(crate) fn threads(&self) -> u16 {
        self.config.max_threads
    }

    /// Whether the user wants a trace.
    pub(crate) fn traces(&self) -> bool {
        self.config.trace.is_some()
    }
}

/// The most threads to use: a number from 1, of which no more are taken than there are processors. C-Blosc2
/// reads the same variable and ignores what is not valid in it.
fn threads(text: &str) -> Option<u16> {
    let wanted = text.trim().parse::<u16>().ok().filter(|n| *n >= 1)?;
    let processors =
        available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(u16::MAX));
    Some(wanted.min(processors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::PerfMode;

    fn settings(vars: &[(&str, &str)]) -> (Settings, Vec<String>) {
        Settings::parse(NAMES.map(|name| {
            vars.iter().find(|(n, _)| *n == name).map(|(_, text)| OsString::from(text))
        }))
    }

    const STORED: Tuned = Tuned { mode: PerfMode::Decomp, percent: 90 };

    #[test]
    fn without_variables_the_data_set_decides() {
        let (settings, lines) = settings(&[]);
        assert!(lines.is_empty());
        assert_eq!(settings.config(None), None);
        let config = settings.config(Some(STORED)).unwrap();
        assert!((config.tradeoff.t() - 0.9).abs() < 1e-6);
        assert_eq!(config.perf_mode, PerfMode::Decomp);
        assert_eq!(settings.tuned(None), Tuned { mode: PerfMode::Comp, percent: 50 });
        assert_eq!(settings.tuned(Some(STORED)), STORED);
    }

    #[test]
    fn a_variable_wins_over_the_data_set() {
        let (settings, _) = settings(&[(TRADEOFF, "0.1"), ("BTUNE_PERF_MODE", "BALANCED")]);
        let config = settings.config(Some(STORED)).unwrap();
        assert!((config.tradeoff.t() - 0.1).abs() < 1e-6);
        assert_eq!(config.perf_mode, PerfMode::Balanced);
        assert_eq!(settings.config(None), Some(config));
        assert_eq!(settings.tuned(Some(STORED)).percent, 10);
    }

    #[test]
    fn each_variable_wins_alone() {
        let (settings, _) = settings(&[(TRADEOFF, "0.1")]);
        assert_eq!(settings.tuned(Some(STORED)), Tuned { percent: 10, ..STORED });
        assert_eq!(settings.config(Some(STORED)).unwrap().perf_mode, PerfMode::Decomp);
    }

    #[test]
    fn a_bad_tradeoff_tunes_with_the_default_and_is_reported() {
        let (settings, lines) = settings(&[(TRADEOFF, "abc")]);
        assert_eq!(settings.config(None), Some(Config::default()));
        assert_eq!(settings.tuned(Some(STORED)), STORED);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("BTUNE_TRADEOFF=\"abc\" is not valid: "), "{lines:?}");
    }

    #[test]
    fn a_lossy_tradeoff_is_used_losslessly_and_said() {
        let (settings, lines) = settings(&[(TRADEOFF, "(0.3, 0.1, 0.6)")]);
        assert_eq!(settings.tuned(None).percent, 60);
        assert_eq!(
            lines,
            ["BTUNE_TRADEOFF: this filter is lossless; tuning with the tradeoff 0.60"]
        );
    }

    #[test]
    fn threads_are_taken_from_valid_numbers_only() {
        for (text, most) in [("0", 1), ("-1", 1), ("x", 1), ("", 1), ("1", 1), ("65536", 1)] {
            assert_eq!(settings(&[(THREADS, text)]).0.config.max_threads, most, "{text}");
        }
        let processors = available_parallelism().unwrap().get();
        let (settings, _) = settings(&[(THREADS, "60000")]);
        assert_eq!(usize::from(settings.config.max_threads), processors.min(60000));
    }
}
