//! The boundary to C. Pointers are checked here, and panics end here.
#![allow(unsafe_code, reason = "functions that C calls, and its pointers")]
#![allow(non_camel_case_types, reason = "the names of the C interface")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use crate::codec::Codec;
use crate::decode::{decode_into, decoded_size};
use crate::options::Options;

/// A codec; see [`Codec`].
pub type btune_codec = Codec;

/// What is returned where something went wrong.
const FAILED: i64 = -1;

/// Makes a codec. `options` is a JSON object, all keys of which are optional: `format` (`"cframe"`, `"chunk"` or
/// `"blosc"`), `typesize`, `tradeoff` (a number or a list of three), `perf_mode` (`"COMP"`, `"DECOMP"` or
/// `"BALANCED"`), `threads`, `bytedelta` (whether that filter may be chosen), `profile` (the path of one) and `shape`
/// (of a chunk). NULL stands for none. Returns NULL, with the reason in `message`, if it is not valid. To be freed with
/// `btune_codec_free`. Callers that do not declare their functions, as ctypes does not by itself, cut the pointer.
///
/// # Safety
/// `options` is NULL or a string; `message` has room for `capacity` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_new(
    options: *const c_char,
    message: *mut c_char,
    capacity: usize,
) -> *mut btune_codec {
    let made = guard(|| {
        let json = if options.is_null() {
            c"{}"
        } else {
            // SAFETY: the caller's promise.
            unsafe { CStr::from_ptr(options) }
        };
        let json = json.to_str().map_err(|_| "the options are not UTF-8".to_owned())?;
        Ok(Codec::new(Options::from_json(json).map_err(|error| error.to_string())?))
    });
    match made {
        Ok(codec) => Box::into_raw(Box::new(codec)),
        Err(text) => {
            // SAFETY: the caller's promise.
            unsafe { say(&text, message, capacity) };
            ptr::null_mut()
        }
    }
}

/// Frees a codec. NULL is fine.
///
/// # Safety
/// `codec` is NULL or comes from `btune_codec_new`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_free(codec: *mut btune_codec) {
    let _ = guard(|| {
        if !codec.is_null() {
            // SAFETY: the caller's promise: it came from `Box::into_raw`.
            drop(unsafe { Box::from_raw(codec) });
        }
        Ok(())
    });
}

/// The most bytes that `btune_codec_encode` writes for a chunk of `nbytes` bytes; 0 if `codec` is NULL.
///
/// # Safety
/// `codec` is NULL or a codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_bound(codec: *const btune_codec, nbytes: usize) -> usize {
    // SAFETY: the caller's promise.
    guard(|| Ok(unsafe { codec.as_ref() }.map_or(0, |codec| codec.bound(nbytes)))).unwrap_or(0)
}

/// Stores a chunk of `nbytes` bytes in `dest`, which has room for `capacity` bytes. Returns how many were written,
/// or a negative number, with the reason in `message`. Any number of threads may call it with one codec.
///
/// # Safety
/// `codec` is NULL or a codec. `src` points to `nbytes` bytes and `dest` to `capacity`, unless they are 0; they do
/// not overlap. `message` has room for `mcap` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_encode(
    codec: *mut btune_codec,
    src: *const c_void,
    nbytes: usize,
    dest: *mut c_void,
    capacity: usize,
    message: *mut c_char,
    mcap: usize,
) -> i64 {
    let encode = || {
        // SAFETY: the caller's promise. Only shared references are made, whatever thread calls.
        let codec = unsafe { codec.cast_const().as_ref() }.ok_or("there is no codec")?;
        // SAFETY: the caller's promise.
        let (src, dest) = unsafe { (bytes(src, nbytes)?, bytes_mut(dest, capacity)?) };
        codec.encode_into(src, dest).map_err(|error| error.to_string())
    };
    // SAFETY: the caller's promise.
    unsafe { answer(encode, message, mcap) }
}

/// The bytes of a chunk that is stored in `nbytes` bytes, in whatever form; a negative number, with the reason in
/// `message`, if it is not valid.
///
/// # Safety
/// `src` points to `nbytes` bytes, unless there are none, and `message` has room for `mcap` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_decoded_size(
    src: *const c_void,
    nbytes: usize,
    message: *mut c_char,
    mcap: usize,
) -> i64 {
    // SAFETY: the caller's promise.
    let size = || decoded_size(unsafe { bytes(src, nbytes)? }).map_err(|error| error.to_string());
    // SAFETY: the caller's promise.
    unsafe { answer(size, message, mcap) }
}

