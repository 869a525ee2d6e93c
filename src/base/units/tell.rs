//! How numbers are printed for people: on the console, in charts, in verdicts, about traces.
//!
//! The caller says how closely a number is looked at ([`Detail`]). All callers share the units, the
//! bounds between units, and the rule that no time shows 60 seconds. Numbers are printed without a
//! sign, which the caller adds: a true minus in charts, a hyphen in files for programs.

use super::text::NamedUnit;

/// How closely a number is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detail {
    /// For a line or column of its own: one decimal, or at most two units of time.
    Glance,
    /// For a mark of a chart, where there is little room: three digits, no trailing zeros.
    Mark,
    /// For a comparison.
    Like {
        /// The number whose unit and precision are used.
        like: f64,
        /// How many more digits a close comparison has.
        more: usize,
    },
}

const fn unit(size: f64, name: &'static str) -> NamedUnit {
    NamedUnit { size, name }
}

/// The units of times, in seconds.
pub const TIMES: [NamedUnit; 6] = [
    unit(86_400.0, "d"),
    unit(3_600.0, "h"),
    unit(60.0, "min"),
    unit(1.0, "s"),
    unit(1e-3, "ms"),
    unit(1e-6, "µs"),
];

/// The units of sizes, in bytes.
pub const SIZES: [NamedUnit; 6] = [
    unit((1u64 << 50) as f64, "PiB"),
    unit((1u64 << 40) as f64, "TiB"),
    unit((1u64 << 30) as f64, "GiB"),
    unit((1u64 << 20) as f64, "MiB"),
    unit((1u64 << 10) as f64, "KiB"),
    unit(1.0, "B"),
];

/// From here on a time is printed in minutes: a shorter one rounds to 59.9 s at most.
const A_MINUTE: f64 = 59.95;

/// Returns the first of these units that is not above a size, or the last unit.
pub fn unit_for(units: &[NamedUnit], size: f64) -> NamedUnit {
    *units.iter().find(|unit| unit.size <= size).or(units.last()).expect("there is a unit")
}

/// Returns the unit for a size that is rounded to multiples of `step` of the unit. A size that
/// rounds to 1 of the next larger unit gets that unit.
fn unit_of_rounded(units: &[NamedUnit], size: f64, step: f64) -> NamedUnit {
    let unit = unit_for(units, size);
    let rounded = (in_unit(size, unit) / step).round() * step;
    let next = units.iter().rev().find(|next| unit.size < next.size);
    // Binary fractions may make a full thousand slightly less.
    *next.filter(|next| next.size / unit.size <= rounded * (1.0 + 1e-9)).unwrap_or(&unit)
}

/// Returns a value in a unit. For a unit below the base unit, the value is multiplied by the whole
/// number of such units in one base unit: 0.001 is no exact float, and dividing by it would round
/// 1.05 ms down.
fn in_unit(value: f64, unit: NamedUnit) -> f64 {
    if unit.size < 1.0 { value * (1.0 / unit.size).round() } else { value / unit.size }
}

/// Prints a number: `24,442`.
pub fn count(number: u64) -> String {
    in_thousands(&number.to_string())
}

/// Prints a number of things: `1 job`, `2,000 jobs`, `2 classes`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = match number {
        1 => "",
        _ if thing.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {thing}{plural}", count(number))
}

/// Prints names in a list, with a word before the last: `a`, `a or b`, `a, b or c`.
pub fn listed(names: impl IntoIterator<Item = String>, word: &str) -> String {
    let mut names: Vec<String> = names.into_iter().collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} {word} {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Returns names in the quotes of messages.
pub fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> impl Iterator<Item = String> {
    names.into_iter().map(|name| format!("`{name}`"))
}

/// Prints a ratio of speeds: `8.5x`, `21,000x`.
pub fn times(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}x") } else { format!("{}x", count(factor as u64)) }
}

/// Prints a share of a whole: `96.2 %`.
pub fn percent(share: f64) -> String {
    finer_percent(share, 0)
}

/// Prints a share of a whole with some more digits than [`percent`].
pub fn finer_percent(share: f64, more: usize) -> String {
    format!("{:.*} %", 1 + more, share * 100.0)
}

