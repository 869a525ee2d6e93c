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
mod queues;
mod reclaim;
mod reserved;
mod tree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::admission::Admission;
use self::node::QueueId;
pub use self::queues::{Queue, Queues};
use self::reclaim::Reclaim;
use self::reserved::Reserved;
use self::tree::{Place, Tree};
use super::part::allocations::PoolBy;
use super::part::delay::{Delay, DelaySpec};
use super::part::file_or::FileOr;
use super::part::srt::{ReduceOrder, Srt, SrtSpec};
use crate::mapred::{
    Complaint, Job, JobChange, JobEvent, JobId, Launched, Offer, Orders, PerSlot, Policy, Reach,
    Reason, Scheduler, Site, SlotKind, View,
};
use crate::units::{Bytes, Count, Factor, SimSpan};

/// More slots than any tracker has.
const MOST_SLOTS: u64 = 1_000_000;

/// The options of `capacity`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CapacityOptions {
    /// Whose rules hold: those of a line of Hadoop, or `auto`, those of the scenario's.
    pub rules: Rules,
    /// The queues, and what holds for all of them.
    pub allocations: FileOr<Queues>,
    /// What a job's queue is: the one that it names, or its user.
    pub queue_by: PoolBy,
    /// The memory of a map slot: maps of more memory take several slots. Without, each takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_slot: Option<Bytes>,
    /// The memory of a reduce slot, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_slot: Option<Bytes>,
    /// How often a job without input in the rack is passed over, in parts of its maps that are left,
    /// or of the trackers; without, the share of trackers that hold its input. Rules of 1.x only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_factor: Option<Factor>,
    /// How long jobs wait for their input, in place of what the rules say; not said unless given.
    pub delay: DelaySpec,
    /// How many maps a heartbeat brings at most. Rules of 1.x only; the others bring one.
    pub maps_per_heartbeat: Count<1, 32_767>,
    /// In what order the jobs of a queue get slots for reduces: `as_maps` or `srt`.
    pub reduce_order: ReduceOrder,
    /// How `srt` reckons.
    pub srt: SrtSpec,
}

/// The line of Hadoop whose rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Rules {
    /// Those of the scenario's line.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// One task a heartbeat, reduce or map, wherever its input is.
    #[serde(rename = "0.20")]
    V20,
    /// One reduce and one map a heartbeat, wherever its input is.
    #[serde(rename = "0.21")]
    V21,
    /// As many maps as there are slots, but only one without input in the rack, for which its job
    /// has waited; and one reduce. A user gets no more than its limit, even if slots stay idle.
    #[serde(rename = "1.x")]
    V1,
}

impl Default for CapacityOptions {
    fn default() -> Self {
        Self {
            rules: Rules::Auto,
            allocations: FileOr::default(),
            queue_by: PoolBy::Pool,
            map_slot: None,
            reduce_slot: None,
            wait_factor: None,
            delay: DelaySpec::NONE,
            maps_per_heartbeat: Count::of(32_767),
            reduce_order: ReduceOrder::AsMaps,
            srt: SrtSpec::default(),
        }
    }
}

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
        if options.rules == Rules::Auto {
            options.rules = match site.line {
                "0.20" => Rules::V20,
                "1.x" => Rules::V1,
                _ => Rules::V21,
            };
        }
        let mut complaints = queues::settle(&mut options.allocations, site, options.queue_by);
        complaints.extend(no_memory(options));
        complaints
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

/// Complains about slots without memory.
fn no_memory(options: &CapacityOptions) -> Vec<Complaint> {
    let slots = [("map_slot", options.map_slot), ("reduce_slot", options.reduce_slot)];
    let empty = slots.into_iter().filter(|(_, memory)| *memory == Some(Bytes::ZERO));
    let complaint = |(key, _): (&str, _)| Complaint {
        path: vec![key.to_owned()],
        message: "a slot has some memory".to_owned(),
        hint: "leave it out, and every task takes one slot".to_owned(),
        is_warning: false,
    };
    empty.map(complaint).collect()
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
                self.tree.enter(job, queue, self.width(job));
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
            reclaim.look(orders, &mut self.tree);
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
    /// Returns how many slots each of a job's tasks takes.
    fn width(&self, job: &Job) -> PerSlot<u32> {
        let memory = job.spec().memory;
        let slots = |slot: Option<Bytes>, memory: Bytes| {
            let slots = slot.map_or(1, |slot| memory.get().div_ceil(slot.get().max(1)));
            slots.clamp(1, MOST_SLOTS) as u32
        };
        PerSlot {
            map: slots(self.options.map_slot, memory.map),
            reduce: slots(self.options.reduce_slot, memory.reduce),
        }
    }

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
        srt.sort(view, &mut places, |place| place.2);
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
        if self.options.rules == Rules::V20 || !limits_users {
            return Answer::Keep;
        }
        if has_all || offer.slots(kind) < width {
            return Answer::No;
        }
        self.reserved.keep(&offer.view(), &mut self.tree, offer.tracker(), kind, job);
        Answer::Keep
    }
}
