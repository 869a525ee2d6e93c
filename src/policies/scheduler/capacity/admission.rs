//! Decides which jobs are accepted and initialised: each queue and each user may have only a limited
//! number.
//!
//! Every few seconds the waiting jobs are visited in the order of their queue, except jobs of users
//! at their limits. Up to 0.21 a job counts until its first task is launched, so the limit applies
//! to jobs that wait to start. A visit then counts an admitted job only when it reaches the job's
//! position, so waiting jobs before this position are admitted more easily. In 1.x a job counts
//! until it ends, and no job passes another: a visit ends at the first job for which the queue has
//! no room, and passes over all further jobs of a user at its limit.
//!
//! 1.x also refuses submissions: when the queue, or the job's user in it, has several times as many
//! jobs as may be initialised, and a job with more tasks than a user may ever have.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::take;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::lines::{QueueLines, QueueTurn, QueueWalk};
use super::node::{QueueId, QueueNode};
use super::rules::Rules;
use super::tree::{QueueMember, QueueTree};
use mumakil_core::mapred::{Job, JobId, JobSpec, Reason, SlotKind, View};

/// The waiting jobs, and the admitted jobs that count against the limits.
#[derive(Debug)]
pub(super) struct Admission {
    rules: Rules,
    pub(super) max_system_jobs: u32,
    queues: Vec<QueueJobs>,
}

#[derive(Debug, Default)]
struct QueueJobs {
    waiting: QueueLines<Arc<str>>,
    counted: BTreeMap<QueueTurn, AdmittedJob>,
    /// The sums over the counted jobs: of all users, and of each user. With the rules up to 0.21,
    /// the sums leave out, during a visit, the jobs behind the position that the visit has reached.
    all: AdmittedCount,
    users: FxHashMap<Arc<str>, AdmittedCount>,
}

#[derive(Clone, Debug)]
struct AdmittedJob {
    user: Arc<str>,
    tasks: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct AdmittedCount {
    jobs: u32,
    tasks: u64,
}

impl Admission {
    pub(super) fn new(rules: Rules, max_system_jobs: u32, queues: usize) -> Self {
        let queues = (0..queues).map(|_| QueueJobs::default()).collect();
        Self { rules, max_system_jobs, queues }
    }

    pub(super) fn enter(&mut self, job: &QueueMember) {
        self.queues[job.queue.index()].waiting.insert(job.user.clone(), job.turn);
    }

    pub(super) fn leave(&mut self, job: &QueueMember) {
        let jobs = &mut self.queues[job.queue.index()];
        jobs.waiting.remove(job.user.clone(), job.turn);
        jobs.uncount(job.turn);
    }

    pub(super) fn alter(&mut self, was: (QueueId, QueueTurn), job: &QueueMember) {
        let (queue, turn) = was;
        let jobs = &mut self.queues[queue.index()];
        let waits = jobs.waiting.contains(&job.user, turn);
        jobs.waiting.remove(job.user.clone(), turn);
        let counted = jobs.uncount(turn);
        let jobs = &mut self.queues[job.queue.index()];
        if waits {
            jobs.waiting.insert(job.user.clone(), job.turn);
        }
        if let Some(entry) = counted {
            jobs.count(job.turn, entry);
        }
    }

    pub(super) fn waiting(&self, queue: QueueId) -> Vec<JobId> {
        self.queues[queue.index()].waiting.in_order()
    }

    /// Returns why a queue refuses a job at its submission, which only 1.x does.
    pub(super) fn refuses(&self, queue: &QueueNode, job: &JobSpec) -> Option<Reason> {
        if self.rules != Rules::V1 {
            return None;
        }
        // Such a job could never be initialised.
        let most_tasks = queue.limits.tasks_per_user;
        if most_tasks < job.maps.saturating_add(job.reduces) {
            return Some(Reason::TooManyTasks(most_tasks));
        }
        let (most, most_of_user) = queue.accepted_jobs(self.max_system_jobs);
        if most as usize <= queue.jobs.len() {
            return Some(Reason::QueueFull(most));
        }
        let of_user = queue.users.get(&job.user).map_or(0, |user| user.jobs);
        (most_of_user <= of_user).then_some(Reason::UserFull(most_of_user))
    }

