//! The first difference between two runs of one job: a slot that it gets later, or a task that runs
//! longer.
//!
//! A job may come at another instant in the other run, so all instants count from its arrival. Small
//! differences are everywhere; only those of more than `little` milliseconds count.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::first_slot::{GivenSlot, Slots, slots};
use mumakil_core::mapred::SlotKind;
use mumakil_results::tables::{JobRow, ReadError, Results};

/// The first difference between two runs of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobDifference {
    pub(crate) kind: SlotKind,
    /// The index of the run in which the slot comes later, or the task runs longer.
    pub(crate) later: usize,
    /// The number of the slot among those of its kind that the job gets, from 1; `None` if a task
    /// gets its slot in time, but runs longer.
    pub(crate) number: Option<usize>,
    /// The attempt that gets the slot in each run; `None` if the job never gets it there.
    pub(crate) given: [Option<GivenSlot>; 2],
    /// The first slot that another job gets, in the run in which the job's own slot comes later,
    /// from the time at which it comes in the other run.
    pub(crate) instead: Option<GivenSlot>,
}

impl JobDifference {
    /// Finds the first difference of more than `little` milliseconds between two runs of a job, given
    /// by its rows; `None` if there is none.
    pub(crate) fn find(
        [one, other]: [&dyn Results; 2],
        jobs: [&JobRow; 2],
        little: u64,
    ) -> Result<Option<Self>, ReadError> {
        let runs = [slots(one)?, slots(other)?];
        Ok(Self::of([&runs[0], &runs[1]], jobs, little))
    }

    fn of(runs: [&Slots; 2], jobs: [&JobRow; 2], little: u64) -> Option<Self> {
        let of_kind = |kind| [0, 1].map(|run: usize| &*runs[run][kind]);
        let later = SlotKind::BOTH
            .into_iter()
            .filter_map(|kind| later_slot(kind, of_kind(kind), jobs, little));
        // Of both kinds take the slot that comes first: the other may follow from it.
        let slot = later.min_by_key(|found| {
            let launched = [0, 1].into_iter().filter_map(|run| {
                Some(found.given[run].as_ref()?.at.saturating_sub(jobs[run].submit_ms))
            });
            launched.min()
        });
        // Reduces wait for the outputs of maps, so look at maps first.
        let mut kinds = SlotKind::BOTH.into_iter();
        slot.or_else(|| kinds.find_map(|kind| longer_task(kind, of_kind(kind), jobs, little)))
    }

    /// Returns the milliseconds from the job's arrival to the slot, or those for which the task ran;
    /// `None` if the job never got the slot.
    pub(crate) fn length(&self, run: usize, job: &JobRow) -> Option<u64> {
        let slot = self.given[run].as_ref()?;
        match self.number {
            Some(_) => Some(slot.at.saturating_sub(job.submit_ms)),
            None => slot.length(),
        }
    }
}

/// Returns a job's slots, in the order in which it gets them.
fn of_job<'s>(given: &'s [GivenSlot], job: &JobRow) -> Vec<&'s GivenSlot> {
    let job = job.job;
    // A task that fails or is lost gets further slots; only the first ones are as many in both runs.
    given.iter().filter(|slot| slot.job == job && slot.attempt == 0).collect()
}

fn later_slot(
    kind: SlotKind,
    given: [&[GivenSlot]; 2],
    jobs: [&JobRow; 2],
    little: u64,
) -> Option<JobDifference> {
    let own = [0, 1].map(|run| of_job(given[run], jobs[run]));
    let since = |number: usize| {
        [0, 1].map(|run| {
            let slot: Option<&&GivenSlot> = own[run].get(number);
            slot.map_or(u64::MAX, |slot| slot.at.saturating_sub(jobs[run].submit_ms))
        })
    };
    let most = own[0].len().max(own[1].len());
    let number = (0..most).find(|number| {
        let [one, other] = since(*number);
        little < one.abs_diff(other)
    })?;
    let [one, other] = since(number);
    let later = usize::from(one < other);
    let submit = jobs[later].submit_ms;
    let wait = one.min(other) + submit..one.max(other).saturating_add(submit);
    let instead =
        given[later].iter().find(|slot| wait.contains(&slot.at) && slot.job != jobs[later].job);
    Some(JobDifference {
        kind,
        later,
        number: Some(number + 1),
        given: [0, 1].map(|run| own[run].get(number).map(|slot| (*slot).clone())),
        instead: instead.cloned(),
    })
}

