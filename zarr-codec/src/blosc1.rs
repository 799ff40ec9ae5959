//! Chunks of Blosc, the predecessor of Blosc2, which Zarr's core codec `blosc` stores: the only place that calls
//! C-Blosc.
#![allow(unsafe_code, reason = "C-Blosc is called through its C interface")]

use std::ffi::{CStr, c_int};
use std::time::Instant;

use btune::{BlockSize, Chunk, Codec, Cparams, Filter, Measurement, Probe, Probed, Prober};

use crate::error::Error;

/// The most bytes that a chunk may have.
pub(crate) const MAX_CHUNK_BYTES: usize = blosc_src::BLOSC_MAX_BUFFERSIZE as usize;
/// Bytes of the header, and what a chunk may be longer than its data.
pub(crate) const OVERHEAD: usize = blosc_src::BLOSC_MAX_OVERHEAD as usize;
/// The most threads that the library starts.
const MAX_THREADS: c_int = blosc_src::BLOSC_MAX_THREADS.cast_signed();

/// Compresses to a chunk, which replaces what is in `out`, and returns what it cost. The library stores the bytes
/// as they are where it saves nothing.
///
/// # Errors
/// [`Error::TooLarge`], [`Error::Memory`], and [`Error::Blosc1`] where the library fails.
pub(crate) fn compress(
    chunk: &Chunk<'_>,
    cparams: &Cparams,
    out: &mut Vec<u8>,
) -> Result<Measurement, Error> {
    let bytes = chunk.bytes();
    let nbytes = bytes.len();
    if nbytes > MAX_CHUNK_BYTES {
        return Err(Error::TooLarge { nbytes, most: MAX_CHUNK_BYTES });
    }
    let room = nbytes + OVERHEAD;
    out.clear();
    out.try_reserve(room).map_err(|_| Error::Memory(room))?;
    let begin = Instant::now();
    // SAFETY: `src` is valid for `nbytes` and `out` for writes of `room` bytes, and they do not overlap; the name
    // is a string. The function keeps its state on the stack, so that any number of threads may call it.
    let written = unsafe {
        blosc_src::blosc_compress_ctx(
            c_int::from(cparams.clevel.min(9)),
            shuffle(cparams.filter),
            chunk.typesize(),
            nbytes,
            bytes.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            room,
            name(cparams.codec).as_ptr(),
            block_size(cparams.block_size, nbytes),
            c_int::from(cparams.threads).clamp(1, MAX_THREADS),
        )
    };
    let ctime = seconds(begin);
    let cbytes = usize::try_from(written).ok().filter(|n| (OVERHEAD..=room).contains(n));
    let cbytes = cbytes.ok_or(Error::Blosc1(written))?;
    // SAFETY: the library has initialised that many bytes, for which there is room.
    unsafe { out.set_len(cbytes) };
    Ok(Measurement { nbytes, cbytes, ctime, dtime: None, special: false })
}

