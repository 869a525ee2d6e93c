//! `submission: stress`: jobs arrive one after another as long as the cluster is not overloaded.
//!
//! The rule is Mumak's. The injector checks the load after each submission and each end of a job.
//! If there is room, the next job is submitted 1 ms later. If not, the injector waits until another
//! job ends. Meanwhile it *probes*: it checks after 1 s and, as long as it finds no room, after 2
//! s, 4 s, … 320 s. Only one probe is planned at a time. A check that is not a probe replaces the
//! probe, or changes its interval, only if there is room.
//!
//! A check is a question to the JobTracker and its answer. The question keeps the state of the
//! moment when it is asked, since in Mumak question and answer are one step.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{JobId, LONGEST_PROBE, Load, Outbox, ToInjector, ToJobTracker};

/// The wait for the first probe, as in Mumak; later waits double, up to [`LONGEST_PROBE`].
const SHORTEST_WAIT: SimSpan = SimSpan::from_secs(1);
/// The wait between two jobs, as in Mumak.
pub(super) const STEP: SimSpan = SimSpan::from_millis(1);
/// The bound on map work, in multiples of the map slots: Mumak's own bound.
const MOST_MAP_WORK: f64 = 2.0;

/// Jobs that are due, the next job first: each with its time, its position among the jobs of one
/// instant, and its id.
pub(super) type DueJobs = BinaryHeap<Reverse<(SimTime, u32, JobId)>>;

/// The state of a stress submission.
#[derive(Debug, Default)]
pub(super) struct Stress {
    /// When the first job is submitted; `None` once that is planned.
    start: Option<SimTime>,
    /// Whether the first job was submitted. As in Mumak, a job that ends earlier, such as a job of
    /// the warm start, causes no check: the check would submit the first job now, and the plan for
    /// the start would submit it again.
    is_open: bool,
    /// The job that is submitted next.
    next: Option<JobId>,
    /// The planned steps, each with a number in the order of planning.
    plans: BinaryHeap<Reverse<(SimTime, u64, StressStep)>>,
    last_plan: u64,
    /// The time and the number of the planned probe. Other probes in `plans` are cancelled.
    probe: Option<(SimTime, u64)>,
    /// How long after a check without room the next probe follows.
    wait: SimSpan,
    /// The checks that are not answered yet.
    looks: VecDeque<StressQuestion>,
    /// Whether another check waits until the open check is answered.
    looks_again: bool,
    /// The running jobs, in the order of their submission.
    running: Vec<JobId>,
    /// Whether checks do not wait for each other, as in Mumak: two checks at one instant then plan
    /// the same job twice, and from then on two jobs are submitted at a time.
    has_twins: bool,
    /// Jobs that lost their turn to another job, until they are submitted or lost for good.
    passed_over: Vec<JobId>,
}

/// A planned step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StressStep {
    /// Submit a job, unless it is submitted already.
    Submit(JobId),
    /// Check the load.
    Probe,
}

/// A check that is not answered yet.
#[derive(Clone, Copy, Debug)]
struct StressQuestion {
    /// The job that was next at the time of the question.
    next: JobId,
    /// Whether the check is the planned probe: its answer ends the probe.
    is_probe: bool,
}

impl Stress {
    pub(super) fn new(start: SimTime, has_twins: bool) -> Self {
        Self { start: Some(start), wait: SHORTEST_WAIT, has_twins, ..Self::default() }
    }

    /// Returns the step for now, if there is one. Each plan has its own message, so there is at
    /// most one step. The first call plans the first job and the first probe.
    pub(super) fn step(
        &mut self,
        now: SimTime,
        due: &mut DueJobs,
        out: &mut Outbox,
    ) -> Option<StressStep> {
        if let Some(start) = self.start.take() {
            self.fetch(due);
            if let Some(first) = self.next {
                self.plan(now, start, StressStep::Submit(first), out);
                self.plan_probe(now, start, out);
            }
            return None;
        }
        let Reverse((at, number, step)) = *self.plans.peek().filter(|plan| plan.0.0 <= now)?;
        self.plans.pop();
        self.is_open = true;
        // The message of a cancelled probe still arrives, and must be ignored.
        let is_live = step != StressStep::Probe || self.probe == Some((at, number));
        is_live.then_some(step)
    }

