//! A NodeManager, as SLS plays it: containers that end by the clock, and heartbeats.
//!
//! Between heartbeats nothing is sent: a container whose work is done stays until the next
//! heartbeat, which says so. Orders to end a container come with the answer, so their effect is
//! told one heartbeat later.
//!
//! A node that stops forgets all; the masters on it hear at once that they are gone. It returns
//! without containers, registers, and sends heartbeats again.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::event::{ContainerFact, NodeFact, YarnFact};
use crate::message::{
    ContainerEnd, ContainerId, ContainerWork, MasterId, NodeId, NodeReport, ToMaster,
    ToNodeManager, ToResourceManager, YarnMail, YarnOutbox,
};
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_core::protocol::Core;

/// The core of a node.
#[derive(Debug)]
pub(crate) struct NodeManager {
    id: NodeId,
    interval: SimSpan,
    /// Running containers, by the end of their work.
    ends: BTreeSet<(SimTime, ContainerId)>,
    /// The end of each one's work, and the master that it tells; a reduce may still have no end.
    running: BTreeMap<ContainerId, (Option<SimTime>, Option<MasterId>)>,
    masters: BTreeMap<ContainerId, MasterId>,
    /// The news for the next heartbeat.
    news: NodeReport,
    /// Masters that have ended, for the next heartbeat.
    ended_masters: Vec<(ContainerId, SimTime)>,
    is_stopped: bool,
    /// How many times as long as on a sound node tasks take.
    slowness: Factor,
    /// No heartbeat is due before: an earlier one was planned before the node stopped.
    next_beat: SimTime,
}

impl Core for NodeManager {
    type Msg = ToNodeManager;

    fn handle(&mut self, message: &ToNodeManager, out: &mut YarnOutbox) {
        match message {
            ToNodeManager::Slow(factor) => self.slow(*factor, out),
            ToNodeManager::Return if self.is_stopped => {
                self.is_stopped = false;
                out.send(ToResourceManager::RegisterNode(self.id));
                self.plan_beat(out);
            }
            _ if self.is_stopped => {}
            ToNodeManager::Beat if out.now < self.next_beat => {}
            ToNodeManager::Beat => self.beat(out),
            ToNodeManager::Answer(orders) => self.obey(orders),
            ToNodeManager::Launch(id, work) => self.launch(*id, *work, out),
            ToNodeManager::EndMaster(id) => {
                if self.masters.remove(id).is_some() {
                    self.ended_masters.push((*id, out.now));
                }
            }
            ToNodeManager::Fail(id) => {
                if self.forget(*id) {
                    self.news.ended.push((*id, ContainerEnd::Failed));
                    out.emit(YarnFact::Container(*id, ContainerFact::Finished(None)));
                }
            }
            ToNodeManager::Proceed(id, life) => self.set_end(*id, *life, out),
            ToNodeManager::Look(id) => {
                if let Some((Some(end), Some(master))) = self.running.get(id)
                    && *end <= out.now
                {
                    out.send(YarnMail::Master(*master, ToMaster::TaskEnded(*id)));
                }
            }
            ToNodeManager::Stop => self.stop(out),
            ToNodeManager::Return => {}
        }
    }
}

impl NodeManager {
    /// Returns an idle node with this interval of heartbeats.
    pub(crate) fn new(id: NodeId, interval: SimSpan) -> Self {
        Self {
            id,
            interval,
            ends: BTreeSet::new(),
            running: BTreeMap::new(),
            masters: BTreeMap::new(),
            news: NodeReport::default(),
            ended_masters: Vec::new(),
            is_stopped: false,
            slowness: Factor::ONE,
            next_beat: SimTime::ZERO,
        }
    }

