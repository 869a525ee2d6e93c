//! For one kind of task, maps or reduces: the sizes of all jobs, their order, and their claims on
//! slots.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::{Discount, HfspOrder, HfspRules, LateOrder, ReduceArrival, SparedAttempts};
use super::trainer::{SampleFindings, Trainer};
use super::virtual_cluster::{Dealing, Size, VirtualCluster};
use crate::scheduler::estimator::{Estimates, MeasuredTask};
use crate::scheduler::rank::JobRecord;
use crate::scheduler::shared::line::{JobLine, Measure, MeasuredTurn};
use crate::scheduler::shared::taking::{SlotClaim, with_resumed};
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptId, Job, JobId, JobSize, KnownJob, Outcome, RankNumber, Reason, Report, SlotKind,
    TrackerId, View,
};

#[derive(Debug)]
pub(super) struct Phase {
    kind: SlotKind,
    rules: HfspRules,
    pub(super) cluster: VirtualCluster,
    pub(super) trainer: Trainer,
    pub(super) line: JobLine<MeasuredTurn>,
    awaited: BTreeSet<JobId>,
    /// The estimated sizes of jobs, in seconds of work.
    sizes: FxHashMap<JobId, f64>,
    /// The sizes of jobs as far as their tasks have ended, or all of them with the oracle.
    real: FxHashMap<JobId, RealSize>,
    /// The real work left of each job, in seconds; kept only if the order needs it.
    left: FxHashMap<JobId, f64>,
    /// The jobs whose work left has changed since jobs were last ranked by it, or that were late.
    moved: FxHashSet<JobId>,
    /// The number of slots of the cluster when the jobs were last ranked.
    slots: u32,
    settled_at: SimTime,
    /// Whether an event may have changed the order.
    is_stale: bool,
    /// Which jobs have ranks that are up to date with the virtual cluster.
    ranked: Ranked,
    /// The jobs that the virtual cluster has ranked, whose ranks go before the next round, each with its
    /// end there.
    placed: Vec<(JobId, f64)>,
    leaves_some_out: bool,
    /// The jobs that should have ended; empty if they are served in turn.
    late: FxHashMap<JobId, LateJob>,
}

#[derive(Clone, Copy, Debug)]
struct LateJob {
    /// How long its attempts had held slots when jobs were last ranked, in seconds, if it counts.
    attained: f64,
    rank: Measure,
}

/// How large a job really is.
#[derive(Clone, Copy, Debug)]
struct RealSize {
    /// When it arrived in the virtual cluster: a reduce that was launched earlier has waited for the
    /// maps until then.
    since: SimTime,
    /// Its work, in seconds.
    work: f64,
}

/// Which jobs have up-to-date ranks. Each measured job changes all ranks, but usually the first few
/// jobs take all free slots. So the policy ranks only a few jobs at a time.
#[derive(Debug)]
enum Ranked {
    Nobody,
    /// The jobs that have ended in the virtual cluster, the jobs that are not in it, and, of the
    /// other jobs, those that end first.
    First(Dealing),
    All,
}

/// How many jobs are ranked at once.
// Chosen: a tracker has fewer slots of a kind, so a second batch is rarely needed.
const AT_ONCE: usize = 64;

/// The guess of a task's length before any task has ended, in seconds.
// The papers give no number. The published source begins with 60 s for maps and for reduces.
const FIRST_GUESS_S: f64 = 60.0;

/// The rank of a late job that has got nothing. All other ranks are times or amounts of work from 0
/// up.
// Chosen: far below zero, and small enough that a float keeps slots and microseconds apart.
const LATE: f64 = -1e9;

/// The suspended attempt on a tracker whose job ranks first.
pub(super) type SuspendedHere = (MeasuredTurn, AttemptId);

