//! `summary.json`: a run in some thirty numbers, which callers also get as a [`Summary`].
//!
//! Jobs of the warm-up and their attempts are left out; slots and messages cover the whole run.
//! Sojourn times cover the jobs that succeeded; waits cover the jobs that have launched a task. The median and the 95th percentile are interpolated linearly
//! between two jobs, as in spreadsheets and NumPy. Numbers are rounded to six decimals.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::load::LoadTally;
use super::resources::ResourceTally;
use super::table::TextFile;
use super::{
    AlikeHeartbeats, AttemptFate, Expenses, LoadSummary, RecordError, ResourceShares, RunBooks,
    RunEnd, RunFacts, WasteSummary, Watcher,
};
use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime, tell};
use mumakil_base::{files, statistics};
use mumakil_core::mapred::{
    Event, Fact, PerSlot, Precedence, SlotKind, StopReason, TaskKind, TrackerFact, TrackerId,
    WorldFact,
};
use mumakil_results::tables::JobEnd;
use mumakil_scenario::workload::JobDemand;

/// A policy that took over during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaterPolicy {
    /// When it took over, in seconds.
    pub at_s: f64,
    /// The policy's name.
    pub policy: String,
    /// The order in which it served jobs.
    #[serde(default)]
    pub precedence: Precedence,
}

/// A run in numbers, in the order of `summary.json`. A number is `None` if no job or slot has a
/// value for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The scenario, the policy and the cluster.
    #[serde(flatten)]
    pub run: RunFacts,
    /// The map slots of all trackers, as many as each had at its first start.
    pub map_slots: u64,
    /// The reduce slots of all trackers, as many as each had at its first start.
    pub reduce_slots: u64,
    /// The end of the warm-up, in seconds.
    pub warm_up_s: f64,
    /// How many jobs the warm-up leaves out; `None` unless `record.warm_up` is `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_jobs: Option<u64>,
    /// How many jobs were submitted.
    pub jobs: u64,
    /// How many jobs succeeded.
    pub jobs_succeeded: u64,
    /// How many jobs failed.
    pub jobs_failed: u64,
    /// How many jobs were killed.
    pub jobs_killed: u64,
    /// How many jobs the policy refused; left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub jobs_refused: u64,
    /// How many map and reduce attempts were assigned.
    pub attempts: u64,
    /// How many attempts failed.
    pub attempts_failed: u64,
    /// How many attempts were killed, including completed maps that were lost.
    pub attempts_killed: u64,
    /// How often attempts were suspended.
    pub suspensions: u64,
    /// The number of maps of all jobs.
    pub maps: u64,
    /// The number of reduces of all jobs.
    pub reduces: u64,
    /// Seconds from the first submission to the last end of a job; `None` if a job has not ended.
    pub makespan_s: Option<f64>,
    /// Mean seconds from a job's submission to its end, of the jobs that succeeded.
    pub mean_sojourn_s: Option<f64>,
    /// Their median; half way between the middle two, if their number is even.
    pub median_sojourn_s: Option<f64>,
    /// Their 95th percentile.
    pub p95_sojourn_s: Option<f64>,
    /// Mean seconds from a job's submission to its first launch.
    pub mean_wait_s: Option<f64>,
    /// The share of successful map attempts with input at each locality level.
    pub locality: LocalityShares,
    /// The slot time that attempts held, as a share of the slot time of running trackers.
    pub slot_utilisation: PerSlot<Option<f64>>,
    /// The memory and cores that attempts held, as shares of those of running trackers; `None` where
    /// only slots are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_utilisation: Option<ResourceShares>,
    /// Energy and cost; `None` if no node takes power or has a price.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub expenses: Option<Expenses>,
    /// The share of the slot time of reduces for which they waited, in their slots, for maps of
    /// their jobs.
    pub maps_wait: Option<f64>,
    /// The offered load, and whether the cluster keeps up with it.
    pub load: LoadSummary,
    /// Useful and wasted slot time; `None` if neither `record.waste` nor speculation is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waste: Option<WasteSummary>,
    /// Faults of machines and attempts, and their cost; `None` without faults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultSummary>,
    /// The pools or queues of the jobs, in the order of their first jobs; empty if there is only
    /// one, or if no job names a pool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<GroupSummary>,
    /// The users of the jobs, in the order of their first jobs; empty if there is only one, or if
    /// each user has a pool of that name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<GroupSummary>,
    /// How many heartbeats were answered.
    pub heartbeats: u64,
    /// How many messages actors received.
    pub messages: u64,
    /// Seconds of virtual time that the run took.
    pub virtual_s: f64,
    /// Why the run stopped early: `stalled` or `time_limit`; `None` if all jobs ended or the run
    /// reached `until`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'static str>,
}

