//! Traces of hand-written streams of facts, read back as a reader of the format would.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::record::tests::stream::{Stream, map, reduce};
use crate::record::{Recorder, RunFacts, Setup};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{AttemptState, JobSpec};
use mumakil_runtime::EventSink;
use mumakil_scenario::RecordSpec;

fn labels() -> [NodeLabel; 2] {
    ["node-1", "node-2"].map(|node| NodeLabel {
        node: node.to_owned(),
        rack: "rack-1".to_owned(),
        group: String::new(),
    })
}

/// Records a stream that ends at millisecond `millis` and returns its trace.
fn trace(stream: Stream, millis: u64) -> String {
    let room = TempDir::new().unwrap();
    let target = room.path().join("run.json");
    let file = create(&target, false).unwrap();
    let watcher = Box::new(Perfetto::begin(&file, &labels()).unwrap());
    let settings = RecordSpec::default();
    let setup = Setup {
        settings,
        folder: None,
        labels: labels().into(),
        progress: None,
        watchers: vec![watcher],
        counts_losses: false,
        demands: Vec::new(),
        is_batch: false,
        chains: Vec::new(),
        topology: None,
    };
    let (mut sender, recorder) = Recorder::start(setup).unwrap();
    stream.events.into_iter().for_each(|event| sender.take(&mut vec![event]));
    sender.flush();
    let run = RunFacts {
        scenario: "by-hand".to_owned(),
        policy: "fifo".to_owned(),
        seed: 7,
        version: "0.1.0".to_owned(),
        nodes: 2,
        messages: 40,
        ended: SimTime::ZERO + SimSpan::from_millis(millis),
        ..RunFacts::default()
    };
    recorder.finish(run, None).unwrap();
    file.put().unwrap();
    fs::read_to_string(target).unwrap()
}

/// Returns the events of a trace whose kind (`ph`) is one of `phases`, each with its place and the
/// millisecond of its beginning. The events are in the order of time, and at equal times longer
/// events first, as a reader sorts them.
fn events(trace: &str, phases: &str) -> Vec<(String, u64, Value)> {
    let mut trace: Value = serde_json::from_str(trace).unwrap();
    let Value::Array(all) = trace["traceEvents"].take() else { panic!("no list of events") };
    let named = |what, id: &str, of: &Value| {
        let mut names = all.iter().filter(|one| one["name"] == what && one[id] == of[id]);
        names.next().map(|one| one["args"]["name"].as_str().unwrap().to_owned())
    };
    let place = |one: &Value| match named("thread_name", "tid", one) {
        Some(thread) => format!("{}/{thread}", named("process_name", "pid", one).unwrap()),
        None => named("process_name", "pid", one).unwrap(),
    };
    let of_phase = all.iter().filter(|one| phases.contains(one["ph"].as_str().unwrap()));
    let placed = of_phase.map(|one| (place(one), one["ts"].as_u64().unwrap() / 1_000, one.clone()));
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by_key(|(_, _, one)| {
        (one["ts"].as_u64(), std::cmp::Reverse(one["dur"].as_u64().unwrap_or_default()))
    });
    placed
}

/// Returns a line for each slice: place, name, first and last millisecond.
fn slices(trace: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, begin, event) in events(trace, "X") {
        let end = begin + event["dur"].as_u64().unwrap() / 1_000;
        lines.push(format!("{place}: {} {begin}-{end}", event["name"].as_str().unwrap()));
    }
    lines.sort_by_key(|line| line.split(':').next().map(str::to_owned));
    lines
}

/// A job of two maps and a reduce.
fn small_run() -> Stream {
    Stream::default()
        .up(0, 2, 1)
        .at(100)
        .submit(JobSpec::bare(0, 2, 1))
        .at(1_000)
        .assign(map(0, 0), 0, (1, 1))
        .assign(map(0, 1), 0, (2, 0))
        .assign(reduce(0, 0), 0, (1, 0))
        .at(1_001)
        .start(map(0, 0), 0)
        .start(map(0, 1), 0)
        .start(reduce(0, 0), 0)
        .at(2_000)
        .end(map(0, 0), 0, Outcome::Succeeded)
        .at(3_000)
        .end(map(0, 1), 0, Outcome::Succeeded)
        .learn(map(0, 0), 0, AttemptState::Succeeded, (1, 0))
        .at(7_000)
        .end(reduce(0, 0), 0, Outcome::Succeeded)
        .job_ended(0, Outcome::Succeeded)
}

