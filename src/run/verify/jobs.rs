//! Decisions and news of the JobTracker, held against what happened.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::blocks::Sources;
use super::trackers::CheckedTrackers;
use super::{Check, InvariantBreach, VerifierRules};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, AttemptState, Input, JobFact, JobId, JobSpec, LedgerFact, Outcome,
    PerSlot, PhaseTimes, Role, SlotCounts, SlotKind, Stall, TaskId, TaskKind, TrackerId,
};

/// A completed map fails only after so many reduces' complaints: Hadoop's constant
/// `MAX_FETCH_FAILURES_NOTIFICATIONS` of JobInProgress.java.
const LEAST_COMPLAINTS: u32 = 3;

/// The jobs that were submitted; what is known of one is dropped when it ends.
#[derive(Debug, Default)]
pub(super) struct CheckedJobs {
    all: Vec<JobLife>,
    /// The useful slot time of attempts of jobs that have ended: slots times microseconds.
    useful: u128,
}

#[derive(Debug, Default)]
enum JobLife {
    #[default]
    Unknown,
    Live(Box<CheckedJob>),
    Ended,
}

/// A job that has not ended.
#[derive(Debug)]
struct CheckedJob {
    id: JobId,
    name: Arc<str>,
    tasks: PerSlot<u32>,
    /// The input of its maps.
    input: Option<Input>,
    initialised: bool,
    gives_tasks: bool,
    /// Attempts of its maps and reduces that are assigned and have no verdict.
    running: PerSlot<u32>,
    /// Its maps and reduces that have succeeded and were not lost again.
    succeeded: PerSlot<u32>,
    /// Its maps and reduces that wait for an attempt.
    waiting: PerSlot<u32>,
    /// The slot time of the attempts that are its tasks' successes: slots times microseconds.
    useful: u128,
    /// The outputs that its maps left, by map.
    outputs: Vec<Vec<CheckedOutput>>,
    /// For look-ups only.
    by_task: FxHashMap<TaskId, CheckedTask>,
    /// For look-ups only.
    attempts: FxHashMap<AttemptId, CheckedAttempt>,
}

/// The output of a map.
#[derive(Debug)]
struct CheckedOutput {
    tracker: TrackerId,
    made: SimTime,
    /// How often the tracker had lost the content of its disks before.
    disk_losses: usize,
}

#[derive(Debug, Default)]
struct CheckedTask {
    /// Attempts that are assigned and have no verdict.
    active: Vec<u32>,
    /// Those that have failed.
    failures: u32,
    /// The attempt that counts as its success.
    winner: Option<u32>,
}

impl CheckedTask {
    fn waits(&self, rules: VerifierRules) -> bool {
        let is_given_up = rules.max_attempts.is_some_and(|most| most <= self.failures);
        self.active.is_empty() && self.winner.is_none() && !is_given_up
    }
}

#[derive(Debug, Default)]
struct CheckedAttempt {
    /// Where its work is to run.
    tracker: TrackerId,
    /// Where its output is to be removed.
    cleaner: Option<TrackerId>,
    /// The trackers that were to remove its output earlier and were given up since. They may still
    /// try.
    given_up: Vec<TrackerId>,
    /// How often the JobTracker had given up the tracker when it assigned this, and when that was.
    losses: u32,
    assigned: SimTime,
    /// The nodes with its input that could be read when it looked; none, if that does not matter.
    sources: Option<Box<Sources>>,
    /// Whether no node could be read.
    finds_nothing: bool,
    /// When its work started.
    started: SimTime,
    work: RoleProgress,
    cleanup: RoleProgress,
    /// Whether it was ever suspended, and whether it ever waited for its commit.
    suspended: bool,
    commit_pending: bool,
    /// How often reduces complained of its output.
    complaints: u32,
    /// Whether its job has been begun anew since, so that it counts no more.
    is_void: bool,
    /// The states that were learned, and the last of them.
    learned: u16,
    state: AttemptState,
    /// The slots that its work takes; those that it holds, and since when; and its slot time so
    /// far, in slots times microseconds.
    width: u32,
    holds: u32,
    since: SimTime,
    held: u128,
}

/// How far an attempt is in a role.
#[derive(Debug, Default)]
struct RoleProgress {
    started: bool,
    ended: Option<Outcome>,
}

