//! An idle cluster: whether the JobTracker sees any change, and what the tasks and attempts of each
//! job wait for.
//!
//! The JobTracker alone cannot know that a run has stalled: a task may end the next moment. It says
//! since when it has been [idle](Ledger::idle_state), and the clock, which knows everything that is
//! due, decides whether the run is over.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ledger;
use super::launches::bars;
use crate::cluster::{Amounts, SlotKind, TrackerId};
use crate::mapred::event::AttemptState;
use crate::mapred::hadoop::LaunchExpiry;
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::{Job, JobState, KnownAttempt, TaskStage};
use crate::mapred::outbox::IdleState;
use crate::mapred::stall::{JobSlots, JobWait, Stall, WaitCause, WaitingPart};
use crate::mapred::unfetched::longest_trial;
use mumakil_base::units::{SimSpan, SimTime};

impl Ledger {
    /// Returns since when heartbeats have changed nothing; `None` unless every tracker has sent two
    /// heartbeats after the last change and after the policy's patience. With the reply to the
    /// first heartbeat the tracker got its last order; with the second it would have reported the
    /// effect.
    ///
    /// Walks all trackers, and each launch once after its attempt has begun.
    pub(crate) fn idle_state(&mut self, patience: SimSpan) -> Option<IdleState> {
        let registered = || self.trackers.iter().filter(|tracker| tracker.is_registered);
        // A silent tracker will be lost and a blacklisted tracker forgiven: either may change
        // something.
        let heard = registered().map(|tracker| tracker.seen_before).min();
        // Without trackers there are no heartbeats, so nothing can change from now on, even if
        // something changed a moment ago.
        let first = heard.unwrap_or(SimTime::NEVER);
        let since = SimTime::ZERO + (first.saturating_since(SimTime::ZERO + patience));
        let is_unchanged = self.moved_at < since
            && registered().all(|tracker| !tracker.is_blacklisted && tracker.orders.is_empty());
        // Do the cheap tests first: in a busy cluster they spare the walks below.
        if !is_unchanged {
            return None;
        }
        let trackers = registered().count() as u32;
        self.forget_begun_launches();
        let is_unchanged = !self.launches.iter().any(|(_, attempt)| self.will_expire(*attempt))
            && self.orphans_trial() <= since.saturating_since(self.moved_at);
        is_unchanged.then_some(IdleState { trackers, since })
    }

    /// Returns how long reduces of ended jobs may try to fetch lost outputs before they give up
    /// their slots. The JobTracker does not know whether they try, or wait for ever for maps to
    /// end. Walks all jobs.
    fn orphans_trial(&self) -> SimSpan {
        let jobs = self.jobs.iter().flatten();
        let ended =
            jobs.filter(|job| matches!(job.state, JobState::Ended(_)) && 0 < job.open_tries);
        let trials = ended.filter_map(|job| {
            let mut reduces = job.reduces.tasks.iter().flat_map(|task| &task.tries);
            reduces
                .any(|attempt| attempt.state == AttemptState::Running)
                .then(|| longest_trial(job.maps.total))
        });
        trials.max().unwrap_or_default()
    }

    /// Returns what every job, its tasks and its attempts wait for; `width` returns how many slots a
    /// task of a job takes. Walks all tasks of all jobs.
    pub(crate) fn stall(&self, width: impl Fn(JobId, SlotKind) -> u32) -> Stall {
        let mut stall = Stall { trackers: self.active, slots: self.capacity, ..Stall::default() };
        for job in self.jobs.iter().flatten() {
            let has_ended = matches!(job.state, JobState::Ended(_));
            // No attempt of this job is left in the cluster.
            if has_ended && job.open_tries == 0 {
                continue;
            }
            let mut held: BTreeMap<SlotKind, u32> = BTreeMap::new();
            let mut waits: BTreeMap<(WaitingPart, WaitCause), u32> = BTreeMap::new();
            for (who, wait) in self.services_waiting(job) {
                *waits.entry((who, wait)).or_default() += 1;
            }
            for (kind, tasks) in job.all_tasks() {
                for (index, task) in (0..).zip(tasks) {
                    let id = TaskId { job: job.id(), kind, index };
                    if task.stage == TaskStage::Waiting && id.is_work() && !has_ended {
                        let wait = self.wait_of_task(job, id, width(job.id(), id.slot()));
                        *waits.entry((WaitingPart::Task(id.slot()), wait)).or_default() += 1;
                    }
                    for attempt in &task.tries {
                        let (who, wait) = self.wait_of(job, id, attempt);
                        *waits.entry((who, wait)).or_default() += 1;
                        // An attempt whose output must be removed has left its slot, and so has a
                        // suspended attempt.
                        if !attempt.waits_for_cleaner() && wait != WaitCause::Resumption {
                            *held.entry(id.slot()).or_default() += attempt.slots;
                        }
                    }
                }
            }
            let name: Arc<str> = job.spec.name.clone();
            for ((who, on), count) in waits {
                stall.waiting.push(JobWait { job: name.clone(), who, count, on });
            }
            let held = held.into_iter();
            stall.held.extend(held.map(|(kind, slots)| JobSlots {
                kind,
                job: name.clone(),
                slots,
            }));
        }
        stall.held.sort_by_key(|held| held.kind);
        stall
    }

