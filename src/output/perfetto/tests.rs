//! Traces of streams written by hand, read back as a reader of Perfetto's format would.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::mapred::{AttemptState, TrackerId};
use crate::record::stream::{Stream, map, reduce};
use crate::record::{Recorder, RunFacts, Setup};
use crate::runtime::EventSink;
use crate::scenario::RecordSpec;
use crate::units::SimSpan;

/// Records a stream that ends at this millisecond and returns the bytes of its trace.
fn trace(stream: Stream, millis: u64) -> Vec<u8> {
    let room = TempDir::new().unwrap();
    let target = room.path().join("run.pftrace");
    let place = |node: &str| NodeLabel { node: node.to_owned(), rack: "rack-1".to_owned() };
    let labels: Arc<[NodeLabel]> = [place("node-1"), place("node-2")].into();
    let file = PerfettoFile::create(&target, false).unwrap();
    let watcher = Box::new(file.watcher(labels.clone()).unwrap());
    let settings = RecordSpec::default();
    let setup = Setup {
        settings,
        folder: None,
        labels,
        progress: None,
        watchers: vec![watcher],
        counts_losses: false,
    };
    let (mut sender, recorder) = Recorder::start(setup).unwrap();
    stream.events.into_iter().for_each(|event| sender.take(&mut vec![event]));
    sender.flush();
    let run = RunFacts {
        scenario: "by-hand".to_owned(),
        policy: "fifo".to_owned(),
        precedence: crate::mapred::Precedence::default(),
        later_policies: Vec::new(),
        seed: 7,
        version: "0.1.0".to_owned(),
        nodes: 2,
        messages: 40,
        ended: SimTime::ZERO + SimSpan::from_millis(millis),
        stop: None,
    };
    recorder.finish(run, None).unwrap();
    file.commit().unwrap();
    fs::read(target).unwrap()
}

/// A field of a message: a number, or bytes.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes.split_off_first().unwrap();
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => Value::Bytes(bytes.split_off(..8).unwrap()),
            2 => {
                let length = varint(&mut bytes) as usize;
                Value::Bytes(bytes.split_off(..length).unwrap())
            }
            wire => panic!("no wire type {wire}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn number(bytes: &[u8], field: u64) -> u64 {
    let found = fields(bytes).into_iter().find(|(other, _)| *other == field);
    let Some((_, Value::Number(number))) = found else { return 0 };
    number
}

fn message(bytes: &[u8], field: u64) -> Option<&[u8]> {
    fields(bytes).into_iter().find_map(|(other, value)| match value {
        Value::Bytes(bytes) if other == field => Some(bytes),
        _ => None,
    })
}

fn text(bytes: &[u8], field: u64) -> String {
    String::from_utf8(message(bytes, field).unwrap_or_default().to_owned()).unwrap()
}

/// Returns a line for each slice, indented by its depth: where, what, from and to which millisecond;
/// and one for each mark.
fn slices(trace: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut tracks = IndexMap::new();
    let mut events = Vec::new();
    for (_, packet) in fields(trace) {
        let Value::Bytes(packet) = packet else { panic!("a trace is packets") };
        if let Some(interned) = message(packet, 12) {
            let names = fields(interned).into_iter().filter(|(table, _)| *table == 2);
            words.extend(names.map(|(_, name)| match name {
                Value::Bytes(name) => text(name, 2),
                Value::Number(_) => panic!("a word is a message"),
            }));
        } else if let Some(track) = message(packet, 60) {
            let name = match tracks.get(&number(track, 5)) {
                Some(parent) => format!("{parent}/{}", text(track, 2)),
                None => text(track, 2),
            };
            tracks.insert(number(track, 1), name);
        } else if let Some(event) = message(packet, 11) {
            events.push((number(packet, 8) / 1_000_000, event));
        }
    }
    // Stable, as a reader's sorting is.
    events.sort_by_key(|(millis, _)| *millis);
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut open: IndexMap<u64, Vec<usize>> = IndexMap::new();
    for (millis, event) in events {
        let open = open.entry(number(event, 11)).or_default();
        match number(event, 9) {
            1 => {
                let name = match number(event, 10) {
                    0 => text(event, 23),
                    word => words[word as usize - 1].clone(),
                };
                let indent = "  ".repeat(open.len());
                open.push(lines.len());
                let track = &tracks[&number(event, 11)];
                lines.push((track.clone(), format!("{indent}{name} {millis}")));
            }
            2 => lines[open.pop().expect("a slice is open")].1 += &format!("-{millis}"),
            3 => {
                let track = &tracks[&number(event, 11)];
                lines.push((track.clone(), format!("{} {millis}", text(event, 23))));
            }
            _ => {}
        }
    }
    lines.sort_by(|a, b| a.0.cmp(&b.0));
    lines.into_iter().map(|(track, line)| format!("{track}: {line}")).collect()
}

