//! `workload: {mix: {...}}`: jobs of several types, drawn by chance.
//!
//! ```text
//! types: {load: {count: 2, …}, sum: {after: [load], …}}
//!   order      load, load              counts are shuffled like cards, weights drawn
//!   arrivals   0s, 14s                 one instant for each
//!   families   load-1 <- sum-1, load-2 <- sum-2
//!   list       load-1 at 0s, sum-1 after it, load-2 at 14s, sum-2 after it
//! ```
//!
//! A mix only makes a list of jobs, as a user could write it. Each number that it draws has a
//! random stream of its own, identified by the job's type, the job's rank among the jobs of the
//! type, and the drawn aspect. So adding a hundred jobs leaves the first jobs unchanged, longer
//! tasks of one type change nothing else, and neither the cluster nor the policy affects the jobs.

mod arrivals;
mod check;
mod names;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jobs::{
    JobEntry, MERGE, Penalty, TaskCores, TaskCount, heap, in_order, no_noise, one_core,
    with_job_settings, yes,
};
use super::shares::ReduceShares;
use super::site::WorkloadSite;
use super::source::{FoundJobs, Source, SourceKind};
use mumakil_base::random::{ChaCha8Rng, Dist, Purpose, pick, stream};
use mumakil_base::units::{Bytes, Count, Factor, Fraction, Quantity, Rate, SimSpan};
use mumakil_core::mapred::{AttemptLimit, Priority, TrackerFailureLimit};
use mumakil_core::trace::TraceError;
use mumakil_yaml::{Path, YamlProblem};

pub use arrivals::Arrivals;
pub use names::{NameChoices, Names};

/// Jobs of several types, drawn by chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// How many jobs there are, without those that follow others. Unless given, the types' `count`,
    /// the `times` or the `duration` decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Count<1, 1_000_000>>,
    /// The latest time at which a job arrives, except for jobs that follow others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<SimSpan>,
    /// When jobs are submitted.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// The user who submits the jobs.
    #[serde(default)]
    pub user: Names,
    /// The pools or queues of the jobs; the users' names unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Names>,
    /// The factor of all task times.
    #[serde(default = "unchanged")]
    pub time_factor: Factor,
    /// The types of jobs, by name. The jobs of a type are called `TYPE-1`, `TYPE-2`, … .
    #[schemars(with = "BTreeMap<String, JobType>")]
    pub types: IndexMap<String, JobType>,
}

with_job_settings! {
/// A type of jobs. Its numbers are drawn for each job; bytes and times are those of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobType {
    /// How many jobs of this type there are; the order of all jobs is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Count<0, 1_000_000>>,
    /// How often a job is of this type, in proportion to the other types; 1 unless there is a
    /// `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Factor>,
    /// The types that this type follows: its first job waits for the end of their first jobs, and
    /// so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How long a job is submitted after the last end of the jobs that it waits for.
    #[serde(default)]
    pub delay: Dist<SimSpan>,
    /// The user who submits the jobs; as in the whole mix unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Names>,
    /// Their pools or queues; as in the whole mix unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Names>,
    /// The class by which reports group the jobs: the first of the scenario's `classes` that fits,
    /// or the type's name, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The priority of the jobs.
    #[serde(default)]
    pub priority: Priority,
    /// How long after its submission a job should have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Dist<SimSpan>>,
    /// Whether attempts can be suspended; `false` is for tasks that hold connections or locks
    /// outside the cluster.
    #[serde(default = "yes")]
    pub suspendable: bool,

    /// How many maps a job has.
    pub maps: Dist<TaskCount>,
    /// The fewest maps of a job if their number is drawn: 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps_at_least: Option<TaskCount>,
    /// How many reduces a job has.
    #[serde(default = "none")]
    pub reduces: Dist<TaskCount>,
    /// The fewest reduces of a job if their number is drawn: 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduces_at_least: Option<TaskCount>,
    /// The bytes that each map reads; a block unless given. `0` is for maps without input, which
    /// are local on no node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_input: Option<Dist<Bytes>>,
    /// The file that the maps of all these jobs read, by any name. Without this, each job has a
    /// file of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The size of a file that all tasks read, as with Hadoop's distributed cache: a node copies it
    /// before a job's first attempt there.
    #[serde(default)]
    pub cached_file: Bytes,
    /// The bytes that each reduce fetches.
    #[serde(default)]
    #[schemars(extend("x-only-if" = {
        "shuffle_time": null,
        "reduce_rate": {"not": null},
        "a policy that goes by bytes": true,
    }))]
    pub reduce_input: Dist<Bytes>,
    /// The bytes that each reduce writes, or each map of a job without reduces.
    #[serde(default)]
    pub output: Dist<Bytes>,
    /// How the reduces of a job share what all of them fetch and write; evenly unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"reduce_input": {"not": 0}, "output": {"not": 0}}))]
    pub reduce_shares: Option<ReduceShares>,

    /// How long a map computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_time: Option<Dist<SimSpan>>,
    /// How fast a map processes its input. Without `map_time` and `map_rate` it only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"map_time": null}))]
    pub map_rate: Option<Rate>,
    /// How long a reduce fetches if all maps are done. Without this, it depends on the bytes and
    /// the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle_time: Option<Dist<SimSpan>>,
    /// How long a reduce merges before it reduces.
    #[serde(default = "merge")]
    pub sort_time: Dist<SimSpan>,
    /// How long a reduce computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_time: Option<Dist<SimSpan>>,
}
}