impl Phase {
    pub(super) fn new(kind: SlotKind, rules: &HfspRules) -> Self {
        Self {
            kind,
            rules: rules.clone(),
            cluster: VirtualCluster::new(rules.aging, rules.virtual_slots),
            trainer: Trainer::new(kind, rules),
            line: JobLine::default(),
            awaited: BTreeSet::new(),
            sizes: FxHashMap::default(),
            real: FxHashMap::default(),
            left: FxHashMap::default(),
            moved: FxHashSet::default(),
            slots: 0,
            settled_at: SimTime::ZERO,
            is_stale: false,
            ranked: Ranked::All,
            placed: Vec::new(),
            leaves_some_out: false,
            late: FxHashMap::default(),
        }
    }

    pub(super) fn enter(&mut self, view: &View<'_>, job: &Job, estimates: &mut Estimates) {
        let tasks = job.tasks(self.kind).total();
        // The virtual cluster divides by the number of tasks.
        if tasks == 0 {
            return;
        }
        // The oracle needs no sample.
        if estimates.true_work(job, self.kind).is_none() {
            self.trainer.enter(job.id(), tasks);
        }
        // Until it arrives the job ranks last: its reduces would only wait.
        let last = mutated!(f64::INFINITY, "hfsp/early-reduces" => LATE);
        self.line.enter((Measure(last), job.id()), 0, 0);
        self.awaited.insert(job.id());
        self.await_arrival(view, job, estimates);
    }

    /// Adds a job to the virtual cluster once it should arrive there.
    fn await_arrival(&mut self, view: &View<'_>, job: &Job, estimates: &mut Estimates) {
        let is_here = match (self.kind, self.rules.reduces_arrive) {
            (SlotKind::Map, _) | (SlotKind::Reduce, ReduceArrival::WithMaps) => true,
            (SlotKind::Reduce, ReduceArrival::MapsDone) => {
                let maps = job.tasks(SlotKind::Map);
                // In a job that allows failed tasks, a failed map is done, too.
                mutated!(maps.finished() + maps.failed() == maps.total(), "hfsp/arrival" => true)
            }
        };
        if !is_here || !self.awaited.remove(&job.id()) {
            return;
        }
        let tasks = job.tasks(self.kind).total();
        let truth = estimates.true_work(job, self.kind);
        let known = truth.map(|work| estimates.with_error(job, self.kind, work));
        let real = RealSize { since: view.now(), work: truth.unwrap_or(0.0) };
        self.real.insert(job.id(), real);
        // The papers' first guess is ξ · k · l, where k is the number of tasks and l the mean time
        // of past tasks (2015, section 3.2.1).
        let own = estimates.own(&KnownJob { view, job, kind: self.kind, sample: &[] });
        let past = mutated!(self.trainer.past(), "hfsp/guess-past" => None);
        let task = past.unwrap_or(FIRST_GUESS_S);
        let guess = match self.rules.confidence {
            // Do not multiply: infinity times a past mean of 0 is not a number.
            f64::INFINITY => f64::INFINITY,
            times => mutated!(
                times * own.unwrap_or(f64::from(tasks) * task),
                "hfsp/guess-tasks" => times * task,
                "hfsp/confidence" => f64::from(tasks) * task,
            ),
        };
        let work = known.unwrap_or(guess);
        if self.rules.simulate() {
            let weights = &self.rules.weights;
            let weight = mutated!(weights.of(job), "hfsp/weights" => 1.0 / weights.of(job));
            self.cluster.enter(view.now(), job.id(), Size { tasks, work, weight });
        }
        // The job is no longer last; the next ranking gives it a position.
        self.line.displace(job.id());
        self.is_stale = true;
        self.sizes.insert(job.id(), work);
        self.set_left(job.id(), work);
    }

    fn set_left(&mut self, job: JobId, left: f64) {
        self.left.insert(job, left);
        if self.rules.order == HfspOrder::RemainingWork {
            self.moved.insert(job);
        }
    }

    pub(super) fn weigh(&mut self, view: &View<'_>, job: &Job) {
        self.cluster.set_weight(view.now(), job.id(), self.rules.weights.of(job));
        self.is_stale = true;
    }

