//! What actors see of the clock, and its virtual drive.
//!
//! Under the virtual drive exactly one message is on its way at any moment: when an actor has
//! handled it, what the actor leaves goes to the clock, and the clock at once delivers what is due
//! next. So time moves when all actors are idle, the order of events is that of the queue, and no
//! task of the clock's own has to be woken in between.
//!
//! An actor's own clockwork (a heartbeat that is due, say) is no message and needs no mailbox: the
//! clock winds it off in place, while everybody is idle, and goes on.

use std::cell::RefCell;
use std::rc::Rc;

use actix::{Addr, System};

use super::actor::{Body, CoreActor, Mail};
use super::scaled::ScaledClock;
use super::timers::Timers;
use super::{Ending, EventSink, Opening, RunStats};
use crate::mapred::{Address, Letter, Msg, Outbox, Stop};
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
    /// Lets an actor handle a message that was due at `due`, and takes over what it leaves.
    pub(super) fn run(&self, due: SimTime, msg: Msg, body: &RefCell<Body>) {
        match self {
            Self::Virtual(clock) => {
                let mut clock = clock.borrow_mut();
                clock.run(due, msg, body);
                clock.deliver_next();
            }
            Self::Scaled(clock) => clock.run(due, msg, &mut body.borrow_mut()),
        }
    }
}

/// Somebody on the virtual clock.
pub(super) struct Player {
    pub(super) actor: Addr<CoreActor>,
    pub(super) body: Rc<RefCell<Body>>,
}

/// The clock of a run that is as fast as the machine.
pub(super) struct VirtualClock {
    timers: Timers<(Address, Msg)>,
    /// By address.
    players: Rc<[Player]>,
    events: Box<dyn EventSink>,
    /// What a core leaves; one for all, so that it stays in the processor's cache.
    outbox: Outbox,
    until: SimTime,
    now: SimTime,
    messages: u64,
    ending: Option<Ending>,
}

impl VirtualClock {
    pub(super) fn new(events: Box<dyn EventSink>, until: SimTime) -> Self {
        Self {
            timers: Timers::default(),
            players: Rc::new([]),
            events,
            outbox: Outbox::default(),
            until,
            now: SimTime::ZERO,
            messages: 0,
            ending: None,
        }
    }

    /// Delivers the first message to these players.
    pub(super) fn start(&mut self, players: Vec<Player>, first: Opening) {
        self.players = players.into();
        for (time, to, msg) in first {
            self.timers.push(time, (to, msg));
        }
        self.deliver_next();
    }

    pub(super) fn take_result(&mut self) -> (RunStats, Ending) {
        let ending = self.ending.take().unwrap_or(Ending::Stopped(Stop::Stalled));
        (RunStats { end: self.now, messages: self.messages, lag: None }, ending)
    }

    /// Lets a core handle a message, and takes over what it leaves.
    fn run(&mut self, now: SimTime, msg: Msg, body: &RefCell<Body>) {
        let mut body = body.borrow_mut();
        let timers = &mut self.timers;
        let post = |at, letter: Letter| timers.push(at, (letter.to, letter.msg));
        if let Err(words) = body.handle(now, msg, &mut self.outbox, post) {
            return self.end(Ending::Panicked(words));
        }
        if !self.outbox.events.is_empty() {
            self.events.take(&mut self.outbox.events);
            if self.events.is_broken() {
                self.end(Ending::SinkBroke);
            }
        }
        if let Some(stop) = self.outbox.stop {
            self.end(Ending::Stopped(stop));
        }
    }

    /// Delivers the next message; what is due before it and is no message happens at once.
    fn deliver_next(&mut self) {
        let players = self.players.clone();
        while self.ending.is_none() {
            let Some((time, (to, msg))) = self.timers.pop() else {
                return self.end(Ending::Stopped(Stop::Stalled));
            };
            if self.until < time {
                self.now = self.until;
                return self.end(Ending::Stopped(Stop::TimeUp));
            }
            debug_assert!(self.now <= time, "time runs back from {} to {time}", self.now);
            self.now = time;
            let player = &players[to.index()];
            if msg.counts() {
                self.messages += 1;
                return player.actor.do_send(Mail { at: time, msg });
            }
            self.run(time, msg, &player.body);
        }
    }

    fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
        System::current().stop();
    }
}
