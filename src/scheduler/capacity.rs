//! `capacity`: Hadoop's capacity scheduler.
//!
//! Queues in a tree have guaranteed shares of the slots. What a queue leaves idle others may use, up
//! to their maximum, and it gets it back as their tasks end. A free slot goes to the queue that has
//! least of what is guaranteed to it, there to the first job in line whose user is below its limit.
//! Jobs whose tasks take several slots have trackers kept for them ([`reserved`]).
//!
//! The three lines of Hadoop differ in much, so the policy follows the rules of one of them ([`Rules`]);
//! the tree, which 0.20 and 1.x do not have, maximums, which 0.20 does not have, and giving slots back
//! by killing ([`reclaim`]), which only 0.20.0 had, are there in all.

mod admission;
mod file;
mod lines;
mod node;
mod options;
mod queues;
mod reclaim;
mod reserved;
mod rules;
#[cfg(test)]
mod tests;
mod tree;
mod unheeded;

use self::admission::Admission;
use self::lines::Walk;
use self::node::QueueId;
pub use self::options::CapacityOptions;
pub use self::queues::{Queue, QueueBy, Queues};
use self::reclaim::Reclaim;
use self::reserved::Reserved;
pub use self::rules::Rules;
use self::tree::{Member, Tree};
use self::unheeded::unheeded;
use super::part::delay::Delay;
use super::part::reduces::{Reduces, WithReduces};
use crate::mapred::{
    Complaint, JobChange, JobEvent, JobId, Launched, Offer, Orders, Policy, Reach, Reason,
    Scheduler, Site, SlotKind, View,
};
use crate::units::{Factor, SimSpan};

/// The capacity scheduler.
#[derive(Debug)]
pub struct Capacity {
    options: CapacityOptions,
    /// Those of a line.
    rules: Rules,
    init_poll: SimSpan,
    maps_per_heartbeat: u32,
    tree: Tree,
    admission: Admission,
    reserved: Reserved,
    /// What makes jobs wait for their input, if something does.
    delay: Option<Delay>,
    /// What gets slots back, if some queue wants them.
    reclaim: Option<Reclaim>,
    /// The queues to be served, kept so that no memory is asked for.
    leaves: Vec<QueueId>,
}

impl Policy for Capacity {
    const NAME: &'static str = "capacity";
    const ABOUT: &'static str = "queues with guaranteed shares that lend what they do not use";
    type Options = WithReduces<CapacityOptions>;

