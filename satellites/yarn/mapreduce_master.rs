//! A job's master as MapReduce 2.7.3 has it: the ResourceManager starts it in a container of its own.
//!
//! It calls once in an interval, the first time one interval after it has registered, and uses an
//! answer at once. The rules of asking are those of Hadoop's `RMContainerAllocator` and
//! `RMContainerRequestor`:
//!
//! - All maps are asked for at once (priority 20), maps that were lost or have failed without a place
//!   and before all others (5), reduces between (10). Rows hold what is still wanted, and a row that
//!   has changed replaces the ResourceManager's at the next call; what was allocated in between
//!   comes on top, fits no task, and is released.
//! - A container goes to a map on its host, then to one in its rack, then to the first one.
//! - Reduces wait for a share of the maps (slow start). When no map waits for a container all reduces
//!   are asked for; until then as many as fit into their part of what the job may have: that part
//!   grows with the maps that are done, up to a limit, and by all that maps do not need.
//! - If maps wait, none of them has a container, and there is no headroom for one, the reduces that
//!   have come the least far give way.
//!
//! A task tells the end of its work to its master directly; its node tells the ResourceManager at
//! the next heartbeat. The shuffle of a reduce begins when all maps have ended, at the earliest with
//! its container. A map on a node that is lost is done again while there are reduces to end. A new
//! attempt of the master takes over the tasks that are done. Not here: failures of tasks themselves,
//! lists of bad nodes, speculation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;

use crate::application_master::{MasterBody, YarnJob};
use crate::event::{ApplicationFact, ContainerFact, YarnFact};
use crate::message::{
    AllocatedContainer, AskPriority, ContainerAsk, ContainerEnd, ContainerId, ContainerWork,
    MasterAnswer, MasterId, NodeId, PlaceId, ToMaster, ToNodeManager, ToResourceManager, YarnMail,
    YarnOutbox,
};
use crate::size::{SizeCalculator, YarnSize};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::SlotKind;
use mumakil_core::protocol::Core;

const RETRIED_MAPS: AskPriority = 5;
const REDUCES: AskPriority = 10;
const MAPS: AskPriority = 20;
/// How long a map waits until reduces give way although there is headroom: the default of
/// `mapreduce.job.reducer.unconditional-preempt.delay.sec`. Without headroom it need not wait.
const PATIENCE_OF_MAPS: SimSpan = SimSpan::from_secs(300);

/// The times of a job beside those of its tasks, and its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapReduceTimes {
    /// From the launch of the master until it registers.
    pub(crate) start_up: SimSpan,
    /// The shuffle of a reduce; the life of the task is the rest.
    pub(crate) shuffle: SimSpan,
    /// From the end of the last task until the master unregisters.
    pub(crate) commit: SimSpan,
    /// How long the master keeps its container after that.
    pub(crate) stay: SimSpan,
    /// The share of the maps that must be done before reduces are asked for
    /// (`mapreduce.job.reduce.slowstart.completedmaps`).
    pub(crate) slow_start: f32,
    /// The largest part of the room for reduces while maps wait
    /// (`yarn.app.mapreduce.am.job.reduce.rampup.limit`).
    pub(crate) ramp_up_limit: f32,
    /// The part of the room that reduces give up for maps at most
    /// (`yarn.app.mapreduce.am.job.reduce.preemption.limit`).
    pub(crate) preemption_limit: f32,
}

impl Default for MapReduceTimes {
    fn default() -> Self {
        Self {
            start_up: SimSpan::ZERO,
            shuffle: SimSpan::ZERO,
            commit: SimSpan::ZERO,
            stay: SimSpan::ZERO,
            slow_start: 0.05,
            ramp_up_limit: 0.5,
            preemption_limit: 0.5,
        }
    }
}

/// A map that waits for a container.
#[derive(Clone, Copy, Debug)]
struct WantedMap {
    task: u32,
    priority: AskPriority,
    since: SimTime,
}

/// A task in a container.
#[derive(Clone, Copy, Debug)]
struct PlacedTask {
    task: u32,
    node: NodeId,
    /// When its work began, and when it ends on a sound node; `None` while a reduce waits for maps.
    work: Option<(SimTime, SimTime)>,
    /// Whether its work is done, or it gave way.
    is_over: bool,
}

impl PlacedTask {
    /// Returns how far it has come, from 0 to 1.
    fn progress(self, now: SimTime) -> f64 {
        self.work.map_or(0.0, |(from, to)| {
            (now - from).as_secs_f64() / (to - from).as_secs_f64().max(1e-6)
        })
    }
}

