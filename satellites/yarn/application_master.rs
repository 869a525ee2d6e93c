//! An application's master, as SLS plays MapReduce's.
//!
//! It works in steps, one interval apart: look at the answers to earlier calls, then call. So an
//! answer is looked at one interval after it was given, and a container is launched one interval
//! after its master has got it. Maps are asked for all at once; reduces only when all maps are
//! done. Tasks take containers in the order of the job's list, wherever the container is.
//!
//! SLS' flaws are kept, since they decide what a run does: the failure of a container that the
//! master does not know restarts the job, and a restarted job loses its reduces.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{ApplicationFact, ContainerFact, YarnFact};
use crate::mapreduce_master::MapReduceTimes;
use crate::message::{
    AllocatedContainer, AppSubmission, AskPriority, ContainerAsk, ContainerEnd, ContainerId,
    ContainerWork, MasterAnswer, MasterId, NodeId, PlaceId, ToMaster, ToNodeManager,
    ToResourceManager, YarnMail, YarnOutbox,
};
use crate::size::YarnSize;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::SlotKind;
use mumakil_core::protocol::Core;

/// The highest priority number of a container for a master; tasks have higher ones.
pub(crate) const LAST_OF_MASTERS: AskPriority = 1;
const MAPS: AskPriority = 20;
const REDUCES: AskPriority = 10;

/// A task of a job.
#[derive(Clone, Debug)]
pub(crate) struct YarnTask {
    pub(crate) kind: SlotKind,
    /// The host and the rack that it asks for.
    pub(crate) host_and_rack: [PlaceId; 2],
    pub(crate) size: YarnSize,
    /// How long it runs.
    pub(crate) life: SimSpan,
}

/// How a master comes to its container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MasterMode {
    /// It asks for it as for any other, as SLS does.
    #[default]
    Sls,
    /// The ResourceManager starts it, as in a cluster.
    Managed,
    /// The ResourceManager starts it, and it asks, matches and launches as MapReduce's does.
    #[serde(rename = "mapreduce")]
    MapReduce,
}

/// A job: what a master has to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct YarnJob {
    pub(crate) user: String,
    /// The queue, as the job names it.
    pub(crate) queue: String,
    /// When the master's first step is.
    pub(crate) start: SimSpan,
    pub(crate) mode: MasterMode,
    pub(crate) master_size: YarnSize,
    /// The tasks, in their order.
    pub(crate) tasks: Vec<YarnTask>,
    /// The further needs of MapReduce's master.
    pub(crate) mapreduce: MapReduceTimes,
}

/// The tasks of one kind, by what has become of them; all by their place in the job's list.
#[derive(Debug, Default)]
struct TaskStates {
    pending: VecDeque<u32>,
    failed: VecDeque<u32>,
    scheduled: VecDeque<u32>,
    assigned: BTreeMap<ContainerId, u32>,
    finished: usize,
    total: usize,
    /// Whether the master has asked for them at all.
    was_asked: bool,
}

impl TaskStates {
    fn new(job: &YarnJob, kind: SlotKind) -> Self {
        let pending = job.places(kind);
        Self { total: pending.len(), pending, ..Self::default() }
    }

    fn is_done(&self) -> bool {
        self.finished == self.total
    }
}

impl YarnJob {
    /// Returns the places of one kind of tasks in the list.
    fn places(&self, kind: SlotKind) -> VecDeque<u32> {
        let of_kind = (0..).zip(&self.tasks).filter(|(_, task)| task.kind == kind);
        of_kind.map(|(place, _)| place).collect()
    }
}

/// The part of a master that SLS' and MapReduce's have in common.
#[derive(Debug, Default)]
pub(crate) struct MasterBody {
    pub(crate) id: MasterId,
    pub(crate) interval: SimSpan,
    pub(crate) job: YarnJob,
    pub(crate) container: Option<(ContainerId, NodeId)>,
    pub(crate) is_submitted: bool,
    pub(crate) is_registered: bool,
    pub(crate) is_over: bool,
    pub(crate) is_hung: bool,
}

