//! The tuners of the codecs of this process. Each codec has one, which its threads share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use btune::Tuner;
use btune::process::PerProcess;

/// By the number of the codec. They are kept apart from it because a forked child must not touch what its parent's
/// threads may have locked: it begins with new ones.
static TUNERS: PerProcess<HashMap<u64, Shared>> = PerProcess::new();

/// A tuner that threads share.
pub(crate) type Shared = Arc<Mutex<Tuner>>;

/// Names a codec's tuner, which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct TunerId(u64);

impl TunerId {
    /// A name that no other codec has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The tuner, which `make` makes where there is none yet in this process.
    pub(crate) fn tuner(&self, make: impl FnOnce() -> Tuner) -> Shared {
        if let Some(tuner) = TUNERS.lock().get(&self.0) {
            return Arc::clone(tuner);
        }
        // It may read a file, and another thread may do the same: the first one counts.
        let new = Arc::new(Mutex::new(make()));
        Arc::clone(TUNERS.lock().entry(self.0).or_insert(new))
    }

    /// The number.
    pub(crate) const fn number(&self) -> u64 {
        self.0
    }
}

impl Drop for TunerId {
    fn drop(&mut self) {
        TUNERS.lock().remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::Config;

    #[test]
    fn each_codec_has_its_own_until_it_goes() {
        let (a, b) = (TunerId::new(), TunerId::new());
        let make = || Tuner::new(Config::default());
        let first = a.tuner(make);
        assert!(Arc::ptr_eq(&first, &a.tuner(|| unreachable!("it is there"))));
        assert!(!Arc::ptr_eq(&first, &b.tuner(make)));
        let number = a.number();
        drop(a);
        assert!(TUNERS.lock().get(&number).is_none());
        assert_eq!(Arc::strong_count(&first), 1);
    }
}
