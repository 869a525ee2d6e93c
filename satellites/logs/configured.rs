//! The configurations of jobs tell of the cluster: its policy, and settings that no run emulates.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use mumakil_core::mapred::HadoopLine;
use mumakil_traces::hadoop_xml;

/// The properties of a job's configuration.
pub(super) type Properties = BTreeMap<String, String>;

/// Reads the text of a property; `None` if it says nothing.
type ReadSaid = fn(&str) -> Option<String>;

/// The properties of the fair scheduler in a job's configuration, each with the setting that it is
/// here, and how its text is read.
pub(super) const OF_FAIR: [(&str, &str, ReadSaid); 9] = [
    ("locality.delay", "scheduler.fair.delay", |text| {
        let delay = said_millis(text)?;
        Some(format!("{{w1: {delay}, w2: {delay}}}"))
    }),
    ("preemption", "scheduler.fair.preemption", |text| (text == "true").then(|| "kill".to_owned())),
    ("sizebasedweight", "scheduler.fair.size_based_weight", said_truth),
    ("assignmultiple", "scheduler.fair.assign_multiple", said_truth),
    ("assignmultiple.maps", "scheduler.fair.assign_maps", said_count),
    ("assignmultiple.reduces", "scheduler.fair.assign_reduces", said_count),
    ("load.max.diff", "scheduler.fair.max_load_difference", |text| {
        text.parse()
            .ok()
            .filter(|share| (0.0..=1.0).contains(share))
            .map(|share: f64| share.to_string())
    }),
    ("update.interval", "scheduler.fair.update_interval", said_millis),
    ("preemption.interval", "scheduler.fair.preemption_interval", said_millis),
];

// Not above zero, such as -1, is Hadoop's word for its default.
fn said_count(text: &str) -> Option<String> {
    text.parse::<u32>().ok().filter(|count| 0 < *count).map(|count| count.to_string())
}

fn said_millis(text: &str) -> Option<String> {
    said_count(text).map(|count| format!("{count}ms"))
}

fn said_truth(text: &str) -> Option<String> {
    ["true", "false"].contains(&text).then(|| text.to_owned())
}

/// The beginning of the properties of the capacity scheduler.
const OF_CAPACITY: &str = "mapred.capacity-scheduler.";

/// Returns what a configuration says of the queues of the capacity scheduler; `None` if it says
/// nothing, or nothing that Hadoop would read.
pub(super) fn queues(settings: &Properties) -> Option<Value> {
    let plain = |text: &str| text.trim().replace('&', "&amp;").replace('<', "&lt;");
    let of_queues = settings.iter().filter(|(name, _)| name.starts_with(OF_CAPACITY));
    let said = of_queues.map(|(name, value)| {
        let [name, value] = [name, value].map(|text| plain(text));
        format!("<property><name>{name}</name><value>{value}</value></property>")
    });
    let all: String = said.collect();
    let text = (!all.is_empty()).then(|| format!("<configuration>{all}</configuration>"))?;
    hadoop_xml::parse("configuration".as_ref(), text).ok().map(|file| file.options)
}

/// Returns queues of which nothing but the names is known.
pub(super) fn alike<'n>(names: impl Iterator<Item = &'n str>) -> Value {
    let queues: Mapping = names.map(|name| (name.into(), Value::Null)).collect();
    let mut all = Mapping::from_iter([(Value::from("queues"), queues.into())]);
    all.values_mut().for_each(share_out);
    all.into()
}

/// Gives queues shares of all slots, in proportion to the numbers that they have as `capacity`; one
/// without a number counts as 1.
pub(super) fn share_out(queues: &mut Value) {
    let Value::Mapping(queues) = queues else { return };
    let sum: f64 = queues.values().map(weight_of).sum();
    // In hundredths of a per cent, of which the last queue gets the rest.
    let mut left = 10_000;
    let mut others = queues.len();
    for queue in queues.values_mut() {
        others -= 1;
        let share = match others {
            0 => left,
            _ => ((weight_of(queue) / sum * 1e4).round() as i64).clamp(0, left),
        };
        left -= share;
        if !queue.is_mapping() {
            *queue = Mapping::new().into();
        }
        if let Value::Mapping(options) = queue {
            options.insert("capacity".into(), (share as f64 / 1e4).into());
        }
    }
}

