//! Deadlines: tables tell those that were missed, and bounds how long a job takes.

use std::fs;

use proptest::prelude::*;

use crate::Room;
use crate::hfsp::ONE_SLOT;
use mumakil::theory::TaskBag;

/// How long the slot may be idle between two attempts, in seconds.
const BETWEEN: f64 = 0.3;

#[test]
fn deadlines_are_quantities() {
    let room = Room::new();
    let yaml = format!(
        "{ONE_SLOT}scheduler: fifo
record: {{deadlines: true}}
workload:
  jobs:
    - {{name: long, maps: 1, map_time: 30s, deadline: 1min}}
    - {{name: short, submit: 5s, maps: 1, map_time: 10s, deadline: 15s}}
    - {{name: free, submit: 6s, maps: 1, map_time: 10s}}
expect:
  - count(missed) == 2
  - mean(missed) == 0.5
  - 19s < max(tardiness) <= 21s
  - share(tardiness > 0s) == 50 %
  - max(deadline) == 1min
"
    );
    room.write("late.yaml", &yaml);
    let output = room.mumakil("run late.yaml --out out").output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{told}");
    let table = fs::read_to_string(room.path("out/jobs.csv")).unwrap();
    assert_eq!(table.lines().filter(|line| !line.ends_with(",,,")).count(), 3, "{table}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// The maps of a job take between the least and the most time that their bounds allow, and a
    /// little for each heartbeat.
    #[test]
    fn the_maps_of_a_job_take_a_time_within_their_bounds(
        maps in 1..40_u32, slots in 1..6_u32, seed in 0..1_000_u64,
    ) {
        let room = Room::new();
        let cluster = ONE_SLOT.replace("map_slots: 1", &format!("map_slots: {slots}"));
        room.write("bag.yaml", &format!(
            "seed: {seed}\n{cluster}record: {{tasks: true}}\nworkload: {{jobs: [{{name: a, maps: {maps}, \
             map_time: {{uniform: {{from: 5s, to: 60s}}}}}}]}}\n"
        ));
        room.mumakil("run bag.yaml --out out").assert().success();
        let table = fs::read_to_string(room.path("out/tasks.csv")).unwrap();
        let mut lines = table.lines();
        let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
        let column = |name: &str| heads.iter().position(|head| *head == name).unwrap();
        let (from, to) = (column("launch_ms"), column("finish_ms"));
        let rows: Vec<(f64, f64)> = lines
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                [from, to].map(|at| cells[at].parse::<f64>().unwrap() / 1e3).into()
            })
            .collect();
        let times: Vec<f64> = rows.iter().map(|(from, to)| to - from).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let longest = times.iter().copied().fold(0.0, f64::max) / mean;
        let bag = TaskBag { tasks: maps.into(), slots: slots.into(), longest };
        let begun = rows.iter().map(|row| row.0).fold(f64::INFINITY, f64::min);
        let took = rows.iter().map(|row| row.1).fold(0.0, f64::max) - begun;
        let between = BETWEEN * f64::from(maps);
        prop_assert!(mean * bag.least().unwrap() <= took + 1e-3, "{took} s: {bag:?}");
        prop_assert!(took <= mean * bag.most().unwrap() + between, "{took} s: {bag:?}");
    }
}
