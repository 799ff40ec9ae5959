//! The text of the trace. The doors print it; this module has no I/O.

use std::fmt::Write as _;

use serde::Serialize;

use crate::config::{Config, TraceFormat};
use crate::cparams::{Cparams, SplitMode};
use crate::search::{Origin, Readapt, State};

const RULE: &str =
    "-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=";
const HEADER: &str = "|    Codec   | Filter | Split | C.Level | C.Threads | D.Threads |  S.Score  |  C.Ratio   |   Btune State   | Readapt | Winner";

/// What became of one chunk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its number, from 0, among the chunks that were told.
    pub chunk: u64,
    /// What it was compressed with.
    #[serde(flatten)]
    pub cparams: Cparams,
    /// Where the parameters come from.
    pub origin: Origin,
    /// The readapt it took part in.
    pub readapt: Readapt,
    /// What the search was at.
    pub state: State,
    /// Uncompressed bytes.
    pub nbytes: usize,
    /// Compressed bytes.
    pub cbytes: usize,
    /// Seconds to compress.
    pub ctime: f64,
    /// Seconds to decompress, where it was measured.
    pub dtime: Option<f64>,
    /// GB/s of uncompressed data over the time that counts, larger is better.
    pub score: f64,
    /// What is minimised; see [`Objective`](crate::Objective).
    pub j: f64,
    /// `W`: the first chunk with parameters that have just become the best; `-`: any other, also one of a challenger; `S`: a chunk of
    /// one repeated value, which cannot win.
    pub winner: char,
    /// The kind of data it belongs to, numbered from 0.
    pub regime: u64,
    /// Seconds spent on probes before it.
    pub probe_time: f64,
}

/// The settings and the head of the table, without a newline at the end. In JSON there is none.
#[must_use]
pub fn banner(config: &Config) -> String {
    let behaviour = &config.behaviour;
    let tradeoff = if config.tradeoff.is_lossy() {
        let t = &config.tradeoff;
        format!("({:.6}, {:.6}, {:.6})", t.ratio(), t.speed(), t.quality())
    } else {
        format!("{:.6}", config.tradeoff.ratio())
    };
    format!(
        "{RULE}\nBtune version: {}\n\
         Performance Mode: {}, Compression tradeoff: {tradeoff}, Bandwidth: {}\n\
         Behaviour: Waits - {}, Softs - {}, Hards - {}, Repeat Mode - {}\n{HEADER}",
        env!("CARGO_PKG_VERSION"),
        config.perf_mode.name(),
        bandwidth(config.bandwidth),
        behaviour.waits,
        behaviour.softs,
        behaviour.hards,
        behaviour.repeat.name(),
    )
}

impl Row {
    /// The chunk's line, without a newline; `dataset` names the data set it belongs to, in JSON.
    #[must_use]
    pub fn line(&self, format: TraceFormat, dataset: &str) -> String {
        match format {
            TraceFormat::Table => self.table(),
            TraceFormat::Json => self.json(dataset),
        }
    }

    fn table(&self) -> String {
        let mut line = String::new();
        let c = &self.cparams;
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "| {:>10} | {:>6} | {:>5} | {:>7} | {:>9} | {:>9} | {:>9.3} | {:>9.2}x | {:>15} | {:>7} | {}",
            c.codec.name(),
            c.filter.code(),
            u8::from(c.split == SplitMode::Always),
            c.clevel,
            c.threads,
            c.threads,
            self.score,
            self.nbytes as f64 / self.cbytes as f64,
            self.state.name(),
            self.readapt.name(),
            self.winner,
        );
        line
    }

    fn json(&self, dataset: &str) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            dataset: &'a str,
            #[serde(flatten)]
            row: &'a Row,
        }
        // A row holds numbers and plain text only: serialising it cannot fail.
        serde_json::to_string(&Line { dataset, row: self }).unwrap_or_default()
    }
}

/// A bandwidth in kB/s with the largest unit that leaves at least 1.
fn bandwidth(kilobytes: u32) -> String {
    let (unit, divisor) = match kilobytes {
        0..1024 => ("kB/s", 1.0),
        1024..1_048_576 => ("MB/s", 1024.0),
        1_048_576..1_073_741_824 => ("GB/s", 1_048_576.0),
        _ => ("TB/s", 1_073_741_824.0),
    };
    format!("{} {unit}", f64::from(kilobytes) / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cparams::{BlockSize, Codec, Filter};

    fn row() -> Row {
        Row {
            chunk: 7,
            cparams: Cparams {
                codec: Codec::Lz4,
                filter: Filter::ByteDelta,
                clevel: 5,
                split: SplitMode::Always,
                block_size: BlockSize::Auto,
                threads: 16,
            },
            origin: Origin::Genetic,
            readapt: Readapt::Hard,
            state: State::CodecFilter,
            nbytes: 397,
            cbytes: 100,
            ctime: 0.5,
            dtime: None,
            score: 0.162,
            j: -21.5,
            winner: 'W',
            regime: 0,
            probe_time: 0.25,
        }
    }

    #[test]
    fn the_table_has_the_columns_of_btune() {
        let line = row().line(TraceFormat::Table, "k");
        assert_eq!(
            line,
            "|        lz4 |     35 |     1 |       5 |        16 |        16 |     0.162 |      3.97x |    CODEC_FILTER |    HARD | W"
        );
        assert_eq!(line.split('|').count(), HEADER.split('|').count());
    }

    #[test]
    fn json_is_one_object_with_all_fields() {
        let line = row().line(TraceFormat::Json, "a \"quoted\" key");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["dataset"], "a \"quoted\" key");
        assert_eq!(value["codec"], "lz4");
        assert_eq!(value["block_size"], "auto");
        assert_eq!(value["state"], "CODEC_FILTER");
        assert_eq!(value["winner"], "W");
        assert_eq!(value["dtime"], serde_json::Value::Null);
        assert!(!line.contains('\n'));
    }

    #[test]
    fn the_banner_shows_the_settings() {
        let text = banner(&Config::default());
        assert!(text.contains(
            "Performance Mode: COMP, Compression tradeoff: 0.500000, Bandwidth: 20 GB/s"
        ));
        assert!(text.contains("Behaviour: Waits - 0, Softs - 5, Hards - 10, Repeat Mode - STOP"));
        for (kilobytes, shown) in [(1, "1 kB/s"), (10 * 1024, "10 MB/s"), (3 << 30, "3 TB/s")] {
            assert_eq!(bandwidth(kilobytes), shown);
        }
    }
}
