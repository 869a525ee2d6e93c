//! `capacity`: Hadoop's capacity scheduler.
//!
//! Queues in a tree have guaranteed shares of the slots. What a queue leaves idle others may use, up
//! to their maximum, and it gets it back as their tasks end. A free slot goes to the queue that has
//! least of what is guaranteed to it, there to the first job in line whose user is below its limit.
//! Jobs whose tasks take several slots have trackers kept for them ([`reserved`]).
//!
//! The three lines of Hadoop differ in much, so the policy follows the rules of one of them ([`Rules`]);
//! the tree, which 0.20 and 1.x do not have, and giving slots back by killing ([`reclaim`]), which
//! only 0.20.0 had, are there in all.

mod admission;
mod file;
mod node;
mod options;
mod queues;
mod reclaim;
mod reserved;
mod tree;

use self::admission::Admission;
use self::node::QueueId;
pub use self::options::{CapacityOptions, Rules};
pub use self::queues::{Queue, QueueBy, Queues};
use self::reclaim::Reclaim;
use self::reserved::Reserved;
use self::tree::{Place, Tree};
use super::part::delay::{Delay, DelaySpec};
use super::part::srt::{ReduceOrder, Srt};
use crate::mapred::{
    Complaint, JobChange, JobEvent, JobId, Launched, Offer, Orders, Policy, Reach, Reason,
    Scheduler, Site, SlotKind, View,
};
use crate::units::{Factor, SimSpan, SimTime};

/// The capacity scheduler.
#[derive(Debug)]
pub struct Capacity {
    options: CapacityOptions,
    init_poll: SimSpan,
    tree: Tree,
    admission: Admission,
    reserved: Reserved,
    /// What makes jobs wait for their input, if something does.
    delay: Option<Delay>,
    /// What gets slots back, if some queue wants them.
    reclaim: Option<Reclaim>,
    /// The order of reduces, if it is not that of maps.
    srt: Option<Srt>,
    /// The queues to be served, kept so that no memory is asked for.
    leaves: Vec<QueueId>,
}

impl Policy for Capacity {
    const NAME: &'static str = "capacity";
    const ABOUT: &'static str = "queues with guaranteed shares that lend what they do not use";
    type Options = CapacityOptions;

    fn settle(options: &mut CapacityOptions, site: &Site<'_>) -> Vec<Complaint> {
        options.settle(site)
    }

