//! Turns the SLS' files into jobs: the jobs that it lists, and the jobs that its generator would
//! draw.

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::record::{SlsJob, SlsTask};
use super::synth::{self, Synth, SynthAmount, SynthClass, SynthSample, SynthTask, TimeSample};
use crate::hosts::Hosts;
use mumakil_base::random::{self, ChaCha8Rng, Dist, Purpose, Shape, stream};
use mumakil_base::units::{Bytes, Count, Factor, Quantity, SimSpan};
use mumakil_core::cluster::TrackerId;
use mumakil_core::mapred::{Split, TaskTimes};
use mumakil_core::trace::{Records, Strictness, TextPlace, TraceError};
use mumakil_scenario::workload::{FoundJobs, JobEntry, TaskCores};

/// Returns the jobs that are drawn by the settings in a file, and the SHA-256 of the file.
pub(super) fn generated(path: &Path, seed: u64) -> Result<(FoundJobs, Option<String>), TraceError> {
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
        // Times from a list of values are drawn for each task and kept, 8 bytes each; times from a
        // distribution are not.
        if MOST_TASKS < listed {
            let what = format!("more than {MOST_TASKS} tasks with values of a list");
            return Err(records.unusable(Some(&name), what));
        }
    }
    Ok((found, records.sha256().map(str::to_owned)))
}

/// The tasks of a job that are of one kind.
#[derive(Default)]
struct SlsTasks {
    times: Vec<SimSpan>,
    /// The node on which each task prefers to run.
    holders: Vec<Option<TrackerId>>,
    memory: Option<Bytes>,
    cores: Option<TaskCores>,
}

impl SlsTasks {
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
        self.cores = self.cores.or(task.vcores.and_then(Count::new));
        Ok(())
    }

    fn count(&self) -> Count<0, 10_000_000> {
        Count::of(self.times.len() as u32)
    }

    fn times(&self) -> Option<TaskTimes> {
        (!self.times.is_empty()).then(|| TaskTimes::Each(self.times.as_slice().into()))
    }

    /// Returns the split of each task, without bytes, on the node that the task prefers; `None` if
    /// no task prefers a node.
    fn splits(&self) -> Option<Arc<[Split]>> {
        let is_known = self.holders.iter().any(Option::is_some);
        let splits = self
            .holders
            .iter()
            .map(|holder| Split { bytes: Bytes::ZERO, holders: holder.iter().copied().collect() });
        is_known.then(|| splits.collect())
    }
}

/// The most tasks of one kind in a job, as in a list.
const MOST_TASKS: usize = 10_000_000;

fn time(task: &SlsTask) -> Result<SimSpan, String> {
    task.duration().ok_or_else(|| match (task.start_ms, task.end_ms) {
        (Some(start), Some(end)) => {
            format!("a task ends at {end} ms, before it begins at {start} ms")
        }
        _ => "a task has neither a duration nor a start and an end".to_owned(),
    })
}

/// The priority of a reduce in the files of the SLS' own converter; a map has 20.
pub(super) const REDUCE_PRIORITY: i32 = 10;

/// Returns a job; `None` if it has no tasks to run.
pub(super) fn entry(
    job: &SlsJob,
    name: &str,
    place: TextPlace,
    hosts: &mut Hosts<'_>,
) -> Result<Option<JobEntry>, String> {
    let (mut maps, mut reduces) = (SlsTasks::default(), SlsTasks::default());
    for host in job.tasks.iter().filter_map(|task| task.host.as_deref()) {
        hosts.meet(host, place, name);
    }
    for task in &job.tasks {
        match (task.task_type.as_deref(), task.priority) {
            (Some("reduce"), _) | (None, Some(REDUCE_PRIORITY)) => reduces.add(task, hosts)?,
            // A container without a type counts as a map, since it need not wait for other
            // containers.
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
        // Only durations are known of these tasks: they read, fetch and sort no bytes.
        input: Some(Bytes::ZERO),
        splits: maps.splits(),
        reduce_holders: reduces.splits(),
        map_time: maps.times(),
        shuffle_time: Some(SimSpan::ZERO.into()),
        sort_time: SimSpan::ZERO.into(),
        reduce_time: reduces.times(),
        map_memory: maps.memory.unwrap_or(plain.map_memory),
        reduce_memory: reduces.memory.unwrap_or(plain.reduce_memory),
        map_cores: maps.cores.unwrap_or(plain.map_cores),
        reduce_cores: reduces.cores.unwrap_or(plain.reduce_cores),
        ..plain
    }))
}

