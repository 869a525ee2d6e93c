//! Demands and fair shares, computed anew at each update.
//!
//! A share is the weight times a ratio that is the same for all, within minimum and maximum. The
//! ratio is found by halving, 25 times, so shares are those of Hadoop to the MiB. Their sum may be a
//! few MiB more than there is.

use super::YarnFair;
use super::order::FairPolicy;
use super::queues::FairQueues;
use crate::message::AppId;
use crate::scheduler::books::ClusterBooks;
use crate::scheduler::tree::YarnQueueId;
use crate::size::YarnSize;

/// A queue or an application that gets a share.
#[derive(Clone, Copy, Debug)]
struct ShareTaker {
    weight: f32,
    min: i32,
    max: i32,
    /// Whether it is a queue in which nothing runs.
    is_idle: bool,
    share: i32,
}

impl ShareTaker {
    /// Returns the share that does not depend on others; `None` if it does.
    fn fixed(&self) -> Option<i32> {
        if self.max <= 0 || self.is_idle {
            Some(0)
        } else {
            (self.weight <= 0.0).then(|| self.min.max(0))
        }
    }

    fn at(&self, ratio: f64) -> i32 {
        let share = f64::from(self.weight) * ratio;
        share.max(f64::from(self.min)).min(f64::from(self.max)) as i32
    }
}

fn used(takers: &[&mut ShareTaker], ratio: f64) -> i32 {
    takers.iter().fold(0, |sum, taker| sum.wrapping_add(taker.at(ratio)))
}

/// Sets all shares of one resource, of which there is so much.
fn share_out(takers: &mut [ShareTaker], total: i32) {
    const HALVINGS: u32 = 25;
    let mut fixed = 0_i32;
    let mut rest = Vec::new();
    for taker in takers {
        if let Some(share) = taker.fixed() {
            taker.share = share;
            fixed = fixed.saturating_add(share);
        } else {
            rest.push(taker);
        }
    }
    if rest.is_empty() {
        return;
    }
    let maxima = rest.iter().fold(0_i32, |sum, taker| sum.saturating_add(taker.max));
    let total = (total - fixed).max(0).min(maxima);
    let mut right = 1.0;
    while used(&rest, right) < total {
        right *= 2.0;
    }
    let mut left = 0.0;
    for _ in 0..HALVINGS {
        let middle = (left + right) / 2.0;
        let planned = used(&rest, middle);
        if planned < total {
            left = middle;
        } else {
            right = middle;
        }
        if planned == total {
            break;
        }
    }
    rest.into_iter().for_each(|taker| taker.share = taker.at(right));
}

impl YarnFair {
    /// Computes all demands and shares.
    pub(super) fn update(&mut self, books: &ClusterBooks) {
        self.note_fed_queues(books);
        self.update_demand(books, FairQueues::ROOT);
        self.queues.get_mut(FairQueues::ROOT).share = books.total;
        self.update_shares(FairQueues::ROOT);
    }

    fn update_demand(&mut self, books: &ClusterBooks, id: YarnQueueId) {
        let max = self.queues.get(id).set.max;
        let mut demand = YarnSize::NONE;
        if self.queues.get(id).is_leaf {
            let queue = self.queues.get(id);
            let apps = [&queue.runnable[..], &queue.waiting].concat();
            for app in apps {
                // A queue at its maximum looks no further: the demands of the others stay old.
                if demand == max {
                    break;
                }
                demand = (demand + self.update_app_demand(books, app)).least(max);
            }
        } else {
            for child in self.queues.get(id).children.clone() {
                self.update_demand(books, child);
                demand = (demand + self.queues.get(child).demand).least(max);
                if demand == max {
                    break;
                }
            }
        }
        self.queues.get_mut(id).demand = demand;
    }

    /// Sums up all rows: a container that is wanted on a host counts three times.
    fn update_app_demand(&mut self, books: &ClusterBooks, id: AppId) -> YarnSize {
        let entry = books.app(id);
        let rows = entry.asks.rows();
        let demand = rows.fold(entry.used, |sum, row| sum + row.size.repeated(row.count));
        self.app_mut(id).demand = demand;
        demand
    }

