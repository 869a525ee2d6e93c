//! The files of a run: tables, histograms and timelines, made from the stream of facts.
//!
//! ```text
//! actors ─ EventSender ═ chunks of events ═▶ the writer's thread:
//!                        RunBooks    jobs, open attempts, who holds a slot
//!                        ├ Watcher   tasks.csv, a row when an attempt closes
//!                        ├ Watcher   timeline.csv, a row when a count changes
//!                        └ …         one subject and one file each
//! ```
//!
//! Another output is another watcher, and asks the books instead of keeping its own.
//!
//! [`mumakil_core::mapred::Fact`] says whose truth a column is. Nothing here needs the events to be
//! in the order of time: on a scaled clock several threads send them, each in its own order, and
//! the writer takes what comes.
//!
//! Memory grows with the jobs and with the attempts that are open at one time, not with the tasks.
//! Where waste is recorded, it grows with the tasks of the jobs that have not ended too.

use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Event, Precedence, StopReason};

mod alone;
mod books;
mod chains;
mod channel;
mod decisions;
mod events;
mod faults;
mod hdr;
mod heartbeats;
mod histograms;
mod incident;
mod jobs;
mod past;
mod summary;
mod table;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;
mod timeline;
mod waste;

pub use alone::alone_table;
pub use books::{AttemptEnding, BookedAttempt, BookedJob, Grant, RunBooks, SlotShift};
pub use chains::chains_table;
pub use channel::{EventSender, NodeLabel, OnProgress, Recorder, Recording, RunProgress, Setup};
pub use hdr::write_log;
pub use heartbeats::AlikeHeartbeats;
pub use histograms::file_safe_name;
pub use past::RunPast;
pub use summary::{FaultSummary, LaterPolicy, LocalityShares, Summary};
pub use table::TableWriter;
pub use waste::{AttemptFate, PerFate, WasteSummary};

/// One subject's view of the stream.
pub trait Watcher: Send {
    /// An event has happened, and the books know of it.
    ///
    /// # Errors
    /// If an output cannot be written; the recorder then stops.
    fn see(&mut self, _event: &Event, _books: &RunBooks) -> Result<(), RecordError> {
        Ok(())
    }

    /// Heartbeats have happened, a short while ago. Each is counted once, for every watcher.
    fn count(&mut self, _beats: &AlikeHeartbeats) {}

    /// Returns whether this watcher is shown each heartbeat as an event. Most events are heartbeats
    /// and few watchers need them, so the default is no.
    fn hears_heartbeats(&self) -> bool {
        false
    }

    /// The run is over.
    ///
    /// # Errors
    /// If an output cannot be written.
    fn finish(&mut self, _end: &RunEnd<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// The state of a run when it is over.
#[derive(Debug)]
pub struct RunEnd<'a> {
    /// The jobs, and the attempts that are still open.
    pub books: &'a RunBooks,
    /// The run.
    pub run: &'a RunFacts,
    /// How late timers fired, in virtual microseconds; a run on the scaled clock measures it.
    pub clock_lag: Option<&'a Histogram<u64>>,
    /// Useful and wasted slot time, if that is recorded.
    pub waste: Option<&'a WasteSummary>,
}

/// Facts of a run that no event tells. The first of them are the beginning of `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// The scenario's name.
    pub scenario: String,
    /// The policy's name.
    pub policy: String,
    /// How it put jobs in order.
    pub precedence: Precedence,
    /// Those that took over from it, in the order of time; usually none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later_policies: Vec<LaterPolicy>,
    /// The seed.
    pub seed: u64,
    /// The version of Mumakil.
    pub version: String,
    /// How many nodes the cluster has.
    pub nodes: u32,
    /// How many messages were delivered.
    #[serde(skip)]
    pub messages: u64,
    /// The instant at which the run stopped.
    #[serde(skip)]
    pub ended: SimTime,
    /// Why it stopped, unless it broke down.
    #[serde(skip)]
    pub stop: Option<StopReason>,
}

impl RunFacts {
    /// Returns the policies that decided, each from its millisecond on, and by what they put jobs in order.
    pub fn deciders(&self) -> impl Iterator<Item = (u64, &str, Precedence)> {
        let later = self.later_policies.iter().map(|later| {
            // Rounded, since the seconds went through a decimal in `summary.json`.
            ((later.at_s * 1e3).round() as u64, later.policy.as_str(), later.precedence)
        });
        iter::once((0, self.policy.as_str(), self.precedence)).chain(later)
    }
}

/// Why a run could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A file cannot be created or written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system gives no thread.
    #[error("cannot start the recorder's thread")]
    Thread(#[source] io::Error),
}

impl RecordError {
    /// Returns what turns an I/O error at `path` into this error.
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Write { path: path.to_owned(), source }
    }
}

/// Lets the caller keep a watcher and ask it when the run is over.
impl<W: Watcher> Watcher for Arc<Mutex<W>> {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        self.lock().see(event, books)
    }
    fn count(&mut self, beats: &AlikeHeartbeats) {
        self.lock().count(beats);
    }
    fn hears_heartbeats(&self) -> bool {
        self.lock().hears_heartbeats()
    }
    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.lock().finish(end)
    }
}
