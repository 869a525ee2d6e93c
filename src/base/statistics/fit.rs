//! The straight line nearest to a set of points.

use super::mean;

/// A line by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// How much y grows when x grows by one.
    pub slope: f64,
    /// The value of y at x = 0.
    pub intercept: f64,
}

impl LinearFit {
    /// Returns the line nearest to the points; `None` unless two of them differ in x.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let (x_mean, y_mean) = (mean(&xs)?, mean(&ys)?);
        let spread: f64 = xs.iter().map(|x| (x - x_mean).powi(2)).sum();
        let joint: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        let slope = joint / spread;
        (spread != 0.0).then_some(Self { slope, intercept: y_mean - slope * x_mean })
    }

    /// Returns the line's y at an x.
    pub fn at(self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Returns the largest deviation of a point from the line, as a share of the line's y there.
    pub fn largest_deviation(self, points: &[(f64, f64)]) -> f64 {
        let distances = points.iter().map(|(x, y)| match (y - self.at(*x)).abs() {
            // Zero even if the line is at zero, where the share would be 0/0.
            0.0 => 0.0,
            off => off / self.at(*x).abs(),
        });
        distances.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_deviations_are_relative_to_it() {
        let line = LinearFit::through(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!(line, LinearFit { slope: 2.0, intercept: 1.0 });
        assert_eq!(line.largest_deviation(&[(0.0, 1.0), (2.0, 6.0)]), 0.2);
    }

    #[test]
    fn points_above_each_other_have_no_line() {
        assert_eq!(LinearFit::through(&[(1.0, 3.0), (1.0, 5.0)]), None);
        assert_eq!(LinearFit::through(&[]), None);
    }
}
