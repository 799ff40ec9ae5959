//! The C-Blosc2 that calls: several of different versions may live in one process.
#![allow(unsafe_code, reason = "a call of the host's function")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::NonNull;

use btune::process::{Image, PerProcess, beside};

/// Callers whose version has been looked up.
static KNOWN: PerProcess<Vec<(usize, Option<String>)>> = PerProcess::new();

type Version = unsafe extern "C" fn() -> *const c_char;

/// The version of the library that holds the code at `caller`, where it can be asked for: not in Python wheels,
/// which export no function of C-Blosc2.
pub(crate) fn version(caller: *const c_void) -> Option<String> {
    let address = caller as usize;
    let mut known = KNOWN.lock();
    if let Some((_, version)) = known.iter().find(|(known, _)| *known == address) {
        return version.clone();
    }
    let version = ask(caller);
    known.push((address, version.clone()));
    version
}

fn ask(caller: *const c_void) -> Option<String> {
    let symbol = Image::of(caller)?.symbol(c"blosc2_get_version_string")?;
    // A library that is linked to another C-Blosc2 finds the function of that one.
    if !beside(symbol.as_ptr(), caller) {
        return None;
    }
    // SAFETY: C-Blosc2 has had a function of that name and type since 2.0; a data pointer of `dlsym` is a
    // function pointer on every platform that has `dlsym`.
    let function = unsafe { transmute::<NonNull<c_void>, Version>(symbol) };
    // SAFETY: it takes nothing, and its image is loaded: it is calling.
    let text = NonNull::new(unsafe { function() }.cast_mut())?;
    // SAFETY: a string constant of that library.
    Some(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}

/// Whether a version may have contexts of the layout of major version `since`.
pub(crate) fn agrees(version: &str, since: u32) -> bool {
    let major = version.split('.').next().and_then(|part| part.parse::<u32>().ok());
    major.is_none_or(|major| (major >= 3) == (since >= 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_without_c_blosc2_has_no_version() {
        let here = a_caller_without_c_blosc2_has_no_version as *const c_void;
        assert_eq!((version(here), version(here), version(std::ptr::null())), (None, None, None));
    }

    #[test]
    fn the_layout_goes_with_the_major_version() {
        assert!(agrees("2.23.1", 2) && !agrees("2.23.1", 3));
        assert!(agrees("3.3.5.dev", 3) && !agrees("3.0.0", 2));
        assert!(agrees("4.0.0", 3) && agrees("unknown", 2));
    }
}