impl CheckedJobs {
    /// Checks what the JobTracker says of a job.
    pub(super) fn see(
        &mut self,
        id: JobId,
        fact: &JobFact,
        trackers: &mut CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        match *fact {
            JobFact::Submitted(ref spec) => {
                self.check_heat(spec, trackers, check);
                self.submit(spec, check);
            }
            JobFact::Initialised => {
                if let Some(job) = self.live(id, check) {
                    check.that(!job.initialised, || InvariantBreach::InitialisedTwice {
                        job: job.id,
                    });
                    job.initialised = true;
                    // After a restart the JobTracker must have taken back all earlier successes by
                    // now.
                    job.check_void(check);
                }
            }
            JobFact::Running => {
                if let Some(job) = self.live(id, check) {
                    let in_order = job.initialised && !job.gives_tasks;
                    check.that(in_order, || InvariantBreach::RunningOutOfOrder { job: job.id });
                    job.gives_tasks = true;
                }
            }
            JobFact::MapsDone => {
                if let Some(job) = self.live(id, check) {
                    let (succeeded, maps) = (job.succeeded.map, job.tasks.map);
                    // A map that failed for good is done as well, and how many did is not counted
                    // here.
                    let done = check.rules.failed_tasks || succeeded == maps;
                    check.that(done, || InvariantBreach::MapsNotDone {
                        job: job.id,
                        succeeded,
                        maps,
                    });
                }
            }
            JobFact::Ended(outcome) => self.end(id, outcome, trackers, check),
            JobFact::BegunAnew => {
                if let Some(job) = self.live(id, check) {
                    job.begin_anew(check.rules);
                }
            }
            JobFact::Refused { .. } => {}
        }
    }

    /// Checks what the JobTracker has decided for an attempt, or learned of it.
    pub(super) fn decided(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: LedgerFact,
        trackers: &mut CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        match fact {
            LedgerFact::Assigned { role, speculative, counts, .. } => {
                check.that(trackers.joined(tracker), || InvariantBreach::AssignedToStranger {
                    attempt,
                    tracker,
                });
                check.that(!trackers.blacklisted(tracker), || {
                    InvariantBreach::AssignedToBlacklisted { attempt, tracker }
                });
                if let Some(job) = self.live(attempt.job(), check) {
                    if role == Role::Work {
                        // From now on the tracker's heartbeats are counted until it starts the
                        // attempt.
                        trackers.expect_start(attempt, tracker);
                        let losses = trackers.losses(tracker);
                        job.assign(attempt, tracker, losses, speculative, check);
                        // Where blocks are is asked at the launch, since the tracker chooses the
                        // node to read from then.
                        job.look_for_input(attempt, trackers, check.at);
                    } else {
                        job.assign_cleanup(attempt, tracker, check);
                    }
                    job.compare(attempt, counts, check);
                }
            }
            LedgerFact::Learned { state, counts } => {
                // News of a job that has ended is legal: its last attempts are heard of later.
                if let Some(JobLife::Live(job)) = self.all.get_mut(attempt.job().index()) {
                    job.learn(attempt, tracker, state, trackers, check);
                    job.compare(attempt, counts, check);
                }
            }
            LedgerFact::Ordered { .. } => {}
        }
    }