/// Prints the difference of two shares: `3.4 points`. "Per cent" would mean a share of one of the
/// two.
pub fn points(difference: f64) -> String {
    let told = format!("{:.1} points", difference * 100.0);
    // A number that rounds to zero has no sign.
    if told == "-0.0 points" { told.replace('-', "") } else { told }
}

/// Prints seconds at a glance: `0.4 s`, `14 min 08 s`, `3 h 05 min`, `2 d 01 h`.
pub fn span(seconds: f64) -> String {
    time(seconds, Detail::Glance)
}

/// Prints seconds with this detail.
pub fn time(seconds: f64, detail: Detail) -> String {
    match detail {
        Detail::Glance if seconds < A_MINUTE => format!("{seconds:.1} s"),
        Detail::Glance => clock(seconds, true),
        Detail::Mark if seconds == 0.0 => "0 s".to_owned(),
        Detail::Mark if seconds < A_MINUTE => {
            // Units below a second differ by a factor of a thousand, so up to three digits stand
            // before the point: round to whole numbers.
            let step = if seconds < 1.0 { 1.0 } else { 0.1 };
            let unit = unit_of_rounded(&TIMES, seconds, step);
            format!("{} {}", significant(in_unit(seconds, unit), 3), unit.name)
        }
        // Chosen: beyond three centuries, days and hours need more room than there is beside a
        // mark.
        Detail::Mark if seconds < 1e10 => clock(seconds, false),
        Detail::Mark => format!("{} d", significant(seconds / 86_400.0, 3)),
        Detail::Like { like: 0.0, .. } => "0 s".to_owned(),
        Detail::Like { like, more } if like < A_MINUTE => {
            let unit = unit_of_rounded(&TIMES, like, 0.1);
            format!("{:.*} {}", 1 + more, in_unit(seconds, unit), unit.name)
        }
        Detail::Like { more, .. } => to_the_second(seconds, more),
    }
}

/// Prints bytes.
pub fn size(bytes: f64, detail: Detail) -> String {
    let (like, more) = match detail {
        Detail::Like { like, more } => (like, more),
        Detail::Glance | Detail::Mark => (bytes, 0),
    };
    let step = if detail == Detail::Mark || like < 1024.0 { 1.0 } else { 0.1 };
    let unit = unit_of_rounded(&SIZES, like, step);
    let number = in_unit(bytes, unit);
    let value = match detail {
        Detail::Mark => significant(number, 3),
        _ if unit.size == 1.0 => format!("{number:.more$}"),
        _ => format!("{number:.*}", 1 + more),
    };
    format!("{value} {}", unit.name)
}

/// Prints bytes in powers of a thousand, with three digits: `1.26 MB`.
pub fn decimal_size(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes;
    let mut unit = 0;
    while 999.5 <= value && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        // A rounded number may have one digit more: 9.995 is printed as 10.0.
        99.95.. => 0,
        9.995.. => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Returns the largest of some numbers, whatever their signs; those that are not finite do not count.
pub fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().map(f64::abs).filter(|size| size.is_finite()).fold(0.0, f64::max)
}

/// Prints a number without a unit, with the precision of a number of size `like`: at least four
/// significant digits, but no more than the number has.
pub fn number(value: f64, like: f64) -> String {
    finer_number(value, like, 0)
}

/// Prints a number without a unit with some more digits than [`number`].
pub fn finer_number(value: f64, like: f64, more: usize) -> String {
    let decimals = match like {
        _ if value.fract() == 0.0 => 0,
        1000.0.. => more,
        100.0.. => 1 + more,
        10.0.. => 2 + more,
        0.1.. => 3 + more,
        _ => 6 + more,
    };
    format!("{value:.decimals$}")
}

/// Prints a time of a minute or more in its two largest units, such as `1 h 05 min`.
fn clock(seconds: f64, has_idle_zeros: bool) -> String {
    let [seconds, minutes, hours] = [1.0, 60.0, 3_600.0].map(|unit| (seconds / unit).round());
    let (small, ratio, names) = match () {
        () if seconds < 3_600.0 => (seconds, 60.0, ["min", "s"]),
        () if minutes < 1_440.0 => (minutes, 60.0, ["h", "min"]),
        () => (hours, 24.0, ["d", "h"]),
    };
    let (large, rest) = (grouped((small / ratio).floor(), 0), small % ratio);
    match rest == 0.0 && !has_idle_zeros {
        true => format!("{large} {}", names[0]),
        false => format!("{large} {} {rest:02} {}", names[0], names[1]),
    }
}

