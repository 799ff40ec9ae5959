//! The boundary to C: the exports of `btune.h`. Pointers are checked here, and panics end here.
#![allow(unsafe_code, reason = "functions that C calls, and its pointers")]
#![allow(non_camel_case_types, reason = "the names of the C interface")]

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::slice;

use btune::process::{models, report};

use crate::abi::{
    btune_behaviour, btune_config, btune_performance_mode, btune_record, btune_repeat_mode,
};
use crate::context::Context;
use crate::defaults;
use crate::error::InitError;
use crate::host;
use crate::instance::Instance;
use crate::settings::{Settings, at_most_processors};
use crate::{live, records};

const SUCCESS: c_int = 0;
/// `BLOSC2_ERROR_INVALID_PARAM`
const INVALID: c_int = -12;
/// `BLOSC2_ERROR_TUNER`
const FAILED: c_int = -34;

/// A context of C-Blosc2, of whatever version.
#[repr(C)]
pub struct blosc2_context {
    _opaque: [u8; 0],
}

/// A super-chunk of C-Blosc2.
#[repr(C)]
pub struct blosc2_schunk {
    _opaque: [u8; 0],
}

/// The names of a tuner's functions, by which C-Blosc2 finds them.
#[repr(C)]
pub struct tuner_info {
    init: *const c_char,
    next_blocksize: *const c_char,
    next_cparams: *const c_char,
    update: *const c_char,
    free: *const c_char,
}

// SAFETY: it points to constants.
unsafe impl Sync for tuner_info {}

/// What C-Blosc2 reads first.
#[allow(non_upper_case_globals, reason = "the name that C-Blosc2 looks for")]
#[unsafe(no_mangle)]
pub static info: tuner_info = tuner_info {
    init: c"btune_init".as_ptr(),
    next_blocksize: c"btune_next_blocksize".as_ptr(),
    next_cparams: c"btune_next_cparams".as_ptr(),
    update: c"btune_update".as_ptr(),
    free: c"btune_free".as_ptr(),
};

/// Begins to tune a compression context. `config` is a `btune_config`, or NULL for the defaults; `dctx` is not
/// used. Returns 0, or a negative number, after one line on stderr, if the configuration is not valid or if the
/// context is of a C-Blosc2 that is not known: nothing is written to it then.
///
/// # Safety
/// `config` is NULL or points to a `btune_config`, and `cctx` to a context that was just made.
#[unsafe(no_mangle)]
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), unsafe(naked))]
pub unsafe extern "C" fn btune_init(
    config: *mut c_void,
    cctx: *mut blosc2_context,
    dctx: *mut blosc2_context,
) -> c_int {
    // Passes on, as a fourth argument, where it returns to: that is in the C-Blosc2 that calls.
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("mov rcx, [rsp]", "jmp {begin}", begin = sym begin);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("mov x3, x30", "b {begin}", begin = sym begin);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: the caller's promise.
    unsafe {
        begin(config, cctx, dctx, ptr::null())
    }
}

unsafe extern "C" fn begin(
    config: *const c_void,
    cctx: *mut blosc2_context,
    _dctx: *mut blosc2_context,
    caller: *const c_void,
) -> c_int {
    guard(FAILED, || {
        let Some(cctx) = NonNull::new(cctx.cast::<c_void>()) else { return INVALID };
        // SAFETY: a `btune_config`, as `btune.h` demands, that nobody changes meanwhile.
        let config = unsafe { config.cast::<btune_config>().as_ref() };
        // SAFETY: C-Blosc2 has just made it, and is waiting.
        let context = unsafe { Context::fresh(cctx) };
        match start(config, context, caller) {
            Ok(()) => SUCCESS,
            Err(error) => {
                report::line(format_args!("btune: {error}"));
                INVALID
            }
        }
    })
}

