//! One attempt on its tracker: its launch, its phases and its end.
//!
//! A phase that ends by itself has a timer with a number. If the phase is cut short, the attempt
//! forgets the number, and the timer has no effect. The submodule [`going`] moves a phase forward.
//! The module [`unfetched`](crate::mapred::unfetched) keeps the outputs that a reduce cannot fetch.
//!
//! ```text
//! map:     Start ─► Work ─► (Commit)
//! reduce:  Start ─► Shuffle ─► Sort ─► Reduce ─► (Commit)
//! ```

mod going;

use std::mem::offset_of;
use std::num::NonZeroU64;
use std::sync::Arc;

use self::going::{AttemptFlow, ReduceFetching, next_poll};
use super::phase_progress::{PhaseProgress, at_pace};
use crate::cluster::{SlotKind, Speeds};
use crate::mapred::cost::{AttemptPlan, FailureKind, FailurePoint, PhaseEffort};
use crate::mapred::event::{AttemptState, PhaseTimes, Role};
use crate::mapred::heartbeat::{AttemptPhase, LaunchOrder, Report};
use crate::mapred::ids::{AttemptId, TaskKind};
use crate::mapred::spec::JobSpec;
use mumakil_base::units::{Bytes, SimSpan, SimTime};

/// An attempt on its tracker.
///
/// Fields lie in memory in this order, in four cache lines. The attempts of a thousand trackers do
/// not fit into the fast caches, so reading one more cache line takes longer than the work with its
/// fields.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Attempt {
    // Every heartbeat and every timer of the tracker reads the fields of this group.
    pub(super) id: AttemptId,
    /// How many slots it takes.
    pub(super) slots: u32,
    pub(super) role: Role,
    state: AttemptState,
    phase: AttemptPhase,
    /// Whether a heartbeat has reported the state in which it ended.
    is_reported: bool,
    /// Whether it is suspended, has been ordered to resume, and waits for a slot.
    wants_slot: bool,
    /// Whether it needs permission to commit its output after its work.
    commits: bool,
    /// Whether phases that take no time are passed at once, without a timer.
    at_once: bool,
    /// The share of the task's work that an earlier attempt had saved when this one began, or that
    /// this one saves at its end.
    saved: f32,
    /// The number of the timer that ends the phase, or the current part of the phase.
    timer: Option<NonZeroU64>,
    /// The current flow; `None` without one.
    flow: Option<Box<AttemptFlow>>,
    /// The progress of fetching; `None` unless it is a reduce.
    fetching: Option<Box<ReduceFetching>>,
    /// The point at which it fails or hangs; `None` if it does neither.
    planned_end: Option<Box<PlannedEnd>>,

    // The end of a phase also reads the fields of this group.
    /// The progress of the current phase. Exception: for a shuffle that shares no resources,
    /// `fetching` has the progress.
    course: PhaseProgress,
    /// When the current phase began, and how long it was suspended since.
    phase_began: SimTime,
    suspended_in_phase: SimSpan,
    /// When its process started.
    started: SimTime,
    /// When it was suspended or ended; `None` while it runs.
    stopped_at: Option<SimTime>,
    phases: PhaseTimes,

    // The beginning of the attempt also reads the fields of this group.
    job: Arc<JobSpec>,
    start_up: SimSpan,
    work: PhaseEffort,
    /// The speeds of its node; `None` if they never changed.
    speeds: Option<Arc<Speeds>>,
    /// The instant until which it waits for its memory to be swapped in.
    swaps_until: SimTime,
    /// If it was suspended while it waited for its memory, how much of that wait was left.
    swaps_for: SimSpan,
}

// Asserts the layout described above: a new field must not push an often-read field out of its
// cache line.
const _: () = assert!(offset_of!(Attempt, course) <= 64 && offset_of!(Attempt, job) <= 3 * 64);
const _: () = assert!(size_of::<Attempt>() <= 4 * 64);

