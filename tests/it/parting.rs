//! `compare --first`: where two runs part, and how their policies ranked the jobs there.

use serde_json::{Value, json};

use crate::Room;

/// Two jobs of which the second comes while the first has more maps than there are slots.
const SCENARIO: &str = "
name: a
cluster: {nodes: 3, map_slots: 2, reduce_slots: 1}
hadoop: {setup_cleanup: false}
workload:
  jobs:
    - {name: large, pool: p, maps: 40, reduces: 2, map_time: 20s, reduce_time: 30s}
    - {name: small, pool: q, submit: 30s, maps: 6, reduces: 1, map_time: 10s}
";

/// Runs the scenario into a folder.
fn run(room: &Room, folder: &str, set: &str) {
    room.write("a.yaml", SCENARIO);
    let command = format!("run a.yaml --quiet --force --out {folder} {set}");
    room.mumakil(&command).assert().success();
}

/// Returns where two runs part.
fn first(room: &Room, folders: &str) -> Value {
    let output = room.mumakil(&format!("compare {folders} --first --json")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns what is said of runs that cannot be compared so.
fn refusal(room: &Room, arguments: &str) -> String {
    let output = room.mumakil(&format!("compare {arguments} --first")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

/// In the quickstart fifo launches at 4.469 s what fair has not even counted yet.
#[test]
fn fifo_and_fair_part_at_the_first_map_of_the_quickstart() {
    let room = Room::new();
    for policy in ["fifo", "fair"] {
        let command = format!("run quickstart --set scheduler={policy} --out {policy} --quiet");
        room.mumakil(&command).assert().success();
    }
    let told = first(&room, "fifo fair");
    assert_eq!(told["parts_at_ms"], 4_469);
    let launch = |run: usize| {
        let launch = &told["runs"][run]["launch"];
        ["job", "kind", "task", "node", "at_ms"].map(|key| launch[key].clone())
    };
    assert_eq!(launch(0), [json!(0), json!("map"), json!(1), json!("node-14"), json!(4_469)]);
    assert_eq!(launch(1), [json!(0), json!("map"), json!(2), json!("node-17"), json!(4_617)]);
    let candidate = |run: usize| &told["runs"][run]["candidates"][0];
    assert_eq!(candidate(0)["gets_it"], true);
    assert_eq!(candidate(0)["standings"][0]["numbers"]["priority"], "normal");
    let refusal = &candidate(1)["refusal"];
    assert_eq!(refusal["code"], "not-counted");
    assert_eq!(refusal["words"], "what it could run is not counted yet");
    let jobs = told["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 10, "of sixteen");
    assert_eq!((&jobs[0]["job"], &jobs[0]["began_ms"]), (&json!(0), &json!(4_469)));
    let began: Vec<u64> = jobs.iter().map(|job| job["began_ms"].as_u64().unwrap()).collect();
    assert!(began.is_sorted(), "{began:?}");
    // Its last map ended at 25.483 s under one and at 25.711 s under the other.
    assert_eq!(jobs[0]["later_ms"]["first_launch"], 148);

    room.mumakil("compare fifo fair --first --out page.html").assert().success();
    let page = std::fs::read_to_string(room.path("page.html")).unwrap();
    assert_eq!(page.matches("The line across: they part at 4.469 s.").count(), 4);
    assert!(page.contains("Where they part</h2>"));
}

/// By equal shares the second job goes first as soon as it is there, in line it waits for all of the
/// first. Both lists have both jobs, in another order.
#[test]
fn both_policies_tell_how_they_ranked_the_jobs() {
    let room = Room::new();
    run(&room, "fifo", "");
    run(&room, "ps", "--set scheduler=ps");
    let told = first(&room, "fifo ps");
    let jobs = |run: usize| -> Vec<&str> {
        let all = told["runs"][run]["candidates"].as_array().unwrap();
        all.iter().map(|one| one["name"].as_str().unwrap()).collect()
    };
    assert_eq!((jobs(0), jobs(1)), (vec!["large", "small"], vec!["small", "large"]));
    let holds =
        |place: usize| &told["runs"][1]["candidates"][place]["standings"][0]["numbers"]["held"];
    assert_eq!(holds(0), 0.0);
    assert!(0.0 < holds(1).as_f64().unwrap());
    // Each gave the slot to its first.
    for run in 0..2 {
        let launched = &told["runs"][run]["launch"]["name"];
        assert_eq!(launched, jobs(run)[0], "{told}");
        assert_eq!(told["runs"][run]["candidates"][0]["gets_it"], true);
    }
}

#[test]
fn a_run_and_its_like_never_part() {
    let room = Room::new();
    run(&room, "one", "");
    run(&room, "two", "");
    let told = first(&room, "one two");
    assert_eq!((&told["parts_at_ms"], &told["jobs"]), (&Value::Null, &json!([])));
    let output = room.mumakil("compare one two --first").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "one and two never part: all launches are the same\n");
}

/// With other phases of the heartbeats another tracker is first.
#[test]
fn runs_may_part_at_their_very_first_launch() {
    let room = Room::new();
    run(&room, "one", "");
    run(&room, "two", "--seed 7");
    let told = first(&room, "one two");
    let tasks = std::fs::read_to_string(room.path("one/tasks.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(tasks.as_bytes());
    let launch = rows.headers().unwrap().iter().position(|name| name == "launch_ms").unwrap();
    let launches = rows.records().map(|row| row.unwrap()[launch].parse::<u64>().unwrap());
    let earliest = launches.min().unwrap();
    let at = told["parts_at_ms"].as_u64().unwrap();
    assert!(at <= earliest, "{at} is not before {earliest}");
    assert!(told["runs"].as_array().unwrap().iter().all(|run| run["launch"]["task"].is_u64()));
}

#[test]
fn no_policy_is_asked_for_setups() {
    let room = Room::new();
    run(&room, "one", "--set hadoop.setup_cleanup=true");
    run(&room, "two", "--set hadoop.setup_cleanup=true --seed 7");
    let told = first(&room, "one two");
    assert_eq!(
        (&told["runs"][0]["launch"]["kind"], &told["slot"]),
        (&json!("setup"), &Value::Null)
    );
    assert_eq!(told["runs"][0]["untold"], "no policy is asked for setups and cleanups of jobs");
}

#[test]
fn runs_of_other_jobs_are_refused_with_what_differs() {
    let room = Room::new();
    run(&room, "one", "");
    run(&room, "larger", "--set workload.jobs.1.maps=7");
    let told = refusal(&room, "one larger");
    assert!(
        told.contains(
            "the runs have other jobs: in `one` job 1 is `small` with 6 maps and 1 reduces, in `larger` job \
             1 is `small` with 7 maps and 1 reduces"
        ),
        "{told}"
    );
    run(&room, "more", "--set workload.jobs.1.count=2");
    assert!(refusal(&room, "one more").contains("in `more` job 1 is `small-1`"), "{told}");
    assert!(refusal(&room, "one larger more").contains("two runs part, and here are 3"));
}

/// What it launched is in its tables all the same.
#[test]
fn a_run_on_the_scaled_clock_is_not_repeated() {
    let room = Room::new();
    run(&room, "one", "");
    run(&room, "scaled", "--clock 100000x --set scheduler=ps");
    let told = first(&room, "one scaled");
    assert!(told["parts_at_ms"].is_u64());
    let untold = "it ran on the scaled clock, on which no run is repeated";
    assert_eq!(told["runs"][1]["untold"], untold);
}

#[test]
fn a_trace_that_is_gone_is_named() {
    let room = Room::new();
    room.write("jobs.csv", "name,maps,map_time\na,40,20s\nb,6,10s\n");
    room.write("b.yaml", "cluster: {nodes: 3}\nworkload: {jobs: jobs.csv}\n");
    for policy in ["fifo", "ps"] {
        let command = format!("run b.yaml --set scheduler={policy} --out {policy} --quiet");
        room.mumakil(&command).assert().success();
    }
    std::fs::remove_file(room.path("jobs.csv")).unwrap();
    let told = refusal(&room, "fifo ps");
    assert!(told.contains("jobs.csv"), "{told}");
}
