//! Which applications of a queue may begin, by what their masters take.
//!
//! An application that is not active gets nothing, not even its master's container. The queue's
//! limit for masters follows the limit of the queue itself, as of the last time that one of its
//! applications was looked at.

use super::YarnCapacity;
use crate::scheduler::YarnScheduler;
use crate::scheduler::books::ClusterBooks;
use crate::scheduler::tree::YarnQueueId;
use crate::size::YarnSize;

impl YarnCapacity {
    /// Lets waiting applications begin, by number, as far as the limits for masters allow; the
    /// first one of a queue always may.
    pub(super) fn activate(&mut self, books: &mut ClusterBooks, queue: YarnQueueId) {
        let calculator = self.calculator();
        let step = books.limits.minimum;
        let leaf = self.queues.get(queue);
        let capacity = self.capacity_of(books, queue);
        let current = calculator.max(books.total, capacity, leaf.current_limit);
        let limit = calculator.times_up(current, f64::from(leaf.max_master_share), step);
        let users = books.asking_users(&leaf.path).max(1);
        let user_share = (leaf.user_limit_percent as f32 / 100.0).max(1.0 / users as f32);
        let factor = leaf.max_master_share * user_share * leaf.user_limit_factor;
        let user_limit = calculator.times_up(capacity, f64::from(factor), step);
        for id in leaf.pending.clone() {
            let (user, master) = (&books.app(id).user, self.apps[&id].master);
            let leaf = self.queues.get(queue);
            let is_over = self.is_more(books, master + leaf.masters, limit)
                || self.is_more(books, master + leaf.user(user).masters, user_limit);
            if is_over && !leaf.active.is_empty() {
                continue;
            }
            let leaf = self.queues.get_mut(queue);
            leaf.pending.remove(&id);
            leaf.active.insert(id);
            leaf.masters += master;
            leaf.user_mut(user).masters += master;
            if let Some(app) = self.apps.get_mut(&id) {
                app.is_active = true;
            }
            books.hold(id, false);
        }
    }

    /// Returns a queue's share of the cluster, in whole steps.
    pub(super) fn capacity_of(&self, books: &ClusterBooks, queue: YarnQueueId) -> YarnSize {
        let capacity = f64::from(self.queues.get(queue).capacity);
        self.calculator().times_up(books.total, capacity, books.limits.minimum)
    }

    /// Returns the most that a queue may have by its settings, in whole steps.
    pub(super) fn maximum_of(&self, books: &ClusterBooks, queue: YarnQueueId) -> YarnSize {
        let max = f64::from(self.queues.get(queue).max_capacity);
        self.calculator().times_down(books.total, max, books.limits.minimum)
    }

    /// Returns the limit of a queue, from that of its parent and what the others use.
    pub(super) fn limit_of_child(
        &self,
        books: &ClusterBooks,
        child: YarnQueueId,
        parent_limit: YarnSize,
    ) -> YarnSize {
        let calculator = self.calculator();
        let parent = self.queues.parent(child);
        let above = parent.map_or(YarnSize::NONE, |parent| self.queues.get(parent).used);
        let left = parent_limit - above + self.queues.get(child).used;
        let limit = calculator.min(books.total, left, self.maximum_of(books, child));
        calculator.rounded_down(limit, books.limits.minimum)
    }

    /// Notes the limit with which a leaf is offered something.
    pub(super) fn note_limit(&mut self, books: &ClusterBooks, queue: YarnQueueId, limit: YarnSize) {
        let most = self.maximum_of(books, queue);
        self.queues.get_mut(queue).offered_limit = self.calculator().min(books.total, most, limit);
    }

    /// Sets all limits anew after the cluster has changed.
    pub(super) fn set_limits(
        &mut self,
        books: &mut ClusterBooks,
        queue: YarnQueueId,
        limit: YarnSize,
    ) {
        if self.queues.get(queue).is_leaf() {
            self.note_limit(books, queue, limit);
            let leaf = self.queues.get_mut(queue);
            leaf.current_limit = leaf.offered_limit;
            self.activate(books, queue);
        }
        for child in self.queues.by_used_capacity(queue) {
            let of_child = self.limit_of_child(books, child, limit);
            self.set_limits(books, child, of_child);
        }
    }
}
