//! The whole emulator: messages and tasks a second, and the cost of its parts.
//!
//! The first part emulates the load of the bench `transport` in full: `fifo` and one endless job of
//! 35-s maps, on 100, 1,000 and 10,000 trackers with heartbeats every 3 s, for one virtual hour.
//! Histograms are on; each run is done once with actors and once without. Then come FB2009-like
//! jobs with all outputs, and the same jobs with shared disks, network links and cores. The last
//! number is the cost of one change among 400 simultaneous reads.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench prints wall times")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use mumakil::cluster::{DiskId, Resources, SharedResources, Topology, TrackerId};
use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::random::{Purpose, stream};
use mumakil::runtime::Transport;
use mumakil::scenario::{self, Scenario};
use rand::RngExt;

fn parse(yaml: &str) -> Scenario {
    parse_with(yaml, &[])
}

fn parse_with(yaml: &str, sets: &[String]) -> Scenario {
    scenario::parse("bench.yaml", yaml, sets, &mumakil::registry())
        .unwrap_or_else(|error| panic!("{error}"))
        .scenario
}

/// Returns a scenario in which every tracker sends a heartbeat every 3 s and runs four maps of 35 s
/// at a time. The JobTracker keeps up with all heartbeats.
fn endless(trackers: u32) -> Scenario {
    parse(&format!(
        "
name: endless
until: 1h
hadoop: {{line: \"0.20\", heartbeat: 3s, start_up: 0s, setup_cleanup: false}}
cluster:
  nodes: {trackers}
  map_slots: 4
  reduce_slots: 0
  jobtracker: {{per_heartbeat: 0.05ms, per_task: 0.01ms}}
workload:
  jobs: [{{name: endless, maps: {}, map_time: 35s}}]
record: {{tasks: false, timeline: false}}
",
        trackers * 4 * 110
    ))
}

/// Runs a scenario several times; returns the shortest wall time, with the last result.
fn fastest(
    repeats: u32,
    scenario: &Scenario,
    folder: Option<&Path>,
    transport: Transport,
) -> (f64, Emulated) {
    let registry = mumakil::registry();
    let run = || {
        if let Some(folder) = folder {
            std::fs::remove_dir_all(folder).ok();
            std::fs::create_dir_all(folder).expect("the bench may write to its folder");
        }
        let folder = folder.map(Path::to_owned);
        let options = Options { folder, transport, ..Options::default() };
        let start = Instant::now();
        let run = emulate(scenario, &registry, options).expect("the scenario runs");
        (start.elapsed().as_secs_f64(), run)
    };
    (1..repeats).map(|_| run()).fold(run(), |best, next| if next.0 < best.0 { next } else { best })
}

fn main() {
    let folder: PathBuf =
        std::env::temp_dir().join(format!("mumakil-bench-{}", std::process::id()));
    println!(
        "emulator: fifo, one endless job, heartbeats every 3 s, one virtual hour, histograms on"
    );
    for trackers in [100, 1_000, 10_000] {
        let scenario = endless(trackers);
        let repeats = if trackers == 10_000 { 1 } else { 3 };
        for (drive, transport) in [("actors", Transport::Actors), ("bare", Transport::Bare)] {
            let (secs, run) = fastest(repeats, &scenario, Some(&folder), transport);
            let messages = run.summary.messages as f64;
            let decided = run.decision_time.mean() * run.decision_time.len() as f64 / 1e9;
            println!(
                "{trackers:>6} trackers  {drive:<6}  {messages:>9} messages  {:5.2} M/s  {:7.0} tasks/s  \
                 {secs:6.2} s, of which the policy {:4.1} %",
                messages / secs / 1e6,
                run.summary.attempts as f64 / secs,
                decided / secs * 100.0,
            );
        }
    }

    let scenario = parse(include_str!("../scenarios/fb2009-like.yaml"));
    for (outputs, folder) in [("all outputs", Some(folder.as_path())), ("no outputs", None)] {
        let (secs, run) = fastest(10, &scenario, folder, Transport::Actors);
        println!(
            "FB2009-like, {} nodes, {} jobs, {} tasks, fifo, {outputs}: {secs:.3} s, {:.2} M messages/s",
            run.summary.run.nodes,
            run.summary.jobs,
            run.summary.maps + run.summary.reduces,
            run.summary.messages as f64 / secs / 1e6,
        );
    }
    std::fs::remove_dir_all(&folder).ok();

    let sharing = ["cluster.network.model=shared", "cluster.contention=true"].map(str::to_owned);
    let shared = parse_with(include_str!("../scenarios/fb2009-like.yaml"), &sharing);
    let (fixed_secs, _) = fastest(10, &scenario, None, Transport::Actors);
    let (secs, run) = fastest(10, &shared, None, Transport::Actors);
    println!(
        "FB2009-like, disks, wires and cores shared, no outputs: {secs:.3} s, {:.2} times as long as \
         fixed, {:.1} us a task more",
        secs / fixed_secs,
        (secs - fixed_secs) / (run.summary.maps + run.summary.reduces) as f64 * 1e6,
    );
    change_among_reads(&scenario, 400);
}

/// Measures the time to end a read, begin another read, and settle all reads. There are `reads`
/// reads at a time, each from any disk of the cluster to any node.
fn change_among_reads(scenario: &Scenario, reads: usize) {
    const CHANGES: usize = 20_000;
    let topology = Topology::new(&scenario.cluster);
    let nodes = topology.len();
    let resources = Resources::new(&scenario.cluster, topology.into());
    let mut sharing = SharedResources::new(resources.capacities.iter().copied());
    let mut rng = stream(1, Purpose::Source, 0);
    let mut read = || {
        let disk = rng.random_range(0..resources.disks);
        let from = DiskId { node: TrackerId(rng.random_range(0..nodes)), disk };
        resources.read(from, TrackerId(rng.random_range(0..nodes))).uses
    };
    let mut flows: Vec<_> = (0..reads).map(|_| sharing.begin(read())).collect();
    sharing.settle(|_, _| {});
    let mut told = 0u64;
    let start = Instant::now();
    for change in 0..CHANGES {
        sharing.end(flows[change % reads]);
        flows[change % reads] = sharing.begin(read());
        sharing.settle(|_, _| told += 1);
    }
    println!(
        "{reads} reads at a time on {nodes} nodes: {:.1} us a change, which {:.1} flows hear of",
        start.elapsed().as_secs_f64() / CHANGES as f64 * 1e6,
        told as f64 / CHANGES as f64,
    );
}
