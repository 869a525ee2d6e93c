//! Compares the JobTracker's decisions and knowledge with the facts of trackers.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::blocks::Sources;
use super::trackers::CheckedTrackers;
use super::{Check, InvariantBreach, VerifierRules};
use mumakil_base::dense::grown;
use mumakil_base::units::{Fraction, SimTime};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, AttemptLimit, AttemptState, Input, JobFact, JobId, JobSpec, LedgerFact,
    Outcome, PerSlot, PhaseTimes, Reason, Role, SlotCounts, SlotKind, Stall, TaskId, TaskKind,
    TrackerId,
};

/// The smallest number of fetch complaints with which a completed map may fail: Hadoop's constant
/// `MAX_FETCH_FAILURES_NOTIFICATIONS` of JobInProgress.java.
const LEAST_COMPLAINTS: u32 = 3;

/// The jobs that were submitted. The details of a job are dropped when it ends.
#[derive(Debug, Default)]
pub(super) struct CheckedJobs {
    all: Vec<JobLife>,
    /// The useful slot time of jobs that have ended, in slots times microseconds.
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
    /// The number of failed attempts after which a task is given up; `None` for never.
    max_attempts: PerSlot<Option<u32>>,
    /// Whether it may succeed although some of its tasks failed.
    failed_tasks: bool,
    /// The input of its maps.
    input: Option<Input>,
    initialised: bool,
    gives_tasks: bool,
    /// The number of its map and reduce attempts that are assigned and have no verdict.
    running: PerSlot<u32>,
    /// The number of its maps and reduces that have succeeded and whose success was not lost since.
    succeeded: PerSlot<u32>,
    /// The number of its maps and reduces that wait for an attempt.
    waiting: PerSlot<u32>,
    /// The slot time of its successful attempts so far, in slots times microseconds.
    useful: u128,
    /// The outputs of each map, by the map's index; includes lost outputs.
    outputs: Vec<Vec<CheckedOutput>>,
    /// The state of its tasks; the order of iteration is arbitrary.
    by_task: FxHashMap<TaskId, CheckedTask>,
    /// The state of its attempts; the order of iteration is arbitrary.
    attempts: FxHashMap<AttemptId, CheckedAttempt>,
}

/// The output of a map.
#[derive(Debug)]
struct CheckedOutput {
    tracker: TrackerId,
    made: SimTime,
    /// How often the tracker had lost the content of its disks before the output was made.
    disk_losses: usize,
}

#[derive(Debug, Default)]
struct CheckedTask {
    /// The numbers of the attempts that are assigned and have no verdict.
    active: Vec<u32>,
    /// The number of attempts that have failed.
    failures: u32,
    /// The number of the successful attempt.
    winner: Option<u32>,
}

impl CheckedTask {
    /// Returns whether the task waits for an attempt, if it is given up after `most` failures.
    fn waits(&self, most: Option<u32>) -> bool {
        let is_given_up = most.is_some_and(|most| most <= self.failures);
        self.active.is_empty() && self.winner.is_none() && !is_given_up
    }
}

#[derive(Debug, Default)]
struct CheckedAttempt {
    /// The tracker to which its work is assigned.
    tracker: TrackerId,
    /// The tracker that is ordered to remove its output.
    cleaner: Option<TrackerId>,
    /// Trackers that were ordered to remove its output earlier and were declared lost since. They
    /// may still remove it.
    given_up: Vec<TrackerId>,
    /// How often the JobTracker had declared the tracker lost before it assigned the attempt.
    losses: u32,
    /// When the JobTracker assigned it.
    assigned: SimTime,
    /// The nodes from which its input could be read at its launch; `None` if there is nothing to
    /// check.
    sources: Option<Box<Sources>>,
    /// Whether its input was unreadable on all nodes at its launch.
    finds_nothing: bool,
    /// When its work started.
    started: SimTime,
    work: RoleProgress,
    cleanup: RoleProgress,
    /// Whether it was ever suspended.
    suspended: bool,
    /// Whether it has saved its work.
    saved: bool,
    /// Whether the JobTracker has given it up with its tracker.
    given_up_with_tracker: bool,
    /// Whether it ever waited for its commit.
    commit_pending: bool,
    /// How often reduces complained about its output.
    complaints: u32,
    /// Whether its job was begun anew after its assignment, so that the attempt no longer counts.
    is_void: bool,
    /// The states that the JobTracker has learned, one bit for each.
    learned: u16,
    /// The state that the JobTracker learned last.
    state: AttemptState,
    /// How many slots its work takes.
    width: u32,
    /// How many slots it holds now.
    holds: u32,
    /// When `holds` last changed.
    since: SimTime,
    /// Its slot time until `since`, in slots times microseconds.
    held: u128,
}

