//! Mishaps of a run: nodes that stop, return or become slow, and masters that die or fall silent.
//!
//! The cores that suffer them do what machines do: a node that has stopped sends nothing, and takes
//! its containers and masters along. The ResourceManager is told of nothing. It finds out as
//! Hadoop's does: by heartbeats that are missing when it looks for them, by a node that registers
//! anew, or by a heartbeat that tells the end of a master's container.

use crate::message::YarnMail;
use mumakil_base::units::{SimSpan, SimTime};

/// The mishaps of a run, and how the ResourceManager notices them.
#[derive(Clone, Debug, Default)]
pub(crate) struct YarnFaults {
    /// The messages that make them happen, before all steps of their instants.
    pub(crate) mishaps: Vec<(SimTime, YarnMail)>,
    pub(crate) liveness: LivenessLimits,
}

/// The limits by which the ResourceManager gives up on nodes, masters and containers. It looks at
/// each kind three times in that kind's expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LivenessLimits {
    /// How long a node may be silent (`yarn.nm.liveness-monitor.expiry-interval-ms`).
    pub(crate) node: SimSpan,
    /// How long a master may be silent (`yarn.am.liveness-monitor.expiry-interval-ms`).
    pub(crate) master: SimSpan,
    /// How long a container may be acquired without being launched
    /// (`yarn.resourcemanager.rm.container-allocation.expiry-interval-ms`).
    pub(crate) container: SimSpan,
    /// How many attempts of an application may fail (`yarn.resourcemanager.am.max-attempts`). One
    /// that was preempted, or lost with its node, does not count.
    pub(crate) max_attempts: u32,
}

impl Default for LivenessLimits {
    fn default() -> Self {
        let expiry = SimSpan::from_secs(600);
        Self { node: expiry, master: expiry, container: expiry, max_attempts: 2 }
    }
}
