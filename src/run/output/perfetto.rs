//! A run as a trace for the Perfetto UI (<https://ui.perfetto.dev>): which attempt ran where and
//! when.
//!
//! It is JSON in Chrome's trace event format:
//!
//! ```text
//! JobTracker    counters: running and pending tasks, the longest wait of a heartbeat
//! pool a        counters: running and pending tasks
//! n1 (rack 0)   a process
//!   map 0       a thread, its lane:  [a m_0][c m_3]     slices: attempts
//!   reduce 0                         [a r_0: [shuffle][sort][reduce]]
//! ```
//!
//! A slice lasts from the start of an attempt to its end, as its tracker saw them. The `outcome` of
//! the slice is the JobTracker's verdict if it was given by then, else the outcome that the tracker
//! saw. An attempt takes the lowest free lane of its node and keeps the lane to its end. A
//! suspended attempt gives up its slot but keeps its lane, so a node can have more lanes than
//! slots.
//!
//! An incident on a machine, such as a power failure or a slow disk, is a mark on its node.
//!
//! A flow (an arrow) leads from each successful map to the reduces of its job. A flow arrives at a
//! reduce's sort, not at its shuffle: in Perfetto a flow starts at the earlier slice, and a shuffle
//! begins before most of the maps that it waits for. Only the first [`FLOWS`] maps of a job have
//! flows; otherwise a job of a thousand maps and a thousand reduces would have a million flows.
//!
//! The trace is written during the run; memory is bounded by the jobs and by the attempts that run
//! at one time. The same scenario and seed give the same bytes. Events need not be in the order of
//! time: readers of the format sort them.

mod counters;
mod event;
mod parts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde_json::json;

use self::counters::Counters;
use self::event::{JOB_TRACKER, TraceEvents, TraceTrack, check_trace};
use self::parts::parts;
use super::OutputError;
use super::aside::{AsideFile, ReplacedFiles};
use crate::record::{NodeLabel, RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::units::SimTime;
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, Incident, JobFact, JobId, Locality, Outcome, PerSlot,
    Role, SlotKind, TaskId, TaskKind, TrackerFact, TrackerId, WorldFact,
};

/// The maximum number of maps of a job that have flows to its reduces. It also limits the flows
/// into one reduce.
// Chosen: the page stays fast, and no reader can follow a hundred arrows into one sort.
pub const FLOWS: u32 = 100;

/// The rank of a node's first reduce lane: reduces are shown below maps.
// Larger than the number of map lanes of any node.
const FIRST_REDUCE: usize = 1_000_000;

/// Writes the trace of a run.
#[derive(Debug)]
pub struct Perfetto {
    path: PathBuf,
    events: TraceEvents,
    counters: Counters,
    /// The lanes of each node, and whether each lane is taken.
    lanes: Vec<PerSlot<Vec<(TraceTrack, bool)>>>,
    /// The running attempts. Their order depends only on the events.
    running: IndexMap<(AttemptId, Role), InLane, FxBuildHasher>,
    /// The slices of the maps of each job, at which flows start.
    outputs: BTreeMap<JobId, Vec<MapSlice>>,
}

/// A running attempt and its lane.
#[derive(Debug)]
struct InLane {
    tracker: TrackerId,
    lane: usize,
    started: SimTime,
    commit_pending: Option<SimTime>,
}

/// The slice of a map that succeeded.
#[derive(Clone, Copy, Debug)]
struct MapSlice {
    map: u32,
    track: TraceTrack,
    began: SimTime,
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
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(file: &AsideFile, labels: &[NodeLabel]) -> Result<Self, OutputError> {
        let path = file.target();
        let begin = || {
            let mut events = TraceEvents::begin(file.reopen()?)?;
            for (rank, NodeLabel { node, rack, .. }) in (0..).zip(labels) {
                events.process(&format!("{node} ({rack})"), rank)?;
            }
            Ok(Self {
                path: path.to_owned(),
                counters: Counters::begin(&mut events)?,
                events,
                lanes: labels.iter().map(|_| PerSlot::default()).collect(),
                running: IndexMap::default(),
                outputs: BTreeMap::new(),
            })
        };
        begin().map_err(|source| OutputError::Write { path: path.to_owned(), source })
    }

