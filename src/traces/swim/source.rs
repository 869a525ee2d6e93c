//! `workload: {swim: {file: …}}`: the jobs of a SWIM trace, which has bytes but no tasks.
//!
//! A trace gives for each job when it arrived and how many bytes it read, shuffled and wrote.
//! Options decide how many tasks a job gets (`mapping`), how long the tasks take (`map_rate`,
//! `reduce_rate`, `noise`), which jobs are taken (`jobs`, `window`, `at_least`) and how large the jobs
//! are (`size_scale`).
//!
//! `mapping: replay` follows SWIM's own replay except in one point. SWIM picks the partition files
//! that a job reads; here a job's blocks belong to the path in the trace, or to a file of its own,
//! and are placed like any blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::SwimJob;
use super::sizes::TaskCounts;
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Count, Factor, Quantity, Rate, SimSpan};
use mumakil_core::cluster::NodeCount;
use mumakil_core::mapred::SlotKind;
use mumakil_core::trace::{Records, Strictness, TraceError, TraceFile};
use mumakil_scenario::workload::{
    FoundJobs, JobEntry, Source, SourceKind, TaskCount, WorkloadSite,
};
use mumakil_yaml::{Path, YamlProblem};

/// Jobs of a SWIM trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Swim {
    /// The trace, plain or gzipped. Jobs whose input has the same path read the same blocks.
    pub file: TraceFile,
    /// How bytes become tasks.
    #[serde(default)]
    pub mapping: Mapping,
    /// A job has one reduce for this many bytes of shuffle: `1GiB` unless given. With `replay`,
    /// shuffle and output count together; unless given, a job then has 0.45 of the cluster's reduce
    /// slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_reduce: Option<Bytes>,
    /// How fast a map processes its input. By default a map of 128 MiB takes 19 s, Facebook's
    /// median of 2009.
    #[serde(default = "map_rate")]
    pub map_rate: Rate,
    /// How fast a reduce processes what it fetched. By default a reduce of 1 GiB takes about 231 s,
    /// Facebook's median of 2009.
    #[serde(default = "reduce_rate")]
    pub reduce_rate: Rate,
    /// The factor of every computing time, drawn for each task.
    #[serde(default = "no_noise")]
    pub noise: Dist<Factor>,
    /// Which jobs are taken, by their positions in the trace, from 1. With this or `window`, times
    /// count from the first job that is taken.
    #[serde(default)]
    pub jobs: SwimRange<Count<1, 100_000_000>>,
    /// Which jobs are taken, by their times in the trace; the end itself is not included.
    #[serde(default)]
    pub window: SwimRange<SimSpan>,
    /// Only jobs that are at least this large are taken.
    #[serde(default)]
    pub at_least: AtLeast,
    /// The factor of input, shuffle and output: for a cluster of another size.
    #[serde(default = "as_it_is")]
    pub size_scale: Factor,
    /// Whether broken jobs are left out instead of being an error.
    #[serde(default)]
    pub lenient: bool,
}

/// How bytes become tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Mapping {
    /// A map for each block of the input, but at least one; no reduce without shuffle.
    #[default]
    Blocks,
    /// As in SWIM's own replay: sizes shrink with the cluster, each map reads a file of one block,
    /// every job has reduces, and arrives after the gap of the job before.
    Replay {
        /// The number of nodes of the cluster from which the trace comes.
        nodes: NodeCount,
    },
}

/// A range: from a first item to a last one, or open at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SwimRange<T> {
    /// The first item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<T>,
    /// The last item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<T>,
}

impl<T> Default for SwimRange<T> {
    fn default() -> Self {
        Self { from: None, to: None }
    }
}

impl<T: Copy + PartialOrd> SwimRange<T> {
    /// Returns whether the range has a limit.
    fn is_part(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Returns whether the range is empty, since it ends before it begins.
    fn is_backwards(&self) -> bool {
        self.from.zip(self.to).is_some_and(|(from, to)| to < from)
    }

    /// Returns whether an item comes before the range begins.
    fn begins_after(&self, item: T) -> bool {
        self.from.is_some_and(|from| item < from)
    }
}

/// The least size of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AtLeast {
    /// The bytes that the job reads.
    pub input: Bytes,
    /// The number of its maps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maps: Option<TaskCount>,
    /// The number of its reduces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduces: Option<TaskCount>,
}

/// The default rate. Facebook's median map takes 19 s: 2 s of start, 2 s of reading 128 MiB, and
/// the rest at this rate.
pub(super) fn map_rate() -> Rate {
    Rate::from_mb_per_s(9)
}

