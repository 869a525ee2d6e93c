//! The preemption monitor of the capacity scheduler.
//!
//! Each round it computes what each queue would have ideally: first what is its own, then what is
//! left, by share, to those that are short of it the most. A queue loses all that it has
//! above that, a part each round: containers are marked first, and killed when they were marked long
//! enough ago and are still chosen.

use super::YarnCapacity;
use super::queues::CapacityQueues;
use crate::message::{AppId, ContainerEnd, ContainerId, NodeId};
use crate::scheduler::books::ClusterBooks;
use crate::scheduler::tree::YarnQueueId;
use crate::scheduler::{YarnScheduler, end_container};
use crate::size::{SizeCalculator, YarnSize};

/// A queue, as the monitor sees it in one round.
#[derive(Debug)]
struct IdealQueue {
    id: YarnQueueId,
    current: YarnSize,
    pending: YarnSize,
    guaranteed: YarnSize,
    maximum: YarnSize,
    /// The excess over its guarantee that it may keep, or may lose.
    kept_extra: YarnSize,
    lost_extra: YarnSize,
    ideal: YarnSize,
    /// The size that shall be taken from it.
    surplus: YarnSize,
    /// Its part of what is left to those in need.
    weight: f64,
    children: Vec<Self>,
}

/// The choice of a round.
#[derive(Debug, Default)]
struct PreemptionChoice {
    reservations: Vec<NodeId>,
    containers: Vec<ContainerId>,
}

/// How amounts are compared: the calculator, and the cluster.
#[derive(Clone, Copy, Debug)]
struct Scale(SizeCalculator, YarnSize);

impl Scale {
    fn is_more(self, one: YarnSize, other: YarnSize) -> bool {
        self.0.compare(self.1, one, other).is_gt()
    }

    /// Returns how much of its guarantee a queue would have.
    fn fullness(self, queue: &IdealQueue) -> f64 {
        match self.is_more(queue.guaranteed, YarnSize::NONE) {
            true => f64::from(self.0.quotient(self.1, queue.ideal, queue.guaranteed)),
            false => f64::from(i32::MAX),
        }
    }
}

impl YarnCapacity {
    /// Does a round of the monitor.
    pub(super) fn preempt(&mut self, books: &mut ClusterBooks) {
        let settings = self.settings;
        let scale = Scale(self.calculator(), books.total);
        let mut root = self.ideal_queue(books, CapacityQueues::ROOT);
        root.ideal = root.guaranteed;
        let allowed = books.total.times(f64::from(settings.total_per_round));
        share_out(scale, &mut root, allowed);
        let mut choice = PreemptionChoice::default();
        self.choose(books, &root, &mut choice);
        if settings.is_observer {
            return;
        }
        for node in choice.reservations {
            if let Some(freed) = books.unreserve(node) {
                self.freed(books, &freed);
            }
        }
        let (now, wait) = (books.now.as_millis(), settings.max_wait_before_kill_ms);
        for id in choice.containers {
            if self.marked.get(&id).is_some_and(|since| since + wait < now) {
                self.marked.remove(&id);
                end_container(self, books, id, ContainerEnd::Killed);
            } else {
                self.marked.entry(id).or_insert(now);
            }
        }
        self.marked.retain(|_, since| now <= *since + 2 * wait);
    }

