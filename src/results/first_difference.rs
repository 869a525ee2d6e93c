//! The first difference between two runs of the same jobs: the first slot that goes to different
//! jobs, and the jobs whose times differ.
//!
//! Two runs with different policies or seeds soon launch tasks on different nodes and in different
//! milliseconds, even if they serve the same jobs. So slots are numbered in the order in which
//! attempts get them:
//!
//! ```text
//! map slot      1  2  3  4  5
//! under fifo    a  a  a  b  a
//! under fair    a  a  b  b  a     they differ at slot 3: a in one, b in the other
//! ```
//!
//! Map slots and reduce slots are numbered separately. Setup and cleanup tasks do not count: no
//! policy decides on them.
//!
//! Only the tables of the runs are read. [`explain`](crate::explain) says why a job waited;
//! [`TwoStories`] puts this side by side for a job in two runs.

mod of_job;
mod two_stories;

pub use self::of_job::{DifferenceForm, JobDifference};
pub use self::two_stories::{
    NamedRun, PartingWords, PlacePair, TwoStories, above_all, both_parts, differing_jobs,
};

use std::cmp::Ordering;

use crate::tables::{AttemptKind, AttemptRow, CellText, JobRow, ReadError, Results};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{PerSlot, SlotKind};

/// The slots that a run gave to attempts, for each kind in the order of time.
type Slots = PerSlot<Vec<GivenSlot>>;

/// The first slot that two runs give to different jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// The kind of slot.
    pub kind: SlotKind,
    /// The number of the slot among the slots of its kind, counted from 1 in the order of launches.
    pub number: usize,
    /// The attempt that gets the slot in each run; `None` if the run gives no more slots of this
    /// kind.
    pub given: [Option<GivenSlot>; 2],
}

/// A slot that a run gives to an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GivenSlot {
    /// The millisecond of the decision.
    pub at: u64,
    /// The number of the job.
    pub job: u32,
    /// The number of the map or reduce.
    pub task: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// The node.
    pub node: CellText,
    /// The millisecond at which the attempt ends, if it does.
    pub ended: Option<u64>,
    /// Why the job got the slot, in words.
    pub reason: CellText,
}

/// A job that takes longer in one of two runs, or that ends in one run only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangedJob<'a> {
    /// The job's row in the first run.
    pub job: &'a JobRow,
    /// The millisecond of its end, in the run in which it ended first.
    pub ended: u64,
    /// Its sojourn in each run in milliseconds; `None` if it did not end there.
    pub sojourns: [Option<u64>; 2],
}

impl FirstDifference {
    /// Finds the first slot that two runs give to different jobs; `None` if there is none.
    ///
    /// # Errors
    /// If their attempts cannot be read.
    pub fn find([one, other]: [&dyn Results; 2]) -> Result<Option<Self>, ReadError> {
        let runs = [slots(one)?, slots(other)?];
        Ok(Self::of([&runs[0], &runs[1]]))
    }

    fn of(runs: [&Slots; 2]) -> Option<Self> {
        let of_kinds = SlotKind::BOTH.into_iter().filter_map(|kind| Self::of_kind(kind, runs));
        // Take the earlier difference: the difference of the other kind may follow from it.
        of_kinds.min_by_key(Self::at)
    }

    fn of_kind(kind: SlotKind, runs: [&Slots; 2]) -> Option<Self> {
        let [one, other] = runs.map(|slots| &slots[kind]);
        let alike = one.iter().zip(other).take_while(|(one, other)| one.job == other.job).count();
        let given = [one.get(alike).cloned(), other.get(alike).cloned()];
        // If both runs gave the same slots to the same jobs, they do not differ.
        let parts = given.iter().any(Option::is_some);
        parts.then_some(Self { kind, number: alike + 1, given })
    }

    /// Returns the millisecond of the difference.
    pub fn at(&self) -> u64 {
        let at = self.given.iter().flatten().map(|slot| slot.at);
        at.min().expect("at least one run has given the slot")
    }
}

