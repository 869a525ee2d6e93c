//! `mumakil predict` and `mumakil trace cluster`: a log is replayed as it was.

mod bytes;
mod own_history;

use std::fs;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use mumakil::random::{Purpose, stream};
use serde_json::Value;

#[cfg(target_os = "linux")]
use crate::survival::kill;
use crate::traces::{damaged, seeds};
use crate::{Room, root};

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
    let told = predict(&room, "predict history --json --seeds 1");
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

/// Writes the log of 24 jobs of three users, on nine nodes in three racks.
fn logged_under_fair(room: &Room, scheduler: &str) {
    let scenario = busy(24, &["u0", "u1", "u2"], scheduler);
    logged(room, &scenario, "org.apache.hadoop.mapred.FairScheduler");
}

/// Returns a scenario with jobs of three users in these pools, on nine nodes in three racks.
fn busy(jobs: usize, pools: &[&str], scheduler: &str) -> String {
    let jobs: String = (0..jobs)
        .map(|number| {
            let (user, submit, maps) = (number % 3, 7 * number, 1 + (number * 11) % 17);
            format!(
                "  - {{name: j{number}, user: u{user}, pool: {}, submit: {submit}s, maps: {maps}, \
                 map_time: {{uniform: {{from: 5s, to: 25s}}}}, reduces: {}, reduce_time: 4s, \
                 shuffle_time: 2s}}\n",
                pools[number % pools.len()],
                number % 4
            )
        })
        .collect();
    format!(
        "name: own\nhadoop: {{line: 1.x, heartbeat: 3s}}\nscheduler: {scheduler}\n\
         cluster: {{nodes: 9, racks: 3, map_slots: 2, reduce_slots: 2}}\nworkload:\n  jobs:\n{jobs}"
    )
}

/// Returns the mean error of a prediction, and the value and the reason of a setting if it is fitted.
fn error_and_fit(told: &Value, path: &str) -> (f64, Option<(String, String)>) {
    let settings = told["cluster"].as_array().unwrap().iter();
    let fitted = settings.filter(|one| one["path"] == path && one["sure"] == "fitted").map(|one| {
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        (text("value"), text("reason"))
    });
    (told["error"]["mean"].as_f64().unwrap(), { fitted }.next())
}

#[test]
fn queues_that_nobody_told_are_fitted_on_the_first_jobs() {
    let room = Room::new();
    let queues = "{queues: {a: {capacity: 0.8}, b: {capacity: 0.2, user_limit_factor: 3}}}";
    let scenario = busy(40, &["a", "b"], &format!("{{capacity: {{allocations: {queues}}}}}"));
    logged(&room, &scenario, "org.apache.hadoop.mapred.CapacityTaskScheduler");
    let path = "scheduler.capacity.allocations";
    let predicted = |arguments: &str| {
        let arguments = format!("predict history --json --force --seeds 5 {arguments}");
        let told = predict(&room, &arguments);
        let says_fitted = told["missing"].to_string().contains("they are fitted");
        let (error, fitted) = error_and_fit(&told, path);
        assert_eq!(fitted.is_some(), says_fitted);
        (error, fitted)
    };
    let (error, fitted) = predicted("");
    let (value, reason) = fitted.unwrap();
    assert!(value.contains("user_limit_factor"), "{value}");
    assert!(reason.starts_with("fits the first 20 jobs: their tasks are launched "), "{reason}");
    let all = room.path("alike.xml");
    let share = |name| {
        let name = format!("mapred.capacity-scheduler.queue.{name}.capacity");
        format!("<property><name>{name}</name><value>50</value></property>")
    };
    let [a, b] = ["a", "b"].map(share);
    fs::write(all, format!("<configuration>{a}{b}</configuration>")).unwrap();
    let (alike, fitted) = predicted(&format!("--known {path}=alike.xml"));
    assert_eq!(fitted, None, "what is told is not tried");
    assert!(5.0 * error < alike && error < 0.06, "{error} and {alike}");
}

