//! The lines of Hadoop, and the behaviour of each that users cannot set.
//!
//! Code asks for a behaviour and not which line it is, so all that sets lines apart stands here side by
//! side: a further line is a variant, its behaviour, and a file of its settings in `scenarios/hadoop/`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A line of Hadoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HadoopLine {
    /// Releases 0.20.
    #[serde(rename = "0.20")]
    V020,
    /// Release 0.21.
    #[serde(rename = "0.21")]
    V021,
    /// Releases 1.1 to 1.3.
    #[serde(rename = "1.x")]
    V1,
    /// Mumak, the simulator that Hadoop brought along.
    #[serde(rename = "mumak")]
    Mumak,
}

/// The behaviour of a line of Hadoop that users cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// How a JobTracker that is started again recovers jobs, if it can.
    pub recovery: Option<Recovery>,
    /// Whether a tracker's process that is started again waits for the shortest heartbeat interval before
    /// it speaks.
    pub waits_after_restart: bool,
    /// Whether a tracker's load contains what the heartbeat that is served has brought it so far.
    pub load_counts_launches: bool,
    /// Whether a reduce asks how far maps are as it is launched, and not with the next heartbeat.
    pub asks_at_once: bool,
    /// Whether reduces complain of outputs that they cannot fetch.
    pub complains: bool,
    /// Whether failures on a tracker are counted against it.
    pub counts_faults: bool,
    /// Whether there is a file system that knows where blocks are. If not, they are where traces have them.
    pub has_files: bool,
    /// Whether messages and what the JobTracker does may take time.
    pub takes_time: bool,
    /// Whether a phase that takes no time is passed at once, without a timer.
    pub passes_empty_phases: bool,
    /// Whether the policy may say which jobs' splits are read. It cannot give way to another then.
    pub policy_reads: bool,
    /// Whether splits that take no time are read at once: a heartbeat of the same instant may find the job
    /// running.
    pub reads_at_once: bool,
    /// Whether the policy's own time is counted from the start of the run, and comes after the heartbeats
    /// that were under way at that instant.
    pub ticks_last: bool,
    /// Whether the first job waits until trackers have registered.
    pub first_job_waits: bool,
    /// Whether two looks at the load at one instant submit two jobs.
    pub looks_twice: bool,
    /// Whether traces are read as Mumak reads them, with all its quirks.
    pub reads_like_mumak: bool,
}

/// How a JobTracker that is started again comes to know its jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// It replays the history of each job: what has ended has ended, and what runs joins in when its
    /// tracker speaks again.
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
    counts_faults: true,
    has_files: true,
    takes_time: true,
    passes_empty_phases: false,
    policy_reads: false,
    reads_at_once: false,
    ticks_last: false,
    first_job_waits: false,
    looks_twice: false,
    reads_like_mumak: false,
};

// From 0.21 on a recovered job is only submitted again.
const V021: Behaviour = Behaviour { recovery: Some(Recovery::Resubmit), ..V020 };

// 1.x: a new process waits for its first heartbeat, and the fair scheduler counts what a heartbeat
// has brought so far.
const V1: Behaviour = Behaviour { waits_after_restart: true, load_counts_launches: true, ..V021 };

// Mumak runs Hadoop's own JobTracker and policies, but its trackers, its clock and its file system
// are simulated: no faults, no time-outs, no time on the way.
const MUMAK: Behaviour = Behaviour {
    recovery: None,
    waits_after_restart: false,
    load_counts_launches: false,
    asks_at_once: false,
    complains: false,
    counts_faults: false,
    has_files: false,
    takes_time: false,
    passes_empty_phases: true,
    policy_reads: true,
    reads_at_once: true,
    ticks_last: true,
    first_job_waits: true,
    looks_twice: true,
    reads_like_mumak: true,
};

impl HadoopLine {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::V020, Self::V021, Self::V1, Self::Mumak];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V020 => "0.20",
            Self::V021 => "0.21",
            Self::V1 => "1.x",
            Self::Mumak => "mumak",
        }
    }

    /// Returns the behaviour that users cannot set.
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
        f.write_str(self.name())
    }
}
