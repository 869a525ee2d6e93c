//! The pools in a run: their running tasks, the jobs that could use a slot, and the order in which
//! pools and jobs are served.
//!
//! Each pool keeps its jobs and child pools sorted in the order in which they get slots. So the
//! next job is found by a walk down the tree, and a change takes time logarithmic in the pool's
//! size on each level. An offer sorts nothing.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use super::unserved_jobs::{UnservedJobs, UnservedPage};
use super::{FairOptions, FairVariant};
use crate::scheduler::shared::delay::Delay;
use crate::scheduler::shared::job_queue::JobQueue;
use crate::scheduler::shared::line::move_entry;
use crate::scheduler::shared::names::SortName;
use crate::scheduler::shared::pool_tree::{PoolId, PoolTree};
use crate::scheduler::shared::pools::{JobOrder, Pools};
use crate::scheduler::shared::reduces::Reduces;
use crate::scheduler::shared::share::{NewJobBoost, weight};
use mumakil_base::dense::grown;
use mumakil_base::mutated;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    Job, JobId, Offer, PerSlot, Priority, Reason, SlotKind, SlotShare, SlotStanding, View,
};

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) pools: PoolTree,
    states: Vec<PoolState>,
    /// The jobs by number; `None` for jobs that are unknown or have ended.
    jobs: Vec<Option<Box<Member>>>,
    line: JobQueue,
    /// A job's demand is computed at every change in the paper, at updates in Hadoop.
    variant: FairVariant,
    weighs_size: bool,
    boost: Option<NewJobBoost>,
    /// The new jobs, each with the instant from which it is no longer new.
    boosted: BTreeSet<(SimTime, JobId)>,
    pub(super) reduces: Reduces,
    /// The jobs whose demand is to be computed at the next update.
    stale: BTreeSet<JobId>,
    /// The ended jobs, which in Hadoop still count until the next update.
    ended: Vec<JobId>,
    /// The pools with jobs without maps that the last offer asked.
    passed: Vec<PoolId>,
}

#[derive(Debug, Default)]
pub(super) struct PoolState {
    name: SortName,
    /// The number of running attempts of its jobs.
    pub(super) running: PerSlot<u32>,
    /// The sum of the demands of its jobs and child pools.
    sum: PerSlot<u64>,
    /// The number of tasks that it demands: `sum`, at most the pool's maximum.
    pub(super) demand: PerSlot<u32>,
    /// Its minimum share in slots; scaled down to the cluster in the paper's variant.
    pub(super) min_share: PerSlot<u32>,
    /// When the first job of the pool made it; the start of the run for a declared pool.
    pub(super) made_at: SimTime,
    /// Its jobs, from their setup until their end; in Hadoop, until the update after their end.
    jobs: BTreeSet<JobId>,
    /// Its jobs that have a task to launch and may launch it, the next job first.
    ready_jobs: PerSlot<BTreeSet<Key>>,
    /// The pool's child pools that are asked for tasks, the next pool first.
    ready_pools: PerSlot<BTreeSet<PoolKey>>,
    /// Its jobs that count as asked for maps although they have none to launch.
    vain: UnservedJobs,
    /// Its position in `ready_pools` of its parent; `None` while it is not asked for tasks.
    key: PerSlot<Option<PoolKey>>,
}

#[derive(Debug)]
struct Member {
    pool: PoolId,
    priority: Priority,
    arrived: SimTime,
    /// The job's id as text, if ties between jobs are decided by id.
    id: Option<Arc<str>>,
    /// When the job became runnable; `None` while it is not.
    runnable_since: Option<SimTime>,
    weight: PerSlot<f64>,
    running: PerSlot<u32>,
    demand: PerSlot<u32>,
    key: PerSlot<Option<Key>>,
    /// The first entry of the journal that has not been counted as waiting time of the job. `None`
    /// if the job is not asked for maps or has a map to launch.
    vain_since: Option<UnservedPage>,
}

/// The position of a job among the asked jobs of its pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The first criterion: the priority, or the [bits](bits) of a ratio.
    measure: u64,
    arrived: SimTime,
    /// The job's id, if ties are decided by id: Hadoop compares ids as texts.
    id: Option<Arc<str>>,
    job: JobId,
    /// Whether the job has no task to launch; behind the unique `job` it decides nothing.
    is_unserved: bool,
}

