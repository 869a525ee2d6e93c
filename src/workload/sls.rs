//! `workload: {sls: {file: …}}`: jobs of YARN's Scheduler Load Simulator.
//!
//! A file of jobs gives each task its time, and each map the node that it would like. A file of
//! the simulator's generator gives classes from which jobs are drawn. The time of a container is
//! that of an attempt; with `hadoop: {start_up: 0s}` nothing is added to it. The simulator asks for
//! reduces when all maps have ended: that is `hadoop: {slow_start: 1}`.

mod format;

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::format::{Format, other};
use super::hosts::Hosts;
use super::{FoundJobs, JobEntry, Site, Source, SourceKind, TakenNames};
use crate::cluster::TrackerId;
use crate::mapred::{Split, TaskTimes};
use crate::random::{self, ChaCha8Rng, Dist, Purpose, Shape, stream};
use crate::trace::sls::{self, Sample, SlsJob, SlsTask, Synth, SynthClass, SynthTask, TimeSample};
use crate::trace::{Records, Strictness, TextPlace, TraceError, TraceFile};
use crate::units::{Bytes, Count, Factor, Quantity, SimSpan};

pub(super) use format::{SlsJobs, SlsNodes, SlsSynth};

/// Jobs of YARN's Scheduler Load Simulator. `hadoop: {slow_start: 1}` is its own rule for reduces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sls {
    /// The jobs, or what its generator is told, plain or gzipped.
    pub file: TraceFile,
    /// The nodes: the cluster's racks and hosts, in place of `cluster.nodes` and `cluster.racks`.
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
    /// Those without a task are left out.
    fn jobs(&mut self, site: &Site<'_>) -> Result<FoundJobs, TraceError> {
        let path = self.file.find(site.folder);
        let found = site.formats.recognise(&path)?;
        if found == &SlsJobs as &dyn Format {
            self.replay(&path, site)
        } else if found == &SlsSynth as &dyn Format {
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
    fn replay(&mut self, path: &Path, site: &Site<'_>) -> Result<FoundJobs, TraceError> {
        let mut records = Records::<SlsJob>::open(path, Strictness::of(self.lenient))?;
        let mut found = FoundJobs::default();
        let mut hosts = Hosts::new(site.topology);
        let mut names = TakenNames::default();
        // A job without an id is called by its place among the records that can be used.
        let mut number = 0;
        while let Some(job) = records.next().transpose()? {
            number += 1;
            if job.nodes.is_some() {
                continue;
            }
            let name = job.id.clone().unwrap_or_else(|| format!("job-{number}"));
            let entry = entry(&job, &name, records.place(), &mut hosts);
            match entry
                .and_then(|entry| entry.iter().try_for_each(|e| names.take(e)).map(|()| entry))
            {
                Ok(None) => found.left_out += 1,
                Ok(Some(entry)) => found.jobs.push(entry),
                Err(_) if self.lenient => {
                    found.broken += 1;
                    number -= 1;
                }
                Err(what) => return Err(records.unusable(Some(&name), what)),
            }
        }
        found.broken += records.notes().skipped.count;
        found.unknown_hosts = hosts.unknown(path)?;
        self.file.pin(site.folder, records.sha256())?;
        Ok(found)
    }

    fn generate(&mut self, path: &Path, site: &Site<'_>) -> Result<FoundJobs, TraceError> {
        let (found, sha256) = generated(path, site.seed)?;
        self.file.pin(site.folder, sha256.as_deref())?;
        Ok(found)
    }
}

/// Returns the jobs that are drawn as a file says, and the SHA-256 of the file.
fn generated(path: &Path, seed: u64) -> Result<(FoundJobs, Option<String>), TraceError> {
    let mut records = Records::<Synth>::open(path, Strictness::Strict)?;
    let synth = records.only()?;
    let mut found = FoundJobs::default();
    let mut listed = 0;
    for number in 1..=synth.num_jobs {
        let name = format!("job-{number}");
        let mut rng = stream(seed, Purpose::Workload, u64::from(number));
        match draw(&synth, &name, &mut rng) {
            Ok(None) => found.left_out += 1,
            Ok(Some(entry)) => {
                let times = [&entry.map_time, &entry.reduce_time].into_iter().flatten();
                listed += times.filter_map(TaskTimes::listed).sum::<usize>();
                found.jobs.push(entry);
            }
            Err(what) => return Err(records.unusable(Some(&name), what)),
        }
        if MOST_TASKS < listed {
            let what = format!("more than {MOST_TASKS} tasks with values of a list");
            return Err(records.unusable(Some(&name), what));
        }
    }
    Ok((found, records.sha256().map(str::to_owned)))
}

/// The tasks of one kind that a job has.
#[derive(Default)]
struct Tasks {
    times: Vec<SimSpan>,
    /// Where they would like to run.
    holders: Vec<Option<TrackerId>>,
    memory: Option<Bytes>,
}

impl Tasks {
    fn add(&mut self, task: &SlsTask, hosts: &Hosts<'_>) -> Result<(), String> {
        let copies = task.count.unwrap_or(1) as usize;
        if MOST_TASKS < self.times.len() + copies {
            return Err(format!("more than {MOST_TASKS} tasks of a kind"));
        }
        let holder = task.host.as_deref().and_then(|host| hosts.find(host));
        let time = time(task)?;
        self.times.extend(std::iter::repeat_n(time, copies));
        self.holders.extend(std::iter::repeat_n(holder, copies));
        self.memory = self.memory.or(task.memory_mb.map(|mb| Bytes::new(mb.min(1 << 40) << 20)));
        Ok(())
    }

    fn count(&self) -> Count<0, 10_000_000> {
        Count::of(self.times.len() as u32)
    }

    fn times(&self) -> Option<TaskTimes> {
        (!self.times.is_empty()).then(|| TaskTimes::Each(self.times.as_slice().into()))
    }

    /// Returns where the input of each lies, if that is said of any.
    fn splits(&self) -> Option<Arc<[Split]>> {
        let split = |holder: &Option<TrackerId>| Split {
            bytes: Bytes::ZERO,
            holders: holder.iter().copied().collect(),
        };
        let is_known = self.holders.iter().any(Option::is_some);
        is_known.then(|| self.holders.iter().map(split).collect())
    }
}

/// The most tasks of a kind that a job may have, as in a list.
const MOST_TASKS: usize = 10_000_000;

fn time(task: &SlsTask) -> Result<SimSpan, String> {
    task.duration().ok_or_else(|| match (task.start_ms, task.end_ms) {
        (Some(start), Some(end)) => {
            format!("a task ends at {end} ms, before it begins at {start} ms")
        }
        _ => "a task has neither a duration nor a start and an end".to_owned(),
    })
}

/// The priority of a reduce in the files of the SLS' own converter; that of a map is 20.
const REDUCE_PRIORITY: i32 = 10;

/// Returns a job, if there is anything to run.
fn entry(
    job: &SlsJob,
    name: &str,
    place: TextPlace,
    hosts: &mut Hosts<'_>,
) -> Result<Option<JobEntry>, String> {
    let (mut maps, mut reduces) = (Tasks::default(), Tasks::default());
    for host in job.tasks.iter().filter_map(|task| task.host.as_deref()) {
        hosts.meet(host, place, name);
    }
    for task in &job.tasks {
        match (task.task_type.as_deref(), task.priority) {
            (Some("reduce"), _) | (None, Some(REDUCE_PRIORITY)) => reduces.add(task, hosts)?,
            // A container of which nothing is said waits for nothing, as a map.
            (Some("map") | None, _) => maps.add(task, hosts)?,
            (Some(other), _) => return Err(other_type(other)),
        }
    }
    let is_empty = maps.times.is_empty() && reduces.times.is_empty();
    if is_empty || job.count == Some(0) || job.nodes.is_some() {
        return Ok(None);
    }
    let copies = job.count.unwrap_or(1);
    let start = u64::try_from(job.start_ms.unwrap_or(0)).unwrap_or(0);
    let plain = JobEntry::named(name);
    Ok(Some(JobEntry {
        submit: SimSpan::from_millis(start),
        count: Count::new(copies).ok_or_else(|| format!("{copies} such jobs are too many"))?,
        user: job.user.clone().unwrap_or_else(|| plain.user.clone()),
        pool: Some(job.queue.clone().unwrap_or_else(|| "default".to_owned())),
        maps: Some(maps.count()),
        reduces: reduces.count(),
        input: Some(Bytes::ZERO),
        splits: maps.splits(),
        map_time: maps.times(),
        shuffle_time: Some(SimSpan::ZERO.into()),
        sort_time: SimSpan::ZERO.into(),
        reduce_time: reduces.times(),
        map_memory: maps.memory.unwrap_or(plain.map_memory),
        reduce_memory: reduces.memory.unwrap_or(plain.reduce_memory),
        ..plain
    }))
}

fn other_type(name: &str) -> String {
    format!("a task of the type `{name}`, where only `map` and `reduce` can be run")
}

/// Draws a job, if there is then anything to run.
fn draw(synth: &Synth, name: &str, rng: &mut ChaCha8Rng) -> Result<Option<JobEntry>, String> {
    let workload = pick(&synth.workloads, |workload| workload.workload_weight, rng)
        .ok_or("no workload has a weight")?;
    let class = pick(&workload.job_classes, |class| class.class_weight, rng)
        .ok_or("no class of a workload has a weight")?;
    let plain = JobEntry::named(name);
    let mut job = JobEntry {
        submit: instant(&workload.time_distribution, rng).ok_or("no time has a weight")?,
        user: class.user_name.clone().unwrap_or_else(|| plain.user.clone()),
        pool: Some(workload.queue_name.clone().unwrap_or_else(|| "default".to_owned())),
        class: class.class_name.clone(),
        input: Some(Bytes::ZERO),
        maps: Some(Count::of(0)),
        shuffle_time: Some(SimSpan::ZERO.into()),
        sort_time: SimSpan::ZERO.into(),
        ..plain
    };
    for task in tasks(class).iter() {
        let tasks = sample(&task.count, rng)?.round() as u32;
        let count = Count::new(tasks).ok_or_else(|| format!("{tasks} tasks are too many"))?;
        let times = times(&task.time, tasks, rng)?;
        let memory = Bytes::from_f64(sample(&task.max_memory, rng)?.min(1e12) * 1_048_576.0);
        match task.task_type.as_str() {
            "map" => {
                (job.maps, job.map_time, job.map_memory) = (Some(count), Some(times), memory);
            }
            "reduce" => {
                (job.reduces, job.reduce_time, job.reduce_memory) = (count, Some(times), memory);
            }
            other => return Err(other_type(other)),
        }
    }
    let is_empty = job.maps == Some(Count::of(0)) && job.reduces == Count::of(0);
    Ok((!is_empty).then_some(job))
}

/// Returns the tasks of a class; an older one says them in numbers of its own.
fn tasks(class: &SynthClass) -> Vec<SynthTask> {
    if let Some(tasks) = &class.tasks {
        return tasks.clone();
    }
    let drawn = |dist, mean, deviation| Sample::Drawn { dist, mean, deviation };
    let task = |task_type: &str, count, time, memory| SynthTask {
        task_type: task_type.to_owned(),
        count,
        time,
        max_memory: memory,
        max_vcores: Sample::Constant(1.0),
        priority: 0,
        execution_type: None,
    };
    let (normal, log_normal) = (sls::Dist::Normal, sls::Dist::LogNormal);
    vec![
        task(
            "map",
            drawn(normal, class.mtasks_avg, class.mtasks_stddev),
            drawn(log_normal, class.mtime_avg, class.mtime_stddev),
            drawn(normal, class.map_max_memory_avg, class.map_max_memory_stddev),
        ),
        task(
            "reduce",
            drawn(normal, class.rtasks_avg, class.rtasks_stddev),
            drawn(log_normal, class.rtime_avg, class.rtime_stddev),
            drawn(normal, class.reduce_max_memory_avg, class.reduce_max_memory_stddev),
        ),
    ]
}

/// Returns one of several, each as likely as its weight says.
fn pick<'a, T>(all: &'a [T], weight: fn(&T) -> f64, rng: &mut ChaCha8Rng) -> Option<&'a T> {
    let can = all.iter().any(|item| 0.0 < weight(item));
    can.then(|| &all[random::pick(all.iter().map(weight), rng)])
}

