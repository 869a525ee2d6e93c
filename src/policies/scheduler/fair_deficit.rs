//! `fair-deficit`: the fair scheduler of Hadoop 0.19 and 0.20. A job that has lacked slots gets
//! more slots later.
//!
//! Each job has a deficit: the slots that it lacked, times how long it lacked them. A free slot
//! goes first to jobs below their minimum share, then to the job with the largest deficit. Each job
//! has a share. The jobs of a pool together get a share by the weight of the pool, even if they
//! have too few tasks to use it. No job waits for locality, and no task is killed. If reduces have
//! an order of their own ([`reduces`](super::shared::reduces)), it sorts the jobs of each pool, and
//! pools keep the order of their first jobs.
//!
//! As in the code, everything is computed twice a second and when a job arrives. Between updates
//! the policy counts launches but not ends. So ended tasks and jobs still count as running, both in
//! deficits and in the trackers' parts of the load. Among equal deficits Hadoop's choice is
//! arbitrary; here the job that arrived first comes first.
//!
//! Reduces have an additional slow start: they are not demanded until a twentieth of the job's
//! maps, and at least one map, has ended. Hadoop's general slow start applies as well.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::allocations::{PoolBy, no_nested, standstill};
use super::shared::delay::NO_DELAY;
use super::shared::job_queue::JobQueue;
use super::shared::line::move_entry;
use super::shared::load::{TrackerLoad, room};
use super::shared::pool_tree::{PoolId, PoolTree};
use super::shared::pools::{Pools, pools_or_file};
use super::shared::reduces::{Reduces, WithReduces};
use super::shared::share::{NewJobBoost, weight};
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    Complaint, Job, JobChange, JobEvent, JobId, MapReach, Offer, OptionFacts, Orders, PerSlot,
    Policy, PolicyNeeds, PolicyReload, PolicySite, Precedence, PrecedenceBy, Priority,
    PromisedSlots, Reason, SayRank, Scheduler, SlotKind, SlotShare, SlotStanding, View, step,
};

with_defaults! {
    /// The options of `fair-deficit`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct FairDeficitOptions {
        /// The pools, and the defaults of undeclared pools. Only weights, minimum shares and
        /// numbers of jobs have an effect.
        #[schemars(extend("x-only-if" = {"inside": {
            "max_maps": {"the policy `fair`": true},
            "max_reduces": {"the policy `fair`": true},
            "order": {"the policy `fair`": true},
            "fair_share_after": {"the policy `fair`": true},
            "min_share_after": {"the policy `fair`": true},
        }}))]
        #[schemars(schema_with = "pools_or_file")]
        pub allocations: Pools,
        /// How the pool of a job is chosen.
        pub pool_by: PoolBy = PoolBy::Pool,
        /// Whether a job's weight grows with the logarithm of the tasks that it could run.
        pub size_based_weight: bool = false,
        /// A larger weight for jobs while they are new. Without this, they have none.
        // `mapred.fairscheduler.weightadjuster` is not set.
        pub new_job_boost: Option<NewJobBoost> = None,
        /// Whether one heartbeat may launch both a map and a reduce.
        // `mapred.fairscheduler.assignmultiple` is off in 0.20.
        pub assign_multiple: bool = false,
        /// How often shares and deficits are computed.
        // 0.20 recomputes every 500 ms, a constant there.
        pub update_interval: SimSpan = SimSpan::from_millis(500),
    }
}

/// The state of the fair scheduler with deficits.
#[derive(Debug)]
pub struct FairDeficit {
    options: FairDeficitOptions,
    pools: PoolTree,
    line: JobQueue,
    /// By their numbers.
    // Updates walk over all of them, so they lie in one piece.
    jobs: IndexMap<JobId, DeficitJob>,
    /// The jobs that could use a slot, in the order in which they are asked.
    turns: PerSlot<BTreeSet<DeficitTurn>>,
    /// The tasks of all jobs that run or could be launched, by the last update.
    runnable: PerSlot<u32>,
    /// Whether an update has changed all positions.
    is_stale: bool,
    /// The jobs that have ended since the last update; they still count until the next one.
    ended: Vec<JobId>,
    reduces: Reduces,
    updated_at: SimTime,
}

/// A job's position. `false` sorts first: jobs below their minimum share come before all others.
type DeficitTurn = (bool, Reverse<i64>, SimTime, JobId);