impl MasterBody {
    /// Submits the application. `is_managed` says whether the ResourceManager starts the master.
    pub(crate) fn submit(&mut self, is_managed: bool, out: &mut YarnOutbox) {
        self.is_submitted = true;
        let YarnJob { user, queue, master_size, .. } = &self.job;
        let submission = AppSubmission {
            user: user.clone(),
            queue: queue.clone(),
            managed_master: is_managed.then_some(*master_size),
        };
        out.send(ToResourceManager::Submit(self.id, Box::new(submission)));
    }

    pub(crate) fn tell(&self, fact: ApplicationFact, out: &mut YarnOutbox) {
        out.emit(YarnFact::Application(self.id, fact));
    }

    /// Begins to work in a container.
    pub(crate) fn begin(&self, id: ContainerId, out: &mut YarnOutbox) {
        out.emit(YarnFact::Container(id, ContainerFact::IsMaster));
        self.tell(ApplicationFact::MasterStarted, out);
    }

    /// Ends the process; returns whether there was one.
    pub(crate) fn die(&self, out: &mut YarnOutbox) -> bool {
        let container = self.container.filter(|_| !self.is_over);
        if let Some((id, node)) = container {
            out.affect(YarnMail::NodeManager(node, ToNodeManager::Fail(id)));
        }
        container.is_some()
    }

    pub(crate) fn unregister(&mut self, out: &mut YarnOutbox) {
        self.is_over = true;
        out.send(ToResourceManager::Unregister(self.id));
        self.tell(ApplicationFact::Finished, out);
    }

    /// Gives the container back.
    pub(crate) fn leave(&self, out: &mut YarnOutbox) {
        if let Some((id, node)) = self.container {
            out.send(YarnMail::NodeManager(node, ToNodeManager::EndMaster(id)));
            self.tell(ApplicationFact::MasterReleased, out);
        }
    }
}

/// The core of a master.
#[derive(Debug, Default)]
pub(crate) struct ApplicationMaster {
    body: MasterBody,
    maps: TaskStates,
    reduces: TaskStates,
    answers: VecDeque<MasterAnswer>,
    /// How many calls are not yet answered.
    outstanding: u32,
    /// Whether a step has begun to look at answers, and waits for one that is under way.
    is_looking: bool,
    is_running: bool,
    is_finished: bool,
}

impl Core for ApplicationMaster {
    type Msg = ToMaster;

    fn handle(&mut self, message: &ToMaster, out: &mut YarnOutbox) {
        match message {
            ToMaster::Step => {
                self.step(out);
                if !self.body.is_over {
                    out.plan(self.body.interval, YarnMail::Master(self.body.id, ToMaster::Step));
                }
            }
            ToMaster::Answer(answer) => {
                self.outstanding -= 1;
                self.answers.push_back((**answer).clone());
                if self.is_looking && self.outstanding == 0 {
                    self.look(out);
                }
            }
            ToMaster::Launched(id, node) => self.body.container = Some((*id, *node)),
            ToMaster::TaskEnded(_) => {}
            ToMaster::Hang => self.body.is_hung = self.body.container.is_some(),
            ToMaster::Die => {
                if self.body.die(out) {
                    self.lose();
                }
            }
            ToMaster::Lost => self.lose(),
        }
    }
}

impl ApplicationMaster {
    /// Returns a master whose first step is still to come.
    pub(crate) fn new(id: MasterId, interval: SimSpan, job: YarnJob) -> Self {
        Self {
            maps: TaskStates::new(&job, SlotKind::Map),
            reduces: TaskStates::new(&job, SlotKind::Reduce),
            body: MasterBody { id, interval, job, ..MasterBody::default() },
            ..Self::default()
        }
    }

