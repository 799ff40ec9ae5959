//! The tuner with data of several kinds, and with callers that do not keep to the rules.

use super::*;
use crate::config::Tradeoff;
use crate::cparams::{Codec, Filter};

/// Costs that depend on the bytes: a count of equal neighbours stands for how well data shrink.
struct Counting {
    probes: usize,
}

fn cost(bytes: &[u8], cparams: &Cparams) -> Measurement {
    let equal = bytes.windows(2).filter(|w| w[0] == w[1]).count() as f64 / bytes.len() as f64;
    let share: f64 = match (cparams.is_store(), cparams.filter) {
        (true, _) => 1.0,
        (_, Filter::ByteDelta) => 0.5 + 0.4 * equal,
        _ => 0.9 - 0.6 * equal,
    };
    let speed = if cparams.codec == Codec::Zstd { 3e8 } else { 1e9 };
    let n = bytes.len();
    Measurement {
        nbytes: n,
        cbytes: (n as f64 * share) as usize + 1,
        ctime: n as f64 / speed,
        dtime: None,
        special: false,
    }
}

impl Prober for Counting {
    fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
        self.probes += 1;
        let measurement = cost(probe.bytes, &probe.cparams);
        Some(Probed { measurement, seconds: measurement.ctime })
    }
}

fn config() -> Config {
    Config { tradeoff: Tradeoff::new(0.9).unwrap(), ..Config::default() }
}

fn ramp(seed: u32) -> Vec<u8> {
    (0..65_536u32).flat_map(|i| ((i + seed * 7919) * 17).to_le_bytes()).collect()
}

fn flat(seed: u32) -> Vec<u8> {
    (0..65_536u32).flat_map(|i| (if i % 61 == seed % 61 { i } else { 0 }).to_le_bytes()).collect()
}

fn store(tuner: &mut Tuner, bytes: &[u8]) -> (Trial, Option<Row>) {
    let chunk = Chunk::new(bytes, 4);
    let trial = tuner.ask(&chunk, &mut Counting { probes: 0 });
    let told = tuner.tell(&trial, &cost(bytes, &trial.cparams)).unwrap();
    (trial, told.row)
}

#[test]
fn kinds_of_data_that_take_turns_settle_apart() {
    let mut tuner = Tuner::new(config());
    let mut last = [None, None];
    let mut regimes = [None, None];
    for i in 0..30 {
        for (kind, bytes) in [ramp(i), flat(i)].iter().enumerate() {
            let (trial, row) = store(&mut tuner, bytes);
            last[kind] = Some(trial.cparams.filter);
            regimes[kind] = row.map(|r| r.regime);
        }
    }
    assert_eq!(last[0], Some(Filter::ByteDelta));
    assert_ne!(last[1], Some(Filter::ByteDelta));
    assert_eq!(regimes, [Some(0), Some(1)]);
}

#[test]
fn a_chunk_stored_again_teaches_nothing_and_costs_nothing() {
    let mut tuner = Tuner::new(config());
    let bytes = ramp(1);
    assert!(store(&mut tuner, &bytes).1.is_some());
    for _ in 0..5 {
        let mut prober = Counting { probes: 0 };
        let trial = tuner.ask(&Chunk::new(&bytes, 4), &mut prober);
        assert_eq!(prober.probes, 0);
        let told = tuner.tell(&trial, &cost(&bytes, &trial.cparams)).unwrap();
        assert_eq!(told.row, None);
    }
    assert_eq!(store(&mut tuner, &ramp(2)).1.map(|r| r.chunk), Some(1));
}

#[test]
fn fill_is_special_and_cannot_win() {
    let mut tuner = Tuner::new(config());
    for _ in 0..3 {
        let row = store(&mut tuner, &vec![0; 65_536]).1.unwrap();
        assert_eq!((row.winner, row.readapt), ('S', Readapt::Wait));
    }
    let row = store(&mut tuner, &ramp(1)).1.unwrap();
    assert_eq!((row.winner, row.readapt, row.regime), ('W', Readapt::Hard, 0));
}

