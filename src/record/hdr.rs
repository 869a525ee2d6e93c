//! The two text forms of a histogram that HdrHistogram's tools of every language read: the
//! percentile table and the interval log.
//!
//! Neither holds a date: virtual time begins at second 0 of the epoch.

use std::borrow::Borrow;
use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};

use crate::units::SimTime;

/// How many rows the percentile table has for each halving of what is above: the usual number.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

/// What the columns of the interval log are.
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
                      \"Interval_Compressed_Histogram\"";

/// Writes the percentile table, as `outputPercentileDistribution` of the Java library does.
pub(super) fn write_percentiles(to: &mut impl Write, histogram: &Histogram<u64>) -> io::Result<()> {
    writeln!(
        to,
        "{:>12} {:>14} {:>10} {:>14}\n",
        "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
    )?;
    let mut total = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let (value, quantile) = (step.value_iterated_to() as f64, step.quantile_iterated_to());
        if quantile < 1.0 {
            let inverse = 1.0 / (1.0 - quantile);
            writeln!(to, "{value:12.3} {quantile:.12} {total:10} {inverse:14.2}")?;
        } else {
            writeln!(to, "{value:12.3} {quantile:.12} {total:10}")?;
        }
    }
    let (mean, deviation) = (histogram.mean(), histogram.stdev());
    writeln!(to, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
    let (max, count) = (histogram.max() as f64, histogram.len());
    writeln!(to, "#[Max     = {max:12.3}, Total count    = {count:12}]")?;
    let (buckets, parts) = (histogram.buckets(), sub_buckets(histogram.sigfig()));
    writeln!(to, "#[Buckets = {buckets:12}, SubBuckets     = {parts:12}]")
}

/// Writes the interval log: one interval as long as the run, with a tag for each histogram.
pub(crate) fn write_log(
    to: &mut impl Write,
    ended: SimTime,
    histograms: impl Iterator<Item = (impl AsRef<str>, impl Borrow<Histogram<u64>>)>,
) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[Values are microseconds of virtual time]")
        .with_start_time(UNIX_EPOCH)
        .begin_log_with(to, &mut serializer)?;
    log.write_comment(LEGEND)?;
    let length = Duration::from_micros(ended.as_micros());
    for (name, histogram) in histograms {
        let tag = Tag::new(name.as_ref()).expect("names of histograms have no blank and no comma");
        log.write_histogram(histogram.borrow(), Duration::ZERO, length, Some(tag)).map_err(
            |error| match error {
                IntervalLogWriterError::IoError(error) => error,
                IntervalLogWriterError::SerializeError(error) => io::Error::other(error),
            },
        )?;
    }
    Ok(())
}

/// Returns into how many parts a bucket is divided for so many significant digits.
fn sub_buckets(digits: u8) -> u64 {
    (2 * 10_u64.pow(u32::from(digits))).next_power_of_two()
}
