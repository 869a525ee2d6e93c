//! `modified-fair`: a fair scheduler with five mechanisms that look at the needs of jobs.
//!
//! Source: the paper on a modified fair scheduler for Hadoop 1.x, section 3. Each mechanism has its
//! own file and can be switched off alone; then the corresponding rule of [`fair`](super::fair)
//! applies. With all mechanisms off, this policy is `fair` in its `hadoop` variant, but without
//! killing and without weights by size.
//!
//! 1. [`classes`]: the small jobs are those with as few maps as the smallest job; while they are
//!    few, they share a pool. This pool serves its jobs in the order of arrival, and has half of the
//!    slots that one small job could use.
//! 2. [`allotment`]: twice a second, and before serving a tracker that has freed slots, the free
//!    slots are allotted to pools by their pending tasks.
//! 3. [`order`]: jobs and pools are sorted by the slots that they lack and hold.
//! 4. [`waits`]: jobs wait for their input as long as earlier jobs had to wait for theirs.
//! 5. [`priorities`]: a job whose maps get nearer to their input rises; a job whose maps get
//!    farther falls.
//!
//! ```text
//! round      classes ─▶ allotment      which pool a job is in, how many slots a pool may have
//! heartbeat  order ─▶ waits ─▶ launch  which job is asked, and how far its input may be
//! launch     waits ─▶ priorities       what the launch changes for later maps
//! ```
//!
//! `mumakil help differences` says how this policy does what the paper leaves open.

mod allotment;
mod classes;
mod order;
mod priorities;
mod standings;
#[cfg(test)]
mod tests;
mod waits;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::allotment::Maximum;
pub use self::priorities::PriorityAdjustment;
use self::standings::Standings;
use self::waits::Waits;
use super::shared::allocations::{PoolBy, no_nested, standstill};
use super::shared::delay::{Delay, DelaySpec};
use super::shared::load::{TrackerLoad, next_kind, room};
use super::shared::pools::{Pools, pools_or_file};
use super::shared::reduces::{Reduces, WithReduces};
use mumakil_base::mutated;
use mumakil_base::units::{Factor, SimSpan};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    AutoSpan, Complaint, JobChange, JobEvent, JobId, Launched, Offer, OptionFacts, Orders, PerSlot,
    Policy, PolicyNeeds, PolicyReload, PolicySite, Precedence, PrecedenceBy, PromisedSlots, Reason,
    Scheduler, SlotKind, SlotStanding, View,
};

with_defaults! {
    /// The options of `modified-fair`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct ModifiedFairOptions {
        /// The pools, and the defaults of undeclared pools. Here no pool has pools inside, and no tasks
        /// are killed.
        #[schemars(extend("x-only-if" = {"inside": {
            "fair_share_after": {"the policy `fair`": true},
            "min_share_after": {"the policy `fair`": true},
        }}))]
        #[schemars(schema_with = "pools_or_file")]
        pub allocations: Pools,
        /// How the pool of a job is chosen.
        pub pool_by: PoolBy = PoolBy::Pool,
        /// How long jobs wait for their input. With `delay_adjustment` this counts only until a first
        /// wait has been measured.
        pub delay: DelaySpec = DelaySpec { w1: AutoSpan::Auto, w2: AutoSpan::Auto, ..DelaySpec::NONE },
        /// Whether small jobs have a pool of their own, as long as there are few of them.
        pub classification: bool = true,
        /// Whether free slots are allotted to pools by the number of tasks that are pending in them.
        pub pool_allocation: bool = true,
        /// The slots that a pool's maximum limits.
        #[schemars(extend("x-only-if" = {"pool_allocation": true}))]
        pub maximum: Maximum = Maximum::Cap,
        /// Whether jobs and pools are ordered by the slots that they lack and hold. If not, they are
        /// ordered as in `fair`.
        pub sorting: bool = true,
        /// Whether jobs wait for their input as long as other jobs have had to wait.
        pub delay_adjustment: bool = true,
        /// How a job's priority follows the locality of its maps.
        pub priority_adjustment: PriorityAdjustment = PriorityAdjustment::Text,
        /// Whether one heartbeat may launch several tasks.
        pub assign_multiple: bool = true,
        /// How far a tracker may exceed its part of the load; with 1 it may fill all slots.
        pub max_load_difference: Factor = Factor::of(0.0),
        /// Which tasks count for a tracker's part of the load.
        pub tracker_load: TrackerLoad = TrackerLoad::Auto,
        /// How often jobs are classified and slots allotted.
        // Sections 3.1 and 3.2, and Hadoop's fair scheduler.
        pub update_interval: SimSpan = SimSpan::from_millis(500),
    }
}

/// The state of the modified fair scheduler.
#[derive(Debug)]
pub struct ModifiedFair {
    options: ModifiedFairOptions,
    standings: Standings,
    delay: Delay,
    waits: Waits,
}

impl Policy for ModifiedFair {
    const NAME: &'static str = "modified-fair";
    const ABOUT: &'static str =
        "a fair scheduler with five mechanisms that adapt to what jobs need";
    const GROUP: &'static str = "of other papers";
    type Options = WithReduces<ModifiedFairOptions>;

    fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
        let options = &mut options.own;
        options.tracker_load = options.tracker_load.settled(site.line);
        let mut complaints = options.allocations.complaints(site, &options.pool_by);
        complaints.extend(options.allocations.slotless(site, &options.pool_by));
        complaints.extend(no_nested(&options.allocations, Self::NAME));
        complaints.extend(standstill(options.update_interval));
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
        Self {
            standings: Standings::new(options.clone(), Reduces::new(&reduces)),
            delay: Delay::new(&options.delay),
            waits: Waits::default(),
            options,
        }
    }
}

impl Scheduler for ModifiedFair {
    fn precedence(&self) -> Precedence {
        let order = self.options.allocations.order;
        Precedence { groups: PrecedenceBy::Share, jobs: order.precedence() }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        match event.change {
            // As in Hadoop's fair scheduler, everything is recomputed when a job arrives.
            JobChange::Submitted => self.standings.round(view),
            JobChange::Running => {
                let Some(job) = view.job(event.job) else { return };
                self.standings.enter(job);
            }
            JobChange::Ended(_) => self.standings.leave(event.job),
            JobChange::Altered { .. } => {
                let Some(job) = view.job(event.job) else { return };
                self.standings.alter(view, job);
                self.standings.round(view);
            }
            JobChange::Initialised => {}
            JobChange::Attempt(..) | JobChange::SlowTasks => {
                self.standings.refresh(view, event.job);
            }
        }
    }

    fn reload(&mut self, view: &View<'_>, options: &PolicyReload) {
        type Read = WithReduces<ModifiedFairOptions>;
        let Some(options) = options.downcast_ref::<Read>() else { return };
        self.options.allocations = options.own.allocations.clone();
        self.standings.reload(view, &self.options.allocations);
    }

    fn withheld(&self, _: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        self.standings.withheld(say);
    }

    fn holdings(&self, _: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        self.standings.holdings(kind, say);
    }

    fn needs(&self) -> PolicyNeeds {
        let tick_every = Some(self.options.update_interval);
        PolicyNeeds { tick_every, ..self.standings.reduces.needs() }
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.delay.patience(view)
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.standings.round(&orders.view());
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        // Otherwise freed slots would belong to no pool for up to 500 ms.
        self.standings.allot_freed(&offer.view());
        self.delay.begin(&offer.view());
        // As in `fair`, this heartbeat tries no more tasks of a kind that no pool has.
        let mut refused: PerSlot<bool> = PerSlot::default();
        let counted = self.options.tracker_load;
        while let Some(kind) =
            next_kind(offer, counted, |kind| !refused[kind] && self.has_part_left(offer, kind))
        {
            let Some(launched) = self.launch(offer, kind) else {
                refused[kind] = true;
                continue;
            };
            self.standings.launched(&offer.view(), launched);
            if !self.options.assign_multiple {
                return;
            }
        }
        offer.refuse_first(|offer, kind| {
            if self.has_part_left(offer, kind) {
                return None;
            }
            let view = offer.view();
            let of_pool = |pool| self.standings.in_order(&view, pool, kind);
            let why = if self.is_sated(kind) { Reason::NotCounted } else { Reason::TrackerLoad };
            Some((self.standings.ready(kind, view.capacity(kind)).flat_map(of_pool).next()?, why))
        });
    }
}

impl ModifiedFair {
    /// Returns whether a tracker is below its part of the load and some demanded task waits.
    fn has_part_left(&self, offer: &Offer<'_>, kind: SlotKind) -> bool {
        let (_, demand) = self.standings.work(kind);
        let (beyond, counted) = (self.options.max_load_difference.get(), self.options.tracker_load);
        !self.is_sated(kind) && 0 < room(offer, kind, f64::from(demand), beyond, counted)
    }

    fn is_sated(&self, kind: SlotKind) -> bool {
        let (running, demand) = self.standings.work(kind);
        // Compare for equality, as in Hadoop's fair scheduler, which the paper modifies.
        running == demand
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let Self { standings, delay, waits, options } = self;
        let mut pools = standings.ready(kind, offer.view().capacity(kind));
        if kind == SlotKind::Reduce {
            return pools.find_map(|pool| {
                let mut jobs = standings.in_order(&offer.view(), pool, kind);
                let reason = Reason::Share(standings.standing(pool, kind));
                jobs.find_map(|job| delay.launch_reduce(offer, job, 1, reason))
            });
        }
        pools.flat_map(|pool| standings.ready_in(pool, kind).map(move |job| (pool, job))).find_map(
            |(pool, job)| {
                // Read the waiting time before the launch, which resets it to zero.
                let waited = delay.waited(job);
                let reason = Reason::Share(standings.standing(pool, kind));
                let launched = delay.launch_map(offer, job, 1, false, reason)?;
                if options.delay_adjustment {
                    let wait = mutated!(waited, "mfair/waited-after" => delay.waited(job));
                    waits.note(launched.locality, wait);
                    delay.adjust(waits.delays());
                }
                Some(launched)
            },
        )
    }
}