/// How an attempt fails or hangs.
#[derive(Debug)]
struct PlannedEnd {
    breaks: FailurePoint,
    /// The instant since which it hangs; `None` before.
    hangs_since: Option<SimTime>,
    /// Whether it has thrown an exception.
    has_thrown: bool,
}

/// The next step of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptStep {
    /// It waits for other attempts or for the JobTracker.
    Nothing,
    /// Its phase, or the current part of the phase, ends after this span.
    After(SimSpan),
    /// A flow begins now, and ends when the fabric's rates say so.
    Flow,
    /// Its work is done, and it waits for permission to commit.
    Commit,
    /// It has succeeded.
    Done,
    /// It hangs from now on.
    Hangs,
    /// It fails.
    Broken,
    /// Its state is on disk, and it ends.
    Saved,
}

impl Attempt {
    pub(super) fn new(
        launch: &LaunchOrder,
        plan: AttemptPlan,
        speeds: Option<Arc<Speeds>>,
    ) -> Self {
        let AttemptPlan { start_up, shuffle, fetch_loop, sort, work, commits, breaks, at_once } =
            plan;
        // Boxed to keep attempts small: thousands run at a time, and most do not fail.
        let planned_end = breaks
            .map(|breaks| Box::new(PlannedEnd { breaks, hangs_since: None, has_thrown: false }));
        // The cleanup of a reduce fetches nothing, so `is_reduce` is false for it.
        let fetching =
            launch.is_reduce().then(|| Box::new(ReduceFetching::new(shuffle, sort, fetch_loop)));
        Self {
            id: launch.attempt,
            slots: launch.slots,
            role: launch.role,
            state: AttemptState::Unassigned,
            phase: AttemptPhase::Start,
            is_reported: false,
            wants_slot: true,
            commits,
            at_once,
            saved: launch.saved.map_or(0.0, |saved| saved.share),
            timer: None,
            flow: None,
            fetching,
            planned_end,
            course: PhaseProgress::default(),
            phase_began: SimTime::ZERO,
            suspended_in_phase: SimSpan::ZERO,
            started: SimTime::ZERO,
            stopped_at: None,
            phases: PhaseTimes::default(),
            job: launch.job.clone(),
            start_up,
            work,
            speeds,
            swaps_until: SimTime::ZERO,
            swaps_for: SimSpan::ZERO,
        }
    }

    pub(super) fn state(&self) -> AttemptState {
        self.state
    }

    pub(super) fn slot(&self) -> SlotKind {
        self.id.slot()
    }

    pub(super) fn job(&self) -> &JobSpec {
        &self.job
    }

    pub(super) fn memory(&self) -> Bytes {
        self.job.memory[self.slot()]
    }

    /// Returns whether it has this id, does the task's work and has not ended. The removal of its
    /// output has the same id, but takes no orders.
    pub(super) fn is(&self, id: AttemptId) -> bool {
        self.id == id && self.role == Role::Work && !self.has_ended()
    }

    pub(super) fn has_ended(&self) -> bool {
        use AttemptState as S;
        matches!(
            self.state,
            S::FailedUnclean | S::KilledUnclean | S::Succeeded | S::Failed | S::Killed
        )
    }

    /// Returns whether it has ended and a heartbeat has reported that.
    pub(super) fn is_settled(&self) -> bool {
        self.has_ended() && self.is_reported
    }

    /// Returns whether this attempt allows a brief heartbeat: neither the JobTracker nor its
    /// tracker has to act on it.
    pub(super) fn needs_no_heartbeat(&self) -> bool {
        self.state.needs_no_action() && !self.fetches() && !self.hangs()
    }

    /// Returns whether a kill would leave output that must be removed.
    pub(super) fn leaves_output(&self) -> bool {
        self.role == Role::Work && self.id.task.is_work()
    }

