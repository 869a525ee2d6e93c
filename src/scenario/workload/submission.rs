//! When jobs are submitted: as their times say, or as the cluster gets through with them.

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
    /// Each at its time.
    #[default]
    Replay,
    /// One after another: the next 1 ms after one has ended, whatever their times.
    Serial,
    /// By Mumak's rule, whatever their times: the next 1 ms after one was submitted or has ended,
    /// unless there are as many running jobs as trackers, or twice as much map work as map slots;
    /// then it also looks again after 1 s, 2 s, … 320 s.
    Stress,
    /// In a closed loop, whatever their times: so many are active all the time.
    Closed {
        /// How many jobs are active.
        active: Count<1, 1_000_000>,
        /// How long the next one waits after one has ended.
        #[serde(default)]
        think: SimSpan,
    },
}

/// The state of a submission.
#[derive(Debug)]
pub(super) enum Pacing {
    /// Each job at its time.
    Replay,
    /// The next job when a place is free: when places are or will be, rising.
    Closed { think: SimSpan, free_at: VecDeque<SimTime> },
    /// The next job when the cluster has room.
    Stress(Stress),
}

impl Pacing {
    /// Returns a pacing that begins at an instant; `looks_twice` says whether looks at the load do not wait
    /// for each other.
    pub(super) fn new(submission: Submission, start: SimTime, looks_twice: bool) -> Self {
        let closed = |active: u32, think| Self::Closed {
            think,
            // All places are free at the start.
            free_at: std::iter::repeat_n(start, active as usize).collect(),
        };
        match submission {
            Submission::Replay => Self::Replay,
            // Mumak's SERIAL is a closed loop of one job, which thinks for 1 ms.
            Submission::Serial => closed(1, STEP),
            Submission::Closed { active, think } => closed(active.get(), think),
            Submission::Stress => Self::Stress(Stress::new(start, looks_twice)),
        }
    }

    /// Returns when the next job, which is due at `due` by its own time, may be submitted; never,
    /// if something other than time decides.
    pub(super) fn next_at(&self, due: SimTime) -> SimTime {
        match self {
            Self::Replay => due,
            Self::Closed { free_at, .. } => free_at.front().copied().unwrap_or(SimTime::NEVER),
            Self::Stress(_) => SimTime::NEVER,
        }
    }
}
