//! The record of how a chunk was compressed, stored beside it.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::config::{PerfMode, Tradeoff};
use crate::cparams::{Codec, Filter, Pipeline, SplitMode};
use crate::error::RecordError;
use crate::search::Origin;

/// Units of a stored weight.
const SCALE: f64 = 10_000.0;

/// How a chunk was compressed, and what for. It is stored in 32 bytes:
///
/// | bytes | field |
/// |---|---|
/// | 0 | version: 1 |
/// | 1, 2 | codec, codec metadata |
/// | 3 | compression level |
/// | 4 | split: 1 the blocks are split, 2 they are not |
/// | 5, 6 | performance mode, origin |
/// | 7 | flags: 0 |
/// | 8–13, 14–19 | filters, filter metadata |
/// | 20–23 | block size in bytes, little endian |
/// | 24–25 | threads |
/// | 26–27, 28–29 | weights of ratio and quality, in 1/10000 |
/// | 30–31 | 0 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Codec, as in `blosc2.h`.
    pub codec: u8,
    /// Codec metadata.
    pub codec_meta: u8,
    /// Filter codes, one per slot.
    pub filters: [u8; 6],
    /// Filter metadata, one byte per slot.
    pub filters_meta: [u8; 6],
    /// Compression level, 0 (stored) to 9.
    pub clevel: u8,
    /// Whether blocks are split into one stream per byte of the typesize: 1 yes, 2 no.
    pub split: u8,
    /// Bytes per block.
    pub block_size: u32,
    /// Threads that compressed, from 1.
    pub threads: u16,
    /// Weight of size in the tradeoff, 0 to 10000.
    pub ratio: u16,
    /// Weight of quality in the tradeoff, 0 to 10000.
    pub quality: u16,
    /// Which time counted.
    pub perf_mode: PerfMode,
    /// Where the parameters came from.
    pub origin: Origin,
}

impl Record {
    /// Name of the metalayer that holds the record.
    pub const NAME: &str = "btune";
    /// Bytes of a record.
    pub const LEN: usize = 32;
    /// Version that is written.
    pub const VERSION: u8 = 1;

    /// Sets the weights of a tradeoff.
    #[must_use]
    pub fn with_tradeoff(mut self, tradeoff: &Tradeoff) -> Self {
        let units = |weight: f32| (f64::from(weight).clamp(0.0, 1.0) * SCALE).round() as u16;
        self.ratio = units(tradeoff.ratio());
        self.quality = units(tradeoff.quality());
        self
    }

    /// The filters and their metadata.
    #[must_use]
    pub fn pipeline(&self) -> Pipeline {
        Pipeline { filters: self.filters, metas: self.filters_meta }
    }

    /// The stored form.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..7].copy_from_slice(&[
            Self::VERSION,
            self.codec,
            self.codec_meta,
            self.clevel,
            self.split,
            self.perf_mode.code(),
            self.origin.code(),
        ]);
        bytes[8..14].copy_from_slice(&self.filters);
        bytes[14..20].copy_from_slice(&self.filters_meta);
        bytes[20..24].copy_from_slice(&self.block_size.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.threads.to_le_bytes());
        bytes[26..28].copy_from_slice(&self.ratio.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.quality.to_le_bytes());
        bytes
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// [`RecordError`] for anything that [`Record::to_bytes`] does not write.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let b: &[u8; Self::LEN] = bytes.try_into().map_err(|_| RecordError::Length(bytes.len()))?;
        if b[0] != Self::VERSION {
            return Err(RecordError::Version(b[0]));
        }
        let u16_at = |at: usize| u16::from_le_bytes([b[at], b[at + 1]]);
        let record = Self {
            codec: b[1],
            codec_meta: b[2],
            filters: [b[8], b[9], b[10], b[11], b[12], b[13]],
            filters_meta: [b[14], b[15], b[16], b[17], b[18], b[19]],
            clevel: b[3],
            split: b[4],
            block_size: u32::from_le_bytes([b[20], b[21], b[22], b[23]]),
            threads: u16_at(24),
            ratio: u16_at(26),
            quality: u16_at(28),
            perf_mode: PerfMode::from_code(b[5]).ok_or(RecordError::Field("performance mode"))?,
            origin: Origin::from_code(b[6]).ok_or(RecordError::Field("origin"))?,
        };
        record.check()?;
        match b[7] | b[30] | b[31] {
            0 => Ok(record),
            _ => Err(RecordError::Field("a reserved byte")),
        }
    }

    fn check(&self) -> Result<(), RecordError> {
        let field = |ok: bool, name| if ok { Ok(()) } else { Err(RecordError::Field(name)) };
        field(Codec::from_code(self.codec.into()).is_ok(), "codec")?;
        field(self.clevel <= 9, "compression level")?;
        field(matches!(self.split, 1 | 2), "split")?;
        field((1..=i32::MAX as u32).contains(&self.block_size), "block size")?;
        field((1..=i16::MAX as u16).contains(&self.threads), "threads")?;
        field(self.ratio <= 10_000 && self.quality <= 10_000 - self.ratio, "tradeoff")
    }
}

