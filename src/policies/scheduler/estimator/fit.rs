//! Estimates how long a job's tasks take, from a sample of them.
//!
//! As in the papers on HFSP, `uniform` fits a uniform distribution to the sample by least squares: the
//! sample is an approximate distribution function, whose *i*-th of *n* times has the share
//! `(i − ½) / n`, and the fitted distribution function is the one whose shares at these times differ
//! least from it. So a time far from the others counts little, and the estimate is not the mean of
//! the sample.

use super::Estimator;
use mumakil_base::mutated;

/// A task of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredTask {
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Its input, relative to the input of a mean task of its job.
    pub input: f64,
}

impl MeasuredTask {
    /// Returns a task whose input is like that of a mean task.
    pub fn of(seconds: f64) -> Self {
        Self { seconds, input: 1.0 }
    }
}

impl Estimator {
    /// Returns the time in seconds of a task with the mean input, estimated from a sample of at
    /// least one task.
    pub fn task_time(&self, sample: &[MeasuredTask]) -> f64 {
        let sum = |of: fn(&MeasuredTask) -> f64| sample.iter().map(of).sum::<f64>();
        let input = sum(|task| task.input);
        // Without any input, the inputs say nothing about the times.
        let mean =
            sum(|task| task.seconds) / if input == 0.0 { sample.len() as f64 } else { input };
        // Only tasks with input show how long an input takes.
        let with_input = sample.iter().filter(|task| 0.0 < task.input);
        let mut times: Vec<f64> = with_input.map(|task| task.seconds / task.input).collect();
        times.sort_unstable_by(f64::total_cmp);
        let is_spread = times.first() != times.last();
        // Equal times have no distribution, and a logarithm needs times above zero.
        if !is_spread || times[0] <= 0.0 {
            return mean;
        }
        match self {
            Self::Uniform => mutated!(fitted(&times), "hfsp/fit-mean" => mean),
            _ => {
                mutated!(mean, "hfsp/mean-longest" => times[times.len() - 1], "hfsp/mean-middle" => times[times.len() / 2])
            }
        }
    }
}

const SQRT_12: f64 = 3.464_101_615_137_754_6;

