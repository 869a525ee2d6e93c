//! Launches: which task a tracker gets, after the policy has given the slot to a job.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Ledger, entry, is_small_part};
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Fact, LedgerFact, Outcome, Role};
use crate::mapred::hadoop::{Hadoop, LaunchExpiry};
use crate::mapred::heartbeat::{Directive, LaunchOrder};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::{Job, KnownAttempt, Task, TaskStage};
use crate::mapred::locality::Locality;
use crate::mapred::map_cache::{MapReach, MapVerdict};
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::Reason;
use mumakil_base::units::SimSpan;

/// A launch that the ledger has decided on; its order and its event are still to be made.
struct LaunchDecision {
    attempt: AttemptId,
    wish: LaunchWish,
    role: Role,
    locality: Option<Locality>,
    speculative: bool,
    waited: SimSpan,
}

/// A launch that a policy wants, and why.
#[derive(Clone, Copy)]
pub(crate) struct LaunchWish {
    pub(crate) job: JobId,
    pub(crate) tracker: TrackerId,
    /// How many slots the task takes.
    pub(crate) slots: u32,
    pub(crate) reason: Reason,
}

impl Ledger {
    /// Emits the event of a launch; returns the order that travels with the reply.
    fn order_launch(&mut self, handout: LaunchDecision, out: &mut Outbox) -> LaunchOrder {
        let LaunchDecision { attempt, wish, role, locality, speculative, waited } = handout;
        let LaunchWish { tracker, slots, reason, .. } = wish;
        let job = self.known(attempt.job());
        let (spec, counts) = (job.spec.clone(), job.counts(attempt.slot()));
        let is_as_written = job.splits.are_as_written();
        // Only Mumak's JobTracker draws, at the launch, how long an attempt will take.
        let drawn = match (&mut self.mumak_draws, &spec.traced) {
            (Some(mumak_draws), Some(traced)) if role == Role::Work && attempt.task.is_work() => {
                Some(traced.draw(attempt, locality, mumak_draws.of(spec.id.0, &spec.name)))
            }
            _ => None,
        };
        self.moved_at = out.now;
        out.emit(Fact::Ledger(
            attempt,
            tracker,
            LedgerFact::Assigned { role, locality, speculative, reason, waited, counts },
        ));
        let reads = role == Role::Work && attempt.task.kind == TaskKind::Map;
        // The job's splits may name copies that are lost, even if every node is well again.
        let files =
            (reads && !(self.files.is_untouched() && is_as_written)).then(|| self.files.clone());
        let saved = (role == Role::Work).then(|| self.saved_work(attempt.task)).flatten();
        LaunchOrder { attempt, role, job: spec, locality, slots, drawn, saved, files }
    }

    /// Begins an attempt of a task.
    pub(super) fn assign(
        &mut self,
        task: TaskId,
        wish: LaunchWish,
        locality: Option<Locality>,
        out: &mut Outbox,
    ) -> LaunchOrder {
        let now = out.now;
        let LaunchWish { tracker, slots, .. } = wish;
        // Skip setup and cleanup tasks, which policies neither launch nor refuse.
        if let Some(refusals) = self.refusals.as_mut().filter(|_| task.is_work()) {
            refusals.launched(task.job, task.slot(), out);
            refusals.holds(task.job, task.slot(), slots as i32);
        }
        let job = entry(&mut self.jobs, task.job);
        let ready_at = match task.kind {
            TaskKind::Reduce => job.reduces_ready_at.unwrap_or(job.running_at),
            TaskKind::Map | TaskKind::Setup | TaskKind::Cleanup => job.running_at,
        };
        let record = job.known_task(task);
        let is_speculative = record.tries.iter().any(KnownAttempt::is_active);
        // The wait of a reduce begins at the slow start at the earliest, and the wait of a map when
        // its job runs.
        let waited = now.saturating_since(record.since.max(ready_at));
        let number = record.next;
        record.next += 1;
        let was_waiting = record.stage == TaskStage::Waiting;
        record.stage = TaskStage::Active;
        record.push(KnownAttempt {
            number,
            tracker,
            slots,
            is_counted: task.is_work(),
            is_second: is_speculative,
            launched: now,
            ..KnownAttempt::default()
        });
        job.open_tries += 1;
        if task.is_work() {
            let tasks = job.tasks_mut(task.slot());
            tasks.running += 1;
            tasks.waiting -= u32::from(was_waiting);
            tasks.seconds += u32::from(is_speculative);
            self.seconds[task.slot()] += u32::from(is_speculative);
        }
        // A task with a second attempt must leave the list of slow tasks.
        self.unlist(now, task);
        self.recount(now, task.job);
        self.open_tries += 1;
        self.note_holder(task.attempt(number), tracker);
        self.launches.push_back((now, task.attempt(number)));
        let handout = LaunchDecision {
            attempt: task.attempt(number),
            wish,
            role: Role::Work,
            locality,
            speculative: is_speculative,
            // The wait of a task ends with its first attempt, so a second attempt has not waited.
            waited: if task.is_work() && !is_speculative { waited } else { SimSpan::ZERO },
        };
        self.order_launch(handout, out)
    }

