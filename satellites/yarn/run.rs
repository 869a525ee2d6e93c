//! A run: what it is made from, its cores, and the queue that carries their messages.
//!
//! Messages take no time. The queue goes by instant, then by [rank](YarnMail::rank), then by the
//! order of sending, which is the order that the module `message` tells.

use std::collections::{BTreeMap, VecDeque};

use crate::application_master::{ApplicationMaster, YarnJob};
use crate::event::YarnEvent;
use crate::message::{
    MasterId, NodeId, PlaceId, ToMaster, ToNodeManager, ToResourceManager, YarnMail, YarnOutbox,
    YarnStop,
};
use crate::node_manager::NodeManager;
use crate::resource_manager::ResourceManager;
use crate::scheduler::asks::NodePlaces;
use crate::scheduler::books::{ClusterBooks, NodeEntry};
use crate::settings::YarnSettings;
use crate::size::YarnSize;
use mumakil_base::units::{SimSpan, SimTime};

/// How long a run goes on when all applications are over.
const SETTLING: SimSpan = SimSpan::from_secs(2);

/// A node of a run.
#[derive(Clone, Debug)]
pub struct YarnNode {
    /// The name of its host.
    pub name: String,
    /// What it has for containers.
    pub size: YarnSize,
    /// When its first step is, which does nothing; heartbeats follow at their interval.
    pub offset: SimSpan,
    /// Its host, as asks name it.
    pub host: PlaceId,
    /// Its rack, as asks name it.
    pub rack: PlaceId,
}

/// What a run is made from.
pub struct YarnRunSpec {
    /// The nodes; their order decides between heartbeats at the same instant.
    pub nodes: Vec<YarnNode>,
    /// The jobs; their order decides between masters' steps at the same instant.
    pub jobs: Vec<YarnJob>,
    /// The interval of nodes' heartbeats.
    pub node_interval: SimSpan,
    /// The interval of masters' steps.
    pub master_interval: SimSpan,
    /// The scheduler, and the sizes that it gives.
    pub settings: YarnSettings,
}

/// The cores of a run, and their first messages.
struct YarnCores {
    resource_manager: ResourceManager,
    nodes: Vec<NodeManager>,
    masters: Vec<ApplicationMaster>,
    opening: Vec<(SimTime, YarnMail)>,
}

impl YarnCores {
    fn new(
        YarnRunSpec { nodes, jobs, node_interval, master_interval, settings }: YarnRunSpec,
    ) -> Self {
        let ids = || (0..).map(NodeId);
        let entries = nodes.iter().map(|node| {
            let places = NodePlaces { host: node.host, rack: node.rack };
            NodeEntry::new(node.name.clone(), places, node.size)
        });
        let books = ClusterBooks::new(entries.collect(), settings.limits);
        let scheduler = settings.scheduler;
        let mut resource_manager = ResourceManager::new(books, scheduler, jobs.len(), SETTLING);
        let register = |id| (SimTime::ZERO, ToResourceManager::RegisterNode(id).into());
        let mut opening: Vec<(SimTime, YarnMail)> = ids().take(nodes.len()).map(register).collect();
        let ticks = resource_manager.first_ticks();
        opening.extend(ticks.into_iter().map(|(at, tick)| (at, tick.into())));
        // The first step, at the offset, does nothing.
        opening.extend(ids().zip(&nodes).map(|(id, node)| {
            let first = SimTime::ZERO + node.offset + node_interval;
            (first, YarnMail::NodeManager(id, ToNodeManager::Beat))
        }));
        let mut masters = Vec::new();
        for (id, job) in (0..).map(MasterId).zip(jobs) {
            opening.push((SimTime::ZERO + job.start, YarnMail::Master(id, ToMaster::Step)));
            masters.push(ApplicationMaster::new(id, master_interval, job));
        }
        let nodes = ids().take(nodes.len()).map(|id| NodeManager::new(id, node_interval)).collect();
        Self { resource_manager, nodes, masters, opening }
    }

    fn deliver(&mut self, mail: &YarnMail, out: &mut YarnOutbox) {
        match mail {
            YarnMail::ResourceManager(message) => self.resource_manager.handle(message, out),
            YarnMail::NodeManager(id, message) => self.nodes[id.index()].handle(message, out),
            YarnMail::Master(id, message) => self.masters[id.index()].handle(message, out),
        }
    }
}

/// Runs YARN on the virtual clock until all applications are over, or until an instant; `see` gets
/// the events.
pub fn run_yarn(spec: YarnRunSpec, until: SimTime, mut see: impl FnMut(&[YarnEvent])) -> YarnStop {
    let mut cores = YarnCores::new(spec);
    let mut queue: BTreeMap<(SimTime, u32), VecDeque<YarnMail>> = BTreeMap::new();
    for (at, mail) in cores.opening.drain(..) {
        queue.entry((at, mail.rank())).or_default().push_back(mail);
    }
    let mut out = YarnOutbox::default();
    while let Some(mut entry) = queue.first_entry().filter(|entry| entry.key().0 <= until) {
        out.now = entry.key().0;
        let mail = entry.get_mut().pop_front();
        if entry.get().is_empty() {
            entry.remove();
        }
        let Some(mail) = mail else { continue };
        cores.deliver(&mail, &mut out);
        see(&out.events);
        out.events.clear();
        for (after, mail) in out.letters.drain(..) {
            queue.entry((out.now + after, mail.rank())).or_default().push_back(mail);
        }
        if let Some(stop) = out.stop.take() {
            return stop;
        }
    }
    YarnStop::TimeUp
}
