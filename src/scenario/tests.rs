//! Tests of the whole way from a text to a scenario.

use std::fs::File;

use super::error::LARGEST_FILE;
use super::preset::{CLUSTERS, HADOOP, WORKLOADS};
use super::registry::tests::registry;
use super::*;
use mumakil_core::cluster::NodeCount;

const JOB: &str = "workload: {jobs: [{name: a, maps: 1}]}\n";

fn parse_with(text: &str, sets: &[&str]) -> Result<LoadedScenario, ScenarioError> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    parse("test.yaml", text, &sets, &registry())
}

fn scenario(text: &str) -> Scenario {
    parse_with(text, &[]).unwrap_or_else(|error| panic!("error: {error}")).scenario
}

fn error(text: &str, sets: &[&str]) -> String {
    format!("error: {}", parse_with(text, sets).unwrap_err())
}

#[test]
fn a_scenario_is_complete_with_a_job() {
    let scenario = scenario(JOB);
    assert_eq!(scenario.name.as_str(), "test");
    assert_eq!(scenario.seed, 42);
    assert_eq!(scenario.hadoop.line.word(), "0.20");
    assert_eq!(scenario.cluster.nodes.get(), 20);
    assert_eq!(scenario.scheduler, SchedulerChoice::named("fifo"));
}

#[test]
fn a_preset_is_taken_away_as_anything_else() {
    let text = format!("{JOB}cluster: {{preset: ec2-100, nodes: 9}}");
    let cluster = parse_with(&text, &["cluster.preset=null"]).unwrap().scenario.cluster;
    assert_eq!(cluster.nodes.get(), 9);
    assert_eq!(cluster.hdfs, scenario(JOB).cluster.hdfs);
}

#[test]
fn options_of_a_name_with_a_point_in_it_are_set_by_their_path() {
    let set = |setting: &str| parse_with(JOB, &[setting]).map(|loaded| loaded.scenario.hadoop);
    let written =
        scenario(&format!("{JOB}hadoop: {{speculation: {{hadoop-0.20: {{gap: 0.01}}}}}}"));
    assert_eq!(set("hadoop.speculation.hadoop-0.20.gap=0.01").unwrap(), written.hadoop);
    assert_eq!(set("hadoop.speculation.hadoop-0.20={gap: 0.01}").unwrap(), written.hadoop);
    let refused = set("hadoop.speculation.hadoop-0.20.gap=7").unwrap_err().to_string();
    let place =
        "--> --set hadoop.speculation.hadoop-0.20.gap=7   hadoop.speculation.hadoop-0.20.gap";
    assert!(refused.contains(place), "{refused}");
}

#[test]
fn a_class_for_which_those_before_it_leave_no_job_is_told() {
    let text = format!("{JOB}classes: {{small: maps <= 2, large: maps > 2}}");
    let told = |set: &str| {
        let warnings = parse_with(&text, &[set]).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<String>()
    };
    assert!(told("classes.tiny=maps <= 1").starts_with("no job comes into the class `tiny` by"));
    assert_eq!(told("classes.small=maps <= 1"), "");
}

#[test]
fn a_pod_without_a_rack_is_refused() {
    let pods = "cluster: {nodes: 9, racks: 2, groups: [{count: 3, racks: 1}], network: {pods: ";
    let told = |count: u32| {
        let text = format!("{JOB}{pods}{{count: {count}, uplink: 1Gb/s, latency: 2ms}}}}}}\n");
        parse_with(&text, &[]).map(|loaded| loaded.warnings)
    };
    assert_eq!(told(3).unwrap(), []);
    let refused = told(4).unwrap_err().to_string();
    assert!(refused.contains("4 pods for 3 racks: a pod would be empty"), "{refused}");
}

/// Returns the settings that warnings report as without effect.
fn idle(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let loaded = parse("test.yaml", text, &sets, &registry()).unwrap();
    let setting = |warning| match warning {
        Warning::Idle { setting, .. } => Some(setting),
        Warning::Doubt(doubt) if doubt.starts_with("the reduces of ") => None,
        other => panic!("{other}"),
    };
    loaded.warnings.into_iter().filter_map(setting).collect()
}

