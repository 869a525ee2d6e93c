//! What arrives: where jobs come from, and the injector that submits them.
//!
//! Every source makes the same of what it reads: a list of [`JobEntry`], as a scenario may write
//! it out itself. What is made of that is said once, here.

mod chains;
pub mod exchange;
pub mod format;
mod hosts;
mod injector;
mod jobs;
pub mod list;
mod listed;
mod mix;
mod rumen;
mod shared;
mod shares;
mod sls;
mod source;
mod spec;
mod stress;
mod submission;
mod swim;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::cluster::{ClusterSpec, Topology};
use crate::mapred::{Auto, Hadoop, JobSpec, PerSlot, SlotKind};
use crate::trace::TraceError;
use crate::units::{Bytes, Count, SimSpan};

pub use format::{Format, Formats};
pub use injector::JobInjector;
pub use jobs::{JobEntry, Penalty, TaskCount};
pub(crate) use jobs::{LATEST, MOST_JOBS, cycle, in_order};
pub use listed::{JobFile, Jobs};
pub use mix::{Arrivals, JobType, Mix, Names, Several};
pub use rumen::{Rumen, RumenModel, RumenPenalty};
pub(crate) use shared::{ONE_SIZE, TakenNames, copy, file_clashes};
pub use shares::ReduceShares;
pub use sls::Sls;
pub use source::{FoundJobs, Source, SourceKind};
pub use spec::{WarmStart, WorkloadSpec};
pub use submission::Submission;
pub use swim::{AtLeast, Between, Mapping, Pace, Swim};

/// The jobs of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// By number.
    pub arrivals: Vec<Arrival>,
    /// For each batch, none of which is empty, the batches that must have ended before.
    pub follows: Vec<Vec<BatchId>>,
    /// The name of each batch.
    pub names: Vec<String>,
    /// When jobs are submitted.
    pub submission: Submission,
    /// When the first one is, unless each has its time.
    pub start: SimSpan,
    /// Jobs that are submitted before this are in no statistics.
    pub warm_up: SimSpan,
    /// What of a trace is not in these jobs, and why.
    pub left_out: Vec<LeftOut>,
    /// Whether two looks at the load at one instant submit two jobs.
    pub looks_twice: bool,
}

/// What of a trace is not in the jobs of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// So many jobs were killed or have nothing to run.
    Empty(u64),
    /// So many records are broken, and the scenario does not mind.
    Broken(u64),
    /// Some hosts are none of the cluster's nodes: what lies there is nowhere near.
    Hosts {
        /// How many.
        hosts: u64,
        /// The first of them.
        first: String,
        /// The line at which the first job begins that speaks of it.
        line: u64,
        /// That job.
        job: String,
    },
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(1) => f.write_str("a job of the trace without work is left out"),
            Self::Empty(jobs) => {
                write!(
                    f,
                    "{jobs} jobs of the trace that were killed or have nothing to run are left out"
                )
            }
            Self::Broken(1) => f.write_str("a broken record of the trace is left out"),
            Self::Broken(records) => {
                write!(f, "{records} broken records of the trace are left out")
            }
            Self::Hosts { hosts, first, line, job } => {
                let (s, are) = if *hosts == 1 { ("", "is no node") } else { ("s", "are no nodes") };
                write!(
                    f,
                    "{hosts} host{s} of the trace {are} of the cluster, so nothing lies there: \
                     first {first:?} in line {line}, job {job:?}"
                )
            }
        }
    }
}
/// A job and when it is submitted.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// Where it stands among jobs that are due at one instant.
    pub place: u32,
    /// The batch that it is of.
    pub batch: BatchId,
    /// When it is submitted: after the beginning, or after the last job that its batch follows.
    pub delay: SimSpan,
    /// Who submits it.
    pub way: Way,
}

/// Who submits a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The clients of the workload, as its pacing says.
    Paced,
    /// The warm start, at the very beginning.
    Warm,
    /// Somebody at its instant, [whatever](crate::mapred::ToInjector::Submit) the pacing says.
    Later,
}

/// Jobs that wait, and are waited for, together: those of one entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchId(pub u32);

impl BatchId {
    /// Returns the index into tables of batches.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where jobs will run, and with what luck.
pub struct Site<'a> {
    /// What all randomness begins with.
    pub seed: u64,
    /// The folder in which relative paths begin.
    pub folder: &'a Path,
    /// The settings of the protocol.
    pub hadoop: &'a Hadoop,
    /// When jobs are submitted.
    pub submission: Submission,
    /// The cluster as written.
    pub cluster: &'a ClusterSpec,
    /// The cluster's nodes.
    pub topology: &'a Topology,
    /// The formats of trace files.
    pub formats: &'a Formats,
    /// The class of a job that names none, by the numbers of its maps and reduces.
    pub class_of: &'a dyn Fn(u32, u32) -> Arc<str>,
}