/// The progress of an attempt in one of its two roles: work, and removal of its output.
#[derive(Debug, Default)]
struct RoleProgress {
    started: bool,
    ended: Option<Outcome>,
}

impl CheckedJobs {
    /// Checks a fact of the JobTracker about a job.
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
                    // After a restart the JobTracker must have made all earlier successes void by
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
                    // Maps that failed for good count as done; their number is not known here.
                    let done = job.failed_tasks || succeeded == maps;
                    check.that(done, || InvariantBreach::MapsNotDone {
                        job: job.id,
                        succeeded,
                        maps,
                    });
                }
            }
            JobFact::Ended(outcome) => self.end(id, outcome, trackers, check),
            JobFact::SubmissionRefused(_) => {
                if let Some(job) = self.live(id, check) {
                    let is_new = !job.initialised && job.attempts.is_empty();
                    check.that(is_new, || InvariantBreach::RefusedTooLate { job: job.id });
                    self.all[id.index()] = JobLife::Ended;
                }
            }
            JobFact::BegunAnew => {
                if let Some(job) = self.live(id, check) {
                    job.begin_anew();
                }
            }
            // Only the policy goes by these; the checker does not know its order of jobs.
            JobFact::Altered(_) => {
                self.live(id, check);
            }
            JobFact::Refused { .. } | JobFact::Sized(..) => {}
        }
    }

    /// Checks a decision of the JobTracker about an attempt, or a state of the attempt that the
    /// JobTracker has learned.
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
                        // Count the tracker's heartbeats from now on until it starts the attempt.
                        trackers.expect_start(attempt, tracker);
                        let losses = trackers.losses(tracker);
                        job.assign(attempt, tracker, losses, speculative, check);
                        // Look up the blocks at the launch, when the map chooses the node to read
                        // from.
                        job.look_for_input(attempt, trackers, check.at);
                    } else {
                        job.assign_cleanup(attempt, tracker, check);
                    }
                    job.compare(attempt, counts, check);
                }
            }
            LedgerFact::Learned { state, counts } => {
                // The JobTracker may learn of a job's last attempts after the job has ended.
                if let Some(JobLife::Live(job)) = self.all.get_mut(attempt.job().index()) {
                    job.learn(attempt, tracker, state, trackers, check);
                    job.compare(attempt, counts, check);
                }
            }
            LedgerFact::Ordered { reason, .. } => {
                if let Some(JobLife::Live(job)) = self.all.get_mut(attempt.job().index())
                    && let Some(known) = job.attempts.get_mut(&attempt)
                {
                    known.given_up_with_tracker |= reason == Reason::TrackerLost;
                }
            }
            LedgerFact::Spared { .. } => {}
        }
    }

    /// Checks a fact of a tracker about an attempt of a job that has not ended. `CheckedTrackers`
    /// checks the last attempts of jobs that have ended.
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
        // Do this first: slot time counts even for an attempt that breaks a rule.
        known.hold(fact, check.at);
        match fact {
            AttemptFact::FetchFailed { map } => {
                if let Some(known) = job.attempts.get_mut(&map) {
                    known.complaints += 1;
                }
            }
            AttemptFact::Started { role: Role::TaskCleanup, .. }
            | AttemptFact::Ended { role: Role::TaskCleanup, .. }
                // This tracker does not know yet that another tracker cleans up now; its work
                // changes nothing.
                if known.is_given_up(tracker) => {}
            AttemptFact::Opened { from } => {
                if let Some(sources) = known.sources.take() {
                    sources.check(attempt, from, check);
                }
            }
            AttemptFact::Started { role, .. } => {
                // `Opened` clears `sources`. If they are still set, the map read as if all machines
                // were well.
                let is_struck = known.sources.take().is_some_and(|sources| sources.is_struck);
                check.that(!is_struck, || InvariantBreach::ReadAsEver { attempt });
                known.start(attempt, tracker, role, check);
            }
            AttemptFact::CommitPending => known.commit_pending = true,
            AttemptFact::Suspended => known.suspended = true,
            AttemptFact::Resumed => {}
            AttemptFact::Saved => known.saved = true,
            AttemptFact::Ended { role, outcome, phases } => {
                let committed = outcome == Outcome::Succeeded && phases.commit.is_some();
                // In Hadoop's commit protocol the JobTracker permits a commit only after it has
                // learned that the attempt waits for the commit.
                let allowed = !committed || known.has_learned(AttemptState::CommitPending);
                check.that(allowed, || InvariantBreach::CommittedUnasked { attempt });
                let ended = known.role(role).ended.replace(outcome);
                check.that(ended.is_none(), || InvariantBreach::EndedTwice { attempt, tracker });
                // Only a successful attempt leaves an output or needs all of its input.
                if role == Role::Work && outcome == Outcome::Succeeded {
                    check
                        .that(!known.finds_nothing, || InvariantBreach::ReadFromNobody { attempt });
                    job.produced(attempt, tracker, phases, trackers, check);
                }
            }
        }
    }

    /// Checks that all jobs have ended.
    pub(super) fn over(&self, check: &mut Check<'_>) {
        for life in &self.all {
            if let JobLife::Live(job) = life {
                check.breach(InvariantBreach::JobUnended { job: job.id });
            }
        }
    }

    /// Checks a stalled run: the JobTracker must have learned of the end of every attempt, and must
    /// have answered every attempt that waits for its commit.
    pub(super) fn at_rest(&self, stall: &Stall, trackers: &CheckedTrackers, check: &mut Check<'_>) {
        for life in &self.all {
            let JobLife::Live(job) = life else { continue };
            // A stalled run must name each unfinished job, so that its user can find the cause.
            let is_named = stall.waiting.iter().any(|waiting| waiting.job == job.name);
            check.that(is_named, || InvariantBreach::JobForgotten { job: job.id });
            let waiting = job.attempts.iter().filter(|(_, attempt)| {
                let is_here = attempt.work.ended.is_none() && trackers.joined(attempt.tracker);
                attempt.commit_pending && is_here
            });
            let mut commits: Vec<_> = waiting.map(|(id, known)| (*id, known.tracker)).collect();
            // Hash maps have no fixed order, but findings must be the same in each run.
            commits.sort();
            for (attempt, tracker) in commits {
                check.breach(InvariantBreach::CommitForgotten { attempt, tracker });
            }
            let unheard = job.attempts.iter().filter(|(_, attempt)| {
                attempt.work.ended.is_some()
                    && matches!(
                        attempt.state,
                        AttemptState::Unassigned
                            | AttemptState::Running
                            | AttemptState::Suspended
                            | AttemptState::CommitPending
                    )
            });
            let mut ended: Vec<AttemptId> = unheard.map(|(id, _)| *id).collect();
            // Sort this list too, so that findings are the same in each run.
            ended.sort();
            for attempt in ended {
                check.breach(InvariantBreach::EndUnheard { attempt });
            }
        }
    }

    /// Checks that the extra copies of a hot file's blocks can have been made. Each block must have
    /// a readable copy now, or another live job must already have found extra copies of the block.
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
        let others: Vec<&Input> = inputs
            .filter(|input| matches!(input, Input::File { file: of, .. } if of == file))
            .collect();
        for map in (0..spec.maps).filter(|map| 0 < input.more_copies(*map)) {
            // Look up the usual copies only: the extra copies must have been made from them.
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
            max_attempts: PerSlot::of(|kind| {
                let own = spec.settings.attempts[kind].map(AttemptLimit::get);
                own.or(check.rules.max_attempts)
            }),
            failed_tasks: check.rules.failed_tasks
                || SlotKind::BOTH.into_iter().any(|kind| {
                    spec.settings.failures[kind].is_some_and(|share| share != Fraction::ZERO)
                }),
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
                // The slot time of a failed job was useless, even that of its successful tasks.
                if outcome == Outcome::Succeeded {
                    self.useful += job.useful;
                }
                // Trackers need not start attempts of a job that has ended.
                let unstarted = job.attempts.iter().filter(|(_, known)| !known.work.started);
                unstarted.for_each(|(attempt, known)| trackers.forget(*attempt, known.tracker));
                if outcome == Outcome::Succeeded && !job.failed_tasks {
                    job.check_complete(check);
                }
            }
            Some(JobLife::Ended) => check.breach(InvariantBreach::JobEndedTwice { job: id }),
            Some(JobLife::Unknown) | None => check.breach(InvariantBreach::JobNotLive { job: id }),
        }
    }

    /// Returns the useful slot time of all jobs, in slots times microseconds.
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
            // A job has two setup tasks, one for a map slot and one for a reduce slot, and only one
            // of them runs; cleanup tasks likewise.
            TaskKind::Setup | TaskKind::Cleanup => (index < 2, self.initialised),
        };
        check.that(exists, || InvariantBreach::NoSuchTask { task: attempt.task });
        check.that(may_start, || InvariantBreach::AssignedTooEarly { attempt });
        if self.attempts.contains_key(&attempt) {
            // Keep the first assignment: a new entry would hide the states that the JobTracker has
            // learned of the attempt.
            return check.breach(InvariantBreach::AssignedTwice { attempt });
        }
        let task = self.by_task.entry(attempt.task).or_default();
        check.that(task.winner.is_none(), || InvariantBreach::AssignedAfterSuccess { attempt });
        let alone = task.active.is_empty();
        check.that(alone || speculative, || InvariantBreach::AssignedBesideAnother { attempt });
        check.that(!alone || !speculative, || InvariantBreach::AssignedAgainstNobody { attempt });
        // Hadoop never runs two attempts of a task on one tracker at a time.
        let mut active = task.active.iter().map(|number| attempt.task.attempt(*number));
        let beside_itself = active.any(|other| self.attempts[&other].tracker == tracker);
        check.that(!beside_itself, || InvariantBreach::AssignedBesideItself { attempt, tracker });
        if attempt.task.is_work() && task.waits(self.max_attempts[attempt.slot()]) {
            let waiting = &mut self.waiting[attempt.slot()];
            // The first active attempt ends the task's waiting; a second one beside it changes
            // nothing.
            *waiting = waiting.saturating_sub(1);
        }
        task.active.push(attempt.number);
        self.attempts.insert(attempt, CheckedAttempt::new(tracker, losses, check.at));
        if attempt.task.is_work() {
            self.running[attempt.slot()] += 1;
        }
    }

    /// Records the nodes from which a map that was just assigned can read its input.
    fn look_for_input(&mut self, attempt: AttemptId, trackers: &CheckedTrackers, at: SimTime) {
        let TaskId { kind, index, .. } = attempt.task;
        if let (TaskKind::Map, Some(input)) = (kind, &self.input)
            && let Some(sources) = trackers.blocks.sources(input, self.id, index, at)
            && let Some(known) = self.attempts.get_mut(&attempt)
        {
            // Note this separately, since `sources` is cleared when the map opens its input.
            known.finds_nothing = sources.possible.is_empty();
            known.sources = Some(Box::new(sources));
        }
    }

    /// Records that an attempt has done its work: a map leaves its output, a reduce has fetched all
    /// outputs.
    ///
    /// Each output that a reduce fetched must have existed at some instant since the reduce was
    /// assigned. Facts do not say when exactly the reduce fetched each output. If maps may fail for
    /// good, some outputs may be missing, so nothing is checked.
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
            // A map that failed for good leaves no output, and the job may succeed without it.
            TaskKind::Reduce if !self.failed_tasks => {
                let known = &self.attempts[&attempt];
                let PhaseTimes { start_up, shuffle, suspended, .. } = phases;
                // The latest possible end of the last fetch: assume that all suspensions came
                // before it.
                let has_all = known.started + start_up + shuffle + suspended;
                let absent = self.outputs.iter().position(|all| {
                    !all.iter().any(|&CheckedOutput { tracker, made, disk_losses }| {
                        made <= has_all && trackers.kept(tracker, disk_losses, known.assigned)
                    })
                });
                if let Some(map) = absent {
                    check.breach(InvariantBreach::FetchedNothing { attempt, map: map as u32 });
                }
            }
            TaskKind::Reduce | TaskKind::Setup | TaskKind::Cleanup => {}
        }
    }

    fn assign_cleanup(&mut self, attempt: AttemptId, tracker: TrackerId, check: &mut Check<'_>) {
        use AttemptState::{FailedUnclean, KilledUnclean};
        match self.attempts.get_mut(&attempt) {
            Some(known) if matches!(known.state, FailedUnclean | KilledUnclean) => {
                // The JobTracker assigns the cleanup again when the first cleaner is lost.
                known.given_up.extend(known.cleaner.replace(tracker));
                known.cleanup = RoleProgress::default();
            }
            _ => check.breach(InvariantBreach::CleanedUpInVain { attempt }),
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
            // Only `Killed` may follow a success: Hadoop reports a completed map on a lost tracker
            // as killed.
            let is_loss = verdict == Outcome::Succeeded && state == AttemptState::Killed;
            if known.state == state {
                check.breach(InvariantBreach::LearnedTwice { attempt, state });
            } else if is_loss && known.is_void {
                known.state = state;
                self.lose(attempt);
            } else if is_loss && attempt.task.kind == TaskKind::Map {
                let lost = known.losses < trackers.losses(known.tracker);
                check.that(lost, || InvariantBreach::LostWithoutLoss { attempt, tracker });
                known.state = state;
                self.lose(attempt);
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
                self.lose(attempt);
            } else {
                check.breach(InvariantBreach::LearnedAfterVerdict { attempt, state, verdict });
            }
            return;
        }
        known.learn(attempt, state, check);
        if let Some(verdict) = state.outcome() {
            // For the JobTracker the attempt is over, so no start or end needs to follow.
            trackers.forget(attempt, tracker);
            self.judge(attempt, verdict, trackers, check);
        }
    }

    /// Makes all attempts void: after a restart the JobTracker knows only that the job was
    /// submitted. Setup and cleanup run again.
    #[expect(clippy::iter_over_hash_type, reason = "each task for itself, and a sum")]
    fn begin_anew(&mut self) {
        (self.initialised, self.gives_tasks) = (false, false);
        self.attempts.values_mut().for_each(|attempt| attempt.is_void = true);
        for (id, task) in &mut self.by_task {
            if !id.is_work() {
                task.winner = None;
                continue;
            }
            let most = self.max_attempts[id.slot()];
            let waited = task.waits(most);
            // A restarted JobTracker has forgotten the failures, so a task may fail `max_attempts`
            // times again.
            task.failures = 0;
            self.waiting[id.slot()] += u32::from(!waited && task.waits(most));
        }
    }

    /// Checks that the JobTracker counts no success or running attempt from before the job was
    /// begun anew.
    fn check_void(&self, check: &mut Check<'_>) {
        let (job, done) = (self.id, [self.succeeded, self.running]);
        let left = done.iter().map(|of| of.map + of.reduce).sum();
        check.that(left == 0, || InvariantBreach::LeftOfBefore { job, left });
    }

    /// Records that the success of a task is lost.
    fn lose(&mut self, attempt: AttemptId) {
        let task = self.by_task.entry(attempt.task).or_default();
        // If another attempt of the task has succeeded meanwhile, nothing is lost.
        if task.winner == Some(attempt.number) {
            task.winner = None;
            self.succeeded[attempt.slot()] -= 1;
            self.waiting[attempt.slot()] +=
                u32::from(task.waits(self.max_attempts[attempt.slot()]));
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
            let known = &self.attempts[&attempt];
            let is_kept = known.saved && !known.given_up_with_tracker && !known.is_void;
            if verdict == Outcome::Killed && is_kept && known.work.ended.is_some() {
                self.useful += known.held;
            }
            if is_work && task.waits(self.max_attempts[attempt.slot()]) {
                self.waiting[attempt.slot()] += 1;
            }
            return;
        }
        if task.winner.is_some() {
            // Only one success counts; otherwise the sums below would count the task twice.
            return check.breach(InvariantBreach::SucceededTwice { attempt });
        }
        task.winner = Some(attempt.number);
        self.useful += self.attempts[&attempt].held;
        // All other attempts of the task have lost the race.
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

    /// Compares the JobTracker's counts with the checker's own.
    fn compare(&self, attempt: AttemptId, counts: SlotCounts, check: &mut Check<'_>) {
        let VerifierRules { commit_not_counted, .. } = check.rules;
        let (job, kind, counted) = (self.id, attempt.slot(), counts.running);
        let running = self.running[kind];
        // Hadoop does not count attempts that wait for their commit, so the JobTracker's count may
        // be lower.
        let agrees = counted == running || (commit_not_counted && counted < running);
        check.that(agrees, || InvariantBreach::Miscounted { job, kind, attempt, counted, running });
        // The JobTracker counts no pending tasks of a failing job, and no pending reduces before
        // Hadoop's slow start lets them launch.
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

    /// Adds up the slot time of the attempt's work.
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

    /// Returns whether the order to remove the output has passed from this tracker to another.
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

    /// Records a state that the JobTracker learned. Each state may be learned once, except
    /// `Suspended` and `Running`, which may alternate. The attempt must have been in the state.
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
            // The JobTracker may decide the other states itself, so the tracker need not have been
            // in them.
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
