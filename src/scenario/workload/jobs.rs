//! `workload: {jobs: [...]}`: jobs that are listed in the scenario.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use super::arrivals::{Arrival, BatchId, SubmissionWay, Workload};
use super::shared::copy;
use super::shares::ReduceShares;
use super::submission::Submission;
use mumakil_base::random::{ChaCha8Rng, Dist, Purpose, stream};
use mumakil_base::units::{Bytes, Count, Factor, Fraction, Rate, SimSpan};
use mumakil_base::with_defaults;
use mumakil_core::cluster::FileId;
use mumakil_core::mapred::{
    AttemptLimit, ExpectedJob, Input, JobId, JobSettings, JobSpec, MapCost, PerSlot, Priority,
    ReduceCost, Split, TaskBytes, TaskTimes, Traced, TrackerFailureLimit,
};
use mumakil_yaml as yaml;

/// The most jobs that a scenario may have: a random stream has 24 bits for the number of a job.
pub const MOST_JOBS: u64 = 1 << 24;
/// The latest submission in a scenario, in microseconds: 100,000 years. Virtual time ends after
/// 580,000 years, so even the last job has time to run.
const LATEST: u128 = 100_000 * 365 * 86_400 * 1_000_000;
/// The most maps of a job, as in the field `maps`. Chosen: less than the 16 million tasks that the
/// 24 bits of a random stream can number.
const MOST_MAPS: u64 = 10_000_000;
/// The most tasks of all jobs together. A task takes about 90 bytes, more while it runs, so these
/// take about 9 GB: a machine with 16 GB has room for them, and for nothing ten times as large.
// Chosen: published traces have at most some ten million tasks.
const MOST_TASKS: u64 = 100_000_000;
/// The hint for [`too_many_tasks`].
pub const FEWER_TASKS: &str = "lower `count`, `maps` or `reduces`";
/// A number of maps or reduces of a job.
pub type TaskCount = Count<0, 10_000_000>;

/// The most letters in the name of a job, a user, a pool or a class. Chosen: more than any name needs,
/// but a row of a table with several names stays readable.
const LONGEST_NAME: usize = 1_000;

/// Returns what is wrong with a name that is too long.
pub(crate) fn long_name(name: &str) -> Option<String> {
    let letters = name.chars().count();
    (LONGEST_NAME < letters).then(|| {
        let head: String = name.chars().take(20).collect();
        format!("the name `{head}…` has {letters} letters, and {LONGEST_NAME} are allowed")
    })
}

/// How many cores a task asks for.
pub type TaskCores = Count<0, 1_024>;

/// The latest time at which any job of a list could be submitted, in microseconds. The sums need 128
/// bits: the gaps between a million copies alone can exceed 64 bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct LatestSubmission {
    /// The latest job that follows no other.
    own: u128,
    /// The jobs that follow others, in the worst case all one after another.
    chain: u128,
}

impl LatestSubmission {
    /// Returns the latest time with another job.
    pub fn with(self, job: &JobEntry) -> Self {
        let micros = |span: SimSpan| u128::from(span.as_micros());
        let last = micros(job.submit) + micros(job.every) * u128::from(job.count.get() - 1);
        match job.after.is_empty() {
            true => Self { own: self.own.max(last), ..self },
            false => Self { chain: self.chain + last, ..self },
        }
    }

    /// Returns whether that is later than any run can be.
    pub fn is_too_late(self) -> bool {
        LATEST < self.own + self.chain
    }
}

