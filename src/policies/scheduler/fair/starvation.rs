//! Pools that have been below their share for too long, and the kills of tasks for them.
//!
//! Within a pool, child pools above their share give up the slots that their starved siblings lack.
//! The latest tasks are killed first, but never so many that a pool falls below the whole slots of
//! its share, and never more than are lacking. The number of lacking slots is lowered by the slots
//! that ordered kills will free, and by the slots that no task of a pool occupies.

use std::collections::BTreeMap;

use super::tree::Tree;
use super::{FairOptions, FairVariant};
use crate::scheduler::shared::launches::Launches;
use crate::scheduler::shared::pool_tree::{PoolId, PoolTree};
use crate::scheduler::shared::share::{Claim, bisected, max_min};
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptId, JobChange, JobEvent, JobId, Launched, Orders, PerSlot, Reason, SlotKind, SlotShare,
    SlotStanding, TrackerId, View,
};

/// How long pools have been below their shares, and the kills that were ordered for them.
#[derive(Debug, Default)]
pub(super) struct Starvation {
    /// The time between two rounds of killing.
    every: SimSpan,
    /// How long a pool may be below its fair share before tasks are killed for it; `None` means
    /// forever.
    pub(super) fair_share_after: Option<SimSpan>,
    /// In the paper a pool is starved below its exact share, in Hadoop only below half of it.
    variant: FairVariant,
    /// Whether tasks are killed, or their kills at least recorded.
    kills: bool,
    /// Whether kills are only recorded.
    only_logs: bool,
    clocks: Vec<PerSlot<Clock>>,
    /// How many rounds have been due by the last tick.
    rounds: u64,
    /// The jobs that were submitted and demand nothing yet, since they are being set up: the pool of
    /// each, and when it was submitted. Only in the paper's variant, and only if tasks are killed.
    arriving: BTreeMap<JobId, (PoolId, SimTime)>,
    /// The running attempts. The note of an attempt that is ordered to end names its pool.
    launches: Launches<PoolId>,
}

/// When a pool last had its minimum share, and its fair share (in Hadoop, half of it).
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    at_min_share: SimTime,
    at_fair_share: SimTime,
}

impl Clock {
    fn new(now: SimTime) -> Self {
        Self { at_min_share: now, at_fair_share: now }
    }
}