/// The position of a pool among the asked child pools of its parent.
///
/// The type is small, since keys are compared about ten times whenever a job of the pool launches
/// or ends a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PoolKey {
    /// The [bits](bits) of a ratio with [`PoolKey::SERVED`] set or not, or a number below them.
    measure: u64,
    name: SortName,
    pool: PoolId,
}

impl PoolKey {
    /// Set if the pool has its minimum share, or all of it that it demands.
    // The sign bit is free, because ratios are not negative. It sorts served pools last.
    const SERVED: u64 = 1 << 63;
}

impl Tree {
    pub(super) fn new(pools: &Pools, options: &FairOptions, reduces: Reduces) -> Self {
        let mut tree = Self {
            pools: PoolTree::new(pools),
            states: Vec::new(),
            jobs: Vec::new(),
            line: JobQueue::new(pools),
            variant: options.variant,
            weighs_size: options.size_based_weight,
            boost: options.new_job_boost.clone(),
            boosted: BTreeSet::new(),
            reduces,
            stale: BTreeSet::new(),
            ended: Vec::new(),
            passed: Vec::new(),
        };
        tree.make_states(SimTime::ZERO);
        tree
    }

    fn make_states(&mut self, made_at: SimTime) {
        for id in self.pools.ids_from(self.states.len()) {
            let pool = self.pools.pool(id);
            let (name, min_share) = (SortName::new(&pool.name), pool.min);
            self.states.push(PoolState { name, min_share, made_at, ..PoolState::default() });
        }
    }

    pub(super) fn state(&self, pool: PoolId) -> &PoolState {
        &self.states[pool.index()]
    }

    pub(super) fn standing(&self, pool: PoolId, kind: SlotKind) -> SlotStanding {
        let state = self.state(pool);
        SlotStanding { min_share: state.min_share[kind], ..SlotStanding::of(state.running[kind]) }
    }

    pub(super) fn jobs_of(&self, pool: PoolId) -> impl Iterator<Item = JobId> {
        self.state(pool).jobs.iter().copied()
    }

    pub(super) fn runnable_since(&self, job: JobId) -> Option<SimTime> {
        self.jobs.get(job.index())?.as_ref()?.runnable_since
    }

    pub(super) fn ready_pools(&self, pool: PoolId, kind: SlotKind) -> impl Iterator<Item = PoolId> {
        self.state(pool).ready_pools[kind].iter().map(|key| key.pool)
    }

    /// Returns the jobs of a pool with a task to launch and their positions, in order.
    pub(super) fn places(
        &self,
        pool: PoolId,
        kind: SlotKind,
    ) -> impl Iterator<Item = (JobId, &Key)> {
        self.state(pool).ready_jobs[kind].iter().map(|key| (key.job, key))
    }

    pub(super) fn has_unserved_jobs(&self) -> bool {
        self.variant == FairVariant::Hadoop
    }