    /// Returns whether it is a map that has succeeded.
    pub(super) fn has_map_output(&self) -> bool {
        let is_map = self.role == Role::Work && self.id.task.kind == TaskKind::Map;
        is_map && self.state == AttemptState::Succeeded
    }

    pub(super) fn holds_slot(&self) -> bool {
        matches!(self.state, AttemptState::Running | AttemptState::CommitPending)
    }

    /// Returns whether it has a process, running or suspended.
    pub(super) fn has_process(&self) -> bool {
        self.holds_slot() || self.state == AttemptState::Suspended
    }

    pub(super) fn waits_for_slot(&self) -> bool {
        let waits = matches!(self.state, AttemptState::Unassigned | AttemptState::Suspended);
        waits && self.wants_slot
    }

    /// Returns whether heartbeats count it as holding a slot. `slot_held` says whether an attempt
    /// that waits for its commit counts.
    pub(super) fn is_reported_in_slot(&self, slot_held: bool) -> bool {
        match self.state {
            // Hadoop counts an attempt in its slot from the launch on, even while it waits for the
            // slot.
            AttemptState::Unassigned | AttemptState::Running => true,
            // A suspended attempt has given its slot up; after an order to resume, it waits for a
            // slot like a new attempt.
            AttemptState::Suspended => self.wants_slot,
            AttemptState::CommitPending => slot_held,
            AttemptState::FailedUnclean
            | AttemptState::KilledUnclean
            | AttemptState::Succeeded
            | AttemptState::Failed
            | AttemptState::Killed => false,
        }
    }

    /// Returns its report for a heartbeat, with the progress that its process last reported to the
    /// tracker. The process reports progress at intervals of `told_every`; with `None` the report
    /// has no progress.
    pub(super) fn report(&mut self, now: SimTime, told_every: Option<SimSpan>) -> Report {
        // An end counts as reported even if this heartbeat gets lost: the tracker then sends the
        // same status again.
        self.is_reported = self.has_ended();
        let (progress, ran, worked) = match told_every {
            Some(interval) => self.told(now, interval),
            None => Default::default(),
        };
        Report {
            attempt: self.id,
            state: self.state,
            phase: self.phase,
            progress,
            ran,
            worked,
            wants_maps: self.fetches(),
            saved: if self.has_saved() { self.saved } else { 0.0 },
        }
    }

    /// Returns its progress, how long it has run and how long it has worked, as its process last
    /// reported them. The process reports once in each `interval`.
    fn told(&self, now: SimTime, interval: SimSpan) -> (f32, SimSpan, SimSpan) {
        // Hadoop's child sends its last status at its end (Task.sendLastUpdate).
        let is_exact = interval.is_zero() || self.has_ended();
        let told = if is_exact || self.state == AttemptState::Unassigned {
            now
        } else {
            let running = now.saturating_since(self.started).as_micros();
            // Hadoop's child reports its progress every 3 s (Task.PROGRESS_INTERVAL), counted from
            // its start, so the progress in a heartbeat may be 3 s old.
            let stale = running % interval.as_micros();
            SimTime::from_micros(now.as_micros() - stale)
        };
        let ran = self.ran(told);
        (self.progress(told), ran, self.worked(ran))
    }

    /// Returns whether this is the work of a reduce, not the removal of its output.
    pub(super) fn is_reduce(&self) -> bool {
        self.fetching.is_some()
    }

    /// Returns when it was suspended; `None` if it is not.
    fn suspended_at(&self) -> Option<SimTime> {
        self.stopped_at.filter(|_| self.state == AttemptState::Suspended)
    }

    /// Returns how long the process had run by the instant `at`, without suspensions.
    fn ran(&self, at: SimTime) -> SimSpan {
        if self.state == AttemptState::Unassigned {
            return SimSpan::ZERO;
        }
        // The running time of an attempt does not grow while it is suspended or after it has ended.
        let at = self.stopped_at.map_or(at, |stopped| stopped.min(at));
        at.saturating_since(self.started).saturating_sub(self.phases.suspended)
    }

