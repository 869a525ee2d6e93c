//! A job as it is submitted: the facts that its client knows, and the costs of its tasks.
//!
//! The JobTracker reads only the facts that a real JobTracker would get (names, counts, splits).
//! The costs are for the trackers, which get them with each order to launch an attempt.

use std::sync::Arc;

use rand::Rng;
use schemars::{JsonSchema, json_schema};
use serde::de::value::{F64Deserializer, StrDeserializer, U64Deserializer};
use serde::{Deserialize, Serialize};

use crate::cluster::{
    Amounts, BlockId, CountedResources, FileId, Hdfs, PerSlot, SlotKind, TrackerId,
};
use crate::mapred::ids::JobId;
use crate::mapred::settings::JobSettings;
use crate::mapred::traced::Traced;
use mumakil_base::mutated;
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Factor, Rate, SimSpan};
use mumakil_base::{forms, worded};

/// A job as it is submitted.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Its number.
    pub id: JobId,
    /// Its name; jobs may share one.
    pub name: Arc<str>,
    /// The user who submits it.
    pub user: Arc<str>,
    /// The pool or queue that it is submitted to; the name of its user if the job names no pool.
    pub pool: Arc<str>,
    /// Whether the job names the pool itself.
    pub names_pool: bool,
    /// The class under which reports group it.
    pub class: Arc<str>,
    /// Its priority.
    pub priority: Priority,
    /// How long after its submission it should have ended; `None` without a deadline.
    pub deadline: Option<SimSpan>,
    /// Whether its attempts can be suspended.
    pub suspendable: bool,
    /// How many maps it has.
    pub maps: u32,
    /// How many reduces it has.
    pub reduces: u32,
    /// The input of the maps; `None` for maps without input.
    pub input: Option<Input>,
    /// The nodes on which each reduce would like to run, as a trace of YARN lists them; MapReduce
    /// does not ask for them.
    pub reduce_holders: Option<Arc<[Split]>>,
    /// The cost of a map.
    pub map: MapCost,
    /// The cost of a reduce.
    pub reduce: ReduceCost,
    /// The memory of each attempt, by kind.
    pub memory: PerSlot<Bytes>,
    /// The cores that each attempt asks for, by kind; they count only in a cluster that counts cores.
    pub cores: PerSlot<u32>,
    /// The size of a file that each node copies before its first attempt of the job.
    pub cached_file: Bytes,
    /// The settings that it sets itself.
    pub settings: JobSettings,
    /// A trace's records of single tasks, which override the costs.
    pub traced: Option<Arc<Traced>>,
}

/// A change of a job while it is in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobAlteration {
    /// The job.
    pub job: JobId,
    /// Its priority from now on; `None` if that stays.
    pub priority: Option<Priority>,
    /// Its pool or queue from now on; `None` if that stays.
    pub pool: Option<Arc<str>>,
}

/// The facts about a job that are known before it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpectedJob<'s> {
    /// Its user.
    pub user: &'s str,
    /// The pool that it names, if it names one.
    pub pool: Option<&'s str>,
    /// Whether it has tasks of a kind.
    pub has_tasks: PerSlot<bool>,
    /// The memory of each attempt; 0 for a kind without tasks.
    pub memory: PerSlot<Bytes>,
    /// Whether it has a deadline.
    pub has_deadline: bool,
}

impl<'s> ExpectedJob<'s> {
    /// Returns these facts about a job without a deadline.
    pub fn new(
        user: &'s str,
        pool: Option<&'s str>,
        has_tasks: PerSlot<bool>,
        memory: PerSlot<Bytes>,
    ) -> Self {
        // A job without reduces needs no memory for reduces, even if its settings give some.
        let of = |kind| if has_tasks[kind] { memory[kind] } else { Bytes::ZERO };
        Self { user, pool, has_tasks, memory: PerSlot::of(of), has_deadline: false }
    }
}

