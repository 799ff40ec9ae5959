//! Measuring all classes of parameters on a piece.

use crate::chunk::Chunk;
use crate::cparams::Cparams;
use crate::tuner::{Probe, Prober};

/// A measurement that takes less than this many seconds is made three times, and the least counts.
const SHORT: f64 = 4e-3;

/// For each class compressed bytes per byte, and seconds per byte to compress and to decompress; none where a
/// class cannot be measured.
pub fn sweep(
    bytes: &[u8],
    typesize: usize,
    classes: &[Cparams],
    prober: &mut dyn Prober,
) -> Option<Vec<[f32; 3]>> {
    let chunk = Chunk::new(bytes, typesize);
    classes.iter().map(|cparams| measure(&chunk, *cparams, prober)).collect()
}

fn measure(chunk: &Chunk<'_>, cparams: Cparams, prober: &mut dyn Prober) -> Option<[f32; 3]> {
    let mut probe = Probe {
        bytes: chunk.bytes(),
        typesize: chunk.typesize(),
        cparams,
        decompress: true,
        repeats: 1,
    };
    let first = prober.probe(&probe)?.measurement;
    let mut times = (first.ctime, first.dtime?);
    if first.ctime < SHORT {
        probe.repeats = 3;
        let again = prober.probe(&probe)?.measurement;
        times = (times.0.min(again.ctime), times.1.min(again.dtime?));
    }
    let n = first.nbytes.max(1) as f64;
    Some([(first.cbytes as f64 / n) as f32, (times.0 / n) as f32, (times.1 / n) as f32])
}
