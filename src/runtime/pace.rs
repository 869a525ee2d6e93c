//! The pace of a run on the virtual clock: a person who watches the run may slow it down.
//!
//! The run asks for leave before time moves on, when all its cores are idle. So the run can stand
//! still for as long as the watcher likes, and no core notices: results do not depend on the pace.

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Event, JobId, PerSlot, SlotKind, SlotStanding, WaitingTasks};

/// Decides when a run on the virtual clock may move on.
pub trait ClockPace: Send {
    /// Gets the events of a core before the run goes on, on the thread of the run.
    fn see(&mut self, events: &[Event]);

    /// Waits until the next message, which is due at `at`, may be delivered; returns whether the
    /// run goes on: `false` cancels it. Meanwhile the JobTracker may be asked.
    fn wait(&mut self, at: SimTime, job_tracker: &dyn WatchedJobTracker) -> bool;
}

/// A JobTracker that can be asked for what no event tells, between two messages.
pub trait WatchedJobTracker {
    /// Lists the [holdings](mumakil_core::mapred::Scheduler::holdings) of the policy's pools at an
    /// instant.
    fn holdings(&self, now: SimTime, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding));

    /// Returns how a job's tasks wait.
    fn waiting(&self, job: JobId) -> PerSlot<WaitingTasks>;
}
