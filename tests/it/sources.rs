//! Workloads and clusters from files, and clusters that are busy at the start.

use std::fs;

use serde_json::Value;

use crate::Room;

/// Two jobs of two maps each on two hosts; the second job comes an hour after the first job.
const TRACE: &str = r#"
{"jobID": "job_1", "submitTime": 1000, "totalMaps": 2, "mapTasks": [
  {"taskID": "task_1_m_0", "taskType": "MAP", "taskStatus": "SUCCESS",
   "preferredLocations": [{"layers": ["r1", "h1"]}], "attempts": [
     {"attemptID": "attempt_1_m_0_0", "result": "SUCCESS", "startTime": 1000, "finishTime": 11000,
      "hostName": "/r1/h1"}]},
  {"taskID": "task_1_m_1", "taskType": "MAP", "taskStatus": "SUCCESS",
   "preferredLocations": [{"layers": ["r2", "h2"]}], "attempts": [
     {"attemptID": "attempt_1_m_1_0", "result": "SUCCESS", "startTime": 1000, "finishTime": 31000,
      "hostName": "/r2/h2"}]}]}
{"jobID": "job_2", "submitTime": 3601000, "totalMaps": 1, "mapTasks": [
  {"taskID": "task_2_m_0", "taskType": "MAP", "taskStatus": "SUCCESS",
   "preferredLocations": [{"layers": ["r1", "h1"]}], "attempts": [
     {"attemptID": "attempt_2_m_0_0", "result": "SUCCESS", "startTime": 3605000, "finishTime": 3606000,
      "hostName": "/r1/h1"}]}]}
"#;

const TOPOLOGY: &str = r#"{"name": "<root>", "children": [
    {"name": "r1", "children": [{"name": "h1", "children": null}]},
    {"name": "r2", "children": [{"name": "h2", "children": null}]}]}"#;

const SCENARIO: &str = "name: replay\nhadoop: mumak\ncluster: mumak\nworkload:\n  rumen:\n    \
                        trace: jobs.json\n    topology: nodes.json\n";

fn room() -> Room {
    let room = Room::new();
    room.write("jobs.json", TRACE).write("nodes.json", TOPOLOGY).write("replay.yaml", SCENARIO);
    room
}