    /// Notes what a tracker did, if the job has not ended: what becomes of its last attempts then
    /// is the trackers' affair.
    pub(super) fn happened(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: AttemptFact,
        trackers: &CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        let job = match self.all.get_mut(attempt.job().index()) {
            Some(JobLife::Live(job)) => job,
            Some(JobLife::Ended) => return,
            Some(JobLife::Unknown) | None => {
                return check.breach(InvariantBreach::JobNotLive { job: attempt.job() });
            }
        };
        let Some(known) = job.attempts.get_mut(&attempt) else {
            return check.breach(InvariantBreach::StartedUnassigned { attempt, tracker });
        };
        // Before anything else returns: slot time counts even of what breaks a rule.
        known.hold(fact, check.at);
        match fact {
            AttemptFact::FetchFailed { map } => {
                if let Some(known) = job.attempts.get_mut(&map) {
                    known.complaints += 1;
                }
            }
            AttemptFact::Started { role: Role::TaskCleanup, .. }
            | AttemptFact::Ended { role: Role::TaskCleanup, .. }
                // Such a tracker does not know that another one cleans up now; its work changes
                // nothing.
                if known.is_given_up(tracker) => {}
            AttemptFact::Opened { from } => {
                if let Some(sources) = known.sources.take() {
                    sources.check(attempt, from, check);
                }
            }
            AttemptFact::Started { role, .. } => {
                // A map that opened its input has given its sources up above; the others read as if
                // undisturbed.
                let is_struck = known.sources.take().is_some_and(|sources| sources.is_struck);
                check.that(!is_struck, || InvariantBreach::ReadAsEver { attempt });
                known.start(attempt, tracker, role, check);
            }
            AttemptFact::CommitPending => known.commit_pending = true,
            AttemptFact::Suspended => known.suspended = true,
            AttemptFact::Resumed => {}
            AttemptFact::Ended { role, outcome, phases } => {
                let committed = outcome == Outcome::Succeeded && phases.commit.is_some();
                // Hadoop's commit protocol: the JobTracker permits a commit only after it heard of
                // its wait.
                let allowed = !committed || known.has_learned(AttemptState::CommitPending);
                check.that(allowed, || InvariantBreach::CommittedUnasked { attempt });
                let ended = known.role(role).ended.replace(outcome);
                check.that(ended.is_none(), || InvariantBreach::EndedTwice { attempt, tracker });
                // Only a success leaves an output or needs all of its input.
                if role == Role::Work && outcome == Outcome::Succeeded {
                    check
                        .that(!known.finds_nothing, || InvariantBreach::ReadFromNobody { attempt });
                    job.produced(attempt, tracker, phases, trackers, check);
                }
            }
        }
    }

    /// Checks that no job is left.
    pub(super) fn over(&self, check: &mut Check<'_>) {
        for life in &self.all {
            if let JobLife::Live(job) = life {
                check.breach(InvariantBreach::JobUnended { job: job.id });
            }
        }
    }

    /// Checks that everything was learned that has happened, and answered.
    pub(super) fn at_rest(&self, stall: &Stall, trackers: &CheckedTrackers, check: &mut Check<'_>) {
        for life in &self.all {
            let JobLife::Live(job) = life else { continue };
            // A stalled run must name each job that is left, or its user could not find the cause.
            let is_named = stall.waiting.iter().any(|waiting| waiting.job == job.name);
            check.that(is_named, || InvariantBreach::JobForgotten { job: job.id });
            let waits = |attempt: &CheckedAttempt| {
                let is_here = attempt.work.ended.is_none() && trackers.joined(attempt.tracker);
                // Where losers run on, attempts of a job that is about to end may wait for ever,
                // and no event says when a job is about to end.
                attempt.commit_pending && is_here && !check.rules.losers_go_on
            };
            let waiting = job.attempts.iter().filter(|(_, attempt)| waits(attempt));
            let mut waiting: Vec<_> = waiting.map(|(id, known)| (*id, known.tracker)).collect();
            // Hash maps have no order; findings must be the same in each run.
            waiting.sort();
            for (attempt, tracker) in waiting {
                check.breach(InvariantBreach::CommitForgotten { attempt, tracker });
            }
            let is_unheard = |attempt: &CheckedAttempt| {
                attempt.work.ended.is_some()
                    && matches!(
                        attempt.state,
                        AttemptState::Unassigned
                            | AttemptState::Running
                            | AttemptState::Suspended
                            | AttemptState::CommitPending
                    )
            };
            let unheard = job.attempts.iter().filter(|(_, attempt)| is_unheard(attempt));
            let mut unheard: Vec<AttemptId> = unheard.map(|(id, _)| *id).collect();
            // As above.
            unheard.sort();
            for attempt in unheard {
                check.breach(InvariantBreach::EndUnheard { attempt });
            }
        }
    }

    /// Checks that a hot file's block has more copies than usual only if there was a copy to make
    /// them from: now, or when another live job found more.
    fn check_heat(&self, spec: &JobSpec, trackers: &CheckedTrackers, check: &mut Check<'_>) {
        let Some(input @ Input::File { file, more_copies: 1.., .. }) = &spec.input else { return };
        let mut usual = input.clone();
        if let Input::File { more_copies, .. } = &mut usual {
            *more_copies = 0;
        }
        let inputs = self.all.iter().filter_map(|life| match life {
            JobLife::Live(job) => job.input.as_ref(),
            JobLife::Unknown | JobLife::Ended => None,
        });
        let reads_it = |input: &&Input| matches!(input, Input::File { file: of, .. } if of == file);
        let others: Vec<&Input> = inputs.filter(reads_it).collect();
        for map in (0..spec.maps).filter(|map| 0 < input.more_copies(*map)) {
            // The usual copies only: a hot file's further ones must have been copied from these.
            let sources = trackers.blocks.sources(&usual, spec.id, map, check.at);
            let Some(sources) = sources else { continue };
            let is_copied = !sources.possible.is_empty()
                || others.iter().any(|other| 0 < other.more_copies(map));
            check.that(is_copied, || InvariantBreach::CopiedFromNobody { job: spec.id, map });
        }
    }

