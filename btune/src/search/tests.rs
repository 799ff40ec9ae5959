//! The search against costs that are known exactly.

use super::*;
use crate::config::{Behaviour, PerfMode, RepeatMode, Space, Tradeoff};
use crate::cparams::{BlockSize, Codec, Filter, SplitMode};
use crate::tuner::{Probe, Probed};

const CHUNK: usize = 1 << 20;

/// A machine whose costs are the predictions, changed for each filter and block size.
struct Machine {
    predictions: Vec<Prediction>,
    /// Factor on the compressed size, by filter.
    size: fn(&Cparams) -> f64,
    probes: usize,
    seconds: f64,
}

impl Machine {
    fn new(size: fn(&Cparams) -> f64) -> Self {
        Self { predictions: Spread.predict(&Chunk::new(&[], 4)), size, probes: 0, seconds: 0.0 }
    }

    fn cost(&self, cparams: &Cparams, nbytes: usize) -> Measurement {
        let p = self.predictions.iter().min_by_key(|p| {
            let c = &p.cparams;
            (
                c.is_store() != cparams.is_store(),
                c.codec != cparams.codec,
                c.clevel.abs_diff(cparams.clevel),
                c.filter != cparams.filter,
            )
        });
        let p = p.unwrap();
        let n = nbytes as f64;
        let share =
            if cparams.is_store() { 1.0 } else { (p.share * 3.0 * (self.size)(cparams)).min(1.0) };
        Measurement {
            nbytes,
            cbytes: (n * share) as usize + 32,
            ctime: p.ctime * n,
            dtime: Some(p.dtime * n),
            special: false,
        }
    }
}

impl Prober for Machine {
    fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
        let mut m = self.cost(&probe.cparams, probe.bytes.len());
        let mut seconds = m.ctime * f64::from(probe.repeats);
        if probe.decompress {
            seconds += m.dtime.unwrap_or(0.0) * f64::from(probe.repeats);
        } else {
            m.dtime = None;
        }
        self.probes += 1;
        self.seconds += seconds;
        Some(Probed { measurement: m, seconds })
    }
}

struct Run {
    search: Search,
    ctime: f64,
    history: Vec<Cparams>,
    bests: Vec<Cparams>,
    readapts: Vec<Readapt>,
}

fn run(config: &Config, machine: &mut Machine, chunks: usize) -> Run {
    let bytes: Vec<u8> = (0..CHUNK / 4).flat_map(|i| (i as u32).to_le_bytes()).collect();
    let chunk = Chunk::new(&bytes, 4);
    let mut search = Search::new(config, CHUNK, Origin::Fixed, Spread.predict(&chunk), None);
    let mut out = Vec::new();
    let mut readapts = Vec::new();
    let mut bests = Vec::new();
    let mut ctime = 0.0;
    for id in 0..chunks as u64 {
        search.explore(id, &chunk, Totals::default(), machine, None);
        let chosen = search.chosen(id);
        let mut m = machine.cost(&chosen, CHUNK);
        ctime += m.ctime;
        if !search.needs_dtime() {
            m.dtime = None;
        }
        readapts.push(search.readapt());
        search.told(id, &chosen, &m);
        out.push(chosen);
        bests.push(search.best());
    }
    Run { search, ctime, history: out, bests, readapts }
}

/// What is best after some chunks that cost what the prober says.
fn settle(config: &Config, prober: &mut dyn Prober, chunks: u64) -> Cparams {
    let bytes = vec![1; CHUNK];
    let chunk = Chunk::new(&bytes, 4);
    let mut search = Search::new(config, CHUNK, Origin::Fixed, Spread.predict(&chunk), None);
    for id in 0..chunks {
        search.explore(id, &chunk, Totals::default(), prober, None);
        let cparams = search.chosen(id);
        let request = Probe { bytes: &bytes, typesize: 4, cparams, decompress: false, repeats: 1 };
        let m = prober.probe(&request).unwrap().measurement;
        search.told(id, &cparams, &m);
    }
    search.best()
}

