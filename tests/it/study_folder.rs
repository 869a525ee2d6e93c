//! A study's folder describes the study, which can be continued from any working directory.

use std::fs;

use mumakil::scenario::Draft;
use mumakil::study::{BroughtFiles, Plan, Study, StudyManifest, keep};
use tempfile::TempDir;

use crate::external::GOOD;
use crate::{Room, root};

const RESOLVED: &str = "study.resolved.yaml";

/// Returns a study with its first plan, and the manifest for its folder.
fn planned(draft: Draft) -> (Study, Plan, StudyManifest) {
    let study = Study::of_any(draft).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::new(&study, &mumakil::registry()).unwrap_or_else(|error| panic!("{error}"));
    let sheet = StudyManifest::new(&study, &plan);
    (study, plan, sheet)
}

/// Checks that a study read back from its folder plans the same runs, with the same bytes.
pub(crate) fn assert_repeats_itself(draft: Draft) {
    let (study, plan, sheet) = planned(draft);
    let room = TempDir::new().unwrap();
    keep(&study, &plan, "mumakil study", room.path(), BroughtFiles::Links).unwrap();
    let said = fs::read_to_string(room.path().join(RESOLVED)).unwrap();
    let (again, planned_again, sheet_again) =
        planned(Draft::read(&room.path().join(RESOLVED)).unwrap());
    assert_eq!(plan.runs, planned_again.runs, "{said}");
    assert_eq!(sheet, sheet_again, "{said}");
    let yaml = |plan: &Plan, run: usize| plan.scenario(&plan.runs[run]).to_yaml();
    for run in (0..plan.runs.len()).step_by(plan.seeds().count()) {
        assert_eq!(yaml(&plan, run), yaml(&planned_again, run));
    }
    // Continuing the study does not change its description.
    keep(&again, &planned_again, "another command", room.path(), BroughtFiles::Links).unwrap();
    assert_eq!(said, fs::read_to_string(room.path().join(RESOLVED)).unwrap());
}

#[test]
fn every_study_that_mumakil_brings_repeats_itself() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let draft = Draft::read(&path).unwrap();
            if draft.is_study() {
                assert_repeats_itself(draft);
                count += 1;
            }
        }
    }
    assert!(5 < count, "{count}");
}

const BASE: &str = "
name: base
description: of the base
cluster: {preset: vm-8, hdfs: {replication: 2}}
workload: {jobs: [{name: a, maps: 4, map_time: 5s}, {name: b, user: '7', maps: 1, map_time: 1min}]}
scheduler: {fair: {preemption: kill, allocations: {pools: {prod.x: {min_maps: 2}}, fair_share_after: 9s}}}
expect: [makespan < 1s]
";