/// The faults of a run and their cost, in `summary.json`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FaultSummary {
    /// The number of incidents on machines, plus the number of attempts that hang. Ends of
    /// incidents do not count.
    pub incidents: u64,
    /// How many attempts failed, or were lost with their tracker or output.
    pub attempts_lost: u64,
    /// The slot time of the lost and failed attempts: seconds times slots.
    pub slots_lost_s: f64,
}

/// The jobs of a pool or of a user, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSummary {
    /// The pool or the user.
    pub name: String,
    /// How many jobs were submitted.
    pub jobs: u64,
    /// How many of them did not succeed; left out if all did.
    #[serde(skip_serializing_if = "is_zero")]
    pub jobs_left_out: u64,
    /// Mean seconds from a job's submission to its end, of the jobs that succeeded.
    pub mean_sojourn_s: Option<f64>,
    /// Their 95th percentile.
    pub p95_sojourn_s: Option<f64>,
    /// Mean seconds from a job's submission to its first launch.
    pub mean_wait_s: Option<f64>,
    /// The slot time that the jobs held, as a share of that of all jobs.
    pub slots: Option<f64>,
    /// The memory and cores that the jobs held, as shares of those of the cluster; `None` where only
    /// slots are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceShares>,
}

/// A share for each locality level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LocalityShares {
    /// The share of maps that ran on a node with their input.
    pub node: Option<f64>,
    /// The share of maps that ran in a rack with their input, but on another node.
    pub rack: Option<f64>,
    /// The share of maps that ran in another rack than their input.
    pub off_rack: Option<f64>,
}

/// Numbers that are counted during the run: heartbeats, incidents, and slots over time.
#[derive(Debug, Default)]
pub(super) struct SummaryTally {
    heartbeats: u64,
    /// The number of incidents on machines, plus the number of attempts that hang.
    incidents: u64,
    /// The slots of each tracker: now, and at its first start.
    trackers: Vec<(PerSlot<u32>, Option<PerSlot<u32>>)>,
    available: PerSlot<LevelArea>,
    held: PerSlot<LevelArea>,
    /// The slots of each job, by its number.
    jobs: Vec<LevelArea>,
    /// How long reduces waited in their slots for maps: slots times microseconds.
    maps_wait: u128,
    load: LoadTally,
    /// Memory and cores; `None` where only slots are counted.
    pub(super) resources: Option<Arc<Mutex<ResourceTally>>>,
}

/// A number over time, and the integral of its curve.
#[derive(Debug, Default)]
pub(super) struct LevelArea {
    pub(super) level: u64,
    since: SimTime,
    micros: u128,
}

impl SummaryTally {
    /// Returns the tally of a run whose jobs ask for this slot time.
    pub(super) fn new(demands: Vec<JobDemand>, is_batch: bool) -> Self {
        Self { load: LoadTally::new(demands, is_batch), ..Self::default() }
    }

    /// Returns the cost of faults; `None` without incidents and lost attempts.
    fn faults(&self, losses: &WasteSummary) -> Option<FaultSummary> {
        let faults = FaultSummary {
            incidents: self.incidents,
            attempts_lost: losses.attempts_harmed,
            slots_lost_s: rounded(
                losses.by_fate[AttemptFate::Failed] + losses.by_fate[AttemptFate::Lost],
            ),
        };
        // Attempts that fail without an incident on a machine count too.
        (0 < faults.incidents + faults.attempts_lost).then_some(faults)
    }

