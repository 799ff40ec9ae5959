//! What a thread keeps from call to call: contexts, buffers, settings.

use std::cell::RefCell;
use std::fmt::Display;
use std::time::{Duration, Instant};

use btune::blosc::Backend;

use crate::error::FilterError;
use crate::report;
use crate::settings::Settings;

/// A buffer above this size is not kept.
const MAX_KEPT: usize = 64 << 20;

/// For this long settings are taken to be the same.
const LATELY: Duration = Duration::from_millis(10);

/// The tools of a thread.
pub(crate) struct Worker {
    process: u32,
    pub(crate) backend: Backend,
    pub(crate) settings: Settings,
    refreshed: Option<Instant>,
    /// Room for an encoded chunk.
    pub(crate) out: Vec<u8>,
}

thread_local! {
    static WORKER: RefCell<Option<Worker>> = const { RefCell::new(None) };
}

impl Worker {
    fn new() -> Self {
        let process = std::process::id();
        Self {
            process,
            backend: Backend::new(),
            settings: Settings::default(),
            refreshed: None,
            out: Vec::new(),
        }
    }

    /// Calls `f` with this thread's worker. Its settings are up to date, or with `lately` from the last few
    /// milliseconds: to read the environment for every chunk is not safe while another thread changes it.
    pub(crate) fn with<R>(lately: bool, f: impl FnOnce(&mut Self) -> R) -> R {
        let mut worker = Self::take();
        let now = Instant::now();
        if !lately || worker.refreshed.is_none_or(|then| now - then > LATELY) {
            worker.settings.refresh();
            worker.refreshed = Some(now);
        }
        let result = f(&mut worker);
        worker.put_back();
        result
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

    /// The worker is taken out while it works: a call that comes in between, or that panics, finds none
    /// and makes another.
    fn take() -> Self {
        let kept = WORKER.try_with(|kept| kept.try_borrow_mut().ok()?.take()).ok().flatten();
        match kept {
            Some(worker) if worker.process == std::process::id() => worker,
            Some(inherited) => {
                // The threads of its contexts have not come along through the fork, and would be waited for.
                std::mem::forget(inherited);
                Self::new()
            }
            None => Self::new(),
        }
    }

    fn put_back(mut self) {
        if self.out.capacity() > MAX_KEPT {
            self.out = Vec::new();
        }
        // At the end of a thread there is nowhere to put it: it is dropped.
        let _ = WORKER.try_with(|kept| {
            if let Ok(mut kept) = kept.try_borrow_mut() {
                *kept = Some(self);
            }
        });
    }
}