fn start(
    config: Option<&btune_config>,
    context: Option<Context>,
    caller: *const c_void,
) -> Result<(), InitError> {
    let context = context.ok_or(InitError::Layout)?;
    if let Some(version) = host::version(caller)
        && !host::agrees(&version, context.since())
    {
        return Err(InitError::Version(version));
    }
    let settings = match config {
        Some(config) => Settings::new(config)?,
        None => defaults::get(),
    };
    let mut config = settings.config();
    config.repeats_count = true;
    config.max_threads = at_most_processors(context.threads());
    config.block_size = Some(context.block()).filter(|&bytes| bytes > 0);
    config.hint = context.cparams().filter(|_| settings.hint);
    let instance = Box::new(Instance::new(context.address(), context.schunk(), config));
    context.adopt(Box::into_raw(instance));
    Ok(())
}

/// Leaves the block size as it is: `btune_next_cparams` sets it.
///
/// # Safety
/// `context` is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_next_blocksize(context: *mut blosc2_context) -> c_int {
    let _ = context;
    SUCCESS
}

/// Sets the parameters for the chunk that the context is about to compress. Always returns 0: where nothing
/// can be chosen, they stay as they are.
///
/// # Safety
/// `context` has been through `btune_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_next_cparams(context: *mut blosc2_context) -> c_int {
    guard(SUCCESS, || {
        // SAFETY: the caller's promise; C-Blosc2 is waiting.
        unsafe {
            with(context, |context, instance| {
                let (nbytes, typesize) = (context.nbytes(), context.typesize());
                let users = context.cparams();
                if let Some(params) = instance.choose(context.source(), nbytes, typesize) {
                    context.apply(&params);
                } else if let Some(block) = instance.block(nbytes, typesize, users.as_ref()) {
                    context.set_block(block);
                }
            });
        }
        SUCCESS
    })
}

/// Takes note of the chunk that the context has compressed in `ctime` seconds. Always returns 0.
///
/// # Safety
/// `context` has been through `btune_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_update(context: *mut blosc2_context, ctime: f64) -> c_int {
    guard(SUCCESS, || {
        // SAFETY: the caller's promise; C-Blosc2 is waiting.
        unsafe { with(context, |context, instance| instance.learn(context.compressed(), ctime)) };
        SUCCESS
    })
}

/// Ends the tuning of a context. Always returns 0.
///
/// # Safety
/// `context` has been through `btune_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_free(context: *mut blosc2_context) -> c_int {
    guard(SUCCESS, || {
        let Some(context) = NonNull::new(context.cast()) else { return SUCCESS };
        // SAFETY: the caller's promise; C-Blosc2 is waiting.
        if let Some((context, instance)) = unsafe { Context::tuned(context) } {
            context.adopt(ptr::null_mut());
            // SAFETY: it came from `Box::into_raw` in `start`, and nothing points to it any more.
            unsafe { Box::from_raw(instance.as_ptr()) }.end();
        }
        SUCCESS
    })
}

/// Changes the settings of contexts to come that bring none of their own. Returns 0, or a negative number,
/// after one line on stderr, if a value is not valid: nothing is changed then. The parameters are the fields of
/// `btune_config`; `tradeoff` points to 1 or 3 numbers, and `models_dir` may be NULL.
///
/// # Safety
/// `tradeoff` points to `tradeoff_nelems` numbers, and `models_dir`, if not NULL, to a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn set_params_defaults(
    bandwidth: u32,
    perf_mode: btune_performance_mode,
    tradeoff: *mut f32,
    tradeoff_nelems: c_int,
    cparams_hint: bool,
    use_inference: c_int,
    models_dir: *const c_char,
    nwaits_before_readapt: u32,
    nsofts_before_hard: u32,
    nhards_before_stop: u32,
    repeat_mode: btune_repeat_mode,
) -> c_int {
    guard(FAILED, || {
        let mut config = btune_config {
            bandwidth,
            perf_mode,
            tradeoff: [0.0; 3],
            tradeoff_nelems,
            behaviour: btune_behaviour {
                nwaits_before_readapt,
                nsofts_before_hard,
                nhards_before_stop,
                repeat_mode,
            },
            cparams_hint,
            use_inference,
            models_dir: [0; _],
        };
        if tradeoff.is_null() {
            config.tradeoff = [f32::NAN; 3];
        } else if let Ok(count @ 1..=3) = usize::try_from(tradeoff_nelems) {
            // SAFETY: the caller's promise.
            let given = unsafe { slice::from_raw_parts(tradeoff, count) };
            config.tradeoff[..count].copy_from_slice(given);
        }
        if !models_dir.is_null() {
            for (at, place) in config.models_dir.iter_mut().enumerate() {
                // SAFETY: the caller's promise: up to the zero byte, after which none is read.
                *place = unsafe { models_dir.add(at).read() };
                if *place == 0 {
                    break;
                }
            }
        }
        match Settings::new(&config) {
            Ok(settings) => {
                defaults::set(settings);
                SUCCESS
            }
            Err(error) => {
                report::line(format_args!("btune: {error}"));
                INVALID
            }
        }
    })
}

