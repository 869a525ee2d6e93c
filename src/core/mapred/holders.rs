//! The jobs that hold the most slots of a kind, by the JobTracker's ledger.
//!
//! The counts are updated at each launch and each end, so that naming these jobs in a refusal needs
//! no walk through all jobs. An attempt that was ordered to stop no longer counts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::mapred::ids::JobId;

/// How many jobs are listed.
// Chosen: enough to see who has the slots, and small enough to be copied with every refusal.
const NAMED: usize = 3;

/// The jobs that held the most slots of a kind at some instant; unused entries have 0 slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holders([(JobId, u32); NAMED]);

/// The slots of a kind that each job holds.
#[derive(Debug, Default)]
pub(super) struct HeldSlots {
    /// The slots of each job, by its number.
    slots: Vec<u32>,
    /// The jobs that hold slots, the one with the most slots first.
    ranked: BTreeSet<(Reverse<u32>, JobId)>,
    /// The first jobs of `ranked`; `None` after a change.
    first: Option<Holders>,
}

impl Holders {
    /// No job holds any, as far as is known.
    pub const NONE: Self = Self([(JobId(0), 0); NAMED]);

    /// Returns the jobs and how many slots they held, the job with the most slots first.
    pub fn iter(&self) -> impl Iterator<Item = (JobId, u32)> {
        self.0.into_iter().filter(|(_, slots)| 0 < *slots)
    }
}

impl HeldSlots {
    /// Adds to the slots that a job holds, or subtracts from them.
    pub(super) fn shift(&mut self, job: JobId, slots: i32) {
        if self.slots.len() <= job.index() {
            self.slots.resize(job.index() + 1, 0);
        }
        let held = &mut self.slots[job.index()];
        // The rank contains the number of slots, so remove the old entry before the number changes.
        self.ranked.remove(&(Reverse(*held), job));
        *held = held.saturating_add_signed(slots);
        if 0 < *held {
            self.ranked.insert((Reverse(*held), job));
        }
        // The first jobs are found again only when the next refusal needs them: many launches may
        // lie in between.
        self.first = None;
    }

    /// Returns how many slots a job holds.
    pub(super) fn of(&self, job: JobId) -> u32 {
        self.slots.get(job.index()).copied().unwrap_or(0)
    }

    /// Returns the jobs that hold the most slots.
    pub(super) fn first(&mut self) -> Holders {
        *self.first.get_or_insert_with(|| {
            let mut first = Holders([(JobId(0), 0); NAMED]);
            for (place, (Reverse(slots), job)) in first.0.iter_mut().zip(&self.ranked) {
                *place = (*job, *slots);
            }
            first
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_that_hold_most_are_named() {
        let mut held = HeldSlots::default();
        for (job, slots) in [(0, 1), (1, 4), (2, 2), (3, 2), (1, -1)] {
            held.shift(JobId(job), slots);
        }
        let told = |held: &mut HeldSlots| held.first().iter().map(|(job, n)| (job.0, n)).collect();
        let first: Vec<(u32, u32)> = told(&mut held);
        assert_eq!(first, [(1, 3), (2, 2), (3, 2)]);
        for (job, slots) in [(1, -3), (2, -2)] {
            held.shift(JobId(job), slots);
        }
        let first: Vec<(u32, u32)> = told(&mut held);
        assert_eq!(first, [(3, 2), (0, 1)]);
    }
}