    /// Fails the attempts that were assigned longer ago than the expiry and have not begun.
    ///
    /// A tracker that has received a launch reports it with its next heartbeat. So an attempt
    /// without a report is lost with its tracker before it expires, unless the tracker breaks the
    /// protocol. An attempt does expire if it waits for its slot all the time, for example because
    /// a resumed attempt has taken the slot. Looks at each launch once.
    pub(crate) fn expire_launches(&mut self, out: &mut Outbox) {
        let Hadoop { expiry, launch_expiry, .. } = self.hadoop;
        // Launches are in the order of time, so stop at the first one that is recent enough.
        while let Some((assigned, attempt)) = self.launches.front().copied()
            && expiry < out.now.saturating_since(assigned)
        {
            self.launches.pop_front();
            let waiting = self.find_try(attempt).filter(|t| t.state == AttemptState::Unassigned);
            let Some(on) = waiting.map(|record| record.tracker) else { continue };
            let tracker = &mut self.trackers[on.index()];
            let is_reported = tracker.reports.iter().any(|report| report.attempt == attempt);
            // Before version 1.2, Hadoop took an attempt off this list as soon as it was reported,
            // even if it still waited for a slot.
            if is_reported && launch_expiry == LaunchExpiry::Reported {
                continue;
            }
            // The attempt may still start; its reports are then ignored.
            tracker.orders.push(Directive::Kill(attempt));
            self.lose(attempt, Outcome::Failed, out);
        }
    }

    /// Forgets launches whose attempts have begun: they do not expire.
    pub(super) fn forget_begun_launches(&mut self) {
        let mut launches = std::mem::take(&mut self.launches);
        launches.retain(|(_, attempt)| {
            self.attempt(*attempt).is_some_and(|it| it.state == AttemptState::Unassigned)
        });
        self.launches = launches;
    }

    /// Returns whether a job avoids a tracker because too many of its attempts failed there.
    pub(super) fn avoids(&self, job: &Job, tracker: TrackerId) -> bool {
        let failures = job.failures_on.get(&tracker).copied().unwrap_or(0);
        // As in Hadoop, a job that would avoid a quarter of the cluster or more avoids no tracker.
        is_small_part(job.flaky, self.active) && job.settings.tracker_failures <= failures
    }

    /// Returns whether it is certain that no map of a job has its input on a tracker's node; reads
    /// no list.
    #[inline]
    pub(crate) fn has_no_map_on(&self, id: JobId, tracker: TrackerId) -> bool {
        self.job(id).is_none_or(|job| job.failed_maps.is_empty() && job.cache.has_none_on(tracker))
    }

    /// Launches the job's waiting map that suits a node best within reach. If there is none and the
    /// reach is unlimited, launches a second attempt of a slow map.
    pub(crate) fn launch_map(
        &mut self,
        wish: LaunchWish,
        reach: MapReach,
        out: &mut Outbox,
    ) -> Option<LaunchOrder> {
        let LaunchWish { job: id, tracker, .. } = wish;
        // A policy may name a job that has not arrived.
        let job = self.job(id)?;
        if job.pending(SlotKind::Map) == 0 || !self.suits(job, tracker, SlotKind::Map, wish.slots) {
            return None;
        }
        if let Some((index, locality)) = self.best_map(id, tracker, reach) {
            let task = TaskId { job: id, kind: TaskKind::Map, index };
            return Some(self.assign(task, wish, locality, out));
        }
        // As in Hadoop, second attempts come last, and only if the policy allows launches outside
        // the rack.
        let looks_anywhere = matches!(reach, MapReach::Any | MapReach::Beyond);
        if looks_anywhere { self.launch_second(wish, SlotKind::Map, out) } else { None }
    }

