//! The queues in a run: their slots, limits and jobs, and the order in which they are served.
//!
//! A leaf keeps its eligible jobs sorted, and keeps the counts of each user up to date, so that an
//! offer need not count anything. At each offer, sibling queues are sorted by the used part of
//! their guaranteed slots. As in Hadoop, equal queues keep the order that they had before.

use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::hash_order::JavaMaps;
use super::lines::QueueTurn;
use super::node::{LineOf, QueueId, QueueNode, trunc};
use super::queues::{DEFAULT, Queue, Queues, even};
use super::rules::Rules;
use crate::scheduler::shared::reduces::Reduces;
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Job, JobId, PerSlot, Priority, SlotKind, SlotStanding, View, step};

#[derive(Debug)]
pub(super) struct QueueTree {
    rules: Rules,
    hash_maps: JavaMaps,
    pub(super) reduces: Reduces,
    /// All queues, the root first; each queue comes after the queue around it.
    nodes: Vec<QueueNode>,
    leaves: FxHashMap<String, QueueId>,
    /// The queue for jobs that do not name a leaf.
    fallback: QueueId,
    /// The jobs by number; `None` for jobs that are unknown or have ended.
    jobs: Vec<Option<Box<QueueMember>>>,
    /// The number of slots of the cluster when the queues' slots were last computed.
    slots: PerSlot<u32>,
}

#[derive(Debug)]
pub(super) struct QueueMember {
    pub(super) queue: QueueId,
    pub(super) user: Arc<str>,
    pub(super) turn: QueueTurn,
    /// How many slots each task of the job takes.
    pub(super) width: PerSlot<u32>,
    /// When the job was admitted; `None` before that.
    pub(super) admitted_at: Option<SimTime>,
    /// The number of trackers that are reserved for the job.
    pub(super) reserved: PerSlot<u32>,
    /// The slots of the job's running tasks, and of the trackers reserved for it.
    used: PerSlot<u32>,
    /// The number of the job's tasks that could be launched.
    pub(super) pending: PerSlot<u32>,
}

impl QueueTree {
    pub(super) fn new(
        queues: &Queues,
        rules: Rules,
        hash_maps: JavaMaps,
        reduces: Reduces,
    ) -> Self {
        let mut tree = Self {
            rules,
            hash_maps,
            reduces,
            nodes: vec![QueueNode::root()],
            leaves: FxHashMap::default(),
            fallback: QueueId::ROOT,
            jobs: Vec::new(),
            slots: PerSlot::default(),
        };
        let queues = if queues.queues.is_empty() {
            [(DEFAULT.to_owned(), Queue::default())].into()
        } else {
            queues.queues.clone()
        };
        tree.declare(QueueId::ROOT, &Queue { queues, ..Queue::default() });
        let first = tree.ids().find(|id| tree.is_leaf(*id));
        let default = tree.leaves.get(DEFAULT).copied();
        // There is at least one queue, so there is a leaf: the innermost queue of a branch.
        tree.fallback = default.or(first).expect("a tree has a leaf");
        for id in tree.ids() {
            let children = tree.in_first_order(tree.node(id).children.map.iter().copied());
            tree.nodes[id.index()].children = PerSlot { map: children.clone(), reduce: children };
        }
        tree
    }

    fn declare(&mut self, around: QueueId, outer: &Queue) {
        let even = even(&outer.queues);
        for (name, queue) in &outer.queues {
            let mut queue = queue.clone();
            queue.inherit(outer);
            let id = QueueId(self.nodes.len() as u32);
            let share = queue.capacity.map_or(even, mumakil_base::units::Fraction::get);
            let node = QueueNode::inside(around, self.node(around), name, share, &queue);
            self.nodes[around.index()].children.map.push(id);
            self.nodes.push(node);
            if queue.queues.is_empty() {
                // Names are checked to be unique; of two equal ones the first counts.
                self.leaves.entry(name.clone()).or_insert(id);
            }
            self.declare(id, &queue);
        }
    }

    /// Returns the leaves in the order in which Hadoop lists them at first.
    pub(super) fn listed(&self) -> Vec<QueueId> {
        self.in_first_order(self.ids().filter(|id| self.is_leaf(*id)))
    }

