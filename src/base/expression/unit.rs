//! The unit of a number (time, bytes, share or none), and how a number is printed.

use super::ComparisonSign;
use crate::units::tell::{self, Detail};
use crate::units::{Bytes, SimSpan};

/// How many more digits than usual a close comparison may have.
// Chosen: enough for the smallest difference that a comparison sees, a billionth of the numbers.
const MOST_MORE: usize = 10;

/// The unit of a number: seconds and bytes to some power, or a share of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The power of the second.
    pub time: i8,
    /// The power of the byte.
    pub bytes: i8,
    /// Whether numbers are printed in per cent.
    pub share: bool,
}

impl Unit {
    /// No unit.
    pub const PLAIN: Self = Self { time: 0, bytes: 0, share: false };
    /// Seconds.
    pub const TIME: Self = Self { time: 1, ..Self::PLAIN };
    /// Bytes.
    pub const BYTES: Self = Self { bytes: 1, ..Self::PLAIN };
    /// A share of a whole.
    pub const SHARE: Self = Self { share: true, ..Self::PLAIN };

    /// Returns whether numbers of both units may be added and compared.
    pub fn fits(self, other: Self) -> bool {
        (self.time, self.bytes) == (other.time, other.bytes)
    }

    /// Returns whether the unit contains neither time nor bytes.
    pub fn is_plain(self) -> bool {
        self.fits(Self::PLAIN)
    }

    /// Returns the unit of a sum: a share if either number is one.
    pub fn or(self, other: Self) -> Self {
        Self { share: self.share || other.share, ..self }
    }

    /// Returns the unit of a product, or of a quotient if `sign` is −1.
    pub fn times(self, other: Self, sign: i8) -> Self {
        // Saturate instead of overflowing: an absurd power gets an absurd unit, which fits no other
        // unit.
        let power = |own: i8, other: i8| own.saturating_add(other.saturating_mul(sign));
        let (time, bytes) = (power(self.time, other.time), power(self.bytes, other.bytes));
        // A share of a share is a share; a ratio of shares is a plain factor.
        let share = sign == 1 && self.share && other.share;
        Self { time, bytes, share }
    }

    /// Returns the unit of a power; `None` if it has a fractional or too large power of seconds or
    /// bytes.
    pub fn power(self, exponent: f64) -> Option<Self> {
        let power = |of: i8| {
            let power = f64::from(of) * exponent;
            // Fractional powers of a second have no meaning here. The limit 100 stays well within
            // an `i8`.
            (power.fract() == 0.0 && power.abs() <= 100.0).then_some(power as i8)
        };
        Some(Self { time: power(self.time)?, bytes: power(self.bytes)?, share: false })
    }