    fn slots_change(&mut self, at: SimTime, tracker: TrackerId, slots: PerSlot<u32>) {
        let (now, first) = grown(&mut self.trackers, tracker.index());
        // The cluster's size counts each tracker's first slots only, so a restart does not count
        // them twice.
        first.get_or_insert(slots);
        // A tracker may come back with a different number of slots, so change the level by the
        // difference.
        let before = std::mem::replace(now, slots);
        for kind in SlotKind::BOTH {
            // Subtract first: the level includes the tracker's old slots.
            let level =
                self.available[kind].level - u64::from(before[kind]) + u64::from(slots[kind]);
            self.available[kind].set(at, level);
        }
    }

    fn slots(&self, kind: SlotKind) -> u64 {
        self.trackers.iter().filter_map(|(_, first)| Some(u64::from((*first)?[kind]))).sum()
    }

    fn utilisation(&self, kind: SlotKind, ended: SimTime) -> Option<f64> {
        share(self.held[kind].until(ended), self.available[kind].until(ended))
    }

    /// Returns the groups of the jobs; empty if there is only one.
    fn groups<'b>(
        &self,
        end: &RunEnd<'b>,
        group_of: fn(&super::BookedJob) -> &str,
    ) -> Vec<GroupSummary> {
        let mut groups: IndexMap<&str, Vec<&super::BookedJob>> = IndexMap::new();
        for job in end.books.counted() {
            groups.entry(group_of(job)).or_default().push(job);
        }
        if groups.len() < 2 {
            return Vec::new();
        }
        let held = |job: &super::BookedJob| {
            let area = self.jobs.get(job.spec.id.index());
            area.map_or(0, |area| area.until(end.run.ended))
        };
        let all: u128 = groups.values().flatten().map(|job| held(job)).sum();
        let summaries = groups.into_iter().map(|(name, jobs)| {
            let mut sojourns: Vec<SimSpan> = jobs.iter().filter_map(|job| job.measured()).collect();
            sojourns.sort_unstable();
            let waits: Vec<SimSpan> = jobs.iter().filter_map(|job| job.wait()).collect();
            GroupSummary {
                name: name.to_owned(),
                jobs: jobs.len() as u64,
                jobs_left_out: (jobs.len() - sojourns.len()) as u64,
                mean_sojourn_s: mean(&sojourns),
                p95_sojourn_s: quantile(&sojourns, 0.95),
                mean_wait_s: mean(&waits),
                slots: share(jobs.iter().map(|job| held(job)).sum(), all),
                resources: (self.resources.as_ref())
                    .map(|counted| counted.lock().shares(Some(name), end.run.ended)),
            }
        });
        summaries.collect()
    }

    pub(super) fn summary(&self, end: &RunEnd<'_>, losses: Option<&WasteSummary>) -> Summary {
        let RunEnd { books, run, waste, .. } = *end;
        let ended = |outcome| {
            let how = |job: &&super::BookedJob| job.ended.is_some_and(|(_, how)| how == outcome);
            books.counted().filter(how).count() as u64
        };
        let sum =
            |of: fn(&super::BookedJob) -> u32| books.counted().map(|job| u64::from(of(job))).sum();
        let mut sojourns: Vec<SimSpan> = books.counted().filter_map(|job| job.measured()).collect();
        // The quantiles below need ascending order.
        sojourns.sort_unstable();
        let waits: Vec<SimSpan> = books.counted().filter_map(|job| job.wait()).collect();
        let level = |level: usize| books.counted().map(|job| job.maps_by_locality[level]).sum();
        let maps: [u64; 3] = [0, 1, 2].map(level);
        // Count only maps with input: a map without input has no locality and would lower every
        // share.
        let all_maps = maps.iter().sum::<u64>();
        let [node, rack, off_rack] = maps.map(|part| share(part.into(), all_maps.into()));
        let mut pools = self.groups(end, |job| &job.spec.pool);
        let mut users = self.groups(end, |job| &job.spec.user);
        // A job that names no pool is in the pool of its user: tell such groups once.
        if !books.counted().any(|job| job.spec.names_pool) {
            pools.clear();
        } else if books.counted().all(|job| job.spec.pool == job.spec.user) {
            users.clear();
        }
        Summary {
            run: run.clone(),
            map_slots: self.slots(SlotKind::Map),
            reduce_slots: self.slots(SlotKind::Reduce),
            warm_up_s: rounded(books.warm_up.as_secs_f64()),
            warm_up_jobs: None,
            jobs: books.counted().count() as u64,
            jobs_succeeded: ended(JobEnd::Succeeded),
            jobs_failed: ended(JobEnd::Failed),
            jobs_killed: ended(JobEnd::Killed),
            jobs_refused: ended(JobEnd::Refused),
            attempts: books.attempts,
            attempts_failed: sum(|job| job.failed),
            attempts_killed: sum(|job| job.killed),
            suspensions: sum(|job| job.suspended),
            maps: sum(|job| job.spec.maps),
            reduces: sum(|job| job.spec.reduces),
            makespan_s: makespan(books),
            mean_sojourn_s: mean(&sojourns),
            median_sojourn_s: quantile(&sojourns, 0.5),
            p95_sojourn_s: quantile(&sojourns, 0.95),
            mean_wait_s: mean(&waits),
            locality: LocalityShares { node, rack, off_rack },
            slot_utilisation: PerSlot {
                map: self.utilisation(SlotKind::Map, run.ended),
                reduce: self.utilisation(SlotKind::Reduce, run.ended),
            },
            resource_utilisation: (self.resources.as_ref())
                .map(|counted| counted.lock().shares(None, run.ended)),
            expenses: end.expenses.map(|tally| tally.all(run.ended)),
            maps_wait: share(self.maps_wait, self.held.reduce.until(run.ended)),
            load: self.load.summary(books),
            waste: waste.cloned(),
            // Losses are counted only if the scenario has faults; otherwise the file has no
            // `faults`.
            faults: losses.and_then(|losses| self.faults(losses)),
            pools,
            users,
            heartbeats: self.heartbeats,
            messages: run.messages,
            virtual_s: rounded(run.ended.as_secs_f64()),
            stopped: run.stop.as_ref().and_then(StopReason::word),
        }
    }
}