    fn ideal_queue(&self, books: &ClusterBooks, id: YarnQueueId) -> IdealQueue {
        let scale = Scale(self.calculator(), books.total);
        let queue = self.queues.get(id);
        let guaranteed = books.total.times(f64::from(queue.capacity));
        let is_above = scale.is_more(queue.used, guaranteed);
        let extra = if is_above { queue.used - guaranteed } else { YarnSize::NONE };
        let children: Vec<IdealQueue> =
            queue.children.iter().map(|child| self.ideal_queue(books, *child)).collect();
        let is_leaf = queue.is_leaf();
        let lost_below = children.iter().fold(YarnSize::NONE, |sum, it| sum + it.lost_extra);
        let kept_extra = match is_leaf {
            true if queue.is_preemption_disabled => extra,
            false if scale.is_more(extra, lost_below) => extra - lost_below,
            _ => YarnSize::NONE,
        };
        IdealQueue {
            id,
            current: queue.used,
            pending: match is_leaf {
                true => self.pending(books, id),
                false => children.iter().fold(YarnSize::NONE, |sum, it| sum + it.pending),
            },
            guaranteed,
            maximum: books.total.times(f64::from(queue.max_capacity)),
            kept_extra,
            // A parent hands nothing on here, as in Hadoop.
            lost_extra: match is_leaf && !queue.is_preemption_disabled {
                true => extra,
                false => YarnSize::NONE,
            },
            ideal: YarnSize::NONE,
            surplus: YarnSize::NONE,
            weight: f64::NAN,
            children,
        }
    }

    /// Returns what the active applications of a leaf want, as far as their users may have it.
    fn pending(&self, books: &ClusterBooks, queue: YarnQueueId) -> YarnSize {
        let leaf = self.queues.get(queue);
        let mut left: Vec<(&str, YarnSize)> = Vec::new();
        let mut pending = YarnSize::NONE;
        for app in &leaf.active {
            let entry = books.app(*app);
            let user = entry.user.as_str();
            let place = left.iter().position(|(of, _)| *of == user).unwrap_or_else(|| {
                let limit = self.user_limit(books, *app, books.limits.minimum);
                left.push((user, (limit - leaf.user(user).used).most(YarnSize::NONE)));
                left.len() - 1
            });
            let wanted = left[place].1.least(entry.asks.wanted());
            left[place].1 -= wanted;
            pending += wanted;
        }
        pending
    }

    fn choose(&self, books: &ClusterBooks, queue: &IdealQueue, choice: &mut PreemptionChoice) {
        let settings = self.settings;
        if !queue.children.is_empty() {
            queue.children.iter().for_each(|child| self.choose(books, child, choice));
            return;
        }
        let scale = Scale(self.calculator(), books.total);
        let of = self.queues.get(queue.id);
        let ignored = queue.guaranteed.times(1.0 + settings.max_ignored);
        if of.is_preemption_disabled || !scale.is_more(queue.current, ignored) {
            return;
        }
        let mut wanted = queue.surplus.times(settings.natural_termination);
        let mut masters = Vec::new();
        for app in of.active.iter().rev() {
            if scale.is_more(wanted, YarnSize::NONE) {
                take_from(scale, books, *app, &mut wanted, choice, &mut masters);
            }
        }
        // Masters go last, and only those above what masters may have in the queue.
        let share = books.total.times(f64::from(of.capacity));
        let limit = share.times(f64::from(of.max_master_share));
        let mut held = masters.iter().fold(YarnSize::NONE, |sum, (_, size)| sum + *size);
        for (id, size) in masters {
            if !scale.is_more(wanted, YarnSize::NONE) || !scale.is_more(held, limit) {
                break;
            }
            choice.containers.push(id);
            wanted -= size;
            held -= size;
        }
    }
}

/// Chooses from one application: its reservations, then its containers, the least important and
/// newest first. Masters are only listed.
fn take_from(
    scale: Scale,
    books: &ClusterBooks,
    app: AppId,
    wanted: &mut YarnSize,
    choice: &mut PreemptionChoice,
    masters: &mut Vec<(ContainerId, YarnSize)>,
) {
    for node in books.reserved_nodes(app) {
        if !scale.is_more(*wanted, YarnSize::NONE) {
            return;
        }
        choice.reservations.push(node);
        *wanted -= books.node(node).reservation.map_or(YarnSize::NONE, |kept| kept.size);
    }
    let entry = books.app(app);
    let mut live: Vec<_> = entry.live.iter().collect();
    live.sort_by_key(|(number, container)| (-container.priority, u32::MAX - **number));
    for (number, container) in live {
        if !scale.is_more(*wanted, YarnSize::NONE) {
            return;
        }
        let id = ContainerId { app, number: *number };
        if entry.master_container == Some(*number) {
            masters.push((id, container.size));
            continue;
        }
        choice.containers.push(id);
        *wanted -= container.size;
    }
}