#[test]
fn pools_that_are_as_is_usual_are_not_fitted() {
    let room = Room::new();
    logged_under_fair(&room, "fair");
    let told = predict(&room, "predict history --json --seeds 5");
    assert_eq!(error_and_fit(&told, "scheduler.fair.allocations").1, None);
}

#[test]
fn a_tracker_that_was_lost_is_lost_in_the_replay() {
    let room = Room::new();
    let lost = "name: own\nfaults: [{at: 20s, restart: {nodes: node-3, for: 90s}}]";
    let run = RUN.replace("name: own", lost).replace("1.x,", "1.x, expiry: 30s,");
    logged(&room, &run, "org.apache.hadoop.mapred.JobQueueTaskScheduler");
    let told = predict(&room, "predict history --json --seeds 5 --split 100%");
    let cluster = fs::read_to_string(room.path("out/history-predict/cluster.yaml")).unwrap();
    let cluster: serde_yaml::Value = serde_yaml::from_str(&cluster).unwrap();
    let fault = &cluster["faults"][0];
    assert_eq!(fault["restart"]["nodes"][0], "n002.lan");
    let at = fault["at"].as_str().unwrap().trim_end_matches("ms").parse::<u32>().unwrap();
    assert!((17_000..25_000).contains(&at), "{at}");
    let mean = |told: &Value| told["error"]["mean"].as_f64().unwrap();
    let without = "predict history --json --seeds 5 --split 100% --force --known faults=null";
    let without = mean(&predict(&room, without));
    assert!(3.0 * mean(&told) < without && mean(&told) < 0.08, "{} {without}", told["error"]);
}

#[test]
fn a_job_is_predicted_by_several_replays_with_their_range() {
    let room = Room::new();
    logged(&room, RUN, "org.apache.hadoop.mapred.JobQueueTaskScheduler");
    let told = predict(&room, "predict history --json --seeds 5 --split 100%");
    assert_eq!(told["replays"], 5);
    let jobs = told["jobs"].as_array().unwrap();
    let mut outside = 0;
    for job in jobs {
        let of = |key: &str| job[key].as_u64().unwrap();
        let [least, most] = [0, 1].map(|end| job["range_ms"][end].as_u64().unwrap());
        assert!((least..=most).contains(&of("predicted_ms")), "{job}");
        outside += u64::from(!(least..=most).contains(&of("logged_ms")));
    }
    assert_eq!(told["outside"], outside);
    let other = predict(&room, "predict history --json --seeds 1 --seed 43 --split 100% --force");
    assert_eq!(other["outside"], Value::Null, "one replay shows no range");
    for (job, one) in jobs.iter().zip(other["jobs"].as_array().unwrap()) {
        let range = [0, 1].map(|end| job["range_ms"][end].as_u64().unwrap());
        assert!((range[0]..=range[1]).contains(&one["predicted_ms"].as_u64().unwrap()), "{one}");
    }
    let output = room.mumakil("predict history --seeds 5 --set scheduler=fair --force").output();
    let told = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(told.contains("took less or more in the log than in each of the 5 replays"), "{told}");
    assert!(told.contains("Mean sojourns of the jobs that judge"), "{told}");
    assert!(told.contains("with the settings"), "{told}");
    let page = fs::read_to_string(room.path("out/history-predict/prediction.html")).unwrap();
    assert!(page.contains("Jobs that have not ended, predicted"), "{page}");
}

#[test]
fn a_log_of_more_racks_under_the_fair_scheduler_is_predicted_as_exactly_as_it_was_written() {
    let room = Room::new();
    logged_under_fair(&room, "fair");
    let told = predict(&room, "predict history --json --seeds 1 --split 100%");
    assert_eq!(setting(&told, "scheduler"), ("fair", "said"));
    assert_eq!(setting(&told, "cluster.racks").0, "3");
    assert_eq!(told["held_back"], false);
    assert_eq!(told["jobs"].as_array().unwrap().len(), 24);
    // A log has whole milliseconds. Once an end falls on the other side of a heartbeat for that,
    // later jobs differ.
    assert_eq!(told["error"]["median"], 0.0);
    assert!(told["error"]["mean"].as_f64().unwrap() < 0.03, "{told:#}");
    let first: Vec<f64> = (0..12).map(|job| told["jobs"][job]["error"].as_f64().unwrap()).collect();
    // A millisecond of rounding.
    assert!(first.iter().all(|error| error.abs() < 1e-4), "{first:?}");
}

