//! `jobs.csv`.

use indexmap::IndexMap;

use super::cell::{CellText, SlotMillis, words};
use super::read::{ReadError, Results};
use crate::{table, worded};
use mumakil_base::units::SimTime;
use mumakil_core::mapred::Outcome;

table! {
    /// A row for each submitted job, in the order of their numbers. Slot time is in slots times
    /// milliseconds, and so are sizes: the times of all tasks of a kind, one after another.
    #[derive(Default)]
    "jobs.csv" pub struct JobRow {
        /// Its number.
        #[key = "job"]
        job: u32,
        /// Its name.
        #[key = "name"]
        name: CellText,
        /// Its user.
        #[key = "user"]
        user: CellText,
        /// Its pool, or queue; may be empty.
        #[key = "pool"]
        pool: CellText,
        /// Its class; may be empty.
        #[key = "class"]
        class: CellText,
        /// Its priority.
        priority: CellText,
        /// The number of its maps.
        #[quantity = "maps"]
        #[key = "maps"]
        maps: u32,
        /// The number of its reduces.
        #[quantity = "reduces"]
        #[key = "reduces"]
        reduces: u32,
        /// When it arrived.
        #[quantity = "submit"]
        #[key = "time"]
        submit_ms: u64,
        /// When its splits had been read.
        initialised_ms: Option<u64>,
        /// When its setup task had ended.
        running_ms: Option<u64>,
        /// When its first map or reduce was launched.
        first_launch_ms: Option<u64>,
        /// When the JobTracker learned that its last map had ended.
        maps_done_ms: Option<u64>,
        /// When it ended.
        #[quantity = "finish"]
        finish_ms: Option<u64>,
        /// From its arrival to its end; empty for refused jobs.
        #[quantity = "sojourn"]
        sojourn_ms: Option<u64>,
        /// From its arrival to the launch of its first task.
        #[quantity = "wait"]
        wait_ms: Option<u64>,
        /// The number of its maps that read on their node.
        node_local: u64,
        /// The number of its maps that read in their rack.
        rack_local: u64,
        /// The number of its maps that read from another rack.
        off_rack: u64,
        /// The number of its attempts that failed.
        #[quantity = "failed"]
        failed: u32,
        /// The number of its attempts that were killed, including maps that were lost.
        #[quantity = "killed"]
        killed: u32,
        /// How often its attempts were suspended.
        #[quantity = "suspended"]
        suspended: u32,
        /// How it ended.
        #[key = "outcome"]
        outcome: JobEnd,
        /// The slot time of its attempts.
        #[quantity = "held"]
        #[record = "waste"]
        held_ms: Option<SlotMillis>,
        /// The slot time of attempts that succeeded.
        #[record = "waste"]
        useful_ms: Option<SlotMillis>,
        /// The wasted part of the slot time.
        #[quantity = "wasted"]
        #[record = "waste"]
        wasted_ms: Option<SlotMillis>,
        /// The slot time of attempts that failed.
        #[record = "waste"]
        failed_ms: Option<SlotMillis>,
        /// The slot time of attempts that were slower than another attempt of their task.
        #[record = "waste"]
        speculative_ms: Option<SlotMillis>,
        /// The slot time of attempts that were lost with their tracker, or whose output was lost.
        #[record = "waste"]
        lost_ms: Option<SlotMillis>,
        /// The slot time of attempts that were killed although their job went on.
        #[record = "waste"]
        preempted_ms: Option<SlotMillis>,
        /// The slot time of attempts, if it failed or was killed.
        #[record = "waste"]
        killed_ms: Option<SlotMillis>,
        /// The slot time of attempts that had not ended when the run stopped.
        #[record = "waste"]
        unfinished_ms: Option<SlotMillis>,
        /// The number of its second attempts of tasks that were already running.
        #[quantity = "second_attempts"]
        #[record = "waste"]
        second_attempts: Option<u32>,
        /// The number of those second attempts that succeeded.
        #[quantity = "second_attempts_won"]
        #[record = "waste"]
        second_attempts_won: Option<u32>,
        /// How much earlier its last map would have ended without stragglers.
        #[record = "waste"]
        map_straggling_ms: Option<u64>,
        /// How much earlier its last reduce would have ended without stragglers.
        #[record = "waste"]
        reduce_straggling_ms: Option<u64>,
        /// Its sojourn divided by the sojourn that it would have had if no task took longer than
        /// the median of its kind.
        #[quantity = "straggling"]
        #[record = "waste"]
        straggling: Option<f64>,
        /// The estimated size of its maps, after the sample was measured.
        #[quantity = "estimate.map"]
        #[record = "sizes"]
        map_estimate_ms: Option<SlotMillis>,
        /// The size of its maps, as they ran.
        #[quantity = "true_size.map"]
        #[record = "sizes"]
        map_size_ms: Option<SlotMillis>,
        /// How much too large the estimate of its maps was, relative to their size; below zero, how
        /// much too small.
        #[quantity = "size_error.map"]
        #[record = "sizes"]
        map_error: Option<f64>,
        /// The estimated size of its reduces, after the sample was measured.
        #[quantity = "estimate.reduce"]
        #[record = "sizes"]
        reduce_estimate_ms: Option<SlotMillis>,
        /// The size of its reduces as they ran, with the same parts of their times as in the
        /// estimate.
        #[quantity = "true_size.reduce"]
        #[record = "sizes"]
        reduce_size_ms: Option<SlotMillis>,
        /// How much too large the estimate of its reduces was, relative to their size; below zero,
        /// how much too small.
        #[quantity = "size_error.reduce"]
        #[record = "sizes"]
        reduce_error: Option<f64>,
        /// How long after its submission it should have ended.
        #[quantity = "deadline"]
        #[record = "deadlines"]
        deadline_ms: Option<u64>,
        /// How long after its deadline it ended: 0 if it ended in time; empty if it did not
        /// succeed.
        #[quantity = "tardiness"]
        #[record = "deadlines"]
        tardiness_ms: Option<u64>,
        /// Whether it missed its deadline: 1 if it did, otherwise 0.
        #[quantity = "missed"]
        #[record = "deadlines"]
        missed: Option<u32>,
        /// Its part of the energy of the run in kWh, by the slot time that it held.
        #[quantity = "job.energy"]
        #[record = "expenses"]
        energy_kwh: Option<f64>,
        /// Its part of the cost of the run, by the slot time that it held.
        #[quantity = "job.cost"]
        #[record = "expenses"]
        cost: Option<f64>,
        /// How long it takes alone on the empty cluster; empty if it did not succeed there.
        #[record = "alone"]
        alone_ms: Option<u64>,
        /// How many jobs the chain has that begins with it; empty for the other jobs of a chain.
        #[record = "chains"]
        chain_jobs: Option<u32>,
        /// The last end of the jobs of the chain; empty if one has not ended.
        #[record = "chains"]
        chain_finish_ms: Option<u64>,
        /// From the first arrival to the last end of the jobs of the chain.
        #[record = "chains"]
        chain_sojourn_ms: Option<u64>,
        /// How the chain ended: as the first of its jobs that did not succeed, or `succeeded`.
        #[record = "chains"]
        chain_outcome: Option<JobEnd>,
    }
}

