//! Which jobs may run: queues and users initialise no more than they may, and not at once.
//!
//! Every few seconds the jobs that wait are looked at in the order of their queue; a user at its
//! limit is passed over. Up to 0.21 a job counts until its first task is launched, so what is
//! limited is the line in front of the queue; in 1.x it counts until it is over.
//!
//! Unlike in Hadoop the splits of a job that waits are read all the same, and no job is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Rules;
use super::node::{Node, QueueId};
use super::tree::{Place, Tree};
use crate::mapred::{Job, JobId, SlotKind, View};

/// The jobs that wait, and those that count.
#[derive(Debug)]
pub(super) struct Admission {
    rules: Rules,
    max_system_jobs: u32,
    /// By the number of the queue.
    lines: Vec<Line>,
}

/// The jobs of a queue.
#[derive(Debug, Default)]
struct Line {
    waiting: BTreeMap<Place, Entry>,
    /// The jobs that were let in and count.
    counted: BTreeMap<JobId, Entry>,
    all: Sum,
    users: FxHashMap<Arc<str>, Sum>,
}

/// A job in its line.
#[derive(Clone, Debug)]
struct Entry {
    user: Arc<str>,
    tasks: u32,
}

/// How many jobs count, with how many tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    jobs: u32,
    tasks: u64,
}

impl Admission {
    pub(super) fn new(rules: Rules, max_system_jobs: u32, queues: usize) -> Self {
        let lines = (0..queues).map(|_| Line::default()).collect();
        Self { rules, max_system_jobs, lines }
    }

    /// Takes a job into the line of its queue.
    pub(super) fn enter(&mut self, job: &Job, queue: QueueId, place: Place) {
        let spec = job.spec();
        let entry =
            Entry { user: spec.user.clone(), tasks: spec.maps.saturating_add(spec.reduces) };
        self.lines[queue.index()].waiting.insert(place, entry);
    }

    /// Lets a job go that has ended.
    pub(super) fn leave(&mut self, job: JobId, queue: QueueId, place: Place) {
        let line = &mut self.lines[queue.index()];
        line.waiting.remove(&place);
        line.uncount(job);
    }

    /// Returns the jobs that may run from now on.
    pub(super) fn poll(&mut self, view: &View<'_>, tree: &Tree) -> Vec<JobId> {
        let mut admitted = Vec::new();
        for id in tree.ids() {
            let line = &mut self.lines[id.index()];
            if self.rules != Rules::V1 {
                line.forget_launched(view);
            }
            let waiting: BTreeSet<Place> = line.waiting.keys().copied().collect();
            for place in waiting {
                let Some(entry) = line.waiting.get(&place) else { continue };
                let may_run = match self.rules {
                    Rules::V1 => line.has_room(entry, tree.node(id), self.max_system_jobs),
                    _ => line.may_wait(entry, tree.node(id)),
                };
                if may_run {
                    let (.., job) = place;
                    line.count(job, place);
                    admitted.push(job);
                }
            }
        }
        admitted
    }
}

impl Line {
    fn of(&self, user: &Arc<str>) -> Sum {
        self.users.get(user).copied().unwrap_or_default()
    }

    /// Returns whether another job of a user may wait for its first task.
    fn may_wait(&self, entry: &Entry, node: &Node) -> bool {
        let jobs = self.of(&entry.user).jobs;
        let is_known = 0 < jobs;
        jobs < node.limits.jobs_per_user
            && (is_known || (self.users.len() as u32) < node.limits.users)
    }

    /// Returns whether another job of a user may be under way.
    fn has_room(&self, entry: &Entry, node: &Node, max_system_jobs: u32) -> bool {
        let (jobs, jobs_of_user) = node.system_jobs(max_system_jobs);
        let (all, own) = (self.all, self.of(&entry.user));
        let tasks = u64::from(entry.tasks);
        // A job larger than the limit runs alone.
        let fits = |sum: Sum, most: u32| sum.jobs == 0 || sum.tasks + tasks <= u64::from(most);
        all.jobs < jobs
            && own.jobs < jobs_of_user
            && fits(all, node.limits.tasks)
            && fits(own, node.limits.tasks_per_user)
    }

    fn count(&mut self, job: JobId, place: Place) {
        let Some(entry) = self.waiting.remove(&place) else { return };
        for sum in [&mut self.all, self.users.entry(entry.user.clone()).or_default()] {
            sum.jobs += 1;
            sum.tasks += u64::from(entry.tasks);
        }
        self.counted.insert(job, entry);
    }

    fn uncount(&mut self, job: JobId) {
        let Some(entry) = self.counted.remove(&job) else { return };
        let Some(own) = self.users.get_mut(&entry.user) else { return };
        for sum in [&mut self.all, &mut *own] {
            sum.jobs -= 1;
            sum.tasks -= u64::from(entry.tasks);
        }
        if own.jobs == 0 {
            self.users.remove(&entry.user);
        }
    }

    /// Counts those no more that have had a task launched.
    fn forget_launched(&mut self, view: &View<'_>) {
        let has_begun = |job: &Job| {
            SlotKind::BOTH.iter().any(|kind| {
                let tasks = job.tasks(*kind);
                0 < tasks.running() + tasks.finished() + tasks.failed()
            })
        };
        let begun: Vec<JobId> = self
            .counted
            .keys()
            .copied()
            .filter(|job| view.job(*job).is_some_and(has_begun))
            .collect();
        begun.into_iter().for_each(|job| self.uncount(job));
    }
}
