//! `mumakil papers`: which experiments are repeated, skipped and told, and what is left of them when
//! the program is killed.

use std::fs;
use std::path::Path;

use mumakil::study::{Study, needed_folder};
use mumakil_papers::{LIST, files};

use crate::Room;
use crate::study_folder::assert_repeats_itself;

#[test]
fn a_folder_that_is_no_report_is_not_replaced() {
    let room = Room::new();
    room.mumakil("run quickstart --out run --quiet").assert().success();
    fs::create_dir(room.path("mine")).unwrap();
    room.write("mine/report.html", "my report");
    for out in ["mine", "run"] {
        let refused = room.mumakil(&format!("papers MK-19 --out {out}")).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{out}");
    }
    assert_eq!(fs::read_to_string(room.path("mine/report.html")).unwrap(), "my report");
}

#[test]
fn the_folder_of_each_experiment_repeats_it() {
    let mut count = 0;
    for file in files(None).unwrap() {
        let about = Study::of_any(file.draft(None).unwrap()).unwrap().experiment.unwrap();
        let folder = match about.needs.as_deref().map(needed_folder) {
            Some(None) => continue,
            needed => needed.flatten(),
        };
        assert_repeats_itself(file.draft(folder.as_deref().map(Path::new)).unwrap());
        count += 1;
    }
    assert!(30 < count, "{count}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_papers_may_be_killed_at_any_moment() {
    crate::survival::kill(&[], "papers DS-F1 --scenarios papers --jobs 2 --out published");
}

#[test]
fn the_table_of_experiments_has_all_of_them() {
    let text = include_str!("../experiments.md");
    let table = text.split("<!-- papers: made by make papers -->").nth(1).unwrap();
    let table = table.split("<!-- papers: end -->").next().unwrap();
    let ids = table.lines().skip(3).filter_map(|line| line.split('|').nth(1)).map(str::trim);
    let listed = LIST.iter().map(|listed| listed.id);
    assert_eq!(ids.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
}

#[test]
fn experiments_without_their_input_are_skipped_aloud() {
    let room = Room::new();
    let mut papers = room.mumakil("papers MK-19 --json --out out");
    let told = papers.env_remove("MUMAKIL_TRACES").output().unwrap();
    assert!(told.status.success());
    let rows: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let verdicts: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["skipped", "skipped"], "it has two files");
    assert!(String::from_utf8(told.stderr).unwrap().contains("MK-19 is skipped"));
    assert_eq!(room.mumakil("papers DS-F99").output().unwrap().status.code(), Some(2));
}

#[test]
fn warnings_of_runs_come_with_the_experiments_id() {
    let room = Room::new();
    fs::create_dir_all(room.path("papers/delay-scheduling")).unwrap();
    let yaml = "
experiment: {id: DS-F1, what: something small, published: nothing}
name: DS-F1
cluster: {nodes: 3}
workload: {jobs: [{name: a, maps: 2, map_time: 5s}]}
record: {warm_up: 1h}
sweep: {seeds: 2}
metrics: [makespan]
";
    room.write("papers/delay-scheduling/DS-F1.yaml", yaml);
    let done = room.mumakil("papers DS-F1 --scenarios papers --out out").output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(err.contains("warning: DS-F1: in 2 runs: no job came after the warm-up"), "{err}");
}

#[test]
fn shells_complete_the_experiments() {
    let output = Room::new().mumakil("completions bash").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("H-F3-4"));
}
