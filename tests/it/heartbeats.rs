//! The queue of heartbeats at the JobTracker.

use std::fs;

use mumakil::emulation::{Options, emulate};
use mumakil::scenario;

/// Returns the mean wait of a heartbeat in microseconds. The JobTracker takes 1 ms for each
/// heartbeat. Every tracker sends one heartbeat a second, which the fuzz makes earlier or later.
fn mean_wait_us(trackers: u32, fuzz: &str) -> f64 {
    let text = format!(
        "
hadoop: {{heartbeat: 1s, heartbeat_fuzz: {fuzz}}}
cluster: {{nodes: {trackers}, jobtracker: {{per_heartbeat: 1ms, per_task: 0s, init: 0s}}}}
workload: {{jobs: [{{name: long, maps: 1, map_time: 3min}}]}}
record: {{tasks: false, timeline: false}}
"
    );
    let registry = mumakil::registry();
    let loaded = scenario::parse("heartbeats.yaml", &text, &[], &registry).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = Options { folder: Some(folder.path().to_owned()), ..Options::default() };
    emulate(&loaded.scenario, &registry, options).unwrap();
    let file = folder.path().join("histograms/jobtracker_queue.hgrm");
    let text = fs::read_to_string(file).unwrap();
    let (_, mean) = text.split_once("#[Mean    =").expect("a histogram ends in its mean");
    // The file is in milliseconds.
    1_000.0 * mean.split(',').next().unwrap().trim().parse::<f64>().unwrap()
}

#[test]
fn with_a_fuzz_heartbeats_wait_as_theory_has_it_for_arrivals_at_random() {
    for trackers in [300, 500, 700] {
        let busy = f64::from(trackers) / 1_000.0;
        let theory = 1_000.0 * busy / (2.0 * (1.0 - busy));
        let share = mean_wait_us(trackers, "200ms") / theory;
        assert!((0.95..1.05).contains(&share), "{trackers} trackers: {share} of {theory} µs");
    }
}

#[test]
fn without_a_fuzz_who_has_waited_for_others_comes_after_them_for_ever() {
    for trackers in [300, 500, 700] {
        let wait = mean_wait_us(trackers, "0s");
        assert!(wait < 50.0, "{trackers} trackers: {wait} µs");
    }
}