    fn submit(&mut self, spec: &JobSpec, check: &mut Check<'_>) {
        let job = spec.id;
        let life = grown(&mut self.all, job.index());
        check.that(matches!(life, JobLife::Unknown), || InvariantBreach::SubmittedTwice { job });
        *life = JobLife::Live(Box::new(CheckedJob {
            id: job,
            name: spec.name.clone(),
            tasks: PerSlot { map: spec.maps, reduce: spec.reduces },
            input: spec.input.clone(),
            waiting: PerSlot { map: spec.maps, reduce: spec.reduces },
            useful: 0,
            initialised: false,
            gives_tasks: false,
            running: PerSlot::default(),
            succeeded: PerSlot::default(),
            outputs: (0..spec.maps).map(|_| Vec::new()).collect(),
            by_task: FxHashMap::default(),
            attempts: FxHashMap::default(),
        }));
    }

    fn end(
        &mut self,
        id: JobId,
        outcome: Outcome,
        trackers: &mut CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        match self.all.get_mut(id.index()) {
            Some(life @ JobLife::Live(_)) => {
                let JobLife::Live(job) = std::mem::replace(life, JobLife::Ended) else { return };
                // The slot time of a job that failed was of no use, whatever its tasks did.
                if outcome == Outcome::Succeeded {
                    self.useful += job.useful;
                }
                // No tracker need start its remaining attempts.
                let unstarted = job.attempts.iter().filter(|(_, known)| !known.work.started);
                // The JobTracker need not launch what it assigned to a job that is over.
                unstarted.for_each(|(attempt, known)| trackers.forget(*attempt, known.tracker));
                if outcome == Outcome::Succeeded && !check.rules.failed_tasks {
                    job.check_complete(check);
                }
            }
            Some(JobLife::Ended) => check.breach(InvariantBreach::JobEndedTwice { job: id }),
            Some(JobLife::Unknown) | None => check.breach(InvariantBreach::JobNotLive { job: id }),
        }
    }

    /// Returns what attempts held that was of use: slots times microseconds.
    pub(super) fn useful(&self) -> u128 {
        let live = self.all.iter().map(|life| match life {
            JobLife::Live(job) => job.useful,
            JobLife::Unknown | JobLife::Ended => 0,
        });
        self.useful + live.sum::<u128>()
    }

    fn live(&mut self, id: JobId, check: &mut Check<'_>) -> Option<&mut CheckedJob> {
        if let Some(JobLife::Live(job)) = self.all.get_mut(id.index()) {
            return Some(job);
        }
        check.breach(InvariantBreach::JobNotLive { job: id });
        None
    }
}

impl CheckedJob {
    fn assign(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        losses: u32,
        speculative: bool,
        check: &mut Check<'_>,
    ) {
        let TaskId { kind, index, .. } = attempt.task;
        let (exists, may_start) = match kind {
            TaskKind::Map => (index < self.tasks.map, self.gives_tasks),
            TaskKind::Reduce => (index < self.tasks.reduce, self.gives_tasks),
            // Hadoop has two of each: one for a map slot and one for a reduce slot, of which one
            // runs.
            TaskKind::Setup | TaskKind::Cleanup => (index < 2, self.initialised),
        };
        check.that(exists, || InvariantBreach::NoSuchTask { task: attempt.task });
        check.that(may_start, || InvariantBreach::AssignedTooEarly { attempt });
        if self.attempts.contains_key(&attempt) {
            // The first assignment stays in the books: a new entry would hide what was learned of
            // it.
            return check.breach(InvariantBreach::AssignedTwice { attempt });
        }
        let task = self.by_task.entry(attempt.task).or_default();
        check.that(task.winner.is_none(), || InvariantBreach::AssignedAfterSuccess { attempt });
        let alone = task.active.is_empty();
        check.that(alone || speculative, || InvariantBreach::AssignedBesideAnother { attempt });
        check.that(!alone || !speculative, || InvariantBreach::AssignedAgainstNobody { attempt });
        let place = |number: &u32| self.attempts[&attempt.task.attempt(*number)].tracker;
        // Hadoop never runs two attempts of a task on one tracker.
        let beside_itself = task.active.iter().any(|number| place(number) == tracker);
        check.that(!beside_itself, || InvariantBreach::AssignedBesideItself { attempt, tracker });
        if attempt.task.is_work() && task.waits(check.rules) {
            let waiting = &mut self.waiting[attempt.slot()];
            // Only the first attempt at hand takes the task off the waiting ones, not a second
            // beside it.
            *waiting = waiting.saturating_sub(1);
        }
        task.active.push(attempt.number);
        self.attempts.insert(attempt, CheckedAttempt::new(tracker, losses, check.at));
        if attempt.task.is_work() {
            self.running[attempt.slot()] += 1;
        }
    }

