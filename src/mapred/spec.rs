//! A job as it is submitted: what its client knows, and what its tasks will cost.
//!
//! The JobTracker reads of it what a real one would (names, counts, splits); the costs are for
//! the trackers, which learn of them with the directive that launches an attempt.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JobId, PerSlot};
use crate::cluster::FileId;
use crate::random::Dist;
use crate::units::{Bytes, Factor, Rate, SimSpan};

/// A job as it is submitted.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Its number.
    pub id: JobId,
    /// Its name; jobs may share one.
    pub name: Arc<str>,
    /// Who submits it.
    pub user: Arc<str>,
    /// The pool or queue it is submitted to.
    pub pool: Arc<str>,
    /// The class that reports group it by.
    pub class: Arc<str>,
    /// How much it matters.
    pub priority: Priority,
    /// How many maps it has.
    pub maps: u32,
    /// How many reduces it has.
    pub reduces: u32,
    /// What the maps read, one block each; `None` for maps without input.
    pub input: Option<Input>,
    /// What a map costs.
    pub map: MapCost,
    /// What a reduce costs.
    pub reduce: ReduceCost,
    /// The memory of an attempt.
    pub memory: PerSlot<Bytes>,
}

#[cfg(test)]
impl JobSpec {
    /// Returns a job whose tasks read nothing and take no time, for tests to change.
    pub(crate) fn bare(id: u32, maps: u32, reduces: u32) -> Self {
        let noise = Dist::Constant(Factor::ONE);
        Self {
            id: JobId(id),
            name: format!("job-{id}").into(),
            user: "ann".into(),
            pool: "research".into(),
            class: "small".into(),
            priority: Priority::Normal,
            maps,
            reduces,
            input: None,
            map: MapCost {
                time: None,
                rate: None,
                noise: noise.clone(),
                rack_penalty: Factor::ONE,
                off_rack_penalty: Factor::ONE,
                output: Bytes::ZERO,
            },
            reduce: ReduceCost {
                shuffle_time: None,
                shuffle: Bytes::ZERO,
                sort_time: Dist::Constant(SimSpan::ZERO),
                time: None,
                rate: None,
                noise,
                output: Bytes::ZERO,
            },
            memory: PerSlot::default(),
        }
    }
}

/// What a job's maps read: map *i* reads block *i* of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The file.
    pub file: FileId,
    /// The bytes of every map but the last.
    pub split: Bytes,
    /// The bytes of the last map.
    pub last_split: Bytes,
}

/// What a map costs beside its start-up: reading its split, then computing, then writing.
#[derive(Clone, Debug)]
pub struct MapCost {
    /// Computing, if given as a time.
    pub time: Option<Dist<SimSpan>>,
    /// Computing, if given as a speed through the split.
    pub rate: Option<Rate>,
    /// What the computing time is multiplied with, drawn for each map.
    pub noise: Dist<Factor>,
    /// What the computing time is multiplied with when the input is in the rack.
    pub rack_penalty: Factor,
    /// What the computing time is multiplied with when the input is elsewhere.
    pub off_rack_penalty: Factor,
    /// What each map of a job without reduces writes.
    pub output: Bytes,
}

/// What a reduce costs beside its start-up: shuffle, sort, reduce.
#[derive(Clone, Debug)]
pub struct ReduceCost {
    /// Fetching, if given as a time: what it takes once all maps have ended.
    pub shuffle_time: Option<Dist<SimSpan>>,
    /// What each reduce fetches.
    pub shuffle: Bytes,
    /// Merging.
    pub sort_time: Dist<SimSpan>,
    /// Computing, if given as a time.
    pub time: Option<Dist<SimSpan>>,
    /// Computing, if given as a speed through what was fetched.
    pub rate: Option<Rate>,
    /// What the computing time is multiplied with, drawn for each reduce.
    pub noise: Dist<Factor>,
    /// What each reduce writes.
    pub output: Bytes,
}

/// How much a job matters, in Hadoop's five steps.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before all others.
    VeryHigh,
    /// Before normal ones.
    High,
    /// What a job has unless it says otherwise.
    #[default]
    Normal,
    /// After normal ones.
    Low,
    /// After all others.
    VeryLow,
}

impl Priority {
    /// Returns the word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::VeryHigh => "very_high",
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
            Self::VeryLow => "very_low",
        }
    }
}