/// The default rate. Facebook's median reduce takes 231 s: 2 s of start, about 40 s of fetching 1
/// GiB, and the rest at this rate.
pub(super) fn reduce_rate() -> Rate {
    Rate::from_mb_per_s(6)
}

fn as_it_is() -> Factor {
    Factor::ONE
}

impl SourceKind for Swim {
    const KEY: &'static str = "swim";
    const ABOUT: &'static str = "Jobs of a SWIM trace.";
}

impl Source for Swim {
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        let path = self.file.find(site.folder);
        let mut records = Records::<SwimJob>::open(&path, Strictness::of(self.lenient))?;
        let mut found = FoundJobs::default();
        let (mut place, mut replayed_s) = (0, 0_u64);
        while let Some(job) = records.next().transpose()? {
            place += 1;
            let submit_s = match self.mapping {
                Mapping::Blocks => job.submit_s,
                Mapping::Replay { .. } => replayed_s,
            };
            // SWIM's script starts a job and then sleeps for that job's own gap: all gaps take
            // effect one job late.
            replayed_s = replayed_s.saturating_add(job.gap_s);
            // The reader checks each gap, but not the sum of the gaps, so limit the sum here.
            let submit = SimSpan::from_secs(submit_s.min(SimSpan::LONGEST.as_micros() / 1_000_000));
            let is_before = Count::new(place).is_some_and(|place| self.jobs.begins_after(place))
                || self.window.begins_after(submit);
            let is_behind = self.jobs.to.is_some_and(|to| to.get() < place)
                || self.window.to.is_some_and(|to| to <= submit);
            if is_before || is_behind {
                continue;
            }
            match self.entry(&job, submit, site) {
                Ok(entry) if self.takes(&entry) => found.jobs.push(entry),
                Ok(_) => {}
                Err(_) if self.lenient => found.broken += 1,
                Err(what) => return Err(records.unusable(Some(&job.id), what)),
            }
        }
        found.broken += records.notes().skipped.count;
        self.file.pin(site.folder, records.sha256())?;
        self.set_times(&mut found.jobs);
        Ok(found)
    }

    fn files_mut(&mut self) -> Vec<(&'static str, &mut TraceFile)> {
        vec![("file", &mut self.file)]
    }

    fn is_traced(&self) -> bool {
        true
    }

    fn problems(&self) -> Vec<YamlProblem> {
        let faults = [
            (self.jobs.is_backwards(), "jobs", "`to` is before `from`"),
            (self.window.is_backwards(), "window", "`to` is before `from`"),
            (self.size_scale == Factor::of(0.0), "size_scale", "a job has at least one byte"),
            (
                self.bytes_per_reduce == Some(Bytes::ZERO),
                "bytes_per_reduce",
                "a reduce has at least one byte",
            ),
        ];
        let wrong = faults.into_iter().filter(|(is_wrong, ..)| *is_wrong);
        wrong.map(|(_, path, message)| YamlProblem::value(Path::of(path), message)).collect()
    }
}

impl Swim {
    fn takes(&self, entry: &JobEntry) -> bool {
        let AtLeast { input, maps, reduces } = self.at_least;
        input <= entry.input.unwrap_or_default()
            && maps <= entry.maps
            && reduces <= Some(entry.reduces)
    }

    fn entry(
        &self,
        job: &SwimJob,
        submit: SimSpan,
        site: &WorkloadSite<'_>,
    ) -> Result<JobEntry, String> {
        let size = |bytes: Bytes| match self.size_scale {
            // Without a factor sizes stay exact; a float would round sizes above 8 PiB.
            Factor::ONE => bytes,
            scale => {
                let scaled = Bytes::from_f64(bytes.as_f64() * scale.get());
                scaled.min(Bytes::LARGEST)
            }
        };
        let mut job = job.clone();
        for bytes in [&mut job.input, &mut job.shuffle, &mut job.output] {
            *bytes = size(*bytes);
        }
        let tasks = match self.mapping {
            Mapping::Blocks => TaskCounts::of(&job, site.cluster.hdfs.block, self.bytes_per_reduce),
            Mapping::Replay { nodes } => self.replay(&mut job, nodes, site),
        };
        Ok(JobEntry {
            submit,
            map_rate: Some(self.map_rate),
            reduce_rate: Some(self.reduce_rate),
            noise: self.noise.clone(),
            ..tasks.entry(&job)?
        })
    }

