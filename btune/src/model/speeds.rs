//! How fast a machine is, so that times measured on one say something of another.

use crate::cparams::{BlockSize, Codec, Cparams, Filter, SplitMode};
use crate::tuner::{Probe, Prober};

/// Names what is measured, and how: a model says what its times are relative to.
pub const CALIBRATION_ID: &str = "btune-speeds-2";

/// Bytes that are compressed.
const BYTES: usize = 8 << 10;
/// What is compressed with: a codec that matches bytes, and one that also codes them by their frequency. How much
/// faster one machine is than another differs between these two kinds, and much less within them. To measure more
/// would take longer than many a run.
const CODECS: [(Codec, u8); 2] = [(Codec::Lz4, 5), (Codec::Zstd, 1)];

/// Seconds per byte to compress and to decompress, with lz4 and with zstd, data of 8 KiB that shrink to a quarter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speeds {
    seconds: [(f64, f64); CODECS.len()],
}

impl Speeds {
    /// Measures this machine, in about 0.1 ms; none if a codec does not work.
    pub fn measure(prober: &mut dyn Prober) -> Option<Self> {
        let bytes = data();
        let mut seconds = [(0.0, 0.0); CODECS.len()];
        for ((codec, clevel), seconds) in CODECS.into_iter().zip(&mut seconds) {
            let cparams = Cparams {
                codec,
                filter: Filter::Shuffle,
                clevel,
                split: SplitMode::Never,
                block_size: BlockSize::WholeChunk,
                threads: 1,
            };
            let probe = Probe { bytes: &bytes, typesize: 4, cparams, decompress: true, repeats: 2 };
            let measured = prober.probe(&probe)?.measurement;
            let n = bytes.len() as f64;
            *seconds = (measured.ctime / n, measured.dtime? / n);
        }
        Some(Self { seconds })
    }

    /// How many times as long this machine takes as `other` to compress and to decompress with the codec.
    pub(super) fn against(&self, other: &Self, cparams: &Cparams) -> (f64, f64) {
        let at = usize::from(matches!(cparams.codec, Codec::Zlib | Codec::Zstd));
        let (here, there) = (self.seconds[at], other.seconds[at]);
        (here.0 / there.0, here.1 / there.1)
    }

    /// Nanoseconds per byte, lz4 first: `0.512 0.201; 0.940 0.552`.
    #[must_use]
    pub fn print(&self) -> String {
        let print = |(compress, decompress): &(f64, f64)| {
            format!("{:.4} {:.4}", compress * 1e9, decompress * 1e9)
        };
        self.seconds.iter().map(print).collect::<Vec<_>>().join("; ")
    }

    /// The reverse; none if a number is missing or out of range (1 TB/s to 100 kB/s).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            text.parse().ok().filter(|ns: &f64| (1e-3..=1e4).contains(ns)).map(|ns| ns * 1e-9)
        };
        let pair = |text: &str| {
            let (compress, decompress) = text.split_once(' ')?;
            Some((number(compress)?, number(decompress)?))
        };
        let seconds: Option<Vec<(f64, f64)>> = text.split("; ").map(pair).collect();
        Some(Self { seconds: seconds?.try_into().ok()? })
    }
}

/// A saw-tooth with some noise in it, as numbers of four bytes.
fn data() -> Vec<u8> {
    let mut noise = 1u32;
    let mut number = |i: u32| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (i * 13 % 50_000) ^ (noise >> 29)
    };
    (0..BYTES as u32 / 4).flat_map(|i| number(i).to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blosc::Backend;

    #[test]
    fn this_machine_is_measured_in_a_short_time() {
        let mut backend = Backend::new();
        let start = std::time::Instant::now();
        let speeds = Speeds::measure(&mut backend).unwrap();
        let took = start.elapsed();
        println!("{took:?} {}", speeds.print());
        assert!(took.as_millis() < 200, "{took:?}");
        let again = Speeds::parse(&speeds.print()).unwrap();
        for ((a, b), (c, d)) in again.seconds.iter().zip(&speeds.seconds) {
            assert!((a / c - 1.0).abs() < 0.1 && (b / d - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn what_is_no_speed_is_refused() {
        let good = "0.5 0.2; 0.5 0.2";
        assert!(Speeds::parse(good).is_some());
        for bad in [
            "",
            "0.5 0.2",
            &format!("{good}; 1 1"),
            &good.replacen("0.5", "0", 1),
            &good.replacen("0.5", "inf", 1),
            &good.replacen("0.5", "-1", 1),
            &good.replacen(' ', "", 1),
        ] {
            assert!(Speeds::parse(bad).is_none(), "{bad}");
        }
    }
}
