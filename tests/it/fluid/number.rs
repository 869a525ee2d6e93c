//! The numbers of fluid models.

use num_rational::BigRational;
use num_traits::ToPrimitive;

/// A quotient of whole numbers of any length: seconds, work, or a share.
pub(crate) type Rational = BigRational;

/// Returns the exact value of a float's decimal text: for 0.55 it is 11/20, which no float equals.
/// `None` for infinities and NaN.
pub(crate) fn exact(number: f64) -> Option<Rational> {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    // `inf` and `NaN` have no digits, so they do not parse.
    format!("{whole}{part}/1{}", "0".repeat(part.len())).parse().ok()
}

/// Returns the float nearest to a number.
pub(crate) fn approximate(number: &Rational) -> f64 {
    number.to_f64().expect("a quotient is a number")
}
