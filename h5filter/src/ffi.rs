//! The boundary to HDF5: two exports and two callbacks. Pointers are checked here, and panics end here.
#![allow(unsafe_code, reason = "functions that C calls, and its pointers")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use libc::{c_int, c_uint, c_void, size_t};

use crate::buffer::Buffer;
use crate::decode::decode;
use crate::encode::{Call, encode};
use crate::error::FilterError;
use crate::host::Id;
use crate::set_local::set_local;
use crate::worker::Worker;

/// `H5Z_FLAG_OPTIONAL`
const OPTIONAL: c_uint = 0x0001;
/// `H5Z_FLAG_REVERSE`
const REVERSE: c_uint = 0x0100;
/// `H5PL_TYPE_FILTER`
const TYPE_FILTER: c_int = 0;

type SetLocal = extern "C" fn(Id, Id, Id, *const c_void) -> c_int;
type Filter = unsafe extern "C" fn(
    c_uint,
    size_t,
    *const c_uint,
    size_t,
    *mut size_t,
    *mut *mut c_void,
    *const c_void,
) -> size_t;

unsafe extern "C" {
    /// In `shim.c`: the class of the filter, with these callbacks.
    safe fn h5btune_class(set_local: SetLocal, filter: Filter) -> *const c_void;
}

/// Tells HDF5 that this library is a filter.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_type() -> c_int {
    TYPE_FILTER
}

/// Gives HDF5 the filter's class, an `H5Z_class2_t` that is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn H5PLget_plugin_info() -> *const c_void {
    h5btune_class(on_set_local, on_filter)
}

/// Ends a panic.
fn guard<R>(otherwise: R, f: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(otherwise)
}

extern "C" fn on_set_local(dcpl: Id, datatype: Id, _space: Id, caller: *const c_void) -> c_int {
    // The space is that of a chunk, not of the data set: it says nothing new.
    // A failure is fatal for the data set, so a panic is none: the values stay as they are.
    guard(1, || {
        Worker::with(false, |worker| match set_local(dcpl, datatype, caller, worker) {
            Ok(()) => 1,
            Err(error) => {
                worker.refuse(&error);
                -1
            }
        })
    })
}

unsafe extern "C" fn on_filter(
    flags: c_uint,
    count: size_t,
    values: *const c_uint,
    nbytes: size_t,
    buf_size: *mut size_t,
    buf: *mut *mut c_void,
    caller: *const c_void,
) -> size_t {
    guard(0, || {
        if buf.is_null() || buf_size.is_null() || (values.is_null() && count > 0) {
            return 0;
        }
        // SAFETY: not null, and HDF5 lends the variables to the callback alone.
        let (buf, buf_size) = unsafe { (&mut *buf, &mut *buf_size) };
        if buf.is_null() || nbytes == 0 || nbytes > *buf_size {
            return 0;
        }
        let values = match count {
            0 => &[],
            // SAFETY: `values` points to `count` values that nobody changes meanwhile.
            _ => unsafe { slice::from_raw_parts(values, count) },
        };
        // SAFETY: the buffer holds at least `nbytes` bytes, and is lent as the variables are. The slice is
        // not used any more when the buffer is written to or freed.
        let input = unsafe { slice::from_raw_parts(buf.cast::<u8>(), nbytes) };
        Worker::with(true, |worker| {
            let result = if flags & REVERSE == 0 {
                let optional = flags & OPTIONAL != 0;
                let call = Call { caller: caller as usize, optional, values, input };
                encode(&call, worker).and_then(|len| {
                    // SAFETY: `buf` and `buf_size` are those of a buffer that HDF5 got from malloc.
                    unsafe { give(&worker.out[..len], buf, buf_size) }
                })
            } else {
                decode(values, input, worker).map(|decoded| {
                    // SAFETY: as above.
                    unsafe { replace(decoded, buf, buf_size) }
                })
            };
            result.unwrap_or_else(|error| {
                worker.refuse(&error);
                0
            })
        })
    })
}

/// Puts the bytes into HDF5's buffer, or into a new one where they do not fit.
///
/// # Safety
/// `buf` is an allocation of the C allocator of at least `buf_size` bytes, which nobody else uses.
unsafe fn give(
    bytes: &[u8],
    buf: &mut *mut c_void,
    buf_size: &mut size_t,
) -> Result<size_t, FilterError> {
    if bytes.len() > *buf_size {
        let mut larger = Buffer::new(bytes.len())?;
        larger.bytes_mut().copy_from_slice(bytes);
        // SAFETY: the caller's promise.
        return Ok(unsafe { replace(larger, buf, buf_size) });
    }
    // SAFETY: the buffer has room, and is not the thread's own one, which `bytes` are in.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), buf.cast::<u8>(), bytes.len()) };
    Ok(bytes.len())
}

/// Puts another buffer in place of HDF5's, and returns its length.
///
/// # Safety
/// `buf` is an allocation of the C allocator, which nobody else uses.
unsafe fn replace(other: Buffer, buf: &mut *mut c_void, buf_size: &mut size_t) -> size_t {
    let len = other.len();
    // SAFETY: the caller's promise.
    unsafe { libc::free(*buf) };
    *buf = other.into_raw();
    *buf_size = len;
    len
}
