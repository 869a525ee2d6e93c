//! Effects of faults on a run: messages that arrive at their instants, and settings that hold all the time.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::workload::arrivals::{Arrival, Workload};
use mumakil_base::random::{Dist, Purpose, stream};
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::cluster::{NetworkCut, Topology, TrackerId};
use mumakil_core::mapred::{
    JobId, Mail, Mishap, MishapHarm, MishapRhythm, PlannedFailure, ToFaultInjector,
};

/// The situation in which a fault does its work.
#[derive(Clone, Debug)]
pub(super) struct FaultCue {
    /// Its moment, or the beginning.
    pub(super) at: SimTime,
    /// The key of its random streams: its kind, the nodes that it strikes, and how many faults with the
    /// same of these stand before it. So no other fault that is added or removed moves its draws,
    /// and another moment or another strength of it strikes the same nodes.
    pub(super) draws: u32,
    /// The nodes that it strikes.
    pub(super) nodes: Vec<TrackerId>,
}

/// The run that faults happen in.
#[derive(Clone, Copy, Debug)]
pub struct FaultSite<'a> {
    /// Its seed.
    pub seed: u64,
    /// Its nodes.
    pub topology: &'a Topology,
    /// Its jobs.
    pub workload: &'a Workload,
}

impl<'a> FaultSite<'a> {
    /// Returns the jobs of a name: one, or all of an entry with a count.
    pub(super) fn jobs<'n>(self, name: &'n str) -> impl Iterator<Item = JobId> + use<'a, 'n> {
        // First the names of entries: `load` with a count is all of its jobs, `load-2` one of them.
        let batch = self.workload.names.iter().position(|other| other == name);
        let is_meant = move |job: &&Arrival| match batch {
            Some(batch) => job.batch.index() == batch,
            None => *job.spec.name == *name,
        };
        self.workload.arrivals.iter().filter(is_meant).map(|job| job.spec.id)
    }
}

/// The effects of a run's faults.
#[derive(Debug)]
pub struct Effects<'a> {
    pub(super) site: FaultSite<'a>,
    /// Messages from outside: each with its instant and its receiver.
    pub opening: Vec<(SimTime, Mail)>,
    /// Mishaps of machines.
    pub mishaps: Vec<Mishap>,
    /// Causes that make attempts end badly.
    pub dooms: Vec<PlannedFailure>,
    /// The nodes that are not there at the beginning.
    pub absent: BTreeSet<TrackerId>,
    /// The share of heartbeats and replies that never arrive.
    pub loss: Fraction,
    /// The share of heartbeats and replies that arrive twice.
    pub duplication: Fraction,
    /// The share of heartbeats and replies that are late.
    pub late: Fraction,
    /// How late they are.
    pub late_by: Dist<SimSpan>,
    /// The trackers that are cut off from the others, and when.
    pub cuts: Vec<Arc<NetworkCut>>,
    /// Whether trackers send a heartbeat again that has had no reply for long: needless where the
    /// network is perfect.
    pub resends: bool,
    /// When the JobTracker's process dies to be started again, in the order of the opening.
    pub restarts: Vec<SimTime>,
}

impl<'a> Effects<'a> {
    /// Returns the effects of no fault.
    pub(super) fn none(site: FaultSite<'a>) -> Self {
        Self {
            site,
            opening: Vec::new(),
            mishaps: Vec::new(),
            dooms: Vec::new(),
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

    /// Returns whether nodes may go off or lose their disks, and with that copies of blocks.
    pub fn may_lose_blocks(&self) -> bool {
        // `TrackerOutage` is not among them: the DataNode
        // is another process and goes on serving blocks.
        let is_off = |mishap: &Mishap| {
            matches!(mishap.harm, MishapHarm::Stop | MishapHarm::Outage | MishapHarm::Absence)
        };
        let is_lost = |(_, mail): &(SimTime, Mail)| matches!(mail, Mail::NameNode(_));
        self.mishaps.iter().any(is_off) || self.opening.iter().any(is_lost)
    }

    /// Returns whether reduces may not reach some outputs of maps.
    pub fn may_lose_outputs(&self) -> bool {
        let is_told = |(_, mail): &(SimTime, Mail)| matches!(mail, Mail::MapOutputs(_));
        // All but slow nodes: a TaskTracker serves the
        // outputs itself, so they go when its process goes.
        self.mishaps.iter().any(|mishap| !matches!(mishap.harm, MishapHarm::Slow(_)))
            || self.opening.iter().any(is_told)
    }

    /// Lets something happen at an instant, and not again.
    pub(super) fn befall(
        &mut self,
        at: SimTime,
        nodes: Vec<TrackerId>,
        harm: MishapHarm,
        lasts: Option<SimSpan>,
    ) {
        // The messages carry only the place of the mishap in the list.
        let number = self.mishaps.len() as u32;
        self.mishaps.push(Mishap { nodes, harm, rhythm: None });
        self.opening.push((at, ToFaultInjector::Begins(harm.stroke(number)).into()));
        if let Some(lasts) = lasts {
            self.opening.push((at + lasts, ToFaultInjector::Ends(harm.stroke(number)).into()));
        }
    }

    /// Lets something happen again and again, at each node by itself.
    pub(super) fn repeat_at_nodes(
        &mut self,
        cue: &FaultCue,
        harm: MishapHarm,
        every: &Dist<SimSpan>,
        lasts: Option<&Dist<SimSpan>>,
    ) {
        for &node in &cue.nodes {
            // 32 bits name the fault, 24 the node (a cluster
            // has at most 100,000): a stream takes 56 bits.
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