fn other_type(name: &str) -> String {
    format!("a task of the type `{name}`, where only `map` and `reduce` can be run")
}

/// Draws a job; `None` if it has no tasks to run.
fn draw(synth: &Synth, name: &str, rng: &mut ChaCha8Rng) -> Result<Option<JobEntry>, String> {
    let workload = pick(&synth.workloads, |workload| workload.workload_weight.0, rng)
        .ok_or("no workload has a weight")?;
    let class = pick(&workload.job_classes, |class| class.class_weight.0, rng)
        .ok_or("no class of a workload has a weight")?;
    let plain = JobEntry::named(name);
    let mut job = JobEntry {
        submit: instant(&workload.time_distribution, rng).ok_or("no time has a weight")?,
        user: class.user_name.clone().unwrap_or_else(|| plain.user.clone()),
        pool: Some(workload.queue_name.clone().unwrap_or_else(|| "default".to_owned())),
        class: class.class_name.clone(),
        // As for the SLS' jobs, only durations are known.
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
        let cores = cores(&task.max_vcores);
        match task.task_type.as_str() {
            "map" => {
                job.map_cores = cores;
                (job.maps, job.map_time, job.map_memory) = (Some(count), Some(times), memory);
            }
            "reduce" => {
                job.reduce_cores = cores;
                (job.reduces, job.reduce_time, job.reduce_memory) = (count, Some(times), memory);
            }
            other => return Err(other_type(other)),
        }
    }
    let is_empty = job.maps == Some(Count::of(0)) && job.reduces == Count::of(0);
    Ok((!is_empty).then_some(job))
}

/// Returns how many cores a task asks for: all tasks of a kind ask for the mean.
fn cores(sample: &SynthSample) -> TaskCores {
    let (SynthSample::Constant(mean) | SynthSample::Drawn { mean, .. }) = sample else {
        return Count::of(1);
    };
    // Files without this number have zero.
    Count::new(mean.round().max(1.0) as u32).unwrap_or(Count::of(1))
}

/// Returns the tasks of a class; an older class gives them as single numbers.
fn tasks(class: &SynthClass) -> Vec<SynthTask> {
    if let Some(tasks) = &class.tasks {
        return tasks.clone();
    }
    let drawn = |dist, SynthAmount(mean), SynthAmount(deviation)| SynthSample::Drawn {
        dist,
        mean,
        deviation,
    };
    let task = |task_type: &str, count, time, memory, max_vcores| SynthTask {
        task_type: task_type.to_owned(),
        count,
        time,
        max_memory: memory,
        max_vcores,
        priority: 0,
        execution_type: None,
    };
    let (normal, log_normal) = (synth::SynthDist::Normal, synth::SynthDist::LogNormal);
    vec![
        task(
            "map",
            drawn(normal, class.mtasks_avg, class.mtasks_stddev),
            drawn(log_normal, class.mtime_avg, class.mtime_stddev),
            drawn(normal, class.map_max_memory_avg, class.map_max_memory_stddev),
            drawn(normal, class.map_max_vcores_avg, class.map_max_vcores_stddev),
        ),
        task(
            "reduce",
            drawn(normal, class.rtasks_avg, class.rtasks_stddev),
            drawn(log_normal, class.rtime_avg, class.rtime_stddev),
            drawn(normal, class.reduce_max_memory_avg, class.reduce_max_memory_stddev),
            drawn(normal, class.reduce_max_vcores_avg, class.reduce_max_vcores_stddev),
        ),
    ]
}

