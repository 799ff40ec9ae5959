//! Contexts of C-Blosc2: the only place that calls it.
#![allow(unsafe_code, reason = "C-Blosc2 is called through its C interface")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::{Once, OnceLock};

use blosc2_rs_sys as sys;

use crate::cparams::{Codec, Pipeline, SplitMode};

use super::CHUNK_HEADER;
use super::params::Params;

/// C-Blosc2 registers its filters when it is started.
fn start() {
    static START: Once = Once::new();
    // SAFETY: no arguments; `Once` keeps it from running twice at a time.
    START.call_once(|| unsafe { sys::blosc2_init() });
}

/// An owned context; freed on drop.
#[derive(Debug)]
struct Context(NonNull<sys::blosc2_context>);

// SAFETY: a context holds no thread-local state: it may move to another thread, used by one at a time.
unsafe impl Send for Context {}

impl Context {
    fn write<T: Copy>(&self, offset: usize, value: T) {
        // SAFETY: the context is live, used by one thread at a time, and larger than the last offset. The
        // offsets are those of one version of the library, which is pinned. What its getter shows of them
        // `fields_are_known` compares first, with a context that only the getter reads before it is freed;
        // the others lie beside fields that it shows.
        unsafe { self.0.as_ptr().cast::<u8>().add(offset).cast::<T>().write_unaligned(value) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `blosc2_create_*ctx` and is freed once, here.
        unsafe { sys::blosc2_free_ctx(self.0.as_ptr()) }
    }
}

/// Where fields lie in a compression context of C-Blosc2 2.21.3, the version that `blosc2-rs-sys` is pinned
/// to, with pointers of 64 bits. The library has no setters, and a context for each choice of parameters
/// costs up to 20 times what a probe does: most of it is memory for the tables of zstd.
mod field {
    pub(super) const BLOCK: usize = 36;
    pub(super) const SPLIT: usize = 40;
    pub(super) const TYPESIZE: usize = 56;
    pub(super) const CODEC: usize = 76;
    pub(super) const CODEC_META: usize = 80;
    pub(super) const CLEVEL: usize = 84;
    pub(super) const FILTERS: usize = 129;
    pub(super) const METAS: usize = 135;
    pub(super) const TUNER_PARAMS: usize = 856;
    pub(super) const THREADS: usize = 928;
    pub(super) const NEW_THREADS: usize = 930;
}

/// What the library's own tuner is given, which does not look at it.
static TUNER_PARAMS: u8 = 0;

/// A context that compresses.
#[derive(Debug)]
pub(super) struct Compressor {
    context: Context,
    block: usize,
}

impl Compressor {
    /// Makes a context, whatever the environment (`BLOSC_*`) says. `None` where there is none to be had, or
    /// where its fields do not lie where they should.
    pub(super) fn new(threads: u16) -> Option<Self> {
        let compressor = Self::create().filter(|_| fields_are_known())?;
        let threads = i16::try_from(threads).ok()?;
        // No thread has been started yet, whatever the environment asks for.
        compressor.context.write(field::THREADS, threads);
        compressor.context.write(field::NEW_THREADS, threads);
        Some(compressor)
    }

    fn create() -> Option<Self> {
        start();
        // SAFETY: the defaults are a struct by value, whose pointers are all null.
        let context = unsafe {
            let mut c = sys::blosc2_get_blosc2_cparams_defaults();
            c.nthreads = 1;
            sys::blosc2_create_cctx(c)
        };
        NonNull::new(context).map(|context| Self { context: Context(context), block: 1 })
    }

