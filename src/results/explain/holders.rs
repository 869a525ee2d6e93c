//! The jobs and groups that held the slots during given spans of time.
//!
//! Each job, each group, and all jobs together have a sorted list of points: instants, with the
//! slot time that was held up to each instant. The search for the largest holders does not look at
//! every job: jobs are the leaves of a tree, in the order of their first slots, and the search
//! skips branches in which no job can be among the largest holders.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use mumakil_core::cluster::{PerSlot, SlotKind};

/// The largest number of holders in a list. Chosen: the list fits a terminal.
const NAMED: usize = 10;

/// A span in which an attempt held slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttemptHold {
    /// The number of its job.
    pub job: u32,
    /// The kind of slot.
    pub kind: SlotKind,
    /// The beginning, in milliseconds.
    pub from: u64,
    /// The end, in milliseconds.
    pub to: u64,
    /// The number of slots.
    pub slots: u32,
}

/// A span from one millisecond to another.
pub(super) type Span = (u64, u64);

/// The number of a job or group, and the slots times milliseconds that it held.
pub type HolderTime = (u32, u64);

/// The slots that jobs and groups of jobs held over time.
#[derive(Debug, Default)]
pub struct SlotHolders(PerSlot<OfKind>);

#[derive(Debug, Default)]
struct OfKind {
    all: HeldCurve,
    jobs: CurveTree,
    groups: CurveTree,
}

/// The curves of jobs or groups, sorted by the instants of their first slots, and a search tree
/// above them.
#[derive(Debug, Default)]
struct CurveTree {
    curves: Vec<(u32, HeldCurve)>,
    /// The index of each job or group in `curves`.
    places: BTreeMap<u32, usize>,
    /// The nodes of the tree: the root is at 1, the children of `n` are at `2 n` and `2 n + 1`, and
    /// the second half holds the leaves, one for each curve.
    tree: Vec<HeldBound>,
}

/// A bound on every curve below a node of the tree. Each of these curves holds slots only within
/// `span`, and holds at most `most` slots times milliseconds in all.
#[derive(Clone, Copy, Debug)]
struct HeldBound {
    span: Span,
    most: u64,
}

/// The points of a curve, in the order of time. Each is an instant, and the slot time held up to
/// this instant. Between two points the slot time grows linearly.
#[derive(Debug, Default)]
struct HeldCurve(Vec<(u64, u64)>);

impl SlotHolders {
    /// Collects the holders of slots from the spans in `holds`; `group` returns the group of a job.
    pub fn new(holds: impl IntoIterator<Item = AttemptHold>, group: impl Fn(u32) -> u32) -> Self {
        let mut changes = PerSlot::<[BTreeMap<u32, Vec<Change>>; 3]>::default();
        // Leave out spans without length: they would give a curve two points at one instant.
        for hold in holds.into_iter().filter(|hold| hold.from < hold.to) {
            let [all, jobs, groups] = &mut changes[hold.kind];
            let slots = i64::from(hold.slots);
            for (whose, key) in [(all, 0), (jobs, hold.job), (groups, group(hold.job))] {
                let of_key = whose.entry(key).or_default();
                of_key.extend([(hold.from, slots), (hold.to, -slots)]);
            }
        }
        let mut held = PerSlot::default();
        for kind in SlotKind::BOTH {
            let [mut every, jobs, groups] = std::mem::take(&mut changes[kind]);
            let all = HeldCurve::new(every.remove(&0).unwrap_or_default());
            held[kind] = OfKind { all, jobs: CurveTree::new(jobs), groups: CurveTree::new(groups) };
        }
        Self(held)
    }

    /// Returns the slots times milliseconds that all jobs held in these spans.
    pub fn all(&self, kind: SlotKind, spans: &[Span]) -> u64 {
        self.0[kind].all.within(spans)
    }

    /// Returns the slots times milliseconds that a job held in these spans.
    pub fn of_job(&self, kind: SlotKind, job: u32, spans: &[Span]) -> u64 {
        self.0[kind].jobs.of(job, spans)
    }

    /// Returns the slots times milliseconds that a group held in these spans.
    pub fn of_group(&self, kind: SlotKind, group: u32, spans: &[Span]) -> u64 {
        self.0[kind].groups.of(group, spans)
    }

    /// Returns the jobs that held most slot time in these spans, largest first. Spans must be in
    /// the order of time.
    pub fn jobs(&self, kind: SlotKind, spans: &[Span]) -> Vec<HolderTime> {
        self.0[kind].jobs.first(spans)
    }

    /// Returns the groups that held most slot time in these spans, largest first.
    pub fn groups(&self, kind: SlotKind, spans: &[Span]) -> Vec<HolderTime> {
        self.0[kind].groups.first(spans)
    }

