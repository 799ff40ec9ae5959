//! What a network learns from.

use crate::cparams::Cparams;
use crate::error::TrainError;
use crate::features::FEATURE_COUNT;

/// A piece: its features, and what each class of parameters cost on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The array that it comes from, also where the array was changed; a number below that of
    /// [`Dataset::groups`].
    pub group: usize,
    /// Whether it is a piece of the array as it is: only these are evaluated on.
    pub original: bool,
    /// As [`Features`](crate::Features).
    pub features: [f32; FEATURE_COUNT],
    /// For each class the logarithms of the share, and of seconds per byte to compress and to decompress.
    pub costs: Vec<[f32; 3]>,
}

/// Examples, and what they are about.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dataset {
    /// Names of the arrays.
    pub groups: Vec<String>,
    /// The classes of parameters.
    pub classes: Vec<Cparams>,
    /// The examples.
    pub examples: Vec<Example>,
}

impl Dataset {
    /// Adds an example of these costs, as [`sweep`](super::sweep) gives them.
    ///
    /// # Errors
    /// [`TrainError::Costs`] where the costs are not those of the classes, or no positive numbers.
    pub fn add(
        &mut self,
        group: &str,
        original: bool,
        features: [f32; FEATURE_COUNT],
        costs: &[[f32; 3]],
    ) -> Result<(), TrainError> {
        let valid = |x: &f32| x.is_finite() && *x > 0.0;
        if costs.len() != self.classes.len() || !costs.iter().flatten().all(valid) {
            return Err(TrainError::Costs);
        }
        let known = self.groups.iter().position(|name| name == group);
        let group = known.unwrap_or_else(|| {
            self.groups.push(group.to_owned());
            self.groups.len() - 1
        });
        let costs = costs.iter().map(|cost| cost.map(f32::ln)).collect();
        self.examples.push(Example { group, original, features, costs });
        Ok(())
    }

    /// What each example weighs, so that arrays of many pieces do not drown the others: the root of its share in its
    /// group.
    pub(super) fn weight(&self, of: impl Fn(&Example) -> bool) -> Vec<f32> {
        let mut counts = vec![0u32; self.groups.len()];
        self.examples.iter().filter(|e| of(e)).for_each(|e| counts[e.group] += 1);
        self.examples.iter().map(|e| 1.0 / (counts[e.group].max(1) as f32).sqrt()).collect()
    }
}