/// Writes a struct of jobs: behind its own fields it has those that a listed job and a type of a mix
/// have alike.
macro_rules! with_job_settings {
    ($(#[$about:meta])* pub struct $Jobs:ident { $($own:tt)* }) => {
        $(#[$about])*
        pub struct $Jobs {
            $($own)*
            /// How fast a reduce processes what it fetched. Without `reduce_time` and `reduce_rate` it only
            /// fetches and merges.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-only-if" = [{"reduces": {"not": 0}}, {"reduce_time": null}]))]
            pub reduce_rate: Option<Rate>,
            /// The factor of every computing time, drawn for each task.
            #[serde(default = "no_noise")]
            pub noise: Dist<Factor>,
            /// The factor of a map's computing time when its input is elsewhere.
            #[serde(default)]
            pub penalty: Penalty,
            /// The memory of a map's process.
            #[serde(default = "heap")]
            pub map_memory: Bytes,
            /// The memory of a reduce's process.
            #[serde(default = "heap")]
            pub reduce_memory: Bytes,
            /// The cores that a map asks for.
            #[serde(default = "one_core")]
            #[schemars(extend("x-only-if" = {"cluster.resources": "memory+cores", "hadoop.protocol": {"not": null}}))]
            pub map_cores: TaskCores,
            /// The cores that a reduce asks for.
            #[serde(default = "one_core")]
            #[schemars(extend("x-only-if" = {"cluster.resources": "memory+cores", "hadoop.protocol": {"not": null}}))]
            pub reduce_cores: TaskCores,

            /// The share of the job's maps that must have ended before its reduces start;
            /// `hadoop.slow_start` unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-only-if" = {"reduces": {"not": 0}}))]
            pub slow_start: Option<Fraction>,
            /// A map is given up after this many failed attempts; `hadoop.max_attempts` unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub map_attempts: Option<AttemptLimit>,
            /// A reduce is given up after this many failed attempts; `hadoop.max_attempts` unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-only-if" = {"reduces": {"not": 0}}))]
            pub reduce_attempts: Option<AttemptLimit>,
            /// The share of the job's maps that may fail without failing the job; `hadoop.map_failures` unless
            /// given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub map_failures: Option<Fraction>,
            /// The share of the job's reduces that may fail without failing the job;
            /// `hadoop.reduce_failures` unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-only-if" = {"reduces": {"not": 0}}))]
            pub reduce_failures: Option<Fraction>,
            /// The job avoids a tracker after this many failed attempts there; `hadoop.tracker_failures`
            /// unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub tracker_failures: Option<TrackerFailureLimit>,
            /// Whether slow maps get second attempts; as the rule in `hadoop.speculation` says unless
            /// given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-only-if" = {"hadoop.speculation": {"not": "off"}}))]
            pub map_speculation: Option<bool>,
            /// Whether slow reduces get second attempts; as the rule in `hadoop.speculation` says unless
            /// given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-only-if" = [{"reduces": {"not": 0}}, {"hadoop.speculation": {"not": "off"}}]))]
            pub reduce_speculation: Option<bool>,
        }
    };
}
pub(super) use with_job_settings;

with_job_settings! {
/// One entry of the list: a job, or several equal jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    /// The job's name, by which `after` and `faults` refer to it. With `count`, the jobs are
    /// called `NAME-1`, `NAME-2`, ….
    pub name: String,
    /// When the job is submitted; with `after`, how long after the last of those jobs has ended.
    #[serde(default)]
    pub submit: SimSpan,
    /// Jobs that must have ended before this one is submitted. The name of an entry with a `count`
    /// means all of its jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How many equal jobs there are.
    #[serde(default = "one")]
    pub count: Count<1, 1_000_000>,
    /// The time between two of these jobs.
    #[serde(default)]
    #[schemars(extend("x-only-if" = {"count": {"not": 1}}))]
    pub every: SimSpan,
    /// The user who submits the job.
    #[serde(default = "user")]
    pub user: String,
    /// The pool or queue; the user's name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// The class by which reports group the job: the first of the scenario's `classes` that fits,
    /// unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The priority of the job.
    #[serde(default)]
    pub priority: Priority,
    /// How long after its submission the job should have ended. It has an effect only for policies
    /// that go by deadlines, and in `jobs.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<SimSpan>,
    /// Whether attempts can be suspended; `false` is for tasks that hold connections or locks
    /// outside the cluster.
    #[serde(default = "yes")]
    pub suspendable: bool,

    /// How many maps the job has; one for each block of the input unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<TaskCount>,
    /// How many reduces the job has.
    #[serde(default = "none")]
    pub reduces: TaskCount,
    /// The bytes that all maps read together; one block for each map unless given. `0` is for maps
    /// without input, which are local on no node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Bytes>,
    /// The file that the maps read, by any name; jobs with the same file read the same blocks.
    /// Without this, the job has a file of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The size of a file that all tasks read, as with Hadoop's distributed cache: a node copies it
    /// before a job's first attempt there.
    #[serde(default)]
    pub cached_file: Bytes,
    /// The bytes that all reduces fetch together.
    #[serde(default)]
    #[schemars(extend("x-only-if" = [{"reduces": {"not": 0}}, {
        "shuffle_time": null,
        "reduce_rate": {"not": null},
        "a policy that goes by bytes": true,
    }]))]
    pub shuffle: Bytes,
    /// The bytes that all reduces write together, or all maps of a job without reduces.
    #[serde(default)]
    pub output: Bytes,
    /// How the reduces share `shuffle` and `output`; evenly unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = [{"reduces": {"not": 0}}, {"shuffle": {"not": 0}, "output": {"not": 0}}]))]
    pub reduce_shares: Option<ReduceShares>,

    /// How long a map computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_time: Option<TaskTimes>,
    /// How fast a map processes its input. Without `map_time` and `map_rate` it only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"map_time": null}))]
    pub map_rate: Option<Rate>,
    /// How long a reduce fetches if all maps are done. Without this, it depends on the bytes and
    /// the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"reduces": {"not": 0}}))]
    pub shuffle_time: Option<TaskTimes>,
    /// How long a reduce merges before it reduces.
    #[serde(default = "merge")]
    pub sort_time: TaskTimes,
    /// How long a reduce computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"reduces": {"not": 0}}))]
    pub reduce_time: Option<TaskTimes>,

    /// The split of each map and its nodes, if a trace gives them; a list cannot.
    #[serde(skip)]
    pub splits: Option<Arc<[Split]>>,
    /// The nodes that each reduce asks for, if a trace of YARN gives them; a list cannot.
    #[serde(skip)]
    pub reduce_holders: Option<Arc<[Split]>>,
    /// Single attempts, if a trace gives them; a list cannot.
    #[serde(skip)]
    pub traced: Option<Arc<Traced>>,
    /// The type of a mix from which the job is drawn: its class if the scenario has no classes.
    #[serde(skip)]
    pub drawn_type: Option<Arc<str>>,
}
}