/// Whether models are kept from context to context. They always are: it makes no difference.
#[unsafe(no_mangle)]
pub extern "C" fn btune_set_reuse_models(new_value: bool) {
    let _ = new_value;
}

/// Frees the models that are kept; the next search reads its model again.
#[unsafe(no_mangle)]
pub extern "C" fn btune_free_all_models() {
    guard(SUCCESS, || {
        models::free_all();
        SUCCESS
    });
}

/// What the chunks of a context were compressed with: runs of chunks in the order of compression, the newest
/// last (16384 runs at most: then the oldest is forgotten). Writes at most `capacity` of them to `records`,
/// which may be NULL if `capacity` is 0, and returns how many there are; a negative number if the context is not
/// one that this process tunes.
///
/// # Safety
/// `records` has room for `capacity` of them. `context` is not looked at: it may have been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_get_record(
    context: *const blosc2_context,
    records: *mut btune_record,
    capacity: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    guard(FAILED, || unsafe { give(live::of_context(context as usize), records, capacity) })
}

/// The same for the context that a super-chunk compresses with.
///
/// # Safety
/// As for `btune_get_record`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_get_schunk_record(
    schunk: *const blosc2_schunk,
    records: *mut btune_record,
    capacity: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    guard(FAILED, || unsafe { give(live::of_schunk(schunk as usize), records, capacity) })
}

/// What a stored chunk was compressed with: a Blosc2 frame of one chunk (as HDF5's filter 32026 stores it), or a
/// chunk. Returns 1 if a record was stored with it, 0 if `record` holds what the chunk's header shows, and a
/// negative number if it is no chunk of Blosc2, or not a valid one.
///
/// # Safety
/// `stored` points to `length` bytes, and `record` to one record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn btune_read_record(
    stored: *const c_void,
    length: usize,
    record: *mut btune_record,
) -> c_int {
    guard(FAILED, || {
        if stored.is_null() || record.is_null() {
            return INVALID;
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { slice::from_raw_parts(stored.cast(), length) };
        match records::read(bytes) {
            Ok((read, found)) => {
                // SAFETY: the caller's promise.
                unsafe { record.write(read) };
                c_int::from(found)
            }
            Err(_) => INVALID,
        }
    })
}

/// # Safety
/// As for [`btune_get_record`].
unsafe fn give(
    runs: Option<Vec<btune_record>>,
    records: *mut btune_record,
    capacity: c_int,
) -> c_int {
    let Some(runs) = runs else { return INVALID };
    let count = usize::try_from(capacity).unwrap_or(0).min(runs.len());
    if !records.is_null() {
        // SAFETY: there is room for `capacity` of them, and these are no more.
        unsafe { ptr::copy_nonoverlapping(runs.as_ptr(), records, count) };
    }
    c_int::try_from(runs.len()).unwrap_or(c_int::MAX)
}

/// Calls `f` with a context of ours and its instance, if it is one.
///
/// # Safety
/// `context` is NULL or a live context, which nobody else uses meanwhile.
unsafe fn with(context: *mut blosc2_context, f: impl FnOnce(&Context, &mut Instance)) {
    let Some(context) = NonNull::new(context.cast()) else { return };
    // SAFETY: the caller's promise.
    if let Some((context, mut instance)) = unsafe { Context::tuned(context) } {
        // SAFETY: it came from `Box::into_raw` in `start`, and belongs to this context alone.
        f(&context, unsafe { instance.as_mut() });
    }
}

/// Ends a panic.
fn guard(otherwise: c_int, f: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or(otherwise)
}
