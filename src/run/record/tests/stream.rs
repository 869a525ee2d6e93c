//! A builder with which tests write streams of facts.

use std::sync::Arc;

use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, AttemptState, Event, Fact, JobFact, JobId, JobSpec, LedgerFact,
    Locality, MemberFact, Order, Outcome, PerSlot, PhaseTimes, Reason, Role, SlotCounts, TaskId,
    TaskKind, TrackerFact, TrackerId,
};

/// A stream of facts. Its methods add facts and return it, so that calls can be chained.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) now: SimTime,
    pub(crate) events: Vec<Event>,
}

pub(crate) fn map(job: u32, index: u32) -> AttemptId {
    TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0)
}

pub(crate) fn reduce(job: u32, index: u32) -> AttemptId {
    TaskId { job: JobId(job), kind: TaskKind::Reduce, index }.attempt(0)
}

pub(crate) fn again(attempt: AttemptId) -> AttemptId {
    attempt.task.attempt(attempt.number + 1)
}

impl Stream {
    /// Sets the instant of the next facts, in milliseconds.
    pub(crate) fn at(mut self, millis: u64) -> Self {
        self.now = SimTime::ZERO + SimSpan::from_millis(millis);
        self
    }

    pub(crate) fn fact(mut self, fact: Fact) -> Self {
        self.events.push(Event { at: self.now, fact });
        self
    }

    /// Adds that a tracker starts and joins.
    pub(crate) fn up(self, tracker: u32, map: u32, reduce: u32) -> Self {
        let tracker = TrackerId(tracker);
        self.fact(Fact::Tracker(tracker, TrackerFact::Up(PerSlot { map, reduce })))
            .fact(Fact::Member(tracker, MemberFact::Joined))
    }

    /// Adds that a job arrives and can launch tasks at once.
    pub(crate) fn submit(self, spec: JobSpec) -> Self {
        let job = spec.id;
        self.fact(Fact::Job(job, JobFact::Submitted(Arc::new(spec))))
            .fact(Fact::Job(job, JobFact::Initialised))
            .fact(Fact::Job(job, JobFact::Running))
    }

    /// Adds that a job arrives and is refused.
    pub(crate) fn refuse(self, spec: JobSpec, reason: Reason) -> Self {
        let job = spec.id;
        self.fact(Fact::Job(job, JobFact::Submitted(Arc::new(spec))))
            .fact(Fact::Job(job, JobFact::SubmissionRefused(reason)))
    }

    pub(crate) fn job_ended(self, job: u32, outcome: Outcome) -> Self {
        self.fact(Fact::Job(JobId(job), JobFact::Ended(outcome)))
    }

    /// Adds that a map or reduce is assigned; `counts` are the running and pending tasks after
    /// that.
    pub(crate) fn assign(self, attempt: AttemptId, tracker: u32, counts: (u32, u32)) -> Self {
        self.grant(attempt, tracker, counts, |_| {})
    }

    /// As `assign`, with details that the closure sets.
    pub(crate) fn grant(
        self,
        attempt: AttemptId,
        tracker: u32,
        (running, pending): (u32, u32),
        change: impl FnOnce(&mut Granted),
    ) -> Self {
        let mut granted = Granted {
            role: Role::Work,
            locality: (attempt.task.kind == TaskKind::Map).then_some(Locality::Node),
            speculative: false,
            reason: Reason::InLine(0),
        };
        change(&mut granted);
        let Granted { role, locality, speculative, reason } = granted;
        self.fact(Fact::Ledger(
            attempt,
            TrackerId(tracker),
            LedgerFact::Assigned {
                role,
                locality,
                speculative,
                reason,
                waited: SimSpan::from_millis(10),
                counts: SlotCounts { running, pending },
            },
        ))
    }

    pub(crate) fn learn(
        self,
        attempt: AttemptId,
        tracker: u32,
        state: AttemptState,
        (running, pending): (u32, u32),
    ) -> Self {
        self.fact(Fact::Ledger(
            attempt,
            TrackerId(tracker),
            LedgerFact::Learned { state, counts: SlotCounts { running, pending } },
        ))
    }

    pub(crate) fn start(self, attempt: AttemptId, tracker: u32) -> Self {
        self.start_in(1, attempt, tracker)
    }

    /// As `start`, for an attempt that takes `slots` slots.
    pub(crate) fn start_in(self, slots: u32, attempt: AttemptId, tracker: u32) -> Self {
        let (tracker, role) = (TrackerId(tracker), Role::Work);
        self.fact(Fact::Attempt(attempt, tracker, AttemptFact::Started { role, slots }))
    }

    pub(crate) fn order(
        self,
        attempt: AttemptId,
        tracker: u32,
        order: Order,
        reason: Reason,
    ) -> Self {
        self.fact(Fact::Ledger(attempt, TrackerId(tracker), LedgerFact::Ordered { order, reason }))
    }

    pub(crate) fn suspend(self, attempt: AttemptId, tracker: u32) -> Self {
        self.fact(Fact::Attempt(attempt, TrackerId(tracker), AttemptFact::Suspended))
    }

    pub(crate) fn resume(self, attempt: AttemptId, tracker: u32) -> Self {
        self.fact(Fact::Attempt(attempt, TrackerId(tracker), AttemptFact::Resumed))
    }

    pub(crate) fn end(self, attempt: AttemptId, tracker: u32, outcome: Outcome) -> Self {
        self.end_after(attempt, tracker, outcome, PhaseTimes::default())
    }

    pub(crate) fn end_after(
        self,
        attempt: AttemptId,
        tracker: u32,
        outcome: Outcome,
        phases: PhaseTimes,
    ) -> Self {
        let (tracker, role) = (TrackerId(tracker), Role::Work);
        self.fact(Fact::Attempt(attempt, tracker, AttemptFact::Ended { role, outcome, phases }))
    }

    pub(crate) fn heartbeat(self, tracker: u32, rtt: u64, queued: u64) -> Self {
        self.fact(Fact::Tracker(
            TrackerId(tracker),
            TrackerFact::Heartbeat {
                rtt: SimSpan::from_micros(rtt),
                queued: SimSpan::from_micros(queued),
            },
        ))
    }
}

/// The details of an assignment that few tests set.
pub(crate) struct Granted {
    pub(crate) role: Role,
    pub(crate) locality: Option<Locality>,
    pub(crate) speculative: bool,
    pub(crate) reason: Reason,
}
