//! Who held the slots in some stretch of time.

use std::collections::BTreeMap;

use crate::cluster::{PerSlot, SlotKind};

/// What an attempt held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// The number of its job.
    pub job: u32,
    /// The kind of slot.
    pub kind: SlotKind,
    /// From when, in milliseconds.
    pub from: u64,
    /// To when.
    pub to: u64,
    /// How many slots, on average: an attempt that was stopped for half of its time held half of them.
    pub slots: f64,
}

/// What jobs held at which times.
#[derive(Debug, Default)]
pub struct Holders {
    jobs: PerSlot<BTreeMap<u32, Curve>>,
}

/// How much a job had held up to some instants, which are in order; between two of them it grows evenly.
#[derive(Debug, Default)]
struct Curve(Vec<(u64, f64)>);

impl Holders {
    /// Returns what is known of these.
    pub fn new(holds: impl IntoIterator<Item = Hold>) -> Self {
        let mut changes: PerSlot<BTreeMap<u32, Vec<(u64, f64)>>> = PerSlot::default();
        for hold in holds.into_iter().filter(|hold| hold.from < hold.to) {
            let of_job = changes[hold.kind].entry(hold.job).or_default();
            of_job.extend([(hold.from, hold.slots), (hold.to, -hold.slots)]);
        }
        let mut jobs = PerSlot::default();
        for kind in SlotKind::BOTH {
            let all = std::mem::take(&mut changes[kind]).into_iter();
            jobs[kind] = all.map(|(job, changes)| (job, Curve::new(changes))).collect();
        }
        Self { jobs }
    }

    /// Returns the slots times milliseconds that each job held between two instants, for jobs that held
    /// any. Costs a look at each job.
    pub fn between(
        &self,
        kind: SlotKind,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (u32, f64)> + '_ {
        let held = move |(job, curve): (&u32, &Curve)| (*job, curve.at(to) - curve.at(from));
        let overlap = self.jobs[kind].iter().filter(move |(_, curve)| curve.overlaps(from, to));
        overlap.map(held).filter(|(_, held)| 0.0 < *held)
    }

    /// Returns the slots times milliseconds that each job held in all of these waits, together as many times
    /// as they went on side by side. Costs a look at each change of what was held, however many waits there
    /// are.
    pub fn in_all<'h>(
        &'h self,
        kind: SlotKind,
        Waits(waits): &'h Waits,
    ) -> impl Iterator<Item = (u32, f64)> + 'h {
        let held = |(job, curve): (&u32, &Curve)| {
            let pieces = curve.0.windows(2).map(|piece| {
                let ((from, before), (to, after)) = (piece[0], piece[1]);
                (after - before) / (to - from) as f64 * (waits.at(to) - waits.at(from))
            });
            (*job, pieces.sum())
        };
        self.jobs[kind].iter().map(held).filter(|(_, held)| 0.0 < *held)
    }
}

/// How many waits there were at each time, and what that comes to up to some instants.
#[derive(Debug, Default)]
pub struct Waits(Curve);

impl Waits {
    /// Returns what is known of these, each from an instant to another.
    pub fn new(waits: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let changes = waits.into_iter().flat_map(|(from, to)| [(from, 1.0), (to, -1.0)]);
        Self(Curve::new(changes.collect()))
    }
}

impl Curve {
    fn new(mut changes: Vec<(u64, f64)>) -> Self {
        changes.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let (mut sum, mut slots, mut since) = (0.0, 0.0, 0);
        let mut points: Vec<(u64, f64)> = Vec::with_capacity(changes.len());
        for (at, change) in changes {
            sum += slots * (at - since) as f64;
            (slots, since) = (slots + change, at);
            match points.last_mut() {
                Some(last) if last.0 == at => last.1 = sum,
                _ => points.push((at, sum)),
            }
        }
        Self(points)
    }

    fn overlaps(&self, from: u64, to: u64) -> bool {
        let starts = self.0.first().is_some_and(|(first, _)| *first < to);
        starts && self.0.last().is_some_and(|(last, _)| from < *last)
    }

    /// Returns how much was held up to an instant.
    fn at(&self, instant: u64) -> f64 {
        let next = self.0.partition_point(|(at, _)| *at <= instant);
        let Some(before) = next.checked_sub(1).map(|place| self.0[place]) else { return 0.0 };
        let Some(after) = self.0.get(next) else { return before.1 };
        let share = (instant - before.0) as f64 / (after.0 - before.0) as f64;
        before.1 + (after.1 - before.1) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(job: u32, from: u64, to: u64, slots: f64) -> Hold {
        Hold { job, kind: SlotKind::Map, from, to, slots }
    }

    #[test]
    fn what_was_held_is_cut_at_both_ends() {
        let holds =
            [hold(1, 0, 10, 1.0), hold(1, 5, 20, 2.0), hold(2, 8, 9, 1.0), hold(3, 30, 40, 1.0)];
        let holders = Holders::new(holds);
        let between =
            |from, to| holders.between(SlotKind::Map, from, to).collect::<Vec<(u32, f64)>>();
        assert_eq!(between(0, 50), [(1, 40.0), (2, 1.0), (3, 10.0)]);
        assert_eq!(between(4, 8), [(1, 4.0 + 6.0)]);
        assert_eq!(between(20, 30), []);
        assert_eq!(between(35, 36), [(3, 1.0)]);
        assert_eq!(holders.between(SlotKind::Reduce, 0, 50).count(), 0);
    }

    #[test]
    fn what_was_held_in_many_waits_is_that_of_each_together() {
        let holds = [hold(1, 0, 10, 1.0), hold(1, 5, 20, 2.0), hold(2, 8, 9, 1.0)];
        let holders = Holders::new(holds);
        let all = Waits::new([(4, 8), (6, 12), (30, 40)]);
        let in_all: Vec<(u32, f64)> = holders.in_all(SlotKind::Map, &all).collect();
        // Job 1: 4 + 6 slot-milliseconds in the first, 4 + 12 in the second.
        assert_eq!(in_all, [(1, 26.0), (2, 1.0)]);
    }
}