    fn step(&mut self, out: &mut YarnOutbox) {
        if self.body.is_hung {
            return;
        }
        if !self.body.is_submitted {
            self.submit(out);
        } else if self.is_finished {
            self.unregister(out);
        } else if self.body.is_registered {
            if self.is_running {
                self.look(out);
            } else {
                self.look_for_container(out);
            }
        } else if let Some((id, _)) = self.body.container {
            // The ResourceManager has started this master since the last step.
            self.register(out);
            self.begin(id, out);
            self.call(out);
        }
    }

    fn submit(&mut self, out: &mut YarnOutbox) {
        let is_managed = self.body.job.mode == MasterMode::Managed;
        self.body.submit(is_managed, out);
        if !is_managed {
            self.register(out);
            self.ask_for_master(out);
        }
    }

    fn register(&mut self, out: &mut YarnOutbox) {
        self.body.is_registered = true;
        self.body.tell(ApplicationFact::Registered, out);
    }

    fn begin(&mut self, id: ContainerId, out: &mut YarnOutbox) {
        self.is_running = true;
        self.body.begin(id, out);
    }

    fn ask_for_master(&mut self, out: &mut YarnOutbox) {
        let size = self.body.job.master_size;
        let ask = ContainerAsk { priority: LAST_OF_MASTERS, place: PlaceId::ANY, size, count: 1 };
        self.send_call(vec![ask], out);
    }

    fn send_call(&mut self, asks: Vec<ContainerAsk>, out: &mut YarnOutbox) {
        self.outstanding += 1;
        out.send(ToResourceManager::Allocate(self.body.id, Box::new((asks, Vec::new()))));
    }

    /// Looks at one answer: is the master's container there? If so, the master runs at once.
    fn look_for_container(&mut self, out: &mut YarnOutbox) {
        if let Some(answer) = self.answers.pop_front()
            && let Some(&AllocatedContainer { id, node, .. }) = answer.allocated.first()
        {
            self.body.container = Some((id, node));
            out.send(YarnMail::NodeManager(
                node,
                ToNodeManager::Launch(id, ContainerWork::Master(self.body.id)),
            ));
            self.begin(id, out);
        }
        self.call(out);
    }

    /// Looks at all answers, then calls. A restart calls while it looks, and that answer belongs to
    /// the same step: the step goes on when it comes.
    fn look(&mut self, out: &mut YarnOutbox) {
        while let Some(answer) = self.answers.pop_front() {
            if self.take(answer, out) {
                // The answers behind this one are never read.
                self.is_looking = false;
                return;
            }
        }
        self.is_looking = 0 < self.outstanding;
        if !self.is_looking && !self.is_finished {
            self.call(out);
        }
    }

    /// Takes an answer, and returns whether the job is done with it.
    fn take(&mut self, answer: MasterAnswer, out: &mut YarnOutbox) -> bool {
        for (id, end) in answer.ended {
            out.emit(YarnFact::Container(id, ContainerFact::Heard));
            let states = [&mut self.maps, &mut self.reduces].into_iter();
            let known = states.filter_map(|it| it.assigned.remove(&id).map(|task| (it, task)));
            match (known.last(), end == ContainerEnd::Completed) {
                (Some((states, _)), true) => states.finished += 1,
                (Some((states, task)), false) => states.failed.push_back(task),
                (None, true) => self.is_finished = true,
                (None, false) => self.restart(out),
            }
        }
        if self.is_running && self.maps.is_done() && self.reduces.is_done() {
            self.finish(out);
            return true;
        }
        for AllocatedContainer { id, node, .. } in answer.allocated {
            let mut states = [&mut self.maps, &mut self.reduces].into_iter();
            let Some(states) = states.find(|it| !it.scheduled.is_empty()) else {
                // Nobody waits for this container: it is dropped, and expires.
                continue;
            };
            let Some(task) = states.scheduled.pop_front() else { continue };
            states.assigned.insert(id, task);
            let life = ContainerWork::Task(self.body.job.tasks[task as usize].life);
            out.send(YarnMail::NodeManager(node, ToNodeManager::Launch(id, life)));
            out.emit(YarnFact::Container(id, ContainerFact::Assigned(task)));
        }
        false
    }