fn longer_task(
    kind: SlotKind,
    given: [&[GivenSlot]; 2],
    jobs: [&JobRow; 2],
    little: u64,
) -> Option<JobDifference> {
    let [one, other] = [0, 1].map(|run| of_job(given[run], jobs[run]));
    // A task has one first attempt. Jobs may have thousands of tasks, so look twins up.
    let other: BTreeMap<u32, &GivenSlot> =
        other.into_iter().map(|slot| (slot.task, slot)).collect();
    let twins = one.into_iter().filter_map(|slot| {
        let twin = *other.get(&slot.task)?;
        Some((slot, twin, slot.length()?, twin.length()?))
    });
    // The job is done when the last task ends, so the task that makes most of the difference says
    // more than the first.
    let differing = twins.filter(|(.., a, b)| little < a.abs_diff(*b));
    let (one, other, a, b) = differing.min_by_key(|(.., a, b)| Reverse(a.abs_diff(*b)))?;
    Some(JobDifference {
        kind,
        later: usize::from(a < b),
        number: None,
        given: [Some(one.clone()), Some(other.clone())],
        instead: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(job: u32, task: u32, at: u64, took: u64) -> GivenSlot {
        GivenSlot { at, job, task, ended: Some(at + took), ..GivenSlot::default() }
    }

    fn maps<const N: usize>(map: [GivenSlot; N]) -> Slots {
        Slots { map: map.into(), reduce: Vec::new() }
    }

    /// Job 1 arrives at millisecond 100 in the first run, and at 200 in the second.
    fn found(one: &Slots, other: &Slots) -> Option<JobDifference> {
        let row = |submit_ms| JobRow { job: 1, submit_ms, ..JobRow::default() };
        JobDifference::of([one, other], [&row(100), &row(200)], 10)
    }

    #[test]
    fn a_slot_that_comes_later_is_found_with_the_job_that_got_one_instead() {
        let one =
            maps([map(1, 0, 105, 50), map(0, 7, 111, 90), map(0, 8, 113, 9), map(1, 1, 150, 50)]);
        let other = maps([map(1, 1, 210, 50), map(1, 0, 212, 50), map(0, 7, 213, 90)]);
        let found = found(&one, &other).unwrap();
        assert_eq!((found.kind, found.later, found.number), (SlotKind::Map, 0, Some(2)));
        assert_eq!(found.instead, Some(map(0, 8, 113, 9)));
        assert_eq!(found.given, [Some(map(1, 1, 150, 50)), Some(map(1, 0, 212, 50))]);
    }

    #[test]
    fn a_slot_that_never_comes_is_later() {
        let found = found(&maps([map(1, 0, 105, 50)]), &Slots::default()).unwrap();
        assert_eq!((found.later, found.given), (1, [Some(map(1, 0, 105, 50)), None]));
    }

    #[test]
    fn with_equal_slots_the_task_that_differs_most_is_found() {
        let one = maps([map(1, 0, 105, 50), map(1, 1, 106, 50)]);
        let other = maps([map(1, 1, 205, 99), map(1, 0, 206, 70)]);
        let found = found(&one, &other).unwrap();
        assert_eq!((found.later, found.number), (1, None));
        assert_eq!(found.given, [Some(map(1, 1, 106, 50)), Some(map(1, 1, 205, 99))]);
    }

    #[test]
    fn further_attempts_and_small_differences_do_not_count() {
        let again = GivenSlot { attempt: 1, ..map(1, 0, 180, 50) };
        let one = maps([map(1, 0, 105, 50), again]);
        assert_eq!(found(&one, &maps([map(1, 0, 215, 60)])), None);
    }
}