#[test]
fn a_prediction_knows_more_than_its_log() {
    let room = Room::new();
    let pools = "{pools: {u0: {weight: 9}, u1: {min_maps: 9, min_reduces: 9}}}";
    logged_under_fair(&room, &format!("{{fair: {{allocations: {pools}}}}}"));
    let xml = "<allocations><pool name=\"u0\"><weight>9</weight></pool><pool name=\"u1\">\
               <minMaps>9</minMaps><minReduces>9</minReduces></pool></allocations>";
    room.write("pools.xml", xml);
    let error = |arguments: &str| {
        let told = predict(&room, &format!("predict history --json --force {arguments}"));
        let is_missing = told["missing"].to_string().contains("scheduler.fair.allocations");
        (told["error"]["mean"].as_f64().unwrap(), is_missing)
    };
    assert!(error("").1, "the pools are fitted");
    room.write("alike.xml", "<allocations></allocations>");
    let (unknown, _) = error("--known scheduler.fair.allocations=alike.xml");
    let (known, is_missing) = error("--known scheduler.fair.allocations=pools.xml");
    assert!(2.0 * known < unknown && !is_missing, "{known} and {unknown}");
    let told = predict(
        &room,
        "predict history --json --force --known scheduler.fair.allocations=pools.xml --set cluster.map_slots=2",
    );
    assert_eq!(told["what_if"]["no_effect"], true, "it holds for the second run, too");
    let slower = room.mumakil("predict history --force --known cluster.map_slots=1").output();
    let text = String::from_utf8(slower.unwrap().stdout).unwrap();
    assert!(text.contains("the error is large, "), "{text}");
    for (known, place) in
        [("scheduler.fair.alloc=1", "--known scheduler.fair.alloc=1"), ("nope", "--known nope")]
    {
        let output = room.mumakil("predict history --out no --known").arg(known).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(place) && !room.path("no").exists(), "{message}");
    }
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
    let output = room.mumakil("predict history --seeds 1 --set scheduler=fair").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    // 9 s of 65 s, in the reduce phase alone.
    let judged = told.split_once("Jobs that judge").unwrap().1;
    let worst = judged.lines().find(|line| line.contains("  job_1_0005 ")).unwrap();
    assert!(worst.contains("   -13.9 %   0.0 %       0.0 %        -13.9 %"), "{told}");
    assert!(told.contains("With scheduler=fair: mean sojourn "), "{told}");
    assert!(told.contains(" (by the error of the replay "), "{told}");
}

