//! The common part of all drives and protocols: the queue of a run, and the step of a core.
//!
//! A drive makes time pass. Each drive is a file of its own, which defines three things: how it
//! holds a core, how a message reaches the core ([`Drive`]), and when it takes the next message
//! from the [`Agenda`]. Everything else is here and the same for all drives.

use std::any::Any;
use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::driven::SeatedHead;
use super::timers::Timers;
use super::{ClockPace, DrivenProtocol, Ending, EventSink, RunPlan, RunStats, SenderLink};
use mumakil_base::panics;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::PolicyFailed;
use mumakil_core::protocol::{
    Core, CoreLetter, CoreOutbox, IdleState, Message, MessageEffect, RunStop,
};

/// The number of messages between two looks at the wall clock, if the run has a limit of real time.
/// Usually so many messages take microseconds, but a job of ten million tasks takes a second to
/// begin.
// Chosen: a look takes about as long as a message, and so costs a tenth at most.
const LOOK_EVERY: u64 = 1 << 4;

#[expect(clippy::disallowed_methods, reason = "a limit of real time is about the wall")]
fn wall_clock() -> Instant {
    Instant::now()
}

/// How messages reach cores.
pub trait Drive<P: DrivenProtocol>: Sized {
    /// The handle through which messages `M` reach their core.
    type Seat<M: Message<Protocol = P>>;

    /// Gives a core its seat.
    fn seat<M: Message<Protocol = P>>(&self, body: SeatedCore<P, M>) -> Self::Seat<M>;

    /// Passes a message, which was due at `at`, to a core.
    fn deliver<M: Message<Protocol = P>>(&self, seat: &Self::Seat<M>, at: SimTime, msg: &M);
}

/// A core, and the link through which it sends.
pub struct SeatedCore<P: DrivenProtocol, M> {
    core: Box<dyn Core<Msg = M>>,
    pub(super) link: P::Link,
}

impl<P: DrivenProtocol, M: Message<Protocol = P>> SeatedCore<P, M> {
    /// Returns a core with its link.
    pub fn new(core: Box<dyn Core<Msg = M>>, link: P::Link) -> Self {
        Self { core, link }
    }

    /// Lets the core handle a message; its letters and events go into `out`.
    pub(super) fn handle(&mut self, now: SimTime, msg: &M, out: &mut CoreOutbox<P>) {
        out.now = now;
        self.core.handle(msg, out);
    }

    /// Sends the core's letters: calls `post` with each letter and the instant of its arrival.
    /// Returns how the run ends, if the core ends it.
    pub(super) fn carry(
        &mut self,
        now: SimTime,
        out: &mut CoreOutbox<P>,
        mut post: impl FnMut(SimTime, P::Mail),
    ) -> Option<Ending<P::Stall>> {
        while let Some(letter) = out.letters.front() {
            // Read the letter in place: the processor would wait for a copy that was written just
            // before.
            let [copy, itself] = self.link.delays(now, letter);
            let Some(CoreLetter { mail, .. }) = out.letters.pop_front() else { break };
            if let Some(delay) = copy {
                post(now + delay, mail.clone());
            }
            if let Some(delay) = itself {
                post(now + delay, mail);
            }
        }
        out.stop.take().map(Ending::Stopped)
    }
}

/// Lets a core work; if it panics, the error says how the panic ends the run. A core that has
/// panicked must not be called again: it has stopped half-way.
pub(super) fn caught<R, S>(work: impl FnOnce() -> R) -> Result<R, Ending<S>> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        panics::answered();
        match panic.downcast_ref::<PolicyFailed>() {
            Some(PolicyFailed(words)) => Ending::PolicyFailed(words.clone()),
            None => Ending::Panicked(words_of_panic(&*panic)),
        }
    })
}

/// Returns the message of a panic.
pub fn words_of_panic(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}

/// The future messages of a run, its present time, and how it ends.
pub(super) struct Agenda<P: DrivenProtocol> {
    timers: Timers<P::Mail, P::Rank>,
    witness: FactListeners<P>,
    /// The outbox of the core at work. All cores use the same one, so that it stays in the
    /// processor's cache.
    outbox: CoreOutbox<P>,
    until: SimTime,
    now: SimTime,
    messages: u64,
    /// How many messages were taken in all, including timers and others that `messages` does not
    /// count.
    taken: u64,
    /// How many messages, waiting or being handled, may [move](MessageEffect::moves) something.
    moves: u64,
    /// When the last message that may move something was handled.
    moved_at: SimTime,
    /// Whether the JobTracker was informed that only rounds (messages that move nothing) are due.
    is_at_rest: bool,
    /// When the run reaches its limit of real time.
    wall_end: Option<Instant>,
    ending: Option<Ending<P::Stall>>,
}

