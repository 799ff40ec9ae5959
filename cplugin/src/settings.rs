//! What a context is to be tuned for: the program's configuration, and the environment over it.

use std::env;
use std::ffi::c_char;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use btune::process::report;
use btune::{Behaviour, Config, PerfMode, RepeatMode, Tradeoff, Vars};

use crate::abi::{btune_behaviour, btune_config, btune_performance_mode, btune_repeat_mode};
use crate::error::InitError;

/// `BTUNE_PERF_AUTO`
const AUTO: u32 = 3;

/// What a program asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    config: Config,
    /// The environment may choose the performance mode.
    auto_mode: bool,
    /// The search starts from the parameters of the context.
    pub(crate) hint: bool,
}

impl Default for Settings {
    /// `BTUNE_CONFIG_DEFAULTS`
    fn default() -> Self {
        Self { config: Config::default(), auto_mode: true, hint: false }
    }
}

impl Settings {
    /// Checks a configuration.
    pub(crate) fn new(raw: &btune_config) -> Result<Self, InitError> {
        let config = Config {
            tradeoff: tradeoff(&raw.tradeoff, raw.tradeoff_nelems)?,
            perf_mode: perf_mode(raw.perf_mode)?,
            bandwidth: bandwidth(raw.bandwidth)?,
            behaviour: behaviour(&raw.behaviour)?,
            use_inference: use_inference(raw.use_inference)?,
            models_dir: models_dir(&raw.models_dir)?,
            ..Config::default()
        };
        Ok(Self { config, auto_mode: raw.perf_mode.0 == AUTO, hint: raw.cparams_hint })
    }

    /// The configuration, as the environment is now. What is not valid there is reported.
    pub(crate) fn config(&self) -> Config {
        let (mut vars, errors) =
            Vars::read(|name| env::var_os(name).map(|text| text.to_string_lossy().into_owned()));
        for error in errors {
            report::once(format_args!("{error}; the default is used"));
        }
        if !self.auto_mode {
            vars.perf_mode = None;
        }
        let config = vars.over(self.config.clone());
        if config.tradeoff.is_lossy() {
            report::once(format_args!(
                "a tradeoff with quality is used losslessly, as {:.2}",
                config.tradeoff.t()
            ));
        }
        config
    }
}

/// No more threads than there are processors.
pub(crate) fn at_most_processors(threads: u16) -> u16 {
    static PROCESSORS: OnceLock<u16> = OnceLock::new();
    let processors = PROCESSORS.get_or_init(|| {
        available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(u16::MAX))
    });
    threads.clamp(1, *processors)
}

fn tradeoff(parts: &[f32; 3], count: i32) -> Result<Tradeoff, InitError> {
    let parsed = match count {
        1 => Tradeoff::new(parts[0]),
        3 => Tradeoff::triple(parts[0], parts[1], parts[2]),
        _ => return Err(invalid("tradeoff_nelems", count, "1 or 3")),
    };
    let given = if count == 1 { format!("{}", parts[0]) } else { format!("{parts:?}") };
    let allowed = "from 0 (speed) to 1 (ratio), or three from 0 to 1 that sum to 1";
    parsed.map_err(|_| invalid("tradeoff", given, allowed))
}

fn perf_mode(mode: btune_performance_mode) -> Result<PerfMode, InitError> {
    if mode.0 == AUTO {
        return Ok(PerfMode::default());
    }
    let known = u8::try_from(mode.0).ok().and_then(PerfMode::from_code);
    known.ok_or_else(|| invalid("perf_mode", mode.0, "0 (COMP) to 3 (AUTO)"))
}

fn bandwidth(kilobytes: u32) -> Result<u32, InitError> {
    if kilobytes > 0 { Ok(kilobytes) } else { Err(invalid("bandwidth", 0, "kB/s, above 0")) }
}

fn behaviour(raw: &btune_behaviour) -> Result<Behaviour, InitError> {
    let btune_repeat_mode(mode) = raw.repeat_mode;
    let repeat = match mode {
        0 => RepeatMode::Stop,
        1 => RepeatMode::Soft,
        2 => RepeatMode::All,
        _ => return Err(invalid("repeat_mode", mode, "0 (STOP) to 2 (ALL)")),
    };
    Ok(Behaviour {
        waits: raw.nwaits_before_readapt,
        softs: raw.nsofts_before_hard,
        hards: raw.nhards_before_stop,
        repeat,
    })
}

