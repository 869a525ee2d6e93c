//! The modes of submission: by the times of jobs, or by the progress of the cluster.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stress::{STEP, Stress};
use mumakil_base::units::{Count, SimSpan, SimTime};

/// When jobs are submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Submission {
    /// Each job at its time.
    #[default]
    Replay,
    /// One job 1 ms after another has ended, whatever their times.
    Serial,
    /// By Mumak's rule, whatever their times: the next job follows 1 ms after one was submitted or
    /// has ended, unless as many jobs run as there are trackers, or there is more than twice as
    /// much map work as map slots. The load is also checked after 1 s, 2 s, 4 s, … 320 s.
    Stress,
    /// In a closed loop, whatever their times: a fixed number of jobs is active all the time.
    Closed {
        /// How many jobs are active.
        active: Count<1, 1_000_000>,
        /// How long the next job waits after one has ended.
        #[serde(default)]
        think: SimSpan,
    },
}

/// The state of a submission mode.
#[derive(Debug)]
pub(super) enum Pacing {
    /// Each job at its time.
    Replay,
    /// The next job when a client is free. `free_at` has the times at which clients are or will be
    /// free, sorted.
    Closed { think: SimSpan, free_at: VecDeque<SimTime> },
    /// The next job when the cluster has room.
    Stress(Stress),
}

impl Pacing {
    /// Returns a pacing that begins at `start`. With `looks_twice`, checks of the load do not wait
    /// for each other.
    pub(super) fn new(submission: Submission, start: SimTime, looks_twice: bool) -> Self {
        let closed = |active: u32, think| Self::Closed {
            think,
            // All clients are free at the start.
            free_at: std::iter::repeat_n(start, active as usize).collect(),
        };
        match submission {
            Submission::Replay => Self::Replay,
            // Mumak's SERIAL is a closed loop of one client, which thinks for 1 ms.
            Submission::Serial => closed(1, STEP),
            Submission::Closed { active, think } => closed(active.get(), think),
            Submission::Stress => Self::Stress(Stress::new(start, looks_twice)),
        }
    }

    /// Returns when the next job, which is due at `due` by its own time, may be submitted; `NEVER`
    /// if that does not depend on time alone.
    pub(super) fn next_at(&self, due: SimTime) -> SimTime {
        match self {
            Self::Replay => due,
            Self::Closed { free_at, .. } => free_at.front().copied().unwrap_or(SimTime::NEVER),
            Self::Stress(_) => SimTime::NEVER,
        }
    }
}
