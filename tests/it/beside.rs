//! Things that stand beside each other: jobs of a mix and listed ones, and several schedulers for one
//! scenario.

use std::fs;

use crate::{Room, rows};

const MIXED: &str = "
cluster: {nodes: 5, racks: 1}
workload:
  mix: {jobs: 4, arrivals: {gap: 10s}, types: {query: {maps: 2, map_time: 5s}}}
  also:
    - {name: monster, submit: 15s, maps: 20, map_time: 10s}
    - {name: after, after: [query-1], maps: 1, map_time: 1s}
";

#[test]
fn jobs_come_beside_those_of_a_mix() {
    let room = Room::new();
    room.write("mixed.yaml", MIXED);
    room.mumakil("run mixed.yaml --verify --out out").assert().success().stderr("");
    let jobs = rows(&room.path("out/jobs.csv"));
    let names: Vec<&str> = jobs.iter().map(|job| job["name"].as_str()).collect();
    assert_eq!(names, ["query-1", "after", "query-2", "monster", "query-3", "query-4"]);
    assert_eq!(jobs[3]["submit_ms"], "15000");
    // A run can be repeated from its resolved scenario.
    room.mumakil("run out/scenario.resolved.yaml --out again").assert().success();
    let told = |out: &str| std::fs::read(room.path(out).join("jobs.csv")).unwrap();
    assert_eq!(told("out"), told("again"));
}

/// `start` and `pace` move the jobs of a preset, but not those beside them.
#[test]
fn jobs_beside_a_preset_keep_their_times() {
    let room = Room::new();
    room.write(
        "preset.yaml",
        "cluster: {nodes: 20, racks: 2}
workload: {preset: fb2009, start: 1h, pace: {gap_scale: 0.5}, also: [{name: own, submit: 7s, maps: 1, map_time: 1s}]}
until: 2min
",
    );
    room.mumakil("run preset.yaml --out out").assert().success();
    let jobs = rows(&room.path("out/jobs.csv"));
    assert_eq!((jobs[0]["name"].as_str(), jobs[0]["submit_ms"].as_str()), ("own", "7000"));
}

#[test]
fn mistakes_in_jobs_beside_others_are_shown_where_they_stand() {
    let room = Room::new();
    for (right, wrong, expected) in [
        ("name: monster", "name: query-1", "workload.also[0].name"),
        ("after: [query-1]", "after: [query-9]", "workload.also[1].after[0]"),
        ("maps: 20, map_time: 10s", "reduces: 2", "workload.also[0]"),
    ] {
        room.write("wrong.yaml", &MIXED.replace(right, wrong));
        let output = room.mumakil("check wrong.yaml").output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{wrong}: {told}");
    }
}

#[test]
fn several_schedulers_make_a_study() {
    let room = Room::new();
    room.write("mixed.yaml", MIXED);
    let told = room.mumakil("run mixed.yaml --set scheduler=fifo,fair --seed 5").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.starts_with("mixed   2 cells · 1 seed · 2 runs\n"), "{told}");
    assert!(told.contains("fair against fifo"), "{told}");
    let page = fs::read_to_string(room.path("out/mixed/report.html")).unwrap();
    assert!(page.contains("differs most"), "runs record tasks, so a story can be told");
    room.mumakil("run mixed.yaml --set scheduler=fifo,fiar").assert().code(2);
    // As a single run, it replaces nothing unasked: another study may be there.
    let more = "run mixed.yaml --set scheduler=fifo,fair,hfsp --out out/mixed";
    let refused = room.mumakil(more).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--force"), "{refused:?}");
    room.mumakil(&format!("{more} --force")).assert().success();
    let own = "scheduler={fair: {delay: {w1: 1s, w2: 1s}}}";
    room.mumakil("run mixed.yaml --out one").args(["--set", own]).assert().success();
    assert!(room.path("one/summary.json").exists(), "a comma between options is no list");
    let clock = "run mixed.yaml --set scheduler=fifo,fair --clock 600x";
    room.mumakil(clock).assert().code(2);
}
