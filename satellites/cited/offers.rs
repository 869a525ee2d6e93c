//! `offers`: slot offers, as Nexus and Mesos make them (Hindman et al., NSDI 2011). Several
//! *frameworks* share the cluster, each with a policy of its own for its jobs.
//!
//! ```text
//! heartbeat with free slots ─▶ the framework with the lowest share ─▶ its policy: takes some, or none
//!                           ─▶ the next framework, for what is left
//! ```
//! A framework knows only its own jobs. It refuses an offer by leaving slots free, and is then not
//! offered this node again for a while (`filter`), unless it has got new tasks. A framework without
//! tasks for the free slots gets no offer. While a framework
//! thinks about an offer (`answer`), the node's free slots are not offered to others; after `time_out`
//! the offer is taken back.
//!
//! With `sharing: static`, each node belongs to one framework, as if each had a cluster of its own.

mod inner;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::inner::InnerPolicy;
use mumakil_base::mutated;
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::cluster::Amounts;
use mumakil_core::mapred::{
    AttemptId, Complaint, JobChange, JobEvent, JobId, JobSize, JobSpec, Offer, Orders, Policy,
    PolicyNeeds, PolicySite, Precedence, PrecedenceBy, Reason, RunEndHook, Scheduler, Setting,
    SlotKind, SlotStanding, TrackerId, TrueDurations, View, step,
};
use mumakil_policies::scheduler::Fifo;
use mumakil_policies::scheduler::shared::allocations::PoolBy;

with_defaults! {
    /// The options of `offers`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct OffersOptions {
        /// The frameworks by the names of their pools; all other pools belong to `others`.
        #[schemars(with = "BTreeMap<String, FrameworkSpec>")]
        pub frameworks: IndexMap<String, FrameworkSpec> = IndexMap::new(),
        /// The framework of the jobs of other pools.
        pub others: FrameworkSpec,
        /// How the pool of a job is chosen.
        pub pool_by: PoolBy = PoolBy::Pool,
        /// How frameworks share the nodes.
        pub sharing: NodeSharing = NodeSharing::Offers,
        /// How long a node is not offered again to a framework that left slots free there.
        #[schemars(extend("x-only-if" = {"sharing": "offers"}))]
        // Mesos: the default of `refuse_seconds`.
        pub filter: SimSpan = SimSpan::from_secs(5),
        /// How long a framework thinks about an offer, while the node has nothing for others.
        #[schemars(extend("x-only-if" = {"sharing": "offers"}))]
        pub answer: SimSpan = SimSpan::ZERO,
        /// When an offer without an answer is taken back.
        #[schemars(extend("x-only-if" = {"answer": {"not": 0}}))]
        // Mesos has no time-out unless `--offer_timeout` is set; this is the example of its
        // manual.
        pub time_out: SimSpan = SimSpan::from_secs(30),
    }
}

with_defaults! {
    /// A framework.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct FrameworkSpec {
        /// Its weight among the frameworks.
        pub weight: Factor = Factor::ONE,
        /// The policy for its jobs; any but `capacity`, `external` and `offers`.
        pub policy: InnerPolicy,
    }
}

/// How frameworks share the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeSharing {
    /// Free slots go to the framework with the lowest share.
    #[default]
    Offers,
    /// Each node belongs to one framework, by their weights and order.
    Static,
}

/// Offers free slots to frameworks.
pub struct Offers {
    frameworks: Vec<Framework>,
    names: FxHashMap<String, usize>,
    pool_by: PoolBy,
    sharing: NodeSharing,
    filter: SimSpan,
    /// How long an offer stands, and whether it is answered then.
    standing: SimSpan,
    is_answered: bool,
    of_job: FxHashMap<JobId, OfferedJob>,
    nodes: Vec<OfferedNode>,
    tick_every: Option<SimSpan>,
}

