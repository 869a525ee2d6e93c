//! When a tracker's heartbeats are due, which heartbeat is under way, and which answers have come.
//!
//! Most heartbeats bring no news and change nothing. All fields that such a heartbeat uses are
//! here, side by side: with thousands of trackers, a tracker's other fields have left the
//! processor's cache long before its next heartbeat is due.

use std::mem;

use rand::RngExt;

use super::HeartbeatManner;
use crate::cluster::TrackerId;
use crate::mapred::cost::Costs;
use crate::mapred::event::{Fact, TrackerFact};
use crate::mapred::hadoop::{Draws, IntervalFuzz};
use crate::mapred::heartbeat::HeartbeatCall;
use crate::mapred::message::{Mail, ToTracker};
use crate::mapred::outbox::Outbox;
use mumakil_base::random::mumak::JavaRandom;
use mumakil_base::random::{ChaCha8Rng, Purpose, stream};
use mumakil_base::units::{SimSpan, SimTime};

/// The heartbeats of one tracker.
#[derive(Default)]
pub(super) struct HeartbeatState {
    tracker: TrackerId,
    /// Whether the tracker's process runs.
    pub(super) is_up: bool,
    pub(super) manner: HeartbeatManner,
    /// Whether the last heartbeat was brief.
    was_brief: bool,
    /// Whether the next heartbeat must be a full one: something has changed, or an attempt is in a
    /// state on which the JobTracker or this tracker acts with each heartbeat.
    pub(super) has_news: bool,
    /// Whether an out-of-band heartbeat is wanted.
    is_hurried: bool,
    /// The number of the heartbeat that is planned or under way; timers with a lower number are
    /// stale.
    number: u32,
    /// The number of the last reply that the tracker has received; `None` before the first.
    pub(super) last_reply: Option<u16>,
    /// Whether the last heartbeat has no reply yet.
    is_under_way: bool,
    /// Whether the next heartbeat is planned or sent; false while the tracker executes an answer.
    is_planned: bool,
    /// When the last heartbeat was sent.
    sent_at: SimTime,
    pub(super) interval: SimSpan,
    /// The random numbers that vary the interval; `None` if it is constant.
    fuzz: Option<FuzzDraws>,
}

/// The source of the random numbers that are added to the interval.
enum FuzzDraws {
    Own(Box<ChaCha8Rng>),
    Mumak(JavaRandom),
}

impl FuzzDraws {
    fn of(costs: &Costs, tracker: TrackerId) -> Self {
        match costs.hadoop.draws {
            Draws::Own => {
                Self::Own(Box::new(stream(costs.seed, Purpose::Fuzz, u64::from(tracker.0))))
            }
            Draws::Mumak => Self::Mumak(JavaRandom::of_fuzz(costs.seed, tracker.0)),
        }
    }

    /// Draws a span from 0 to `most`; Mumak draws whole milliseconds.
    fn up_to(&mut self, most: SimSpan) -> SimSpan {
        match self {
            Self::Own(rng) => SimSpan::from_micros(rng.random_range(0..=most.as_micros())),
            Self::Mumak(java) => {
                // The bound is one more than the largest draw, as in Java's `nextInt`, and must
                // still fit.
                let millis = i32::try_from(most.as_millis()).unwrap_or(i32::MAX).min(i32::MAX - 1);
                SimSpan::from_millis(java.below(millis + 1) as u64)
            }
        }
    }
}

impl HeartbeatState {
    /// Returns the state of a tracker whose machine is off.
    pub(super) fn new(tracker: TrackerId, costs: &Costs, manner: HeartbeatManner) -> Self {
        let varies = costs.hadoop.heartbeat_fuzz != IntervalFuzz::NONE;
        Self {
            tracker,
            manner,
            has_news: true,
            interval: costs.hadoop.heartbeat_floor,
            fuzz: varies.then(|| FuzzDraws::of(costs, tracker)),
            ..Self::default()
        }
    }

    /// Starts the heartbeats of a new process, which has sent none yet.
    pub(super) fn start(&mut self) {
        self.is_up = true;
        self.has_news = true;
        // A heartbeat without a last reply tells the JobTracker that the process is new.
        self.last_reply = None;
    }

