//! `workload: {sls: {file: …}}`: jobs of YARN's Scheduler Load Simulator.
//!
//! A file of jobs gives each task its time, and each map the node that it prefers. A file of the
//! simulator's generator gives classes from which jobs are drawn. The time of a container is the
//! time of an attempt; with `hadoop: {start_up: 0s}` nothing is added to it. The simulator asks for
//! reduces when all maps have ended: this is `hadoop: {slow_start: 1}`.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::format::{SLS_JOBS, SLS_SYNTH, without_labels};
use super::jobs::{entry, generated};
use super::record::SlsJob;
use crate::hosts::Hosts;
use mumakil_base::units::tell::counted;
use mumakil_core::trace::{Records, Strictness, TraceError, TraceFile};
use mumakil_scenario::workload::format::other;
use mumakil_scenario::workload::{FoundJobs, Source, SourceKind, TakenNames, WorkloadSite};

/// Jobs of YARN's Scheduler Load Simulator. `hadoop: {slow_start: 1}` is its own rule for reduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sls {
    /// The jobs, or the settings of its generator, plain or gzipped.
    pub file: TraceFile,
    /// The nodes: racks and hosts in place of `cluster.nodes`, `racks` and `groups`.
    /// Without this, each host that maps ask for stands for a node of the cluster, in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<TraceFile>,
    /// Whether broken jobs are left out instead of being an error.
    #[serde(default)]
    pub lenient: bool,
}

impl SourceKind for Sls {
    const KEY: &'static str = "sls";
    const ABOUT: &'static str = "Jobs of YARN's Scheduler Load Simulator.";
}

impl Source for Sls {
    /// Jobs without a task are left out.
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        let path = self.file.find(site.folder);
        let found = site.formats.recognise(&path)?;
        if *found == SLS_JOBS {
            self.replay(&path, site)
        } else if *found == SLS_SYNTH {
            self.generate(&path, site)
        } else {
            Err(other(&path, found, "jobs of the SLS or its generator"))
        }
    }

    fn files_mut(&mut self) -> Vec<(&'static str, &mut TraceFile)> {
        let nodes = self.nodes.as_mut().map(|file| ("nodes", file));
        [("file", &mut self.file)].into_iter().chain(nodes).collect()
    }

    fn hosts_key(&self) -> Option<&'static str> {
        self.nodes.as_ref().map(|_| "nodes")
    }

    fn is_traced(&self) -> bool {
        true
    }
}

impl Sls {
    fn replay(&mut self, path: &Path, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        let mut records = Records::<SlsJob>::open(path, Strictness::of(self.lenient))?;
        let mut found = FoundJobs::default();
        let mut hosts = Hosts::new(site.topology);
        let mut names = TakenNames::default();
        // A job without an id is named by its position among the usable records, as in an
        // inspection of the file.
        let (mut number, mut labelled, mut delayed) = (0, 0, 0);
        while let Some(job) = records.next().transpose()? {
            number += 1;
            // An object with `num.nodes` describes the cluster and is no job.
            if job.nodes.is_some() {
                continue;
            }
            let name = job.id.clone().unwrap_or_else(|| format!("job-{number}"));
            let entry = entry(&job, &name, records.place(), &mut hosts);
            match entry
                .and_then(|entry| entry.iter().try_for_each(|e| names.take(e)).map(|()| entry))
            {
                Ok(None) => found.left_out += 1,
                Ok(Some(entry)) => {
                    labelled += u64::from(job.label_expression.is_some());
                    delayed += job.tasks.iter().filter(|task| task.is_delayed()).count() as u64;
                    found.jobs.push(entry);
                }
                Err(_) if self.lenient => {
                    found.broken += 1;
                    number -= 1;
                }
                Err(what) => return Err(records.unusable(Some(&name), what)),
            }
        }
        found.broken += records.notes().skipped.count;
        found.notes.extend(hosts.unknown(path)?);
        found.notes.extend(without_labels(labelled, "job"));
        if 0 < delayed {
            let containers = counted(delayed, "container");
            found.notes.push(format!(
                "`container.request.delay` of {containers} has no effect: all tasks of a job ask \
                 for a node as soon as the job runs"
            ));
        }
        self.file.pin(site.folder, records.sha256())?;
        Ok(found)
    }