/// A job of two maps and a reduce. The reduce is suspended while it shuffles, and commits.
fn small_run() -> Stream {
    let phases = Phases {
        start_up: SimSpan::from_millis(100),
        shuffle: SimSpan::from_millis(2_000),
        sort: SimSpan::from_millis(500),
        ..Phases::default()
    };
    let tracker = TrackerId(0);
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
        .suspend(reduce(0, 0), 0)
        .end(map(0, 0), 0, Outcome::Succeeded)
        .at(3_000)
        .resume(reduce(0, 0), 0)
        .end(map(0, 1), 0, Outcome::Succeeded)
        .learn(map(0, 0), 0, AttemptState::Succeeded, (1, 0))
        .at(6_000)
        .fact(Fact::Attempt(reduce(0, 0), tracker, AttemptFact::CommitPending))
        .at(7_000)
        .end_after(reduce(0, 0), 0, Outcome::Succeeded, phases)
        .job_ended(0, Outcome::Succeeded)
}

#[test]
fn attempts_are_slices_in_the_lanes_of_their_node() {
    let expected = [
        "rack-1/node-1/map 0: job-0 m_0 1001-2000",
        "rack-1/node-1/map 1: job-0 m_1 1001-3000",
        "rack-1/node-1/reduce 0: job-0 r_0 1001-7000",
        "rack-1/node-1/reduce 0:   shuffle 1101-4101",
        "rack-1/node-1/reduce 0:     suspended 2000-3000",
        "rack-1/node-1/reduce 0:   sort 4101-4601",
        "rack-1/node-1/reduce 0:   reduce 4601-6000",
        "rack-1/node-1/reduce 0:   commit-pending 6000-7000",
    ];
    assert_eq!(slices(&trace(small_run(), 8_000)), expected);
}

#[test]
fn what_befalls_a_machine_is_a_mark_on_its_node() {
    let befalls = |incident| Fact::befell(TrackerId(1), incident);
    let stream = Stream::default()
        .at(1_000)
        .fact(befalls(Incident::Speeds(Speeds { cpu: 0.5, ..Speeds::USUAL })))
        .at(2_000)
        .fact(befalls(Incident::MachineOff));
    let expected =
        ["rack-1/node-2: slow: cpu 0.5, disk 1, network 1 1000", "rack-1/node-2: machine off 2000"];
    assert_eq!(slices(&trace(stream, 9_000)), expected);
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
        "rack-1/node-2/map 0: job-0 m_0 1000-2000",
        "rack-1/node-2/map 0: job-0 m_2 2000-9000",
        "rack-1/node-2/map 1: job-0 m_1 1000-9000",
    ];
    assert_eq!(slices(&trace(stream, 9_000)), expected, "the last two run when the run stops");
}

#[test]
fn the_same_facts_are_the_same_bytes() {
    assert_eq!(trace(small_run(), 8_000), trace(small_run(), 8_000));
}

#[test]
fn a_flow_leads_from_each_map_to_the_sort_of_the_reduce() {
    let trace = trace(small_run(), 8_000);
    let mut ends = IndexMap::<&[u8], Vec<u64>>::new();
    for (_, packet) in fields(&trace) {
        let Value::Bytes(packet) = packet else { panic!("a trace is packets") };
        for (field, value) in fields(message(packet, 11).unwrap_or_default()) {
            if let (47 | 48, Value::Bytes(flow)) = (field, value) {
                ends.entry(flow).or_default().push(field);
            }
        }
    }
    assert_eq!(ends.into_values().collect::<Vec<_>>(), [[47, 48], [47, 48]]);
}