    /// Returns why a job waits: because a limit is reached, or only for the next poll.
    pub(super) fn refusal(&self, view: &View<'_>, tree: &QueueTree, job: &QueueMember) -> Reason {
        let (jobs, node) = (&self.queues[job.queue.index()], tree.node(job.queue));
        let fits = |(_, entry): (_, AdmittedJob)| {
            let most = self.max_system_jobs;
            jobs.queue_has_room(&entry, node, most) && jobs.user_has_room(&entry, node, most)
        };
        let has_room = match self.rules {
            // If there is room, the job waits only until the next poll.
            Rules::V1 => entry(view, tree, job.turn.2).is_some_and(fits),
            _ => jobs.may_wait(&job.user, node),
        };
        if has_room { Reason::NotAdmitted } else { Reason::JobLimit }
    }

    /// Admits waiting jobs, and returns the jobs that were admitted.
    pub(super) fn poll(&mut self, view: &View<'_>, tree: &QueueTree) -> Vec<JobId> {
        let mut admitted = Vec::new();
        for id in tree.ids() {
            let (jobs, node) = (&mut self.queues[id.index()], tree.node(id));
            admitted.extend(match self.rules {
                Rules::V1 => jobs.admit(view, tree, node, self.max_system_jobs),
                _ => jobs.admit_in_order(view, tree, node),
            });
        }
        for member in admitted.iter().filter_map(|job| tree.member(*job)) {
            // Remove the jobs only after the walk, since the groups must not change during a walk.
            let waiting = &mut self.queues[member.queue.index()].waiting;
            waiting.remove(member.user.clone(), member.turn);
        }
        admitted
    }
}

impl AdmittedCount {
    fn has_room(self, job: &AdmittedJob, jobs: u32, tasks: u32) -> bool {
        self.jobs < jobs && self.tasks + u64::from(job.tasks) <= u64::from(tasks)
    }
}

impl QueueJobs {
    fn of(&self, user: &Arc<str>) -> AdmittedCount {
        self.users.get(user).copied().unwrap_or_default()
    }

    /// Counts and returns the newly admitted jobs; one step for each of them and each user.
    fn admit(
        &mut self,
        view: &View<'_>,
        tree: &QueueTree,
        node: &QueueNode,
        most: u32,
    ) -> Vec<JobId> {
        let (mut walk, mut admitted) = (QueueWalk::default(), Vec::new());
        let mut at_limit: BTreeSet<Arc<str>> = BTreeSet::new();
        while let Some(job) = self.waiting.next(&mut walk, |user| !at_limit.contains(user)) {
            let Some((turn, entry)) = entry(view, tree, job) else { continue };
            if !self.queue_has_room(&entry, node, most) {
                break;
            }
            if self.user_has_room(&entry, node, most) {
                self.count(turn, entry);
                admitted.push(job);
            } else {
                at_limit.insert(entry.user);
            }
        }
        admitted
    }