    fn plan(&mut self, now: SimTime, at: SimTime, step: StressStep, out: &mut Outbox) {
        self.last_plan += 1;
        self.plans.push(Reverse((at, self.last_plan, step)));
        let message = match step {
            StressStep::Submit(_) => ToInjector::Arrive,
            StressStep::Probe => ToInjector::Probe,
        };
        out.plan(at.saturating_since(now), message);
    }

    fn plan_probe(&mut self, now: SimTime, from: SimTime, out: &mut Outbox) {
        let at = from + self.wait;
        self.plan(now, at, StressStep::Probe, out);
        self.probe = Some((at, self.last_plan));
    }

    /// Makes the first due job the next job to submit.
    pub(super) fn fetch(&mut self, due: &mut DueJobs) {
        self.next = due.pop().map(|Reverse((.., job))| job);
    }

    /// Notes that a job is submitted. Returns false if it was submitted before.
    pub(super) fn submits(&mut self, job: JobId) -> bool {
        let is_new = !self.running.contains(&job);
        if is_new {
            self.running.push(job);
            self.passed_over.retain(|other| *other != job);
        } else {
            // The same job was planned twice. The caller now replaces the next job by another one,
            // and the replaced job may not have been planned.
            self.passed_over.extend(self.next);
        }
        is_new
    }

    pub(super) fn ends(&mut self, job: JobId) {
        self.running.retain(|other| *other != job);
    }

    /// Checks the load, as long as there are jobs to submit.
    pub(super) fn look(&mut self, is_probe: bool, due: &mut DueJobs, out: &mut Outbox) {
        if !self.ask(is_probe, due, out) && is_probe {
            // The planned probe has sent no question, so no answer will end it.
            self.probe = None;
        }
    }

    /// Asks the JobTracker for the load. Returns false without asking if no job is left, or if
    /// another check is under way or about to come.
    fn ask(&mut self, is_probe: bool, due: &mut DueJobs, out: &mut Outbox) -> bool {
        if self.next.is_none() {
            self.fetch(due);
        }
        let Some(next) = self.next.filter(|_| self.is_open) else { return false };
        if !self.has_twins && self.is_submitting() {
            // The planned submission checks the load itself.
            return false;
        }
        if !self.has_twins && !self.looks.is_empty() {
            self.looks_again = true;
            return false;
        }
        self.looks.push_back(StressQuestion { next, is_probe });
        out.send(ToJobTracker::AskLoad(Arc::new(self.running.clone())));
        true
    }

    /// Reads an answer about the load. Returns how many jobs are lost by it and will never be
    /// submitted.
    pub(super) fn hear(
        &mut self,
        now: SimTime,
        load: &Load,
        due: &mut DueJobs,
        out: &mut Outbox,
    ) -> usize {
        let Some(StressQuestion { next, is_probe }) = self.looks.pop_front() else { return 0 };
        if is_probe {
            self.probe = None;
        }
        // If messages take time, other jobs may run than at the time of the question: count the
        // jobs that run now. In Mumak question and answer are one step, so the numbers of that step
        // apply.
        let (jobs, next) = match self.has_twins {
            true => (load.jobs, Some(next)),
            false => (self.running.len() as u32, self.next.filter(|_| !self.is_submitting())),
        };
        let most = MOST_MAP_WORK * f64::from(load.map_slots);
        let is_overloaded = load.trackers <= jobs || most < f64::from(load.map_work);
        if !is_overloaded {
            self.wait = SHORTEST_WAIT;
        } else if self.probe.is_none() {
            // The wait doubles only if no other probe is planned: so a check at the end of a job
            // does not double it.
            self.wait = (self.wait * 2).min(LONGEST_PROBE);
        }
        // With room the wait is 1 s again, and a probe that was planned for later is replaced by an
        // earlier one.
        if self.probe.is_none_or(|(at, _)| now + self.wait < at) {
            self.plan_probe(now, now, out);
        }
        if let Some(next) = next.filter(|_| !is_overloaded) {
            self.plan(now, now + STEP, StressStep::Submit(next), out);
        }
        if std::mem::take(&mut self.looks_again) {
            self.look(false, due, out);
        }
        self.lose()
    }

    fn is_submitting(&self) -> bool {
        self.plans.iter().any(|plan| matches!(plan.0.2, StressStep::Submit(_)))
    }