impl GivenSlot {
    /// Returns the milliseconds for which the attempt had the slot; `None` if it has no end.
    pub fn length(&self) -> Option<u64> {
        Some(self.ended?.saturating_sub(self.at))
    }
}

/// Returns the jobs whose sojourns differ by more than `by`, or that end in one run only. They are
/// in the order of their ends.
pub fn changed_jobs<'a>(jobs: [&'a [JobRow]; 2], by: SimSpan) -> Vec<ChangedJob<'a>> {
    let [one, other] = jobs;
    let changed = |(job, other): (&'a JobRow, &'a JobRow)| {
        let rows = [job, other];
        // A job that ended in neither run has no times to compare, and neither has a refused job.
        let ended = |row: &JobRow| row.sojourn_ms.and(row.finish_ms);
        let ended = rows.into_iter().filter_map(ended).min()?;
        let sojourns = rows.map(|row| row.sojourn_ms);
        let changed = ChangedJob { job, ended, sojourns };
        let is_more = |ms: i64| by.as_millis() < ms.unsigned_abs();
        changed.difference().is_none_or(is_more).then_some(changed)
    };
    let mut all: Vec<_> = one.iter().zip(other).filter_map(changed).collect();
    all.sort_by_key(|changed| (changed.ended, changed.job.job));
    all
}

impl ChangedJob<'_> {
    /// Returns its sojourn in the second run minus its sojourn in the first run, in milliseconds;
    /// `None` if it ends in one run only.
    pub fn difference(&self) -> Option<i64> {
        let [one, other] = self.sojourns;
        Some(other? as i64 - one? as i64)
    }
}

/// Returns whether two jobs have one name and equally many tasks.
pub fn is_same_job([a, b]: [&JobRow; 2]) -> bool {
    (&a.name, a.maps, a.reduces) == (&b.name, b.maps, b.reduces)
}

/// Returns what the two jobs are, in words.
pub fn unlike(names: [&str; 2], [a, b]: [&JobRow; 2]) -> String {
    let what = |job: &JobRow| {
        let JobRow { job, name, maps, reduces, .. } = job;
        format!("job {job} is `{name}` with {maps} maps and {reduces} reduces")
    };
    format!("in `{}` {}, in `{}` {}", names[0], what(a), names[1], what(b))
}

/// Returns how the jobs of two runs differ, in words; `None` if the runs have the same jobs.
pub fn other_jobs(names: [&str; 2], jobs: [&[JobRow]; 2]) -> Option<String> {
    let [one, other] = jobs;
    // Report a differing job before a different number of jobs: it explains better why the runs
    // cannot be compared.
    if let Some((a, b)) = one.iter().zip(other).find(|(a, b)| !is_same_job([a, b])) {
        return Some(unlike(names, [a, b]));
    }
    let (lacks, has) = match one.len().cmp(&other.len()) {
        Ordering::Less => (0, 1),
        Ordering::Greater => (1, 0),
        Ordering::Equal => return None,
    };
    let JobRow { job, name, .. } = &jobs[has][jobs[lacks].len()];
    Some(format!("`{}` has no job {job}, `{name}`, which `{}` has", names[lacks], names[has]))
}

