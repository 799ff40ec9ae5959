//! A context of C-Blosc2, read and written in place.
#![allow(unsafe_code, reason = "fields of a C struct whose layout is known at run time only")]

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::slice;

use btune::blosc::Params;
use btune::{Codec, Cparams, Filter, Pipeline, SplitMode};

use crate::instance::Instance;
use crate::layout::{self, Layout, common};

/// `BLOSC_BTUNE`
const TUNER: i32 = 32;
/// What is at such an address is no super-chunk.
const FIRST_PAGE: usize = 4096;

/// A live compression context of a known layout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    memory: Memory,
    layout: &'static Layout,
}

impl Context {
    /// A context that has just been made and that nobody has tuned yet; none if its layout is not known.
    ///
    /// # Safety
    /// `context` points to a context of some version of C-Blosc2, which nobody else uses meanwhile. (All
    /// versions' contexts are larger than the last offset of any layout.)
    pub(crate) unsafe fn fresh(context: NonNull<c_void>) -> Option<Self> {
        let memory = Memory(context.cast());
        let layout = layout::only(|layout| Self { memory, layout }.is_fresh())?;
        Some(Self { memory, layout })
    }

    /// A context that [`adopt`](Self::adopt) has given an instance, with it.
    ///
    /// # Safety
    /// As for [`fresh`](Self::fresh).
    pub(crate) unsafe fn tuned(context: NonNull<c_void>) -> Option<(Self, NonNull<Instance>)> {
        let memory = Memory(context.cast());
        let layout = layout::only(|layout| Self { memory, layout }.is_tuned())?;
        let context = Self { memory, layout };
        let instance = NonNull::new(context.get::<*mut Instance>(layout.tuner_params))?;
        // SAFETY: in this layout the context has this tuner, whose only parameters are an instance.
        unsafe { instance.as_ref() }.is_of(context.address()).then_some((context, instance))
    }

    /// Where it is.
    pub(crate) fn address(&self) -> usize {
        self.memory.0.as_ptr() as usize
    }

    /// The major version of C-Blosc2 from which on contexts look like this.
    pub(crate) fn since(&self) -> u32 {
        self.layout.since
    }

    /// Sets the tuner's state; null takes it away.
    pub(crate) fn adopt(&self, instance: *mut Instance) {
        self.set(self.layout.tuner_params, instance);
        self.set(self.layout.tuner_id, TUNER);
    }

    /// The address of the super-chunk that it belongs to; 0 for none.
    pub(crate) fn schunk(&self) -> usize {
        self.get(self.layout.schunk)
    }

    /// Threads that the user asked for, 1 at least.
    pub(crate) fn threads(&self) -> u16 {
        self.get::<i16>(self.layout.nthreads).max(1).cast_unsigned()
    }

    /// Bytes per block; 0 for automatic.
    pub(crate) fn block(&self) -> u32 {
        u32::try_from(self.get::<i32>(common::BLOCKSIZE)).unwrap_or(0)
    }

    /// Bytes per element.
    pub(crate) fn typesize(&self) -> usize {
        usize::try_from(self.get::<i32>(self.layout.typesize)).unwrap_or(1)
    }

    /// Bytes of the chunk to compress.
    pub(crate) fn nbytes(&self) -> usize {
        usize::try_from(self.get::<i32>(common::SOURCESIZE)).unwrap_or(0)
    }

    /// The chunk to compress, where its bytes are there: not with a prefilter, which makes them block by block,
    /// and not for special values.
    pub(crate) fn source(&self) -> Option<&[u8]> {
        let src = self.get::<*const u8>(common::SRC);
        let computed = !self.get::<*const c_void>(self.layout.prefilter).is_null();
        if src.is_null() || computed {
            return None;
        }
        // SAFETY: C-Blosc2 is about to compress this many bytes from there.
        Some(unsafe { slice::from_raw_parts(src, self.nbytes()) })
    }

    /// The chunk that was compressed; empty where it did not fit into its destination.
    pub(crate) fn compressed(&self) -> &[u8] {
        let dest = self.get::<*const u8>(common::DEST);
        let cbytes = usize::try_from(self.get::<i32>(self.layout.destsize)).unwrap_or(0);
        if dest.is_null() || cbytes == 0 {
            return &[];
        }
        // SAFETY: C-Blosc2 has just written this many bytes there.
        unsafe { slice::from_raw_parts(dest, cbytes) }
    }