/// A framework, its policy and its jobs.
struct Framework {
    name: String,
    weight: f64,
    policy: Box<dyn Scheduler>,
    jobs: BTreeSet<JobId>,
    held: Amounts,
    /// How often it has got new tasks to launch: older refusals no longer count.
    revived: u64,
    ticked: u64,
}

/// A job of a framework, as it was at the last change.
#[derive(Clone, Copy, Debug, Default)]
struct OfferedJob {
    framework: usize,
    held: Amounts,
    /// How many tasks it could launch.
    pending: u32,
}

/// The offers of a node.
#[derive(Clone, Debug, Default)]
struct OfferedNode {
    /// The framework that thinks about the node's free slots, and since when.
    outstanding: Option<(usize, SimTime)>,
    /// The frameworks that have refused, each with the end of the filter and the number of its
    /// revivals then.
    refused: BTreeMap<usize, (SimTime, u64)>,
}

impl Offers {
    fn framework_of(&self, job: &JobSpec) -> usize {
        let others = self.frameworks.len() - 1;
        self.names.get(self.pool_by.of(job)).copied().unwrap_or(others)
    }

    /// Counts anew what a job holds, and what it could launch.
    fn count(&mut self, view: &View<'_>, id: JobId) {
        let Some((job, known)) = view.job(id).zip(self.of_job.get_mut(&id)) else { return };
        let framework = &mut self.frameworks[known.framework];
        framework.held -= std::mem::replace(&mut known.held, view.held(job));
        framework.held += known.held;
        let pending = SlotKind::BOTH.iter().map(|kind| job.pending(*kind)).sum();
        framework.revived +=
            u64::from(mutated!(known.pending < pending, "offers/no-revival" => false));
        known.pending = pending;
    }

    /// Returns whether a framework could use one of these free slots.
    fn wants(&self, offer: &Offer<'_>, framework: usize) -> bool {
        let Framework { policy, jobs, .. } = &self.frameworks[framework];
        let mut kinds = SlotKind::BOTH.into_iter().filter(|kind| 0 < offer.free(*kind));
        let view = offer.view();
        // A policy that suspends may have something to resume.
        (policy.needs().full_trackers && !jobs.is_empty())
            || kinds.any(|kind| {
                jobs.iter().any(|id| view.job(*id).is_some_and(|job| 0 < job.pending(kind)))
            })
    }

    /// Returns the framework that gets the next offer of a node; `None` if all have been asked, have
    /// refused or want no slot.
    fn next(&self, offer: &Offer<'_>, asked: &BTreeSet<usize>) -> Option<usize> {
        let (view, tracker) = (offer.view(), offer.tracker());
        let (now, total) = (view.now(), view.total());
        if self.sharing == NodeSharing::Static {
            return Some(self.owner(tracker)).filter(|owner| !asked.contains(owner));
        }
        let node = &self.nodes[tracker.index()];
        let unasked = (0..self.frameworks.len())
            .inspect(|_| step())
            .filter(|framework| !asked.contains(framework));
        let unfiltered = unasked.filter(|framework| {
            !node.refused.get(framework).is_some_and(|(until, revived)| {
                mutated!(now < *until, "offers/filter-without-end" => true)
                    && *revived == self.frameworks[*framework].revived
            })
        });
        let open = unfiltered.filter(|framework| self.wants(offer, *framework));
        let share = |framework: &usize| {
            let Framework { held, weight, .. } = &self.frameworks[*framework];
            let share = held.dominant_share(total);
            mutated!(
                share / weight,
                "offers/unweighted" => share,
                "offers/highest-first" => -share,
                "offers/in-turn" => 0.0,
            )
        };
        open.min_by(|one, other| share(one).total_cmp(&share(other)).then(one.cmp(other)))
    }

    /// Returns the framework that owns a node.
    fn owner(&self, tracker: TrackerId) -> usize {
        // Without jobs of other pools, their framework would own nodes in vain.
        let own = match self.frameworks.split_last() {
            Some((others, own)) if others.jobs.is_empty() && !own.is_empty() => own,
            _ => &self.frameworks[..],
        };
        let weights: Vec<f64> =
            own.iter().map(|it| mutated!(it.weight, "offers/equal-parts" => 1.0)).collect();
        owner_among(&weights, tracker.0, self.nodes.len() as u32)
    }