#[derive(Debug)]
struct DeficitJob {
    pool: PoolId,
    priority: Priority,
    arrived: SimTime,
    runnable_since: Option<SimTime>,
    of: PerSlot<SlotDeficit>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SlotDeficit {
    /// The slots that the job has lacked, times milliseconds; negative if it has had more than its
    /// share.
    // An integer, as in Hadoop: a Java `long`, for which each update cuts off the fraction.
    deficit: i64,
    share: f64,
    weight: f64,
    min_slots: u32,
    /// The attempts that ran at the last update, and the attempts launched since then; attempts
    /// that have ended since then still count.
    running: u32,
    /// The tasks that could be launched at the last update, less the tasks launched since then.
    needed: u32,
    /// The job's position; `None` if it could not use a slot.
    turn: Option<DeficitTurn>,
}

impl Policy for FairDeficit {
    const NAME: &'static str = "fair-deficit";
    const ABOUT: &'static str =
        "Hadoop 0.20's fair scheduler: the job that has lacked most comes first";
    const GROUP: &'static str = "Hadoop's own";
    type Options = WithReduces<FairDeficitOptions>;

    fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
        let options = &mut options.own;
        let mut complaints = options.allocations.complaints(site, &options.pool_by);
        complaints.extend(standstill(options.update_interval));
        complaints.extend(no_nested(&options.allocations, Self::NAME));
        complaints
    }

    fn promised(options: &Self::Options, _: PerSlot<u64>) -> PromisedSlots {
        options.own.allocations.promised(&options.own.pool_by)
    }

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        let groups = Some(options.own.allocations.groups());
        OptionFacts { groups, ..options.facts(&NO_DELAY) }
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: options, reduces } = options;
        let pools = &options.allocations;
        Self {
            pools: PoolTree::new(pools),
            line: JobQueue::new(pools),
            jobs: IndexMap::new(),
            turns: PerSlot::default(),
            runnable: PerSlot::default(),
            is_stale: false,
            ended: Vec::new(),
            reduces: Reduces::new(&reduces),
            updated_at: SimTime::ZERO,
            options,
        }
    }
}

impl Scheduler for FairDeficit {
    fn precedence(&self) -> Precedence {
        Precedence::of_jobs(PrecedenceBy::Share)
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        match event.change {
            // At each arrival Hadoop recomputes the deficits and shares of all jobs.
            JobChange::Submitted => self.update(view),
            JobChange::Running => {
                let Some(job) = view.job(event.job) else { return };
                self.enter(job);
            }
            // As in the code, an ended job keeps its counters until the next update.
            JobChange::Ended(_) => self.ended.push(event.job),
            // As in Hadoop, shares are computed anew; the job keeps its deficit.
            JobChange::Altered { .. } => {
                let Some(job) = view.job(event.job) else { return };
                self.alter(job);
                self.update(view);
            }
            JobChange::Initialised | JobChange::Attempt(..) | JobChange::SlowTasks => {}
        }
        self.place(view, event.job);
    }

    fn reload(&mut self, view: &View<'_>, options: &PolicyReload) {
        type Read = WithReduces<FairDeficitOptions>;
        let Some(options) = options.downcast_ref::<Read>() else { return };
        self.options.allocations = options.own.allocations.clone();
        let pools = &self.options.allocations;
        self.pools.reload(pools);
        self.line.reload(pools);
        self.update(view);
    }

    fn withheld(&self, _: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        for (job, _) in self.jobs.iter().filter(|(_, job)| job.runnable_since.is_none()) {
            SlotKind::BOTH.into_iter().for_each(|kind| say(*job, kind, self.line.refusal()));
        }
    }