    /// Notes where a map can find its input that was assigned just now.
    fn look_for_input(&mut self, attempt: AttemptId, trackers: &CheckedTrackers, at: SimTime) {
        let TaskId { kind, index, .. } = attempt.task;
        if let (TaskKind::Map, Some(input)) = (kind, &self.input)
            && let Some(sources) = trackers.blocks.sources(input, self.id, index, at)
            && let Some(known) = self.attempts.get_mut(&attempt)
        {
            // Kept apart, since the sources are given up when the map opens its input.
            known.finds_nothing = sources.possible.is_empty();
            known.sources = Some(Box::new(sources));
        }
    }

    /// Notes that an attempt has done its work: a map leaves its output, a reduce has fetched all
    /// outputs.
    ///
    /// Each output that a reduce fetched was there at some instant since the reduce was assigned; facts do not
    /// tell when exactly it took which. A map that may fail for good leaves none.
    fn produced(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        phases: PhaseTimes,
        trackers: &CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        match attempt.task.kind {
            TaskKind::Map => {
                if let Some(outputs) = self.outputs.get_mut(attempt.task.index as usize) {
                    let disk_losses = trackers.disk_losses(tracker);
                    outputs.push(CheckedOutput { tracker, made: check.at, disk_losses });
                }
            }
            // A map that failed for good leaves no output, and the job may go on without it.
            TaskKind::Reduce if !check.rules.failed_tasks => {
                let known = &self.attempts[&attempt];
                let PhaseTimes { start_up, shuffle, suspended, .. } = phases;
                // The latest instant at which the last fetch can have ended: a suspension may have
                // come before.
                let has_all = known.started + start_up + shuffle + suspended;
                let was_there = |&CheckedOutput { tracker, made, disk_losses }: &CheckedOutput| {
                    made <= has_all && trackers.kept(tracker, disk_losses, known.assigned)
                };
                let absent = self.outputs.iter().position(|all| !all.iter().any(was_there));
                if let Some(map) = absent {
                    check.breach(InvariantBreach::FetchedNothing { attempt, map: map as u32 });
                }
            }
            TaskKind::Reduce | TaskKind::Setup | TaskKind::Cleanup => {}
        }
    }

    fn assign_cleanup(&mut self, attempt: AttemptId, tracker: TrackerId, check: &mut Check<'_>) {
        use AttemptState::{FailedUnclean, KilledUnclean};
        let unclean =
            |known: &&mut CheckedAttempt| matches!(known.state, FailedUnclean | KilledUnclean);
        match self.attempts.get_mut(&attempt).filter(unclean) {
            Some(known) => {
                // The JobTracker assigns the cleaning up again when the first cleaner is lost.
                known.given_up.extend(known.cleaner.replace(tracker));
                known.cleanup = RoleProgress::default();
            }
            None => check.breach(InvariantBreach::CleanedUpInVain { attempt }),
        }
    }

