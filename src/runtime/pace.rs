//! The pace of a run on the virtual clock: a person who watches the run may slow it down.
//!
//! A run asks before time moves on, when all its cores are idle. So it can stand still for as long
//! as the watcher likes, and no core notices: its results do not depend on its pace.

use mumakil_base::units::SimTime;
use mumakil_core::mapred::Event;

/// Decides when a run on the virtual clock may move on.
pub trait ClockPace: Send {
    /// Gets the events of a core at once, on the thread of the run.
    fn see(&mut self, events: &[Event]);

    /// Waits until the next message, which is due at `at`, may be delivered; returns whether the
    /// run goes on. With `false` it is cancelled.
    fn wait(&mut self, at: SimTime) -> bool;
}
