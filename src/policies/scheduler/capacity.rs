//! `capacity`: Hadoop's capacity scheduler.
//!
//! Queues form a tree and have guaranteed shares of the slots. Other queues may use the slots that
//! a queue leaves idle, up to their own maximums. The queue gets these slots back as the tasks of
//! the other queues end. A free slot goes to the queue that uses the smallest part of its
//! guaranteed slots, and there to the first job whose user is below its limit. Trackers are
//! reserved for jobs whose tasks take several slots ([`reserved`]).
//!
//! Three Hadoop versions have very different rules, and the policy follows the rules of one version
//! ([`Rules`]). A few features work with all rules: nested queues, which 0.20 and 1.x do not have;
//! maximum shares, which 0.20 does not have; and reclaiming slots by killing ([`reclaim`]), which
//! only 0.20.0 has.

mod admission;
mod hash_order;
mod lines;
mod node;
mod options;
mod queues;
mod readers;
mod reclaim;
mod reserved;
mod rules;
#[cfg(test)]
mod tests;
mod tree;

use self::admission::Admission;
pub use self::hash_order::JavaMaps;
use self::lines::QueueWalk;
use self::node::{LineOf, QueueId, QueueNode, trunc};
pub use self::options::CapacityOptions;
pub use self::queues::{Queue, QueueBy, Queues};
use self::readers::Readers;
use self::reclaim::Reclaim;
use self::reserved::Reserved;
pub use self::rules::Rules;
use self::tree::{QueueMember, QueueTree};
use super::shared::delay::{Delay, NO_DELAY};
use super::shared::reduces::{Reduces, WithReduces};
use mumakil_base::units::{Factor, SimSpan};
use mumakil_core::mapred::{
    Complaint, HadoopLine, Job, JobChange, JobEvent, JobId, JobSpec, Launched, MapReach, Offer,
    OptionFacts, Orders, PerSlot, Policy, PolicyNeeds, PolicyReload, PolicySite, Precedence,
    PrecedenceBy, PromisedSlots, Reason, RunEndHook, Scheduler, Setting, SlotKind, SlotStanding,
    View,
};

/// The capacity scheduler.
#[derive(Debug)]
pub struct Capacity {
    options: CapacityOptions,
    /// The Hadoop version whose rules are followed; never `Auto`.
    rules: Rules,
    init_poll: SimSpan,
    init_threads: u32,
    maps_per_heartbeat: u32,
    tree: QueueTree,
    admission: Admission,
    readers: Readers,
    reserved: Reserved,
    /// Makes jobs wait for trackers near their input, if the options say so.
    delay: Option<Delay>,
    reclaim: Option<Reclaim>,
    /// Working space: the queues to serve, kept so that offers need not allocate memory.
    leaves: Vec<QueueId>,
}

impl Policy for Capacity {
    const NAME: &'static str = "capacity";
    const ABOUT: &'static str = "queues with guaranteed shares that lend what they do not use";
    const GROUP: &'static str = "Hadoop's own";
    type Options = WithReduces<CapacityOptions>;

    fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
        options.own.settle(site)
    }

    fn promised(options: &Self::Options, slots: PerSlot<u64>) -> PromisedSlots {
        let CapacityOptions { rules, queue_by, allocations, .. } = &options.own;
        // Jobs name no queue, or there is a single one, which shares with no other.
        if *queue_by == QueueBy::User || allocations.queues.is_empty() {
            return PromisedSlots::new();
        }
        let tree = QueueTree::new(allocations, *rules, JavaMaps::Auto, Reduces::default());
        let whole = |share: f64, slots: u64| f64::from(trunc(share * slots as f64));
        let promise = |id| {
            let QueueNode { name, share, .. } = tree.node(id);
            (name.to_string(), PerSlot::of(|kind| whole(*share, slots[kind])))
        };
        tree.ids().filter(|id| *id != QueueId::ROOT).map(promise).collect()
    }

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        let groups = Some(options.own.allocations.groups());
        OptionFacts { groups, ..options.facts(options.own.delay.as_ref().unwrap_or(&NO_DELAY)) }
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: options, reduces } = options;
        // `settle` replaces `auto`; tests do without it.
        let rules = if options.rules == Rules::Auto { Rules::V21 } else { options.rules };
        let queues = &options.allocations;
        let tree = QueueTree::new(queues, rules, options.hash_maps, Reduces::new(&reduces));
        let number = tree.ids().count();
        let factor = options.wait_factor.map(Factor::get);
        // Only the rules of 1.x make jobs wait for their input.
        let by_chances = || (rules == Rules::V1).then(|| Delay::by_chances(factor));
        let delay = options.delay.as_ref().map(Delay::new).or_else(by_chances);
        let reclaims = tree.ids().any(|id| tree.node(id).reclaim_after.is_some());
        // `mapred.capacity-scheduler.init-poll-interval` is 5 s; in 1.x it is 3 s.
        let auto = SimSpan::from_secs(if rules == Rules::V1 { 3 } else { 5 });
        Self {
            rules,
            init_poll: queues.init_poll.or(auto),
            maps_per_heartbeat: queues.maps_per_heartbeat.get(),
            init_threads: queues.init_threads.get(),
            admission: Admission::new(rules, queues.max_system_jobs.get(), number),
            // `begin` makes the threads. Without it, as in tests, jobs are read at once.
            readers: Readers::default(),
            reserved: Reserved::default(),
            delay,
            reclaim: reclaims.then(|| Reclaim::new(number)),
            leaves: Vec::new(),
            tree,
            options,
        }
    }
}

