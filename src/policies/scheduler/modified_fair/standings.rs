//! The jobs and pools in a run: their slots, their limits, and the order in which they are served.
//!
//! Each round makes four decisions, which hold until the next round: which jobs are small, which
//! jobs may run, how much each pool demands, and how many slots it may have. Every change updates
//! the counts of running and pending tasks. Jobs and pools are kept sorted by these counts, so an
//! offer sorts nothing. A round visits only the pools that have changed since the last round, and
//! the jobs that change their pool.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ModifiedFairOptions;
use super::allotment::{Maximum, PoolNeed, PoolNeeds, Share};
use super::classes::{Classes, SmallJobs};
use super::order::{JobKey, SharingKey};
use crate::scheduler::shared::job_queue::JobQueue;
use crate::scheduler::shared::line::move_entry;
use crate::scheduler::shared::pool_tree::{PoolId, PoolTree};
use crate::scheduler::shared::pools::{JobOrder, Pools};
use crate::scheduler::shared::reduces::Reduces;
use mumakil_base::mutated;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    Job, JobId, Launched, Locality, PerSlot, Priority, Reason, SlotKind, SlotShare, SlotStanding,
    View, step,
};

/// The pool of small jobs: the root, which holds no other jobs.
// Other jobs are in leaves, so the root is unused, and it needs no name that a user could choose.
const SHARED: PoolId = PoolId::ROOT;

/// All jobs and pools, and the result of the last allotment.
#[derive(Debug)]
pub(super) struct Standings {
    options: ModifiedFairOptions,
    pub(super) reduces: Reduces,
    tree: PoolTree,
    line: JobQueue,
    pools: Vec<SharingPool>,
    jobs: FxHashMap<JobId, SharingJob>,
    /// The jobs by size, and the number of maps of a small job as of the last round (`small_maps`;
    /// `None` if there are no small jobs).
    classes: Classes,
    small_maps: Option<u32>,
    /// The pools that could use a slot and may have one, the next pool first.
    ready: PerSlot<BTreeSet<SharingKey>>,
    /// The slots that all pools use now, and the demand of all pools at the last allotment.
    running: PerSlot<u32>,
    demand: PerSlot<u32>,
    /// The needs of all pools except the shared one.
    needs: PerSlot<PoolNeeds>,
    /// The number of allotments so far, and the result of the last one for each kind of slot.
    allotments: u64,
    share: PerSlot<Share>,
    /// The pools that have changed since the last allotment.
    changed: PerSlot<BTreeSet<PoolId>>,
    launches: u64,
    /// Whether a slot has become free since the last allotment.
    has_freed: bool,
}

/// The running and the waiting tasks of a job or a pool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SharingTasks {
    pub(super) running: u32,
    pub(super) pending: u32,
}

#[derive(Debug, Default)]
pub(super) struct SharingPool {
    pub(super) name: Arc<str>,
    pub(super) weight: f64,
    order: JobOrder,
    pub(super) min: PerSlot<u32>,
    max: PerSlot<u32>,
    pub(super) tasks: PerSlot<SharingTasks>,
    /// The pool's demand and its limit, by the allotment with the number `told_by`.
    pub(super) demand: PerSlot<u32>,
    limit: PerSlot<u32>,
    told_by: PerSlot<u64>,
    pub(super) last_launch: u64,
    /// The jobs of the pool that could use a slot, the next job first.
    ready: PerSlot<BTreeSet<JobKey>>,
    key: PerSlot<Option<SharingKey>>,
}

#[derive(Debug)]
struct SharingJob {
    /// The pool that the job names, and the pool in which it is now.
    own: PoolId,
    pool: PoolId,
    /// The priority with which the job came, and its current one.
    came_with: Priority,
    priority: Priority,
    arrived: SimTime,
    /// The number of all tasks of the job, and its running and pending tasks; a job that may not
    /// run has no pending tasks.
    total: PerSlot<u32>,
    tasks: PerSlot<SharingTasks>,
    /// When the job became runnable; `None` while it may not run.
    runnable_since: Option<SimTime>,
    /// The locality of the job's last map with input.
    locality: Option<Locality>,
    key: PerSlot<Option<JobKey>>,
}