/// Computes the ideal of all queues below one, and what to take from each.
fn share_out(scale: Scale, queue: &mut IdealQueue, allowed: YarnSize) {
    let Scale(calculator, _) = scale;
    if queue.children.is_empty() {
        return;
    }
    // Shares below a queue are counted against its own ideal.
    let scale = Scale(calculator, queue.ideal);
    let mut left = queue.ideal;
    for is_rest in [false, true] {
        let of_kind = queue.children.iter_mut().filter(|child| {
            let has_guarantee = scale.is_more(child.guaranteed, YarnSize::NONE);
            has_guarantee != is_rest
        });
        let mut of_kind: Vec<&mut IdealQueue> = of_kind.collect();
        if !is_rest || !of_kind.is_empty() && scale.is_more(left, YarnSize::NONE) {
            fill(scale, &mut of_kind, &mut left, is_rest);
        }
    }
    let above = queue.children.iter().filter(|it| scale.is_more(it.current, it.ideal));
    let needed = above.fold(YarnSize::NONE, |sum, it| sum + (it.current - it.ideal));
    let factor = match scale.is_more(needed, allowed) {
        true => calculator.quotient(scale.1, allowed, needed),
        false => 1.0,
    };
    for child in &mut queue.children {
        if scale.is_more(child.current, child.ideal) {
            child.surplus = (child.current - child.ideal).times(f64::from(factor));
        }
        share_out(scale, child, allowed);
    }
}

/// Gives each queue its own, and then what is left to those in need.
fn fill(scale: Scale, queues: &mut [&mut IdealQueue], left: &mut YarnSize, is_rest: bool) {
    let Scale(calculator, cluster) = scale;
    let mut in_need = Vec::new();
    for (place, queue) in queues.iter_mut().enumerate() {
        let is_above = scale.is_more(queue.current, queue.guaranteed);
        let own = queue.guaranteed + queue.kept_extra;
        queue.ideal = if is_above { own } else { queue.current };
        *left -= queue.ideal;
        if scale.is_more(queue.current + queue.pending, queue.ideal) {
            in_need.push(place);
        }
    }
    while !in_need.is_empty() && scale.is_more(*left, YarnSize::NONE) {
        let guarantees = in_need.iter().map(|place| queues[*place].guaranteed);
        let active = guarantees.fold(YarnSize::NONE, |sum, size| sum + size);
        for place in &in_need {
            queues[*place].weight = f64::from(match is_rest {
                true => 1.0 / in_need.len() as f32,
                false => calculator.quotient(*left, queues[*place].guaranteed, active),
            });
        }
        let all = in_need.iter().map(|place| scale.fullness(queues[*place]));
        let least = all.min_by(f64::total_cmp).unwrap_or(0.0);
        let underserved: Vec<usize>;
        (underserved, in_need) =
            in_need.into_iter().partition(|place| scale.fullness(queues[*place]) <= least);
        let mut given = YarnSize::NONE;
        for place in underserved {
            let queue = &mut *queues[place];
            let offer = calculator.times_up(*left, queue.weight, YarnSize::new(1, 1));
            let room = (queue.maximum - queue.ideal).most(YarnSize::NONE);
            let need = queue.current + queue.pending - queue.ideal;
            let taken = calculator.min(cluster, room, calculator.min(cluster, offer, need));
            queue.ideal += taken;
            given += taken;
            // A queue that takes nothing is in need no more.
            if scale.is_more(taken, YarnSize::NONE) {
                in_need.push(place);
            }
        }
        *left -= given;
    }
}