fn summary(room: &Room, run: &str) -> Value {
    let text = fs::read_to_string(room.path(&format!("{run}/summary.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns a column of a run's table.
fn column(room: &Room, file: &str, column: &str) -> Vec<String> {
    let mut table = csv::Reader::from_path(room.path(file)).unwrap();
    let place = table.headers().unwrap().iter().position(|name| name == column).unwrap();
    table.records().map(|row| row.unwrap()[place].to_owned()).collect()
}

#[test]
fn a_trace_runs_on_the_hosts_of_its_topology() {
    let room = room();
    room.mumakil("run replay.yaml --out a --verify").assert().success();
    let summary = summary(&room, "a");
    assert_eq!((&summary["nodes"], &summary["jobs_succeeded"]), (&2.into(), &2.into()));
    assert_eq!(column(&room, "a/jobs.csv", "name"), ["job_1", "job_2"]);
    let mut places = column(&room, "a/tasks.csv", "node");
    places.extend(column(&room, "a/tasks.csv", "rack"));
    assert!(places.iter().all(|name| ["h1", "h2", "r1", "r2"].contains(&name.as_str())));
    // The first job is submitted when every tracker has sent a heartbeat; the second job is
    // submitted an hour later.
    assert_eq!(column(&room, "a/jobs.csv", "submit_ms"), ["103000", "3703000"]);
    let times = column(&room, "a/tasks.csv", "finish_ms").into_iter();
    let starts = column(&room, "a/tasks.csv", "start_ms");
    let spans: Vec<u64> = times
        .zip(starts)
        .map(|(end, start)| end.parse::<u64>().unwrap() - start.parse::<u64>().unwrap())
        .collect();
    for (span, locality) in spans.iter().zip(column(&room, "a/tasks.csv", "locality")) {
        let local =
            if locality == "node" { [10_000, 30_000, 1_000] } else { [30_000, 90_000, 3_000] };
        // Instants are cut to milliseconds, so their difference may be off by one.
        assert!(local.iter().any(|time| span.abs_diff(*time) <= 1), "{spans:?} {locality}");
    }
}

#[test]
fn a_converted_trace_does_not_run_since_1970() {
    let room = Room::new();
    let epoch = |text: &str| text.replace(": 1000,", ": 1297228032218,");
    let trace = epoch(TRACE).replace("3601000", "1297231632218");
    let trace = trace.replace("3605000", "1297231636218").replace("3606000", "1297231637218");
    room.write(
        "jobs.json",
        &trace.replace("11000", "1297228042218").replace("31000", "1297228062218"),
    );
    for (format, workload) in [("csv", "jobs: own"), ("sls", "sls: {file: own}")] {
        room.mumakil(&format!("trace convert jobs.json --to {format} -o own --force"))
            .assert()
            .success();
        room.write("own.yaml", &format!("name: own\nworkload: {{{workload}}}\n"));
        room.mumakil("run own.yaml --out a --force --verify").assert().success();
        assert_eq!(column(&room, "a/jobs.csv", "submit_ms"), ["0", "3600000"], "{format}");
        let makespan = summary(&room, "a")["makespan_s"].as_f64().unwrap();
        assert!((3_600.0..3_700.0).contains(&makespan), "{makespan} s");
    }
}

#[test]
fn mumak_leaves_out_hosts_that_are_called_by_addresses() {
    let room = room();
    let nodes = TOPOLOGY.replace("\"h2\"", "\"10.0.0.2\"");
    room.write("nodes.json", &nodes);
    for (hadoop, nodes) in [("mumak", 1), ("0.20", 2)] {
        let mut run = room.mumakil("run replay.yaml --out a --force");
        run.args(["--set", &format!("hadoop={hadoop}")]).assert().success();
        let summary = summary(&room, "a");
        assert_eq!(summary["nodes"], nodes, "{hadoop}");
    }
}

#[test]
fn a_pipe_is_refused_at_once() {
    let room = room();
    let output = room.mumakil("trace inspect /dev/stdin").write_stdin(TRACE).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("it is not a regular file; save it to one first"), "{text}");
}

#[test]
#[cfg(unix)]
fn a_named_pipe_is_refused_at_once_and_a_pipe_of_the_shell_is_read() {
    let room = room();
    let shell = |line: &str| {
        let binary = env!("CARGO_BIN_EXE_mumakil");
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &line.replace("mumakil", &format!("timeout 20 '{binary}'"))]);
        bash.current_dir(room.path("")).output().unwrap()
    };
    if !shell("mkfifo pipe").status.success() {
        eprintln!("skipped: no bash, or no mkfifo");
        return;
    }
    for line in [
        "mumakil check pipe",
        "mumakil run pipe",
        "mumakil study pipe",
        "mumakil trace inspect pipe",
        "mumakil run replay.yaml --set workload.rumen.trace=pipe",
        "mumakil run replay.yaml --set 'workload.rumen.trace={path: pipe, sha256: aa}'",
        "mumakil check replay.yaml --set scheduler.fair.allocations=pipe",
    ] {
        let output = shell(line);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert!(
            text.contains("named pipe") || text.contains("not a regular file"),
            "{line}: {text}"
        );
    }
    for line in ["mumakil check <(cat replay.yaml)", "cat replay.yaml | mumakil check /dev/stdin"] {
        let output = shell(line);
        let text = String::from_utf8(output.stderr).unwrap();
        // The command has read the scenario, so it looks for the files that the scenario names.
        assert!(!text.contains("pipe, which"), "{line}: {text}");
        assert!(text.is_empty() || text.contains("jobs.json"), "{line}: {text}");
    }
}

#[test]
fn settings_without_effect_or_room_draw_a_warning() {
    let room = Room::new();
    let scenario =
        "name: odd\ncluster: {nodes: 3}\nworkload: {jobs: [{name: a, maps: 2, map_time: 5s}]}\n";
    room.write("odd.yaml", scenario);
    for (set, warning) in [
        (
            "cluster.memory=1B",
            "an attempt of the job `a` needs 200MiB of memory, and a node has 1B for all attempts: it \
             runs there all the same, since only suspended attempts are swapped",
        ),
        (
            "faults=[{at: 2s, stop: node-1}, {at: 1s, stop: node-1}]",
            "faults[0] has no effect: node-1 is stopped already",
        ),
        ("faults=[{at: 2s, start: node-2}]", "faults[0] has no effect: node-2 runs already"),
        (
            "workload.jobs=[{name: b, maps: 2, reduces: 1, reduce_memory: 900GiB}]",
            "an attempt of the job `b` needs 900GiB of memory",
        ),
    ] {
        let output = room.mumakil("check odd.yaml --set").arg(set).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && text.contains(warning), "{set}: {text}");
    }
    let fine = "faults=[{at: 1s, stop: node-1}, {at: 2s, start: node-1}, {at: 3s, stop: node-1}]";
    let output = room.mumakil("check odd.yaml --set").arg(fine).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_resolved_trace_runs_again_and_only_as_it_was() {
    let room = room();
    room.mumakil("run replay.yaml --out a").assert().success();
    room.mumakil("run a/scenario.resolved.yaml --out b").assert().success();
    for file in ["jobs.csv", "tasks.csv", "summary.json", "scenario.resolved.yaml"] {
        let read = |run: &str| fs::read(room.path(&format!("{run}/{file}"))).unwrap();
        assert!(read("a") == read("b"), "{file}");
    }
    room.write("jobs.json", &TRACE.replace("31000", "32000"));
    let output = room.mumakil("run a/scenario.resolved.yaml --out c").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("jobs.json has changed: its SHA-256 is"), "{text}");
    assert!(!room.path("c").exists());
}