/// Reads the slots that a run gave to maps and reduces.
fn slots(results: &dyn Results) -> Result<Slots, ReadError> {
    let mut slots = Slots::default();
    results.rows(|row: AttemptRow| {
        let AttemptRow { job, task, attempt, .. } = row;
        // A map whose output was lost has a second row, without a launch.
        if let (AttemptKind::Map | AttemptKind::Reduce, Some(at)) = (row.kind, row.launch_ms) {
            let kind = row.slot();
            let AttemptRow { node, finish_ms: ended, reason, .. } = row;
            slots[kind].push(GivenSlot { at, job, task, attempt, node, ended, reason });
        }
        Ok(())
    })?;
    // The table is in the order of ends, but slots are numbered by launch. At the same instant,
    // sort by job and task, which have the same numbers in both runs.
    SlotKind::BOTH.into_iter().for_each(|kind| slots[kind].sort_unstable());
    Ok(slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slot that a job gets at millisecond `at` for one of its tasks.
    fn given(at: u64, job: u32, task: u32) -> GivenSlot {
        GivenSlot { at, job, task, ..GivenSlot::default() }
    }

    fn maps<const N: usize>(map: [GivenSlot; N]) -> Slots {
        Slots { map: map.into(), reduce: Vec::new() }
    }

    fn jobs(sojourns: &[Option<u64>]) -> Vec<JobRow> {
        let job = |(job, sojourn_ms): (u32, &Option<u64>)| JobRow {
            job,
            name: format!("j{job}").into(),
            finish_ms: sojourn_ms.map(|sojourn_ms| 1_000 + sojourn_ms),
            sojourn_ms: *sojourn_ms,
            ..JobRow::default()
        };
        (0..).zip(sojourns).map(job).collect()
    }

    #[test]
    fn other_tasks_nodes_and_instants_are_no_parting() {
        let one = maps([given(5, 0, 0), given(7, 0, 1), given(9, 1, 0)]);
        let mut other = maps([given(6, 0, 1), given(8, 0, 0), given(8, 1, 0)]);
        other.map[1].node = "elsewhere".into();
        assert_eq!(FirstDifference::of([&one, &other]), None);
    }

    #[test]
    fn runs_part_at_the_first_slot_that_goes_to_another_job() {
        let one = maps([given(5, 0, 0), given(7, 0, 1), given(9, 1, 0)]);
        let other = maps([given(5, 0, 0), given(8, 1, 4), given(9, 0, 1)]);
        let found = FirstDifference::of([&one, &other]).unwrap();
        assert_eq!((found.kind, found.number, found.at()), (SlotKind::Map, 2, 7));
        assert_eq!(found.given, [Some(given(7, 0, 1)), Some(given(8, 1, 4))]);
    }

    #[test]
    fn maps_and_reduces_are_counted_apart() {
        let one = Slots { reduce: vec![given(6, 0, 0)], ..maps([given(5, 0, 0), given(9, 0, 1)]) };
        let other =
            Slots { reduce: vec![given(6, 1, 0)], ..maps([given(5, 0, 0), given(7, 1, 1)]) };
        let found = FirstDifference::of([&one, &other]).unwrap();
        assert_eq!((found.kind, found.number, found.at()), (SlotKind::Reduce, 1, 6));
    }

    #[test]
    fn a_slot_that_only_one_run_gives_parts_them() {
        let found =
            FirstDifference::of([&maps([given(5, 0, 0)]), &maps([given(5, 0, 0), given(9, 0, 1)])]);
        assert_eq!(found.unwrap().given, [None, Some(given(9, 0, 1))]);
    }

    #[test]
    fn jobs_that_changed_by_more_come_in_the_order_of_their_ends() {
        let one = jobs(&[Some(90_000), Some(20_000), Some(20_000), Some(30_000), None]);
        let other = jobs(&[Some(50_000), Some(30_000), Some(30_001), None, None]);
        let changed = changed_jobs([&one, &other], SimSpan::from_secs(10));
        let told: Vec<_> =
            changed.iter().map(|it| (it.job.job, it.ended, it.difference())).collect();
        let ten_more = (2, 21_000, Some(10_001));
        assert_eq!(told, [ten_more, (3, 31_000, None), (0, 51_000, Some(-40_000))]);
    }

    #[test]
    fn runs_of_other_jobs_say_what_differs() {
        let (all, fewer) = (jobs(&[None, None]), jobs(&[None]));
        let mut larger = fewer.clone();
        larger[0].maps = 7;
        for (one, other, told) in [
            (&all, &all, None),
            (&all, &fewer, Some("`b` has no job 1, `j1`, which `a` has")),
            (&fewer, &all, Some("`a` has no job 1, `j1`, which `b` has")),
            (
                &all,
                &larger,
                Some(
                    "in `a` job 0 is `j0` with 0 maps and 0 reduces, in `b` job 0 is `j0` with 7 maps and 0 \
                     reduces",
                ),
            ),
        ] {
            assert_eq!(other_jobs(["a", "b"], [one, other]).as_deref(), told);
        }
    }
}