    /// Returns the slots times milliseconds that were held during these waits, and the jobs that
    /// held most slot time. A slot that is held during several waits counts once for each wait. The
    /// cost depends on the number of changes of held slots; each additional wait costs little.
    pub fn in_all(&self, kind: SlotKind, waits: &[Span]) -> (u64, Vec<HolderTime>) {
        let waits =
            HeldCurve::new(waits.iter().flat_map(|(from, to)| [(*from, 1), (*to, -1)]).collect());
        let times = self.0[kind].jobs.curves.iter().map(|(job, curve)| (*job, curve.times(&waits)));
        let mut held: Vec<HolderTime> = times.filter(|(_, slot_ms)| 0 < *slot_ms).collect();
        // Sort equal holders by number, so that reports are reproducible.
        held.sort_by_key(|(job, slot_ms)| (Reverse(*slot_ms), *job));
        // Add up all holders before the list is cut.
        let all = held.iter().map(|(_, slot_ms)| slot_ms).sum();
        held.truncate(NAMED);
        (all, held)
    }
}

/// An instant, and the change of the number of held slots.
type Change = (u64, i64);

impl CurveTree {
    fn new(changes: BTreeMap<u32, Vec<Change>>) -> Self {
        let mut curves: Vec<(u32, HeldCurve)> =
            changes.into_iter().map(|(key, changes)| (key, HeldCurve::new(changes))).collect();
        // Sort by first instant: curves near each other in time share branches, so the search can
        // skip whole branches.
        curves.sort_by_key(|(key, curve)| (curve.span().0, *key));
        let places = curves.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        // Unused leaves have an empty span, so that the search skips them.
        let nothing = HeldBound { span: (u64::MAX, 0), most: 0 };
        // With a power of two, the indices of parents and children are simple arithmetic.
        let half = curves.len().next_power_of_two();
        let mut tree = vec![nothing; 2 * half];
        for (place, (_, curve)) in curves.iter().enumerate() {
            tree[half + place] = HeldBound { span: curve.span(), most: curve.total() };
        }
        for node in (1..half).rev() {
            let (a, b) = (tree[2 * node], tree[2 * node + 1]);
            let span = (a.span.0.min(b.span.0), a.span.1.max(b.span.1));
            tree[node] = HeldBound { span, most: a.most.max(b.most) };
        }
        Self { curves, places, tree }
    }

    fn of(&self, key: u32, spans: &[Span]) -> u64 {
        self.places.get(&key).map_or(0, |place| self.curves[*place].1.within(spans))
    }

    /// Returns the largest holders. Equal holders are in the order of their first slots.
    fn first(&self, spans: &[Span]) -> Vec<HolderTime> {
        let (Some((from, _)), Some((_, to))) = (spans.first(), spans.last()) else {
            return Vec::new();
        };
        let half = self.tree.len() / 2;
        let mut found = Vec::new();
        // Search the branch with the largest bound first. An entry has the bound of a branch or the
        // exact sum of a leaf; of equal entries, an exact sum comes first, then the earlier curve.
        // When an exact sum is on top, no open branch can hold more.
        let mut open = BinaryHeap::new();
        if let Some(root) = self.tree.get(1) {
            open.push((root.most, false, Reverse(1)));
        }
        while let Some((most, is_known, Reverse(node))) = open.pop() {
            // If the largest bound is zero, no remaining curve holds any slot time.
            if most == 0 || found.len() == NAMED {
                break;
            }
            if is_known {
                found.push((self.curves[node - half].0, most));
            } else if half <= node {
                open.push((self.curves[node - half].1.within(spans), true, Reverse(node)));
            } else {
                for below in [2 * node, 2 * node + 1] {
                    let HeldBound { span, most } = self.tree[below];
                    if span.0 < *to && *from < span.1 {
                        open.push((most, false, Reverse(below)));
                    }
                }
            }
        }
        found
    }
}

impl HeldCurve {
    fn new(mut changes: Vec<Change>) -> Self {
        // At the same instant beginnings come first, so that the level is never below zero.
        changes.sort_unstable_by_key(|(at, change)| (*at, Reverse(*change)));
        let (mut sum, mut level, mut since) = (0, 0, 0);
        let mut points: Vec<(u64, u64)> = Vec::with_capacity(changes.len());
        for (at, change) in changes {
            sum += level as u64 * (at - since);
            (level, since) = (level + change, at);
            match points.last_mut() {
                // Several changes at one instant give one point.
                Some(last) if last.0 == at => last.1 = sum,
                _ => points.push((at, sum)),
            }
        }
        Self(points)
    }

    fn span(&self) -> Span {
        let at = |point: Option<&(u64, u64)>| point.map_or(0, |(at, _)| *at);
        (at(self.0.first()), at(self.0.last()))
    }