impl Watcher for SummaryTally {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        match event.fact {
            Fact::Tracker(tracker, TrackerFact::Up(slots)) => {
                self.slots_change(event.at, tracker, slots);
            }
            Fact::Tracker(tracker, TrackerFact::Down) => {
                self.slots_change(event.at, tracker, PerSlot::default());
            }
            Fact::World(WorldFact::Incident { incident, .. }) => {
                self.incidents += u64::from(incident.is_trouble());
            }
            Fact::Tracker(_, TrackerFact::Heartbeat { .. })
            | Fact::World(
                WorldFact::Copy { .. } | WorldFact::PolicyChanged | WorldFact::Reloaded,
            )
            | Fact::Job(..)
            | Fact::Ledger(..)
            | Fact::Member(..)
            | Fact::Attempt(..)
            | Fact::Pool(..)
            | Fact::Span(..) => {}
        }
        self.load.see(event, books, |kind| self.available[kind].until(event.at));
        if let Some(shift) = books.shift {
            // Every shift counts: setup, cleanup and the removal of outputs hold slots too.
            self.held[shift.task.slot()].add(event.at, shift.slots);
            grown(&mut self.jobs, shift.task.job.index()).add(event.at, shift.slots);
        }
        for (id, attempt) in books.closed.iter().filter(|(id, _)| id.task.kind == TaskKind::Reduce)
        {
            let wait = books.job(id.task.job).and_then(|job| attempt.maps_wait(job));
            self.maps_wait +=
                u128::from(wait.unwrap_or_default().as_micros()) * u128::from(attempt.width);
        }
        Ok(())
    }

    fn count(&mut self, beats: &AlikeHeartbeats) {
        self.heartbeats += beats.count;
    }
}

impl Summary {
    /// Returns the names of all policies of the run, such as `hfsp, then fair`.
    pub fn policies(&self) -> String {
        let policies: Vec<&str> = self.run.deciders().map(|(_, policy, _)| policy).collect();
        policies.join(", then ")
    }

