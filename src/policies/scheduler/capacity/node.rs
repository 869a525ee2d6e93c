//! A queue in a run: its slots, its users and their limits.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::lines::{QueueLines, QueueTurn};
use super::queues::{JobLimit, MAX_ACTIVE_TASKS, MAX_ACTIVE_TASKS_PER_USER, Queue};
use super::rules::Rules;
use mumakil_base::units::{Factor, Fraction, SimSpan, SimTime};
use mumakil_core::mapred::{PerSlot, SlotKind, SlotShare, SlotStanding};

/// The largest rounding error of a sum of shares, in slots.
// Chosen: far above the rounding errors of such sums, and far below one slot.
pub(super) const ROUNDING: f64 = 1e-6;

/// A queue's number: the root is 0, and the other queues follow in the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct QueueId(pub(super) u32);

/// The key of jobs that share a limit: their user, and the slots that each of their tasks takes.
pub(super) type LineOf = (Arc<str>, u32);

#[derive(Debug, Default)]
pub(super) struct QueueNode {
    pub(super) name: String,
    pub(super) parent: Option<QueueId>,
    /// The queues inside this queue, in the order in which they were last served.
    pub(super) children: PerSlot<Vec<QueueId>>,
    /// The queue's guaranteed share of the cluster, and its largest share. Without a maximum here
    /// or in a queue around this one, the used slots may even exceed the slots of the cluster.
    pub(super) share: f64,
    pub(super) most_share: Option<f64>,
    /// The guaranteed share and the largest share, in slots.
    pub(super) slots: PerSlot<u32>,
    pub(super) most: PerSlot<u32>,
    /// The least share of the queue's slots for each user, from 0 to 1.
    min_user: f64,
    /// The most slots of one user, as a multiple of the queue's slots.
    user_factor: f64,
    pub(super) by_priority: bool,
    pub(super) limits: Limits,
    pub(super) reclaim_after: Option<SimSpan>,

    /// The slots that the queue's jobs use: for running tasks, and on reserved trackers.
    pub(super) used: PerSlot<u32>,
    /// The number of jobs that could use a slot, in this queue and in the queues inside it.
    pub(super) ready_inside: PerSlot<u32>,
    /// When the queue's earliest claim to lent slots is due; `None` without a claim.
    pub(super) due: PerSlot<Option<SimTime>>,

    /// In a leaf: the slots on trackers that are reserved for its jobs.
    pub(super) kept: PerSlot<u32>,
    /// In a leaf: the slots that its jobs could use.
    pub(super) pending: PerSlot<u64>,
    /// In a leaf: its jobs that have not ended, in order.
    pub(super) jobs: BTreeSet<QueueTurn>,
    /// In a leaf: its jobs that could use a slot, grouped by limit.
    pub(super) ready: PerSlot<QueueLines<LineOf>>,
    pub(super) users: FxHashMap<Arc<str>, QueueUser>,
    /// In a leaf: the number of users with a job that could use a slot.
    active: PerSlot<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// The largest number of users with jobs that wait for their first task.
    pub(super) users: u32,
    /// The largest number of jobs of one user that wait for their first task.
    pub(super) jobs_per_user: u32,
    /// How many times the jobs that may be initialised the queue accepts.
    pub(super) accept_factor: u32,
    /// The largest number of tasks of all initialised jobs that have not ended, together.
    pub(super) tasks: u32,
    pub(super) tasks_per_user: u32,
}

#[derive(Debug, Default)]
pub(super) struct QueueUser {
    pub(super) jobs: u32,
    pub(super) used: PerSlot<u32>,
    ready: PerSlot<u32>,
}

