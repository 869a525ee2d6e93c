//! `metrics.prom`: a run's numbers and latencies in the text format of Prometheus, which also
//! readers of OpenMetrics take.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hdrhistogram::Histogram;

use crate::record::{Expenses, LocalityShares, Summary};
use mumakil_core::mapred::PerSlot;

/// The joules of a kilowatt hour: Prometheus asks for base units.
const JOULES: f64 = 3.6e6;

/// Returns the text. All samples are labelled by scenario, policy and seed.
pub(crate) fn prometheus_text(
    summary: &Summary,
    latencies: &BTreeMap<String, Histogram<u64>>,
) -> String {
    let (scenario, policies) = (&summary.run.scenario, summary.policies());
    let labels = [
        label("scenario", scenario),
        label("policy", &policies),
        label("seed", &summary.run.seed.to_string()),
    ];
    let mut page = PrometheusPage { labels: labels.join(","), text: String::new() };
    page.numbers(summary);
    // The histogram of a class is named `job_sojourn-CLASS`, and needs a family of its own.
    let (classes, others): (Vec<_>, Vec<_>) = latencies
        .iter()
        .map(|(name, latency)| (name.split_once('-').map_or("", |(_, class)| class), name, latency))
        .partition(|(class, ..)| !class.is_empty());
    for (_, name, latency) in others {
        let family = format!("{name}_seconds");
        page.head(&family, &format!("The spans {name}, in virtual time."), "histogram");
        page.histogram(&family, "", latency);
    }
    if !classes.is_empty() {
        page.head("class_sojourn_seconds", "The sojourns of the jobs of a class.", "histogram");
    }
    for (class, _, latency) in classes {
        page.histogram("class_sojourn_seconds", &label("class", class), latency);
    }
    page.text + "# EOF\n"
}

/// The text so far, and the labels of all its samples.
struct PrometheusPage {
    labels: String,
    text: String,
}

impl PrometheusPage {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.text, "# HELP mumakil_{name} {help}\n# TYPE mumakil_{name} {kind}");
    }

    fn sample(&mut self, name: &str, own: &str, value: f64) {
        let comma = if own.is_empty() { "" } else { "," };
        let _ = writeln!(self.text, "mumakil_{name}{{{}{comma}{own}}} {value}", self.labels);
    }

    /// Writes the numbers that are known.
    fn numbers(&mut self, summary: &Summary) {
        let slots = [summary.map_slots, summary.reduce_slots].map(|slots| Some(slots as f64));
        let resources = summary.resource_utilisation.unwrap_or_default();
        let mut used = by_kind(summary.slot_utilisation);
        used.extend([("memory", resources.memory), ("cores", resources.cores)]);
        let LocalityShares { node, rack, off_rack } = summary.locality;
        let Expenses { energy_kwh, cost } = summary.expenses.unwrap_or_default();
        let jobs = summary.outcomes().map(|(count, word)| (word, Some(count as f64)));
        for (name, help, by, values) in [
            ("jobs", "Jobs by how they ended.", "outcome", jobs.to_vec()),
            (
                "slots",
                "Slots of the cluster.",
                "kind",
                by_kind(PerSlot { map: slots[0], reduce: slots[1] }),
            ),
            ("utilisation_ratio", "The part of slots, memory or cores in use.", "of", used),
            ("offered_load_ratio", "Slot time asked for.", "kind", by_kind(summary.load.offered)),
            (
                "locality_ratio",
                "The part of maps by the distance of their input.",
                "level",
                vec![("node", node), ("rack", rack), ("off-rack", off_rack)],
            ),
            ("makespan_seconds", "First arrival to last end.", "", vec![("", summary.makespan_s)]),
            ("energy_joules", "Of all nodes.", "", vec![("", energy_kwh.map(|kwh| kwh * JOULES))]),
            ("cost", "Of all nodes.", "", vec![("", cost)]),
        ] {
            let known: Vec<_> =
                values.into_iter().filter_map(|(of, value)| Some((of, value?))).collect();
            if !known.is_empty() {
                self.head(name, help, "gauge");
            }
            for (of, value) in known {
                let own = if by.is_empty() { String::new() } else { label(by, of) };
                self.sample(name, &own, value);
            }
        }
    }

    fn histogram(&mut self, name: &str, own: &str, latency: &Histogram<u64>) {
        let comma = if own.is_empty() { "" } else { "," };
        let bucket = format!("{name}_bucket");
        // From a millisecond to three days, three in each power of ten.
        let bounds = (3..=11).flat_map(|power| [10, 25, 50].map(|of| of * 10_u64.pow(power - 1)));
        for bound in bounds {
            // A value that is the bound itself may be in a bin that goes beyond it.
            let within = (latency.iter_recorded())
                .filter(|bin| latency.lowest_equivalent(bin.value_iterated_to()) <= bound)
                .map(|bin| bin.count_at_value())
                .sum::<u64>();
            let le = format!("{own}{comma}le=\"{:?}\"", bound as f64 / 1e6);
            self.sample(&bucket, &le, within as f64);
        }
        self.sample(&bucket, &format!("{own}{comma}le=\"+Inf\""), latency.len() as f64);
        let sum = latency.mean() * latency.len() as f64 / 1e6;
        self.sample(&format!("{name}_sum"), own, (sum * 1e6).round() / 1e6);
        self.sample(&format!("{name}_count"), own, latency.len() as f64);
    }
}

fn by_kind(of: PerSlot<Option<f64>>) -> Vec<(&'static str, Option<f64>)> {
    vec![("map", of.map), ("reduce", of.reduce)]
}

fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_a_bound_is_in_its_bucket_and_labels_are_escaped() {
        let mut latency = Histogram::new(3).unwrap();
        [1_000, 1_000_000, 4_000_000].iter().for_each(|micros| latency.record(*micros).unwrap());
        let mut page = PrometheusPage { labels: label("policy", "a\"b\\"), text: String::new() };
        page.histogram("wait_seconds", "", &latency);
        for line in
            ["le=\"0.001\"} 1", "le=\"0.5\"} 1", "le=\"1.0\"} 2", "le=\"5.0\"} 3", "le=\"+Inf\"} 3"]
        {
            let line = format!("mumakil_wait_seconds_bucket{{policy=\"a\\\"b\\\\\",{line}\n");
            assert!(page.text.contains(&line), "{line} in {}", page.text);
        }
        assert!(page.text.contains("mumakil_wait_seconds_count{policy=\"a\\\"b\\\\\"} 3\n"));
    }
}
