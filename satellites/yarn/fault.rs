//! Mishaps of a run: nodes that stop, return or become slow, and masters that die or fall silent.
//!
//! The cores that suffer them do what machines do: a node that has stopped sends nothing, and takes
//! its containers and masters along. The ResourceManager is told of nothing. It finds out as
//! Hadoop's does: by heartbeats that are missing when it looks for them, by a node that registers
//! anew, or by a heartbeat that tells the end of a master's container.

use crate::event::YarnEvent;
use crate::message::{MasterId, NodeId, ToMaster, ToNodeManager, Yarn, YarnMail};
use crate::run::YarnRunSpec;
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_runtime::{EventSink, RunPlan};

/// The mishaps of a run, and how the ResourceManager notices them.
#[derive(Clone, Debug, Default)]
pub struct YarnFaults {
    /// The mishaps. They name nodes and masters of the run.
    pub mishaps: Vec<YarnFault>,
    /// How long the ResourceManager waits.
    pub liveness: LivenessLimits,
}

/// A mishap with its instant. It comes before all steps of that instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YarnFault {
    /// When it happens.
    pub at: SimTime,
    /// The mishap.
    pub what: YarnMishap,
}

/// A mishap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum YarnMishap {
    /// The machine stops, with all that runs on it.
    NodeStops(NodeId),
    /// The machine that has stopped runs again, without any container.
    NodeReturns(NodeId),
    /// Tasks on the node take so many times as long as on a sound one, from now on.
    NodeSlows(NodeId, Factor),
    /// The process of the master ends, if it has a container.
    MasterDies(MasterId),
    /// The process of the master, if it has a container, goes on and does nothing more.
    MasterHangs(MasterId),
}

/// The limits by which the ResourceManager gives up on nodes, masters and containers. It looks at
/// each kind three times in that kind's expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LivenessLimits {
    /// How long a node may be silent (`yarn.nm.liveness-monitor.expiry-interval-ms`).
    pub node: SimSpan,
    /// How long a master may be silent (`yarn.am.liveness-monitor.expiry-interval-ms`).
    pub master: SimSpan,
    /// How long a container may be acquired without being launched
    /// (`yarn.resourcemanager.rm.container-allocation.expiry-interval-ms`).
    pub container: SimSpan,
    /// How many attempts of an application may fail (`yarn.resourcemanager.am.max-attempts`). One
    /// that was preempted, or lost with its node, does not count.
    pub max_attempts: u32,
}

impl Default for LivenessLimits {
    fn default() -> Self {
        let expiry = SimSpan::from_secs(600);
        Self { node: expiry, master: expiry, container: expiry, max_attempts: 2 }
    }
}

impl YarnFault {
    /// Returns the message that makes it happen.
    pub(crate) fn mail(self) -> YarnMail {
        match self.what {
            YarnMishap::NodeStops(id) => YarnMail::NodeManager(id, ToNodeManager::Stop),
            YarnMishap::NodeReturns(id) => YarnMail::NodeManager(id, ToNodeManager::Return),
            YarnMishap::NodeSlows(id, factor) => {
                YarnMail::NodeManager(id, ToNodeManager::Slow(factor))
            }
            YarnMishap::MasterDies(id) => YarnMail::Master(id, ToMaster::Die),
            YarnMishap::MasterHangs(id) => YarnMail::Master(id, ToMaster::Hang),
        }
    }
}

impl YarnRunSpec {
    /// Returns a run without mishaps that is ready to start, on any drive; it ends when all
    /// applications are over, or at an instant. `events` gets what happens.
    pub fn plan(self, until: SimTime, events: Box<dyn EventSink<YarnEvent>>) -> RunPlan<Yarn> {
        self.plan_with_faults(&YarnFaults::default(), until, events)
    }
}