impl Standings {
    pub(super) fn new(options: ModifiedFairOptions, reduces: Reduces) -> Self {
        let pools = &options.allocations;
        let mut standings = Self {
            tree: PoolTree::new(pools),
            line: JobQueue::new(pools),
            options,
            reduces,
            pools: Vec::new(),
            jobs: FxHashMap::default(),
            classes: Classes::default(),
            small_maps: None,
            ready: PerSlot::default(),
            running: PerSlot::default(),
            demand: PerSlot::default(),
            needs: PerSlot::default(),
            allotments: 0,
            share: PerSlot::default(),
            changed: PerSlot::default(),
            launches: 0,
            has_freed: false,
        };
        standings.make_states();
        // Section 3.1: "Jobs in the sharedPool are scheduled using FIFO for simplicity."
        let order = mutated!(JobOrder::Fifo, "mfair/shared-by-need" => JobOrder::Fair);
        standings.pools[SHARED.index()].order = order;
        standings
    }

    fn make_states(&mut self) {
        for id in self.tree.ids_from(self.pools.len()) {
            self.pools.push(SharingPool::new(&self.tree, id, self.allotments));
        }
    }

    /// Returns how many tasks run, and the demand of all pools at the last allotment.
    pub(super) fn work(&self, kind: SlotKind) -> (u32, u32) {
        (self.running[kind], self.demand[kind])
    }

    /// Returns the pools that could use one of the cluster's slots and may have one, the next pool first. If no more
    /// slots are free than are kept for small jobs, only the shared pool may have one.
    pub(super) fn ready(&self, kind: SlotKind, slots: u32) -> impl Iterator<Item = PoolId> {
        let kept = self.kept(kind);
        let are_kept = 0 < kept && slots <= self.running[kind] + kept;
        let pools = self.ready[kind].iter().map(|key| key.pool);
        pools.filter(move |pool| !are_kept || *pool == SHARED)
    }

    /// Returns how many slots are kept for small jobs that wait.
    fn kept(&self, kind: SlotKind) -> u32 {
        let shared = &self.pools[SHARED.index()];
        let SharingTasks { running, pending } = shared.tasks[kind];
        let lacks = shared.min[kind].saturating_sub(running);
        mutated!(lacks.min(pending), "mfair/kept-for-nobody" => lacks, "mfair/none-kept" => 0)
    }

    pub(super) fn standing(&self, pool: PoolId, kind: SlotKind) -> SlotStanding {
        let state = &self.pools[pool.index()];
        SlotStanding { min_share: state.min[kind], ..SlotStanding::of(state.tasks[kind].running) }
    }

    pub(super) fn ready_in(&self, pool: PoolId, kind: SlotKind) -> impl Iterator<Item = JobId> {
        self.pools[pool.index()].ready[kind].iter().map(|key| key.job)
    }