impl JobSpec {
    /// Returns a job whose tasks read nothing and take no time, for tests to change.
    pub fn bare(id: u32, maps: u32, reduces: u32) -> Self {
        let noise = Dist::Constant(Factor::ONE);
        Self {
            id: JobId(id),
            name: format!("job-{id}").into(),
            user: "ann".into(),
            pool: "research".into(),
            names_pool: true,
            class: "small".into(),
            priority: Priority::Normal,
            deadline: None,
            suspendable: true,
            maps,
            reduces,
            input: None,
            reduce_holders: None,
            map: MapCost {
                time: None,
                rate: None,
                noise: noise.clone(),
                rack_penalty: Factor::ONE,
                off_rack_penalty: Factor::ONE,
                output: Bytes::ZERO,
            },
            reduce: ReduceCost {
                shuffle_time: None,
                shuffle: Bytes::ZERO.into(),
                sort_time: SimSpan::ZERO.into(),
                time: None,
                rate: None,
                noise,
                output: Bytes::ZERO.into(),
            },
            memory: PerSlot::default(),
            cores: PerSlot { map: 1, reduce: 1 },
            cached_file: Bytes::ZERO,
            settings: JobSettings::default(),
            traced: None,
        }
    }

    /// Returns the counted resources that each attempt of a kind asks for.
    pub fn demand(&self, kind: SlotKind, counted: CountedResources) -> Amounts {
        counted.of(self.memory[kind], self.cores[kind])
    }

    /// Returns the pool or queue that the job names itself; `None` if it names none.
    pub fn named_pool(&self) -> Option<&str> {
        self.names_pool.then_some(&*self.pool)
    }

    /// Returns the id of the job in its trace; `None` unless ties between jobs are broken by ids.
    pub fn traced_id(&self) -> Option<Arc<str>> {
        // The name of a traced job is its id, spelt as in the trace.
        self.traced.as_ref()?.id.as_ref().map(|_| self.name.clone())
    }

    /// Returns the facts that are known before the job arrives.
    pub fn expected(&self) -> ExpectedJob<'_> {
        let has_tasks = PerSlot { map: 0 < self.maps, reduce: 0 < self.reduces };
        let has_deadline = self.deadline.is_some();
        let expected = ExpectedJob::new(&self.user, self.named_pool(), has_tasks, self.memory);
        ExpectedJob { has_deadline, ..expected }
    }
}

impl JobSpec {
    /// Returns how much output a map has, relative to the job's other maps: as much as it has input.
    pub fn output_weight(&self, map: u32) -> u64 {
        let input = self.input.as_ref().map_or(0, |input| input.bytes(map, self.maps).get());
        mutated!(input.max(1), "places/counts-maps" => 1)
    }
}

/// The input of a job's maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Map *i* reads block *i* of a file.
    File {
        /// The file.
        file: FileId,
        /// The bytes of every map but the last.
        split: Bytes,
        /// The bytes of the last map.
        last_split: Bytes,
        /// How many extra copies of each block the job finds, if the file is hot; otherwise 0.
        more_copies: u32,
        /// The blocks without extra copies: no node with a copy could be read when the copies were
        /// due.
        without_extra_copies: Arc<[u32]>,
    },
    /// Map *i* reads the split that a trace lists for it.
    Splits(Arc<[Split]>),
}

/// The input of a map, as a trace lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// The size of the split.
    pub bytes: Bytes,
    /// The nodes that hold it; empty if the trace does not say.
    pub holders: Box<[TrackerId]>,
}

/// The block that a map reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Block {
    /// A block of a file, which other jobs may read as well.
    OfFile(BlockId),
    /// A split that a trace lists for a job's map.
    OfTrace(JobId, u32),
}

impl Block {
    /// Returns the block that a map reads; `None` if its job has no input.
    pub(super) fn of(job: &JobSpec, map: u32) -> Option<Self> {
        Some(job.input.as_ref()?.block(job.id, map))
    }
}

impl Input {
    /// Returns an input of small splits for as many maps as there are trackers here: each split is
    /// on one of them.
    pub fn on_trackers<const N: usize>(holders: [u32; N]) -> Self {
        let splits =
            holders.map(|on| Split { bytes: Bytes::new(1), holders: [TrackerId(on)].into() });
        Self::Splits(splits.into())
    }

