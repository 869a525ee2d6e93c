//! `dynamic-priority`: shares that pools buy (Sandholm and Lai: Dynamic proportional share scheduling in
//! Hadoop, JSSPP 2010; Hadoop's contributed dynamic scheduler).
//!
//! Each pool has a budget and a spending rate. In each interval the slots are divided in proportion to
//! the spending rates of the pools that have tasks to run, and each pool pays its rate for every slot
//! that it uses. A pool whose budget is used up gets only slots that no other pool wants.
//!
//! ```text
//! 90 slots    ann spends 2, bob spends 1       60 and 30 slots
//!             ann pays 120 in each interval, until her budget is used up; then bob has all
//! ```
//! Within a pool, jobs run by priority and arrival.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    Complaint, Job, JobEvent, JobId, JobState, Launched, Offer, OptionFacts, Orders, PerSlot,
    Policy, PolicyNeeds, PolicySite, Precedence, PrecedenceBy, Priority, Reason, Scheduler,
    SlotKind, SlotShare, SlotStanding, View, step,
};
use mumakil_policies::scheduler::shared::allocations::PoolBy;
use mumakil_policies::scheduler::shared::delay::{Delay, DelaySpec};
use mumakil_policies::scheduler::shared::line::{Measure, move_entry};

with_defaults! {
    /// The options of `dynamic-priority`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct DynamicPriorityOptions {
        /// The pools by their names.
        #[schemars(with = "BTreeMap<String, PoolBudget>")]
        pub pools: IndexMap<String, PoolBudget> = IndexMap::new(),
        /// The budget of a pool that is not listed.
        pub others: PoolBudget,
        /// How the pool of a job is chosen.
        pub pool_by: PoolBy = PoolBy::Pool,
        /// How often pools pay for the slots that they use.
        // `mapred.dynamic-scheduler.alloc-interval`: 20 s.
        pub interval: SimSpan = SimSpan::from_secs(20),
        /// How long jobs wait for their input. Without this, they do not wait.
        pub delay: DelaySpec = DelaySpec::NONE,
    }
}

with_defaults! {
    /// The budget of a pool.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct PoolBudget {
        /// The amount that it can spend in all. Without this, it can spend without end.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub budget: Option<Factor> = None,
        /// The price that it pays for a slot in each interval.
        pub spending: Factor = Factor::ONE,
    }
}

/// Divides slots in proportion to what pools spend.
#[derive(Debug)]
pub struct DynamicPriority {
    pools: Vec<PayingPool>,
    names: BTreeMap<String, usize>,
    listed: IndexMap<String, PoolBudget>,
    others: PoolBudget,
    pool_by: PoolBy,
    interval: SimSpan,
    jobs: BTreeMap<JobId, PayingJob>,
    delay: Delay,
}

/// A pool that pays for its slots.
#[derive(Debug)]
struct PayingPool {
    name: String,
    /// The part of its budget that is left.
    left: f64,
    spending: f64,
    running: PerSlot<u32>,
    /// The jobs that could use a slot, in the order in which they are asked.
    lines: PerSlot<BTreeSet<PayingTurn>>,
}

/// A job's position in its pool: its priority, its arrival and its number.
type PayingTurn = (Priority, SimTime, JobId);

#[derive(Clone, Copy, Debug)]
struct PayingJob {
    pool: usize,
    running: PerSlot<u32>,
    places: PerSlot<Option<PayingTurn>>,
}

impl PayingPool {
    fn can_pay(&self) -> bool {
        0.0 < self.left && 0.0 < self.spending
    }

    /// Returns its place among the pools: those that can pay come first, and of these, the one with
    /// the fewest slots for what it spends.
    fn turn(&self, kind: SlotKind) -> (bool, Measure) {
        let spends = mutated!(self.can_pay(), "budgets/equal-shares" => false);
        let weight = if spends { self.spending } else { 1.0 };
        (
            mutated!(!self.can_pay(), "budgets/poor-pools-share" => false),
            Measure(f64::from(self.running[kind]) / weight),
        )
    }
}