    /// Returns the jobs of a pool that could use a slot, in the order in which they get slots.
    ///
    /// Lazy, unless reduces have an order of their own: that takes a sort.
    pub(super) fn in_order<'s>(
        &'s self,
        view: &View<'_>,
        pool: PoolId,
        kind: SlotKind,
    ) -> impl Iterator<Item = JobId> + use<'s> {
        self.reduces.in_order(kind, view, self.ready_in(pool, kind), move |job| {
            self.jobs.get(&job)?.runnable_since
        })
    }

    /// Reports the jobs that may not run yet, or whose pool has all slots allotted to it.
    pub(super) fn withheld(&self, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        let mut jobs: Vec<(&JobId, &SharingJob)> = self.jobs.iter().collect();
        jobs.sort_unstable_by_key(|(job, _)| **job);
        for (job, member) in jobs {
            let pool = &self.pools[member.pool.index()];
            for kind in SlotKind::BOTH {
                let (held, most) = (pool.tasks[kind].running, pool.limit[kind]);
                let share = Some(SlotShare::of(most.into()));
                if member.runnable_since.is_none() {
                    say(*job, kind, self.line.refusal());
                } else if pool.told_by[kind] == self.allotments && most <= held {
                    say(
                        *job,
                        kind,
                        Reason::GroupLimit(SlotStanding { share, ..SlotStanding::of(held) }),
                    );
                }
            }
        }
    }

    pub(super) fn holdings(&self, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        for (number, pool) in (0..).zip(&self.pools) {
            say(&pool.name, self.standing(PoolId(number), kind));
        }
    }

    /// Adds a job. It counts from the next round on.
    pub(super) fn enter(&mut self, job: &Job) {
        let own = self.tree.place(self.options.pool_by.of(job.spec()));
        self.make_states();
        let mut total = PerSlot::of(|kind| job.tasks(kind).total());
        mutated!((), "mfair/size-of-all" => total.map += total.reduce);
        // Rounds decide which size is small; a new job of that size is small at once.
        let is_small = mutated!(self.small_maps == Some(total.map), "mfair/joins-late" => false);
        let member = SharingJob {
            own,
            pool: if is_small { SHARED } else { own },
            came_with: job.priority(),
            priority: job.priority(),
            arrived: job.submitted_at(),
            total,
            tasks: PerSlot::default(),
            runnable_since: None,
            locality: None,
            key: PerSlot::default(),
        };
        self.line.enter(job, own);
        self.classes.enter(job.id(), total);
        self.jobs.insert(job.id(), member);
    }

    pub(super) fn alter(&mut self, view: &View<'_>, job: &Job) {
        let id = job.id();
        // Subtract it from the sums of its old pool; `move_job` adds it to those of the new one.
        self.withdraw(id);
        let Some(member) = self.jobs.get_mut(&id) else { return };
        self.line.leave(id, member.came_with, member.arrived);
        let own = self.tree.place(self.options.pool_by.of(job.spec()));
        member.own = own;
        (member.came_with, member.priority) = (job.priority(), job.priority());
        self.line.enter(job, own);
        self.make_states();
        self.move_job(view, id);
    }

    /// Reads the pools again, and makes all decisions anew.
    pub(super) fn reload(&mut self, view: &View<'_>, allocations: &Pools) {
        self.options.allocations = allocations.clone();
        let pools = allocations;
        self.tree.reload(pools);
        self.line.reload(pools);
        self.make_states();
        // No sum may mix old and new values, so the jobs leave their pools meanwhile.
        let mut jobs: Vec<JobId> = self.jobs.keys().copied().collect();
        jobs.sort_unstable();
        jobs.iter().for_each(|job| self.withdraw(*job));
        for id in self.tree.ids().filter(|id| *id != SHARED) {
            let (pool, node) = (&mut self.pools[id.index()], self.tree.pool(id));
            (pool.weight, pool.order) = (node.weight, node.order);
            (pool.min, pool.max) = (node.min, node.max);
        }
        jobs.iter().for_each(|job| self.refresh(view, *job));
        self.round(view);
    }

    pub(super) fn leave(&mut self, job: JobId) {
        // Subtract the job from the sums of its pool before it is forgotten.
        self.withdraw(job);
        let Some(member) = self.jobs.remove(&job) else { return };
        self.line.leave(job, member.came_with, member.arrived);
        self.classes.leave(job, member.total);
    }

    pub(super) fn refresh(&mut self, view: &View<'_>, id: JobId) {
        let (Some(job), Some(member)) = (view.job(id), self.jobs.get(&id)) else { return };
        let is_runnable = mutated!(member.runnable_since.is_some(), "mfair/all-pending" => true);
        for kind in SlotKind::BOTH {
            let pending = if is_runnable { self.reduces.pending(job, kind) } else { 0 };
            self.count(id, kind, SharingTasks { running: job.tasks(kind).running(), pending });
        }
    }

    /// Notes a launch, which changes the job's priority and its pool's position.
    pub(super) fn launched(&mut self, view: &View<'_>, launched: Launched) {
        let id = launched.attempt.job();
        let Some(member) = self.jobs.get_mut(&id) else { return };
        self.launches += 1;
        self.pools[member.pool.index()].last_launch = self.launches;
        // The first map has no earlier map to compare with. A map without input has no locality.
        if let Some(now) = launched.locality
            && let Some(before) = mutated!(
                member.locality.replace(now),
                "mfair/from-node" => member.locality.replace(now).or(Some(Locality::Node)),
                "mfair/first-locality" => member.locality.or_else(|| member.locality.replace(now)),
            )
        {
            let from = mutated!(member.priority, "mfair/from-first-priority" => member.came_with);
            member.priority = self.options.priority_adjustment.after(from, before, now);
        }
        self.refresh(view, id);
    }

    /// Sets a job's counts to zero, so that it can be removed or moved.
    fn withdraw(&mut self, job: JobId) {
        SlotKind::BOTH.into_iter().for_each(|kind| self.count(job, kind, SharingTasks::default()));
    }

    /// Updates a job's counts, and the positions of the job and its pool.
    fn count(&mut self, id: JobId, kind: SlotKind, tasks: SharingTasks) {
        let Some(member) = self.jobs.get_mut(&id) else { return };
        let at = member.pool;
        let pool = &mut self.pools[at.index()];
        let was = mem::replace(&mut member.tasks[kind], tasks);
        let needed = pool.need(kind, self.options.maximum);
        // The shared pool has slots of its own and takes no part in allotments.
        if at != SHARED {
            // The last allotment depends on the need before this change, so read it first.
            pool.hear(kind, needed, self.share[kind], self.allotments);
        }
        let all = &mut pool.tasks[kind];
        all.running = all.running - was.running + tasks.running;
        all.pending = all.pending - was.pending + tasks.pending;
        let needs = pool.need(kind, self.options.maximum);
        if at != SHARED && needed != needs {
            self.needs[kind].change(needed, needs);
            self.changed[kind].insert(at);
        }
        self.running[kind] = self.running[kind] - was.running + tasks.running;
        self.has_freed |= tasks.running < was.running;
        let key = member.key_in(pool.order, id, kind, self.options.sorting);
        move_entry(&mut pool.ready[kind], mem::replace(&mut member.key[kind], key), key);
        self.place_pool(at, kind);
    }

    fn place_pool(&mut self, id: PoolId, kind: SlotKind) {
        step();
        let pool = &mut self.pools[id.index()];
        let key = pool.key(id, kind, self.options.sorting);
        if pool.key[kind] != key {
            move_entry(&mut self.ready[kind], mem::replace(&mut pool.key[kind], key.clone()), key);
        }
    }

    /// Makes all decisions until the next round. Takes O(n log n) for the pools that have changed
    /// and the jobs that are moved; if jobs have come or ended and there are limits, also walks
    /// along the queue.
    pub(super) fn round(&mut self, view: &View<'_>) {
        self.classify(view);
        self.choose_runnable(view);
        self.allot(view);
    }

    /// Moves small jobs into the shared pool, and other jobs back into their own pools.
    fn classify(&mut self, view: &View<'_>) {
        // "The average number of map slots configured in a slave node" (section 3.1).
        let kind = mutated!(SlotKind::Map, "mfair/by-reduce-slots" => SlotKind::Reduce);
        let nodes = mutated!(view.trackers().max(1), "mfair/by-all-slots" => 1);
        let per_node = f64::from(view.capacity(kind)) / f64::from(nodes);
        let small = if self.options.classification { self.classes.small(per_node) } else { None };
        let shared = &mut self.pools[SHARED.index()];
        let (none, all) = (PerSlot::default(), PerSlot { map: u32::MAX, reduce: u32::MAX });
        (shared.min, shared.max) = match small {
            // Section 3.2: the shared pool gets exactly this many slots.
            Some(SmallJobs { slots, .. }) if self.options.pool_allocation => mutated!(
                (slots, slots),
                "mfair/shared-without-minimum" => (none, slots),
                "mfair/shared-without-maximum" => (slots, all),
            ),
            _ => (none, all),
        };
        let (were, are) = (self.small_maps, small.map(|small| small.maps));
        self.small_maps = mutated!(are, "mfair/small-for-ever" => were.or(are));
        // Move only the jobs of these two sizes; all other jobs stay in their pools.
        if were != self.small_maps {
            for maps in [were, are].into_iter().flatten() {
                self.classes.of(maps).into_iter().for_each(|job| self.move_job(view, job));
            }
        }
    }

    /// Moves a job into the shared pool or back into its own pool, by its size.
    fn move_job(&mut self, view: &View<'_>, id: JobId) {
        // Subtract it from the sums of its old pool; `refresh` adds it to those of the new one.
        self.withdraw(id);
        let Some(member) = self.jobs.get_mut(&id) else { return };
        let own = mutated!(member.own, "mfair/never-back" => member.pool);
        member.pool = if self.small_maps == Some(member.total.map) { SHARED } else { own };
        self.refresh(view, id);
    }

    /// Decides which jobs may run, by the priorities with which they came.
    fn choose_runnable(&mut self, view: &View<'_>) {
        let Self { line, tree, jobs, .. } = self;
        // Collect the jobs first, since counting a job needs all of `self`.
        let mut changed = Vec::new();
        line.choose(tree, |job, is_runnable| {
            if let Some(member) = jobs.get_mut(&job)
                && member.runnable_since.is_some() != is_runnable
            {
                member.runnable_since = is_runnable.then(|| view.now());
                changed.push(job);
            }
        });
        changed.into_iter().for_each(|job| self.refresh(view, job));
    }

    /// Allots slots anew if some have become free since the last allotment.
    pub(super) fn allot_freed(&mut self, view: &View<'_>) {
        if self.has_freed && mutated!(self.options.pool_allocation, "mfair/freed-wait" => false) {
            self.allot(view);
        }
    }

    /// Computes the demands of all pools, and the limits of the pools that have changed. Any other
    /// pool keeps its position, and reads its limit when it changes.
    fn allot(&mut self, view: &View<'_>) {
        self.has_freed = false;
        self.allotments += 1;
        for kind in SlotKind::BOTH {
            self.allot_slots(kind, view.capacity(kind));
            self.place_pool(SHARED, kind);
            for id in mem::take(&mut self.changed[kind]) {
                let pool = &mut self.pools[id.index()];
                let need = pool.need(kind, self.options.maximum);
                pool.hear(kind, need, self.share[kind], self.allotments);
                self.place_pool(id, kind);
            }
        }
    }

    fn allot_slots(&mut self, kind: SlotKind, capacity: u32) {
        // Slots that are kept for small jobs are not free.
        let taken = self.running[kind] + self.kept(kind);
        let slots = mutated!(capacity.saturating_sub(taken), "mfair/all-are-free" => capacity);
        let (shared, needs) = (&mut self.pools[SHARED.index()], &self.needs[kind]);
        let SharingTasks { running, pending: small } = shared.tasks[kind];
        let pending = mutated!(
            needs.pending,
            "mfair/parts-with-shared" => needs.pending + u64::from(small),
            "mfair/reduces-by-maps" => self.needs[SlotKind::Map].pending,
        );
        // If slots are not divided, each pool may have its maximum, as in `fair`.
        let share =
            if self.options.pool_allocation { Share::Free { slots, pending } } else { Share::All };
        self.share[kind] = share;
        shared.hear(kind, shared.need(kind, self.options.maximum), Share::All, self.allotments);
        // A pool's demand is at least its running tasks.
        let shared_lacks = shared.demand[kind] - running;
        self.demand[kind] = self.running[kind] + shared_lacks + needs.lacking(share);
    }
}