impl Scheduler for Capacity {
    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        // Mumak initialises the jobs that the poller has chosen itself.
        self.readers = if setting.line == HadoopLine::Mumak {
            Readers::default()
        } else {
            let leaves = self.tree.listed();
            Readers::new(&leaves, self.init_threads, self.init_poll, setting.seed)
        };
        Ok(None)
    }

    fn refuses(&self, _: &View<'_>, job: &JobSpec) -> Option<Reason> {
        let queue = self.tree.node(self.tree.leaf(self.options.queue_by.of(job)));
        self.admission.refuses(queue, job)
    }

    fn precedence(&self) -> Precedence {
        Precedence { groups: PrecedenceBy::Share, jobs: PrecedenceBy::Line }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        if let Some(delay) = &mut self.delay {
            delay.job_changed(view, event);
        }
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.launches.job_changed(event);
        }
        let Some(job) = view.job(event.job) else { return };
        match event.change {
            // Up to 0.21 a queue is divided among all users that have a job in it.
            JobChange::Submitted => {
                let queue = self.tree.leaf(self.options.queue_by.of(job.spec()));
                self.tree.enter(job, queue, self.options.width(job.spec().memory));
                if let Some(member) = self.tree.member(event.job) {
                    self.admission.enter(member);
                }
            }
            JobChange::Ended(_) => {
                // Admission needs the queue and the user, which the tree is about to forget.
                if let Some(member) = self.tree.member(event.job) {
                    self.admission.leave(member);
                }
                self.tree.leave(event.job);
            }
            JobChange::Altered { .. } => {
                let queue = self.tree.leaf(self.options.queue_by.of(job.spec()));
                self.alter(view, job, queue);
            }
            _ => self.tree.refresh(view, event.job),
        }
    }

    fn reload(&mut self, view: &View<'_>, options: &PolicyReload) {
        let Some(options) = options.downcast_ref::<WithReduces<CapacityOptions>>() else { return };
        self.options.allocations = options.own.allocations.clone();
        let queues = &self.options.allocations;
        let changed = self.tree.reload(queues, Reduces::new(&options.reduces));
        self.admission.max_system_jobs = queues.max_system_jobs.get();
        self.maps_per_heartbeat = queues.maps_per_heartbeat.get();
        for job in changed.into_iter().filter_map(|job| view.job(job)) {
            if let Some(queue) = self.tree.member(job.id()).map(|member| member.queue) {
                self.alter(view, job, queue);
            }
        }
        let mut limits = self.tree.ids().filter_map(|id| self.tree.node(id).reclaim_after);
        if self.reclaim.is_none() && limits.next().is_some() {
            self.reclaim = Some(Reclaim::new(self.tree.ids().count()));
        }
        self.tree.measure(view);
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        let waits = self.delay.as_ref().map_or(SimSpan::ZERO, |delay| delay.patience(view));
        let queues = self.tree.ids().filter_map(|id| self.tree.node(id).reclaim_after);
        waits + queues.max().unwrap_or(SimSpan::ZERO)
    }

    fn needs(&self) -> PolicyNeeds {
        let needs = self.tree.reduces.needs();
        let progress = self.reclaim.is_some() || needs.progress;
        PolicyNeeds { progress, reading: true, tick_every: Some(self.init_poll), ..needs }
    }

    fn withheld(&self, view: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        let members = |jobs: Vec<JobId>| {
            let member = |job| Some((job, self.tree.member(job)?));
            jobs.into_iter().filter_map(member).collect::<Vec<_>>()
        };
        for leaf in self.tree.ids().filter(|id| self.tree.is_leaf(*id)) {
            for (job, member) in members(self.admission.waiting(leaf)) {
                let why = self.admission.refusal(view, &self.tree, member);
                SlotKind::BOTH.into_iter().for_each(|kind| say(job, kind, why));
            }
            for kind in SlotKind::BOTH {
                let ready = members(self.tree.node(leaf).ready[kind].in_order());
                // Up to 0.21, limits of users apply only while some user is below its own.
                let limits_users = self.rules == Rules::V1
                    || ready.iter().any(|(_, member): &(_, &QueueMember)| {
                        self.limit(member, kind, true).is_none()
                    });
                for (job, member) in ready {
                    self.limit(member, kind, limits_users).inspect(|why| say(job, kind, *why));
                }
            }
        }
    }

    fn holdings(&self, _: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        for queue in self.tree.ids().filter(|id| *id != QueueId::ROOT) {
            let node = self.tree.node(queue);
            say(&node.name, node.standing(kind));
        }
    }

    fn width(&self, job: JobId, kind: SlotKind) -> u32 {
        self.tree.member(job).map_or(1, |member| member.width[kind])
    }

    fn splits_read(&mut self, job: JobId, orders: &mut Orders<'_>) {
        self.readers.go_on(job, orders);
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.tree.measure(&orders.view());
        let admitted = self.admission.poll(&orders.view(), &self.tree);
        let turn = |job: &JobId| self.tree.member(*job).map(|member| (member.queue, member.turn));
        self.readers.hand_over(admitted.iter().filter_map(turn), orders);
        for job in admitted {
            self.tree.admit(&orders.view(), job);
        }
        // Outdated reservations must not affect the claims, so they end first.
        self.reserved.prune(&orders.view(), &mut self.tree);
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.look(orders, &mut self.tree, self.init_poll);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.tree.measure(&offer.view());
        if let Some(delay) = &mut self.delay {
            delay.begin(&offer.view());
        }
        let [map, reduce] = [SlotKind::Map, SlotKind::Reduce];
        match self.rules {
            Rules::V20 => {
                // 0.20: one task; a reduce goes first if more reduce slots than map slots are free.
                let maps_first = offer.free(reduce) <= offer.free(map);
                let kinds = if maps_first { [map, reduce] } else { [reduce, map] };
                kinds.into_iter().find_map(|kind| self.serve(offer, kind));
            }
            Rules::V21 | Rules::Auto => {
                self.serve(offer, reduce);
                self.serve(offer, map);
            }
            Rules::V1 => {
                for _ in 0..self.maps_per_heartbeat {
                    let launched = self.serve(offer, map);
                    // A map without input near the tracker is the last one of its heartbeat.
                    if !launched.is_some_and(|launched| launched.is_near()) {
                        break;
                    }
                }
                self.serve(offer, reduce);
            }
        }
    }
}

/// The answer of a job that was asked for a task.
enum JobAnswer {
    Launched(Launched),
    /// The job has no task for this tracker, or may not launch more.
    No,
    /// The free slots of the tracker stay reserved for the job.
    Keep,
}

