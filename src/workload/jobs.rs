//! `workload: {jobs: [...]}`: jobs written out in the scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mapred::Priority;
use crate::random::Dist;
use crate::units::{Bytes, Count, Factor, Rate, SimSpan};

/// One entry of the list: a job, or several alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    /// The job's name, by which `after` and `faults` refer to it. With `count`, the jobs are
    /// called `NAME-1`, `NAME-2`, ….
    pub name: String,
    /// When the job is submitted; with `after`, how long after the last of those has ended.
    #[serde(default)]
    pub submit: SimSpan,
    /// Jobs that must have ended before this one is submitted. A name with a `count` means all of
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How many such jobs there are.
    #[serde(default = "one")]
    pub count: Count<1, 1_000_000>,
    /// The time between two of them.
    #[serde(default)]
    pub every: SimSpan,
    /// The user who submits it.
    #[serde(default = "user")]
    pub user: String,
    /// The pool or queue; the user's name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// The class that reports group it by; else the first of the scenario's `classes` that fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// How much it matters.
    #[serde(default)]
    pub priority: Priority,

    /// How many maps it has; one for each block of the input unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<Count<0, 10_000_000>>,
    /// How many reduces it has.
    #[serde(default = "none")]
    pub reduces: Count<0, 10_000_000>,
    /// The bytes that the maps read together; one block a map unless given. `0` for maps without
    /// input, which are local nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Bytes>,
    /// The file that the maps read, by any name; jobs that name the same file read the same
    /// blocks. Without, a file of the job's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The bytes that the reduces fetch together.
    #[serde(default)]
    pub shuffle: Bytes,
    /// The bytes that the reduces write together, or the maps of a job without reduces.
    #[serde(default)]
    pub output: Bytes,

    /// How long a map computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_time: Option<Dist<SimSpan>>,
    /// How fast a map computes through its input; without `map_time` and `map_rate` it only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_rate: Option<Rate>,
    /// How long a reduce fetches, were all maps done; else by bytes and network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_time: Option<Dist<SimSpan>>,
    /// How long a reduce merges before it reduces.
    #[serde(default = "merge")]
    pub sort_time: Dist<SimSpan>,
    /// How long a reduce computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_time: Option<Dist<SimSpan>>,
    /// How fast a reduce computes through what it fetched; without `reduce_time` and
    /// `reduce_rate` it only fetches and merges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_rate: Option<Rate>,
    /// What every computing time is multiplied with, drawn for each task.
    #[serde(default = "no_noise")]
    pub noise: Dist<Factor>,
    /// What a map's computing time is multiplied with when its input is on another node.
    #[serde(default)]
    pub penalty: Penalty,
    /// The memory of a map's process.
    #[serde(default = "heap")]
    pub map_memory: Bytes,
    /// The memory of a reduce's process.
    #[serde(default = "heap")]
    pub reduce_memory: Bytes,
}

/// What a map's computing time is multiplied with when its input is on another node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Penalty {
    /// In the same rack.
    pub rack: Factor,
    /// In another rack.
    pub off_rack: Factor,
}

impl Default for Penalty {
    fn default() -> Self {
        Self { rack: Factor::ONE, off_rack: Factor::ONE }
    }
}

fn one() -> Count<1, 1_000_000> {
    Count::of(1)
}

fn none() -> Count<0, 10_000_000> {
    Count::of(0)
}

fn user() -> String {
    "default".to_owned()
}

/// The median sort phase of a real trace was 0.08 s: what was fetched is merged already.
fn merge() -> Dist<SimSpan> {
    Dist::Constant(SimSpan::from_millis(80))
}

fn no_noise() -> Dist<Factor> {
    Dist::Constant(Factor::ONE)
}

/// Hadoop's default heap of a child.
fn heap() -> Bytes {
    Bytes::from_mib(200)
}