/// The slots of one kind that pools should have, and those that they have.
struct SlotBooks {
    kind: SlotKind,
    shares: Vec<f64>,
    /// How many tasks each pool will run after the kills that are already ordered.
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
            kills: options.preemption.kills(),
            only_logs: options.preemption_only_log,
            ..Self::default()
        }
    }

    /// Returns the longest time until tasks are killed for a pool below its share.
    pub(super) fn longest(&self, tree: &Tree) -> SimSpan {
        let of_pools = tree.pools.ids().filter_map(|id| tree.pools.pool(id).min_share_after);
        of_pools.chain(self.fair_share_after).max().unwrap_or(SimSpan::ZERO) + self.every
    }

    pub(super) fn launched(&mut self, at: SimTime, tracker: TrackerId, launched: Launched) {
        // Without preemption no attempt is ever killed, so none needs to be remembered.
        if self.kills {
            self.launches.note(at, tracker, launched);
        }
    }

    pub(super) fn job_changed(&mut self, event: &JobEvent) {
        self.launches.job_changed(event);
        // From here on the job's demand shows whether its pool has its share.
        if let JobChange::Running | JobChange::Ended(_) = event.change {
            self.arriving.remove(&event.job);
        }
    }

    /// Notes that a job was submitted to a pool. In the paper the time for which the pool may be
    /// below its minimum share begins now (section 4: "within T_min seconds of a job being
    /// submitted to it"); in Hadoop it begins when the job is set up and demands slots.
    pub(super) fn submitted(&mut self, job: JobId, pool: PoolId, now: SimTime) {
        let counts = self.kills && self.variant == FairVariant::Paper;
        if mutated!(counts, "preempt/since-the-demand" => false) {
            self.arriving.insert(job, (pool, now));
        }
    }

    /// Returns whether a pool has been below its share for too long.
    ///
    /// Hadoop updates its clocks only if it preempts. Without preemption the clock of a pool stays
    /// at the instant when the pool was made. So once the time-out has passed, its jobs no longer
    /// wait for locality.
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
            // The pool was made after the last tick, so it has no clocks yet.
            None => return false,
        };
        is_over(now, clock.at_min_share, tree.pools.pool(pool).min_share_after)
            || is_over(now, clock.at_fair_share, self.fair_share_after)
    }

    /// Updates the clocks. If a round of killing is due, kills tasks for starved pools.
    pub(super) fn preempt_for_starved(&mut self, orders: &mut Orders<'_>, tree: &Tree) {
        if !self.kills {
            return;
        }
        let now = orders.view().now();
        // As in Hadoop, every update moves the clocks, but kills have an interval of their own.
        let rounds = orders
            .view()
            .rounds(mutated!(self.every, "preempt/each-update" => SimSpan::from_millis(500)));
        let is_time = rounds != std::mem::replace(&mut self.rounds, rounds);
        // A pool that was made since the last tick begins as if it had its share.
        let new = PerSlot { map: Clock::new(now), reduce: Clock::new(now) };
        self.clocks.resize(tree.pools.ids().count(), new);
        for kind in SlotKind::BOTH {
            let mut books = self.books(&orders.view(), tree, kind);
            self.update_clocks(now, tree, &books);
            for pool in tree.pools.ids().filter(|_| is_time) {
                self.relieve_in(orders, pool, tree, &mut books);
            }
        }
    }

    fn books(&self, view: &View<'_>, tree: &Tree, kind: SlotKind) -> SlotBooks {
        let shares = fair_shares(tree, kind, f64::from(view.capacity(kind)), self.variant);
        let left: Vec<u32> = tree.pools.ids().map(|pool| tree.state(pool).running[kind]).collect();
        let mut books = SlotBooks { kind, shares, left };
        // Attempts that are being killed still count as running, so subtract them from their pools.
        self.launches.ordered_ends(kind).for_each(|pool| books.note_preempted(&tree.pools, *pool));
        books
    }

    /// Returns when the first job in setup was submitted, in this pool or below it.
    fn arriving_since(&self, tree: &Tree, pool: PoolId) -> Option<SimTime> {
        let arriving = self.arriving.values();
        let here = arriving.filter(|(of, _)| tree.pools.upwards(*of).any(|one| one == pool));
        here.map(|(_, at)| *at).min()
    }

    fn update_clocks(&mut self, now: SimTime, tree: &Tree, books: &SlotBooks) {
        for pool in tree.pools.ids() {
            let state = tree.state(pool);
            let kind = books.kind;
            let running = state.running[kind];
            // A pool does without a job in setup only if its whole minimum share is running.
            let awaits = running < state.min_share[kind];
            let since = if awaits { self.arriving_since(tree, pool) } else { None };
            let clock = &mut self.clocks[pool.index()][kind];
            if owed(tree, pool, kind) <= running {
                let seen = clock.at_min_share.max(since.unwrap_or(now));
                clock.at_min_share = mutated!(seen, "preempt/clock-kept" => clock.at_min_share);
            }
            let part = match self.variant {
                FairVariant::Paper => mutated!(1.0, "preempt/half-of-the-share" => 0.5),
                // In Hadoop a pool is starved of its fair share only below half of it.
                FairVariant::Hadoop => mutated!(0.5, "preempt/the-whole-share" => 1.0),
            };
            let owed = (books.shares[pool.index()] * part).min(f64::from(state.demand[kind]));
            // Cut off as in 0.21 to 1.2.1: a pool with a share of one is never below half.
            if owed as u32 <= state.running[kind] {
                clock.at_fair_share = now;
            }
        }
    }

    /// Kills tasks of pools inside `around`, for the slots that starved children of `around` lack.
    fn relieve_in(
        &mut self,
        orders: &mut Orders<'_>,
        around: PoolId,
        tree: &Tree,
        books: &mut SlotBooks,
    ) {
        let pools = &tree.pools;
        let now = orders.view().now();
        let inside = &pools.pool(around).children;
        let lacks: u32 = inside.iter().map(|pool| self.lacks(now, tree, *pool, books)).sum();
        if lacks == 0 {
            return;
        }
        // Ordered kills will free slots; `skip` leaves out the pool itself.
        let is_below = |pool: &PoolId| pools.upwards(*pool).skip(1).any(|above| above == around);
        let doomed = self.launches.ordered_ends(books.kind).filter(|pool| is_below(pool)).count();
        // Starved pools also get the slots that no pool's task occupies.
        let idle = mutated!(
            idle(&orders.view(), tree, around, books.kind),
            "preempt/idle-slots-forgotten" => 0,
        );
        let doomed = mutated!(doomed as u32, "preempt/kills-again" => 0);
        let mut lacks = lacks.saturating_sub(doomed).saturating_sub(idle);
        if lacks == 0 {
            return;
        }
        // The minimum share may exceed the fair share if the pool around has less.
        let has_more = |pool: PoolId, books: &SlotBooks| {
            let mut chain = pools.upwards(pool).take_while(|pool| *pool != around);
            chain.all(|pool| {
                let left = books.left[pool.index()];
                let is_rich = books.shares[pool.index()] < f64::from(left);
                mutated!(owed(tree, pool, books.kind) < left, "preempt/below-minimum" => true)
                    && mutated!(is_rich, "preempt/below-share" => true)
            })
        };
        let rich = pools.ids().filter(|pool| is_below(pool) && has_more(*pool, books));
        let mut victims: Vec<(SimTime, AttemptId, PoolId)> = Vec::new();
        for pool in rich {
            let latest =
                tree.jobs_of(pool).flat_map(|job| self.launches.latest_first(job, books.kind));
            victims.extend(latest.map(|(at, attempt)| (at, attempt, pool)));
        }
        // The latest lose the least work (section 4). Hadoop has no order of ties.
        victims.sort_unstable_by(|a, b| mutated!(b.cmp(a), "preempt/oldest" => a.cmp(b)));
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
                let reason = Reason::OverShare(standing);
                // The next round finds the same pools starved, as in Hadoop's log.
                if self.only_logs {
                    orders.would_kill(attempt, reason);
                } else {
                    orders.kill(attempt, reason);
                    self.launches.note_ordered_end(attempt, pool);
                }
                mutated!(books.note_preempted(pools, pool), "preempt/one-pool-pays-all" => ());
                lacks -= mutated!(1, "preempt/all-beyond-the-share" => 0);
            }
        }
    }

    /// Returns how many slots a pool lacks; 0 if it has not waited long enough.
    fn lacks(&self, now: SimTime, tree: &Tree, pool: PoolId, books: &SlotBooks) -> u32 {
        let (state, kind) = (tree.state(pool), books.kind);
        let clock = self.clocks[pool.index()][kind];
        let is_over = |since, after| is_over(now, since, after);
        let demand = state.demand[kind];
        let min_share = match is_over(clock.at_min_share, tree.pools.pool(pool).min_share_after) {
            true => owed(tree, pool, kind),
            false => 0,
        };
        let fair_share = match is_over(clock.at_fair_share, self.fair_share_after) {
            true => {
                let share = books.shares[pool.index()];
                mutated!(share.min(f64::from(demand)), "preempt/rounds-up" => share.ceil()) as u32
            }
            false => 0,
        };
        // As in Hadoop, take the larger of the two numbers of lacking slots, not their sum.
        let lacks = |share: u32| share.saturating_sub(state.running[kind]);
        mutated!(
            lacks(min_share.max(fair_share)),
            "preempt/both-lacks" => lacks(min_share) + lacks(fair_share),
        )
    }
}