/// The core of a master. Pairs are of maps and of reduces.
#[derive(Debug, Default)]
pub(crate) struct MapReduceMaster {
    body: MasterBody,
    /// How many tasks there are, and the size of the first one.
    counts: [usize; 2],
    sizes: [YarnSize; 2],
    /// When it does something next; steps that were planned before count for nothing.
    next_step: SimTime,
    committed_at: Option<SimTime>,
    /// The node of each task that is done, and how many there are.
    done_on: BTreeMap<u32, NodeId>,
    done: [usize; 2],
    /// The tasks that were done again or will be.
    retried: BTreeSet<u32>,
    maps: BTreeMap<u32, WantedMap>,
    last_wanted: u32,
    /// The maps that are wanted in a place or without any, in order; some have a container by now.
    maps_at: BTreeMap<PlaceId, VecDeque<u32>>,
    pending: VecDeque<u32>,
    reduces: VecDeque<u32>,
    placed: BTreeMap<ContainerId, PlacedTask>,
    rows: BTreeMap<(AskPriority, PlaceId), i32>,
    changed: BTreeSet<(AskPriority, PlaceId)>,
    released: Vec<ContainerId>,
    headroom: YarnSize,
    calculator: SizeCalculator,
    has_slow_started: bool,
    /// Whether something has changed since reduces were last considered.
    has_changed: bool,
    last_done: usize,
    was_asked: [bool; 2],
}

impl Core for MapReduceMaster {
    type Msg = ToMaster;

    fn handle(&mut self, message: &ToMaster, out: &mut YarnOutbox) {
        match message {
            ToMaster::Lost => self.lose(),
            ToMaster::Step if self.body.is_over && self.next_step <= out.now => {
                self.next_step = SimTime::LAST;
                self.body.leave(out);
            }
            _ if self.body.is_hung || self.body.is_over => {}
            ToMaster::Step if self.committed_at.is_some_and(|at| at <= out.now) => {
                self.body.unregister(out);
                self.plan_step(self.body.job.mapreduce.stay, out);
            }
            ToMaster::Step if self.next_step <= out.now => self.step(out),
            ToMaster::Step => {}
            ToMaster::Launched(id, node) => {
                self.body.container = Some((*id, *node));
                self.plan_step(self.body.job.mapreduce.start_up, out);
            }
            ToMaster::Answer(answer) if self.body.is_registered => self.take(answer, out),
            ToMaster::Answer(_) => {}
            ToMaster::TaskEnded(id) => self.note_end(*id, out),
            ToMaster::Hang => self.body.is_hung = self.body.container.is_some(),
            ToMaster::Die => {
                if self.body.die(out) {
                    self.lose();
                }
            }
        }
    }
}

impl MapReduceMaster {
    /// Returns a master whose job is still to be submitted.
    pub(crate) fn new(id: MasterId, interval: SimSpan, job: YarnJob) -> Self {
        let tasks = &job.tasks;
        Self {
            counts: SlotKind::BOTH
                .map(|kind| tasks.iter().filter(|task| task.kind == kind).count()),
            sizes: SlotKind::BOTH.map(|kind| {
                let first = tasks.iter().find(|task| task.kind == kind);
                first.map_or_else(YarnSize::default, |task| task.size).most(YarnSize::new(1, 1))
            }),
            body: MasterBody { id, interval, job, ..MasterBody::default() },
            ..Self::default()
        }
    }

    /// The process is gone; the next one begins with the tasks that are done.
    fn lose(&mut self) {
        if self.body.is_over || !self.body.is_submitted {
            return;
        }
        let new = Self::new(self.body.id, self.body.interval, self.body.job.clone());
        let former = mem::replace(self, new);
        self.body.is_submitted = true;
        self.next_step = SimTime::LAST;
        (self.done_on, self.done) = (former.done_on, former.done);
        (self.retried, self.was_asked) = (former.retried, former.was_asked);
    }

    fn plan_step(&mut self, after: SimSpan, out: &mut YarnOutbox) {
        self.next_step = out.now + after;
        out.plan(after, YarnMail::Master(self.body.id, ToMaster::Step));
    }

    fn step(&mut self, out: &mut YarnOutbox) {
        if !self.body.is_submitted {
            self.next_step = SimTime::LAST;
            self.body.submit(true, out);
            return;
        }
        if self.body.is_registered {
            self.call(out);
        } else {
            self.register(out);
        }
        self.plan_step(self.body.interval, out);
    }

