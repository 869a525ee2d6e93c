//! A run as a trace for the Perfetto UI (<https://ui.perfetto.dev>): which attempt ran where and
//! when, and how many tasks ran and waited.
//!
//! It is JSON in Chrome's trace event format:
//!
//! ```text
//! JobTracker    counters: running and pending tasks of the cluster and of each pool
//! n1 (rack 0)   a process
//!   map 0       a thread, its lane:  [a m_0][c m_3]     slices: attempts
//!   reduce 0                         [a r_0           ]
//! ```
//!
//! A slice lasts from the start of an attempt to its end, as its tracker saw them. The `outcome` of
//! the slice is the JobTracker's verdict if it was given by then, else the outcome that the tracker
//! saw. An attempt takes the lowest free lane of its node and keeps the lane to its end. A
//! suspended attempt gives up its slot but keeps its lane, so a node can have more lanes than
//! slots.
//!
//! The trace is written during the run; memory is bounded by the jobs and by the attempts that run
//! at one time. The same scenario and seed give the same bytes. Events need not be in the order of
//! time: readers of the format sort them.

#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::{Value, json};

use super::OutputError;
use super::aside::{AsideFile, ReplacedFiles};
use crate::record::{NodeLabel, RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::dense::grown;
use mumakil_base::disk::File;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, JobId, Locality, Outcome, PerSlot, Role, SlotCounts,
    SlotKind, TaskId, TaskKind, TrackerId,
};

/// The beginning of every trace that Mumakil writes; it names the JobTracker's process.
/// [`check_trace`] recognises a trace by it.
const HEAD: &str = concat!(
    r#"{"metadata":{"emulated by":"Mumakil"},"traceEvents":["#,
    "\n",
    r#"{"ph":"M","pid":1,"tid":1,"name":"process_name","args":{"name":"JobTracker"}}"#,
);
const JOB_TRACKER: usize = 1;
// Chosen: easy to read, and far from the JobTracker's number 1.
const FIRST_NODE: usize = 1_001;
/// The rank of a node's first reduce lane: reduces are shown below maps.
// Larger than the number of map lanes of any node.
const FIRST_REDUCE: usize = 1_000_000;

/// Writes the trace of a run.
#[derive(Debug)]
pub struct Perfetto {
    path: PathBuf,
    to: BufWriter<File>,
    /// The lanes of each node: their threads, and whether each lane is taken.
    lanes: Vec<PerSlot<Vec<(usize, bool)>>>,
    /// The number of the last process or thread. They share one sequence: a thread with the number
    /// of its process would be the main thread of the process.
    last: usize,
    /// The running attempts. Their order depends only on the events.
    running: IndexMap<(AttemptId, Role), InLane, FxBuildHasher>,
    jobs: Vec<PerSlot<SlotCounts>>,
    /// The counts of the cluster, which comes first and has no name, and of each pool.
    sums: IndexMap<Option<Arc<str>>, PerSlot<SlotCounts>>,
}

/// A running attempt and its lane.
#[derive(Debug)]
struct InLane {
    tracker: TrackerId,
    lane: usize,
    started: SimTime,
}

/// Begins the trace that will be at `target`. With `force`, it may replace an earlier trace.
///
/// # Errors
/// If `target` exists and may not be replaced, or if nothing can be written beside it.
pub fn create(target: &Path, force: bool) -> Result<AsideFile, OutputError> {
    let over = if force { ReplacedFiles::Checked(check_trace) } else { ReplacedFiles::Nothing };
    AsideFile::create(target, over)
}

impl Perfetto {
    /// Begins to write the trace of a run on the nodes `labels` into a file.
    pub fn begin(file: &AsideFile, labels: &[NodeLabel]) -> Result<Self, OutputError> {
        let path = file.target();
        Self::open(file, labels)
            .map_err(|source| OutputError::Write { path: path.to_owned(), source })
    }