#[test]
fn attempts_are_slices_in_the_lanes_of_their_node() {
    let expected = [
        "node-1 (rack-1)/map 0: job-0 m_0 1001-2000",
        "node-1 (rack-1)/map 1: job-0 m_1 1001-3000",
        "node-1 (rack-1)/reduce 0: job-0 r_0 1001-7000",
    ];
    assert_eq!(slices(&trace(small_run(), 8_000)), expected);
}

#[test]
fn a_slice_says_whose_attempt_it_is_and_how_it_ended() {
    let trace = trace(small_run(), 8_000);
    let (_, _, slice) = events(&trace, "X").into_iter().next().unwrap();
    assert_eq!(slice["cat"], "reduce", "the longest slice that begins first");
    let expected = json!({
        "job": 0,
        "task": 0,
        "attempt": 0,
        "reason": "head of line",
        "outcome": "succeeded",
    });
    assert_eq!(slice["args"], expected);
}

#[test]
fn a_lane_is_used_again_from_the_instant_at_which_it_is_free() {
    let stream = Stream::default()
        .submit(JobSpec::bare(0, 3, 0))
        .at(1_000)
        .start(map(0, 0), 1)
        .start(map(0, 1), 1)
        .at(2_000)
        .end(map(0, 0), 1, Outcome::Killed)
        .start(map(0, 2), 1);
    let expected = [
        "node-2 (rack-1)/map 0: job-0 m_0 1000-2000",
        "node-2 (rack-1)/map 0: job-0 m_2 2000-9000",
        "node-2 (rack-1)/map 1: job-0 m_1 1000-9000",
    ];
    assert_eq!(slices(&trace(stream, 9_000)), expected, "two attempts run to the end");
}

#[test]
fn counters_add_up_the_jobs_of_a_pool_and_of_the_cluster() {
    let trace = trace(small_run(), 8_000);
    let counts = |counter: &str| -> Vec<_> {
        let of_counter =
            events(&trace, "C").into_iter().filter(|(_, _, one)| one["name"] == counter);
        let count = |args: &Value, what: &str| args[what].as_u64().unwrap();
        of_counter
            .map(|(_, at, one)| {
                (at, count(&one["args"], "running"), count(&one["args"], "pending"))
            })
            .collect()
    };
    let pool = [(100, 0, 2), (1_000, 1, 1), (1_000, 2, 0), (3_000, 1, 0), (7_000, 0, 0)];
    assert_eq!(counts("maps of pool research"), pool);
    let ends = |at| [(at, 0, 0)];
    assert_eq!(counts("maps"), [&ends(0), &pool[..], &ends(8_000)].concat());
}

#[test]
fn the_same_facts_are_the_same_bytes() {
    assert_eq!(trace(small_run(), 8_000), trace(small_run(), 8_000));
}

/// Writes the trace of a run without events.
fn write(target: &Path, force: bool) -> Result<PathBuf, OutputError> {
    let file = create(target, force)?;
    let mut trace = Perfetto::begin(&file, &labels())?;
    trace.to.flush().unwrap();
    file.put()
}

#[test]
fn a_trace_is_replaced_only_by_force() {
    let room = TempDir::new().unwrap();
    let target = room.path().join("deep/run.json");
    write(&target, false).unwrap();
    assert!(matches!(write(&target, false), Err(OutputError::Exists { .. })));
    write(&target, true).unwrap();
    assert_eq!(fs::read_dir(room.path().join("deep")).unwrap().count(), 1);
}

#[test]
fn somebodys_work_is_not_replaced() {
    let room = TempDir::new().unwrap();
    let target = room.path().join("thesis.tex");
    fs::write(&target, "On Mumakil").unwrap();
    let error = write(&target, true).unwrap_err();
    let expected =
        format!("{} is not replaced: it is no trace that Mumakil wrote", target.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(fs::read_to_string(&target).unwrap(), "On Mumakil");
    assert!(matches!(write(room.path(), true), Err(OutputError::Foreign { .. })));
}

#[test]
fn a_dropped_trace_leaves_nothing() {
    let room = TempDir::new().unwrap();
    drop(create(&room.path().join("run.json"), false).unwrap());
    assert_eq!(fs::read_dir(room.path()).unwrap().count(), 0);
}
