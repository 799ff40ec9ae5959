//! What a thread keeps from call to call.

use std::cell::RefCell;
use std::mem;
use std::thread::LocalKey;

/// A value of a thread, for a `thread_local!`: made when it is first used, and made anew in a forked child.
/// What the parent's thread had is abandoned there: it may own threads, which have not come along and would
/// be waited for.
#[derive(Debug)]
pub struct PerThread<T>(RefCell<Option<Kept<T>>>);

#[derive(Debug)]
struct Kept<T> {
    process: u32,
    value: T,
}

impl<T: Default> PerThread<T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// Calls `f` with the value of this thread. It is taken out meanwhile: a call that comes in between, or
    /// after one that panicked, finds none and makes another.
    pub fn with<R>(key: &'static LocalKey<Self>, f: impl FnOnce(&mut T) -> R) -> R {
        let process = std::process::id();
        let kept = key.try_with(|kept| kept.0.try_borrow_mut().ok()?.take()).ok().flatten();
        let mut value = match kept {
            Some(kept) if kept.process == process => kept.value,
            Some(inherited) => {
                mem::forget(inherited);
                T::default()
            }
            None => T::default(),
        };
        let result = f(&mut value);
        // At the end of a thread there is nowhere to put it: it is dropped.
        let _ = key.try_with(|kept| {
            if let Ok(mut kept) = kept.0.try_borrow_mut() {
                *kept = Some(Kept { process, value });
            }
        });
        result
    }
}

impl<T: Default> Default for PerThread<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static LINES: PerThread<Vec<u32>> = const { PerThread::new() };
    }

    #[test]
    fn it_is_kept_and_a_call_in_between_gets_another() {
        PerThread::with(&LINES, |lines| {
            lines.push(1);
            PerThread::with(&LINES, |inner| assert!(inner.is_empty()));
        });
        PerThread::with(&LINES, |lines| assert_eq!(*lines, [1]));
        let panicked = std::panic::catch_unwind(|| PerThread::with(&LINES, |_| panic!("lost")));
        assert!(panicked.is_err());
        PerThread::with(&LINES, |lines| assert!(lines.is_empty()));
    }
}
