//! Builds the jobs of a run from the workload of a scenario.

use std::sync::Arc;

use super::arrivals::{Arrival, BatchId, SubmissionWay, Workload};
use super::jobs::{JobEntry, tasks_of, too_many_tasks};
use super::shared::TakenNames;
use super::site::WorkloadSite;
use super::source::FoundJobs;
use super::spec::{WarmStart, WorkloadSpec};
use super::submission::Submission;
use mumakil_base::units::{Bytes, Count, SimSpan};
use mumakil_core::cluster::FileId;
use mumakil_core::mapred::{AutoSpan, Input, JobId, PerSlot, SlotKind};
use mumakil_core::trace::TraceError;

impl Workload {
    /// Returns the jobs of a workload; notes the digests of their files in `spec`.
    ///
    /// # Errors
    /// If a trace cannot be read or has mistakes; the error names them.
    pub fn new(spec: &mut WorkloadSpec, site: &WorkloadSite<'_>) -> Result<Self, TraceError> {
        let mut found = FoundJobs::default();
        // A second source is refused by the scenario's check.
        if let Some(source) = spec.sources.first_mut() {
            found = source.jobs(site)?;
        }
        let left_out = left_out(&found);
        let mut entries = found.jobs;
        // Jobs in the scenario's text are counted by its check, and those of a list by its reader.
        if let Some(message) = too_many_tasks(tasks_of(&entries, site.cluster.hdfs.block)) {
            const A_PART: &str = "take a part of the trace, such as its first lines";
            return Err(TraceError::Unusable { what: message, hint: A_PART.into() });
        }
        let mut start = first_submission(spec, site);
        let mut warm_up = SimSpan::ZERO;
        if site.hadoop.behaviour().reads_like_mumak && spec.submission != Submission::Replay {
            // Mumak's SERIAL and STRESS submissions take jobs in the order of the file, not by
            // time. Raise each time to the latest time before it: then the order by time is the
            // order of the file.
            let mut latest = SimSpan::ZERO;
            for entry in &mut entries {
                latest = latest.max(entry.submit);
                entry.submit = latest;
            }
        }
        if spec.submission == Submission::Replay {
            spec.pace.apply(&mut entries, site);
        }
        // The times of jobs with `after` count from the ends of other jobs, so move only the times
        // of jobs without `after` to `start`.
        let firsts = entries.iter().filter(|entry| entry.after.is_empty());
        let first = firsts.map(|entry| entry.submit).min().unwrap_or_default();
        if let Some(warm) = &spec.warm_start {
            warm_up = warm.settle.or(settling(site));
            // The workload waits until the cluster is full.
            start = Some(warm_up + start.unwrap_or(first));
        }
        if let Some(start) = start {
            for entry in entries.iter_mut().filter(|entry| entry.after.is_empty()) {
                entry.submit = start + entry.submit.saturating_sub(first);
            }
        }
        add_others(&spec.also, &mut entries)?;
        let own = entries.len();
        if let Some(warm) = &spec.warm_start {
            let warm = warm.jobs(site.topology.slots(), &entries);
            entries.extend(warm);
        }
        let mut jobs = Self::from_jobs(&entries, site.seed, site.cluster.hdfs.block, site.class_of);
        for arrival in &mut jobs.arrivals {
            // Each entry is a batch, in the same order: batches behind the workload's own belong to
            // the warm start.
            if own <= arrival.batch.index() {
                arrival.way = SubmissionWay::Warm;
            }
        }
        let start = start.unwrap_or_default();
        let looks_twice = site.hadoop.behaviour().looks_twice;
        Ok(Self { submission: spec.submission, start, warm_up, left_out, looks_twice, ..jobs })
    }

    /// Adds the jobs of `later`, which are submitted at their times besides the workload. Their
    /// numbers follow those of the workload, so that the workload's jobs keep their numbers and
    /// their random draws.
    pub fn add_later(&mut self, entries: impl Iterator<Item = JobEntry>, site: &WorkloadSite<'_>) {
        let block = site.cluster.hdfs.block;
        // A file number that no job has yet, so that later jobs share no blocks with the workload.
        let after = self.arrivals.iter().filter_map(|arrival| match arrival.spec.input {
            Some(Input::File { file, .. }) => Some(file.0 + 1),
            Some(Input::Splits(_)) | None => None,
        });
        let mut files = (after.max().unwrap_or_default()..).map(FileId);
        for entry in entries {
            let batch = BatchId(self.names.len() as u32);
            self.names.push(entry.name.clone());
            self.follows.push(Vec::new());
            for copy in entry.copies() {
                let id = self.arrivals.len() as u32;
                let file = files.next().expect("as many files as jobs");
                let spec = copy.spec(JobId(id), &copy.name, file, site.seed, block, site.class_of);
                self.arrivals.push(Arrival {
                    spec: Arc::new(spec),
                    place: id,
                    batch,
                    delay: copy.submit,
                    way: SubmissionWay::Later,
                });
            }
        }
    }
}

