//! Sizes and speeds: whole bytes, whole bytes a second.

use super::text::{self, NamedUnit};
use super::{Quantity, SimSpan};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

/// A speed in bytes a second; never zero, so that every transfer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Bytes {
    /// The largest size that a scenario may name: an exbibyte. Chosen: Hadoop's rule for splits
    /// multiplies by 11, and eleven times as much still fits into 64 bits.
    pub const LARGEST: Self = Self(1 << 60);

    /// Returns a number of bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns a number of mebibytes.
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

amounts!(Bytes);

impl Quantity for Bytes {
    fn as_f64(self) -> f64 {
        self.0 as f64
    }
    fn from_f64(value: f64) -> Self {
        Self(value.round() as u64)
    }
}

impl Rate {
    /// Returns a speed in megabytes (10⁶ bytes) a second.
    pub const fn from_mb_per_s(mb: u64) -> Self {
        Self(mb * 1_000_000)
    }

    /// Returns the speed that moves `bytes` in a span, which is not zero; at least a byte a second.
    pub fn of(bytes: Bytes, span: SimSpan) -> Self {
        let rate = u128::from(bytes.0) * 1_000_000 / u128::from(span.as_micros());
        Self(u64::try_from(rate).unwrap_or(u64::MAX).max(1))
    }

    /// Returns the bytes a second.
    pub const fn bytes_per_s(self) -> u64 {
        self.0
    }

    /// Returns how long `bytes` take at this speed, rounded up.
    pub fn time_for(self, bytes: Bytes) -> SimSpan {
        // In 128 bits: 20 TB times a million do not fit into 64.
        let micros = (u128::from(bytes.0) * 1_000_000).div_ceil(u128::from(self.0));
        SimSpan::from_micros(
            u64::try_from(micros).unwrap_or(u64::MAX).min(SimSpan::LONGEST.as_micros()),
        )
    }
}

const UNITS: &[NamedUnit] = &[
    NamedUnit { name: "B", size: 1.0 },
    NamedUnit { name: "kB", size: 1e3 },
    NamedUnit { name: "MB", size: 1e6 },
    NamedUnit { name: "GB", size: 1e9 },
    NamedUnit { name: "TB", size: 1e12 },
    NamedUnit { name: "PB", size: 1e15 },
    NamedUnit { name: "KiB", size: 1024.0 },
    NamedUnit { name: "MiB", size: 1_048_576.0 },
    NamedUnit { name: "GiB", size: 1_073_741_824.0 },
    NamedUnit { name: "TiB", size: 1_099_511_627_776.0 },
    NamedUnit { name: "PiB", size: 1_125_899_906_842_624.0 },
    NamedUnit { name: "b", size: 0.125 },
    NamedUnit { name: "kb", size: 125.0 },
    NamedUnit { name: "Mb", size: 125e3 },
    NamedUnit { name: "Gb", size: 125e6 },
    NamedUnit { name: "Tb", size: 125e9 },
];

/// The largest size or speed that a scenario may name.
const MOST: f64 = Bytes::LARGEST.0 as f64;

/// Writes whole bytes in the largest unit that divides them.
fn print_bytes(bytes: u64, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    // Bits are only read, never written.
    let of_bytes = UNITS.iter().filter(|unit| unit.name.ends_with('B'));
    let largest = of_bytes
        .filter(|unit| bytes != 0 && bytes.is_multiple_of(unit.size as u64))
        .max_by(|a, b| a.size.total_cmp(&b.size));
    let NamedUnit { name, size } = largest.unwrap_or(&UNITS[0]);
    write!(f, "{}{name}", bytes / *size as u64)
}

crate::text_form! {
    Bytes,
    name: "Bytes",
    expected: "a size with a unit, such as 128MiB, 1GB or 64KiB",
    pattern: r"^\s*0\s*$|^\s*\d+(\.\d+)?\s*([kMGTP]?B|[KMGTP]iB)\s*$",
    parse: |text| {
        // Speeds have the same units, but a size in bits would be a mistake.
        if text.trim_end().ends_with('b') {
            return None;
        }
        text::with_unit(text, UNITS).filter(|bytes| *bytes <= MOST).map(|bytes| Bytes(bytes.round() as u64))
    },
    too_much: |text| {
        !text.trim_end().ends_with('b') && text::with_unit(text, UNITS).is_some()
    } => "the largest size is 1024PiB",
    print: |size, f| print_bytes(size.0, f),
    write: |self, to| to.collect_str(self),
}

crate::text_form! {
    Rate,
    name: "Rate",
    expected: "a speed above zero, such as 80MB/s or 1Gb/s",
    pattern: r"^\s*\d+(\.\d+)?\s*([kMGTP]?[Bb]|[KMGTP]iB)/s\s*$",
    parse: |text| {
        let per_second = text.trim_end().strip_suffix("/s")?;
        text::with_unit(per_second, UNITS)
            .map(f64::round)
            // Checked after rounding, since 0.4B/s would become a speed at which no transfer ends.
            .filter(|rate| (1.0..=MOST).contains(rate))
            .map(|rate| Rate(rate as u64))
    },
    too_much: |text| {
        let per_second = text.trim_end().strip_suffix("/s");
        per_second.and_then(|text| text::with_unit(text, UNITS)).is_some_and(|rate| MOST < rate)
    } => "the largest speed is 1024PiB/s",
    print: |rate, f| {
        print_bytes(rate.0, f)?;
        f.write_str("/s")
    },
    write: |self, to| to.collect_str(self),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_speeds_read_back_as_printed() {
        for text in ["128MiB", "1GB", "1GiB", "7B", "0B", "1500B"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
        }
        for text in ["80MB/s", "125MB/s", "1GB/s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("1Gb/s".parse::<Rate>().unwrap(), Rate::from_mb_per_s(125));
        assert_eq!("0".parse::<Bytes>().unwrap(), Bytes::ZERO);
    }

    #[test]
    fn too_large_a_number_does_not_seem_to_lack_its_unit() {
        let size = "9999999PB".parse::<Bytes>().unwrap_err();
        assert_eq!(size, "`9999999PB` is too much: the largest size is 1024PiB");
        let speed = "9999999PB/s".parse::<Rate>().unwrap_err();
        assert_eq!(speed, "`9999999PB/s` is too much: the largest speed is 1024PiB/s");
        assert!("0MB/s".parse::<Rate>().unwrap_err().contains("a speed above zero"));
    }

    #[test]
    fn a_size_without_a_unit_or_a_speed_of_zero_is_refused() {
        for text in ["128", "128 MiBs", "-1MB", "1Gb", "9999999PB", ""] {
            assert!(text.parse::<Bytes>().is_err(), "{text:?}");
        }
        for text in ["0MB/s", "80MB", "0.1B/s", "/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_transfer_takes_bytes_over_rate_rounded_up() {
        let rate = Rate::from_mb_per_s(1);
        assert_eq!(rate.time_for(Bytes::new(3_000_000)), SimSpan::from_secs(3));
        assert_eq!(rate.time_for(Bytes::new(1)), SimSpan::from_micros(1));
        assert_eq!(rate.time_for(Bytes::ZERO), SimSpan::ZERO);
    }
}