    fn settle(options: &mut Self::Options, site: &Site<'_>) -> Vec<Complaint> {
        let options = &mut options.own;
        let mut complaints = options.settle(site);
        if complaints.iter().all(|complaint| complaint.is_warning) {
            complaints.extend(unheeded(options));
        }
        complaints
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: options, reduces } = options;
        let rules = if options.rules == Rules::Auto { Rules::V21 } else { options.rules };
        let queues = options.allocations.given();
        let tree = Tree::new(&queues, rules, Reduces::new(&reduces));
        let number = tree.ids().count();
        let factor = options.wait_factor.map(Factor::get);
        let by_chances = || (rules == Rules::V1).then(|| Delay::by_chances(factor));
        let delay = options.delay.as_ref().map(Delay::new).or_else(by_chances);
        let reclaims = tree.ids().any(|id| tree.node(id).reclaim_after.is_some());
        let auto = SimSpan::from_secs(if rules == Rules::V1 { 3 } else { 5 });
        Self {
            rules,
            init_poll: queues.init_poll.or(auto),
            maps_per_heartbeat: queues.maps_per_heartbeat.get(),
            admission: Admission::new(rules, queues.max_system_jobs.get(), number),
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
    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        if let Some(delay) = &mut self.delay {
            delay.job_changed(view, event);
        }
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.job_changed(event);
        }
        let Some(job) = view.job(event.job) else { return };
        match event.change {
            JobChange::Submitted => {
                let queue = self.tree.leaf(self.options.queue_by.of(job.spec()));
                self.tree.enter(job, queue, self.options.width(job.spec().memory));
                if let Some(member) = self.tree.member(event.job) {
                    self.admission.enter(member);
                }
            }
            JobChange::Ended(_) => {
                if let Some(member) = self.tree.member(event.job) {
                    self.admission.leave(member);
                }
                self.tree.leave(event.job);
            }
            _ => self.tree.refresh(view, event.job),
        }
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        let waits = self.delay.as_ref().map_or(SimSpan::ZERO, |delay| delay.patience(view));
        let queues = self.tree.ids().filter_map(|id| self.tree.node(id).reclaim_after);
        waits + queues.max().unwrap_or(SimSpan::ZERO)
    }

    fn tick_every(&self) -> Option<SimSpan> {
        Some(self.init_poll)
    }

    fn orders_reading(&self) -> bool {
        true
    }

    fn withheld(&self, _: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        for leaf in self.tree.ids().filter(|id| self.tree.is_leaf(*id)) {
            for kind in SlotKind::BOTH {
                let node = self.tree.node(leaf);
                for job in node.ready[kind].in_order() {
                    let Some(member) = self.tree.member(job) else { continue };
                    let width = member.width[kind];
                    if !self.tree.has_room(leaf, kind, width) {
                        say(job, kind, Reason::GroupLimit(node.standing(kind)));
                    } else if !node.may_have(self.rules, kind, &member.user, width) {
                        say(job, kind, Reason::UserLimit);
                    }
                }
            }
        }
    }

    fn reads_progress(&self) -> bool {
        self.reclaim.is_some() || self.tree.reduces().read_progress()
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.tree.measure(&orders.view());
        for job in self.admission.poll(&orders.view(), &self.tree) {
            orders.read(job);
            self.tree.admit(&orders.view(), job);
        }
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
                    // One that has no input near ends the heartbeat's maps.
                    if !launched.is_some_and(|launched| launched.is_near()) {
                        break;
                    }
                }
                self.serve(offer, reduce);
            }
        }
    }
}

/// What became of a job that was asked for a task.
enum Answer {
    /// Here it is.
    Launched(Launched),
    /// It has none for this tracker, or may have no more.
    No,
    /// The tracker's slots are to stay free.
    Keep,
}

impl Capacity {
    /// Launches a task of a kind, if somebody may have one here.
    fn serve(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        if offer.free(kind) == 0 {
            return None;
        }
        match self.serve_reserved(offer, kind) {
            Answer::Launched(launched) => return Some(launched),
            Answer::Keep => return None,
            Answer::No => {}
        }
        let mut leaves = std::mem::take(&mut self.leaves);
        self.tree.sort(kind, &mut leaves);
        let answers = leaves.iter().map(|leaf| self.serve_queue(offer, *leaf, kind));
        let answer = { answers }.find(|answer| !matches!(answer, Answer::No));
        self.leaves = leaves;
        match answer {
            Some(Answer::Launched(launched)) => Some(launched),
            _ => None,
        }
    }

