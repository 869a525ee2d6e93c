//! The versions of Hadoop (`line` in a scenario), and the fixed behaviour of each, which users
//! cannot set.
//!
//! Other code asks for a behaviour and not for the version, so all differences between versions are
//! here side by side. A new version needs a variant, its behaviour, and a file of its settings in
//! this folder.

use std::fmt;

use serde::{Deserialize, Serialize};

use mumakil_base::units::SimSpan;
use mumakil_base::worded;

worded! {
    /// A version of Hadoop.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum HadoopLine {
        /// Releases 0.20.
        #[serde(rename = "0.20")]
        V020 = "0.20",
        /// Release 0.21.
        #[serde(rename = "0.21")]
        V021 = "0.21",
        /// Releases 1.1 to 1.3.
        #[serde(rename = "1.x")]
        V1 = "1.x",
        /// Mumak, the simulator that is part of Hadoop.
        #[serde(rename = "mumak")]
        Mumak = "mumak",
    }
}

/// The fixed behaviour of a Hadoop version, which users cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// How a restarted JobTracker recovers jobs; `None` if it cannot.
    pub recovery: Option<Recovery>,
    /// Whether a restarted tracker process waits for the shortest heartbeat interval before its
    /// first heartbeat.
    pub waits_after_restart: bool,
    /// Whether a tracker's load, as policies see it, contains the launches of the heartbeat that is
    /// being served.
    pub load_counts_launches: bool,
    /// Whether a reduce asks how many maps have ended as soon as it is launched, instead of with
    /// its tracker's next heartbeat.
    pub asks_at_once: bool,
    /// Whether reduces complain of outputs that they cannot fetch.
    pub complains: bool,
    /// How long a tracker waits for a task process that has thrown an exception to report its end,
    /// which it never does.
    pub failed_linger: SimSpan,
    /// Whether failures on a tracker are counted against it.
    pub counts_faults: bool,
    /// Whether the run has a file system that knows the places of blocks. If not, blocks are where
    /// traces say.
    pub has_files: bool,
    /// Whether messages and the JobTracker's work may take time.
    pub takes_time: bool,
    /// Whether attempts pass phases that take no time at once, without a timer.
    pub passes_empty_phases: bool,
    /// Whether the run has one policy: no other can take over.
    pub keeps_policy: bool,
    /// Whether splits whose reading takes no time are read at once: a heartbeat of the same instant
    /// may find the job running.
    pub reads_at_once: bool,
    /// Whether the policy's ticks are counted from the start of the run, and come after the
    /// heartbeats that were under way at that instant.
    pub ticks_last: bool,
    /// Whether the first job waits until trackers have registered.
    pub first_job_waits: bool,
    /// Whether two load probes at one instant submit two jobs.
    pub looks_twice: bool,
    /// Whether traces are read as Mumak reads them, with all its quirks.
    pub reads_like_mumak: bool,
}

/// How a restarted JobTracker learns of its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// It replays the history of each job: ended attempts stay ended, and running attempts are kept
    /// when their tracker sends a heartbeat.
    Replay,
    /// It submits each job again: all tasks run anew.
    Resubmit,
}

// 0.20 has a RecoveryManager that replays the history of jobs
// (`mapred.jobtracker.restart.recover`).
const V020: Behaviour = Behaviour {
    recovery: Some(Recovery::Replay),
    waits_after_restart: false,
    load_counts_launches: false,
    asks_at_once: true,
    complains: true,
    // TaskTracker.taskFinished: WAIT_FOR_DONE.
    failed_linger: SimSpan::from_secs(3),
    counts_faults: true,
    has_files: true,
    takes_time: true,
    passes_empty_phases: false,
    keeps_policy: false,
    reads_at_once: false,
    ticks_last: false,
    first_job_waits: false,
    looks_twice: false,
    reads_like_mumak: false,
};

// From 0.21 on a recovered job is only submitted again.
const V021: Behaviour = Behaviour { recovery: Some(Recovery::Resubmit), ..V020 };

// 1.x: a restarted process waits before its first heartbeat, and the fair scheduler counts the
// launches of the heartbeat so far.
const V1: Behaviour = Behaviour { waits_after_restart: true, load_counts_launches: true, ..V021 };

// Mumak runs Hadoop's own JobTracker and policies, but simulates trackers, clock and file system:
// no faults, no time-outs, no delay of messages.
const MUMAK: Behaviour = Behaviour {
    recovery: None,
    waits_after_restart: false,
    load_counts_launches: false,
    asks_at_once: false,
    complains: false,
    failed_linger: SimSpan::ZERO,
    counts_faults: false,
    has_files: false,
    takes_time: false,
    passes_empty_phases: true,
    keeps_policy: true,
    reads_at_once: true,
    ticks_last: true,
    first_job_waits: true,
    looks_twice: true,
    reads_like_mumak: true,
};

impl HadoopLine {
    /// Returns the file of its settings: all of them for 0.20, and for every other version those
    /// that differ.
    pub const fn settings(self) -> &'static str {
        match self {
            Self::V020 => include_str!("0.20.yaml"),
            Self::V021 => include_str!("0.21.yaml"),
            Self::V1 => include_str!("1.x.yaml"),
            Self::Mumak => include_str!("mumak.yaml"),
        }
    }

    /// Returns the fixed behaviour of the version.
    pub const fn behaviour(self) -> &'static Behaviour {
        match self {
            Self::V020 => &V020,
            Self::V021 => &V021,
            Self::V1 => &V1,
            Self::Mumak => &MUMAK,
        }
    }
}

impl fmt::Display for HadoopLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