    fn is_planned(&self, job: JobId) -> bool {
        self.plans.iter().any(|plan| plan.0.2 == StressStep::Submit(job))
    }

    /// Removes the jobs that are never submitted: of two jobs that were next at one instant, the
    /// first is lost if its check found no room. Returns how many are lost.
    fn lose(&mut self) -> usize {
        if !self.looks.is_empty() {
            return 0;
        }
        let passed_over = std::mem::take(&mut self.passed_over);
        let all = passed_over.len();
        self.passed_over = passed_over.into_iter().filter(|job| self.is_planned(*job)).collect();
        all - self.passed_over.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::Mail;

    fn ms(millis: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_millis(millis)
    }

    /// A submission of jobs 0, 1, … from 10 s on, on two trackers of five map slots each.
    struct Bench {
        stress: Stress,
        due: DueJobs,
        out: Outbox,
        submitted: Vec<(u64, u32)>,
        lost: usize,
    }

    fn bench(jobs: u32, has_twins: bool) -> Bench {
        let due = (0..jobs).map(|job| Reverse((SimTime::ZERO, job, JobId(job)))).collect();
        let stress = Stress::new(ms(10_000), has_twins);
        let mut bench =
            Bench { stress, due, out: Outbox::default(), submitted: Vec::new(), lost: 0 };
        bench.step(0);
        bench
    }

    impl Bench {
        /// Takes the step that is due, and leaves its checks unanswered.
        fn step(&mut self, at: u64) {
            let Self { stress, due, out, submitted, .. } = self;
            match stress.step(ms(at), due, out) {
                None => {}
                Some(StressStep::Probe) => stress.look(true, due, out),
                Some(StressStep::Submit(job)) => {
                    if stress.submits(job) {
                        submitted.push((at, job.0));
                    }
                    stress.fetch(due);
                    stress.look(false, due, out);
                }
            }
        }

        fn answer(&mut self, at: u64, map_work: f32) {
            let asked = |letter: &mumakil_core::mapred::Letter| {
                matches!(letter.mail, Mail::JobTracker(ToJobTracker::AskLoad(_)))
            };
            let Some(place) = self.out.letters.iter().position(asked) else { return };
            let letter = self.out.letters.remove(place).map(|letter| letter.mail);
            let Some(Mail::JobTracker(ToJobTracker::AskLoad(jobs))) = letter else { return };
            let load = Load { jobs: jobs.len() as u32, trackers: 2, map_slots: 10, map_work };
            self.lost += self.stress.hear(ms(at), &load, &mut self.due, &mut self.out);
        }

        fn pass(&mut self, at: u64, map_work: f32) {
            self.step(at);
            self.answer(at, map_work);
        }

        /// Lets time pass up to `at`, with `map_work` as the work of maps.
        fn until(&mut self, at: u64, map_work: f32) {
            while let Some(Reverse((next, ..))) =
                self.stress.plans.peek().filter(|p| p.0.0 < ms(at))
            {
                self.pass(next.as_millis(), map_work);
            }
        }

        fn ends(&mut self, job: u32) {
            self.stress.ends(JobId(job));
            self.stress.look(false, &mut self.due, &mut self.out);
        }

        fn probe(&self) -> Option<u64> {
            self.stress.probe.map(|(at, _)| at.as_millis())
        }
    }

    /// Returns a submission of `jobs` jobs in which the first two end in one heartbeat, at 20 s.
    fn two_end(jobs: u32, has_twins: bool) -> Bench {
        let mut bench = bench(jobs, has_twins);
        bench.pass(10_000, 0.0);
        bench.pass(10_001, 99.0);
        bench.until(20_000, 99.0);
        bench.ends(0);
        bench.ends(1);
        bench
    }

    #[test]
    fn the_first_job_needs_no_look_and_the_others_come_while_there_is_room() {
        let mut bench = bench(4, true);
        bench.pass(10_000, 5.0);
        bench.pass(10_001, 5.0);
        // Two running jobs are the limit for two trackers; map work above twice the slots is too
        // much as well.
        bench.pass(10_002, 5.0);
        assert_eq!(bench.submitted, [(10_000, 0), (10_001, 1)]);
        bench.ends(0);
        bench.answer(10_500, 20.1);
        bench.ends(1);
        bench.answer(10_600, 20.0);
        bench.pass(10_601, 0.0);
        assert_eq!(bench.submitted[2..], [(10_601, 2)]);
    }

    #[test]
    fn only_probes_double_the_wait_and_room_ends_it() {
        let mut bench = bench(4, true);
        bench.pass(10_000, 99.0);
        assert_eq!(bench.probe(), Some(11_000));
        for (at, next) in [(11_000, 13_000), (13_000, 17_000), (17_000, 25_000)] {
            bench.pass(at, 99.0);
            assert_eq!(bench.probe(), Some(next));
        }
        // A check that is not a probe and finds no room leaves the probe where it is.
        bench.ends(0);
        bench.answer(18_000, 99.0);
        assert_eq!(bench.probe(), Some(25_000));
        bench.stress.look(false, &mut bench.due, &mut bench.out);
        bench.answer(19_000, 0.0);
        assert_eq!(bench.probe(), Some(20_000), "the later probe is cancelled");
        bench.pass(19_001, 99.0);
        assert_eq!(bench.submitted, [(10_000, 0), (19_001, 1)]);
        bench.pass(20_000, 99.0);
        assert_eq!(bench.probe(), Some(22_000));
        bench.step(25_000);
        assert_eq!(bench.submitted.len(), 2, "a cancelled probe checks nothing");
    }

    #[test]
    fn no_wait_is_longer_than_five_minutes_and_a_third() {
        let mut bench = bench(2, true);
        bench.pass(10_000, 99.0);
        let mut waits = Vec::new();
        for _ in 0..10 {
            let at = bench.probe().unwrap();
            bench.pass(at, 99.0);
            waits.push((bench.probe().unwrap() - at) / 1_000);
        }
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 320, 320]);
    }

    /// The probe at 11 s finds no job to submit. Then a job becomes due, for which there is no room
    /// at 12 s.
    #[test]
    fn a_probe_for_nothing_is_over_and_the_next_job_is_probed_for() {
        for has_twins in [true, false] {
            let mut bench = bench(1, has_twins);
            bench.pass(10_000, 0.0);
            bench.pass(11_000, 0.0);
            assert_eq!(bench.probe(), None);
            bench.due.push(Reverse((ms(11_500), 1, JobId(1))));
            bench.stress.look(false, &mut bench.due, &mut bench.out);
            bench.answer(12_000, 99.0);
            bench.pass(bench.probe().unwrap(), 0.0);
            bench.until(30_000, 0.0);
            assert_eq!(bench.submitted.len(), 2);
        }
    }

    #[test]
    fn in_mumak_two_looks_at_one_instant_begin_two_chains() {
        let mut bench = two_end(9, true);
        bench.answer(20_000, 0.0);
        bench.answer(20_000, 0.0);
        bench.step(20_001);
        bench.step(20_001);
        assert_eq!(bench.submitted[2..], [(20_001, 2)], "the second plan only fetches a job");
        bench.answer(20_001, 0.0);
        bench.answer(20_001, 0.0);
        bench.step(20_002);
        bench.step(20_002);
        assert_eq!((&bench.submitted[3..], bench.lost), (&[(20_002, 3), (20_002, 4)][..], 0));
    }

    #[test]
    fn in_mumak_a_job_whose_place_was_taken_never_comes_if_there_is_no_room() {
        let mut bench = two_end(5, true);
        (0..2).for_each(|_| bench.answer(20_000, 0.0));
        (0..2).for_each(|_| bench.step(20_001));
        (0..2).for_each(|_| bench.answer(20_001, 99.0));
        assert_eq!(bench.lost, 1, "job 3 is lost");
        bench.until(30_000, 99.0);
        bench.ends(2);
        bench.answer(30_000, 0.0);
        bench.pass(30_001, 0.0);
        assert_eq!(bench.submitted[3..], [(30_001, 4)]);
    }

    #[test]
    fn elsewhere_looks_wait_for_each_other_and_nothing_is_planned_twice() {
        let mut bench = two_end(5, false);
        bench.answer(20_000, 0.0);
        bench.answer(20_002, 0.0);
        bench.step(20_003);
        assert_eq!((&bench.submitted[2..], bench.lost), (&[(20_003, 2)][..], 0));
        bench.step(20_003);
        assert_eq!(bench.submitted.len(), 3);
    }
}
