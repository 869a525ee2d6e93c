//! The pace of a run on the virtual clock: a person who watches the run may hold it up.
//!
//! A run asks before it moves on, when all its cores are idle. So it can stand still for as long as
//! the watcher likes, and no core notices: its results do not depend on its pace.

use mumakil_base::units::SimTime;
use mumakil_core::mapred::Event;

/// Says when a run on the virtual clock may move on.
pub trait ClockPace: Send {
    /// A core has seen this. It is told at once, on the thread of the run.
    fn see(&mut self, events: &[Event]);

    /// The next message is due at `at`: returns when it may be delivered, and then whether it is to be.
    /// Otherwise the run is given up.
    fn wait(&mut self, at: SimTime) -> bool;
}