    /// Launches this waiting task, if it may run on the tracker.
    pub(crate) fn launch_task(
        &mut self,
        task: TaskId,
        wish: LaunchWish,
        out: &mut Outbox,
    ) -> Option<LaunchOrder> {
        let LaunchWish { tracker, slots, .. } = wish;
        let job = self.job(task.job)?;
        let suits = self.suits(job, tracker, task.slot(), slots);
        if !job.waits(task) || !suits || !self.may_run(job, task, tracker) {
            return None;
        }
        let Self { jobs, holders, topology, .. } = self;
        let job = entry(jobs, task.job);
        let mut locality = None;
        if task.kind == TaskKind::Map {
            job.locate(task.index, holders);
            locality = Locality::of(tracker, holders, topology);
            let failed = job.failed_maps.len();
            job.failed_maps.retain(|(_, map)| *map != task.index);
            if job.failed_maps.len() == failed {
                job.cache.forget(holders);
            }
        } else {
            job.waiting_reduces.retain(|reduce| *reduce != task.index);
        }
        Some(self.assign(task, wish, locality, out))
    }

    fn may_run(&self, job: &Job, task: TaskId, tracker: TrackerId) -> bool {
        // A task that has failed here waits for another tracker; the next task may run here.
        !job.barred.get(&task).is_some_and(|on| bars(on, tracker, self.active))
    }

    fn best_map(
        &mut self,
        id: JobId,
        tracker: TrackerId,
        reach: MapReach,
    ) -> Option<(u32, Option<Locality>)> {
        let hosts = self.active;
        let job = entry(&mut self.jobs, id);
        let Job { cache, maps, barred, failed_maps, spec, splits, .. } = job;
        let verdict = |index: u32| {
            let task = TaskId { job: id, kind: TaskKind::Map, index };
            verdict(task, &maps.tasks, barred, tracker, hosts)
        };
        let mut failed = failed_maps.iter().map(|(_, map)| *map);
        // In 1.x maps that have failed come before all other maps, wherever their input is, and
        // even beyond the reach that the policy allows.
        if !failed_maps.is_empty()
            && let Some(map) = failed.find(|map| verdict(*map) == MapVerdict::Take)
        {
            splits.locate(spec, map, &mut self.holders);
            let locality = Locality::of(tracker, &self.holders, &self.topology);
            failed_maps.retain(|(_, other)| *other != map);
            return Some((map, locality));
        }
        cache.best(tracker, reach, &self.topology, verdict)
    }

    /// Returns how many maps of a job could be launched on a tracker with the reach `Node`, and how
    /// many with the reach `Rack`. Each count stops at `most`.
    pub(crate) fn near_maps(&mut self, id: JobId, tracker: TrackerId, most: u32) -> [u32; 2] {
        if self.job(id).is_none_or(|job| job.pending(SlotKind::Map) == 0) {
            return [0; 2];
        }
        let hosts = self.active;
        let Job { cache, maps, barred, failed_maps, .. } = entry(&mut self.jobs, id);
        let verdict = |index: u32| {
            let task = TaskId { job: id, kind: TaskKind::Map, index };
            verdict(task, &maps.tasks, barred, tracker, hosts)
        };
        // Failed maps count for both, as they are launched first, wherever their input is.
        let failed =
            failed_maps.iter().filter(|(_, map)| verdict(*map) == MapVerdict::Take).count();
        let near = cache.near(tracker, most, &self.topology, verdict);
        near.map(|near| (near + failed as u32).min(most))
    }