impl DynamicPriority {
    fn pool_of(&mut self, job: &Job) -> usize {
        let name = self.pool_by.of(job.spec());
        if let Some(pool) = self.names.get(name) {
            return *pool;
        }
        let PoolBudget { budget, spending } = self.listed.get(name).copied().unwrap_or(self.others);
        self.names.insert(name.to_owned(), self.pools.len());
        self.pools.push(PayingPool {
            name: name.to_owned(),
            left: budget.map_or(f64::INFINITY, Factor::get),
            spending: spending.get(),
            running: PerSlot::default(),
            lines: PerSlot::default(),
        });
        self.pools.len() - 1
    }

    /// Notes the state of a job; `None` for a job that has ended.
    fn note(&mut self, id: JobId, job: Option<&Job>) {
        if let Some(PayingJob { pool, running, places }) = self.jobs.remove(&id) {
            let pool = &mut self.pools[pool];
            for kind in SlotKind::BOTH {
                pool.running[kind] -= running[kind];
                move_entry(&mut pool.lines[kind], places[kind], None);
            }
        }
        let Some(job) = job else { return };
        let number = self.pool_of(job);
        let running = PerSlot::of(|kind| job.tasks(kind).running());
        let turn = (job.priority(), job.submitted_at(), id);
        let places = PerSlot::of(|kind| (0 < job.pending(kind)).then_some(turn));
        let pool = &mut self.pools[number];
        for kind in SlotKind::BOTH {
            pool.running[kind] += running[kind];
            move_entry(&mut pool.lines[kind], None, places[kind]);
        }
        self.jobs.insert(id, PayingJob { pool: number, running, places });
    }

    /// Returns what a pool has, and its share of the slots among the pools that could use some.
    fn standing(&self, view: &View<'_>, pool: usize, kind: SlotKind) -> SlotStanding {
        let wants = |pool: &&PayingPool| {
            pool.can_pay() && (0 < pool.running[kind] || !pool.lines[kind].is_empty())
        };
        let all: f64 = self.pools.iter().filter(wants).map(|pool| pool.spending).sum();
        let pool = &self.pools[pool];
        let part = if wants(&pool) { pool.spending / all } else { 0.0 };
        let share = Some(SlotShare::of(part * f64::from(view.capacity(kind))));
        SlotStanding { share, ..SlotStanding::of(pool.running[kind]) }
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let numbers = (0..self.pools.len()).inspect(|_| step());
        let busy = numbers.filter(|number| !self.pools[*number].lines[kind].is_empty());
        let mut waiting: Vec<((bool, Measure), usize)> =
            busy.map(|number| (self.pools[number].turn(kind), number)).collect();
        waiting.sort_unstable();
        for (_, number) in waiting {
            let reason = Reason::Share(match offer.records_refusals() {
                true => self.standing(&offer.view(), number, kind),
                false => SlotStanding::of(self.pools[number].running[kind]),
            });
            let Self { pools, delay, .. } = self;
            let mut line = pools[number].lines[kind].iter();
            let launched = line.find_map(|(.., job)| delay.launch(offer, *job, kind, reason));
            if launched.is_some() {
                return launched;
            }
        }
        None
    }
}

impl Scheduler for DynamicPriority {
    fn precedence(&self) -> Precedence {
        Precedence { groups: PrecedenceBy::Share, jobs: PrecedenceBy::Line }
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.delay.patience(view)
    }

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { reports: false, tick_every: Some(self.interval), ..PolicyNeeds::default() }
    }

    fn tick(&mut self, _: &mut Orders<'_>) {
        for pool in self.pools.iter_mut().filter(|pool| pool.can_pay()) {
            let slots = f64::from(pool.running.map) + f64::from(pool.running.reduce);
            pool.left -= mutated!(
                pool.spending * slots,
                "budgets/by-interval" => pool.spending,
                "budgets/by-slot-alone" => slots,
            );
        }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        let job = view.job(event.job);
        self.note(event.job, job.filter(|job| !matches!(job.state(), JobState::Ended(_))));
    }

    fn holdings(&self, view: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        for (number, pool) in self.pools.iter().enumerate() {
            say(&pool.name, self.standing(view, number, kind));
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.delay.begin(&offer.view());
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                let Some(launched) = self.launch(offer, kind) else { break };
                let view = offer.view();
                self.note(launched.job(), view.job(launched.job()));
            }
        }
    }
}