    /// The process of the master is gone. One that the ResourceManager starts does all tasks anew in
    /// its next container. SLS' masters are not in theirs, and hear of its end from the
    /// ResourceManager.
    fn lose(&mut self) {
        if self.body.job.mode == MasterMode::Managed && !self.body.is_over {
            for (states, kind) in
                [(&mut self.maps, SlotKind::Map), (&mut self.reduces, SlotKind::Reduce)]
            {
                let was_asked = states.was_asked;
                *states = TaskStates { was_asked, ..TaskStates::new(&self.body.job, kind) };
            }
            self.answers.clear();
            self.body.container = None;
            (self.is_looking, self.body.is_hung) = (false, false);
            (self.is_running, self.body.is_registered, self.is_finished) = (false, false, false);
        }
    }

    /// Begins the job anew, as far as SLS does.
    fn restart(&mut self, out: &mut YarnOutbox) {
        self.is_finished = false;
        self.is_running = false;
        self.body.container = None;
        for states in [&mut self.maps, &mut self.reduces] {
            states.finished = 0;
            states.failed.clear();
            states.pending.clear();
        }
        // SLS adds the pending reduces to themselves, and so has none left.
        self.maps.pending = self.body.job.places(SlotKind::Map);
        self.ask_for_master(out);
    }

    /// All tasks are done. A master that asked for its container itself leaves it now, one that
    /// the ResourceManager has started leaves it when it has unregistered.
    fn finish(&mut self, out: &mut YarnOutbox) {
        self.is_finished = true;
        if self.body.job.mode == MasterMode::Sls && mem::take(&mut self.is_running) {
            self.body.leave(out);
        }
    }

    fn unregister(&mut self, out: &mut YarnOutbox) {
        self.body.unregister(out);
        if self.body.job.mode == MasterMode::Managed && mem::take(&mut self.is_running) {
            self.body.leave(out);
        }
    }

    fn call(&mut self, out: &mut YarnOutbox) {
        let mut asks = Vec::new();
        if self.is_running {
            let (states, priority, fact) = match self.maps.is_done() {
                false => (&mut self.maps, MAPS, ApplicationFact::MapsAsked),
                true => (&mut self.reduces, REDUCES, ApplicationFact::ReducesAsked),
            };
            if !states.is_done() {
                asks = wanted(states, &self.body.job.tasks, priority);
            }
            if !asks.is_empty() && !mem::replace(&mut states.was_asked, true) {
                self.body.tell(fact, out);
            }
        }
        self.send_call(asks, out);
    }
}

/// Schedules the tasks whose turn it is, and returns the asks for them: one for each host, one for
/// each rack, and one for all.
fn wanted(states: &mut TaskStates, tasks: &[YarnTask], priority: AskPriority) -> Vec<ContainerAsk> {
    let turn = if !states.pending.is_empty() {
        mem::take(&mut states.pending)
    } else if states.scheduled.is_empty() {
        mem::take(&mut states.failed)
    } else {
        return Vec::new();
    };
    let mut rows: [BTreeMap<PlaceId, ContainerAsk>; 3] = Default::default();
    for task in turn.iter().map(|place| &tasks[*place as usize]) {
        let [host, rack] = task.host_and_rack;
        for (rows, place) in rows.iter_mut().zip([host, rack, PlaceId::ANY]) {
            // The first task of a row gives it its size.
            let new = ContainerAsk { priority, place, size: task.size, count: 0 };
            rows.entry(place).or_insert(new).count += 1;
        }
    }
    states.scheduled.extend(turn);
    rows.into_iter().flat_map(BTreeMap::into_values).collect()
}