/// An aspect of a job that is drawn. It is the last byte of the subject of a random stream. New
/// aspects go to the end, so that no draw of another aspect changes.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum DrawnAspect {
    Order,
    Arrivals,
    User,
    Pool,
    Delay,
    Maps,
    Reduces,
    MapInput,
    ReduceInput,
    Output,
    MapTime,
    ShuffleTime,
    SortTime,
    ReduceTime,
    Deadline,
}

/// The random streams of one job, or of draws that jobs have in common.
#[derive(Clone, Copy)]
struct JobStreams {
    seed: u64,
    /// The index of the job's type.
    place: usize,
    rank: u32,
}

impl JobStreams {
    fn rng(self, aspect: DrawnAspect) -> ChaCha8Rng {
        // A subject has 56 bits: at most 10 for the type (1,000 types), 24 for the rank (a million
        // ranks need 20), and 8 for the aspect.
        let subject = (self.place as u64) << 32 | u64::from(self.rank) << 8 | aspect as u64;
        stream(self.seed, Purpose::Workload, subject)
    }

    fn draw<T: Quantity>(self, aspect: DrawnAspect, dist: &Dist<T>) -> T {
        dist.sample(&mut self.rng(aspect))
    }
}

/// The properties that the jobs of a family have in common. The jobs of a family follow each other.
struct JobFamily {
    /// The number of the family, from 1.
    number: u32,
    /// The index of the first job's type.
    first: usize,
    /// The rank, from 1, of the first job among the jobs of its type.
    rank: u32,
    /// When the first job is submitted.
    submit: SimSpan,
}

impl JobType {
    fn floored_maps(&self, lot: JobStreams) -> TaskCount {
        let fewest = self.maps_at_least.unwrap_or(TaskCount::of(1));
        floored(&self.maps, fewest, lot.draw(DrawnAspect::Maps, &self.maps))
    }
}

/// Returns a number of tasks, or `fewest` if it was drawn and is smaller. A number that the scenario
/// gives stays: a job with reduces alone has `maps: 0`.
fn floored(of: &Dist<TaskCount>, fewest: TaskCount, count: TaskCount) -> TaskCount {
    if of.is_constant() { count } else { count.max(fewest) }
}

impl SourceKind for Mix {
    const KEY: &'static str = "mix";
    const ABOUT: &'static str = "Jobs of several types, drawn by chance.";
}

impl Source for Mix {
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        Ok(FoundJobs { jobs: self.draw(site.seed), ..FoundJobs::default() })
    }

    fn drawn(&self, seed: u64, problems: &mut Vec<YamlProblem>) -> Option<Vec<JobEntry>> {
        Some(check::draw(self, seed, problems))
    }

    fn doubts(&self, seed: u64, jobs: &[JobEntry]) -> Vec<String> {
        check::doubts(self, seed, jobs)
    }

    fn origin_of(&self, job: &JobEntry) -> Path {
        let of = job.name.rsplit_once('-').map_or(job.name.as_str(), |(of, _)| of);
        Path::of("types").key(of)
    }
}

