//! `drf`: dominant resource fairness (Ghodsi et al., NSDI 2011), with pools inside of pools.
//!
//! A job's or pool's *dominant share* is the larger of its shares of the cluster's memory and cores.
//! A free slot goes down the tree of pools, each time to the pool with the lowest dominant share for
//! its weight, and in the last pool to the job with the lowest dominant share. A job whose task does
//! not fit on the node is passed over, and the next one is asked.
//!
//! If the cluster counts memory alone, that is the dominant resource of all; if it counts neither,
//! the resources are the slots for maps and the slots for reduces.
//!
//! ```text
//! 9 cores, 18 GB     a task of ann: 1 core,  4 GB     of bob: 3 cores, 1 GB
//!                    3 tasks: 2/3 of the memory       2 tasks: 2/3 of the cores
//! ```

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::dense::grown;
use mumakil_base::mutated;
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::cluster::Amounts;
use mumakil_core::mapred::{
    Complaint, Job, JobEvent, JobId, JobState, Launched, Offer, OptionFacts, PerSlot, Policy,
    PolicyNeeds, PolicyReload, PolicySite, Precedence, PrecedenceBy, Scheduler, SlotKind,
    SlotStanding, View, step,
};
use mumakil_policies::scheduler::shared::allocations::PoolBy;
use mumakil_policies::scheduler::shared::delay::{Delay, DelaySpec};
use mumakil_policies::scheduler::shared::line::Measure;
use mumakil_policies::scheduler::shared::pool_tree::{PoolId, PoolTree};
use mumakil_policies::scheduler::shared::pools::{Pool, Pools};
use mumakil_policies::scheduler::shared::reduces::{Reduces, WithReduces};

/// The options of `drf`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrfOptions {
    /// The pools by their names. A job may name a pool that is not declared here, which weighs 1.
    #[schemars(with = "BTreeMap<String, WeightedPool>")]
    pub pools: IndexMap<String, WeightedPool>,
    /// How the pool of a job is chosen.
    pub pool_by: PoolBy,
    /// How long jobs wait for their input. Without this, they do not wait.
    pub delay: DelaySpec,
}

with_defaults! {
    /// A pool of `drf`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct WeightedPool {
        /// Its weight among the pools side by side.
        pub weight: Factor = Factor::ONE,
        /// Pools inside it, which divide what it gets.
        // The schema allows any value here: it is inlined and cannot refer to itself.
        #[schemars(with = "BTreeMap<String, serde_json::Value>")]
        #[schemars(extend("title" = "a mapping from names, each to a pool as this one"))]
        pub pools: IndexMap<String, Self> = IndexMap::new(),
    }
}

impl WeightedPool {
    fn plain(&self) -> Pool {
        Pool { weight: self.weight, pools: plain(&self.pools), ..Pool::default() }
    }
}

/// Returns the same pools in the form that policies share.
fn plain(pools: &IndexMap<String, WeightedPool>) -> IndexMap<String, Pool> {
    pools.iter().map(|(name, pool)| (name.clone(), pool.plain())).collect()
}

/// Serves pools and jobs by their dominant share, the lowest first.
#[derive(Debug)]
pub struct Drf {
    tree: PoolTree,
    pool_by: PoolBy,
    pools: Vec<DrfPool>,
    jobs: BTreeMap<JobId, DrfJob>,
    /// The amounts of the whole cluster.
    total: Amounts,
    delay: Delay,
    reduces: Reduces,
}

/// A pool, by its number in the tree.
#[derive(Debug, Default)]
struct DrfPool {
    /// The amounts that its jobs hold, those of pools inside it included.
    held: Amounts,
    /// Its dominant share for its weight.
    share: f64,
    /// Its jobs that could use a slot, in the order in which they are asked.
    lines: PerSlot<BTreeSet<DominantTurn>>,
    /// The pools directly inside it that have such jobs, in the same order.
    waiting: PerSlot<BTreeSet<(Measure, PoolId)>>,
}

/// A job's position in its pool: its dominant share, its arrival, and its number.
type DominantTurn = (Measure, SimTime, JobId);

