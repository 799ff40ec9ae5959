//! Options, and what the environment says in their place.

use std::path::PathBuf;
use std::thread::available_parallelism;

use btune::blosc::{BlockShape, Form};
use btune::{Config, Space, Vars};

use crate::format::Format;
use crate::options::Options;

const PROFILE: &str = "BTUNE_PROFILE";

/// What a codec encodes with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) format: Format,
    pub(crate) typesize: usize,
    pub(crate) form: Form,
    pub(crate) config: Config,
    /// What to start from.
    pub(crate) profile: Option<PathBuf>,
}

impl Settings {
    /// The options with the variables that `get` reads over them, and lines to report.
    pub(crate) fn new(
        options: Options,
        get: impl Fn(&str) -> Option<String>,
    ) -> (Self, Vec<String>) {
        let (vars, errors) = Vars::read(&get);
        let mut lines: Vec<_> =
            errors.iter().map(|error| format!("{error}; the default is used")).collect();
        let config = vars.over(Config {
            tradeoff: options.tradeoff,
            perf_mode: options.perf_mode,
            max_threads: threads(options.threads),
            space: match options.format {
                Format::Blosc => Space::Blosc1,
                _ if options.bytedelta => Space::Blosc2,
                _ => Space::WithoutByteDelta,
            },
            ..Config::default()
        });
        if config.tradeoff.is_lossy() {
            let t = config.tradeoff.t();
            lines.push(format!("the codec is lossless; tuning with the tradeoff {t:.2}"));
        }
        let profile = options
            .profile
            .or_else(|| get(PROFILE).filter(|path| !path.is_empty()).map(PathBuf::from));
        let form = match options.shape {
            Some(shape) => Form::B2nd { shape, blocks: BlockShape::Rows },
            None => Form::Plain,
        };
        let (format, typesize) = (options.format, options.typesize);
        (Self { format, typesize, form, config, profile }, lines)
    }
}

/// No more threads than there are processors.
fn threads(wanted: u16) -> u16 {
    let processors =
        available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(u16::MAX));
    wanted.clamp(1, processors.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::{PerfMode, Tradeoff};

    fn settings(options: Options, vars: &[(&str, &str)]) -> (Settings, Vec<String>) {
        Settings::new(options, |name| {
            vars.iter().find(|(n, _)| *n == name).map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn options_count_and_variables_win() {
        let options = Options {
            tradeoff: Tradeoff::new(0.9).unwrap(),
            perf_mode: PerfMode::Decomp,
            profile: Some("mine".into()),
            ..Options::default()
        };
        let (kept, lines) = settings(options.clone(), &[]);
        assert_eq!((kept.config.tradeoff, lines), (options.tradeoff, Vec::new()));
        assert_eq!(kept.config.perf_mode, PerfMode::Decomp);
        let vars = [
            ("BTUNE_TRADEOFF", "0.1"),
            ("BTUNE_PERF_MODE", "BALANCED"),
            ("BTUNE_PROFILE", "theirs"),
        ];
        let (over, _) = settings(options, &vars);
        assert_eq!(over.config.tradeoff, Tradeoff::new(0.1).unwrap());
        assert_eq!(over.config.perf_mode, PerfMode::Balanced);
        assert_eq!(over.profile, Some("mine".into()));
        let (without, _) = settings(Options::default(), &vars);
        assert_eq!(without.profile, Some("theirs".into()));
    }

    #[test]
    fn only_what_blosc_has_is_chosen_for_it() {
        for format in Format::ALL {
            let (settings, _) = settings(Options { format, ..Options::default() }, &[]);
            assert_eq!(settings.config.space == Space::Blosc1, format == Format::Blosc);
            let options = Options { format, bytedelta: false, ..Options::default() };
            assert!(self::settings(options, &[]).0.config.space != Space::Blosc2);
        }
    }

    #[test]
    fn a_bad_variable_is_reported_and_the_option_is_kept() {
        let tradeoff = Tradeoff::new(0.9).unwrap();
        let options = Options { tradeoff, ..Options::default() };
        let (kept, lines) = settings(options, &[("BTUNE_TRADEOFF", "2"), ("BTUNE_PROFILE", "")]);
        assert_eq!((kept.config.tradeoff, kept.profile), (tradeoff, None));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("BTUNE_TRADEOFF=\"2\" is not valid: "), "{lines:?}");
    }

    #[test]
    fn a_lossy_tradeoff_is_said() {
        let tradeoff = Tradeoff::triple(0.3, 0.1, 0.6).unwrap();
        let (_, lines) = settings(Options { tradeoff, ..Options::default() }, &[]);
        assert_eq!(lines, ["the codec is lossless; tuning with the tradeoff 0.60"]);
    }

    #[test]
    fn no_more_threads_than_processors() {
        let processors = available_parallelism().unwrap().get();
        let most = |threads| {
            let options = Options { threads, ..Options::default() };
            usize::from(settings(options, &[]).0.config.max_threads)
        };
        assert_eq!((most(0), most(1)), (1, 1));
        assert_eq!(most(u16::MAX), processors.min(65535));
    }
}
