//! Nodes, applications and containers, as the schedulers count them.
//!
//! A container is allocated, then acquired by its master, then running; when it has ended it is in
//! the books no more. A reservation is no container yet: it keeps a node for one.
//!
//! Invariant: what is free on a node and what its containers hold add up to its size, and no more
//! memory is handed out than it has.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::event::{ApplicationFact, ContainerFact, NodeFact, YarnFact};
use crate::message::{
    AllocatedContainer, AppId, AskPriority, ContainerAsk, ContainerEnd, ContainerId, MasterAnswer,
    MasterId, NodeId, PlaceId,
};
use crate::scheduler::asks::{AskTable, Closeness, NodePlaces};
use crate::scheduler::waits::{OfferLog, WaitState};
use crate::size::{SizeLimits, YarnSize};
use mumakil_base::units::{SimSpan, SimTime};

/// A node in the books.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeEntry {
    pub(crate) name: String,
    pub(crate) places: NodePlaces,
    pub(crate) size: YarnSize,
    pub(crate) free: YarnSize,
    pub(crate) reservation: Option<ContainerGrant>,
    /// Whether the node has registered, and was not given up since.
    pub(crate) is_up: bool,
    pub(crate) last_beat: SimTime,
    /// The containers that its next answer orders to end.
    pub(crate) to_clean: Vec<ContainerId>,
}

/// A container that a node gets or is kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContainerGrant {
    pub(crate) id: ContainerId,
    pub(crate) size: YarnSize,
    pub(crate) priority: AskPriority,
}

/// The state of a container, as the ResourceManager knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerState {
    Allocated,
    /// Its master has it, since this instant.
    Acquired(SimTime),
    Running,
}

/// A container that has a node.
#[derive(Clone, Debug)]
pub(crate) struct LiveContainer {
    pub(crate) node: NodeId,
    pub(crate) size: YarnSize,
    pub(crate) priority: AskPriority,
    pub(crate) state: ContainerState,
    /// The rows of the asks that it was taken from.
    rows: Vec<(PlaceId, YarnSize)>,
}

/// An application in the books.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppEntry {
    pub(crate) master: MasterId,
    pub(crate) user: String,
    pub(crate) queue: String,
    /// The size of the master's container if the ResourceManager starts the master.
    pub(crate) managed_master: Option<YarnSize>,
    /// The number of that container, once it has a node.
    pub(crate) master_container: Option<u32>,
    pub(crate) asks: AskTable,
    pub(crate) live: BTreeMap<u32, LiveContainer>,
    /// Containers that the master has not got yet, in the order of allocation.
    fresh: Vec<u32>,
    /// Ends that the master has not been told, by the rank of the node's name.
    ended: BTreeMap<u32, Vec<(ContainerId, ContainerEnd)>>,
    /// The sum of its containers.
    pub(crate) used: YarnSize,
    /// The sum of its reservations.
    pub(crate) reserved: YarnSize,
    /// The nodes that are kept for it, by priority and by the rank of the node's name.
    pub(crate) reservations: BTreeMap<AskPriority, BTreeMap<u32, NodeId>>,
    /// How often a reservation was renewed in vain, by priority.
    pub(crate) renewals: BTreeMap<AskPriority, i32>,
    /// How many offers have been missed, by priority.
    pub(crate) missed: BTreeMap<AskPriority, i32>,
    /// The number of the last container. Those of a new attempt go on from there.
    last_number: u32,
    /// How many attempts have failed.
    pub(crate) failures: u32,
    /// When the master last called, once it runs.
    pub(crate) last_call: Option<SimTime>,
    /// How many of the lost nodes it knows.
    known_lost: usize,
    /// How many containers its master has got that do not run yet.
    pub(crate) acquired: u32,
    pub(crate) wait: WaitState,
    /// Whether limits on masters or running applications keep it out.
    pub(crate) is_held: bool,
    /// Whether it counts as asking for its user.
    pub(crate) is_asking: bool,
    pub(crate) is_stopped: bool,
    pub(crate) is_unregistered: bool,
}

