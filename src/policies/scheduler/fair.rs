//! `fair`: HFS, the Hadoop Fair Scheduler with delay scheduling (0.21 to 1.x), and its paper's
//! variant.
//!
//! Jobs belong to pools. A free slot is passed down the tree of pools: first to pools below their
//! minimum share, then to the pool with the fewest slots for its weight. Inside a pool it goes to
//! the job with the fewest slots, or to the first in the queue. A job without input on the node is
//! passed over for a while ([`delay`]). For a pool that has been below its share for too long,
//! tasks of other pools are killed ([`starvation`]).
//!
//! There are two variants. `hadoop` follows the code. It computes the demand of jobs twice a second
//! and uses this number until the next update. But it always counts running tasks exactly. A
//! tracker takes no more than its part of the load. A job without a map to launch is passed over
//! like a job that waits for its input. `paper` follows the paper on delay scheduling (Zaharia et
//! al., EuroSys 2010, section 4): demands are always up to date, trackers have no load limit,
//! minimum shares are scaled down if they exceed the cluster, and a pool is starved as soon as it
//! is below its whole share (in `hadoop`, below half of it).
//!
//! The reduces of a pool's jobs may get slots in another order than the maps, or in step with the
//! maps ([`reduces`](super::shared::reduces)).
//!
//! `mumakil help differences` lists the details that differ from Hadoop.

mod starvation;
#[cfg(test)]
mod tests;
mod tree;
mod unserved_jobs;

use std::mem;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::starvation::{Starvation, fair_shares};
use self::tree::{Key, Tree};
use super::shared::allocations::{PoolBy, standstill};
use super::shared::delay::{Delay, DelaySpec};
use super::shared::load::{TrackerLoad, next_kind, room};
use super::shared::pool_tree::PoolId;
use super::shared::pools::{Pool, Pools, pools_or_file};
use super::shared::reduces::{Reduces, WithReduces};
use super::shared::share::NewJobBoost;
use super::shared::suspensions::KillOrWait;
use mumakil_base::mutated;
use mumakil_base::units::{Count, Factor, SimSpan};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    AutoSpan, Complaint, JobChange, JobEvent, JobId, Launched, Offer, OptionFacts, Orders, PerSlot,
    Policy, PolicyNeeds, PolicyReload, PolicySite, Precedence, PrecedenceBy, PromisedSlots, Reason,
    Scheduler, SlotKind, SlotShare, SlotStanding, View,
};

with_defaults! {
    /// The options of `fair`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct FairOptions {
        /// Whether to follow the paper or Hadoop's code where they differ.
        pub variant: FairVariant = FairVariant::Hadoop,
        /// The pools, and the defaults of undeclared pools.
        // When a time-out of Hadoop has passed, jobs no longer wait for their input, even if
        // `preemption` is off.
        #[schemars(extend("x-only-if" = {"inside": {
            "fair_share_after": {"variant": "hadoop", "preemption": "kill"},
            "min_share_after": {"variant": "hadoop", "preemption": "kill"},
        }}))]
        #[schemars(schema_with = "pools_or_file")]
        pub allocations: Pools,
        /// How the pool of a job is chosen.
        pub pool_by: PoolBy = PoolBy::Pool,
        /// How long jobs wait for their input; `auto` unless given.
        // `mapred.fairscheduler.locality.delay` is -1: computed from the heartbeat interval.
        pub delay: DelaySpec = DelaySpec { w1: AutoSpan::Auto, w2: AutoSpan::Auto, ..DelaySpec::NONE },
        /// Whether jobs of undeclared pools are allowed; Hadoop 1.x refuses them.
        #[schemars(extend("x-only-if" = {"variant": "hadoop"}))]
        // `mapred.fairscheduler.allow.undeclared.pools` is on; 0.21 has no such key.
        pub allow_undeclared_pools: bool = true,
        /// Whether a job's weight grows with the logarithm of the tasks that it demands.
        // `mapred.fairscheduler.sizebasedweight` is off.
        pub size_based_weight: bool = false,
        /// A larger weight for jobs while they are new. Without this, they have none.
        // `mapred.fairscheduler.weightadjuster` is not set.
        pub new_job_boost: Option<NewJobBoost> = None,
        /// Whether one heartbeat may launch several tasks.
        // `mapred.fairscheduler.assignmultiple` is on from 0.21 on.
        pub assign_multiple: bool = true,
        /// The most maps that one heartbeat launches. Without this, the free slots are the limit.
        #[schemars(extend("x-only-if" = {"assign_multiple": true}))]
        // `mapred.fairscheduler.assignmultiple.maps` and `.reduces` are -1: no limit.
        pub assign_maps: Option<LaunchCap> = None,
        /// As `assign_maps`, for reduces.
        #[schemars(extend("x-only-if" = {"assign_multiple": true}))]
        pub assign_reduces: Option<LaunchCap> = None,
        /// How far a tracker may exceed its part of the load; with 1 it may fill all slots.
        #[schemars(extend("x-only-if" = {"variant": "hadoop"}))]
        // `mapred.fairscheduler.load.max.diff` is 0.
        pub max_load_difference: Factor = Factor::of(0.0),
        /// Which tasks count for a tracker's part of the load.
        #[schemars(extend("x-only-if" = {"variant": "hadoop"}))]
        pub tracker_load: TrackerLoad = TrackerLoad::Auto,
        /// How pools get slots that have been below their share for too long.
        // `mapred.fairscheduler.preemption` is off.
        pub preemption: KillOrWait = KillOrWait::Wait,
        /// Whether kills are only recorded, as `would-kill` in `decisions.csv`.
        #[schemars(extend("x-only-if" = {"preemption": "kill"}))]
        // `mapred.fairscheduler.preemption.only.log` is off.
        pub preemption_only_log: bool = false,
        /// How often tasks are killed for pools below their share. `auto` is 15 s with `hadoop`,
        /// and 0.5 s with `paper`.
        #[schemars(extend("x-only-if" = {"preemption": "kill"}))]
        pub preemption_interval: AutoSpan = AutoSpan::Auto,
        /// How often shares and demands are computed.
        #[schemars(extend("x-only-if" = {"variant": "hadoop", "preemption": "kill"}))]
        // `mapred.fairscheduler.update.interval` is 500 ms.
        pub update_interval: SimSpan = SimSpan::from_millis(500),
    }
}