impl SharingPool {
    /// Returns a pool that is made after an allotment. Its limit is zero until the next one.
    fn new(tree: &PoolTree, id: PoolId, allotment: u64) -> Self {
        let pool = tree.pool(id);
        Self {
            name: pool.name.clone(),
            weight: pool.weight,
            order: pool.order,
            min: pool.min,
            max: pool.max,
            told_by: PerSlot { map: allotment, reduce: allotment },
            ..Self::default()
        }
    }

    fn need(&self, kind: SlotKind, maximum: Maximum) -> PoolNeed {
        let SharingTasks { running, pending } = self.tasks[kind];
        let of = mutated!(kind, "mfair/bounds-of-maps" => SlotKind::Map);
        PoolNeed { running, pending, min: self.min[of], max: self.max[of], maximum }
    }

    /// Computes the limit and the demand from an allotment and the need at its time.
    fn hear(&mut self, kind: SlotKind, need: PoolNeed, share: Share, allotment: u64) {
        // Only the first call counts: later the pool may have another need.
        let is_new = mem::replace(&mut self.told_by[kind], allotment) != allotment;
        if mutated!(is_new, "mfair/limit-again" => true) {
            self.limit[kind] = need.limit(share);
            self.demand[kind] = need.demand(self.limit[kind]);
        }
    }