    fn register(&mut self, out: &mut YarnOutbox) {
        let Some((id, _)) = self.body.container else { return };
        self.body.is_registered = true;
        self.body.tell(ApplicationFact::Registered, out);
        self.body.begin(id, out);
        for task in 0..self.body.job.tasks.len() as u32 {
            if !self.done_on.contains_key(&task) {
                self.want(task, false, out.now);
            }
        }
        self.finish_if_done(out);
    }

    fn call(&mut self, out: &mut YarnOutbox) {
        let asks = mem::take(&mut self.changed).into_iter().map(|(priority, place)| {
            let size = self.sizes[usize::from(priority == REDUCES)];
            let count = self.rows.get(&(priority, place)).copied().unwrap_or(0);
            ContainerAsk { priority, place, size, count }
        });
        let asks: Vec<ContainerAsk> = asks.collect();
        for ask in &asks {
            let is_reduce = ask.priority == REDUCES;
            if !mem::replace(&mut self.was_asked[usize::from(is_reduce)], true) {
                self.body.tell(
                    match is_reduce {
                        false => ApplicationFact::MapsAsked,
                        true => ApplicationFact::ReducesAsked,
                    },
                    out,
                );
            }
        }
        let released = mem::take(&mut self.released);
        out.send(ToResourceManager::Allocate(self.body.id, Box::new((asks, released))));
    }

    // ---- wanted and placed tasks ----

    fn kind(&self, task: u32) -> SlotKind {
        self.body.job.tasks[task as usize].kind
    }

    /// Changes the rows of a task: its places, if it goes by places, and that of all places.
    fn change_rows(&mut self, task: u32, priority: AskPriority, change: i32) {
        let [host, rack] = self.body.job.tasks[task as usize].host_and_rack;
        let all = [PlaceId::ANY, host, rack];
        let places = if priority == MAPS { &all[..] } else { &all[..1] };
        for row in places.iter().map(|place| (priority, *place)) {
            *self.rows.entry(row).or_default() += change;
            self.changed.insert(row);
        }
    }

    /// Wants a container for a task: for a map at once, for a reduce when its turn comes.
    fn want(&mut self, task: u32, is_retried: bool, now: SimTime) {
        self.has_changed = true;
        if self.kind(task) == SlotKind::Reduce {
            self.pending.push_back(task);
            return;
        }
        if is_retried {
            self.retried.insert(task);
        }
        let places = self.body.job.tasks[task as usize].host_and_rack;
        let (priority, places) = match self.retried.contains(&task) {
            true => (RETRIED_MAPS, &[PlaceId::ANY][..]),
            false => (MAPS, &places[..]),
        };
        self.last_wanted += 1;
        self.maps.insert(self.last_wanted, WantedMap { task, priority, since: now });
        for place in places {
            self.maps_at.entry(*place).or_default().push_back(self.last_wanted);
        }
        self.change_rows(task, priority, 1);
    }

    /// Takes the first map that is wanted in a place.
    fn map_at(&mut self, place: PlaceId) -> Option<(u32, AskPriority)> {
        let list = self.maps_at.get_mut(&place)?;
        let map = std::iter::from_fn(|| list.pop_front()).find_map(|it| self.maps.remove(&it))?;
        Some((map.task, map.priority))
    }

    fn ask_for_reduces(&mut self, count: usize) {
        for _ in 0..count {
            let Some(task) = self.pending.pop_front() else { return };
            self.reduces.push_back(task);
            self.change_rows(task, REDUCES, 1);
        }
    }

    fn take_back_reduces(&mut self, count: usize) {
        for _ in 0..count {
            let Some(task) = self.reduces.pop_front() else { return };
            self.pending.push_back(task);
            self.change_rows(task, REDUCES, -1);
        }
    }

    fn count_placed(&self, kind: SlotKind) -> i32 {
        self.placed.values().filter(|placed| self.kind(placed.task) == kind).count() as i32
    }

    // ---- answers ----

