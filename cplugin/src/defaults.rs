//! The settings of contexts that bring none of their own.
#![allow(unsafe_code, reason = "a list behind an atomic pointer, which a fork cannot leave locked")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::settings::Settings;

/// Settings that were the default once. None is ever freed: another thread may be reading it. Settings that
/// come again are found again, so that calls without end make no list without end.
struct Entry {
    settings: Settings,
    next: *mut Entry,
}

/// All entries, the newest first.
static ALL: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());
/// The one that holds now.
static CURRENT: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

/// The settings that hold now.
pub(crate) fn get() -> Settings {
    // SAFETY: null, or an entry, which is never freed or changed.
    let current = unsafe { CURRENT.load(Ordering::Acquire).as_ref() };
    current.map(|entry| entry.settings.clone()).unwrap_or_default()
}

/// Changes them for contexts to come.
pub(crate) fn set(settings: Settings) {
    CURRENT.store(find_or_add(settings), Ordering::Release);
}

fn find_or_add(settings: Settings) -> *mut Entry {
    let mut head = ALL.load(Ordering::Acquire);
    let mut at = head;
    // SAFETY: as in `get`.
    while let Some(entry) = unsafe { at.as_ref() } {
        if entry.settings == settings {
            return at;
        }
        at = entry.next;
    }
    let made = Box::into_raw(Box::new(Entry { settings, next: head }));
    while let Err(newer) = ALL.compare_exchange(head, made, Ordering::AcqRel, Ordering::Acquire) {
        head = newer;
        // SAFETY: not published yet: nobody else has it.
        unsafe { (*made).next = head };
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::raw;

    #[test]
    fn the_last_settings_hold_and_equal_ones_are_one_entry() {
        let mut other = raw();
        other.bandwidth = 77;
        let (first, second) = (Settings::default(), Settings::new(&other).unwrap());
        set(second.clone());
        assert_eq!(get(), second);
        set(first.clone());
        assert_eq!(get(), first);
        assert_eq!(find_or_add(second.clone()), find_or_add(second));
    }
}
