//! The two text formats of histograms that HdrHistogram's tools for all languages read: the
//! percentile table and the interval log.
//!
//! Neither format gets a real date: virtual time begins at second 0 of the Unix epoch.

use std::borrow::Borrow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};
use hdrhistogram::serialization::{Serializer, V2Serializer};
use hdrhistogram::{Counter, Histogram};

use mumakil_base::units::SimTime;

/// How many rows the percentile table has for each halving of the distance to 100 %: the default of
/// HdrHistogram's own `outputPercentileDistribution`.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

/// The heading of the interval log.
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
                      \"Interval_Compressed_Histogram\"";

/// The last line of a table in milliseconds: why the medians of few values are unlike.
const MILLIS: &str = "#[Values are milliseconds of virtual time. A percentile is the smallest value that this \
                      share does not exceed, to three digits; the median in summary.json is the middle of \
                      two neighbours]\n";

/// Writes the percentile table, as `outputPercentileDistribution` of the Java library does: in
/// milliseconds with a blank before each row, as its readers expect. No microsecond is lost.
///
/// Most bins are empty. The library walks over all bins four times; this function does so once.
pub fn write_percentiles(to: &mut impl Write, histogram: &Histogram<u64>) -> io::Result<()> {
    writeln!(
        to,
        "{:>12} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    )?;
    let bins: Vec<(u64, u64)> = (histogram.iter_recorded())
        .map(|bin| (bin.value_iterated_to(), bin.count_at_value()))
        .collect();
    let count = histogram.len();
    let (mut quantile, mut total) = (0.0, 0);
    for (place, (value, in_bin)) in bins.iter().enumerate() {
        total += in_bin;
        let value = *value as f64 / 1e3;
        // Several quantiles may fall into one bin: each quantile has a row, with the same value.
        while quantile < 1.0 && quantile <= total as f64 / count as f64 {
            let inverse = 1.0 / (1.0 - quantile);
            writeln!(to, " {value:11.3} {quantile:.12} {total:10} {inverse:14.2}")?;
            // Finer steps within the last bin would only repeat its value.
            quantile = if place + 1 == bins.len() { 1.0 } else { next_tick(quantile) };
        }
        if place + 1 == bins.len() {
            writeln!(to, " {value:11.3} {quantile:.12} {total:10}")?;
        }
    }
    // As in the library, the mean assumes that each value lies in the middle of its bin.
    let middle = |value: u64| histogram.median_equivalent(value) as f64;
    let mean = bins
        .iter()
        .fold(0.0, |sum, (value, in_bin)| sum + middle(*value) * *in_bin as f64 / count as f64);
    let squares = bins.iter().fold(0.0, |sum, (value, in_bin)| {
        let off = middle(*value) - mean;
        sum + (off * off) * *in_bin as f64
    });
    let deviation = (squares / count as f64).sqrt() / 1e3;
    let mean = mean / 1e3;
    writeln!(to, "#[Mean    = {mean:12.6}, StdDeviation   = {deviation:12.6}]")?;
    let max = histogram.max() as f64 / 1e3;
    writeln!(to, "#[Max     = {max:12.3}, Total count    = {count:12}]")?;
    let (buckets, parts) = (histogram.buckets(), sub_buckets(histogram.sigfig()));
    writeln!(to, "#[Buckets = {buckets:12}, SubBuckets     = {parts:12}]")?;
    write!(to, "{MILLIS}")
}

/// Returns a percentile table with microseconds for its milliseconds: digests are of such tables.
pub fn in_micros(table: &str) -> String {
    let table = table.strip_suffix(MILLIS).unwrap_or(table);
    let mut text = String::with_capacity(table.len());
    // Spans of time stand at the start of a row or behind `=`, and no other numbers there have a point.
    for piece in table.split_inclusive(['=', '\n']) {
        let start = piece.trim_start_matches(' ');
        let end = start.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(start.len());
        let (value, rest) = start.split_at(end);
        let parts = value.split_once('.').and_then(|(whole, part)| {
            let (thousandths, finer) = part.split_at_checked(3)?;
            Some((format!("{whole}{thousandths}").parse::<u64>().ok()?, finer))
        });
        if let Some((micros, finer)) = parts {
            text.push_str(if text.ends_with('=') { " " } else { "" });
            let width = 11 - finer.len().max(3);
            write!(text, "{micros:width$}.{finer:0<3}{rest}").expect("a string takes all");
        } else {
            text.push_str(piece);
        }
    }
    text
}

/// Returns the quantile of the next row. Each halving of the distance to 1 has the same number of
/// rows.
fn next_tick(quantile: f64) -> f64 {
    let halvings = (1.0 / (1.0 - quantile)).log2() as u32;
    let ticks = u64::from(TICKS_PER_HALF_DISTANCE) << (halvings + 1);
    let next = quantile + 1.0 / ticks as f64;
    if next == quantile { 1.0 } else { next }
}

/// Writes the interval log: for each histogram one interval, as long as the run, with its name as
/// tag.
pub fn write_log(
    to: &mut impl Write,
    ended: SimTime,
    histograms: impl Iterator<Item = (impl AsRef<str>, impl Borrow<Histogram<u64>>)>,
) -> io::Result<()> {
    let mut serializer = DeflatedHistogram::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[Values are microseconds of virtual time]")
        // The date of the run would make two runs of one scenario differ.
        .with_start_time(UNIX_EPOCH)
        .begin_log_with(to, &mut serializer)?;
    log.write_comment(LEGEND)?;
    let length = Duration::from_micros(ended.as_micros());
    for (name, histogram) in histograms {
        let tag = Tag::new(name.as_ref()).expect("names of histograms have no blanks or commas");
        log.write_histogram(histogram.borrow(), Duration::ZERO, length, Some(tag)).map_err(
            |error| match error {
                IntervalLogWriterError::IoError(error) => error,
                IntervalLogWriterError::SerializeError(error) => error,
            },
        )?;
    }
    Ok(())
}

/// Writes the same bytes as the library's `V2DeflateSerializer`, but with one compressor for all
/// histograms. The library makes a compressor for each histogram: a third of a megabyte to compress
/// some hundred bytes.
struct DeflatedHistogram {
    plain: V2Serializer,
    compressor: ZlibEncoder<Vec<u8>>,
}

impl DeflatedHistogram {
    /// The first four bytes of a compressed histogram: HdrHistogram's
    /// `V2CompressedEncodingCookieBase` with the bit for counts of variable length.
    const COOKIE: u32 = 0x1c84_9314;

    fn new() -> Self {
        let compressor = ZlibEncoder::new(Vec::new(), Compression::default());
        Self { plain: V2Serializer::new(), compressor }
    }
}

impl Serializer for DeflatedHistogram {
    type SerializeError = io::Error;

    fn serialize<T: Counter, W: Write>(
        &mut self,
        histogram: &Histogram<T>,
        to: &mut W,
    ) -> io::Result<usize> {
        self.plain.serialize(histogram, &mut self.compressor).map_err(io::Error::other)?;
        // `reset` finishes the bytes of this histogram and prepares the compressor for the next.
        let packed = self.compressor.reset(Vec::new())?;
        let length = u32::try_from(packed.len()).map_err(io::Error::other)?;
        to.write_all(&Self::COOKIE.to_be_bytes())?;
        to.write_all(&length.to_be_bytes())?;
        to.write_all(&packed)?;
        Ok(8 + packed.len())
    }
}

/// Returns the number of bins of a bucket for `digits` significant digits.
fn sub_buckets(digits: u8) -> u64 {
    (2 * 10_u64.pow(u32::from(digits))).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::V2DeflateSerializer;
    use proptest::prelude::*;

    use super::*;

    fn histogram(values: Vec<(u32, u32, u64)>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        for (size, value, count) in values {
            histogram.record_n(u64::from(value) >> size, count).unwrap();
        }
        histogram
    }

    fn histograms() -> impl Strategy<Value = Histogram<u64>> {
        let value = (0u32..32, any::<u32>(), 1u64..3_000);
        prop::collection::vec(value, 1..40).prop_map(histogram)
    }

    /// Returns the rows, the mean and the deviation, as the library computes them.
    fn by_the_library(histogram: &Histogram<u64>) -> String {
        let (mut text, mut total) = (String::new(), 0);
        for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
            total += step.count_since_last_iteration();
            let (value, quantile) = (step.value_iterated_to() as f64, step.quantile_iterated_to());
            text += &if quantile < 1.0 {
                let inverse = 1.0 / (1.0 - quantile);
                format!("{value:12.3} {quantile:.12} {total:10} {inverse:14.2}\n")
            } else {
                format!("{value:12.3} {quantile:.12} {total:10}\n")
            };
        }
        let (mean, deviation) = (histogram.mean(), histogram.stdev());
        text + &format!("#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]\n")
    }

    proptest! {
        #[test]
        fn the_table_is_that_of_the_library(histogram in histograms()) {
            let mut text = Vec::new();
            write_percentiles(&mut text, &histogram).unwrap();
            let text = String::from_utf8(text).unwrap();
            let library = by_the_library(&histogram);
            let micros = in_micros(&text);
            prop_assert!(micros.contains(&format!("\n\n{library}#[Max")), "{micros}\n{library}");
            let rows = text.lines().filter(|line| line.starts_with(' ')).skip(1);
            for (row, of_library) in rows.zip(library.lines()) {
                let [own, other] = [row, of_library].map(|line| {
                    line.split_whitespace().next().unwrap().parse::<f64>().unwrap()
                });
                prop_assert!((own * 1e3 - other).abs() < 0.1, "{row}: {other}");
            }
        }

        #[test]
        fn one_compressor_packs_as_one_for_each(
            histograms in prop::collection::vec(histograms(), 1..4),
        ) {
            let mut one = DeflatedHistogram::new();
            for histogram in histograms {
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                one.serialize(&histogram, &mut ours).unwrap();
                V2DeflateSerializer::new().serialize(&histogram, &mut theirs).unwrap();
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