    fn beat(&mut self, out: &mut YarnOutbox) {
        out.emit(YarnFact::Beat(self.id));
        let mut report = mem::take(&mut self.news);
        // A master ends before the beat, and so before the tasks that are found to have ended now.
        for (id, end) in mem::take(&mut self.ended_masters) {
            report.ended.push((id, ContainerEnd::Completed));
            out.emit(YarnFact::Container(id, ContainerFact::Finished(Some(end))));
        }
        for id in &report.aborted {
            out.emit(YarnFact::Container(*id, ContainerFact::Finished(None)));
        }
        while let Some((end, id)) = self.ends.first().copied().filter(|(end, _)| *end <= out.now) {
            self.ends.pop_first();
            self.running.remove(&id);
            report.ended.push((id, ContainerEnd::Completed));
            out.emit(YarnFact::Container(id, ContainerFact::Finished(Some(end))));
        }
        out.send(ToResourceManager::Heartbeat(self.id, Box::new(report)));
        self.plan_beat(out);
    }

    fn plan_beat(&mut self, out: &mut YarnOutbox) {
        self.next_beat = out.now + self.interval;
        out.plan(self.interval, YarnMail::NodeManager(self.id, ToNodeManager::Beat));
    }

    fn launch(&mut self, id: ContainerId, work: ContainerWork, out: &mut YarnOutbox) {
        match work {
            ContainerWork::Task(life) => {
                self.running.insert(id, (None, None));
                self.set_end(id, life, out);
            }
            ContainerWork::Reporting(master) => _ = self.running.insert(id, (None, Some(master))),
            ContainerWork::Master(master) => _ = self.masters.insert(id, master),
        }
        self.news.launched.push(id);
        out.emit(YarnFact::Container(id, ContainerFact::Launched));
    }

    /// Ends what the ResourceManager no longer wants. The end of a master is not reported.
    fn obey(&mut self, orders: &[ContainerId]) {
        for id in orders {
            if self.masters.remove(id).is_none() {
                self.forget(*id);
                self.news.aborted.push(*id);
            }
        }
    }

    /// Forgets a container that runs here; returns whether there was one.
    fn forget(&mut self, id: ContainerId) -> bool {
        let Some((end, _)) = self.running.remove(&id) else {
            return self.masters.remove(&id).is_some();
        };
        end.into_iter().for_each(|end| _ = self.ends.remove(&(end, id)));
        true
    }

    /// Sets when the work of a container ends, if it takes so long on a sound node.
    fn set_end(&mut self, id: ContainerId, life: SimSpan, out: &mut YarnOutbox) {
        let Some((end, master)) = self.running.get_mut(&id) else { return };
        let is_sound = self.slowness == Factor::ONE;
        let life = if is_sound { life } else { life.ceil_mul(self.slowness.get()) };
        if let Some(former) = end.replace(out.now + life) {
            self.ends.remove(&(former, id));
        }
        self.ends.insert((out.now + life, id));
        if master.is_some() {
            out.plan(life, YarnMail::NodeManager(self.id, ToNodeManager::Look(id)));
        }
    }

    fn stop(&mut self, out: &mut YarnOutbox) {
        let gone = mem::replace(self, Self::new(self.id, self.interval));
        (self.is_stopped, self.slowness) = (true, gone.slowness);
        out.emit(YarnFact::Node(self.id, NodeFact::Stopped));
        for master in gone.masters.into_values() {
            out.affect(YarnMail::Master(master, ToMaster::Lost));
        }
    }

    /// Stretches what is left of each task, by the new slowness over the former one.
    fn slow(&mut self, slowness: Factor, out: &mut YarnOutbox) {
        let former = mem::replace(&mut self.slowness, slowness);
        out.emit(YarnFact::Node(self.id, NodeFact::Slowed(slowness)));
        let later = self.ends.iter().filter(|(end, _)| out.now < *end).copied();
        let unfinished: Vec<(SimTime, ContainerId)> = later.collect();
        for (end, id) in unfinished {
            self.set_end(id, (end - out.now).ceil_mul(1.0 / former.get()), out);
        }
    }
}