impl SlotBooks {
    /// Notes that a task of a pool will be killed, in the pool and in all pools around it.
    fn note_preempted(&mut self, pools: &PoolTree, pool: PoolId) {
        for pool in pools.upwards(pool) {
            // A task that waits for its commit may no longer be counted, so stop at zero.
            let left = &mut self.left[pool.index()];
            *left = left.saturating_sub(1);
        }
    }
}

/// Returns how many slots of a pool's minimum share it demands.
fn owed(tree: &Tree, pool: PoolId, kind: SlotKind) -> u32 {
    let state = tree.state(pool);
    state.min_share[kind].min(state.demand[kind])
}

/// Returns how many slots that no pool's task occupies can still go to pools inside `around`.
fn idle(view: &View<'_>, tree: &Tree, around: PoolId, kind: SlotKind) -> u32 {
    let room = |pool: PoolId| {
        let most = tree.pools.pool(pool).max[kind].min(view.capacity(kind));
        most.saturating_sub(tree.state(pool).running[kind])
    };
    // The limit is the smallest room under a maximum among `around` and the pools around it.
    tree.pools.upwards(around).map(room).min().unwrap_or(0)
}

/// Returns whether a time-out has passed; `false` if there is no time-out.
fn is_over(now: SimTime, since: SimTime, after: Option<SimSpan>) -> bool {
    // The comparison is strict, as in Hadoop.
    after.is_some_and(|after| {
        let after = mutated!(
            after,
            "preempt/at-once" => SimSpan::ZERO,
            "preempt/never" => SimSpan::LONGEST,
        );
        after < now.saturating_since(since)
    })
}

/// Returns the fair share of each pool, out of `slots` slots, by the pool's number.
pub(super) fn fair_shares(
    tree: &Tree,
    kind: SlotKind,
    slots: f64,
    variant: FairVariant,
) -> Vec<f64> {
    let pools = &tree.pools;
    let mut shares = vec![0.0; pools.ids().count()];
    shares[PoolId::ROOT.index()] = slots;
    let (mut scratch, mut found) = (Vec::new(), Vec::new());
    // The pool around a pool has the lower number, so its share is known already.
    for around in pools.ids() {
        // Skip pools without demand. There are many, since a pool is kept when its jobs have ended.
        let wants = |pool: &PoolId| 0 < tree.state(*pool).demand[kind];
        let inside: Vec<PoolId> =
            pools.pool(around).children.iter().copied().filter(wants).collect();
        let claim = |pool: &PoolId| {
            let state = tree.state(*pool);
            Claim {
                weight: mutated!(pools.pool(*pool).weight, "preempt/equal-shares" => 1.0),
                min_share: mutated!(
                    f64::from(state.min_share[kind]),
                    "preempt/share-without-minimum" => 0.0,
                ),
                demand: mutated!(
                    f64::from(state.demand[kind]),
                    "preempt/share-without-demand" => 1e6,
                ),
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