impl Workload {
    /// Returns the jobs of a workload; notes the digests of the files that they come from.
    ///
    /// # Errors
    /// If a trace cannot be read, or with what is wrong in it.
    pub fn new(spec: &mut WorkloadSpec, site: &Site<'_>) -> Result<Self, TraceError> {
        let mut found = FoundJobs::default();
        if let Some(source) = spec.sources.first_mut() {
            found = source.jobs(site)?;
        }
        let parts = [LeftOut::Empty(found.left_out), LeftOut::Broken(found.broken)];
        let none = [LeftOut::Empty(0), LeftOut::Broken(0)];
        let parts = parts.into_iter().filter(|part| !none.contains(part));
        let left_out = parts.chain(found.unknown_hosts).collect();
        let mut entries = found.jobs;
        let mut start = first_submission(spec, site);
        let mut warm_up = SimSpan::ZERO;
        if site.hadoop.behaviour().reads_like_mumak && spec.submission != Submission::Replay {
            // Mumak then knows the order of the file only.
            let mut latest = SimSpan::ZERO;
            for entry in &mut entries {
                latest = latest.max(entry.submit);
                entry.submit = latest;
            }
        }
        let first = entries.iter().filter(|entry| entry.after.is_empty()).map(|entry| entry.submit);
        let first = first.min().unwrap_or_default();
        if let Some(warm) = &spec.warm_start {
            warm_up = warm.settle.or(settling(site));
            start = Some(warm_up + start.unwrap_or(first));
        }
        if let Some(start) = start {
            for entry in entries.iter_mut().filter(|entry| entry.after.is_empty()) {
                entry.submit = start + entry.submit.saturating_sub(first);
            }
        }
        let own = entries.len();
        if let Some(warm) = &spec.warm_start {
            let warm = warm.jobs(site.topology.slots(), &entries);
            entries.extend(warm);
        }
        let mut jobs = Self::from_jobs(&entries, site.seed, site.cluster.hdfs.block, site.class_of);
        for arrival in &mut jobs.arrivals {
            if own <= arrival.batch.index() {
                arrival.way = Way::Warm;
            }
        }
        let start = start.unwrap_or_default();
        let looks_twice = site.hadoop.behaviour().looks_twice;
        Ok(Self { submission: spec.submission, start, warm_up, left_out, looks_twice, ..jobs })
    }
}

/// Returns when the first job is submitted, if not when it says so itself.
fn first_submission(spec: &WorkloadSpec, site: &Site<'_>) -> Option<SimSpan> {
    match spec.start {
        Auto::Fixed(start) => Some(start),
        Auto::Auto if site.hadoop.behaviour().first_job_waits => {
            // No tracker has registered by then.
            let interval = site.hadoop.heartbeat_interval(0);
            Some(site.hadoop.heartbeat_phase.or(interval) + interval)
        }
        Auto::Auto => None,
    }
}

/// Returns how long it takes to fill a cluster: a job is read and set up, and then, with policies
/// that launch one task a heartbeat, each slot of a node takes one.
fn settling(site: &Site<'_>) -> SimSpan {
    let interval = site.hadoop.heartbeat_interval(site.topology.len());
    let slots = site.topology.nodes().map(|(_, node)| node.slots.map.max(node.slots.reduce)).max();
    site.hadoop.heartbeat_phase.or(interval)
        + site.cluster.jobtracker.init
        + interval * u64::from(slots.unwrap_or(0) + 3)
}

impl WarmStart {
    /// Returns jobs that take these shares of the slots, with names that no other has.
    fn jobs(&self, slots: PerSlot<u32>, others: &[JobEntry]) -> Vec<JobEntry> {
        let mut names = TakenNames::default();
        others.iter().for_each(|job| drop(names.take(job)));
        let tasks = |kind: SlotKind, share: f64| (f64::from(slots[kind]) * share).round() as u32;
        let maps = tasks(SlotKind::Map, self.map_slots.get());
        let reduces = tasks(SlotKind::Reduce, self.reduce_slots.get());
        let job = |name: &str, maps, reduces| JobEntry {
            maps: Some(Count::of(maps)),
            input: Some(Bytes::ZERO),
            reduces: Count::of(reduces),
            map_time: Some(self.map_time.clone().into()),
            shuffle_time: Some(SimSpan::ZERO.into()),
            reduce_time: Some(self.reduce_time.clone().into()),
            ..JobEntry::named(name)
        };
        let jobs = [job("warm-start-maps", maps, 0), job("warm-start-reduces", 0, reduces)];
        let is_some =
            |job: &JobEntry| job.maps != Some(Count::of(0)) || job.reduces != Count::of(0);
        let mut jobs: Vec<JobEntry> = jobs.into_iter().filter(is_some).collect();
        for job in &mut jobs {
            while names.take(job).is_err() {
                job.name.push('\'');
            }
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A cluster, and a folder for the files of a workload.
    pub(super) struct Ground {
        pub(super) folder: TempDir,
        hadoop: Hadoop,
        cluster: ClusterSpec,
        topology: Topology,
    }

    impl Ground {
        /// Returns a plain cluster of so many nodes.
        pub(super) fn new(nodes: u32, block: Bytes) -> Self {
            let cluster = include_str!("../scenarios/clusters/default.yaml");
            let mut cluster: ClusterSpec = serde_yaml::from_str(cluster).unwrap();
            (cluster.nodes, cluster.hdfs.block) = (Count::of(nodes), block);
            let hadoop = include_str!("../scenarios/hadoop/0.20.yaml");
            Self {
                folder: TempDir::new().unwrap(),
                hadoop: serde_yaml::from_str(hadoop).unwrap(),
                topology: Topology::new(&cluster),
                cluster,
            }
        }

        /// Calls `read` with this ground.
        pub(super) fn found(
            &self,
            read: impl FnOnce(&Site<'_>) -> Result<FoundJobs, TraceError>,
        ) -> Result<FoundJobs, String> {
            let site = Site {
                seed: 42,
                folder: self.folder.path(),
                hadoop: &self.hadoop,
                submission: Submission::Replay,
                cluster: &self.cluster,
                topology: &self.topology,
                formats: &Formats::builtin(),
                class_of: &|_, _| "all".into(),
            };
            read(&site).map_err(|error| error.to_string())
        }
    }
}
