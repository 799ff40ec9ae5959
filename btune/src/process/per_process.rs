//! Global state that a fork leaves behind.
#![allow(
    unsafe_code,
    reason = "a value that is replaced, and never freed, behind an atomic pointer"
)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value behind a lock, made anew in a forked child. What the parent had may be locked for ever there, by
/// a thread that the child does not have: it is abandoned.
#[derive(Debug)]
pub struct PerProcess<T> {
    current: AtomicPtr<Generation<T>>,
}

#[derive(Debug)]
struct Generation<T> {
    process: u32,
    value: Mutex<T>,
}

impl<T: Default + Send> PerProcess<T> {
    /// Nothing yet: the value is made when it is first used.
    #[must_use]
    pub const fn new() -> Self {
        Self { current: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Locks the value of this process.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // A panic while it was locked leaves a list that is still a list.
        self.generation().value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn generation(&self) -> &Generation<T> {
        let process = std::process::id();
        let found = self.current.load(Ordering::Acquire);
        // SAFETY: the pointer is null or comes from `Box::into_raw` below, and is never freed.
        if let Some(generation) = unsafe { found.as_ref() }
            && generation.process == process
        {
            return generation;
        }
        let made = Box::into_raw(Box::new(Generation { process, value: Mutex::new(T::default()) }));
        match self.current.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: just made, and never freed from here on.
            Ok(_) => unsafe { &*made },
            Err(other) => {
                // SAFETY: made above and not published: nobody else has it.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: published by another thread of this process, and never freed. It is not null:
                // only null or an abandoned generation is ever replaced.
                unsafe { &*other }
            }
        }
    }
}

impl<T: Default + Send> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_threads_share_one_value() {
        static COUNT: PerProcess<u32> = PerProcess::new();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1000).for_each(|_| *COUNT.lock() += 1));
            }
        });
        assert_eq!(*COUNT.lock(), 8000);
    }
}
