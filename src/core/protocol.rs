//! Cores, whichever protocol they speak: messages in, letters and events out.
//!
//! A core is a state machine with one entry, [`Core::handle`]. It gets a message and leaves letters
//! and events in an [`CoreOutbox`], which also holds the present instant. The core does not know who
//! carries the letters, nor when they arrive.
//!
//! A [`Protocol`] names the messages and events of cores that work together. MapReduce's is in
//! [`mapred`](crate::mapred); others live in crates of their own.

use std::collections::VecDeque;
use std::fmt::Debug;

use mumakil_base::units::{SimSpan, SimTime};

/// Cores that exchange messages with each other.
pub trait Protocol: Sized + 'static {
    /// A message and its receiver.
    type Mail: Clone + Debug + Send + 'static;
    /// A fact that a core tells.
    type Fact;
    /// A fact with its instant.
    type Event: Debug + Send + 'static;
    /// The state of a run that cannot go on.
    type Stall: Clone + Debug + Default + PartialEq + Eq + Send + Sync + 'static;
    /// The questions that a core answers between two messages; `()` if no core does.
    type Watch: ?Sized;
    /// The order of messages that are due at the same instant; of those with equal ranks, the one
    /// that was sent first comes first.
    type Rank: Copy + Debug + Ord + Send;

    /// Adds the instant to a fact.
    fn event(at: SimTime, fact: Self::Fact) -> Self::Event;

    /// Returns how a message concerns the run as a whole.
    fn effect(mail: &Self::Mail) -> MessageEffect;

    /// Returns the rank of a message.
    fn rank(mail: &Self::Mail) -> Self::Rank;
}

/// A message for one kind of core.
pub trait Message: Clone + Send + 'static {
    /// The protocol that it belongs to.
    type Protocol: Protocol;

    /// Returns how the message concerns the run as a whole.
    fn effect(&self) -> MessageEffect;
}

/// How a message affects the run as a whole, apart from its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEffect {
    /// Whether the message goes through a mailbox and is counted in the run's number of messages.
    /// Timers of a core, power switches and rates of flows are not counted.
    pub counts: bool,
    /// Whether the message itself may change a slot or a job. A message that cannot do so is a
    /// *round*, such as a heartbeat. Rounds go on for ever; they only report changes made
    /// elsewhere, or carry decisions that a policy has put off.
    pub moves: bool,
}

impl MessageEffect {
    // If `moves` is wrongly true, the run ends late; if it is wrongly false, the run ends too
    // early.
    /// A timer that is a round.
    pub const NONE: Self = Self { counts: false, moves: false };
    /// A message that is a round.
    pub const COUNTS: Self = Self { counts: true, moves: false };
    /// A timer that may change something.
    pub const MOVES: Self = Self { counts: false, moves: true };
    /// A message that may change something.
    pub const BOTH: Self = Self { counts: true, moves: true };
}

/// A state machine that an actor can run.
pub trait Core: Send {
    /// The messages that it takes.
    type Msg: Message;

    /// Handles a message at the outbox's instant; answers, timers and events go into the outbox.
    fn handle(&mut self, msg: &Self::Msg, out: &mut CoreOutbox<ProtocolOf<Self::Msg>>);

    /// Returns the core as one that can be asked; `None` if it cannot be.
    fn watch(&self) -> Option<&<ProtocolOf<Self::Msg> as Protocol>::Watch> {
        None
    }
}

/// The protocol of a message.
pub type ProtocolOf<M> = <M as Message>::Protocol;

/// The letters and events of a core, and whether the run is over.
#[derive(Debug)]
pub struct CoreOutbox<P: Protocol> {
    /// The instant at which the core handles the message.
    pub now: SimTime,
    /// The letters to other cores, and to itself.
    pub letters: VecDeque<CoreLetter<P::Mail>>,
    /// The events of this message.
    pub events: Vec<P::Event>,
    /// Why the run is over; `None` while it goes on.
    pub stop: Option<RunStop<P::Stall>>,
    /// The JobTracker sets this when it is idle, according to its ledger; otherwise `None`.
    pub calm: Option<IdleState>,
}

/// The state of an idle JobTracker: trackers send no news and get no orders, the policy has
/// launched nothing for longer than its patience, and no time-out of the JobTracker is due.
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
pub struct CoreLetter<M> {
    /// How long the sender delays it.
    pub after: SimSpan,
    /// Whether it travels over the network; otherwise it is a timer, or an effect that takes no
    /// time.
    pub travels: bool,
    /// The message, with its receiver.
    pub mail: M,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStop<S> {
    /// Every job has ended.
    Done,
    /// The time of the scenario's `until` is reached.
    TimeUp,
    /// Jobs are left, and no message is due that could change a slot or a job.
    Stalled(Box<S>),
    /// The run has used up its limit of real time.
    TimeLimit,
}

impl<S> RunStop<S> {
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

impl<P: Protocol> Default for CoreOutbox<P> {
    fn default() -> Self {
        Self::at(SimTime::ZERO)
    }
}

impl<P: Protocol> CoreOutbox<P> {
    /// Returns an empty outbox at an instant.
    pub fn at(now: SimTime) -> Self {
        Self { now, letters: VecDeque::new(), events: Vec::new(), stop: None, calm: None }
    }

    /// Sends a message now.
    pub fn send(&mut self, mail: impl Into<P::Mail>) {
        self.send_after(SimSpan::ZERO, mail);
    }

    /// Sends a message after a delay.
    pub fn send_after(&mut self, after: SimSpan, mail: impl Into<P::Mail>) {
        // The message leaves after the delay; the network's delay comes on top.
        self.letters.push_back(CoreLetter { after, travels: true, mail: mail.into() });
    }

    /// Sends a message to the core itself after a delay: a timer.
    pub fn plan(&mut self, after: SimSpan, own: impl Into<P::Mail>) {
        self.letters.push_back(CoreLetter { after, travels: false, mail: own.into() });
    }

    /// Sends another core a message without the network, such as a new rate: it takes no time and
    /// is never lost.
    pub fn affect(&mut self, whom: impl Into<P::Mail>) {
        self.plan(SimSpan::ZERO, whom);
    }

    /// Adds an event with this fact at the present instant.
    pub fn emit(&mut self, fact: P::Fact) {
        self.events.push(P::event(self.now, fact));
    }
}
