//! The units of the values of an axis, and how values are printed beside marks.

use mumakil_base::units::NamedUnit;
use mumakil_base::units::tell::{self, Detail, significant};

/// The unit of the values of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// A number without a unit.
    Plain,
    /// A count: ticks are at whole numbers only.
    Count,
    /// A ratio, printed as `1.25×`.
    Ratio,
    /// A share from 0 to 1, printed in per cent.
    Share,
    /// Time in seconds, printed in µs to days.
    Seconds,
    /// Sizes in bytes, printed in B to PiB.
    Bytes,
}

const NUMBERS: [NamedUnit; 3] = [named(1e9, "billions"), named(1e6, "millions"), named(1.0, "")];

const fn named(size: f64, name: &'static str) -> NamedUnit {
    NamedUnit { size, name }
}

impl AxisUnit {
    /// Returns the value as text beside a mark: `1 min 30 s`, `97.2 %`, `12.4 GiB`.
    pub fn text(self, value: f64) -> String {
        if value.is_nan() {
            return "–".to_owned();
        }
        // The limit is far beyond every axis, and a value within it does not overflow when printed
        // in a smaller unit.
        let value = value.clamp(-1e200, 1e200);
        match self {
            Self::Plain => significant(value, 4),
            Self::Count => significant(value, if value.abs() < 1_000.0 { 4 } else { 15 }),
            Self::Ratio => format!("{}×", significant(value, 3)),
            Self::Share => format!("{} %", significant(value * 100.0, 3)),
            Self::Seconds => signed(value, |value| tell::time(value, Detail::Mark)),
            Self::Bytes => signed(value, |value| tell::size(value, Detail::Mark)),
        }
    }

    /// Returns the unit for the labels of an axis with this step between ticks.
    pub(super) fn of_ticks(self, step: f64) -> NamedUnit {
        match self {
            // A step of 500 million reads better as 0.5 billion, but a step of 2 min reads worse as
            // 0.03 h.
            Self::Plain | Self::Count => tell::unit_for(&NUMBERS, step),
            Self::Ratio => named(1.0, ""),
            Self::Share => named(0.01, "%"),
            Self::Seconds => tell::unit_for(&tell::TIMES, step),
            Self::Bytes => tell::unit_for(&tell::SIZES, step),
        }
    }
}

fn signed(value: f64, label: fn(f64) -> String) -> String {
    let text = label(value.abs());
    if value < 0.0 { format!("−{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<const N: usize>(unit: AxisUnit, values: [f64; N]) -> [String; N] {
        values.map(|value| unit.text(value))
    }

    #[test]
    fn times_are_read_in_the_units_of_people() {
        let times =
            texts(AxisUnit::Seconds, [0.0, 3.4e-4, 0.25, 2.5, 90.0, 60.0, 3_725.0, 1e5, -61.0]);
        assert_eq!(
            times.join(", "),
            "0 s, 340 µs, 250 ms, 2.5 s, 1 min 30 s, 1 min, 1 h 02 min, 1 d 04 h, −1 min 01 s"
        );
    }

    #[test]
    fn sizes_and_shares_have_three_digits() {
        assert_eq!(AxisUnit::Bytes.text(13_314_398_618.0), "12.4 GiB");
        assert_eq!(AxisUnit::Bytes.text(1_000.0), "1,000 B");
        assert_eq!(AxisUnit::Share.text(0.9724), "97.2 %");
        assert_eq!(AxisUnit::Share.text(1.0), "100 %");
        assert_eq!(AxisUnit::Ratio.text(1.254), "1.25×");
    }

    #[test]
    fn counts_keep_every_digit() {
        assert_eq!(AxisUnit::Count.text(24_442.0), "24,442");
        assert_eq!(AxisUnit::Count.text(-8_123_456.0), "−8,123,456");
        assert_eq!(AxisUnit::Count.text(12.5), "12.5");
    }

    #[test]
    fn numbers_without_measure_are_powers() {
        assert_eq!(AxisUnit::Plain.text(1e18), "10¹⁸");
        assert_eq!(AxisUnit::Plain.text(-2.5e-12), "−2.5×10⁻¹²");
        assert_eq!(AxisUnit::Plain.text(f64::NAN), "–");
    }
}
