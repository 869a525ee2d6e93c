//! Percentiles of latencies up to the rarest values, from `latency.hlog`.

use super::{ReportBlocks, ReportSource, charted};
use mumakil_draw::chart::{AxisUnit, Caption, ChartAxis, Curve, Percentiles};
use mumakil_results::expect::in_words;

/// The charts: each shows histograms whose values are of similar size.
const LATENCIES: [(&str, &str, &[&str]); 3] = [
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
    (
        "latency-containers",
        "Two clocks: from a node to the AM, and from there to the node",
        &["acquisition", "container_launch"],
    ),
];

pub(super) fn blocks(ReportSource { run, .. }: &ReportSource<'_>) -> ReportBlocks {
    if !run.scenario.record.histograms {
        return Ok(Vec::new());
    }
    let histograms = (run.results)
        .histograms(|name| LATENCIES.iter().any(|(.., names)| names.contains(&name)))?;
    let mut drawings = Vec::new();
    for (id, title, names) in LATENCIES {
        let y = ChartAxis::log("Virtual time", AxisUnit::Seconds);
        let (mut curves, mut shown) = (Vec::new(), Vec::new());
        for name in names {
            let Some(histogram) = histograms.get(*name) else { continue };
            // A logarithmic axis cannot show a histogram of zeros only.
            if 0 < histogram.max() {
                shown.push(*name);
                curves.push(Curve::of(in_words(name), histogram, &y));
            }
        }
        if !curves.is_empty() {
            let (id, title) = (id.to_owned(), title.to_owned());
            let beneath = shown.join(", ");
            let description = format!("A percentile plot of {beneath}.");
            let look_for = "curves that rise early: not one in a hundred is slow, but many are";
            let caption =
                Caption { id, title, beneath, description, look_for, ..Caption::default() };
            drawings.push(Percentiles { caption, y, curves }.draw());
        }
    }
    Ok(charted(drawings))
}