/// Prints a time in hours, minutes and seconds, with this many decimals of a second.
fn to_the_second(seconds: f64, decimals: usize) -> String {
    // Round first, so that there are no 60 seconds.
    let parts = 10f64.powi(decimals as i32);
    let rounded = (seconds * parts).round();
    let whole = (rounded / parts).floor();
    let (hours, minutes) = ((whole / 3_600.0).floor(), (whole % 3_600.0 / 60.0).floor());
    let rest = rounded / parts - 60.0 * (whole / 60.0).floor();
    // Two digits stand before the point.
    let width = if decimals == 0 { 2 } else { 3 + decimals };
    match whole {
        3_600.0.. => format!("{hours:.0} h {minutes:02.0} min {rest:0width$.decimals$} s"),
        60.0.. => format!("{minutes:.0} min {rest:0width$.decimals$} s"),
        _ => format!("{rest:.decimals$} s"),
    }
}

/// Prints this many significant digits (all digits before the point), without trailing zeros.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    // Chosen: outside of this range zeros are harder to read than a power of ten.
    if !(-7..15).contains(&magnitude) {
        return power(value);
    }
    let decimals = (digits - 1 - magnitude).max(0) as usize;
    let text = grouped(value, decimals);
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Prints a power of ten: `2×10⁻⁹`.
pub fn power(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (digits, exponent) = text.split_once('e').expect("the format writes an exponent");
    let mantissa = digits.trim_end_matches('0').trim_end_matches('.');
    let raised: String = exponent.chars().map(superscript).collect();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("−10{raised}"),
        _ => format!("{}×10{raised}", mantissa.replace('-', "−")),
    }
}

fn superscript(c: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    // An exponent consists of digits and perhaps a minus.
    c.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize])
}

/// Prints a number with commas between the thousands and a true minus sign.
pub fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    // A number that rounds to zero has no sign.
    let sign = if value < 0.0 && !zero { "−" } else { "" };
    format!("{sign}{}{rest}", in_thousands(whole))
}