    fn open(file: &AsideFile, labels: &[NodeLabel]) -> io::Result<Self> {
        let mut trace = Self {
            path: file.target().to_owned(),
            to: BufWriter::with_capacity(1 << 16, file.reopen()?),
            lanes: labels.iter().map(|_| PerSlot::default()).collect(),
            last: FIRST_NODE - 1 + labels.len(),
            running: IndexMap::default(),
            jobs: Vec::new(),
            sums: IndexMap::from([(None, PerSlot::default())]),
        };
        trace.to.write_all(HEAD.as_bytes())?;
        for (rank, NodeLabel { node, rack, .. }) in labels.iter().enumerate() {
            let pid = FIRST_NODE + rank;
            trace.name("process", (pid, pid), &format!("{node} ({rack})"), rank)?;
        }
        trace.count_cluster(SimTime::ZERO)?;
        Ok(trace)
    }

    fn enter(&mut self, event: &Event, books: &RunBooks) -> io::Result<()> {
        let at = event.at;
        for &(id, kind, counts) in &books.tallies {
            if let Some(job) = books.job(id) {
                self.change(at, (id, &job.spec.pool), kind, counts)?;
            }
        }
        let Fact::Attempt(attempt, tracker, fact) = event.fact else { return Ok(()) };
        match fact {
            AttemptFact::Started { role, .. } => {
                let lane = self.take_lane(tracker, attempt.slot())?;
                self.running.insert((attempt, role), InLane { tracker, lane, started: at });
                Ok(())
            }
            AttemptFact::Ended { role, outcome, .. } => {
                match self.running.swap_remove(&(attempt, role)) {
                    Some(running) => self.show((attempt, role), &running, at, Some(outcome), books),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Takes the lowest free lane of a node and returns the lane's index. This costs a walk over
    /// the lanes of the node.
    fn take_lane(&mut self, tracker: TrackerId, kind: SlotKind) -> io::Result<usize> {
        let lanes = &mut self.lanes[tracker.index()][kind];
        let free = lanes.iter().position(|(_, is_taken)| !is_taken);
        if let Some(lane) = free {
            lanes[lane].1 = true;
            return Ok(lane);
        }
        let lane = lanes.len();
        self.last += 1;
        lanes.push((self.last, true));
        let rank = lane + if kind == SlotKind::Reduce { FIRST_REDUCE } else { 0 };
        let thread = (FIRST_NODE + tracker.index(), self.last);
        self.name("thread", thread, &format!("{} {lane}", kind.word()), rank)?;
        Ok(lane)
    }

    /// Writes the slice of an attempt that ends.
    fn show(
        &mut self,
        (id, role): (AttemptId, Role),
        running: &InLane,
        at: SimTime,
        outcome: Option<Outcome>,
        books: &RunBooks,
    ) -> io::Result<()> {
        let &InLane { tracker, lane, started } = running;
        let lane = &mut self.lanes[tracker.index()][id.slot()][lane];
        // Free the lane before any early return, or it would stay taken for the rest of the run.
        lane.1 = false;
        let thread = lane.0;
        let Some(job) = books.job(id.job()).map(|job| &job.spec) else { return Ok(()) };
        let known = books.attempt_or_closed(id).filter(|_| role == Role::Work);
        // The JobTracker's verdict overrules the outcome that the tracker saw.
        let outcome = known.and_then(|known| known.verdict).map(|(_, verdict)| verdict).or(outcome);
        let TaskId { kind, index, .. } = id.task;
        let mut args = json!({ "job": id.job().0, "task": index, "attempt": id.number });
        if let Some(grant) = known.and_then(|known| known.grant) {
            if let Some(locality) = grant.locality {
                args["locality"] = Locality::word(locality).into();
            }
            if grant.speculative {
                args["speculative"] = true.into();
            }
            args["reason"] = grant.reason.to_string().into();
        }
        args["outcome"] = outcome.map_or("unfinished", Outcome::word).into();
        let task = match kind {
            TaskKind::Map => format!("m_{index}"),
            TaskKind::Reduce => format!("r_{index}"),
            TaskKind::Setup | TaskKind::Cleanup => kind.word().to_owned(),
        };
        self.write(&json!({
            "ph": "X",
            "pid": FIRST_NODE + tracker.index(),
            "tid": thread,
            "ts": started.as_micros(),
            "dur": (at - started).as_micros(),
            "name": format!("{} {task}", job.name),
            "cat": if role == Role::Work { kind.word() } else { "task-cleanup" },
            "args": args,
        }))
    }

    /// Writes new counts of the JobTracker for a job: the sums of its pool and of the cluster.
    fn change(
        &mut self,
        at: SimTime,
        (job, pool): (JobId, &Arc<str>),
        kind: SlotKind,
        counts: SlotCounts,
    ) -> io::Result<()> {
        let before = std::mem::replace(&mut grown(&mut self.jobs, job.index())[kind], counts);
        if before == counts {
            return Ok(());
        }
        for name in [None, Some(pool.clone())] {
            let entry = self.sums.entry(name);
            let place = entry.index();
            let sum = &mut entry.or_default()[kind];
            // Add before subtracting: the numbers are unsigned, and each sum contains the old
            // count.
            sum.running = sum.running + counts.running - before.running;
            sum.pending = sum.pending + counts.pending - before.pending;
            self.count(at, place, kind)?;
        }
        Ok(())
    }

    /// Writes the cluster's counts, at the beginning and at the end of the trace.
    fn count_cluster(&mut self, at: SimTime) -> io::Result<()> {
        SlotKind::BOTH.into_iter().try_for_each(|kind| self.count(at, 0, kind))
    }

    fn count(&mut self, at: SimTime, place: usize, kind: SlotKind) -> io::Result<()> {
        let (pool, sums) = self.sums.get_index(place).expect("the sum was just changed");
        let of = pool.as_ref().map_or_else(String::new, |pool| format!(" of pool {pool}"));
        let SlotCounts { running, pending } = sums[kind];
        self.write(&json!({
            "ph": "C",
            "pid": JOB_TRACKER,
            "tid": JOB_TRACKER,
            "ts": at.as_micros(),
            "name": format!("{}s{of}", kind.word()),
            "args": { "running": running, "pending": pending },
        }))
    }

    /// Names a process or a thread; the viewer shows it at its rank.
    fn name(
        &mut self,
        what: &str,
        (pid, tid): (usize, usize),
        name: &str,
        rank: usize,
    ) -> io::Result<()> {
        for (key, args) in
            [("name", json!({ "name": name })), ("sort_index", json!({ "sort_index": rank }))]
        {
            let name = format!("{what}_{key}");
            self.write(&json!({ "ph": "M", "pid": pid, "tid": tid, "name": name, "args": args }))?;
        }
        Ok(())
    }

    fn write(&mut self, event: &Value) -> io::Result<()> {
        self.to.write_all(b",\n")?;
        Ok(serde_json::to_writer(&mut self.to, event)?)
    }

    /// Writes the slices of the attempts that still run when the run stops, and the end.
    fn complete(&mut self, end: &RunEnd<'_>) -> io::Result<()> {
        let at = end.run.ended;
        let mut running: Vec<_> = std::mem::take(&mut self.running).into_iter().collect();
        // Sort the attempts: their order in `running` depends on which attempts ended before.
        running.sort_unstable_by_key(|&(who, _)| who);
        for (who, running) in running {
            self.show(who, &running, at, None, end.books)?;
        }
        self.count_cluster(at)?;
        self.to.write_all(b"\n]}\n")?;
        self.to.flush()
    }

    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }
}

impl Watcher for Perfetto {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        self.enter(event, books).map_err(|source| self.failed(source))
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.complete(end).map_err(|source| self.failed(source))
    }
}

/// Checks that `target` is a trace that Mumakil wrote.
fn check_trace(target: &Path) -> Result<(), OutputError> {
    let path = target.to_owned();
    let mut head = Vec::new();
    let opened = fs::File::open(target);
    match opened.and_then(|file| file.take(HEAD.len() as u64).read_to_end(&mut head)) {
        Ok(_) if head == HEAD.as_bytes() => Ok(()),
        // For a folder, return `Foreign`: it explains more than the system's error.
        Err(source) if !target.is_dir() => Err(OutputError::Read { path, source }),
        _ => {
            Err(OutputError::Foreign { path, why: "it is no trace that Mumakil wrote".to_owned() })
        }
    }
}