    pub(super) fn ended(
        &mut self,
        view: &View<'_>,
        attempt: AttemptId,
        outcome: Outcome,
        estimates: &mut Estimates,
    ) {
        if !attempt.task.is_work() {
            return;
        }
        let report = view.report_of(attempt);
        self.trainer.ended(attempt, outcome, report);
        let Some(job) = view.job(attempt.job()) else { return };
        if outcome != Outcome::Succeeded {
            return;
        }
        if let Some(last) = report.filter(|_| !estimates.are_true()) {
            self.measure(view.now(), last);
            estimates.task_done(job.id(), self.kind, self.trainer.seconds(last));
        }
        // With the oracle this draws the true time of each task anew.
        if self.rules.order.heeds_left() {
            self.note_done(job, attempt, report, estimates);
        }
        // Projected ends do not depend on the ends of real tasks.
        let is_projected =
            matches!(self.rules.order, HfspOrder::ProjectedFinish | HfspOrder::GuardedFinish);
        self.is_stale |= !is_projected;
        self.use_findings(view, job, estimates);
        let tasks = job.tasks(self.kind);
        if tasks.finished() == tasks.total() {
            // If the ranks are stale, the job keeps its last rank.
            while !self.is_stale && self.line.place(job.id()).is_none() && self.rank_more() {}
            self.line.keep_place(job.id());
            self.is_stale |= self.cluster.leave(view.now(), job.id());
        }
    }

    fn measure(&mut self, now: SimTime, last: &Report) {
        let seconds = self.trainer.seconds(last);
        if let Some(real) = self.real.get_mut(&last.attempt.job()) {
            let waited = now.saturating_since(real.since).as_secs_f64();
            // A map never waits for other tasks.
            real.work += if self.kind == SlotKind::Reduce { seconds.min(waited) } else { seconds };
        }
    }

    /// Returns the estimated and the real size of a job, if it was estimated.
    pub(super) fn size(&self, job: JobId) -> Option<JobSize> {
        let estimated = self.sizes.get(&job).copied().filter(|size| size.is_finite())?;
        Some(JobSize { estimated, real: self.real.get(&job)?.work })
    }

    /// Subtracts an ended task from the work left of its job, by its true time. So a wrong estimate
    /// stays wrong: a job that was taken for smaller soon has nothing left, and comes first.
    fn note_done(
        &mut self,
        job: &Job,
        attempt: AttemptId,
        report: Option<&Report>,
        estimates: &Estimates,
    ) {
        let truth = estimates.true_task(job, self.kind, attempt.task.index);
        let seconds =
            truth.unwrap_or_else(|| report.map_or(0.0, |report| self.trainer.seconds(report)));
        if let Some(left) = self.left.get(&job.id()) {
            // The size is an estimate and may be exceeded by the tasks, so stop at zero.
            let done = mutated!(seconds, "hfsp/left-stays" => 0.0);
            self.set_left(job.id(), (left - done).max(0.0));
        }
    }

    /// Reads a tracker's report, to measure the running reduces of samples.
    pub(super) fn look(&mut self, view: &View<'_>, tracker: TrackerId, estimates: &mut Estimates) {
        for job in self.trainer.look(view.reports(tracker)) {
            view.job(job).inspect(|job| self.use_findings(view, job, estimates));
        }
    }

