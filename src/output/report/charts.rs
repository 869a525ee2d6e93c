//! The charts of jobs and of latencies.

use std::ops::RangeInclusive;

use hdrhistogram::Histogram;
use indexmap::IndexMap;

use super::jobs::SIZES;
use crate::chart::{
    Arrangement, Axis, Bar, BarSeries, Bars, BoxSeries, Boxes, Caption, Curve, Drawing, Ecdf,
    Percentiles, Sample, Unit,
};
use crate::expect::{ReadError, Results};

/// Times that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 30.0;

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

/// Returns how times of several samples are distributed.
pub fn distribution(caption: Caption, title: &str, samples: Vec<Sample>) -> Drawing {
    let x = axis(title, samples.iter().flat_map(|sample| &sample.values));
    Ecdf { caption, x, of: "jobs".to_owned(), samples }.draw()
}

/// Returns an axis of times, logarithmic if they differ much.
fn axis<'v>(title: &str, values: impl Iterator<Item = &'v f64>) -> Axis {
    let positive = values.copied().filter(|value| 0.0 < *value);
    let (low, high) =
        positive.fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)));
    match WIDE * low < high {
        true => Axis::log(title, Unit::Seconds),
        false => Axis::linear(title, Unit::Seconds),
    }
}

/// Returns the sojourn times of each class as boxes.
pub(super) fn boxes(classes: &IndexMap<&str, Vec<f64>>) -> Drawing {
    let caption = Caption {
        id: "sojourn-boxes".to_owned(),
        title: "Sojourn time by class".to_owned(),
        description: "A box plot of the jobs' sojourn times for each class.".to_owned(),
    };
    let samples = classes.values().cloned().collect();
    Boxes {
        caption,
        y: axis("Sojourn time", classes.values().flatten()),
        x: String::new(),
        groups: classes.keys().map(|class| name_of(class).to_owned()).collect(),
        series: vec![BoxSeries { name: String::new(), samples }],
    }
    .draw()
}

/// Returns what a chart calls a class.
pub(super) fn name_of(class: &str) -> &str {
    if class.is_empty() { "no class" } else { class }
}

/// Returns the locality of maps in each size of job that there is.
pub(super) fn locality(shares: &[Option<[f64; 3]>; SIZES.len()]) -> Option<Drawing> {
    let sizes: Vec<(&str, &[f64; 3])> = SIZES
        .iter()
        .zip(shares)
        .filter_map(|((_, name), of)| Some((*name, of.as_ref()?)))
        .collect();
    let series = |(level, name): (usize, &str)| BarSeries {
        name: name.to_owned(),
        bars: sizes
            .iter()
            .map(|(_, shares)| Some(Bar { value: shares[level], whisker: None }))
            .collect(),
    };
    let bars = Bars {
        caption: Caption {
            id: "locality".to_owned(),
            title: "Locality by size of job".to_owned(),
            description: "The shares of maps that ran on a node with their input, in its rack and \
                          elsewhere, by the number of the job's maps."
                .to_owned(),
        },
        y: Axis::linear("Share of maps", Unit::Share),
        x: "Maps of the job".to_owned(),
        groups: sizes.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: ["node", "rack", "off-rack"].into_iter().enumerate().map(series).collect(),
        arrangement: Arrangement::Stacked,
        whisker: String::new(),
    };
    (!sizes.is_empty()).then(|| bars.draw())
}

/// Returns the percentiles of what was measured, of like latencies together.
pub(super) fn latencies(results: &dyn Results) -> Result<Vec<Drawing>, ReadError> {
    let mut drawings = Vec::new();
    for (id, title, names) in LATENCIES {
        let mut curves = Vec::new();
        for name in names {
            let histogram = results.histogram(name)?;
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
    Ok(drawings)
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
    use crate::chart::Spacing;

    #[test]
    fn times_that_differ_much_have_a_logarithmic_axis() {
        assert_eq!(axis("", [0.0, 10.0, 300.0].iter()).spacing, Spacing::Linear);
        assert_eq!(axis("", [0.0, 10.0, 301.0].iter()).spacing, Spacing::Log);
        assert_eq!(axis("", [].iter()).spacing, Spacing::Linear);
    }

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
