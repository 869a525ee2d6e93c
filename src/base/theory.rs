//! Theory to compare with measured numbers: closed forms.
//!
//! ```text
//! a run: 95 % of the maps are local   |  delay: DelayedJob { .. }.mean_locality(skips)
//! a run: its maps took 4 min       |  bag: TaskBag { .. }.most()
//! ```
//!
//! A closed form takes plain numbers. It returns a finite number, or an error that names a number
//! out of range. The expectation language has the forms of delay scheduling as functions.

mod bag;
mod delay;
mod division;

pub use bag::TaskBag;
pub use delay::{DelayedJob, SkippedTime, StickySlots};
pub use division::equal_shares;

/// A number outside of the range that a closed form accepts.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{name}` is {value}; it must be {allowed}")]
pub struct DomainError {
    /// The parameter.
    pub name: &'static str,
    /// The value of the parameter.
    pub value: f64,
    /// The allowed range, in words.
    pub allowed: &'static str,
}

/// The largest count that a form takes. Chosen: the forms walk all nodes, and a million nodes take
/// a moment.
const MOST: f64 = 1e6;

/// Checks a count: a whole number of at least one.
fn count(name: &'static str, value: f64) -> Result<(), DomainError> {
    let allowed = "a whole number from 1 to 1000000";
    check(name, value, value.fract() == 0.0 && (1.0..=MOST).contains(&value), allowed)
}

/// Checks one parameter.
fn check(
    name: &'static str,
    value: f64,
    holds: bool,
    allowed: &'static str,
) -> Result<(), DomainError> {
    if holds { Ok(()) } else { Err(DomainError { name, value, allowed }) }
}
