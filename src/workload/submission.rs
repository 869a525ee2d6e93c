//! When jobs are submitted: as their times say, or as the cluster gets through with them.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mapred::Load;
use crate::units::{Count, SimSpan, SimTime};

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
    /// then it looks again after 1 s, 2 s, … 320 s.
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
    /// The next job when the JobTracker, asked at this instant, is not overloaded. While a question
    /// is on its way, no other one is asked.
    Stress { ask_at: SimTime, wait: SimSpan, is_asking: bool },
}

/// What Mumak waits at first when the cluster is overloaded, and at most.
const SHORTEST_WAIT: SimSpan = SimSpan::from_secs(1);
const LONGEST_WAIT: SimSpan = SimSpan::from_secs(320);
/// What Mumak waits between two jobs.
const STEP: SimSpan = SimSpan::from_millis(1);
/// More map work than so many times the map slots is too much.
const MOST_MAP_WORK: f64 = 2.0;

impl Pacing {
    pub(super) fn new(submission: Submission, start: SimTime) -> Self {
        let closed = |active: u32, think| Self::Closed {
            think,
            free_at: std::iter::repeat_n(start, active as usize).collect(),
        };
        match submission {
            Submission::Replay => Self::Replay,
            Submission::Serial => closed(1, STEP),
            Submission::Closed { active, think } => closed(active.get(), think),
            Submission::Stress => {
                Self::Stress { ask_at: start, wait: SHORTEST_WAIT, is_asking: false }
            }
        }
    }

    /// Returns when the next job may be submitted, or asked for, whose own time is this.
    pub(super) fn next_at(&self, due: SimTime) -> SimTime {
        match self {
            Self::Replay => due,
            Self::Closed { free_at, .. } => free_at.front().copied().unwrap_or(SimTime::NEVER),
            Self::Stress { is_asking: true, .. } => SimTime::NEVER,
            Self::Stress { ask_at, .. } => *ask_at,
        }
    }

    pub(super) fn job_ended(&mut self, now: SimTime) {
        match self {
            Self::Replay => {}
            Self::Closed { think, free_at } => free_at.push_back(now + *think),
            Self::Stress { ask_at, .. } => *ask_at = now,
        }
    }

    /// Hears how busy the cluster is; returns whether the next job may be submitted.
    pub(super) fn hear(&mut self, now: SimTime, load: &Load) -> bool {
        let Self::Stress { ask_at, wait, is_asking } = self else { return false };
        *is_asking = false;
        let is_overloaded =
            load.trackers <= load.jobs || MOST_MAP_WORK * f64::from(load.map_slots) < load.map_work;
        if is_overloaded {
            // Of a job that ended meanwhile the answer may not have known.
            *ask_at = (*ask_at).min(now + *wait);
            *wait = (*wait * 2).min(LONGEST_WAIT);
        } else {
            *ask_at = now + STEP;
            *wait = SHORTEST_WAIT;
        }
        !is_overloaded
    }
}
