//! Pools that have been below their share for too long, and the tasks that are killed for them.
//!
//! Within a pool, the child pools above their share give up the slots that starved siblings lack.
//! The latest tasks are killed first, never so many that a pool falls below the whole slots of its
//! share, and never more than are lacking. Ordered kills count as slots to come, and so do slots
//! that no pool's task occupies.

use super::tree::Tree;
use super::{FairOptions, FairVariant};
use crate::scheduler::shared::launches::Launches;
use crate::scheduler::shared::pool_tree::{PoolId, PoolTree};
use crate::scheduler::shared::share::{Claim, bisected, max_min};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptId, JobEvent, Launched, Orders, PerSlot, Reason, SlotKind, SlotShare, SlotStanding,
    TrackerId, View,
};

/// How long pools have been below their shares, and the kills for them.
#[derive(Debug, Default)]
pub(super) struct Starvation {
    /// The time between two rounds of killing.
    every: SimSpan,
    /// How long a pool may be below its fair share before tasks are killed for it; `None` is
    /// forever.
    fair_share_after: Option<SimSpan>,
    /// In the paper a pool below its exact share is starved; in Hadoop a pool below half of it.
    variant: FairVariant,
    /// Whether tasks are killed.
    kills: bool,
    clocks: Vec<PerSlot<Clock>>,
    last_round: SimTime,
    /// The running attempts; for each killed attempt its pool.
    launches: Launches<PoolId>,
}

/// When a pool last had its minimum share, and half or all of its fair share.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    at_min_share: SimTime,
    at_fair_share: SimTime,
}

impl Clock {
    /// Returns the clock of a pool that has its shares at `now`.
    fn new(now: SimTime) -> Self {
        Self { at_min_share: now, at_fair_share: now }
    }
}

/// The slots of one kind that pools have and should have.
struct SlotBooks {
    kind: SlotKind,
    shares: Vec<f64>,
    /// The tasks that each pool will run once the ordered kills are done.
    left: Vec<u32>,
}

impl Starvation {
    pub(super) fn new(options: &FairOptions, fair_share_after: Option<SimSpan>) -> Self {
        let interval = match options.variant {
            // The paper names no interval. Chosen: as often as Hadoop updates its shares.
            FairVariant::Paper => SimSpan::from_millis(500),
            // `mapred.fairscheduler.preemption.interval` is 15 s.
            FairVariant::Hadoop => SimSpan::from_secs(15),
        };
        Self {
            every: options.preemption_interval.or(interval),
            fair_share_after,
            variant: options.variant,
            kills: options.preemption,
            ..Self::default()
        }
    }

    /// Returns the longest time until a pool is starved and tasks are killed for it.
    pub(super) fn longest(&self, tree: &Tree) -> SimSpan {
        let of_pools = tree.pools().ids().filter_map(|id| tree.pools().pool(id).min_share_after);
        of_pools.chain(self.fair_share_after).max().unwrap_or(SimSpan::ZERO) + self.every
    }

    /// Notes a launch.
    pub(super) fn launched(&mut self, at: SimTime, tracker: TrackerId, launched: Launched) {
        // Without preemption no attempt is ever chosen, so none need be remembered.
        if self.kills {
            self.launches.note(at, tracker, launched);
        }
    }

    /// Notes an event of a job; to be called with every event.
    pub(super) fn job_changed(&mut self, event: &JobEvent) {
        self.launches.job_changed(event);
    }

    /// Returns whether a pool has been below its share for too long.
    ///
    /// Hadoop updates its clocks only if it kills. Without preemption they keep the instant when
    /// the pool began, so that time-outs, once they have passed, end all waiting for locality.
    pub(super) fn is_starved(
        &self,
        tree: &Tree,
        pool: PoolId,
        kind: SlotKind,
        now: SimTime,
    ) -> bool {
        let clock = match self.clocks.get(pool.index()) {
            Some(clocks) => clocks[kind],
            None if self.variant == FairVariant::Hadoop && !self.kills => {
                Clock::new(tree.state(pool).made_at)
            }
            // The pool is younger than the last tick, which makes the clocks.
            None => return false,
        };
        is_over(now, clock.at_min_share, tree.pools().pool(pool).min_share_after)
            || is_over(now, clock.at_fair_share, self.fair_share_after)
    }