    fn learn(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        state: AttemptState,
        trackers: &mut CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        let Some(known) = self.attempts.get_mut(&attempt) else {
            return check.breach(InvariantBreach::LearnedUnassigned { attempt, tracker });
        };
        let given_to_it = known.tracker == tracker || known.cleaner == Some(tracker);
        check.that(given_to_it, || InvariantBreach::LearnedUnassigned { attempt, tracker });
        if let Some(verdict) = known.state.outcome() {
            // Hadoop reports a completed map on a lost tracker as killed; only that may follow a
            // success.
            let is_loss = verdict == Outcome::Succeeded && state == AttemptState::Killed;
            if known.state == state {
                check.breach(InvariantBreach::LearnedTwice { attempt, state });
            } else if is_loss && known.is_void {
                known.state = state;
                self.lose(attempt, check.rules);
            } else if is_loss && attempt.task.kind == TaskKind::Map {
                let lost = known.losses < trackers.losses(known.tracker);
                check.that(lost, || InvariantBreach::LostWithoutLoss { attempt, tracker });
                known.state = state;
                self.lose(attempt, check.rules);
            } else if verdict == Outcome::Succeeded
                && state == AttemptState::Failed
                && attempt.task.kind == TaskKind::Map
            {
                let complaints = known.complaints;
                check.that(LEAST_COMPLAINTS <= complaints, || {
                    InvariantBreach::FailedWithoutComplaints { map: attempt, complaints }
                });
                known.state = state;
                self.by_task.entry(attempt.task).or_default().failures += 1;
                self.lose(attempt, check.rules);
            } else {
                check.breach(InvariantBreach::LearnedAfterVerdict { attempt, state, verdict });
            }
            return;
        }
        known.learn(attempt, state, check);
        if let Some(verdict) = state.outcome() {
            // The attempt is over for the JobTracker: no start or end need follow.
            trackers.forget(attempt, tracker);
            self.judge(attempt, verdict, trackers, check);
        }
    }

    /// After a restart the JobTracker knows only the job's submission. Setup and cleanup run once
    /// more.
    #[expect(clippy::iter_over_hash_type, reason = "each task for itself, and a sum")]
    fn begin_anew(&mut self, rules: VerifierRules) {
        (self.initialised, self.gives_tasks) = (false, false);
        self.attempts.values_mut().for_each(|attempt| attempt.is_void = true);
        for (id, task) in &mut self.by_task {
            if !id.is_work() {
                task.winner = None;
                continue;
            }
            let waited = task.waits(rules);
            // A restarted JobTracker has forgotten the failures, so a task may fail as often again.
            task.failures = 0;
            self.waiting[id.slot()] += u32::from(!waited && task.waits(rules));
        }
    }

    /// Checks that nothing is left of what was done before the job was begun anew.
    fn check_void(&self, check: &mut Check<'_>) {
        let (job, done) = (self.id, [self.succeeded, self.running]);
        let left = done.iter().map(|of| of.map + of.reduce).sum();
        check.that(left == 0, || InvariantBreach::LeftOfBefore { job, left });
    }

    /// The success of a task is lost.
    fn lose(&mut self, attempt: AttemptId, rules: VerifierRules) {
        let task = self.by_task.entry(attempt.task).or_default();
        // The task may have succeeded by another attempt meanwhile; then nothing is lost.
        if task.winner == Some(attempt.number) {
            task.winner = None;
            self.succeeded[attempt.slot()] -= 1;
            self.waiting[attempt.slot()] += u32::from(task.waits(rules));
            self.useful = self.useful.saturating_sub(self.attempts[&attempt].held);
        }
    }

    fn judge(
        &mut self,
        attempt: AttemptId,
        verdict: Outcome,
        trackers: &mut CheckedTrackers,
        check: &mut Check<'_>,
    ) {
        let task = self.by_task.entry(attempt.task).or_default();
        task.active.retain(|number| *number != attempt.number);
        task.failures += u32::from(verdict == Outcome::Failed);
        let is_work = attempt.task.is_work();
        if is_work {
            self.running[attempt.slot()] -= 1;
        }
        if verdict != Outcome::Succeeded {
            if is_work && task.waits(check.rules) {
                self.waiting[attempt.slot()] += 1;
            }
            return;
        }
        if task.winner.is_some() {
            // Only one success counts, or the sums below would count the task twice.
            return check.breach(InvariantBreach::SucceededTwice { attempt });
        }
        task.winner = Some(attempt.number);
        self.useful += self.attempts[&attempt].held;
        // Other attempts of the task have lost the race.
        for number in task.active.iter().filter(|_| !check.rules.losers_go_on) {
            let loser = attempt.task.attempt(*number);
            let known = &self.attempts[&loser];
            if known.work.ended.is_none() {
                trackers.expect_end(loser, known.tracker);
            }
        }
        if is_work {
            self.succeeded[attempt.slot()] += 1;
        }
    }

