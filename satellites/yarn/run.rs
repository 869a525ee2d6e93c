//! A run: what it is made from, and its cores in their seats.
//!
//! Messages take no time. The drives are those of MapReduce's runs.

use crate::application_master::{ApplicationMaster, MasterMode, YarnJob};
use crate::event::YarnEvent;
use crate::fault::YarnFaults;
use crate::mapreduce_master::MapReduceMaster;
use crate::message::{
    MasterId, NodeId, PlaceId, ToMaster, ToNodeManager, ToResourceManager, Yarn, YarnMail,
};
use crate::node_manager::NodeManager;
use crate::resource_manager::ResourceManager;
use crate::scheduler::asks::NodePlaces;
use crate::scheduler::books::{ClusterBooks, NodeEntry};
use crate::settings::YarnSettings;
use crate::size::YarnSize;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::protocol::{Core, CoreLetter};
use mumakil_runtime::{
    Drive, DrivenProtocol, EventSink, OpeningMail, RunPlan, SeatedCore, SenderLink,
};

/// A node of a run.
#[derive(Clone, Debug)]
pub(crate) struct YarnNode {
    pub(crate) name: String,
    /// Its room for containers.
    pub(crate) size: YarnSize,
    /// When its first step is, which does nothing; heartbeats follow at their interval.
    pub(crate) offset: SimSpan,
    /// Its host, as asks name it.
    pub(crate) host: PlaceId,
    /// Its rack, as asks name it.
    pub(crate) rack: PlaceId,
}

/// All that a run is made from.
pub(crate) struct YarnRunSpec {
    /// The nodes; their order decides between heartbeats at the same instant.
    pub(crate) nodes: Vec<YarnNode>,
    /// The jobs; their order decides between masters' steps at the same instant.
    pub(crate) jobs: Vec<YarnJob>,
    pub(crate) node_interval: SimSpan,
    pub(crate) master_interval: SimSpan,
    pub(crate) settings: YarnSettings,
}

/// The cores of a run.
pub(crate) struct YarnCores {
    resource_manager: Box<dyn Core<Msg = ToResourceManager>>,
    nodes: Vec<Box<dyn Core<Msg = ToNodeManager>>>,
    masters: Vec<Box<dyn Core<Msg = ToMaster>>>,
}

/// The seats of a run's cores.
pub(crate) struct YarnSeats<D: Drive<Yarn>> {
    resource_manager: D::Seat<ToResourceManager>,
    nodes: Vec<D::Seat<ToNodeManager>>,
    masters: Vec<D::Seat<ToMaster>>,
}

/// A link over which messages take no time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstantLink {
    is_of_head: bool,
}

impl SenderLink<Yarn> for InstantLink {
    fn delays(&mut self, _: SimTime, letter: &CoreLetter<YarnMail>) -> [Option<SimSpan>; 2] {
        [None, Some(letter.after)]
    }

    fn is_of_head(&self) -> bool {
        self.is_of_head
    }
}

impl DrivenProtocol for Yarn {
    type Cores = YarnCores;
    type Network = ();
    type Link = InstantLink;
    type Head = ToResourceManager;
    type Seats<D: Drive<Self>> = YarnSeats<D>;

    fn seat<D: Drive<Self>>(cores: YarnCores, (): (), drive: &D) -> YarnSeats<D> {
        let [head, other] = [true, false].map(|is_of_head| InstantLink { is_of_head });
        let nodes = cores.nodes.into_iter();
        let masters = cores.masters.into_iter();
        YarnSeats {
            resource_manager: drive.seat(SeatedCore::new(cores.resource_manager, head)),
            nodes: nodes.map(|core| drive.seat(SeatedCore::new(core, other))).collect(),
            masters: masters.map(|core| drive.seat(SeatedCore::new(core, other))).collect(),
        }
    }

    fn head<D: Drive<Self>>(seats: &YarnSeats<D>) -> &D::Seat<ToResourceManager> {
        &seats.resource_manager
    }

    fn deliver<D: Drive<Self>>(seats: &YarnSeats<D>, drive: &D, at: SimTime, mail: &YarnMail) {
        match mail {
            YarnMail::ResourceManager(message) => {
                drive.deliver(&seats.resource_manager, at, message);
            }
            YarnMail::NodeManager(id, message) => {
                drive.deliver(&seats.nodes[id.index()], at, message);
            }
            YarnMail::Master(id, message) => drive.deliver(&seats.masters[id.index()], at, message),
        }
    }
}

impl YarnRunSpec {
    /// Returns a run that is ready to start, on any drive; it ends when all applications are over,
    /// or at an instant. `events` gets what happens.
    pub(crate) fn plan(
        self,
        faults: &YarnFaults,
        until: SimTime,
        events: Box<dyn EventSink<YarnEvent>>,
    ) -> RunPlan<Yarn> {
        let Self { nodes, jobs, node_interval, master_interval, settings } = self;
        let entries = nodes.iter().map(|node| {
            let places = NodePlaces { host: node.host, rack: node.rack };
            let (name, size) = (node.name.clone(), node.size);
            NodeEntry { name, places, size, free: size, ..NodeEntry::default() }
        });
        let books = ClusterBooks::new(entries.collect(), settings.limits);
        let scheduler = settings.scheduler;
        let mut resource_manager =
            ResourceManager::new(books, scheduler, faults.liveness, jobs.len());
        let ticks = resource_manager.first_ticks();
        let mut opening: OpeningMail<Yarn> =
            ticks.into_iter().map(|(at, tick)| (at, tick.into())).collect();
        let mut cores = YarnCores {
            resource_manager: Box::new(resource_manager),
            nodes: Vec::new(),
            masters: Vec::new(),
        };
        for (id, node) in (0..).map(NodeId).zip(&nodes) {
            // A registration has no rank, and so comes before all steps of this instant.
            opening.push((SimTime::ZERO, ToResourceManager::RegisterNode(id).into()));
            // The first step, at the offset, does nothing.
            let first = SimTime::ZERO + node.offset + node_interval;
            opening.push((first, YarnMail::NodeManager(id, ToNodeManager::Beat)));
            cores.nodes.push(Box::new(NodeManager::new(id, node_interval)));
        }
        for (id, job) in (0..).map(MasterId).zip(jobs) {
            opening.push((SimTime::ZERO + job.start, YarnMail::Master(id, ToMaster::Step)));
            cores.masters.push(match job.mode {
                MasterMode::MapReduce => Box::new(MapReduceMaster::new(id, master_interval, job)),
                _ => Box::new(ApplicationMaster::new(id, master_interval, job)),
            });
        }
        opening.extend(faults.mishaps.iter().cloned());
        RunPlan {
            cast: cores,
            links: (),
            opening,
            events,
            until,
            time_limit: None,
            outlasts: true,
            pace: None,
        }
    }
}
