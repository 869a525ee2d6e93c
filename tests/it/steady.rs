//! Whether a run is steady: waits against theory, verdicts, warm-ups that are found.

use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::record::LoadVerdict;
use mumakil::runtime::Transport;
use mumakil::scenario;

/// Jobs of one map, with exponential gaps and exponential times of ten minutes, on eight slots. A
/// heartbeat follows each end of a task, so a slot is idle for moments only. Loads are exact: `pace`
/// scales the drawn gaps.
const QUEUE: &str = "
hadoop:
  {line: '1.x', heartbeat: 10s, out_of_band: true, setup_cleanup: false, start_up: 0s,
   commit_pending: none}
cluster: {nodes: 4, map_slots: 2, reduce_slots: 1, jobtracker: {init: 0s}}
workload:
  mix:
    jobs: 10000
    arrivals: {gap: {exponential: {mean: 1min}}}
    types: {a: {maps: 1, map_input: 0, map_time: {exponential: {mean: 10min}}}}
";

fn run(sets: &[&str]) -> Emulated {
    let registry = mumakil::registry();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = scenario::parse("queue.yaml", QUEUE, &sets, &registry).unwrap().scenario;
    let options = Options { transport: Transport::Bare, ..Options::default() };
    emulate(&scenario, &registry, options).unwrap()
}

/// Returns the mean wait of the queue M/M/c, as a multiple of the mean time of a task: A. K. Erlang's
/// second formula (L. Kleinrock, Queueing Systems 1, section 3.5).
fn mean_wait(slots: u32, load: f64) -> f64 {
    let offered = f64::from(slots) * load;
    // The first formula by its recursion.
    let lost =
        (1..=slots).fold(1.0, |lost, slot| offered * lost / (f64::from(slot) + offered * lost));
    lost / (1.0 - load * (1.0 - lost)) / (f64::from(slots) * (1.0 - load))
}

#[test]
fn the_mean_wait_is_the_one_of_erlang() {
    let summary = run(&["workload.pace.load=0.7"]).summary;
    let theory = mean_wait(8, 0.7) * 600.0;
    // A job that finds a free slot waits for the next heartbeat of a tracker: a second or two.
    let wait = summary.mean_wait_s.unwrap();
    assert!((wait / theory - 1.0).abs() < 0.1, "{wait} s, and {theory} s by theory");
    assert_eq!(summary.load.verdict, LoadVerdict::Stable, "{:?}", summary.load);
    assert!((summary.load.offered.map.unwrap() - 0.7).abs() < 1e-3, "{:?}", summary.load);
    assert!((summary.slot_utilisation.map.unwrap() - 0.7).abs() < 0.02, "{summary:?}");
}

#[test]
fn a_load_above_one_is_an_overload() {
    let sets = ["workload.pace.load=1.1", "workload.mix.jobs=2000"];
    let load = run(&sets).summary.load;
    assert_eq!(load.verdict, LoadVerdict::Overloaded, "{load:?}");
    // Of 8 slots, work for 0.8 more arrives.
    assert!((load.growth.map.unwrap() - 0.8).abs() < 0.2, "{load:?}");
}

#[test]
fn a_warm_up_that_is_found_leaves_out_the_jobs_that_met_an_empty_cluster() {
    let sets = ["workload.pace.load=0.95", "workload.mix.jobs=4000", "record.warm_up=auto"];
    let (found, again) = (run(&sets), run(&sets));
    let jobs = found.summary.warm_up_jobs.unwrap();
    assert!(0 < jobs && jobs <= 2_000, "{jobs}");
    assert_eq!(found.summary.jobs + jobs, 4_000);
    assert_eq!(found.summary, again.summary);
    let fixed = format!("record.warm_up={}us", (found.summary.warm_up_s * 1e6).round());
    let told = run(&[sets[0], sets[1], &fixed]).summary;
    assert_eq!(told.mean_sojourn_s, found.summary.mean_sojourn_s);
}
