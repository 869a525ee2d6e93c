//! The only place that knows actix: it makes the cores actors and gives them a clock.
//!
//! A run has one actor for the JobTracker, one for the injector and one for every TaskTracker, and
//! one for the fabric where disks, wires or cores are shared. They share nothing; all that one tells
//! another travels over a [`Links`] and through the clock.

mod actor;
mod clock;
mod link;
mod scaled;
mod stopwatch;
mod timers;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use actix::{Actor, System};
use hdrhistogram::Histogram;

pub use link::Links;
pub use scaled::run_scaled;
pub use stopwatch::{Stopwatch, Thinking};
pub use timers::Timers;

use self::actor::{Body, CoreActor};
use self::clock::{Clock, Player, VirtualClock};
use self::link::Link;
use crate::mapred::{Address, Core, Event, Msg, Stop, TrackerId};
use crate::units::SimTime;

/// Who takes the events of a run.
pub trait EventSink: Send {
    /// Takes events, in their order, and leaves the list empty.
    fn take(&mut self, events: &mut Vec<Event>);
    /// Hands on what was taken and held back.
    fn flush(&mut self);
    /// Returns whether nobody listens any more, so that the run has no use.
    fn is_broken(&self) -> bool;
    /// Returns another sink to the same place, for another thread.
    fn another(&self) -> Box<dyn EventSink>;
}

/// Nobody takes them.
impl EventSink for () {
    fn take(&mut self, events: &mut Vec<Event>) {
        events.clear();
    }
    fn flush(&mut self) {}
    fn is_broken(&self) -> bool {
        false
    }
    fn another(&self) -> Box<dyn EventSink> {
        Box::new(())
    }
}

/// The cores of a run.
pub struct Cast {
    /// The JobTracker.
    pub job_tracker: Box<dyn Core>,
    /// The job injector.
    pub injector: Box<dyn Core>,
    /// The TaskTrackers, by number.
    pub trackers: Vec<Box<dyn Core>>,
    /// What lies between them, if they share it.
    pub fabric: Option<Box<dyn Core>>,
}

impl Cast {
    /// Returns the cores in the order of their addresses.
    fn into_cores(self) -> impl Iterator<Item = (Address, Box<dyn Core>)> {
        let trackers = self.trackers.len() as u32;
        let first = [(Address::JOB_TRACKER, self.job_tracker), (Address::INJECTOR, self.injector)];
        let addresses = (0..trackers).map(|id| Address::tracker(TrackerId(id)));
        let fabric = self.fabric.map(|fabric| (Address::fabric(trackers), fabric));
        first.into_iter().chain(addresses.zip(self.trackers)).chain(fabric)
    }
}

/// The messages that set a run going.
pub type Opening = Vec<(SimTime, Address, Msg)>;

/// What a run was, beside its events.
#[derive(Clone, Debug)]
pub struct RunStats {
    /// The virtual time at which it ended.
    pub end: SimTime,
    /// How many messages were delivered.
    pub messages: u64,
    /// How late timers fired, in virtual microseconds; scaled runs only.
    pub lag: Option<Histogram<u64>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As a core wanted, or because the time was up.
    Stopped(Stop),
    /// A core panicked.
    Panicked(String),
    /// Nobody takes the events any more.
    SinkBroke,
}

/// Runs the cores on the virtual clock, on this thread, until one of them stops the run or
/// `until` is reached.
pub fn run_virtual(
    cast: Cast,
    links: Links,
    opening: Opening,
    events: Box<dyn EventSink>,
    until: SimTime,
) -> (RunStats, Ending) {
    let clock = Rc::new(RefCell::new(VirtualClock::new(events, until)));
    let links = Arc::new(links);
    let system = System::new();
    system.block_on(async {
        let player = |address: Address, core: Box<dyn Core>| {
            let body = Rc::new(RefCell::new(Body::new(core, Link::new(links.clone(), address))));
            let actor = CoreActor::new(body.clone(), Clock::Virtual(clock.clone())).start();
            Player { actor, body }
        };
        let players = cast.into_cores().map(|(address, core)| player(address, core)).collect();
        clock.borrow_mut().start(players, opening);
    });
    // Stopping is how every run ends; what it means is in the clock.
    let _ = system.run();
    clock.borrow_mut().take_result()
}