/// Decompresses to exactly `dest` a chunk that has been validated.
///
/// # Errors
/// [`Error::Blosc1`] where a block cannot be undone; what `dest` then holds is not defined.
pub(crate) fn decompress(chunk: &[u8], dest: &mut [u8]) -> Result<(), Error> {
    // SAFETY: the chunk is as long as its header says, beyond which the library does not read; `dest` is valid for
    // writes of its length, and they do not overlap.
    let written = unsafe {
        let (src, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
        blosc_src::blosc_decompress_ctx(src, to, dest.len(), 1)
    };
    if usize::try_from(written) == Ok(dest.len()) { Ok(()) } else { Err(Error::Blosc1(written)) }
}

fn time_decompress(chunk: &[u8], nbytes: usize, timed: &mut Vec<u8>) -> Option<f64> {
    if timed.len() < nbytes {
        timed.try_reserve(nbytes - timed.len()).ok()?;
        timed.resize(nbytes, 0);
    }
    let begin = Instant::now();
    decompress(chunk, &mut timed[..nbytes]).ok()?;
    Some(seconds(begin))
}

/// Measures for a tuner. Buffers are kept for the next probe.
#[derive(Debug, Default)]
pub(crate) struct Blosc1 {
    out: Vec<u8>,
    timed: Vec<u8>,
    /// Codecs that were used: the first use of one is slow.
    warm: Vec<Codec>,
}

impl Blosc1 {
    /// The seconds that a chunk of `nbytes` bytes takes to decompress, which [`compress`] wrote.
    pub(crate) fn time_decompress(&mut self, chunk: &[u8], nbytes: usize) -> Option<f64> {
        time_decompress(chunk, nbytes, &mut self.timed)
    }

    fn measure(&mut self, probe: &Probe<'_>) -> Option<Measurement> {
        let chunk = Chunk::new(probe.bytes, probe.typesize);
        let mut measurement = compress(&chunk, &probe.cparams, &mut self.out).ok()?;
        if probe.decompress {
            let nbytes = measurement.nbytes;
            measurement.dtime = Some(time_decompress(&self.out, nbytes, &mut self.timed)?);
        }
        Some(measurement)
    }
}

impl Prober for Blosc1 {
    fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
        let begin = Instant::now();
        if !self.warm.contains(&probe.cparams.codec) {
            self.warm.push(probe.cparams.codec);
            self.measure(probe)?;
        }
        let mut best = self.measure(probe)?;
        for _ in 1..probe.repeats {
            let next = self.measure(probe)?;
            let dtime = best.dtime.zip(next.dtime).map(|(a, b)| a.min(b));
            best = Measurement { ctime: best.ctime.min(next.ctime), dtime, ..next };
        }
        Some(Probed { measurement: best, seconds: seconds(begin) })
    }
}

/// Seconds since; above 0 also where the clock has not moved.
fn seconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64().max(1e-9)
}

fn name(codec: Codec) -> &'static CStr {
    match codec {
        Codec::BloscLz => c"blosclz",
        Codec::Lz4hc => c"lz4hc",
        Codec::Zlib => c"zlib",
        Codec::Zstd => c"zstd",
        _ => c"lz4",
    }
}

/// The library has no other filters; what bytedelta was chosen for, shuffle serves best.
fn shuffle(filter: Filter) -> c_int {
    let shuffle = match filter {
        Filter::Shuffle | Filter::ByteDelta => blosc_src::BLOSC_SHUFFLE,
        Filter::BitShuffle => blosc_src::BLOSC_BITSHUFFLE,
        _ => blosc_src::BLOSC_NOSHUFFLE,
    };
    shuffle.cast_signed()
}

