//! `mumakil predict` and `mumakil trace cluster`: a log is replayed as it was.

use std::fs;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::{Room, own_history, root};

/// Jobs that compete for few nodes.
const RUN: &str = "
name: own
hadoop: {line: 1.x, heartbeat: 3s}
cluster: {nodes: 6, map_slots: 2, reduce_slots: 1}
scheduler: fifo
workload:
  jobs:
  - {name: a, maps: 30, map_time: {uniform: {from: 6s, to: 12s}}, reduces: 3, reduce_time: 6s, shuffle_time: 2s, sort_time: 1s}
  - {name: b, submit: 11s, maps: 4, map_time: 5s, reduces: 1, reduce_time: 3s, shuffle_time: 1s}
  - {name: c, submit: 19s, maps: 20, map_time: {uniform: {from: 8s, to: 12s}}, reduces: 2, reduce_time: 8s, shuffle_time: 3s}
  - {name: d, submit: 33s, maps: 2, map_time: 4s}
  - {name: e, submit: 45s, maps: 12, map_time: 6s, reduces: 4, reduce_time: 4s, shuffle_time: 2s}
  - {name: f, submit: 52s, maps: 6, map_time: 12s, reduces: 1, reduce_time: 5s, shuffle_time: 2s}
";

fn predict(room: &Room, arguments: &str) -> Value {
    let output = room.mumakil(arguments).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn setting<'v>(told: &'v Value, path: &str) -> (&'v str, &'v str) {
    let settings = told["cluster"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["path"] == path).unwrap();
    (found["value"].as_str().unwrap(), found["sure"].as_str().unwrap())
}

/// Runs a scenario called `own`, and writes its log into the folder `history`.
fn logged(room: &Room, scenario: &str, policy: &str) {
    room.write("own.yaml", scenario);
    room.mumakil("run own.yaml --quiet").assert().success();
    let [own, run, history] = ["own.yaml", "out/own-42", "history"].map(|name| room.path(name));
    own_history::write(&own, &run, &history, policy);
}

fn worst_of_all(told: &Value) -> f64 {
    let jobs = ["jobs", "calibrating"].map(|key| told[key].as_array().unwrap());
    let errors = jobs.into_iter().flatten().map(|job| job["error"].as_f64().unwrap().abs());
    errors.fold(0.0, f64::max)
}

#[test]
fn a_log_of_a_run_is_predicted_without_an_error() {
    let room = Room::new();
    logged(&room, RUN, "org.apache.hadoop.mapred.JobQueueTaskScheduler");
    let told = predict(&room, "predict history --json");
    for (path, value, sure) in [
        ("hadoop.line", "1.x", "said"),
        ("hadoop.heartbeat", "3s", "measured"),
        ("hadoop.localisation", "500ms", "measured"),
        ("cluster.nodes", "6", "at least"),
        ("cluster.map_slots", "2", "measured"),
        ("cluster.reduce_slots", "1", "measured"),
        ("scheduler", "fifo", "said"),
    ] {
        assert_eq!(setting(&told, path), (value, sure), "{path}");
    }
    assert_eq!((told["jobs"].as_array().unwrap().len(), &told["held_back"]), (3, &true.into()));
    assert_eq!((worst_of_all(&told), &told["error"]["worst"]), (0.0, &0.0.into()));
    let page = fs::read_to_string(room.path("out/history-predict/prediction.html")).unwrap();
    assert!(page.contains("Sojourn of each job, logged and predicted"), "{page}");
}

#[test]
fn a_log_of_more_racks_under_the_fair_scheduler_is_predicted_as_exactly_as_it_was_written() {
    let room = Room::new();
    let jobs: String = (0..24)
        .map(|number| {
            let (user, submit, maps) = (number % 3, 7 * number, 1 + (number * 11) % 17);
            format!(
                "  - {{name: j{number}, user: u{user}, pool: u{user}, submit: {submit}s, maps: {maps}, \
                 map_time: {{uniform: {{from: 5s, to: 25s}}}}, reduces: {}, reduce_time: 4s, \
                 shuffle_time: 2s}}\n",
                number % 4
            )
        })
        .collect();
    let scenario = format!(
        "name: own\nhadoop: {{line: 1.x, heartbeat: 3s}}\nscheduler: fair\n\
         cluster: {{nodes: 9, racks: 3, map_slots: 2, reduce_slots: 2}}\nworkload:\n  jobs:\n{jobs}"
    );
    logged(&room, &scenario, "org.apache.hadoop.mapred.FairScheduler");
    let told = predict(&room, "predict history --json --split 100%");
    assert_eq!(setting(&told, "scheduler"), ("fair", "said"));
    assert_eq!(setting(&told, "cluster.racks").0, "3");
    assert_eq!(told["held_back"], false);
    assert_eq!(told["jobs"].as_array().unwrap().len(), 24);
    // A log has whole milliseconds. Once an end falls on the other side of a heartbeat for that,
    // later jobs differ.
    assert_eq!(told["error"]["median"], 0.0);
    assert!(told["error"]["mean"].as_f64().unwrap() < 0.03, "{told:#}");
    let first: Vec<f64> = (0..12).map(|job| told["jobs"][job]["error"].as_f64().unwrap()).collect();
    assert_eq!(first, [0.0; 12]);
}