    /// Compares the JobTracker's count with the own one.
    fn compare(&self, attempt: AttemptId, counts: SlotCounts, check: &mut Check<'_>) {
        let VerifierRules { commit_not_counted, .. } = check.rules;
        let (job, kind, counted) = (self.id, attempt.slot(), counts.running);
        let running = self.running[kind];
        // Hadoop's status does not count attempts that wait for their commit, so fewer is right
        // there.
        let agrees = counted == running || (commit_not_counted && counted < running);
        check.that(agrees, || InvariantBreach::Miscounted { job, kind, attempt, counted, running });
        // The JobTracker counts none pending in a job that fails, nor reduces before their slow
        // start.
        let (counted, waiting) = (counts.pending, self.waiting[kind]);
        let agrees = counted == waiting || counted == 0;
        check.that(agrees, || InvariantBreach::WaitingMiscounted {
            job,
            kind,
            attempt,
            counted,
            waiting,
        });
    }

    fn check_complete(&self, check: &mut Check<'_>) {
        let job = self.id;
        for kind in SlotKind::BOTH {
            let (succeeded, tasks) = (self.succeeded[kind], self.tasks[kind]);
            check.that(succeeded == tasks, || InvariantBreach::JobIncomplete {
                job,
                kind,
                succeeded,
                tasks,
            });
        }
    }
}

impl CheckedAttempt {
    fn new(tracker: TrackerId, losses: u32, assigned: SimTime) -> Self {
        Self { tracker, losses, assigned, started: assigned, ..Self::default() }
    }

    /// Counts for how long its work holds slots.
    fn hold(&mut self, fact: AttemptFact, at: SimTime) {
        let holds = match fact {
            AttemptFact::Started { role: Role::Work, slots } => {
                self.width = slots;
                self.started = at;
                slots
            }
            AttemptFact::Resumed => self.width,
            AttemptFact::Suspended | AttemptFact::Ended { role: Role::Work, .. } => 0,
            _ => return,
        };
        let held = at.saturating_since(self.since).as_micros();
        self.held += u128::from(held) * u128::from(self.holds);
        (self.holds, self.since) = (holds, at);
    }

    fn role(&mut self, role: Role) -> &mut RoleProgress {
        match role {
            Role::Work => &mut self.work,
            Role::TaskCleanup => &mut self.cleanup,
        }
    }

    /// Returns whether a tracker was to remove the output, and another one is to do it now.
    fn is_given_up(&self, tracker: TrackerId) -> bool {
        self.cleaner != Some(tracker) && self.given_up.contains(&tracker)
    }

    fn start(&mut self, attempt: AttemptId, tracker: TrackerId, role: Role, check: &mut Check<'_>) {
        let place = match role {
            Role::Work => Some(self.tracker),
            Role::TaskCleanup => self.cleaner,
        };
        check.that(place == Some(tracker), || InvariantBreach::StartedUnassigned {
            attempt,
            tracker,
        });
        let progress = self.role(role);
        check.that(!progress.started, || InvariantBreach::StartedTwice { attempt, tracker });
        let ended = progress.ended.is_some();
        check.that(!ended || progress.started, || InvariantBreach::StartedAfterEnd {
            attempt,
            tracker,
        });
        progress.started = true;
    }

    const fn has_learned(&self, state: AttemptState) -> bool {
        self.learned & (1 << state as u16) != 0
    }

    /// Notes a state: each once, except that an attempt can be stopped and run again many times,
    /// and none that its tracker cannot have told.
    fn learn(&mut self, attempt: AttemptId, state: AttemptState, check: &mut Check<'_>) {
        use AttemptState::{CommitPending, Running, Succeeded, Suspended};
        let comes_and_goes = matches!(state, Running | Suspended) && self.state != state;
        let new = !self.has_learned(state) || comes_and_goes;
        check.that(new, || InvariantBreach::LearnedTwice { attempt, state });
        let happened = match state {
            Running => self.work.started,
            Suspended => self.suspended,
            CommitPending => self.commit_pending,
            Succeeded => self.work.ended == Some(Outcome::Succeeded),
            // The JobTracker may decide the rest itself.
            AttemptState::Unassigned
            | AttemptState::FailedUnclean
            | AttemptState::KilledUnclean
            | AttemptState::Failed
            | AttemptState::Killed => true,
        };
        check.that(happened, || InvariantBreach::LearnedUntrue { attempt, state });
        self.learned |= 1 << state as u16;
        self.state = state;
    }
}
