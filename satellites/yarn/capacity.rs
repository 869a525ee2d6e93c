//! The capacity scheduler: each queue has a share of the cluster, may borrow what others leave, and
//! divides its own among its users.
//!
//! ```text
//! settings    what capacity-scheduler.xml says
//! queues      the tree of queues, what each may use, and what it has
//! activation  which applications of a queue may begin
//! offer       what a queue does with the room of a node
//! preemption  the monitor that takes containers from queues above their shares
//! ```
//!
//! A reservation counts as used, for the queue and for the user, until it is filled or given up.

mod activation;
mod offer;
mod preemption;
mod queues;
mod settings;

use std::collections::BTreeMap;

use crate::checker::{CeilingRule, QueueCeiling};
use crate::message::{AppId, ContainerId, NodeId, SchedulerTick};
use crate::scheduler::YarnScheduler;
use crate::scheduler::books::{ClusterBooks, FreedContainer};
use crate::scheduler::tree::YarnQueueId;
use crate::settings::HadoopProperties;
use crate::size::{SizeCalculator, SizeLimits, YarnSize};
use mumakil_base::units::{SimSpan, SimTime};
use queues::CapacityQueues;
use settings::CapacitySettings;

/// The capacity scheduler.
#[derive(Debug)]
pub(crate) struct YarnCapacity {
    settings: CapacitySettings,
    queues: CapacityQueues,
    /// The applications by number; those that have left stay.
    apps: BTreeMap<AppId, CapacityApp>,
    /// Containers that the monitor has marked, and since when, in milliseconds.
    marked: BTreeMap<ContainerId, u64>,
}

/// An application as the capacity scheduler sees it.
#[derive(Debug)]
struct CapacityApp {
    queue: YarnQueueId,
    /// The size that its master counts for: the smallest container if the master is not managed.
    master: YarnSize,
    is_active: bool,
}

impl YarnCapacity {
    /// Reads the settings and the queues; the error says what they contradict.
    pub(crate) fn of(site: &HadoopProperties, limits: SizeLimits) -> Result<Self, String> {
        let (settings, queues) = (CapacitySettings::of(site, limits)?, CapacityQueues::new(site)?);
        Ok(Self { settings, queues, apps: BTreeMap::new(), marked: BTreeMap::new() })
    }

    fn is_more(&self, books: &ClusterBooks, one: YarnSize, other: YarnSize) -> bool {
        self.calculator().compare(books.total, one, other).is_gt()
    }

    /// Charges a container or a reservation to its user, its queue and all queues above.
    fn charge(&mut self, books: &ClusterBooks, id: AppId, size: YarnSize) {
        let queue = self.apps[&id].queue;
        self.queues.get_mut(queue).user_mut(&books.app(id).user).used += size;
        self.queues.change_used(self.settings.calculator, books.total, queue, |used| *used += size);
    }
}

impl YarnScheduler for YarnCapacity {
    fn ticks(&self) -> Vec<(SchedulerTick, SimTime, SimSpan)> {
        let interval = self.settings.monitors.then_some(self.settings.monitor_interval);
        interval.map(|it| (SchedulerTick::Preempt, SimTime::ZERO, it)).into_iter().collect()
    }

    fn calculator(&self) -> SizeCalculator {
        self.settings.calculator
    }

    fn nodes_changed(&mut self, books: &mut ClusterBooks) {
        self.set_limits(books, CapacityQueues::ROOT, books.total);
    }

    fn submit(&mut self, books: &mut ClusterBooks, id: AppId) -> Result<(), String> {
        let entry = books.app(id);
        let queue = self.queues.find_leaf(&entry.queue)?;
        let leaf = self.queues.get(queue);
        let name = &leaf.path;
        let applications = leaf.active.len() + leaf.pending.len();
        if leaf.max_applications <= applications as i32 {
            return Err(format!("queue `{name}` already has {applications} applications"));
        }
        let of_user = leaf.user(&entry.user).applications;
        if leaf.max_applications_of_user <= of_user {
            let user = &entry.user;
            return Err(format!("queue `{name}` already has {of_user} applications of `{user}`"));
        }
        let master = entry.managed_master.unwrap_or(books.limits.minimum);
        self.apps.insert(id, CapacityApp { queue, master, is_active: false });
        let user = entry.user.clone();
        let leaf = self.queues.get_mut(queue);
        leaf.pending.insert(id);
        leaf.user_mut(&user).applications += 1;
        // From here on, users who ask are counted by the full name of the queue.
        books.app_mut(id).queue = self.queues.get(queue).path.clone();
        self.activate(books, queue);
        books.hold(id, !self.apps[&id].is_active);
        Ok(())
    }

    /// The rest of the user's limit and of the queue's, in whole steps.
    fn headroom(&self, books: &ClusterBooks, app: AppId) -> (YarnSize, SizeCalculator) {
        let (calculator, step) = (self.calculator(), books.limits.minimum);
        let queue = self.apps[&app].queue;
        let leaf = self.queues.get(queue);
        let of_user = self.user_limit(books, app, step) - leaf.user(&books.app(app).user).used;
        let of_queue = leaf.current_limit - leaf.used;
        let left = calculator.rounded_down(calculator.min(books.total, of_user, of_queue), step);
        (YarnSize::new(left.memory.max(0), left.cores), calculator)
    }

    fn ceilings(&self, app: AppId) -> Vec<QueueCeiling> {
        let (own, calculator) = (self.apps[&app].queue, self.settings.calculator);
        let ceilings = self.queues.upwards(own).map(|id| {
            let queue = self.queues.get(id);
            let user = (id == own).then_some((queue.capacity, queue.user_limit_factor));
            let rule = CeilingRule::Capacity { calculator, most: queue.max_capacity, user };
            QueueCeiling { queue: queue.path.clone(), rule }
        });
        ceilings.collect()
    }

    fn leave(&mut self, books: &mut ClusterBooks, id: AppId) {
        let CapacityApp { queue, master, is_active } = self.apps[&id];
        let leaf = self.queues.get_mut(queue);
        leaf.pending.remove(&id);
        leaf.active.remove(&id);
        let user = &books.app(id).user;
        if is_active {
            leaf.masters -= master;
            leaf.user_mut(user).masters -= master;
        }
        leaf.user_mut(user).applications -= 1;
        // A user without applications is forgotten, with all that he seems to have.
        leaf.users.retain(|_, user| 0 < user.applications);
        self.activate(books, queue);
    }

    fn freed(&mut self, books: &mut ClusterBooks, freed: &FreedContainer) {
        let queue = self.apps[&freed.id.app].queue;
        let user = &books.app(freed.id.app).user;
        self.queues.get_mut(queue).user_mut(user).used -= freed.size;
        let (calculator, total) = (self.calculator(), books.total);
        self.queues.change_used(calculator, total, queue, |used| *used -= freed.size);
    }

    fn offer(&mut self, books: &mut ClusterBooks, node: NodeId, _: bool) -> Result<(), String> {
        self.offer_node(books, node);
        Ok(())
    }

    fn tick(&mut self, books: &mut ClusterBooks, _: SchedulerTick) {
        self.preempt(books);
    }
}
