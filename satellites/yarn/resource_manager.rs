//! The ResourceManager: it answers nodes and masters, and lets a scheduler decide.
//!
//! The answer to a heartbeat is made first; then the heartbeat's news count, first what runs, then
//! what has ended; then the scheduler gives away the room of that node and of no other. The
//! consequences of a master's end come last: the room of the node is given away before its
//! application leaves.

use std::mem;

use crate::application_master::LAST_OF_MASTERS;
use crate::event::{ApplicationFact, YarnFact};
use crate::fault::LivenessLimits;
use crate::message::{
    AppId, AppSubmission, ContainerAsk, ContainerEnd, ContainerId, ContainerWork, MasterAnswer,
    MasterId, NodeId, NodeReport, PlaceId, SchedulerTick, ToMaster, ToNodeManager,
    ToResourceManager, YarnMail, YarnOutbox,
};
use crate::scheduler::books::ClusterBooks;
use crate::scheduler::{YarnScheduler, end_container};
use crate::size::SizeLimits;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::protocol::{Core, RunStop};

/// How long nothing changes until a run counts as stalled. Chosen: far longer than the expiries, and
/// than any delay of a scheduler.
const PATIENCE: SimSpan = SimSpan::from_secs(3_600);
/// How long a run goes on when all applications are over.
const SETTLING: SimSpan = SimSpan::from_secs(2);
/// The priority of a master that the ResourceManager starts.
const MANAGED_MASTER: i32 = 0;

/// The core of the ResourceManager.
pub(crate) struct ResourceManager {
    books: ClusterBooks,
    scheduler: Box<dyn YarnScheduler>,
    liveness: LivenessLimits,
    /// The application of each master, once it was submitted.
    apps: Vec<Option<AppId>>,
    /// How many masters are still to end.
    left: usize,
    /// When the last one has ended.
    done_at: SimTime,
    intervals: Vec<(SchedulerTick, SimSpan)>,
    /// When a container last changed.
    changed_at: SimTime,
}

impl Core for ResourceManager {
    type Msg = ToResourceManager;

    fn handle(&mut self, message: &ToResourceManager, out: &mut YarnOutbox) {
        self.books.now = out.now;
        match message {
            ToResourceManager::RegisterNode(id) => {
                // A node that the books still have was started anew, and has no containers.
                if self.books.node(*id).is_up {
                    self.lose_node(*id, out);
                }
                self.books.register(*id);
                self.scheduler.nodes_changed(&mut self.books);
            }
            ToResourceManager::Heartbeat(id, report) => self.heartbeat(*id, report, out),
            ToResourceManager::Submit(master, submission) => self.submit(*master, submission, out),
            ToResourceManager::Allocate(master, call) => self.allocate(*master, call, out),
            ToResourceManager::Unregister(master) => self.unregister(*master),
            ToResourceManager::Tick(tick) => self.tick(*tick, out),
        }
        let facts = mem::take(&mut self.books.facts);
        if facts.iter().any(YarnFact::is_progress) {
            self.changed_at = out.now;
        }
        facts.into_iter().for_each(|fact| out.emit(fact));
        let is_step =
            matches!(message, ToResourceManager::Heartbeat(..) | ToResourceManager::Tick(_));
        if is_step && self.left == 0 && self.done_at + SETTLING <= out.now {
            out.stop = Some(RunStop::Done);
        } else if is_step && self.changed_at + PATIENCE <= out.now && self.is_stalled() {
            out.stop = Some(RunStop::Stalled(Box::default()));
        }
    }

    // A watcher of the run asks its translator.
    fn watch(&self) -> Option<&()> {
        Some(&())
    }
}

impl ResourceManager {
    /// Returns whether only masters are left, if any containers are, and none is still to come.
    fn is_stalled(&self) -> bool {
        let apps: Vec<AppId> = self.apps.iter().flatten().copied().collect();
        let mut live = apps.iter().flat_map(|app| self.books.app(*app).live.values());
        0 < self.left && apps.len() == self.left && live.all(|it| it.priority <= LAST_OF_MASTERS)
    }

    pub(crate) fn new(
        books: ClusterBooks,
        scheduler: Box<dyn YarnScheduler>,
        liveness: LivenessLimits,
        masters: usize,
    ) -> Self {
        Self {
            books,
            scheduler,
            liveness,
            apps: vec![None; masters],
            left: masters,
            done_at: SimTime::ZERO,
            intervals: Vec::new(),
            changed_at: SimTime::ZERO,
        }
    }