    /// Returns what a job itself and its setup and cleanup tasks wait for.
    fn services_waiting(
        &self,
        job: &Job,
    ) -> impl Iterator<Item = (WaitingPart, WaitCause)> + use<> {
        let id = job.id();
        let unread =
            (job.state == JobState::Submitted).then_some((WaitingPart::Job, WaitCause::Policy));
        let wants_setup = self.wants_setup.contains(&id);
        let setup = wants_setup.then(|| (WaitingPart::Setup, self.wait_of_service(job)));
        let wants_cleanup = self.wants_cleanup.contains(&id);
        let cleanup = wants_cleanup.then(|| (WaitingPart::Cleanup, self.wait_of_service(job)));
        [unread, setup, cleanup].into_iter().flatten()
    }

    /// Returns what a setup or cleanup task of a job waits for.
    fn wait_of_service(&self, job: &Job) -> WaitCause {
        let waits = SlotKind::BOTH.map(|kind| self.wait_for_slot(kind, |at| self.avoids(job, at)));
        // The task may use either kind of slot, so take the greater of the two causes, the one
        // nearer to a launch.
        waits.into_iter().max().unwrap_or(WaitCause::Slot)
    }

    fn wait_of_task(&self, job: &Job, task: TaskId, width: u32) -> WaitCause {
        let kind = task.slot();
        if job.waiting(kind) == 0 {
            return match kind {
                SlotKind::Reduce if job.is_running() => {
                    WaitCause::Maps(job.maps.total - job.maps_over())
                }
                SlotKind::Map | SlotKind::Reduce => WaitCause::Setup,
            };
        }
        let barred = job.barred.get(&task);
        let avoids = |at| {
            !self.suits(job, at, kind, width) || barred.is_some_and(|on| bars(on, at, self.active))
        };
        let is_full = |at| avoids(at) || !self.has_room(job, kind, at);
        match self.wait_for_slot(kind, avoids) {
            WaitCause::Policy if self.wait_for_slot(kind, is_full) == WaitCause::OtherTracker => {
                let mut holders = self.trackers.iter().flat_map(|tracker| &tracker.holders);
                let has_reduces = holders.any(|holder| {
                    holder.slot() == SlotKind::Reduce && self.held_by(*holder) != Amounts::default()
                });
                WaitCause::Room(if has_reduces { SlotKind::Reduce } else { SlotKind::Map })
            }
            wait => wait,
        }
    }

    /// Returns what a task waits for, if it needs a slot of this kind and avoids some trackers.
    fn wait_for_slot(&self, kind: SlotKind, avoids: impl Fn(TrackerId) -> bool) -> WaitCause {
        if self.active == 0 {
            return WaitCause::Trackers;
        }
        if self.capacity[kind] == 0 {
            return WaitCause::SuchSlots;
        }
        let trackers = (0..).map(TrackerId).zip(&self.trackers);
        let with_room = trackers.filter(|(_, tracker)| {
            tracker.is_active() && tracker.occupied[kind] < tracker.slots[kind]
        });
        let mut open = with_room.peekable();
        if open.peek().is_none() {
            return WaitCause::Slot;
        }
        // If a slot is free on a tracker that the job accepts, it is the policy that holds the slot
        // back.
        if open.all(|(at, _)| avoids(at)) { WaitCause::OtherTracker } else { WaitCause::Policy }
    }

    fn wait_of(&self, job: &Job, task: TaskId, attempt: &KnownAttempt) -> (WaitingPart, WaitCause) {
        let kind = task.slot();
        if attempt.waits_for_cleaner() {
            return (WaitingPart::Output(kind), self.wait_of_service(job));
        }
        let maps_left = job.maps.total - job.maps_over();
        let wait = match attempt.state {
            AttemptState::Unassigned => WaitCause::SlotThere,
            AttemptState::Suspended => WaitCause::Resumption,
            _ if task.kind != TaskKind::Reduce => WaitCause::End,
            _ if matches!(job.state, JobState::Ended(_)) => WaitCause::Orphan,
            _ if 0 < maps_left => WaitCause::Maps(maps_left),
            _ => WaitCause::End,
        };
        (WaitingPart::Attempt(kind), wait)
    }

    /// Returns whether a launch will expire because no tracker has reported it.
    fn will_expire(&self, attempt: AttemptId) -> bool {
        let Some(record) = self.attempt(attempt) else { return false };
        let reports = &self.trackers[record.tracker.index()].reports;
        record.state == AttemptState::Unassigned
            && !(self.hadoop.launch_expiry == LaunchExpiry::Reported
                && reports.iter().any(|report| report.attempt == attempt))
    }
}
