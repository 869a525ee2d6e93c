//! The files of a run: tables, histograms and a timeline, made from the stream of facts.
//!
//! ```text
//! actors ─ EventSender ═ chunks of events ═▶ the writer's thread:
//!                        RunBooks    jobs, open attempts, who holds a slot
//!                        ├ Watcher   tasks.csv, a row when an attempt closes
//!                        ├ Watcher   timeline.csv, a row when a count changes
//!                        └ …         one subject and one file each
//! ```
//!
//! To add an output, add a watcher; it asks the [`RunBooks`] for the state of jobs and attempts.
//!
//! [`mumakil_core::mapred::Fact`] says which actor knows each value. Events need not be in the
//! order of time: on a scaled clock several threads send them, and the writer takes them in the
//! order of their arrival.
//!
//! Memory grows with the jobs and with the attempts that are open at one time, not with all tasks.
//! If waste is recorded, it also grows with the tasks of the jobs that have not ended.

use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Event, Precedence, StopReason};

mod books;
mod channel;
mod decisions;
mod events;
mod expenses;
mod faults;
mod hdr;
mod heartbeats;
mod histograms;
mod incident;
mod jobs;
mod load;
mod nodes;
mod past;
mod resources;
mod shares;
mod summary;
mod table;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;
mod timeline;
mod waste;

pub use books::{AttemptEnding, BookedAttempt, BookedJob, Grant, RunBooks, SlotHold, SlotShift};
pub use channel::{EventSender, NodeLabel, OnProgress, Recorder, Recording, RunProgress, Setup};
use expenses::ExpenseTally;
pub use expenses::Expenses;
pub use hdr::{in_micros, write_log, write_percentiles};
pub use heartbeats::AlikeHeartbeats;
pub use histograms::file_safe_name;
pub use jobs::job_row;
pub(crate) use jobs::keys_on;
pub use load::{LoadSummary, LoadVerdict, VerdictReason};
pub use nodes::nodes_table;
pub use past::RunPast;
pub use resources::ResourceShares;
pub use shares::shares_table;
pub use summary::{FaultSummary, GroupSummary, LaterPolicy, LocalityShares, Summary};
pub use table::TableWriter;
pub use waste::{AttemptFate, PerFate, WasteSummary};

/// A reader of the stream of events, usually for one output file.
pub trait Watcher: Send {
    /// Takes an event that `_books` already include.
    ///
    /// # Errors
    /// If an output cannot be written; the recorder then stops.
    fn see(&mut self, _event: &Event, _books: &RunBooks) -> Result<(), RecordError> {
        Ok(())
    }

    /// Takes a count of recent equal heartbeats. Each watcher gets each heartbeat in exactly one
    /// such count.
    fn count(&mut self, _beats: &AlikeHeartbeats) {}

    /// Returns whether [`see`](Self::see) gets each heartbeat as an event, in addition to the
    /// counts. Most events are heartbeats and few watchers need them, so the default is `false`.
    fn hears_heartbeats(&self) -> bool {
        false
    }

    /// Completes the output at the end of the run.
    fn finish(&mut self, _end: &RunEnd<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// The state of a run when it is over.
#[derive(Debug)]
pub struct RunEnd<'a> {
    /// All jobs, and the attempts that are still open.
    pub books: &'a RunBooks,
    /// Properties of the run that are in no event.
    pub run: &'a RunFacts,
    /// How late timers fired, in virtual microseconds; `None` on the virtual clock.
    pub clock_lag: Option<&'a Histogram<u64>>,
    /// Useful and wasted slot time; `None` if waste is not recorded.
    pub waste: Option<&'a WasteSummary>,
    /// The expenses of nodes and jobs; `None` if no node has a price or takes power.
    pub(crate) expenses: Option<&'a ExpenseTally>,
}

/// Properties of a run that are in no event. `summary.json` begins with the serialised fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// The scenario's name.
    pub scenario: String,
    /// The policy's name.
    pub policy: String,
    /// The order in which the policy serves jobs.
    pub precedence: Precedence,
    /// The policies that took over during the run, in the order of time; usually empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later_policies: Vec<LaterPolicy>,
    /// The seed.
    pub seed: u64,
    /// The version of Mumakil.
    pub version: String,
    /// The number of its model; zero in runs that do not tell it.
    pub model: u32,
    /// How many nodes the cluster has.
    pub nodes: u32,
    /// How many messages actors received.
    #[serde(skip)]
    pub messages: u64,
    /// The instant at which the run stopped.
    #[serde(skip)]
    pub ended: SimTime,
    /// Why the run stopped; `None` if it broke down.
    #[serde(skip)]
    pub stop: Option<StopReason>,
}

impl RunFacts {
    /// Returns the policies of the run. Each has the millisecond at which it took over, its name,
    /// and the order in which it served jobs.
    pub fn deciders(&self) -> impl Iterator<Item = (u64, &str, Precedence)> {
        let later = self.later_policies.iter().map(|later| {
            // Round the product, since `summary.json` holds the seconds as a decimal number.
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
        /// The system's error.
        source: io::Error,
    },
    /// The system cannot start a thread.
    #[error("cannot start the recorder's thread")]
    Thread(#[source] io::Error),
}

impl RecordError {
    /// Returns a function that turns an I/O error at `path` into this error.
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Write { path: path.to_owned(), source }
    }
}

/// Lets the caller keep a watcher, to read its results after the run.
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