/// Puts commas between the thousands of a whole number.
fn in_thousands(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if 0 < place && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_time_is_told_the_more_exactly_the_closer_it_is_looked_at() {
        for (seconds, glance, mark, measured) in [
            (0.0, "0.0 s", "0 s", "0 s"),
            (0.000_34, "0.0 s", "340 µs", "340.0 µs"),
            (0.001_05, "0.0 s", "1.05 ms", "1.1 ms"),
            (0.44, "0.4 s", "440 ms", "440.0 ms"),
            (9.06, "9.1 s", "9.06 s", "9.1 s"),
            (60.0, "1 min 00 s", "1 min", "1 min 00 s"),
            (848.0, "14 min 08 s", "14 min 08 s", "14 min 08 s"),
            (11_100.0, "3 h 05 min", "3 h 05 min", "3 h 05 min 00 s"),
            (11_140.0, "3 h 06 min", "3 h 06 min", "3 h 05 min 40 s"),
            (176_400.0, "2 d 01 h", "2 d 01 h", "49 h 00 min 00 s"),
        ] {
            assert_eq!(time(seconds, Detail::Glance), glance);
            assert_eq!(time(seconds, Detail::Mark), mark);
            assert_eq!(time(seconds, Detail::Like { like: seconds, more: 0 }), measured);
        }
    }

    #[test]
    fn a_time_is_never_rounded_into_sixty_of_a_unit() {
        for (seconds, glance, measured) in [
            (59.94, "59.9 s", "59.9 s"),
            (59.97, "1 min 00 s", "1 min 00 s"),
            (3_599.4, "59 min 59 s", "59 min 59 s"),
            (3_599.7, "1 h 00 min", "1 h 00 min 00 s"),
            (7_199.0, "2 h 00 min", "1 h 59 min 59 s"),
            (86_399.0, "1 d 00 h", "23 h 59 min 59 s"),
        ] {
            assert_eq!(time(seconds, Detail::Glance), glance);
            assert_eq!(time(seconds, Detail::Like { like: seconds, more: 0 }), measured);
        }
    }

    #[test]
    fn a_close_comparison_adds_digits_to_all_parts_of_a_time_and_to_sizes() {
        for (seconds, more, told) in [
            (24.96, 1, "24.96 s"),
            (59.996, 3, "59.996 s"),
            (59.996, 2, "1 min 00.00 s"),
            (150.04, 1, "2 min 30.0 s"),
            (150.04, 2, "2 min 30.04 s"),
            (3_605.25, 2, "1 h 00 min 05.25 s"),
            (0.0, 3, "0 s"),
        ] {
            let told_now = time(seconds, Detail::Like { like: seconds, more });
            assert_eq!(told_now, told, "{seconds}, {more} more");
        }
        assert_eq!(size(1_100.0, Detail::Like { like: 1_100.0, more: 2 }), "1.074 KiB");
        assert_eq!(size(12.25, Detail::Like { like: 12.25, more: 1 }), "12.2 B");
        assert_eq!(finer_percent(0.750_04, 2), "75.004 %");
        assert_eq!(finer_number(99.996, 99.996, 1), "99.996");
    }

    #[test]
    fn nothing_is_rounded_to_a_thousand_of_a_unit() {
        for (seconds, mark, measured) in [
            (0.000_999_94, "1 ms", "999.9 µs"),
            (0.000_999_96, "1 ms", "1.0 ms"),
            (0.999_4, "999 ms", "999.4 ms"),
            (0.999_96, "1 s", "1.0 s"),
            (59.94, "59.9 s", "59.9 s"),
        ] {
            assert_eq!(time(seconds, Detail::Mark), mark);
            assert_eq!(time(seconds, Detail::Like { like: seconds, more: 0 }), measured);
        }
        for (bytes, mark, measured) in [
            (1_023.4, "1,023 B", "1023 B"),
            (1_023.6, "1 KiB", "1.0 KiB"),
            (1_048_550.0, "1 MiB", "1.0 MiB"),
        ] {
            assert_eq!(size(bytes, Detail::Mark), mark);
            assert_eq!(size(bytes, Detail::Like { like: bytes, more: 0 }), measured);
        }
        assert_eq!(time(0.0005, Detail::Like { like: 0.000_999_99, more: 0 }), "0.5 ms");
    }

    #[test]
    fn sizes_are_told_in_powers_of_two_or_of_ten() {
        for (bytes, mark, measured, decimal) in [
            (0.0, "0 B", "0 B", "0 B"),
            (999.0, "999 B", "999 B", "999 B"),
            (999.6, "1,000 B", "1000 B", "1.00 kB"),
            (1_260_000.0, "1.2 MiB", "1.2 MiB", "1.26 MB"),
            (13_314_398_618.0, "12.4 GiB", "12.4 GiB", "13.3 GB"),
            (126e12, "115 TiB", "114.6 TiB", "126 TB"),
        ] {
            assert_eq!(size(bytes, Detail::Mark), mark);
            assert_eq!(size(bytes, Detail::Like { like: bytes, more: 0 }), measured);
            assert_eq!(decimal_size(bytes), decimal);
        }
    }

    #[test]
    fn counts_keep_every_digit() {
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!([0, 1, 2_000].map(|n| counted(n, "job")), ["0 jobs", "1 job", "2,000 jobs"]);
        assert_eq!([1, 2].map(|n| counted(n, "class")), ["1 class", "2 classes"]);
        assert_eq!(
            [0.034, 0.0004, -0.0004, -0.034].map(points),
            ["3.4 points", "0.0 points", "0.0 points", "-3.4 points"]
        );
        assert_eq!([8.52, 1_234_567.0].map(times), ["8.5x", "1,234,567x"]);
    }

    #[test]
    fn numbers_without_measure_are_powers() {
        assert_eq!(significant(1e18, 4), "10¹⁸");
        assert_eq!(significant(-2.5e-12, 4), "−2.5×10⁻¹²");
        assert_eq!(grouped(-0.04, 1), "0.0");
    }
}
