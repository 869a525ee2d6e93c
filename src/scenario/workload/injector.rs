//! The job injector: it submits jobs when they are due, and ends the run when all jobs have ended.
//!
//! It stands for the clients of the cluster. A job whose batch follows other batches is due some
//! time after their last job has ended; every other job is due at a fixed time. Only batches wait
//! for each other, not single jobs: so a hundred thousand jobs that wait for as many other jobs
//! share one counter. A pacing that ignores the times of jobs uses these times only to order the
//! jobs.

use std::cmp::Reverse;

use super::arrivals::{Arrival, BatchId, SubmissionWay, Workload};
use super::stress::{DueJobs, StressStep};
use super::submission::Pacing;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Core, JobId, Load, Outbox, StopReason, ToInjector, ToJobTracker};

/// The job injector.
pub struct JobInjector {
    /// The jobs, by number.
    arrivals: Vec<Arrival>,
    batches: Vec<Batch>,
    /// The jobs with known times that are not submitted yet, each with its time; the next job comes
    /// first.
    due: DueJobs,
    pacing: Pacing,
    /// Jobs of the warm start: they are submitted at once, and do not count for the pacing.
    warm: Vec<JobId>,
    /// The time of the earliest planned [`ToInjector::Arrive`].
    wake: SimTime,
    /// The number of jobs of the run that have not ended.
    left: usize,
}

#[derive(Default)]
struct Batch {
    jobs: Vec<JobId>,
    /// The number of jobs of the batch that have not ended.
    left: usize,
    /// The number of batches that this batch follows and that have not ended.
    awaited: usize,
    followers: Vec<BatchId>,
}

impl JobInjector {
    /// Returns an injector that has submitted no job yet. It starts with [`ToInjector::Arrive`].
    pub fn new(workload: Workload) -> Self {
        let Workload { arrivals, follows, submission, start, looks_twice, .. } = workload;
        let pacing = Pacing::new(submission, SimTime::ZERO + start, looks_twice);
        let mut batches: Vec<Batch> = Vec::new();
        batches.resize_with(follows.len(), Batch::default);
        for (id, before) in (0..).map(BatchId).zip(&follows) {
            batches[id.index()].awaited = before.len();
            for other in before {
                batches[other.index()].followers.push(id);
            }
        }
        for arrival in &arrivals {
            let batch = &mut batches[arrival.batch.index()];
            batch.jobs.push(arrival.spec.id);
            batch.left += 1;
        }
        let left = arrivals.len();
        let (due, wake) = (DueJobs::new(), SimTime::NEVER);
        let mut injector = Self { arrivals, batches, due, pacing, warm: Vec::new(), wake, left };
        // Batches are released in a second pass: all jobs of a batch must be known before.
        for (id, before) in (0..).map(BatchId).zip(&follows) {
            if before.is_empty() {
                injector.release(SimTime::ZERO, id);
            }
        }
        injector
    }

    /// Notes when the jobs of a batch are due, once the batch no longer waits.
    fn release(&mut self, now: SimTime, batch: BatchId) {
        for id in std::mem::take(&mut self.batches[batch.index()].jobs) {
            let arrival = &self.arrivals[id.index()];
            match arrival.way {
                SubmissionWay::Paced => {
                    self.due.push(Reverse((now + arrival.delay, arrival.place, id)))
                }
                SubmissionWay::Warm => self.warm.push(id),
                // The `ToInjector::Submit` of a job of `later` was planned before the run began.
                SubmissionWay::Later => {}
            }
        }
    }

    fn arrive(&mut self, now: SimTime, out: &mut Outbox) {
        // The planned message has arrived. An earlier message, such as a probe, leaves the plan as
        // it is.
        if self.wake <= now {
            self.wake = SimTime::NEVER;
        }
        for id in std::mem::take(&mut self.warm) {
            self.submit_aside(id, out);
        }
        self.step(now, out);
        // Submit one job in each message: `plan_arrival` plans another message for this instant,
        // and other events of this instant come in between.
        if self.next_at().is_some_and(|at| at <= now) {
            if let Pacing::Closed { free_at, .. } = &mut self.pacing {
                // A free client takes this job; the end of a job frees a client again.
                free_at.pop_front();
            }
            let Reverse((.., id)) = self.due.pop().expect("`next_at` found a due job");
            self.submit(id, out);
        }
        self.plan_arrival(now, out);
        self.stop_if_done(out);
    }

    /// Takes the next step of the stress submission.
    fn step(&mut self, now: SimTime, out: &mut Outbox) {
        let Pacing::Stress(stress) = &mut self.pacing else { return };
        let due = &mut self.due;
        match stress.step(now, due, out) {
            None => {}
            Some(StressStep::Probe) => stress.look(true, due, out),
            Some(StressStep::Submit(id)) => {
                let is_new = stress.submits(id);
                stress.fetch(due);
                if is_new {
                    self.submit(id, out);
                }
                self.look(out);
            }
        }
    }

