//! Latencies up to their rarest values, from `latency.hlog`.

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
        let y = Axis::log("Virtual time", Unit::Seconds);
        let mut curves = Vec::new();
        for name in names {
            let histogram = run.results.histogram(name)?;
            if 0 < histogram.max() {
                curves.push(Curve::of((*name).to_owned(), &histogram, &y));
            }
        }
        if !curves.is_empty() {
            let description = format!("A percentile plot of {}.", names.join(", "));
            let caption = Caption { id: id.to_owned(), title: title.to_owned(), description };
            drawings.push(Percentiles { caption, y, curves }.draw());
        }
    }
    Ok(charted(drawings))
}
