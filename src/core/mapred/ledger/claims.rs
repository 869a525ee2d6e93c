//! The rules of the ledger that hold between two messages; asserted in debug builds.
//!
//! After every message, the rules for the jobs and tasks that the message touched are checked, at a
//! few look-ups for each event. The counts of a job are checked whenever its state changes. Now and
//! then all rules are checked, with everything counted anew from the attempts of every task.

use super::Ledger;
use crate::cluster::{PerSlot, SlotKind};
use crate::mapred::event::{Event, Fact, JobFact, LedgerFact};
use crate::mapred::ids::TaskId;
use crate::mapred::job::{Job, JobState, KnownAttempt, Task, TaskStage};
use mumakil_base::units::SimTime;

impl Ledger {
    /// Asserts the rules for the jobs and tasks in these events.
    pub(crate) fn assert_touched(&self, now: SimTime, events: &[Event]) {
        for event in events {
            // A message emits an event for every job and task that it touches, so look where the
            // events say.
            match event.fact {
                Fact::Ledger(
                    attempt,
                    _,
                    LedgerFact::Assigned { .. } | LedgerFact::Learned { .. },
                ) => {
                    let job = self.known(attempt.job());
                    self.assert_job(now, job);
                    let task = job.tasks_of(attempt.task.kind).get(attempt.task.index as usize);
                    if let Some(task) = task {
                        assert_task(now, attempt.task, task);
                    }
                }
                // The job has no tasks yet, so it has no counts. If its submission was refused, the
                // ledger does not know it.
                Fact::Job(job, JobFact::Submitted(_)) => {
                    self.job(job).into_iter().for_each(|job| self.assert_job(now, job));
                }
                Fact::Job(
                    job,
                    JobFact::Initialised | JobFact::Running | JobFact::MapsDone | JobFact::Ended(_),
                ) => {
                    let job = self.known(job);
                    self.assert_job(now, job);
                    job.assert_counted(now);
                }
                _ => {}
            }
        }
    }

    /// Asserts that every sum equals the sum of its parts. Walks all tasks in the ledger.
    pub(crate) fn assert_whole(&self, now: SimTime) {
        let (mut open, mut open_tries, mut seconds) = (0, 0, PerSlot::default());
        let (mut pending, mut unfinished) = (PerSlot::default(), PerSlot::default());
        for job in self.jobs.iter().flatten() {
            self.assert_job(now, job);
            job.assert_counted(now);
            open += usize::from(!matches!(job.state, JobState::Ended(_)));
            open_tries += job.open_tries;
            for kind in SlotKind::BOTH {
                let (is_pending, id) = (0 < job.pending(kind), job.id());
                assert!(job.was_pending[kind] == is_pending, "{now}: {id} is noted as pending");
                pending[kind] += u32::from(is_pending);
                seconds[kind] += job.tasks(kind).seconds;
                unfinished[kind] += u64::from(job.load[kind]);
                // The holders of slots are counted only if refusals are kept.
                if let Some(refusals) = &self.refusals {
                    let tries = job.tasks(kind).tasks.iter().flat_map(|task| &task.tries);
                    let held = tries.filter(|it| it.is_counted && !it.is_halted).map(|it| it.slots);
                    let (known, held) = (refusals.held(id, kind), held.sum::<u32>());
                    assert!(known == held, "{now}: {id} holds {known} slots, found {held}");
                }
            }
        }
        let known = self.open.len();
        assert!(known == open, "{now}: {known} jobs are listed as open, {open} are");
        let known = self.seconds;
        assert!(known == seconds, "{now}: {known:?} second attempts, found {seconds:?}");
        let known = self.open_tries;
        assert!(known == open_tries, "{now}: {known} open attempts, {open_tries} in the jobs");
        let known = self.jobs_pending;
        assert!(known == pending, "{now}: {known:?} jobs with tasks to launch, found {pending:?}");
        let known = self.unfinished;
        assert!(known == unfinished, "{now}: {known:?} unfinished tasks, found {unfinished:?}");
        self.assert_trackers(now);
    }

    fn assert_trackers(&self, now: SimTime) {
        let (mut active, mut capacity, mut occupied) = (0, PerSlot::default(), PerSlot::default());
        for (id, tracker) in self.trackers.iter().enumerate() {
            let has_orders = !tracker.orders.is_empty();
            // A lost tracker that comes back registers anew; orders for its old process must not
            // reach it.
            assert!(tracker.is_registered || !has_orders, "{now}: orders for lost tracker {id}");
            active += u32::from(tracker.is_active());
            for kind in SlotKind::BOTH {
                occupied[kind] += tracker.occupied[kind];
                capacity[kind] += if tracker.is_active() { tracker.slots[kind] } else { 0 };
            }
        }
        let known = self.active;
        assert!(known == active, "{now}: {known} trackers may get tasks, found {active}");
        let known = self.capacity;
        assert!(known == capacity, "{now}: {known:?} slots, found {capacity:?}");
        let known = self.occupied;
        assert!(known == occupied, "{now}: {known:?} slots taken, found {occupied:?}");
    }

