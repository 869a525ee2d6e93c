//! The jobs and pools at work: who has how much, who may have more, and who comes first.
//!
//! A round decides what holds until the next one: which jobs are small and which may run, what each
//! pool demands and how many slots it may have. In between only what runs and what is pending of each
//! job is counted, and everybody stands where that puts them: nothing is sorted when a tracker asks.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use super::ModifiedFairOptions;
use super::allotment::Need;
use super::classes::{Small, small};
use super::order::{JobKey, JobStanding, PoolKey, PoolStanding};
use super::priorities::PriorityAdjustment;
use crate::mapred::{Job, JobId, Launched, Locality, PerSlot, Priority, SlotKind, View};
use crate::scheduler::part::line::Line;
use crate::scheduler::part::pool_tree::{PoolId, PoolTree};
use crate::scheduler::part::pools::{JobOrder, Pools};
use crate::units::SimTime;

/// The pool of small jobs: that around all others, which holds no jobs otherwise.
const SHARED: PoolId = PoolId::ROOT;

/// The jobs and pools.
#[derive(Debug)]
pub(super) struct Standings {
    rules: Rules,
    tree: PoolTree,
    line: Line,
    /// By the number of the pool.
    pools: Vec<PoolState>,
    jobs: BTreeMap<JobId, Member>,
    /// The pools that could use a slot and may have one, the next one first.
    ready: PerSlot<BTreeSet<PoolKey>>,
    /// What all pools have, and what they demanded in the last round.
    running: PerSlot<u32>,
    demand: PerSlot<u32>,
    launches: u64,
    /// Whether something has changed since the last round, and the slots that there were.
    is_stale: bool,
    slots: PerSlot<u32>,
}

/// Which of the paper's mechanisms are at work here.
#[derive(Clone, Copy, Debug)]
struct Rules {
    classifies: bool,
    allots: bool,
    sorts: bool,
    priorities: PriorityAdjustment,
}

/// A pool at work.
#[derive(Debug)]
struct PoolState {
    name: Arc<str>,
    weight: f64,
    order: JobOrder,
    min: PerSlot<u32>,
    max: PerSlot<u32>,
    running: PerSlot<u32>,
    /// What was pending in the last round, what the pool demanded, and the most that it may have
    /// until the next one.
    pending: PerSlot<u32>,
    demand: PerSlot<u32>,
    limit: PerSlot<u32>,
    last_launch: u64,
    /// Its jobs that could use a slot, the next one first.
    ready: PerSlot<BTreeSet<JobKey>>,
    key: PerSlot<Option<PoolKey>>,
}

/// A job that gives tasks.
#[derive(Debug)]
struct Member {
    /// The pool that it names, and that in which it stands.
    own: PoolId,
    pool: PoolId,
    /// The priority that it came with, and that which it has now.
    came_with: Priority,
    priority: Priority,
    arrived: SimTime,
    is_runnable: bool,
    running: PerSlot<u32>,
    /// The locality of its last map with input.
    locality: Option<Locality>,
    key: PerSlot<Option<JobKey>>,
}

impl Standings {
    pub(super) fn new(pools: &Pools, options: &ModifiedFairOptions) -> Self {
        let mut standings = Self {
            rules: Rules {
                classifies: options.classification,
                allots: options.pool_allocation,
                sorts: options.sorting,
                priorities: options.priority_adjustment,
            },
            tree: PoolTree::new(pools),
            line: Line::new(pools),
            pools: Vec::new(),
            jobs: BTreeMap::new(),
            ready: PerSlot::default(),
            running: PerSlot::default(),
            demand: PerSlot::default(),
            launches: 0,
            is_stale: false,
            slots: PerSlot::default(),
        };
        standings.make_states();
        standings.pools[SHARED.index()].order = JobOrder::Fifo;
        standings
    }

    /// Makes room for the pools that are new.
    fn make_states(&mut self) {
        for id in self.tree.ids().skip(self.pools.len()) {
            self.pools.push(PoolState::new(&self.tree, id));
        }
    }

    // ---- what there is ----

    /// Returns how many tasks run, and how many pools demanded in the last round.
    pub(super) fn work(&self, kind: SlotKind) -> (u32, u32) {
        (self.running[kind], self.demand[kind])
    }

    /// Returns the jobs that could use a slot, the next one first.
    pub(super) fn ready(&self, kind: SlotKind) -> impl Iterator<Item = JobId> {
        let jobs = move |pool: &PoolKey| self.pools[pool.pool.index()].ready[kind].iter();
        self.ready[kind].iter().flat_map(jobs).map(|key| key.job)
    }

    // ---- jobs ----