    /// Ends the heartbeats of a process that has died: a heartbeat that is planned or under way no
    /// longer counts.
    pub(super) fn stop(&mut self) {
        self.is_up = false;
        self.is_under_way = false;
        // This makes the timer and the reply of that heartbeat stale.
        self.number += 1;
    }

    /// Returns whether no heartbeat was ever planned.
    pub(super) fn is_new(&self) -> bool {
        self.number == 0
    }

    /// Returns when the last heartbeat was sent.
    pub(super) fn sent_at(&self) -> SimTime {
        self.sent_at
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Returns whether the timer of this heartbeat still counts: since it was set, the heartbeat
    /// has not been moved and the process has not died.
    pub(super) fn is_due(&self, number: u32) -> bool {
        number == self.number && self.is_up
    }

    /// Returns whether this heartbeat is under way.
    pub(super) fn awaits(&self, number: u32) -> bool {
        number == self.number && self.is_under_way()
    }

    /// Returns the number and tracker of the heartbeat that is under way, or else of the next one.
    pub(super) fn call(&self) -> HeartbeatCall {
        HeartbeatCall { tracker: self.tracker, number: self.number, last_reply: self.last_reply }
    }

    /// Returns whether the heartbeat that is under way is brief.
    pub(super) fn is_brief(&self) -> bool {
        self.was_brief
    }

    pub(super) fn plan(&mut self, after: SimSpan, out: &mut Outbox) {
        self.number += 1;
        self.is_planned = true;
        out.plan(after, Mail::Tracker(self.tracker, ToTracker::Beat(self.number)));
    }

    /// Plans the next heartbeat: at once if an out-of-band heartbeat is wanted, otherwise after the
    /// interval of the last answer, plus or minus the fuzz.
    pub(super) fn plan_next(&mut self, fuzz: IntervalFuzz, out: &mut Outbox) {
        let next = if self.is_hurried { SimSpan::ZERO } else { self.fuzzy_interval(fuzz) };
        self.plan(next, out);
    }

    fn fuzzy_interval(&mut self, IntervalFuzz { early, late }: IntervalFuzz) -> SimSpan {
        let Some(draws) = &mut self.fuzz else { return self.interval };
        let shifted = self.interval + draws.up_to(early + late);
        // The interval is never zero: heartbeats would repeat for ever at one instant.
        shifted.saturating_sub(early).max(SimSpan::from_millis(1))
    }

    /// Makes the next heartbeat come at once, even if it is not planned yet.
    pub(super) fn request_heartbeat(&mut self, out: &mut Outbox) {
        // If a heartbeat is under way, or its answer is being executed, only `is_hurried` is set:
        // the next heartbeat then follows at once.
        if !mem::replace(&mut self.is_hurried, true) && !self.is_under_way && self.is_planned {
            self.plan(SimSpan::ZERO, out);
        }
    }

    /// Marks the heartbeat that is due as sent; later news are for the next heartbeat. Returns
    /// whether the heartbeat is brief.
    pub(super) fn send(&mut self, now: SimTime) -> bool {
        (self.is_under_way, self.sent_at) = (true, now);
        self.is_hurried = false;
        self.was_brief = self.manner.is_brief && !self.has_news;
        self.was_brief
    }

    /// Returns whether this answers the heartbeat that is under way, and emits how long the answer
    /// took. A reply to an earlier heartbeat, or a second copy of a reply, is ignored.
    pub(super) fn is_answered(&mut self, call: u32, queued: SimSpan, out: &mut Outbox) -> bool {
        // `take`, so that only the first copy of the reply counts.
        if call != self.number || !mem::take(&mut self.is_under_way) {
            return false;
        }
        self.is_planned = false;
        let rtt = out.now - self.sent_at;
        out.emit(Fact::Tracker(self.tracker, TrackerFact::Heartbeat { rtt, queued }));
        true
    }

    /// Counts an answer that has no number of its own. It is never the first answer, as a first
    /// contact is answered in full.
    pub(super) fn count_answer(&mut self) {
        // Hadoop's response ids have 16 bits and wrap around.
        self.last_reply = self.last_reply.map(|last| last.wrapping_add(1));
    }

    /// Returns whether the last heartbeat was brief and nothing has changed since.
    pub(super) fn is_unchanged(&self) -> bool {
        self.was_brief && !self.has_news
    }
}