    fn total(&self) -> u64 {
        self.0.last().map_or(0, |(_, sum)| *sum)
    }

    fn within(&self, spans: &[Span]) -> u64 {
        spans.iter().map(|(from, to)| self.at(*to) - self.at(*from)).sum()
    }

    /// Returns the slot time held up to an instant.
    fn at(&self, instant: u64) -> u64 {
        let next = self.0.partition_point(|(at, _)| *at <= instant);
        let Some(before) = next.checked_sub(1).map(|place| self.0[place]) else { return 0 };
        let Some(after) = self.0.get(next) else { return before.1 };
        // Between two points the level is constant, so this integer division is exact.
        before.1 + (after.1 - before.1) / (after.0 - before.0) * (instant - before.0)
    }

    /// Returns the integral over time of the product of both curves' levels.
    fn times(&self, other: &Self) -> u64 {
        let pieces = self.0.windows(2).map(|piece| {
            let ((from, before), (to, after)) = (piece[0], piece[1]);
            (after - before) / (to - from) * (other.at(to) - other.at(from))
        });
        pieces.sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hold(job: u32, from: u64, to: u64, slots: u32) -> AttemptHold {
        AttemptHold { job, kind: SlotKind::Map, from, to, slots }
    }

    /// Job 1 holds one slot from 0 to 10 and two more slots from 5 to 20. Job 2 holds one slot from
    /// 8 to 9. Job 3, of the other group, holds one slot from 30 to 40.
    #[test]
    fn slot_time_is_what_lies_within() {
        let holds = [hold(1, 0, 10, 1), hold(1, 5, 20, 2), hold(2, 8, 9, 1), hold(3, 30, 40, 1)];
        let holders = SlotHolders::new(holds, |job| job / 3);
        let between = |from, to| holders.jobs(SlotKind::Map, &[(from, to)]);
        assert_eq!(between(0, 50), [(1, 40), (3, 10), (2, 1)]);
        assert_eq!(between(4, 8), [(1, 4 + 6)]);
        assert_eq!(between(20, 30), []);
        assert_eq!(between(35, 36), [(3, 1)]);
        assert_eq!(holders.jobs(SlotKind::Map, &[(0, 9), (35, 50)]), [(1, 9 + 8), (3, 5), (2, 1)]);
        assert_eq!(holders.groups(SlotKind::Map, &[(0, 50)]), [(0, 41), (1, 10)]);
        assert_eq!(holders.all(SlotKind::Map, &[(0, 9), (35, 50)]), 17 + 5 + 1);
        assert_eq!(holders.of_job(SlotKind::Map, 1, &[(4, 8)]), 10);
        assert_eq!(holders.of_group(SlotKind::Map, 0, &[(8, 9)]), 3 + 1);
        assert_eq!(holders.of_job(SlotKind::Map, 7, &[(4, 8)]), 0);
        assert_eq!(holders.jobs(SlotKind::Reduce, &[(0, 50)]), []);
    }

    #[test]
    fn slots_held_in_many_waits_are_the_sum_of_each() {
        let holds = [hold(1, 0, 10, 1), hold(1, 5, 20, 2), hold(2, 8, 9, 1)];
        let holders = SlotHolders::new(holds, |_| 0);
        // Job 1 holds 4 + 6 slot-milliseconds in the first wait, and 4 + 12 in the second.
        let waits = [(4, 8), (6, 12), (30, 40)];
        assert_eq!(holders.in_all(SlotKind::Map, &waits), (27, vec![(1, 26), (2, 1)]));
    }

    proptest! {
        /// The search in the tree finds the same holders as a look at every job.
        #[test]
        fn those_who_held_most_are_found(
            holds in prop::collection::vec((0u32..30, 0u64..100, 0u64..50, 1u32..3), 0..60),
            from in 0u64..100,
            span in 0u64..100,
        ) {
            let holds = holds.into_iter().map(|(job, from, span, slots)| hold(job, from, from + span, slots));
            let holders = SlotHolders::new(holds, |job| job);
            let spans = [(from, from + span / 3), (from + span / 2, from + span)];
            let mut all: Vec<u64> =
                (0..30).map(|job| holders.of_job(SlotKind::Map, job, &spans)).filter(|it| 0 < *it).collect();
            all.sort_unstable_by_key(|slot_ms| Reverse(*slot_ms));
            prop_assert_eq!(all.iter().sum::<u64>(), holders.all(SlotKind::Map, &spans));
            all.truncate(NAMED);
            let found = holders.jobs(SlotKind::Map, &spans);
            prop_assert!(found.iter().all(|(job, it)| *it == holders.of_job(SlotKind::Map, *job, &spans)));
            prop_assert_eq!(found.into_iter().map(|(_, it)| it).collect::<Vec<_>>(), all);
        }
    }
}
