//! The trait of cores, and the outbox for their messages and events.
//!
//! A core is a state machine with one entry, [`Core::handle`]. It gets a message and leaves letters
//! and events in an [`Outbox`], which also holds the present instant. The core does not know who
//! carries the letters, nor when they arrive.

use std::collections::VecDeque;

use crate::cluster::{PerSlot, SlotKind};
use crate::mapred::event::{Event, Fact};
use crate::mapred::ids::JobId;
use crate::mapred::message::{Mail, Message};
use crate::mapred::reason::{SlotStanding, WaitingTasks};
use crate::mapred::stall::Stall;
use mumakil_base::units::{SimSpan, SimTime};

/// A state machine that an actor can run.
pub trait Core: Send {
    /// The messages that it takes.
    type Msg: Message;

    /// Handles a message at the outbox's instant; answers, timers and events go into the outbox.
    fn handle(&mut self, msg: &Self::Msg, out: &mut Outbox);

    /// Lists the [holdings](super::Scheduler::holdings) of the policy's pools at an instant, between
    /// two messages. Only the JobTracker has a policy.
    fn holdings(&self, _now: SimTime, _kind: SlotKind, _say: &mut dyn FnMut(&str, SlotStanding)) {}

    /// Returns how a job's tasks wait, between two messages. Only the JobTracker knows jobs.
    fn waiting(&self, _job: JobId) -> PerSlot<WaitingTasks> {
        PerSlot::default()
    }
}

/// The letters and events of a core, and whether the run is over.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The instant at which the core handles the message.
    pub now: SimTime,
    /// The letters to other cores, and to itself.
    pub letters: VecDeque<Letter>,
    /// The events of this message.
    pub events: Vec<Event>,
    /// Why the run is over; `None` while it goes on.
    pub stop: Option<StopReason>,
    /// The JobTracker sets this when it is idle, according to its ledger; otherwise `None`.
    pub calm: Option<IdleState>,
}

/// The state of an idle JobTracker: trackers send no news and get no orders, the policy has
/// launched nothing for longer than its [patience](super::Scheduler::patience), and no time-out of
/// the JobTracker is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// How many trackers have registered. A tracker that runs but has not registered will still do
    /// so.
    pub trackers: u32,
    /// The JobTracker knows of every change before this instant, and trackers have executed all
    /// answers that it gave before.
    pub since: SimTime,
}

/// A message under way.
#[derive(Debug)]
pub struct Letter {
    /// How long the sender delays it.
    pub after: SimSpan,
    /// Whether it travels over the network; otherwise it is a timer, or an effect that takes no
    /// time.
    pub travels: bool,
    /// The message, with its receiver.
    pub mail: Mail,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Every job has ended.
    Done,
    /// The time of the scenario's `until` is reached.
    TimeUp,
    /// Jobs are left, and no message is due that could change a slot or a job.
    Stalled(Box<Stall>),
    /// The run has used up its limit of real time.
    TimeLimit,
}

impl StopReason {
    /// Returns the word for this reason in `summary.json`; `None` for the ends that a scenario
    /// intends.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::TimeUp => None,
            Self::Stalled(_) => Some("stalled"),
            Self::TimeLimit => Some("time_limit"),
        }
    }
}

impl Outbox {
    /// Returns an empty outbox at an instant.
    pub fn at(now: SimTime) -> Self {
        Self { now, ..Self::default() }
    }

    /// Sends a message now.
    pub fn send(&mut self, mail: impl Into<Mail>) {
        self.send_after(SimSpan::ZERO, mail);
    }

    /// Sends a message after a delay.
    pub fn send_after(&mut self, after: SimSpan, mail: impl Into<Mail>) {
        // The message leaves after the delay; the network's delay comes on top.
        self.letters.push_back(Letter { after, travels: true, mail: mail.into() });
    }

    /// Sends a message to the core itself after a delay: a timer.
    pub fn plan(&mut self, after: SimSpan, own: impl Into<Mail>) {
        self.letters.push_back(Letter { after, travels: false, mail: own.into() });
    }

    /// Sends another core a message without the network, such as a new rate: it takes no time and
    /// is never lost.
    pub fn affect(&mut self, whom: impl Into<Mail>) {
        self.plan(SimSpan::ZERO, whom);
    }

    /// Adds an event with this fact at the present instant.
    pub fn emit(&mut self, fact: Fact) {
        self.events.push(Event { at: self.now, fact });
    }
}
