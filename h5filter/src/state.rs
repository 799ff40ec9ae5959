//! The tuners, which live on from chunk to chunk.

use std::sync::{Arc, Mutex};

use btune::process::{PerProcess, models};
use btune::{Config, Tuner};

/// The most tuners that are kept; the one that was not used for longest goes.
const MAX_STATES: usize = 64;

static STATES: PerProcess<States> = PerProcess::new();

/// A tuner that threads share.
pub(crate) type Shared = Arc<Mutex<Tuner>>;

/// The tuner of the data sets with these values, in the HDF5 library that calls from address `caller`,
/// under that configuration; and whether it was made just now.
pub(crate) fn tuner(caller: usize, values: &[u32], config: Config) -> (Shared, bool) {
    STATES.lock().tuner(caller, values, config)
}

struct State {
    caller: usize,
    values: Box<[u32]>,
    config: Config,
    tuner: Shared,
}

/// Those used last come first.
#[derive(Default)]
struct States(Vec<State>);

impl States {
    fn tuner(&mut self, caller: usize, values: &[u32], config: Config) -> (Shared, bool) {
        let states = &mut self.0;
        let known = states
            .iter()
            .position(|s| s.caller == caller && *s.values == *values && s.config == config);
        let at = known.unwrap_or_else(|| {
            states.truncate(MAX_STATES - 1);
            let tuner = Arc::new(Mutex::new(models::tuner(config.clone())));
            states.push(State { caller, values: values.into(), config, tuner });
            states.len() - 1
        });
        states[..=at].rotate_right(1);
        (Arc::clone(&states[0].tuner), known.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caller_values_and_configuration_tell_states_apart() {
        let mut states = States::default();
        let config = Config::default();
        let other = Config { max_threads: 2, ..Config::default() };
        let (first, new) = states.tuner(1, &[1, 2], config.clone());
        assert!(new);
        assert!(states.tuner(2, &[1, 2], config.clone()).1);
        assert!(states.tuner(1, &[1, 3], config.clone()).1);
        assert!(states.tuner(1, &[1, 2], other).1);
        let (again, new) = states.tuner(1, &[1, 2], config);
        assert!(!new && Arc::ptr_eq(&first, &again));
        assert_eq!(states.0.len(), 4);
    }

    #[test]
    fn the_one_not_used_for_longest_goes() {
        let mut states = States::default();
        for n in 0..MAX_STATES as u32 {
            states.tuner(1, &[n], Config::default());
        }
        assert!(!states.tuner(1, &[0], Config::default()).1);
        assert!(states.tuner(1, &[1000], Config::default()).1);
        assert_eq!(states.0.len(), MAX_STATES);
        assert!(!states.tuner(1, &[0], Config::default()).1);
        assert!(states.tuner(1, &[1], Config::default()).1);
    }
}
