//! Latencies up to their rarest values, from `latency.hlog`.

use std::ops::RangeInclusive;

use hdrhistogram::Histogram;

use super::jobs::JobRow;
use super::{RunReport, charted};
use crate::chart::{Axis, Caption, Curve, Percentiles, Unit};
use crate::expect::{ReadError, Results as _};
use crate::page::Block;

/// The histograms that are drawn together, since they are of like size: their charts.
const LATENCIES: [(&str, &str, &[&str]); 2] = [
    (
        "latency-messages",
        "Latency of messages",
        &["heartbeat_rtt", "jobtracker_queue", "clock_lag"],
    ),
    (
        "latency-waits",
        "Waits of slots, tasks and jobs",
        &["slot_idle", "task_wait", "job_wait", "locality_wait", "commit_delay", "suspension"],
    ),
];

pub(super) fn blocks(run: &RunReport<'_>, _: &[JobRow]) -> Result<Vec<Block>, ReadError> {
    if !run.scenario.record.histograms {
        return Ok(Vec::new());
    }
    let mut drawings = Vec::new();
    for (id, title, names) in LATENCIES {
        let mut curves = Vec::new();
        for name in names {
            let histogram = run.results.histogram(name)?;
            if 0 < histogram.max() {
                curves.push(Curve { name: (*name).to_owned(), points: points(&histogram) });
            }
        }
        if !curves.is_empty() {
            let description = format!("A percentile plot of {}.", names.join(", "));
            let caption = Caption { id: id.to_owned(), title: title.to_owned(), description };
            let y = Axis::log("Virtual time", Unit::Seconds);
            drawings.push(Percentiles { caption, y, curves }.draw());
        }
    }
    Ok(charted(drawings))
}

/// Returns shares and values, finer towards the rare ones, as far as there are measurements. What
/// took no time at all has no place on the axis.
fn points(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    const PER_NINE: RangeInclusive<i32> = 0..=80;
    let finest = 1.0 / histogram.len() as f64;
    let shares = PER_NINE.map(|step| 10_f64.powf(f64::from(-step) / 10.0));
    let shares = shares.take_while(|rest| finest <= *rest).map(|rest| 1.0 - rest).chain([1.0]);
    shares
        .map(|share| (share, histogram.value_at_quantile(share) as f64 / 1e6))
        .filter(|(_, value)| 0.0 < *value)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_drawn_as_far_as_it_was_measured() {
        let mut histogram = Histogram::new(3).unwrap();
        (0..100).for_each(|value| histogram.record(value).unwrap());
        let points = points(&histogram);
        assert!(points.iter().all(|(share, _)| *share <= 0.99 + 1e-9 || *share == 1.0));
        assert_eq!(points.last(), Some(&(1.0, 99e-6)));
        assert!(points.iter().all(|(_, value)| 0.0 < *value));
    }
}