    fn holdings(&self, _: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        let mut sums: BTreeMap<PoolId, (u32, f64)> = BTreeMap::new();
        for job in self.jobs.values() {
            let (held, share) = sums.entry(job.pool).or_default();
            *held += job.of[kind].running;
            *share += job.of[kind].share;
        }
        for (pool, (held, share)) in sums {
            let pool = self.pools.pool(pool);
            let share = Some(SlotShare::of(share));
            say(&pool.name, SlotStanding { held, share, min_share: pool.min[kind] });
        }
    }

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { tick_every: Some(self.options.update_interval), ..self.reduces.needs() }
    }

    fn patience(&self, _: &View<'_>) -> SimSpan {
        // Deficits grow with time, but the policy never holds a slot back for them.
        SimSpan::ZERO
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.update(&orders.view());
    }

    fn ranking(&mut self, view: &View<'_>, kind: SlotKind, say: SayRank<'_>) {
        self.sort(view);
        for id in self.line(view, kind) {
            let job = &self.jobs[&id];
            let part = job.of[kind];
            let has_minimum = f64::from(u8::from(!is_below(part, view, id, kind)));
            let deficit = part.deficit as f64 / 1e3;
            let arrived = job.arrived.as_secs_f64();
            say(id, &[("has_minimum", has_minimum), ("deficit", deficit), ("arrived", arrived)]);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.sort(&offer.view());
        // Try maps first. A heartbeat launches at most one task of each kind.
        for kind in SlotKind::BOTH {
            let is_full = offer.free(kind) == 0 || self.has_its_part(offer, kind);
            if !is_full && self.launch(offer, kind) && !self.options.assign_multiple {
                return;
            }
        }
        offer.refuse_first(|offer, kind| {
            if !self.has_its_part(offer, kind) {
                return None;
            }
            let first = self.line(&offer.view(), kind).next()?;
            Some((first, Reason::TrackerLoad))
        });
    }
}

impl FairDeficit {
    fn enter(&mut self, job: &Job) {
        let pool = self.pools.place(self.options.pool_by.of(job.spec()));
        self.line.enter(job, pool);
        let info = DeficitJob {
            pool,
            priority: job.priority(),
            arrived: job.submitted_at(),
            // The next update sets this, since it knows the limits of pools and users.
            runnable_since: None,
            of: PerSlot::default(),
        };
        self.jobs.insert_sorted(job.id(), info);
    }

    fn alter(&mut self, job: &Job) {
        let Some(info) = self.jobs.get_mut(&job.id()) else { return };
        self.line.leave(job.id(), info.priority, info.arrived);
        info.pool = self.pools.place(self.options.pool_by.of(job.spec()));
        info.priority = job.priority();
        self.line.enter(job, info.pool);
    }

    /// Returns whether a tracker has its part of the load, by its last report.
    fn has_its_part(&self, offer: &Offer<'_>, kind: SlotKind) -> bool {
        let runnable = f64::from(self.runnable[kind]);
        room(offer, kind, runnable, 0.0, TrackerLoad::Reported) == 0
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> bool {
        let mut line = self.line(&offer.view(), kind);
        let reason = |id| {
            let part = &self.jobs[&id].of[kind];
            Reason::Share(SlotStanding {
                held: part.running,
                share: Some(SlotShare::of(part.share)),
                min_share: part.min_slots,
            })
        };
        let launched = match kind {
            // 0.20 has no delay scheduling: a job launches any of its maps, the nearest first.
            SlotKind::Map => line.find_map(|id| offer.launch_map(id, MapReach::Any, reason(id))),
            SlotKind::Reduce => line.find_map(|id| offer.launch_reduce(id, reason(id))),
        };
        drop(line);
        let Some(job) = launched.map(|launched| launched.attempt.job()) else { return false };
        if let Some(job) = self.jobs.get_mut(&job) {
            job.of[kind].running += 1;
            // This never falls below zero: `line` has only jobs that need a slot.
            job.of[kind].needed -= 1;
        }
        self.place(&offer.view(), job);
        true
    }

    /// Puts a job in its place, after a change to it alone.
    fn place(&mut self, view: &View<'_>, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        for kind in SlotKind::BOTH {
            let turn = job.turn(view, id, kind);
            let before = std::mem::replace(&mut job.of[kind].turn, turn);
            move_entry(&mut self.turns[kind], before, turn);
        }
    }