#[test]
fn whatever_a_study_says_it_says_again() {
    let room = Room::new();
    room.write("base.yaml", BASE);
    room.write(
        "pools.xml",
        "<allocations><pool name='a'><minMaps>1</minMaps></pool></allocations>",
    );
    room.write("jobs.csv", "name,maps,map_time\nx,2,3s\n");
    room.write("more.csv", "name,maps,map_time\nx,2,4s\n");
    for (number, (study, sets)) in [
        ("sweep: {cluster.nodes: {from: 2, to: 8, step: 3}, seeds: 3}", &[][..]),
        ("sweep: {cluster.nodes: {from: 4, to: 100, points: 3, scale: log}}\nseed: 7", &[]),
        ("sweep: {zip: {cluster.nodes: {from: 2, to: 4, step: 1}, hadoop.heartbeat: [1s, 2s, 3s]}}", &[]),
        (
            "description: its own\nsweep: {cluster.nodes: [2, 3], scheduler: [fifo, {as: yes, fair: \
             {preemption: wait}}, hfsp: {preemption: wait}, {hfsp: {preemption: kill}}], seeds: [3, 1]}\n\
             exclude: [{nodes: 2, scheduler: fifo}]\ncompare: {axis: scheduler, base: fifo}\n\
             metrics: [mean(sojourn)]\ncharts: [{bars: mean(sojourn), over: scheduler}]\n\
             expect: [{that: \"makespan[scheduler=yes] < 1h\", known_gap: a test}]",
            &[],
        ),
        ("sweep: {cluster.preset: [srt-4, vm-8], cluster.nodes: [4, 8]}", &[]),
        ("scheduler: fifo\nsweep: {scheduler.fair.preemption: [true, false]}", &[]),
        ("scheduler: null\nsweep: {cluster: [srt-4, {nodes: 3}]}", &[]),
        ("workload: fb2009\nsweep: {workload.start: [0s, 5s]}", &[]),
        (
            "base: null\nsweep: {scenario: [quickstart, base.yaml, {as: x, value: base.yaml, draw: \
             {cluster.nodes: [3, 4]}}], scheduler: [fifo, fair], seeds: 3}",
            &[],
        ),
        (
            "workload: {jobs: [{name: a, maps: 1, map_time: 5s}]}\nsweep: {cluster.nodes: [3], seeds: 2}",
            &["workload.jobs[0].maps=9", "sweep.cluster.nodes=[5, 6]", "seed=5", "name=other"],
        ),
        ("sweep: {workload: [{jobs: jobs.csv}, {jobs: more.csv}, fb2009]}", &[]),
        ("sweep: {workload.jobs: [jobs.csv, {as: other, value: more.csv}], seeds: 2}", &[]),
        ("sweep: {scheduler.fair.allocations: [pools.xml, {as: none, value: {}}]}", &[]),
        ("sweep: {scheduler: [fifo, {external: {command: [cat, jobs.csv]}}, {as: b, external: {command: [cat, more.csv]}}]}", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("study-{number}.yaml");
        let base = if study.starts_with("base: null") { "" } else { "base: base.yaml\n" };
        let study = study.trim_start_matches("base: null\n");
        room.write(&name, &format!("{base}{study}\n"));
        let sets: Vec<String> = sets.iter().map(|set: &&str| (*set).to_owned()).collect();
        assert_repeats_itself(Draft::read(&room.path(&name)).unwrap().with(&sets));
    }
}

/// Writes a study of four runs over a base, with a trace, an allocation file and a program, each
/// named relative to the study's folder.
fn with_files(room: &Room) {
    fs::create_dir(room.path("mine")).unwrap();
    room.write("mine/jobs.csv", "name,maps,map_time\nx,2,3s\n");
    room.write(
        "mine/pools.xml",
        "<allocations><pool name='x'><minMaps>1</minMaps></pool></allocations>",
    );
    // The policy launches both maps at once.
    let map = r#"{"map":{"job":0}}"#;
    let policy = GOOD.replace(map, &format!("{map},{map}"));
    room.write("mine/policy.sh", &policy);
    room.write("mine/base.yaml", "cluster: {nodes: 2}\nworkload: {jobs: jobs.csv}\n");
    room.write(
        "mine/study.yaml",
        "name: files\nbase: base.yaml\nmetrics: [makespan]\nsweep:\n  scheduler: [{fair: {allocations: \
         pools.xml}}, {external: {command: [sh, policy.sh]}}]\n  seeds: 2\n",
    );
}

/// Returns the exit code, and the text on stdout and stderr.
fn told(room: &Room, arguments: &str) -> (Option<i32>, String) {
    let output = room.mumakil(arguments).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.code(), out + &err)
}

#[test]
fn a_folder_goes_on_with_its_study_wherever_it_is() {
    let room = Room::new();
    with_files(&room);
    let (code, said) = told(&room, "study mine/study.yaml --keep folders --shard 1/2 --out first");
    assert_eq!(code, Some(0), "{said}");
    let resolved = fs::read_to_string(room.path("first").join(RESOLVED)).unwrap();
    assert!(
        resolved
            .contains("# $ mumakil study mine/study.yaml --keep folders --shard 1/2 --out first\n"),
        "{resolved}"
    );
    assert!(resolved.contains("  mine/jobs.csv\n"), "{resolved}");
    // The folder is moved, and the study is called from another folder.
    fs::create_dir(room.path("far")).unwrap();
    fs::rename(room.path("first"), room.path("far/away")).unwrap();
    fs::create_dir(room.path("here")).unwrap();
    let mut plan = room.mumakil("study plan ../far/away");
    let plan = plan.current_dir(room.path("here")).output().unwrap();
    let said = String::from_utf8(plan.stdout).unwrap();
    assert!(said.contains("4 in 2 cells, of which 2 are left to do"), "{said}");
    let mut rest = room.mumakil("study ../far/away --external");
    let rest = rest.current_dir(room.path("here")).output().unwrap();
    let said = String::from_utf8(rest.stdout).unwrap() + &String::from_utf8(rest.stderr).unwrap();
    assert!(said.contains("2 runs in"), "{said}");
    assert!(!room.path("here/out").exists());
    // A call with the study's own file gives the same runs.
    room.mumakil("study mine/study.yaml --quiet --out whole").assert().success();
    crate::studies::assert_same(&room.path("whole"), &room.path("far/away"));
    // Shards that are called with a study's folder can be merged.
    for part in 1..=2 {
        room.mumakil(&format!("study whole --external --quiet --shard {part}/2 --out part-{part}"))
            .assert()
            .success();
    }
    room.mumakil("study merge part-1 part-2 --out merged").assert().success();
    crate::studies::assert_same(&room.path("whole"), &room.path("merged"));
    let (_, said) = told(&room, "study merged");
    assert!(said.contains("nothing: every run was there"), "{said}");
}