/// Returns what `predict` prints about the log that Mumakil brings.
fn outlook(room: &Room, set: &str) -> String {
    let log = root().join("scenarios/traces/history.log.gz");
    let mut command = room.mumakil("predict --out told --force --seeds 1");
    let output = command.arg(log).args(["--set", set]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    told.lines().map(|line| format!("{}\n", line.trim())).collect()
}

fn resolved(room: &Room, run: &str) -> serde_yaml::Value {
    let file = room.path(&format!("told/{run}/scenario.resolved.yaml"));
    serde_yaml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn a_prediction_for_other_nodes_is_made_on_other_nodes() {
    let room = Room::new();
    let mean = |told: &str| {
        let rest = told.split_once("mean sojourn ").unwrap().1;
        rest.split_once(" (").unwrap().0.to_owned()
    };
    for (set, mean_sojourn, nodes) in [
        ("cluster.nodes=3", "1 min 51 s", 3),
        ("cluster.nodes=12", "37.4 s", 12),
        ("cluster.racks=2", "55.7 s", 6),
        ("cluster={groups: [{count: 2, speed: 0.5}]}", "1 min 09 s", 6),
        ("cluster=srt-4", "55.8 s", 4),
        ("workload.rumen.topology=null", "55.7 s", 6),
    ] {
        let told = outlook(&room, set);
        assert!(told.contains(&format!("the hosts of the log by {nodes} nodes")), "{told}");
        assert_eq!(mean(&told), mean_sojourn, "{told}");
        let resolved = resolved(&room, "what-if");
        assert_eq!(resolved["cluster"]["nodes"], nodes, "{set}");
        assert_eq!(resolved["workload"]["rumen"]["topology"], serde_yaml::Value::Null, "{set}");
        let rows = fs::read_to_string(room.path("told/what-if/nodes.csv")).unwrap();
        assert_eq!(rows.lines().count() - 1, nodes, "{set}");
    }
}

#[test]
fn settings_without_an_effect_are_not_answered_with_a_number() {
    let room = Room::new();
    let told = outlook(&room, "scheduler=fifo");
    assert!(told.starts_with("With scheduler=fifo: no effect, the run is the same"), "{told}");
    assert!(!told.contains("mean sojourn"), "{told}");
    let told = outlook(&room, "scheduler=fair");
    assert!(told.starts_with("With scheduler=fair: mean sojourn 58.5 s (by the error"), "{told}");
}

#[test]
fn a_resolved_scenario_has_the_nodes_of_its_topology_and_names_a_file_that_is_there() {
    let room = Room::new();
    outlook(&room, "scheduler=fair");
    for run in ["replay", "what-if"] {
        let resolved = resolved(&room, run);
        assert_eq!(resolved["cluster"]["nodes"], 6);
        let topology = resolved["workload"]["rumen"]["topology"]["path"].as_str().unwrap();
        assert!(room.path(topology).is_file(), "{topology}");
        let again = room.mumakil(&format!("run told/{run}/scenario.resolved.yaml --out {run}"));
        let output = { again }.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "no setting is without effect");
        for table in ["jobs.csv", "tasks.csv", "scenario.resolved.yaml"] {
            let [first, second] = [room.path("told").join(run), room.path(run)]
                .map(|folder| fs::read(folder.join(table)).unwrap());
            assert!(first == second, "{run} {table}");
        }
    }
}

#[test]
fn a_prediction_replaces_nothing_but_a_prediction() {
    let room = Room::new();
    outlook(&room, "scheduler=fair");
    let log = root().join("scenarios/traces/history.log.gz");
    let refused = |options: &str, why: &str| {
        let output = room.mumakil(&format!("predict --out told{options}")).arg(&log).output();
        let output = output.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(why), "{told}");
    };
    refused("", "told exists already");
    fs::write(room.path("told/notes.txt"), "mine").unwrap();
    refused(" --force", "Mumakil did not write `notes.txt`");
    fs::remove_dir_all(room.path("told")).unwrap();
    fs::create_dir(room.path("told")).unwrap();
    refused(" --force", "it has no `replay` that Mumakil wrote");
}

/// Returns the lines that `predict` prints of a log in which an attempt has another start.
fn with_start(room: &Room, start: &str, options: &str) -> (Option<i32>, String) {
    logged(room, RUN, "org.apache.hadoop.mapred.JobQueueTaskScheduler");
    let log = room.path("history/job_1_0002_u_job");
    let text = fs::read_to_string(&log).unwrap();
    let at = text.find("MapAttempt").unwrap();
    let at = at + text[at..].find("START_TIME=\"").unwrap() + "START_TIME=\"".len();
    fs::write(&log, format!("{}{start}{}", &text[..at], &text[at + 13..])).unwrap();
    let output = room.mumakil(&format!("predict history --out told {options}")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), told)
}

