//! Whether a quantity drifts, and where a series has forgotten how it began.

use statrs::distribution::ContinuousCDF as _;

use super::estimate::student_of;
use super::{mean, standard_deviation};

/// The length of a batch in the rule that finds the end of a warm-up.
const BATCH: usize = 5;

/// Returns how likely a mean at least as far above zero would be if the true mean were zero, by
/// Student's one-sided t test; `None` for fewer than two values.
pub fn p_of_rise(values: &[f64]) -> Option<f64> {
    let (mean, deviation) = (mean(values)?, standard_deviation(values)?);
    let error = deviation / (values.len() as f64).sqrt();
    // Values without scatter are no accident. Rounding leaves a little scatter in equal values.
    if error <= mean.abs() * 1e-12 {
        return Some(if 0.0 < mean { 0.0 } else { 1.0 });
    }
    Some(student_of(values.len()).cdf(-mean / error))
}

/// Returns how many of the first values to leave out, so that the mean of the others is the most
/// certain, by the rule MSER-5; `None` if that would be more than half of them, so that the series
/// is too short for an answer.
///
/// The rule takes means of batches of five values. Of all numbers of batches to leave out, it
/// chooses the one for which the squared standard error of the mean of the rest is least (K. P.
/// White, M. J. Cobb and S. C. Spratt: A comparison of five steady-state truncation heuristics for
/// simulation, WSC 2000). Takes time linear in the values.
pub fn warm_up(values: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = values.chunks_exact(BATCH).filter_map(mean).collect();
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    // Sums of deviations from the whole mean keep more digits than sums of the values.
    let centre = mean(&batches)?;
    for (place, batch) in batches.iter().enumerate().rev() {
        let (left, from) = ((batches.len() - place) as f64, batch - centre);
        sum += from;
        squares += from * from;
        // The last five batches are too few to be alike by more than chance: the authors of the rule
        // leave them out, too.
        if left < BATCH as f64 {
            continue;
        }
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        // On a tie leave out less.
        if best.is_none_or(|(least, _)| error <= least) {
            best = Some((error, place));
        }
    }
    let (_, place) = best?;
    (2 * place <= batches.len()).then_some(place * BATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_is_judged_as_the_tables_of_t_say() {
        // t = 2 / √(10 / 3 / 4) = 2.19 with three degrees of freedom: 5.8 % lie above.
        let p = p_of_rise(&[0.0, 4.0, 1.0, 3.0]).unwrap();
        assert!((p - 0.0581).abs() < 1e-4, "{p}");
        assert_eq!(p_of_rise(&[3.0, 3.0, 3.0]), Some(0.0));
        assert_eq!(p_of_rise(&[0.0, 0.0]), Some(1.0));
        assert_eq!(p_of_rise(&[-3.0, -3.0]), Some(1.0));
        assert_eq!(p_of_rise(&[1.0]), None);
    }

    /// A saw tooth, below which the first `low` values lie.
    fn series(low: usize, all: usize) -> Vec<f64> {
        let tooth = |at: usize| [0.0, 2.0, 1.0, 3.0, 1.5, 0.5, 2.5][at % 7];
        (0..all).map(|at| if at < low { tooth(at) - 50.0 } else { tooth(at) }).collect()
    }

    #[test]
    fn the_values_before_a_step_are_left_out() {
        let left_out = warm_up(&series(40, 400)).unwrap();
        assert!((40..60).contains(&left_out), "{left_out}");
        assert_eq!(warm_up(&series(0, 400)).map(|left_out| left_out < 200), Some(true));
    }

    #[test]
    fn a_series_that_never_settles_has_no_end_of_its_warm_up() {
        assert_eq!(warm_up(&series(300, 400)), None);
        assert_eq!(warm_up(&[1.0; 10]), None);
        assert_eq!(warm_up(&[]), None);
        assert_eq!(warm_up(&[1.0; 100]), Some(0));
    }
}