    /// Sets what the next chunks are compressed with; the number of threads stays.
    pub(super) fn set(&mut self, params: &Params) {
        self.block = params.block;
        self.context.write(field::CODEC, i32::from(params.codec.code()));
        self.context.write(field::CODEC_META, 0u8);
        self.context.write(field::CLEVEL, i32::from(params.clevel));
        self.context.write(field::SPLIT, i32::from(params.split.code()));
        self.context.write(field::TYPESIZE, i32::try_from(params.typesize).unwrap_or(1));
        self.context.write(field::BLOCK, i32::try_from(params.block).unwrap_or(0));
        // With parameters for its tuner the library takes the block size as it is. To choose one, or to look
        // whether it fits, it would read the environment (`BLOSC_INFO`) at each call, which is not safe while
        // another thread changes it.
        let params_of_tuner = if params.block > 0 { &raw const TUNER_PARAMS } else { ptr::null() };
        self.context.write(field::TUNER_PARAMS, params_of_tuner);
        self.context.write(field::FILTERS, params.pipeline.filters);
        self.context.write(field::METAS, params.pipeline.metas);
    }

    /// Whether the library's getter gives back what was set.
    fn is_set_to(&self, params: &Params) -> bool {
        // SAFETY: the context is live, and the getter only copies its fields to a valid place.
        let c = unsafe {
            let mut c = sys::blosc2_get_blosc2_cparams_defaults();
            sys::blosc2_ctx_get_cparams(self.context.0.as_ptr(), &raw mut c);
            c
        };
        c.compcode == params.codec.code()
            && c.clevel == params.clevel
            && c.splitmode == i32::from(params.split.code())
            && usize::try_from(c.typesize) == Ok(params.typesize)
            && usize::try_from(c.blocksize) == Ok(params.block)
            && usize::try_from(c.nthreads) == Ok(usize::from(params.threads))
            && c.filters == params.pipeline.filters
            && c.filters_meta == params.pipeline.metas
    }

    /// Compresses into `dest` and returns the bytes written, or 0 where `dest` is too small for them.
    ///
    /// # Errors
    /// The code of C-Blosc2.
    pub(super) fn compress(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize, i32> {
        // SAFETY: a slice is valid for its length.
        unsafe { self.compress_raw(src, dest.as_mut_ptr(), dest.len()) }
    }

    /// Compresses to the end of `out`, which becomes at most `room` bytes longer.
    ///
    /// # Errors
    /// The code of C-Blosc2.
    pub(super) fn append(
        &mut self,
        src: &[u8],
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<usize, i32> {
        out.reserve(room);
        // SAFETY: the vector has capacity for `room` more bytes, of which C-Blosc2 has initialised the
        // first `n`.
        unsafe {
            let n = self.compress_raw(src, out.as_mut_ptr().add(out.len()), room)?;
            out.set_len(out.len() + n);
            Ok(n)
        }
    }

    /// # Safety
    /// `dest` must be valid for writes of `room` bytes, which may be uninitialised.
    unsafe fn compress_raw(
        &mut self,
        src: &[u8],
        dest: *mut u8,
        room: usize,
    ) -> Result<usize, i32> {
        let block = self.block.clamp(1, src.len().max(1));
        let table = CHUNK_HEADER + 4 * src.len().div_ceil(block);
        let (Ok(length), Ok(limit)) = (i32::try_from(src.len()), i32::try_from(room)) else {
            return Ok(0);
        };
        if room < table {
            return Ok(0);
        }
        // SAFETY: the context is live and borrowed for us alone; `src` is valid for its length and `dest`
        // for `room`, as the caller says, and a `&mut` place does not overlap a `&` one. C-Blosc2 writes the
        // table of blocks whatever the room, which is enough for it, and all else within the room.
        let n = unsafe {
            let context = self.context.0.as_ptr();
            let src = src.as_ptr().cast::<c_void>();
            sys::blosc2_compress_ctx(context, src, length, dest.cast::<c_void>(), limit)
        };
        match usize::try_from(n) {
            Ok(n) if n <= room => Ok(n),
            _ => Err(n),
        }
    }
}

/// Whether the library's getter gives back what is written to the fields, for two sets of values that differ
/// in every one of them.
fn fields_are_known() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    let values = |n: u8, codec, split| Params {
        codec,
        clevel: n,
        pipeline: Pipeline {
            filters: [n, 0, n, 0, n, 0],
            metas: std::array::from_fn(|i| n + i as u8),
        },
        split,
        typesize: usize::from(n) * 3,
        block: usize::from(n) * 1000,
        threads: u16::from(n),
    };
    let holds = |params: &Params| {
        Compressor::create().is_some_and(|mut compressor| {
            compressor.context.write(field::THREADS, params.threads);
            compressor.set(params);
            compressor.is_set_to(params)
        })
    };
    *KNOWN.get_or_init(|| {
        size_of::<usize>() == 8
            && holds(&values(1, Codec::Zstd, SplitMode::Never))
            && holds(&values(2, Codec::Lz4, SplitMode::Always))
    })
}

/// A context that decompresses.
#[derive(Debug)]
pub(super) struct Decompressor(Context);

impl Decompressor {
    /// Makes a context; `None` where there is none to be had.
    pub(super) fn new() -> Option<Self> {
        start();
        // SAFETY: returns a struct by value.
        let mut d = unsafe { sys::blosc2_get_blosc2_dparams_defaults() };
        d.nthreads = 1;
        // SAFETY: all pointers in `d` are the defaults: null.
        let context = NonNull::new(unsafe { sys::blosc2_create_dctx(d) }).map(Context)?;
        if fields_are_known() {
            // One thread, whatever `BLOSC_NTHREADS` asks for: none has been started yet.
            context.write(field::THREADS, 1i16);
            context.write(field::NEW_THREADS, 1i16);
        }
        Some(Self(context))
    }

