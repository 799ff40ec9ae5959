//! What a thread keeps from call to call: contexts, buffers, settings.

use std::fmt::Display;
use std::time::{Duration, Instant};

use btune::blosc::Backend;
use btune::process::{PerThread, report};

use crate::error::FilterError;
use crate::settings::Settings;

/// A buffer above this size is not kept.
const MAX_KEPT: usize = 64 << 20;

/// For this long settings are taken to be the same.
const LATELY: Duration = Duration::from_millis(10);

/// The tools of a thread.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) backend: Backend,
    pub(crate) settings: Settings,
    refreshed: Option<Instant>,
    /// Room for an encoded chunk.
    pub(crate) out: Vec<u8>,
}

thread_local! {
    static WORKER: PerThread<Worker> = const { PerThread::new() };
}

impl Worker {
    /// Calls `f` with this thread's worker. Its settings are up to date, or with `lately` from the last few
    /// milliseconds: to read the environment for every chunk is not safe while another thread changes it.
    pub(crate) fn with<R>(lately: bool, f: impl FnOnce(&mut Self) -> R) -> R {
        PerThread::with(&WORKER, |worker| {
            let now = Instant::now();
            if !lately || worker.refreshed.is_none_or(|then| now - then > LATELY) {
                worker.settings.refresh();
                worker.refreshed = Some(now);
            }
            let result = f(worker);
            if worker.out.capacity() > MAX_KEPT {
                worker.out = Vec::new();
            }
            result
        })
    }

    /// Says why a chunk or a data set was refused. That its chunks are too large is for the user to change,
    /// and always said.
    pub(crate) fn refuse(&self, error: &FilterError) {
        match error {
            FilterError::TooLarge(_) => report::once(error),
            _ => self.log(error),
        }
    }

    /// Says what went wrong, where the user wants a trace.
    pub(crate) fn log(&self, error: &impl Display) {
        if self.settings.traces() {
            report::line(format_args!("btune: {error}"));
        }
    }
}
