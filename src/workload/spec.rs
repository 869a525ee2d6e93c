//! The `workload:` part of a scenario, as written: where jobs come from, and when they come.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::{JobEntry, Mix, Rumen, Submission};
use crate::mapred::Auto;
use crate::random::Dist;
use crate::units::{Fraction, SimSpan};

/// What arrives: jobs from one source, and when they are submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkloadSpec {
    /// Jobs written out.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "list")]
    pub jobs: Option<Vec<JobEntry>>,
    /// Jobs of several types, drawn by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// Jobs of a Rumen trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rumen: Option<Rumen>,
    /// When jobs are submitted.
    pub submission: Submission,
    /// When the first job is submitted; the others keep their distance from it. `auto`: as the
    /// jobs' own times say, and in Mumak's model when every tracker has sent a heartbeat.
    pub start: Auto,
    /// Work that fills the cluster before the first job comes; its own jobs are in no statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<WarmStart>,
}

/// Work that fills a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmStart {
    /// The share of the map slots that it takes.
    #[serde(default)]
    pub map_slots: Fraction,
    /// The share of the reduce slots that it takes.
    #[serde(default)]
    pub reduce_slots: Fraction,
    /// How long it holds each of these map slots.
    #[serde(default)]
    pub map_time: Dist<SimSpan>,
    /// How long it holds each of these reduce slots.
    #[serde(default)]
    pub reduce_time: Dist<SimSpan>,
    /// How long it has to fill them before the workload begins; `auto`: so many heartbeats as a
    /// node has slots, and a few more to get going.
    #[serde(default)]
    pub settle: Auto,
}

fn list<S: Serializer>(jobs: &Option<Vec<JobEntry>>, to: S) -> Result<S::Ok, S::Error> {
    JobEntry::serialize_list(jobs.as_deref().unwrap_or_default(), to)
}

impl WorkloadSpec {
    /// Returns the names of the sources that are given; a scenario has one.
    pub fn sources(&self) -> Vec<&'static str> {
        let given = [
            ("jobs", self.jobs.is_some()),
            ("mix", self.mix.is_some()),
            ("rumen", self.rumen.is_some()),
        ];
        given.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}