impl AppEntry {
    /// Returns whether containers wait for the master to get them.
    pub(crate) fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }
}

/// A container or a reservation that has gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreedContainer {
    pub(crate) id: ContainerId,
    pub(crate) size: YarnSize,
    /// Whether a node was only kept for it.
    pub(crate) was_reserved: bool,
}

/// All that schedulers know.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterBooks {
    pub(crate) now: SimTime,
    pub(crate) nodes: Vec<NodeEntry>,
    /// The rank of each node's name among all.
    name_ranks: Vec<u32>,
    apps: Vec<AppEntry>,
    /// The sum of the registered nodes.
    pub(crate) total: YarnSize,
    /// The sum of the live containers.
    pub(crate) used: YarnSize,
    /// How many nodes have registered.
    pub(crate) node_count: i32,
    /// The limits as they are set.
    pub(crate) limits: SizeLimits,
    /// For each queue, how many applications of each user ask for containers.
    asking: BTreeMap<String, BTreeMap<String, u32>>,
    pub(crate) facts: Vec<YarnFact>,
    /// The nodes that were given up as silent, in that order.
    pub(crate) lost: Vec<NodeId>,
    pub(crate) offers: OfferLog,
    /// Masters' containers that were allocated in this step.
    new_masters: Vec<AppId>,
    /// Applications whose managed master has ended in this step, and how.
    pub(crate) ended_masters: Vec<(AppId, ContainerEnd)>,
}

impl ClusterBooks {
    pub(crate) fn new(nodes: Vec<NodeEntry>, limits: SizeLimits) -> Self {
        let mut by_name: Vec<usize> = (0..nodes.len()).collect();
        by_name.sort_by(|one, other| nodes[*one].name.cmp(&nodes[*other].name));
        let mut name_ranks = vec![0; nodes.len()];
        (0..).zip(by_name).for_each(|(rank, node)| name_ranks[node] = rank);
        Self { nodes, name_ranks, limits, ..Self::default() }
    }

    /// Returns the limits with the largest container that a registered node can take.
    pub(crate) fn real_limits(&self) -> SizeLimits {
        let up = self.nodes.iter().filter(|node| node.is_up);
        let largest = up.map(|node| node.size).reduce(YarnSize::most);
        // Without any node, the setting holds.
        let maximum = largest.map_or(self.limits.maximum, |it| self.limits.maximum.least(it));
        SizeLimits { maximum, ..self.limits }
    }

    pub(crate) fn register(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        assert!(!node.is_up, "{}: node {} registers twice", self.now, node.name);
        (node.is_up, node.last_beat) = (true, self.now);
        self.total += node.size;
        self.node_count += 1;
        self.facts.push(YarnFact::Node(id, NodeFact::Registered));
    }

    /// Gives a node up, and returns the containers that it still has in the books.
    pub(crate) fn lose_node(&mut self, id: NodeId) -> Vec<ContainerId> {
        let node = &mut self.nodes[id.index()];
        node.is_up = false;
        node.to_clean.clear();
        self.total -= node.size;
        self.node_count -= 1;
        self.facts.push(YarnFact::Node(id, NodeFact::Lost));
        let apps = (1..).map(AppId).zip(&self.apps);
        let on_it = apps.flat_map(|(app, entry)| {
            let here = entry.live.iter().filter(|(_, live)| live.node == id);
            here.map(move |(number, _)| ContainerId { app, number: *number })
        });
        on_it.collect()
    }

    /// Returns the nodes that have been silent for longer than this.
    pub(crate) fn silent_nodes(&self, expiry: SimSpan) -> Vec<NodeId> {
        let ids = (0..self.nodes.len() as u32).map(NodeId);
        ids.filter(|id| self.node(*id).is_up && self.node(*id).last_beat + expiry < self.now)
            .collect()
    }

