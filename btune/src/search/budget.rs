//! Time for probes.

/// Bytes whose compression time is granted at the start, where a chunk is smaller: about what a first look
/// at all kinds of parameters takes.
const START_BYTES: f64 = 256.0 * 1024.0;

/// The least that a search which finds nothing new still gets, as a share of the normal grant.
const LEAST: f64 = 0.125;

/// Seconds that may be spent on probes: the time of one chunk (of 256 KiB at least) at the start, then a
/// share of the compression time. The share halves with every readapt that changes nothing, down to an
/// eighth, and is whole again after one that does.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    share: f64,
    grant: f64,
    available: f64,
    started: bool,
}

impl Budget {
    pub(crate) fn new(share: f64) -> Self {
        Self { share, grant: 1.0, available: 0.0, started: false }
    }

    /// Grants the time of the first chunk, from what one byte is expected to take. Later calls do nothing.
    pub(crate) fn start(&mut self, seconds_per_byte: f64, chunk_bytes: usize) {
        if !self.started {
            self.started = true;
            self.available += seconds_per_byte * (chunk_bytes as f64).max(START_BYTES);
        }
    }

    /// Whether nothing is known of the time that a chunk takes.
    pub(crate) fn unknown(&self) -> bool {
        !self.started
    }

    /// Grants the share of a chunk's compression time.
    pub(crate) fn earn(&mut self, ctime: f64) {
        self.available += ctime * self.share * self.grant;
    }

    /// Takes what a probe took; it may go below zero by the part of it that was not foreseen.
    pub(crate) fn spend(&mut self, seconds: f64) {
        self.available -= seconds;
    }

    /// Whether there is time for a probe.
    pub(crate) fn affords(&self, seconds: f64) -> bool {
        self.available >= seconds
    }

    /// Seconds for probes that come in with each second of compression.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// A readapt has ended.
    pub(crate) fn readapted(&mut self, changed: bool) {
        self.grant = if changed { 1.0 } else { (self.grant / 2.0).max(LEAST) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_chunk_at_the_start_then_a_share() {
        let mut budget = Budget::new(0.05);
        assert!(!budget.affords(1e-9));
        assert!(budget.unknown());
        budget.start(1e-9, 2_000_000);
        assert!(budget.affords(1.99e-3) && !budget.affords(2.01e-3));
        budget.spend(2e-3);
        budget.earn(1e-3);
        budget.start(1.0, 2_000_000);
        assert!(budget.affords(0.049e-3) && !budget.affords(0.051e-3));
    }

    #[test]
    fn small_chunks_are_granted_256_kib() {
        let mut budget = Budget::new(0.05);
        budget.start(1.0, 1000);
        assert!(budget.affords(START_BYTES) && !budget.affords(START_BYTES + 1.0));
    }

    #[test]
    fn a_quiet_search_gets_less_until_something_changes() {
        let earned = |budget: &Budget| {
            let mut copy = budget.clone();
            copy.available = 0.0;
            copy.earn(100.0);
            copy.available
        };
        let mut budget = Budget::new(0.05);
        for expected in [5.0, 2.5, 1.25, 0.625, 0.625] {
            assert!((earned(&budget) - expected).abs() < 1e-12);
            budget.readapted(false);
        }
        budget.readapted(true);
        assert!((earned(&budget) - 5.0).abs() < 1e-12);
    }
}
