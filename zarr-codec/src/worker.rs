//! What a thread keeps from call to call: contexts and buffers.

use btune::blosc::Backend;
use btune::process::PerThread;

use crate::blosc1::Blosc1;

/// A buffer above this size is not kept.
const MAX_KEPT: usize = 64 << 20;

/// The tools of a thread.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    pub(crate) backend: Backend,
    pub(crate) blosc1: Blosc1,
    /// Room for a stored chunk.
    pub(crate) out: Vec<u8>,
}

thread_local! {
    static WORKER: PerThread<Worker> = const { PerThread::new() };
}

impl Worker {
    /// Calls `f` with this thread's worker.
    pub(crate) fn with<R>(f: impl FnOnce(&mut Self) -> R) -> R {
        PerThread::with(&WORKER, |worker| {
            let result = f(worker);
            if worker.out.capacity() > MAX_KEPT {
                worker.out = Vec::new();
            }
            result
        })
    }
}
