//! Values that change in steps over time, averaged over intervals if there are too many steps.

use super::scale::is_number;

/// A step function of time: zero before the first step, then each step's value until the next step.
#[derive(Clone, Debug, Default)]
pub(super) struct ChartSteps {
    /// The steps (time and value) in the order of time.
    pub(super) steps: Vec<(f64, f64)>,
}

impl ChartSteps {
    /// Returns the function with these steps (time and value), which may be in any order. If two
    /// steps have the same time, the later step in the list counts. Steps that are not numbers are
    /// left out.
    pub(super) fn new(steps: &[(f64, f64)]) -> Self {
        let sane = steps.iter().filter(|(time, value)| is_number(*time) && is_number(*value));
        let mut steps: Vec<(f64, f64)> = sane.copied().collect();
        // A stable sort: of two steps at one instant, the later step in the list stays last.
        steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { steps }
    }

    /// Returns the mean in each interval between two neighbouring edges. Edges must be in ascending
    /// order.
    pub(super) fn means(&self, edges: &[f64]) -> Vec<f64> {
        let mut next = 0;
        let mut value = 0.0;
        let mut means = Vec::with_capacity(edges.len());
        for interval in edges.windows(2) {
            let (from, to) = (interval[0], interval[1]);
            let (mut at, mut sum) = (from, 0.0);
            while let Some((time, step)) = self.steps.get(next).filter(|(time, _)| *time < to) {
                // Steps before the first edge only set the value.
                sum += value * (time - at).max(0.0);
                (at, value) = (time.max(at), *step);
                next += 1;
            }
            sum += value * (to - at);
            // If two edges are equal up to rounding, the mean is the value, not 0/0.
            means.push(if to - from < 1e-90 { value } else { sum / (to - from) });
        }
        means
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mean_weighs_values_by_their_time() {
        let steps = ChartSteps::new(&[(0.0, 2.0), (3.0, 6.0)]);
        assert_eq!(steps.means(&[0.0, 4.0, 8.0]), [3.0, 6.0]);
    }

    #[test]
    fn before_the_first_step_is_nothing() {
        assert_eq!(ChartSteps::new(&[(2.0, 8.0)]).means(&[0.0, 4.0]), [4.0]);
        assert_eq!(ChartSteps::new(&[(2.0, 8.0)]).means(&[3.0, 4.0]), [8.0]);
    }

    proptest! {
        #[test]
        fn between_its_own_steps_a_function_is_exact(
            steps in prop::collection::btree_map(0u16..1_000, 0u16..50, 2..40),
        ) {
            let steps: Vec<(f64, f64)> =
                steps.into_iter().map(|(time, value)| (time.into(), value.into())).collect();
            let edges: Vec<f64> = steps.iter().map(|step| step.0).collect();
            let means = ChartSteps::new(&steps).means(&edges);
            prop_assert!(means.iter().zip(&steps).all(|(mean, step)| *mean == step.1));
        }
    }
}