    fn take(&mut self, answer: &MasterAnswer, out: &mut YarnOutbox) {
        let is_news = !answer.allocated.is_empty() || !answer.ended.is_empty();
        self.has_changed |= is_news || self.headroom != answer.headroom;
        (self.headroom, self.calculator) = (answer.headroom, answer.calculator);
        let mut again = Vec::new();
        for (id, end) in &answer.ended {
            out.emit(YarnFact::Container(*id, ContainerFact::Heard));
            let Some(placed) = self.placed.remove(id).filter(|placed| !placed.is_over) else {
                continue;
            };
            let is_lost = answer.lost.contains(&placed.node);
            again.push((placed.task, is_lost || *end == ContainerEnd::Failed));
        }
        if !answer.lost.is_empty() && self.done[1] < self.counts[1] {
            let on_lost = self.done_on.iter().filter(|(_, node)| answer.lost.contains(node));
            let maps = on_lost.map(|(task, _)| *task).filter(|it| self.kind(*it) == SlotKind::Map);
            let gone: Vec<u32> = maps.collect();
            gone.iter().for_each(|task| _ = self.done_on.remove(task));
            self.done[0] -= gone.len();
            again.extend(gone.into_iter().map(|task| (task, true)));
        }
        self.assign(&answer.allocated, out);
        self.has_changed |= !self.maps.is_empty();
        let done = mem::replace(&mut self.last_done, self.done_on.len());
        if (mem::take(&mut self.has_changed) || done != self.last_done) && !self.give_way(out) {
            self.ramp();
        }
        for (task, is_retried) in again {
            self.want(task, is_retried, out.now);
        }
    }

    /// Gives containers to tasks: those without a place first, then maps by host, rack, and order.
    fn assign(&mut self, allocated: &[AllocatedContainer], out: &mut YarnOutbox) {
        let mut left = Vec::new();
        for new in allocated {
            let which = usize::from(new.priority == REDUCES);
            let task = match new.priority {
                _ if self.calculator.containers(new.size, self.sizes[which]) < 1 => None,
                RETRIED_MAPS => self.map_at(PlaceId::ANY),
                MAPS => {
                    left.push(*new);
                    continue;
                }
                _ => self.reduces.pop_front().map(|task| (task, REDUCES)),
            };
            self.place(new, task, out);
        }
        for level in 0..2 {
            left.retain(|new| {
                let map = self.map_at(new.host_and_rack[level]);
                map.is_none() || !self.place(new, map, out)
            });
        }
        for new in left {
            let first = self.maps.pop_first().map(|(_, map)| (map.task, map.priority));
            self.place(&new, first, out);
        }
    }

    /// Launches a task, or releases the container if there is none; returns whether there is one.
    fn place(
        &mut self,
        new: &AllocatedContainer,
        task: Option<(u32, AskPriority)>,
        out: &mut YarnOutbox,
    ) -> bool {
        let AllocatedContainer { id, node, .. } = *new;
        let Some((task, priority)) = task else {
            self.released.push(id);
            return false;
        };
        self.change_rows(task, priority, -1);
        let work = ContainerWork::Reporting(self.body.id);
        out.send(YarnMail::NodeManager(node, ToNodeManager::Launch(id, work)));
        out.emit(YarnFact::Container(id, ContainerFact::Assigned(task)));
        let mut placed = PlacedTask { task, node, work: None, is_over: false };
        if priority != REDUCES || self.done[0] == self.counts[0] {
            self.proceed(id, &mut placed, out);
        }
        self.placed.insert(id, placed);
        true
    }

    /// Begins the work of a task: of a reduce with the shuffle.
    fn proceed(&self, id: ContainerId, placed: &mut PlacedTask, out: &mut YarnOutbox) {
        let is_map = self.kind(placed.task) == SlotKind::Map;
        let shuffle = if is_map { SimSpan::ZERO } else { self.body.job.mapreduce.shuffle };
        let life = shuffle + self.body.job.tasks[placed.task as usize].life;
        placed.work = Some((out.now, out.now + life));
        out.send(YarnMail::NodeManager(placed.node, ToNodeManager::Proceed(id, life)));
    }

    /// Notes that the work of a task is done. After the last map, shuffles begin.
    fn note_end(&mut self, id: ContainerId, out: &mut YarnOutbox) {
        let Some(placed) = self.placed.get_mut(&id).filter(|placed| !placed.is_over) else {
            return;
        };
        placed.is_over = true;
        let PlacedTask { task, node, .. } = *placed;
        out.emit(YarnFact::Container(id, ContainerFact::Done));
        self.done_on.insert(task, node);
        self.done[self.kind(task) as usize] += 1;
        if self.kind(task) == SlotKind::Map && self.done[0] == self.counts[0] {
            let mut placed = mem::take(&mut self.placed);
            for (id, it) in placed.iter_mut().filter(|(_, it)| it.work.is_none() && !it.is_over) {
                self.proceed(*id, it, out);
            }
            self.placed = placed;
        }
        self.finish_if_done(out);
    }