    fn update_shares(&mut self, id: YarnQueueId) {
        let queue = self.queues.get(id);
        let (policy, total) = (queue.set.policy, queue.share);
        if queue.is_leaf {
            let apps = queue.runnable.clone();
            if policy == FairPolicy::Fifo {
                // The first in the list wins a tie.
                let earliest = apps.iter().copied().min_by_key(|app| self.app(*app).start);
                if let Some(app) = earliest {
                    self.app_mut(app).share = total;
                }
                return;
            }
            let weights: Vec<f32> =
                apps.iter().map(|app| self.app_weight(self.app(*app))).collect();
            for is_memory in resources(policy) {
                let free =
                    ShareTaker { weight: 0.0, min: 0, max: i32::MAX, is_idle: false, share: 0 };
                let mut takers: Vec<ShareTaker> =
                    weights.iter().map(|weight| ShareTaker { weight: *weight, ..free }).collect();
                share_out(&mut takers, amount(total, *is_memory));
                for (app, taker) in apps.iter().zip(takers) {
                    set_amount(&mut self.app_mut(*app).share, *is_memory, taker.share);
                }
            }
            return;
        }
        let children = queue.children.clone();
        for is_memory in resources(policy) {
            let takers = children.iter().map(|child| {
                let child = self.queues.get(*child);
                let [min, max] =
                    [child.set.min, child.set.max].map(|size| amount(size, *is_memory));
                ShareTaker {
                    weight: child.set.weight,
                    min,
                    max,
                    is_idle: child.running == 0,
                    share: 0,
                }
            });
            let mut takers: Vec<ShareTaker> = takers.collect();
            share_out(&mut takers, amount(total, *is_memory));
            for (child, taker) in children.iter().zip(takers) {
                set_amount(&mut self.queues.get_mut(*child).share, *is_memory, taker.share);
            }
        }
        children.into_iter().for_each(|child| self.update_shares(child));
    }
}

/// Returns which resources a policy shares out: memory, and under `drf` cores, too.
fn resources(policy: FairPolicy) -> &'static [bool] {
    match policy {
        FairPolicy::Dominant => &[true, false],
        FairPolicy::Fair | FairPolicy::Fifo => &[true],
    }
}

fn amount(size: YarnSize, is_memory: bool) -> i32 {
    if is_memory { size.memory } else { size.cores }
}

fn set_amount(size: &mut YarnSize, is_memory: bool, amount: i32) {
    *(if is_memory { &mut size.memory } else { &mut size.cores }) = amount;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(takers: &[(f32, i32, i32)], total: i32) -> Vec<i32> {
        let taker = |(weight, min, max)| ShareTaker { weight, min, max, is_idle: false, share: 0 };
        let mut takers: Vec<ShareTaker> = takers.iter().copied().map(taker).collect();
        share_out(&mut takers, total);
        takers.iter().map(|taker| taker.share).collect()
    }

    #[test]
    fn shares_go_by_weight_and_are_rounded_together() {
        assert_eq!(shares(&[(1.0, 0, i32::MAX), (2.0, 0, i32::MAX)], 300), [100, 200]);
        assert_eq!(shares(&[(1.0, 0, i32::MAX); 3], 100), [34; 3], "33 each would be too little");
    }

    #[test]
    fn minimum_and_maximum_bound_a_share() {
        assert_eq!(shares(&[(1.0, 80, i32::MAX), (1.0, 0, i32::MAX)], 100), [80, 20]);
        assert_eq!(shares(&[(1.0, 0, 10), (1.0, 0, i32::MAX)], 100), [10, 90]);
    }

    #[test]
    fn a_queue_without_weight_gets_its_minimum_first() {
        assert_eq!(shares(&[(0.0, 30, i32::MAX), (1.0, 0, i32::MAX)], 100), [30, 70]);
        assert_eq!(shares(&[(1.0, 0, 0), (1.0, 0, i32::MAX)], 100), [0, 100]);
    }
}
