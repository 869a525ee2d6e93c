//! The fair scheduler: queues and applications share by weight, and nodes are kept for those whose
//! turn it is.
//!
//! ```text
//! settings    what the two files say
//! queues      the tree of queues, and what each one has and wants
//! shares      fair shares, from weights and limits
//! order       who comes first at an offer
//! running     how many applications of a queue or a user may run
//! preemption  containers that are warned, and killed
//! ```
//!
//! Demands and shares are those of the last update, usage is that of now. An offer that does not
//! fit reserves the node, even a full one: under load most nodes are kept for the neediest.

mod order;
mod preemption;
mod queues;
mod running;
pub(crate) mod settings;
mod shares;

use std::collections::BTreeMap;
use std::mem;

use crate::checker::{CeilingRule, QueueCeiling};
use crate::event::{ShareReading, YarnWait};
use crate::message::{AppId, AskPriority, NodeId, SchedulerTick};
use crate::scheduler::YarnScheduler;
use crate::scheduler::asks::{AskRow, Closeness};
use crate::scheduler::books::{ClusterBooks, ContainerGrant, FreedContainer};
use crate::scheduler::tree::YarnQueueId;
use crate::size::{SizeCalculator, YarnSize};
use mumakil_base::units::{SimSpan, SimTime};
use order::FairContender;
pub(crate) use order::FairPolicy;
use queues::FairQueues;
use running::RunningApps;
use settings::FairSettings;

/// The fair scheduler.
#[derive(Debug)]
pub(crate) struct YarnFair {
    settings: FairSettings,
    queues: FairQueues,
    /// The applications by number; those that have left stay.
    apps: BTreeMap<AppId, FairApp>,
    running: RunningApps,
    /// Containers that were warned, in that order.
    warned: Vec<crate::message::ContainerId>,
    last_preemption: u64,
    /// The last reading of each queue and application.
    readings: BTreeMap<String, ShareReading>,
}

/// An application as the fair scheduler sees it.
#[derive(Debug, Default)]
struct FairApp {
    queue: YarnQueueId,
    /// When it came, in milliseconds.
    start: u64,
    demand: YarnSize,
    share: YarnSize,
    is_runnable: bool,
    /// Whether its master counts in the queue's share of masters.
    has_master: bool,
    /// The allowed closeness by priority; absent before the first offer.
    allowed: BTreeMap<AskPriority, Closeness>,
    /// When the closeness was last loosened, in milliseconds, by priority.
    loosened: BTreeMap<AskPriority, u64>,
    /// Warned containers, and since when, in milliseconds.
    warned: BTreeMap<u32, u64>,
    /// The size of its warned containers, while more of them are chosen.
    discounted: YarnSize,
}

impl YarnFair {
    pub(crate) fn new(settings: FairSettings) -> Self {
        let queues = FairQueues::new(&settings);
        Self {
            settings,
            queues,
            apps: BTreeMap::new(),
            running: RunningApps::default(),
            warned: Vec::new(),
            last_preemption: 0,
            readings: BTreeMap::new(),
        }
    }

    fn app(&self, id: AppId) -> &FairApp {
        &self.apps[&id]
    }

    fn app_mut(&mut self, id: AppId) -> &mut FairApp {
        self.apps.get_mut(&id).expect("the application was submitted")
    }

    /// Returns what an application has, without what is warned while that is chosen.
    fn usage(&self, books: &ClusterBooks, id: AppId) -> YarnSize {
        books.app(id).used - self.app(id).discounted
    }

    /// Offers a node: first to the container that it is kept for.
    fn attempt(&mut self, books: &mut ClusterBooks, node: NodeId) {
        books.begin_offer();
        if let Some(kept) = books.node(node).reservation {
            let queue = self.app(kept.id.app).queue;
            let wanted = books.app(kept.id.app).asks.any(kept.priority);
            if can_use(books, wanted, node) && self.queues.has_room(queue, kept.size) {
                self.fill(books, node, kept);
                return;
            }
            books.unreserve(node);
        }
        let mut assigned = 0;
        while books.node(node).reservation.is_none()
            && self.offer_queue(books, FairQueues::ROOT, node)
        {
            assigned += 1;
            let is_enough = 0 < self.settings.max_assign && self.settings.max_assign <= assigned;
            if !self.settings.assign_multiple || is_enough {
                break;
            }
        }
    }

    /// Turns a reservation into a container if there is room for it by now.
    fn fill(&mut self, books: &mut ClusterBooks, node: NodeId, kept: ContainerGrant) {
        if kept.size.fits_in(books.node(node).free) {
            self.offer_priorities(books, kept.id.app, node, &[kept.priority], Some(kept));
        } else {
            books.note_wait(kept.id.app, YarnWait::Room);
        }
    }