    /// Puts all jobs in their places, after an update.
    fn sort(&mut self, view: &View<'_>) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        for kind in SlotKind::BOTH {
            self.runnable[kind] = 0;
            for (id, job) in &mut self.jobs {
                step();
                job.of[kind].turn = job.turn(view, *id, kind);
                self.runnable[kind] += job.of[kind].runnable();
            }
            self.turns[kind] = self.jobs.values().filter_map(|job| job.of[kind].turn).collect();
        }
    }

    fn line<'a>(&'a self, view: &View<'_>, kind: SlotKind) -> Box<dyn Iterator<Item = JobId> + 'a> {
        let line = self.turns[kind].iter().inspect(|_| step()).map(|(.., id)| *id);
        let has_order = kind == SlotKind::Reduce && self.reduces.have_an_order();
        if has_order { Box::new(self.in_order(view, line).into_iter()) } else { Box::new(line) }
    }

    /// Sorts the jobs of each pool for reduces; pools keep the order of their first jobs.
    fn in_order(&self, view: &View<'_>, line: impl Iterator<Item = JobId>) -> Vec<JobId> {
        let mut pools: IndexMap<PoolId, Vec<JobId>> = IndexMap::new();
        for id in line {
            pools.entry(self.jobs[&id].pool).or_default().push(id);
        }
        // The map remembers the order of insertion, which is the order of the pools' first jobs.
        let in_order = |jobs: Vec<JobId>| {
            self.reduces.in_order(SlotKind::Reduce, view, jobs.into_iter(), |id: JobId| {
                self.jobs[&id].runnable_since
            })
        };
        pools.into_values().flat_map(in_order).collect()
    }

    fn update(&mut self, view: &View<'_>) {
        let elapsed = view.now().saturating_since(self.updated_at);
        self.updated_at = view.now();
        self.is_stale = true;
        let millis = elapsed.as_micros() as f64 / 1e3;
        for job in mem::take(&mut self.ended) {
            if let Some(info) = self.jobs.shift_remove(&job) {
                self.line.leave(job, info.priority, info.arrived);
            }
        }
        let Self { line, pools, jobs, .. } = self;
        line.choose(pools, |job, may_run| {
            if let Some(job) = jobs.get_mut(&job) {
                let since = job.runnable_since.unwrap_or(view.now());
                job.runnable_since = may_run.then_some(since);
            }
        });
        for kind in SlotKind::BOTH {
            for (id, job) in &mut self.jobs {
                let part = &mut job.of[kind];
                // Here `share` and `running` are still the values of the interval that ends now.
                let gap = part.share - f64::from(part.running);
                let lacked = mutated!(
                    gap * millis,
                    "deficit/sign" => -gap * millis,
                    "deficit/without-use" => part.share * millis,
                    "deficit/without-time" => gap,
                );
                let before = mutated!(part.deficit as f64, "deficit/forgotten" => 0.0);
                part.deficit = (before + lacked) as i64;
                let Some(known) = view.job(*id) else { continue };
                // Attempts lower the deficit even of a job that may not run any more.
                part.running = known.tasks(kind).running();
                let may_run = job.runnable_since.is_some();
                // As in Hadoop, second attempts are subtracted, too.
                let seconds = known.tasks(kind).seconds();
                let needed = match kind {
                    SlotKind::Map => known.pending(kind),
                    SlotKind::Reduce if may_start_reduces(known) => {
                        self.reduces.pending_ever(known)
                    }
                    SlotKind::Reduce => 0,
                };
                part.needed = if may_run { needed.saturating_sub(seconds) } else { 0 };
            }
            self.weigh(view.now(), kind);
            self.deal_min_shares(kind);
            self.share_out(kind, f64::from(view.capacity(kind)));
        }
    }

    /// Sets the weights of jobs, so that the weights in a pool add up to the weight of the pool.
    fn weigh(&mut self, now: SimTime, kind: SlotKind) {
        let boost = self.options.new_job_boost.as_ref();
        let mut sums = vec![0.0; self.pools.ids().count()];
        for job in self.jobs.values_mut() {
            let runnable = job.of[kind].runnable();
            let size = self.options.size_based_weight.then_some(runnable);
            // A job that cannot use a slot gets no part of its pool's weight.
            let is_counted = job.runnable_since.is_some() && 0 < runnable;
            let weight =
                weight(job.priority, size) * NewJobBoost::factor_of(boost, job.arrived, now);
            job.of[kind].weight = if is_counted { weight } else { 0.0 };
            sums[job.pool.index()] += job.of[kind].weight;
        }
        for job in self.jobs.values_mut().filter(|job| 0.0 < job.of[kind].weight) {
            let pool = self.pools.pool(job.pool);
            let weight = mutated!(pool.weight, "deficit/unweighted" => 1.0);
            let jobs = mutated!(sums[job.pool.index()], "deficit/jobs-for-pools" => 1.0);
            job.of[kind].weight *= weight / jobs;
        }
    }

    /// Divides each pool's minimum share among its jobs, by weight and in whole slots.
    fn deal_min_shares(&mut self, kind: SlotKind) {
        self.jobs.values_mut().for_each(|job| job.of[kind].min_slots = 0);
        for pool in self.pools.ids() {
            let slots = self.pools.pool(pool).min[kind];
            if 0 < slots {
                let jobs = self.jobs.values_mut().filter(|job| job.pool == pool);
                deal(slots, jobs.map(|job| (job.arrived, &mut job.of[kind])).collect());
            }
        }
    }

    /// Divides `slots` slots among the jobs: by weight, but no job gets less than its minimum.
    fn share_out(&mut self, kind: SlotKind, slots: f64) {
        let mut left = slots;
        let parts = self.jobs.values_mut().map(|job| &mut job.of[kind]);
        let (mut open, idle): (Vec<_>, Vec<_>) = parts.partition(|part| 0.0 < part.weight);
        idle.into_iter().for_each(|part| part.share = 0.0);
        loop {
            let all: f64 = open.iter().map(|part| part.weight).sum();
            let (now, jobs) = (left, open.len());
            open.iter_mut().for_each(|part| part.share = now * part.weight / all);
            open.retain_mut(|part| {
                let has_more = f64::from(part.min_slots) <= part.share;
                // A job may get its minimum instead; the others share the rest anew.
                if !has_more {
                    part.share = f64::from(part.min_slots);
                    left -= part.share;
                }
                has_more
            });
            // If no job was raised to its minimum in this pass, the shares are final. As in Hadoop,
            // the slots left to share are negative if minimums exceed the cluster.
            if open.len() == jobs {
                return;
            }
        }
    }
}

