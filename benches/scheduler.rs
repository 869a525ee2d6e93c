//! The cost of a scheduling decision, under the load of the delay scheduling paper's section 5.4.
//! The bench `growth` shows how this cost grows with the number of jobs.
//!
//! The paper's mock cluster has 2,500 nodes with two map and two reduce slots each. A hundred jobs
//! in twenty pools have a thousand maps and a thousand reduces of 10 s each. The paper's scheduler
//! launched 3,200 tasks a second on a core of 2.66 GHz.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench prints wall times")]

use std::fmt::Write as _;
use std::time::Instant;

use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::scenario;

/// Runs a scenario; returns the wall time in seconds, and its result.
fn run(yaml: &str) -> (f64, Emulated) {
    let registry = mumakil::registry();
    let loaded = scenario::parse("bench.yaml", yaml, &[], &registry);
    let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
    let start = Instant::now();
    let run = emulate(&scenario, &registry, Options::default()).expect("the scenario runs");
    (start.elapsed().as_secs_f64(), run)
}

/// Returns the fair scheduler with this many pools.
fn fair(variant: &str, pools: u32) -> String {
    let mut declared = String::new();
    for pool in 0..pools {
        write!(declared, "pool-{pool}: {{}}, ").expect("a string accepts any text");
    }
    format!("{{fair: {{variant: {variant}, allocations: {{pools: {{{declared}}}}}}}}}")
}

/// Returns a scenario in which the JobTracker is never the bottleneck.
fn cluster(nodes: u32, scheduler: &str, jobs: &str) -> String {
    format!(
        "
name: bench
hadoop: {{line: \"0.20\", heartbeat: 3s, setup_cleanup: false, start_up: 0s, slow_start: 0}}
cluster:
  nodes: {nodes}
  racks: {racks}
  map_slots: 2
  reduce_slots: 2
  jobtracker: {{per_heartbeat: 0s, per_task: 0s, init: 0s}}
workload: {{jobs: [{jobs}]}}
record: {{tasks: false, timeline: false, histograms: false}}
scheduler: {scheduler}
",
        racks = nodes.div_ceil(40),
    )
}

/// Returns jobs that are spread evenly over the pools; their maps and reduces take 10 s each.
fn jobs(count: u32, pools: u32, maps: u32, reduces: u32) -> String {
    let mut text = String::new();
    for job in 0..count {
        write!(
            text,
            "{{name: j{job}, pool: pool-{}, maps: {maps}, reduces: {reduces}, map_time: 10s, \
             reduce_time: 10s}}, ",
            job % pools
        )
        .expect("a string accepts any text");
    }
    text
}

/// Prints the numbers of a run's decisions.
fn tell(what: &str, (secs, run): &(f64, Emulated)) {
    let decided = run.decision_time.mean() * run.decision_time.len() as f64 / 1e9;
    let tasks = run.summary.attempts as f64;
    println!(
        "{what:<40} {:>9.0} tasks/s  scheduler alone {:>9.0} tasks/s  decision mean {:>7.2} µs  p99 {:>7.2} µs",
        tasks / secs,
        tasks / decided,
        run.decision_time.mean() / 1e3,
        run.decision_time.value_at_quantile(0.99) as f64 / 1e3,
    );
}

fn main() {
    println!("scheduler: 2,500 nodes, 20 pools, 100 jobs of 1,000 maps and 1,000 reduces of 10 s");
    for variant in ["hadoop", "paper"] {
        let yaml = cluster(2_500, &fair(variant, 20), &jobs(100, 20, 1_000, 1_000));
        tell(&format!("fair, {variant}"), &run(&yaml));
    }
}