/// The times of each task of a job.
#[derive(Debug)]
pub struct DrawnTimes {
    /// Of each map.
    pub maps: Vec<SimSpan>,
    /// Of each reduce.
    pub reduces: Vec<Phases>,
}

/// The times of the phases of a reduce.
#[derive(Debug)]
pub struct Phases {
    /// The time of fetching.
    pub shuffle: SimSpan,
    /// The time of the merge.
    pub sort: SimSpan,
    /// The time of computing.
    pub work: SimSpan,
}

impl Phases {
    /// Returns the time of all phases.
    pub fn sum(&self) -> SimSpan {
        self.shuffle + self.sort + self.work
    }
}

with_defaults! {
    /// The factor of a map's computing time when its input is elsewhere.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Penalty {
        /// The factor for input on another node of the same rack.
        pub rack: Factor = Factor::ONE,
        /// The factor for input in another rack.
        pub off_rack: Factor = Factor::ONE,
    }
}

impl JobEntry {
    /// Returns the names of the fields that a list can have, in their order.
    pub fn field_names() -> &'static [&'static str] {
        yaml::fields::<Self>()
    }

    /// Returns the properties of the entry's jobs that are known before the jobs arrive.
    pub fn expected(&self) -> ExpectedJob<'_> {
        let map = self.maps.is_none_or(|maps| 0 < maps.get());
        let has_tasks = PerSlot { map, reduce: 0 < self.reduces.get() };
        let memory = PerSlot { map: self.map_memory, reduce: self.reduce_memory };
        let has_deadline = self.deadline.is_some();
        let expected = ExpectedJob::new(&self.user, self.pool.as_deref(), has_tasks, memory);
        ExpectedJob { has_deadline, ..expected }
    }

    /// Returns the fields that differ from their defaults, so that a long list stays about as short
    /// as its author wrote it.
    pub fn said(&self) -> Mapping {
        static PLAIN: LazyLock<Mapping> = LazyLock::new(|| JobEntry::named("").fields());
        let mut fields = self.fields();
        fields.retain(|field, value| PLAIN.get(field) != Some(value));
        fields
    }

    /// Returns a job that only has a name.
    pub fn named(name: &str) -> Self {
        let fields = Mapping::from_iter([("name".into(), name.into())]);
        yaml::read_whole(&Value::Mapping(fields)).expect("a job needs only a name")
    }

    /// Returns how many tasks the jobs of this entry have.
    pub fn tasks(&self, block: Bytes) -> u64 {
        let each = u64::from(self.map_count(block)) + u64::from(self.reduces.get());
        each * u64::from(self.count.get())
    }

    /// Returns the entry's jobs, each as an entry of its own.
    pub(super) fn copies(&self) -> impl Iterator<Item = Self> {
        (0..self.count.get()).map(|number| self.copy(number))
    }

    /// Returns one of the entry's jobs, by its number from 0, as an entry of its own.
    pub(super) fn copy(&self, number: u32) -> Self {
        Self {
            name: self.name_of(number),
            submit: self.submit + self.every * u64::from(number),
            count: one(),
            every: SimSpan::ZERO,
            ..self.clone()
        }
    }

    /// Returns how long the tasks of one job of this entry take without other load, drawn with a
    /// fixed seed; a time that depends on a cluster is zero.
    pub fn drawn(&self, block: Bytes) -> DrawnTimes {
        let (maps, reduces) = (self.map_count(block), self.reduces.get());
        let noise = |rng: &mut ChaCha8Rng| self.noise.sample(rng).get();
        let shuffles = self.drawn_parts(self.shuffle);
        let maps = (0..maps).map(|map| {
            let mut rng = stream(1, Purpose::MapTime, map.into());
            // The noise is drawn first, so that it is the same for a fixed time and for a drawn one.
            let noise = noise(&mut rng);
            let split = self.input(block).map_or(Bytes::ZERO, |_| self.split(block));
            let time = match (&self.map_time, self.map_rate) {
                (Some(time), _) => time.of(map, &mut rng),
                (None, rate) => rate.map_or(SimSpan::ZERO, |rate| rate.time_for(split)),
            };
            time.ceil_mul(noise)
        });
        let reduces = (0..reduces).map(|reduce| {
            let mut rng = stream(1, Purpose::ReduceTime, reduce.into());
            let noise = noise(&mut rng);
            let shuffle = shuffles.of(reduce);
            let of = |times: &Option<TaskTimes>, rng: &mut ChaCha8Rng| {
                times.as_ref().map(|times| times.of(reduce, rng))
            };
            let fetched = of(&self.shuffle_time, &mut rng).unwrap_or_default();
            let sort = self.sort_time.of(reduce, &mut rng);
            let work = of(&self.reduce_time, &mut rng)
                .or(self.reduce_rate.map(|rate| rate.time_for(shuffle)))
                .unwrap_or_default();
            Phases { shuffle: fetched, sort, work: work.ceil_mul(noise) }
        });
        DrawnTimes { maps: maps.collect(), reduces: reduces.collect() }
    }

    /// Returns each reduce's share of `bytes`, drawn as for the first job of a run with a fixed
    /// seed.
    pub fn drawn_parts(&self, bytes: Bytes) -> TaskBytes {
        self.of_reduces(bytes, 1, JobId(0))
    }

    pub(super) fn fields(&self) -> Mapping {
        match yaml::write(self) {
            Value::Mapping(fields) => fields,
            other => unreachable!("a struct is written as a mapping: {other:?}"),
        }
    }

    /// Returns the names of the entry's jobs.
    pub fn names(&self) -> Vec<String> {
        (0..self.count.get()).map(|number| self.name_of(number)).collect()
    }

    fn name_of(&self, number: u32) -> String {
        match self.count.get() {
            1 => self.name.clone(),
            _ => format!("{}-{}", self.name, number + 1),
        }
    }

    /// Returns whether a name means the jobs of the entry, or one of them.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let count = self.count.get();
        self.name == name
            || copy(name)
                .is_some_and(|(of, number)| of == self.name && 1 < count && number <= count)
    }

    /// Returns how many maps each of the entry's jobs has.
    ///
    /// Without `maps`, Hadoop's rule splits the input: whole blocks as long as more than 1.1 blocks
    /// are left, and the rest as one split.
    pub fn map_count(&self, block: Bytes) -> u32 {
        match (self.maps, self.input) {
            (Some(maps), _) => maps.get(),
            (None, None | Some(Bytes::ZERO)) => 0,
            (None, Some(bytes)) => {
                // `FileInputFormat` has SPLIT_SLOP = 1.1. Multiply all sizes by ten to avoid
                // fractions: 11 × 1 EiB still fits into 64 bits.
                let beyond = (bytes.get() * 10).saturating_sub(block.get() * 11);
                let whole = beyond.div_ceil(block.get() * 10);
                // This may be more maps than a job may have: then `faults` refuses the job.
                u32::try_from(whole + 1).unwrap_or(u32::MAX)
            }
        }
    }

    /// Returns the bytes that the maps of a job read together; `None` without input.
    pub fn input(&self, block: Bytes) -> Option<Bytes> {
        let maps = u64::from(self.map_count(block));
        let bytes = self.input.unwrap_or_else(|| Bytes::new(block.get() * maps));
        (0 < maps && bytes != Bytes::ZERO).then_some(bytes)
    }

    /// Returns the bytes that every map except the last reads, for an entry with input.
    pub fn split(&self, block: Bytes) -> Bytes {
        match (self.maps, self.input) {
            (Some(maps), Some(bytes)) => Bytes::new(bytes.get() / u64::from(maps.get())),
            _ => block,
        }
    }

    /// Returns the contradictions in the entry, each as a field and a reason. The field is empty if
    /// the reason concerns the whole entry.
    ///
    /// The rules: a job has `maps` or an `input`. Each map reads at least a byte of the input, if
    /// there is one. A list of times has one time for each task. Names are not endless.
    pub fn faults(&self, block: Bytes) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        // The check of the cluster reports a block of 0 bytes: only avoid dividing by zero here.
        let (input, block_size) = (self.input.map(Bytes::get), block.get().max(1));
        match (self.maps.map(|maps| u64::from(maps.get())), input) {
            (None, None) => {
                faults
                    .push(("", format!("the job `{}` has neither `maps` nor `input`", self.name)));
            }
            (None, Some(0)) => {
                let message =
                    "without `maps` the size of the input sets their number, so it must be above 0";
                faults.push(("input", message.to_owned()));
            }
            (None, Some(input)) => {
                let maps = input.div_ceil(block_size);
                if MOST_MAPS < maps {
                    let message =
                        format!("an input of {maps} blocks gives more than {MOST_MAPS} maps");
                    faults.push(("input", message));
                }
            }
            (Some(maps), Some(input)) if 0 < input && maps == 0 => {
                faults.push(("maps", "there is an input, but no map that reads it".to_owned()));
            }
            (Some(maps), Some(input)) if 0 < input && input < maps => {
                let message = format!("{maps} maps cannot share an input of {}", Bytes::new(input));
                faults.push(("input", message));
            }
            (Some(maps), None) if Bytes::LARGEST.get() / block_size < maps => {
                let message = "a block for each map is more than 1EiB of input";
                faults.push(("maps", message.to_owned()));
            }
            _ => {}
        }
        let names = [
            ("name", Some(&self.name)),
            ("user", Some(&self.user)),
            ("pool", self.pool.as_ref()),
            ("class", self.class.as_ref()),
        ];
        for (field, name) in names {
            faults.extend(name.and_then(|name| Some((field, long_name(name)?))));
        }
        let (maps, reduces) = (self.map_count(block), self.reduces.get());
        let lists = [
            ("map_time", self.map_time.as_ref(), maps, "map"),
            ("shuffle_time", self.shuffle_time.as_ref(), reduces, "reduce"),
            ("sort_time", Some(&self.sort_time), reduces, "reduce"),
            ("reduce_time", self.reduce_time.as_ref(), reduces, "reduce"),
        ];
        if let Some(fault) = self.reduce_shares.as_ref().and_then(|shares| shares.fault(reduces)) {
            faults.push(("reduce_shares", format!("{fault} of the job `{}`", self.name)));
        }
        for (field, times, tasks, word) in lists {
            // Only a list of times has a length; a single time or a distribution fits any number of
            // tasks.
            if let Some(times) = times.and_then(TaskTimes::listed)
                && times != tasks as usize
            {
                let message = format!(
                    "there are {times} times for the {tasks} {word}s of the job `{}`",
                    self.name
                );
                faults.push((field, message));
            }
        }
        faults
    }

    /// Returns each reduce's share of `bytes`.
    fn of_reduces(&self, bytes: Bytes, seed: u64, id: JobId) -> TaskBytes {
        let reduces = self.reduces.get();
        match &self.reduce_shares {
            // Shuffle and output are drawn from the same stream, so the reduce that fetches most
            // also writes most.
            Some(shares) => {
                let rng = stream(seed, Purpose::ReduceShares, id.0.into());
                shares.split(bytes, reduces, rng)
            }
            None => evenly(bytes, reduces).into(),
        }
    }

    fn settings(&self) -> JobSettings {
        JobSettings {
            slow_start: self.slow_start,
            attempts: PerSlot { map: self.map_attempts, reduce: self.reduce_attempts },
            failures: PerSlot { map: self.map_failures, reduce: self.reduce_failures },
            tracker_failures: self.tracker_failures,
            speculation: PerSlot { map: self.map_speculation, reduce: self.reduce_speculation },
        }
    }

    pub(super) fn spec(
        &self,
        id: JobId,
        name: &str,
        file: FileId,
        seed: u64,
        block: Bytes,
        classify: &dyn Fn(u32, u32) -> Arc<str>,
    ) -> JobSpec {
        let (maps, reduces) = (self.map_count(block), self.reduces.get());
        let generated = self.input(block).map(|bytes| {
            let split = self.split(block);
            // The last map reads the rest, which may be up to
            // a tenth more than a block, or less than one.
            let last_split = Bytes::new(bytes.get() - split.get() * u64::from(maps - 1));
            Input::File { file, split, last_split, more_copies: 0, without_extra_copies: [].into() }
        });
        let input = self.splits.clone().map(Input::Splits).or(generated);
        let user: Arc<str> = self.user.as_str().into();
        JobSpec {
            id,
            name: name.into(),
            pool: self.pool.as_deref().map_or_else(|| user.clone(), Into::into),
            names_pool: self.pool.is_some(),
            user,
            class: match &self.class {
                Some(class) => class.as_str().into(),
                None => match (classify(maps, reduces), &self.drawn_type) {
                    (none, Some(of)) if none.is_empty() => of.clone(),
                    (class, _) => class,
                },
            },
            priority: self.priority,
            deadline: self.deadline,
            suspendable: self.suspendable,
            maps,
            reduces,
            input,
            reduce_holders: self.reduce_holders.clone(),
            map: MapCost {
                time: self.map_time.clone(),
                rate: self.map_rate,
                noise: self.noise.clone(),
                rack_penalty: self.penalty.rack,
                off_rack_penalty: self.penalty.off_rack,
                // Maps write the output only if there are no reduces; otherwise their outputs go to
                // the reduces.
                output: if reduces == 0 { evenly(self.output, maps) } else { Bytes::ZERO },
            },
            reduce: ReduceCost {
                shuffle_time: self.shuffle_time.clone(),
                shuffle: self.of_reduces(self.shuffle, seed, id),
                sort_time: self.sort_time.clone(),
                time: self.reduce_time.clone(),
                rate: self.reduce_rate,
                noise: self.noise.clone(),
                output: self.of_reduces(self.output, seed, id),
            },
            memory: PerSlot { map: self.map_memory, reduce: self.reduce_memory },
            cores: PerSlot { map: self.map_cores.get(), reduce: self.reduce_cores.get() },
            cached_file: self.cached_file,
            settings: self.settings(),
            traced: self.traced.clone(),
        }
    }
}