    /// Takes a job in; it counts from the next round on.
    pub(super) fn enter(&mut self, job: &Job, pool: &str) {
        let pool = self.tree.place(pool);
        self.make_states();
        let member = Member {
            own: pool,
            pool,
            came_with: job.priority(),
            priority: job.priority(),
            arrived: job.submitted_at(),
            is_runnable: false,
            running: PerSlot::default(),
            locality: None,
            key: PerSlot::default(),
        };
        self.line.enter(job, pool);
        self.jobs.insert(job.id(), member);
        self.is_stale = true;
    }

    /// Lets a job go that has ended.
    pub(super) fn leave(&mut self, job: JobId) {
        let Some(mut member) = self.jobs.remove(&job) else { return };
        self.line.leave(job, member.came_with, member.arrived);
        self.is_stale = true;
        for kind in SlotKind::BOTH {
            let pool = &mut self.pools[member.pool.index()];
            pool.running[kind] -= member.running[kind];
            self.running[kind] -= member.running[kind];
            move_to(&mut pool.ready[kind], &mut member.key[kind], None);
            self.place_pool(member.pool, kind);
        }
    }

    /// Looks again at a job of which something has changed.
    pub(super) fn refresh(&mut self, view: &View<'_>, id: JobId) {
        let (Some(job), Some(member)) = (view.job(id), self.jobs.get_mut(&id)) else { return };
        self.is_stale = true;
        let at = member.pool;
        let pool = &mut self.pools[at.index()];
        for kind in SlotKind::BOTH {
            let running = job.tasks(kind).running();
            let was = mem::replace(&mut member.running[kind], running);
            pool.running[kind] = pool.running[kind] - was + running;
            self.running[kind] = self.running[kind] - was + running;
            let key = member.key_in(pool, job, kind, self.rules.sorts);
            move_to(&mut pool.ready[kind], &mut member.key[kind], key);
        }
        SlotKind::BOTH.into_iter().for_each(|kind| self.place_pool(at, kind));
    }

    /// Hears of a launch: it changes the job's priority, and whose turn it is.
    pub(super) fn launched(&mut self, view: &View<'_>, launched: Launched) {
        let id = launched.attempt.job();
        let Some(member) = self.jobs.get_mut(&id) else { return };
        self.launches += 1;
        self.pools[member.pool.index()].last_launch = self.launches;
        if let Some(now) = launched.locality
            && let Some(before) = member.locality.replace(now)
        {
            member.priority = self.rules.priorities.after(member.priority, before, now);
        }
        self.refresh(view, id);
    }

    /// Puts a pool where it belongs.
    fn place_pool(&mut self, id: PoolId, kind: SlotKind) {
        let pool = &mut self.pools[id.index()];
        let key = pool.key(id, kind, self.rules.sorts);
        move_to(&mut self.ready[kind], &mut pool.key[kind], key);
    }

    // ---- rounds ----

    /// Decides what holds until the next round, if anything has changed since the last: O(n log n) for
    /// the jobs that give tasks, and for the pools.
    pub(super) fn round(&mut self, view: &View<'_>) {
        let slots =
            PerSlot { map: view.capacity(SlotKind::Map), reduce: view.capacity(SlotKind::Reduce) };
        let is_new = mem::replace(&mut self.slots, slots) != slots;
        if !mem::take(&mut self.is_stale) && !is_new {
            return;
        }
        self.classify(view);
        self.choose_runnable();
        self.count(view);
        for kind in SlotKind::BOTH {
            self.allot(kind);
            self.ready[kind].clear();
        }
        for id in self.tree.ids() {
            SlotKind::BOTH.into_iter().for_each(|kind| self.place_pool(id, kind));
        }
    }

    /// Puts small jobs into the pool that is shared, and the others where they belong.
    fn classify(&mut self, view: &View<'_>) {
        let tasks = |id: &JobId| {
            let of = |kind| view.job(*id).map_or(0, |job| job.tasks(kind).total());
            PerSlot { map: of(SlotKind::Map), reduce: of(SlotKind::Reduce) }
        };
        let per_node = f64::from(self.slots.map) / f64::from(view.trackers().max(1));
        let few = self.rules.classifies.then(|| small(self.jobs.keys().map(tasks), per_node));
        let few = few.flatten();
        for (id, member) in &mut self.jobs {
            let is_small = few.is_some_and(|few| tasks(id).map <= few.maps);
            member.pool = if is_small { SHARED } else { member.own };
        }
        let shared = &mut self.pools[SHARED.index()];
        (shared.min, shared.max) = match few {
            Some(Small { slots, .. }) if self.rules.allots => (slots, slots),
            _ => (PerSlot::default(), PerSlot { map: u32::MAX, reduce: u32::MAX }),
        };
    }