/// The state of a pass over the jobs of a queue.
struct QueuePass<'j> {
    limits_users: bool,
    walk: QueueWalk<LineOf>,
    /// The jobs not yet asked, if reduces have an order of their own; otherwise `None`.
    sorted: Option<std::slice::Iter<'j, JobId>>,
}

impl Capacity {
    fn alter(&mut self, view: &View<'_>, job: &Job, queue: QueueId) {
        if let Some(was) = self.tree.alter(view, job, queue)
            && let Some(member) = self.tree.member(job.id())
        {
            self.admission.alter(was, member);
        }
    }

    fn serve(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        if offer.free(kind) == 0 {
            return None;
        }
        match self.serve_reserved(offer, kind) {
            JobAnswer::Launched(launched) => return Some(launched),
            JobAnswer::Keep => return None,
            JobAnswer::No => {}
        }
        // As in 1.x: a launch may change which queue uses the smallest part.
        let mut leaves = std::mem::take(&mut self.leaves);
        self.tree.sort(kind, &mut leaves);
        let answers = leaves.iter().map(|leaf| self.serve_queue(offer, *leaf, kind));
        let answer = { answers }.find(|answer| !matches!(answer, JobAnswer::No));
        self.leaves = leaves;
        match answer {
            Some(JobAnswer::Launched(launched)) => Some(launched),
            _ => None,
        }
    }

