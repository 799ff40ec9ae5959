//! When the search looks again: waits, soft and hard readapts, and what follows them.

use serde::Serialize;

use crate::config::{Behaviour, RepeatMode};

/// The kind of search that a chunk took part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Readapt {
    /// Everything is open.
    Hard,
    /// Level, split, block size and threads around the best.
    Soft,
    /// None: the best parameters are used.
    Wait,
}

impl Readapt {
    /// The name in the trace.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hard => "HARD",
            Self::Soft => "SOFT",
            Self::Wait => "WAIT",
        }
    }
}

/// The order of readapts: a first hard one (left out with a hint), then rounds of `softs` soft ones and a
/// hard one, until `hards` hard ones have been made; then what the repeat mode says.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    behaviour: Behaviour,
    started: bool,
    softs: u32,
    hards: u32,
    waits: u32,
    finished: bool,
}

impl Schedule {
    /// With `hinted` there is a start to refine, and no first hard readapt.
    pub(crate) fn new(behaviour: Behaviour, hinted: bool) -> Self {
        Self { behaviour, started: hinted, softs: 0, hards: 0, waits: 0, finished: false }
    }

    /// The readapt that is due, if one is; it counts as begun.
    pub(crate) fn begin(&mut self) -> Option<Readapt> {
        if self.waits > 0 || self.finished {
            return None;
        }
        if !self.started {
            self.started = true;
            return Some(Readapt::Hard);
        }
        if self.softs < self.behaviour.softs {
            self.softs += 1;
            return Some(Readapt::Soft);
        }
        if self.hards < self.behaviour.hards {
            self.hards += 1;
            self.softs = 0;
            return Some(Readapt::Hard);
        }
        self.repeat()
    }

    /// A readapt has ended: the waits begin.
    pub(crate) fn ended(&mut self) {
        self.waits = self.behaviour.waits;
    }

    /// A chunk has gone by.
    pub(crate) fn chunk(&mut self) {
        self.waits = self.waits.saturating_sub(1);
    }

    /// Whether no readapt will follow.
    pub(crate) fn finished(&self) -> bool {
        self.finished
    }

    fn repeat(&mut self) -> Option<Readapt> {
        match self.behaviour.repeat {
            RepeatMode::Soft => return Some(Readapt::Soft),
            RepeatMode::All if self.behaviour.softs + self.behaviour.hards > 0 => {
                self.softs = 0;
                self.hards = 0;
                return self.begin();
            }
            RepeatMode::Stop | RepeatMode::All => self.finished = true,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(behaviour: Behaviour, hinted: bool, n: usize) -> String {
        let mut schedule = Schedule::new(behaviour, hinted);
        let mut out = String::new();
        for _ in 0..n {
            match schedule.begin() {
                Some(Readapt::Hard) => out.push('H'),
                Some(_) => out.push('S'),
                None => out.push(if schedule.finished() { '.' } else { '-' }),
            }
            if !out.ends_with('-') {
                schedule.ended();
            }
            schedule.chunk();
        }
        out
    }

    const TWO_BY_TWO: Behaviour =
        Behaviour { waits: 0, softs: 2, hards: 2, repeat: RepeatMode::Stop };

    #[test]
    fn softs_come_before_hards_and_then_it_stops() {
        assert_eq!(order(TWO_BY_TWO, false, 11), "HSSHSSHSS..");
        assert_eq!(order(TWO_BY_TWO, true, 10), "SSHSSHSS..");
    }

    #[test]
    fn repeat_modes_go_on() {
        assert_eq!(
            order(Behaviour { repeat: RepeatMode::Soft, ..TWO_BY_TWO }, false, 12),
            "HSSHSSHSSSSS"
        );
        assert_eq!(
            order(Behaviour { repeat: RepeatMode::All, ..TWO_BY_TWO }, false, 13),
            "HSSHSSHSSSSHS"
        );
    }

    #[test]
    fn waits_pass_between_readapts() {
        let waits = Behaviour { waits: 3, ..TWO_BY_TWO };
        assert_eq!(order(waits, false, 9), "H--S--S--");
    }

    #[test]
    fn zero_counts_end_after_the_first_hard_readapt() {
        for repeat in [RepeatMode::Stop, RepeatMode::All] {
            let none = Behaviour { waits: 0, softs: 0, hards: 0, repeat };
            assert_eq!(order(none, false, 4), "H...");
        }
        let no_softs = Behaviour { softs: 0, ..TWO_BY_TWO };
        assert_eq!(order(no_softs, false, 5), "HHH..");
    }
}