    /// The parameters that the user gave, if a tuner could have chosen them.
    pub(crate) fn cparams(&self) -> Option<Cparams> {
        let pipeline = Pipeline {
            filters: self.get(self.layout.filters),
            metas: self.get(self.layout.filters_meta),
        };
        let code = |offset| u32::try_from(self.get::<i32>(offset)).ok();
        let split = SplitMode::from_code(code(self.layout.splitmode)?).ok()?;
        Some(Cparams {
            codec: Codec::from_code(code(self.layout.compcode)?).ok()?,
            filter: Filter::of_pipeline(&pipeline)?,
            clevel: u8::try_from(self.get::<i32>(self.layout.clevel)).ok()?,
            split: if split == SplitMode::Never { split } else { SplitMode::Always },
            block_size: btune::BlockSize::Auto,
            threads: self.threads(),
        })
    }

    /// Sets the size of the next chunk's blocks, which must be above 0 and no more than the chunk has. It has to
    /// be set for each chunk: C-Blosc2 keeps the last one, whatever it was, and does not look whether it fits.
    pub(crate) fn set_block(&self, bytes: usize) {
        if let Ok(bytes) = i32::try_from(bytes) {
            self.set(common::BLOCKSIZE, bytes);
            if let Some(offset) = self.layout.header_blocksize {
                self.set(offset, bytes);
            }
        }
    }

    /// Sets what the next chunk is compressed with.
    pub(crate) fn apply(&self, params: &Params) {
        self.set_block(params.block);
        let layout = self.layout;
        self.set(layout.compcode, i32::from(params.codec.code()));
        self.set(layout.compcode_meta, 0u8);
        self.set(layout.clevel, i32::from(params.clevel));
        if let Some(offset) = layout.use_dict {
            self.set(offset, 0i32);
        }
        self.set(layout.splitmode, i32::from(params.split.code()));
        self.set(layout.filters, params.pipeline.filters);
        self.set(layout.filters_meta, params.pipeline.metas);
        // C-Blosc2 looks here to choose the split and the block size.
        self.set(layout.filter_flags, filter_flags(&params.pipeline));
        if let Ok(threads) = i16::try_from(params.threads) {
            self.set(layout.new_nthreads, threads);
        }
    }

    /// Whether this is what a new context looks like in this layout.
    fn is_fresh(&self) -> bool {
        let layout = self.layout;
        let (threads, new_threads) =
            (self.get::<i16>(layout.nthreads), self.get::<i16>(layout.new_nthreads));
        self.get::<i32>(layout.do_compress) == 1
            // A super-chunk that is only copied has contexts with no thread at all.
            && threads >= 0
            && threads == new_threads
            && self.get::<i32>(layout.typesize) >= 1
            && (0..=9).contains(&self.get::<i32>(layout.clevel))
            && (0..=4).contains(&self.get::<i32>(layout.splitmode))
            && is_codec(self.get(layout.compcode))
            && self.get::<[u8; 6]>(layout.filters).into_iter().all(is_filter)
            && self.get::<usize>(layout.tuner_params) == 0
            && self.schunk_agrees()
    }

    /// Whether the super-chunk, where there is one, has the same parameters. The environment (`BLOSC_*`) may
    /// have changed those of the context; no variable changes the metadata of filters and codec.
    fn schunk_agrees(&self) -> bool {
        let address = self.schunk();
        if address == 0 {
            return true;
        }
        let Some(schunk) = NonNull::new(address as *mut u8) else { return false };
        if address < FIRST_PAGE || !address.is_multiple_of(align_of::<usize>()) {
            return false;
        }
        let schunk = Memory(schunk);
        // SAFETY: all else fits this layout, in which this is a pointer to a live super-chunk. Its fields are
        // public.
        let (version, compcode_meta, clevel, typesize, filters, metas) = unsafe {
            (
                schunk.read::<u8>(0),
                schunk.read::<u8>(2),
                schunk.read::<u8>(3),
                schunk.read::<i32>(8),
                schunk.read::<[u8; 6]>(self.layout.schunk_filters),
                schunk.read::<[u8; 6]>(self.layout.schunk_filters + 6),
            )
        };
        version == 0
            && compcode_meta == self.get::<u8>(self.layout.compcode_meta)
            && clevel <= 9
            && typesize >= 1
            && filters.into_iter().all(is_filter)
            && metas == self.get::<[u8; 6]>(self.layout.filters_meta)
    }

