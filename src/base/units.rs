//! Quantities with their unit in the type, and the texts in which people write them.
//!
//! ```text
//! 1h 30min   SimSpan    5,400,000,000 µs    90min
//! 128MiB     Bytes        134,217,728 B     128MiB
//! 5 %        Fraction     0.05              0.05
//! ```
//!
//! Time is an integer number of microseconds ([`SimTime`], [`SimSpan`]); sizes are whole bytes
//! ([`Bytes`]), speeds whole bytes a second ([`Rate`]). Floats occur inside models and reports and
//! become integers once, here, with the rounding in the function's name. Every type reads the texts
//! of a scenario (`3s`, `128MiB`, `1Gb/s`, `5 %`). It prints a text that reads back as the same
//! value, so a resolved scenario loses no digit. [`tell`] prints numbers for people, who want fewer
//! digits.

/// Lets amounts in whole units be added and subtracted. A sum that does not fit is the largest amount:
/// of bytes, 16 EiB; of time, longer than any run, which ends it ([`SimTime::LAST`]).
macro_rules! amounts {
    ($Amount:ident) => {
        impl $Amount {
            /// Zero.
            pub const ZERO: Self = Self(0);

            /// Returns the difference, or zero if `other` is larger.
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl std::ops::Add for $Amount {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl std::iter::Sum for $Amount {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self::ZERO, std::ops::Add::add)
            }
        }
    };
}

mod number;
mod size;
pub mod tell;
mod text;
mod time;

pub use number::{Count, Factor, Fraction};
pub use size::{Bytes, Rate};
pub use text::NamedUnit;
pub use time::{SimSpan, SimTime};

/// A quantity that models compute with as a float, in the type's base unit.
pub trait Quantity: Copy {
    /// The smallest step that a model must respect: zero unless values are counts.
    const STEP: f64 = 0.0;
    /// Returns the value in the base unit.
    fn as_f64(self) -> f64;
    /// Returns the quantity nearest to `value`, which models keep finite and not negative.
    fn from_f64(value: f64) -> Self;
}
