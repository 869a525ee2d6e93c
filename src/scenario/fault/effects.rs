//! Effects of faults on a run: messages that arrive at set times, and settings that hold
//! throughout.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::workload::arrivals::Workload;
use mumakil_base::random::{Dist, Purpose, stream};
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::cluster::{NetworkCut, PerSlot, Topology, TrackerId};
use mumakil_core::mapred::{
    JobId, Mail, Mishap, MishapHarm, MishapRhythm, PlannedFailure, ToFaultInjector, ToTracker,
};

/// The circumstances in which a fault takes effect.
#[derive(Clone, Debug)]
pub(super) struct FaultCue {
    /// The time of the fault, or the beginning of the run.
    pub(super) at: SimTime,
    /// The key of its random streams: a hash of its kind, its target, and the number of equal
    /// faults before it. So adding or removing another fault does not change its draws, and with
    /// another time or strength it strikes the same nodes.
    pub(super) draws: u32,
    /// The nodes that the fault strikes.
    pub(super) nodes: Vec<TrackerId>,
}

/// The run in which faults happen.
#[derive(Clone, Copy, Debug)]
pub struct FaultSite<'a> {
    /// The seed of the run.
    pub seed: u64,
    /// The nodes of the run.
    pub topology: &'a Topology,
    /// The jobs of the run.
    pub workload: &'a Workload,
}

impl<'a> FaultSite<'a> {
    /// Returns the jobs with a name: one job, or all jobs of an entry with a count.
    pub(super) fn jobs(self, name: &str) -> impl Iterator<Item = JobId> + use<'a> {
        self.workload.named(name)
    }
}

/// The effects of a run's faults.
#[derive(Debug)]
pub struct Effects<'a> {
    pub(super) site: FaultSite<'a>,
    /// Messages from outside, each with its time and its receiver.
    pub opening: Vec<(SimTime, Mail)>,
    /// Mishaps of machines.
    pub mishaps: Vec<Mishap>,
    /// Rules by which attempts fail or hang.
    pub planned_failures: Vec<PlannedFailure>,
    /// The nodes that are absent at the beginning and join later.
    pub absent: BTreeSet<TrackerId>,
    /// The share of heartbeats and replies that never arrive.
    pub loss: Fraction,
    /// The share of heartbeats and replies that arrive twice.
    pub duplication: Fraction,
    /// The share of heartbeats and replies that are late.
    pub late: Fraction,
    /// The delay of these late messages.
    pub late_by: Dist<SimSpan>,
    /// Network partitions: each with its trackers and its time.
    pub cuts: Vec<Arc<NetworkCut>>,
    /// Whether trackers repeat a heartbeat without a timely reply; not needed in a perfect network.
    pub resends: bool,
    /// The times at which the JobTracker's process dies, to be restarted later; in the order of
    /// `opening`.
    pub restarts: Vec<SimTime>,
}

impl<'a> Effects<'a> {
    /// Returns the effects of an empty list of faults.
    pub(super) fn none(site: FaultSite<'a>) -> Self {
        Self {
            site,
            opening: Vec::new(),
            mishaps: Vec::new(),
            planned_failures: Vec::new(),
            absent: BTreeSet::new(),
            loss: Fraction::ZERO,
            duplication: Fraction::ZERO,
            late: Fraction::ZERO,
            late_by: Dist::Constant(SimSpan::ZERO),
            cuts: Vec::new(),
            resends: false,
            restarts: Vec::new(),
        }
    }

    /// Returns whether a node may become slow.
    pub fn slow_down(&self) -> bool {
        self.mishaps.iter().any(|mishap| matches!(mishap.harm, MishapHarm::Slow(_)))
    }

    /// Returns the nodes whose trackers start with other slots at some time, with these slots.
    pub fn new_slots(&self) -> impl Iterator<Item = (TrackerId, PerSlot<Option<u32>>)> {
        self.opening.iter().filter_map(|(_, mail)| match mail {
            Mail::Tracker(node, ToTracker::Slots(slots)) => Some((*node, **slots)),
            _ => None,
        })
    }

    /// Returns whether nodes may go off or lose their disks, so that copies of blocks are lost.
    pub fn may_lose_blocks(&self) -> bool {
        // `TrackerOutage` does not count: the DataNode is another process and goes on serving
        // blocks.
        self.mishaps.iter().any(|mishap| {
            matches!(mishap.harm, MishapHarm::Stop | MishapHarm::Outage | MishapHarm::Absence)
        }) || self.opening.iter().any(|(_, mail)| matches!(mail, Mail::NameNode(_)))
    }

    /// Returns whether some outputs of maps may be out of reach of reduces.
    pub fn may_lose_outputs(&self) -> bool {
        // Every harm except slowness counts: a TaskTracker serves the outputs itself, so they are
        // lost with its process.
        self.mishaps.iter().any(|mishap| !matches!(mishap.harm, MishapHarm::Slow(_)))
            || self.opening.iter().any(|(_, mail)| matches!(mail, Mail::MapOutputs(_)))
    }

    /// Adds a mishap that happens once.
    pub(super) fn befall(
        &mut self,
        at: SimTime,
        nodes: Vec<TrackerId>,
        harm: MishapHarm,
        lasts: Option<SimSpan>,
    ) {
        // The messages carry only the index of the mishap in the list.
        let number = self.mishaps.len() as u32;
        self.mishaps.push(Mishap { nodes, harm, rhythm: None });
        self.opening.push((at, ToFaultInjector::Begins(harm.stroke(number)).into()));
        if let Some(lasts) = lasts {
            self.opening.push((at + lasts, ToFaultInjector::Ends(harm.stroke(number)).into()));
        }
    }

    /// Adds a mishap that repeats, at each node independently.
    pub(super) fn repeat_at_nodes(
        &mut self,
        cue: &FaultCue,
        harm: MishapHarm,
        every: &Dist<SimSpan>,
        lasts: Option<&Dist<SimSpan>>,
    ) {
        for &node in &cue.nodes {
            // The subject of a random stream has 56 bits: 32 for the fault, 24 for the node (a
            // cluster has at most 100,000).
            let subject = u64::from(cue.draws) << 24 | u64::from(node.0);
            let rng = stream(self.site.seed, Purpose::Mishap, subject);
            let (rhythm, first) = MishapRhythm::begin(every.clone(), lasts.cloned(), rng);
            let number = self.mishaps.len() as u32;
            self.mishaps.push(Mishap { nodes: vec![node], harm, rhythm: Some(rhythm) });
            let begins = ToFaultInjector::Begins(harm.stroke(number));
            self.opening.push((cue.at + first, begins.into()));
        }
    }
}
