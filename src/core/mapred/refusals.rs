//! Why jobs with a task to launch got no slot: the refusals of policies, kept as intervals.
//!
//! A policy refuses the same job for the same cause at many heartbeats in a row. So each job, kind
//! of slot and cause has one open interval, which begins with the first such refusal. The interval
//! is emitted when the job gets a slot of the kind, when the job ends, when no such refusal has
//! come for a minute, or when the run is over. So memory is bounded by the number of jobs and
//! causes, however long the run is. Each interval keeps the jobs that held the most slots at its
//! last refusal, since other jobs may hold these slots when the interval is emitted.
//!
//! A watcher of the run reads the open intervals. A run that records no decisions emits none of
//! them, so that it has the same events with a watcher and without.

use std::mem;

use crate::cluster::{PerSlot, SlotKind};
use crate::mapred::event::{Fact, JobFact};
use crate::mapred::holders::{HeldSlots, Holders};
use crate::mapred::ids::JobId;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::{LastRefusal, Reason};
use mumakil_base::units::{SimSpan, SimTime};

/// An interval of refusals ends when this much time has passed without a refusal.
// Chosen: policies refuse a waiting job every few seconds, so after a minute the cause has passed.
const FORGOTTEN_AFTER: SimSpan = SimSpan::from_secs(60);

/// Refusals that come at least this often always make one interval.
// Chosen: half of `FORGOTTEN_AFTER`, so that a refusal that comes late still finds its interval
// open.
pub(super) const REMEMBERED_FOR: SimSpan = SimSpan::from_secs(30);

/// The refusals that are not emitted yet.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// The open intervals, by the number of the job.
    open: Vec<PerSlot<Vec<Refusal>>>,
    swept_at: SimTime,
    held: PerSlot<HeldSlots>,
    is_silent: bool,
    /// Whether refusals for lack of memory or cores become events although others do not.
    tells_room: bool,
}

/// An interval of refusals.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    /// The reason at the last refusal.
    reason: Reason,
    from: SimTime,
    last: SimTime,
    times: u32,
    /// The jobs that held the most slots at the last refusal.
    holders: Holders,
}

impl Refusals {
    /// Returns refusals that emit no events.
    pub(super) fn silent() -> Self {
        Self { is_silent: true, ..Self::default() }
    }

    /// Returns refusals of which only those for lack of memory or cores become events.
    pub(super) fn of_room() -> Self {
        Self { tells_room: true, ..Self::silent() }
    }

    /// Returns whether all intervals become events.
    pub(super) fn are_emitted(&self) -> bool {
        !self.is_silent
    }

    /// Returns the last refusal of a job that has got no slot since.
    pub(super) fn last(&self, job: JobId, kind: SlotKind) -> Option<LastRefusal> {
        let open = &self.open.get(job.index())?[kind];
        // Of several causes at one instant, the one that was noted first was refused first.
        let newest = open.iter().rev().max_by_key(|one| one.last)?;
        let Refusal { reason, from, last, times, .. } = *newest;
        Some(LastRefusal { reason, from, last, times })
    }

    /// Notes that a job with a task to launch got no slot.
    pub(super) fn note(&mut self, now: SimTime, job: JobId, kind: SlotKind, reason: Reason) {
        if self.open.len() <= job.index() {
            self.open.resize_with(job.index() + 1, PerSlot::default);
        }
        let holders = self.held[kind].first();
        let open = &mut self.open[job.index()][kind];
        // Compare the cause, not its numbers, which change with every heartbeat.
        let mut same = open.iter_mut();
        match same.find(|one| mem::discriminant(&one.reason) == mem::discriminant(&reason)) {
            Some(one) => {
                let Refusal { from, times, .. } = *one;
                *one = Refusal { reason, from, last: now, times: times + 1, holders };
            }
            None => open.push(Refusal { reason, from: now, last: now, times: 1, holders }),
        }
    }

    /// Adds to the slots that a job holds, or subtracts from them.
    pub(super) fn holds(&mut self, job: JobId, kind: SlotKind, slots: i32) {
        self.held[kind].shift(job, slots);
    }

