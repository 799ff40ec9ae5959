//! Any bytes are a stored chunk that is read, or an error.
#![no_main]

use std::cell::RefCell;

use btune::blosc::{Backend, Stored};
use libfuzzer_sys::fuzz_target;

/// Data larger than this is not asked for: a length may be honest.
const LARGEST: usize = 16 << 20;

thread_local! {
    static BACKEND: RefCell<Backend> = RefCell::new(Backend::new());
}

fuzz_target!(|data: &[u8]| {
    let Ok(stored) = Stored::parse(data) else { return };
    // Padding counts too.
    if stored.nbytes() > LARGEST || stored.header().nbytes > LARGEST {
        return;
    }
    let mut dest = vec![0; stored.nbytes()];
    BACKEND.with_borrow_mut(|backend| {
        let _ = backend.decode(&stored, &mut dest);
    });
});