/// Draws an instant: between a sample and the next one, as often as its weight says; that of the
/// sample, if there is only one.
fn instant(samples: &[TimeSample], rng: &mut ChaCha8Rng) -> Option<SimSpan> {
    if let [only] = samples {
        return Some(SimSpan::from_secs(only.time.into()));
    }
    let pieces: Vec<(f64, [u32; 2])> =
        samples.windows(2).map(|pair| (pair[0].weight, [pair[0].time, pair[1].time])).collect();
    let (_, [from, to]) = pick(&pieces, |piece| piece.0, rng)?;
    let (from, to) = (f64::from(*from), f64::from(*to));
    Some(SimSpan::from_f64((from + (to - from) * rng.random::<f64>()) * 1e6))
}

/// Draws a quantity, which is never below zero.
fn sample(sample: &Sample, rng: &mut ChaCha8Rng) -> Result<f64, String> {
    let value = match sample {
        Sample::Constant(value) => *value,
        Sample::Drawn { dist: sls::Dist::Normal, mean, deviation } => {
            let normal: f64 = StandardNormal.sample(rng);
            mean + deviation * normal
        }
        Sample::Drawn { dist: sls::Dist::LogNormal, mean, deviation } => {
            let mean = Factor::new(*mean).ok_or_else(|| format!("a mean of {mean}"))?;
            log_normal(mean, *deviation / mean.get()).sample(rng).get()
        }
        Sample::OneOf(values) => {
            let (value, _) = pick(values, |(_, weight)| *weight, rng).ok_or("no value")?;
            value.parse().map_err(|_| format!("`{value}` is not a number"))?
        }
    };
    Ok(value.max(0.0))
}