    /// Returns how much of `ran` a map spent in its work, or a reduce in reducing.
    fn worked(&self, ran: SimSpan) -> SimSpan {
        if !matches!(self.phase, AttemptPhase::Work | AttemptPhase::Reduce | AttemptPhase::Commit) {
            return SimSpan::ZERO;
        }
        let PhaseTimes { start_up, shuffle, sort, .. } = self.phases;
        ran.saturating_sub(start_up + shuffle + sort)
    }

    fn progress(&self, at: SimTime) -> f32 {
        if self.state == AttemptState::Succeeded {
            return 1.0;
        }
        let at = self.suspended_at().map_or(at, |stopped| stopped.min(at));
        // An attempt that fails or hangs does only a part of the phase, so its progress stops
        // there. Without a timer the phase stands still, so its share does not depend on the
        // present time.
        let share = || self.course.share(self.timer.map(|_| at)) * self.part_of(self.phase);
        let progress = match self.phase {
            AttemptPhase::Start => 0.0,
            AttemptPhase::Work => self.with_saved(share()),
            // Hadoop gives shuffle, sort and reduce a third of a reduce's progress each, however
            // long they take.
            AttemptPhase::Shuffle => match &self.fetching {
                Some(fetching) if !fetching.is_told_by_course() => {
                    fetching.share(at, self.speeds().network) / 3.0
                }
                _ => share() / 3.0,
            },
            AttemptPhase::Sort => (1.0 + share()) / 3.0,
            AttemptPhase::Reduce => (2.0 + self.with_saved(share())) / 3.0,
            AttemptPhase::Save if self.is_reduce() => (2.0 + f64::from(self.saved)) / 3.0,
            AttemptPhase::Save => f64::from(self.saved),
            AttemptPhase::Commit => 1.0,
        };
        debug_assert!((0.0..=1.0).contains(&progress), "{at}: {} is {progress} done", self.id);
        progress as f32
    }

    /// Returns the share of the task's work that is done when this share of the phase is done, which
    /// has only the work that was not saved before.
    fn with_saved(&self, share: f64) -> f64 {
        let saved = f64::from(self.saved);
        saved + (1.0 - saved) * share
    }

    /// Returns the share of a phase that it gets through: 1, or less if it fails or hangs in the
    /// phase.
    fn part_of(&self, phase: AttemptPhase) -> f64 {
        self.break_in(phase).map_or(1.0, |it| it.share)
    }

    /// Returns the point of a phase at which it fails or hangs; `None` if it does neither in that
    /// phase.
    fn break_in(&self, phase: AttemptPhase) -> Option<FailurePoint> {
        self.planned_end
            .as_ref()
            .map(|planned_end| planned_end.breaks)
            .filter(|it| it.phase == phase)
    }

    fn hangs_since(&self) -> Option<SimTime> {
        self.planned_end.as_ref()?.hangs_since
    }

    /// Returns whether it has thrown an exception: its process has removed its output itself.
    pub(super) fn has_thrown(&self) -> bool {
        self.planned_end.as_ref().is_some_and(|planned_end| planned_end.has_thrown)
    }

    fn hangs(&self) -> bool {
        self.hangs_since().is_some()
    }

    fn speeds(&self) -> Speeds {
        self.speeds.as_deref().copied().unwrap_or(Speeds::USUAL)
    }

    /// Returns how long a phase after the start-up takes (up to the point where the attempt fails
    /// or hangs, if it does) without sharing and waiting.
    fn span_of(&self, phase: AttemptPhase) -> SimSpan {
        let whole = self.effort(phase).map_or(SimSpan::ZERO, |effort| effort.alone);
        match self.part_of(phase) {
            1.0 => whole,
            share => whole.ceil_mul(share),
        }
    }

