//! Tuners that are between two contexts.

use btune::process::{PerProcess, models};
use btune::{Config, Tuner};

/// The most tuners that are kept; the one that was kept for longest goes.
const MAX_KEPT: usize = 64;

static KEPT: PerProcess<Vec<Lease>> = PerProcess::new();

/// What two contexts must have in common to go on with the same tuner.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// Bytes per element.
    pub(crate) typesize: usize,
    /// Bytes per chunk.
    pub(crate) nbytes: usize,
    /// All settings.
    pub(crate) config: Config,
}

/// A tuner that one context has for itself.
#[derive(Debug)]
pub(crate) struct Lease {
    key: Key,
    /// The tuner.
    pub(crate) tuner: Tuner,
}

impl Lease {
    /// The tuner that was given back last for that key, or else a new one; and whether it is new.
    pub(crate) fn take(key: Key) -> (Self, bool) {
        let mut kept = KEPT.lock();
        match kept.iter().rposition(|lease| lease.key == key) {
            Some(at) => (kept.remove(at), false),
            None => (Self { tuner: models::tuner(key.config.clone()), key }, true),
        }
    }

    /// Names the data in the trace: bytes per element and per chunk.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.key.typesize, self.key.nbytes)
    }

    /// Keeps it for the next context.
    pub(crate) fn give_back(self) {
        let mut kept = KEPT.lock();
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuner_is_lent_to_one_at_a_time_and_kept_for_its_key() {
        let key = |nbytes| Key { typesize: 200, nbytes, config: Config::default() };
        let (first, new) = Lease::take(key(1));
        assert!(new);
        let (second, new) = Lease::take(key(1));
        assert!(new);
        first.give_back();
        assert!(Lease::take(key(2)).1);
        let other = Config { max_threads: 2, ..Config::default() };
        assert!(Lease::take(Key { config: other, ..key(1) }).1);
        assert!(!Lease::take(key(1)).1);
        second.give_back();
        for nbytes in 10..10 + MAX_KEPT {
            Lease::take(key(nbytes)).0.give_back();
        }
        assert!(Lease::take(key(1)).1);
    }
}