    /// Lets jobs run by the priority that they came with, then arrival, as many as their pools and
    /// users may.
    fn choose_runnable(&mut self) {
        let Self { line, tree, jobs, .. } = self;
        line.choose(tree, |job, is_runnable| {
            if let Some(member) = jobs.get_mut(&job) {
                member.is_runnable = is_runnable;
            }
        });
    }

    /// Counts anew what pools have and lack, and puts their jobs in order.
    fn count(&mut self, view: &View<'_>) {
        self.pools.iter_mut().for_each(PoolState::clear);
        self.running = PerSlot::default();
        for (id, member) in &mut self.jobs {
            let Some(job) = view.job(*id) else { continue };
            let pool = &mut self.pools[member.pool.index()];
            for kind in SlotKind::BOTH {
                let running = job.tasks(kind).running();
                member.running[kind] = running;
                pool.running[kind] += running;
                self.running[kind] += running;
                if member.is_runnable {
                    pool.pending[kind] += job.pending(kind);
                }
                member.key[kind] = member.key_in(pool, job, kind, self.rules.sorts);
                pool.ready[kind].extend(member.key[kind]);
            }
        }
    }

    /// Says how many slots each pool may have, and what it demands within that.
    fn allot(&mut self, kind: SlotKind) {
        let shared = &self.pools[SHARED.index()];
        // What is kept for small jobs is not free.
        let kept = shared.min[kind].saturating_sub(shared.running[kind]).min(shared.pending[kind]);
        let free = self.slots[kind].saturating_sub(self.running[kind]).saturating_sub(kept);
        let others = self.pools.iter().skip(SHARED.index() + 1);
        let all_pending: u64 = others.map(|pool| u64::from(pool.pending[kind])).sum();
        for (id, pool) in (0..).map(PoolId).zip(&mut self.pools) {
            let (running, pending) = (pool.running[kind], pool.pending[kind]);
            let (min, max) = (pool.min[kind], pool.max[kind]);
            pool.limit[kind] = match id {
                SHARED => max,
                _ if self.rules.allots => {
                    Need { running, pending, min, max }.allot(free, all_pending)
                }
                _ => max,
            };
            // A limit that has fallen takes nothing away, and hides no demand of others.
            pool.demand[kind] = (running + pending).min(pool.limit[kind].max(running));
        }
        self.demand[kind] = self.pools.iter().map(|pool| pool.demand[kind]).sum();
    }
}

impl PoolState {
    fn new(tree: &PoolTree, id: PoolId) -> Self {
        let pool = tree.pool(id);
        Self {
            name: Arc::from(&*pool.name),
            weight: pool.weight,
            order: pool.order,
            min: pool.min,
            max: pool.max,
            running: PerSlot::default(),
            pending: PerSlot::default(),
            demand: PerSlot::default(),
            limit: PerSlot::default(),
            last_launch: 0,
            ready: PerSlot::default(),
            key: PerSlot::default(),
        }
    }

    /// Forgets its jobs, to be counted anew.
    fn clear(&mut self) {
        self.running = PerSlot::default();
        self.pending = PerSlot::default();
        self.ready = PerSlot::default();
        self.key = PerSlot::default();
    }

    /// Returns where the pool stands, if it could use a slot and may have one.
    fn key(&self, pool: PoolId, kind: SlotKind, sorts: bool) -> Option<PoolKey> {
        let running = self.running[kind];
        if self.ready[kind].is_empty() || self.limit[kind] <= running {
            return None;
        }
        let standing = PoolStanding {
            running,
            pending: self.pending[kind],
            demand: self.demand[kind],
            min: self.min[kind],
            weight: self.weight,
            last_launch: self.last_launch,
            name: self.name.clone(),
            pool,
        };
        Some(if sorts { standing.by_need() } else { standing.by_share() })
    }
}

impl Member {
    /// Returns where the job stands in its pool, if it could use a slot.
    fn key_in(&self, pool: &PoolState, job: &Job, kind: SlotKind, sorts: bool) -> Option<JobKey> {
        let pending = job.pending(kind);
        if !self.is_runnable || pending == 0 {
            return None;
        }
        let standing = JobStanding {
            priority: self.priority,
            running: self.running[kind],
            pending,
            arrived: self.arrived,
            job: job.id(),
        };
        // Line stays line: it is the equal shares that give way to need.
        let by_need = sorts && pool.order == JobOrder::Fair;
        Some(if by_need { standing.by_need() } else { standing.by_order(pool.order) })
    }
}

/// Moves somebody to another place, or none.
fn move_to<K: Ord + Clone>(ready: &mut BTreeSet<K>, place: &mut Option<K>, key: Option<K>) {
    if *place != key {
        if let Some(was) = mem::replace(place, key.clone()) {
            ready.remove(&was);
        }
        ready.extend(key);
    }
}