    /// Offers a node to a queue; returns whether a container is allocated, or the node is kept for
    /// one.
    fn offer_queue(&mut self, books: &mut ClusterBooks, queue: YarnQueueId, node: NodeId) -> bool {
        let of = self.queues.get(queue);
        if !of.usage.fits_in(of.set.max) || books.node(node).reservation.is_some() {
            return false;
        }
        let (is_leaf, policy) = (of.is_leaf, of.set.policy);
        // Lists stay sorted, as the next sort begins with this order.
        if is_leaf {
            let apps = of.runnable.iter().map(|app| self.app_contender(books, *app));
            let sorted = policy.sorted(books.total, apps);
            self.queues.get_mut(queue).runnable.clone_from(&sorted);
            sorted.into_iter().any(|app| {
                let priorities: Vec<AskPriority> = books.app(app).asks.priorities().collect();
                self.offer_priorities(books, app, node, &priorities, None)
            })
        } else {
            let children = of.children.iter().map(|child| self.queues.contender(*child));
            let sorted = policy.sorted(books.total, children);
            self.queues.get_mut(queue).children.clone_from(&sorted);
            sorted.into_iter().any(|child| self.offer_queue(books, child, node))
        }
    }

    fn app_contender(&self, books: &ClusterBooks, id: AppId) -> FairContender<'_, AppId> {
        let app = self.app(id);
        FairContender {
            key: id,
            usage: self.usage(books, id),
            demand: app.demand,
            min: YarnSize::NONE,
            weight: self.app_weight(app),
            start: app.start,
            name: None,
            number: id.0,
        }
    }

    fn app_weight(&self, app: &FairApp) -> f32 {
        match self.settings.size_based_weight {
            true => (f64::from(app.demand.memory).ln_1p() / 2_f64.ln()) as f32,
            false => 1.0,
        }
    }

    /// Offers a node to priorities of an application, or to the one that the node is kept for.
    fn offer_priorities(
        &mut self,
        books: &mut ClusterBooks,
        id: AppId,
        node: NodeId,
        priorities: &[AskPriority],
        kept: Option<ContainerGrant>,
    ) -> bool {
        for priority in priorities.iter().copied() {
            let wanted = books.app(id).asks.any(priority);
            if wanted.count <= 0 {
                continue;
            }
            if !can_use(books, wanted, node) {
                books.note_wait(id, YarnWait::Room);
                continue;
            }
            *books.app_mut(id).missed.entry(priority).or_default() += 1;
            if self.lacks_master_share(books, id) {
                books.note_wait(id, YarnWait::Activation);
                return false;
            }
            let allowed = self.allowed(books, id, priority);
            let places = books.node(node).places;
            let asks = &books.app(id).asks;
            let rack = asks.row(priority, places.rack).filter(|row| row.count != 0);
            let host = asks.row(priority, places.host).filter(|row| row.count != 0);
            let any = Some(asks.any(priority)).filter(|row| row.count != 0);
            let is_placed = 1 < asks.row_count(priority);
            let (closeness, row) = match (host, rack, any) {
                (Some(host), Some(_), _) => (Closeness::Node, host),
                (_, Some(rack), _) if Closeness::Rack <= allowed => (Closeness::Rack, rack),
                (_, _, Some(any)) if !is_placed || allowed == Closeness::Any => {
                    (Closeness::Any, any)
                }
                _ => {
                    books.note_wait(id, YarnWait::Locality);
                    continue;
                }
            };
            return self.assign(books, id, node, priority, (closeness, row), kept);
        }
        false
    }

    /// Returns whether an application has no container yet, and its queue no share left for its
    /// master.
    fn lacks_master_share(&self, books: &ClusterBooks, id: AppId) -> bool {
        let entry = books.app(id);
        let Some(master) = entry.managed_master.filter(|_| entry.live.is_empty()) else {
            return false;
        };
        let queue = self.queues.get(self.app(id).queue);
        if (queue.set.max_master_share + 1.0).abs() < 0.000_1 {
            return false;
        }
        let limit = queue.share.times(f64::from(queue.set.max_master_share));
        let needed = queue.master_usage + master;
        match queue.set.policy {
            FairPolicy::Dominant => !needed.fits_in(limit),
            FairPolicy::Fair | FairPolicy::Fifo => limit.memory < needed.memory,
        }
    }

    /// Returns the closeness that is allowed at a priority; it becomes looser as offers are missed,
    /// or as time passes.
    fn allowed(&mut self, books: &mut ClusterBooks, id: AppId, priority: AskPriority) -> Closeness {
        let (now, nodes) = (books.now.as_millis(), books.node_count);
        let missed = books.missed(id, priority);
        let (by_time, limits) = match self.settings.continuous {
            Some(_) => (true, self.settings.locality_delay_ms.map(|delay| delay as f64)),
            // A threshold is a share of the nodes; more than all is all.
            None => (false, self.settings.locality_threshold.map(|it| f64::from(it).min(1.0))),
        };
        if limits.iter().any(|limit| *limit < 0.0) {
            return Closeness::Any;
        }
        let app = self.app_mut(id);
        let Some(allowed) = app.allowed.get(&priority).copied() else {
            app.allowed.insert(priority, Closeness::Node);
            return Closeness::Node;
        };
        let (limit, looser) = match allowed {
            Closeness::Node => (limits[0], Closeness::Rack),
            Closeness::Rack => (limits[1], Closeness::Any),
            Closeness::Any => return Closeness::Any,
        };
        let is_enough = if by_time {
            let since = app.loosened.get(&priority).copied().unwrap_or(app.start);
            limit < now as f64 - since as f64
        } else {
            f64::from(nodes) * limit < f64::from(missed)
        };
        if !is_enough {
            return allowed;
        }
        app.allowed.insert(priority, looser);
        app.loosened.insert(priority, now);
        books.app_mut(id).missed.insert(priority, 0);
        looser
    }

    /// Allocates a container of a row if it fits, and keeps the node for it otherwise.
    fn assign(
        &mut self,
        books: &mut ClusterBooks,
        id: AppId,
        node: NodeId,
        priority: AskPriority,
        (closeness, AskRow { size, .. }): (Closeness, AskRow),
        kept: Option<ContainerGrant>,
    ) -> bool {
        let queue = self.app(id).queue;
        // A number is used up, whatever comes of it.
        let grant = kept.unwrap_or_else(|| {
            let id = books.next_container(id);
            ContainerGrant { id, size, priority }
        });
        if !size.fits_in(books.node(node).free) {
            if !self.queues.has_room(queue, size) {
                books.note_wait(id, YarnWait::QueueMaximum);
                return false;
            }
            books.note_wait(id, YarnWait::Room);
            books.reserve(node, grant);
            return true;
        }
        let app = self.app_mut(id);
        // A better closeness than allowed pulls the allowed one back.
        if let Some(allowed) = app.allowed.get_mut(&priority)
            && closeness < *allowed
        {
            *allowed = closeness;
        }
        if kept.is_some() {
            books.unreserve(node);
        }
        let has_rows = books.allocate(node, grant, closeness);
        assert!(has_rows, "{}: the rows of {:?} were there", books.now, grant.id);
        self.queues.add_usage(queue, grant.size);
        let entry = books.app(id);
        if entry.live.len() == 1 && entry.managed_master.is_some() {
            self.queues.get_mut(queue).master_usage += grant.size;
            self.app_mut(id).has_master = true;
        }
        true
    }

    /// Notes which applications wait since their queues have all that they may have.
    fn note_full_queues(&self, books: &mut ClusterBooks) {
        let full = self.queues.leaves().into_iter().filter(|id| self.queues.is_above_maximum(*id));
        for app in full.flat_map(|id| &self.queues.get(id).runnable) {
            books.note_wait(*app, YarnWait::QueueMaximum);
        }
    }

    /// Offers all nodes that have room for the smallest container, the emptiest first.
    fn offer_all(&mut self, books: &mut ClusterBooks) {
        let mut nodes: Vec<NodeId> = (0..books.nodes.len() as u32).map(NodeId).collect();
        nodes.retain(|id| books.node(*id).is_up);
        nodes.sort_by_key(|id| (-books.node(*id).free.memory, books.name_rank(*id)));
        for node in nodes {
            if books.limits.minimum.fits_in(books.node(node).free) {
                self.attempt(books, node);
            }
        }
    }
}