    fn serve_reserved(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> JobAnswer {
        let Some(job) = self.reserved.by(offer.tracker(), kind) else { return JobAnswer::No };
        // Until enough slots are free for this job, no other job may take any of them.
        let member = self.tree.member(job).filter(|member| 0 < member.pending[kind]);
        if member.is_some_and(|member| offer.free(kind) < member.width[kind]) {
            self.refuse_others(offer, job, kind);
            return JobAnswer::Keep;
        }
        // Otherwise both the task and the reserved tracker would count as used.
        self.reserved.free(&offer.view(), &mut self.tree, (offer.tracker(), kind));
        let why = Reason::Reserved;
        self.launch(offer, job, kind, true, why).map_or(JobAnswer::No, JobAnswer::Launched)
    }

    /// Refuses the first job of each queue, since slots stay reserved for the job `kept`.
    fn refuse_others(&self, offer: &mut Offer<'_>, kept: JobId, kind: SlotKind) {
        if !offer.keeps_refusals() {
            return;
        }
        for leaf in self.tree.ids().filter(|id| self.tree.is_leaf(*id)) {
            if let Some(first) = self.tree.node(leaf).ready[kind]
                .in_order()
                .into_iter()
                .find(|job: &JobId| *job != kept)
            {
                offer.refuse(first, kind, Reason::KeptFor(kept));
            }
        }
    }

    /// Serves a queue: first the users below their limits, then, up to 0.21, all users. Takes one
    /// step for each user and for each job that is asked; with `srt`, one step for each job.
    fn serve_queue(&mut self, offer: &mut Offer<'_>, leaf: QueueId, kind: SlotKind) -> JobAnswer {
        let by_srt = self.by_srt(&offer.view(), leaf, kind);
        // 1.x has no second pass, so slots stay idle if all users are at their limits.
        let passes: &[bool] = if self.rules == Rules::V1 { &[true] } else { &[true, false] };
        for limits_users in passes {
            let sorted = by_srt.as_deref().map(<[JobId]>::iter);
            let (limits_users, walk) = (*limits_users, QueueWalk::default());
            let mut turns = QueuePass { limits_users, walk, sorted };
            while let Some(job) = self.next(&mut turns, leaf, kind) {
                match self.ask(offer, job, kind, limits_users) {
                    JobAnswer::No => {}
                    answer => return answer,
                }
            }
        }
        JobAnswer::No
    }

    fn next(&self, turns: &mut QueuePass<'_>, leaf: QueueId, kind: SlotKind) -> Option<JobId> {
        let (tree, node) = (&self.tree, self.tree.node(leaf));
        let limits_users = turns.limits_users;
        let may = |user: &str, width| !limits_users || node.may_have(self.rules, kind, user, width);
        match &mut turns.sorted {
            None => node.ready[kind].next(&mut turns.walk, |(user, width)| may(user, *width)),
            Some(jobs) => {
                let may = |job: &QueueMember| may(&job.user, job.width[kind]);
                jobs.find(|job| tree.member(**job).is_some_and(may)).copied()
            }
        }
    }

    /// Returns the jobs of a queue in the order for reduces; `None` if it is the same as for maps.
    fn by_srt(&self, view: &View<'_>, leaf: QueueId, kind: SlotKind) -> Option<Vec<JobId>> {
        let reduces = &self.tree.reduces;
        let has_order = kind == SlotKind::Reduce && reduces.have_an_order();
        has_order.then(|| {
            let jobs = self.tree.node(leaf).ready[kind].in_order().into_iter();
            reduces.in_order(kind, view, jobs, |job| self.tree.member(job)?.admitted_at).collect()
        })
    }

    /// Asks a job for a task. If `limits_users`, the job's user must be below the user's limit.
    fn ask(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        kind: SlotKind,
        limits_users: bool,
    ) -> JobAnswer {
        let Some(member) = self.tree.member(job) else { return JobAnswer::No };
        let (node, free, width) =
            (self.tree.node(member.queue), offer.free(kind), member.width[kind]);
        // If the queue is at its limit, report only that, not the limits of its users.
        if self.limit(member, kind, false).is_some() {
            return JobAnswer::No;
        }
        let reserves = self.rules != Rules::V20 && limits_users;
        // The job has reserved a tracker for each of its pending tasks and needs no other.
        let has_enough = free < width && reserves && member.pending[kind] <= member.reserved[kind];
        if has_enough || !offer.suits(job, kind, width) {
            offer.refuse(job, kind, Reason::BadTracker);
            return JobAnswer::No;
        }
        if width <= free {
            let standing = node.standing(kind);
            let why = match standing.held < node.slots[kind] {
                _ if !limits_users => Reason::LimitsAside,
                true => Reason::Share(standing),
                false => Reason::Lent(standing),
            };
            // In 1.x a task of several slots does not wait for a node near its input.
            let anywhere = self.options.delay.is_none() && 1 < width;
            let launched = self.launch(offer, job, kind, anywhere, why);
            return launched.map_or(JobAnswer::No, JobAnswer::Launched);
        }
        // It does not fit yet. With 0.20, and in a second pass, only this heartbeat keeps slots.
        self.refuse_others(offer, job, kind);
        if reserves {
            self.reserved.keep(&offer.view(), &mut self.tree, (offer.tracker(), kind), job);
        }
        JobAnswer::Keep
    }

    /// Returns the limit that denies an admitted job slots on every tracker: the limit of its queue
    /// or, if `limits_users`, of its user. `None` if neither limit is reached.
    fn limit(&self, member: &QueueMember, kind: SlotKind, limits_users: bool) -> Option<Reason> {
        let (width, user) = (member.width[kind], &member.user);
        let may_have = || self.tree.node(member.queue).may_have(self.rules, kind, user, width);
        let of_queue = self.tree.limit(member.queue, kind, width).map(Reason::GroupLimit);
        of_queue.or_else(|| (limits_users && !may_have()).then_some(Reason::UserLimit))
    }

    fn launch(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        kind: SlotKind,
        anywhere: bool,
        why: Reason,
    ) -> Option<Launched> {
        let slots = self.tree.member(job)?.width[kind];
        let launched = match (kind, &mut self.delay) {
            (SlotKind::Reduce, None) => offer.launch_wide_reduce(job, slots, why),
            (SlotKind::Reduce, Some(delay)) => delay.launch_reduce(offer, job, slots, why),
            // 0.20 and 0.21 launch any map of the job, the nearest first.
            (SlotKind::Map, None) => offer.launch_wide_map(job, slots, MapReach::Any, why),
            (SlotKind::Map, Some(delay)) => delay.launch_map(offer, job, slots, anywhere, why),
        }?;
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.launches.note(offer.view().now(), offer.tracker(), launched);
        }
        self.tree.refresh(&offer.view(), job);
        Some(launched)
    }
}