fn weight_of(queue: &Value) -> f64 {
    queue.get("capacity").and_then(Value::as_f64).unwrap_or(1.0)
}

/// Returns the names of the queues that a configuration lists.
pub(super) fn queue_names(settings: &Properties) -> impl Iterator<Item = &str> {
    let listed = settings.get("mapred.queue.names").map_or("", String::as_str);
    listed.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Returns by how much a configuration multiplies the time between two heartbeats.
pub(super) fn heartbeat_factor(settings: &Properties, line: HadoopLine) -> Option<f64> {
    let text = settings.get("mapreduce.jobtracker.heartbeats.scaling.factor")?;
    // JobTracker.java has a factor from 0.21 and 1.0 on, and takes 0.01 for less.
    let factor: f64 = text.trim().parse().ok().filter(|factor: &f64| factor.is_finite())?;
    (line != HadoopLine::V020).then_some(factor.max(0.01))
}

/// Returns what a configuration asks for that no run emulates, each a sentence.
pub(super) fn unmodelled(settings: &Properties) -> Vec<String> {
    let told = [
        (
            "mapred.job.reuse.jvm.num.tasks",
            "1",
            "each attempt has its logged time, in whatever process",
        ),
        ("mapred.task.cache.levels", "2", "a run knows nodes and racks"),
    ];
    let others = told.into_iter().filter_map(|(name, usual, instead)| {
        let text = settings.get(name)?.trim();
        (text != usual).then(|| format!("{name} is {text}: {instead}"))
    });
    others.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(of: &[(&str, &str)]) -> Properties {
        of.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn queues_are_as_the_configuration_says() {
        let said = settings(&[
            ("mapred.capacity-scheduler.queue.a.capacity", "30"),
            ("mapred.capacity-scheduler.queue.b.capacity", "70 "),
            ("mapred.capacity-scheduler.default-user-limit-factor", "3"),
        ]);
        let expected = "{queues: {a: {capacity: 0.3, user_limit_factor: 3.0}, \
                        b: {capacity: 0.7, user_limit_factor: 3.0}}}";
        assert_eq!(queues(&said), serde_yaml::from_str(expected).ok());
        assert_eq!(queues(&settings(&[("mapred.capacity-scheduler.queue.a.capacity", "x")])), None);
        assert_eq!(queues(&settings(&[("mapred.queue.names", "a")])), None);
    }

    #[test]
    fn shares_are_all_of_the_slots() {
        let shares = |all: &Value| -> Vec<f64> {
            let queues = all["queues"].as_mapping().unwrap().values();
            queues.map(|queue| queue["capacity"].as_f64().unwrap()).collect()
        };
        assert_eq!(shares(&alike(["a", "b", "c"].into_iter())), [0.3333, 0.3333, 0.3334]);
        let mut weighted: Value =
            serde_yaml::from_str("{queues: {a: {capacity: 3, b: 1}, b: null}}").unwrap();
        share_out(&mut weighted["queues"]);
        assert_eq!(shares(&weighted), [0.75, 0.25]);
    }

    #[test]
    fn a_heartbeat_is_scaled_where_hadoop_scales_it() {
        let said = settings(&[("mapreduce.jobtracker.heartbeats.scaling.factor", "0.15")]);
        assert_eq!(heartbeat_factor(&said, HadoopLine::V1), Some(0.15));
        assert_eq!(heartbeat_factor(&said, HadoopLine::V020), None);
    }

    #[test]
    fn properties_that_are_not_emulated_are_told() {
        let said = settings(&[
            ("mapred.job.reuse.jvm.num.tasks", "-1"),
            ("mapred.task.cache.levels", "2"),
        ]);
        let told = unmodelled(&said);
        assert!(told.len() == 1 && told[0].starts_with("mapred.job.reuse.jvm.num.tasks is -1: "));
    }
}