    /// Returns words for a number of this unit, such as `a share`.
    pub fn word(self) -> &'static str {
        match (self.time, self.bytes) {
            (0, 0) if self.share => "a share",
            (0, 0) => "a plain number",
            (1, 0) => "a time",
            (0, 1) => "a size in bytes",
            (-1, 0) => "a number per time",
            (-1, 1) => "a speed",
            _ => "a number of another unit",
        }
    }

    /// Returns the sign of the unit in files, such as `s` or `B/s`; empty without a unit.
    pub fn sign(self) -> String {
        match (self.time, self.bytes) {
            (0, 0) => String::new(),
            (1, 0) => "s".to_owned(),
            (0, 1) => "B".to_owned(),
            (-1, 1) => "B/s".to_owned(),
            (time, bytes) => format!("s^{time} B^{bytes}"),
        }
    }

    /// Prints differences of numbers. Differences of shares are in percentage points.
    pub fn show_differences<const N: usize>(self, values: [f64; N]) -> [String; N] {
        match self.share && self.is_plain() && values.iter().all(|value| value.is_finite()) {
            true => values.map(tell::points),
            false => self.show_together(values),
        }
    }

    /// Prints a number of a column: times below a second are in seconds if the largest number of
    /// the column, `largest`, is at least a second.
    pub fn show_in_column(self, value: f64, largest: f64) -> String {
        self.show_beside(value, least_like(value, largest), 0)
    }

    /// Prints differences that belong together in a column with this largest number.
    pub fn show_differences_in_column<const N: usize>(
        self,
        values: [f64; N],
        largest: f64,
    ) -> [String; N] {
        let own = tell::largest(values);
        // Numbers of a second and more already have the units of the column.
        match self == Self::TIME && own < least_like(own, largest) {
            true => values.map(|value| self.show_in_column(value, largest)),
            false => self.show_differences(values),
        }
    }

    /// Prints numbers that belong together, such as a mean and the ends of its interval: all in the
    /// unit and with the precision of the largest number.
    pub fn show_together<const N: usize>(self, values: [f64; N]) -> [String; N] {
        let largest = tell::largest(values);
        values.map(|value| self.show_beside(value, largest, 0))
    }

    /// Prints the numbers of a comparison, with these signs between them. If two numbers differ but
    /// would look the same, all get more digits until the two look different: `24.96 s < 25.00 s`.
    /// Only where a sign holds and also holds for equal numbers, rounding hides nothing:
    /// `25.0 s <= 25.0 s`.
    pub fn show_compared(self, values: &[f64], signs: &[ComparisonSign]) -> Vec<String> {
        let show = |more: usize| -> Vec<String> {
            values.iter().map(|value| self.show_beside(*value, value.abs(), more)).collect()
        };
        let shown = (0..=MOST_MORE).map(show).find(|told| {
            let mut pairs = values.windows(2).zip(told.windows(2)).zip(signs);
            pairs.all(|((pair, told), sign)| {
                let differs = ComparisonSign::Unequal.holds(pair[0], pair[1]);
                let holds_anyway = sign.holds(pair[0], pair[1]) && sign.holds(pair[0], pair[0]);
                !differs
                    || holds_anyway
                    || without_idle_zeros(&told[0]) != without_idle_zeros(&told[1])
            })
        });
        shown.unwrap_or_else(|| show(0))
    }

    /// Prints a number for readers: `3 min 12 s`, `97.2 %`, `2.0 GiB`.
    pub fn show(self, value: f64) -> String {
        self.show_beside(value, value.abs(), 0)
    }

    /// Prints a number in the unit of the number `like`, with some more digits than that has.
    fn show_beside(self, value: f64, like: f64, more: usize) -> String {
        if !value.is_finite() {
            return "not a number".to_owned();
        }
        let (size, detail) = (value.abs(), Detail::Like { like, more });
        let told = match (self.time, self.bytes, self.share) {
            (0, 0, true) => tell::finer_percent(size, more),
            (0, 0, false) => tell::finer_number(size, like, more),
            (1, 0, _) => tell::time(size, detail),
            (0, 1, _) => tell::size(size, detail),
            (-1, 1, _) => format!("{}/s", tell::size(size, detail)),
            (seconds, bytes, _) => {
                let number = tell::finer_number(size, like, more);
                number + &power("s", seconds) + &power("B", bytes)
            }
        };
        // A number that rounds to zero has no sign.
        let is_below = value < 0.0 && told.contains(|c: char| ('1'..='9').contains(&c));
        let sign = if is_below { "-" } else { "" };
        format!("{sign}{told}")
    }
}

/// Reads a number with a unit of time or size, such as `15min`. Returns its value in seconds or
/// bytes, and its unit.
pub fn with_unit(text: &str) -> Option<(f64, Unit)> {
    let time = text.parse().map(|span: SimSpan| (span.as_secs_f64(), Unit::TIME));
    let size = text.parse().map(|size: Bytes| (size.get() as f64, Unit::BYTES));
    time.or(size).ok()
}

