//! How a core works, and how it tells the world what it wants.
//!
//! A core is a state machine with one entry, [`Core::handle`]. It gets a message and leaves letters and
//! events in an [`Outbox`], which tells it the instant: it neither knows who carries them nor when.

use std::collections::VecDeque;

use crate::mapred::event::{Event, Fact};
use crate::mapred::message::{Mail, Message};
use crate::mapred::stall::Stall;
use mumakil_base::units::{SimSpan, SimTime};

/// A state machine that an actor can run.
pub trait Core: Send {
    /// The messages that it takes.
    type Msg: Message;

    /// Takes a message at the outbox's instant; answers, later wishes and events go there.
    fn handle(&mut self, msg: &Self::Msg, out: &mut Outbox);
}

/// The letters and events of a core, and its word on the end of the run.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The instant.
    pub now: SimTime,
    /// The letters to other cores, and to itself.
    pub letters: VecDeque<Letter>,
    /// The events that it has seen.
    pub events: Vec<Event>,
    /// Why the run is over, if it is.
    pub stop: Option<StopReason>,
    /// By the JobTracker: that it has nothing to do, as far as it knows.
    pub calm: Option<IdleState>,
}

/// The JobTracker has nothing to do: trackers have told it no news and got no orders, its policy has
/// refused all that there is for longer than it is patient, and it waits for no time-out of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// How many trackers it knows. A machine that runs and is not among them will join.
    pub trackers: u32,
    /// It has heard of every change before this instant, and trackers have obeyed its answers.
    pub since: SimTime,
}

/// Mail on its way.
#[derive(Debug)]
pub struct Letter {
    /// How long its sender keeps it back.
    pub after: SimSpan,
    /// Whether it travels over the network, or is its sender's own plan or a matter of physics.
    pub travels: bool,
    /// The message, with its address.
    pub mail: Mail,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Every job has ended.
    Done,
    /// The scenario's `until` has come.
    TimeUp,
    /// Jobs are left, and nothing is due that could change a slot or a job.
    Stalled(Box<Stall>),
    /// It has taken as much real time as it may.
    TimeLimit,
}

impl StopReason {
    /// Returns the word for it in `summary.json`, if jobs may be left for this reason that the
    /// scenario does not name.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::TimeUp => None,
            Self::Stalled(_) => Some("stalled"),
            Self::TimeLimit => Some("time_limit"),
        }
    }
}

impl Outbox {
    /// Returns an empty one at an instant.
    pub fn at(now: SimTime) -> Self {
        Self { now, ..Self::default() }
    }

    /// Sends a message now.
    pub fn send(&mut self, mail: impl Into<Mail>) {
        self.send_after(SimSpan::ZERO, mail);
    }

    /// Sends a message after a while.
    pub fn send_after(&mut self, after: SimSpan, mail: impl Into<Mail>) {
        // It leaves after that time and then travels: the network's delay comes on top.
        self.letters.push_back(Letter { after, travels: true, mail: mail.into() });
    }

    /// Plans a message to oneself: a timer.
    pub fn plan(&mut self, after: SimSpan, own: impl Into<Mail>) {
        self.letters.push_back(Letter { after, travels: false, mail: own.into() });
    }

    /// Tells another core something that needs no network, such as physics: it takes no time and is
    /// never lost.
    pub fn affect(&mut self, whom: impl Into<Mail>) {
        self.plan(SimSpan::ZERO, whom);
    }

    /// Notes what has happened.
    pub fn emit(&mut self, fact: Fact) {
        self.events.push(Event { at: self.now, fact });
    }
}