    fn finish_if_done(&mut self, out: &mut YarnOutbox) {
        if self.done_on.len() == self.body.job.tasks.len() {
            self.committed_at = Some(out.now + self.body.job.mapreduce.commit);
            out.plan(
                self.body.job.mapreduce.commit,
                YarnMail::Master(self.body.id, ToMaster::Step),
            );
        }
    }

    // ---- reduces ----

    /// Returns all that the job may have: what its tasks have, and what it may still get.
    fn room(&self) -> YarnSize {
        let [maps, reduces] = [(0, SlotKind::Map), (1, SlotKind::Reduce)]
            .map(|(which, kind)| self.sizes[which].repeated(self.count_placed(kind)));
        self.headroom + maps + reduces
    }

    /// Lets reduces give way to maps that wait, if no map has a container.
    fn give_way(&mut self, out: &mut YarnOutbox) -> bool {
        let now = out.now;
        if self.counts[1] == 0 || 0 < self.count_placed(SlotKind::Map) {
            return false;
        }
        let hanging = self.maps.values().filter(|map| map.since + PATIENCE_OF_MAPS < now);
        let mut waiting = hanging.count();
        if waiting == 0 && self.calculator.containers(self.headroom, self.sizes[0]) < 1 {
            waiting = self.maps.len();
        }
        if waiting == 0 {
            return false;
        }
        self.take_back_reduces(self.reduces.len());
        let [map, reduce] = self.sizes;
        let at_most = self.room().times(f64::from(self.body.job.mapreduce.preemption_limit));
        let [for_one, at_most, for_all] = [map, at_most, map.repeated(waiting as i32)]
            .map(|size| containers_for(self.calculator, size, reduce));
        let count = for_one.max(at_most).min(for_all);
        // One that gave way before, and still has its container, is chosen again in vain.
        let placed = self.placed.iter().map(|(id, placed)| (*id, *placed));
        let undone = placed.filter(|(_, it)| {
            self.kind(it.task) == SlotKind::Reduce && !self.done_on.contains_key(&it.task)
        });
        let mut left: Vec<(ContainerId, PlacedTask)> = undone.collect();
        left.sort_by(|(_, one), (_, other)| one.progress(now).total_cmp(&other.progress(now)));
        let chosen = left.into_iter().take(count.max(0) as usize);
        for (id, placed) in chosen.filter(|(_, placed)| !placed.is_over) {
            self.placed.insert(id, PlacedTask { is_over: true, ..placed });
            out.send(YarnMail::NodeManager(placed.node, ToNodeManager::Fail(id)));
            self.want(placed.task, false, now);
        }
        true
    }

    /// Asks for more reduces, or takes asks back, by their part of the room.
    fn ramp(&mut self) {
        let MapReduceTimes { slow_start, ramp_up_limit, .. } = self.body.job.mapreduce;
        let (all, done) = (self.counts[0], self.done[0]);
        if self.pending.is_empty() {
            return;
        }
        self.has_slow_started |= (slow_start * all as f32).ceil() as usize <= done;
        if !self.has_slow_started {
            return;
        }
        if self.maps.is_empty() {
            self.ask_for_reduces(self.pending.len());
            return;
        }
        let [map, reduce] = self.sizes;
        let maps = self.maps.len() as i32 + self.count_placed(SlotKind::Map);
        let reduces = self.reduces.len() as i32 + self.count_placed(SlotKind::Reduce);
        let part = (done as f32 / all as f32).min(ramp_up_limit);
        let room = self.room();
        let mut for_reduces = room.times(f64::from(part));
        let for_maps = room - for_reduces;
        if maps <= self.calculator.containers(for_maps, map) {
            for_reduces += for_maps - map.repeated(maps);
        }
        let more = self.calculator.containers(for_reduces - reduce.repeated(reduces), reduce);
        match usize::try_from(more) {
            Ok(more) => self.ask_for_reduces(more),
            Err(_) => self.take_back_reduces(more.unsigned_abs() as usize),
        }
    }
}

/// Returns how many containers of a size make up for an amount, rounded up.
fn containers_for(calculator: SizeCalculator, amount: YarnSize, size: YarnSize) -> i32 {
    let by_memory = amount.memory.saturating_add(size.memory - 1) / size.memory;
    match calculator {
        SizeCalculator::Memory => by_memory,
        SizeCalculator::Dominant => {
            by_memory.max(amount.cores.saturating_add(size.cores - 1) / size.cores)
        }
    }
}