#[test]
fn a_limit_on_what_is_shared_is_told_where_nothing_is() {
    let network = "{fabric: 0.2Gb/s, pods: {count: 1, uplink: 1Gb/s}}";
    let text = format!("{JOB}cluster: {{page_cache: {{}}, network: {network}}}");
    let shared = ["cluster.network.fabric", "cluster.network.pods", "cluster.page_cache"];
    assert_eq!(idle(&text, &["cluster.network.model=fixed"]), shared);
    assert_eq!(idle(&text, &["cluster.network.model=shared"]), [""; 0]);
    let pods = "cluster.network.pods.latency=2ms";
    assert_eq!(idle(&text, &["cluster.network.model=fixed", pods]), [shared[0], shared[2]]);
    let warnings = parse_with(JOB, &["cluster.disk.count=2"]).unwrap().warnings;
    assert_eq!(
        warnings[0].to_string(),
        "`cluster.disk.count` has no effect: it has one only with `cluster.network.model: shared`; \
         change that, or leave it out"
    );
}

#[test]
fn a_setting_that_another_leaves_nothing_to_say_is_told() {
    for (setting, value, idle_with, heeded_with) in [
        ("cluster.disk.count", "2", "cluster.network.model=fixed", "cluster.network.model=shared"),
        ("cluster.network.rack", "9MB/s", "cluster.network.model=shared", "cluster.nodes=5"),
        ("cluster.network.off_rack", "9MB/s", "cluster.network.model=shared", "cluster.nodes=5"),
        ("cluster.cores", "3", "cluster.contention=false", "cluster.contention=true"),
        ("hadoop.heartbeat_floor", "1s", "hadoop.heartbeat=3s", "hadoop.heartbeat=auto"),
        ("hadoop.heartbeats_per_second", "9", "hadoop.heartbeat=3s", "hadoop.heartbeat=auto"),
        ("hadoop.heartbeat_growth", "proportional", "hadoop.heartbeat=3s", "hadoop.heartbeat=auto"),
        ("hadoop.rpc_timeout", "9s", "faults=[]", "faults=[{loss: 1 %}]"),
        ("hadoop.setup_time", "1s", "hadoop.setup_cleanup=false", "hadoop.setup_cleanup=true"),
        ("hadoop.commit_time", "1s", "hadoop.commit_pending=none", "hadoop.commit_pending=quirk"),
    ] {
        let set = format!("{setting}={value}");
        assert_eq!(idle(JOB, &[&set, idle_with]), [setting], "{set} {idle_with}");
        assert_eq!(idle(JOB, &[&set, heeded_with]), [""; 0], "{set} {heeded_with}");
    }
    let floor = ["hadoop=1.x", "hadoop.heartbeat=3s", "hadoop.heartbeat_floor=1s"];
    assert_eq!(idle(JOB, &floor), [""; 0], "in 1.x, returning trackers wait for it");
    let cleanup = ["hadoop.cleanup_time=1s", "hadoop.setup_cleanup=false"];
    assert_eq!(idle(JOB, &[cleanup[0], cleanup[1], "hadoop.task_cleanup=true"]), [""; 0]);
    assert_eq!(
        idle(JOB, &[cleanup[0], cleanup[1], "hadoop.task_cleanup=false"]),
        ["hadoop.cleanup_time"]
    );
    let groups = "cluster.groups=[{count: 1}, {count: 2, cores: 2}]";
    assert_eq!(idle(JOB, &[groups]), ["cluster.groups[1].cores"]);
}

#[test]
fn a_field_of_a_type_that_another_leaves_nothing_to_say_is_told() {
    let idle_of = |fields: &str, policy: &str| {
        let types = format!("{{web: {{maps: 1, reduces: 1, {fields}}}}}");
        let set = format!("scheduler={policy}");
        idle(&format!("workload: {{mix: {{jobs: 1, types: {types}}}}}"), &[&set])
    };
    let at = |field: &str| format!("workload.mix.types.web.{field}");
    for (fields, field) in [
        ("map_time: 1s, map_rate: 1MB/s", "map_rate"),
        ("reduce_time: 1s, reduce_rate: 1MB/s", "reduce_rate"),
        ("reduce_input: 1MB, shuffle_time: 1s", "reduce_input"),
        ("reduce_shares: {zipf: 1}", "reduce_shares"),
    ] {
        assert_eq!(idle_of(fields, "fifo"), [at(field)], "{fields}");
    }
    assert_eq!(idle_of("map_rate: 1MB/s, reduce_rate: 1MB/s", "fifo"), [""; 0]);
    let fetched = "reduce_input: 1MB, shuffle_time: 1s";
    assert_eq!(idle_of(&format!("{fetched}, reduce_rate: 1MB/s"), "fifo"), [""; 0]);
    assert_eq!(idle_of(fetched, "lazy"), [""; 0], "it may size jobs by these bytes");
}

