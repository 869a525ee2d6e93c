//! The use that queues make of the room of a node.
//!
//! The root goes on after a container in the node or the rack, and stops after one anywhere else:
//! many local containers a heartbeat, but one that is not. A node that is kept is offered only to
//! the queue it is kept for, until it is filled or given up.

use super::YarnCapacity;
use super::queues::CapacityQueues;
use super::settings::CapacitySettings;
use crate::event::YarnWait;
use crate::message::{AppId, AskPriority, NodeId};
use crate::scheduler::YarnScheduler;
use crate::scheduler::asks::{AskRow, Closeness};
use crate::scheduler::books::{ClusterBooks, ContainerGrant};
use crate::scheduler::tree::YarnQueueId;
use crate::size::YarnSize;

/// The result of an offer.
#[derive(Clone, Copy, Debug)]
struct QueueAssignment {
    size: YarnSize,
    closeness: Closeness,
}

/// One try to use a node.
#[derive(Clone, Copy, Debug)]
struct NodeTry {
    app: AppId,
    priority: AskPriority,
    node: NodeId,
    /// The container that the node is kept for, if it is.
    kept: Option<ContainerGrant>,
    /// How much of the application's reservations must be given up first.
    to_give_up: YarnSize,
}

impl QueueAssignment {
    const NOTHING: Self = Self { size: YarnSize::NONE, closeness: Closeness::Node };
}

impl YarnCapacity {
    pub(super) fn offer_node(&mut self, books: &mut ClusterBooks, node: NodeId) {
        books.begin_offer();
        if let Some(kept) = books.node(node).reservation {
            self.offer_kept(books, node, kept);
        }
        let entry = books.node(node);
        if entry.reservation.is_none()
            && 0 < self.calculator().containers(entry.free, books.limits.minimum)
        {
            self.offer_parent(books, CapacityQueues::ROOT, node, books.total);
        }
    }

    /// Offers a kept node to the application that it is kept for.
    fn offer_kept(&mut self, books: &mut ClusterBooks, node: NodeId, kept: ContainerGrant) {
        let ContainerGrant { id, priority, .. } = kept;
        let queue = self.apps[&id.app].queue;
        self.note_limit(books, queue, books.total);
        if books.app(id.app).asks.any(priority).count == 0 {
            if let Some(freed) = books.unreserve(node) {
                self.freed(books, &freed);
            }
        } else {
            let to_give_up = YarnSize::NONE;
            let kept = Some(kept);
            self.try_node(books, NodeTry { app: id.app, priority, node, kept, to_give_up });
        }
    }

    fn offer_parent(
        &mut self,
        books: &mut ClusterBooks,
        queue: YarnQueueId,
        node: NodeId,
        limit: YarnSize,
    ) -> QueueAssignment {
        let mut assignment = QueueAssignment::NOTHING;
        let minimum = books.limits.minimum;
        while books.node(node).reservation.is_none()
            && !self.is_more(books, minimum, books.node(node).free)
        {
            let may_have =
                self.excess(books, queue, limit, minimum, || self.reserved_in(books, queue));
            if may_have.is_none() {
                break;
            }
            let of_child = self.offer_children(books, queue, node, limit);
            assignment.closeness = of_child.closeness;
            if !self.calculator().is_some(books.total, of_child.size) {
                break;
            }
            assignment.size += of_child.size;
            if queue != CapacityQueues::ROOT || of_child.closeness == Closeness::Any {
                break;
            }
        }
        assignment
    }

    fn offer_children(
        &mut self,
        books: &mut ClusterBooks,
        queue: YarnQueueId,
        node: NodeId,
        limit: YarnSize,
    ) -> QueueAssignment {
        let mut assignment = QueueAssignment::NOTHING;
        for child in self.queues.by_used_capacity(queue) {
            let limit = self.limit_of_child(books, child, limit);
            assignment = match self.queues.get(child).is_leaf() {
                true => self.offer_leaf(books, child, node, limit),
                false => self.offer_parent(books, child, node, limit),
            };
            if self.calculator().is_some(books.total, assignment.size) {
                break;
            }
        }
        assignment
    }

    /// Returns how much a queue would be above its limit with so much more, if that can be given up
    /// first; `None` if the queue may not have it.
    fn excess(
        &self,
        books: &ClusterBooks,
        queue: YarnQueueId,
        limit: YarnSize,
        more: YarnSize,
        reserved: impl FnOnce() -> YarnSize,
    ) -> Option<YarnSize> {
        let calculator = self.calculator();
        let limit = calculator.min(books.total, self.maximum_of(books, queue), limit);
        let sum = self.queues.get(queue).used + more;
        if !self.is_more(books, sum, limit) {
            return Some(YarnSize::NONE);
        }
        if !self.settings.continues_looking {
            return None;
        }
        let reserved = reserved();
        let can_give_up =
            calculator.is_some(books.total, reserved) && self.is_more(books, limit, sum - reserved);
        can_give_up.then(|| sum - limit)
    }