    /// Checks the load, if submission depends on it.
    fn look(&mut self, out: &mut Outbox) {
        if let Pacing::Stress(stress) = &mut self.pacing {
            stress.look(false, &mut self.due, out);
        }
    }

    /// Submits a job that the pacing has not chosen.
    fn submit_aside(&mut self, id: JobId, out: &mut Outbox) {
        if let Pacing::Stress(stress) = &mut self.pacing {
            stress.submits(id);
        }
        self.submit(id, out);
    }

    fn submit(&mut self, id: JobId, out: &mut Outbox) {
        let spec = self.arrivals[id.index()].spec.clone();
        out.send(ToJobTracker::Submit(spec));
    }

    /// Returns when the next job needs an action; `None` if that is unknown.
    fn next_at(&self) -> Option<SimTime> {
        self.due.peek().map(|Reverse((at, ..))| self.pacing.next_at(*at))
    }

    /// Reads the JobTracker's answer about the load of the cluster.
    fn hear_load(&mut self, now: SimTime, load: &Load, out: &mut Outbox) {
        if let Pacing::Stress(stress) = &mut self.pacing {
            self.left -= stress.hear(now, load, &mut self.due, out);
            self.stop_if_done(out);
        }
    }

    /// Notes that a job has ended, with any outcome.
    fn job_ended(&mut self, now: SimTime, id: JobId, out: &mut Outbox) {
        self.left -= 1;
        let arrival = &self.arrivals[id.index()];
        match &mut self.pacing {
            Pacing::Replay => {}
            Pacing::Closed { think, free_at } if arrival.way == SubmissionWay::Paced => {
                free_at.push_back(now + *think);
            }
            Pacing::Closed { .. } => {}
            Pacing::Stress(stress) => stress.ends(id),
        }
        let batch = &mut self.batches[arrival.batch.index()];
        batch.left -= 1;
        // Batches that follow wait for all copies of an entry with a count.
        if batch.left == 0 {
            for follower in std::mem::take(&mut batch.followers) {
                self.batches[follower.index()].awaited -= 1;
                if self.batches[follower.index()].awaited == 0 {
                    self.release(now, follower);
                }
            }
        }
        self.look(out);
        self.plan_arrival(now, out);
        self.stop_if_done(out);
    }

    /// Plans a message for the time when the next job is due, unless an earlier message is planned.
    fn plan_arrival(&mut self, now: SimTime, out: &mut Outbox) {
        if let Some(at) = self.next_at()
            // One planned message is enough, since it plans the next one. Otherwise each end of a
            // job would add a message.
            && at < self.wake
        {
            self.wake = at;
            out.plan(at.saturating_since(now), ToInjector::Arrive);
        }
    }

    fn stop_if_done(&self, out: &mut Outbox) {
        if self.left == 0 {
            out.stop = Some(StopReason::Done);
        }
    }
}

impl Core for JobInjector {
    type Msg = ToInjector;