impl Mix {
    /// The most jobs of a mix, without those that follow others, as in the field `jobs`.
    pub const MOST: u32 = 1_000_000;

    /// Returns the jobs of a scenario with this seed.
    ///
    /// Expects that the types have passed the scenario's check.
    pub fn draw(&self, seed: u64) -> Vec<JobEntry> {
        let members = self.members();
        let mut ranks = vec![0; self.types.len()];
        let arrivals = self
            .arrivals
            .instants(JobStreams { seed, place: 0, rank: 0 }.rng(DrawnAspect::Arrivals))
            .take_while(|at| self.duration.is_none_or(|end| *at <= end));
        // With only a `duration` and gaps of 0s the arrivals would never end.
        let most = self.said().unwrap_or(Self::MOST.into()) as usize;
        let mut jobs = Vec::new();
        for (number, (first, submit)) in (1..).zip(self.order(seed).zip(arrivals).take(most)) {
            ranks[first] += 1;
            let family = JobFamily { number, first, rank: ranks[first], submit };
            jobs.extend(members[first].iter().map(|&member| self.job(seed, member, &family)));
        }
        jobs
    }

    /// Returns the number of jobs, without those that follow others: `jobs`, or the sum of the
    /// counts, or the number of recorded times. `None` if only `duration` limits the number.
    fn said(&self) -> Option<u64> {
        let counts = || self.types.values().filter_map(|of| of.count);
        let counted = counts().next().map(|_| counts().map(|count| u64::from(count.get())).sum());
        let recorded = match &self.arrivals {
            Arrivals::Times(times) => Some(times.len() as u64),
            _ => None,
        };
        self.jobs.map(|jobs| u64::from(jobs.get())).or(counted).or(recorded)
    }

    /// Returns for each type the indices of the types that it follows.
    fn follows(&self) -> Vec<Vec<usize>> {
        self.types
            .values()
            .map(|of| of.after.iter().filter_map(|name| self.types.get_index_of(name)).collect())
            .collect()
    }

    /// Returns, for each type that follows no other, the types of its family.
    fn members(&self) -> Vec<Vec<usize>> {
        let follows = self.follows();
        let mut first: Vec<usize> = (0..follows.len()).collect();
        let mut members = vec![Vec::new(); follows.len()];
        for place in in_order(&follows) {
            // All types that a type follows are in one family: the check has made sure of it.
            first[place] = follows[place].first().map_or(place, |&before| first[before]);
            members[first[place]].push(place);
        }
        members
    }