    /// Returns the number of jobs for each outcome, with the word for the outcome. The last number
    /// counts the jobs that have not ended.
    pub fn outcomes(&self) -> [(u64, &'static str); 5] {
        let Self { jobs, jobs_succeeded, jobs_failed, jobs_killed, jobs_refused, .. } = *self;
        let left = jobs - jobs_succeeded - jobs_failed - jobs_killed - jobs_refused;
        [
            (jobs_succeeded, "succeeded"),
            (jobs_failed, "failed"),
            (jobs_killed, "killed"),
            (jobs_refused, "refused"),
            (left, "left"),
        ]
    }

    /// Returns how many jobs sojourns leave out, and why: `2 of 12 left out: 1 failed, 1 killed`;
    /// `None` if all jobs succeeded.
    pub fn left_out(&self) -> Option<String> {
        let [_, others @ ..] = self.outcomes();
        let all: u64 = others.iter().map(|(count, _)| count).sum();
        let some = others.iter().filter(|(count, _)| 0 < *count);
        let why: Vec<String> =
            some.map(|(count, word)| format!("{} {word}", tell::count(*count))).collect();
        let (left_out, jobs) = (tell::count(all), tell::count(self.jobs));
        (0 < all).then(|| format!("{left_out} of {jobs} left out: {}", why.join(", ")))
    }

    /// Returns the numbers of attempts that failed, were killed or were suspended, each with its
    /// word.
    pub fn bad_outcomes(&self) -> [(u64, &'static str); 3] {
        [
            (self.attempts_failed, "failed"),
            (self.attempts_killed, "killed"),
            (self.suspensions, "suspended"),
        ]
    }

    /// Writes `summary.json` in `folder`.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RecordError> {
        let mut file = TextFile::create(folder, files::SUMMARY)?;
        file.write(|to| {
            serde_json::to_writer_pretty(&mut *to, self)?;
            to.write_all(b"\n")
        })?;
        file.finish()
    }
}

impl LevelArea {
    pub(super) fn set(&mut self, at: SimTime, level: u64) {
        self.micros = self.until(at);
        // On a scaled clock events are not in the order of time; the area must not shrink.
        self.since = self.since.max(at);
        self.level = level;
    }

    pub(super) fn add(&mut self, at: SimTime, change: i32) {
        self.set(at, self.level.saturating_add_signed(change.into()));
    }

    /// Returns the integral of the curve until `at`: the number times microseconds.
    pub(super) fn until(&self, at: SimTime) -> u128 {
        let span = at.saturating_since(self.since).as_micros();
        self.micros + u128::from(span) * u128::from(self.level)
    }
}

fn makespan(books: &RunBooks) -> Option<f64> {
    // Refused jobs never were in the cluster.
    let jobs = || books.counted().filter(|job| !job.is_refused());
    let first = jobs().map(|job| job.submitted).min()?;
    // One job without an end leaves the makespan unknown.
    let ends: Option<Vec<SimTime>> = jobs().map(|job| Some(job.ended?.0)).collect();
    let last = ends?.into_iter().max()?;
    Some(rounded(last.saturating_since(first).as_secs_f64()))
}

/// Returns the mean in seconds; `None` without spans. Adds up whole microseconds, whose sum is
/// exact in any order.
fn mean(spans: &[SimSpan]) -> Option<f64> {
    let micros: Vec<f64> = spans.iter().map(|span| span.as_micros() as f64).collect();
    statistics::mean(&micros).map(|mean| rounded(mean / 1e6))
}

/// Returns a quantile, in seconds, of spans in ascending order; `None` without spans.
fn quantile(spans: &[SimSpan], share: f64) -> Option<f64> {
    let seconds: Vec<f64> = spans.iter().map(|span| span.as_secs_f64()).collect();
    statistics::quantile_of_sorted(&seconds, share).map(rounded)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(super) fn share(part: u128, whole: u128) -> Option<f64> {
    (whole != 0).then(|| rounded(part as f64 / whole as f64))
}

/// Rounds a number to six decimals, as in `summary.json`.
pub(super) fn rounded(number: f64) -> f64 {
    // Six decimals of a second are whole microseconds; more would be noise of binary fractions.
    (number * 1e6).round() / 1e6
}