#[test]
fn a_field_of_a_job_that_another_leaves_nothing_to_say_is_told() {
    let idle = |fields: &str| {
        let told = idle(&format!("workload: {{jobs: [{{name: a, maps: 1, {fields}}}]}}"), &[]);
        let field = |it: String| it.strip_prefix("workload.jobs[0].").unwrap().to_owned();
        told.into_iter().map(field).collect::<Vec<_>>()
    };
    let reduces = "shuffle: 1GiB, shuffle_time: 1s, reduce_time: 1s, reduce_rate: 1MB/s";
    assert_eq!(idle(reduces), ["shuffle", "shuffle_time", "reduce_time", "reduce_rate"]);
    let by_bytes = "reduces: 1, shuffle: 1GiB, shuffle_time: 1s";
    assert_eq!(idle(by_bytes), ["shuffle"]);
    assert_eq!(idle(&format!("{by_bytes}, reduce_rate: 1MB/s")), [""; 0]);
    assert_eq!(idle("map_time: 1s, map_rate: 1MB/s"), ["map_rate"]);
    let zipf = "reduces: 1, reduce_shares: {zipf: 1}, reduce_time: 1s";
    assert_eq!(idle(zipf), ["reduce_shares"]);
    assert_eq!(idle(&format!("{zipf}, output: 1GiB")), [""; 0]);
    assert_eq!(idle("output: 1GiB, every: 1s"), ["every"]);
    assert_eq!(idle("every: 1s, count: 2"), [""; 0]);
    assert_eq!(idle("every: 0s, shuffle: 0 B"), [""; 0], "a value of zero asks for nothing");
}

#[test]
fn values_of_presets_and_resolved_scenarios_are_nobodys_choice() {
    for line in HADOOP.names() {
        for cluster in CLUSTERS.names() {
            let text =
                format!("{JOB}hadoop: {{line: \"{line}\", heartbeat: 3s}}\ncluster: {cluster}");
            let loaded = parse_with(&text, &[]).unwrap();
            let is_idle = |warning: &Warning| matches!(warning, Warning::Idle { .. });
            assert!(!loaded.warnings.iter().any(is_idle), "{text}: {:?}", loaded.warnings);
            let resolved = loaded.scenario.to_yaml();
            let again = parse_with(&resolved, &[]).unwrap().warnings;
            assert!(!again.iter().any(is_idle), "{text}: {again:?}");
        }
    }
    let resolved = scenario(JOB).to_yaml();
    assert_eq!(idle(&resolved, &["cluster={disk: {count: 2}}"]), ["cluster.disk.count"]);
}

#[test]
fn heartbeats_that_would_queue_but_for_their_phases_are_told() {
    // 2,000 heartbeats of 1 ms in every 3 s.
    let text = format!(
        "{JOB}cluster: {{nodes: 2000, jobtracker: {{per_heartbeat: 1ms}}}}\nhadoop: {{heartbeat: 3s}}"
    );
    let told = |sets: &[&str]| {
        let warnings = parse_with(&text, sets).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<String>()
    };
    assert!(told(&[]).starts_with("heartbeats keep the JobTracker busy for 66 % of the time, but"));
    assert_eq!(told(&["hadoop.heartbeat_fuzz=200ms"]), "");
    assert_eq!(told(&["cluster.nodes=1400"]), "", "busy less than half of the time");
    assert_eq!(told(&["cluster.nodes=3000"]), "", "they fill the time to the last millisecond");
    let asks = "the heartbeats of 4500 trackers ask for 150 % of the JobTracker's time, so";
    assert!(told(&["cluster.nodes=4500"]).starts_with(asks));
}

