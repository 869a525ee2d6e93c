//! Hadoop's capacity reclaim, up to 0.20.0: a queue gets back the slots that it has lent to others.
//!
//! If other queues have more than their guaranteed slots, a queue with fewer that could use more
//! makes a claim. While its claim lasts, it is served first. Shortly before the claim is due, the
//! policy kills attempts for the slots that are still missing. Each queue above its guaranteed
//! slots gives up slots in proportion to its excess: attempts of its latest jobs first, and within
//! a job the attempts with the least progress.

use std::collections::VecDeque;

use super::node::QueueId;
use super::tree::QueueTree;
use crate::scheduler::shared::launches::Launches;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{AttemptId, JobId, Orders, PerSlot, Reason, SlotKind, View};

/// Tasks are killed this many heartbeat intervals before a claim is due; if checks are rarer, at
/// the last check before the claim is due.
// As in 0.20.0: a kill takes two intervals to free a slot.
const BEFORE: u64 = 3;

/// The claims of all queues, and the running attempts that may be killed for them.
#[derive(Debug, Default)]
pub(super) struct Reclaim {
    /// The claims of each queue, by the queue's number; the earliest claim is first.
    claims: Vec<PerSlot<VecDeque<ReclaimedSlots>>>,
    /// The running attempts; the note of one ordered to end holds its queue and slots.
    pub(super) launches: Launches<(QueueId, u32)>,
}

/// A claim: the slots that a queue should get back, and when.
#[derive(Clone, Copy, Debug)]
struct ReclaimedSlots {
    due: SimTime,
    slots: u32,
    /// Whether tasks have been killed for this claim.
    is_helped: bool,
}

impl Reclaim {
    pub(super) fn new(queues: usize) -> Self {
        let claims = (0..queues).map(|_| PerSlot::default()).collect();
        Self { claims, ..Self::default() }
    }

    /// Updates the claims at the interval `every`, and kills for those that are due soon.
    pub(super) fn look(&mut self, orders: &mut Orders<'_>, tree: &mut QueueTree, every: SimSpan) {
        for kind in SlotKind::BOTH {
            self.claim(&orders.view(), tree, kind);
            let needed = self.needed(&orders.view(), kind, every);
            if 0 < needed {
                self.kill(orders, tree, kind, needed);
            }
        }
    }

    /// Adapts the claims of each queue to the number of slots that the queue lacks.
    fn claim(&mut self, view: &View<'_>, tree: &mut QueueTree, kind: SlotKind) {
        let leaves: Vec<QueueId> = tree.ids().filter(|id| tree.is_leaf(*id)).collect();
        let somebody_has_more = leaves.iter().any(|id| 0 < excess(tree, *id, kind));
        for id in leaves {
            let node = tree.node(id);
            // Without a time limit, the queue waits until tasks of other queues end.
            let Some(after) = node.reclaim_after else { continue };
            let lacks = u64::from(node.slots[kind].saturating_sub(node.used[kind]));
            let wanted = lacks.min(tree.usable(id, kind)) as u32;
            let claims = &mut self.claims[id.index()][kind];
            // The queue makes a new claim to the slots that it still lacks.
            claims.retain(|claim| view.now() <= claim.due);
            let mut claimed: u32 = claims.iter().map(|claim| claim.slots).sum();
            while let Some(first) = claims.front_mut().filter(|_| wanted < claimed) {
                let less = first.slots.min(claimed - wanted);
                first.slots -= less;
                claimed -= less;
                if first.slots == 0 {
                    claims.pop_front();
                }
            }
            // If no queue is above its guaranteed slots, no queue could meet a claim.
            if claimed < wanted && somebody_has_more {
                let (due, slots) = (view.now() + after, wanted - claimed);
                claims.push_back(ReclaimedSlots { due, slots, is_helped: false });
            }
            // All claims of a queue have the same time limit, so the first one is due first.
            let due = claims.front().map(|claim| claim.due);
            tree.note_due(id, kind, due);
        }
    }

    fn needed(&mut self, view: &View<'_>, kind: SlotKind, every: SimSpan) -> u32 {
        // Look ahead at least until the next check; otherwise a claim could become due in between.
        let soon = view.now() + (view.heartbeat_interval() * BEFORE).max(every);
        let all = self.claims.iter_mut().flat_map(|claims| &mut claims[kind]);
        let due = all.filter(|claim| claim.due <= soon && !claim.is_helped);
        due.map(|claim| {
            // A kill takes effect later: the next check must not kill for the claim again.
            claim.is_helped = true;
            claim.slots
        })
        .sum()
    }

    /// Kills attempts of queues above their guaranteed slots, in proportion to their excess.
    fn kill(&mut self, orders: &mut Orders<'_>, tree: &QueueTree, kind: SlotKind, needed: u32) {
        let leaves = tree.ids().filter(|id| tree.is_leaf(*id));
        // The slots of attempts that are already ordered to end do not count as excess.
        let rich = leaves.map(|id| {
            let here = self.launches.ordered_ends(kind).filter(|(queue, _)| *queue == id);
            let doomed = here.map(|(_, slots)| slots).sum();
            (id, excess(tree, id, kind).saturating_sub(doomed))
        });
        let rich: Vec<(QueueId, u32)> = rich.filter(|(_, excess)| 0 < *excess).collect();
        let total: u32 = rich.iter().map(|(_, excess)| excess).sum();
        let needed = needed.min(total);
        // Wide tasks may not add up to a queue's part: the next queue gives up the rest.
        let (mut left, mut more) = (needed, 0);
        for (id, excess) in rich {
            // Round up, so that the parts together suffice; `left` stops at the needed number.
            let due = (u64::from(needed) * u64::from(excess)).div_ceil(total.into()) as u32;
            let part = left.min(due + more).min(excess);
            let killed = self.kill_in(orders, tree, id, kind, part);
            (left, more) = (left - killed, part - killed);
        }
    }

    /// Kills attempts of a queue with at most `slots` slots, and returns their slots.
    fn kill_in(
        &mut self,
        orders: &mut Orders<'_>,
        tree: &QueueTree,
        id: QueueId,
        kind: SlotKind,
        slots: u32,
    ) -> u32 {
        let mut killed = 0;
        for job in tree.latest_first(id) {
            let width = tree.member(job).map_or(1, |member| member.width[kind]);
            // Kill only tasks that take no more slots than are still needed.
            let most = (slots - killed) / width;
            if 0 < most {
                let attempts = self.least_progressed(&orders.view(), job, kind);
                for attempt in attempts.into_iter().take(most as usize) {
                    orders.kill(attempt, Reason::Reclaimed(tree.node(id).standing(kind)));
                    self.launches.note_ordered_end(attempt, (id, width));
                    killed += width;
                }
            }
        }
        killed
    }

    /// Returns the attempts of a job that are not ordered to end, the one with the least progress
    /// first.
    fn least_progressed(&self, view: &View<'_>, job: JobId, kind: SlotKind) -> Vec<AttemptId> {
        let latest_first = self.launches.latest_first(job, kind);
        let mut all: Vec<AttemptId> = latest_first.map(|(_, attempt)| attempt).collect();
        // The sort is stable: among attempts with equal progress, the latest is killed first.
        all.sort_by(|a, b| view.progress(*a).total_cmp(&view.progress(*b)));
        all
    }
}

/// Returns how many slots a queue uses beyond its own, but for reserved trackers.
fn excess(tree: &QueueTree, id: QueueId, kind: SlotKind) -> u32 {
    let node = tree.node(id);
    node.used[kind].saturating_sub(node.slots[kind]).saturating_sub(node.kept[kind])
}