    /// Returns whether it has made no progress for longer than this.
    pub(super) fn hangs_for_longer(&self, now: SimTime, than: SimSpan) -> bool {
        let runs = self.state == AttemptState::Running;
        runs && self.hangs_since().is_some_and(|since| than < now.saturating_since(since))
    }

    // ---- starting, stopping, going on ----

    /// Takes a slot and starts the process, after a wait for its memory. `spared` is how much
    /// shorter its start-up is, as its job's files are on the node.
    pub(super) fn start(
        &mut self,
        now: SimTime,
        swapping: SimSpan,
        spared: SimSpan,
    ) -> AttemptStep {
        self.state = AttemptState::Running;
        self.wants_slot = false;
        self.started = now;
        let wait = self.swap(now, swapping);
        let start_up = self.start_up.saturating_sub(spared);
        self.enter_after(wait, AttemptPhase::Start, now, start_up)
    }

    /// Makes it wait until its memory is swapped in. At the disk's usual speed that takes
    /// `swapping`; returns the time that it takes at the disk's present speed.
    fn swap(&mut self, now: SimTime, swapping: SimSpan) -> SimSpan {
        // An attempt that was suspended while it waited for memory must still wait for the rest.
        let wait = at_pace(swapping, self.speeds().disk) + std::mem::take(&mut self.swaps_for);
        self.swaps_until = now + wait;
        wait
    }

    pub(super) fn suspend(&mut self, now: SimTime) {
        self.state = AttemptState::Suspended;
        self.stopped_at = Some(now);
        self.swaps_for = self.swaps_until.saturating_since(now);
        // Without a timer the phase makes no progress: it waits for maps, or its flow has no rate
        // yet.
        if self.timer.take().is_some() {
            self.course.settle(now);
        }
        let network = self.speeds().network;
        if let Some(fetching) = &mut self.fetching {
            // A shuffle that shares nothing fetches without a timer until all maps have ended.
            fetching.settle(now, network);
        }
    }

    pub(super) fn ask_to_resume(&mut self) {
        if self.state == AttemptState::Suspended {
            self.wants_slot = true;
        }
    }

    /// Takes a slot again and goes on where it was, after its memory has been read back.
    pub(super) fn resume(&mut self, now: SimTime, swapping: SimSpan) -> AttemptStep {
        self.book_suspension(now);
        self.state = AttemptState::Running;
        self.wants_slot = false;
        let wait = self.swap(now, swapping);
        if let Some(fetching) = &mut self.fetching {
            // It goes on fetching only after its memory is swapped in.
            fetching.since = now + wait;
        }
        self.go_on(now, wait)
    }

    /// Adds the time since it was suspended, up to now, to its times.
    fn book_suspension(&mut self, now: SimTime) {
        if let Some(at) = self.suspended_at() {
            self.suspended_in_phase += now - at;
            self.phases.suspended += now - at;
            self.stopped_at = None;
        }
    }

    /// Returns whether it has work that could be saved: a map that works, a reduce that reduces, or
    /// either with its commit still to come.
    pub(super) fn can_save(&self) -> bool {
        let works = matches!(self.phase, AttemptPhase::Work | AttemptPhase::Reduce)
            && self.state == AttemptState::Running
            && !self.hangs()
            && !self.has_thrown();
        let waits = self.state == AttemptState::CommitPending && self.timer.is_none();
        self.role == Role::Work && self.id.task.is_work() && (works || waits)
    }

    /// Returns whether it has ended with all of its state on disk; a kill may have come before.
    fn has_saved(&self) -> bool {
        self.phase == AttemptPhase::Save && self.has_ended() && self.course.is_over()
    }

