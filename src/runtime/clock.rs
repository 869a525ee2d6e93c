//! What actors see of the clock, and its virtual drive.
//!
//! Under the virtual drive exactly one message is on its way at any moment: the actor that has
//! handled it hands its letters to the clock, and the clock at once delivers what is due next.
//! So time moves when all actors are idle, the order of events is that of the queue, and no task
//! of the clock's own has to be woken in between.

use std::cell::RefCell;
use std::rc::Rc;

use actix::{Addr, System};

use super::actor::{CoreActor, Mail};
use super::link::Link;
use super::scaled::ScaledClock;
use super::timers::Timers;
use super::{Ending, EventSink, RunStats};
use crate::mapred::{Address, Msg, Outbox, Stop};
use crate::units::SimTime;

/// An actor's handle of the clock that drives it.
#[derive(Clone)]
pub(super) enum Clock {
    /// The next message is delivered as soon as all actors are idle.
    Virtual(Rc<RefCell<VirtualClock>>),
    /// Messages are delivered when the wall clock says so.
    Scaled(ScaledClock),
}

impl Clock {
    /// Returns the virtual time at which a message due at `due` is handled.
    pub(super) fn now(&self, due: SimTime) -> SimTime {
        match self {
            Self::Virtual(_) => due,
            Self::Scaled(clock) => clock.now().max(due),
        }
    }

    /// Takes over what a core left at `now` when it handled a message that was due at `due`.
    pub(super) fn post(
        &mut self,
        due: SimTime,
        now: SimTime,
        link: &mut Link,
        outbox: &mut Outbox,
    ) {
        match self {
            Self::Virtual(clock) => clock.borrow_mut().post(now, link, outbox),
            Self::Scaled(clock) => clock.post(due, now, link, outbox),
        }
    }

    /// Ends the run because a core panicked.
    pub(super) fn abort(&self, words: String) {
        match self {
            Self::Virtual(clock) => clock.borrow_mut().end(Ending::Panicked(words)),
            Self::Scaled(clock) => clock.end(Ending::Panicked(words)),
        }
    }
}

/// The clock of a run that is as fast as the machine.
pub(super) struct VirtualClock {
    timers: Timers<(Address, Msg)>,
    /// By address.
    actors: Vec<Addr<CoreActor>>,
    events: Box<dyn EventSink>,
    until: SimTime,
    now: SimTime,
    messages: u64,
    ending: Option<Ending>,
}

impl VirtualClock {
    pub(super) fn new(events: Box<dyn EventSink>, until: SimTime) -> Self {
        Self {
            timers: Timers::default(),
            actors: Vec::new(),
            events,
            until,
            now: SimTime::ZERO,
            messages: 0,
            ending: None,
        }
    }

    /// Delivers the first message to these actors.
    pub(super) fn start(&mut self, actors: Vec<Addr<CoreActor>>, first: super::Opening) {
        self.actors = actors;
        for (time, to, msg) in first {
            self.timers.push(time, (to, msg));
        }
        self.deliver_next();
    }

    pub(super) fn take_result(&mut self) -> (RunStats, Ending) {
        let ending = self.ending.take().unwrap_or(Ending::Stopped(Stop::Stalled));
        (RunStats { end: self.now, messages: self.messages, lag: None }, ending)
    }

    fn post(&mut self, now: SimTime, link: &mut Link, outbox: &mut Outbox) {
        for letter in outbox.letters.drain(..) {
            link.carry(letter, |delay, letter| {
                self.timers.push(now + delay, (letter.to, letter.msg));
            });
        }
        if !outbox.events.is_empty() {
            self.events.take(&mut outbox.events);
            if self.events.is_broken() {
                return self.end(Ending::SinkBroke);
            }
        }
        match outbox.stop {
            Some(stop) => self.end(Ending::Stopped(stop)),
            None => self.deliver_next(),
        }
    }

    fn deliver_next(&mut self) {
        match self.timers.pop() {
            Some((time, (to, msg))) if time <= self.until => {
                debug_assert!(self.now <= time, "time runs back from {} to {time}", self.now);
                self.now = time;
                self.messages += u64::from(msg.counts());
                self.actors[to.index()].do_send(Mail { at: time, msg });
            }
            Some(_) => {
                self.now = self.until;
                self.end(Ending::Stopped(Stop::TimeUp));
            }
            None => self.end(Ending::Stopped(Stop::Stalled)),
        }
    }

    fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
        System::current().stop();
    }
}