/// Says what of a trace is left out, and what else its user should know.
fn left_out(found: &FoundJobs) -> Vec<String> {
    let jobs = match found.left_out {
        0 => None,
        1 => Some("a job of the trace without work is left out".to_owned()),
        jobs => Some(format!(
            "{jobs} jobs of the trace that were killed or have nothing to run are left out"
        )),
    };
    let records = match found.broken {
        0 => None,
        1 => Some("a broken record of the trace is left out".to_owned()),
        records => Some(format!("{records} broken records of the trace are left out")),
    };
    jobs.into_iter().chain(records).chain(found.notes.iter().cloned()).collect()
}

/// Adds jobs that come besides those of the source.
fn add_others(others: &[JobEntry], entries: &mut Vec<JobEntry>) -> Result<(), TraceError> {
    if others.is_empty() {
        return Ok(());
    }
    let mut names = TakenNames::default();
    // The names in a trace are checked by its reader.
    entries.iter().for_each(|job| drop(names.take(job)));
    for job in others {
        if let Err(what) = names.take(job) {
            return Err(TraceError::Unusable { what, hint: "rename the job below `also`".into() });
        }
    }
    entries.extend_from_slice(others);
    Ok(())
}

/// Returns when the first job is submitted; `None` if at its own time.
fn first_submission(spec: &WorkloadSpec, site: &WorkloadSite<'_>) -> Option<SimSpan> {
    match spec.start {
        AutoSpan::Fixed(start) => Some(start),
        AutoSpan::Auto if site.hadoop.behaviour().first_job_waits => {
            // As in Mumak: start-up time plus one interval, 103 s in 0.21 and 0.22. No tracker has
            // registered when Mumak computes the interval, so it is the minimum.
            let interval = site.hadoop.heartbeat_interval(0);
            Some(site.hadoop.heartbeat_phase.or(interval) + interval)
        }
        AutoSpan::Auto => None,
    }
}

/// Returns how long it takes to fill a cluster. A job is read and set up. Then each heartbeat fills
/// one slot of a node, if the policy launches one task in each heartbeat.
fn settling(site: &WorkloadSite<'_>) -> SimSpan {
    let interval = site.hadoop.heartbeat_interval(site.topology.len());
    let slots = site.topology.nodes().map(|(_, node)| node.slots.map.max(node.slots.reduce)).max();
    site.hadoop.heartbeat_phase.or(interval)
        + site.cluster.jobtracker.init
        // Three heartbeats for the setup task: the first launches it, the second reports its end,
        // and the third can launch the first task of the job.
        + interval * u64::from(slots.unwrap_or(0) + 3)
}

impl WarmStart {
    /// Returns jobs that fill these shares of the slots, with names that no other job has.
    fn jobs(&self, slots: PerSlot<u32>, others: &[JobEntry]) -> Vec<JobEntry> {
        let mut names = TakenNames::default();
        // The workload's own names are checked already, so ignore the results here.
        others.iter().for_each(|job| drop(names.take(job)));
        let tasks = |kind: SlotKind, share: f64| (f64::from(slots[kind]) * share).round() as u32;
        let maps = tasks(SlotKind::Map, self.map_slots.get());
        let reduces = tasks(SlotKind::Reduce, self.reduce_slots.get());
        let job = |name: &str, maps, reduces| JobEntry {
            maps: Some(Count::of(maps)),
            // Maps without input run on any node at once, and move no data.
            input: Some(Bytes::ZERO),
            reduces: Count::of(reduces),
            map_time: Some(self.map_time.clone().into()),
            shuffle_time: Some(SimSpan::ZERO.into()),
            reduce_time: Some(self.reduce_time.clone().into()),
            ..JobEntry::named(name)
        };
        let mut jobs: Vec<JobEntry> =
            [job("warm-start-maps", maps, 0), job("warm-start-reduces", 0, reduces)]
                .into_iter()
                .filter(|job| job.maps != Some(Count::of(0)) || job.reduces != Count::of(0))
                .collect();
        for job in &mut jobs {
            while names.take(job).is_err() {
                // If the workload has a job `warm-start-maps`, the job of the warm start becomes
                // `warm-start-maps'`.
                job.name.push('\'');
            }
        }
        jobs
    }
}
