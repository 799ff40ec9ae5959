//! The contexts that are tuned now, for those who ask what was chosen.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use btune::process::PerProcess;

use crate::abi::btune_record;
use crate::log::Log;

static LIVE: PerProcess<BTreeMap<usize, Live>> = PerProcess::new();

/// What a context and those who ask share.
pub(crate) type Shared = Arc<Mutex<Log>>;

struct Live {
    schunk: usize,
    log: Shared,
}

/// A context has begun, for the super-chunk at that address if it is not 0.
pub(crate) fn add(context: usize, schunk: usize, log: Shared) {
    LIVE.lock().insert(context, Live { schunk, log });
}

/// A context has ended.
pub(crate) fn remove(context: usize) {
    LIVE.lock().remove(&context);
}

/// The runs of the context at that address. It is not looked at: any address may be asked for.
pub(crate) fn of_context(context: usize) -> Option<Vec<btune_record>> {
    LIVE.lock().get(&context).map(runs)
}

/// The runs of the context of the super-chunk at that address.
pub(crate) fn of_schunk(schunk: usize) -> Option<Vec<btune_record>> {
    LIVE.lock().values().find(|live| live.schunk == schunk && schunk != 0).map(runs)
}

fn runs(live: &Live) -> Vec<btune_record> {
    live.log.lock().unwrap_or_else(PoisonError::into_inner).runs().collect()
}