    /// Corrects a job's estimated size once its sample is measured.
    fn use_findings(&mut self, view: &View<'_>, job: &Job, estimates: &mut Estimates) {
        let findings = self.trainer.findings(job.id(), &job.spec().reduce.shuffle);
        let Some(SampleFindings { job: id, work, before, done }) = findings else { return };
        let (kind, counts, now) = (self.kind, job.tasks(self.kind), view.now());
        let tasks = f64::from(counts.total());
        let took = |task: &MeasuredTask| SimSpan::ceil_from_secs(task.seconds + before);
        let sample: Vec<SimSpan> = work.iter().map(took).collect();
        let own = estimates.own(&KnownJob { view, job, kind, sample: &sample });
        let size = own.unwrap_or_else(|| {
            let counted = mutated!(tasks, "hfsp/size-left" => tasks - f64::from(counts.finished()));
            let each = estimates.estimator.task_time(&work) + before;
            estimates.with_error(job, kind, counted * each)
        });
        let done = match self.rules.discount {
            Discount::Sample => mutated!(done, "hfsp/discount-2013" => self.cluster.done(now, id)),
            Discount::VirtualWork => {
                mutated!(self.cluster.done(now, id), "hfsp/discount-2015" => done)
            }
            Discount::Nothing => 0.0,
        };
        // The work done may exceed the new size; the job then ends in the virtual cluster.
        let left =
            mutated!(size - done, "hfsp/discount" => size, "hfsp/correction" => f64::INFINITY);
        self.cluster.set_left(now, id, left.max(0.0));
        self.line.displace(id);
        self.is_stale = true;
        self.sizes.insert(id, size);
        let unfinished = tasks - f64::from(counts.finished() + counts.failed());
        // An unknown size is infinite, and infinity times zero is not a number.
        let left = if unfinished == 0.0 { 0.0 } else { size * unfinished / tasks };
        self.set_left(id, left);
    }

    pub(super) fn remove(&mut self, view: &View<'_>, job: JobId) {
        self.is_stale |= self.cluster.leave(view.now(), job);
        self.trainer.remove(job);
        self.awaited.remove(&job);
        self.sizes.remove(&job);
        self.real.remove(&job);
        self.left.remove(&job);
        self.late.remove(&job);
        self.line.remove(job);
    }

    /// Updates a job's counts; `preempted` of its attempts have lost their slots.
    pub(super) fn count(
        &mut self,
        view: &View<'_>,
        job: &Job,
        preempted: u32,
        estimates: &mut Estimates,
    ) {
        if self.awaited.contains(&job.id()) {
            self.await_arrival(view, job, estimates);
        }
        let (tasks, pending) = (job.tasks(self.kind), job.pending(self.kind));
        self.line.count(job.id(), pending, tasks.running().saturating_sub(preempted));
        // Each slot that a late job gets moves it behind the others.
        if let Some(&LateJob { attained, .. }) = self.late.get(&job.id())
            && let Some(rank) = self.late_rank(job, attained)
        {
            self.late.insert(job.id(), LateJob { attained, rank });
            self.line.place_at((rank, job.id()));
        }
        self.trainer.count(job.id(), pending, tasks.total() - tasks.finished() - tasks.failed());
    }