    /// Returns how many bytes one of `maps` maps reads.
    pub fn bytes(&self, map: u32, maps: u32) -> Bytes {
        match self {
            Self::File { last_split, .. } if map + 1 == maps => *last_split,
            Self::File { split, .. } => *split,
            Self::Splits(splits) => splits.get(map as usize).map_or(Bytes::ZERO, |s| s.bytes),
        }
    }

    /// Returns how many bytes all of `maps` maps read together.
    pub fn total(&self, maps: u32) -> Bytes {
        match self {
            Self::File { split, last_split, .. } => {
                let others = split.get().saturating_mul(maps.saturating_sub(1).into());
                Bytes::new(others.saturating_add(last_split.get()))
            }
            Self::Splits(splits) => {
                let sum = splits.iter().fold(0_u64, |sum, one| sum.saturating_add(one.bytes.get()));
                Bytes::new(sum)
            }
        }
    }

    /// Returns the block that a job's map reads.
    pub fn block(&self, job: JobId, map: u32) -> Block {
        match self {
            Self::File { file, .. } => Block::OfFile(BlockId { file: *file, place: map }),
            Self::Splits(_) => Block::OfTrace(job, map),
        }
    }

    /// Returns how many extra copies of its block a map finds.
    pub fn more_copies(&self, map: u32) -> u32 {
        match self {
            // The list is sorted, as it was made map by map.
            Self::File { more_copies, without_extra_copies, .. }
                if without_extra_copies.binary_search(&map).is_err() =>
            {
                *more_copies
            }
            Self::File { .. } | Self::Splits(_) => 0,
        }
    }

    /// Fills `holders` with the nodes that hold the input of a map.
    pub fn locate(&self, map: u32, hdfs: &Hdfs, holders: &mut Vec<TrackerId>) {
        match self {
            Self::File { file, .. } => hdfs.locate(*file, map, self.more_copies(map), holders),
            Self::Splits(splits) => {
                holders.clear();
                // A map beyond the end of the list has no input node, and may run anywhere.
                holders.extend(splits.get(map as usize).iter().flat_map(|s| s.holders.iter()));
            }
        }
    }
}

/// How many bytes each task of a kind moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskBytes {
    /// All tasks move this many bytes.
    Alike(Bytes),
    /// The bytes of each task, by its number.
    Each(Arc<[Bytes]>),
}

impl TaskBytes {
    /// Returns how many bytes a task moves.
    pub fn of(&self, task: u32) -> Bytes {
        match self {
            Self::Alike(bytes) => *bytes,
            Self::Each(bytes) => bytes.get(task as usize).copied().unwrap_or_default(),
        }
    }

    /// Returns how many bytes a task moves on average.
    pub fn mean(&self) -> Bytes {
        match self {
            Self::Alike(bytes) => *bytes,
            Self::Each(bytes) => {
                let all: Bytes = bytes.iter().copied().sum();
                // Without tasks of the kind the mean is 0; `max` avoids a division by zero.
                Bytes::new(all.get() / bytes.len().max(1) as u64)
            }
        }
    }

    /// Returns how many bytes a task moves, relative to the mean of all tasks; 1 if no task moves
    /// any.
    pub fn relative(&self, task: u32) -> f64 {
        match self {
            Self::Alike(_) => 1.0,
            Self::Each(bytes) => {
                let all = bytes.iter().copied().sum::<Bytes>().get() as f64;
                let own = self.of(task).get() as f64;
                if all == 0.0 { 1.0 } else { own * bytes.len() as f64 / all }
            }
        }
    }
}

impl From<Bytes> for TaskBytes {
    fn from(bytes: Bytes) -> Self {
        Self::Alike(bytes)
    }
}

/// How long the tasks of a kind take.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TaskTimes {
    /// The time of each task, by its number.
    Each(Arc<[SimSpan]>),
    /// Drawn for each task.
    Drawn(Dist<SimSpan>),
}