/// Returns whether containers are wanted that the node could take if it were empty.
fn can_use(books: &ClusterBooks, AskRow { size, count }: AskRow, node: NodeId) -> bool {
    0 < count && size.memory <= books.node(node).size.memory
}

impl YarnScheduler for YarnFair {
    fn ticks(&self) -> Vec<(SchedulerTick, SimTime, SimSpan)> {
        let update = self.settings.update_interval;
        let mut ticks = vec![(SchedulerTick::Update, SimTime::ZERO + update, update)];
        ticks.extend(
            self.settings.continuous.map(|every| (SchedulerTick::OfferAll, SimTime::ZERO, every)),
        );
        ticks
    }

    fn normalised(&self, books: &ClusterBooks, ask: YarnSize) -> YarnSize {
        SizeCalculator::Dominant.normalised(ask, books.real_limits())
    }

    fn submit(&mut self, books: &mut ClusterBooks, id: AppId) -> Result<(), String> {
        let entry = books.app(id);
        let now = books.now.as_millis();
        let queue = self.queues.place(&self.settings, &entry.queue, &entry.user, now)?;
        let is_runnable = self.running.may_run(&self.settings, &self.queues, queue, &entry.user);
        let new = FairApp { queue, start: now, is_runnable, ..FairApp::default() };
        self.apps.insert(id, new);
        if is_runnable {
            self.queues.get_mut(queue).runnable.push(id);
            self.running.began(&mut self.queues, queue, &entry.user);
        } else {
            self.queues.get_mut(queue).waiting.push(id);
            self.running.waits(id, &entry.user);
            books.hold(id, true);
        }
        Ok(())
    }