#[test]
fn messages_due_when_the_run_is_over_are_delivered() {
    let told = |until: &str| {
        let faults = "[{at: 1min, stop: node-1}, {loss: 1 %}, {at: 2min, start: node-1}]";
        let later = "[{at: 3min, submit: {name: b, maps: 1}}]";
        let text = format!("{JOB}faults: {faults}\nlater: {later}\nuntil: {until}");
        let warnings = parse_with(&text, &[]).unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let [start, submit] = &told("2min")[..] else { panic!("{:?}", told("2min")) };
    assert_eq!(
        start,
        "faults[2] has no effect: it is due at 2min, and the run ends at 2min at the latest; raise \
         `until`, or mend its time"
    );
    assert!(submit.starts_with("later[0] has no effect: it is due at 3min"), "{submit}");
    assert_eq!(told("4min"), [""; 0]);
}

#[test]
fn a_heartbeat_that_is_sent_again_before_it_can_be_answered_is_refused() {
    let text = format!(
        "{JOB}hadoop: {{rpc_timeout: 100ms}}\nfaults: [{{loss: 1 %}}]\n\
         cluster: {{racks: 2, network: {{cross_rack: 30ms}}, jobtracker: {{per_heartbeat: 50ms}}}}"
    );
    let refused = error(&text, &[]);
    assert!(
        refused.contains(
            "a heartbeat would be sent again after 100ms, before its answer, which takes 110ms"
        ),
        "{refused}"
    );
    assert!(refused.contains("test.yaml:2:23"), "{refused}");
    assert!(refused.contains("raise it above 110ms"), "{refused}");
    let drawn = "cluster.network.cross_rack={uniform: {from: 0s, to: 60ms}}";
    assert!(error(&text, &[drawn]).contains("its answer, which takes 110ms"));
    for enough in ["hadoop.rpc_timeout=110ms", "cluster.racks=1", "faults=[]"] {
        assert!(parse_with(&text, &[enough]).is_ok(), "{enough}");
    }
}

#[test]
fn a_field_that_changes_nothing_is_told() {
    let warnings = |job: &str| {
        let loaded = parse_with(&format!("workload: {{jobs: [{{name: a, maps: 1, {job}}}]}}"), &[]);
        let warnings = loaded.unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let why = |only: &str| {
        format!("has no effect: it has one only with {only}; change that, or leave it out")
    };
    let every = why("`count` other than `1`");
    assert_eq!(
        warnings("shuffle: 1GiB, every: 3s"),
        [
            format!("`workload.jobs[0].shuffle` {}", why("`reduces`")),
            format!("`workload.jobs[0].every` {every}"),
        ]
    );
    assert_eq!(warnings("reduces: 1, shuffle: 1GiB, count: 2, every: 3s"), [""; 0]);
    assert_eq!(
        warnings("every: 3s}, {name: b, maps: 1, every: 3s}, {name: c, maps: 1, every: 1s"),
        [format!("`workload.jobs[0].every` (and 2 more) {every}")]
    );
    let later = parse_with(JOB, &["later=[{at: 1s, submit: {name: d, maps: 1, every: 1s}}]"]);
    let later = later.unwrap().warnings.into_iter().map(|warning| warning.to_string());
    assert_eq!(later.collect::<Vec<_>>(), [format!("`later[0].submit.every` {every}")]);
}

#[test]
fn every_preset_resolves_and_reads_back_the_same() {
    for line in HADOOP.names() {
        for cluster in CLUSTERS.names() {
            let text = format!("{JOB}hadoop: \"{line}\"\ncluster: {cluster}\nscheduler: lazy\n");
            let first = scenario(&text);
            assert_eq!(first.hadoop.line.word(), line);
            let second = scenario(&first.to_yaml());
            assert_eq!(first, second, "{line} {cluster}");
            assert_eq!(first.to_yaml(), second.to_yaml(), "{line} {cluster}");
        }
    }
}

#[test]
fn every_workload_resolves_and_reads_back_the_same() {
    for workload in WORKLOADS.names() {
        let first = scenario(&format!("workload: {workload}"));
        assert_eq!(first, scenario(&first.to_yaml()), "{workload}");
        let same = parse_with("workload: {jobs: []}", &[&format!("workload={workload}")]);
        assert_eq!(same.unwrap().scenario, first, "{workload}");
    }
}

#[test]
fn a_rich_scenario_reads_back_the_same() {
    let text = "\
name: rich
description: 'all: of # it'
seed: 18446744073709551615
clock: 600x
until: 1h 30min
hadoop: {line: 0.20, heartbeat: 3s, start_up: {log_normal: {mean: 2s, cv: 0.3}}}
cluster: {preset: srt-4, network: {latency: {uniform: {from: 0.1ms, to: 1ms}}}}
workload:
  jobs:
    - {name: a, maps: 3, map_time: {exponential: {mean: 20s}}, count: 2, every: 10s}
    - {name: b, input: 1GB, after: [a], priority: high, noise: {log_normal: {mean: 1, cv: 20 %}}}
scheduler: {lazy: {wake: {alarm: {after: 1s}}}}
classes: {small: maps <= 2, medium: reduces > 10, large: true}
faults: [{at: 10min, stop: node-3}, {at: 5min, kill: a}, {task_failures: 1 %}, {loss: 10 %}]
record: {events: true, sample: 0s}
expect: []
";
    let first = scenario(text);
    assert_eq!(first, scenario(&first.to_yaml()));
    assert_eq!(first.class_of(3, 11), Some("medium"));
    assert!(first.to_yaml().starts_with("name: rich\n"), "the folder of results adds the header");
    assert!(!first.to_yaml().contains("preset"));
}

#[test]
fn a_field_of_a_preset_keeps_the_rest_of_it() {
    let ec2 = scenario(&format!("{JOB}cluster: ec2-100"));
    let mut half = ec2.clone();
    half.cluster.nodes = NodeCount::of(50);
    assert_eq!(scenario(&format!("{JOB}cluster: {{preset: ec2-100, nodes: 50}}")), half);
    let set = parse_with(&format!("{JOB}cluster: ec2-100"), &["cluster.nodes=50"]);
    assert_eq!(set.unwrap().scenario, half);
    let mix = |workload: &str| scenario(workload).workload.sources[0].options();
    let whole = mix("workload: fb2009");
    let brief = mix("workload: {preset: fb2009, mix: {jobs: 9}, start: 5s}");
    assert_eq!((brief["jobs"].as_u64(), &brief["types"]), (Some(9), &whole["types"]));
}

#[test]
fn a_line_without_quotes_is_understood() {
    for (written, line) in [("0.20", "0.20"), ("0.21", "0.21"), ("1.x", "1.x")] {
        assert_eq!(scenario(&format!("{JOB}hadoop: {written}")).hadoop.line.word(), line);
        assert_eq!(scenario(&format!("{JOB}hadoop: {{line: {written}}}")).hadoop.line.word(), line);
    }
}

#[test]
fn a_mistake_on_the_command_line_points_there() {
    let text = error(&format!("{JOB}cluster: ec2-100\n"), &["seed=7", "cluster.nodes=0"]);
    assert_eq!(
        text,
        "error: invalid value: integer `0`, expected a whole number from 1 to 100000\n  \
         --> --set cluster.nodes=0   cluster.nodes"
    );
    assert!(error(JOB, &["nonsense"]).contains("is no setting: write `PATH=VALUE`"));
}

#[test]
fn a_mistake_in_the_file_does_not_point_at_the_command_line() {
    let text = error(&format!("{JOB}cluster: {{racks: 0}}\n"), &["cluster.nodes=5"]);
    assert!(text.contains("--> test.yaml:2:18   cluster.racks"), "{text}");
}

#[test]
fn unreadable_programs_are_refused() {
    let load = |path: &std::path::Path| load(path, &[], &registry()).unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.yaml");
    File::create(&file).unwrap().set_len(LARGEST_FILE + 1).unwrap();
    assert!(matches!(load(&file), ScenarioError::TooLarge { .. }));
    assert!(matches!(load(folder.path()), ScenarioError::Read { .. }));
    assert!(matches!(load(&folder.path().join("none")), ScenarioError::Read { .. }));
    std::fs::write(&file, b"seed: \xff").unwrap();
    assert!(matches!(load(&file), ScenarioError::NotText { offset: 6, .. }));
}

#[test]
fn the_last_setting_of_the_command_line_wins() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my run.yaml");
    std::fs::write(&file, JOB).unwrap();
    let sets = ["seed=1", "seed=2", "clock=60x"].map(str::to_owned);
    let loaded = load(&file, &sets, &registry()).unwrap();
    assert_eq!(loaded.scenario.seed, 2);
    assert_eq!(loaded.scenario.clock, ClockSpec::Scaled(60.0));
    assert_eq!(loaded.scenario.name.as_str(), "my-run");
}

#[test]
fn the_line_of_mumak_brings_its_cluster_and_another_is_told_to_be_slow() {
    let jobs = "workload: {jobs: [{name: a, maps: 1}]}";
    let times = |text: &str| {
        let LoadedScenario { scenario, warnings, .. } =
            parse_with(&format!("{text}\n{jobs}"), &[]).unwrap();
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        (scenario.cluster.jobtracker.init.as_millis(), warnings)
    };
    for cluster in ["", "cluster: mumak", "cluster: {map_slots: 4}"] {
        assert_eq!(times(&format!("hadoop: mumak\n{cluster}")), (0, vec![]), "{cluster}");
    }
    assert_eq!(times("hadoop: {line: mumak, heartbeat: 1s}").0, 0);
    assert_eq!(times("hadoop: '0.21'"), (1_000, vec![]));
    let (init, warnings) = times("hadoop: mumak\ncluster: default");
    assert_eq!(init, 1_000);
    assert_eq!(
        warnings,
        ["in Mumak messages and the JobTracker take no time; with `cluster.network.latency`, \
          `cluster.network.cross_rack`, `cluster.jobtracker.per_heartbeat`, \
          `cluster.jobtracker.per_task`, `cluster.jobtracker.init` above zero, times differ from \
          Mumak's; take `cluster: mumak`, or set these to 0s"]
    );
}
