//! Bare numbers with a meaning: counts in a range, shares, factors.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Unexpected};

use super::{Quantity, text};

/// A whole number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count<const MIN: u32, const MAX: u32>(u32);

impl<const MIN: u32, const MAX: u32> Count<MIN, MAX> {
    /// Returns the count; `None` outside of the range.
    pub const fn new(count: u32) -> Option<Self> {
        if MIN <= count && count <= MAX { Some(Self(count)) } else { None }
    }

    /// Returns a count from a constant in the program.
    ///
    /// # Panics
    /// If it is outside of the range.
    pub const fn of(count: u32) -> Self {
        assert!(MIN <= count && count <= MAX, "a count in its range");
        Self(count)
    }

    /// Returns the number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const MIN: u32, const MAX: u32> Quantity for Count<MIN, MAX> {
    const STEP: f64 = 1.0;
    fn as_f64(self) -> f64 {
        self.0.into()
    }
    /// Returns the value rounded, and limited to the range.
    fn from_f64(value: f64) -> Self {
        // `as` saturates: an infinite draw is the largest count, NaN is zero.
        Self((value.round() as u32).clamp(MIN, MAX))
    }
}

impl<const MIN: u32, const MAX: u32> serde::Serialize for Count<MIN, MAX> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(self.0)
    }
}

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Count<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct CountVisitor<const MIN: u32, const MAX: u32>;
        impl<const MIN: u32, const MAX: u32> de::Visitor<'_> for CountVisitor<MIN, MAX> {
            type Value = Count<MIN, MAX>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                u32::try_from(number)
                    .ok()
                    .and_then(Count::new)
                    .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }
        }
        from.deserialize_any(CountVisitor)
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Count<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Count{MIN}To{MAX}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A share of a whole, from 0 to 1: `0.05` or `5 %`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Fraction(f64);

/// A factor from a model, finite and not negative: `1.5` or `150 %`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Factor(f64);

impl Fraction {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    /// Returns a share; `None` unless it is from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// Returns a share from a constant in the program.
    ///
    /// # Panics
    /// If it is not from 0 to 1.
    pub const fn of(share: f64) -> Self {
        assert!(0.0 <= share && share <= 1.0, "a share is from 0 to 1");
        Self(share)
    }

    /// Returns the share as a number from 0 to 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Factor {
    /// The factor that changes nothing.
    pub const ONE: Self = Self(1.0);

    /// Returns a factor; `None` unless it is finite and not negative.
    pub fn new(factor: f64) -> Option<Self> {
        (factor.is_finite() && 0.0 <= factor).then_some(Self(factor))
    }

    /// Returns a factor from a constant in the program.
    ///
    /// # Panics
    /// If it is negative or not finite.
    pub const fn of(factor: f64) -> Self {
        assert!(factor.is_finite() && 0.0 <= factor, "a factor is finite and not negative");
        Self(factor)
    }

    /// Returns the factor as a number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Quantity for Factor {
    fn as_f64(self) -> f64 {
        self.0
    }
    fn from_f64(value: f64) -> Self {
        Self(value)
    }
}

/// Reads `0.05`, `5%` or `5 %`.
fn share(text: &str) -> Option<f64> {
    let (value, rest) = text::number_and_rest(text)?;
    match rest.trim_end() {
        "" => Some(value),
        "%" => Some(value / 100.0),
        _ => None,
    }
}

crate::text_form! {
    Fraction,
    name: "Fraction",
    expected: "a share from 0 to 1, such as 0.05 or 5 %",
    pattern: r"^\s*\d+(\.\d+)?\s*%?\s*$",
    parse: |text| share(text).and_then(Fraction::new),
    print: |share, f| write!(f, "{}", share.0),
    write: |self, to| to.serialize_f64(self.0),
}

crate::text_form! {
    Factor,
    name: "Factor",
    expected: "a factor of zero or more, such as 1.5 or 150 %",
    pattern: r"^\s*\d+(\.\d+)?\s*%?\s*$",
    parse: |text| share(text).and_then(Factor::new),
    print: |factor, f| write!(f, "{}", factor.0),
    write: |self, to| to.serialize_f64(self.0),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_numbers_or_per_cent() {
        assert_eq!("5 %".parse::<Fraction>().unwrap(), Fraction::of(0.05));
        assert_eq!("0.05".parse::<Fraction>().unwrap(), Fraction::of(0.05));
        assert!("105%".parse::<Fraction>().is_err());
        assert_eq!("150 %".parse::<Factor>().unwrap(), Factor::of(1.5));
        assert!("-1".parse::<Factor>().is_err());
    }

    #[test]
    fn a_count_outside_of_its_range_says_the_range() {
        let error = serde_yaml::from_str::<Count<1, 64>>("65").unwrap_err().to_string();
        assert!(error.contains("a whole number from 1 to 64"), "{error}");
        assert_eq!(serde_yaml::from_str::<Count<1, 64>>("64").unwrap().get(), 64);
    }
}
