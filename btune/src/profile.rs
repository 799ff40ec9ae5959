//! What was learnt in one process, for the next one to start from.

use serde::{Deserialize, Serialize};

use crate::chunk::Sketch;
use crate::config::{Config, PerfMode};
use crate::cparams::{BlockSize, Codec, Cparams, Filter, SplitMode};
use crate::error::ProfileError;

/// The version of the text.
const VERSION: u32 = 1;
/// The most kinds of data that a profile tells of.
const MAX_ENTRIES: usize = 256;
/// The largest difference of tradeoffs that are taken for the same.
const SAME_TRADEOFF: f64 = 0.005;

/// The best parameters known for some kinds of data. A small JSON text:
///
/// ```
/// let text = r#"{"btune_profile": 1, "kinds": [{"typesize": 1, "tradeoff": 0.5, "perf_mode": "COMP",
///     "sketch": [0.5, 0.1, 0.9], "nbytes": 40000000, "codec": "zstd", "filter": "bitshuffle", "clevel": 2,
///     "split": "never", "block_size": "auto"}]}"#;
/// let profile = btune::Profile::from_json(text)?;
/// assert!(btune::Profile::from_json("{}").is_err());
/// assert_eq!(btune::Profile::from_json(&profile.to_json())?, profile);
/// # Ok::<(), btune::ProfileError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    kinds: Vec<Kind>,
}

/// One kind of data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kind {
    /// The tradeoff it was learnt at.
    pub(crate) tradeoff: f64,
    /// The mode it was learnt in.
    pub(crate) perf_mode: PerfMode,
    /// What its chunks look like.
    pub(crate) sketch: Sketch,
    /// Bytes of the chunks that it was learnt from.
    pub(crate) nbytes: u64,
    /// The best parameters.
    pub(crate) best: Cparams,
}

impl Profile {
    /// Reads what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// [`ProfileError`] for anything else, also for what another version wrote.
    pub fn from_json(text: &str) -> Result<Self, ProfileError> {
        let file: File =
            serde_json::from_str(text).map_err(|error| ProfileError::Text(error.to_string()))?;
        if file.btune_profile != VERSION {
            return Err(ProfileError::Version(file.btune_profile));
        }
        if file.kinds.len() > MAX_ENTRIES {
            return Err(ProfileError::Field("kinds"));
        }
        let kinds = file.kinds.into_iter().map(Kind::try_from).collect::<Result<_, _>>()?;
        Ok(Self { kinds })
    }

    /// The text, in one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let kinds = self.kinds.iter().map(Stored::from).collect();
        // Numbers and plain text only: serialising it cannot fail.
        serde_json::to_string(&File { btune_profile: VERSION, kinds }).unwrap_or_default()
    }

    /// Adds what another process has learnt; of two words on one kind, the one from more data counts.
    pub fn merge(&mut self, other: Self) {
        for kind in other.kinds {
            self.add(kind);
        }
    }

    pub(crate) fn add(&mut self, kind: Kind) {
        let same = self.kinds.iter_mut().find(|known| {
            known.perf_mode == kind.perf_mode
                && (known.tradeoff - kind.tradeoff).abs() < SAME_TRADEOFF
                && known.sketch.is_near(&kind.sketch)
        });
        match same {
            Some(known) if known.nbytes >= kind.nbytes => {}
            Some(known) => *known = kind,
            None => {
                if self.kinds.len() == MAX_ENTRIES {
                    self.kinds.remove(0);
                }
                self.kinds.push(kind);
            }
        }
    }

    /// The best parameters known for data that look like this.
    pub(crate) fn best(&self, config: &Config, sketch: &Sketch) -> Option<Cparams> {
        let fits = |kind: &&Kind| {
            kind.perf_mode == config.perf_mode
                && (kind.tradeoff - config.tradeoff.t()).abs() < SAME_TRADEOFF
                && kind.sketch.is_near(sketch)
        };
        let near = self.kinds.iter().filter(fits);
        let nearest =
            near.min_by(|a, b| a.sketch.distance(sketch).total_cmp(&b.sketch.distance(sketch)));
        nearest.map(|kind| kind.best)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    btune_profile: u32,
    kinds: Vec<Stored>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    typesize: usize,
    tradeoff: f64,
    perf_mode: String,
    sketch: Vec<f32>,
    nbytes: u64,
    codec: String,
    filter: String,
    clevel: u8,
    split: String,
    block_size: String,
}

impl From<&Kind> for Stored {
    fn from(kind: &Kind) -> Self {
        let best = &kind.best;
        Self {
            typesize: kind.sketch.typesize(),
            tradeoff: kind.tradeoff,
            perf_mode: kind.perf_mode.name().to_owned(),
            sketch: kind.sketch.values().to_vec(),
            nbytes: kind.nbytes,
            codec: best.codec.name().to_owned(),
            filter: best.filter.name().to_owned(),
            clevel: best.clevel,
            split: best.split.name().to_owned(),
            block_size: best.block_size.to_string(),
        }
    }
}

