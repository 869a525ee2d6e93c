//! The only crate that uses actix: it makes actors of the cores and gives them a clock.
//!
//! A run has one actor for the JobTracker, one for the injector and one for every TaskTracker. Four
//! more exist only in some runs: the fabric if disks, wires or cores are shared, the fault injector
//! if machines may fail, the NameNode if blocks may be lost, and the outputs of maps if outputs may
//! be lost. Actors share no state; all messages travel over [`Links`] and through the clock.
//!
//! ```text
//! queue, by time ─► message ─► core ─┬─► letters ─► link: delay or loss ─► queue
//!                                    └─► events ─► listener: tables, reports
//! ```
//!
//! Another protocol than MapReduce's may use the same drives: see [`DrivenProtocol`].
//!
//! There are two drives: [`run_virtual`] (`unpaced.rs`), with actors or without, and [`run_scaled`]
//! (`scaled.rs`). Their common part is in `drive.rs`, so a new drive is one file. Their knowledge
//! of MapReduce is in `mapreduce.rs` and `link.rs`.
//!
//! The crate depends on `mumakil-core`, whose cores and messages it runs, and on `mumakil-base`.
//! Above it, `mumakil-run` builds the cores of a scenario and starts them.

mod actor;
mod drive;
mod driven;
mod link;
mod mapreduce;
mod pace;
mod scaled;
mod stopwatch;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod timers;
mod unpaced;

use std::time::Duration;

use hdrhistogram::Histogram;

pub use drive::{Drive, SeatedCore, words_of_panic};
pub use driven::{DrivenProtocol, SenderLink};
pub use link::{Link, Links};
pub use mapreduce::{CoreSeats, RunCores, run_mapreduce};
pub use pace::ClockPace;
pub use scaled::run_scaled;
pub use stopwatch::{Stopwatch, StopwatchReadings};
pub use timers::Timers;
pub use unpaced::run_virtual;

use mumakil_base::units::SimTime;
pub use mumakil_core::mapred::WatchedJobTracker;
use mumakil_core::mapred::{Event, MapReduce, Stall};
use mumakil_core::protocol::{Protocol, RunStop};

/// A listener that takes the events of a run.
pub trait EventSink<E = Event>: Send {
    /// Takes events, in their order, and leaves the list empty.
    fn take(&mut self, events: &mut Vec<E>);
    /// Hands on the events that are held back.
    fn flush(&mut self);
    /// Returns whether the reader of the events has closed, so that the run is of no use.
    fn is_broken(&self) -> bool;
}

/// Drops all events.
impl<E> EventSink<E> for () {
    fn take(&mut self, events: &mut Vec<E>) {
        events.clear();
    }
    fn flush(&mut self) {}
    fn is_broken(&self) -> bool {
        false
    }
}

/// A run that is ready to start: its cores, their first messages and the limits.
pub struct RunPlan<P: DrivenProtocol = MapReduce> {
    /// The cores that take part.
    pub cast: P::Cores,
    /// How messages travel between the cores.
    pub links: P::Network,
    /// The first messages, with which the run begins.
    pub opening: OpeningMail<P>,
    /// The listener that takes the cores' events.
    pub events: Box<dyn EventSink<P::Event>>,
    /// The virtual time at which the run ends at the latest.
    pub until: SimTime,
    /// How much real time the run may take; `None` for no limit.
    pub time_limit: Option<Duration>,
    /// Whether the run goes on when only rounds (messages that move nothing) are due.
    pub outlasts: bool,
    /// The pace set by the watcher of a live run, on the virtual clock only; `None` without a
    /// watcher.
    pub pace: Option<Box<dyn ClockPace<P>>>,
}

/// How messages reach cores on the virtual clock. No result depends on the choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Mailboxes of actors.
    Actors,
    /// Calls: the clock calls the core directly.
    #[default]
    Bare,
}

/// The first messages of a run.
pub type OpeningMail<P = MapReduce> = Vec<(SimTime, <P as Protocol>::Mail)>;

/// The measures of a run, apart from its events.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// The virtual time at which the run ended.
    pub end: SimTime,
    /// How many messages were delivered, not counting the cores' own timers.
    pub messages: u64,
    /// How late timers fired, in virtual microseconds; scaled runs only.
    pub lag: Option<Histogram<u64>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending<S = Stall> {
    /// A core stopped the run, or the run's time was up.
    Stopped(RunStop<S>),
    /// The policy cannot go on; the text is the policy's message.
    PolicyFailed(String),
    /// A core panicked; the text is the panic's message.
    Panicked(String),
    /// The next message is due after [`SimTime::LAST`].
    BeyondTime,
    /// The run's events have no listener any more.
    SinkBroke,
    /// The run's [`ClockPace`] has cancelled it.
    GivenUp,
}