    /// Asserts that a job is in the queues of its state, and that its counts are consistent.
    fn assert_job(&self, now: SimTime, job: &Job) {
        let (id, state) = (job.id(), job.state);
        let is_open = !matches!(state, JobState::Ended(_));
        assert!(self.open.contains(&id) == is_open, "{now}: {id} is {state:?}, open or not");
        let runs = state == JobState::Running;
        assert!(self.running.contains(&id) == runs, "{now}: {id} is {state:?}, running or not");
        let wants_setup = self.wants_setup.contains(&id);
        assert!(!wants_setup || state == JobState::Preparing, "{now}: a setup for {id}, {state:?}");
        let wants = self.wants_cleanup.contains(&id);
        assert!(!wants || state == JobState::Cleaning, "{now}: a cleanup for {id}, {state:?}");
        let (known, tries) = (self.open_tries, job.open_tries);
        assert!(tries <= known, "{now}: {id} has {tries} open attempts of {known}");
        for kind in SlotKind::BOTH {
            let (tasks, word) = (job.tasks(kind), kind.word());
            // The sum may be lower than the total: other tasks run, or were dropped when the job
            // failed.
            let (told, total) = (tasks.waiting + tasks.finished + tasks.failed, tasks.total);
            assert!(told <= total, "{now}: {id} accounts for {told} of {total} {word}s");
            let running = tasks.running;
            assert!(running <= tries, "{now}: {id} runs {running} {word}s, {tries} open attempts");
            let wants = self.wants_task_cleanup[kind].contains(&id);
            let is_unclean = !job.unclean[kind].is_empty();
            assert!(wants == is_unclean, "{now}: {id} has output to remove in a {word} slot");
        }
    }
}

impl Job {
    /// Asserts that the counts of a job match its tasks, if it still has them.
    fn assert_counted(&self, now: SimTime) {
        let (id, mut open) = (self.id(), 0);
        for (kind, tasks) in self.all_tasks() {
            for (index, task) in (0..).zip(tasks) {
                assert_task(now, TaskId { job: id, kind, index }, task);
                open += task.tries.len() as u32;
            }
        }
        let known = self.open_tries;
        assert!(known == open, "{now}: {id} has {known} open attempts, found {open}");
        for kind in SlotKind::BOTH {
            let (known, word) = (self.tasks(kind), kind.word());
            // The job has no tasks yet, or has dropped them.
            if known.tasks.is_empty() {
                continue;
            }
            let count =
                |is: fn(&TaskStage) -> bool| known.tasks.iter().filter(|t| is(&t.stage)).count();
            let waiting = count(|stage| *stage == TaskStage::Waiting);
            assert!(known.waiting as usize == waiting, "{now}: {id}: {waiting} {word}s wait");
            let done = count(|stage| matches!(stage, TaskStage::Done(..)));
            assert!(known.finished as usize == done, "{now}: {id}: {done} {word}s are done");
            // A job that fails marks waiting tasks as dead without counting them as failed.
            let dead = count(|stage| *stage == TaskStage::Dead);
            assert!(known.failed as usize <= dead, "{now}: {id}: {dead} {word}s are given up");
            let counted = || known.tasks.iter().flat_map(|t| &t.tries).filter(|t| t.is_counted);
            let running = counted().count();
            assert!(known.running as usize == running, "{now}: {id}: {running} {word}s run");
            let progress: u64 = counted().map(|t| u64::from(t.progress)).sum();
            assert!(known.progress == progress, "{now}: {id}: {word}s are {progress} far");
        }
        // The lists of slow tasks are not updated once the job has a verdict.
        for kind in SlotKind::BOTH.into_iter().filter(|_| self.is_running()) {
            let (tasks, word) = (&self.tasks(kind).tasks, kind.word());
            let odd = self.slow[kind].iter().find(|index| {
                let task = &tasks[**index as usize];
                task.stage != TaskStage::Active || task.tries.len() != 1
            });
            assert!(odd.is_none(), "{now}: {id}: slow {word} {odd:?} has not one attempt");
            let seconds = tasks.iter().flat_map(|t| &t.tries).filter(|t| t.is_second).count();
            let known = self.tasks(kind).seconds;
            assert!(known as usize == seconds, "{now}: {id}: {seconds} second {word} attempts");
        }
        // A job with a verdict no longer counts its waiting reduces, but leaves the list as it is.
        if self.verdict.is_none() {
            let (listed, waiting) = (self.waiting_reduces.len(), self.reduces.waiting);
            assert!(listed == waiting as usize, "{now}: {id} lists {listed} of {waiting} reduces");
        }
    }
}

