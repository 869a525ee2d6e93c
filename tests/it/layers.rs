//! Layers of a scenario: no setting of a user is lost without a warning.

use std::path::Path;

use mumakil::cluster::ClusterSpec;
use mumakil::scenario::{Draft, Scenario};
use mumakil::study::{Plan, Study};
use mumakil::units::{Bytes, SimSpan};

use crate::Room;

const BASE: &str = "
name: base
cluster:
  nodes: 6
  hdfs: {block: 256MiB}
  network: {latency: 50ms}
  jobtracker: {per_heartbeat: 50ms}
workload: {jobs: [{name: a, maps: 4, map_time: 5s}]}
";

/// The cluster that a study or an argument sets. Its keys of `hdfs`, `network` and `jobtracker` are
/// not those that `BASE` sets.
const OVER: &str = "{hdfs: {replication: 2}, network: {rack: 10MB/s}, jobtracker: {init: 2s}}";

/// A scheduler with settings of every kind.
const FAIR: &str = "
scheduler:
  fair:
    preemption: kill
    allocations: {pools: {prod: {min_maps: 2}}}
";

fn plan(study: &Path) -> Plan {
    let study = Study::of(Draft::read(study).unwrap());
    let study = study.unwrap_or_else(|error| panic!("{error}"));
    Plan::new(&study, &mumakil::registry()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the scenario of each cell of a study over `base.yaml`.
fn cells(room: &Room, study: &str) -> Vec<Scenario> {
    room.write("study.yaml", &format!("base: base.yaml\n{study}"));
    let plan = plan(&room.path("study.yaml"));
    plan.runs.iter().map(|run| plan.scenario(run)).collect()
}

/// Returns the warnings of a successful command about lost settings.
fn told(room: &Room, arguments: &[&str]) -> String {
    let output = room.mumakil("").args(arguments).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    let of_settings = told.split_inclusive('\n').filter(|line| line.contains("these settings"));
    of_settings.collect()
}

fn assert_has_both_halves(cluster: &ClusterSpec) {
    assert_eq!(cluster.hdfs.block, Bytes::from_mib(256));
    assert_eq!(cluster.hdfs.replication.get(), 2);
    assert_eq!(cluster.network.latency.mean(), SimSpan::from_millis(50).as_micros() as f64);
    assert_eq!(cluster.jobtracker.per_heartbeat, SimSpan::from_millis(50));
}

#[test]
fn parts_of_a_cluster_keep_what_a_study_does_not_say() {
    let room = Room::new();
    room.write("base.yaml", BASE);
    for study in [
        format!("cluster: {OVER}\nsweep: {{seeds: 1}}"),
        format!("sweep: {{cluster: [{{as: one, value: {OVER}}}]}}"),
        "sweep: {zip: {cluster.hdfs: [{replication: 2}], cluster.network: [{rack: 10MB/s}]}}"
            .into(),
    ] {
        assert_has_both_halves(&cells(&room, &study)[0].cluster);
    }
    assert_eq!(told(&room, &["check", "study.yaml"]), "");
}

#[test]
fn parts_of_a_cluster_keep_what_an_argument_does_not_say() {
    let room = Room::new();
    room.write("base.yaml", BASE);
    let whole = format!("cluster={OVER}");
    let parts = ["cluster.hdfs={replication: 2}", "cluster.network={rack: 10MB/s}"];
    for (out, sets) in [("whole", &[&*whole][..]), ("parts", &parts)] {
        let mut arguments = vec!["run", "base.yaml", "--out", out];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        assert_eq!(told(&room, &arguments), "");
        let resolved = room.path(&format!("{out}/scenario.resolved.yaml"));
        let resolved = Draft::read(&resolved).unwrap().resolve(&mumakil::registry());
        assert_has_both_halves(&resolved.unwrap().scenario.cluster);
    }
}

#[test]
fn pools_stand_beside_those_of_the_base() {
    let room = Room::new();
    room.write("base.yaml", &format!("{BASE}{FAIR}"));
    let pools = "scheduler: {fair: {allocations: {pools: {research: {min_maps: 1}}}}}";
    let scenario = cells(&room, &format!("{pools}\nsweep: {{seeds: 1}}")).remove(0);
    let yaml = scenario.to_yaml();
    assert!(yaml.contains("prod:") && yaml.contains("research:"), "{yaml}");
    assert!(yaml.contains("preemption: kill"), "{yaml}");
}

#[test]
fn a_value_of_an_axis_keeps_the_options_of_its_own_name() {
    let room = Room::new();
    room.write("base.yaml", &format!("{BASE}{FAIR}"));
    let study = "sweep: {scheduler: [fifo, fair, {as: slow, fair: {delay: {w1: 9s}}}, hfsp]}";
    let cells = cells(&room, study);
    let kept = |cell: &Scenario| cell.to_yaml().contains("prod:");
    assert_eq!(cells.iter().map(kept).collect::<Vec<_>>(), [false, true, true, false]);
    assert!(cells[2].to_yaml().contains("w1: 9s"));
    // Several cells that lack the same settings give one warning.
    assert_eq!(
        told(&room, &["check", "study.yaml"]),
        "warning: with `fifo`, `hfsp` for `scheduler` (study.yaml) these settings of base.yaml have \
         no effect: `scheduler.fair.preemption`, `scheduler.fair.allocations`; what is still wanted \
         has to be written again\n"
    );
}

#[test]
fn settings_that_go_with_a_choice_or_a_preset_are_told() {
    let room = Room::new();
    room.write("base.yaml", &format!("{BASE}{FAIR}"));
    for (set, settings) in [
        ("scheduler=fifo", "`scheduler.fair.preemption`, `scheduler.fair.allocations`"),
        ("scheduler.fifo.delay={w1: 1s, w2: 1s}", "`scheduler.fair.preemption`, "),
        ("cluster.preset=ec2-100", "`cluster.nodes`, `cluster.hdfs`, `cluster.network`, "),
        ("cluster=vm-8", "`cluster.nodes`, `cluster.hdfs`, `cluster.network`, "),
        ("scheduler.fair.allocations=pools.xml", "`scheduler.fair.allocations.pools`"),
    ] {
        room.write("pools.xml", "<allocations/>");
        let told = told(&room, &["check", "base.yaml", "--set", set]);
        let expected =
            format!("(--set {set}) these settings of base.yaml have no effect: {settings}");
        assert!(told.contains(&expected), "{set}: {told}");
    }
    for set in ["scheduler=fair", "scheduler=null", "cluster.nodes=7", "cluster={racks: 2}"] {
        assert_eq!(told(&room, &["check", "base.yaml", "--set", set]), "", "{set}");
    }
}

#[test]
fn an_argument_and_a_study_that_says_the_same_do_the_same() {
    let room = Room::new();
    room.write("base.yaml", &format!("{BASE}{FAIR}"));
    for (set, study) in [
        ("cluster.hdfs.replication=1", "cluster: {hdfs: {replication: 1}}"),
        ("cluster=ec2-100", "cluster: ec2-100"),
        ("hadoop.line=1.x", "hadoop: {line: 1.x}"),
        ("scheduler=hfsp", "scheduler: hfsp"),
        ("scheduler={fair: {delay: {w1: 3s}}}", "scheduler: {fair: {delay: {w1: 3s}}}"),
        ("classes={small: maps < 3}", "classes: {small: maps < 3}"),
        ("scheduler=null", "scheduler: null"),
    ] {
        let mut written = cells(&room, &format!("{study}\nsweep: {{seeds: 1}}")).remove(0);
        let base = Draft::read(&room.path("base.yaml")).unwrap().with(&[set.to_owned()]);
        let set = base.resolve(&mumakil::registry()).unwrap().scenario;
        // Ignore the name and the recorded data: a study sets its own.
        (written.name, written.record) = (set.name.clone(), set.record.clone());
        assert_eq!(written.to_yaml(), set.to_yaml(), "{study}");
    }
}

const MIX: &str = "{jobs: 3, types: {a: {maps: 2, map_time: 5s}}}";

/// Returns the kind of source of a scenario's jobs.
fn source(scenario: &Scenario) -> &'static str {
    let [source] = &scenario.workload.sources[..] else { panic!("{:?}", scenario.workload) };
    source.key()
}

#[test]
fn a_source_takes_the_place_of_the_bases_and_keeps_what_all_share() {
    let room = Room::new();
    room.write("jobs.csv", "name,maps,map_time\nb,2,5s\n");
    room.write("base.yaml", &BASE.replace("workload: {", "workload: {start: 7s, "));
    let study = format!("sweep: {{workload: [{{mix: {MIX}}}, {{jobs: jobs.csv}}, {{start: 9s}}]}}");
    let cells = cells(&room, &study);
    assert_eq!(cells.iter().map(source).collect::<Vec<_>>(), ["mix", "jobs", "jobs"]);
    let starts_at = |cell: &Scenario, start| cell.to_yaml().contains(&format!("start: {start}\n"));
    assert!(starts_at(&cells[0], "7s") && starts_at(&cells[1], "7s") && starts_at(&cells[2], "9s"));
    assert_eq!(
        told(&room, &["check", "study.yaml"]),
        "warning: with `mix` for `workload` (study.yaml) these settings of base.yaml have no effect: \
         `workload.jobs`; what is still wanted has to be written again\n"
    );
    let set = format!("workload={{mix: {MIX}}}");
    let told = told(&room, &["check", "base.yaml", "--set", &set]);
    let expected = format!(
        "with `mix` for `workload` (--set {set}) these settings of base.yaml have no effect: \
         `workload.jobs`;"
    );
    assert!(told.contains(&expected), "{told}");
}

#[test]
fn a_preset_counts_as_the_source_that_it_brings() {
    let room = Room::new();
    room.write("base.yaml", "workload: {preset: fb2009, start: 7s}");
    let study = "sweep: {workload: [{mix: {jobs: 5}}, {jobs: [{name: a, maps: 4, map_time: 5s}]}, ds-small]}";
    let cells = cells(&room, study);
    assert_eq!(cells.iter().map(source).collect::<Vec<_>>(), ["mix", "jobs", "mix"]);
    assert!(cells[0].to_yaml().contains("jobs: 5\n"), "options of the preset's source are changed");
    assert!(cells[1].to_yaml().contains("start: 7s\n"));
    assert_eq!(
        told(&room, &["check", "study.yaml"]),
        "warning: with `jobs` for `workload` (study.yaml) these settings of base.yaml have no effect: \
         `workload.preset`; what is still wanted has to be written again\n\
         warning: with `ds-small` for `workload` (study.yaml) these settings of base.yaml have no effect: \
         `workload.start`; what is still wanted has to be written again\n"
    );
}