    /// Returns the first of each of its ticks.
    pub(crate) fn first_ticks(&mut self) -> Vec<(SimTime, ToResourceManager)> {
        let mut ticks = self.scheduler.ticks();
        let LivenessLimits { node, master, container, .. } = self.liveness;
        let looks = [
            (SchedulerTick::NodeLiveness, node),
            (SchedulerTick::MasterLiveness, master),
            (SchedulerTick::Liveness, container),
        ];
        ticks.extend(looks.map(|(tick, expiry)| {
            let interval = SimSpan::from_micros((expiry.as_micros() / 3).max(1));
            (tick, SimTime::ZERO + interval, interval)
        }));
        self.intervals = ticks.iter().map(|(tick, _, interval)| (*tick, *interval)).collect();
        ticks.into_iter().map(|(tick, at, _)| (at, ToResourceManager::Tick(tick))).collect()
    }

    fn heartbeat(&mut self, id: NodeId, report: &NodeReport, out: &mut YarnOutbox) {
        let node = self.books.node_mut(id);
        if !node.is_up {
            // It was given up while it runs: it must begin anew, and end all that it runs.
            out.send(YarnMail::NodeManager(id, ToNodeManager::Stop));
            out.send(YarnMail::NodeManager(id, ToNodeManager::Return));
            return;
        }
        node.last_beat = out.now;
        let orders = mem::take(&mut node.to_clean);
        for container in &report.launched {
            self.books.launched(id, *container);
        }
        for (container, end) in &report.ended {
            self.end(*container, *end);
        }
        // An aborted container is out of the books since it was ordered to end.
        let has_ends = !report.ended.is_empty() || !report.aborted.is_empty();
        if let Err(fault) = self.scheduler.offer(&mut self.books, id, has_ends) {
            out.emit(YarnFact::Fault(fault));
            out.stop = Some(RunStop::Done);
        }
        self.books.pass_by(|app| self.scheduler.is_full(app));
        self.follow_masters(out);
        if !orders.is_empty() {
            out.send(YarnMail::NodeManager(id, ToNodeManager::Answer(orders)));
        }
    }

    /// Removes the applications whose masters have ended in this step, and launches the masters
    /// that have got a container in it.
    fn follow_masters(&mut self, out: &mut YarnOutbox) {
        for (app, end) in mem::take(&mut self.books.ended_masters) {
            let entry = self.books.app(app);
            if entry.is_unregistered {
                self.remove(app);
            } else if !entry.is_stopped {
                self.fail_attempt(app, end == ContainerEnd::Failed, out);
            }
        }
        for (master, container, node) in self.books.fetch_masters() {
            out.send(YarnMail::NodeManager(
                node,
                ToNodeManager::Launch(container, ContainerWork::Master(master)),
            ));
            out.send(YarnMail::Master(master, ToMaster::Launched(container, node)));
        }
    }

    fn submit(&mut self, master: MasterId, submission: &AppSubmission, out: &mut YarnOutbox) {
        let AppSubmission { user, queue, managed_master } = submission.clone();
        let limits = self.books.real_limits();
        let steps = SizeLimits { increment: limits.minimum, ..limits };
        let managed = managed_master.map(|size| {
            let size = self.scheduler.calculator().normalised(size, steps);
            self.scheduler.normalised(&self.books, size)
        });
        let app = self.books.add_app(master, user, queue, managed);
        out.emit(YarnFact::Application(master, ApplicationFact::Submitted(app)));
        if let Err(reason) = self.scheduler.submit(&mut self.books, app) {
            self.books.app_mut(app).is_stopped = true;
            out.emit(YarnFact::Application(master, ApplicationFact::Rejected(reason)));
            self.master_is_over();
            return;
        }
        let placed = ApplicationFact::Placed(self.scheduler.ceilings(app).into());
        out.emit(YarnFact::Application(master, placed));
        self.apps[master.index()] = Some(app);
        if managed.is_none() {
            self.books.app_mut(app).last_call = Some(out.now);
        }
        self.ask_for_master(app);
    }

    /// Asks for the container of a master that the ResourceManager starts.
    fn ask_for_master(&mut self, app: AppId) {
        if let Some(size) = self.books.app(app).managed_master {
            let place = PlaceId::ANY;
            let ask = ContainerAsk { priority: MANAGED_MASTER, place, size, count: 1 };
            self.books.ask(app, &[ask]);
        }
    }

    fn allocate(
        &mut self,
        master: MasterId,
        (asks, released): &(Vec<ContainerAsk>, Vec<ContainerId>),
        out: &mut YarnOutbox,
    ) {
        // An application that was refused or has gone gets an empty answer.
        let mut answer: Box<MasterAnswer> = Box::default();
        if let Some(app) = self.apps[master.index()] {
            released.iter().for_each(|id| self.end(*id, ContainerEnd::Released));
            let normalised = asks.iter().map(|ask| ContainerAsk {
                size: self.scheduler.normalised(&self.books, ask.size),
                ..ask.clone()
            });
            let asks: Vec<ContainerAsk> = normalised.collect();
            self.books.app_mut(app).last_call = Some(out.now);
            self.books.ask(app, &asks);
            *answer = self.books.fetch(app);
            (answer.headroom, answer.calculator) = self.scheduler.headroom(&self.books, app);
        }
        out.send(YarnMail::Master(master, ToMaster::Answer(answer)));
    }