    /// Returns the jobs of a pool that have a task to launch, in the order in which they get slots.
    ///
    /// Lazy, unless reduces have an order of their own: that takes a sort.
    pub(super) fn in_order<'t>(
        &'t self,
        view: &View<'_>,
        pool: PoolId,
        kind: SlotKind,
    ) -> impl Iterator<Item = JobId> + use<'t> {
        let jobs = self.places(pool, kind).map(|(job, _)| job);
        self.reduces.in_order(kind, view, jobs, move |job| self.runnable_since(job))
    }

    /// Reports the jobs that may not run yet, or with a pool at its maximum around them.
    pub(super) fn withheld(&self, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        let members = (0..).map(JobId).zip(&self.jobs);
        for (job, member) in members.filter_map(|(job, member)| Some((job, member.as_ref()?))) {
            for kind in SlotKind::BOTH {
                if member.runnable_since.is_none() {
                    say(job, kind, self.line.refusal());
                } else if let Some(full) = self.full_around(member.pool, kind) {
                    say(job, kind, Reason::GroupLimit(full));
                }
            }
        }
    }

    /// Returns the slots and the maximum of the first pool at its maximum, upwards.
    fn full_around(&self, pool: PoolId, kind: SlotKind) -> Option<SlotStanding> {
        self.pools.upwards(pool).find_map(|id| {
            let (most, held) = (self.pools.pool(id).max[kind], self.state(id).running[kind]);
            let share = Some(SlotShare::of(most.into()));
            (most <= held).then_some(SlotStanding { share, ..SlotStanding::of(held) })
        })
    }

    /// Adds a job. In Hadoop it counts from the next update on.
    pub(super) fn enter(&mut self, job: &Job, pool: &str) {
        let pool = self.pools.place(pool);
        self.make_states(job.submitted_at());
        // With limits, the job must wait for the next update, which walks along the queue of jobs.
        let may_run = self.variant == FairVariant::Paper && !self.line.is_limited;
        let member = Member {
            pool,
            priority: job.priority(),
            arrived: job.submitted_at(),
            id: job.spec().traced_id(),
            runnable_since: may_run.then(|| job.running_at()),
            // In Hadoop a job that may not run yet has the weight 1.
            weight: PerSlot { map: 1.0, reduce: 1.0 },
            running: PerSlot::default(),
            demand: PerSlot::default(),
            key: PerSlot::default(),
            vain_since: None,
        };
        self.boosted.extend(self.boost.as_ref().map(|it| (it.end(member.arrived), job.id())));
        self.states[pool.index()].jobs.insert(job.id());
        self.line.enter(job, pool);
        self.keep(job.id(), Box::new(member));
    }

    /// Removes a job that has ended. In Hadoop it is no longer asked, but its demand and its
    /// running tasks count until the next update.
    pub(super) fn leave(&mut self, view: &View<'_>, job: JobId, delay: &mut Delay) {
        match self.variant {
            FairVariant::Paper => self.forget(job, None),
            FairVariant::Hadoop => {
                // In Hadoop the old demand counts until the next update.
                self.refresh_job(view, job, false, delay);
                self.ended.push(job);
            }
        }
    }

    /// Puts a job whose priority or pool has changed at its new place. Whether it may run is decided
    /// at the next update.
    pub(super) fn alter(&mut self, job: &Job, pool: &str, delay: &mut Delay) {
        let id = job.id();
        let Some(Some(member)) = self.jobs.get(id.index()) else { return };
        let since = member.runnable_since;
        self.forget(id, Some(delay));
        self.enter(job, pool);
        if let Some(Some(member)) = self.jobs.get_mut(id.index()) {
            member.runnable_since = since;
        }
        self.stale.insert(id);
    }

    /// Reads the pools again. The next update counts all jobs anew.
    pub(super) fn reload(&mut self, pools: &Pools, now: SimTime) {
        self.pools.reload(pools);
        self.line.reload(pools);
        self.make_states(now);
        // Children come after their parents, so their demands are set before.
        for id in self.pools.ids().rev() {
            let pool = self.pools.pool(id);
            for kind in SlotKind::BOTH {
                let inside = pool.children.iter().map(|id| &self.states[id.index()]);
                let sum: u64 = inside.map(|state| u64::from(state.demand[kind])).sum();
                let state = &mut self.states[id.index()];
                if !pool.children.is_empty() || id == PoolId::ROOT {
                    state.sum[kind] = sum;
                }
                let all = u32::try_from(state.sum[kind]).unwrap_or(u32::MAX);
                state.demand[kind] = all.min(pool.max[kind]);
                state.min_share[kind] = pool.min[kind];
            }
        }
        let members = (0..).map(JobId).zip(&self.jobs);
        self.stale.extend(members.filter_map(|(id, member)| member.is_some().then_some(id)));
    }

    pub(super) fn place_all_pools(&mut self) {
        for id in self.pools.ids() {
            SlotKind::BOTH.into_iter().for_each(|kind| self.place_pools(id, kind));
        }
    }

    fn forget(&mut self, job: JobId, mut delay: Option<&mut Delay>) {
        let Some(mut member) = self.take(job) else { return };
        self.line.leave(job, member.priority, member.arrived);
        if let Some(boost) = &self.boost {
            self.boosted.remove(&(boost.end(member.arrived), job));
        }
        self.states[member.pool.index()].jobs.remove(&job);
        self.stale.remove(&job);
        for kind in SlotKind::BOTH {
            // The sums of all pools around must no longer contain the job.
            self.count(&mut member, kind, 0);
            self.demand(&mut member, kind, 0);
            self.place(&mut member, kind, None, delay.as_deref_mut());
            self.place_pools(member.pool, kind);
        }
    }

    pub(super) fn refresh(&mut self, view: &View<'_>, job: JobId, delay: &mut Delay) {
        // Hadoop computes demand only at updates, so note the job for the next update.
        let is_stale = self.variant == FairVariant::Hadoop;
        if is_stale && self.jobs.get(job.index()).is_some_and(Option::is_some) {
            self.stale.insert(job);
        }
        self.refresh_job(view, job, !is_stale, delay);
    }

    fn refresh_job(&mut self, view: &View<'_>, id: JobId, measures: bool, delay: &mut Delay) {
        let Some(job) = view.job(id) else { return };
        // Taken out of the list, so that the code below may change pools.
        let Some(mut member) = self.take(id) else { return };
        for kind in SlotKind::BOTH {
            let mut is_new = self.count(&mut member, kind, job.tasks(kind).running());
            if measures {
                is_new |= self.measure(&mut member, view.now(), job, kind);
            }
            let is_asked = member.runnable_since.is_some() && self.is_asked(job, kind);
            let is_unserved = self.reduces.pending(job, kind) == 0;
            let stands = member.key[kind].as_ref().map(|key| key.is_unserved);
            // Most changes concern only the other kind of slot.
            if !is_new && !measures && stands == is_asked.then_some(is_unserved) {
                continue;
            }
            let key = is_asked.then(|| self.key_of(&member, id, kind, is_unserved));
            // The waiting time of an ended job no longer matters.
            let delay = job.is_running().then_some(&mut *delay);
            is_new |= self.place(&mut member, kind, key, delay);
            if is_new {
                self.place_pools(member.pool, kind);
            }
        }
        self.keep(id, member);
    }

    fn take(&mut self, job: JobId) -> Option<Box<Member>> {
        self.jobs.get_mut(job.index())?.take()
    }

    fn keep(&mut self, job: JobId, member: Box<Member>) {
        *grown(&mut self.jobs, job.index()) = Some(member);
    }

    /// Returns whether a job is asked for tasks of a kind. Hadoop asks a running job for maps even
    /// if it has none to launch. An offer passes such a job over like a job that waits for its
    /// input. So if one of its maps fails later, that map may run anywhere.
    fn is_asked(&self, job: &Job, kind: SlotKind) -> bool {
        let is_asked_in_vain = self.has_unserved_jobs() && kind == SlotKind::Map;
        is_asked_in_vain && job.is_running() || 0 < self.reduces.pending(job, kind)
    }

    /// Computes the demand and the weight of a job. Returns whether the demand has changed.
    fn measure(&mut self, member: &mut Member, now: SimTime, job: &Job, kind: SlotKind) -> bool {
        let is_runnable = member.runnable_since.is_some();
        let wanted = job.tasks(kind).running() + self.reduces.pending(job, kind);
        let demand = if is_runnable { wanted } else { 0 };
        let is_new = self.demand(member, kind, demand);
        self.weigh(member, now, kind);
        is_new
    }

    fn weigh(&self, member: &mut Member, now: SimTime, kind: SlotKind) {
        // A demand of 0 may give the weight 0; `bits` handles the division by it.
        let demand = self.weighs_size.then_some(member.demand[kind]);
        let boost = NewJobBoost::factor_of(self.boost.as_ref(), member.arrived, now);
        let is_runnable = member.runnable_since.is_some();
        let weight = weight(member.priority, demand) * boost;
        member.weight[kind] = if is_runnable { weight } else { 1.0 };
    }

    /// Weighs the jobs anew that are no longer new. As in Hadoop, this does not wait for an update.
    pub(super) fn end_boosts(&mut self, now: SimTime, delay: &mut Delay) {
        while self.boosted.first().is_some_and(|(end, _)| *end <= now) {
            let Some((_, id)) = self.boosted.pop_first() else { return };
            let Some(mut member) = self.take(id) else { continue };
            for kind in SlotKind::BOTH {
                self.weigh(&mut member, now, kind);
                if let Some(is_unserved) = member.key[kind].as_ref().map(|key| key.is_unserved) {
                    let key = self.key_of(&member, id, kind, is_unserved);
                    self.place(&mut member, kind, Some(key), Some(&mut *delay));
                }
            }
            self.keep(id, member);
        }
    }

    fn key_of(&self, member: &Member, job: JobId, kind: SlotKind, is_unserved: bool) -> Key {
        let measure = match self.pools.pool(member.pool).order {
            // The highest priority has the lowest number.
            JobOrder::Fifo => mutated!(member.priority as u64, "pools/line-by-arrival" => 0),
            // In Hadoop jobs have no minimum shares, so this ratio alone decides.
            JobOrder::Fair => {
                let running = f64::from(member.running[kind]);
                bits(mutated!(
                    running / member.weight[kind],
                    "jobs/unweighted" => running,
                    "jobs/most-first" => 1e9 - running,
                ))
            }
        };
        let arrived = mutated!(
            member.arrived,
            "jobs/latest-first" => SimTime::ZERO + (SimTime::NEVER - member.arrived),
        );
        Key { measure, arrived, id: member.id.clone(), job, is_unserved }
    }

    /// Sets the number of running tasks of a job. Returns whether the number has changed.
    fn count(&mut self, member: &mut Member, kind: SlotKind, running: u32) -> bool {
        let was = mem::replace(&mut member.running[kind], running);
        let mut pool = Some(member.pool);
        while let Some(id) = pool.filter(|_| was != running) {
            let all = &mut self.states[id.index()].running[kind];
            // Subtract first, so that the sum never falls below zero.
            *all = *all - was + running;
            pool = self.pools.pool(id).parent;
        }
        was != running
    }

    /// Sets the demand of a job. Returns whether the demand has changed.
    fn demand(&mut self, member: &mut Member, kind: SlotKind, demand: u32) -> bool {
        let mut was = mem::replace(&mut member.demand[kind], demand);
        let mut now = demand;
        let is_new = was != now;
        let mut pool = Some(member.pool);
        while let Some(id) = pool.filter(|_| was != now) {
            let most = self.pools.pool(id).max[kind];
            let state = &mut self.states[id.index()];
            state.sum[kind] = state.sum[kind] - u64::from(was) + u64::from(now);
            // A pool demands at most its maximum, and adds only this demand to the pool around it.
            let most = mutated!(most, "pools/demand-beyond-maximum" => u32::MAX);
            now = u32::try_from(state.sum[kind]).unwrap_or(u32::MAX).min(most);
            was = mem::replace(&mut state.demand[kind], now);
            pool = self.pools.pool(id).parent;
        }
        is_new
    }

    /// Moves a job to a position in its pool. Before that, counts the offers that have passed the
    /// job over at its old position. Returns whether the position has changed.
    fn place(
        &mut self,
        member: &mut Member,
        kind: SlotKind,
        key: Option<Key>,
        delay: Option<&mut Delay>,
    ) -> bool {
        if member.key[kind] == key {
            return false;
        }
        let state = &mut self.states[member.pool.index()];
        let was = mem::replace(&mut member.key[kind], key.clone());
        // Jobs without a task to launch are asked only for maps.
        if let Some(was) = was.as_ref().filter(|was| was.is_unserved) {
            // The journal's entries refer to positions, so read it at the old one.
            if let (Some(delay), Some(page)) = (delay, member.vain_since.take()) {
                delay.note_passes(was.job, state.vain.since(page, was));
            }
            state.vain.leave();
        }
        if key.as_ref().is_some_and(|key| key.is_unserved) {
            member.vain_since = Some(state.vain.enter());
        }
        let waits = |key: &Key| !key.is_unserved;
        move_entry(&mut state.ready_jobs[kind], was.filter(waits), key.filter(waits));
        true
    }

    /// Begins an offer, where the wait of jobs that the last offer passed over ends.
    pub(super) fn begin(&mut self, now: SimTime, delay: &mut Delay) {
        let Self { passed, states, jobs, .. } = self;
        for pool in passed.drain(..) {
            let PoolState { vain, jobs: members, .. } = &mut states[pool.index()];
            vain.begin(now);
            // Reading for all jobs is expensive, so only a long journal is shortened.
            if !vain.are_many(members.len()) {
                continue;
            }
            for id in members.iter() {
                let Some(Some(member)) = jobs.get_mut(id.index()) else { continue };
                if let (Some(page), Some(key)) = (&mut member.vain_since, &member.key.map) {
                    delay.note_passes(*id, vain.since(*page, key));
                    *page = vain.last_page();
                }
            }
            vain.forget();
        }
    }

    /// Notes that the offer passes over the jobs without maps before `up_to`, or all.
    pub(super) fn pass_over(
        &mut self,
        offer: &mut Offer<'_>,
        pool: PoolId,
        up_to: Option<Key>,
        anywhere: bool,
    ) {
        // Hadoop asks these jobs one by one, so the JobTracker is charged for them.
        offer.look_past(|| {
            if !self.state(pool).vain.are_there() {
                return 0;
            }
            let jobs = self.jobs_of(pool).filter_map(|id| self.jobs.get(id.index())?.as_ref());
            let keys = jobs.filter_map(|member| member.key.map.as_ref());
            let is_passed = |key: &Key| up_to.as_ref().is_none_or(|up_to| key < up_to);
            keys.filter(|key| key.is_unserved && is_passed(key)).count() as u32
        });
        // A job with a map to launch must really be asked; otherwise it would starve.
        debug_assert!(
            self.jobs_of(pool).all(|id| {
                let key = self.jobs[id.index()].as_ref().and_then(|member| member.key.map.as_ref());
                let has_map =
                    offer.view().job(id).is_some_and(|job| 0 < job.pending(SlotKind::Map));
                !key.is_some_and(|key| key.is_unserved) || !has_map
            }),
            "{}: a job is asked in vain that has a map to launch",
            offer.view().now()
        );
        self.states[pool.index()].vain.pass_over(offer.view().now(), up_to, anywhere);
        self.passed.push(pool);
    }

    /// Moves a pool, and each pool around it, to its position among its siblings.
    fn place_pools(&mut self, pool: PoolId, kind: SlotKind) {
        let mut pool = pool;
        while let Some(parent) = self.pools.pool(pool).parent {
            let key = self.key_of_pool(pool, kind);
            let was = mem::replace(&mut self.states[pool.index()].key[kind], key.clone());
            move_entry(&mut self.states[parent.index()].ready_pools[kind], was, key);
            pool = parent;
        }
    }

    /// Returns the position of a pool; `None` if it is not asked for tasks.
    fn key_of_pool(&self, id: PoolId, kind: SlotKind) -> Option<PoolKey> {
        let (pool, state) = (self.pools.pool(id), self.state(id));
        let running = state.running[kind];
        let has_unserved_jobs = kind == SlotKind::Map && state.vain.are_there();
        let has_ready = !state.ready_jobs[kind].is_empty() || !state.ready_pools[kind].is_empty();
        // As in Hadoop, a pool at its maximum is not asked, so its jobs are not passed over.
        let most = mutated!(pool.max[kind], "pools/no-maximum" => u32::MAX);
        if !has_ready && !has_unserved_jobs || most <= running {
            return None;
        }
        let minimum = state.min_share[kind];
        let owed =
            mutated!(minimum.min(state.demand[kind]), "pools/needy-beyond-demand" => minimum);
        // Hadoop's comparator: a pool is needy while `running < min(minShare, demand)`.
        let is_served = mutated!(owed <= running, "pools/needy-last" => true);
        // A needy pool has a right to at least one slot, so the divisor is not zero.
        let weight = mutated!(pool.weight, "pools/unweighted" => 1.0);
        let part = if is_served { weight } else { f64::from(owed) };
        let ratio = bits(f64::from(running) / part);
        let by_lack = || u64::from(u32::MAX - (owed - running));
        let measure = match self.variant {
            _ if is_served => ratio | PoolKey::SERVED,
            // Section 4.1: by "how far each pool is below its minimum share".
            FairVariant::Paper => mutated!(
                by_lack(),
                "pools/needy-by-ratio" => ratio,
                "pools/needy-nearest" => u64::from(owed - running),
            ),
            FairVariant::Hadoop => mutated!(ratio, "pools/needy-by-slots" => by_lack()),
        };
        let named = mutated!(id, "pools/tie-by-number" => PoolId::ROOT);
        let name = self.state(named).name.clone();
        Some(PoolKey { measure, name, pool: id })
    }

    /// Removes ended jobs, decides which may run, and computes the demands of changed ones.
    pub(super) fn update(&mut self, view: &View<'_>, delay: &mut Delay) {
        // As in Hadoop: first drop ended jobs, then decide which jobs may run, then compute demand.
        for job in mem::take(&mut self.ended) {
            self.forget(job, None);
        }
        let Self { line, pools, jobs, stale, .. } = self;
        line.choose(pools, |job, is_runnable| {
            let Some(Some(member)) = jobs.get_mut(job.index()) else { return };
            // A job that is still runnable keeps its instant, since SRT counts from there.
            if member.runnable_since.is_some() != is_runnable {
                member.runnable_since = is_runnable.then(|| view.now());
                stale.insert(job);
            }
        });
        // All other jobs are unchanged since the last update.
        for job in mem::take(&mut self.stale) {
            self.refresh_job(view, job, true, delay);
        }
    }

    /// Sets the minimum shares, scaled down if those of the outermost pools exceed `slots`.
    pub(super) fn scale_promises(&mut self, slots: PerSlot<u32>) {
        for kind in SlotKind::BOTH {
            // The minimum of an inner pool is a part of its outermost pool's.
            let outermost = self.pools.pool(PoolId::ROOT).children.iter();
            let min = |id: PoolId| u64::from(self.pools.pool(id).min[kind]);
            let promised: u64 = mutated!(
                outermost.copied().map(min).sum(),
                "pools/unscaled" => 0,
                "pools/inner-scaled-apart" => self.pools.ids().map(min).sum(),
            );
            let slots = u64::from(slots[kind]);
            for id in self.pools.ids() {
                let min = self.pools.pool(id).min[kind];
                let scaled = if promised <= slots {
                    u64::from(min)
                } else {
                    u64::from(min) * slots / promised
                };
                // The scaled value is at most `min`, so it fits.
                self.states[id.index()].min_share[kind] = scaled as u32;
                self.place_pools(id, kind);
            }
        }
    }
}

