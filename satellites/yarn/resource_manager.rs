//! The ResourceManager: it answers nodes and masters, and lets a scheduler decide.
//!
//! The answer to a heartbeat is made first; then the heartbeat's news count, first what runs, then
//! what has ended; then the scheduler gives away the room of that node and of no other. The
//! consequences of a master's end come last: the room of the node is given away before its
//! application leaves.

use std::mem;

use crate::event::{ApplicationFact, YarnFact};
use crate::message::{
    AppId, AppSubmission, ContainerAsk, ContainerEnd, ContainerId, MasterId, NodeId, NodeReport,
    PlaceId, SchedulerTick, ToMaster, ToNodeManager, ToResourceManager, YarnMail, YarnOutbox,
};
use crate::scheduler::books::ClusterBooks;
use crate::scheduler::{YarnScheduler, end_container};
use crate::size::SizeLimits;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::protocol::{Core, RunStop};

/// How long a container may be acquired without being launched.
const EXPIRY: SimSpan = SimSpan::from_secs(600);
/// The priority of a master that the ResourceManager starts.
const MANAGED_MASTER: i32 = 0;

/// The core of the ResourceManager.
pub(crate) struct ResourceManager {
    books: ClusterBooks,
    scheduler: Box<dyn YarnScheduler>,
    /// The application of each master, once it was submitted.
    apps: Vec<Option<AppId>>,
    /// How many masters are still to end.
    left: usize,
    /// When the last one has ended.
    done_at: SimTime,
    /// How long the run goes on after that.
    settling: SimSpan,
    intervals: Vec<(SchedulerTick, SimSpan)>,
}

impl Core for ResourceManager {
    type Msg = ToResourceManager;

    fn handle(&mut self, message: &ToResourceManager, out: &mut YarnOutbox) {
        self.books.now = out.now;
        match message {
            ToResourceManager::RegisterNode(id) => {
                self.books.register(*id);
                self.scheduler.node_added(&mut self.books);
            }
            ToResourceManager::Heartbeat(id, report) => self.heartbeat(*id, report, out),
            ToResourceManager::Submit(master, submission) => self.submit(*master, submission, out),
            ToResourceManager::Allocate(master, asks) => self.allocate(*master, asks, out),
            ToResourceManager::Unregister(master) => self.unregister(*master),
            ToResourceManager::Tick(tick) => self.tick(*tick, out),
        }
        let facts = mem::take(&mut self.books.facts);
        facts.into_iter().for_each(|fact| out.emit(fact));
        let is_step =
            matches!(message, ToResourceManager::Heartbeat(..) | ToResourceManager::Tick(_));
        if is_step && self.left == 0 && self.done_at + self.settling <= out.now {
            out.stop = Some(RunStop::Done);
        }
    }
}

impl ResourceManager {
    pub(crate) fn new(
        books: ClusterBooks,
        scheduler: Box<dyn YarnScheduler>,
        masters: usize,
        settling: SimSpan,
    ) -> Self {
        Self {
            books,
            scheduler,
            apps: vec![None; masters],
            left: masters,
            done_at: SimTime::ZERO,
            settling,
            intervals: Vec::new(),
        }
    }

    /// Returns the first of each of its ticks.
    pub(crate) fn first_ticks(&mut self) -> Vec<(SimTime, ToResourceManager)> {
        let liveness = SimSpan::from_micros(EXPIRY.as_micros() / 3);
        let mut ticks = self.scheduler.ticks();
        ticks.push((SchedulerTick::Liveness, SimTime::ZERO + liveness, liveness));
        self.intervals = ticks.iter().map(|(tick, _, interval)| (*tick, *interval)).collect();
        ticks.into_iter().map(|(tick, at, _)| (at, ToResourceManager::Tick(tick))).collect()
    }

    fn heartbeat(&mut self, id: NodeId, report: &NodeReport, out: &mut YarnOutbox) {
        let orders = mem::take(&mut self.books.node_mut(id).to_clean);
        for container in &report.launched {
            self.books.launched(id, *container);
        }
        for container in &report.completed {
            self.end(*container, ContainerEnd::Completed);
        }
        // An aborted container is out of the books since it was ordered to end.
        let has_ends = !report.completed.is_empty() || !report.aborted.is_empty();
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
        for app in mem::take(&mut self.books.ended_masters) {
            let entry = self.books.app(app);
            if !entry.is_stopped && !entry.is_unregistered {
                // The master was killed: its job will never end by itself.
                self.master_is_over();
            }
            self.remove(app);
        }
        for (master, container, node) in self.books.fetch_masters() {
            out.send(YarnMail::NodeManager(node, ToNodeManager::Launch(container, None)));
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
        self.apps[master.index()] = Some(app);
        if let Some(size) = managed {
            let place = PlaceId::ANY;
            let ask = ContainerAsk { priority: MANAGED_MASTER, place, size, count: 1 };
            self.books.ask(app, &[ask]);
        }
    }

    fn allocate(&mut self, master: MasterId, asks: &[ContainerAsk], out: &mut YarnOutbox) {
        // An application that was refused or has gone gets an empty answer.
        let mut answer = Box::default();
        if let Some(app) = self.apps[master.index()] {
            let normalised = asks.iter().map(|ask| ContainerAsk {
                size: self.scheduler.normalised(&self.books, ask.size),
                ..ask.clone()
            });
            let asks: Vec<ContainerAsk> = normalised.collect();
            self.books.ask(app, &asks);
            *answer = self.books.fetch(app);
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

    fn end(&mut self, id: ContainerId, end: ContainerEnd) {
        end_container(&mut *self.scheduler, &mut self.books, id, end);
    }

    fn tick(&mut self, tick: SchedulerTick, out: &mut YarnOutbox) {
        if tick == SchedulerTick::Liveness {
            let now = out.now;
            for id in self.books.expired(|since| since + EXPIRY < now) {
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
