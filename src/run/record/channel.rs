//! The channel of events from the actors to the writer's thread: bounded, in chunks.
//!
//! ```text
//! actors ─ EventSender ─ full chunks ──▶ Writer: RunBooks, then each Watcher
//!              ▲                            │
//!              └───────── empty chunks ─────┘
//! ```
//!
//! Senders count heartbeats before sending ([`heartbeats`](super::heartbeats)). Chunks are reused,
//! so a run allocates only a few. A sender waits while the channel is full: a slow writer slows the
//! run instead of filling the memory. If the writer stops, senders no longer wait but report that
//! they are broken; the run stops, and [`Recorder::finish`] returns the error.

use std::mem;
use std::panic;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use hdrhistogram::Histogram;
use parking_lot::Mutex;

use super::decisions::Decisions;
use super::events::Events;
use super::expenses::ExpenseTally;
use super::faults::Faults;
use super::heartbeats::{AlikeHeartbeats, Counter};
use super::histograms::Histograms;
use super::jobs::{JobsTable, keys_on};
use super::resources::ResourceTally;
use super::summary::{Summary, SummaryTally};
use super::tasks::TasksTable;
use super::timeline::Timeline;
use super::waste::Waste;
use super::{RecordError, RunBooks, RunEnd, RunFacts, Watcher};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::{Event, Fact, JobId, TrackerFact};
use mumakil_runtime::EventSink;
use mumakil_scenario::RecordSpec;
use mumakil_scenario::workload::JobDemand;

/// The number of events in a chunk: about 80 KiB, which fit into a core's own cache.
const CHUNK: usize = 1_024;
/// The capacity of the channel in chunks. A few chunks even out the writer's speed; more chunks
/// only take memory.
const CHUNKS: usize = 8;
/// How long the writer of a fast run sleeps when it has caught up. In this time the run fills one
/// or two chunks.
const NAP: Duration = Duration::from_millis(1);
/// The shortest real time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// The options of a recording.
pub struct Setup {
    /// The scenario's choice of outputs.
    pub settings: RecordSpec,
    /// An empty folder for the files; `None` makes only the [`Summary`].
    pub folder: Option<PathBuf>,
    /// The names of each tracker's node and rack.
    pub labels: Arc<[NodeLabel]>,
    /// Called from the writer's thread a few times a second.
    pub progress: Option<OnProgress>,
    /// Further watchers. They come after the watchers of the outputs in `settings`.
    pub watchers: Vec<Box<dyn Watcher>>,
    /// Whether the summary states the cost of faults.
    pub counts_losses: bool,
    /// The slot time that each job asks for, by its number; empty if jobs arrive by the progress of
    /// the cluster.
    pub demands: Vec<JobDemand>,
    /// Whether the scenario says that the jobs are a batch, with which no cluster keeps up.
    pub is_batch: bool,
    /// The chains of jobs; empty unless `settings` record them.
    pub chains: Vec<Vec<JobId>>,
    /// The nodes, for their memory and cores; `None` for clusters that count only slots.
    pub topology: Option<Arc<Topology>>,
}

/// The names of a tracker's node and rack in tables: names of hosts, or numbers.
#[derive(Clone, Debug)]
pub struct NodeLabel {
    /// The node.
    pub node: String,
    /// The rack.
    pub rack: String,
    /// The group of the cluster to which the node belongs; empty without one.
    pub group: String,
}

/// A function that is called with a run's progress.
pub type OnProgress = Box<dyn FnMut(&RunProgress) + Send>;

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress {
    /// The instant of the latest event.
    pub now: SimTime,
    /// How many jobs were submitted.
    pub submitted: u32,
    /// How many jobs have ended.
    pub ended: u32,
    /// How many map and reduce attempts were assigned.
    pub attempts: u64,
    /// How many events were recorded.
    pub events: u64,
}

/// The results of the recorder.
#[derive(Debug)]
pub struct Recording {
    /// The run in numbers.
    pub summary: Summary,
    /// How many jobs have ended, including jobs of the warm-up.
    pub ended: u32,
    /// The jobs that were submitted.
    pub submitted: Vec<JobId>,
}

