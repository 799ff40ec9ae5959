//! Contexts that are used again and again.

use super::context::{Compressor, Decompressor};
use super::params::Params;

/// Contexts kept, of either kind.
const KEPT: usize = 24;
/// Bytes of blocks in the contexts that compress; each holds buffers of four blocks.
const BLOCK_BYTES: usize = 16 << 20;

/// The contexts of one thread, made when first needed; those not used for longest are freed.
#[derive(Debug)]
pub(super) struct Pool {
    process: u32,
    clock: u64,
    made: u64,
    compressors: Vec<Entry<Size, Compressor>>,
    decompressors: Vec<Entry<(usize, usize), Decompressor>>,
}

/// What the buffers and threads of a context that compresses depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    block: usize,
    typesize: usize,
    threads: u16,
}

#[derive(Debug)]
struct Entry<K, C> {
    key: K,
    context: C,
    used: u64,
}

impl Pool {
    pub(super) fn new() -> Self {
        let process = std::process::id();
        Self { process, clock: 0, made: 0, compressors: Vec::new(), decompressors: Vec::new() }
    }

    /// A context that compresses with `params`. `None` where there is none to be had.
    pub(super) fn compressor(&mut self, params: &Params) -> Option<&mut Compressor> {
        self.tick();
        while self.compressors.iter().map(|e| e.key.block).sum::<usize>() > BLOCK_BYTES
            && drop_oldest(&mut self.compressors)
        {}
        let Params { block, typesize, threads, .. } = *params;
        let size = Size { block, typesize, threads };
        let compressor = lend(&mut self.compressors, size, self.clock, || {
            self.made += 1;
            Compressor::new(threads)
        })?;
        compressor.set(params);
        Some(compressor)
    }

    /// How many contexts were made so far: the first use of one is slow.
    pub(super) const fn made(&self) -> u64 {
        self.made
    }

    /// A context that decompresses blocks of that size and typesize.
    pub(super) fn decompressor(
        &mut self,
        block: usize,
        typesize: usize,
    ) -> Option<&mut Decompressor> {
        self.tick();
        lend(&mut self.decompressors, (block, typesize), self.clock, || {
            self.made += 1;
            Decompressor::new()
        })
    }

    /// Frees a context that must not be used again: a dictionary would stay in it.
    pub(super) fn forget_decompressor(&mut self, block: usize, typesize: usize) {
        self.decompressors.retain(|e| e.key != (block, typesize));
    }

    /// Contexts are lost in a fork: their threads are not there.
    fn tick(&mut self) {
        self.clock += 1;
        if self.process != std::process::id() {
            self.leak();
            self.process = std::process::id();
        }
    }

    fn leak(&mut self) {
        self.compressors.drain(..).for_each(std::mem::forget);
        self.decompressors.drain(..).for_each(std::mem::forget);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            self.leak();
        }
    }
}

fn lend<K: PartialEq, C>(
    entries: &mut Vec<Entry<K, C>>,
    key: K,
    used: u64,
    make: impl FnOnce() -> Option<C>,
) -> Option<&mut C> {
    let at = if let Some(at) = entries.iter().position(|e| e.key == key) {
        at
    } else {
        let context = make()?;
        if entries.len() >= KEPT {
            drop_oldest(entries);
        }
        entries.push(Entry { key, context, used });
        entries.len() - 1
    };
    entries[at].used = used;
    Some(&mut entries[at].context)
}

/// Frees the context that was not used for longest; false where there is none.
fn drop_oldest<K, C>(entries: &mut Vec<Entry<K, C>>) -> bool {
    let oldest = (0..entries.len()).min_by_key(|&at| entries[at].used);
    if let Some(at) = oldest {
        entries.swap_remove(at);
    }
    oldest.is_some()
}
