//! Speculative attempts and their cost, seen in the results.

use std::path::Path;

use mumakil::emulation::{Options, emulate};
use mumakil::record::{Summary, WasteSummary};
use mumakil::scenario;

use super::Room;

/// Three of twenty nodes are five times slower than the other nodes, and two jobs share the
/// cluster.
const SLOW_NODES: &str = "
cluster: {nodes: 20, map_slots: 2, reduce_slots: 2, groups: [{count: 3, speed: 0.2}]}
workload:
  jobs:
    - {name: sort, maps: 120, reduces: 10, map_time: 30s, shuffle: 1GB, reduce_time: 40s, count: 2, every: 1min}
";

const RULES: [&str; 3] = ["hadoop-0.20", "hadoop-0.21", "late"];

const POLICIES: [&str; 9] = [
    "fifo",
    "naive-fair",
    "fair-skip",
    "fair",
    "fair-deficit",
    "capacity",
    "hfsp",
    "modified-fair",
    "srpt",
];

fn run(sets: &[&str], folder: Option<&Path>) -> Summary {
    let registry = mumakil::registry();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = scenario::parse("slow-nodes.yaml", SLOW_NODES, &sets, &registry).unwrap();
    let folder = folder.map(Path::to_owned);
    if let Some(folder) = &folder {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir(folder).unwrap();
    }
    let options = Options { folder, verify: true, ..Options::default() };
    let run = emulate(&scenario.scenario, &registry, options).unwrap();
    let verifier = run.verifier.unwrap();
    assert!(verifier.violations().is_empty(), "{sets:?}: {:?}", verifier.violations());
    run.summary
}

fn waste(summary: &Summary) -> &WasteSummary {
    summary.waste.as_ref().expect("it is recorded with speculation")
}

#[test]
fn every_rule_helps_under_every_policy() {
    for policy in POLICIES {
        let scheduler = format!("scheduler={policy}");
        let without = run(&[&scheduler], None).mean_sojourn_s.unwrap();
        for rule in RULES {
            let with = run(&[&scheduler, &format!("hadoop.speculation={rule}")], None);
            let WasteSummary { second_attempts, second_attempts_won: won, .. } = *waste(&with);
            assert!(0 < won && won <= second_attempts, "{policy}, {rule}: {with:?}");
            let with = with.mean_sojourn_s.unwrap();
            assert!(with < without, "{policy}, {rule}: {with} s, without {without} s");
        }
    }
}

/// A row of `tasks.csv`.
#[derive(Debug, serde::Deserialize)]
struct Row {
    kind: String,
    speculative: Option<bool>,
}

#[test]
fn a_kind_that_is_switched_off_has_no_second_attempts() {
    let room = Room::new();
    for (off, kind) in [("maps", "reduce"), ("reduces", "map")] {
        let set = format!("hadoop.speculation={{late: {{{off}: false}}}}");
        run(&[&set], Some(&room.path("run")));
        let mut tasks = csv::Reader::from_path(room.path("run/tasks.csv")).unwrap();
        let rows = tasks.deserialize().map(Result::unwrap);
        let seconds: Vec<Row> = rows.filter(|row: &Row| row.speculative == Some(true)).collect();
        assert!(!seconds.is_empty(), "{off}");
        assert!(seconds.iter().all(|row| row.kind == kind), "{seconds:?}");
    }
}

#[test]
fn a_run_with_second_attempts_gives_the_same_bytes_again() {
    let bytes = || {
        let room = Room::new();
        run(&["hadoop.speculation=late"], Some(&room.path("run")));
        ["tasks.csv", "jobs.csv", "summary.json", "timeline.csv"]
            .map(|name| std::fs::read(room.path("run").join(name)).unwrap())
    };
    assert!(bytes() == bytes());
}

#[test]
fn only_a_run_that_records_waste_has_its_columns() {
    let room = Room::new();
    let jobs = || std::fs::read_to_string(room.path("run/jobs.csv")).unwrap();
    assert_eq!(run(&[], Some(&room.path("run"))).waste, None);
    assert!(!jobs().contains("wasted_ms"));
    let asked = run(&["record.waste=true"], Some(&room.path("run")));
    assert_eq!((waste(&asked).goodput, waste(&asked).second_attempts), (Some(1.0), 0));
    assert!(jobs().contains("wasted_ms"));
}

#[test]
fn waste_has_causes_and_can_be_expected() {
    let scenario = format!(
        "{SLOW_NODES}\nhadoop: {{speculation: late}}\nscheduler: fair\nexpect:\n  \
         - goodput < 100 %\n  - 0s < waste.speculative\n  - max(straggling) < 2\n  \
         - sum(wasted) < sum(held) / 4\n  - 0 < sum(second_attempts_won)\n"
    );
    let room = Room::new();
    room.write("slow.yaml", &scenario);
    let assert = room.mumakil("run slow.yaml").assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(text.contains("  goodput  ") && text.contains("   speculative "), "{text}");
    room.write("none.yaml", &scenario.replace("speculation: late", "speculation: \"off\""));
    let assert = room.mumakil("check none.yaml").assert().failure();
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(text.contains("add `record: {waste: true}`"), "{text}");
}

#[test]
fn a_rule_that_is_misspelt_is_named() {
    let room = Room::new();
    room.write("wrong.yaml", &format!("{SLOW_NODES}\nhadoop: {{speculation: {{lte: {{}}}}}}\n"));
    let assert = room.mumakil("check wrong.yaml").assert().code(2);
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(
        text.contains("wrong.yaml:") && text.contains("`lte`") && text.contains("`late`"),
        "{text}"
    );
}