/// Returns a printed number without zeros at the end of its decimals: `1.000` looks like `1`.
fn without_idle_zeros(told: &str) -> String {
    let words = told.split(' ').map(|word| match word.contains('.') {
        true => word.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the number whose unit a number of a column has: itself, or a second if the column has a
/// number of a second or more.
fn least_like(value: f64, largest: f64) -> f64 {
    let size = value.abs();
    if 1.0 <= largest.abs() { size.max(1.0) } else { size.max(largest.abs()) }
}

fn power(unit: &str, power: i8) -> String {
    match power {
        0 => String::new(),
        1 => format!(" {unit}"),
        _ => format!(" {unit}^{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_people_do() {
        for (unit, value, told) in [
            (Unit::TIME, 192.0, "3 min 12 s"),
            (Unit::TIME, 59.97, "1 min 00 s"),
            (Unit::TIME, 3_599.6, "1 h 00 min 00 s"),
            (Unit::TIME, 9.06, "9.1 s"),
            (Unit::TIME, -0.25, "-250.0 ms"),
            (Unit::TIME, 0.0, "0 s"),
            (Unit::SHARE, 0.9725, "97.2 %"),
            (Unit::BYTES, 2_147_483_648.0, "2.0 GiB"),
            (Unit::BYTES, 12.0, "12 B"),
            (Unit::PLAIN, 2.5, "2.500"),
            (Unit::PLAIN, 100.0, "100"),
            (Unit::TIME.power(-1.0).unwrap(), 2.0, "2 s^-1"),
            (Unit::PLAIN, f64::NAN, "not a number"),
        ] {
            assert_eq!(unit.show(value), told);
        }
    }

    #[test]
    fn numbers_that_belong_together_have_one_unit_and_precision() {
        for (unit, values, told) in [
            (Unit::TIME, [61.2, 0.6617], ["1 min 01 s", "1 s"]),
            (Unit::TIME, [0.9374, 1.02], ["0.9 s", "1.0 s"]),
            (Unit::TIME, [-0.2, 4_000.0], ["0 s", "1 h 06 min 40 s"]),
            (Unit::TIME, [-0.0002, 0.0011], ["-0.2 ms", "1.1 ms"]),
            (Unit::BYTES, [2_147_483_648.0, 107_374_182.4], ["2.0 GiB", "0.1 GiB"]),
            (Unit::PLAIN, [123.45, 0.25], ["123.5", "0.2"]),
            (Unit::SHARE, [0.9725, 0.001], ["97.2 %", "0.1 %"]),
        ] {
            assert_eq!(unit.show_together(values), told);
        }
        assert_eq!(Unit::SHARE.show_differences([-0.034]), ["-3.4 points"]);
        assert_eq!(Unit::TIME.show_differences([-9.06]), ["-9.1 s"]);
    }

    #[test]
    fn a_column_of_seconds_has_no_milliseconds() {
        let column = |values: [f64; 3]| {
            let largest = values.iter().fold(0.0, |largest, value| f64::max(largest, value.abs()));
            values.map(|value| Unit::TIME.show_in_column(value, largest))
        };
        assert_eq!(column([-0.915, 48.4, 61.0]), ["-0.9 s", "48.4 s", "1 min 01 s"]);
        assert_eq!(column([-0.0004, 0.025, 0.4]), ["-0.4 ms", "25.0 ms", "400.0 ms"]);
        let differences = |largest| Unit::TIME.show_differences_in_column([0.2, 0.1], largest);
        assert_eq!(differences(9.0), ["0.2 s", "0.1 s"]);
        assert_eq!(differences(0.2), ["200.0 ms", "100.0 ms"]);
        assert_eq!(Unit::SHARE.show_differences_in_column([0.2], 9.0), ["20.0 points"]);
    }

    #[test]
    fn compared_numbers_look_different_unless_rounding_hides_nothing() {
        use ComparisonSign::{AtLeast, AtMost, Equal, Less, Unequal};
        for (unit, values, sign, told) in [
            (Unit::TIME, [24.7, 25.0], Less, ["24.7 s", "25.0 s"]),
            (Unit::TIME, [24.96, 25.0], Less, ["24.96 s", "25.00 s"]),
            (Unit::TIME, [24.999_6, 25.0], Less, ["24.9996 s", "25.0000 s"]),
            (Unit::TIME, [25.0, 25.0], Less, ["25.0 s", "25.0 s"]),
            (Unit::TIME, [24.96, 25.0], AtMost, ["25.0 s", "25.0 s"]),
            (Unit::TIME, [25.04, 25.0], AtMost, ["25.04 s", "25.00 s"]),
            (Unit::TIME, [24.96, 25.0], AtLeast, ["24.96 s", "25.00 s"]),
            (Unit::TIME, [0.1 + 0.2, 0.3], Equal, ["300.0 ms", "300.0 ms"]),
            (Unit::TIME, [149.8, 150.0], Equal, ["2 min 29.8 s", "2 min 30.0 s"]),
            (Unit::TIME, [59.96, 60.0], Unequal, ["59.96 s", "1 min 00.00 s"]),
            (Unit::TIME, [-25.04, -25.0], Less, ["-25.04 s", "-25.00 s"]),
            (Unit::SHARE, [0.750_04, 0.75], AtMost, ["75.004 %", "75.000 %"]),
            (Unit::BYTES, [1_023.9, 1_024.0], Less, ["0.9999 KiB", "1.0000 KiB"]),
            (Unit::PLAIN, [99.996, 100.0], Less, ["99.996", "100"]),
            (Unit::PLAIN, [1e-12, 0.0], Equal, ["0.000000000001", "0"]),
            (Unit::PLAIN, [f64::NAN, 1.0], Less, ["not a number", "1"]),
        ] {
            assert_eq!(unit.show_compared(&values, &[sign]), told, "{sign:?}");
        }
        let chain = Unit::TIME.show_compared(&[1.0, 25.04, 25.0], &[Less, Less]);
        assert_eq!(chain, ["1.00 s", "25.04 s", "25.00 s"]);
        assert_eq!(Unit::TIME.show_compared(&[24.96, 25.0], &[]), ["25.0 s", "25.0 s"]);
    }
}