    /// Decompresses a chunk that has been validated to exactly `dest`.
    ///
    /// # Errors
    /// The code of C-Blosc2, or the number of bytes where it is not that of `dest`.
    pub(super) fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<(), i32> {
        let (Ok(chunk_len), Ok(dest_len)) = (i32::try_from(chunk.len()), i32::try_from(dest.len()))
        else {
            return Err(0);
        };
        // SAFETY: the context is live and borrowed for us alone; `chunk` and `dest` are valid for the
        // lengths given and do not overlap; C-Blosc2 writes no more than `dest_len` bytes.
        let n = unsafe {
            sys::blosc2_decompress_ctx(
                self.0.0.as_ptr(),
                chunk.as_ptr().cast::<c_void>(),
                chunk_len,
                dest.as_mut_ptr().cast::<c_void>(),
                dest_len,
            )
        };
        if n == dest_len { Ok(()) } else { Err(n) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cparams::Filter;

    #[test]
    fn the_fields_of_the_pinned_library_are_known() {
        assert!(fields_are_known());
    }

    #[test]
    fn a_context_that_is_used_again_writes_what_a_new_one_does() {
        let src: Vec<u8> = (0..60_000u32).flat_map(|i| (i / 7 * i).to_le_bytes()).collect();
        let mut again = Compressor::new(1).unwrap();
        for (codec, clevel, filter) in [
            (Codec::Zstd, 3, Filter::ByteDelta),
            (Codec::Lz4, 9, Filter::None),
            (Codec::Lz4hc, 2, Filter::BitShuffle),
            (Codec::Zstd, 3, Filter::ByteDelta),
        ] {
            let split = SplitMode::Always;
            let pipeline = filter.pipeline(4);
            let params =
                Params { codec, clevel, pipeline, split, typesize: 4, block: 8000, threads: 1 };
            let mut new = Compressor::new(1).unwrap();
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for (compressor, out) in [(&mut again, &mut a), (&mut new, &mut b)] {
                compressor.set(&params);
                assert!(compressor.append(&src, out, src.len() + CHUNK_HEADER).unwrap() > 0);
            }
            assert_eq!(a, b, "{codec:?}");
            let mut back = vec![0; src.len()];
            Decompressor::new().unwrap().decompress(&a, &mut back).unwrap();
            assert_eq!(back, src);
        }
    }
}