    /// Notes that a framework has left slots of a node free.
    fn refuse(&mut self, now: SimTime, tracker: TrackerId, framework: usize) {
        let revived = self.frameworks[framework].revived;
        let refused = &mut self.nodes[tracker.index()].refused;
        let until = now + mutated!(self.filter, "offers/no-filter" => SimSpan::ZERO);
        refused.insert(framework, (until, revived));
    }

    /// Says why jobs of frameworks that are not asked get nothing here.
    fn explain(&self, offer: &mut Offer<'_>, asked: &BTreeSet<usize>, reason: &'static str) {
        if !offer.keeps_refusals() {
            return;
        }
        for (number, framework) in self.frameworks.iter().enumerate() {
            for kind in SlotKind::BOTH {
                let first = framework
                    .jobs
                    .iter()
                    .find(|job| offer.view().job(**job).is_some_and(|job| 0 < job.pending(kind)))
                    .copied();
                if !asked.contains(&number)
                    && 0 < offer.free(kind)
                    && let Some(job) = first
                {
                    offer.refuse(job, kind, Reason::Other(reason));
                }
            }
        }
    }
}

impl Scheduler for Offers {
    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        self.nodes = vec![OfferedNode::default(); setting.topology.len() as usize];
        let mut hook = None;
        for framework in &mut self.frameworks {
            hook = framework.policy.begin(setting)?.or(hook);
        }
        Ok(hook)
    }

    fn needs(&self) -> PolicyNeeds {
        let all = self.frameworks.iter().map(|framework| framework.policy.needs());
        let none = PolicyNeeds { reports: false, ..PolicyNeeds::default() };
        all.fold(none, |one, other| PolicyNeeds {
            truth: one.truth || other.truth,
            progress: one.progress || other.progress,
            reports: one.reports || other.reports,
            full_trackers: one.full_trackers || other.full_trackers,
            // The policies that decide this cannot be a framework's.
            reading: false,
            tick_every: self.tick_every,
        })
    }

    fn foresee(&mut self, truth: &TrueDurations) {
        let policies = self.frameworks.iter_mut().map(|framework| &mut framework.policy);
        policies.filter(|policy| policy.needs().truth).for_each(|policy| policy.foresee(truth));
    }

    fn refuses(&self, view: &View<'_>, job: &JobSpec) -> Option<Reason> {
        self.frameworks[self.framework_of(job)].policy.refuses(view, job)
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        let Some(job) = view.job(event.job) else { return };
        // A job stays with its framework, even if its pool changes.
        let known = self.of_job.get(&event.job).map(|known| known.framework);
        let number = known.unwrap_or_else(|| self.framework_of(job.spec()));
        let fresh = OfferedJob { framework: number, ..OfferedJob::default() };
        self.of_job.entry(event.job).or_insert(fresh);
        self.count(view, event.job);
        let framework = &mut self.frameworks[number];
        match event.change {
            JobChange::Ended(_) => {
                framework.jobs.remove(&event.job);
                framework.held -= self.of_job.remove(&event.job).unwrap_or_default().held;
            }
            _ => _ = framework.jobs.insert(event.job),
        }
        framework.policy.job_changed(view, event);
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        for framework in &mut self.frameworks {
            let Some(every) = framework.policy.needs().tick_every else { continue };
            let ticks = orders.view().rounds(every);
            if std::mem::replace(&mut framework.ticked, ticks) != ticks {
                framework.policy.tick(orders);
            }
        }
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        let of_inner = self.frameworks.iter().map(|framework| framework.policy.patience(view));
        let longest = of_inner.max().unwrap_or(SimSpan::ZERO);
        longest + (self.filter + self.standing) * self.frameworks.len() as u64
    }

    fn withheld(&self, view: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        self.frameworks.iter().for_each(|framework| framework.policy.withheld(view, say));
    }

    fn precedence(&self) -> Precedence {
        let inside = self.frameworks.first().map(|framework| framework.policy.precedence());
        Precedence { groups: PrecedenceBy::Share, jobs: inside.unwrap_or_default().jobs }
    }

    fn holdings(&self, view: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        for framework in &self.frameworks {
            let jobs = framework.jobs.iter().filter_map(|job| view.job(*job));
            let held = jobs.map(|job| job.tasks(kind).running()).sum();
            say(&framework.name, SlotStanding::of(held));
        }
    }

    fn sizes(&self, job: JobId, say: &mut dyn FnMut(SlotKind, JobSize)) {
        if let Some(known) = self.of_job.get(&job) {
            self.frameworks[known.framework].policy.sizes(job, say);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        let (now, tracker) = (offer.view().now(), offer.tracker());
        let has_free = |offer: &Offer<'_>| SlotKind::BOTH.iter().any(|kind| 0 < offer.free(*kind));
        if !has_free(offer) {
            // A framework may take slots from its own attempts, whoever gets the offers.
            for framework in &mut self.frameworks {
                if framework.policy.needs().full_trackers {
                    framework.policy.offer(offer);
                }
            }
            return;
        }
        let mut asked = BTreeSet::new();
        while has_free(offer) {
            let framework = match self.nodes[tracker.index()].outstanding {
                Some((_, since))
                    if now < since + mutated!(self.standing, "offers/at-once" => SimSpan::ZERO) =>
                {
                    return self.explain(
                        offer,
                        &asked,
                        "the node is offered to a framework that thinks",
                    );
                }
                Some((framework, _)) => {
                    self.nodes[tracker.index()].outstanding = None;
                    if !self.is_answered {
                        asked.insert(framework);
                        self.refuse(now, tracker, framework);
                        continue;
                    }
                    framework
                }
                None => {
                    let Some(framework) = self.next(offer, &asked) else { break };
                    if !self.standing.is_zero() {
                        self.nodes[tracker.index()].outstanding = Some((framework, now));
                        continue;
                    }
                    framework
                }
            };
            asked.insert(framework);
            let before = offer.launched().count();
            self.frameworks[framework].policy.offer(offer);
            let jobs: BTreeSet<JobId> = offer.launched().skip(before).map(AttemptId::job).collect();
            jobs.into_iter().for_each(|job| self.count(&offer.view(), job));
            if has_free(offer) {
                self.refuse(now, tracker, framework);
            }
            mutated!((), "offers/first-alone" => break);
        }
        self.explain(offer, &asked, "its framework has just refused this node");
    }
}