    /// Begins to write its state to disk, which takes the time `writing`.
    pub(super) fn save(&mut self, now: SimTime, writing: SimSpan) -> AttemptStep {
        if self.timer.take().is_some() {
            self.course.settle(now);
        }
        let share = match self.phase {
            AttemptPhase::Commit => 1.0,
            // Without a timer the phase stands still.
            _ => self.course.share(None) * self.part_of(self.phase),
        };
        self.saved = self.with_saved(share) as f32;
        self.state = AttemptState::Running;
        self.close_phase(now);
        self.planned_end = None;
        let writing = at_pace(writing, self.speeds().disk);
        self.enter_after(SimSpan::ZERO, AttemptPhase::Save, now, writing)
    }

    pub(super) fn end(&mut self, now: SimTime, state: AttemptState) {
        self.close_phase(now);
        self.stopped_at = Some(now);
        self.state = state;
        self.timer = None;
        self.wants_slot = false;
    }

    // ---- phases ----

    pub(super) fn await_timer(&mut self, timer: u64) {
        self.timer = NonZeroU64::new(timer);
    }

    pub(super) fn awaits(&self, timer: u64) -> bool {
        self.timer.is_some_and(|awaited| awaited.get() == timer)
    }

    /// Begins a phase after the start-up.
    fn enter(&mut self, phase: AttemptPhase, now: SimTime) -> AttemptStep {
        // The process knows of no output when it first looks, so it sleeps at once.
        let sleeps = match &self.fetching {
            Some(fetching) if phase == AttemptPhase::Shuffle => fetching.sleep(),
            _ => SimSpan::ZERO,
        };
        self.enter_after(sleeps, phase, now, self.span_of(phase))
    }

    /// Begins a phase whose work starts only after `wait`.
    fn enter_after(
        &mut self,
        wait: SimSpan,
        phase: AttemptPhase,
        now: SimTime,
        span: SimSpan,
    ) -> AttemptStep {
        self.phase = phase;
        self.phase_began = now;
        self.suspended_in_phase = SimSpan::ZERO;
        self.course = PhaseProgress::new(now, span);
        if let Some(fetching) = &mut self.fetching {
            // Fetching begins with the shuffle, even if maps ended long before.
            fetching.since = now + wait;
        }
        let next = self.go_on(now, wait);
        self.pass(now, next)
    }

    /// If `next` shows that the phase takes no time, and the attempt passes such phases at once,
    /// goes on to the next phase; returns the next step. Only start-up, shuffle and sort are passed
    /// so. The work, and a phase in which the attempt fails or hangs, always end with a timer.
    fn pass(&mut self, now: SimTime, next: AttemptStep) -> AttemptStep {
        let is_short =
            matches!(self.phase, AttemptPhase::Start | AttemptPhase::Shuffle | AttemptPhase::Sort);
        let breaks = self.break_in(self.phase).is_some();
        let is_passed =
            self.at_once && is_short && !breaks && next == AttemptStep::After(SimSpan::ZERO);
        if is_passed { self.finish_part(now) } else { next }
    }

    /// Adds the time of the phase that ends now to its times.
    fn close_phase(&mut self, now: SimTime) {
        self.book_suspension(now);
        let span = (now.saturating_since(self.phase_began)).saturating_sub(self.suspended_in_phase);
        match self.phase {
            AttemptPhase::Shuffle => self.phases.shuffle = span,
            AttemptPhase::Sort => self.phases.sort = span,
            // There is no suspension to subtract: an attempt that waits for its commit is never
            // suspended.
            AttemptPhase::Commit => self.phases.commit = Some(now - self.phase_began),
            AttemptPhase::Start => self.phases.start_up = span,
            // These times are not kept: they are the attempt's time minus the times of the other
            // phases.
            AttemptPhase::Work | AttemptPhase::Reduce | AttemptPhase::Save => {}
        }
    }

    /// Ends the phase, or the current part of the phase, as its timer has fired; returns the next
    /// step.
    pub(super) fn finish_part(&mut self, now: SimTime) -> AttemptStep {
        self.timer = None;
        self.course.end_part();
        // A shuffle that has fetched all available outputs goes on while maps still run.
        if !self.course.is_over() || self.waits_for_maps() {
            self.end_fetching(now);
            return self.go_on(now, SimSpan::ZERO);
        }
        match self.last_poll(now) {
            Some(wait) => AttemptStep::After(wait),
            None => self.finish_phase(now),
        }
    }