impl TryFrom<Stored> for Kind {
    type Error = ProfileError;

    fn try_from(stored: Stored) -> Result<Self, ProfileError> {
        let field = |name| move || ProfileError::Field(name);
        let named = |known: &str, text: &str| known == text;
        if !(1..=255).contains(&stored.typesize) {
            return Err(ProfileError::Field("typesize"));
        }
        if !(0.0..=1.0).contains(&stored.tradeoff) {
            return Err(ProfileError::Field("tradeoff"));
        }
        if stored.clevel > 9 {
            return Err(ProfileError::Field("clevel"));
        }
        let best = Cparams {
            codec: Codec::ALL
                .into_iter()
                .find(|c| named(c.name(), &stored.codec))
                .ok_or_else(field("codec"))?,
            filter: Filter::ALL
                .into_iter()
                .find(|f| f.is_lossless() && named(f.name(), &stored.filter))
                .ok_or_else(field("filter"))?,
            clevel: stored.clevel,
            split: SplitMode::ALL
                .into_iter()
                .find(|s| named(s.name(), &stored.split))
                .ok_or_else(field("split"))?,
            block_size: block_size(&stored.block_size).ok_or_else(field("block_size"))?,
            threads: 1,
        };
        Ok(Self {
            tradeoff: stored.tradeoff,
            perf_mode: PerfMode::parse(&stored.perf_mode)
                .map_err(|_| ProfileError::Field("perf_mode"))?,
            sketch: Sketch::from_values(stored.typesize, &stored.sketch)
                .ok_or_else(field("sketch"))?,
            nbytes: stored.nbytes,
            best,
        })
    }
}

fn block_size(text: &str) -> Option<BlockSize> {
    let known = [BlockSize::Auto, BlockSize::Doubled, BlockSize::WholeChunk];
    let named = known.into_iter().find(|size| size.to_string() == text);
    let bytes = || text.parse().ok().filter(|&n: &u32| n > 0).map(BlockSize::Bytes);
    named.or_else(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;

    fn kind(byte: u8, nbytes: u64, clevel: u8) -> Kind {
        let bytes: Vec<u8> = (0..40_000u32).map(|i| (i * i / 7) as u8 & byte).collect();
        Kind {
            tradeoff: 0.5,
            perf_mode: PerfMode::Comp,
            sketch: Sketch::of(&Chunk::new(&bytes, 4)),
            nbytes,
            best: Cparams { clevel, block_size: BlockSize::Bytes(4096), ..Cparams::STORE },
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let mut profile = Profile::default();
        profile.add(kind(0xff, 3, 5));
        profile.add(kind(0, 4, 6));
        assert_eq!(Profile::from_json(&profile.to_json()), Ok(profile));
    }

    #[test]
    fn more_data_count_more_and_only_near_data_count() {
        let mut profile = Profile::default();
        profile.add(kind(0xff, 3, 5));
        let mut other = Profile::default();
        other.add(kind(0xff, 2, 6));
        profile.merge(other.clone());
        let sketch = kind(0xff, 0, 0).sketch;
        let best = |p: &Profile, config: &Config| p.best(config, &sketch).map(|c| c.clevel);
        assert_eq!(best(&profile, &Config::default()), Some(5));
        other.add(kind(0xff, 9, 7));
        profile.merge(other);
        assert_eq!(best(&profile, &Config::default()), Some(7));
        let decomp = Config { perf_mode: PerfMode::Decomp, ..Config::default() };
        assert_eq!(best(&profile, &decomp), None);
        assert_eq!(profile.best(&Config::default(), &kind(0, 0, 0).sketch), None);
    }

    #[test]
    fn what_no_writer_wrote_is_refused() {
        let mut profile = Profile::default();
        profile.add(kind(0xff, 3, 5));
        let good = profile.to_json();
        for (from, to) in [
            ("\"btune_profile\":1", "\"btune_profile\":2"),
            ("\"typesize\":4", "\"typesize\":0"),
            ("\"typesize\":4", "\"typesize\":8"),
            ("\"tradeoff\":0.5", "\"tradeoff\":1.5"),
            ("\"clevel\":5", "\"clevel\":10"),
            ("blosclz", "gzip"),
            ("nofilter", "trunc_prec"),
            ("4096", "0"),
            ("COMP", "FAST"),
            ("\"nbytes\"", "\"other\""),
            ("\"sketch\":[", "\"sketch\":[2.0,"),
        ] {
            assert!(good.contains(from), "{from}");
            assert!(Profile::from_json(&good.replace(from, to)).is_err(), "{from}");
        }
        assert!(Profile::from_json("").is_err());
    }
}