/// Returns whether enough maps of a job have ended for its reduces to be demanded; Hadoop's general
/// slow start applies as well. Always `true` for a job without maps.
fn may_start_reduces(job: &Job) -> bool {
    let maps = job.tasks(SlotKind::Map);
    // 0.20's fair scheduler contains this test, in addition to the job's own slow start.
    let enough = (f64::from(maps.total()) * 0.05).max(1.0);
    maps.total() == 0 || enough <= f64::from(maps.finished() + maps.failed())
}

impl DeficitJob {
    /// Returns the job's position; `None` if it could not use a slot.
    fn turn(&self, view: &View<'_>, id: JobId, kind: SlotKind) -> Option<DeficitTurn> {
        let part = self.of[kind];
        // A job without a task has ended, or its reduces wait for the slow start.
        let gives = view.job(id).is_some_and(|job| 0 < job.pending(kind));
        let is_fed = mutated!(!is_below(part, view, id, kind), "deficit/needy-last" => true);
        (0 < part.needed && gives).then_some((is_fed, Reverse(part.deficit), self.arrived, id))
    }
}

/// Returns whether a job is below its minimum, by its exact number of running tasks.
fn is_below(part: SlotDeficit, view: &View<'_>, job: JobId, kind: SlotKind) -> bool {
    view.job(job).map_or(0, |job| job.tasks(kind).running()) < part.min_slots
}

impl SlotDeficit {
    fn runnable(&self) -> u32 {
        self.running + self.needed
    }

    /// Adds up to `slots` of the `left` slots to the minimum, as many as the job can use.
    fn take(&mut self, slots: u32, left: &mut u32) {
        let taken = slots.min(self.runnable().saturating_sub(self.min_slots)).min(*left);
        self.min_slots += taken;
        *left -= taken;
    }
}

