//! Libraries that are loaded already.
#![allow(unsafe_code, reason = "calls of the dynamic loader")]

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// A library, or the program itself, that is loaded; it stays so while this lives.
#[derive(Debug)]
pub struct Image(NonNull<c_void>);

impl Image {
    /// The image that holds the code or data at `address`; the program, where it cannot be opened by its
    /// name. None where the loader knows nothing of the address.
    #[must_use]
    pub fn of(address: *const c_void) -> Option<Self> {
        let info = info(address)?;
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: the name is a string of the loader, and nothing is loaded that is not there yet.
        let handle = unsafe { libc::dlopen(info.dli_fname, flags) };
        // The program itself, with a library linked in, is not opened by its name.
        // SAFETY: a null name stands for the program.
        let handle = NonNull::new(handle)
            .or_else(|| NonNull::new(unsafe { libc::dlopen(ptr::null(), flags) }));
        handle.map(Self)
    }

    /// A symbol of the image, or of what it is linked to.
    #[must_use]
    pub fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is open and the name is a string.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: opened in `of`, and closed once.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

/// Whether two addresses are in the same image.
#[must_use]
pub fn beside(a: *const c_void, b: *const c_void) -> bool {
    matches!((info(a), info(b)), (Some(a), Some(b)) if a.dli_fbase == b.dli_fbase)
}

fn info(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; `info` has room for the answer.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) } != 0;
    // SAFETY: where dladdr succeeds, it has filled it in.
    found.then(|| unsafe { info.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_told_apart() {
        let here = images_are_told_apart as *const c_void;
        let there = libc::getpid as *const c_void;
        assert!(Image::of(ptr::null()).is_none());
        assert!(Image::of(here).is_some());
        let libc = Image::of(there).expect("the C library");
        assert!(libc.symbol(c"getpid").is_some());
        assert!(libc.symbol(c"no such symbol").is_none());
        assert!(beside(here, beside as *const c_void) && !beside(here, there));
        assert!(!beside(ptr::null(), ptr::null()));
    }
}
