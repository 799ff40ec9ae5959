//! Time for probes.

/// Bytes whose compression time is granted at the start, where a chunk is smaller: about what a first look
/// at all kinds of parameters takes.
const START_BYTES: f64 = 256.0 * 1024.0;

/// What the first chunks of challengers may cost more, in chunks.
const FIRST_CONTESTS: f64 = 0.5;

/// The least that a search which finds nothing new still gets, as a share of the normal grant.
const LEAST: f64 = 0.125;

/// Seconds that may be spent on probes: the time of one chunk (of 256 KiB at least) at the start, then a
/// share of the compression time. The share halves with every readapt that changes nothing, down to an
/// eighth, and is whole again after one that does.
///
/// Apart from them, what chunks may cost more that are compressed by a challenger, counted in chunks: half a chunk
/// at the start, then the share of a chunk for each chunk.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    share: f64,
    grant: f64,
    available: f64,
    started: bool,
    /// What was granted for the first chunk, until it is known what it took.
    foreseen: Option<f64>,
    contests: f64,
}

impl Budget {
    pub(crate) fn new(share: f64) -> Self {
        Self {
            share,
            grant: 1.0,
            available: 0.0,
            started: false,
            foreseen: None,
            contests: FIRST_CONTESTS,
        }
    }

    /// Grants the time of the first chunk, from what one byte is expected to take. Later calls do nothing.
    pub(crate) fn start(&mut self, seconds_per_byte: f64, chunk_bytes: usize) {
        if !self.started {
            self.started = true;
            let granted = seconds_per_byte * (chunk_bytes as f64).max(START_BYTES);
            self.available += granted;
            self.foreseen = Some(granted);
        }
    }

    /// Whether nothing is known of the time that a chunk takes.
    pub(crate) fn unknown(&self) -> bool {
        !self.started
    }

    /// Grants the share of a chunk's compression time; and for the first chunk what it took more than was
    /// expected.
    pub(crate) fn earn(&mut self, ctime: f64) {
        if let Some(foreseen) = self.foreseen.take() {
            self.available += (ctime - foreseen).max(0.0);
        }
        self.available += ctime * self.share * self.grant;
        self.contests += self.share * self.grant;
    }

    /// Chunks that bring in what a challenger's chunk may cost more; 0 or less if it is there.
    pub(crate) fn chunks_until(&self, cost: f64) -> f64 {
        (cost - self.contests) / (self.share * self.grant).max(f64::MIN_POSITIVE)
    }

    /// Takes what a challenger's chunk did cost more.
    pub(crate) fn spend_on_contest(&mut self, cost: f64) {
        self.contests -= cost;
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
    fn a_first_chunk_that_takes_longer_than_expected_brings_in_more() {
        for (ctime, available) in [(1e-3, 2.05e-3), (5e-3, 5.25e-3)] {
            let mut budget = Budget::new(0.05);
            budget.start(1e-9, 2_000_000);
            budget.earn(ctime);
            assert!(budget.affords(available - 1e-9) && !budget.affords(available + 1e-9));
            budget.earn(20e-3);
            assert!(!budget.affords(available + 1e-3 + 1e-9));
        }
    }

    #[test]
    fn challengers_chunks_have_an_allowance_of_their_own() {
        let mut budget = Budget::new(0.05);
        assert!(budget.chunks_until(0.5) <= 0.0);
        budget.spend_on_contest(0.6);
        assert!((budget.chunks_until(0.1) - 4.0).abs() < 1e-9);
        budget.earn(1e-3);
        assert!((budget.chunks_until(0.1) - 3.0).abs() < 1e-9);
    }

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
