//! Trackers that are reserved for jobs whose tasks take several slots.
//!
//! Such a job would never find enough free slots on one tracker, because tasks of one slot take
//! each slot as soon as it is free. So a tracker with too few free slots is reserved for the job
//! until the tracker has enough of them. Meanwhile the slots that the job needs count as used by
//! the job.

use std::collections::BTreeMap;

use super::tree::QueueTree;
use mumakil_core::mapred::{JobId, PerSlot, SlotKind, TrackerId, View};

#[derive(Debug, Default)]
pub(super) struct Reserved {
    jobs: PerSlot<BTreeMap<TrackerId, JobId>>,
}

/// Slots of a kind on a tracker.
type At = (TrackerId, SlotKind);

impl Reserved {
    pub(super) fn by(&self, tracker: TrackerId, kind: SlotKind) -> Option<JobId> {
        self.jobs[kind].get(&tracker).copied()
    }

    pub(super) fn keep(&mut self, view: &View<'_>, tree: &mut QueueTree, at: At, job: JobId) {
        // A tracker is reserved for one job at a time, so end the reservation of any other job.
        self.free(view, tree, at);
        self.jobs[at.1].insert(at.0, job);
        tree.reserve(view, job, at.1, true);
    }

    pub(super) fn free(&mut self, view: &View<'_>, tree: &mut QueueTree, at: At) {
        if let Some(job) = self.jobs[at.1].remove(&at.0) {
            tree.reserve(view, job, at.1, false);
        }
    }

    /// Ends the reservations of trackers that may get no tasks, or whose job has no tasks left.
    pub(super) fn prune(&mut self, view: &View<'_>, tree: &mut QueueTree) {
        for kind in SlotKind::BOTH {
            let is_vain = |(tracker, job): (&TrackerId, &JobId)| {
                // Otherwise the reserved slots would stay idle for ever.
                let wants = tree.member(*job).is_some_and(|member| 0 < member.pending[kind]);
                (!wants || !view.is_active(*tracker)).then_some(*tracker)
            };
            let vain: Vec<TrackerId> = self.jobs[kind].iter().filter_map(is_vain).collect();
            vain.into_iter().for_each(|tracker| self.free(view, tree, (tracker, kind)));
        }
    }
}
