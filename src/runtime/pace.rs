//! The pace of a run on the virtual clock: a person who watches the run may slow it down.
//!
//! The run asks for leave before time moves on, when all its cores are idle. So the run can stand
//! still for as long as the watcher likes, and no core notices: results do not depend on the pace.

use mumakil_base::units::SimTime;
use mumakil_core::mapred::MapReduce;
use mumakil_core::protocol::Protocol;

/// Decides when a run on the virtual clock may move on.
pub trait ClockPace<P: Protocol = MapReduce>: Send {
    /// Gets the events of a core before the run goes on, on the thread of the run.
    fn see(&mut self, events: &[P::Event]);

    /// Waits until the next message, which is due at `at`, may be delivered; returns whether the
    /// run goes on: `false` cancels it. Meanwhile the head, such as the JobTracker, may be asked.
    fn wait(&mut self, at: SimTime, head: &P::Watch) -> bool;
}
