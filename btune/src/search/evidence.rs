//! What is known of other parameters against the best ones.

use crate::cparams::Cparams;

/// Parameters remembered.
const REMEMBERED: usize = 64;
/// What an earlier comparison still weighs when a new one is added.
const DECAY: f64 = 0.6;
/// What a comparison on fewer bytes weighs beside one on more.
const MINOR: f64 = 0.1;

#[derive(Debug, Clone, Copy)]
struct Entry {
    cparams: Cparams,
    delta: f64,
    weight: f64,
    /// The greatest weight of a single comparison.
    grade: f64,
}

/// For parameters that were compared with the best on the same bytes: the mean of J minus the best's J,
/// newer comparisons and those on more bytes weighing more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Evidence(Vec<Entry>);

impl Evidence {
    /// Adds a comparison; gives the mean.
    pub(crate) fn add(&mut self, cparams: Cparams, delta: f64, weight: f64) -> f64 {
        if let Some(entry) = self.0.iter_mut().find(|e| e.cparams == cparams) {
            let minor = weight < entry.grade;
            let old = if minor { entry.weight } else { entry.weight * DECAY };
            let weight = if minor { weight * MINOR } else { weight };
            entry.grade = entry.grade.max(weight);
            entry.delta = (entry.delta * old + delta * weight) / (old + weight);
            entry.weight = if minor { old } else { old + weight };
            return entry.delta;
        }
        if self.0.len() == REMEMBERED {
            // The one that is farthest from being chosen makes room.
            let worst =
                (0..self.0.len()).max_by(|&a, &b| self.0[a].delta.total_cmp(&self.0[b].delta));
            self.0.swap_remove(worst.unwrap_or(0));
        }
        self.0.push(Entry { cparams, delta, weight, grade: weight });
        delta
    }

    /// The mean for these parameters.
    pub(crate) fn delta(&self, cparams: &Cparams) -> Option<f64> {
        self.0.iter().find(|e| e.cparams == *cparams).map(|e| e.delta)
    }

    /// The greatest weight of a single comparison of these parameters; 0 if there was none.
    pub(crate) fn grade(&self, cparams: &Cparams) -> f64 {
        self.0.iter().find(|e| e.cparams == *cparams).map_or(0.0, |e| e.grade)
    }

    /// `next` takes the place of `best`: everything is compared with it from now on.
    pub(crate) fn rebase(&mut self, best: Cparams, next: &Cparams) {
        let Some(at) = self.0.iter().position(|e| e.cparams == *next) else {
            self.0.clear();
            return;
        };
        let Entry { delta, weight, grade, .. } = self.0.swap_remove(at);
        for entry in &mut self.0 {
            entry.delta -= delta;
        }
        self.0.push(Entry { cparams: best, delta: -delta, weight, grade });
    }

    /// The parameters nearest to the best, nearest first.
    pub(crate) fn nearest(&self, count: usize) -> Vec<Cparams> {
        let mut entries = self.0.clone();
        entries.sort_by(|a, b| a.delta.total_cmp(&b.delta));
        entries.iter().take(count).map(|e| e.cparams).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(clevel: u8) -> Cparams {
        Cparams { clevel, ..Cparams::STORE }
    }

    #[test]
    fn newer_comparisons_weigh_more() {
        let mut evidence = Evidence::default();
        assert!((evidence.add(level(1), 1.0, 1.0) - 1.0).abs() < 1e-12);
        let mean = evidence.add(level(1), 0.0, 1.0);
        assert!((mean - 0.6 / 1.6).abs() < 1e-12);
        assert_eq!(evidence.delta(&level(1)), Some(mean));
        assert_eq!(evidence.delta(&level(2)), None);
    }

    #[test]
    fn small_samples_do_not_outvote_whole_chunks() {
        let mut evidence = Evidence::default();
        evidence.add(level(1), 0.5, 6.0);
        for _ in 0..5 {
            evidence.add(level(1), -0.3, 1.0);
        }
        assert!(evidence.delta(&level(1)).unwrap() > 0.3);
    }

    #[test]
    fn a_new_best_shifts_all_comparisons() {
        let mut evidence = Evidence::default();
        evidence.add(level(1), -0.2, 1.0);
        evidence.add(level(2), 0.1, 1.0);
        evidence.rebase(level(5), &level(1));
        assert_eq!(evidence.delta(&level(1)), None);
        assert!((evidence.delta(&level(2)).unwrap() - 0.3).abs() < 1e-12);
        assert!((evidence.delta(&level(5)).unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(evidence.nearest(1), [level(5)]);
        evidence.rebase(level(1), &level(9));
        assert!(evidence.nearest(9).is_empty(), "nothing is known against a stranger");
    }

    #[test]
    fn memory_is_bounded_and_forgets_the_worst() {
        let mut evidence = Evidence::default();
        for i in 0..500u16 {
            evidence.add(Cparams { threads: i + 1, ..Cparams::STORE }, f64::from(i % 100), 1.0);
        }
        assert_eq!(evidence.0.len(), REMEMBERED);
        assert_eq!(evidence.nearest(1)[0].threads % 100, 1);
    }
}