#[test]
fn bad_tells_are_refused_and_change_nothing() {
    let mut tuner = Tuner::new(config());
    let bytes = ramp(1);
    let trial = tuner.ask(&Chunk::new(&bytes, 4), &mut Counting { probes: 0 });
    let good = cost(&bytes, &trial.cparams);
    for ctime in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_eq!(
            tuner.tell(&trial, &Measurement { ctime, ..good }),
            Err(TunerError::Measurement("ctime"))
        );
    }
    assert_eq!(
        tuner.tell(&trial, &Measurement { dtime: Some(f64::NAN), ..good }),
        Err(TunerError::Measurement("dtime"))
    );
    assert_eq!(
        tuner.tell(&trial, &Measurement { cbytes: 0, ..good }),
        Err(TunerError::Measurement("cbytes"))
    );
    let stranger = Trial { id: 99, ..trial };
    assert_eq!(tuner.tell(&stranger, &good), Err(TunerError::NotOpen(99)));
    let altered = Trial { cparams: Cparams::STORE, ..trial };
    assert_eq!(tuner.tell(&altered, &good), Err(TunerError::NotOpen(0)));
    assert!(tuner.tell(&trial, &good).is_ok());
    assert_eq!(tuner.tell(&trial, &good), Err(TunerError::NotOpen(0)));
}

#[test]
fn trials_may_be_told_in_any_order_and_forgotten() {
    let mut tuner = Tuner::new(config());
    let chunks: Vec<Vec<u8>> = (0..8).map(ramp).collect();
    let trials: Vec<Trial> =
        chunks.iter().map(|c| tuner.ask(&Chunk::new(c, 4), &mut Counting { probes: 0 })).collect();
    for (trial, bytes) in trials.iter().zip(&chunks).rev().step_by(2) {
        assert!(tuner.tell(trial, &cost(bytes, &trial.cparams)).is_ok());
    }
    for i in 0..2000 {
        tuner.ask(&Chunk::new(&ramp(i), 4), &mut Counting { probes: 0 });
    }
    assert!(tuner.open.len() <= OPEN_TRIALS);
    assert_eq!(
        tuner.tell(&trials[0], &cost(&chunks[0], &trials[0].cparams)),
        Err(TunerError::NotOpen(0))
    );
}

#[test]
fn empty_and_tiny_chunks_are_taken() {
    let mut tuner = Tuner::new(config());
    for len in [0, 1, 3, 7, 64] {
        let bytes: Vec<u8> = (0..len).collect();
        let chunk = Chunk::new(&bytes, 4);
        let trial = tuner.ask(&chunk, &mut Counting { probes: 0 });
        let m = Measurement {
            nbytes: bytes.len(),
            cbytes: bytes.len() + 32,
            ctime: 1e-6,
            dtime: None,
            special: false,
        };
        assert!(tuner.tell(&trial, &m).is_ok());
    }
}

/// Keeps what a run measured, and gives it back in a second run.
struct Tape {
    probes: VecDeque<Option<Probed>>,
    replay: bool,
    clock: f64,
}

impl Prober for Tape {
    fn probe(&mut self, probe: &Probe<'_>) -> Option<Probed> {
        if self.replay {
            return self.probes.pop_front().expect("the replay asks for the same probes");
        }
        // Times that differ from run to run.
        self.clock = (self.clock * 1103.0 + 7.0) % 1.0;
        let mut measurement = cost(probe.bytes, &probe.cparams);
        measurement.ctime *= 1.0 + self.clock;
        let probed = Some(Probed { measurement, seconds: measurement.ctime });
        self.probes.push_back(probed);
        probed
    }
}

#[test]
fn the_same_measurements_lead_to_the_same_decisions() {
    let run = |tape: &mut Tape| {
        let mut tuner = Tuner::new(config());
        (0..40)
            .map(|i| {
                let bytes = if i % 3 == 0 { flat(i) } else { ramp(i) };
                let trial = tuner.ask(&Chunk::new(&bytes, 4), tape);
                tuner.tell(&trial, &cost(&bytes, &trial.cparams)).unwrap();
                trial
            })
            .collect::<Vec<_>>()
    };
    let mut tape = Tape { probes: VecDeque::new(), replay: false, clock: 0.37 };
    let first = run(&mut tape);
    tape.replay = true;
    assert_eq!(run(&mut tape), first);
    assert!(tape.probes.is_empty());
}
