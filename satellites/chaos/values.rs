//! Values for the fields of a scenario: small enough for a run of a second, odd enough to show
//! mistakes.
//!
//! The schema tells the form of a value: a type, or a title such as "a duration with a unit". The
//! field's name decides how large the value may be: a heartbeat interval of a millisecond is valid,
//! but a run with it takes an hour.

use rand::RngExt;
use rand::seq::IndexedRandom;
use serde_json::Value as Json;
use serde_yaml::Value;

use mumakil_base::random::ChaCha8Rng;

/// Returns a value of the form that a title describes; `None` if the field should be left out, such
/// as a file. The field `of` decides the usual size of the value: the mean of a latency's
/// distribution has the size of a latency.
pub(super) fn titled(
    title: &str,
    field: &str,
    of: &str,
    nodes: u64,
    rng: &mut ChaCha8Rng,
) -> Option<Value> {
    let text = if title.starts_with("`auto`, or a duration") && rng.random_bool(0.3) {
        "auto".to_owned()
    } else if title.contains("a duration") {
        duration(of, rng)
    } else if title.starts_with("a factor") && field == "shape" {
        // A Pareto distribution of shape 1 or less has no mean: a task may take years.
        one_of(&["1.5", "2", "4"], rng)
    } else if title.starts_with("a factor") {
        one_of(&["0", "0.25", "0.5", "1", "1.5", "2", "4"], rng)
    } else if title.starts_with("a share") {
        one_of(&["0", "1 %", "5 %", "20 %", "0.5", "80 %", "1"], rng)
    } else if title.starts_with("a size") {
        format!("{}MiB", logarithmic(1.0, 4_000.0, rng) as u64)
    } else if title.starts_with("a speed") {
        format!("{}MB/s", logarithmic(1.0, 1_000.0, rng) as u64)
    } else if title.starts_with("the name of a node") {
        format!("node-{}", rng.random_range(1..=nodes))
    } else if title.starts_with("a time as an expression") {
        // Among them sizes that are no number, that are all the same, and that have no end.
        let formulas =
            ["tasks * task_time", "input / 50MB * 1s", "0s / 0", "1min", "1h ^ 3 / 1s ^ 2"];
        one_of(&formulas, rng)
    } else if title.starts_with("an expression, such") && field == "when" {
        one_of(&["waited > 20s", "1 < victim.running", "priority > victim.priority"], rng)
    } else if title.starts_with("an expression, such") {
        // Among them ranks that change when a slot is given or taken, so slots may go to and fro.
        one_of(&["-remaining", "-attained", "-running", "waited", "age / remaining"], rng)
    } else {
        return None;
    };
    Some(Value::String(text))
}

fn duration(field: &str, rng: &mut ChaCha8Rng) -> String {
    let (least, most) = match field {
        // Not too short: each interval costs a message, or a pass over all jobs or trackers.
        "heartbeat" | "heartbeat_floor" => (500.0, 10_000.0),
        _ if field.ends_with("interval") || field.ends_with("poll") => (300.0, 60_000.0),
        // With longer times the JobTracker would never catch up with its heartbeats.
        "per_heartbeat" | "per_task" | "per_job" => (0.01, 5.0),
        "latency" | "cross_rack_latency" | "cross_pod_latency" => (0.1, 500.0),
        "heartbeat_fuzz" => (1.0, 400.0),
        "expiry" => (5_000.0, 1_200_000.0),
        "rpc_timeout" => (1_000.0, 120_000.0),
        "submit" | "every" | "at" | "for" => (100.0, 600_000.0),
        _ if field.ends_with("time") => (100.0, 200_000.0),
        _ => (10.0, 900_000.0),
    };
    // Try zero, too: code that divides or waits often forgets it.
    if rng.random_bool(0.05) {
        return "0".to_owned();
    }
    let millis = logarithmic(least, most, rng);
    if millis < 10.0 {
        format!("{}us", (millis * 1e3) as u64)
    } else {
        format!("{}ms", millis as u64)
    }
}

/// Returns a whole number within the bounds of its schema.
pub(super) fn whole(schema: &Json, field: &str, rng: &mut ChaCha8Rng) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Json::as_u64);
    let sensible = match field {
        "nodes" => 10,
        "racks" => 4,
        "pods" | "map_slots" | "reduce_slots" | "replication" | "count" => 3,
        "maps" => 24,
        "reduces" => 5,
        "cores" => 8,
        _ => 12,
    };
    let least = bound("minimum").unwrap_or(0);
    // A minimum above the sensible size takes precedence.
    let most = bound("maximum").unwrap_or(sensible).min(sensible).max(least);
    Value::from(rng.random_range(least..=most))
}

/// Returns one of a few names, so that several settings often use the same name.
pub(super) fn name(field: &str, rng: &mut ChaCha8Rng) -> Value {
    let names: &[&str] = match field {
        "user" => &["ann", "bob", "cid"],
        "pool" | "queue" => &["p0", "p1", "default"],
        _ => &["a", "b", "p0", "p1"],
    };
    Value::String(one_of(names, rng))
}

fn one_of(texts: &[&str], rng: &mut ChaCha8Rng) -> String {
    (*texts.choose(rng).expect("there are some")).to_owned()
}

fn logarithmic(least: f64, most: f64, rng: &mut ChaCha8Rng) -> f64 {
    least * (most / least).powf(rng.random::<f64>())
}