impl Policy for DynamicPriority {
    const NAME: &'static str = "dynamic-priority";
    const ABOUT: &'static str = "slots in proportion to what pools pay for them from their budgets";
    const GROUP: &'static str = "of other papers";
    type Options = DynamicPriorityOptions;

    fn settle(options: &mut DynamicPriorityOptions, _: &PolicySite<'_>) -> Vec<Complaint> {
        let message = "`interval` must be above zero: at 0s time would stand still";
        match options.interval.is_zero() {
            true => vec![Complaint::error(&["interval"], message, "Hadoop's is 20s")],
            false => Vec::new(),
        }
    }

    fn facts(options: &DynamicPriorityOptions) -> OptionFacts<'_> {
        options.delay.facts()
    }

    fn new(options: DynamicPriorityOptions) -> Self {
        let DynamicPriorityOptions { pools, others, pool_by, interval, delay } = options;
        Self {
            pools: Vec::new(),
            names: BTreeMap::new(),
            listed: pools,
            others,
            pool_by,
            interval,
            jobs: BTreeMap::new(),
            delay: Delay::new(&delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::PolicyBench;

    const MAP: SlotKind = SlotKind::Map;

    /// Returns 90 slots and two jobs, of ann and of bob, with more maps than that.
    fn bench(options: &str) -> (PolicyBench<DynamicPriority>, [JobId; 2]) {
        let policy = DynamicPriority::new(serde_yaml::from_str(options).unwrap());
        let mut bench = PolicyBench::new(policy, 30, PerSlot { map: 3, reduce: 0 });
        let jobs = ["ann", "bob"].map(|pool| bench.submit_to(pool, 900, 0));
        bench.fill();
        (bench, jobs)
    }

    /// Ends all maps and fills the slots again.
    fn again(bench: &mut PolicyBench<DynamicPriority>, jobs: [JobId; 2]) -> [usize; 2] {
        jobs.iter().for_each(|job| bench.end_first(*job, MAP, 90));
        bench.fill();
        bench.held(MAP, jobs)
    }

    #[test]
    fn slots_are_in_proportion_to_spending() {
        let (bench, jobs) = bench("{pools: {ann: {spending: 2}}}");
        assert_eq!(bench.held(MAP, jobs), [60, 30]);
        let share = |slots: u32| Some(SlotShare::of(f64::from(slots)));
        let holding = |held| SlotStanding { share: share(held), ..SlotStanding::of(held) };
        let [ann, bob] = [("ann", 60), ("bob", 30)].map(|it| (it.0.to_owned(), holding(it.1)));
        assert_eq!(bench.holdings(MAP), [ann, bob]);
    }

    /// Ann pays 120 in an interval of 20 s, so 300 last for three payments.
    #[test]
    fn a_pool_without_money_gets_what_others_leave() {
        let (mut bench, jobs) = bench("{pools: {ann: {budget: 300, spending: 2}}}");
        for expected in [[60, 30], [60, 30], [0, 90]] {
            bench.advance(SimSpan::from_secs(20));
            assert_eq!(again(&mut bench, jobs), expected, "{}", bench.now());
        }
        bench.kill_job(jobs[1]);
        bench.carry_out();
        bench.fill();
        assert_eq!(bench.held(MAP, [jobs[0]]), [90], "nobody else wants a slot");
    }

    #[test]
    fn idle_pools_pay_nothing() {
        let (mut bench, jobs) = bench("{pools: {ann: {budget: 100, spending: 2}}}");
        jobs.iter().for_each(|job| bench.end_first(*job, MAP, 90));
        bench.advance(SimSpan::from_secs(600));
        bench.fill();
        assert_eq!(bench.held(MAP, jobs), [60, 30]);
    }
}