    fn enter(&mut self, event: &Event, books: &RunBooks) -> io::Result<()> {
        let at = event.at;
        for &(id, kind, counts) in books.tallies() {
            if let Some(job) = books.job(id) {
                let job = (id, &job.spec.pool);
                self.counters.change(at, job, kind, counts, &mut self.events)?;
            }
        }
        match event.fact {
            Fact::Job(job, JobFact::Ended(_)) => {
                // No reduce of this job will sort any more. Removing its maps bounds memory by the
                // running jobs.
                self.outputs.remove(&job);
                Ok(())
            }
            Fact::Attempt(attempt, tracker, fact) => {
                self.enter_attempt(at, (attempt, tracker), fact, books)
            }
            Fact::World(WorldFact::Incident { tracker, incident }) => {
                let track = match tracker {
                    Some(tracker) => TraceTrack::of(tracker),
                    None => JOB_TRACKER,
                };
                self.events.mark(track, at, &told(incident))
            }
            Fact::Tracker(_, TrackerFact::Heartbeat { queued, .. }) => {
                self.counters.hear(at, queued, &mut self.events)
            }
            Fact::Job(
                _,
                JobFact::Submitted(_)
                | JobFact::Initialised
                | JobFact::Running
                | JobFact::MapsDone
                | JobFact::BegunAnew
                | JobFact::Sized(..)
                | JobFact::Altered(_)
                | JobFact::Refused { .. }
                | JobFact::SubmissionRefused(_),
            )
            | Fact::Tracker(_, TrackerFact::Up(_) | TrackerFact::Down)
            | Fact::World(
                WorldFact::Copy { .. } | WorldFact::PolicyChanged | WorldFact::Reloaded,
            )
            | Fact::Ledger(..)
            | Fact::Member(..)
            | Fact::Pool(..) => Ok(()),
        }
    }

    fn enter_attempt(
        &mut self,
        at: SimTime,
        (attempt, tracker): (AttemptId, TrackerId),
        fact: AttemptFact,
        books: &RunBooks,
    ) -> io::Result<()> {
        match fact {
            AttemptFact::Started { role, .. } => {
                let lane = self.take_lane(tracker, attempt.slot())?;
                let running = InLane { tracker, lane, started: at, commit_pending: None };
                self.running.insert((attempt, role), running);
                Ok(())
            }
            AttemptFact::CommitPending => {
                if let Some(running) = self.running.get_mut(&(attempt, Role::Work)) {
                    running.commit_pending = Some(at);
                }
                Ok(())
            }
            AttemptFact::Ended { role, outcome, .. } => {
                match self.running.swap_remove(&(attempt, role)) {
                    Some(running) => self.show((attempt, role), &running, at, Some(outcome), books),
                    None => Ok(()),
                }
            }
            AttemptFact::Opened { .. }
            | AttemptFact::Saved
            | AttemptFact::Suspended
            | AttemptFact::Resumed
            | AttemptFact::FetchFailed { .. } => Ok(()),
        }
    }

    /// Takes the lowest free lane of a node and returns the lane's index. This costs a walk over
    /// the lanes of the node.
    fn take_lane(&mut self, tracker: TrackerId, kind: SlotKind) -> io::Result<usize> {
        let lanes = &mut self.lanes[tracker.index()][kind];
        let free = lanes.iter().position(|(_, is_taken)| !is_taken);
        let lane = free.unwrap_or(lanes.len());
        if free.is_none() {
            let rank = lane + if kind == SlotKind::Reduce { FIRST_REDUCE } else { 0 };
            let name = format!("{} {lane}", kind.word());
            let track = self.events.thread(TraceTrack::of(tracker), &name, rank as i64)?;
            lanes.push((track, false));
        }
        lanes[lane].1 = true;
        Ok(lane)
    }