fn use_inference(chunks: i32) -> Result<i32, InitError> {
    let allowed = "-1 (every chunk), 0 (none) or a number of chunks";
    if chunks >= -1 { Ok(chunks) } else { Err(invalid("use_inference", chunks, allowed)) }
}

fn models_dir(text: &[c_char]) -> Result<Option<PathBuf>, InitError> {
    let bytes: Vec<u8> =
        text.iter().take_while(|&&byte| byte != 0).map(|byte| byte.cast_unsigned()).collect();
    if bytes.len() == text.len() {
        return Err(invalid("models_dir", "without an end", "a path that ends with a zero byte"));
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    Ok((!path.is_empty()).then(|| PathBuf::from(path)))
}

fn invalid(field: &'static str, value: impl Display, allowed: &'static str) -> InitError {
    InitError::Field { field, value: value.to_string(), allowed }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `BTUNE_CONFIG_DEFAULTS`
    pub(crate) fn raw() -> btune_config {
        btune_config {
            bandwidth: 20 * 1024 * 1024,
            perf_mode: btune_performance_mode(AUTO),
            tradeoff: [0.5, 0.0, 0.0],
            tradeoff_nelems: 1,
            behaviour: btune_behaviour {
                nwaits_before_readapt: 0,
                nsofts_before_hard: 5,
                nhards_before_stop: 10,
                repeat_mode: btune_repeat_mode(0),
            },
            cparams_hint: false,
            use_inference: -1,
            models_dir: [0; 4096],
        }
    }

    #[test]
    fn the_defaults_of_the_header_are_the_defaults() {
        assert_eq!(Settings::new(&raw()), Ok(Settings::default()));
    }

    #[test]
    fn every_field_is_taken_over() {
        let mut c = raw();
        c.bandwidth = 7;
        c.perf_mode = btune_performance_mode(2);
        c.tradeoff = [0.2, 0.3, 0.5];
        c.tradeoff_nelems = 3;
        c.behaviour.nwaits_before_readapt = 1;
        c.behaviour.nsofts_before_hard = 2;
        c.behaviour.nhards_before_stop = 3;
        c.behaviour.repeat_mode = btune_repeat_mode(2);
        c.cparams_hint = true;
        c.use_inference = 4;
        c.models_dir[0] = 0x2f;
        let settings = Settings::new(&c).unwrap();
        let config = Config {
            bandwidth: 7,
            perf_mode: PerfMode::Balanced,
            tradeoff: Tradeoff::triple(0.2, 0.3, 0.5).unwrap(),
            behaviour: Behaviour { waits: 1, softs: 2, hards: 3, repeat: RepeatMode::All },
            use_inference: 4,
            models_dir: Some(PathBuf::from("/")),
            ..Config::default()
        };
        assert_eq!(settings, Settings { config, auto_mode: false, hint: true });
    }

    #[test]
    fn what_is_not_valid_is_named() {
        type Spoil = fn(&mut btune_config);
        let bad: [(&str, Spoil); 9] = [
            ("bandwidth", |c| c.bandwidth = 0),
            ("perf_mode", |c| c.perf_mode = btune_performance_mode(4)),
            ("tradeoff", |c| c.tradeoff[0] = 1.5),
            ("tradeoff", |c| c.tradeoff[0] = f32::NAN),
            ("tradeoff", |c| c.tradeoff_nelems = 3),
            ("tradeoff_nelems", |c| c.tradeoff_nelems = 2),
            ("repeat_mode", |c| c.behaviour.repeat_mode = btune_repeat_mode(3)),
            ("use_inference", |c| c.use_inference = -2),
            ("models_dir", |c| c.models_dir = [0x61; 4096]),
        ];
        for (field, spoil) in bad {
            let mut c = raw();
            spoil(&mut c);
            let message = Settings::new(&c).unwrap_err().to_string();
            assert!(message.starts_with(&format!("btune_config: {field} ")), "{message}");
        }
    }
}