/// The listeners for the events of cores.
struct FactListeners<P: DrivenProtocol> {
    events: Box<dyn EventSink<P::Event>>,
    pace: Option<Box<dyn ClockPace<P>>>,
    /// How many machines, such as TaskTrackers, are running.
    machines: u32,
}

impl<P: DrivenProtocol> FactListeners<P> {
    /// Hands on events, and empties the list; returns `false` if the reader of the events has
    /// closed.
    fn tell(&mut self, events: &mut Vec<P::Event>) -> bool {
        if events.is_empty() {
            return true;
        }
        // Count running machines here: the head learns only later whether a machine runs.
        for event in events.iter() {
            self.machines = self.machines.wrapping_add_signed(P::machines(event));
        }
        if let Some(pace) = &mut self.pace {
            pace.see(events);
        }
        self.events.take(events);
        !self.events.is_broken()
    }
}

impl<P: DrivenProtocol> Agenda<P> {
    /// Returns the agenda of a run; takes all parts of the plan but the cores and the links.
    pub(super) fn new(play: &mut RunPlan<P>) -> Self {
        // Move these parts out of the plan: the drive takes the cores and the links out of it
        // later.
        let opening = mem::take(&mut play.opening);
        let events = mem::replace(&mut play.events, Box::new(()));
        let pace = play.pace.take();
        let RunPlan { until, time_limit, outlasts, .. } = *play;
        let mut agenda = Self {
            timers: Timers::default(),
            witness: FactListeners { events, pace, machines: 0 },
            outbox: CoreOutbox::default(),
            until: until.min(SimTime::LAST),
            now: SimTime::ZERO,
            messages: 0,
            taken: 0,
            moves: 0,
            moved_at: SimTime::ZERO,
            // With `outlasts` the JobTracker must never be informed: pretend that it has been.
            is_at_rest: outlasts,
            // A limit beyond the range of the machine's clock is never reached.
            wall_end: time_limit.and_then(|limit| wall_clock().checked_add(limit)),
            ending: None,
        };
        agenda.post(opening);
        agenda
    }

    /// Takes the next message and advances time to it; [`step`](Self::step) counts the message. If
    /// no message is due by the end, this ends the run. So a drive may call it only when all its
    /// cores are idle: a person who watches the run may then look into the head.
    pub(super) fn next(&mut self, head: &RefCell<SeatedHead<P>>) -> Option<P::Mail> {
        if self.ending.is_some() {
            return None;
        }
        let Some(at) = self.timers.next_time() else {
            self.end(Ending::Stopped(RunStop::Stalled(Box::default())));
            return None;
        };
        // A message that is due exactly at the end still counts.
        if self.until < at {
            self.now = self.until;
            self.end_at_until();
            return None;
        }
        if let Some(pace) = &mut self.witness.pace
            && let Some(watched) = head.borrow().core.watch()
            && !pace.wait(at, watched)
        {
            self.end(Ending::GivenUp);
            return None;
        }
        debug_assert!(self.now <= at, "time runs back from {} to {at}", self.now);
        self.now = at;
        self.taken += 1;
        // All messages count here, timers too: a run may have long stretches of timers alone.
        if self.taken.is_multiple_of(LOOK_EVERY) {
            self.check_wall_clock();
        }
        self.timers.pop()
    }

    /// Ends the run at its last instant.
    fn end_at_until(&mut self) {
        // No scenario's `until` is as late as the last instant of all runs.
        self.end(match self.until {
            SimTime::LAST => Ending::BeyondTime,
            _ => Ending::Stopped(RunStop::TimeUp),
        });
    }

    /// Returns the present instant.
    pub(super) fn now(&self) -> SimTime {
        self.now
    }

    /// Ends the run if its limit of real time is reached.
    pub(super) fn check_wall_clock(&mut self) {
        if self.wall_end.is_some_and(|end| end <= wall_clock()) {
            self.end(Ending::Stopped(RunStop::TimeLimit));
        }
    }

    /// Returns how much real time is left: at most an hour, after which the caller looks again.
    pub(super) fn patience(&self) -> Duration {
        const HOUR: Duration = Duration::from_secs(3_600);
        self.wall_end.map_or(HOUR, |end| end.saturating_duration_since(wall_clock()).min(HOUR))
    }

    /// Takes the next message if it is due by `now`. Cores may still be at work, so more messages
    /// may come even if none is due.
    pub(super) fn next_due(&mut self, now: SimTime) -> Option<(SimTime, P::Mail)> {
        // The wall clock has reached the end: messages that still wait are too late for this run.
        if self.until <= now {
            self.end_at_until();
        }
        if self.ending.is_some() {
            return None;
        }
        let at = self.timers.next_time().filter(|at| *at <= now)?;
        let mail = self.timers.pop()?;
        self.messages += u64::from(P::effect(&mail).counts);
        Some((at, mail))
    }