    /// Returns the type of each job that follows no other, in the order of the jobs. The iterator
    /// never ends.
    fn order(&self, seed: u64) -> Box<dyn Iterator<Item = usize> + '_> {
        let types = || self.types.values().enumerate().filter(|(_, of)| of.after.is_empty());
        let rng = move |rank| JobStreams { seed, place: 0, rank }.rng(DrawnAspect::Order);
        if types().any(|(_, of)| of.count.is_some()) {
            // The counts are like a pack of cards: when the whole pack is dealt, it is shuffled and
            // dealt again.
            let copies = types().flat_map(|(place, of)| {
                std::iter::repeat_n(place, of.count.map_or(0, Count::get) as usize)
            });
            let pack: Vec<usize> = copies.collect();
            Box::new((0..).flat_map(move |round| {
                let mut pack = pack.clone();
                pack.shuffle(&mut rng(round));
                pack
            }))
        } else {
            let weights: Vec<(usize, f64)> =
                types().map(|(place, of)| (place, of.weight.map_or(1.0, Factor::get))).collect();
            Box::new((0..).map(move |number| {
                weights[pick(weights.iter().map(|(_, weight)| *weight), &mut rng(number))].0
            }))
        }
    }

    /// Returns the job of a type in a family.
    fn job(&self, seed: u64, place: usize, family: &JobFamily) -> JobEntry {
        let (name, of) = self.types.get_index(place).expect("a place of a type");
        let lot = JobStreams { seed, place, rank: family.rank };
        // A user or pool of the whole mix is drawn once for a family, so the jobs of a family have
        // the same user.
        let first = JobStreams { place: family.first, ..lot };
        let own = |names: &Names, aspect| names.get(family.rank, &mut lot.rng(aspect));
        let common = |names: &Names, aspect| names.get(family.number, &mut first.rng(aspect));
        let time = |aspect, dist: &Dist<SimSpan>| {
            SimSpan::from_f64(lot.draw(aspect, dist).as_f64() * self.time_factor.get()).into()
        };
        let maps = of.floored_maps(lot);
        let fewest = of.reduces_at_least.unwrap_or(TaskCount::of(0));
        let reduces = floored(&of.reduces, fewest, lot.draw(DrawnAspect::Reduces, &of.reduces));
        // Without reduces the maps write the output.
        let writers = if reduces.get() == 0 { maps } else { reduces };
        let input =
            of.map_input.as_ref().map(|input| of_all(lot.draw(DrawnAspect::MapInput, input), maps));
        let rank = family.rank;
        JobEntry {
            submit: if of.after.is_empty() {
                family.submit
            } else {
                lot.draw(DrawnAspect::Delay, &of.delay)
            },
            after: of.after.iter().map(|before| format!("{before}-{rank}")).collect(),
            user: match &of.user {
                Some(names) => own(names, DrawnAspect::User),
                None => common(&self.user, DrawnAspect::User),
            },
            pool: match &of.pool {
                Some(names) => Some(own(names, DrawnAspect::Pool)),
                None => self.pool.as_ref().map(|names| common(names, DrawnAspect::Pool)),
            },
            class: of.class.clone(),
            drawn_type: Some(name.as_str().into()),
            priority: of.priority,
            deadline: of.deadline.as_ref().map(|dist| lot.draw(DrawnAspect::Deadline, dist)),
            suspendable: of.suspendable,
            maps: Some(maps),
            reduces,
            input,
            file: of.file.clone(),
            shuffle: of_all(lot.draw(DrawnAspect::ReduceInput, &of.reduce_input), reduces),
            output: of_all(lot.draw(DrawnAspect::Output, &of.output), writers),
            reduce_shares: of.reduce_shares.clone(),
            map_time: of.map_time.as_ref().map(|dist| time(DrawnAspect::MapTime, dist)),
            map_rate: of.map_rate,
            shuffle_time: of.shuffle_time.as_ref().map(|dist| time(DrawnAspect::ShuffleTime, dist)),
            sort_time: time(DrawnAspect::SortTime, &of.sort_time),
            reduce_time: of.reduce_time.as_ref().map(|dist| time(DrawnAspect::ReduceTime, dist)),
            reduce_rate: of.reduce_rate,
            noise: of.noise.clone(),
            penalty: of.penalty.clone(),
            map_memory: of.map_memory,
            reduce_memory: of.reduce_memory,
            map_cores: of.map_cores,
            cached_file: of.cached_file,
            reduce_cores: of.reduce_cores,
            slow_start: of.slow_start,
            map_attempts: of.map_attempts,
            reduce_attempts: of.reduce_attempts,
            map_failures: of.map_failures,
            reduce_failures: of.reduce_failures,
            tracker_failures: of.tracker_failures,
            map_speculation: of.map_speculation,
            reduce_speculation: of.reduce_speculation,
            ..JobEntry::named(&format!("{name}-{rank}"))
        }
    }
}

/// Returns the bytes of all tasks, from the bytes of one.
fn of_all(bytes: Bytes, tasks: TaskCount) -> Bytes {
    Bytes::new(bytes.get().saturating_mul(tasks.get().into()).min(Bytes::LARGEST.get()))
}

fn unchanged() -> Factor {
    Factor::ONE
}

fn none() -> Dist<TaskCount> {
    TaskCount::of(0).into()
}

fn merge() -> Dist<SimSpan> {
    MERGE.into()
}