    /// Sets the sizes of a job as in SWIM's replay. Returns the numbers of its tasks.
    fn replay(
        &self,
        job: &mut SwimJob,
        original: NodeCount,
        site: &WorkloadSite<'_>,
    ) -> TaskCounts {
        let (original, nodes) = (u64::from(original.get()), u64::from(site.topology.len()));
        let shrink = |bytes: Bytes| {
            // SWIM divides whole numbers; the product may exceed 64 bits.
            let scaled = u128::from(bytes.get()) * u128::from(nodes) / u128::from(original);
            u64::try_from(scaled).map_or(Bytes::LARGEST, Bytes::new).min(Bytes::LARGEST)
        };
        let partition = payload(site.cluster.hdfs.block);
        // SWIM raises smaller inputs to the payload of a block of 64 MB.
        let input = shrink(job.input).max(payload(Bytes::from_mib(64)));
        let shuffle = shrink(job.shuffle).max(LEAST_REPLAYED);
        let output = shrink(job.output).max(LEAST_REPLAYED);
        let reduces = match self.bytes_per_reduce {
            Some(bytes) => {
                let written = shuffle.as_f64() + output.as_f64();
                let reduces = (written / bytes.as_f64()).round() as u64;
                // As in SWIM's script: more reduces than nodes become a fifth of the nodes.
                if nodes < reduces { nodes / 5 } else { reduces }
            }
            // As in SWIM's script: 0.45 of the reduce slots, rounded down.
            None => u64::from(site.topology.slots()[SlotKind::Reduce]) * 45 / 100,
        };
        let maps = input.get().div_ceil(partition.get());
        // Each map reads a whole partition file, and the output of maps and reduces is proportional
        // to their input.
        let read = maps as f64 * partition.as_f64();
        let grown = |bytes: Bytes| {
            let bytes = Bytes::from_f64(bytes.as_f64() * (read / input.as_f64()));
            bytes.min(Bytes::LARGEST)
        };
        job.input = Bytes::from_f64(read).min(Bytes::LARGEST);
        (job.shuffle, job.output) = (grown(shuffle), grown(output));
        TaskCounts { maps, reduces: reduces.max(1) }
    }

    /// Lets a part of the trace begin with its first job. The whole trace keeps the idle time before
    /// its first job.
    fn set_times(&self, jobs: &mut [JobEntry]) {
        let Some(first) = jobs.first().map(|job| job.submit) else { return };
        if self.jobs.is_part() || self.window.is_part() {
            jobs.iter_mut().for_each(|job| job.submit = job.submit.saturating_sub(first));
        }
    }
}

/// SWIM's replay raises smaller shuffles and outputs to this size, so each of its jobs has a
/// reduce.
const LEAST_REPLAYED: Bytes = Bytes::new(1_024);

/// Returns the bytes of records in a partition file of one block for SWIM's replay. The file has a
/// header of 96 bytes; each record of 100 bytes takes 116 bytes, and a marker of 20 bytes follows
/// every 18 records.
fn payload(block: Bytes) -> Bytes {
    const GROUP: u64 = 18;
    let room = block.get().saturating_sub(96);
    let (groups, rest) = (room / (GROUP * 116 + 20), room % (GROUP * 116 + 20));
    Bytes::new(((groups * GROUP + rest / 116) * 100).max(100))
}

