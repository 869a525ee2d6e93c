//! The numbers of fluid models.

use std::cmp::Ordering;
use std::fmt::Debug;

use num_rational::BigRational;
use num_traits::{NumRef, ToPrimitive};

/// A quotient of whole numbers of any length: seconds, work, or a share.
pub type Rational = BigRational;

/// A number of a fluid model: an exact quotient, or a float for thousands of jobs.
pub trait FluidNumber: NumRef + Clone + PartialOrd + Debug {
    /// Returns the smallest difference that is no rounding error.
    fn tolerance() -> Self;

    /// Returns the float nearest to the number.
    fn float(&self) -> f64;

    /// Compares two numbers.
    ///
    /// # Panics
    /// If one is not a number.
    fn order(&self, other: &Self) -> Ordering {
        self.partial_cmp(other).expect("amounts are numbers")
    }

    /// Returns whether two numbers differ by a rounding error at most.
    fn is_near(&self, other: &Self) -> bool {
        let (low, high) = if self < other { (self, other) } else { (other, self) };
        high.clone() - low <= Self::tolerance()
    }
}

impl FluidNumber for Rational {
    fn tolerance() -> Self {
        num_traits::Zero::zero()
    }

    fn float(&self) -> f64 {
        approximate(self)
    }
}

impl FluidNumber for f64 {
    // Chosen: a microsecond of the whole system, far above the rounding of months in seconds.
    fn tolerance() -> Self {
        1e-6
    }

    fn float(&self) -> f64 {
        *self
    }
}

/// Returns the exact value of a float's decimal text: for 0.55 it is 11/20, which no float equals.
/// `None` for infinities and NaN.
pub fn exact(number: f64) -> Option<Rational> {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    // `inf` and `NaN` have no digits, so they do not parse.
    format!("{whole}{part}/1{}", "0".repeat(part.len())).parse().ok()
}

/// Returns the float nearest to a number.
pub fn approximate(number: &Rational) -> f64 {
    number.to_f64().expect("a quotient is a number")
}