impl Policy for Offers {
    const NAME: &'static str = "offers";
    const ABOUT: &'static str =
        "slots are offered to frameworks, each with a policy of its own, as in Mesos";
    const GROUP: &'static str = "of other papers";
    type Options = OffersOptions;

    fn settle(options: &mut OffersOptions, site: &PolicySite<'_>) -> Vec<Complaint> {
        let mut complaints = slotless(options, site);
        let frameworks = options.frameworks.iter_mut();
        let named = frameworks.map(|(name, spec)| (vec!["frameworks", name.as_str()], spec));
        for (path, spec) in named.chain([(vec!["others"], &mut options.others)]) {
            if spec.weight.get() == 0.0 {
                let path = [&path[..], &["weight"]].concat();
                let message = "a framework of weight 0 would get nothing";
                complaints.push(Complaint::error(
                    &path,
                    message,
                    "choose a small one, such as 0.01",
                ));
            }
            for mut complaint in spec.policy.settle(site) {
                let around = path.iter().chain(&["policy"]).map(|key| (*key).to_owned());
                complaint.path = around.chain(complaint.path).collect();
                complaints.push(complaint);
            }
        }
        complaints
    }

    fn new(options: OffersOptions) -> Self {
        let OffersOptions { frameworks, others, pool_by, sharing, filter, answer, time_out } =
            options;
        let names = frameworks.keys().cloned().zip(0..).collect();
        let all = frameworks.into_iter().chain([("others".to_owned(), others)]);
        let frameworks: Vec<Framework> = all
            .map(|(name, spec)| Framework {
                name,
                weight: spec.weight.get(),
                policy: spec
                    .policy
                    .build()
                    .unwrap_or_else(|| Box::new(Fifo::new(Default::default()))),
                jobs: BTreeSet::new(),
                held: Amounts::default(),
                revived: 0,
                ticked: 0,
            })
            .collect();
        let ticks = frameworks.iter().filter_map(|framework| framework.policy.needs().tick_every);
        let tick_every = ticks.map(SimSpan::as_micros).reduce(common_divisor);
        Self {
            names,
            frameworks,
            pool_by,
            sharing,
            filter,
            standing: if sharing == NodeSharing::Static {
                SimSpan::ZERO
            } else {
                answer.min(time_out)
            },
            is_answered: answer <= time_out,
            of_job: FxHashMap::default(),
            nodes: Vec::new(),
            tick_every: tick_every.map(SimSpan::from_micros),
        }
    }
}