    /// As `admit`, with the rules up to 0.21. Takes one step for each counted job, each admitted
    /// job and each user, and one for each waiting job that comes before all counted jobs of its
    /// user.
    fn admit_in_order(
        &mut self,
        view: &View<'_>,
        tree: &QueueTree,
        node: &QueueNode,
    ) -> Vec<JobId> {
        // In Hadoop a job stops counting when a poll finds that it has launched a task.
        self.forget_launched(view);
        // In Hadoop a job counts only against jobs behind it, since it counts while it walks.
        let mut before: VecDeque<(QueueTurn, AdmittedJob)> =
            take(&mut self.counted).into_iter().collect();
        let known: BTreeSet<Arc<str>> = before.iter().map(|(_, it)| it.user.clone()).collect();
        (self.all, self.users) = (AdmittedCount::default(), FxHashMap::default());
        // Once more jobs than this are counted, no job further back can be admitted.
        let most = node.limits.jobs_per_user.saturating_mul(node.limits.users);
        let (mut walk, mut admitted) = (QueueWalk::default(), Vec::new());
        while self.all.jobs <= most {
            // The walk may reach a counted job of a user beyond the limit of users.
            let will_count = |user: &Arc<str>| self.of(user).jobs == 0 && known.contains(user);
            let may = |user: &Arc<str>| self.may_wait(user, node) || will_count(user);
            let Some(job) = self.waiting.next(&mut walk, may) else { break };
            let Some((turn, entry)) = entry(view, tree, job) else { continue };
            while before.front().is_some_and(|(other, _)| *other < turn) {
                let (other, entry) = before.pop_front().expect("`front` has returned an entry");
                self.count(other, entry);
            }
            // Check again, since the jobs that were just counted may have used up the limit.
            if self.may_wait(&entry.user, node) {
                self.count(turn, entry);
                admitted.push(job);
            }
        }
        before.into_iter().for_each(|(turn, entry)| self.count(turn, entry));
        admitted
    }

    /// Returns whether one more job of a user may wait for its first task.
    fn may_wait(&self, user: &Arc<str>, node: &QueueNode) -> bool {
        let jobs = self.of(user).jobs;
        let is_known = 0 < jobs;
        jobs < node.limits.jobs_per_user
            // A user with a counted job already counts as a user of the queue.
            && (is_known || (self.users.len() as u32) < node.limits.users)
    }

    fn queue_has_room(&self, job: &AdmittedJob, node: &QueueNode, most: u32) -> bool {
        self.all.has_room(job, node.system_jobs(most).0, node.limits.tasks)
    }

    fn user_has_room(&self, job: &AdmittedJob, node: &QueueNode, most: u32) -> bool {
        let own = self.of(&job.user);
        own.has_room(job, node.system_jobs(most).1, node.limits.tasks_per_user)
    }

    fn count(&mut self, turn: QueueTurn, entry: AdmittedJob) {
        for sum in [&mut self.all, self.users.entry(entry.user.clone()).or_default()] {
            sum.jobs += 1;
            sum.tasks += u64::from(entry.tasks);
        }
        self.counted.insert(turn, entry);
    }

    fn uncount(&mut self, turn: QueueTurn) -> Option<AdmittedJob> {
        let entry = self.counted.remove(&turn)?;
        let own = self.users.get_mut(&entry.user)?;
        for sum in [&mut self.all, &mut *own] {
            sum.jobs -= 1;
            sum.tasks -= u64::from(entry.tasks);
        }
        if own.jobs == 0 {
            self.users.remove(&entry.user);
        }
        Some(entry)
    }

    fn forget_launched(&mut self, view: &View<'_>) {
        let begun: Vec<QueueTurn> = self
            .counted
            .keys()
            .copied()
            .filter(|(.., job)| {
                view.job(*job).is_some_and(|job: &Job| {
                    SlotKind::BOTH.iter().any(|kind| {
                        let tasks = job.tasks(*kind);
                        0 < tasks.running() + tasks.finished() + tasks.failed()
                    })
                })
            })
            .collect();
        begun.into_iter().for_each(|turn| _ = self.uncount(turn));
    }
}

fn entry(view: &View<'_>, tree: &QueueTree, job: JobId) -> Option<(QueueTurn, AdmittedJob)> {
    let (spec, member) = (view.job(job)?.spec(), tree.member(job)?);
    let tasks = spec.maps.saturating_add(spec.reduces);
    Some((member.turn, AdmittedJob { user: member.user.clone(), tasks }))
}
