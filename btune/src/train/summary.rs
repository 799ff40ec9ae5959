//! Many regrets in three numbers.

use serde::Serialize;

/// Geometric mean, median and maximum of some regrets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Geometric mean of `1 + regret`, less 1.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The maximum.
    pub worst: f64,
}

impl Summary {
    /// The three numbers; of no regrets, zeros.
    #[must_use]
    pub fn of(mut regrets: Vec<f64>) -> Self {
        regrets.sort_by(f64::total_cmp);
        let n = regrets.len();
        let Some(&worst) = regrets.last() else {
            return Self { mean: 0.0, median: 0.0, worst: 0.0 };
        };
        let mean = (regrets.iter().map(|r| r.ln_1p()).sum::<f64>() / n as f64).exp_m1();
        let median = f64::midpoint(regrets[(n - 1) / 2], regrets[n / 2]);
        Self { mean, median, worst }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_those_of_the_regrets() {
        let summary = Summary::of(vec![1.0, 0.0, 3.0, 0.5]);
        assert!((summary.mean - (12.0f64.powf(0.25) - 1.0)).abs() < 1e-12);
        assert!((summary.median - 0.75).abs() < 1e-12 && (summary.worst - 3.0).abs() < 1e-12);
        assert!(Summary::of(Vec::new()).worst.abs() < 1e-12);
    }
}