    /// Returns how many slots a job holds.
    pub(super) fn held(&self, job: JobId, kind: SlotKind) -> u32 {
        self.held[kind].of(job)
    }

    /// Emits the intervals of a job that got a slot.
    pub(super) fn launched(&mut self, job: JobId, kind: SlotKind, out: &mut Outbox) {
        let Some(open) = self.open.get_mut(job.index()) else { return };
        for one in open[kind].drain(..).filter(is_told(self.is_silent, self.tells_room)) {
            // A wait for a slot near the input lasts until the job gets a slot; other causes may
            // have ended with the last refusal.
            let to = if matches!(one.reason, Reason::Delay(_)) { out.now } else { one.last };
            tell(job, kind, one, to, out);
        }
    }

    /// Emits the intervals of a job that has ended.
    pub(super) fn ended(&mut self, job: JobId, out: &mut Outbox) {
        let Some(open) = self.open.get_mut(job.index()) else { return };
        for kind in SlotKind::BOTH {
            let is_told = is_told(self.is_silent, self.tells_room);
            for one in mem::take(&mut open[kind]).into_iter().filter(is_told) {
                tell(job, kind, one, one.last, out);
            }
        }
    }

    /// Emits the intervals that had no refusal for a minute; looks for them at most once a minute.
    pub(super) fn sweep(&mut self, out: &mut Outbox) {
        let now = out.now;
        if now < self.swept_at + FORGOTTEN_AFTER {
            return;
        }
        self.swept_at = now;
        self.send_refusals(out, |one| one.last + FORGOTTEN_AFTER <= now);
    }

    /// Emits all open intervals at the end of the run.
    pub(super) fn close(&mut self, out: &mut Outbox) {
        self.send_refusals(out, |_| true);
    }

    fn send_refusals(&mut self, out: &mut Outbox, is_over: impl Fn(&Refusal) -> bool) {
        for (job, open) in (0..).map(JobId).zip(&mut self.open) {
            for kind in SlotKind::BOTH {
                let gone = open[kind].extract_if(.., |one| is_over(one));
                for one in gone.filter(is_told(self.is_silent, self.tells_room)) {
                    tell(job, kind, one, one.last, out);
                }
            }
        }
    }
}

/// Returns the test of whether an interval becomes an event.
fn is_told(is_silent: bool, tells_room: bool) -> impl Fn(&Refusal) -> bool {
    move |one| !is_silent || (tells_room && matches!(one.reason, Reason::NoRoom))
}