/// Takes the events of actors. The default sender drops them.
///
/// The events of one sender stay in order. A sender allocates a chunk at its first event. It sends
/// the chunk when the chunk is full, and when the sender is flushed or dropped.
#[derive(Debug, Default)]
pub struct EventSender {
    chunk: Vec<Event>,
    heartbeats: Counter,
    writer: Option<ToWriter>,
}

/// The two channels between a sender and the writer.
#[derive(Clone, Debug)]
struct ToWriter {
    full: Sender<EventParcel>,
    empty: Receiver<Vec<Event>>,
    /// Whether any watcher wants each heartbeat as an event.
    tells_heartbeats: bool,
    broken: bool,
}

/// A message to the writer.
enum EventParcel {
    /// Events, the instant of the last heartbeat, and the counts of all heartbeats since the last
    /// parcel.
    Events(Vec<Event>, SimTime, Vec<AlikeHeartbeats>),
    End(Box<(RunFacts, Option<Histogram<u64>>)>),
}

/// A running recorder: a handle on the writer's thread.
#[derive(Debug)]
pub struct Recorder {
    full: Sender<EventParcel>,
    writer: JoinHandle<Result<Option<Recording>, RecordError>>,
}

/// The writer, on its own thread.
struct Writer {
    books: RunBooks,
    jobs: Option<JobsTable>,
    tally: SummaryTally,
    waste: Option<Waste>,
    expenses: Option<ExpenseTally>,
    /// Whether the outputs show waste; if not, waste is counted only for the cost of faults.
    tells_waste: bool,
    /// All watchers. Those that want each heartbeat come first; `hearers` is their number.
    watchers: Vec<Box<dyn Watcher>>,
    hearers: usize,
    folder: Option<PathBuf>,
    now: SimTime,
    events: u64,
}

impl Recorder {
    /// Creates the files and starts the writer.
    pub fn start(setup: Setup) -> Result<(EventSender, Self), RecordError> {
        let Setup { settings, folder, labels, demands, chains, .. } = setup;
        // `jobs.csv` is always written: reports, studies and expectations all need it.
        let jobs = (folder.as_deref())
            .map(|it| JobsTable::create(it, &keys_on(&settings), chains))
            .transpose()?;
        let mut watchers = open(&settings, folder.as_ref(), &labels)?;
        watchers.extend(setup.watchers);
        let mut tally = SummaryTally::new(demands, setup.is_batch);
        let expenses = setup.topology.as_ref().and_then(ExpenseTally::new);
        if let Some(topology) = setup.topology.filter(|it| !it.counted().are_only_slots()) {
            let folder = folder.as_deref().filter(|_| settings.timeline);
            let counted = ResourceTally::create(topology, folder, settings.sample)?;
            tally.resources = Some(Arc::new(Mutex::new(counted)));
        }
        watchers.extend(tally.resources.iter().map(|it| Box::new(it.clone()) as _));
        // Put the watchers that want each heartbeat first, so that they are a slice of the list.
        watchers.sort_by_key(|watcher| !watcher.hears_heartbeats());
        let writer = Writer {
            books: RunBooks::new(SimTime::ZERO + settings.warm_up.or(SimSpan::ZERO)),
            jobs,
            tally,
            waste: (settings.waste || setup.counts_losses).then(Waste::default),
            expenses,
            tells_waste: settings.waste,
            hearers: watchers.iter().filter(|watcher| watcher.hears_heartbeats()).count(),
            watchers,
            folder,
            now: SimTime::ZERO,
            events: 0,
        };
        let tells_heartbeats = 0 < writer.hearers;
        let (full, parcels) = bounded(CHUNKS);
        let (used, empty) = bounded(CHUNKS);
        let progress = setup.progress;
        let writer = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || writer.run(&parcels, &used, progress))
            .map_err(RecordError::Thread)?;
        let to = ToWriter { full: full.clone(), empty, tells_heartbeats, broken: false };
        let (chunk, heartbeats) = Default::default();
        Ok((EventSender { chunk, heartbeats, writer: Some(to) }, Self { full, writer }))
    }

    /// Ends the recording and completes the files. Events that senders have not flushed are lost.
    ///
    /// # Errors
    /// If an output could not be written, now or earlier.
    pub fn finish(
        self,
        run: RunFacts,
        clock_lag: Option<Histogram<u64>>,
    ) -> Result<Recording, RecordError> {
        // If the writer has stopped, sending fails, and `join` below returns its error.
        let _ = self.full.send(EventParcel::End(Box::new((run, clock_lag))));
        match self.writer.join() {
            Ok(recording) => Ok(recording?.expect("the writer stops at the end or at an error")),
            Err(panic) => panic::resume_unwind(panic),
        }
    }
}

