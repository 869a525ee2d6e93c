//! What a number measures, and how people read it.

/// What the values of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number without a unit.
    Plain,
    /// How many: ticks stand at whole numbers only.
    Count,
    /// How many times as much: `1.25×`.
    Ratio,
    /// A part of a whole, 0 to 1; printed in percent.
    Share,
    /// Time in seconds; printed in µs to days.
    Seconds,
    /// Sizes in bytes; printed in B to PiB.
    Bytes,
}

/// A unit of the ticks on a linear axis: so many base units, under this name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) size: f64,
    pub(super) name: &'static str,
}

const fn part(size: f64, name: &'static str) -> Part {
    Part { size, name }
}

const ONE: Part = part(1.0, "");
const MICRO: Part = part(1e-6, "µs");
const BYTE: Part = part(1.0, "B");
const NUMBERS: [Part; 2] = [part(1e9, "billions"), part(1e6, "millions")];
const TIMES: [Part; 5] =
    [part(86_400.0, "d"), part(3_600.0, "h"), part(60.0, "min"), part(1.0, "s"), part(1e-3, "ms")];
const SIZES: [Part; 5] = [
    part((1u64 << 50) as f64, "PiB"),
    part((1u64 << 40) as f64, "TiB"),
    part((1u64 << 30) as f64, "GiB"),
    part((1u64 << 20) as f64, "MiB"),
    part((1u64 << 10) as f64, "KiB"),
];

impl Unit {
    /// Returns the value as a reader wants it beside a mark: `1 min 30 s`, `97.2 %`, `12.4 GiB`.
    pub fn text(self, value: f64) -> String {
        if value.is_nan() {
            return "–".to_owned();
        }
        // Far beyond every axis, but still a number when it is printed in a smaller unit.
        let value = value.clamp(-1e200, 1e200);
        match self {
            Self::Plain => digits(value, 4),
            Self::Count => digits(value, if value.abs() < 1_000.0 { 4 } else { 15 }),
            Self::Ratio => format!("{}×", digits(value, 3)),
            Self::Share => format!("{} %", digits(value * 100.0, 3)),
            Self::Seconds => signed(value, span),
            Self::Bytes => signed(value, size),
        }
    }

    /// Returns the unit in which an axis with this step between its ticks should count.
    pub(super) fn part(self, step: f64) -> Part {
        let (parts, least): (&[Part], Part) = match self {
            Self::Plain | Self::Count => (&NUMBERS, ONE),
            Self::Ratio => (&[], ONE),
            Self::Share => (&[], part(0.01, "%")),
            Self::Seconds => (&TIMES, MICRO),
            Self::Bytes => (&SIZES, BYTE),
        };
        // A step of 500 million is better read as 0.5 billion, but one of 2 min not as 0.03 h.
        parts.iter().copied().find(|part| part.size <= step).unwrap_or(least)
    }
}

fn signed(value: f64, print: fn(f64) -> String) -> String {
    let text = print(value.abs());
    if value < 0.0 { format!("−{text}") } else { text }
}

fn span(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        s if s < 1e-3 => format!("{} µs", digits(s * 1e6, 3)),
        s if s < 1.0 => format!("{} ms", digits(s * 1e3, 3)),
        s if s < 59.95 => format!("{} s", digits(s, 3)),
        s if s < 3_599.5 => pair(s.round(), 60.0, "min", "s"),
        s if s < 86_370.0 => pair((s / 60.0).round(), 60.0, "h", "min"),
        s if s < 1e10 => pair((s / 3_600.0).round(), 24.0, "d", "h"),
        s => format!("{} d", digits(s / 86_400.0, 3)),
    }
}

/// Prints `1 min 05 s`, or `1 min` if there is no rest.
fn pair(small: f64, ratio: f64, large_name: &str, small_name: &str) -> String {
    let (large, rest) = ((small / ratio).floor(), small % ratio);
    if rest == 0.0 {
        format!("{} {large_name}", grouped(large, 0))
    } else {
        format!("{} {large_name} {rest:02} {small_name}", grouped(large, 0))
    }
}

fn size(bytes: f64) -> String {
    let part = Unit::Bytes.part(bytes);
    format!("{} {}", digits(bytes / part.size, 3), part.name)
}

/// Prints so many significant digits (all digits before the point), without idle zeros.
pub(super) fn digits(value: f64, significant: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-7..15).contains(&magnitude) {
        return power(value);
    }
    let decimals = (significant - 1 - magnitude).max(0) as usize;
    let text = grouped(value, decimals);
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Prints `2×10⁻⁹`.
pub(super) fn power(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (mantissa, exponent) = text.split_once('e').expect("the format writes an exponent");
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let raised: String = exponent.chars().map(superscript).collect();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("−10{raised}"),
        _ => format!("{}×10{raised}", mantissa.replace('-', "−")),
    }
}

fn superscript(c: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    c.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize])
}

/// Prints a number with commas between the thousands and a true minus sign.
pub(super) fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let mut out = String::from(if value < 0.0 && !zero { "−" } else { "" });
    for (place, digit) in whole.chars().enumerate() {
        if 0 < place && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<const N: usize>(unit: Unit, values: [f64; N]) -> [String; N] {
        values.map(|value| unit.text(value))
    }

    #[test]
    fn times_are_read_in_the_units_of_people() {
        let times = texts(Unit::Seconds, [0.0, 3.4e-4, 0.25, 2.5, 90.0, 60.0, 3_725.0, 1e5, -61.0]);
        assert_eq!(
            times.join(", "),
            "0 s, 340 µs, 250 ms, 2.5 s, 1 min 30 s, 1 min, 1 h 02 min, 1 d 04 h, −1 min 01 s"
        );
    }

    #[test]
    fn a_time_is_never_rounded_into_sixty_of_a_unit() {
        let times = texts(Unit::Seconds, [59.97, 3_599.9, 86_399.0]);
        assert_eq!(times.join(", "), "1 min, 1 h, 1 d");
    }

    #[test]
    fn sizes_and_shares_have_three_digits() {
        assert_eq!(Unit::Bytes.text(13_314_398_618.0), "12.4 GiB");
        assert_eq!(Unit::Bytes.text(1_000.0), "1,000 B");
        assert_eq!(Unit::Share.text(0.9724), "97.2 %");
        assert_eq!(Unit::Share.text(1.0), "100 %");
        assert_eq!(Unit::Ratio.text(1.254), "1.25×");
    }

    #[test]
    fn counts_keep_every_digit() {
        assert_eq!(Unit::Count.text(24_442.0), "24,442");
        assert_eq!(Unit::Count.text(-8_123_456.0), "−8,123,456");
        assert_eq!(Unit::Count.text(12.5), "12.5");
    }

    #[test]
    fn numbers_without_measure_are_powers() {
        assert_eq!(Unit::Plain.text(1e18), "10¹⁸");
        assert_eq!(Unit::Plain.text(-2.5e-12), "−2.5×10⁻¹²");
        assert_eq!(Unit::Plain.text(f64::NAN), "–");
        assert_eq!(grouped(-0.04, 1), "0.0");
    }
}