/// The names of the filters that do something, joined by `+`; `nofilter` for none.
fn filter_names(filters: [u8; 6]) -> String {
    let name = |code: u8| match Filter::from_code(code.into()) {
        Ok(filter) => filter.name().to_owned(),
        Err(_) => format!("filter{code}"),
    };
    let names: Vec<_> = filters.into_iter().filter(|&code| code != 0).map(name).collect();
    if names.is_empty() { Filter::None.name().to_owned() } else { names.join("+") }
}

fn codec_name(code: u8) -> &'static str {
    Codec::from_code(code.into()).map_or("?", Codec::name)
}

fn split_name(code: u8) -> &'static str {
    SplitMode::from_code(code.into()).map_or("?", SplitMode::name)
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.clevel == 0 {
            f.write_str("stored")?;
        } else {
            let (codec, filters) = (codec_name(self.codec), filter_names(self.filters));
            let split = split_name(self.split);
            write!(f, "{codec}-{} {filters} split:{split}", self.clevel)?;
        }
        write!(f, " blocks:{} threads:{}", self.block_size, self.threads)?;
        write!(f, " tradeoff:{}", f64::from(self.ratio) / SCALE)?;
        if self.quality > 0 {
            write!(f, " quality:{}", f64::from(self.quality) / SCALE)?;
        }
        write!(f, " {} {}", self.perf_mode.name(), self.origin.name())
    }
}

#[derive(Serialize)]
struct Fields {
    codec: &'static str,
    codec_meta: u8,
    clevel: u8,
    filters: String,
    filters_meta: [u8; 6],
    split: &'static str,
    block_size: u32,
    threads: u16,
    ratio: f64,
    quality: f64,
    perf_mode: PerfMode,
    origin: &'static str,
}

impl Serialize for Record {
    /// An object with names instead of codes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Fields {
            codec: codec_name(self.codec),
            codec_meta: self.codec_meta,
            clevel: self.clevel,
            filters: filter_names(self.filters),
            filters_meta: self.filters_meta,
            split: split_name(self.split),
            block_size: self.block_size,
            threads: self.threads,
            ratio: f64::from(self.ratio) / SCALE,
            quality: f64::from(self.quality) / SCALE,
            perf_mode: self.perf_mode,
            origin: self.origin.name(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            codec: 5,
            codec_meta: 0,
            filters: [0, 0, 0, 0, 1, 35],
            filters_meta: [0, 0, 0, 0, 0, 8],
            clevel: 7,
            split: 2,
            block_size: 0x0102_0304,
            threads: 2,
            ratio: 3000,
            quality: 6000,
            perf_mode: PerfMode::Balanced,
            origin: Origin::Hint,
        }
    }

    #[test]
    fn the_stored_form_is_fixed() {
        let bytes = [
            1, 5, 0, 7, 2, 2, 2, 0, 0, 0, 0, 0, 1, 35, 0, 0, 0, 0, 0, 8, 4, 3, 2, 1, 2, 0, 0xb8,
            0x0b, 0x70, 0x17, 0, 0,
        ];
        assert_eq!(record().to_bytes(), bytes);
        assert_eq!(Record::from_bytes(&bytes), Ok(record()));
    }

    #[test]
    fn what_no_writer_stores_is_refused() {
        let good = record().to_bytes();
        assert_eq!(Record::from_bytes(&good[..31]), Err(RecordError::Length(31)));
        let bad = [
            (0, 2),
            (1, 3),
            (1, 6),
            (3, 10),
            (4, 0),
            (4, 3),
            (5, 3),
            (6, 4),
            (7, 1),
            (23, 0x80),
            (25, 0x80),
            (27, 0xff),
            (29, 0xff),
            (30, 1),
            (31, 1),
        ];
        for (at, value) in bad {
            let mut bytes = good;
            bytes[at] = value;
            assert!(Record::from_bytes(&bytes).is_err(), "byte {at} = {value}");
        }
    }

    #[test]
    fn people_and_programs_can_read_it() {
        let line = record().to_string();
        assert_eq!(
            line,
            "zstd-7 shuffle+bytedelta split:never blocks:16909060 threads:2 tradeoff:0.3 \
             quality:0.6 BALANCED hint"
        );
        let stored = Record { clevel: 0, quality: 0, ..record() }.to_string();
        assert_eq!(stored, "stored blocks:16909060 threads:2 tradeoff:0.3 BALANCED hint");
        let json = serde_json::to_string(&record()).unwrap();
        assert!(json.starts_with(
            r#"{"codec":"zstd","codec_meta":0,"clevel":7,"filters":"shuffle+bytedelta","#
        ));
        assert!(
            json.ends_with(r#""ratio":0.3,"quality":0.6,"perf_mode":"BALANCED","origin":"hint"}"#)
        );
    }
}
