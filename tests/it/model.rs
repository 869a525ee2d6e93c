//! The number of the model is raised whenever runs leave other files.

use std::fmt::Write;
use std::fs;

use mumakil::MODEL;
use mumakil::emulation::{Options, Prepared};
use mumakil::output::RunFolder;
use mumakil::runtime::Transport;
use mumakil::scenario::{self, STARTERS};

use crate::{Room, root};

/// A bit of everything: unlike nodes in racks, jobs with and without input and reduces, in two pools,
/// with priorities, and one after another.
const RUN: &str = "
cluster: {nodes: 9, racks: 3, groups: [{count: 2, map_slots: 4, speed: 0.5}]}
workload:
  jobs:
    - {name: small, count: 6, every: 20s, maps: 3, reduces: 1, shuffle: 20MB, user: ann, map_time: {log_normal: {mean: 12s, cv: 0.4}}, reduce_time: 5s}
    - {name: large, submit: 15s, maps: 60, reduces: 5, shuffle: 2GB, user: bob, map_time: {log_normal: {mean: 25s, cv: 0.3}}, reduce_time: 30s}
    - {name: read, submit: 40s, maps: 20, user: carl, priority: high, map_rate: 20MB/s}
    - {name: last, after: [large], maps: 4, input: 0, user: carl, map_time: 9s}
record: {events: true, decisions: true, waste: true, chains: true, sizes: true, alone: true, report: false}
";

/// The settings of further runs: one for each part of the model.
const SETS: [&[&str]; 19] = [
    &["hadoop=0.21"],
    &["hadoop=1.x"],
    &["hadoop=mumak"],
    &["hadoop.out_of_band=true"],
    &["hadoop.commit_pending=slot-held"],
    &["hadoop.commit_pending=not-counted"],
    &["hadoop.speculation=hadoop-0.20", "faults=[{slow: {nodes: 2, cpu: 0.2}}]"],
    &["hadoop.speculation=late", "faults=[{slow: {nodes: 2, cpu: 0.2}}]"],
    &["cluster.network.model=shared", "cluster.contention=true"],
    &["cluster.preset=facebook-620", "cluster.groups=[]", "cluster.nodes=30"],
    &["faults=[{at: 1min, stop: node-3}, {at: 15min, start: node-3}]"],
    &["faults=[{task_failures: 10 %}, {loss: 2 %}, {duplication: 2 %}]", "hadoop.rpc_timeout=1min"],
    &["faults=[{crashes: {mtbf: {exponential: {mean: 30min}}, mttr: 2min}}]"],
    &[
        "scheduler={fair: {preemption: true, delay: {w1: 20s, w2: 20s}, allocations: {pools: {carl: {min_maps: 9, min_share_after: 5s}}}}}",
    ],
    &["scheduler={hfsp: {variant: paper-2013}}"],
    &["scheduler={hfsp: {preemption: kill, sample: 1}}"],
    &["workload=srt", "workload.mix.jobs=9", "scheduler={fair: {reduce_order: srt}}"],
    &["workload=fb2009", "workload.mix.jobs=20", "cluster=ec2-100", "record.alone=false"],
    &["workload=ds-small", "workload.mix.jobs=20", "cluster=private-100", "record.alone=false"],
];

/// Returns the digest of a run.
fn digest(file: &str, text: &str, sets: &[String]) -> String {
    let registry = mumakil::registry();
    let loaded = scenario::parse(file, text, sets, &registry);
    let loaded = loaded.unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    let room = Room::new();
    let folder = RunFolder::create(&room.path("run"), false).unwrap();
    let options = Options { transport: Transport::Bare, ..Options::default() };
    let prepared = Prepared::new(loaded.scenario, &registry).unwrap();
    prepared.fill(&folder, &registry, options).unwrap().digest.to_string()
}

/// Returns a line for each run: its digest, and what it is.
fn digests() -> String {
    let mut lines = String::new();
    for starter in STARTERS.iter().filter(|starter| !starter.is_study()) {
        let told = digest(starter.name, starter.text, &["record.report=false".to_owned()]);
        writeln!(lines, "{told} {}", starter.name).unwrap();
    }
    let registry = mumakil::registry();
    let policies = registry.names().filter(|name| *name != "external");
    let policies = policies.map(|policy| vec![format!("scheduler={policy}")]);
    let sets = SETS.iter().map(|sets| sets.iter().map(|set| (*set).to_owned()).collect());
    for sets in policies.chain(sets) {
        writeln!(lines, "{} {}", digest("run.yaml", RUN, &sets), sets.join(" ")).unwrap();
    }
    lines
}

#[test]
fn the_number_of_the_model_is_raised_when_runs_change() {
    let kept = root().join("tests/model.txt");
    let known = fs::read_to_string(&kept).unwrap();
    let (head, before) = known.split_once('\n').unwrap();
    let now = digests();
    // A run that is no longer in the list has not changed.
    let is_changed = |line: &&str| {
        let (digest, run) = line.split_once(' ').unwrap();
        now.lines().any(|now| now.split_once(' ').is_some_and(|(is, of)| of == run && is != digest))
    };
    let changed: Vec<&str> = before.lines().filter(is_changed).collect();
    // `tests/satellites/run` deletes one that may bring policies.
    let has_all = std::env::var_os("MUMAKIL_WITHOUT").is_none();
    // Each summary names the version, so a release moves all digests: let its commit change nothing else.
    let own = format!("model {MODEL}, version {}", env!("CARGO_PKG_VERSION"));
    let raised = head != own;
    if raised || (changed.is_empty() && before != now && has_all) {
        if std::env::var_os("MUMAKIL_UPDATE").is_some() {
            fs::write(&kept, format!("{own}\n{now}")).unwrap();
            return;
        }
        panic!("write the digests of {own} with MUMAKIL_UPDATE=1");
    }
    assert!(
        changed.is_empty(),
        "runs leave other files than those of model {MODEL}, so raise MODEL in src/run/model.rs: a \
         study must not mix runs of both. They were\n{}",
        changed.join("\n")
    );
}
