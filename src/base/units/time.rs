//! Virtual time: instants and spans, in whole microseconds.
//!
//! The unit is the microsecond, because traces and time-outs use milliseconds (exact multiples),
//! while a heartbeat's service time and a link's latency are fractions of a millisecond. Instant +
//! span = instant, instant − instant = span; instant + instant does not compile.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use super::Quantity;
use super::text::{self, NamedUnit};

/// An instant of virtual time: whole microseconds since the scenario began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A length of virtual time: whole microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimSpan(u64);

impl SimTime {
    /// The beginning of the scenario.
    pub const ZERO: Self = Self(0);
    /// Later than any event of a run.
    pub const NEVER: Self = Self(u64::MAX);
    /// The last instant that a run can tell: 200,000 years. A run that comes to a later one ends
    /// with an error. So instants can be added up in pairs, and the longest spans added to them,
    /// without an overflow; a sum that still does not fit is [`Self::NEVER`], and so beyond this.
    pub const LAST: Self = Self(2_000 * SimSpan::LONGEST.0);

    /// Returns the instant this many microseconds after the beginning.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the whole microseconds since the beginning.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Returns the whole milliseconds since the beginning, truncated: the unit of the tables.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the seconds since the beginning.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the span since `earlier`; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> SimSpan {
        SimSpan(self.0.saturating_sub(earlier.0))
    }
}

impl SimSpan {
    /// The longest span that a scenario may name: a hundred years.
    pub const LONGEST: Self = Self(100 * 365 * 86_400 * 1_000_000);

    /// Returns a span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns a span of whole milliseconds, at most the longest that fits.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Returns a span of whole seconds, at most the longest that fits.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// Returns a span of seconds, rounded up, so that work which takes any time at all takes at
    /// least one microsecond. A time above [`Self::LONGEST`] becomes [`Self::LONGEST`].
    pub fn ceil_from_secs(secs: f64) -> Self {
        assert!(!secs.is_nan() && 0.0 <= secs, "not a duration: {secs} s");
        Self((secs * 1e6).ceil() as u64).min(Self::LONGEST)
    }

    /// Returns the whole microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Returns the whole milliseconds, truncated.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns whether the span is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Multiplies by a factor from a model, rounding up.
    pub fn ceil_mul(self, factor: f64) -> Self {
        Self::ceil_from_secs(self.as_secs_f64() * factor)
    }
}