impl Workload {
    /// Returns the jobs of a list of entries.
    ///
    /// Jobs are numbered by the earliest time at which each could be submitted, then in the order
    /// of the list: numbers must not depend on the scheduler. `seed` draws how reduces share bytes,
    /// `block` is the size of a block, and `classify` returns the class of a job from its maps and
    /// reduces.
    ///
    /// Expects that `after` names jobs of the list, without a cycle.
    pub fn from_jobs(
        entries: &[JobEntry],
        seed: u64,
        block: Bytes,
        classify: &dyn Fn(u32, u32) -> Arc<str>,
    ) -> Self {
        let follows = follows(entries);
        let earliest = earliest_submissions(entries, &follows);
        let mut jobs: Vec<(SimSpan, usize, usize)> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            for number in 0..entry.count.get() as usize {
                jobs.push((earliest[index] + entry.every * number as u64, index, number));
            }
        }
        // Sort by time, then entry, then copy: no two jobs are equal, so the order is unique.
        jobs.sort();
        let names: Vec<Vec<String>> = entries.iter().map(JobEntry::names).collect();
        let mut shared: BTreeMap<&str, FileId> = BTreeMap::new();
        let mut files = (0..).map(FileId);
        let mut next = || files.next().expect("as many files as jobs");

        // FIFO breaks ties by the job's number. Jobs with an id that matters, from a trace, are
        // numbered in the order of their ids; all other jobs (`None`) are numbered in the order of
        // submission.
        let mut places: Vec<usize> = (0..jobs.len()).collect();
        places.sort_by_key(|place| entries[jobs[*place].1].traced.as_ref()?.id.as_ref());
        let arrivals = (0..).zip(places).map(|(id, place)| {
            let (_, index, number) = &jobs[place];
            let (entry, name) = (&entries[*index], &names[*index][*number]);
            let file = match &entry.file {
                Some(name) => *shared.entry(name).or_insert_with(&mut next),
                None => next(),
            };
            Arrival {
                spec: Arc::new(entry.spec(JobId(id), name, file, seed, block, classify)),
                place: place as u32,
                batch: BatchId(*index as u32),
                delay: entry.submit + entry.every * *number as u64,
                way: SubmissionWay::Paced,
            }
        });
        Self {
            arrivals: arrivals.collect(),
            follows: follows
                .into_iter()
                .map(|before| before.into_iter().map(|entry| BatchId(entry as u32)).collect())
                .collect(),
            names: entries.iter().map(|entry| entry.name.clone()).collect(),
            submission: Submission::Replay,
            start: SimSpan::ZERO,
            warm_up: SimSpan::ZERO,
            left_out: Vec::new(),
            looks_twice: false,
        }
    }
}