#[test]
fn a_folder_with_its_files_needs_no_others() {
    let room = Room::new();
    with_files(&room);
    room.mumakil("study mine/study.yaml --quiet --out whole").assert().success();
    let (code, said) =
        told(&room, "study mine/study.yaml --keep folders --shard 1/2 --bring-files --out given");
    assert_eq!(code, Some(0), "{said}");
    let kept = crate::names(&room.path("given/files"));
    assert_eq!(kept.len(), 3, "{kept:?}");
    fs::remove_dir_all(room.path("mine")).unwrap();
    let (code, said) = told(&room, "study given --external");
    assert_eq!(code, Some(0), "{said}");
    // Now the links in the folder `whole` are broken.
    assert!(told(&room, "study whole").1.contains("cannot read"), "{said}");
    fs::remove_dir_all(room.path("whole/files")).unwrap();
    fs::remove_dir_all(room.path("given/files")).unwrap();
    crate::studies::assert_same(&room.path("whole"), &room.path("given"));
}

#[test]
fn files_that_have_changed_are_told() {
    let room = Room::new();
    with_files(&room);
    room.mumakil("study mine/study.yaml --quiet --out out").assert().success();
    for (file, text, words) in [
        ("mine/jobs.csv", "name,maps,map_time\nx,2,4s\n", "has changed: its SHA-256 is"),
        ("mine/pools.xml", "<allocations/>", "has changed: its SHA-256 is"),
        ("mine/policy.sh", "exit 1\n", "`policy.sh` is another file than it was"),
    ] {
        let before = fs::read_to_string(room.path(file)).unwrap();
        room.write(file, text);
        let (code, said) = told(&room, "study out");
        assert!(code == Some(2) && said.contains(words), "{file}: {said}");
        room.write(file, &before);
    }
    assert_eq!(told(&room, "study out").0, Some(0));
}

#[test]
fn a_folder_without_a_study_is_told() {
    let room = Room::new();
    fs::create_dir(room.path("none")).unwrap();
    fs::create_dir(room.path("old")).unwrap();
    room.write("old/study.json", "{}");
    let (code, said) = told(&room, "study none");
    assert!(code == Some(2) && said.contains("none is a folder without a study"), "{said}");
    let (code, said) = told(&room, "study plan old");
    assert!(code == Some(2) && said.contains("`mumakil study STUDY.yaml --out old`"), "{said}");
}

#[test]
fn the_runs_of_another_model_are_not_gone_on_with() {
    let room = Room::new();
    let text = "name: s\nworkload: {jobs: [{name: a, maps: 3, map_time: 9s}]}\nsweep: {seeds: 2}\n";
    room.write("s.yaml", text);
    room.mumakil("study s.yaml --out out --quiet").assert().success();
    let manifest = room.path("out/study.json");
    let ours = fs::read_to_string(&manifest).unwrap();
    let theirs = ours.replace(&format!("\"model\": {}", mumakil::MODEL), "\"model\": 99");
    assert_ne!(ours, theirs);
    fs::write(&manifest, &theirs).unwrap();
    // A run of that model, whose name no run of ours has.
    let run = fs::read_dir(room.path("out/runs")).unwrap().next().unwrap().unwrap().path();
    fs::rename(&run, room.path("out/runs/0123456789abcdef")).unwrap();
    for call in ["study s.yaml --out out", "study out", "study s.yaml --out out --join"] {
        let refused = room.mumakil(call).assert().code(2).get_output().stderr.clone();
        let refused = String::from_utf8(refused).unwrap();
        assert!(refused.contains("are of model 99 (Mumakil "), "{call}: {refused}");
        assert!(refused.contains("`--force` does all runs again"), "{call}: {refused}");
    }
    assert_eq!(fs::read_to_string(&manifest).unwrap(), theirs, "nothing was written");
    room.mumakil("study s.yaml --out out --quiet --anew").assert().success();
    assert_eq!(fs::read_to_string(&manifest).unwrap(), ours);
    assert!(!room.path("out/runs/0123456789abcdef").exists());
    assert_eq!(fs::read_dir(room.path("out/runs")).unwrap().count(), 2);
}

#[test]
fn a_comparison_of_two_models_is_doubted() {
    let room = Room::new();
    room.mumakil("run quickstart --quiet --out a").assert().success();
    room.mumakil("run quickstart --quiet --out b").assert().success();
    let told = room.mumakil("compare a b").assert().success().get_output().stderr.clone();
    assert_eq!(String::from_utf8(told).unwrap(), "");
    let summary = room.path("b/summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    let other = text.replace(&format!("\"model\": {}", mumakil::MODEL), "\"model\": 99");
    fs::write(&summary, other).unwrap();
    // Runs of earlier programs have no checksums.
    fs::remove_file(room.path("b/perf.json")).unwrap();
    let told = room.mumakil("compare a b").assert().success().get_output().stderr.clone();
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains(&format!("the models {} (Mumakil ", mumakil::MODEL)), "{told}");
    assert!(told.contains(" and 99 (Mumakil "), "{told}");
}