    /// Launches the job's first waiting reduce, or else a second attempt of a slow reduce.
    pub(crate) fn launch_reduce(
        &mut self,
        wish: LaunchWish,
        out: &mut Outbox,
    ) -> Option<LaunchOrder> {
        let LaunchWish { job: id, tracker, .. } = wish;
        // A policy may name a job that has not arrived.
        let job = self.job(id)?;
        let suits = self.suits(job, tracker, SlotKind::Reduce, wish.slots);
        if job.pending(SlotKind::Reduce) == 0 || !suits {
            return None;
        }
        let task = |index| TaskId { job: id, kind: TaskKind::Reduce, index };
        // Reduces have no input to be near to: take the first one in the queue that may run here.
        let Some(position) =
            job.waiting_reduces.iter().position(|index| self.may_run(job, task(*index), tracker))
        else {
            return self.launch_second(wish, SlotKind::Reduce, out);
        };
        let waiting = &mut self.known_mut(id).waiting_reduces;
        let index = waiting.remove(position).expect("it has just been found there");
        Some(self.assign(task(index), wish, None, out))
    }

    /// Launches a job's setup or cleanup task, or the removal of an attempt's output.
    ///
    /// Such a launch comes before the policy's, and is the only launch of its heartbeat.
    pub(crate) fn launch_service(
        &mut self,
        tracker: TrackerId,
        kind: SlotKind,
        out: &mut Outbox,
    ) -> Option<LaunchOrder> {
        let waiting = [&self.wants_cleanup, &self.wants_task_cleanup[kind], &self.wants_setup];
        if waiting.iter().all(|jobs| jobs.is_empty()) {
            return None;
        }
        // Hadoop gives a job two setup and two cleanup tasks, one for each kind of slot. The first
        // one that is launched does the work, so the other is never launched here.
        let index = u32::from(kind == SlotKind::Reduce);
        let accepts = |set: &BTreeSet<JobId>| {
            set.iter().find(|id| !self.avoids(self.known(**id), tracker)).copied()
        };
        let service = |job| LaunchWish { job, tracker, slots: 1, reason: Reason::JobService };
        // Hadoop's order: cleanups of jobs, then outputs of attempts, then setups, each by job
        // number.
        if let Some(job) = accepts(&self.wants_cleanup) {
            self.wants_cleanup.remove(&job);
            let task = TaskId { job, kind: TaskKind::Cleanup, index };
            return Some(self.assign(task, service(job), None, out));
        }
        if let Some(job) = accepts(&self.wants_task_cleanup[kind]) {
            return Some(self.launch_task_cleanup(job, tracker, kind, out));
        }
        if let Some(job) = accepts(&self.wants_setup) {
            self.wants_setup.remove(&job);
            let task = TaskId { job, kind: TaskKind::Setup, index };
            return Some(self.assign(task, service(job), None, out));
        }
        None
    }

    fn launch_task_cleanup(
        &mut self,
        id: JobId,
        tracker: TrackerId,
        kind: SlotKind,
        out: &mut Outbox,
    ) -> LaunchOrder {
        let unclean = &mut self.known_mut(id).unclean[kind];
        let attempt = unclean.pop_front().expect("a job that wants a cleanup knows of what");
        // Read this now, as the borrow of the job must end before the list of jobs is changed.
        let is_last = unclean.is_empty();
        self.known_try(attempt).cleaner = Some(tracker);
        if is_last {
            self.wants_task_cleanup[kind].remove(&id);
        }
        let handout = LaunchDecision {
            attempt,
            wish: LaunchWish { job: id, tracker, slots: 1, reason: Reason::TaskCleanup },
            role: Role::TaskCleanup,
            locality: None,
            speculative: false,
            waited: SimSpan::ZERO,
        };
        self.order_launch(handout, out)
    }
}

/// Judges a map from a list: does it still wait, and may it run on the tracker?
fn verdict(
    task: TaskId,
    maps: &[Task],
    barred: &FxHashMap<TaskId, Vec<TrackerId>>,
    tracker: TrackerId,
    hosts: u32,
) -> MapVerdict {
    if maps[task.index as usize].stage != TaskStage::Waiting {
        return MapVerdict::Drop;
    }
    let is_barred =
        !barred.is_empty() && barred.get(&task).is_some_and(|on| bars(on, tracker, hosts));
    if is_barred { MapVerdict::Pass } else { MapVerdict::Take }
}

/// Returns whether a task avoids a tracker because an attempt failed there; a task that has failed
/// on all `hosts` trackers avoids no tracker.
pub(super) fn bars(failed_on: &[TrackerId], tracker: TrackerId, hosts: u32) -> bool {
    failed_on.contains(&tracker) && (failed_on.len() as u32) < hosts
}