    /// Brings the ranks up to date, those of late jobs included; `records` say how long attempts have
    /// held slots. Returns a note for the event log when jobs cease or begin to have virtual slots.
    pub(super) fn settle(
        &mut self,
        view: &View<'_>,
        records: &FxHashMap<JobId, JobRecord>,
    ) -> Option<&'static str> {
        self.find_late(view, records);
        let note = self.rank_anew(view);
        if self.rules.order == HfspOrder::GuardedFinish {
            self.guard(view);
        }
        self.late.iter().for_each(|(job, late)| self.line.place_at((late.rank, *job)));
        note
    }

    /// Ranks the jobs that should have ended, under SRPT with the first of the others.
    fn find_late(&mut self, view: &View<'_>, records: &FxHashMap<JobId, JobRecord>) {
        if self.rules.late == LateOrder::InTurn {
            return;
        }
        let by_left = self.rules.order == HfspOrder::RemainingWork;
        let late: Vec<JobId> = if by_left {
            self.moved.extend(self.late.keys());
            let used_up = self.left.iter().filter(|(_, left)| **left <= 0.0);
            used_up.map(|(job, _)| *job).collect()
        } else {
            self.cluster.ended_by(view.now()).collect()
        };
        let attained = |id: JobId| match self.rules.late {
            LateOrder::LeastAttained => records.get(&id).map_or(0.0, |it| it.attained(view.now())),
            _ => 0.0,
        };
        let mut amounts: Vec<(JobId, f64)> =
            late.into_iter().map(|id| (id, attained(id))).collect();
        let others = self.left.iter().filter(|(_, left)| 0.0 < **left);
        let first = others.min_by(|one, other| one.1.total_cmp(other.1).then(one.0.cmp(other.0)));
        let least = amounts.iter().map(|(_, attained)| *attained).min_by(f64::total_cmp);
        // It gets as much as the late job that has been served least.
        let first = first.filter(|_| by_left).zip(least);
        amounts.extend(first.map(|((id, _), least)| (*id, least)));
        let ranked = amounts.into_iter().filter_map(|(id, attained)| {
            Some((id, LateJob { attained, rank: self.late_rank(view.job(id)?, attained)? }))
        });
        self.late = ranked.collect();
    }

    /// Returns the rank of a late job; `None` if it has no tasks of this kind.
    fn late_rank(&self, job: &Job, attained: f64) -> Option<Measure> {
        let slots = f64::from(self.line.held_by(job.id())?);
        let held = mutated!(slots / self.rules.weights.of(job), "hfsp/late-unweighted" => slots);
        Some(Measure(match self.rules.late {
            // Slots decide only between jobs that have been served alike.
            LateOrder::LeastAttained => {
                LATE + mutated!(attained, "hfsp/late-unserved" => 0.0) + held / 1e6
            }
            _ => mutated!(LATE + held, "hfsp/late-most" => LATE - held),
        }))
    }

    /// Ranks those jobs first, by their virtual ends, that need all their slots from now on to end by
    /// then. A job stays first until its last task has ended. Takes O(n log n) for n jobs.
    fn guard(&mut self, view: &View<'_>) {
        self.rank_all();
        for (id, end) in &self.placed {
            let Some(job) = view.job(*id) else { continue };
            let tasks = job.tasks(self.kind);
            let unfinished = tasks.total() - tasks.finished() - tasks.failed();
            // Tasks that run count as if they had just begun.
            let most = mutated!(unfinished.min(self.slots), "hfsp/guard-all-slots" => self.slots);
            let left = mutated!(&self.left, "hfsp/guard-size" => &self.sizes).get(id);
            let needed = left.map_or(0.0, |left| left / f64::from(most.max(1)));
            let until = self.cluster.until(view.now(), *end);
            let has_slack = mutated!(needed < until, "hfsp/guard-sleeps" => true);
            self.line.place_at((Measure(if has_slack { *end } else { LATE + end }), *id));
        }
    }

    /// If anything that affects ranks has changed, computes all ranks anew, or marks them as
    /// outdated if [`Phase::rank_all`] and [`Phase::rank_more`] compute them. Returns a note for
    /// the event log when jobs cease or begin to have virtual slots.
    fn rank_anew(&mut self, view: &View<'_>) -> Option<&'static str> {
        let slots = view.capacity(self.kind);
        // Only an order by virtual work changes as time passes.
        let melts = self.rules.order == HfspOrder::VirtualWork && self.settled_at < view.now();
        if !self.is_stale && !melts && slots == self.slots {
            return None;
        }
        self.settled_at = view.now();
        if slots != self.slots {
            self.cluster.set_slots(view.now(), slots);
        }
        (self.slots, self.is_stale) = (slots, false);
        match self.rules.order {
            HfspOrder::ProjectedFinish | HfspOrder::GuardedFinish => self.ranked = Ranked::Nobody,
            // Jobs that have virtually ended come before all others, in the order of their ends.
            HfspOrder::VirtualWork => {
                let rank =
                    |left: f64, ended: Option<f64>| ended.map_or(left, |at| -1.0 / (1.0 + at));
                let left = self.cluster.left(view.now());
                self.line.place_all(left.map(|(id, left, ended)| (Measure(rank(left, ended)), id)));
            }
            HfspOrder::RemainingWork => {
                let moved = self.moved.drain().filter_map(|id| Some((id, *self.left.get(&id)?)));
                moved.for_each(|(id, left)| self.line.place_at((Measure(left), id)));
            }
        }
        let leaves_some_out = self.cluster.leaves_some_out();
        if leaves_some_out == std::mem::replace(&mut self.leaves_some_out, leaves_some_out) {
            return None;
        }
        Some(match (self.kind, leaves_some_out) {
            (SlotKind::Map, true) => "some jobs have no virtual slot for maps from now on",
            (SlotKind::Map, false) => "every job has a virtual slot for maps again",
            (SlotKind::Reduce, true) => "some jobs have no virtual slot for reduces from now on",
            (SlotKind::Reduce, false) => "every job has a virtual slot for reduces again",
        })
    }

    /// Ranks all jobs. Call this before asking for the rank of an arbitrary job.
    pub(super) fn rank_all(&mut self) {
        if let Ranked::All = self.ranked {
            return;
        }
        let finishes = self.cluster.finishes();
        self.placed.clone_from(&finishes);
        let rank = |id: JobId, at| self.late.get(&id).map_or(Measure(at), |late| late.rank);
        self.line.place_all(finishes.into_iter().map(|(id, at)| (rank(id, at), id)));
        self.ranked = Ranked::All;
    }

    /// Ranks a few more jobs, the next ones in order; this suffices for a caller that walks along
    /// the jobs [in order](Phase::in_line). Returns whether any job was without a rank.
    pub(super) fn rank_more(&mut self) -> bool {
        if let Ranked::Nobody = self.ranked
            && let Some(dealing) = self.cluster.foresee()
        {
            // The ranks of the last round are outdated: remove them before new ranks are set.
            let known = self.placed.drain(..).filter(|(job, _)| self.cluster.has(*job));
            known.for_each(|(job, _)| self.line.displace(job));
            for (job, at) in self.cluster.ended() {
                let rank = self.late.get(&job).map_or(Measure(at), |late| late.rank);
                self.line.place_at((rank, job));
            }
            self.ranked = Ranked::First(dealing);
        }
        if let Ranked::First(dealing) = &mut self.ranked {
            for _ in 0..AT_ONCE {
                let Some((job, at)) = dealing.end_next(&self.cluster, f64::INFINITY) else {
                    self.rank_all();
                    break;
                };
                self.line.place_at((Measure(at), job));
                self.placed.push((job, at));
            }
            return true;
        }
        let was_done = matches!(self.ranked, Ranked::All);
        self.rank_all();
        !was_done
    }

    /// Returns the rank before which all ranks are up to date; `None` if all ranks are.
    pub(super) fn ranked_before(&self) -> Option<Measure> {
        match &self.ranked {
            Ranked::All => None,
            // Every job without an up-to-date rank ends at this time or later.
            Ranked::First(dealing) => Some(Measure(dealing.next_end().unwrap_or(f64::INFINITY))),
            Ranked::Nobody => Some(Measure::FIRST),
        }
    }

    /// Returns the claims on slots in order; `here` is a suspended attempt.
    pub(super) fn claims(
        &self,
        here: Option<SuspendedHere>,
    ) -> impl Iterator<Item = SlotClaim<MeasuredTurn>> {
        self.samples().chain(self.in_line(here, Measure::FIRST))
    }

    /// Returns the number that puts a claim in its place.
    pub(super) fn number(
        &self,
        SlotClaim { turn: (rank, job), tasks, reason, .. }: SlotClaim<MeasuredTurn>,
    ) -> RankNumber {
        match (reason, self.rules.order) {
            (Reason::Sample, _) => ("sample", f64::from(tasks)),
            _ if self.late.contains_key(&job) => ("late", rank.0 - LATE),
            (_, HfspOrder::GuardedFinish) if rank.0 < 0.0 => ("no_slack", rank.0 - LATE),
            (_, HfspOrder::ProjectedFinish | HfspOrder::GuardedFinish) => {
                ("projected_finish", rank.0)
            }
            (_, HfspOrder::VirtualWork) => ("virtual_work", rank.0),
            (_, HfspOrder::RemainingWork) => ("remaining_work", rank.0),
        }
    }

    /// Returns the claims of samples only. They do not depend on ranks.
    pub(super) fn samples(&self) -> impl Iterator<Item = SlotClaim<MeasuredTurn>> {
        // If samples may have no more slots, skip the queue, which may hold thousands of jobs.
        let trains = mutated!(self.trains(), "hfsp/samples-first" => false);
        let queue = trains.then(|| self.trainer.queue()).into_iter().flatten();
        // While the maps of a job run, its reduces could only fetch.
        let may = |job: &JobId| mutated!(!self.awaited.contains(job), "hfsp/early-sample" => true);
        queue.filter(may).map(|job| SlotClaim {
            turn: (Measure::FIRST, job),
            tasks: self.trainer.to_launch(job),
            resumed: None,
            reason: Reason::Sample,
        })
    }

    /// Returns whether samples may have more slots.
    fn trains(&self) -> bool {
        // The slots are limited, so that many new jobs do not starve the others (2013, section
        // 3.2). Samples come first, but all slots are given to jobs (2015, section 3.1), so none is
        // kept idle for samples that may come.
        let most = self.rules.training_slots * f64::from(self.slots);
        let left = most - f64::from(self.trainer.running);
        mutated!(0.0 < left, "hfsp/training-more" => -1.0 < left, "hfsp/training-slots" => true)
    }

    /// Returns the other claims from a rank on, up to the last that is up to date.
    pub(super) fn in_line(
        &self,
        here: Option<SuspendedHere>,
        from: Measure,
    ) -> impl Iterator<Item = SlotClaim<MeasuredTurn>> {
        let trains = mutated!(self.trains(), "hfsp/claimed-twice" => false);
        let ranked_before = self.ranked_before();
        let waiting = self.line.waiting((from, JobId(0))..);
        let ranked =
            waiting.take_while(move |(rank, _)| ranked_before.is_none_or(|before| *rank < before));
        let line = ranked.filter_map(move |turn @ (_, job)| {
            // Tasks that the job already claims as its sample are not claimed again.
            let may_train = trains && !self.awaited.contains(&job);
            let as_sample = if may_train { self.trainer.to_launch(job) } else { 0 };
            let tasks = self.line.pending(job).saturating_sub(as_sample);
            (0 < tasks).then_some((turn, (tasks, None)))
        });
        let here = here.map(|(turn, attempt)| (turn, (1, Some(attempt))));
        with_resumed(line, here).map(|(turn, (tasks, resumed))| SlotClaim {
            turn,
            tasks,
            resumed,
            reason: Reason::EndsFirst,
        })
    }

    /// Returns the estimated work of a job in seconds; infinite before it arrives.
    pub(super) fn size_of(&self, job: JobId) -> Measure {
        Measure(self.sizes.get(&job).copied().unwrap_or(f64::INFINITY))
    }

    pub(super) fn needs(&self, attempt: AttemptId) -> bool {
        // A reduce that only waits for the maps of its job measures nothing yet.
        let measures = !self.awaited.contains(&attempt.job())
            && (self.spares_all(attempt.job()) || self.trainer.needs(attempt));
        mutated!(measures, "hfsp/spared" => false)
    }

    /// Returns whether all attempts of a job are spared: its size has still to be estimated.
    fn spares_all(&self, job: JobId) -> bool {
        let is_training = self.rules.spared == SparedAttempts::Training && self.trainer.trains(job);
        mutated!(is_training, "hfsp/spared-sample" => false)
    }

    /// Returns the jobs that could give up slots, but those for which `is_spared`.
    pub(super) fn givers(
        &self,
        is_spared: impl Fn(JobId) -> bool,
    ) -> impl Iterator<Item = (MeasuredTurn, u32)> {
        self.line.givers(move |job| {
            if self.awaited.contains(&job) && !is_spared(job) {
                return 0;
            }
            // No job holds as many slots as `u32::MAX`, so a spared job gives up none.
            let is_kept = mutated!(is_spared(job) || self.spares_all(job), "hfsp/granted" => false);
            if is_kept { u32::MAX } else { self.trainer.granted(job) }
        })
    }
}