fn config(t: f32) -> Config {
    Config { tradeoff: Tradeoff::new(t).unwrap(), ..Config::default() }
}

fn regret(config: &Config, machine: &Machine, chosen: &Cparams) -> f64 {
    let objective = Objective::new(config);
    let j = |c: &Cparams| objective.j(&objective.totals(&machine.cost(c, CHUNK)).unwrap());
    let classes = machine.predictions.iter().map(|p| p.cparams).filter(|c| !c.is_store());
    let best = classes.map(|c| j(&c)).min_by(f64::total_cmp).unwrap();
    (j(chosen) - best).exp() - 1.0
}

fn favours(filter: Filter) -> fn(&Cparams) -> f64 {
    match filter {
        Filter::None => |c| if c.filter == Filter::None { 0.2 } else { 1.0 },
        Filter::Shuffle => |c| if c.filter == Filter::Shuffle { 0.2 } else { 1.0 },
        Filter::BitShuffle => |c| if c.filter == Filter::BitShuffle { 0.2 } else { 1.0 },
        _ => |c| if c.filter == Filter::ByteDelta { 0.2 } else { 1.0 },
    }
}

#[test]
fn the_right_filter_is_found_within_few_chunks_at_every_tradeoff_and_mode() {
    for filter in [Filter::None, Filter::Shuffle, Filter::BitShuffle, Filter::ByteDelta] {
        for t in [0.1, 0.3, 0.5, 0.7, 0.9] {
            for perf_mode in PerfMode::ALL {
                // What reads fast may be slow to write, and then takes its time to be tried.
                let probe_share = if perf_mode == PerfMode::Decomp { 2.0 } else { 0.05 };
                let config = Config { perf_mode, probe_share, ..config(t) };
                let mut machine = Machine::new(favours(filter));
                let last = run(&config, &mut machine, 20).search.best();
                let regret = regret(&config, &machine, &last);
                assert!(
                    regret < 0.06,
                    "{filter:?} {t} {perf_mode:?}: {last} is off by {regret:.3}"
                );
            }
        }
    }
}

#[test]
fn probing_stays_within_its_budget() {
    for t in [0.0, 0.1, 0.5, 0.9, 1.0] {
        for perf_mode in PerfMode::ALL {
            let config = Config { perf_mode, ..config(t) };
            let mut machine = Machine::new(favours(Filter::BitShuffle));
            let run = run(&config, &mut machine, 60);
            let slowest = machine
                .cost(&run.history[0], CHUNK)
                .ctime
                .max(machine.cost(&run.history[59], CHUNK).ctime);
            let allowed = 0.05 * run.ctime + 1.3 * slowest;
            assert!(
                machine.seconds <= allowed,
                "t={t} {perf_mode:?}: {} of {allowed}",
                machine.seconds
            );
        }
    }
}

#[test]
fn whole_chunk_blocks_win_where_they_help_and_are_allowed() {
    let helps = |c: &Cparams| if c.block_size == BlockSize::WholeChunk { 0.5 } else { 1.0 };
    let mut machine = Machine::new(helps);
    let chosen = run(&config(0.5), &mut machine, 60).search.best();
    assert_eq!(chosen.block_size, BlockSize::WholeChunk);
    let forbidden = Config { whole_chunk_blocks: false, ..config(0.5) };
    let mut machine = Machine::new(helps);
    assert!(
        run(&forbidden, &mut machine, 60)
            .history
            .iter()
            .all(|c| c.block_size != BlockSize::WholeChunk)
    );
}