    /// Whether this is a context of this tuner, in this layout.
    fn is_tuned(&self) -> bool {
        let instance: usize = self.get(self.layout.tuner_params);
        self.get::<i32>(self.layout.do_compress) == 1
            && self.get::<i32>(self.layout.tuner_id) == TUNER
            && instance >= FIRST_PAGE
            && instance.is_multiple_of(align_of::<Instance>())
    }

    fn get<T: Copy>(&self, offset: usize) -> T {
        // SAFETY: the promise of `fresh` and `tuned`; all types that are read have no invalid values.
        unsafe { self.memory.read(offset) }
    }

    fn set<T: Copy>(&self, offset: usize, value: T) {
        // SAFETY: as for `get`; the layout is known by now.
        unsafe { self.memory.0.as_ptr().add(offset).cast::<T>().write_unaligned(value) }
    }
}

/// Where a C struct begins.
#[derive(Debug, Clone, Copy)]
struct Memory(NonNull<u8>);

impl Memory {
    /// # Safety
    /// The struct is live and has a `T`, of which any bytes are a valid value, at this offset.
    unsafe fn read<T: Copy>(self, offset: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { ptr::read_unaligned(self.0.as_ptr().add(offset).cast()) }
    }
}

/// Built-in codecs, and those of plugins.
fn is_codec(code: i32) -> bool {
    matches!(code, 0..=5 | 32..=255)
}

/// Built-in filters, and those of plugins.
fn is_filter(code: u8) -> bool {
    matches!(code, 0..=4 | 32..)
}