/// The most tasks of a kind that one heartbeat launches.
pub type LaunchCap = Count<1, 2_147_483_647>;

/// Whether to follow the paper or Hadoop's code where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FairVariant {
    /// The paper on delay scheduling.
    Paper,
    /// Hadoop's code.
    #[default]
    Hadoop,
}

impl FairOptions {
    /// Warns if preemption has no effect because no pool is ever starved.
    fn warn_of_idle_preemption(&self) -> Option<Complaint> {
        let pools = &self.allocations;
        // Hadoop's time-outs are infinite unless set, so its preemption does nothing.
        let has_time = pools.fair_share_after.is_some()
            || pools.min_share_after.is_some()
            || pools.pools.values().any(Pool::is_ever_starved);
        let message = "no pool is ever starved, so no task is killed";
        let hint =
            "say after how long with `fair_share_after` or `min_share_after` in `allocations`";
        (self.preemption.kills() && !has_time)
            .then(|| Complaint::warning(&["preemption"], message, hint))
    }
}

/// The state of the fair scheduler.
#[derive(Debug)]
pub struct Fair {
    options: FairOptions,
    tree: Tree,
    delay: Delay,
    starvation: Starvation,
    /// Whether something has changed since the last update of the paper's variant.
    wants_update: bool,
    /// The number of slots of the cluster when the minimum shares were last scaled.
    promised_of: PerSlot<u32>,
    /// Working space: the pools that were asked for a map. Each pool comes with the position of the
    /// job that launched a map, and with whether the pool's jobs were allowed to launch anywhere.
    walked: Vec<(PoolId, Option<Key>, bool)>,
}

impl Policy for Fair {
    const NAME: &'static str = "fair";
    const ABOUT: &'static str = "pools with equal or weighted shares, delay scheduling, preemption";
    const GROUP: &'static str = "Hadoop's own";
    type Options = WithReduces<FairOptions>;

    fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
        let options = &mut options.own;
        // The policy sees only its options later, not the version of Hadoop.
        options.tracker_load = options.tracker_load.settled(site.line);
        let mut complaints = options.allocations.complaints(site, &options.pool_by);
        complaints.extend(options.allocations.slotless(site, &options.pool_by));
        if !options.allow_undeclared_pools {
            complaints.extend(options.allocations.undeclared(site, &options.pool_by));
        }
        complaints.extend(standstill(options.update_interval));
        complaints.extend(options.warn_of_idle_preemption());
        complaints
    }

    fn promised(options: &Self::Options, _: PerSlot<u64>) -> PromisedSlots {
        options.own.allocations.promised(&options.own.pool_by)
    }

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        let groups = Some(options.own.allocations.groups());
        OptionFacts { groups, ..options.facts(&options.own.delay) }
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: options, reduces } = options;
        let pools = &options.allocations;
        Self {
            tree: Tree::new(pools, &options, Reduces::new(&reduces)),
            delay: Delay::new(&options.delay),
            starvation: Starvation::new(&options, pools.fair_share_after),
            wants_update: false,
            promised_of: PerSlot::default(),
            walked: Vec::new(),
            options,
        }
    }
}

