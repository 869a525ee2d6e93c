//! A run as a trace that the Perfetto UI opens (<https://ui.perfetto.dev>): who ran where and when.
//!
//! Racks hold nodes, nodes hold a lane for each slot in use, and an attempt is a slice in its lane,
//! from taking its slot to its end, as its tracker saw it; the `outcome` is the JobTracker's verdict
//! if it gave one by then, else the tracker's word. Within it are a reduce's phases, what it was
//! suspended, and what it waited for its commit. Counters show what the JobTracker counts.
//!
//! What befalls a machine, be it that it goes off or becomes slow, is a mark on its node.
//!
//! A flow leads from each map that succeeded to the reduces of its job. It arrives where the sort
//! begins, which is the end of the shuffle: Perfetto lets a flow lead from the slice that began
//! first, and a shuffle begins before most of the maps that it waits for. Only the first
//! [`FLOWS`] maps of a job have flows; a job of a thousand maps and reduces would have a million.
//!
//! The trace is written while the run goes on; memory is bounded by the jobs and by the attempts
//! that are in their lanes. Its bytes are the same for the same scenario and seed.

mod counters;
mod file;
mod lanes;
mod packet;
mod parts;
mod proto;
mod shown;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

pub use self::file::PerfettoFile;

use self::counters::Counters;
use self::lanes::Lanes;
use self::packet::{Packets, Track};
use self::parts::{AttemptEnd, Part, Running};
use self::shown::Shown;
use super::OutputError;
use crate::cluster::Speeds;
use crate::disk::File;
use crate::mapred::{
    AttemptFact, AttemptId, Counts, Event, Fact, Incident, JobFact, JobId, JobSpec, LedgerFact,
    Outcome, Phases, Role, SlotKind, TrackerFact, TrackerId, WorldFact,
};
use crate::record::{Attempt, Books, End, Job, NodeLabel, RecordError, Watcher};
use crate::units::SimTime;

/// How many maps of a job have flows to its reduces, and so the most flows that arrive at one.
pub const FLOWS: u32 = 100;

/// Writes the trace of a run.
#[derive(Debug)]
pub struct Perfetto {
    path: PathBuf,
    packets: Packets,
    lanes: Lanes,
    counters: Counters,
    /// In any order, but in the same one for the same events.
    running: IndexMap<(AttemptId, Role), Running, FxBuildHasher>,
    name: String,
}

/// What is to be shown of an attempt that leaves its lane.
struct Ending {
    at: SimTime,
    outcome: Option<Outcome>,
    phases: Option<Phases>,
}

impl Perfetto {
    /// Begins the trace of a run on these nodes, which errors call by `path`.
    fn begin(file: File, path: &Path, labels: Arc<[NodeLabel]>) -> io::Result<Self> {
        let mut packets = Packets::begin(file)?;
        Ok(Self {
            path: path.to_owned(),
            counters: Counters::begin(&mut packets)?,
            packets,
            lanes: Lanes::new(labels),
            running: IndexMap::default(),
            name: String::new(),
        })
    }

    fn enter(&mut self, event: &Event, books: &Books) -> io::Result<()> {
        let at = event.at;
        match event.fact {
            Fact::Job(job, JobFact::Running) => {
                let Some(JobSpec { maps, reduces, .. }) = books.job(job).map(|job| &*job.spec)
                else {
                    return Ok(());
                };
                let waiting = |tasks| Counts { running: 0, pending: tasks };
                self.count(at, job, SlotKind::Map, waiting(*maps), books)?;
                self.count(at, job, SlotKind::Reduce, waiting(*reduces), books)
            }
            Fact::Job(job, JobFact::Ended(_) | JobFact::BegunAnew) => SlotKind::BOTH
                .into_iter()
                .try_for_each(|kind| self.count(at, job, kind, Counts::default(), books)),
            Fact::Job(
                _,
                JobFact::Submitted(_)
                | JobFact::Initialised
                | JobFact::MapsDone
                | JobFact::Refused { .. },
            ) => Ok(()),
            Fact::Ledger(
                attempt,
                _,
                LedgerFact::Assigned { counts, .. } | LedgerFact::Learned { counts, .. },
            ) => {
                let has_ended = |job: &Job| job.ended.is_some();
                if books.job(attempt.job()).is_some_and(has_ended) {
                    return Ok(());
                }
                self.count(at, attempt.job(), attempt.slot(), counts, books)
            }
            Fact::Attempt(attempt, tracker, fact) => {
                self.enter_attempt(at, (attempt, tracker), fact, books)
            }
            Fact::World(WorldFact::Incident { tracker, incident }) => {
                let track = match tracker {
                    Some(tracker) => self.lanes.node(tracker, &mut self.packets)?,
                    None => self.counters.top(),
                };
                self.packets.instant(track, at, &told(incident))
            }
            Fact::Tracker(_, TrackerFact::Heartbeat { queued, .. }) => {
                self.counters.hear(at, queued, &mut self.packets)
            }
            Fact::Ledger(_, _, LedgerFact::Ordered { .. })
            | Fact::Tracker(_, TrackerFact::Up(_) | TrackerFact::Down)
            | Fact::World(WorldFact::Copy { .. } | WorldFact::PolicyChanged)
            | Fact::Member(..) => Ok(()),
        }
    }