    /// Returns what is kept for the applications of a queue and of those below.
    fn reserved_in(&self, books: &ClusterBooks, queue: YarnQueueId) -> YarnSize {
        let of = self.queues.get(queue);
        let children = of.children.iter().map(|child| self.reserved_in(books, *child));
        let own = of.active.iter().map(|app| books.app(*app).reserved);
        children.chain(own).fold(YarnSize::NONE, |sum, size| sum + size)
    }

    fn offer_leaf(
        &mut self,
        books: &mut ClusterBooks,
        queue: YarnQueueId,
        node: NodeId,
        limit: YarnSize,
    ) -> QueueAssignment {
        self.note_limit(books, queue, limit);
        let apps: Vec<AppId> = self.queues.get(queue).active.iter().copied().collect();
        for app in apps {
            let asks = &books.app(app).asks;
            let wanted = asks.priorities().filter(|priority| 0 < asks.any(*priority).count);
            let priorities: Vec<AskPriority> = wanted.collect();
            for priority in priorities {
                let size = books.app(app).asks.any(priority).size;
                if !self.settings.continues_looking
                    && !self.may_get_more(books, app, priority, size)
                {
                    books.note_wait(app, YarnWait::Room);
                    continue;
                }
                let user_limit = self.user_limit(books, app, size);
                let leaf = self.queues.get_mut(queue);
                leaf.current_limit = leaf.offered_limit;
                let excess = self.excess(books, queue, limit, size, || books.app(app).reserved);
                let Some(excess) = excess else {
                    // Nobody in the queue gets anything.
                    books.note_wait(app, YarnWait::QueueMaximum);
                    return QueueAssignment::NOTHING;
                };
                let Some(to_give_up) = self.user_excess(books, app, user_limit, excess) else {
                    books.note_wait(app, YarnWait::UserLimit);
                    break;
                };
                *books.app_mut(app).missed.entry(priority).or_default() += 1;
                let one = NodeTry { app, priority, node, kept: None, to_give_up };
                let assignment = self.try_node(books, one);
                if !self.calculator().is_some(books.total, assignment.size) {
                    // Lower priorities are not tried.
                    break;
                }
                self.charge(books, app, assignment.size);
                let resets = assignment.closeness == Closeness::Node
                    || assignment.closeness == Closeness::Rack && self.settings.resets_after_rack;
                if resets {
                    books.app_mut(app).missed.insert(priority, 0);
                }
                return assignment;
            }
        }
        QueueAssignment::NOTHING
    }

    /// Returns the limit of an application's user in its queue, for a container of a size.
    pub(super) fn user_limit(&self, books: &ClusterBooks, app: AppId, size: YarnSize) -> YarnSize {
        let (calculator, total) = (self.calculator(), books.total);
        let queue = self.apps[&app].queue;
        let leaf = self.queues.get(queue);
        let capacity = calculator.max(total, self.capacity_of(books, queue), size);
        let current =
            if self.is_more(books, capacity, leaf.used) { capacity } else { leaf.used + size };
        let users = books.asking_users(&leaf.path);
        let by_users = calculator.part_of(current, users);
        let percent = current.times(f64::from(leaf.user_limit_percent));
        let by_percent = calculator.part_of(percent, 100);
        let share = calculator.max(total, by_users, by_percent);
        let most = capacity.times(f64::from(leaf.user_limit_factor));
        let limit = calculator.min(total, share, most);
        calculator.rounded_up(limit, books.limits.minimum)
    }

    /// Returns how much must be given up so that a user stays within his limit, at least what the
    /// queue's limit demands; `None` if giving up does not help.
    fn user_excess(
        &self,
        books: &ClusterBooks,
        app: AppId,
        limit: YarnSize,
        excess: YarnSize,
    ) -> Option<YarnSize> {
        let entry = books.app(app);
        let used = self.queues.get(self.apps[&app].queue).user(&entry.user).used;
        if !self.is_more(books, used, limit) {
            return Some(excess);
        }
        let helps =
            self.settings.continues_looking && !self.is_more(books, used - entry.reserved, limit);
        helps.then(|| self.calculator().max(books.total, excess, used - limit))
    }