    /// Writes the slice of an attempt that ends, and the slices of its phases.
    fn show(
        &mut self,
        (id, role): (AttemptId, Role),
        running: &InLane,
        at: SimTime,
        outcome: Option<Outcome>,
        books: &RunBooks,
    ) -> io::Result<()> {
        let &InLane { tracker, lane, started, commit_pending } = running;
        let lane = &mut self.lanes[tracker.index()][id.slot()][lane];
        // Free the lane before any early return, or it would stay taken for the rest of the run.
        lane.1 = false;
        let track = lane.0;
        let Some(job) = books.job(id.job()).map(|job| &job.spec) else { return Ok(()) };
        // The current event may have closed the attempt.
        let closed = || books.closed().iter().find(|(closed, _)| *closed == id);
        let known = books.attempt(id).or_else(|| closed().map(|(_, attempt)| attempt));
        let known = known.filter(|_| role == Role::Work);
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
        let category = match role {
            Role::Work => kind.word(),
            Role::TaskCleanup => "task-cleanup",
        };
        let name = format!("{} {task}", job.name);
        self.events.slice(track, (started, at), [category, &name], args)?;
        let Some(known) = known else { return Ok(()) };
        let succeeds = outcome == Some(Outcome::Succeeded);
        // Without reduces, nothing fetches the output of a map.
        if succeeds && kind == TaskKind::Map && index < FLOWS && 0 < job.reduces {
            let output = MapSlice { map: index, track, began: started };
            self.outputs.entry(id.job()).or_default().push(output);
        }
        for part in parts(kind, known, commit_pending, at) {
            let time = (part.begin, part.end);
            self.events.slice(track, time, ["phase", part.name], json!({}))?;
            if succeeds && part.name == "sort" {
                self.show_flows(id.job(), track, part.begin)?;
            }
        }
        Ok(())
    }

    /// Writes the flows from the maps of a job to the sort of a reduce. If a map ran again after a
    /// loss, its flow starts at its last attempt that began before the sort.
    fn show_flows(&mut self, job: JobId, sort: TraceTrack, at: SimTime) -> io::Result<()> {
        let outputs = self.outputs.get(&job).into_iter().flatten();
        let before = outputs.filter(|output| output.began <= at);
        // Entries are in the order in which maps ended, and later entries replace earlier ones.
        let by_map: BTreeMap<_, _> = before.map(|output| (output.map, output)).collect();
        for MapSlice { track, began, .. } in by_map.into_values() {
            self.events.flow((*track, *began), (sort, at))?;
        }
        Ok(())
    }

    /// Writes the slices of the attempts that still run when the run stops.
    fn complete(&mut self, end: &RunEnd<'_>) -> io::Result<()> {
        let at = end.run.ended;
        let mut running: Vec<_> = std::mem::take(&mut self.running).into_iter().collect();
        // Sort the attempts: their order in `running` depends on which attempts ended before.
        running.sort_unstable_by_key(|&(who, _)| who);
        for (who, running) in running {
            self.show(who, &running, at, None, end.books)?;
        }
        self.counters.finish(at, &mut self.events)?;
        self.events.end()
    }

    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }
}

impl Watcher for Perfetto {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        self.enter(event, books).map_err(|source| self.failed(source))
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.complete(end).map_err(|source| self.failed(source))
    }
}

/// Returns the description of an incident, with the new speeds if they changed.
fn told(incident: Incident) -> String {
    match incident {
        Incident::Speeds(speeds) if !speeds.are_usual() => {
            let Speeds { cpu, disk, network } = speeds;
            format!("slow: cpu {cpu}, disk {disk}, network {network}")
        }
        Incident::Hangs(attempt) => format!("{attempt} hangs"),
        Incident::CopyingBegins { blocks, bytes } | Incident::CopyingEnds { blocks, bytes } => {
            format!("{}: {blocks} blocks, {bytes}", incident.words())
        }
        other => other.words().to_owned(),
    }
}