/// Returns how many tasks jobs have, with all copies.
pub(crate) fn tasks_of(jobs: &[JobEntry], block: Bytes) -> u64 {
    jobs.iter().map(|job| job.tasks(block)).fold(0, u64::saturating_add)
}

/// Returns the words of a complaint about more tasks than a run's memory holds; `None` if it holds
/// them.
pub fn too_many_tasks(tasks: u64) -> Option<String> {
    (MOST_TASKS < tasks).then(|| {
        format!("{tasks} tasks are more than {MOST_TASKS}, which take about 9 GB of memory")
    })
}

/// Returns the bytes of each task if `tasks` tasks share them evenly.
fn evenly(bytes: Bytes, tasks: u32) -> Bytes {
    Bytes::new(bytes.get() / u64::from(tasks.max(1)))
}

/// Returns for each entry the indices of the entries that its `after` names.
fn follows(entries: &[JobEntry]) -> Vec<Vec<usize>> {
    let places: BTreeMap<&str, usize> =
        entries.iter().enumerate().map(|(place, entry)| (entry.name.as_str(), place)).collect();
    let leaders = entries.iter().map(|entry| {
        entry.after.iter().filter_map(|name| places.get(name.as_str()).copied()).collect()
    });
    leaders.collect()
}

/// Returns the indices of entries in an order in which each comes after those that it follows.
/// Entries that wait for each other, or for entries in such a cycle, are missing.
pub fn in_order(follows: &[Vec<usize>]) -> Vec<usize> {
    // Kahn's algorithm. A name that occurs twice in `after` is counted up twice and counted down
    // twice.
    let mut awaited: Vec<usize> = follows.iter().map(Vec::len).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); follows.len()];
    for (entry, before) in follows.iter().enumerate() {
        for &other in before {
            followers[other].push(entry);
        }
    }
    let mut order: Vec<usize> = (0..awaited.len()).filter(|&entry| awaited[entry] == 0).collect();
    let mut next = 0;
    while let Some(&entry) = order.get(next) {
        next += 1;
        for &follower in &followers[entry] {
            awaited[follower] -= 1;
            if awaited[follower] == 0 {
                order.push(follower);
            }
        }
    }
    order
}