    /// Tries a node with the rows of its host, its rack, and all places.
    fn try_node(&mut self, books: &mut ClusterBooks, one: NodeTry) -> QueueAssignment {
        let NodeTry { app, priority, node, .. } = one;
        let places = books.node(node).places;
        let mut was_tried = false;
        for closeness in [Closeness::Node, Closeness::Rack, Closeness::Any] {
            let asks = &books.app(app).asks;
            let rack = asks.row(priority, places.rack);
            let row = match closeness {
                Closeness::Node => asks.row(priority, places.host),
                Closeness::Rack => rack,
                Closeness::Any => Some(asks.any(priority)),
            };
            let Some(row) = row else { continue };
            let has_rack = rack.is_some_and(|rack| 0 < rack.count);
            let may = match closeness {
                Closeness::Node => has_rack && 0 < row.count,
                Closeness::Rack => has_rack && self.has_missed_enough(books, one),
                Closeness::Any => one.kept.is_some() || self.may_go_anywhere(books, one, row),
            };
            was_tried |= may;
            let size = if may { self.assign(books, one, row, closeness) } else { YarnSize::NONE };
            if closeness == Closeness::Any && !was_tried {
                books.note_wait(app, YarnWait::Locality);
            }
            if closeness == Closeness::Any || self.calculator().is_some(books.total, size) {
                return QueueAssignment { size, closeness };
            }
        }
        QueueAssignment::NOTHING
    }

    fn has_missed_enough(&self, books: &ClusterBooks, one: NodeTry) -> bool {
        books.node_count.min(self.settings.node_locality_delay)
            < books.missed(one.app, one.priority)
    }

    fn may_go_anywhere(&self, books: &ClusterBooks, one: NodeTry, row: AskRow) -> bool {
        let places = books.app(one.app).asks.row_count(one.priority).saturating_sub(1);
        let factor = (places as f32 / books.node_count as f32).min(1.0);
        let wait = (books.node_count as f32).min(row.count as f32 * factor);
        wait < books.missed(one.app, one.priority) as f32
    }

    /// Returns whether an application wants more at a priority than is kept for it. The longer its
    /// reservations wait, the more it may have.
    fn may_get_more(
        &self,
        books: &ClusterBooks,
        app: AppId,
        priority: AskPriority,
        size: YarnSize,
    ) -> bool {
        let entry = books.app(app);
        let wanted = entry.asks.any(priority).count;
        let reserved = entry.reservations.get(&priority).map_or(0, |nodes| nodes.len() as i32);
        if reserved == 0 {
            return 0 < wanted;
        }
        let CapacitySettings { minimum, maximum, .. } = self.settings;
        let of_maximum = self.calculator().ratio(size, maximum);
        let step = self.calculator().ratio(maximum - minimum, maximum);
        let renewals = entry.renewals.get(&priority).copied().unwrap_or(0);
        let starved = renewals as f32 / reserved as f32 * (1.0 - of_maximum.min(step));
        0 < starved as i32 + wanted - reserved
    }

    /// Allocates a container of a row if it fits, or keeps the node for it; returns the size that
    /// this takes.
    fn assign(
        &mut self,
        books: &mut ClusterBooks,
        NodeTry { app, priority, node, kept, to_give_up }: NodeTry,
        AskRow { size, .. }: AskRow,
        closeness: Closeness,
    ) -> YarnSize {
        let entry = books.node(node);
        if self.is_more(books, size, entry.size) {
            books.note_wait(app, YarnWait::Room);
            return YarnSize::NONE;
        }
        let fits = 0 < self.calculator().containers(entry.free, size);
        // A number is used up, whatever comes of it.
        let grant = kept.unwrap_or_else(|| {
            let id = books.next_container(app);
            ContainerGrant { id, size, priority }
        });
        let may_get_more = self.may_get_more(books, app, priority, size);
        let must_give_up = self.calculator().is_some(books.total, to_give_up);
        if fits {
            if kept.is_some() {
                // It was charged when it was made, and stays charged.
                books.unreserve(node);
            } else if self.settings.continues_looking && (!may_get_more || must_give_up) {
                let amount = if must_give_up { to_give_up } else { size };
                if !self.give_up(books, app, priority, amount) {
                    books.note_wait(app, YarnWait::Room);
                    return YarnSize::NONE;
                }
            }
            let has_rows = books.allocate(node, grant, closeness);
            assert!(has_rows, "{}: the rows of {:?} were there", books.now, grant.id);
            return grant.size;
        }
        books.note_wait(app, YarnWait::Room);
        let is_pointless = self.settings.continues_looking && kept.is_none() && must_give_up;
        if (may_get_more || kept.is_some()) && !is_pointless {
            books.reserve(node, grant);
            return size;
        }
        YarnSize::NONE
    }

    /// Gives up the first of an application's reservations that is large enough, by name of the
    /// node.
    fn give_up(
        &mut self,
        books: &mut ClusterBooks,
        app: AppId,
        priority: AskPriority,
        amount: YarnSize,
    ) -> bool {
        let kept = books.app(app).reservations.get(&priority);
        let nodes: Vec<NodeId> = kept.into_iter().flat_map(|kept| kept.values()).copied().collect();
        let large_enough = nodes.into_iter().find(|node| {
            let kept = books.node(*node).reservation;
            kept.is_some_and(|kept| !self.is_more(books, amount, kept.size))
        });
        let Some(node) = large_enough else { return false };
        let freed = books.unreserve(node);
        freed.iter().for_each(|freed| self.freed(books, freed));
        freed.is_some()
    }
}