worded! {
    /// How a job ended.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum JobEnd {
        /// All its tasks succeeded.
        Succeeded = "succeeded",
        /// A task failed too often.
        Failed = "failed",
        /// It was killed.
        Killed = "killed",
        /// The policy refused it at its submission; it never ran.
        Refused = "refused",
        /// It had not ended when the run stopped.
        #[default]
        Unfinished = "unfinished",
    }
}

words!(JobEnd: Succeeded Failed Killed Refused Unfinished);

impl JobEnd {
    /// Returns whether the time that the job took counts in means, slowdowns and comparisons. Only
    /// the time of a job that succeeded does: otherwise a policy under which jobs fail early would
    /// look better than one under which they succeed.
    pub const fn is_measured(self) -> bool {
        matches!(self, Self::Succeeded)
    }
}

impl From<Outcome> for JobEnd {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Failed => Self::Failed,
            Outcome::Killed => Self::Killed,
        }
    }
}

impl JobRow {
    /// Returns the second at which it was submitted.
    pub fn submit_s(&self) -> f64 {
        self.submit_ms as f64 / 1e3
    }

    /// Returns the seconds that it waited for its first launch; `None` without a launch.
    pub fn wait_s(&self) -> Option<f64> {
        self.wait_ms.map(|millis| millis as f64 / 1e3)
    }