#[test]
fn a_time_of_1970_is_a_broken_record_and_no_endless_replay() {
    let room = Room::new();
    let (code, told) = with_start(&room, "2147483648", "");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("history/job_1_0002_u_job:"), "{told}");
    assert!(told.contains("ran at 2147483648 ms, but its job was submitted at"), "{told}");
    assert!(!room.path("told").exists());
}

#[test]
fn a_lenient_prediction_counts_the_jobs_that_it_leaves_out() {
    let room = Room::new();
    let (code, told) = with_start(&room, "2147483648", "--lenient");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("3 jobs show the cluster, the other 2 judge"), "{told}");
    assert!(told.contains("a broken record of the trace is left out"), "{told}");
}

#[test]
fn a_prediction_ends_with_its_time_limit_and_leaves_nothing() {
    let room = Room::new();
    let log = root().join("scenarios/traces/history.log.gz");
    let output = room.mumakil("predict --time-limit 1us --out told").arg(log).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the run took as long as --time-limit allows"), "{told}");
    assert_eq!(room.names(), [""; 0]);
}

#[test]
fn gaps_of_a_log_are_listed() {
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

#[cfg(target_os = "linux")]
#[test]
fn a_prediction_may_be_killed_at_any_moment() {
    // The results have the log's whole path, which must be the same in each room.
    let log = root().join("scenarios/traces/history.log.gz");
    let of =
        |nodes| format!("predict {} --out told --set cluster.nodes={nodes} --force", log.display());
    let [first, second] = [2, 4].map(of);
    kill(&[], &first);
    kill(&[&first], &second);
}

#[test]
fn a_log_is_known_by_its_first_line() {
    let room = Room::new();
    let registry = mumakil::registry();
    for head in ["Meta VERSION=\"1\" .\nJob JOBID=\"j\" .\n", "Avro-Json\n{}\n"] {
        room.write("log", head);
        let format = registry.formats().recognise(&room.path("log")).unwrap();
        assert_eq!(format.name, "Hadoop's job history");
    }
}

#[test]
fn damaged_logs_show_a_cluster_or_are_refused() {
    let seeds = [seeds("log"), seeds("rumen")].concat();
    seeds.iter().for_each(|seed| bytes::log(seed));
    for case in 0..100 {
        let mut rng = stream(case, Purpose::Workload, 0);
        bytes::log(&damaged(&seeds[case as usize % seeds.len()], &mut rng));
    }
}

#[test]
fn a_log_without_names_shows_the_same_cluster() {
    let room = Room::new();
    let log = root().join("scenarios/traces/history.log.gz");
    let convert = |words: &str, to: &str| {
        let mut command = room.mumakil(words);
        command.arg(&log).args(["-o", to]).assert().success();
        fs::read_to_string(room.path(to)).unwrap()
    };
    let plain = convert("trace convert --to rumen", "plain.json");
    let shared = convert("trace anonymise --key ours", "shared.json");
    let values = |text: &str, key: &str| -> Vec<String> {
        let head = format!("\"{key}\":\"");
        text.split(&head).skip(1).map(|part| part.split('"').next().unwrap().to_owned()).collect()
    };
    for key in ["user", "jobName", "queue", "hostName"] {
        let ([names, others], kinds) =
            ([&plain, &shared].map(|it| values(it, key)), |all: &[_]| {
                all.iter().collect::<std::collections::BTreeSet<&String>>().len()
            });
        assert_eq!((names.len(), kinds(&names)), (others.len(), kinds(&others)), "{key}");
        let told = names.iter().find(|name| shared.contains(&format!("\"{name}\"")));
        assert!(told.is_none() && !names.is_empty(), "{key}: {told:?}");
    }
    let again = convert("trace anonymise --key ours --force", "shared.json");
    assert_eq!((again == shared, values(&plain, "jobID")), (true, values(&shared, "jobID")));
    let told = room.mumakil("trace cluster shared.json").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("cluster.map_slots"), "{told}");
    room.mumakil("trace anonymise shared.json -o other.json --key").arg("").assert().code(2);
}