/// Returns one of several items, at random by their weights.
fn pick<'a, T>(all: &'a [T], weight: fn(&T) -> f64, rng: &mut ChaCha8Rng) -> Option<&'a T> {
    let can = all.iter().any(|item| 0.0 < weight(item));
    can.then(|| &all[random::pick(all.iter().map(weight), rng)])
}

/// Draws a time: first a sample, by their weights, and then a time from that of the sample to that
/// of the next. The last sample has its own time alone. `None` if no sample has a weight.
fn instant(samples: &[TimeSample], rng: &mut ChaCha8Rng) -> Option<SimSpan> {
    // A single sample needs no weight.
    if let [only] = samples {
        return Some(SimSpan::from_secs(only.time.into()));
    }
    let ends = samples.iter().skip(1).chain(samples.last());
    let pieces: Vec<(&TimeSample, &TimeSample)> = samples.iter().zip(ends).collect();
    let (from, to) = pick(&pieces, |(from, _)| from.weight.0, rng)?;
    let (from, to) = (f64::from(from.time), f64::from(to.time));
    Some(SimSpan::from_f64((from + (to - from) * rng.random::<f64>()) * 1e6))
}

/// Draws a quantity, which is never below zero.
fn sample(sample: &SynthSample, rng: &mut ChaCha8Rng) -> Result<f64, String> {
    let value = match sample {
        SynthSample::Constant(value) => *value,
        SynthSample::Drawn { dist: synth::SynthDist::Normal, mean, deviation } => {
            let normal: f64 = StandardNormal.sample(rng);
            mean + deviation * normal
        }
        SynthSample::Drawn { dist: synth::SynthDist::LogNormal, mean, deviation } => {
            let mean = Factor::new(*mean).ok_or_else(|| format!("a mean of {mean}"))?;
            log_normal(mean, *deviation / mean.get()).sample(rng).get()
        }
        SynthSample::OneOf(values) => pick(values, |(_, weight)| *weight, rng).ok_or("no value")?.0,
    };
    Ok(value.max(0.0))
}

/// Returns how long tasks take. A normal distribution becomes a log-normal one with the same mean
/// and deviation, which has no times below zero.
fn times(time: &SynthSample, tasks: u32, rng: &mut ChaCha8Rng) -> Result<TaskTimes, String> {
    let span = |secs: f64| SimSpan::from_f64(secs.max(0.0) * 1e6);
    match time {
        SynthSample::Constant(secs) => Ok(span(*secs).into()),
        SynthSample::Drawn { mean, deviation, .. } => {
            Ok(log_normal(span(*mean), deviation / mean).into())
        }
        SynthSample::OneOf(_) => {
            let each = (0..tasks).map(|_| sample(time, rng).map(span));
            each.collect::<Result<_, _>>().map(TaskTimes::Each)
        }
    }
}

/// Returns the log-normal distribution with a mean and a coefficient of variation.
fn log_normal<T: Quantity>(mean: T, cv: f64) -> Dist<T> {
    match Factor::new(cv) {
        Some(cv) if cv != Factor::of(0.0) => Dist::Drawn(Shape::LogNormal { mean, cv }),
        _ => Dist::Constant(mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sls::SynthAmount;

    #[test]
    fn the_weight_of_the_last_time_is_that_of_the_time_itself() {
        let sample = |(time, weight)| TimeSample { time, weight: SynthAmount(weight) };
        let samples = [(0, 1.0), (30, 0.0), (60, 2.0), (90, 1.0)].map(sample);
        let mut rng = stream(7, Purpose::Workload, 1);
        let mut counts = [0; 4];
        for _ in 0..1_000 {
            let at = instant(&samples, &mut rng).unwrap().as_secs_f64();
            counts[(at / 30.0).floor() as usize] += 1;
            assert!(at <= 90.0);
        }
        assert_eq!(counts[1], 0);
        assert!((200..300).contains(&counts[0]) && (200..300).contains(&counts[3]), "{counts:?}");
    }
}