/// Returns how long tasks take. A normal distribution becomes a log-normal one of the same mean and
/// deviation, which knows no times below zero.
fn times(time: &Sample, tasks: u32, rng: &mut ChaCha8Rng) -> Result<TaskTimes, String> {
    let span = |secs: f64| SimSpan::from_f64(secs.max(0.0) * 1e6);
    match time {
        Sample::Constant(secs) => Ok(span(*secs).into()),
        Sample::Drawn { mean, deviation, .. } => {
            Ok(log_normal(span(*mean), deviation / mean).into())
        }
        Sample::OneOf(_) => {
            let each = (0..tasks).map(|_| sample(time, rng).map(span));
            each.collect::<Result<_, _>>().map(TaskTimes::Each)
        }
    }
}

/// Returns the distribution of a mean and a coefficient of variation.
fn log_normal<T: Quantity>(mean: T, cv: f64) -> Dist<T> {
    match Factor::new(cv) {
        Some(cv) if cv != Factor::of(0.0) => Dist::Drawn(Shape::LogNormal { mean, cv }),
        _ => Dist::Constant(mean),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workload::tests::Ground;

    const OLDER: &str = include_str!("../../tests/fuzz/seeds/sls/synth-older.json");
    const NEWER: &str = include_str!("../../tests/fuzz/seeds/sls/synth-newer.json");

    const JOBS: &str = r#"{"num.nodes": 2}
        {"job.id": "a", "job.start.ms": -5, "job.user": "ann", "job.queue.name": "q", "job.tasks": [
            {"container.type": "map", "container.host": "/r/h2", "container.start.ms": 3,
             "container.end.ms": 7},
            {"container.type": "reduce", "duration.ms": 9, "count": 2, "container.memory-mb": 512}]}
        {"job.id": "b", "job.start.ms": 1000, "job.tasks": []}"#;

    fn read(text: &str, options: &str) -> Result<FoundJobs, String> {
        let ground = Ground::new(3, Bytes::from_mib(64));
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
    fn a_container_without_a_type_is_what_its_priority_says() {
        let task = |priority| format!(r#"{{"container.priority": {priority}, "duration.ms": 1}}"#);
        let text = format!(r#"{{"job.tasks": [{}, {}, {}]}}"#, task(20), task(10), task(10));
        let found = read(&text, "").unwrap();
        let counts = |job: &JobEntry| (job.maps.map(Count::get), job.reduces.get());
        assert_eq!(counts(&found.jobs[0]), (Some(1), 2));
    }

    #[test]
    fn what_cannot_be_run_is_said_or_left_out() {
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