/// A job that has not ended.
#[derive(Clone, Copy, Debug)]
struct DrfJob {
    pool: PoolId,
    held: Amounts,
    places: PerSlot<Option<DominantTurn>>,
}

impl Drf {
    /// Notes the state of a job: its pool, what it holds, and its positions.
    fn note(&mut self, view: &View<'_>, job: &Job) {
        let name = self.pool_by.of(job.spec());
        let pool = self.tree.place(name);
        let held = view.held(job);
        let share = mutated!(held.dominant_share(self.total), "drf/jobs-in-line" => 0.0);
        let turn = (Measure(share), job.submitted_at(), job.id());
        let places = PerSlot::of(|kind| (0 < self.reduces.pending(job, kind)).then_some(turn));
        self.forget(job.id());
        self.change(pool, |all| *all += held, |kind, line| line.extend(places[kind]));
        self.jobs.insert(job.id(), DrfJob { pool, held, places });
    }

    fn forget(&mut self, job: JobId) {
        let Some(DrfJob { pool, held, places }) = self.jobs.remove(&job) else { return };
        self.change(
            pool,
            |all| *all -= held,
            |kind, line| _ = places[kind].is_some_and(|place| line.remove(&place)),
        );
    }

    /// Changes the amounts of a pool and of all pools around it, and the lines of its jobs.
    fn change(
        &mut self,
        pool: PoolId,
        amounts: impl Fn(&mut Amounts),
        line: impl Fn(SlotKind, &mut BTreeSet<DominantTurn>),
    ) {
        let lines = &mut grown(&mut self.pools, pool.index()).lines;
        SlotKind::BOTH.into_iter().for_each(|kind| line(kind, &mut lines[kind]));
        let Self { tree, pools, .. } = self;
        tree.upwards(pool).for_each(|pool| amounts(&mut grown(pools, pool.index()).held));
        self.rank(pool);
    }

    /// Puts a pool, and all pools around it, in the place that its share gives it.
    fn rank(&mut self, pool: PoolId) {
        let Self { tree, pools, total, .. } = self;
        for id in tree.upwards(pool) {
            let node = tree.pool(id);
            let Some(around) = node.parent else { break };
            let pool = grown(pools, id.index());
            let held = pool.held.dominant_share(*total);
            let share = mutated!(
                held / node.weight,
                "drf/unweighted" => held,
                "drf/highest-first" => -held,
            );
            let before = std::mem::replace(&mut pool.share, share);
            let waits =
                PerSlot::of(|kind| !pool.lines[kind].is_empty() || !pool.waiting[kind].is_empty());
            for kind in SlotKind::BOTH {
                let line = &mut grown(pools, around.index()).waiting[kind];
                line.remove(&(Measure(before), id));
                line.extend(waits[kind].then_some((Measure(share), id)));
            }
        }
    }

    /// Returns the jobs that could use a slot, in the order in which they are asked: those of a pool
    /// come together.
    fn in_order(pools: &[DrfPool], kind: SlotKind) -> impl Iterator<Item = JobId> {
        let mut around = Vec::new();
        let mut next = Some(PoolId::ROOT);
        let order = std::iter::from_fn(move || {
            loop {
                step();
                if let Some(pool) = next.take().and_then(|id: PoolId| pools.get(id.index())) {
                    around.push(pool.waiting[kind].iter());
                    return Some(pool);
                }
                next = around.last_mut()?.next().map(|(_, pool)| *pool);
                if next.is_none() {
                    around.pop();
                }
            }
        });
        order.flat_map(move |pool| &pool.lines[kind]).map(|(.., job)| *job)
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let Self { pools, delay, reduces, .. } = self;
        reduces.launch_by_share(offer, kind, Self::in_order(pools, kind), delay)
    }