    fn generate(&mut self, path: &Path, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        let (found, sha256) = generated(path, site.seed)?;
        self.file.pin(site.folder, sha256.as_deref())?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::WorkloadGround;
    use mumakil_base::units::{Bytes, Count, SimSpan};
    use mumakil_core::cluster::TrackerId;
    use mumakil_core::mapred::TaskTimes;
    use mumakil_scenario::workload::JobEntry;

    const OLDER: &str = include_str!("../../../tests/fuzz/seeds/sls/synth-older.json");
    const NEWER: &str = include_str!("../../../tests/fuzz/seeds/sls/synth-newer.json");

    const JOBS: &str = r#"{"num.nodes": 2}
        {"job.id": "a", "job.start.ms": -5, "job.user": "ann", "job.queue.name": "q", "job.tasks": [
            {"container.type": "map", "container.host": "/r/h2", "container.start.ms": 3,
             "container.end.ms": 7},
            {"container.type": "reduce", "duration.ms": 9, "count": 2, "container.memory-mb": 512}]}
        {"job.id": "b", "job.start.ms": 1000, "job.tasks": []}"#;

    fn read(text: &str, options: &str) -> Result<FoundJobs, String> {
        let ground = WorkloadGround::new(3, Bytes::from_mib(64));
        fs::write(ground.folder.path().join("f"), text).unwrap();
        let mut sls: Sls = serde_yaml::from_str(&format!("{{file: f{options}}}")).unwrap();
        ground.found(|site| sls.jobs(site))
    }

    #[test]
    fn a_task_takes_its_time_where_it_likes_to_be() {
        let found = read(JOBS, "").unwrap();
        let [job] = found.jobs.as_slice() else { panic!("one job") };
        assert_eq!((job.name.as_str(), job.submit, found.left_out), ("a", SimSpan::ZERO, 1));
        assert_eq!((job.user.as_str(), job.pool.as_deref()), ("ann", Some("q")));
        assert_eq!(job.map_time, Some(TaskTimes::Each([SimSpan::from_millis(4)].into())));
        assert_eq!(job.reduce_time, Some(TaskTimes::Each([SimSpan::from_millis(9); 2].into())));
        assert_eq!(*job.splits.as_ref().unwrap()[0].holders, [TrackerId(0)]);
        assert_eq!(job.reduce_memory, Bytes::from_mib(512));
    }

    #[test]
    fn labels_and_delays_are_said_to_have_no_effect() {
        let text = r#"{"job.id": "a", "job.label.expression": "x", "job.tasks": [
            {"duration.ms": 1, "container.request.delay": 1000},
            {"duration.ms": 1, "container.request.delay": 0}]}"#;
        let notes = read(text, "").unwrap().notes;
        let [labels, delays] = &notes[..] else { panic!("{notes:?}") };
        assert!(labels.starts_with("the labels of 1 job have no effect"), "{labels}");
        assert!(delays.starts_with("`container.request.delay` of 1 container has"), "{delays}");
    }

    #[test]
    fn a_container_without_a_type_is_what_its_priority_says() {
        let task = |priority| format!(r#"{{"container.priority": {priority}, "duration.ms": 1}}"#);
        let text = format!(r#"{{"job.tasks": [{}, {}, {}]}}"#, task(20), task(10), task(10));
        let found = read(&text, "").unwrap();
        let counts = |job: &JobEntry| (job.maps.map(Count::get), job.reduces.get());
        assert_eq!(counts(&found.jobs[0]), (Some(1), 2));
    }

    #[test]
    fn jobs_that_cannot_run_are_refused_or_left_out() {
        let bad = r#"{"job.id": "x", "job.tasks": [{"container.type": "am", "duration.ms": 1}]}"#;
        let text = format!("{JOBS}\n{bad}");
        let error = read(&text, "").err().unwrap();
        assert!(
            error.ends_with(
                "f:7: job \"x\": a task of the type `am`, where only `map` and `reduce` can be run"
            ),
            "{error}"
        );
        assert_eq!(read(&text, ", lenient: true").unwrap().broken, 1);
        let error = read("job0\t1\t1\t0\t0\t0\n", "").err().unwrap();
        assert!(error.ends_with("f holds SWIM, not jobs of the SLS or its generator"), "{error}");
    }

    #[test]
    fn a_job_without_an_id_does_not_get_the_name_of_another() {
        let task = r#""job.tasks": [{"duration.ms": 1}]"#;
        let text = format!(r#"{{"job.id": "job-2", {task}}} {{"job.user": "ann", {task}}}"#);
        let error = read(&text, "").err().unwrap();
        assert!(error.ends_with("job \"job-2\": another job is called `job-2` already"), "{error}");
        let text =
            format!(r#"{{"job.id": "a", "job.count": 2, {task}}} {{"job.id": "a-1", {task}}}"#);
        let error = read(&text, "").err().unwrap();
        assert!(error.ends_with("have a count, and one of them is called `a-1`"), "{error}");
        assert_eq!(read(&text, ", lenient: true").unwrap().broken, 1);
    }

    #[test]
    fn a_generator_draws_the_same_jobs_again() {
        for text in [OLDER, NEWER] {
            let found = read(text, "").unwrap();
            assert_eq!(found.jobs.len() as u64 + found.left_out, 10);
            assert_eq!(read(text, "").unwrap().jobs, found.jobs);
            let job = &found.jobs[0];
            assert!(job.submit <= SimSpan::from_secs(60) && job.map_time.is_some(), "{job:?}");
        }
    }
}
