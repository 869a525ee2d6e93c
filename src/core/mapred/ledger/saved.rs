//! Work that attempts save when a policy takes their slots, and from which later attempts go on.

use super::Ledger;
use crate::cluster::TrackerId;
use crate::mapred::heartbeat::{Report, SavedWork};
use crate::mapred::ids::TaskId;

impl Ledger {
    /// Keeps the work that an attempt has saved at its end, as its tracker reports.
    pub(crate) fn keep_saved(&mut self, report: &Report, on: TrackerId) {
        let Report { attempt, saved: share, .. } = *report;
        if 0.0 < share {
            self.known_mut(attempt.job()).saved.insert(attempt.task, SavedWork { share, on });
        }
    }

    /// Returns the saved work of a task; `None` if there is none, or its tracker is lost.
    pub(super) fn saved_work(&self, task: TaskId) -> Option<SavedWork> {
        let saved = self.known(task.job).saved.get(&task)?;
        self.trackers[saved.on.index()].is_registered.then_some(*saved)
    }

    /// Forgets the saved work of a task that has succeeded.
    pub(super) fn forget_saved(&mut self, task: TaskId) {
        self.known_mut(task.job).saved.remove(&task);
    }
}