/// Returns a cycle, as entries: each follows the next entry, and the last follows the first. `None`
/// if there is no cycle.
pub(crate) fn cycle(follows: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut waits = vec![true; follows.len()];
    for job in in_order(follows) {
        waits[job] = false;
    }
    let mut job = waits.iter().position(|&waits| waits)?;
    let mut walked = Vec::new();
    let mut step = vec![None; waits.len()];
    loop {
        if let Some(begin) = step[job] {
            let mut round: Vec<usize> = walked[begin..].to_vec();
            // Begin the cycle with its first entry in the file, wherever the walk began.
            let first = (0..round.len()).min_by_key(|&place| round[place])?;
            round.rotate_left(first);
            return Some(round);
        }
        step[job] = Some(walked.len());
        walked.push(job);
        // A job that is missing in the order waits for another missing job, so the walk always ends
        // in a cycle.
        job = *follows[job].iter().find(|&&before| waits[before])?;
    }
}

/// Returns for each entry when its first job could be submitted if all other jobs took no time.
fn earliest_submissions(entries: &[JobEntry], follows: &[Vec<usize>]) -> Vec<SimSpan> {
    let mut earliest = vec![SimSpan::default(); entries.len()];
    for place in in_order(follows) {
        let ends = follows[place].iter().map(|&before| {
            let entry = &entries[before];
            earliest[before] + entry.every * u64::from(entry.count.get() - 1)
        });
        let last = ends.max().unwrap_or_default();
        earliest[place] = last + entries[place].submit;
    }
    earliest
}

