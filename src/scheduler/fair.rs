//! `fair`: HFS, the Hadoop Fair Scheduler with delay scheduling (0.21 to 1.x), and its paper's.
//!
//! Jobs stand in pools. A free slot goes down the tree of pools: first to whoever is below its
//! minimum share, then to whoever has least for its weight; inside of a pool to the job that has
//! least, or in line. A job without input on the node is passed over for a while ([`delay`]), and
//! who has been below its share for too long gets slots by killing ([`starvation`]).
//!
//! Two variants. `hadoop` is the code: twice a second it looks up what jobs demand, and works with
//! that until the next time, while it counts what runs at every step; a tracker takes no more than
//! its part of the load. `paper` is the algorithm of the paper on delay scheduling (Zaharia et al.,
//! EuroSys 2010, section 4): nothing is stale, no part of a load, minimum shares above the cluster
//! are scaled down, and whoever is below its share, not only below half of it, is starved.
//!
//! Unlike in Hadoop, jobs beyond a limit have their splits read all the same, and do not count.

mod starvation;
mod tree;

use std::mem;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::starvation::Starvation;
use self::tree::Tree;
use super::part::allocations::{Allocations, PoolBy};
use super::part::delay::{Delay, DelaySpec};
use super::part::load::{next_kind, room};
use super::part::pool_tree::PoolId;
use crate::mapred::{
    Auto, Complaint, JobChange, JobEvent, JobId, Launched, Offer, Orders, PerSlot, Policy, Reason,
    Scheduler, Site, SlotKind, View,
};
use crate::units::{Factor, SimSpan};

/// The options of `fair`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FairOptions {
    /// Where the paper and Hadoop's code differ: `hadoop` or `paper`.
    pub variant: Variant,
    /// The pools, and what holds for those that are not declared.
    pub allocations: Allocations,
    /// What a job's pool is: the one that it names, or its user.
    pub pool_by: PoolBy,
    /// How long jobs wait for their input; `auto` unless given.
    pub delay: DelaySpec,
    /// Whether jobs weigh by the logarithm of the tasks that they demand.
    pub size_based_weight: bool,
    /// Whether a heartbeat may bring several tasks.
    pub assign_multiple: bool,
    /// How far a tracker may go beyond its part of the load: 1 is to its last slot. `hadoop` only.
    pub max_load_difference: Factor,
    /// Whether pools that are starved get slots by killing tasks of others.
    pub preemption: bool,
    /// How often to look who is starved; `auto` is 15 s with `hadoop`, and 0.5 s with `paper`.
    pub preemption_interval: Auto,
    /// How often shares and demands are computed.
    pub update_interval: SimSpan,
}

/// Whether the paper or the code is followed where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The paper on delay scheduling.
    Paper,
    /// Hadoop's code.
    #[default]
    Hadoop,
}

impl Default for FairOptions {
    fn default() -> Self {
        Self {
            variant: Variant::Hadoop,
            allocations: Allocations::default(),
            pool_by: PoolBy::Pool,
            delay: DelaySpec { w1: Auto::Auto, w2: Auto::Auto, long_task: None },
            size_based_weight: false,
            assign_multiple: true,
            max_load_difference: Factor::of(0.0),
            preemption: false,
            preemption_interval: Auto::Auto,
            update_interval: SimSpan::from_millis(500),
        }
    }
}

/// The fair scheduler.
#[derive(Debug)]
pub struct Fair {
    options: FairOptions,
    tree: Tree,
    delay: Delay,
    starvation: Option<Starvation>,
    /// Whether something has happened that calls for an update.
    wants_update: bool,
    /// The slots of each kind to which the minimum shares were scaled.
    promised_of: [u32; 2],
}

impl Policy for Fair {
    const NAME: &'static str = "fair";
    const ABOUT: &'static str = "pools with equal or weighted shares, delay scheduling, preemption";
    type Options = FairOptions;

    fn settle(options: &mut FairOptions, site: &Site<'_>) -> Vec<Complaint> {
        let mut complaints = options.allocations.settle(site, options.pool_by);
        complaints.extend(standstill(options.update_interval));
        complaints
    }

    fn new(options: FairOptions) -> Self {
        let pools = options.allocations.pools();
        let is_live = options.variant == Variant::Paper;
        let interval = if is_live { SimSpan::from_millis(500) } else { SimSpan::from_secs(15) };
        let every = options.preemption_interval.or(interval);
        let fair_share_after = pools.fair_share_after;
        let starvation =
            options.preemption.then(|| Starvation::new(every, fair_share_after, is_live));
        Self {
            tree: Tree::new(&pools, is_live, options.size_based_weight),
            delay: Delay::new(&options.delay),
            starvation,
            wants_update: false,
            promised_of: [0; 2],
            options,
        }
    }
}