#[test]
fn a_job_that_took_longer_is_found_and_its_part_is_named() {
    let room = Room::new();
    logged(&room, RUN, "org.apache.hadoop.mapred.JobQueueTaskScheduler");
    let log = room.path("history/job_1_0005_u_job");
    let text = fs::read_to_string(&log).unwrap();
    let end = text.rfind("FINISH_TIME=\"").unwrap() + "FINISH_TIME=\"".len();
    let finish: u64 = text[end..end + 13].parse().unwrap();
    // The JobTracker was down for 9 s before the job ended.
    let later = format!("{}{}{}", &text[..end], finish + 9_000, &text[end + 13..]);
    fs::write(&log, later).unwrap();
    let output = room.mumakil("predict history --set scheduler=fair").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("  job_1_0005: "), "{told}");
    assert!(told.contains(", reduce phase -9.0 s)"), "{told}");
    assert!(told.contains("With scheduler=fair: mean sojourn "), "{told}");
    assert!(told.contains(" (by the error above "), "{told}");
}

#[test]
fn what_a_log_lacks_is_said() {
    let room = Room::new();
    logged(&room, RUN, "com.example.OwnScheduler");
    for number in 0..2 {
        fs::remove_file(room.path(&format!("history/job_1_{number:04}_conf.xml"))).unwrap();
    }
    let output = room.mumakil("trace cluster history").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let is_said = |what: &str| assert!(told.contains(what), "{told}");
    is_said("assumed    OwnScheduler is not known");
    is_said("not in the log: 2 of 6 jobs have no logged configuration");
}

#[test]
fn the_scenario_of_a_cluster_runs() {
    let room = Room::new();
    logged(&room, RUN, "org.apache.hadoop.mapred.JobQueueTaskScheduler");
    room.mumakil("trace cluster history -o cluster.yaml").assert().success();
    room.mumakil("run cluster.yaml --quiet --verify").assert().success();
    let again = room.mumakil("trace cluster history -o cluster.yaml").output().unwrap();
    assert_eq!(again.status.code(), Some(2), "files are not replaced without --force");
    // A study brings its files, and a folder is none.
    room.write("study.yaml", "base: cluster.yaml\nsweep: {scheduler: [fifo, fair]}\n");
    let refused = room.mumakil("study study.yaml").output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("history is a folder, and a study keeps single files"), "{told}");
    room.mumakil("trace convert history --to rumen -o jobs.json.gz").assert().success();
    room.mumakil("study study.yaml --set workload.rumen.trace=jobs.json.gz").assert().success();
}

/// The log that Mumakil brings is that of its own run, all jobs in one file. Its heartbeats came at
/// other instants than those of a replay.
#[test]
fn the_bundled_log_is_of_our_own_run() {
    let room = Room::new();
    room.write("own.yaml", &RUN.replace("name: own", "name: own\nseed: 7"));
    room.mumakil("run own.yaml --quiet").assert().success();
    let [own, run] = ["own.yaml", "out/own-7"].map(|name| room.path(name));
    let policy = "org.apache.hadoop.mapred.JobQueueTaskScheduler";
    let history = own_history::of(&own, &run, policy);
    let text: String = history.into_iter().map(|job| job.log + &job.configuration).collect();
    let bundled = root().join("scenarios/traces/history.log.gz");
    if std::env::var_os("MUMAKIL_UPDATE").is_some() {
        let file = fs::File::create(&bundled).unwrap();
        let mut gzip = GzEncoder::new(file, Compression::best());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
    }
    let mut found = String::new();
    GzDecoder::new(fs::File::open(&bundled).unwrap()).read_to_string(&mut found).unwrap();
    assert_eq!(found, text, "MUMAKIL_UPDATE=1 writes it anew");
}

#[test]
fn a_log_without_hosts_is_refused() {
    let room = Room::new();
    room.write("jobs.csv", "name,maps,map_time\na,3,5s\n");
    room.mumakil("trace convert jobs.csv --to rumen -o jobs.json").assert().success();
    let output = room.mumakil("predict jobs.json").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("no attempt of the log names its host"), "{told}");
    assert_eq!(room.names(), ["jobs.csv", "jobs.json"], "nothing is left");
}

#[test]
fn a_log_without_a_job_to_judge_is_refused() {
    let room = Room::new();
    room.write("empty.log", "Meta VERSION=\"1\" .\nJob JOBID=\"j\" SUBMIT_TIME=\"9\" .\n");
    for command in ["predict empty.log", "trace cluster empty.log"] {
        let output = room.mumakil(command).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("empty.log: the log has no job with a map"), "{told}");
        assert_eq!(room.names(), ["empty.log"], "nothing is left");
    }
}
