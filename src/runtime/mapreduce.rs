//! MapReduce's cores in their seats.

use std::sync::Arc;

use super::drive::{Drive, SeatedCore};
use super::link::{Address, Link, Links};
use super::{DrivenProtocol, Ending, RunPlan, RunStats, SenderLink, Transport, run_virtual};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    Core, Event, Fact, Letter, Mail, MapReduce, ToFabric, ToFaultInjector, ToInjector,
    ToJobTracker, ToMapOutputs, ToNameNode, ToTracker, TrackerFact, TrackerId,
};
use mumakil_core::protocol::Protocol;

/// Runs MapReduce on the virtual clock. Compiled beside the drives, as one part with them: 6 % fewer instructions a
/// heartbeat than where it is called.
#[inline(never)]
pub fn run_mapreduce(
    play: RunPlan<MapReduce>,
    transport: Transport,
) -> (RunStats, Ending<<MapReduce as Protocol>::Stall>) {
    run_virtual(play, transport)
}

/// The cores of a run.
pub struct RunCores {
    /// The JobTracker.
    pub job_tracker: Box<dyn Core<Msg = ToJobTracker>>,
    /// The job injector.
    pub injector: Box<dyn Core<Msg = ToInjector>>,
    /// The TaskTrackers, by number.
    pub trackers: Vec<Box<dyn Core<Msg = ToTracker>>>,
    /// The fabric, if nodes share disks, wires or cores.
    pub fabric: Option<Box<dyn Core<Msg = ToFabric>>>,
    /// The fault injector, if machines may fail.
    pub nature: Option<Box<dyn Core<Msg = ToFaultInjector>>>,
    /// The NameNode, if nodes with blocks may be lost.
    pub name_node: Option<Box<dyn Core<Msg = ToNameNode>>>,
    /// The outputs of maps, if machines with outputs may be lost.
    pub map_outputs: Option<Box<dyn Core<Msg = ToMapOutputs>>>,
}

/// The seats of a run's cores: the handles through which messages reach them.
pub struct CoreSeats<D: Drive<MapReduce>> {
    job_tracker: D::Seat<ToJobTracker>,
    injector: D::Seat<ToInjector>,
    /// The TaskTrackers, by number.
    trackers: Vec<D::Seat<ToTracker>>,
    fabric: Option<D::Seat<ToFabric>>,
    nature: Option<D::Seat<ToFaultInjector>>,
    name_node: Option<D::Seat<ToNameNode>>,
    map_outputs: Option<D::Seat<ToMapOutputs>>,
}

impl DrivenProtocol for MapReduce {
    type Cores = RunCores;
    type Network = Links;
    type Link = Link;
    type Head = ToJobTracker;
    type Seats<D: Drive<Self>> = CoreSeats<D>;

    fn seat<D: Drive<Self>>(cast: RunCores, links: Links, drive: &D) -> CoreSeats<D> {
        // All senders share one table of links; only their random numbers are separate.
        let links = Arc::new(links);
        let link = |address| Link::new(links.clone(), address);
        let trackers = (0..).map(TrackerId).zip(cast.trackers);
        CoreSeats {
            job_tracker: drive.seat(SeatedCore::new(cast.job_tracker, link(Address::JobTracker))),
            injector: drive.seat(SeatedCore::new(cast.injector, link(Address::Injector))),
            trackers: trackers
                .map(|(id, core)| drive.seat(SeatedCore::new(core, link(Address::Tracker(id)))))
                .collect(),
            fabric: cast
                .fabric
                .map(|core| drive.seat(SeatedCore::new(core, link(Address::Fabric)))),
            nature: cast
                .nature
                .map(|core| drive.seat(SeatedCore::new(core, link(Address::FaultInjector)))),
            name_node: (cast.name_node)
                .map(|core| drive.seat(SeatedCore::new(core, link(Address::NameNode)))),
            map_outputs: (cast.map_outputs)
                .map(|core| drive.seat(SeatedCore::new(core, link(Address::MapOutputs)))),
        }
    }

    fn head<D: Drive<Self>>(seats: &CoreSeats<D>) -> &D::Seat<ToJobTracker> {
        &seats.job_tracker
    }

    fn deliver<D: Drive<Self>>(seats: &CoreSeats<D>, drive: &D, at: SimTime, mail: &Mail) {
        match mail {
            Mail::JobTracker(msg) => drive.deliver(&seats.job_tracker, at, msg),
            Mail::Injector(msg) => drive.deliver(&seats.injector, at, msg),
            Mail::Tracker(id, msg) => drive.deliver(&seats.trackers[id.index()], at, msg),
            Mail::Fabric(msg) => drive.deliver(taken(&seats.fabric), at, msg),
            Mail::FaultInjector(msg) => drive.deliver(taken(&seats.nature), at, msg),
            Mail::NameNode(msg) => drive.deliver(taken(&seats.name_node), at, msg),
            Mail::MapOutputs(msg) => drive.deliver(taken(&seats.map_outputs), at, msg),
        }
    }

    fn over() -> Option<ToJobTracker> {
        Some(ToJobTracker::Over)
    }

    fn rest() -> Option<Mail> {
        Some(ToJobTracker::Rest.into())
    }

    fn machines(event: &Event) -> i32 {
        match event.fact {
            Fact::Tracker(_, TrackerFact::Up(_)) => 1,
            Fact::Tracker(_, TrackerFact::Down) => -1,
            _ => 0,
        }
    }
}

impl SenderLink<MapReduce> for Link {
    fn delays(&mut self, now: SimTime, letter: &Letter) -> [Option<SimSpan>; 2] {
        Self::delays(self, now, letter)
    }

    fn is_of_head(&self) -> bool {
        self.from == Address::JobTracker
    }
}

/// Returns the seat of a core that only some runs have.
fn taken<S>(seat: &Option<S>) -> &S {
    seat.as_ref().expect("a message goes only to a core that the run has")
}