fn tell(job: JobId, kind: SlotKind, one: Refusal, to: SimTime, out: &mut Outbox) {
    let Refusal { reason, from, times, holders, .. } = one;
    out.emit(Fact::Job(job, JobFact::Refused { kind, from, to, times, reason, holders }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::event::Event;

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    /// Returns the emitted intervals: code, begin and end in seconds, and number of refusals.
    fn told(out: &Outbox) -> Vec<(&'static str, u64, u64, u32)> {
        let tell = |event: &Event| match event.fact {
            Fact::Job(_, JobFact::Refused { from, to, times, reason, .. }) => {
                (reason.code(), from.as_millis() / 1_000, to.as_millis() / 1_000, times)
            }
            _ => panic!("{event:?}"),
        };
        out.events.iter().map(tell).collect()
    }

    #[test]
    fn refusals_of_one_cause_are_one_until_there_is_a_slot() {
        let (mut refusals, mut out) = (Refusals::default(), Outbox::default());
        let (job, map) = (JobId(3), SlotKind::Map);
        for secs in [10, 13, 16] {
            refusals.note(at(secs), job, map, Reason::Delay(SimSpan::from_secs(secs - 10)));
            refusals.note(at(secs), job, SlotKind::Reduce, Reason::UserLimit);
        }
        refusals.note(at(17), job, map, Reason::BadTracker);
        out.now = at(20);
        refusals.launched(job, map, &mut out);
        assert_eq!(told(&out), [("delay", 10, 20, 3), ("bad-tracker", 17, 17, 1)]);
        out.now = at(40);
        refusals.ended(job, &mut out);
        assert_eq!(told(&out)[2..], [("user-limit", 10, 16, 3)]);
        out.now = at(50);
        refusals.launched(job, map, &mut out);
        assert_eq!(told(&out).len(), 3, "nothing is told twice");
    }

    #[test]
    fn a_minute_without_progress_is_mentioned() {
        let (mut refusals, mut out) = (Refusals::default(), Outbox::default());
        refusals.note(at(100), JobId(0), SlotKind::Map, Reason::UserLimit);
        refusals.note(at(150), JobId(1), SlotKind::Map, Reason::UserLimit);
        out.now = at(165);
        refusals.sweep(&mut out);
        assert_eq!(told(&out), [("user-limit", 100, 100, 1)]);
        out.now = at(215);
        refusals.sweep(&mut out);
        assert_eq!(told(&out).len(), 1, "the last sweep was less than a minute ago");
        out.now = at(230);
        refusals.sweep(&mut out);
        assert_eq!(told(&out)[1..], [("user-limit", 150, 150, 1)]);
    }

    #[test]
    fn spells_open_when_the_run_is_over_are_written() {
        let (mut refusals, mut out) = (Refusals::default(), Outbox::default());
        refusals.note(at(100), JobId(2), SlotKind::Map, Reason::UserLimit);
        refusals.note(at(130), JobId(2), SlotKind::Map, Reason::UserLimit);
        out.now = at(140);
        refusals.close(&mut out);
        assert_eq!(told(&out), [("user-limit", 100, 130, 2)]);
        refusals.close(&mut out);
        assert_eq!(told(&out).len(), 1, "nothing is told twice");
    }

    #[test]
    fn the_last_refusal_is_known_until_there_is_a_slot_and_silent_ones_emit_nothing() {
        let (mut refusals, mut out) = (Refusals::silent(), Outbox::default());
        let (job, map) = (JobId(3), SlotKind::Map);
        refusals.note(at(10), job, map, Reason::UserLimit);
        refusals.note(at(13), job, map, Reason::BadTracker);
        refusals.note(at(16), job, map, Reason::UserLimit);
        let last = LastRefusal { reason: Reason::UserLimit, from: at(10), last: at(16), times: 2 };
        assert_eq!(refusals.last(job, map), Some(last));
        assert_eq!(refusals.last(job, SlotKind::Reduce), None);
        assert_eq!(refusals.last(JobId(9), map), None);
        refusals.launched(job, map, &mut out);
        assert_eq!(refusals.last(job, map), None);
        refusals.note(at(20), job, map, Reason::UserLimit);
        out.now = at(100);
        refusals.sweep(&mut out);
        assert_eq!(refusals.last(job, map), None, "it was more than a minute ago");
        refusals.note(at(100), job, map, Reason::UserLimit);
        refusals.ended(job, &mut out);
        assert!(out.events.is_empty(), "{out:?}");
    }

    #[test]
    fn holders_of_slots_are_of_the_last_refusal() {
        let (mut refusals, mut out) = (Refusals::default(), Outbox::default());
        let map = SlotKind::Map;
        refusals.holds(JobId(0), map, 4);
        refusals.holds(JobId(0), SlotKind::Reduce, 9);
        refusals.note(at(100), JobId(1), map, Reason::UserLimit);
        refusals.holds(JobId(5), map, 2);
        refusals.holds(JobId(0), map, -1);
        refusals.note(at(110), JobId(1), map, Reason::UserLimit);
        refusals.holds(JobId(0), map, -3);
        out.now = at(200);
        refusals.close(&mut out);
        let Fact::Job(_, JobFact::Refused { holders, .. }) = &out.events[0].fact else {
            panic!("{out:?}")
        };
        assert_eq!(holders.iter().collect::<Vec<_>>(), [(JobId(0), 3), (JobId(5), 2)]);
    }
}