impl Scheduler for Fair {
    fn precedence(&self) -> Precedence {
        // A pool may set another order; explanations use the default order of pools.
        let order = self.options.allocations.order;
        Precedence { groups: PrecedenceBy::Share, jobs: order.precedence() }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        self.starvation.job_changed(event);
        match event.change {
            // Hadoop computes everything anew when a job arrives.
            JobChange::Submitted => {
                let job = view.job(event.job);
                let pool = job.map(|job| self.options.pool_by.of(job.spec()));
                // A pool that its first job will make has no minimum share.
                if let Some(pool) = pool.and_then(|pool| self.tree.pools.find(pool)) {
                    self.starvation.submitted(event.job, pool, view.now());
                }
                self.update(view);
            }
            // A job launches tasks only after its setup, so it joins its pool here.
            JobChange::Running => {
                let Some(job) = view.job(event.job) else { return };
                self.tree.enter(job, self.options.pool_by.of(job.spec()));
                self.tree.refresh(view, event.job, &mut self.delay);
                self.wants_update = true;
            }
            JobChange::Ended(_) => {
                self.tree.leave(view, event.job, &mut self.delay);
                self.wants_update = true;
            }
            // As in Hadoop, all shares are computed anew.
            JobChange::Altered { .. } => {
                let Some(job) = view.job(event.job) else { return };
                self.tree.alter(job, self.options.pool_by.of(job.spec()), &mut self.delay);
                self.update(view);
            }
            JobChange::Initialised => {}
            JobChange::Attempt(..) | JobChange::SlowTasks => {
                self.tree.refresh(view, event.job, &mut self.delay);
            }
        }
    }

    fn reload(&mut self, view: &View<'_>, options: &PolicyReload) {
        let Some(options) = options.downcast_ref::<WithReduces<FairOptions>>() else { return };
        self.options.allocations = options.own.allocations.clone();
        let pools = &self.options.allocations;
        self.tree.reload(pools, view.now());
        self.starvation.fair_share_after = pools.fair_share_after;
        // The paper's variant scales the new minimum shares at the update.
        self.promised_of = PerSlot::default();
        self.update(view);
        self.tree.place_all_pools();
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        // A job may wait first for its input and then for the time-outs of starvation, so add both.
        self.delay.patience(view) + self.starvation.longest(&self.tree)
    }

    fn needs(&self) -> PolicyNeeds {
        // The paper's variant computes after every change, and ticks only for kills.
        let needs_ticks =
            self.options.variant == FairVariant::Hadoop || self.options.preemption.kills();
        let tick_every = needs_ticks.then_some(self.options.update_interval);
        PolicyNeeds { tick_every, ..self.tree.reduces.needs() }
    }

    fn withheld(&self, _: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        self.tree.withheld(say);
    }

    fn holdings(&self, view: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        let capacity = f64::from(view.capacity(kind));
        let shares = fair_shares(&self.tree, kind, capacity, self.options.variant);
        let pools = &self.tree.pools;
        for pool in pools.ids().filter(|id| *id != PoolId::ROOT) {
            let share = Some(SlotShare::of(shares[pool.index()]));
            say(&pools.pool(pool).name, SlotStanding { share, ..self.tree.standing(pool, kind) });
        }
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        // Hadoop's update thread recomputes shares before it preempts, so kills use the new shares.
        self.update(&orders.view());
        self.starvation.preempt_for_starved(orders, &self.tree);
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        if self.wants_update && self.options.variant == FairVariant::Paper {
            self.update(&offer.view());
        }
        self.delay.begin(&offer.view());
        // After `delay.begin`: the wait of jobs passed over ends where an offer begins.
        self.tree.begin(offer.view().now(), &mut self.delay);
        self.tree.end_boosts(offer.view().now(), &mut self.delay);
        // If no pool has a task of a kind, Hadoop tries no more of this kind in this heartbeat.
        let mut refused: PerSlot<bool> = PerSlot::default();
        let counted = self.counted();
        while let Some(kind) = next_kind(offer, counted, |kind| {
            let is_open = !refused[kind] && offer.taken(kind) < self.most_launches(kind);
            is_open && self.has_part_left(offer, kind)
        }) {
            let Some(launched) = self.launch(offer, kind) else {
                refused[kind] = true;
                continue;
            };
            self.starvation.launched(offer.view().now(), offer.tracker(), launched);
            // The launch changes the order: as in Hadoop, the next slot may go to another pool.
            self.tree.refresh(&offer.view(), launched.attempt.job(), &mut self.delay);
            if mutated!(!self.options.assign_multiple, "fair/one-each" => true, "fair/fills" => false)
            {
                return;
            }
        }
        offer.refuse_first(|offer, kind| {
            if self.has_part_left(offer, kind) {
                return None;
            }
            let why = if self.is_sated(kind) { Reason::NotCounted } else { Reason::TrackerLoad };
            Some((self.first(offer, kind)?, why))
        });
    }
}