    /// Returns the seconds from its submission to its end; `None` if it has not ended.
    pub fn sojourn_s(&self) -> Option<f64> {
        self.sojourn_ms.map(|millis| millis as f64 / 1e3)
    }

    /// Returns the seconds from its submission to its end if they count in statistics
    /// ([`JobEnd::is_measured`]); otherwise `None`.
    pub fn measured_s(&self) -> Option<f64> {
        self.sojourn_s().filter(|_| self.outcome.is_measured())
    }

    /// Returns the numbers of its maps that read on their node, in their rack and from another
    /// rack.
    pub const fn maps_by_distance(&self) -> [u64; 3] {
        [self.node_local, self.rack_local, self.off_rack]
    }
}

/// The jobs of a run, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct RunJobs {
    /// All jobs, including those of the warm-up.
    pub all: Vec<JobRow>,
    /// The end of the warm-up; jobs that arrive before it are not counted.
    pub warm_up: SimTime,
}

impl RunJobs {
    /// Reads the jobs of a run from `jobs.csv`.
    pub fn read(results: &dyn Results) -> Result<Self, ReadError> {
        let warm_up = results.warm_up()?;
        Ok(Self { all: results.all()?, warm_up })
    }

    /// Returns the jobs that count in statistics: the jobs that arrived after the warm-up.
    pub fn counted(&self) -> impl Iterator<Item = &JobRow> {
        self.all.iter().filter(|job| self.counts(job))
    }

    /// Returns whether a job counts in statistics.
    pub fn counts(&self, job: &JobRow) -> bool {
        self.warm_up <= SimTime::from_micros(job.submit_ms * 1_000)
    }

    /// Returns the sojourns in seconds of the jobs that count, by class. Classes are in the order
    /// of their first jobs.
    pub fn sojourns_by_class(&self) -> IndexMap<&str, Vec<f64>> {
        let mut classes: IndexMap<&str, Vec<f64>> = IndexMap::new();
        for job in self.counted() {
            classes.entry(&job.class).or_default().extend(job.measured_s());
        }
        // Leave out classes without a job that succeeded.
        classes.retain(|_, sojourns| !sojourns.is_empty());
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(class: &str, sojourn: u64, submit_ms: u64) -> JobRow {
        let (class, sojourn_ms, outcome) = (class.into(), Some(sojourn), JobEnd::Succeeded);
        JobRow { class, sojourn_ms, submit_ms, outcome, ..JobRow::default() }
    }

    #[test]
    fn a_job_of_the_warm_up_is_in_no_class() {
        let all = vec![job("small", 1_000, 4_999), job("large", 90_000, 5_000)];
        let jobs = RunJobs { all, warm_up: SimTime::from_micros(5_000_000) };
        assert_eq!(jobs.sojourns_by_class(), IndexMap::from([("large", vec![90.0])]));
    }

    #[test]
    fn only_jobs_that_succeeded_have_a_time_that_counts() {
        let ends = [JobEnd::Succeeded, JobEnd::Failed, JobEnd::Killed];
        let all = ends.map(|outcome| JobRow { outcome, ..job("small", 1_000, 0) }).to_vec();
        let jobs = RunJobs { all, warm_up: SimTime::ZERO };
        assert_eq!(jobs.sojourns_by_class(), IndexMap::from([("small", vec![1.0])]));
    }
}
