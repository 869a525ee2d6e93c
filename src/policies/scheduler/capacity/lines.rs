//! The jobs of a queue, in groups whose jobs are eligible together.
//!
//! For example, a group holds the jobs of one user: all of them are eligible while the user is
//! below its limit, and otherwise all of them are skipped. A [`QueueWalk`] visits the jobs in the
//! order of their queue and skips whole groups: a user at its limit costs one step, however many
//! jobs it has.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Bound::{Excluded, Unbounded};

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{JobId, Priority, step};

pub(super) type QueueTurn = (Priority, SimTime, JobId);

/// The jobs of a queue, in groups; the jobs of a group share the key `L`.
#[derive(Debug)]
pub(super) struct QueueLines<L> {
    lines: BTreeMap<L, BTreeSet<QueueTurn>>,
    /// The first job of each group.
    heads: BTreeMap<QueueTurn, L>,
}

/// A walk through the jobs of a queue, in order. The queue must not change during the walk.
#[derive(Debug)]
pub(super) struct QueueWalk<L> {
    /// The last head of a group that was visited.
    head: Option<QueueTurn>,
    /// The job that was returned last, and its group.
    last: Option<(QueueTurn, L)>,
    /// The next job of each group whose head was returned.
    next: BinaryHeap<Reverse<(QueueTurn, L)>>,
}

impl<L> Default for QueueLines<L> {
    fn default() -> Self {
        Self { lines: BTreeMap::new(), heads: BTreeMap::new() }
    }
}

impl<L: Ord> Default for QueueWalk<L> {
    fn default() -> Self {
        Self { head: None, last: None, next: BinaryHeap::new() }
    }
}

impl<L: Ord + Clone> QueueLines<L> {
    pub(super) fn insert(&mut self, of: L, turn: QueueTurn) {
        self.change(of, |line| line.insert(turn));
    }

    pub(super) fn remove(&mut self, of: L, turn: QueueTurn) {
        self.change(of, |line| line.remove(&turn));
    }

    pub(super) fn contains(&self, of: &L, turn: QueueTurn) -> bool {
        self.lines.get(of).is_some_and(|line| line.contains(&turn))
    }

    fn change(&mut self, of: L, change: impl FnOnce(&mut BTreeSet<QueueTurn>) -> bool) {
        let line = self.lines.entry(of.clone()).or_default();
        let was = line.first().copied();
        change(line);
        let head = line.first().copied();
        if head.is_none() {
            self.lines.remove(&of);
        }
        // Only the first job of a group is among the heads.
        if was != head {
            was.map(|turn| self.heads.remove(&turn));
            head.map(|turn| self.heads.insert(turn, of));
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&L, impl Iterator<Item = JobId>)> {
        self.lines.iter().map(|(of, line)| (of, line.iter().map(|(.., job)| *job)))
    }

    pub(super) fn in_order(&self) -> Vec<JobId> {
        let mut all: Vec<QueueTurn> = self.lines.values().flatten().copied().collect();
        all.sort_unstable();
        all.into_iter().map(|(.., job)| job).collect()
    }

    /// Returns the next job of a walk whose group is eligible; `None` at the end. A group that is
    /// not eligible is skipped for the rest of the walk.
    pub(super) fn next(&self, walk: &mut QueueWalk<L>, may: impl Fn(&L) -> bool) -> Option<JobId> {
        // The group of the last returned job may have more jobs, so its next job joins the walk.
        if let Some((last, of)) = walk.last.take() {
            let next =
                self.lines.get(&of).and_then(|line| line.range((Excluded(last), Unbounded)).next());
            walk.next.extend(next.map(|turn| Reverse((*turn, of))));
        }
        loop {
            step();
            let behind = walk.next.peek().map(|Reverse((turn, _))| turn);
            // Merges the heads not visited yet with the next jobs of groups whose heads were.
            let head = self.heads.range((walk.head.map_or(Unbounded, Excluded), Unbounded)).next();
            let (turn, of) = match head {
                Some((turn, of)) if behind.is_none_or(|behind| turn < behind) => {
                    walk.head = Some(*turn);
                    (*turn, of.clone())
                }
                _ => walk.next.pop()?.0,
            };
            if may(&of) {
                walk.last = Some((turn, of));
                return Some(turn.2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// A user, and how many slots each task takes.
    type LineOf = (u32, u32);

    fn turn(job: u32) -> QueueTurn {
        (Priority::Normal, SimTime::ZERO, JobId(job))
    }

    /// Returns the jobs of a complete walk.
    fn walk(lines: &QueueLines<LineOf>, may: impl Fn(&LineOf) -> bool) -> Vec<u32> {
        let mut walk = QueueWalk::default();
        std::iter::from_fn(|| lines.next(&mut walk, &may)).map(|job| job.0).collect()
    }

    #[test]
    fn a_user_at_its_limit_costs_one_look_however_many_jobs_it_has() {
        let mut lines = QueueLines::default();
        (0..1_000).for_each(|job| lines.insert((0, 1), turn(job)));
        lines.insert((1, 1), turn(1_000));
        let looks = Cell::new(0);
        let may = |of: &LineOf| {
            looks.set(looks.get() + 1);
            of.0 == 1
        };
        assert_eq!((walk(&lines, may), looks.get()), (vec![1_000], 2));
    }

    #[test]
    fn a_line_that_may_no_more_is_left() {
        let mut lines = QueueLines::default();
        (0..6).for_each(|job| lines.insert((job % 2, 1), turn(job)));
        let left = Cell::new(2);
        let mut way = QueueWalk::default();
        let next = || lines.next(&mut way, |of| of.0 == 1 || 0 < left.get());
        let walk = std::iter::from_fn(next).inspect(|job| left.set(left.get() - (1 - job.0 % 2)));
        assert_eq!(walk.map(|job| job.0).collect::<Vec<_>>(), [0, 1, 2, 3, 5]);
    }

    proptest! {
        #[test]
        fn a_walk_has_the_jobs_that_may_in_their_order(
            jobs in proptest::collection::vec((0u32..5, 1u32..3, any::<bool>()), 0..40),
            barred in proptest::collection::btree_set((0u32..5, 1u32..3), 0..6),
        ) {
            let mut lines = QueueLines::default();
            for (job, (user, width, _)) in (0..).zip(&jobs) {
                lines.insert((*user, *width), turn(job));
            }
            let (mut expected, mut all) = (Vec::new(), Vec::new());
            for (job, (user, width, stays)) in (0..).zip(&jobs) {
                if !stays {
                    lines.remove((*user, *width), turn(job));
                    continue;
                }
                all.push(JobId(job));
                expected.extend((!barred.contains(&(*user, *width))).then_some(job));
            }
            prop_assert_eq!(walk(&lines, |of| !barred.contains(of)), expected);
            prop_assert_eq!(lines.in_order(), all);
        }
    }
}