    fn handle(&mut self, msg: &ToInjector, out: &mut Outbox) {
        let now = out.now;
        match msg {
            ToInjector::Arrive | ToInjector::Probe => self.arrive(now, out),
            ToInjector::Submit(id) => self.submit_aside(*id, out),
            ToInjector::JobEnded(id, _) => self.job_ended(now, *id, out),
            ToInjector::Load(load) => self.hear_load(now, load, out),
        }
        // A due job without a planned message would wait for ever, and the run with it.
        debug_assert!(
            self.next_at().is_none_or(|at| self.wake <= at),
            "{now}: a job is due at {:?}, but the next message is planned for {}",
            self.next_at(),
            self.wake
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::jobs::JobEntry;
    use mumakil_base::units::{Bytes, SimSpan};
    use mumakil_core::mapred::{Mail, Outcome};

    /// An injector with the jobs of a list, and the messages that it has planned for itself.
    struct Bench {
        injector: JobInjector,
        planned: Vec<SimTime>,
    }

    fn bench(yaml: &str) -> Bench {
        let entries: Vec<JobEntry> = serde_yaml::from_str(yaml).unwrap();
        let workload = Workload::from_jobs(&entries, 1, Bytes::from_mib(64), &|_, _| "".into());
        Bench { injector: JobInjector::new(workload), planned: vec![SimTime::ZERO] }
    }

    /// Returns an injector like `bench`, but its jobs are submitted from 10 s on, not at their own
    /// times.
    fn paced(submission: &str, yaml: &str) -> Bench {
        let mut bench = bench(yaml);
        let submission = serde_yaml::with::singleton_map_recursive::deserialize(
            serde_yaml::Deserializer::from_str(submission),
        );
        bench.injector.pacing = Pacing::new(submission.unwrap(), secs(10), true);
        bench
    }

    fn secs(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    impl Bench {
        /// Returns the names of the jobs that are submitted after a message.
        fn hear(&mut self, now: SimTime, msg: ToInjector) -> Vec<String> {
            let mut out = Outbox::at(now);
            self.injector.handle(&msg, &mut out);
            let mut submitted = Vec::new();
            for letter in out.letters {
                match letter.mail {
                    Mail::JobTracker(ToJobTracker::Submit(spec)) => {
                        submitted.push(spec.name.to_string())
                    }
                    _ => self.planned.push(now + letter.after),
                }
            }
            submitted
        }

        /// Returns the jobs that are submitted without further messages, each with its time.
        fn pass(&mut self) -> Vec<(u64, String)> {
            let mut submitted = Vec::new();
            while let Some(next) = (0..self.planned.len()).min_by_key(|at| self.planned[*at]) {
                let now = self.planned.swap_remove(next);
                let names = self.hear(now, ToInjector::Arrive);
                submitted.extend(names.into_iter().map(|name| (now.as_millis() / 1_000, name)));
            }
            submitted
        }

        fn ends(&mut self, at: u64, job: u32) {
            let submitted =
                self.hear(secs(at), ToInjector::JobEnded(JobId(job), Outcome::Succeeded));
            assert!(submitted.is_empty(), "jobs are submitted when they arrive");
        }
    }

    fn at(secs: u64, name: &str) -> (u64, String) {
        (secs, name.to_owned())
    }

    #[test]
    fn jobs_are_submitted_when_they_are_due() {
        let mut bench =
            bench("[{name: a, maps: 1, submit: 5s}, {name: b, maps: 1, count: 2, every: 9s}]");
        assert_eq!(bench.pass(), [at(0, "b-1"), at(5, "a"), at(9, "b-2")]);
    }

    #[test]
    fn a_batch_waits_for_all_jobs_of_all_that_it_follows() {
        let mut bench = bench(
            "[{name: a, maps: 1, count: 2}, {name: b, maps: 1},
              {name: c, maps: 1, after: [a, b], submit: 5s, count: 2, every: 10s}]",
        );
        assert_eq!(bench.pass(), [at(0, "a-1"), at(0, "a-2"), at(0, "b")]);
        bench.ends(10, 0);
        bench.ends(20, 2);
        assert_eq!(bench.pass(), []);
        bench.ends(30, 1);
        assert_eq!(bench.pass(), [at(35, "c-1"), at(45, "c-2")]);
    }

    #[test]
    fn a_job_that_is_due_earlier_than_the_next_one_planned_is_not_late() {
        let mut bench = bench(
            "[{name: a, maps: 1}, {name: late, maps: 1, submit: 60s},
              {name: next, maps: 1, after: [a], submit: 1s}]",
        );
        assert_eq!(bench.hear(SimTime::ZERO, ToInjector::Arrive), ["a"]);
        bench.ends(10, 0);
        assert_eq!(bench.pass(), [at(11, "next"), at(60, "late")]);
    }

    #[test]
    fn in_a_closed_loop_a_job_follows_on_each_that_ends() {
        let mut bench =
            paced("{closed: {active: 2, think: 5s}}", "[{name: a, maps: 1, count: 4, every: 1h}]");
        assert_eq!(bench.pass(), [at(10, "a-1"), at(10, "a-2")]);
        bench.ends(20, 1);
        bench.ends(22, 0);
        assert_eq!(bench.pass(), [at(25, "a-3"), at(27, "a-4")]);
    }

    #[test]
    fn one_after_another_a_job_follows_when_the_last_has_ended() {
        let mut bench = paced("serial", "[{name: a, maps: 1, count: 3}]");
        assert_eq!(bench.pass(), [at(10, "a-1")]);
        bench.ends(60, 0);
        assert_eq!(bench.planned, [secs(60) + SimSpan::from_millis(1)]);
        assert_eq!(bench.pass(), [at(60, "a-2")]);
    }

    #[test]
    fn many_jobs_that_wait_for_many_plan_one_message_at_a_time() {
        let mut bench = bench(
            "[{name: a, maps: 1, count: 100000},
              {name: b, maps: 1, after: [a], count: 100000, every: 1s}]",
        );
        assert_eq!(bench.pass().len(), 100_000);
        for job in 0..100_000 {
            bench.ends(1, job);
        }
        assert_eq!(bench.planned.len(), 1);
        assert_eq!(bench.pass().len(), 100_000);
    }
}