    /// Updates the clocks, and kills what starved pools lack if a round of killing is due.
    pub(super) fn preempt_for_starved(&mut self, orders: &mut Orders<'_>, tree: &Tree) {
        if !self.kills {
            return;
        }
        let now = orders.view().now();
        // Clocks go with every update, kills only after an interval of their own, as in Hadoop.
        let is_time = self.every <= now.saturating_since(self.last_round);
        if is_time {
            self.last_round = now;
        }
        // A pool that came since the last tick begins as one that has its share.
        let new = PerSlot { map: Clock::new(now), reduce: Clock::new(now) };
        self.clocks.resize(tree.pools().ids().count(), new);
        for kind in SlotKind::BOTH {
            let mut books = self.books(&orders.view(), tree, kind);
            self.update_clocks(now, tree, &books);
            for pool in tree.pools().ids().filter(|_| is_time) {
                self.relieve_in(orders, pool, tree, &mut books);
            }
        }
    }

    fn books(&self, view: &View<'_>, tree: &Tree, kind: SlotKind) -> SlotBooks {
        let shares = fair_shares(tree, kind, f64::from(view.capacity(kind)), self.variant);
        let left: Vec<u32> =
            tree.pools().ids().map(|pool| tree.state(pool).running[kind]).collect();
        let mut books = SlotBooks { kind, shares, left };
        // Attempts on their way to die still count as running; their pools will have fewer.
        self.launches.ordered_ends(kind).for_each(|pool| books.note_preempted(tree.pools(), *pool));
        books
    }

    fn update_clocks(&mut self, now: SimTime, tree: &Tree, books: &SlotBooks) {
        for pool in tree.pools().ids() {
            let state = tree.state(pool);
            let kind = books.kind;
            let clock = &mut self.clocks[pool.index()][kind];
            if owed(tree, pool, kind) <= state.running[kind] {
                clock.at_min_share = now;
            }
            let part = match self.variant {
                FairVariant::Paper => 1.0,
                // Hadoop takes a pool as starved of its fair share only below half of it.
                FairVariant::Hadoop => 0.5,
            };
            let owed = (books.shares[pool.index()] * part).min(f64::from(state.demand[kind]));
            // The cast rounds down, as 0.21 to 1.2.1 do: with a share of one
            // slot a pool is never below half.
            if owed as u32 <= state.running[kind] {
                clock.at_fair_share = now;
            }
        }
    }

    /// Kills what starved pools inside `around` lack, from the other pools inside it.
    fn relieve_in(
        &mut self,
        orders: &mut Orders<'_>,
        around: PoolId,
        tree: &Tree,
        books: &mut SlotBooks,
    ) {
        let pools = tree.pools();
        let now = orders.view().now();
        let inside = &pools.pool(around).children;
        let lacks: u32 = inside.iter().map(|pool| self.lacks(now, tree, *pool, books)).sum();
        if lacks == 0 {
            return;
        }
        // Kills that were already ordered for these pools will free slots, so they lack fewer.
        // A pool is not below itself, hence the `skip`.
        let is_below = |pool: &PoolId| pools.upwards(*pool).skip(1).any(|above| above == around);
        let doomed = self.launches.ordered_ends(books.kind).filter(|pool| is_below(pool)).count();
        // Slots that no pool's task occupies will be theirs too: free ones, and those of cleanups.
        let idle = idle(&orders.view(), tree, around, books.kind);
        let mut lacks = lacks.saturating_sub(doomed as u32).saturating_sub(idle);
        if lacks == 0 {
            return;
        }
        // A minimum share may be larger than the fair share, if the pool around has a smaller
        // minimum.
        let has_more = |pool: PoolId, books: &SlotBooks| {
            let mut chain = pools.upwards(pool).take_while(|pool| *pool != around);
            chain.all(|pool| {
                let left = books.left[pool.index()];
                owed(tree, pool, books.kind) < left && books.shares[pool.index()] < f64::from(left)
            })
        };
        let rich = pools.ids().filter(|pool| is_below(pool) && has_more(*pool, books));
        let mut victims: Vec<(SimTime, AttemptId, PoolId)> = Vec::new();
        for pool in rich {
            let latest =
                tree.jobs_of(pool).flat_map(|job| self.launches.latest_first(job, books.kind));
            victims.extend(latest.map(|(at, attempt)| (at, attempt, pool)));
        }
        // The latest first, as they lose the least work (section 4). The attempt's number decides
        // ties, for which Hadoop has no order.
        victims.sort_unstable_by(|a, b| b.cmp(a));
        for (_, attempt, pool) in victims {
            if lacks == 0 {
                break;
            }
            // Earlier kills of this round may have brought the pool down to its share.
            if has_more(pool, books) {
                let standing = SlotStanding {
                    share: Some(SlotShare::of(books.shares[pool.index()])),
                    ..tree.standing(pool, books.kind)
                };
                orders.kill(attempt, Reason::OverShare(standing));
                self.launches.note_ordered_end(attempt, pool);
                books.note_preempted(pools, pool);
                lacks -= 1;
            }
        }
    }

