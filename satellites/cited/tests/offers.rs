//! Slot offers: how fast a new framework gets its slots, against the closed forms.

use crate::{Room, rows};

/// The mean time of a task that holds a slot when the new framework comes, in seconds.
const TASK: f64 = 200.0;

/// Runs two frameworks on 400 slots. The old one holds all of them when the new one comes, after the
/// phases of its tasks have become random. Returns the ramp-up and the completion of the new one, in
/// seconds.
fn ramp(is_exponential: bool) -> [f64; 2] {
    let time = if is_exponential {
        format!("{{exponential: {{mean: {TASK}s}}}}")
    } else {
        format!("{TASK}s")
    };
    let yaml = format!(
        "hadoop: {{line: \"1.x\", heartbeat: 500ms, out_of_band: true, setup_cleanup: false, start_up: 0s, localisation: 0s, commit_pending: none}}
cluster: {{nodes: 100, racks: 1, map_slots: 4, reduce_slots: 0, jobtracker: {{per_heartbeat: 0s, per_task: 0s}}}}
until: 3h
workload:
  jobs:
    - {{name: first, pool: old, maps: 400, input: 0, map_time: {{uniform: {{from: 1s, to: {TASK}s}}}}}}
    - {{name: old, pool: old, maps: 9000, input: 0, map_time: {time}}}
    - {{name: new, pool: new, submit: 1000s, maps: 16000, input: 0, map_time: 10s}}
scheduler: {{offers: {{filter: 0s, frameworks: {{old: {{}}, new: {{weight: 1000000}}}}}}}}
record: {{tasks: true}}
"
    );
    let room = Room::new();
    room.write("ramp.yaml", &yaml);
    room.mumakil("run ramp.yaml --out out").assert().success();
    let (mut last_old, mut last_new) = (0.0_f64, 0.0_f64);
    for row in rows(&room.path("out/tasks.csv")) {
        let number =
            |column: &str| row[column].parse().map_or(0.0, |millis: f64| millis / 1e3 - 1000.0);
        match &*row["job"] {
            "2" => last_new = last_new.max(number("finish_ms")),
            // The old framework's last task that began before the new one came.
            _ if number("start_ms") < 0.0 => last_old = last_old.max(number("finish_ms")),
            _ => {}
        }
    }
    [last_old, last_new]
}

#[test]
fn a_new_framework_gets_its_slots_as_fast_as_theory_says() {
    for is_exponential in [false, true] {
        let work = 16_000.0 * 10.0 / (400.0 * TASK);
        let [ramp_up, completion] = ramp(is_exponential);
        // Hindman et al., NSDI 2011, section 4.3 and table 2, in mean times of a task.
        let (slots, completes) =
            if is_exponential { (400.0_f64.ln(), 1.0 + work) } else { (1.0, 0.5 + work) };
        let expected = slots * TASK;
        // The longest of 400 exponential times varies by 1.3 means.
        let apart = if is_exponential { 2.5 * TASK } else { 0.02 * TASK };
        assert!((ramp_up - expected).abs() < apart, "{ramp_up} of {expected}");
        let expected = completes * TASK;
        // Between two tasks of 10 s a slot is idle for half a second at most.
        assert!((0.97..1.08).contains(&(completion / expected)), "{completion} of {expected}");
    }
}

/// Frameworks without jobs get no offers, however long they would think about them.
#[test]
fn frameworks_without_jobs_keep_nobody_waiting() {
    let yaml = "
cluster: {nodes: 4}
workload: {jobs: [{name: a, maps: 5, map_time: 10s}]}
scheduler:
  offers: {answer: 1s, frameworks: {f: {}, g: {}, h: {}, i: {}, j: {}, k: {}, l: {}, m: {}}}
";
    crate::liveness::ends(yaml, 42);
}
