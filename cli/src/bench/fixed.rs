//! Fixed parameters: all of them, and those that may be the best of a run.

use anyhow::{Context, Result};
use btune::blosc::Backend;
use btune::train::sweep;
use btune::{BlockSize, Codec, Config, Cparams, Filter, Measurement, Objective, SplitMode, Totals};

use super::series::Series;

/// What hdf5plugin and others write, where nothing is chosen.
pub(super) const STOCK: Cparams = Cparams {
    codec: Codec::Zstd,
    filter: Filter::Shuffle,
    clevel: 5,
    split: SplitMode::Always,
    block_size: BlockSize::Auto,
    threads: 1,
};
/// Levels between them cost what is between.
const LEVELS: [u8; 6] = [1, 2, 3, 5, 6, 9];
const FILTERS: [Filter; 4] = [Filter::None, Filter::Shuffle, Filter::BitShuffle, Filter::ByteDelta];
const SPLITS: [SplitMode; 2] = [SplitMode::Always, SplitMode::Never];
/// How many of the best on some chunks are tried on the whole run.
const FINALISTS: usize = 2;

/// All fixed parameters, and what they cost on some of the chunks.
pub(super) struct Sweep(Vec<(Cparams, Measurement)>);

impl Sweep {
    pub(super) fn of(series: &Series<'_>) -> Result<Self> {
        let mut backend = Backend::new();
        let all = all();
        let mut sums = vec![(0.0, 0.0, 0.0, 0); all.len()];
        for chunk in series.some() {
            let costs = sweep(chunk.bytes(), chunk.typesize(), &all, &mut backend)
                .context("some parameters cannot be measured")?;
            let n = chunk.bytes().len();
            for (sum, cost) in sums.iter_mut().zip(costs) {
                let [share, ctime, dtime] = cost.map(|x| f64::from(x) * n as f64);
                *sum = (sum.0 + share, sum.1 + ctime, sum.2 + dtime, sum.3 + n);
            }
        }
        let of = |(share, ctime, dtime, nbytes): (f64, f64, f64, usize)| Measurement {
            nbytes,
            cbytes: share as usize,
            ctime,
            dtime: Some(dtime),
            special: false,
        };
        Ok(Self(all.into_iter().zip(sums.into_iter().map(of)).collect()))
    }

    /// The best ones on some chunks, the very best with one block for a chunk, and storing where nothing can be saved.
    /// Where anything saves 3 %, only what does so.
    pub(super) fn candidates(&self, config: &Config) -> Vec<Cparams> {
        let objective = Objective::new(config);
        let totals = |m: &Measurement| objective.totals(m).unwrap_or_default();
        let mut ranked: Vec<(Cparams, Totals)> =
            self.0.iter().map(|(c, m)| (*c, totals(m))).collect();
        let must_save = objective.t > 0.0 && ranked.iter().any(|(_, t)| t.saves());
        if must_save {
            ranked.retain(|(_, t)| t.saves());
        }
        ranked.sort_by(|a, b| objective.j(&a.1).total_cmp(&objective.j(&b.1)));
        let mut found: Vec<Cparams> = ranked.iter().take(FINALISTS).map(|(c, _)| *c).collect();
        found.push(Cparams { block_size: BlockSize::WholeChunk, ..found[0] });
        if !must_save {
            found.push(Cparams::STORE);
        }
        found
    }
}

fn all() -> Vec<Cparams> {
    let mut all = Vec::new();
    for codec in Codec::ALL {
        for filter in FILTERS {
            for clevel in LEVELS {
                all.extend(SPLITS.map(|split| Cparams { codec, filter, clevel, split, ..STOCK }));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use btune::{PerfMode, Tradeoff};

    fn candidates(t: f32, costs: &[(usize, f64)]) -> Vec<Cparams> {
        let m = |&(cbytes, ctime): &(usize, f64)| Measurement {
            nbytes: 1000,
            cbytes,
            ctime,
            dtime: Some(1.0),
            special: false,
        };
        let of = |(at, cost)| (Cparams { clevel: at as u8, ..STOCK }, m(cost));
        let tradeoff = Tradeoff::new(t).unwrap();
        let config = Config { tradeoff, perf_mode: PerfMode::Comp, ..Config::default() };
        Sweep(costs.iter().enumerate().map(of).collect()).candidates(&config)
    }

    #[test]
    fn what_saves_too_little_is_a_candidate_only_where_nothing_saves() {
        let levels = |found: Vec<Cparams>| found.iter().map(|c| c.clevel).collect::<Vec<_>>();
        let fast = [(990, 1e-3), (900, 5e-3), (910, 6e-3)];
        assert_eq!(levels(candidates(0.1, &fast)), [1, 2, 1]);
        assert_eq!(levels(candidates(0.0, &fast)), [0, 1, 0, 0]);
        let found = candidates(0.5, &[(1000, 1e-3), (999, 2e-3)]);
        assert!(found.last().unwrap().is_store());
    }

    #[test]
    fn all_parameters_are_there_once() {
        let all = all();
        assert_eq!(all.len(), 5 * 4 * 6 * 2);
        assert!(all.contains(&STOCK));
    }
}