    /// Moves time on to an instant, or to the end of the run if that is earlier.
    pub(super) fn reach(&mut self, now: SimTime) {
        self.now = now.min(self.until);
    }

    /// Returns when the next message is due, or the end of the run if that is earlier; cores at
    /// work may still add an earlier message.
    pub(super) fn wakes_at(&mut self) -> SimTime {
        self.timers.next_time().map_or(self.until, |next| next.min(self.until))
    }

    /// Lets a core handle a message, and takes the core's letters and events.
    pub(super) fn step<M: Message<Protocol = P>>(
        &mut self,
        now: SimTime,
        msg: &M,
        body: &mut SeatedCore<P, M>,
    ) {
        let MessageEffect { counts, moves: moved } = msg.effect();
        self.messages += u64::from(counts);
        let Self { timers, outbox, moves, witness, .. } = self;
        body.handle(now, msg, outbox);
        // Hand on events before the letters, which the processor is still writing.
        let is_heard = witness.tell(&mut outbox.events);
        let ending = body.carry(now, outbox, |at, mail| {
            *moves += u64::from(P::effect(&mail).moves);
            timers.push_ranked(at, P::rank(&mail), mail);
        });
        let calm = outbox.calm.take();
        self.end_if(is_heard, ending);
        self.settle(now, moved, calm);
    }

    /// Notes whether a handled message may have moved a slot or a job, and takes the JobTracker's
    /// report that it is idle, if there was one. The run is at rest if no message that may move
    /// something is due, and if none was handled since the JobTracker's last news from every
    /// tracker.
    pub(super) fn settle(&mut self, now: SimTime, moved: bool, calm: Option<IdleState>) {
        if moved {
            self.moves -= 1;
            // On a scaled clock the results of handled messages come here in any order.
            self.moved_at = self.moved_at.max(now);
        }
        if let Some(IdleState { trackers, since }) = calm
            // No due message could move anything, nothing has moved since the JobTracker's last
            // news from every tracker, and no running machine is still to register.
            && self.moves == 0
            && self.moved_at < since
            && trackers == self.witness.machines
            && !mem::replace(&mut self.is_at_rest, true)
            && let Some(mail) = P::rest()
        {
            self.timers.push_ranked(now, P::rank(&mail), mail);
        }
    }

    /// Adds letters, with the instants of their arrival, to the queue.
    pub(super) fn post(&mut self, letters: impl IntoIterator<Item = (SimTime, P::Mail)>) {
        for (at, mail) in letters {
            self.moves += u64::from(P::effect(&mail).moves);
            self.timers.push_ranked(at, P::rank(&mail), mail);
        }
    }

    /// Takes the events of a core, and the end of the run if the core ends it.
    pub(super) fn take_over(
        &mut self,
        events: &mut Vec<P::Event>,
        ending: Option<Ending<P::Stall>>,
    ) {
        let is_heard = self.witness.tell(events);
        self.end_if(is_heard, ending);
    }

    /// Ends the run if its events have no listener any more, or if there is an ending.
    fn end_if(&mut self, is_heard: bool, ending: Option<Ending<P::Stall>>) {
        if !is_heard {
            self.end(Ending::SinkBroke);
        }
        if let Some(ending) = ending {
            self.end(ending);
        }
    }

    /// Hands on the events that are held back.
    pub(super) fn flush(&mut self) {
        self.witness.events.flush();
    }

    pub(super) fn has_nothing_to_come(&mut self) -> bool {
        self.timers.next_time().is_none()
    }

    /// Ends the run, unless it has ended already.
    pub(super) fn end(&mut self, ending: Ending<P::Stall>) {
        // The first reason counts: later ones may follow from it.
        self.ending.get_or_insert(ending);
    }

    pub(super) fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    /// Returns when the run was stopped, by a core, a limit or a standstill; `None` if it ended
    /// otherwise.
    pub(super) fn stopped_at(&self) -> Option<SimTime> {
        matches!(self.ending, Some(Ending::Stopped(_))).then_some(self.now)
    }

    /// Lets the head emit the events that it has held back, at the end of the run.
    pub(super) fn flush_head(&mut self, head: &mut SeatedHead<P>) {
        if let Some(at) = self.stopped_at()
            && let Some(over) = P::over()
            && let Err(ending) = caught(|| self.step(at, &over, head))
        {
            // A panic is the reason that counts: the events are not whole without it.
            self.ending = Some(ending);
        }
    }

    /// Returns the measures of the run, and how it ended.
    pub(super) fn result(&self) -> (RunStats, Ending<P::Stall>) {
        let ending = self.ending.clone().expect("a drive goes on until the run has ended");
        (RunStats { end: self.now, messages: self.messages, lag: None }, ending)
    }
}