impl Fair {
    /// Returns whether a tracker is below its part of the load and some demanded task waits.
    fn has_part_left(&self, offer: &Offer<'_>, kind: SlotKind) -> bool {
        // In the paper every free slot is given away; the load limit is Hadoop's addition.
        if self.options.variant == FairVariant::Paper {
            return true;
        }
        if self.is_sated(kind) {
            return false;
        }
        let beyond = self.options.max_load_difference.get();
        // As in Hadoop, tasks that have come since the last update do not count yet.
        let demand = self.tree.state(PoolId::ROOT).demand[kind];
        0 < room(offer, kind, f64::from(demand), beyond, self.counted())
    }

    fn most_launches(&self, kind: SlotKind) -> u32 {
        let cap = match kind {
            SlotKind::Map => self.options.assign_maps,
            SlotKind::Reduce => self.options.assign_reduces,
        };
        // Free slots are a limit in any case. In 0.21 and 1.0 a cap of more tasks than the tracker
        // has free slots makes the tracker queue the rest; this is not repeated here.
        mutated!(cap, "fair/no-cap" => None).map_or(u32::MAX, LaunchCap::get)
    }

    fn first(&self, offer: &Offer<'_>, kind: SlotKind) -> Option<JobId> {
        let (tree, view) = (&self.tree, offer.view());
        launch_in(PoolId::ROOT, tree, kind, &mut |pool| {
            tree.in_order(&view, pool, kind).find(|id: &JobId| {
                view.job(*id).is_some_and(|job| 0 < tree.reduces.pending(job, kind))
            })
        })
    }

    /// Returns whether all tasks that the last update counted as demand are running.
    fn is_sated(&self, kind: SlotKind) -> bool {
        let root = self.tree.state(PoolId::ROOT);
        // As in Hadoop: if more tasks run than the update counted, slots are still given.
        self.options.variant == FairVariant::Hadoop && root.running[kind] == root.demand[kind]
    }

    fn counted(&self) -> TrackerLoad {
        match self.options.variant {
            // Only to choose between map and reduce, which the paper leaves open.
            FairVariant::Paper => TrackerLoad::Reported,
            FairVariant::Hadoop => self.options.tracker_load,
        }
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let Self { tree, delay, starvation, walked, .. } = self;
        let now = offer.view().now();
        // Jobs of a pool for which tasks are killed take slots on any node.
        let is_starved = |pool| starvation.is_starved(tree, pool, kind, now);
        let launched = launch_in(PoolId::ROOT, tree, kind, &mut |pool| {
            let reason = Reason::Share(tree.standing(pool, kind));
            // Reduces never wait, since they read from all nodes (section 4.1 of the paper).
            if kind == SlotKind::Reduce {
                let mut jobs = tree.in_order(&offer.view(), pool, kind);
                return jobs.find_map(|job| delay.launch_reduce(offer, job, 1, reason));
            }
            let anywhere = mutated!(is_starved(pool), "preempt/waits-for-input" => false);
            let all = mutated!(usize::MAX, "delay/first-job-blocks" => 1);
            let launched = tree.places(pool, kind).take(all).find_map(|(job, place)| {
                Some((delay.launch_map(offer, job, 1, anywhere, reason)?, place))
            });
            // The walk borrows the tree, so the jobs are passed over below.
            if tree.has_unserved_jobs() {
                walked.push((pool, launched.map(|(_, place)| place.clone()), anywhere));
            }
            launched.map(|(launched, _)| launched)
        });
        for (pool, up_to, anywhere) in walked.drain(..) {
            tree.pass_over(offer, pool, up_to, anywhere);
        }
        launched
    }

    fn update(&mut self, view: &View<'_>) {
        self.wants_update = false;
        self.tree.update(view, &mut self.delay);
        let slots = PerSlot::of(|kind| view.capacity(kind));
        let has_changed = mem::replace(&mut self.promised_of, slots) != slots;
        // The paper scales minimum shares down to the cluster (section 4).
        if has_changed && self.options.variant == FairVariant::Paper {
            self.tree.scale_promises(slots);
        }
    }
}

/// Asks the leaf pools below `pool`, in order, until one of them launches something.
fn launch_in<T>(
    pool: PoolId,
    tree: &Tree,
    kind: SlotKind,
    launch: &mut impl FnMut(PoolId) -> Option<T>,
) -> Option<T> {
    if tree.pools.is_leaf(pool) {
        return launch(pool);
    }
    let all = mutated!(usize::MAX, "delay/first-pool-blocks" => 1);
    tree.ready_pools(pool, kind).take(all).find_map(|inner| launch_in(inner, tree, kind, launch))
}
