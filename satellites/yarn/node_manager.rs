//! A NodeManager, as SLS plays it: containers that end by the clock, and heartbeats.
//!
//! Between heartbeats nothing is sent: a container whose work is done stays until the next
//! heartbeat, which says so. Orders to end a container come with the answer, so their effect is
//! told one heartbeat later.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::event::{ContainerFact, YarnFact};
use crate::message::{
    ContainerId, NodeId, NodeReport, ToNodeManager, ToResourceManager, YarnMail, YarnOutbox,
};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::protocol::Core;

/// The core of a node.
#[derive(Debug)]
pub(crate) struct NodeManager {
    id: NodeId,
    interval: SimSpan,
    /// Running containers, by the end of their work.
    ends: BTreeSet<(SimTime, ContainerId)>,
    running: BTreeMap<ContainerId, SimTime>,
    masters: BTreeSet<ContainerId>,
    /// The news for the next heartbeat.
    news: NodeReport,
    /// Masters that have ended, for the next heartbeat.
    ended_masters: Vec<(ContainerId, SimTime)>,
}

impl Core for NodeManager {
    type Msg = ToNodeManager;

    fn handle(&mut self, message: &ToNodeManager, out: &mut YarnOutbox) {
        match message {
            ToNodeManager::Beat => self.beat(out),
            ToNodeManager::Answer(orders) => self.obey(orders),
            ToNodeManager::Launch(id, life) => self.launch(*id, *life, out),
            ToNodeManager::EndMaster(id) => {
                if self.masters.remove(id) {
                    self.ended_masters.push((*id, out.now));
                }
            }
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
            masters: BTreeSet::new(),
            news: NodeReport::default(),
            ended_masters: Vec::new(),
        }
    }

    fn beat(&mut self, out: &mut YarnOutbox) {
        out.emit(YarnFact::Beat(self.id));
        let mut report = mem::take(&mut self.news);
        // A master ends before the beat, and so before the tasks that are found to have ended now.
        for (id, end) in mem::take(&mut self.ended_masters) {
            report.completed.push(id);
            out.emit(YarnFact::Container(id, ContainerFact::Finished(Some(end))));
        }
        for id in &report.aborted {
            out.emit(YarnFact::Container(*id, ContainerFact::Finished(None)));
        }
        while let Some((end, id)) = self.ends.first().copied().filter(|(end, _)| *end <= out.now) {
            self.ends.pop_first();
            self.running.remove(&id);
            report.completed.push(id);
            out.emit(YarnFact::Container(id, ContainerFact::Finished(Some(end))));
        }
        out.send(ToResourceManager::Heartbeat(self.id, Box::new(report)));
        out.plan(self.interval, YarnMail::NodeManager(self.id, ToNodeManager::Beat));
    }

    fn launch(&mut self, id: ContainerId, life: Option<SimSpan>, out: &mut YarnOutbox) {
        if let Some(life) = life {
            let end = out.now + life;
            self.ends.insert((end, id));
            self.running.insert(id, end);
        } else {
            self.masters.insert(id);
        }
        self.news.launched.push(id);
        out.emit(YarnFact::Container(id, ContainerFact::Launched));
    }

    /// Ends what the ResourceManager no longer wants. The end of a master is not reported.
    fn obey(&mut self, orders: &[ContainerId]) {
        for id in orders {
            if self.masters.remove(id) {
                continue;
            }
            if let Some(end) = self.running.remove(id) {
                self.ends.remove(&(end, *id));
            }
            self.news.aborted.push(*id);
        }
    }
}
