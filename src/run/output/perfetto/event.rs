//! The events of a trace, in Chrome's trace event format.
//!
//! Perfetto shows processes with their threads and counters, and the number of a process behind its
//! name. So nodes get the easy numbers from 1,001 on, and pools and threads get the numbers after
//! the nodes' numbers.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::OutputError;
use mumakil_base::disk::File;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::TrackerId;

/// The beginning of every trace that Mumakil writes; it names the JobTracker's process.
/// [`check_trace`] recognises a trace by it.
const HEAD: &str = concat!(
    r#"{"metadata":{"emulated by":"Mumakil"},"traceEvents":["#,
    "\n",
    r#"{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"JobTracker"}}"#,
);
pub(super) const JOB_TRACKER: TraceTrack = TraceTrack { pid: 1, tid: 1 };
// Chosen: easy to read, and far from the JobTracker's number 1.
const FIRST_NODE: usize = 1_001;

/// The file of a trace that is being written.
#[derive(Debug)]
pub(super) struct TraceEvents {
    to: BufWriter<File>,
    /// The number of the last process or thread that was named.
    last: usize,
    flows: u64,
}

/// One event with the format's own names: `ph` is its kind, `ts` its microsecond.
#[derive(Serialize)]
struct TraceEvent<'a> {
    ph: &'a str,
    #[serde(flatten)]
    track: TraceTrack,
    ts: u64,
    name: &'a str,
    #[serde(flatten)]
    more: Value,
}

/// The place of an event: a thread of a process. If the place is the process itself, both numbers
/// are the same.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct TraceTrack {
    pid: usize,
    tid: usize,
}

impl TraceTrack {
    /// Returns the track of a node itself.
    pub(super) const fn of(node: TrackerId) -> Self {
        let pid = FIRST_NODE + node.index();
        Self { pid, tid: pid }
    }
}

impl TraceEvents {
    /// Begins a trace. The nodes must be the first processes that are added.
    pub(super) fn begin(file: File) -> io::Result<Self> {
        let mut to = BufWriter::with_capacity(1 << 16, file);
        to.write_all(HEAD.as_bytes())?;
        Ok(Self { to, last: FIRST_NODE - 1, flows: 0 })
    }

    /// Adds a process. Perfetto shows processes in the order of their ranks.
    pub(super) fn process(&mut self, name: &str, rank: i64) -> io::Result<TraceTrack> {
        let pid = self.last + 1;
        self.name("process", TraceTrack { pid, tid: pid }, name, rank)
    }

    /// Adds a thread to a process. Perfetto shows the threads of a process in the order of their
    /// ranks.
    pub(super) fn thread(
        &mut self,
        process: TraceTrack,
        name: &str,
        rank: i64,
    ) -> io::Result<TraceTrack> {
        self.name("thread", TraceTrack { tid: self.last + 1, ..process }, name, rank)
    }

    fn name(
        &mut self,
        what: &str,
        track: TraceTrack,
        name: &str,
        rank: i64,
    ) -> io::Result<TraceTrack> {
        // Processes and threads share one sequence of numbers: a thread with the number of its
        // process would be the main thread of the process.
        self.last = track.tid;
        let (naming, ranking) = (format!("{what}_name"), format!("{what}_sort_index"));
        let args = [(naming, json!({ "name": name })), (ranking, json!({ "sort_index": rank }))];
        for (what, args) in args {
            self.write("M", (track, SimTime::ZERO), &what, json!({ "args": args }))?;
        }
        Ok(track)
    }

    /// Adds a slice. Perfetto nests it in the slices around it.
    pub(super) fn slice(
        &mut self,
        track: TraceTrack,
        (begin, end): (SimTime, SimTime),
        [category, name]: [&str; 2],
        args: Value,
    ) -> io::Result<()> {
        let dur = (end - begin).as_micros();
        self.write("X", (track, begin), name, json!({ "dur": dur, "cat": category, "args": args }))
    }

    /// Marks an instant of a process.
    pub(super) fn mark(&mut self, track: TraceTrack, at: SimTime, name: &str) -> io::Result<()> {
        self.write("i", (track, at), name, json!({ "s": "p" }))
    }

    /// Sets counters of a process.
    pub(super) fn count(
        &mut self,
        track: TraceTrack,
        at: SimTime,
        name: &str,
        args: Value,
    ) -> io::Result<()> {
        self.write("C", (track, at), name, json!({ "args": args }))
    }

    /// Adds a flow between slices that begin at these instants.
    pub(super) fn flow(
        &mut self,
        from: (TraceTrack, SimTime),
        to: (TraceTrack, SimTime),
    ) -> io::Result<()> {
        self.flows += 1;
        let id = self.flows;
        self.write("s", from, "output", json!({ "cat": "flow", "id": id }))?;
        // The end of the flow belongs to the slice around it, not to the next slice.
        self.write("f", to, "output", json!({ "cat": "flow", "id": id, "bp": "e" }))
    }

    fn write(
        &mut self,
        ph: &str,
        (track, at): (TraceTrack, SimTime),
        name: &str,
        more: Value,
    ) -> io::Result<()> {
        let event = TraceEvent { ph, track, ts: at.as_micros(), name, more };
        self.to.write_all(b",\n")?;
        Ok(serde_json::to_writer(&mut self.to, &event)?)
    }

    /// Ends the trace.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.to.write_all(b"\n]}\n")?;
        self.to.flush()
    }
}

/// Checks that `target` is a trace that Mumakil wrote.
pub(super) fn check_trace(target: &Path) -> Result<(), OutputError> {
    let path = target.to_owned();
    let mut head = Vec::new();
    let read = |file: fs::File| file.take(HEAD.len() as u64).read_to_end(&mut head);
    match fs::File::open(target).and_then(read) {
        Ok(_) if head == HEAD.as_bytes() => Ok(()),
        // For a folder, return `Foreign`: it explains more than the system's error.
        Err(source) if !target.is_dir() => Err(OutputError::Read { path, source }),
        _ => {
            Err(OutputError::Foreign { path, why: "it is no trace that Mumakil wrote".to_owned() })
        }
    }
}