    /// Returns the pool's position; `None` if it could not use a slot or may not have one.
    fn key(&self, id: PoolId, kind: SlotKind, sorts: bool) -> Option<SharingKey> {
        self.ready[kind].first()?;
        let (limit, running) = (self.limit[kind], self.tasks[kind].running);
        let may = mutated!(running < limit, "mfair/one-above-limit" => running <= limit);
        may.then(|| match mutated!(sorts, "mfair/pools-as-fair" => false) {
            true => SharingKey::by_need(self, id, kind),
            false => SharingKey::by_share(self, id, kind),
        })
    }
}

impl SharingJob {
    /// Returns the job's position in a pool with this order; `None` if it could not use a slot. In
    /// `fifo` pools, jobs stay in the order of the priorities with which they came, since sorting
    /// by need replaces only the order by fair shares.
    fn key_in(&self, order: JobOrder, job: JobId, kind: SlotKind, sorts: bool) -> Option<JobKey> {
        let tasks = self.tasks[kind];
        if tasks.pending == 0 {
            return None;
        }
        let in_line = |priority| JobKey::in_line(priority, self.arrived, job);
        Some(match order {
            JobOrder::Fifo => in_line(mutated!(
                self.came_with,
                "mfair/line-by-priority" => self.priority,
                "mfair/line-by-arrival" => Priority::Normal,
            )),
            JobOrder::Fair if mutated!(sorts, "mfair/jobs-as-fair" => false) => {
                let needs = mutated!(tasks, "mfair/needs-of-maps" => self.tasks[SlotKind::Map]);
                in_line(self.priority).by_need(needs)
            }
            JobOrder::Fair => in_line(self.priority).by_share(tasks.running),
        })
    }
}