#[cfg(test)]
impl Key {
    /// Returns the position of a job with this first criterion.
    pub(super) fn of_job(measure: u64, job: JobId) -> Self {
        Self { measure, arrived: SimTime::ZERO, id: None, job, is_unserved: true }
    }
}

/// Returns the bits of a ratio. They sort like the ratios, since ratios are not negative. The ratio
/// 0 / 0 counts as infinite.
fn bits(ratio: f64) -> u64 {
    (if ratio.is_nan() { f64::INFINITY } else { ratio }).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(yaml: &str) -> Tree {
        let options = FairOptions { variant: FairVariant::Paper, ..FairOptions::default() };
        Tree::new(&serde_yaml::from_str(yaml).unwrap(), &options, Reduces::default())
    }

    fn promised(tree: &Tree, pools: &[&str]) -> Vec<u32> {
        let id = |name: &&str| tree.pools.find(name).unwrap();
        pools.iter().map(|name| tree.state(id(name)).min_share.map).collect()
    }

    #[test]
    fn promises_beyond_the_cluster_are_scaled_down_in_proportion() {
        let slots = |map| PerSlot { map, reduce: 0 };
        let mut pools = tree("pools: {a: {min_maps: 117}, b: {min_maps: 39}}");
        pools.scale_promises(slots(40));
        assert_eq!(promised(&pools, &["a", "b"]), [30, 10], "in proportion, three to one");
        pools.scale_promises(slots(39));
        assert_eq!(promised(&pools, &["a", "b"]), [29, 9], "rounded down");
        pools.scale_promises(slots(156));
        assert_eq!(promised(&pools, &["a", "b"]), [117, 39]);
        let mut nested =
            tree("pools: {o: {min_maps: 60, pools: {in: {min_maps: 30}}}, b: {min_maps: 20}}");
        nested.scale_promises(slots(40));
        assert_eq!(promised(&nested, &["o", "in", "b"]), [30, 15, 10]);
    }
}