/// Decompresses a stored chunk of `nbytes` bytes to `dest`, in C order. Returns how many bytes were written, or a
/// negative number, with the reason in `message`: what `dest` then holds is not defined.
///
/// # Safety
/// `src` points to `nbytes` bytes and `dest` to `capacity`, unless they are 0; they do not overlap. `message` has
/// room for `mcap` bytes, or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_decode(
    src: *const c_void,
    nbytes: usize,
    dest: *mut c_void,
    capacity: usize,
    message: *mut c_char,
    mcap: usize,
) -> i64 {
    let decode = || {
        // SAFETY: the caller's promise.
        let (src, dest) = unsafe { (bytes(src, nbytes)?, bytes_mut(dest, capacity)?) };
        decode_into(src, dest).map_err(|error| error.to_string())
    };
    // SAFETY: the caller's promise.
    unsafe { answer(decode, message, mcap) }
}

/// What the codec has learnt, as JSON; NULL if `codec` is NULL. To be freed with `btune_string_free`.
///
/// # Safety
/// `codec` is NULL or a codec.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_codec_profile(codec: *const btune_codec) -> *mut c_char {
    let profile = guard(|| {
        // SAFETY: the caller's promise.
        let codec = unsafe { codec.as_ref() }.ok_or("there is no codec")?;
        CString::new(codec.profile()).map_err(|error| error.to_string())
    });
    profile.map_or(ptr::null_mut(), CString::into_raw)
}

/// Frees a string. NULL is fine.
///
/// # Safety
/// `text` is NULL or comes from `btune_codec_profile`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller's promise: it came from `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Ends a panic.
fn guard<R>(f: impl FnOnce() -> Result<R, String>) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err("an internal error".to_owned()))
}

/// A number of bytes, or a negative number and a message.
///
/// # Safety
/// `message` has room for `capacity` bytes, or is NULL.
unsafe fn answer(
    f: impl FnOnce() -> Result<usize, String>,
    message: *mut c_char,
    capacity: usize,
) -> i64 {
    let result = guard(f).and_then(|n| i64::try_from(n).map_err(|error| error.to_string()));
    result.unwrap_or_else(|text| {
        // SAFETY: the caller's promise.
        unsafe { say(&text, message, capacity) };
        FAILED
    })
}

/// Writes one line, cut where there is no room (between characters), and a zero byte.
///
/// # Safety
/// `message` has room for `capacity` bytes, or is NULL.
unsafe fn say(text: &str, message: *mut c_char, capacity: usize) {
    let Some(room) = capacity.checked_sub(1).filter(|_| !message.is_null()) else { return };
    let line: String = text.chars().map(|c| if c < ' ' { ' ' } else { c }).collect();
    let end = (0..=line.len().min(room)).rfind(|&at| line.is_char_boundary(at)).unwrap_or(0);
    // SAFETY: there is room for `end` bytes and one more.
    unsafe {
        ptr::copy_nonoverlapping(line.as_ptr(), message.cast::<u8>(), end);
        message.add(end).write(0);
    }
}

/// # Safety
/// `start` points to `len` bytes that nobody changes meanwhile, unless it is NULL or there are none.
unsafe fn bytes<'a>(start: *const c_void, len: usize) -> Result<&'a [u8], String> {
    match len {
        0 => Ok(&[]),
        _ if start.is_null() || isize::try_from(len).is_err() => Err("there is no source".into()),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(start.cast(), len) }),
    }
}

/// # Safety
/// `start` points to `len` bytes that nobody else uses meanwhile, unless it is NULL or there are none.
unsafe fn bytes_mut<'a>(start: *mut c_void, len: usize) -> Result<&'a mut [u8], String> {
    match len {
        0 => Ok(&mut []),
        _ if start.is_null() || isize::try_from(len).is_err() => {
            Err("there is no destination".into())
        }
        // SAFETY: the caller's promise. Bytes of any value are valid.
        _ => Ok(unsafe { slice::from_raw_parts_mut(start.cast(), len) }),
    }
}

#[cfg(test)]
mod tests;