impl EventSink for EventSender {
    /// Takes events, which are sent later in a chunk. This costs a copy, and once in a thousand
    /// events a send.
    fn take(&mut self, events: &mut Vec<Event>) {
        let Some(writer) = &self.writer else { return events.clear() };
        let tells_heartbeats = writer.tells_heartbeats;
        events.retain(|event| !self.heartbeats.counts(event) || tells_heartbeats);
        // Heartbeats alone fill no chunk. Without this flush, progress would seem to stand still.
        if self.heartbeats.is_full() {
            self.flush();
        }
        if events.is_empty() {
            return;
        }
        // Send the chunk before it overflows: a chunk that grows is copied, and stays large when it
        // is reused.
        if CHUNK < self.chunk.len() + events.len() {
            self.flush();
        }
        // The last flush found no empty chunk to reuse, so allocate one.
        if self.chunk.capacity() == 0 {
            self.chunk.reserve_exact(CHUNK);
        }
        self.chunk.append(events);
    }

    fn flush(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        if self.chunk.is_empty() && self.heartbeats.heard == 0 {
            return;
        }
        // Take the heartbeats even if the writer is broken, or each further call would flush again.
        let (now, beats) = self.heartbeats.take();
        if writer.broken {
            self.chunk.clear();
            return;
        }
        // Never wait for an empty chunk: only a full channel makes the sender wait.
        let chunk = mem::replace(&mut self.chunk, writer.empty.try_recv().unwrap_or_default());
        writer.broken = writer.full.send(EventParcel::Events(chunk, now, beats)).is_err();
    }

    /// Returns whether the writer has stopped.
    fn is_broken(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.broken)
    }
}

impl Drop for EventSender {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Waits for the next parcel; returns `None` once all senders are dropped.
#[expect(clippy::disallowed_methods, reason = "the writer waits in real time")]
fn next(parcels: &Receiver<EventParcel>, is_busy: bool) -> Option<EventParcel> {
    if is_busy && parcels.is_empty() {
        // Do not block: to wake the writer, the sender makes a system call. One such call for each
        // chunk takes a thirtieth of a fast run's time.
        thread::sleep(NAP);
    }
    parcels.recv().ok()
}

impl Writer {
    /// Writes until the end of the run. Returns `None` if all senders are dropped before that.
    fn run(
        mut self,
        parcels: &Receiver<EventParcel>,
        used: &Sender<Vec<Event>>,
        mut progress: Option<OnProgress>,
    ) -> Result<Option<Recording>, RecordError> {
        let mut told = wall_clock();
        let mut is_busy = false;
        while let Some(parcel) = next(parcels, is_busy) {
            match parcel {
                EventParcel::Events(mut chunk, now, beats) => {
                    // Small chunks come from a slow run, where a nap would only delay progress.
                    is_busy = CHUNK / 2 < chunk.len();
                    self.see(&chunk)?;
                    self.count(now, &beats);
                    chunk.clear();
                    // If the channel of empty chunks is full, this chunk is freed.
                    let _ = used.try_send(chunk);
                }
                EventParcel::End(end) => return self.finish(&end.0, end.1.as_ref()).map(Some),
            }
            if let Some(progress) = &mut progress
                && PROGRESS <= told.elapsed()
            {
                progress(&self.progress());
                told = wall_clock();
            }
        }
        // The recorder was dropped without an `End`: the run itself returns the error.
        Ok(None)
    }