impl TaskTimes {
    /// Returns the number of listed times; `None` if times are drawn.
    pub fn listed(&self) -> Option<usize> {
        match self {
            Self::Each(times) => Some(times.len()),
            Self::Drawn(_) => None,
        }
    }

    /// Returns how long a task takes.
    pub fn of<R: Rng>(&self, task: u32, rng: &mut R) -> SimSpan {
        match self {
            Self::Each(times) => times.get(task as usize).copied().unwrap_or_default(),
            Self::Drawn(dist) => dist.sample(rng),
        }
    }
}

forms! {
    TaskTimes,
    expected: "a time, a distribution of times, or a list with the time of each task",
    // Let the distribution read every form except a list, so that its messages name the mistake.
    text: |text| Dist::deserialize(StrDeserializer::new(text)).map(TaskTimes::Drawn),
    whole: |number| Dist::deserialize(U64Deserializer::new(number)).map(TaskTimes::Drawn),
    number: |number| Dist::deserialize(F64Deserializer::new(number)).map(TaskTimes::Drawn),
    list: |list| Arc::deserialize(list).map(TaskTimes::Each),
    map: |map| Dist::deserialize(map).map(TaskTimes::Drawn),
    schema: "TaskTimes", |schemas| {
        let drawn = schemas.subschema_for::<Dist<SimSpan>>();
        let each = schemas.subschema_for::<Vec<SimSpan>>();
        json_schema!({
            "title": "a time, a distribution such as {log_normal: {mean: 20s, cv: 0.2}}, \
                      or a list with the time of each task",
            "anyOf": [drawn, each],
        })
    },
}

impl From<Dist<SimSpan>> for TaskTimes {
    fn from(dist: Dist<SimSpan>) -> Self {
        Self::Drawn(dist)
    }
}

impl From<SimSpan> for TaskTimes {
    fn from(span: SimSpan) -> Self {
        Self::Drawn(Dist::Constant(span))
    }
}

/// The cost of a map after its start-up: reading its split, then computing, then writing.
#[derive(Clone, Debug)]
pub struct MapCost {
    /// Computing, if given as a time.
    pub time: Option<TaskTimes>,
    /// Computing, if given as a speed: how fast it goes through the split.
    pub rate: Option<Rate>,
    /// A factor of the computing time, drawn for each map.
    pub noise: Dist<Factor>,
    /// A factor of the computing time if the input is in the rack.
    pub rack_penalty: Factor,
    /// A factor of the computing time if the input is in another rack.
    pub off_rack_penalty: Factor,
    /// The bytes that each map of a job without reduces writes.
    pub output: Bytes,
}

/// The cost of a reduce after its start-up: shuffle, sort, reduce.
#[derive(Clone, Debug)]
pub struct ReduceCost {
    /// Fetching, if given as a time: how long it takes if all maps have already ended.
    pub shuffle_time: Option<TaskTimes>,
    /// The bytes that each reduce fetches.
    pub shuffle: TaskBytes,
    /// Merging.
    pub sort_time: TaskTimes,
    /// Computing, if given as a time.
    pub time: Option<TaskTimes>,
    /// Computing, if given as a speed: how fast it goes through the fetched bytes.
    pub rate: Option<Rate>,
    /// A factor of the computing time, drawn for each reduce.
    pub noise: Dist<Factor>,
    /// The bytes that each reduce writes.
    pub output: TaskBytes,
}

worded! {
    /// The priority of a job, in Hadoop's five steps.
    #[derive(
        Clone,
        Copy,
        Debug,
        Default,
        PartialEq,
        Eq,
        PartialOrd,
        Ord,
        Hash,
        Serialize,
        Deserialize,
        JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum Priority {
        /// Before all others.
        VeryHigh = "very_high",
        /// Before normal ones.
        High = "high",
        /// The priority of a job that names none.
        #[default]
        Normal = "normal",
        /// After normal ones.
        Low = "low",
        /// After all others.
        VeryLow = "very_low",
    }
}