    fn leave(&mut self, books: &mut ClusterBooks, id: AppId) {
        let (queue, is_runnable) = (self.app(id).queue, self.app(id).is_runnable);
        let user = &books.app(id).user.clone();
        if !is_runnable {
            self.queues.get_mut(queue).waiting.retain(|it| *it != id);
            self.running.waits_no_more(id, user);
            return;
        }
        let of = self.queues.get_mut(queue);
        of.runnable.retain(|it| *it != id);
        if self.apps[&id].has_master {
            of.master_usage -= books.app(id).managed_master.unwrap_or_default();
        }
        self.running.ended(&mut self.queues, queue, user);
        self.let_others_run(books, queue, user);
    }

    /// The room in the cluster, in the queue's maximum, and, of what the policy shares out, in
    /// the queue's share.
    fn headroom(&self, books: &ClusterBooks, app: AppId) -> (YarnSize, SizeCalculator) {
        let queue = self.queues.get(self.app(app).queue);
        let free = (books.total - books.used).least(queue.set.max - queue.usage);
        let mut share = (queue.share - queue.usage).most(YarnSize::NONE);
        if queue.set.policy != FairPolicy::Dominant {
            share.cores = i32::MAX;
        }
        (free.least(share), SizeCalculator::Dominant)
    }

    fn ceilings(&self, app: AppId) -> Vec<QueueCeiling> {
        let queues = self.queues.upwards(self.app(app).queue).map(|id| self.queues.get(id));
        queues
            .map(|queue| QueueCeiling {
                queue: queue.name.clone(),
                rule: CeilingRule::Fair(queue.set.max),
            })
            .collect()
    }

    fn is_full(&self, app: AppId) -> bool {
        self.queues.is_above_maximum(self.app(app).queue)
    }

    fn freed(&mut self, _: &mut ClusterBooks, freed: &FreedContainer) {
        // A reservation is not in use.
        if !freed.was_reserved {
            self.queues.free_usage(self.app(freed.id.app).queue, freed.size);
            self.app_mut(freed.id.app).warned.remove(&freed.id.number);
        }
    }

    fn offer(
        &mut self,
        books: &mut ClusterBooks,
        node: NodeId,
        has_ends: bool,
    ) -> Result<(), String> {
        if self.settings.continuous.is_none() || has_ends {
            self.attempt(books, node);
        }
        Ok(())
    }

    fn tick(&mut self, books: &mut ClusterBooks, tick: SchedulerTick) {
        if tick == SchedulerTick::OfferAll {
            self.offer_all(books);
        } else {
            self.update(books);
            self.note_full_queues(books);
            self.preempt(books);
        }
    }

    fn shares(&mut self, books: &ClusterBooks) -> Vec<ShareReading> {
        let mut readings = Vec::new();
        for queue in self.queues.by_name() {
            let of = self.queues.get(queue);
            let name = of.name.clone();
            readings.push(ShareReading {
                name,
                demand: of.demand,
                share: of.share,
                usage: of.usage,
            });
            let mut apps = [&of.runnable[..], &of.waiting].concat();
            apps.sort_unstable();
            readings.extend(apps.into_iter().map(|id| {
                let FairApp { demand, share, .. } = *self.app(id);
                let name = order::application_name(id.0);
                ShareReading { name, demand, share, usage: self.usage(books, id) }
            }));
        }
        let former = mem::take(&mut self.readings);
        self.readings = readings.iter().map(|it| (it.name.clone(), it.clone())).collect();
        readings.retain(|it| former.get(&it.name) != Some(it));
        readings
    }
}
