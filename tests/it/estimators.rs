//! Estimators of sizes: formulas and Rust say how large jobs are, and wrong sizes have the
//! effects that theory names.

use mumakil::mapred::{KnownJob, SizeEstimator};
use mumakil::scenario;

use crate::Room;
use crate::hfsp::{ONE_SLOT, finishes, finishes_with};

/// While the first job has the slot, a job of four maps comes, then two of one map.
const JOBS: &str = "
workload:
  jobs:
    - {name: first, maps: 1, map_time: 10s}
    - {name: large, submit: 1s, maps: 4, map_time: 10s}
    - {name: small, submit: 2s, maps: 1, map_time: 10s}
    - {name: late, submit: 25s, maps: 1, map_time: 10s}
";

/// Asserts when the jobs end: the round trips of heartbeats take up to 0.1 s for each task.
fn assert_near(found: &[f64], expected: [f64; 4], of: &str) {
    let is_near = |(found, expected): (&f64, &f64)| (0.0..1.0).contains(&(found - expected));
    assert!(found.iter().zip(expected.iter()).all(is_near), "{of}: {found:?}");
}

#[test]
fn a_large_job_that_is_taken_for_small_keeps_its_place_until_it_ends() {
    for (policy, expected) in [
        ("{srpt: {}}", [10.0, 70.0, 20.0, 40.0]),
        // Its estimate of 4 s is used up by its first map, and nothing is left: it stays first.
        (
            "{srpt: {estimator: {formula: {maps: \"if(maps > 1, 4s, 10s)\"}}}}",
            [10.0, 50.0, 60.0, 70.0],
        ),
        (
            "{fsp: {estimator: {formula: {maps: \"if(maps > 1, 4s, 10s)\"}}}}",
            [10.0, 50.0, 60.0, 70.0],
        ),
        ("{srpt: {estimator: {formula: {maps: \"maps * 10s\"}}}}", [10.0, 70.0, 20.0, 40.0]),
    ] {
        assert_near(&finishes(&format!("{ONE_SLOT}{JOBS}scheduler: {policy}\n")), expected, policy);
    }
}

/// Takes jobs of many maps for short.
struct ManyAreShort;

impl SizeEstimator for ManyAreShort {
    fn work(&mut self, known: &KnownJob<'_>) -> f64 {
        if 1 < known.job.tasks(known.kind).total() { 1.0 } else { 100.0 }
    }
}

#[test]
fn an_estimator_in_rust_is_chosen_by_its_name() {
    let mut registry = mumakil::registry();
    registry.add_estimator("many-are-short", || Box::new(ManyAreShort));
    let yaml = |name: &str| {
        format!("{ONE_SLOT}{JOBS}scheduler: {{srpt: {{estimator: {{named: {name}}}}}}}\n")
    };
    let found = finishes_with(&yaml("many-are-short"), &registry);
    assert_near(&found, [10.0, 50.0, 60.0, 70.0], "many-are-short");
    let unknown = scenario::parse("test.yaml", &yaml("many-are-shorter"), &[], &registry);
    let error = unknown.unwrap_err().to_string();
    assert!(error.contains("did you mean `many-are-short`?"), "{error}");
}

/// A study in which one policy has an error and the other has none.
const STUDY: &str = "
base: quickstart
sweep:
  scheduler: [srpt, ps]
  scheduler.*.error.log-normal: [0, 1, 2]
  seeds: 2
metrics: [mean(sojourn)]
";

#[test]
fn an_option_of_some_policies_is_an_axis_beside_policies_without_it() {
    let room = Room::new();
    room.write("errors.yaml", STUDY);
    let output = room.mumakil("study errors.yaml --out out").assert().success();
    let told = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    // The two runs of `ps` stand in three cells.
    assert!(
        told.contains("6 cells · 2 seeds · 12 runs") && told.contains("ran      8 runs"),
        "{told}"
    );
    assert!(!told.contains("are the same"), "{told}");
    let rows = |name: &str| -> Vec<String> {
        let of = told.lines().filter(|line| line.trim_start().starts_with(name));
        of.map(|line| line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")).collect()
    };
    let (srpt, ps) = (rows("srpt "), rows("ps "));
    assert!(ps.len() == 3 && ps[0] == ps[1] && ps[1] == ps[2], "{ps:?}");
    assert!(srpt.len() == 3 && srpt[0] != srpt[1] && srpt[1] != srpt[2], "{srpt:?}");
    // The study is found again in its folder.
    let again = room.mumakil("study errors.yaml --out out").assert().success();
    let told = String::from_utf8(again.get_output().stdout.clone()).unwrap();
    assert!(told.contains("every run was there"), "{told}");

    room.write("none.yaml", &STUDY.replace("[srpt, ps]", "[fifo, ps]"));
    let output = room.mumakil("study plan none.yaml").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`error.log-normal` is no option of `fifo` and `ps`"), "{told}");
    assert!(told.contains("none.yaml:5:3"), "{told}");
    // The value is checked where it is an option.
    room.write("wrong.yaml", &STUDY.replace("[0, 1, 2]", "[0, x]"));
    let output = room.mumakil("study plan wrong.yaml").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("wrong.yaml:5:"), "{told}");
}