    /// Serves the job that a tracker is kept for.
    fn serve_reserved(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Answer {
        let Some(job) = self.reserved.by(offer.tracker(), kind) else { return Answer::No };
        let member = self.tree.member(job).filter(|member| 0 < member.pending[kind]);
        if member.is_some_and(|member| offer.free(kind) < member.width[kind]) {
            let leaves = self.tree.ids().filter(|_| offer.keeps_refusals());
            for leaf in leaves.filter(|id| self.tree.is_leaf(*id)).collect::<Vec<_>>() {
                let first = self.tree.node(leaf).ready[kind].next(&mut Walk::default(), |_| true);
                if let Some(first) = first.filter(|first| *first != job) {
                    offer.refuse(first, kind, Reason::KeptFor(job));
                }
            }
            return Answer::Keep;
        }
        self.reserved.free(&offer.view(), &mut self.tree, offer.tracker(), kind);
        let why = Reason::Reserved;
        self.launch(offer, job, kind, true, why).map_or(Answer::No, Answer::Launched)
    }

    /// Serves a queue: first its users below their limits, and up to 0.21 then all. Costs a look for
    /// each user, and one for each job that is asked; by `srt` one for each job.
    fn serve_queue(&mut self, offer: &mut Offer<'_>, leaf: QueueId, kind: SlotKind) -> Answer {
        let (rules, by_srt) = (self.rules, self.by_srt(&offer.view(), leaf, kind));
        let passes: &[bool] = if rules == Rules::V1 { &[true] } else { &[true, false] };
        for limits_users in passes {
            let mut walk = Walk::default();
            let mut sorted = by_srt.as_ref().map(|jobs| jobs.iter());
            loop {
                let (tree, node) = (&self.tree, self.tree.node(leaf));
                let may =
                    |user: &str, width| !limits_users || node.may_have(rules, kind, user, width);
                let next = match &mut sorted {
                    None => node.ready[kind].next(&mut walk, |(user, width)| may(user, *width)),
                    Some(jobs) => {
                        let may = |job: &Member| may(&job.user, job.width[kind]);
                        jobs.find(|job| tree.member(**job).is_some_and(may)).copied()
                    }
                };
                let Some(job) = next else { break };
                match self.ask(offer, job, kind, *limits_users) {
                    Answer::No => {}
                    answer => return answer,
                }
            }
        }
        Answer::No
    }

    /// Returns the jobs of a queue in the order of their reduces, if that is not that of maps.
    fn by_srt(&self, view: &View<'_>, leaf: QueueId, kind: SlotKind) -> Option<Vec<JobId>> {
        let reduces = self.tree.reduces();
        let has_order = kind == SlotKind::Reduce && reduces.have_an_order();
        has_order.then(|| {
            let jobs = self.tree.node(leaf).ready[kind].in_order().into_iter();
            let since = |job| self.tree.member(job)?.admitted_at;
            reduces.in_order(view, jobs, since).collect()
        })
    }

    /// Asks a job for a task, whose user is below its limit if that counts.
    fn ask(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        kind: SlotKind,
        limits_users: bool,
    ) -> Answer {
        let Some(member) = self.tree.member(job) else { return Answer::No };
        let width = member.width[kind];
        if !self.tree.has_room(member.queue, kind, width) || !offer.suits(job, kind, width) {
            return Answer::No;
        }
        if width <= offer.free(kind) {
            let node = self.tree.node(member.queue);
            let standing = node.standing(kind);
            let why = match standing.held < node.slots[kind] {
                _ if !limits_users => Reason::LimitsAside,
                true => Reason::Share(standing),
                false => Reason::Lent(standing),
            };
            // By the rules of 1.x, tasks of several slots do not wait for local ones.
            let anywhere = self.options.delay.is_none() && 1 < width;
            let launched = self.launch(offer, job, kind, anywhere, why);
            return launched.map_or(Answer::No, Answer::Launched);
        }
        if self.rules == Rules::V20 || !limits_users {
            return Answer::Keep;
        }
        if member.pending[kind] <= member.reserved[kind] {
            return Answer::No;
        }
        self.reserved.keep(&offer.view(), &mut self.tree, offer.tracker(), kind, job);
        Answer::Keep
    }

    /// Launches a task of a job, a map as near to its input as it has to be.
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
            (SlotKind::Reduce, _) => offer.launch_wide_reduce(job, slots, why),
            (SlotKind::Map, None) => offer.launch_wide_map(job, slots, Reach::Any, why),
            (SlotKind::Map, Some(delay)) => delay.launch_wide_map(offer, job, slots, anywhere, why),
        }?;
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.launched(offer.view().now(), offer.tracker(), launched);
        }
        self.tree.refresh(&offer.view(), job);
        Some(launched)
    }
}
