//! The `workload:` part of a scenario: the source of jobs, and when they are submitted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_yaml::Mapping;

use super::jobs::JobEntry;
use super::pace::ArrivalPace;
use super::source::Source;
use super::submission::Submission;
use mumakil_base::random::Dist;
use mumakil_base::units::{Fraction, SimSpan};
use mumakil_core::mapred::AutoSpan;
use mumakil_core::trace::TraceFile;

/// The jobs that arrive, from one source, and when they are submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkloadSpec {
    /// The sources of jobs; a loaded scenario has exactly one.
    #[serde(flatten, skip_deserializing, serialize_with = "by_key")]
    #[schemars(skip)]
    pub sources: Vec<Box<dyn Source>>,
    /// The remaining keys, as written. A [`Registry`](crate::Registry) knows the kinds of workload,
    /// and turns these keys into sources; a loaded scenario has none.
    #[serde(flatten)]
    #[schemars(skip)]
    pub unread: Mapping,
    /// When jobs are submitted.
    pub submission: Submission,
    /// When the first job is submitted; the others keep their distance. `auto` is its own time, and
    /// in Mumak's model that at which every tracker has sent a heartbeat.
    pub start: AutoSpan,
    /// How fast jobs arrive.
    #[serde(skip_serializing_if = "ArrivalPace::is_as_given")]
    #[schemars(extend("x-only-if" = {"workload.submission": "replay"}))]
    pub pace: ArrivalPace,
    /// Jobs that come besides those of the source, at their own times: neither `start` nor `pace`
    /// moves them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<JobEntry>,
    /// Work that fills the cluster before the first job arrives; its own jobs are left out of
    /// statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<WarmStart>,
}

/// Work that fills the cluster first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmStart {
    /// The share of the map slots that it fills.
    #[serde(default)]
    pub map_slots: Fraction,
    /// The share of the reduce slots that it fills.
    #[serde(default)]
    pub reduce_slots: Fraction,
    /// How long each of these map slots is held.
    #[serde(default)]
    pub map_time: Dist<SimSpan>,
    /// How long each of these reduce slots is held.
    #[serde(default)]
    pub reduce_time: Dist<SimSpan>,
    /// How long it may take to fill these slots before the workload begins: `auto` is some
    /// heartbeats more than a node has slots.
    #[serde(default)]
    pub settle: AutoSpan,
}

/// Writes each source under its key.
fn by_key<S: Serializer>(sources: &[Box<dyn Source>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(sources.iter().map(|source| (source.key(), source.options())))
}

impl WorkloadSpec {
    /// The keys that every workload has, whatever its source.
    pub(crate) const KEYS: [&str; 5] = ["submission", "start", "pace", "also", "warm_start"];

    /// Returns the jobs that the scenario lists as its source of jobs.
    pub fn listed(&self) -> &[JobEntry] {
        self.sources
            .iter()
            .map(|source| source.listed())
            .find(|jobs| !jobs.is_empty())
            .unwrap_or(&[])
    }

    /// Returns all jobs that the scenario itself lists, those of `also` included.
    pub fn all_listed(&self) -> impl Iterator<Item = &JobEntry> {
        self.listed().iter().chain(&self.also)
    }

    /// Returns the files with jobs or with the hosts on which they run, each with its key.
    pub fn files_mut(&mut self) -> impl Iterator<Item = (String, &mut TraceFile)> {
        self.sources.iter_mut().flat_map(|source| {
            let of_source = source.key();
            source.files_mut().into_iter().map(move |(key, file)| match key {
                "" => (format!("workload.{of_source}"), file),
                key => (format!("workload.{of_source}.{key}"), file),
            })
        })
    }

    /// Returns the file with the cluster's racks and hosts, if the workload names one.
    pub fn hosts_mut(&mut self) -> Option<&mut TraceFile> {
        self.sources.iter_mut().find_map(|source| {
            let hosts = source.hosts_key()?;
            source.files_mut().into_iter().find(|(key, _)| *key == hosts).map(|(_, file)| file)
        })
    }

    /// Returns whether a file of the workload gives the cluster's racks and hosts.
    pub fn has_hosts(&self) -> bool {
        self.sources.iter().any(|source| source.hosts_key().is_some())
    }

    /// Returns whether jobs come from the trace of another tool.
    pub fn is_traced(&self) -> bool {
        self.sources.iter().any(|source| source.is_traced())
    }
}