    fn finish_phase(&mut self, now: SimTime) -> AttemptStep {
        self.close_phase(now);
        // An attempt that is to fail or hang in this phase does so now: its share of the phase is
        // over.
        if let Some(planned_end) =
            self.planned_end.as_mut().filter(|it| it.breaks.phase == self.phase)
        {
            let FailurePoint { how, lingers, .. } = planned_end.breaks;
            return match how {
                FailureKind::Hang => {
                    planned_end.hangs_since = Some(now);
                    AttemptStep::Hangs
                }
                FailureKind::OutOfMemory => AttemptStep::Broken,
                FailureKind::Failure => {
                    let is_over = std::mem::replace(&mut planned_end.has_thrown, true);
                    let lingers = if is_over { SimSpan::ZERO } else { lingers };
                    if lingers.is_zero() {
                        AttemptStep::Broken
                    } else {
                        AttemptStep::After(lingers)
                    }
                }
            };
        }
        match self.phase {
            AttemptPhase::Start if self.is_reduce() => self.enter(AttemptPhase::Shuffle, now),
            AttemptPhase::Start => self.enter(AttemptPhase::Work, now),
            AttemptPhase::Shuffle => self.enter(AttemptPhase::Sort, now),
            AttemptPhase::Sort => self.enter(AttemptPhase::Reduce, now),
            AttemptPhase::Work | AttemptPhase::Reduce if self.commits => {
                self.state = AttemptState::CommitPending;
                self.enter(AttemptPhase::Commit, now);
                AttemptStep::Commit
            }
            AttemptPhase::Work | AttemptPhase::Reduce | AttemptPhase::Commit => AttemptStep::Done,
            AttemptPhase::Save => AttemptStep::Saved,
        }
    }

    /// Starts the commit after the process's next question; a second permission has no effect.
    /// `sent` is when the tracker sent the heartbeat that brought the permission.
    pub(super) fn commit(
        &mut self,
        now: SimTime,
        sent: SimTime,
        poll: SimSpan,
        span: SimSpan,
    ) -> AttemptStep {
        if self.state != AttemptState::CommitPending || self.timer.is_some() {
            return AttemptStep::Nothing;
        }
        // Hadoop's child process asks for permission as soon as its work is done, and then every
        // second. A question during a heartbeat waits until the heartbeat is answered.
        let asks = next_poll(self.phase_began, sent.max(self.phase_began), poll);
        AttemptStep::After(asks.saturating_since(now) + span)
    }

    /// Asserts that a running attempt has a timer or a flow that ends its phase, and that any other
    /// attempt has neither.
    pub(super) fn assert_sound(&self, now: SimTime) {
        let (id, state, phase) = (self.id, self.state, self.phase);
        let is_driven = self.timer.is_some() || self.flow.is_some();
        assert!(!is_driven || self.holds_slot(), "{now}: {id} goes on, but is {state:?}");
        let waits_for_maps = self.waits_for_maps();
        let hangs = self.hangs();
        let goes_on = is_driven || waits_for_maps || hangs || state != AttemptState::Running;
        assert!(goes_on, "{now}: {id} runs, but its {phase:?} will never end");
        let is_stopped = state == AttemptState::Suspended || self.has_ended();
        assert!(is_stopped == self.stopped_at.is_some(), "{now}: {id} is {state:?}");
    }

    /// Returns how long the phases took, up to now.
    pub(super) fn phases(&self, now: SimTime) -> PhaseTimes {
        let mut phases = self.phases;
        if let Some(at) = self.suspended_at() {
            phases.suspended += now - at;
        }
        phases
    }
}