    /// Returns the applications whose masters have been silent for longer than this.
    pub(crate) fn silent_masters(&self, expiry: SimSpan) -> Vec<AppId> {
        let apps = (1..).map(AppId).zip(&self.apps);
        let at_work = apps.filter(|(_, app)| !app.is_stopped && !app.is_unregistered);
        let silent =
            at_work.filter(|(_, app)| app.last_call.is_some_and(|last| last + expiry < self.now));
        silent.map(|(id, _)| id).collect()
    }

    /// Begins another attempt of an application whose containers are gone.
    pub(crate) fn begin_attempt(&mut self, id: AppId) {
        let app = self.app_mut(id);
        app.is_stopped = false;
        (app.master_container, app.last_call) = (None, None);
        app.ended.clear();
        app.missed.clear();
        app.renewals.clear();
    }

    pub(crate) fn node(&self, id: NodeId) -> &NodeEntry {
        &self.nodes[id.index()]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut NodeEntry {
        &mut self.nodes[id.index()]
    }

    /// Returns the rank of a node's name among all.
    pub(crate) fn name_rank(&self, id: NodeId) -> u32 {
        self.name_ranks[id.index()]
    }

    pub(crate) fn app(&self, id: AppId) -> &AppEntry {
        &self.apps[id.index() - 1]
    }

    pub(crate) fn app_mut(&mut self, id: AppId) -> &mut AppEntry {
        &mut self.apps[id.index() - 1]
    }

    /// Adds an application and returns its number.
    pub(crate) fn add_app(
        &mut self,
        master: MasterId,
        user: String,
        queue: String,
        managed_master: Option<YarnSize>,
    ) -> AppId {
        let known_lost = self.lost.len();
        let new =
            AppEntry { master, user, queue, managed_master, known_lost, ..AppEntry::default() };
        self.apps.push(new);
        AppId(self.apps.len() as u32)
    }

    /// Takes the asks of a call, with sizes that containers may have.
    pub(crate) fn ask(&mut self, id: AppId, asks: &[ContainerAsk]) {
        self.app_mut(id).asks.update(asks);
        let any = asks.iter().filter(|ask| ask.place == PlaceId::ANY);
        for ask in any {
            let is_asking = 0 < ask.count || self.app(id).asks.is_asking();
            self.note_asking(id, is_asking);
            let fact = ApplicationFact::Asked(ask.priority, ask.count);
            self.facts.push(YarnFact::Application(self.app(id).master, fact));
        }
        if !asks.is_empty() {
            self.settle_wait(id);
        }
    }

    /// Returns how many users have an application in a queue that asks for containers.
    pub(crate) fn asking_users(&self, queue: &str) -> i32 {
        self.asking.get(queue).map_or(0, |users| users.len() as i32)
    }

    pub(crate) fn note_asking(&mut self, id: AppId, is_asking: bool) {
        let app = &mut self.apps[id.index() - 1];
        if mem::replace(&mut app.is_asking, is_asking) == is_asking {
            return;
        }
        let users = self.asking.entry(app.queue.clone()).or_default();
        let count = users.entry(app.user.clone()).or_default();
        *count = if is_asking { *count + 1 } else { *count - 1 };
        if *count == 0 {
            users.remove(&app.user);
        }
    }

    /// Uses up the next number of an application's containers.
    pub(crate) fn next_container(&mut self, id: AppId) -> ContainerId {
        let app = self.app_mut(id);
        app.last_number += 1;
        ContainerId { app: id, number: app.last_number }
    }

    /// Gives a container its node. Returns `false`, and changes nothing that matters any more, if
    /// the asks lack a row of its level.
    #[must_use]
    pub(crate) fn allocate(
        &mut self,
        node: NodeId,
        ContainerGrant { id, size, priority }: ContainerGrant,
        closeness: Closeness,
    ) -> bool {
        let places = self.node(node).places;
        let app = &mut self.apps[id.app.index() - 1];
        let Some(rows) = app.asks.take(priority, closeness, places) else { return false };
        let state = ContainerState::Allocated;
        app.live.insert(id.number, LiveContainer { node, size, priority, state, rows });
        app.used += size;
        if app.managed_master.is_some() && app.master_container.is_none() {
            app.master_container = Some(id.number);
            self.new_masters.push(id.app);
        } else {
            app.fresh.push(id.number);
        }
        let is_asking = app.asks.is_asking();
        self.note_asking(id.app, is_asking);
        self.note_taken(id.app);
        self.used += size;
        let entry = self.node_mut(node);
        entry.free -= size;
        let (free, name) = (entry.free, &entry.name);
        debug_assert!(0 <= free.memory, "{name} has given more memory than it has: {free}");
        self.facts.push(container(id, ContainerFact::Allocated(node, size, priority)));
        true
    }

    /// Keeps a node for a container, or renews that.
    pub(crate) fn reserve(&mut self, node: NodeId, new: ContainerGrant) {
        let rank = self.name_rank(node);
        let app = self.app_mut(new.id.app);
        if app.reservations.entry(new.priority).or_default().insert(rank, node).is_some() {
            *app.renewals.entry(new.priority).or_default() += 1;
            return;
        }
        app.renewals.remove(&new.priority);
        app.reserved += new.size;
        let kept = self.node_mut(node).reservation.replace(new);
        assert!(kept.is_none(), "{}: node {node:?} is kept already", self.now);
        self.offers.was_taken = true;
        let fact = ContainerFact::Reserved(node, new.size, new.priority);
        self.facts.push(container(new.id, fact));
    }

    /// Gives up the reservation of a node.
    pub(crate) fn unreserve(&mut self, node: NodeId) -> Option<FreedContainer> {
        let ContainerGrant { id, size, priority } = self.node_mut(node).reservation.take()?;
        let rank = self.name_rank(node);
        let app = self.app_mut(id.app);
        if let Some(nodes) = app.reservations.get_mut(&priority) {
            nodes.remove(&rank);
            if nodes.is_empty() {
                app.reservations.remove(&priority);
            }
        }
        app.renewals.remove(&priority);
        app.reserved -= size;
        self.facts.push(container(id, ContainerFact::Unreserved(node, size, priority)));
        Some(FreedContainer { id, size, was_reserved: true })
    }

    /// Hands new containers and ends to a master. Each is told once.
    pub(crate) fn fetch(&mut self, id: AppId) -> MasterAnswer {
        let now = self.now;
        let app = &mut self.apps[id.index() - 1];
        let lost = self.lost[mem::replace(&mut app.known_lost, self.lost.len())..].to_vec();
        let fresh = mem::take(&mut app.fresh);
        let ended = mem::take(&mut app.ended).into_values().flatten().collect();
        let acquired = fresh.into_iter().filter_map(|number| {
            let live = app.live.get_mut(&number)?;
            live.state = ContainerState::Acquired(now);
            let NodePlaces { host, rack } = self.nodes[live.node.index()].places;
            Some(AllocatedContainer {
                id: ContainerId { app: id, number },
                node: live.node,
                host_and_rack: [host, rack],
                priority: live.priority,
                size: live.size,
            })
        });
        let allocated: Vec<_> = acquired.collect();
        if !allocated.is_empty() {
            app.acquired += allocated.len() as u32;
            self.settle_wait(id);
        }
        let facts = allocated.iter().map(|new| container(new.id, ContainerFact::Acquired));
        self.facts.extend(facts);
        MasterAnswer { allocated, ended, lost, ..MasterAnswer::default() }
    }

    /// Acquires the containers of masters that the ResourceManager starts, as far as they were
    /// allocated since the last call.
    pub(crate) fn fetch_masters(&mut self) -> Vec<(MasterId, ContainerId, NodeId)> {
        let now = self.now;
        let mut started = Vec::new();
        for id in mem::take(&mut self.new_masters) {
            let app = self.app_mut(id);
            let Some(number) = app.master_container else { continue };
            let Some(live) = app.live.get_mut(&number) else { continue };
            live.state = ContainerState::Acquired(now);
            app.acquired += 1;
            app.last_call = Some(now);
            let of = ContainerId { app: id, number };
            started.push((app.master, of, live.node));
            self.facts.push(container(of, ContainerFact::Acquired));
            self.settle_wait(id);
        }
        started
    }

    /// Notes that a node runs a container. One that the books no longer have must go again.
    pub(crate) fn launched(&mut self, node: NodeId, id: ContainerId) {
        let app = self.app_mut(id.app);
        if let Some(live) = app.live.get_mut(&id.number) {
            let before = mem::replace(&mut live.state, ContainerState::Running);
            app.acquired -= u32::from(matches!(before, ContainerState::Acquired(_)));
            self.facts.push(container(id, ContainerFact::Running));
            self.settle_wait(id.app);
        } else {
            self.node_mut(node).to_clean.push(id);
        }
    }

    /// Ends a live container; `None` if it has ended already.
    pub(crate) fn end(&mut self, id: ContainerId, end: ContainerEnd) -> Option<FreedContainer> {
        let app = self.app_mut(id.app);
        let LiveContainer { node, size, priority, state, rows } = app.live.remove(&id.number)?;
        app.fresh.retain(|number| *number != id.number);
        app.used -= size;
        self.used -= size;
        let rank = self.name_rank(node);
        let entry = self.node_mut(node);
        entry.free += size;
        let orders = [ContainerEnd::Killed, ContainerEnd::Expired, ContainerEnd::Released];
        let is_ordered = orders.contains(&end) && state != ContainerState::Allocated;
        if is_ordered {
            entry.to_clean.push(id);
        }
        let app = self.app_mut(id.app);
        app.ended.entry(rank).or_default().push((id, end));
        app.acquired -= u32::from(matches!(state, ContainerState::Acquired(_)));
        let is_master = app.master_container == Some(id.number);
        // Nobody has got it yet: its ask is open again, unless the application is over.
        let is_taken_back = matches!(end, ContainerEnd::Killed | ContainerEnd::Lost);
        if state == ContainerState::Allocated && is_taken_back && !app.is_stopped {
            app.asks.restore(priority, &rows);
            self.note_asking(id.app, true);
        }
        if is_master {
            self.ended_masters.push((id.app, end));
        }
        self.facts.push(container(id, ContainerFact::Ended(end)));
        self.settle_wait(id.app);
        Some(FreedContainer { id, size, was_reserved: false })
    }

    /// Returns the nodes that are kept for an application.
    pub(crate) fn reserved_nodes(&self, id: AppId) -> Vec<NodeId> {
        let by_priority = self.app(id).reservations.values();
        by_priority.flat_map(BTreeMap::values).copied().collect()
    }

    /// Returns the containers that were acquired longer than this ago, and never launched.
    pub(crate) fn expired(&self, expiry: SimSpan) -> Vec<ContainerId> {
        let mut late = BTreeSet::new();
        for (id, app) in (1..).map(AppId).zip(&self.apps) {
            for (number, live) in &app.live {
                if let ContainerState::Acquired(since) = live.state
                    && since + expiry < self.now
                {
                    late.insert((since, ContainerId { app: id, number: *number }));
                }
            }
        }
        late.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns how many offers an application has missed at a priority.
    pub(crate) fn missed(&self, id: AppId, priority: AskPriority) -> i32 {
        self.app(id).missed.get(&priority).copied().unwrap_or(0)
    }
}

fn container(id: ContainerId, fact: ContainerFact) -> YarnFact {
    YarnFact::Container(id, fact)
}