/// 0 lets the library choose. It takes any size, and cuts it to what it can do.
fn block_size(block_size: BlockSize, nbytes: usize) -> usize {
    match block_size {
        BlockSize::WholeChunk => nbytes,
        BlockSize::Bytes(bytes) => (bytes as usize).min(nbytes),
        _ => 0,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use btune::SplitMode;
    use btune::blosc::Stored;

    use crate::decode::decode;

    /// What C-Blosc makes of a chunk.
    pub(crate) fn read(chunk: &[u8]) -> Vec<u8> {
        let mut nbytes = 0;
        // SAFETY: the chunk is valid for its length.
        let valid = unsafe {
            blosc_src::blosc_cbuffer_validate(chunk.as_ptr().cast(), chunk.len(), &raw mut nbytes)
        };
        assert_eq!(valid, 0);
        let mut bytes = vec![0; nbytes];
        decompress(chunk, &mut bytes).unwrap();
        bytes
    }

    fn cparams(codec: Codec, filter: Filter, clevel: u8, block_size: BlockSize) -> Cparams {
        let split = SplitMode::ForwardCompat;
        Cparams { codec, filter, clevel, split, block_size, threads: 1 }
    }

    /// Bytes that are partly smooth, partly noise.
    fn data(random: &mut fastrand::Rng, nbytes: usize) -> Vec<u8> {
        let noise = random.u8(..);
        (0..nbytes)
            .map(|i| if i % 5 == 0 { random.u8(..) & noise } else { (i / 9) as u8 })
            .collect()
    }

    /// Every length and typesize, with every shuffle and codec, is read by C-Blosc and by C-Blosc2 behind our
    /// validation.
    #[test]
    fn five_thousand_odd_chunks_are_read_by_both_libraries() {
        let mut random = fastrand::Rng::with_seed(20);
        let mut chunk = Vec::new();
        let sizes = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 31, 32, 255];
        let filters = [Filter::None, Filter::Shuffle, Filter::BitShuffle];
        let blocks = [BlockSize::Auto, BlockSize::WholeChunk, BlockSize::Bytes(3000)];
        for case in 0..5000 {
            let nbytes = match case % 10 {
                0..5 => random.usize(1..300),
                5..9 => random.usize(300..20_000),
                _ => random.usize(20_000..300_000),
            };
            let bytes = data(&mut random, nbytes);
            let typesize = sizes[random.usize(..sizes.len())];
            let params = cparams(
                Codec::ALL[random.usize(..Codec::ALL.len())],
                filters[case % 3],
                [0, 1, 3, 5, 9][random.usize(..5)],
                blocks[random.usize(..blocks.len())],
            );
            let what = format!("{nbytes} bytes, typesize {typesize}, {params}");
            let m = compress(&Chunk::new(&bytes, typesize), &params, &mut chunk).unwrap();
            assert_eq!((m.nbytes, m.cbytes), (nbytes, chunk.len()), "{what}");
            assert!(chunk.len() <= nbytes + OVERHEAD, "{what}");
            assert!(read(&chunk) == bytes, "C-Blosc: {what}");
            let back = decode(&chunk).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(back == bytes, "C-Blosc2: {what}");
        }
    }

    #[test]
    fn what_cannot_be_compressed_is_stored() {
        let mut random = fastrand::Rng::with_seed(1);
        let bytes: Vec<u8> = (0..5000).map(|_| random.u8(..)).collect();
        let mut chunk = Vec::new();
        for clevel in [0, 9] {
            let params = cparams(Codec::Zstd, Filter::BitShuffle, clevel, BlockSize::Auto);
            let m = compress(&Chunk::new(&bytes, 8), &params, &mut chunk).unwrap();
            assert_eq!(m.cbytes, bytes.len() + OVERHEAD);
            assert_eq!(chunk[OVERHEAD..], bytes);
        }
        let m = compress(&Chunk::new(&[], 8), &Cparams::STORE, &mut chunk).unwrap();
        assert_eq!((m.nbytes, m.cbytes), (0, OVERHEAD));
        assert_eq!(Stored::parse(&chunk).unwrap().nbytes(), 0);
    }

    #[test]
    fn whole_chunks_are_one_block_and_threads_change_nothing() {
        let bytes = data(&mut fastrand::Rng::with_seed(2), 400_000);
        let whole = cparams(Codec::Zstd, Filter::BitShuffle, 3, BlockSize::WholeChunk);
        let (mut chunk, mut threaded) = (Vec::new(), Vec::new());
        compress(&Chunk::new(&bytes, 4), &whole, &mut chunk).unwrap();
        assert_eq!(Stored::parse(&chunk).unwrap().header().block_size, bytes.len());
        let auto = Cparams { block_size: BlockSize::Auto, clevel: 1, ..whole };
        compress(&Chunk::new(&bytes, 4), &auto, &mut chunk).unwrap();
        assert!(Stored::parse(&chunk).unwrap().header().block_size < bytes.len());
        let two = Cparams { threads: 2, ..auto };
        compress(&Chunk::new(&bytes, 4), &two, &mut threaded).unwrap();
        assert_eq!(read(&threaded), bytes);
    }

    #[test]
    fn probes_measure_both_ways() {
        let bytes = data(&mut fastrand::Rng::with_seed(3), 50_000);
        let cparams = cparams(Codec::Lz4, Filter::Shuffle, 5, BlockSize::Auto);
        let probe = Probe { bytes: &bytes, typesize: 4, cparams, decompress: true, repeats: 3 };
        let probed = Blosc1::default().probe(&probe).unwrap();
        let m = probed.measurement;
        assert!(m.cbytes < m.nbytes && m.nbytes == 50_000 && m.dtime.is_some());
        assert!(probed.seconds >= 3.0 * (m.ctime + m.dtime.unwrap()));
    }
}