impl Scheduler for Fair {
    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        if let Some(starvation) = &mut self.starvation {
            starvation.job_changed(event);
        }
        match event.change {
            // Hadoop computes everything anew when a job arrives.
            JobChange::Submitted => self.wants_update = true,
            JobChange::Running => {
                let Some(job) = view.job(event.job) else { return };
                self.tree.enter(job, self.options.pool_by.of(job.spec()));
                self.tree.refresh(view, event.job);
                self.wants_update |= self.is_live();
            }
            JobChange::Ended(_) => {
                self.tree.leave(event.job);
                self.wants_update |= self.is_live();
            }
            JobChange::Initialised => {}
            JobChange::Attempt(..) => self.tree.refresh(view, event.job),
        }
    }

    fn tick_every(&self) -> Option<SimSpan> {
        let needs_ticks = !self.is_live() || self.starvation.is_some();
        needs_ticks.then_some(self.options.update_interval)
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.update(&orders.view());
        if let Some(starvation) = &mut self.starvation {
            starvation.relieve(orders, &self.tree);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        if self.wants_update {
            self.update(&offer.view());
        }
        self.delay.begin(&offer.view());
        let mut refused: PerSlot<bool> = PerSlot::default();
        while let Some(kind) =
            next_kind(offer, |kind| !refused[kind] && self.has_part_left(offer, kind))
        {
            let Some(launched) = self.launch(offer, kind) else {
                refused[kind] = true;
                continue;
            };
            if let Some(starvation) = &mut self.starvation {
                starvation.launched(offer.view().now(), offer.tracker(), launched);
            }
            self.tree.refresh(&offer.view(), launched.attempt.job());
            if !self.options.assign_multiple {
                return;
            }
        }
    }
}

impl Fair {
    fn is_live(&self) -> bool {
        self.options.variant == Variant::Paper
    }

    /// Returns whether a tracker has room for its part of the load, by what it has reported, and
    /// whether there is anything that does not run yet.
    fn has_part_left(&self, offer: &Offer<'_>, kind: SlotKind) -> bool {
        if self.is_live() {
            return true;
        }
        let root = self.tree.state(PoolId::ROOT);
        if root.running[kind] == root.demand[kind] {
            return false;
        }
        let beyond = self.options.max_load_difference.get();
        0 < room(offer, kind, f64::from(root.demand[kind]), beyond)
    }

    /// Launches a task of whoever is first to have one for this node.
    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let Self { tree, delay, starvation, .. } = self;
        let now = offer.view().now();
        // Whoever has slots killed for it takes them wherever they are.
        let is_starved = |pool| {
            starvation
                .as_ref()
                .is_some_and(|starvation| starvation.is_starved(tree, pool, kind, now))
        };
        launch_in(PoolId::ROOT, tree, kind, &mut |job, pool| match kind {
            SlotKind::Map => delay.launch_map(offer, job, is_starved(pool), Reason::Share),
            SlotKind::Reduce => offer.launch_reduce(job, Reason::Share),
        })
    }

    fn update(&mut self, view: &View<'_>) {
        self.wants_update = false;
        self.tree.update(view);
        let slots = SlotKind::BOTH.map(|kind| view.capacity(kind));
        if self.is_live() && mem::replace(&mut self.promised_of, slots) != slots {
            self.promise(view);
        }
    }

    /// Scales the minimum shares down to what the cluster has.
    fn promise(&mut self, view: &View<'_>) {
        let pools = self.tree.pools();
        let outermost = &pools.pool(PoolId::ROOT).children;
        let mut scale = PerSlot { map: 1.0, reduce: 1.0 };
        for kind in SlotKind::BOTH {
            let sum: u64 = outermost.iter().map(|id| u64::from(pools.pool(*id).min[kind])).sum();
            scale[kind] = (f64::from(view.capacity(kind)) / sum.max(1) as f64).min(1.0);
        }
        for id in pools.ids() {
            let mut min_share = self.tree.pools().pool(id).min;
            for kind in SlotKind::BOTH {
                min_share[kind] = (f64::from(min_share[kind]) * scale[kind]) as u32;
            }
            self.tree.promise(id, min_share);
        }
    }
}

/// Complains about an interval at which time would not pass.
pub(super) fn standstill(update_interval: SimSpan) -> Option<Complaint> {
    update_interval.is_zero().then(|| Complaint {
        path: vec!["update_interval".to_owned()],
        message: "`update_interval` is above zero: at 0s time would stand still".to_owned(),
        hint: "Hadoop's is 500ms".to_owned(),
        is_warning: false,
    })
}

/// Asks those in a pool in their order until one launches something.
fn launch_in(
    pool: PoolId,
    tree: &Tree,
    kind: SlotKind,
    launch: &mut impl FnMut(JobId, PoolId) -> Option<Launched>,
) -> Option<Launched> {
    let is_leaf = tree.pools().is_leaf(pool);
    tree.ready(pool, kind).find_map(|who| match is_leaf {
        true => launch(JobId(who), pool),
        false => launch_in(PoolId(who), tree, kind, launch),
    })
}