    fn see(&mut self, chunk: &[Event]) -> Result<(), RecordError> {
        for event in chunk {
            // On a scaled clock the events of several senders are not in the order of time.
            self.now = self.now.max(event.at);
            // Enter the event first: watchers read its changes from the books.
            self.books.enter(event);
            // A watcher that does not want each heartbeat gets only counts of heartbeats.
            let is_heartbeat =
                matches!(event.fact, Fact::Tracker(_, TrackerFact::Heartbeat { .. }));
            let hearers = if is_heartbeat { self.hearers } else { self.watchers.len() };
            self.events += u64::from(!is_heartbeat);
            self.tally.see(event, &self.books)?;
            if let Some(waste) = &mut self.waste {
                waste.see(event, &self.books);
            }
            if let Some(expenses) = &mut self.expenses {
                expenses.see(event, &self.books);
            }
            for watcher in &mut self.watchers[..hearers] {
                watcher.see(event, &self.books)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, now: SimTime, beats: &[AlikeHeartbeats]) {
        self.now = self.now.max(now);
        for beats in beats {
            self.events += beats.count;
            self.tally.count(beats);
            for watcher in &mut self.watchers {
                watcher.count(beats);
            }
        }
    }

    fn finish(
        mut self,
        run: &RunFacts,
        clock_lag: Option<&Histogram<u64>>,
    ) -> Result<Recording, RecordError> {
        // Waste finishes first, since `jobs.csv` and watchers read it.
        let waste = self.waste.as_mut().map(|waste| waste.finish(&self.books, run.ended));
        let losses = waste.as_ref();
        let waste = losses.filter(|_| self.tells_waste);
        let expenses = self.expenses.as_ref();
        let end = RunEnd { books: &self.books, run, clock_lag, waste, expenses };
        // The summary's part on faults needs the losses even if waste is not recorded.
        let summary = self.tally.summary(&end, losses);
        if let Some(jobs) = &mut self.jobs {
            jobs.write(&self.books, self.waste.as_ref(), expenses, run.ended)?;
        }
        for watcher in &mut self.watchers {
            watcher.finish(&end)?;
        }
        if let Some(folder) = &self.folder {
            summary.write(folder)?;
        }
        let submitted = self.books.jobs().map(|job| job.spec.id).collect();
        Ok(Recording { summary, ended: self.books.ended, submitted })
    }

    fn progress(&self) -> RunProgress {
        RunProgress {
            now: self.now,
            submitted: self.books.submitted,
            ended: self.books.ended,
            attempts: self.books.attempts,
            events: self.events,
        }
    }
}

/// Creates the files of all chosen outputs, so that an unwritable folder is noticed before the run.
fn open(
    settings: &RecordSpec,
    folder: Option<&PathBuf>,
    labels: &Arc<[NodeLabel]>,
) -> Result<Vec<Box<dyn Watcher>>, RecordError> {
    let mut watchers: Vec<Box<dyn Watcher>> = Vec::new();
    let Some(folder) = folder else { return Ok(watchers) };
    // The first incident creates `faults.csv`, so a run without faults has no such file.
    watchers.push(Box::new(Faults::new(folder, labels.clone())));
    if settings.tasks {
        watchers.push(Box::new(TasksTable::create(folder, labels.clone())?));
    }
    if settings.timeline {
        watchers.push(Box::new(Timeline::create(folder, settings.sample)?));
    }
    if settings.histograms {
        watchers.push(Box::new(Histograms::create(folder)?));
    }
    if settings.decisions {
        watchers.push(Box::new(Decisions::create(folder)?));
    }
    if settings.events {
        watchers.push(Box::new(Events::create(folder, labels.clone())?));
    }
    Ok(watchers)
}

#[expect(clippy::disallowed_methods, reason = "progress is for people, who live by the wall clock")]
fn wall_clock() -> Instant {
    Instant::now()
}