#[test]
fn what_nothing_shrinks_is_stored_and_what_one_codec_shrinks_is_not() {
    let mut machine = Machine::new(|_| 100.0);
    for t in [0.1, 0.5] {
        assert!(run(&config(t), &mut machine, 40).search.best().is_store(), "{t}");
    }
    let only_zstd = |c: &Cparams| if c.codec == Codec::Zstd && c.clevel > 1 { 2.0 } else { 100.0 };
    for t in [0.1, 0.5, 0.9] {
        let mut machine = Machine::new(only_zstd);
        let best = run(&config(t), &mut machine, 60).search.best();
        assert!(best.codec == Codec::Zstd && !best.is_store(), "{t}: {best}");
    }
}

#[test]
fn at_tradeoff_zero_chunks_are_stored_from_the_first() {
    let mut machine = Machine::new(|_| 1.0);
    assert!(run(&config(0.0), &mut machine, 20).history.iter().all(Cparams::is_store));
}

#[test]
fn a_tie_goes_to_the_parameters_in_use() {
    // All filters shrink alike and all speeds are the predicted ones: what is best is best from the start.
    let config = config(0.5);
    let mut machine = Machine::new(|_| 1.0);
    let run = run(&config, &mut machine, 60);
    let changes = run.bests.windows(2).filter(|w| w[0] != w[1]).count();
    assert!(changes <= 2, "{changes} changes");
}

#[test]
fn readapts_follow_the_behaviour_and_then_it_stops() {
    let behaviour = Behaviour { waits: 5, softs: 1, hards: 1, repeat: RepeatMode::Stop };
    let config = Config { behaviour, probe_share: 5.0, ..config(0.5) };
    let mut machine = Machine::new(|_| 1.0);
    let run = run(&config, &mut machine, 80);
    assert_eq!(run.search.state(), State::Stop);
    let wait = run.readapts.iter().filter(|r| **r == Readapt::Wait).count();
    assert!(run.readapts.contains(&Readapt::Soft) && run.readapts.contains(&Readapt::Hard));
    assert!(wait > 40, "{:?}", run.readapts);
    let probes = machine.probes;
    assert!(probes > 20);
}

#[test]
fn a_hint_is_where_it_starts_and_no_hard_readapt_comes_first() {
    let hint = Cparams { codec: Codec::Zlib, clevel: 6, ..Cparams::STORE };
    let config = Config { hint: Some(hint), ..config(0.5) };
    let chunk = Chunk::new(&[], 4);
    let search = Search::new(&config, CHUNK, Origin::Fixed, Spread.predict(&chunk), None);
    assert_eq!((search.best(), search.origin()), (hint, Origin::Hint));
    let mut machine = Machine::new(|_| 1.0);
    let run = run(&config, &mut machine, 3);
    assert!(!run.readapts.contains(&Readapt::Hard));
}

#[test]
fn threads_are_tried_up_to_the_most_allowed() {
    struct Threads(Machine);
    impl Prober for Threads {
        fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
            assert!((1..=4).contains(&probe.cparams.threads));
            let mut probed = self.0.probe(probe)?;
            let whole = probe.bytes.len() == CHUNK;
            let speedup = if whole { f64::from(probe.cparams.threads) } else { 1.0 };
            probed.measurement.ctime /= speedup;
            Some(probed)
        }
    }
    let config = Config { max_threads: 4, probe_share: 1.0, ..config(0.3) };
    assert_eq!(settle(&config, &mut Threads(Machine::new(|_| 1.0)), 80).threads, 4);
}

#[test]
fn the_rest_of_the_run_decides_whether_time_or_size_matters_here() {
    // Beside a large incompressible part, the size of this small part hardly counts, and its time does not
    // either; beside a part that took very long, only its size does.
    let config = config(0.5);
    let chunk = Chunk::new(&[], 4);
    let mut search = Search::new(&config, CHUNK, Origin::Fixed, Spread.predict(&chunk), None);
    let small = Totals { nbytes: 1e6, cbytes: 1e5, time: 4e-3 };
    let fast = Totals { nbytes: 1e6, cbytes: 2e5, time: 1e-3 };
    assert!(search.delta(&small, &fast) < 0.0);
    search.others = Totals { nbytes: 1e6, cbytes: 9e5, time: 1e-3 };
    assert!(search.delta(&small, &fast) > 0.0);
    search.others = Totals { nbytes: 1e6, cbytes: 1e5, time: 1.0 };
    assert!(search.delta(&small, &fast) < 0.0);
}

