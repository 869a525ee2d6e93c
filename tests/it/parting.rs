//! `explain A B`: the first slot that goes to another job, and the jobs whose times differ most.

use serde_json::{Value, json};

use crate::Room;

/// Two jobs; the second comes while the first has more maps than there are slots.
pub(crate) const SCENARIO: &str = "
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

/// Returns the difference of two runs, as JSON.
fn first(room: &Room, folders: &str) -> Value {
    let output = room.mumakil(&format!("explain {folders} --json")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The large index job arrives first: until a query comes, fifo and fair give every slot to the
/// same job.
#[test]
fn fifo_and_fair_part_in_the_quickstart_when_a_query_comes_behind_the_index() {
    let room = Room::new();
    for policy in ["fifo", "fair"] {
        let command = format!("run quickstart --set scheduler={policy} --out {policy} --quiet");
        room.mumakil(&command).assert().success();
    }
    let told = first(&room, "fifo fair");
    assert_eq!(told["runs"], json!(["fifo", "fair"]));
    let slot = &told["slot"];
    assert_eq!((&slot["kind"], &slot["number"]), (&json!("map"), &json!(92)));
    let given = |run: usize| {
        let given = &slot["given"][run];
        ["at_ms", "name", "task", "attempt", "node"].map(|key| given[key].clone())
    };
    assert_eq!(given(0), [json!(95_185), json!("index"), json!(53), json!(0), json!("node-13")]);
    assert_eq!(given(1), [json!(95_819), json!("query-3"), json!(2), json!(0), json!("node-16")]);
    let jobs = told["jobs"].as_array().unwrap();
    assert_eq!((jobs.len(), &jobs[0]["name"]), (16, &json!("query-3")));
    assert_eq!(jobs[0]["sojourn_ms"], json!([123_923, 31_822]));
    assert_eq!(jobs[0]["difference_ms"], -92_101);
    let by: Vec<u64> =
        jobs.iter().map(|job| job["difference_ms"].as_i64().unwrap().unsigned_abs()).collect();
    assert!(by.is_sorted_by(|one, next| one >= next), "{by:?}");
}

/// With equal shares the second job gets slots as soon as it arrives; under FIFO it waits until the
/// first job needs no more slots.
#[test]
fn the_slot_goes_to_the_job_that_each_policy_puts_first() {
    let room = Room::new();
    run(&room, "fifo", "");
    run(&room, "ps", "--set scheduler=ps");
    let told = first(&room, "fifo ps");
    let given = [0, 1].map(|run| &told["slot"]["given"][run]["name"]);
    assert_eq!(given, [&json!("large"), &json!("small")]);
}

#[test]
fn a_run_and_its_like_never_part() {
    let room = Room::new();
    run(&room, "one", "");
    run(&room, "two", "");
    // A folder comes after a job of its name.
    let told = first(&room, "one ./two");
    let jobs = told["jobs"].as_array().unwrap();
    assert!(told["slot"].is_null() && jobs.iter().all(|job| job["difference_ms"] == 0), "{told}");
}

/// If heartbeats come at other instants, the instants and nodes of all launches change, but each
/// slot still goes to the same job.
#[test]
fn another_node_or_instant_is_no_parting() {
    let room = Room::new();
    run(&room, "one", "--set hadoop.setup_cleanup=true");
    run(&room, "two", "--set hadoop.setup_cleanup=true --seed 7");
    assert_ne!(
        std::fs::read(room.path("one/tasks.csv")).unwrap(),
        std::fs::read(room.path("two/tasks.csv")).unwrap()
    );
    assert_eq!(first(&room, "one two")["slot"], Value::Null);
}

/// Over all its waits the large job had most slots itself, but not where its slot came later.
#[test]
fn the_meanwhile_is_of_the_wait_for_the_slot_alone() {
    let room = Room::new();
    let many = "--set workload.jobs.1.count=12 --set workload.jobs.1.every=15s";
    run(&room, "fifo", many);
    run(&room, "ps", &format!("{many} --set scheduler=ps"));
    let told = room.mumakil("explain fifo ps large").output().unwrap().stdout;
    let told = String::from_utf8(told).unwrap();
    let meanwhile = told.lines().find(|line| line.starts_with("  meanwhile")).unwrap();
    assert!(meanwhile.contains("others further below their shares; of the held slots: small-1 "));
}

/// A slot that goes to a job that the other run lacks says nothing about the policies.
#[test]
fn runs_of_other_jobs_have_no_first_slot() {
    let room = Room::new();
    run(&room, "one", "");
    run(&room, "larger", "--set workload.jobs.1.maps=7");
    run(&room, "more", "--set workload.jobs.1.count=2");
    for other in ["larger", "more"] {
        let told = first(&room, &format!("one {other}"));
        let names: Vec<_> =
            told["jobs"].as_array().unwrap().iter().map(|job| &job["name"]).collect();
        assert_eq!((&told["slot"], names), (&Value::Null, vec![&json!("large")]), "{other}");
    }
}

/// The comparison reads the tables of the runs, but not the trace.
#[test]
fn a_run_whose_trace_is_gone_is_compared_all_the_same() {
    let room = Room::new();
    room.write("jobs.csv", "name,maps,map_time\na,40,20s\nb,6,10s\n");
    room.write("b.yaml", "cluster: {nodes: 3}\nworkload: {jobs: jobs.csv}\n");
    for policy in ["fifo", "ps"] {
        let command = format!("run b.yaml --set scheduler={policy} --out {policy} --quiet");
        room.mumakil(&command).assert().success();
    }
    std::fs::remove_file(room.path("jobs.csv")).unwrap();
    assert_eq!(first(&room, "fifo ps")["slot"]["kind"], "map");
}