/// Asserts that a task's attempts match its stage.
fn assert_task(now: SimTime, id: TaskId, task: &Task) {
    let is_at_work = task.tries.iter().any(KnownAttempt::is_active);
    match task.stage {
        TaskStage::Waiting => assert!(!is_at_work, "{now}: {id} waits with an attempt under way"),
        TaskStage::Active => assert!(!task.tries.is_empty(), "{now}: {id} is active by no attempt"),
        // Another attempt, or an attempt that a job left running at its end, may still be on its
        // tracker.
        TaskStage::Done(..) | TaskStage::Dead => {}
    }
    let may_commit =
        task.tries.iter().filter(|t| t.may_commit && t.is_active() && !t.is_kill_ordered);
    assert!(may_commit.count() <= 1, "{now}: {id} has several attempts that may commit");
    let next = task.next;
    assert!(task.tries.iter().all(|t| t.number < next), "{now}: {id} has an attempt beyond {next}");
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use super::*;
    use crate::cluster::{Hdfs, Node, Placement, Topology, TrackerId};
    use crate::mapred::hadoop::{Hadoop, HadoopLine};
    use crate::mapred::ids::{AttemptId, JobId, TaskKind};
    use crate::mapred::ledger::LaunchWish;
    use crate::mapred::map_cache::MapReach;
    use crate::mapred::outbox::Outbox;
    use crate::mapred::reason::Reason;
    use crate::mapred::spec::JobSpec;

    const NOW: SimTime = SimTime::ZERO;
    const FIRST: AttemptId = TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 }.attempt(0);

    /// A ledger of two trackers and a job of three maps and a reduce, with one map running.
    fn books() -> Ledger {
        let hadoop = Hadoop { setup_cleanup: false, ..Hadoop::of(HadoopLine::V020) };
        let slots = PerSlot { map: 2, reduce: 1 };
        let node = Node::plain(0, slots);
        let topology = Arc::new(Topology::from_nodes(vec![node.clone(), node]));
        let hdfs = Hdfs::new(1, topology.clone(), 1, Placement::Random);
        let (mut books, mut out) = (Ledger::new(hadoop, topology, hdfs), Outbox::default());
        for id in [0, 1].map(TrackerId) {
            books.register(id, slots, &mut out);
        }
        books.submit(Arc::new(JobSpec::bare(0, 3, 1)), &mut out);
        books.initialise(JobId(0), &mut out);
        let (job, tracker, reason) = (JobId(0), TrackerId(0), Reason::Other("test"));
        let wish = LaunchWish { job, tracker, slots: 1, reason };
        assert!(books.launch_map(wish, MapReach::Any, &mut out).is_some());
        books
    }

    fn job(books: &mut Ledger) -> &mut Job {
        books.known_mut(JobId(0))
    }

    fn under_way(books: &mut Ledger) -> &mut Task {
        let mut maps = job(books).maps.tasks.iter_mut();
        maps.find(|map| map.stage == TaskStage::Active).expect("one map is")
    }

    fn two_may_commit(books: &mut Ledger) {
        let map = under_way(books);
        map.tries[0].may_commit = true;
        map.push(map.tries[0].clone());
    }

    #[test]
    fn whatever_is_wrong_in_the_books_is_found() {
        type Mistake = fn(&mut Ledger);
        let mistakes: [(Mistake, &str); 19] = [
            (|books| books.active += 1, "3 trackers may get tasks, found 2"),
            (|books| books.capacity.map += 1, "slots, found"),
            (|books| books.occupied.reduce += 1, "slots taken, found"),
            (|books| books.open_tries += 1, "2 open attempts, 1 in the jobs"),
            (|books| books.unfinished.map += 1, "unfinished tasks, found"),
            (|books| books.jobs_pending.map += 1, "jobs with tasks to launch, found"),
            (|books| books.open.clear(), "open or not"),
            (|books| books.running.clear(), "running or not"),
            (|books| job(books).maps.running += 1, "runs 2 maps, 1 open attempts"),
            (|books| job(books).maps.waiting -= 1, "2 maps wait"),
            (|books| job(books).maps.finished += 1, "0 maps are done"),
            (|books| job(books).maps.progress += 1, "maps are 0 far"),
            (|books| job(books).waiting_reduces.clear(), "lists 0 of 1 reduces"),
            (|books| job(books).unclean.map.push_back(FIRST), "output to remove in a map slot"),
            (|books| books.seconds.map += 1, "second attempts, found"),
            (|books| job(books).slow.map.push(1), "slow map Some(1) has not one attempt"),
            (|books| under_way(books).tries = Box::default(), "is active by no attempt"),
            (
                |books| under_way(books).stage = TaskStage::Waiting,
                "waits with an attempt under way",
            ),
            (two_may_commit, "several attempts that may commit"),
        ];
        for (mistake, words) in mistakes {
            let mut books = books();
            books.assert_whole(NOW);
            mistake(&mut books);
            let found = catch_unwind(AssertUnwindSafe(|| books.assert_whole(NOW))).unwrap_err();
            let said = found.downcast_ref::<String>().expect("it says what is wrong");
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}