#[test]
fn a_resolved_trace_is_found_from_its_own_folder() {
    let room = room();
    room.mumakil("run replay.yaml --out a").assert().success();
    let mut again = room.mumakil("run scenario.resolved.yaml --out b");
    again.current_dir(room.path("a")).assert().success();
    let read = |run: &str| fs::read(room.path(&format!("{run}/scenario.resolved.yaml"))).unwrap();
    assert!(read("a") == read("a/b"));
    // A trace with another content counts as another file.
    room.write("jobs.json", &TRACE.replace("31000", "32000"));
    let mut again = room.mumakil("run scenario.resolved.yaml --out c");
    let output = again.current_dir(room.path("a")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_resolved_trace_is_found_from_where_the_first_run_was_called() {
    let room = room();
    fs::create_dir(room.path("sub")).unwrap();
    for name in ["jobs.json", "nodes.json", "replay.yaml"] {
        fs::rename(room.path(name), room.path(&format!("sub/{name}"))).unwrap();
    }
    room.mumakil("run sub/replay.yaml --out a").assert().success();
    room.mumakil("run a/scenario.resolved.yaml --out b").assert().success();
    let read = |run: &str| fs::read(room.path(&format!("{run}/scenario.resolved.yaml"))).unwrap();
    assert!(read("a") == read("b"));
}

#[test]
fn a_missing_file_is_told_by_its_place_and_where_it_was_looked_for() {
    let room = Room::new();
    fs::create_dir(room.path("sub")).unwrap();
    room.write("sub/here.txt", "");
    for (workload, column) in [
        ("{jobs: none.csv}", 18),
        ("{swim: {file: none.csv}}", 25),
        ("{rumen: {trace: none.csv}}", 27),
        ("{sls: {file: none.csv}}", 24),
        ("{sls: {nodes: none.csv, file: here.txt}}", 25),
    ] {
        room.write("sub/lost.yaml", &format!("workload: {workload}"));
        for command in ["run", "check"] {
            let output = room.mumakil(command).arg("sub/lost.yaml").output().unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(text.starts_with("error: cannot read sub/none.csv: "), "{text}");
            assert!(text.contains(&format!("--> sub/lost.yaml:1:{column} ")), "{text}");
            assert!(text.contains("^^^^^^^^ a relative path begins in the scenario's"), "{text}");
        }
    }
}

#[test]
fn contents_a_file_cannot_give_are_an_error_before_anything_is_written() {
    let room = room();
    for (set, message) in [
        ("workload.rumen.trace=missing.json", "cannot read missing.json: "),
        ("workload.rumen.trace=replay.yaml", "replay.yaml:1:"),
        ("cluster.map_slots=0", "no node has a map slot, but `job_1` has maps"),
        ("workload.rumen.topology=jobs.json", "jobs.json holds Rumen's jobs, not a topology"),
        ("workload={swim: {file: x, mapping: replay}}", "needs its options, such as `nodes`"),
        (
            "cluster.hdfs.placement={writer: node-3}",
            "cluster.hdfs.placement: there is no node-3: the cluster has 2 nodes",
        ),
        ("faults=[{at: 1s, stop: node-3}]", "there is no node-3: the cluster has 2 nodes"),
        ("faults=[{at: 1s, kill: job_3}]", "there is no job `job_3` in the workload"),
    ] {
        for command in ["run", "check"] {
            let mut run = room.mumakil(command);
            let output = run.args(["replay.yaml", "--set", set]).output().unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{set}: {text}");
            assert!(text.contains(message), "{set}: {text}");
            assert!(!room.path("out").exists());
        }
    }
}

#[test]
fn jobs_of_a_warm_start_and_of_the_warm_up_are_in_no_statistics() {
    let room = Room::new();
    room.write(
        "warm.yaml",
        "name: warm\ncluster: {nodes: 4}\nworkload:\n  jobs: [{name: a, maps: 4, map_time: 10s}, \
         {name: b, maps: 4, map_time: 10s, submit: 10min}]\n  warm_start: {map_slots: 100 %, \
         reduce_slots: 50 %, map_time: 5min, reduce_time: 1min}\n",
    );
    room.mumakil("run warm.yaml --out a --verify").assert().success();
    let names = column(&room, "a/jobs.csv", "name");
    assert_eq!(names, ["warm-start-maps", "warm-start-reduces", "a", "b"]);
    assert_eq!(summary(&room, "a")["jobs"], 2);
    // Maps of the warm start hold every slot when the first job arrives, so the job waits for their
    // end.
    assert!(summary(&room, "a")["mean_wait_s"].as_f64().unwrap() > 120.0);
    room.mumakil("run warm.yaml --out b --set record.warm_up=5min").assert().success();
    assert_eq!(summary(&room, "b")["jobs"], 1);
    assert!(summary(&room, "b")["mean_wait_s"].as_f64().unwrap() < 30.0);
}

#[test]
fn no_pacing_minds_a_warm_start() {
    let room = Room::new();
    for submission in ["replay", "serial", "stress", "{closed: {active: 1}}"] {
        room.write(
            "warm.yaml",
            &format!(
                "name: warm\ncluster: {{nodes: 4}}\nworkload:\n  submission: {submission}\n  \
                 jobs: [{{name: a, maps: 2, map_time: 10s, count: 3}}]\n  warm_start: {{map_slots: \
                 50 %, map_time: 1h}}\n"
            ),
        );
        room.mumakil("run warm.yaml --out a --force --verify").assert().success();
        assert_eq!(column(&room, "a/jobs.csv", "name")[0], "warm-start-maps");
        let submits = column(&room, "a/jobs.csv", "submit_ms");
        assert_eq!(submits[0], "0", "{submission}");
        assert!(submits[1..].iter().all(|at| 1_000 < at.parse().unwrap()), "{submits:?}");
        let summary = summary(&room, "a");
        assert_eq!(summary["jobs"], 3, "{submission}");
        assert!(summary["makespan_s"].as_f64().unwrap() < 600.0, "half of the slots are free");
    }
}

#[test]
fn a_closed_loop_keeps_so_many_jobs_active() {
    let room = Room::new();
    let most_active = |submission: &str| {
        room.write(
            "loop.yaml",
            &format!(
                "name: loop\ncluster: {{nodes: 10}}\nworkload:\n  submission: {submission}\n  \
                 jobs: [{{name: a, count: 20, maps: 3, map_time: 20s}}]\n"
            ),
        );
        room.mumakil("run loop.yaml --out a --force --verify").assert().success();
        let at = |name| column(&room, "a/jobs.csv", name).into_iter().map(|t| t.parse().unwrap());
        let starts: Vec<u64> = at("submit_ms").collect();
        let ends: Vec<u64> = at("finish_ms").collect();
        let active = |now: u64| {
            let jobs = starts.iter().zip(&ends);
            jobs.filter(|(start, end)| **start <= now && now < **end).count()
        };
        starts.iter().map(|now| active(*now)).max().unwrap()
    };
    assert_eq!(most_active("replay"), 20);
    assert_eq!(most_active("{closed: {active: 3}}"), 3);
    assert_eq!(most_active("serial"), 1);
    // At most as many jobs run as there are trackers. The other limit, twice 20 maps, is reached
    // only later.
    assert_eq!(most_active("stress"), 10);
}

#[test]
fn as_many_jobs_as_trackers_are_active_under_stress_however_long_messages_take() {
    let room = Room::new();
    room.write(
        "stress.yaml",
        "name: stress\ncluster: {nodes: 4, network: {latency: 300ms}}\nworkload:\n  submission: \
         stress\n  jobs: [{name: a, count: 60, maps: 1, map_time: 5s}]\n",
    );
    room.mumakil("run stress.yaml --out a --verify").assert().success();
    let at = |name| column(&room, "a/jobs.csv", name).into_iter().map(|t| t.parse().unwrap());
    let (starts, ends): (Vec<u64>, Vec<u64>) =
        (at("submit_ms").collect(), at("finish_ms").collect());
    let active = |now: u64| {
        let jobs = starts.iter().zip(&ends);
        jobs.filter(|(start, end)| **start <= now && now < **end).count()
    };
    assert!(starts.iter().all(|now| active(*now) <= 4));
}

#[test]
fn jobs_of_a_trace_have_classes_by_their_size() {
    let room = Room::new();
    room.write("t.tsv", "a\t0\t0\t1\t0\t0\nb\t1\t1\t999999999\t0\t0\n")
        .write("s.yaml", "name: s\nworkload: {swim: {file: t.tsv}}\n");
    room.mumakil("run s.yaml --out a").assert().success();
    assert_eq!(column(&room, "a/jobs.csv", "class"), ["small", "medium"]);
    room.mumakil("run a/scenario.resolved.yaml --out b").assert().success();
    assert_eq!(column(&room, "b/jobs.csv", "class"), ["small", "medium"]);
}

#[test]
fn a_list_with_broken_jobs_runs_without_them_and_those_that_follow() {
    let room = Room::new();
    room.write("jobs.csv", "name,maps,after\na,2,\nb,many,\nc,1,[b]\nd,1,[a]\n")
        .write("s.yaml", "name: s\nworkload: {jobs: {path: jobs.csv, lenient: true}}\n");
    let output = room.mumakil("run s.yaml --out a").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("2 broken records of the trace are left out"), "{text}");
    assert_eq!(column(&room, "a/jobs.csv", "name"), ["a", "d"]);
    room.mumakil("run a/scenario.resolved.yaml --out b").assert().success();
    room.write("s.yaml", "name: s\nworkload: {jobs: jobs.csv}\n");
    assert_eq!(room.mumakil("run s.yaml --out c").output().unwrap().status.code(), Some(2));
}

#[test]
fn a_converted_trace_has_the_maps_of_the_trace_and_may_stand_in_a_scenario() {
    let room = Room::new();
    let lines = "a\t0\t0\t200000000\t0\t0\tin\nb\t1\t1\t150000000\t0\t0\tin\n";
    room.write("t.tsv", lines).write("t.yaml", "name: t\nworkload: {swim: {file: t.tsv}}\n");
    room.mumakil("trace convert t.tsv --to yaml -o jobs.yaml").assert().success();
    let list = fs::read_to_string(room.path("jobs.yaml")).unwrap();
    room.write("list.yaml", &format!("name: l\nworkload:\n jobs:\n {}", list.replace('\n', "\n ")));
    room.mumakil("run t.yaml --out a").assert().success();
    room.mumakil("run list.yaml --out b").assert().success();
    assert_eq!(column(&room, "a/jobs.csv", "maps"), ["3", "3"]);
    assert_eq!(column(&room, "b/jobs.csv", "maps"), ["3", "3"]);
}

#[test]
fn a_job_called_as_that_of_a_warm_start_does_not_share_its_name() {
    let room = Room::new();
    room.write(
        "s.yaml",
        "name: s\nworkload: {jobs: [{name: warm-start-maps, maps: 1}], warm_start: {map_slots: 50 %, \
         map_time: 10s}}\n",
    );
    room.mumakil("run s.yaml --out a").assert().success();
    assert_eq!(column(&room, "a/jobs.csv", "name"), ["warm-start-maps'", "warm-start-maps"]);
}

#[test]
fn a_trace_is_gzipped_by_its_name() {
    let room = Room::new();
    room.write("t.tsv", "a\t0\t0\t9\t0\t0\n");
    room.mumakil("trace convert t.tsv --to csv -o t.csv.gz").assert().success();
    assert_eq!(fs::read(room.path("t.csv.gz")).unwrap()[..2], [0x1f, 0x8b]);
    room.mumakil("trace inspect t.csv.gz").assert().success();
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_written_through_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    use std::process::{Command, Stdio};

    let room = Room::new();
    room.write("t.tsv", "a\t0\t0\t9\t0\t0\n");
    let pipe = room.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    room.mumakil("trace convert t.tsv --to swim -o pipe --force").assert().success();
    assert_eq!(reader.wait_with_output().unwrap().stdout, b"a\t0\t0\t9\t0\t0\n");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn files_of_jobs_run_again_from_what_they_resolve_to() {
    let room = Room::new();
    room.write("jobs.tsv", "a\t5\t5\t300000000\t9\t9\tin\nb\t9\t4\t50\t0\t9\tin\n")
        .write("jobs.csv", "name,maps,map_time\na,2,\"[3s, 4s]\"\n")
        .write("jobs.yaml", "- name: a\n  maps: 2\n  map_time: [3s, 4s]\n")
        .write(
            "sls.json",
            r#"{"job.id": "j", "job.tasks": [{"container.host": "/r/n2", "duration.ms": 9000}]}"#,
        )
        .write("nodes.json", r#"{"rack": "r", "nodes": [{"node": "n1"}, {"node": "n2"}]}"#);
    for workload in [
        "swim: {file: jobs.tsv, window: {from: 1s}}, pace: {load: 0.5}",
        "swim: {file: jobs.tsv, mapping: {replay: {nodes: 600}}, bytes_per_reduce: 1MB}",
        "jobs: jobs.csv",
        "jobs: jobs.yaml",
        "sls: {file: sls.json, nodes: nodes.json}",
    ] {
        room.write("s.yaml", &format!("name: s\nworkload: {{{workload}}}\n"));
        room.mumakil("run s.yaml --verify --force --out a").assert().success();
        room.mumakil("run a/scenario.resolved.yaml --force --out b").assert().success();
        let read = |run: &str, file: &str| fs::read(room.path(&format!("{run}/{file}"))).unwrap();
        for file in ["scenario.resolved.yaml", "tasks.csv"] {
            assert!(read("a", file) == read("b", file), "{workload}: {file}");
        }
    }
    let tasks = fs::read_to_string(room.path("a/tasks.csv")).unwrap();
    assert!(tasks.contains("\n0,map,0,0,n2,"), "where it would like to be: {tasks}");
}