fn no_noise() -> Dist<Factor> {
    Dist::Constant(Factor::ONE)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use serde_yaml::with::singleton_map_recursive;

    use super::*;
    use crate::testing::WorkloadGround;
    use mumakil_core::cluster::{Hdfs, Placement, Topology};
    use mumakil_scenario::workload::Workload;

    const TRACE: &str = "\
a\t10\t10\t0\t0\t5\tin\tout
b\t30\t20\t134217729\t1073741825\t7\tin\tout
c\t70\t40\t1342177280\t1\t9\tother\tout
";

    fn read(trace: &str, options: &str) -> Result<Vec<JobEntry>, String> {
        let ground = WorkloadGround::new(10, Bytes::from_mib(128));
        fs::write(ground.folder.path().join("t.tsv"), trace).unwrap();
        let options = format!("{{file: t.tsv{options}}}");
        let from = serde_yaml::Deserializer::from_str(&options);
        let mut swim: Swim = singleton_map_recursive::deserialize(from).unwrap();
        assert_eq!(swim.problems(), []);
        Ok(ground.found(|site| swim.jobs(site))?.jobs)
    }

    fn tasks(jobs: &[JobEntry]) -> Vec<(u32, u32)> {
        jobs.iter().map(|job| (job.maps.unwrap().get(), job.reduces.get())).collect()
    }

    fn times_s(jobs: &[JobEntry]) -> Vec<f64> {
        jobs.iter().map(|job| job.submit.as_secs_f64()).collect()
    }

    #[test]
    fn every_block_begun_is_a_map_and_every_gigabyte_begun_a_reduce() {
        let jobs = read(TRACE, "").unwrap();
        assert_eq!(tasks(&jobs), [(1, 0), (2, 2), (10, 1)]);
        assert_eq!(times_s(&jobs), [10.0, 30.0, 70.0]);
        assert_eq!((jobs[0].name.as_str(), jobs[0].file.as_deref()), ("a", Some("in")));
        assert_eq!((jobs[1].input, jobs[1].output), (Some(Bytes::new(134_217_729)), Bytes::new(7)));
        let jobs = read(TRACE, ", size_scale: 0.5, bytes_per_reduce: 64MiB").unwrap();
        assert_eq!(tasks(&jobs), [(1, 0), (1, 9), (5, 1)]);
    }

    #[test]
    fn jobs_that_name_a_path_read_the_blocks_of_one_file() {
        let trace = "a\t0\t0\t268435456\t0\t5\t/in\t\t\nb\t5\t5\t671088640\t0\t5\t/in\t\t\n\
                     c\t9\t4\t268435456\t0\t5\t/other\t\t\nd\t9\t0\t268435456\t0\t5\t\t\t\n";
        let jobs = read(trace, "").unwrap();
        assert_eq!(tasks(&jobs), [(2, 0), (5, 0), (2, 0), (2, 0)]);
        let workload = Workload::from_jobs(&jobs, 1, Bytes::from_mib(128), &|_, _| "".into());
        let cluster = include_str!("../../../scenarios/clusters/default.yaml");
        let topology = Topology::new(&serde_yaml::from_str(cluster).unwrap());
        let hdfs = Hdfs::new(1, Arc::new(topology), 3, Placement::Hadoop);
        let holders = |job: usize, map| {
            let mut holders = Vec::new();
            let input = workload.arrivals[job].spec.input.as_ref().unwrap();
            input.locate(map, &hdfs, &mut holders);
            holders
        };
        for map in 0..2 {
            assert_eq!(holders(0, map), holders(1, map), "map {map}");
        }
        let all = |job| [holders(job, 0), holders(job, 1)];
        assert!(all(0) != all(2) && all(2) != all(3), "each of the others has a file of its own");
    }

    #[test]
    fn a_part_of_a_trace_begins_with_its_first_job() {
        assert_eq!(times_s(&read(TRACE, ", jobs: {from: 2}").unwrap()), [0.0, 40.0]);
        assert_eq!(times_s(&read(TRACE, ", jobs: {to: 2}").unwrap()), [0.0, 20.0]);
        assert_eq!(times_s(&read(TRACE, ", window: {from: 20s, to: 70s}").unwrap()), [0.0]);
        assert_eq!(times_s(&read(TRACE, ", at_least: {maps: 3}").unwrap()), [70.0]);
        assert_eq!(times_s(&read(TRACE, ", at_least: {reduces: 1}").unwrap()), [30.0, 70.0]);
    }

    #[test]
    fn the_replay_of_swim_shrinks_jobs_and_gives_them_reduces() {
        assert_eq!(payload(Bytes::from_mib(64)), Bytes::new(57_303_500));
        let replay = ", mapping: {replay: {nodes: 20}}";
        let jobs = read(TRACE, replay).unwrap();
        // 20 reduce slots; each job arrives when the gap of the job before is over.
        assert_eq!(tasks(&jobs), [(1, 9), (1, 9), (6, 9)]);
        assert_eq!(times_s(&jobs), [0.0, 10.0, 30.0]);
        assert_eq!(jobs[0].input, Some(payload(Bytes::from_mib(128))));
        assert_eq!(
            jobs[0].shuffle,
            Bytes::from_f64(1_024.0 * payload(Bytes::from_mib(128)).as_f64() / 57_303_500.0)
        );
        // Each map reads a whole file: 1.15 GB instead of half of 1.34 GB, and the other sizes grow
        // as well.
        let payload = payload(Bytes::from_mib(128));
        assert_eq!(jobs[2].input, Some(Bytes::new(6 * payload.get())));
        let grown = 6.0 * payload.as_f64() / 671_088_640.0;
        assert_eq!(jobs[2].shuffle, Bytes::from_f64(1_024.0 * grown));
        // 12 reduces would exceed the number of nodes.
        let jobs = read(TRACE, &format!("{replay}, bytes_per_reduce: 45MB")).unwrap();
        assert_eq!(tasks(&jobs), [(1, 1), (1, 2), (6, 1)]);
    }

    #[test]
    fn a_job_that_is_too_large_is_an_error_or_left_out() {
        let trace = "a\t0\t0\t1152921504606846976\t0\t0\nb\t0\t0\t1\t0\t0\n";
        let error = read(trace, "").unwrap_err();
        assert!(error.ends_with("t.tsv:1: job \"a\": 8589934592 maps are too many"), "{error}");
        assert_eq!(read(trace, ", lenient: true").unwrap().len(), 1);
    }
}