    fn unregister(&mut self, master: MasterId) {
        let Some(app) = self.apps[master.index()] else { return };
        self.master_is_over();
        // A master that the ResourceManager has started stays until its node says that it ended.
        let entry = self.books.app_mut(app);
        entry.is_unregistered = true;
        if entry.managed_master.is_none() {
            self.remove(app);
        }
    }

    fn master_is_over(&mut self) {
        self.left -= 1;
        self.done_at = self.books.now;
    }

    /// Removes an application: ends what still lives, and forgets it.
    fn remove(&mut self, id: AppId) {
        let app = self.books.app_mut(id);
        if mem::replace(&mut app.is_stopped, true) {
            return;
        }
        let master = app.master;
        self.apps[master.index()] = None;
        self.clear(id);
        self.books.facts.push(YarnFact::Application(master, ApplicationFact::Removed));
    }

    /// Ends all containers and reservations of an application, and takes it from the scheduler.
    fn clear(&mut self, id: AppId) {
        let live: Vec<u32> = self.books.app(id).live.keys().copied().collect();
        for number in live {
            self.end(ContainerId { app: id, number }, ContainerEnd::Killed);
        }
        for node in self.books.reserved_nodes(id) {
            if let Some(freed) = self.books.unreserve(node) {
                self.scheduler.freed(&mut self.books, &freed);
            }
        }
        self.books.app_mut(id).asks.clear();
        self.scheduler.leave(&mut self.books, id);
        self.books.note_asking(id, false);
        self.books.settle_wait(id);
    }

    /// An attempt of an application has failed: begins another one, if there may be one.
    fn fail_attempt(&mut self, id: AppId, counts: bool, out: &mut YarnOutbox) {
        let max_attempts = self.liveness.max_attempts;
        let app = self.books.app_mut(id);
        app.is_stopped = true;
        app.failures += u32::from(counts);
        let (master, is_managed) = (app.master, app.managed_master.is_some());
        let is_last = !is_managed || max_attempts <= app.failures;
        out.send(YarnMail::Master(master, ToMaster::Lost));
        self.clear(id);
        self.books.ended_masters.retain(|(app, _)| *app != id);
        let mut facts = vec![ApplicationFact::AttemptFailed];
        if is_last {
            facts.extend([ApplicationFact::Failed, ApplicationFact::Removed]);
        }
        self.books.facts.extend(facts.into_iter().map(|it| YarnFact::Application(master, it)));
        self.books.begin_attempt(id);
        if is_last {
            self.books.app_mut(id).is_stopped = true;
            self.apps[master.index()] = None;
            self.master_is_over();
        } else {
            let placed = self.scheduler.submit(&mut self.books, id);
            placed.expect("a queue takes an application that has just left it");
            self.ask_for_master(id);
        }
    }

    /// Gives a node up: its room, its containers and its reservation are gone.
    fn lose_node(&mut self, id: NodeId, out: &mut YarnOutbox) {
        let containers = self.books.lose_node(id);
        self.scheduler.nodes_changed(&mut self.books);
        for container in containers {
            self.end(container, ContainerEnd::Lost);
        }
        if let Some(freed) = self.books.unreserve(id) {
            self.scheduler.freed(&mut self.books, &freed);
        }
        self.follow_masters(out);
    }

    fn end(&mut self, id: ContainerId, end: ContainerEnd) {
        end_container(&mut *self.scheduler, &mut self.books, id, end);
    }

    fn tick(&mut self, tick: SchedulerTick, out: &mut YarnOutbox) {
        let LivenessLimits { node, master, container, .. } = self.liveness;
        if tick == SchedulerTick::NodeLiveness {
            for id in self.books.silent_nodes(node) {
                self.books.lost.push(id);
                self.lose_node(id, out);
            }
        } else if tick == SchedulerTick::MasterLiveness {
            let silent = self.books.silent_masters(master);
            silent.into_iter().for_each(|id| self.fail_attempt(id, true, out));
        } else if tick == SchedulerTick::Liveness {
            for id in self.books.expired(container) {
                self.end(id, ContainerEnd::Expired);
            }
        } else {
            self.scheduler.tick(&mut self.books, tick);
            self.books.pass_by(|app| self.scheduler.is_full(app));
            self.follow_masters(out);
            if tick == SchedulerTick::Update {
                for share in self.scheduler.shares(&self.books) {
                    out.emit(YarnFact::Share(Box::new(share)));
                }
            }
        }
        let interval = self.intervals.iter().find(|(of, _)| *of == tick);
        let (_, interval) = interval.expect("a tick comes again in its interval");
        out.plan(*interval, ToResourceManager::Tick(tick));
    }
}
