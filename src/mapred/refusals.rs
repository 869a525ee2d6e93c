//! Why jobs with something to launch got nothing: what policies refuse, kept as intervals.
//!
//! A policy refuses the same job the same thing at one heartbeat after the other. So for each job, kind
//! of slot and cause one interval is open, from the first such refusal on; it is told when the job gets a
//! slot of the kind, which ends it, when the job ends, or when it has not been refused so for a minute. So
//! memory is bounded by the jobs and the few causes, however long the run is.

use std::mem;

use super::{Fact, JobId, Outbox, PerSlot, Reason, SlotKind};
use crate::units::{SimSpan, SimTime};

/// What has not happened for so long is over.
const FORGOTTEN_AFTER: SimSpan = SimSpan::from_secs(60);

/// The refusals that are not told yet.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// By the number of the job.
    open: Vec<PerSlot<Vec<Refusal>>>,
    swept_at: SimTime,
}

/// A row of refusals.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    /// As it was told the last time.
    reason: Reason,
    from: SimTime,
    last: SimTime,
    times: u32,
}

impl Refusals {
    /// Notes that a job with something to launch got nothing.
    pub(super) fn note(&mut self, now: SimTime, job: JobId, kind: SlotKind, reason: Reason) {
        if self.open.len() <= job.index() {
            self.open.resize_with(job.index() + 1, PerSlot::default);
        }
        let open = &mut self.open[job.index()][kind];
        let is_same =
            |one: &&mut Refusal| mem::discriminant(&one.reason) == mem::discriminant(&reason);
        match open.iter_mut().find(is_same) {
            Some(one) => (one.reason, one.last, one.times) = (reason, now, one.times + 1),
            None => open.push(Refusal { reason, from: now, last: now, times: 1 }),
        }
    }

    /// Notes that a job got a slot: until now it has waited for a near one, if it did.
    pub(super) fn launched(&mut self, now: SimTime, job: JobId, kind: SlotKind, out: &mut Outbox) {
        let Some(open) = self.open.get_mut(job.index()) else { return };
        for one in open[kind].drain(..) {
            let to = if matches!(one.reason, Reason::Delay(_)) { now } else { one.last };
            tell(now, job, kind, one, to, out);
        }
    }

    /// Notes that a job has ended.
    pub(super) fn ended(&mut self, now: SimTime, job: JobId, out: &mut Outbox) {
        let Some(open) = self.open.get_mut(job.index()) else { return };
        for kind in SlotKind::BOTH {
            for one in mem::take(&mut open[kind]) {
                tell(now, job, kind, one, one.last, out);
            }
        }
    }

    /// Tells what has not happened for long, once in a while.
    pub(super) fn sweep(&mut self, now: SimTime, out: &mut Outbox) {
        if now < self.swept_at + FORGOTTEN_AFTER {
            return;
        }
        self.swept_at = now;
        for (job, open) in (0..).map(JobId).zip(&mut self.open) {
            for kind in SlotKind::BOTH {
                let is_old = |one: &mut Refusal| one.last + FORGOTTEN_AFTER <= now;
                for one in open[kind].extract_if(.., is_old) {
                    tell(now, job, kind, one, one.last, out);
                }
            }
        }
    }
}

fn tell(now: SimTime, job: JobId, kind: SlotKind, one: Refusal, to: SimTime, out: &mut Outbox) {
    let Refusal { reason, from, times, .. } = one;
    out.emit(now, Fact::Refused { job, kind, from, to, times, reason });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    /// Returns what was told: the code, from when to when in seconds, and how often.
    fn told(out: &Outbox) -> Vec<(&'static str, u64, u64, u32)> {
        let tell = |event: &crate::mapred::Event| match event.fact {
            Fact::Refused { from, to, times, reason, .. } => {
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
        refusals.launched(at(20), job, map, &mut out);
        assert_eq!(told(&out), [("delay", 10, 20, 3), ("bad-tracker", 17, 17, 1)]);
        refusals.ended(at(40), job, &mut out);
        assert_eq!(told(&out)[2..], [("user-limit", 10, 16, 3)]);
        refusals.launched(at(50), job, map, &mut out);
        assert_eq!(told(&out).len(), 3, "nothing is told twice");
    }

    #[test]
    fn what_has_not_happened_for_a_minute_is_told() {
        let (mut refusals, mut out) = (Refusals::default(), Outbox::default());
        refusals.note(at(100), JobId(0), SlotKind::Map, Reason::UserLimit);
        refusals.note(at(150), JobId(1), SlotKind::Map, Reason::UserLimit);
        refusals.sweep(at(165), &mut out);
        assert_eq!(told(&out), [("user-limit", 100, 100, 1)]);
        refusals.sweep(at(215), &mut out);
        assert_eq!(told(&out).len(), 1, "it has looked less than a minute ago");
        refusals.sweep(at(230), &mut out);
        assert_eq!(told(&out)[1..], [("user-limit", 150, 150, 1)]);
    }
}