impl QueueId {
    pub(super) const ROOT: Self = Self(0);

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl QueueNode {
    pub(super) fn root() -> Self {
        Self { share: 1.0, ..Self::default() }
    }

    /// Returns a queue inside `around` that has the share `share` of its slots.
    pub(super) fn inside(
        id: QueueId,
        around: &Self,
        name: &str,
        share: f64,
        queue: &Queue,
    ) -> Self {
        // `minimum-user-limit-percent` is 100: one user may have the whole queue.
        let min_user = queue.minimum_user_limit.map_or(1.0, Fraction::get);
        let number = |said: Option<JobLimit>, default| said.map_or(default, JobLimit::get);
        Self {
            name: name.to_owned(),
            parent: Some(id),
            // A share of the whole cluster, so that no walk up the tree is needed.
            share: around.share * share,
            most_share: match (around.most_share, queue.maximum_capacity) {
                (around, Some(most)) => Some(around.unwrap_or(1.0) * most.get()),
                (around, None) => around,
            },
            min_user,
            // `user-limit-factor` is 1: a user alone in the queue gets only the queue's own slots.
            user_factor: queue.user_limit_factor.map_or(1.0, Factor::get),
            // `supports-priority` is off.
            by_priority: queue.supports_priority.unwrap_or(false),
            limits: Limits {
                // Hadoop: as many users as can share the queue at a time, and two more.
                users: trunc(1.0 / min_user) + 2,
                // `maximum-initialized-jobs-per-user` is 2.
                jobs_per_user: number(queue.max_initialised_per_user, 2),
                // In 1.x: `init-accept-jobs-factor` is 10.
                accept_factor: number(queue.accept_factor, 10),
                tasks: number(queue.max_active_tasks, MAX_ACTIVE_TASKS),
                tasks_per_user: number(queue.max_active_tasks_per_user, MAX_ACTIVE_TASKS_PER_USER),
            },
            reclaim_after: queue.reclaim_after,
            ..Self::default()
        }
    }

    pub(super) fn reload(&mut self, declared: &Self) {
        (self.share, self.most_share) = (declared.share, declared.most_share);
        (self.min_user, self.user_factor) = (declared.min_user, declared.user_factor);
        (self.by_priority, self.limits) = (declared.by_priority, declared.limits);
        self.reclaim_after = declared.reclaim_after;
    }

    /// Returns the queue's part of `all` initialised jobs, and that of each user.
    pub(super) fn system_jobs(&self, all: u32) -> (u32, u32) {
        // 1.x: the queue's share of `maximum-system-jobs`, and the user's share of it, rounded up.
        let jobs = f64::from(all) * self.share;
        (ceil(jobs), ceil(jobs * self.min_user))
    }

    /// Returns how many jobs the queue accepts, and of each user, by their parts of `all`.
    pub(super) fn accepted_jobs(&self, all: u32) -> (u32, u32) {
        let (jobs, jobs_of_user) = self.system_jobs(all);
        let factor = self.limits.accept_factor;
        (jobs.saturating_mul(factor), jobs_of_user.saturating_mul(factor))
    }

    /// Notes that a job could use a slot from now on, or no longer.
    pub(super) fn change_ready(
        &mut self,
        line: LineOf,
        turn: QueueTurn,
        kind: SlotKind,
        is_ready: bool,
    ) {
        if let Some(user) = self.users.get_mut(&line.0) {
            let was_active = 0 < user.ready[kind];
            user.ready[kind] += u32::from(is_ready);
            user.ready[kind] -= u32::from(!is_ready);
            self.active[kind] -= u32::from(was_active);
            self.active[kind] += u32::from(0 < user.ready[kind]);
        }
        if is_ready {
            self.ready[kind].insert(line, turn);
        } else {
            self.ready[kind].remove(line, turn);
        }
    }

    pub(super) fn standing(&self, kind: SlotKind) -> SlotStanding {
        let share = SlotShare::of(self.slots[kind].into());
        SlotStanding { share: Some(share), ..SlotStanding::of(self.used[kind]) }
    }

    /// Returns the sort key among siblings: when its claim is due, then the used part.
    pub(super) fn urgency(&self, kind: SlotKind) -> (SimTime, f64) {
        let ratio = match self.slots[kind] {
            // As in Hadoop, a queue without guaranteed slots counts as full.
            0 => 1.0,
            slots => f64::from(self.used[kind]) / f64::from(slots),
        };
        (self.due[kind].unwrap_or(SimTime::NEVER), ratio)
    }

    /// Returns whether a user may launch another task of `width` slots. In 1.x all slots of the
    /// task count against the limit, before 1.x only one of them.
    pub(super) fn may_have(&self, rules: Rules, kind: SlotKind, user: &str, width: u32) -> bool {
        // Up to 0.21 Hadoop tests `used >= limit`: a wide task may exceed the limit.
        let counted = if rules == Rules::V1 { width } else { 1 };
        counted <= self.room(rules, kind, user, width)
    }

    /// Returns how many more slots a user may have, for a task of `width` slots.
    pub(super) fn room(&self, rules: Rules, kind: SlotKind, user: &str, width: u32) -> u32 {
        let used = self.users.get(user).map_or(0, |user| user.used[kind]);
        self.user_limit(rules, kind, width).saturating_sub(used)
    }

    /// Returns the most slots that a user may have, for a task of `width` slots.
    fn user_limit(&self, rules: Rules, kind: SlotKind, width: u32) -> u32 {
        let (slots, used) = (self.slots[kind], self.used[kind]);
        // 1.x divides the queue among users with something to launch, earlier versions among all.
        let (users, own) = match rules {
            Rules::V1 => (self.active[kind], slots.max(width)),
            _ => (self.users.len() as u32, slots),
        };
        let is_within = match rules {
            Rules::V1 => used + width <= own,
            _ => used < own,
        };
        // A queue above its own slots divides all slots that it uses, this task included.
        let current = f64::from(if is_within { own } else { used + width });
        let even = ceil(current / f64::from(users.max(1)));
        let limit = even.max(ceil(current * self.min_user));
        match rules {
            // Only 1.x limits a user that is alone in its queue.
            Rules::V1 => limit.min(self.user_slots(own.into())),
            _ => limit,
        }
    }

    /// Returns the most slots of a user by the rules of 1.x, in a queue with `slots` slots.
    pub(super) fn user_slots(&self, slots: f64) -> u32 {
        trunc(slots.max(1.0).trunc() * self.user_factor)
    }
}

/// Rounds slots down, but tolerates a small rounding error below a whole number.
pub(super) fn trunc(slots: f64) -> u32 {
    (slots + ROUNDING) as u32
}

/// Rounds slots up, but tolerates a small rounding error above a whole number.
fn ceil(slots: f64) -> u32 {
    (slots - ROUNDING).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a queue with `slots` slots, of which `used` are in use. Each of its users has jobs
    /// to launch.
    fn queue(slots: u32, used: u32, users: u32, min_user: f64) -> QueueNode {
        let mut node = QueueNode { min_user, user_factor: 1.0, ..QueueNode::root() };
        node.slots.map = slots;
        node.used.map = used;
        node.active.map = users;
        for user in 0..users {
            node.users.insert(user.to_string().into(), QueueUser::default());
        }
        node
    }

    fn limit(node: &QueueNode, rules: Rules) -> u32 {
        node.user_limit(rules, SlotKind::Map, 1)
    }

    #[test]
    fn users_share_a_queue_evenly_down_to_the_minimum() {
        for (users, expected) in [(1, 100), (2, 50), (3, 34), (4, 25), (5, 25)] {
            for rules in [Rules::V20, Rules::V21, Rules::V1] {
                assert_eq!(limit(&queue(100, 10, users, 0.25), rules), expected, "{users}");
            }
        }
        assert_eq!(limit(&queue(100, 10, 7, 1.0), Rules::V21), 100, "each user may have all");
    }

    #[test]
    fn users_with_nothing_to_launch_share_the_queue_up_to_0_21_only() {
        let mut node = queue(100, 10, 2, 0.25);
        node.active.map = 1;
        let limits = [Rules::V20, Rules::V21, Rules::V1].map(|rules| limit(&node, rules));
        assert_eq!(limits, [50, 50, 100]);
    }

    #[test]
    fn a_queue_comes_first_whose_slots_are_due_and_then_who_has_least_of_its_own() {
        let [some, most] = [queue(10, 4, 1, 1.0), queue(10, 11, 1, 1.0)];
        let [none, mut due] = [queue(0, 0, 1, 1.0), queue(10, 11, 1, 1.0)];
        due.due.map = Some(SimTime::ZERO);
        let order = [due, some, none, most].map(|node| node.urgency(SlotKind::Map));
        assert!(order.is_sorted(), "a queue without slots counts as full: {order:?}");
    }

    #[test]
    fn a_queue_that_has_borrowed_shares_what_it_has() {
        assert_eq!(limit(&queue(100, 140, 2, 0.25), Rules::V20), 71, "half of 141");
        assert_eq!(limit(&queue(100, 140, 2, 0.25), Rules::V1), 71);
        assert_eq!(limit(&queue(100, 240, 2, 0.25), Rules::V1), 100, "limited to its own slots");
        let mut node = queue(100, 240, 2, 0.25);
        node.user_factor = 1.1;
        assert_eq!(limit(&node, Rules::V1), 110);
        assert_eq!(limit(&node, Rules::V21), 121);
    }

    #[test]
    fn a_task_counts_whole_in_1x() {
        let mut node = queue(4, 1, 1, 1.0);
        assert_eq!(node.user_limit(Rules::V1, SlotKind::Map, 6), 6, "room for one task");
        node.users.get_mut("0").unwrap().used.map = 1;
        let may = |rules, width| node.may_have(rules, SlotKind::Map, "0", width);
        assert_eq!([1, 3, 4].map(|width| may(Rules::V1, width)), [true, true, false]);
        assert!(may(Rules::V21, 9), "the width does not matter");
    }

    #[test]
    fn shares_are_whole_slots_whatever_binary_fractions_make_of_them() {
        assert_eq!((trunc(0.29 * 100.0), trunc(2.9), ceil(0.1 * 30.0), ceil(3.1)), (29, 2, 3, 4));
    }
}
