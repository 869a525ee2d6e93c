//! Trackers that are reserved for jobs whose tasks take several slots.
//!
//! Such a job would never find enough free slots on one tracker, because narrow tasks take each
//! slot as it becomes free. So a tracker without enough free slots keeps those that it has until
//! there are enough; meanwhile they count as used by the job.

use std::collections::BTreeMap;

use super::tree::QueueTree;
use mumakil_core::mapred::{JobId, PerSlot, SlotKind, TrackerId, View};

/// The reserved trackers.
#[derive(Debug, Default)]
pub(super) struct Reserved {
    jobs: PerSlot<BTreeMap<TrackerId, JobId>>,
}

impl Reserved {
    /// Returns the job for which a tracker is reserved, if there is one.
    pub(super) fn by(&self, tracker: TrackerId, kind: SlotKind) -> Option<JobId> {
        self.jobs[kind].get(&tracker).copied()
    }

    /// Reserves a tracker for a job.
    pub(super) fn keep(
        &mut self,
        view: &View<'_>,
        tree: &mut QueueTree,
        tracker: TrackerId,
        kind: SlotKind,
        job: JobId,
    ) {
        // A tracker is kept for one job at a time; that of another job must not count any more.
        self.free(view, tree, tracker, kind);
        self.jobs[kind].insert(tracker, job);
        tree.reserve(view, job, kind, true);
    }

    /// Ends the reservation of a tracker.
    pub(super) fn free(
        &mut self,
        view: &View<'_>,
        tree: &mut QueueTree,
        tracker: TrackerId,
        kind: SlotKind,
    ) {
        if let Some(job) = self.jobs[kind].remove(&tracker) {
            tree.reserve(view, job, kind, false);
        }
    }

    /// Ends reservations of trackers that may get no tasks, or whose job has no tasks left.
    pub(super) fn prune(&mut self, view: &View<'_>, tree: &mut QueueTree) {
        for kind in SlotKind::BOTH {
            let is_vain = |(tracker, job): (&TrackerId, &JobId)| {
                // A job that has ended, or whose last task was launched elsewhere,
                // would keep slots idle for ever.
                let wants = tree.member(*job).is_some_and(|member| 0 < member.pending[kind]);
                (!wants || !view.is_active(*tracker)).then_some(*tracker)
            };
            let vain: Vec<TrackerId> = self.jobs[kind].iter().filter_map(is_vain).collect();
            vain.into_iter().for_each(|tracker| self.free(view, tree, tracker, kind));
        }
    }
}