    /// Returns how many slots a pool lacks; 0 if it has not waited long enough.
    fn lacks(&self, now: SimTime, tree: &Tree, pool: PoolId, books: &SlotBooks) -> u32 {
        let (state, kind) = (tree.state(pool), books.kind);
        let clock = self.clocks[pool.index()][kind];
        let is_over = |since, after| is_over(now, since, after);
        let demand = state.demand[kind];
        let min_share = match is_over(clock.at_min_share, tree.pools().pool(pool).min_share_after) {
            true => owed(tree, pool, kind),
            false => 0,
        };
        let fair_share = match is_over(clock.at_fair_share, self.fair_share_after) {
            true => books.shares[pool.index()].min(f64::from(demand)) as u32,
            false => 0,
        };
        // Hadoop takes the larger of both lacks, not their sum.
        min_share.max(fair_share).saturating_sub(state.running[kind])
    }
}

impl SlotBooks {
    /// Notes that a task of a pool is to be killed.
    fn note_preempted(&mut self, pools: &PoolTree, pool: PoolId) {
        for pool in pools.upwards(pool) {
            // The task may wait for its commit and not be counted any more.
            let left = &mut self.left[pool.index()];
            *left = left.saturating_sub(1);
        }
    }
}

/// Returns the part of a pool's minimum share that it demands.
fn owed(tree: &Tree, pool: PoolId, kind: SlotKind) -> u32 {
    let state = tree.state(pool);
    state.min_share[kind].min(state.demand[kind])
}

/// Returns how many slots that no pool's task occupies the pools inside `around` may still take.
fn idle(view: &View<'_>, tree: &Tree, around: PoolId, kind: SlotKind) -> u32 {
    let room = |pool: PoolId| {
        let most = tree.pools().pool(pool).max[kind].min(view.capacity(kind));
        most.saturating_sub(tree.state(pool).running[kind])
    };
    // The tightest maximum around decides how many of them can be used.
    tree.pools().upwards(around).map(room).min().unwrap_or(0)
}

/// Returns whether a time-out has passed; false if there is none.
fn is_over(now: SimTime, since: SimTime, after: Option<SimSpan>) -> bool {
    // Strictly later, as in Hadoop.
    after.is_some_and(|after| after < now.saturating_since(since))
}

/// Returns the fair share of each pool out of `slots` slots.
pub(super) fn fair_shares(
    tree: &Tree,
    kind: SlotKind,
    slots: f64,
    variant: FairVariant,
) -> Vec<f64> {
    let pools = tree.pools();
    let mut shares = vec![0.0; pools.ids().count()];
    shares[PoolId::ROOT.index()] = slots;
    let (mut scratch, mut found) = (Vec::new(), Vec::new());
    // A pool's number is higher than that of the pool around it, so
    // that one's share is known already.
    for around in pools.ids() {
        // Pools remain when their jobs have ended; skip those without demand, which soon are most.
        let wants = |pool: &PoolId| 0 < tree.state(*pool).demand[kind];
        let inside: Vec<PoolId> =
            pools.pool(around).children.iter().copied().filter(wants).collect();
        let claim = |pool: &PoolId| {
            let state = tree.state(*pool);
            Claim {
                weight: pools.pool(*pool).weight,
                min_share: f64::from(state.min_share[kind]),
                demand: f64::from(state.demand[kind]),
            }
        };
        let claims: Vec<Claim> = inside.iter().map(claim).collect();
        if claims.is_empty() {
            continue;
        }
        found.resize(claims.len(), 0.0);
        let slots = shares[around.index()];
        match variant {
            FairVariant::Paper => max_min(&claims, slots, &mut scratch, &mut found),
            FairVariant::Hadoop => bisected(&claims, slots, &mut found),
        }
        for (pool, share) in inside.iter().zip(&found) {
            shares[pool.index()] = *share;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn killing_what_is_not_counted_any_more_leaves_no_pool_below_nothing() {
        let pools =
            PoolTree::new(&serde_yaml::from_str("pools: {outer: {pools: {in: {}}}}").unwrap());
        let mut books =
            SlotBooks { kind: SlotKind::Map, shares: vec![0.0; 3], left: vec![1, 0, 3] };
        books.note_preempted(&pools, pools.find("in").unwrap());
        assert_eq!(books.left, [0, 0, 2]);
    }
}
