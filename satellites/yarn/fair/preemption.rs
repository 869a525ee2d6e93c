//! Preemption under the fair scheduler: queues that were starved for too long take containers from
//! others.
//!
//! A container is warned first, and killed when it was warned long enough ago and its memory is
//! still wanted. Choosing goes from the root down to the child that is *last* in the order of
//! offers, but never into a queue within its fair share; there it takes the newest container of
//! the least important priority.

use super::YarnFair;
use super::order::FairPolicy;
use super::queues::FairQueues;
use crate::message::{AppId, ContainerEnd, ContainerId};
use crate::scheduler::books::{ClusterBooks, ContainerState};
use crate::scheduler::end_container;
use crate::scheduler::tree::YarnQueueId;
use crate::size::YarnSize;

impl YarnFair {
    /// Stamps the queues that have their shares, as the last update has computed these.
    pub(super) fn note_fed_queues(&mut self, books: &ClusterBooks) {
        let now = books.now.as_millis();
        for id in self.queues.leaves() {
            let queue = self.queues.get_mut(id);
            let targets = [queue.set.min, queue.share.times(f64::from(queue.set.threshold))];
            for (which, target) in targets.into_iter().enumerate() {
                let is_starved = queue.usage.memory < target.memory.min(queue.demand.memory);
                if !is_starved {
                    queue.fed_at[which] = now;
                }
            }
        }
    }

    /// Warns and kills, if the cluster is busy enough.
    pub(super) fn preempt(&mut self, books: &mut ClusterBooks) {
        let [memory, cores] = [
            books.used.memory as f32 / books.total.memory as f32,
            books.used.cores as f32 / books.total.cores as f32,
        ];
        let now = books.now.as_millis();
        let is_busy = self.settings.preemption_utilization < memory.max(cores);
        let is_due = self.settings.preemption_interval_ms <= now - self.last_preemption;
        if !self.settings.preempts || !is_busy || !is_due {
            return;
        }
        self.last_preemption = now;
        let leaves = self.queues.leaves();
        let wanted: i32 = leaves.iter().map(|id| self.starvation(*id, now)).sum();
        if 0 < wanted {
            self.take_memory(books, wanted);
        }
    }

    /// Returns the memory that a starved queue may take from others.
    fn starvation(&self, id: YarnQueueId, now: u64) -> i32 {
        let queue = self.queues.get(id);
        let missing =
            [queue.set.min, queue.share].into_iter().enumerate().map(|(which, target)| {
                let is_late = queue.set.timeouts_ms[which] < now - queue.fed_at[which];
                let target = target.memory.min(queue.demand.memory);
                if is_late { target - queue.usage.memory } else { 0 }
            });
        missing.fold(0, i32::max)
    }

    fn take_memory(&mut self, books: &mut ClusterBooks, mut wanted: i32) {
        for id in std::mem::take(&mut self.warned) {
            let Some(live) = books.app(id.app).live.get(&id.number) else { continue };
            let is_acquired = matches!(live.state, ContainerState::Acquired(_));
            if !is_acquired && 0 < wanted {
                wanted -= live.size.memory;
                self.warned.push(id);
                self.warn_or_kill(books, id);
            }
        }
        self.discount_warned(books);
        while 0 < wanted
            && let Some(id) = self.choose(books, FairQueues::ROOT)
        {
            wanted -= books.app(id.app).live[&id.number].size.memory;
            self.warn_or_kill(books, id);
            self.warned.push(id);
        }
        self.count_warned_again();
    }

    fn warn_or_kill(&mut self, books: &mut ClusterBooks, id: ContainerId) {
        let now = books.now.as_millis();
        let wait = self.settings.wait_before_kill_ms;
        let size = books.app(id.app).live[&id.number].size;
        let app = self.app_mut(id.app);
        if let Some(since) = app.warned.get(&id.number) {
            if since + wait < now {
                end_container(self, books, id, ContainerEnd::Killed);
            }
        } else {
            app.warned.insert(id.number, now);
            self.discount(id.app, size);
        }
    }

    fn discount(&mut self, id: AppId, size: YarnSize) {
        let app = self.app_mut(id);
        app.discounted += size;
        let queue = app.queue;
        self.queues.free_usage(queue, size);
    }

    /// Takes what is warned off the usage of applications that may run.
    fn discount_warned(&mut self, books: &ClusterBooks) {
        for leaf in self.queues.leaves() {
            for id in self.queues.get(leaf).runnable.clone() {
                let live = &books.app(id).live;
                let warned = self.app(id).warned.keys().filter_map(|number| live.get(number));
                let size = warned.fold(YarnSize::NONE, |sum, container| sum + container.size);
                self.discount(id, size);
            }
        }
    }

    fn count_warned_again(&mut self) {
        for leaf in self.queues.leaves() {
            for id in self.queues.get(leaf).runnable.clone() {
                let size = std::mem::take(&mut self.app_mut(id).discounted);
                self.queues.add_usage(leaf, size);
            }
        }
    }

    /// Chooses the next container to warn; `None` ends the choice.
    fn choose(&self, books: &ClusterBooks, id: YarnQueueId) -> Option<ContainerId> {
        let queue = self.queues.get(id);
        if !queue.is_leaf {
            let children = queue.children.iter().map(|child| self.queues.contender(*child));
            return self.choose(books, queue.set.policy.last(books.total, children)?);
        }
        let above = self.queues.get(self.queues.parent(id)?);
        let is_over = match above.set.policy {
            FairPolicy::Dominant => !queue.usage.fits_in(queue.share),
            FairPolicy::Fair | FairPolicy::Fifo => queue.share.memory < queue.usage.memory,
        };
        if !is_over {
            return None;
        }
        let apps = queue.runnable.iter().map(|app| self.app_contender(books, *app));
        let app = queue.set.policy.last(books.total, apps)?;
        let live = books.app(app).live.iter();
        let unwarned = live.filter(|(number, _)| !self.app(app).warned.contains_key(number));
        let (number, _) =
            unwarned.max_by_key(|(number, container)| (container.priority, **number))?;
        Some(ContainerId { app, number: *number })
    }
}