#[test]
fn what_shrinks_only_in_large_blocks_is_found_on_a_whole_chunk() {
    // On samples nothing but a slow codec saves enough; on whole chunks a fast one does.
    struct Blocks(Machine);
    impl Prober for Blocks {
        fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
            let mut probed = self.0.probe(probe)?;
            let (c, m) = (&probe.cparams, &mut probed.measurement);
            if c.codec == Codec::BloscLz && !c.is_store() {
                m.cbytes = m.nbytes * if m.nbytes == CHUNK { 90 } else { 99 } / 100;
                m.ctime /= 4.0;
            }
            Some(probed)
        }
    }
    let best = settle(&config(0.1), &mut Blocks(Machine::new(|_| 0.6)), 80);
    assert_eq!(best.codec, Codec::BloscLz);
}

#[test]
fn a_sample_that_promised_too_much_puts_the_runners_up_on_again() {
    // The strong level shrinks small pieces well, and whole chunks badly.
    struct Promising(Machine);
    impl Prober for Promising {
        fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
            let mut probed = self.0.probe(probe)?;
            if probe.cparams.codec == Codec::Zstd && probe.bytes.len() == CHUNK {
                probed.measurement.cbytes *= 3;
            }
            Some(probed)
        }
    }
    let best = settle(&config(0.7), &mut Promising(Machine::new(|_| 0.3)), 120);
    assert_ne!(best.codec, Codec::Zstd);
}

#[test]
fn a_disturbance_costs_one_candidate_and_not_the_search() {
    struct Disturbed {
        machine: Machine,
        at: usize,
    }
    impl Prober for Disturbed {
        fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
            let mut probed = self.machine.probe(probe)?;
            if self.machine.probes == self.at {
                probed.seconds += 0.02;
                probed.measurement.ctime += 0.02;
            }
            Some(probed)
        }
    }
    let favours_bytedelta = favours(Filter::ByteDelta);
    for at in 1..14 {
        let mut prober = Disturbed { machine: Machine::new(favours_bytedelta), at };
        let best = settle(&config(0.5), &mut prober, 20);
        let regret = regret(&config(0.5), &prober.machine, &best);
        assert!(regret < 0.1, "probe {at} disturbed: {best} is off by {regret:.3}");
    }
}

#[test]
fn bytedelta_can_be_left_out() {
    struct Others(Machine);
    impl Prober for Others {
        fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
            assert!(probe.cparams.filter != Filter::ByteDelta);
            self.0.probe(probe)
        }
    }
    let hint = Cparams { codec: Codec::Zstd, filter: Filter::ByteDelta, ..Cparams::STORE };
    for hint in [None, Some(Cparams { clevel: 5, ..hint })] {
        let config = Config { space: Space::WithoutByteDelta, hint, ..config(0.5) };
        let best = settle(&config, &mut Others(Machine::new(favours(Filter::ByteDelta))), 80);
        assert!(best.filter != Filter::ByteDelta);
    }
}

#[test]
fn in_the_space_of_blosc_nothing_else_is_tried() {
    struct Blosc1(Machine);
    impl Prober for Blosc1 {
        fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
            assert!(probe.cparams.filter != Filter::ByteDelta);
            assert_eq!(probe.cparams.split, SplitMode::ForwardCompat);
            self.0.probe(probe)
        }
    }
    let config = Config { space: Space::Blosc1, ..config(0.5) };
    let best = settle(&config, &mut Blosc1(Machine::new(favours(Filter::BitShuffle))), 80);
    assert_eq!(best.filter, Filter::BitShuffle);
}
