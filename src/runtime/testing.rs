//! Cores made of closures, for the tests of drives: each message has a number, and so has each
//! event.

use std::marker::PhantomData;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::{EventSink, Links, RunCores, RunPlan};
use mumakil_base::random::Dist;
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::mapred::{
    Core, Event, Fact, JobId, Mail, MapReduce, MemberFact, Message, Outbox, Outcome, ToInjector,
    ToJobTracker, ToTracker, TrackerId,
};

pub(super) const MS: SimSpan = SimSpan::from_millis(1);

pub(super) fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + MS * millis
}

/// A core that runs a closure.
struct Scripted<M, F> {
    script: F,
    told: PhantomData<fn(M)>,
}

impl<M: Message<Protocol = MapReduce>, F: FnMut(M, &mut Outbox) + Send> Core for Scripted<M, F> {
    type Msg = M;

    fn handle(&mut self, msg: &M, out: &mut Outbox) {
        (self.script)(msg.clone(), out);
    }
}

pub(super) fn core<M: Message<Protocol = MapReduce>>(
    script: impl FnMut(M, &mut Outbox) + Send + 'static,
) -> Box<dyn Core<Msg = M>> {
    Box::new(Scripted { script, told: PhantomData })
}

/// A JobTracker that holds no events back.
pub(super) fn job_tracker(
    mut script: impl FnMut(ToJobTracker, &mut Outbox) + Send + 'static,
) -> Box<dyn Core<Msg = ToJobTracker>> {
    core(move |msg, out| match msg {
        ToJobTracker::Over => {}
        msg => script(msg, out),
    })
}

/// A run without end, of cores that do nothing, over links that take no time.
pub(super) fn play(trackers: usize) -> RunPlan {
    let tracker = |_| -> Box<dyn Core<Msg = ToTracker>> { core(|_, _| {}) };
    RunPlan {
        cast: RunCores {
            job_tracker: core(|_, _| {}),
            injector: core(|_, _| {}),
            trackers: (0..trackers).map(tracker).collect(),
            fabric: None,
            nature: None,
            name_node: None,
            map_outputs: None,
        },
        links: links(trackers),
        opening: Vec::new(),
        events: Box::new(()),
        until: SimTime::NEVER,
        time_limit: None,
        outlasts: false,
        pace: None,
    }
}

/// Links within a rack that take no time and lose no message.
pub(super) fn links(trackers: usize) -> Links {
    Links {
        seed: 1,
        latency: Dist::Constant(SimSpan::ZERO),
        cross_rack: Dist::Constant(SimSpan::ZERO),
        is_away: vec![false; trackers],
        cross_pod: Dist::Constant(SimSpan::ZERO),
        is_far: vec![false; trackers],
        loss: Fraction::ZERO,
        duplication: Fraction::ZERO,
        late: Fraction::ZERO,
        late_by: Dist::Constant(SimSpan::ZERO),
        cuts: Vec::new(),
    }
}

// ---- messages and timers ----

/// Returns a message with a number to the JobTracker.
pub(super) fn call(number: u32) -> Mail {
    ToJobTracker::KillJob(JobId(number)).into()
}

/// Returns a timer of the JobTracker with a number.
pub(super) fn recall(number: u32) -> Mail {
    ToJobTracker::Initialised(JobId(number), 0).into()
}

/// Returns a message with a number to the injector.
pub(super) fn remark(number: u32) -> Mail {
    ToInjector::JobEnded(JobId(number), Outcome::Succeeded).into()
}

/// Returns a message with a number to a tracker.
pub(super) fn tell(tracker: u32, number: u32) -> Mail {
    Mail::Tracker(TrackerId(tracker), ToTracker::PhaseEnds(number.into()))
}

/// Returns a timer of a tracker with a number.
pub(super) fn beat(tracker: u32, number: u32) -> Mail {
    Mail::Tracker(TrackerId(tracker), ToTracker::Beat(number))
}

/// Returns the number in a message to the JobTracker.
pub(super) fn called(msg: &ToJobTracker) -> u32 {
    match msg {
        ToJobTracker::KillJob(id) | ToJobTracker::Initialised(id, _) => id.0,
        other => unreachable!("no test says {other:?}"),
    }
}

/// Returns the number in a message to a tracker.
pub(super) fn told(msg: &ToTracker) -> u32 {
    match msg {
        ToTracker::PhaseEnds(number) => u32::try_from(*number).expect("the number was a `u32`"),
        ToTracker::Beat(number) => *number,
        other => unreachable!("no test says {other:?}"),
    }
}

// ---- events ----

/// Emits an event with a number.
pub(super) fn see(out: &mut Outbox, number: u32) {
    out.emit(Fact::Member(TrackerId(number), MemberFact::Forgiven));
}

/// Hands events on, until the receiver is closed.
struct EventRelay {
    events: Sender<Event>,
    is_broken: bool,
}

impl EventSink for EventRelay {
    fn take(&mut self, events: &mut Vec<Event>) {
        for event in events.drain(..) {
            self.is_broken |= self.events.send(event).is_err();
        }
    }
    fn flush(&mut self) {}
    fn is_broken(&self) -> bool {
        self.is_broken
    }
}

/// Returns a sink, and the receiver of its events.
pub(super) fn witness() -> (Box<dyn EventSink>, Receiver<Event>) {
    let (events, seen) = unbounded();
    (Box::new(EventRelay { events, is_broken: false }), seen)
}

/// Returns the numbers of the events, in order.
pub(super) fn seen(events: &Receiver<Event>) -> Vec<u32> {
    let number = |event: Event| match event.fact {
        Fact::Member(id, MemberFact::Forgiven) => id.0,
        other => unreachable!("no test sees {other:?}"),
    };
    events.try_iter().map(number).collect()
}