/// Divides a pool's minimum share among its jobs: whole slots by weight, in rounds. The rest goes
/// to the heaviest job; among equal weights, to the job with the largest deficit.
fn deal(slots: u32, mut jobs: Vec<(SimTime, &mut SlotDeficit)>) {
    let mut left = slots;
    loop {
        // A job that can use no more slots leaves them to the other jobs of its pool.
        jobs.retain(|(_, part)| 0.0 < part.weight && part.min_slots < part.runnable());
        let all: f64 = jobs.iter().map(|(_, part)| part.weight).sum();
        let before = left;
        for (_, part) in &mut jobs {
            part.take((f64::from(before) * part.weight / all).floor() as u32, &mut left);
        }
        if left == 0 || jobs.is_empty() {
            return;
        }
        // If all shares are below one slot, a last pass rounds up, in Hadoop's order.
        if left == before {
            jobs.sort_by(|(arrived, a), (other, b)| {
                let by_deficit = b.deficit.cmp(&a.deficit);
                b.weight.total_cmp(&a.weight).then(by_deficit).then(arrived.cmp(other))
            });
            for (_, part) in &mut jobs {
                part.take((f64::from(before) * part.weight / all).ceil() as u32, &mut left);
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::PolicyBench;

    /// Returns three trackers of four map slots.
    fn bench(pools: &str) -> PolicyBench<FairDeficit> {
        let yaml = format!("{{allocations: {{pools: {pools}}}}}");
        bench_of(&yaml)
    }

    fn bench_of(yaml: &str) -> PolicyBench<FairDeficit> {
        let options = serde_yaml::from_str(yaml).unwrap();
        PolicyBench::new(FairDeficit::new(options), 3, PerSlot { map: 4, reduce: 2 })
    }

    /// Returns one number of each of these jobs, for maps.
    fn of<T, const N: usize>(
        bench: &PolicyBench<FairDeficit>,
        jobs: [JobId; N],
        what: impl Fn(SlotDeficit) -> T,
    ) -> [T; N] {
        jobs.map(|job| what(bench.policy.jobs[&job].of[SlotKind::Map]))
    }

    #[test]
    fn shares_are_by_weight_and_no_less_than_the_minimums() {
        let mut bench = bench("{a: {min_maps: 6}, b: {weight: 3}, c: {weight: 2}}");
        let jobs = ["a", "b", "c"].map(|pool| bench.submit_to(pool, 100, 0));
        bench.tick();
        // By weight `a` would get two of twelve slots, but its minimum is six. The other six slots
        // are split three to two.
        assert_eq!(of(&bench, jobs, |part| part.min_slots), [6, 0, 0]);
        let shares = of(&bench, jobs, |part| (part.share * 10.0).round() / 10.0);
        assert_eq!(shares, [6.0, 3.6, 2.4]);
    }

    #[test]
    fn a_pool_weighs_the_same_however_many_jobs_it_has() {
        let mut bench = bench("{a: {min_maps: 5}, b: {weight: 2}}");
        let jobs = ["a", "b", "a"].map(|pool| bench.submit_to(pool, 100, 0));
        bench.tick();
        // Whole slots are dealt first; the rest goes to the first job among equals.
        assert_eq!(of(&bench, jobs, |part| part.min_slots), [3, 0, 2]);
        // By weight the jobs would get two, eight and two. The first job gets more, at the expense
        // of the second.
        let shares = of(&bench, jobs, |part| (part.share * 10.0).round() / 10.0);
        assert_eq!(shares, [3.0, 7.0, 2.0]);
    }

    #[test]
    fn a_new_job_weighs_more_until_it_is_old() {
        let mut bench = bench_of("{new_job_boost: {}}");
        let jobs = [0.0, 400.0].map(|at| bench.at(at).submit_to("a", 100, 0));
        bench.tick();
        assert_eq!(of(&bench, jobs, |part| part.share), [3.0, 9.0], "a factor of three");
        bench.at(700.0).tick();
        assert_eq!(of(&bench, jobs, |part| part.share), [6.0, 6.0], "five minutes are over");
    }

    #[test]
    fn a_pool_below_its_minimum_comes_before_all_deficits() {
        let mut bench = bench("{a: {}, b: {min_maps: 2}}");
        let jobs = ["a", "b"].map(|pool| bench.submit_to(pool, 100, 0));
        bench.tick().fill();
        assert_eq!(bench.held(SlotKind::Map, jobs), [10, 2], "`b` gets its minimum first");
    }

    #[test]
    fn a_deficit_is_paid_back() {
        let mut bench = bench("{a: {weight: 2}, b: {}}");
        let jobs = ["a", "b"].map(|pool| bench.submit_to(pool, 100, 0));
        let deficits = |bench: &_| of(bench, jobs, |part| part.deficit);
        bench.tick().fill();
        assert_eq!(bench.held(SlotKind::Map, jobs), [12, 0]);
        bench.at(10.0).tick();
        assert_eq!(deficits(&bench), [-40_000, 40_000], "four slots for ten seconds");
        bench.end_first(jobs[0], SlotKind::Map, 12);
        bench.tick().fill();
        assert_eq!(bench.held(SlotKind::Map, jobs), [0, 12]);
        bench.at(15.0).tick();
        assert_eq!(deficits(&bench), [0, 0], "eight slots for five seconds");
    }

    /// Returns the jobs whose reduces are launched when the trackers make offers in turn, one
    /// reduce each.
    fn reduces(bench: &mut PolicyBench<FairDeficit>) -> Vec<JobId> {
        let launched = (0..3).flat_map(|tracker| bench.offer(tracker)).collect::<Vec<_>>();
        let reduces = launched.iter().filter(|attempt| attempt.slot() == SlotKind::Reduce);
        reduces.map(|attempt| attempt.job()).collect()
    }

    #[test]
    fn srt_orders_the_jobs_of_a_pool_and_pools_come_by_their_first_jobs() {
        for (order, [first, second, third]) in
            [("as_maps", ["many", "few", "other"]), ("srt", ["few", "many", "other"])]
        {
            let pools = "{a: {weight: 4}, b: {}}";
            let options = "assign_multiple: true";
            let allocations = format!("allocations: {{pools: {pools}}}");
            let mut bench =
                bench_of(&format!("{{reduce_order: {order}, {options}, {allocations}}}"));
            // All maps of both jobs are launched. The job with fewer maps is expected to finish
            // them first.
            let many = bench.submit_to("a", 9, 1);
            let few = bench.submit_to("a", 3, 1);
            bench.tick().fill();
            bench.end_first(many, SlotKind::Map, 2);
            bench.end_first(few, SlotKind::Map, 1);
            let other = bench.submit_to("b", 0, 1);
            bench.tick();
            bench.at(10.0).tick();
            // There are six slots. In ten seconds each job of `a` has lacked 2.4 slots, the other
            // job 1.2.
            let name = |job| match job {
                job if job == many => "many",
                job if job == few => "few",
                _ => "other",
            };
            let served: Vec<&str> = reduces(&mut bench).into_iter().map(name).collect();
            assert_eq!(served, [first, second, third], "{order}; {other}");
        }
    }

    /// Of twelve slots, the first job demands ten and the second job two. While the first job still
    /// counts after its end, a tracker may fill all four of its slots; later it may fill only one.
    #[test]
    fn a_job_that_has_ended_counts_until_the_next_update() {
        for (updates, held) in [(false, 2), (true, 1)] {
            let mut bench = bench("{}");
            let first = bench.submit_to("a", 10, 0);
            bench.tick().fill();
            bench.submit_to("b", 2, 0);
            bench.tick();
            bench.end_first(first, SlotKind::Map, 10);
            if updates {
                bench.tick();
            }
            bench.offer(0);
            bench.offer(0);
            assert_eq!(bench.running(0).len(), held, "updated: {updates}");
        }
    }

    #[test]
    fn reduces_have_a_slow_start_of_their_own() {
        let mut bench = bench("{}");
        // Hadoop's slow start is off here, so only the policy's own slow start makes reduces wait.
        let jobs = [40, 1, 0].map(|maps| bench.submit_to("a", maps, 2));
        let needed = |bench: &PolicyBench<FairDeficit>| {
            jobs.map(|job| bench.policy.jobs[&job].of[SlotKind::Reduce].needed)
        };
        bench.tick().offer(0);
        bench.offer(1);
        assert_eq!(needed(&bench), [0, 0, 2], "only the last job has no maps");
        bench.end_first(jobs[0], SlotKind::Map, 1);
        bench.tick();
        assert_eq!(needed(&bench)[0], 0, "a twentieth of the maps is two");
        bench.end_first(jobs[0], SlotKind::Map, 1);
        bench.tick();
        assert_eq!(needed(&bench)[0], 2);
    }

    #[test]
    fn tasks_ended_since_the_last_update_still_count_in_the_deficit() {
        let mut bench = bench("{a: {weight: 2}, b: {}}");
        let jobs = ["a", "b"].map(|pool| bench.submit_to(pool, 100, 0));
        bench.tick().fill();
        bench.at(5.0).end_first(jobs[0], SlotKind::Map, 12);
        bench.at(10.0).tick();
        assert_eq!(of(&bench, jobs, |part| part.deficit), [-40_000, 40_000]);
    }
}