/// Returns the middle of the uniform distribution that is fitted to times in ascending order, which
/// are not all equal.
fn fitted(times: &[f64]) -> f64 {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let spread = (times.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    let median = times[times.len() / 2];
    let error = |[at, scale]: [f64; 2]| {
        // The search works with the logarithm of the scale, which stays above zero.
        squares(times, |time| ((time - at) / scale.exp() / SQRT_12 + 0.5).clamp(0.0, 1.0))
    };
    // Times far from the others may give a second minimum, which a narrow start finds.
    let starts = [(mean, spread), (median, spread / 4.0), (median, spread / 16.0)];
    let found = starts.map(|(at, scale)| lowest(&error, [at, scale.ln()], [spread, 1.0]));
    let least = found.into_iter().min_by(|a, b| error(*a).total_cmp(&error(*b)));
    least.map_or(mean, |[at, _]| at)
}

/// Returns the sum of the squared distances between a distribution function and that of a sample in
/// ascending order.
fn squares(sample: &[f64], share: impl Fn(f64) -> f64) -> f64 {
    let count = sample.len() as f64;
    let distance = |(place, one): (usize, &f64)| {
        // The sample's function rises by a step at each time; the middle of the step is compared.
        share(*one) - (place as f64 + mutated!(0.5, "hfsp/fit-steps" => 1.0)) / count
    };
    sample.iter().enumerate().map(distance).map(|distance| distance * distance).sum()
}

/// Returns where a function of two numbers is lowest, near a start (Nelder and Mead, 1965).
fn lowest(of: &impl Fn([f64; 2]) -> f64, start: [f64; 2], step: [f64; 2]) -> [f64; 2] {
    let corners = [start, [start[0] + step[0], start[1]], [start[0], start[1] + step[1]]];
    let mut simplex = corners.map(|corner| (of(corner), corner));
    // Chosen: each step shrinks the triangle by about a third, so these steps exhaust the digits of
    // a number.
    simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
    for _ in 0..200 {
        let before = simplex;
        let [best, good, worst] = simplex;
        let middle = [0, 1].map(|axis| f64::midpoint(best.1[axis], good.1[axis]));
        let along = |times: f64| {
            let corner = [0, 1].map(|axis| middle[axis] + times * (middle[axis] - worst.1[axis]));
            (of(corner), corner)
        };
        let mirrored = along(1.0);
        simplex[2] = if mirrored.0 < best.0 {
            let further = along(2.0);
            if further.0 < mirrored.0 { further } else { mirrored }
        } else if mirrored.0 < good.0 {
            mirrored
        } else {
            let nearer = if mirrored.0 < worst.0 { along(0.5) } else { along(-0.5) };
            if worst.0.min(mirrored.0) <= nearer.0 {
                // No point along the line is lower, so shrink the triangle around its best corner.
                let half = [0, 1].map(|axis| f64::midpoint(best.1[axis], good.1[axis]));
                simplex[1] = (of(half), half);
                let half = [0, 1].map(|axis| f64::midpoint(best.1[axis], worst.1[axis]));
                (of(half), half)
            } else {
                nearer
            }
        };
        simplex.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The next step depends on the triangle alone: one that stays as it is does so for ever.
        if simplex == before {
            break;
        }
    }
    simplex[0].1
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Estimator; 2] = [Estimator::Mean, Estimator::Uniform];

    fn task_time(family: &Estimator, times: &[f64]) -> f64 {
        let sample: Vec<MeasuredTask> = times.iter().copied().map(MeasuredTask::of).collect();
        family.task_time(&sample)
    }

    /// If a sample consists of the quantiles of a distribution, the fit is exact and finds the mean
    /// of the distribution.
    #[test]
    fn uniform_finds_the_mean_of_its_own_quantiles() {
        let share = |i: i32| (f64::from(i) + 0.5) / 9.0;
        let quantiles: Vec<f64> = (0..9).map(|i| 10.0 + 20.0 * share(i)).collect();
        let found = task_time(&Estimator::Uniform, &quantiles);
        assert!((found / 20.0 - 1.0).abs() < 1e-6, "{found}");
    }

    /// Four tasks take about 60 s and one takes 600 s. The mean is 168 s. Distribution functions are
    /// compared by shares, and for its share the straggler might as well take 70 s.
    #[test]
    fn distribution_functions_are_fitted_and_not_times() {
        let sample = [58.0, 59.0, 60.0, 61.0, 600.0];
        assert_eq!(task_time(&Estimator::Mean, &sample), 167.6);
        let found = task_time(&Estimator::Uniform, &sample);
        assert!((59.0..=61.0).contains(&found), "{found}");
    }

    /// No straight line, cut off at 0 and 1, is nearer to the sample's function than the one that is
    /// found: lines are tried in small steps.
    #[test]
    fn the_least_squares_are_found() {
        let sample = [3.0, 7.0, 12.0, 18.0, 30.0];
        let error = |at: f64, width: f64| {
            squares(&sample, |time| ((time - at) / width + 0.5).clamp(0.0, 1.0))
        };
        let steps =
            |from: f64, to: f64| (0..=400).map(move |i| from + (to - from) * f64::from(i) / 400.0);
        let tried = steps(5.0, 25.0).flat_map(|at| steps(5.0, 65.0).map(move |width| (at, width)));
        let least =
            tried.map(|(at, width)| (error(at, width), at)).min_by(|a, b| a.0.total_cmp(&b.0));
        let found = task_time(&Estimator::Uniform, &sample);
        assert!((found - least.unwrap().1).abs() < 0.2, "{found}, {least:?}");
    }

    #[test]
    fn equal_times_and_single_ones_are_what_they_are() {
        for family in &ALL {
            assert!((task_time(family, &[60.0; 5]) - 60.0).abs() < 1e-6, "{family:?}");
            assert_eq!(task_time(family, &[60.0]), 60.0, "{family:?}");
            assert_eq!(task_time(family, &[0.0, 0.0, 3.0]), 1.0, "{family:?} of no time at all");
        }
    }

    /// The tasks take 2 s for each unit of input; the sample happens to have large tasks, and one
    /// without input.
    #[test]
    fn times_are_related_to_the_input() {
        let task = |seconds, input| MeasuredTask { seconds, input };
        let sample = [task(6.0, 3.0), task(4.0, 2.0), task(0.0, 0.0), task(8.0, 4.0)];
        for family in &ALL {
            assert_eq!(family.task_time(&sample), 2.0, "{family:?}");
        }
        assert_eq!(Estimator::Mean.task_time(&[task(6.0, 0.0), task(2.0, 0.0)]), 4.0);
    }
}