    fn in_first_order(&self, queues: impl Iterator<Item = QueueId>) -> Vec<QueueId> {
        let mut named: Vec<_> = queues.map(|id| (self.node(id).name.as_str(), id)).collect();
        self.rules.sort(self.hash_maps, &mut named);
        named.into_iter().map(|(_, id)| id).collect()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = QueueId> + use<> {
        (0..self.nodes.len() as u32).map(QueueId).inspect(|_| step())
    }

    pub(super) fn node(&self, id: QueueId) -> &QueueNode {
        step();
        &self.nodes[id.index()]
    }

    pub(super) fn is_leaf(&self, id: QueueId) -> bool {
        self.node(id).children.map.is_empty()
    }

    /// Returns the leaf of this name, or else the fallback queue.
    pub(super) fn leaf(&self, name: &str) -> QueueId {
        self.leaves.get(name).copied().unwrap_or(self.fallback)
    }

    pub(super) fn member(&self, job: JobId) -> Option<&QueueMember> {
        self.jobs.get(job.index())?.as_deref()
    }

    /// Returns the jobs of a queue that have not ended, the last one in the queue first.
    pub(super) fn latest_first(&self, leaf: QueueId) -> impl Iterator<Item = JobId> {
        self.node(leaf).jobs.iter().rev().map(|(.., job)| *job)
    }

    pub(super) fn upwards(&self, id: QueueId) -> impl Iterator<Item = QueueId> {
        std::iter::successors(Some(id), |id| self.node(*id).parent)
    }

    pub(super) fn enter(&mut self, job: &Job, queue: QueueId, width: PerSlot<u32>) {
        let mut member = QueueMember {
            queue,
            user: job.spec().user.clone(),
            turn: (Priority::Normal, job.submitted_at(), job.id()),
            width,
            admitted_at: None,
            reserved: PerSlot::default(),
            used: PerSlot::default(),
            pending: PerSlot::default(),
        };
        self.stand(job, &mut member);
        *grown(&mut self.jobs, job.id().index()) = Some(Box::new(member));
    }

    /// Gives a job its turn in its queue.
    fn stand(&mut self, job: &Job, member: &mut QueueMember) {
        let node = &mut self.nodes[member.queue.index()];
        // If priorities are off, all jobs have the same priority, so arrival decides.
        member.turn.0 = if node.by_priority { job.priority() } else { Priority::Normal };
        node.users.entry(member.user.clone()).or_default().jobs += 1;
        node.jobs.insert(member.turn);
        for kind in SlotKind::BOTH {
            node.kept[kind] += member.reserved[kind] * member.width[kind];
        }
    }

    /// Moves a job whose priority or queue has changed, and returns its place before.
    pub(super) fn alter(
        &mut self,
        view: &View<'_>,
        job: &Job,
        queue: QueueId,
    ) -> Option<(QueueId, QueueTurn)> {
        let mut member = self.jobs.get_mut(job.id().index())?.take()?;
        // `refresh` adds the counts again, at the new place.
        SlotKind::BOTH.into_iter().for_each(|kind| self.count(&mut member, kind, 0, 0));
        self.remove(&member);
        let was = (mem::replace(&mut member.queue, queue), member.turn);
        self.stand(job, &mut member);
        self.jobs[job.id().index()] = Some(member);
        self.refresh(view, job.id());
        Some(was)
    }

    /// Reads the values of the queues again; the queues themselves stay. Returns the jobs of the
    /// queues that now go by priority, or no longer do.
    pub(super) fn reload(&mut self, queues: &Queues, reduces: Reduces) -> Vec<JobId> {
        let fresh = Self::new(queues, self.rules, self.hash_maps, reduces);
        let mut changed = Vec::new();
        for node in &mut self.nodes[1..] {
            // The check of the scenario refuses other queues.
            let Some(declared) = fresh.nodes.iter().find(|other| other.name == node.name) else {
                continue;
            };
            if node.by_priority != declared.by_priority {
                changed.extend(node.jobs.iter().map(|(.., job)| *job));
            }
            node.reload(declared);
        }
        // The next offer computes the slots of all queues anew.
        self.slots = PerSlot::default();
        changed
    }

    pub(super) fn leave(&mut self, job: JobId) {
        let Some(mut member) = self.jobs.get_mut(job.index()).and_then(Option::take) else {
            return;
        };
        for kind in SlotKind::BOTH {
            self.count(&mut member, kind, 0, 0);
        }
        // The reservations themselves end at the next poll.
        self.remove(&member);
    }

    /// Removes a job from its queue. Expects that it uses no slots.
    fn remove(&mut self, member: &QueueMember) {
        let QueueNode { users, jobs, kept, .. } = &mut self.nodes[member.queue.index()];
        for kind in SlotKind::BOTH {
            kept[kind] -= member.reserved[kind] * member.width[kind];
        }
        jobs.remove(&member.turn);
        if let Some(user) = users.get_mut(&member.user) {
            user.jobs -= 1;
            if user.jobs == 0 {
                users.remove(&member.user);
            }
        }
    }

    pub(super) fn admit(&mut self, view: &View<'_>, job: JobId) {
        if let Some(Some(member)) = self.jobs.get_mut(job.index()) {
            member.admitted_at = Some(view.now());
        }
        self.refresh(view, job);
    }

    /// Notes that one more tracker is reserved for a job, or one fewer.
    pub(super) fn reserve(&mut self, view: &View<'_>, job: JobId, kind: SlotKind, is_kept: bool) {
        if let Some(Some(member)) = self.jobs.get_mut(job.index()) {
            let kept = &mut self.nodes[member.queue.index()].kept[kind];
            let reserved = &mut member.reserved[kind];
            // All trackers of the job, since a number that is 0 already stays 0.
            *kept -= *reserved * member.width[kind];
            *reserved = if is_kept { *reserved + 1 } else { reserved.saturating_sub(1) };
            *kept += *reserved * member.width[kind];
        }
        self.refresh(view, job);
    }

    pub(super) fn refresh(&mut self, view: &View<'_>, id: JobId) {
        let Some(job) = view.job(id) else { return };
        let Some(mut member) = self.jobs.get_mut(id.index()).and_then(Option::take) else { return };
        for kind in SlotKind::BOTH {
            let holds = job.tasks(kind).running() + member.reserved[kind];
            let is_admitted = member.admitted_at.is_some();
            let pending = if is_admitted { self.reduces.pending(job, kind) } else { 0 };
            // As in Hadoop, a reserved tracker counts like a task of the job.
            let used = holds * member.width[kind];
            self.count(&mut member, kind, used, pending);
        }
        self.jobs[id.index()] = Some(member);
    }

    /// Updates the slots that a job uses and could use, up the tree.
    fn count(&mut self, member: &mut QueueMember, kind: SlotKind, used: u32, pending: u32) {
        let was_used = mem::replace(&mut member.used[kind], used);
        let was_pending = mem::replace(&mut member.pending[kind], pending);
        let node = &mut self.nodes[member.queue.index()];
        if let Some(user) = node.users.get_mut(&member.user) {
            user.used[kind] = user.used[kind] - was_used + used;
        }
        let width = u64::from(member.width[kind]);
        // Count pending tasks in slots, like the claims to lent slots.
        node.pending[kind] -= u64::from(was_pending) * width;
        node.pending[kind] += u64::from(pending) * width;
        let (was_ready, is_ready) = (0 < was_pending, 0 < pending);
        if was_ready != is_ready {
            let line = (member.user.clone(), member.width[kind]);
            node.change_ready(line, member.turn, kind, is_ready);
        }
        let mut queue = Some(member.queue);
        // Queues around this one count only used slots and ready jobs.
        while let Some(id) = queue.filter(|_| was_used != used || was_ready != is_ready) {
            let node = &mut self.nodes[id.index()];
            node.used[kind] = node.used[kind] - was_used + used;
            node.ready_inside[kind] += u32::from(is_ready);
            node.ready_inside[kind] -= u32::from(was_ready);
            queue = node.parent;
        }
    }

    /// Computes the slots of the queues anew, if the slots of the cluster have changed.
    pub(super) fn measure(&mut self, view: &View<'_>) {
        for kind in SlotKind::BOTH {
            let slots = view.capacity(kind);
            if mem::replace(&mut self.slots[kind], slots) != slots {
                for node in &mut self.nodes {
                    // Hadoop rounds down to whole slots, so small queues may have none.
                    node.slots[kind] = trunc(node.share * f64::from(slots));
                    let most = node.most_share.map(|share| trunc(share * f64::from(slots)));
                    node.most[kind] = most.unwrap_or(u32::MAX);
                }
            }
        }
    }

    /// Writes the leaves that may get a slot into `leaves`, in the order in which they are served.
    pub(super) fn sort(&mut self, kind: SlotKind, leaves: &mut Vec<QueueId>) {
        leaves.clear();
        self.sort_in(QueueId::ROOT, kind, leaves);
    }

    fn sort_in(&mut self, id: QueueId, kind: SlotKind, leaves: &mut Vec<QueueId>) {
        if !self.is_served(id, kind) {
            return;
        }
        if self.is_leaf(id) {
            return leaves.push(id);
        }
        let mut children = mem::take(&mut self.nodes[id.index()].children[kind]);
        // The sort is stable and starts from the last order: as in Hadoop, equal queues keep it.
        children.sort_by(|a, b| {
            let [(a_due, a_ratio), (b_due, b_ratio)] =
                [a, b].map(|id| self.node(*id).urgency(kind));
            a_due.cmp(&b_due).then(a_ratio.total_cmp(&b_ratio))
        });
        for child in &children {
            self.sort_in(*child, kind, leaves);
        }
        self.nodes[id.index()].children[kind] = children;
    }

    fn is_served(&self, id: QueueId, kind: SlotKind) -> bool {
        let node = self.node(id);
        0 < node.ready_inside[kind]
            && self.may_be_served(node, kind)
            && node.used[kind] < node.most[kind]
    }

    /// Returns whether a queue may be served: in 0.21 only one with guaranteed slots.
    fn may_be_served(&self, node: &QueueNode, kind: SlotKind) -> bool {
        // In 0.20 and 1.x such a queue may get slots that other queues leave idle.
        0 < node.slots[kind] || self.rules != Rules::V21
    }

    /// Notes when a queue's claim is due, so that it and all around it are served first.
    pub(super) fn note_due(&mut self, id: QueueId, kind: SlotKind, due: Option<SimTime>) {
        self.nodes[id.index()].due[kind] = due;
        let mut around = self.node(id).parent;
        while let Some(id) = around {
            let inside = self.node(id).children[kind].iter();
            let first = inside.filter_map(|child| self.node(*child).due[kind]).min();
            self.nodes[id.index()].due[kind] = first;
            around = self.node(id).parent;
        }
    }

    /// Returns the slots of a queue if it may not have `slots` more slots, because of its own limit
    /// or the limit of a queue around it; otherwise `None`. Limits of users do not matter here.
    pub(super) fn limit(&self, queue: QueueId, kind: SlotKind, slots: u32) -> Option<SlotStanding> {
        (!self.upwards(queue).all(|id| {
            let node = self.node(id);
            // The width of a task and a missing maximum may be very large numbers.
            let is_below = node.used[kind].saturating_add(slots) <= node.most[kind];
            is_below && self.may_be_served(node, kind)
        }))
        .then(|| self.node(queue).standing(kind))
    }

    /// Returns how many slots a queue's jobs could use now, in 1.x within users' limits.
    pub(super) fn usable(&self, queue: QueueId, kind: SlotKind) -> u64 {
        let node = self.node(queue);
        if self.rules != Rules::V1 {
            return node.pending[kind];
        }
        let of_line = |((user, width), jobs): (&LineOf, _)| {
            let pending = |job| self.member(job).map_or(0, |member| member.pending[kind]);
            let tasks: u64 = Iterator::map(jobs, pending).map(u64::from).sum();
            let room = node.room(self.rules, kind, user, *width);
            tasks.min(u64::from(room / width)) * u64::from(*width)
        };
        node.ready[kind].iter().map(of_line).sum()
    }
}