fn one() -> Count<1, 1_000_000> {
    Count::of(1)
}

fn none() -> TaskCount {
    TaskCount::of(0)
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn user() -> String {
    "default".to_owned()
}

/// The default time of a reduce's merge. Chosen: the median sort phase in Mumak's sample trace of
/// 19 jobs is 0.08 s, since most fetched data is merged already when the shuffle ends.
pub(super) const MERGE: SimSpan = SimSpan::from_millis(80);

fn merge() -> TaskTimes {
    MERGE.into()
}

pub(super) fn no_noise() -> Dist<Factor> {
    Dist::Constant(Factor::ONE)
}

/// The cores that a task asks for unless given, as in YARN (`mapreduce.map.cpu.vcores`).
pub(super) fn one_core() -> TaskCores {
    Count::of(1)
}

/// The default heap of a child process in Hadoop: `mapred.child.java.opts` is `-Xmx200m`.
pub(super) fn heap() -> Bytes {
    Bytes::from_mib(200)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(yaml: &str) -> Workload {
        let entries: Vec<JobEntry> = serde_yaml::from_str(yaml).unwrap();
        Workload::from_jobs(&entries, 1, Bytes::from_mib(128), &|_, _| "all".into())
    }

    fn splits(input: &str) -> (u32, Bytes) {
        let workload = workload(&format!("[{{name: a, input: {input}}}]"));
        let spec = &workload.arrivals[0].spec;
        let last = spec.input.as_ref().unwrap().bytes(spec.maps - 1, spec.maps);
        (spec.maps, last)
    }

    #[test]
    fn an_input_is_cut_into_blocks_and_a_last_one_of_up_to_a_tenth_more() {
        assert_eq!(splits("1B"), (1, Bytes::new(1)));
        assert_eq!(splits("128MiB"), (1, Bytes::from_mib(128)));
        assert_eq!(splits("140MiB"), (1, Bytes::from_mib(140)));
        assert_eq!(splits("141MiB"), (2, Bytes::from_mib(13)));
        assert_eq!(splits("256MiB"), (2, Bytes::from_mib(128)));
        assert_eq!(splits("1GiB"), (8, Bytes::from_mib(128)));
    }

    #[test]
    fn the_fields_are_those_of_the_schema() {
        let schema = schemars::schema_for!(JobEntry);
        let fields = schema.as_value()["properties"].as_object().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), JobEntry::field_names());
    }

    #[test]
    fn a_list_is_written_without_its_defaults() {
        let brief = "- name: a\n  maps: 3\n- name: b\n  after:\n  - a\n  input: 1GiB\n  penalty:\n    \
                     rack: 1.5\n    off_rack: 1.0\n";
        let entries: Vec<JobEntry> = serde_yaml::from_str(brief).unwrap();
        let said: Vec<Mapping> = entries.iter().map(JobEntry::said).collect();
        assert_eq!(serde_yaml::to_string(&said).unwrap(), brief);
    }

    #[test]
    fn jobs_are_numbered_by_their_earliest_submission() {
        let jobs = workload(
            "[{name: late, submit: 60s, maps: 1}, {name: next, after: [first], submit: 5s, maps: 1},
              {name: first, count: 2, every: 10s, maps: 1}]",
        );
        let names: Vec<&str> = jobs.arrivals.iter().map(|a| &*a.spec.name).collect();
        assert_eq!(names, ["first-1", "first-2", "next", "late"]);
        assert_eq!(jobs.follows, [vec![], vec![BatchId(2)], vec![]]);
        assert_eq!(jobs.arrivals[2].batch, BatchId(1));
        assert_eq!(jobs.arrivals[1].delay, SimSpan::from_secs(10));
    }

    #[test]
    fn a_long_chain_written_backwards_is_numbered_at_once() {
        let plain: JobEntry = serde_yaml::from_str("{name: '', submit: 1s, maps: 1}").unwrap();
        let name = |number: usize| format!("job-{number}");
        let entries: Vec<JobEntry> = (1..=100_000)
            .rev()
            .map(|number| JobEntry {
                name: name(number),
                after: vec![name(number - 1)],
                ..plain.clone()
            })
            .chain([JobEntry { name: name(0), ..plain.clone() }])
            .collect();
        let jobs = Workload::from_jobs(&entries, 1, Bytes::from_mib(64), &|_, _| "".into());
        for (number, arrival) in jobs.arrivals.iter().enumerate() {
            assert_eq!(*arrival.spec.name, name(number));
        }
    }

    #[test]
    fn jobs_that_name_the_same_file_read_the_same_blocks() {
        let jobs = workload(
            "[{name: a, maps: 2, file: log}, {name: b, maps: 3}, {name: c, maps: 1, file: log}]",
        );
        let file = |index: usize| match jobs.arrivals[index].spec.input {
            Some(Input::File { file, .. }) => file,
            _ => panic!("no file"),
        };
        assert_eq!(file(0), file(2));
        assert_ne!(file(0), file(1));
    }

    #[test]
    fn jobs_of_the_same_name_do_not_share_a_private_file() {
        let jobs = workload("[{name: a, maps: 1, count: 2}, {name: a-1, maps: 1}]");
        let mut files: Vec<u32> = jobs
            .arrivals
            .iter()
            .map(|job| match job.spec.input {
                Some(Input::File { file, .. }) => file.0,
                _ => panic!("no file"),
            })
            .collect();
        files.sort_unstable();
        assert_eq!(files, [0, 1, 2]);
    }

    #[test]
    fn a_cycle_is_found_and_a_chain_is_none() {
        assert_eq!(cycle(&[vec![], vec![0], vec![0, 1]]), None);
        assert_eq!(cycle(&[vec![0]]), Some(vec![0]));
        assert_eq!(cycle(&[vec![], vec![3, 0], vec![1], vec![2], vec![3]]), Some(vec![1, 3, 2]));
    }

    #[test]
    fn a_long_chain_is_no_deep_recursion() {
        let chain: Vec<Vec<usize>> =
            (0..1_000_000_usize).map(|job| vec![(job + 1) % 1_000_000]).collect();
        assert_eq!(cycle(&chain).map(|round| round.len()), Some(1_000_000));
    }
}
