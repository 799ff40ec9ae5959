//! Means and deviations of columns.

use ndarray::{Array1, Array2};

/// A column that never changes must not blow up a new value.
const LEAST: f32 = 1e-2;

pub(super) struct Scale {
    pub(super) mean: Array1<f32>,
    pub(super) deviation: Array1<f32>,
}

impl Scale {
    /// Of rows with these weights.
    pub(super) fn of(rows: &Array2<f32>, weights: &Array1<f32>) -> Self {
        let sum = weights.sum();
        let mean = weights.dot(rows) / sum;
        let squares = (rows - &mean).mapv(|x| x * x);
        let deviation = (weights.dot(&squares) / sum).mapv(|x| x.sqrt().max(LEAST));
        Self { mean, deviation }
    }

    /// The same, with one deviation for every `period`-th column: their root mean square. Errors in columns of a
    /// kind then count alike.
    pub(super) fn periodic(mut self, period: usize) -> Self {
        let columns = self.deviation.len();
        for kind in 0..period.min(columns) {
            let each = (kind..columns).step_by(period);
            let squares: f32 = each.clone().map(|at| self.deviation[at].powi(2)).sum();
            let mean = (squares / each.len() as f32).sqrt();
            each.for_each(|at| self.deviation[at] = mean);
        }
        self
    }

    pub(super) fn apply(&self, rows: &Array2<f32>) -> Array2<f32> {
        (rows - &self.mean) / &self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn columns_are_standardised_with_their_weights_and_constants_are_kept_small() {
        let rows = array![[1.0, 7.0], [3.0, 7.0], [100.0, 7.0]];
        let scale = Scale::of(&rows, &array![1.0, 1.0, 0.0]);
        assert_eq!(scale.mean, array![2.0, 7.0]);
        assert_eq!(scale.apply(&rows).row(0), array![-1.0, 0.0]);
        assert!((scale.apply(&array![[2.0, 7.01]])[(0, 1)] - 1.0).abs() < 1e-3);
    }

    #[test]
    fn columns_of_a_kind_share_a_deviation() {
        let deviation = array![3.0, 1.0, 4.0, 1.0];
        let scale = Scale { mean: Array1::zeros(4), deviation }.periodic(2);
        let expected = array![12.5f32.sqrt(), 1.0, 12.5f32.sqrt(), 1.0];
        assert_eq!(scale.deviation, expected);
    }
}