    fn enter_attempt(
        &mut self,
        at: SimTime,
        (attempt, tracker): (AttemptId, TrackerId),
        fact: AttemptFact,
        books: &Books,
    ) -> io::Result<()> {
        match fact {
            AttemptFact::Started { role, .. } => {
                let lane = self.lanes.take(tracker, attempt.slot(), &mut self.packets)?;
                self.running.insert((attempt, role), Running::new(lane, at));
                Ok(())
            }
            AttemptFact::CommitPending => self.note(attempt, |running| running.await_commit(at)),
            AttemptFact::Suspended => self.note(attempt, |running| running.suspend(at)),
            AttemptFact::Resumed => self.note(attempt, |running| running.resume(at)),
            AttemptFact::Ended { role, outcome, phases } => {
                let ending = Ending { at, outcome: Some(outcome), phases: Some(phases) };
                match self.running.swap_remove(&(attempt, role)) {
                    Some(running) => self.show((attempt, role), running, &ending, books),
                    None => Ok(()),
                }
            }
            AttemptFact::Opened { .. } | AttemptFact::FetchFailed { .. } => Ok(()),
        }
    }

    fn count(
        &mut self,
        at: SimTime,
        job: JobId,
        kind: SlotKind,
        counts: Counts,
        books: &Books,
    ) -> io::Result<()> {
        let Some(known) = books.job(job) else { return Ok(()) };
        self.counters.change(at, (job, &known.spec.pool), kind, counts, &mut self.packets)
    }

    fn note(&mut self, attempt: AttemptId, note: impl FnOnce(&mut Running)) -> io::Result<()> {
        if let Some(running) = self.running.get_mut(&(attempt, Role::Work)) {
            note(running);
        }
        Ok(())
    }

    /// Writes the slice of an attempt that leaves its lane, and those within it.
    fn show(
        &mut self,
        (id, role): (AttemptId, Role),
        mut running: Running,
        ending: &Ending,
        books: &Books,
    ) -> io::Result<()> {
        let lane = running.lane;
        self.lanes.give_back(lane);
        let Some(job) = books.job(id.job()).map(|job| &job.spec) else { return Ok(()) };
        let kind = id.task.kind;
        let known = known(id, books).filter(|_| role == Role::Work);
        // Whoever gave a verdict by now is the JobTracker.
        let verdict = known.and_then(|known| known.verdict);
        let outcome = verdict.map(|(_, outcome)| outcome).or(ending.outcome);
        let attempt = Shown { id, role, job, known, outcome };
        self.name.clear();
        attempt.name(&mut self.name);
        self.packets.slice(lane.track, running.started, attempt.category(), |slice| {
            attempt.describe(slice.name(&self.name));
        })?;
        let is_success = ending.outcome == Some(Outcome::Succeeded);
        let phases = ending.phases.filter(|_| role == Role::Work);
        let parts = running.parts(AttemptEnd { at: ending.at, kind, phases, is_success });
        self.show_parts(&parts, &attempt, lane.track)?;
        self.packets.end(lane.track, ending.at)
    }

    /// Shows the attempts that are in their lanes when the run stops.
    fn complete(&mut self, end: &End<'_>) -> io::Result<()> {
        let at = end.run.ended;
        let mut running: Vec<_> = std::mem::take(&mut self.running).into_iter().collect();
        running.sort_unstable_by_key(|&(who, _)| who);
        for (who, running) in running {
            self.show(who, running, &Ending { at, outcome: None, phases: None }, end.books)?;
        }
        self.counters.finish(at, &mut self.packets)?;
        self.packets.flush()
    }

    fn show_parts(&mut self, parts: &[Part], attempt: &Shown<'_>, track: Track) -> io::Result<()> {
        let mut open: Vec<SimTime> = Vec::new();
        for part in parts {
            while let Some(end) = open.pop_if(|end| *end <= part.time.begin) {
                self.packets.end(track, end)?;
            }
            self.packets.slice(track, part.time.begin, "phase", |slice| {
                slice.word(part.name);
                if part.name == "sort" {
                    attempt.flows_in().for_each(|flow| {
                        slice.flow_end(flow);
                    });
                }
            })?;
            open.push(part.time.end);
        }
        open.into_iter().rev().try_for_each(|end| self.packets.end(track, end))
    }

    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::Write { path: self.path.clone(), source }
    }
}

impl Watcher for Perfetto {
    fn see(&mut self, event: &Event, books: &Books) -> Result<(), RecordError> {
        self.enter(event, books).map_err(|source| self.failed(source))
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), RecordError> {
        self.complete(end).map_err(|source| self.failed(source))
    }
}

/// Returns what befell a machine, with its speeds, if it has others.
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

/// Returns what is known of an attempt, which the event at hand may have closed.
fn known(id: AttemptId, books: &Books) -> Option<&Attempt> {
    let closed = || books.closed().iter().find(|(closed, _)| *closed == id);
    books.attempt(id).or_else(|| closed().map(|(_, attempt)| attempt))
}