    /// Computes all shares anew if trackers have joined or left.
    fn measure(&mut self, view: &View<'_>) {
        let total = view.total();
        if std::mem::replace(&mut self.total, total) != total {
            // A job that holds nothing has no share of anything.
            let holders = self.jobs.iter().filter(|(_, job)| job.held != Amounts::default());
            let jobs: Vec<JobId> = holders.map(|(id, _)| *id).collect();
            jobs.into_iter().filter_map(|id| view.job(id)).for_each(|job| self.note(view, job));
        }
    }
}

impl Scheduler for Drf {
    fn precedence(&self) -> Precedence {
        Precedence::of_jobs(PrecedenceBy::Share)
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.delay.patience(view)
    }

    fn needs(&self) -> PolicyNeeds {
        self.reduces.needs()
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        match view.job(event.job).filter(|job| !matches!(job.state(), JobState::Ended(_))) {
            Some(job) => self.note(view, job),
            None => self.forget(event.job),
        }
    }

    fn reload(&mut self, _: &View<'_>, options: &PolicyReload) {
        let Some(options) = options.downcast_ref::<WithReduces<DrfOptions>>() else { return };
        self.tree.reload(&Pools { pools: plain(&options.own.pools), ..Pools::default() });
        self.tree.ids().for_each(|pool| self.rank(pool));
    }

    fn holdings(&self, view: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        let mut slots: BTreeMap<PoolId, u32> = BTreeMap::new();
        for (id, job) in &self.jobs {
            let running = view.job(*id).map_or(0, |job| job.tasks(kind).running());
            *slots.entry(job.pool).or_default() += running;
        }
        for (pool, slots) in slots {
            say(&self.tree.pool(pool).name, SlotStanding::of(slots));
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.measure(&offer.view());
        self.delay.begin(&offer.view());
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                let Some(launched) = self.launch(offer, kind) else { break };
                let view = offer.view();
                view.job(launched.job()).into_iter().for_each(|job| self.note(&view, job));
            }
        }
    }
}

impl Policy for Drf {
    const NAME: &'static str = "drf";
    const ABOUT: &'static str =
        "the lowest dominant share first: of memory and cores, where the cluster counts them";
    const GROUP: &'static str = "of other papers";
    type Options = WithReduces<DrfOptions>;

    fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
        let options = &options.own;
        let pools = Pools { pools: plain(&options.pools), ..Pools::default() };
        let mut complaints = pools.complaints(site, &options.pool_by);
        for Complaint { path, .. } in &mut complaints {
            // The pools have no `allocations` around them here.
            path.retain(|key| key != "allocations");
        }
        complaints
    }

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        options.facts(&options.own.delay)
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: DrfOptions { pools, pool_by, delay }, reduces } = options;
        Self {
            pool_by,
            tree: PoolTree::new(&Pools { pools: plain(&pools), ..Pools::default() }),
            pools: Vec::new(),
            jobs: BTreeMap::new(),
            total: Amounts::default(),
            delay: Delay::new(&delay),
            reduces: Reduces::new(&reduces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::Bytes;
    use mumakil_core::cluster::{CountedResources, Node};
    use mumakil_core::mapred::PolicyBench;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const GB: u64 = 1_000_000_000;

    /// Returns a node of these cores and gigabytes with slots for 64 maps.
    fn node(cores: u32, memory: u64) -> Node {
        let memory = Bytes::new(memory * GB);
        Node { cores, memory, ..Node::plain(0, PerSlot { map: 64, reduce: 0 }) }
    }

    /// Returns how many maps each pool runs on these nodes. `asks` has the name of each pool, and the
    /// cores and gigabytes that its maps ask for.
    fn served<const N: usize>(
        options: &str,
        counted: CountedResources,
        nodes: Vec<Node>,
        asks: [(&str, u32, u64); N],
    ) -> [usize; N] {
        let policy = Drf::new(serde_yaml::from_str(options).unwrap());
        let mut bench = PolicyBench::on_nodes(policy, nodes, counted);
        let jobs = asks.map(|(pool, cores, memory)| {
            bench.submit(64, 0, |job| {
                job.pool = pool.into();
                job.names_pool = true;
                job.cores.map = cores;
                job.memory.map = Bytes::new(memory * GB);
            })
        });
        bench.fill();
        bench.held(SlotKind::Map, jobs)
    }

    /// Ghodsi et al., NSDI 2011, section 4.1 and table 1.
    #[test]
    fn the_example_of_the_paper_gives_three_and_two_tasks() {
        let both = CountedResources::MemoryAndCores;
        let asks = [("a", 1, 4), ("b", 3, 1)];
        assert_eq!(served("{}", both, vec![node(9, 18)], asks), [3, 2]);
        let asks = [("b", 3, 1), ("a", 1, 4)];
        assert_eq!(served("{}", both, vec![node(9, 18)], asks), [2, 3], "whoever comes first");
    }

    /// A cluster of 100 cores and 10 TB; the first application asks for 2 cores and 300 GB, the
    /// second for 6 cores and 100 GB (the example of books on YARN).
    #[test]
    fn the_example_of_yarn_gives_twenty_and_ten_containers() {
        let asks = [("a", 2, 300), ("b", 6, 100)];
        let nodes = vec![node(100, 10_000)];
        assert_eq!(served("{}", CountedResources::MemoryAndCores, nodes, asks), [20, 10]);
    }

    #[test]
    fn memory_alone_or_slots_alone_may_be_what_is_shared() {
        let asks = [("a", 1, 4), ("b", 3, 1)];
        let memory = served("{}", CountedResources::Memory, vec![node(9, 18)], asks);
        assert_eq!(memory, [2, 10], "8 GB each, and the last two hold no task of a");
        assert_eq!(served("{}", CountedResources::Slots, vec![node(9, 18)], asks), [32, 32]);
    }

    #[test]
    fn weights_hold_at_each_level_of_the_tree() {
        let options =
            "{pools: {a: {weight: 3, pools: {x: {}, y: {weight: 2}}}, b: {}}, pool_by: pool}";
        let asks = [("x", 1, 1), ("y", 1, 1), ("b", 1, 1)];
        let nodes = vec![node(24, 24); 2];
        let served = served(options, CountedResources::MemoryAndCores, nodes, asks);
        assert_eq!(served, [12, 24, 12], "36 to 12, and within the 36 one to two");
    }

    /// Returns the tasks of each user if tasks start one after another on a node, each for the user
    /// with the lowest dominant share whose task still fits; among equal users, for the first.
    fn filled(cores: u32, memory: u64, asks: &[(u32, u64)]) -> Vec<u64> {
        let cores = u64::from(cores);
        let mut tasks = vec![0; asks.len()];
        let (mut cores_left, mut memory_left) = (cores, memory);
        // The dominant share times both capacities, so that it is whole.
        let share = |tasks: u64, (core, gigabytes): (u32, u64)| {
            tasks * (u64::from(core) * memory).max(gigabytes * cores)
        };
        while let Some(next) = (0..asks.len())
            .filter(|user| u64::from(asks[*user].0) <= cores_left && asks[*user].1 <= memory_left)
            .min_by_key(|user| share(tasks[*user], asks[*user]))
        {
            tasks[next] += 1;
            cores_left -= u64::from(asks[next].0);
            memory_left -= asks[next].1;
        }
        tasks
    }

    proptest! {
        #[test]
        fn one_node_is_filled_as_theory_says(
            (cores, memory) in (1_u32..40, 1_u64..40),
            asks in vec((1_u32..8, 1_u64..8), 3),
        ) {
            let expected = filled(cores, memory, &asks);
            let asks = [("a", asks[0].0, asks[0].1), ("b", asks[1].0, asks[1].1), ("c", asks[2].0, asks[2].1)];
            let found = served("{}", CountedResources::MemoryAndCores, vec![node(cores, memory)], asks);
            prop_assert_eq!(found.map(|maps| maps as u64).to_vec(), expected);
        }
    }

    #[test]
    fn a_job_whose_tasks_do_not_fit_is_passed_over() {
        let asks = [("a", 1, 30), ("b", 1, 1)];
        let served = served("{}", CountedResources::Memory, vec![node(9, 18)], asks);
        assert_eq!(served, [0, 18]);
    }
}