/// Returns which of the frameworks with these weights owns a node, if each node has an owner.
fn owner_among(weights: &[f64], node: u32, nodes: u32) -> usize {
    let all: f64 = weights.iter().sum();
    let mut place = (f64::from(node) + 0.5) / f64::from(nodes.max(1)) * all;
    let position = weights.iter().position(|weight| {
        place -= weight;
        place < 0.0
    });
    position.unwrap_or(weights.len() - 1)
}

/// Complains about frameworks that have jobs, but would never get a slot for them.
fn slotless(options: &OffersOptions, site: &PolicySite<'_>) -> Vec<Complaint> {
    if options.sharing == NodeSharing::Offers {
        let message = format!(
            "an offer is taken back after {}, before a framework has answered: no task is launched",
            options.time_out
        );
        let hint = "choose an `answer` of `time_out` at most";
        let is_late = options.time_out < options.answer;
        return is_late.then(|| Complaint::error(&["answer"], message, hint)).into_iter().collect();
    }
    let pools: BTreeSet<&str> =
        site.jobs.iter().map(|job| options.pool_by.of_expected(job)).collect();
    let specs = options.frameworks.iter().map(|(name, spec)| (vec!["frameworks", name], spec));
    let mut all: Vec<_> = specs.collect();
    if all.is_empty() || pools.iter().any(|pool| !options.frameworks.contains_key(*pool)) {
        all.push((vec!["others"], &options.others));
    }
    let weights: Vec<f64> = all.iter().map(|(_, spec)| spec.weight.get()).collect();
    let mut parts = vec![0; all.len()];
    (0..site.nodes).for_each(|node| parts[owner_among(&weights, node, site.nodes)] += 1);
    let mut complaints = Vec::new();
    for ((path, _), part) in all.into_iter().zip(parts) {
        let has_jobs = path[0] == "others" || pools.contains(path[1]);
        let path = [&path[..], &["weight"]].concat();
        if has_jobs && part == 0 {
            let message = format!(
                "its part of the weights is less than one of the {} nodes, so its jobs get no slot",
                site.nodes
            );
            let hint = "choose a larger weight, or share the nodes by `offers`";
            complaints.push(Complaint::error(&path, message, hint));
        } else if has_jobs && part < RETRIES && part < site.nodes {
            let nodes = if part == 1 { "the only node" } else { "all nodes" };
            let message = format!(
                "a task that has failed on {nodes} of this framework waits for ever: Hadoop tries a \
                 task again on a node where it has not failed"
            );
            let hint = "choose a larger weight, or share the nodes by `offers`";
            complaints.push(Complaint::stall(&path, message, hint));
        }
    }
    complaints
}

/// A task that has failed so often fails its job, unless the scenario chooses another number.
const RETRIES: u32 = 4;

/// Returns the largest span that divides both.
fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}