    fn new(options: CapacityOptions) -> Self {
        let (queues, rules) = (options.allocations.given(), options.rules);
        let tree = Tree::new(&queues, rules);
        let number = tree.ids().count();
        let delay = if options.delay != DelaySpec::NONE {
            Some(Delay::new(&options.delay))
        } else {
            let factor = options.wait_factor.map(Factor::get);
            (rules == Rules::V1).then(|| Delay::by_chances(factor))
        };
        let reclaims = tree.ids().any(|id| tree.node(id).reclaim_after.is_some());
        let auto = SimSpan::from_secs(if rules == Rules::V1 { 3 } else { 5 });
        Self {
            init_poll: queues.init_poll.or(auto),
            admission: Admission::new(rules, queues.max_system_jobs.get(), number),
            reserved: Reserved::default(),
            delay,
            reclaim: reclaims.then(|| Reclaim::new(number)),
            srt: (options.reduce_order == ReduceOrder::Srt).then(|| Srt::new(options.srt.clone())),
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
                self.tree.enter(job, queue, self.options.width(job));
                if let Some(member) = self.tree.member(event.job) {
                    self.admission.enter(job, queue, member.place);
                }
            }
            JobChange::Ended(_) => {
                if let Some(member) = self.tree.member(event.job) {
                    self.admission.leave(event.job, member.queue, member.place);
                }
                self.tree.leave(event.job);
            }
            _ => self.tree.refresh(view, event.job),
        }
    }

    fn tick_every(&self) -> Option<SimSpan> {
        Some(self.init_poll)
    }

    fn reads_progress(&self) -> bool {
        self.reclaim.is_some() || self.srt.as_ref().is_some_and(Srt::reads_progress)
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        let view = orders.view();
        self.tree.measure(&view);
        for job in self.admission.poll(&view, &self.tree) {
            self.tree.admit(&view, job);
        }
        self.reserved.prune(&view, &mut self.tree);
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
        match self.options.rules {
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
                for _ in 0..self.options.maps_per_heartbeat.get() {
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
            return Answer::Keep;
        }
        self.reserved.free(&offer.view(), &mut self.tree, offer.tracker(), kind);
        match self.launch(offer, job, kind) {
            Some(launched) => Answer::Launched(launched),
            None => Answer::No,
        }
    }

    /// Serves a queue: first its users below their limits, and up to 0.21 then all.
    fn serve_queue(&mut self, offer: &mut Offer<'_>, leaf: QueueId, kind: SlotKind) -> Answer {
        let sorted = self.sorted(&offer.view(), leaf, kind);
        let passes: &[bool] =
            if self.options.rules == Rules::V1 { &[true] } else { &[true, false] };
        for limits_users in passes {
            let (mut last, mut sorted) = (None, sorted.iter().flatten());
            loop {
                let next = match self.srt {
                    Some(_) if kind == SlotKind::Reduce => sorted.next().copied(),
                    _ => self.tree.ready_after(leaf, kind, last),
                };
                let Some(place) = next else { break };
                match self.ask(offer, place.2, kind, *limits_users) {
                    Answer::No => last = Some(place),
                    answer => return answer,
                }
            }
        }
        Answer::No
    }

    /// Returns the jobs of a queue in the order of their reduces, if that is not that of maps.
    fn sorted(&self, view: &View<'_>, leaf: QueueId, kind: SlotKind) -> Option<Vec<Place>> {
        let srt = self.srt.as_ref().filter(|_| kind == SlotKind::Reduce)?;
        let mut places: Vec<Place> = self.tree.node(leaf).ready[kind].iter().copied().collect();
        srt.sort(view, &mut places, |(.., job)| {
            let admitted_at = self.tree.member(*job).and_then(|member| member.admitted_at);
            (*job, admitted_at.unwrap_or(SimTime::ZERO))
        });
        Some(places)
    }

    /// Launches a task of a job as near to its input as it has to be.
    fn launch(&mut self, offer: &mut Offer<'_>, job: JobId, kind: SlotKind) -> Option<Launched> {
        let width = self.tree.member(job)?.width[kind];
        let launched = match (kind, &mut self.delay) {
            (SlotKind::Reduce, _) => offer.launch_wide_reduce(job, width, Reason::Share),
            (SlotKind::Map, Some(delay)) if width == 1 => {
                delay.launch_map(offer, job, false, Reason::Share)
            }
            // Who needs several slots takes them wherever they are.
            (SlotKind::Map, _) => offer.launch_wide_map(job, width, Reach::Any, Reason::Share),
        }?;
        if let Some(reclaim) = &mut self.reclaim {
            reclaim.launched(offer.view().now(), offer.tracker(), launched);
        }
        self.tree.refresh(&offer.view(), job);
        Some(launched)
    }

    /// Asks a job for a task.
    fn ask(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        kind: SlotKind,
        limits_users: bool,
    ) -> Answer {
        let Some(member) = self.tree.member(job) else { return Answer::No };
        let (width, has_all) = (member.width[kind], member.pending[kind] <= member.reserved[kind]);
        let is_over_limit = limits_users && self.tree.is_over_limit(member, kind);
        if is_over_limit || !self.tree.has_room(member.queue, kind, width) {
            return Answer::No;
        }
        if width <= offer.free(kind) {
            let launched = self.launch(offer, job, kind);
            return launched.map_or(Answer::No, Answer::Launched);
        }
        if offer.slots(kind) < width {
            return Answer::No;
        }
        if self.options.rules == Rules::V20 || !limits_users {
            return Answer::Keep;
        }
        if has_all {
            return Answer::No;
        }
        self.reserved.keep(&offer.view(), &mut self.tree, offer.tracker(), kind, job);
        Answer::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::PerSlot;
    use crate::mapred::SlotKind::{Map, Reduce};
    use crate::mapred::bench::Bench;

    #[test]
    fn the_wait_to_be_admitted_says_nothing_of_how_long_maps_take() {
        let options = "{rules: '0.21', reduce_order: srt, srt: {running_maps: as_pending}, \
                       allocations: {queues: {default: {max_initialised_per_user: 1}}}}";
        let options: CapacityOptions = serde_yaml::from_str(options).unwrap();
        let mut bench = Bench::new(Capacity::new(options), 1, PerSlot { map: 6, reduce: 1 });
        let [first, second] = [2, 1].map(|reduces| bench.job(4, reduces, |_| ()));
        bench.tick().fill();
        assert_eq!(bench.held(Map, [first, second]), [4, 0], "one may wait for its first task");
        bench.at(100.0).tick();
        bench.succeed(first, Map, 1);
        bench.fill();
        bench.at(200.0);
        bench.succeed(second, Map, 1);
        bench.succeed(first, Reduce, 1);
        // Each has one map of four done, the first after 200 s, the second after 100 s.
        let reduce = bench.beat(0).into_iter().find(|attempt| attempt.slot() == Reduce);
        assert_eq!(reduce.map(|attempt| attempt.job()), Some(second));
    }
}