/// `BLOSC_DOSHUFFLE`, `BLOSC_DOBITSHUFFLE` and `BLOSC_DODELTA`.
fn filter_flags(pipeline: &Pipeline) -> u8 {
    let flag = |&code: &u8| match code {
        1 => 0x1,
        2 => 0x4,
        3 => 0x8,
        _ => 0,
    };
    pipeline.filters.iter().map(flag).fold(0, |all, flag| all | flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LAYOUTS;

    /// Room for a context, as aligned as one.
    #[repr(align(16))]
    struct Room([u8; 1344]);

    fn room(layout: &Layout, shift: usize) -> Room {
        let mut room = Room([0; 1344]);
        let mut put = |offset: usize, bytes: &[u8]| {
            room.0[offset + shift..offset + shift + bytes.len()].copy_from_slice(bytes);
        };
        put(layout.do_compress, &1i32.to_le_bytes());
        put(layout.nthreads, &2i16.to_le_bytes());
        put(layout.new_nthreads, &2i16.to_le_bytes());
        put(layout.typesize, &7i32.to_le_bytes());
        put(layout.clevel, &3i32.to_le_bytes());
        put(layout.splitmode, &2i32.to_le_bytes());
        put(layout.compcode, &4i32.to_le_bytes());
        put(layout.filters, &[0, 0, 0, 0, 1, 35]);
        put(layout.filters_meta, &[0, 0, 0, 0, 0, 7]);
        room
    }

    fn fresh(room: &mut Room) -> Option<Context> {
        // SAFETY: larger than any offset, and used by this thread only.
        unsafe { Context::fresh(NonNull::from(&mut room.0).cast()) }
    }

    #[test]
    fn a_context_of_each_layout_is_known_and_read() {
        for layout in &LAYOUTS {
            let mut room = room(layout, 0);
            let context = fresh(&mut room).expect("a known layout");
            assert_eq!(context.since(), layout.since);
            assert_eq!((context.threads(), context.typesize(), context.block()), (2, 7, 0));
            let cparams = context.cparams().unwrap();
            assert_eq!((cparams.codec, cparams.clevel), (Codec::Zlib, 3));
            assert_eq!((cparams.filter, cparams.split), (Filter::ByteDelta, SplitMode::Never));
        }
    }

    #[test]
    fn fields_that_have_moved_are_not_recognised() {
        for layout in &LAYOUTS {
            for shift in [2, 4, 8, 16, 40] {
                assert!(fresh(&mut room(layout, shift)).is_none(), "{shift}");
            }
        }
        assert!(fresh(&mut Room([0; 1344])).is_none());
        assert!(fresh(&mut Room([1; 1344])).is_none());
        assert!(fresh(&mut Room([0xff; 1344])).is_none());
    }

    #[test]
    fn a_context_that_fits_two_layouts_is_not_recognised() {
        let mut both = room(&LAYOUTS[0], 0);
        for (byte, other) in both.0.iter_mut().zip(room(&LAYOUTS[1], 0).0) {
            *byte |= other;
        }
        assert!(fresh(&mut both).is_none());
    }

    #[test]
    fn each_field_counts() {
        for layout in &LAYOUTS {
            let bad: [(usize, &[u8]); 10] = [
                (layout.do_compress, &[0]),
                (layout.nthreads, &[0xff, 0xff]),
                (layout.new_nthreads, &[3]),
                (layout.typesize, &[0]),
                (layout.clevel, &[10]),
                (layout.splitmode, &[5]),
                (layout.compcode, &[6]),
                (layout.filters, &[5]),
                (layout.tuner_params, &[8]),
                (layout.schunk, &[8]),
            ];
            for (offset, bytes) in bad {
                let mut room = room(layout, 0);
                room.0[offset..offset + bytes.len()].copy_from_slice(bytes);
                assert!(fresh(&mut room).is_none(), "{offset}");
            }
        }
    }

    #[test]
    fn the_super_chunk_must_agree() {
        for layout in &LAYOUTS {
            let mut schunk = Room([0; 1344]);
            schunk.0[3] = 3;
            schunk.0[8] = 7;
            let filters = layout.schunk_filters;
            let bytes = [0, 0, 0, 0, 1, 35, 0, 0, 0, 0, 0, 7];
            schunk.0[filters..filters + 12].copy_from_slice(&bytes);
            let mut room = room(layout, 0);
            let mut seen = |schunk: &Room| {
                let address = schunk.0.as_ptr() as usize;
                room.0[layout.schunk..layout.schunk + 8].copy_from_slice(&address.to_le_bytes());
                fresh(&mut room).is_some()
            };
            assert!(seen(&schunk));
            for (offset, value) in
                [(0, 1), (2, 9), (3, 10), (8, 0), (filters, 7), (filters + 11, 8)]
            {
                let mut other = Room(schunk.0);
                other.0[offset] = value;
                assert!(!seen(&other), "{offset}");
            }
        }
    }

    #[test]
    fn parameters_are_written_where_they_belong_and_nowhere_else() {
        for layout in &LAYOUTS {
            let mut room = room(layout, 0);
            let before = room.0;
            let context = fresh(&mut room).unwrap();
            let params = Params {
                codec: Codec::Lz4,
                clevel: 9,
                pipeline: Filter::BitShuffle.pipeline(7),
                split: SplitMode::Always,
                typesize: 7,
                block: 0x0203_0405,
                threads: 1,
            };
            context.apply(&params);
            let read = context.cparams().unwrap();
            assert_eq!((read.codec, read.clevel, read.filter), (Codec::Lz4, 9, Filter::BitShuffle));
            assert_eq!((read.split, context.block()), (SplitMode::Always, 0x0203_0405));
            let fields = [
                common::BLOCKSIZE..common::BLOCKSIZE + layout.header_blocksize.map_or(4, |_| 8),
                layout.splitmode..layout.splitmode + 4,
                layout.compcode..layout.compcode_meta + 1,
                layout.clevel..layout.clevel + 4,
                layout.use_dict.map_or(0..0, |offset| offset..offset + 4),
                layout.filter_flags..layout.filters_meta + 6,
                layout.new_nthreads..layout.new_nthreads + 2,
            ];
            for at in (0..before.len()).filter(|&at| before[at] != room.0[at]) {
                assert!(fields.iter().any(|field| field.contains(&at)), "{at}");
            }
            assert_eq!(room.0[layout.filter_flags], 4);
        }
    }
}