impl Add<SimSpan> for SimTime {
    type Output = Self;
    fn add(self, span: SimSpan) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<SimSpan> for SimTime {
    fn add_assign(&mut self, span: SimSpan) {
        *self = *self + span;
    }
}

impl Sub for SimTime {
    type Output = SimSpan;
    fn sub(self, earlier: Self) -> SimSpan {
        SimSpan(self.0.checked_sub(earlier.0).expect("a span ends after it begins"))
    }
}

amounts!(SimSpan);

impl AddAssign for SimSpan {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for SimSpan {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a part is not longer than the whole"))
    }
}

impl Mul<u64> for SimSpan {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Quantity for SimSpan {
    fn as_f64(self) -> f64 {
        self.0 as f64
    }
    fn from_f64(value: f64) -> Self {
        // Round up, so that a drawn time above zero is never zero; heavy tails end at a hundred
        // years.
        Self((value.ceil() as u64).min(Self::LONGEST.0))
    }
}

/// Prints seconds with as many digits as the instant has: `12.0042 s`.
impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

const UNITS: &[NamedUnit] = &[
    NamedUnit { name: "us", size: 1.0 },
    NamedUnit { name: "µs", size: 1.0 },
    NamedUnit { name: "ms", size: 1e3 },
    NamedUnit { name: "s", size: 1e6 },
    NamedUnit { name: "min", size: 60e6 },
    NamedUnit { name: "h", size: 3_600e6 },
    NamedUnit { name: "d", size: 86_400e6 },
];

crate::text_form! {
    SimSpan,
    name: "Duration",
    expected: "a duration with a unit, such as 3s, 200ms, 10min or 1h 30min",
    pattern: r"^\s*0\s*$|^(\s*\d+(\.\d+)?\s*(us|µs|ms|s|min|h|d))+\s*$",
    parse: |text| {
        let micros = text::sum_of_parts(text, UNITS)?;
        (micros <= SimSpan::LONGEST.0 as f64).then(|| SimSpan(micros.ceil() as u64))
    },
    too_much: |text| text::sum_of_parts(text, UNITS).is_some() => "the longest time is 36500d",
    print: |span, f| {
        let (size, name) = [
            (3_600_000_000, "h"),
            (60_000_000, "min"),
            (1_000_000, "s"),
            (1_000, "ms"),
        ]
        .into_iter()
        // The largest unit that divides the span, so that the text reads back as the same span.
        .find(|(size, _)| span.0.is_multiple_of(*size))
        .unwrap_or((1, "us"));
        if span.0 == 0 { f.write_str("0s") } else { write!(f, "{}{name}", span.0 / size) }
    },
    write: |self, to| to.collect_str(self),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_back_as_printed() {
        for (text, micros) in [
            ("3s", 3_000_000),
            ("200us", 200),
            ("10min", 600_000_000),
            ("90s", 90_000_000),
            ("0s", 0),
            ("2h", 7_200_000_000),
        ] {
            let span: SimSpan = text.parse().unwrap();
            assert_eq!(span.as_micros(), micros, "{text}");
            assert_eq!(span.to_string(), text);
        }
    }

    #[test]
    fn people_write_spans_in_many_ways() {
        let same = |a: &str, b: &str| {
            assert_eq!(a.parse::<SimSpan>().unwrap(), b.parse::<SimSpan>().unwrap(), "{a} = {b}");
        };
        same("1h 30min", "90min");
        same("0.2ms", "200 µs");
        same("1.5 s", "1500ms");
        same("0", "0s");
        same("1d", "24h");
    }

    #[test]
    fn a_span_without_a_unit_or_with_a_wrong_one_is_refused() {
        for text in ["", "3", "-3s", "3 parsecs", "s", "1e9s", "3s4", "1000000000d", "nan s"] {
            assert!(text.parse::<SimSpan>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_span_that_is_too_long_is_not_said_to_lack_its_unit() {
        let refused = |text: &str| text.parse::<SimSpan>().unwrap_err();
        assert_eq!(refused("100000d"), "`100000d` is too much: the longest time is 36500d");
        assert_eq!("36500d".parse(), Ok(SimSpan::LONGEST));
        assert!(refused("100000").contains("a duration with a unit"));
        let read = serde_yaml::from_str::<SimSpan>("100000d").unwrap_err().to_string();
        assert!(read.contains("the longest time is 36500d"), "{read}");
    }

    #[test]
    fn a_sum_that_does_not_fit_is_beyond_the_last_instant() {
        assert_eq!(SimTime::from_micros(u64::MAX - 1) + SimSpan::LONGEST, SimTime::NEVER);
        assert!(SimTime::LAST < SimTime::ZERO + SimSpan::LONGEST * 10_000);
        let whole = (0..10_000).map(|_| SimSpan::LONGEST).sum::<SimSpan>();
        assert_eq!((whole, SimSpan::LONGEST * 10_000).0.as_micros(), u64::MAX);
        // Two of the latest instants and the longest span fit.
        let latest = SimTime::LAST.as_micros();
        assert!(latest.checked_mul(2).unwrap().checked_add(SimSpan::LONGEST.0).is_some());
    }

    #[test]
    fn fractions_of_a_tick_are_rounded_up() {
        assert_eq!(SimSpan::ceil_from_secs(0.000_000_1), SimSpan::from_micros(1));
        assert_eq!(SimSpan::from_secs(2).ceil_mul(1.5), SimSpan::from_secs(3));
    }
}
