//! `explain A B`: a job's stories in two runs beside each other.

use serde_json::{Value, json};

use crate::Room;
use crate::parting::SCENARIO;

/// Returns the scenario of two jobs, with the decisions of its policy on record.
fn scenario() -> String {
    format!("{SCENARIO}record: {{decisions: true}}\n")
}

/// Makes a room with the runs `fifo` and `ps`.
fn room() -> Room {
    let room = Room::new();
    room.write("a.yaml", &scenario());
    for policy in ["fifo", "ps"] {
        let command = format!("run a.yaml --set scheduler={policy} --out {policy} --quiet");
        room.mumakil(&command).assert().success();
    }
    room
}

fn told(room: &Room, arguments: &str) -> String {
    let output = room.mumakil(&format!("explain {arguments}")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn error(room: &Room, arguments: &str) -> String {
    let output = room.mumakil(&format!("explain {arguments}")).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_stories_stand_side_by_side_and_part_where_a_slot_comes_later() {
    insta::assert_snapshot!(told(&room(), "fifo ps small"));
}

#[test]
fn without_a_job_those_that_differ_most_are_listed() {
    insta::assert_snapshot!(told(&room(), "fifo ps"));
}

#[test]
fn both_stories_and_their_parting_are_json() {
    let room = room();
    let found: Value = serde_json::from_str(&told(&room, "fifo ps 1 --json")).unwrap();
    assert_eq!(found["runs"], json!(["fifo", "ps"]));
    for (run, story) in ["fifo", "ps"].iter().zip(found["stories"].as_array().unwrap()) {
        let alone: Value = serde_json::from_str(&told(&room, &format!("{run} 1 --json"))).unwrap();
        assert_eq!(*story, alone);
    }
    let parting = &found["parting"];
    assert_eq!((&parting["kind"], &parting["number"]), (&json!("map"), &json!(1)));
    assert_eq!(
        (&parting["later_in"], &parting["instead"]["name"]),
        (&json!("fifo"), &json!("large"))
    );
    let jobs: Value = serde_json::from_str(&told(&room, "ps fifo --json")).unwrap();
    let by = |job: usize| jobs["jobs"][job]["difference_ms"].as_i64().unwrap();
    assert!(by(0).abs() >= by(1).abs() && jobs["jobs"].as_array().unwrap().len() == 2, "{jobs}");
}

/// In the second run one node is slow; its tasks get their slots at the same times.
#[test]
fn a_task_that_runs_longer_parts_the_stories() {
    let room = Room::new();
    let yaml = "cluster: {nodes: 4}\nhadoop: {setup_cleanup: false}\n\
                workload: {jobs: [{name: x, maps: 4, map_time: 20s}]}\n";
    room.write("one.yaml", yaml);
    room.write("slow.yaml", &format!("{yaml}faults: [{{slow: {{nodes: node-2, cpu: 0.2}}}}]\n"));
    for run in ["one", "slow"] {
        room.mumakil(&format!("run {run}.yaml --out {run} --quiet")).assert().success();
    }
    let told = told(&room, "one slow x");
    assert!(told.contains("they part at its map ") && told.contains(" longer in slow\n"), "{told}");
}

#[test]
fn a_run_and_its_like_do_not_part() {
    let room = room();
    let told = told(&room, "fifo ./fifo large");
    assert!(
        told.contains("no slot comes later and no task runs longer by more than 1.0 s"),
        "{told}"
    );
}

#[test]
fn a_job_that_one_run_lacks_is_an_error() {
    let room = room();
    let fewer = "run a.yaml --out fewer --quiet --set workload.jobs.1.name=other";
    room.mumakil(fewer).assert().success();
    for (arguments, message) in [
        ("fifo fewer small", "error: `fewer` has no job `small`\n"),
        ("fifo ps smal", "error: `fifo` has no job `smal`\n   = did you mean `small`?\n"),
        ("fifo fewer 1", "error: the jobs differ: in `fifo` job 1 is `small` with 6 maps"),
        ("fifo ./none", "error: there is no folder ./none\n"),
        ("fifo none small", "error: there is no folder none\n"),
    ] {
        let told = error(&room, arguments);
        assert!(told.starts_with(message), "{arguments}: {told}");
    }
}

/// A job that is mostly in its own way waits longer if others get a part of the slots.
#[test]
fn a_wait_among_ones_own_tasks_tells_how_much_others_had() {
    let room = Room::new();
    for policy in ["fifo", "hfsp"] {
        let run = format!("run quickstart --set scheduler={policy} --out {policy} --quiet");
        room.mumakil(&run).assert().success();
    }
    let words = "its own tasks had 99.4 % of the held slots, then 87.1 %";
    assert!(told(&room, "fifo hfsp index").contains(words));
}

#[test]
fn a_job_of_another_size_is_another_job() {
    let room = room();
    room.mumakil("run a.yaml --set workload.jobs[1].maps=7 --out more --quiet").assert().success();
    let told = error(&room, "fifo more small");
    assert!(told.contains("in `more` job 1 is `small` with 7 maps"), "{told}");
}

/// A job comes before a folder of its name.
#[test]
fn a_second_name_is_a_job_first() {
    let room = room();
    room.mumakil("run a.yaml --out large --quiet").assert().success();
    assert!(told(&room, "fifo large").starts_with("job 0 · large · p   succeeded"));
    assert!(told(&room, "fifo ./large").starts_with("the jobs whose times differ most"));
}

/// The report of a study tells the job that differs most, if its runs have recorded tasks.
#[test]
fn a_study_tells_the_job_that_differs_most() {
    let room = Room::new();
    room.write("a.yaml", &scenario());
    let page = |tasks: bool| {
        let study = "study a.yaml --set sweep.scheduler=[fifo,ps] --set compare=scheduler";
        let study = format!("{study} --set record.tasks={tasks} --out s-{tasks} --quiet");
        room.mumakil(&study).assert().success();
        std::fs::read_to_string(room.path(&format!("s-{tasks}/report.html"))).unwrap()
    };
    // Numbers and their units are bound by spaces that do not break.
    let told = page(true).replace('\u{a0}', " ");
    for words in [
        "differs most: 2 min 45 s in fifo, 53.9 s in ps, 1 min 51 s shorter",
        "They part at its map slot 1, which comes 1 min 37 s later in fifo",
    ] {
        assert!(told.contains(words), "{words}");
    }
    assert!(!page(false).contains("They part at"));
}
