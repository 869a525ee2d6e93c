//! Jobs: they are read, set up, run, cleaned up, and end.

use super::*;
use crate::mapred::event::JobFact;
use crate::mapred::hadoop::HadoopLine;
use crate::mapred::traced::TracedInit;

#[test]
fn the_job_runs_after_its_setup_and_ends_after_its_cleanup() {
    let mut bench = bench(Hadoop { setup_cleanup: true, ..hadoop() });
    bench.submit(job(0, 1, 0));
    let setup = launches(&bench.at(1).beat_and_receive(0, &[]));
    assert_eq!(setup[0].task.kind, TaskKind::Setup);
    assert_eq!(setup.len(), 1, "a setup task is the only launch of its heartbeat");
    assert_eq!(launches(&bench.at(2).beat_and_receive(1, &[])), []);
    let map = launches(&bench.at(4).beat_and_receive(0, &[(setup[0], AttemptState::Succeeded)]));
    assert_eq!(map[0].task.kind, TaskKind::Map);
    bench.at(7).beat_and_receive(0, &[(map[0], AttemptState::CommitPending)]);
    let cleanup = launches(&bench.at(9).beat_and_receive(0, &[(map[0], AttemptState::Succeeded)]));
    assert_eq!(cleanup[0].task.kind, TaskKind::Cleanup);
    assert!(bench.to_injector.is_empty());
    bench.at(12).beat_and_receive(0, &[(cleanup[0], AttemptState::Succeeded)]);
    assert_eq!(bench.to_injector.len(), 1);
}

#[test]
fn a_job_of_a_trace_is_read_as_long_as_in_the_log() {
    let mut traced = crate::mapred::traced::Traced::sample();
    traced.service.init = Some(TracedInit::Reading(SimSpan::from_secs(2)));
    let traced = Some(Arc::new(traced));
    let mut bench = bench(hadoop());
    bench.submit(Arc::new(JobSpec { traced, ..JobSpec::clone(&job(0, 1, 1)) }));
    bench.submit(job(1, 1, 1));
    let is_reading = |(at, msg): &(SimTime, ToJobTracker)| match msg {
        ToJobTracker::Initialised(job, _) => Some((at.as_micros() / 1_000_000, job.0)),
        _ => None,
    };
    let reading: Vec<_> = bench.own.iter().filter_map(is_reading).collect();
    assert_eq!(reading, [(2, 0)], "the other job takes the cluster's time, which is none");
}

#[test]
fn a_job_is_as_far_as_its_running_attempts_are_together() {
    use AttemptState::{Running, Succeeded};
    let mut bench = bench(hadoop());
    bench.everybody_joins().submit(job(0, 3, 1));
    let maps = launches(&bench.at(20).beat_and_receive(0, &[]));
    let progress = |bench: &Bench| {
        let view = View { now: bench.now, heard: None, ledger: &bench.tracker.ledger };
        let job = view.job(JobId(0)).unwrap().tasks(SlotKind::Map).progress();
        (job, view.progress(maps[0]), view.progress(maps[1]))
    };
    assert_eq!(progress(&bench), (0.0, 0.0, 0.0));
    bench.at(23).beat_and_receive(0, &[(maps[0], Running), (maps[1], Running)]);
    assert_eq!(progress(&bench), (1.0, 0.5, 0.5), "half of each");
    bench.at(26).beat_and_receive(0, &[(maps[0], Succeeded), (maps[1], Running)]);
    assert_eq!(progress(&bench), (0.5, 0.0, 0.5));
}

#[test]
fn reduces_wait_for_the_slow_start() {
    let mut bench = bench(hadoop());
    // A twentieth of forty maps is two.
    bench.submit(job(0, 40, 1));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    let is_reduce = |attempt: &AttemptId| attempt.task.kind == TaskKind::Reduce;
    assert!(!maps.iter().any(is_reduce));
    let one = [(maps[0], AttemptState::Succeeded), (maps[1], AttemptState::Running)];
    let after_one = launches(&bench.at(4).beat_and_receive(0, &one));
    assert!(!after_one.iter().any(is_reduce));
    let two = [(maps[1], AttemptState::Succeeded), (after_one[0], AttemptState::Running)];
    let after_two = launches(&bench.at(7).beat_and_receive(0, &two));
    assert!(after_two.iter().any(is_reduce));
}

#[test]
fn a_killed_job_whose_last_failure_ends_it_does_not_end_what_is_left_twice() {
    let (once, all) = (Count::of(1), Fraction::of(1.0));
    let mut bench = bench(Hadoop { max_attempts: once, map_failures: all, ..hadoop() });
    bench.submit(job(0, 6, 0));
    let maps = [0, 1].map(|id| launches(&bench.at(u64::from(id) + 1).beat_and_receive(id, &[])));
    for (id, maps) in (0..).zip(maps) {
        let failed: Vec<_> = maps.iter().map(|map| (*map, AttemptState::FailedUnclean)).collect();
        // Each tracker removes the output of one map; the outputs of two more maps wait for
        // removal.
        bench.at(u64::from(id) + 4).beat_and_receive(id, &failed);
    }
    bench.at(20).hear(ToJobTracker::KillJob(JobId(0)));
    let over = [ToInjector::JobEnded(JobId(0), Outcome::Killed)];
    assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
}

#[test]
fn a_twentieth_of_the_maps_is_taken_in_single_precision() {
    let mut bench = bench(hadoop());
    bench.everybody_joins();
    bench.at(20).submit(job(0, 140, 1));
    // In double precision 0.05 times 140 is a little more than seven.
    for tracker in 0..7 {
        let at = 20 + 2 * u64::from(tracker);
        let launched = launches(&bench.at(at).beat_and_receive(tracker, &[]));
        let reports =
            [(launched[0], AttemptState::Succeeded), (launched[1], AttemptState::Running)];
        let launched = launches(&bench.at(at + 1).beat_and_receive(tracker, &reports));
        let has_reduce = launched.iter().any(|id| id.task.kind == TaskKind::Reduce);
        assert_eq!(has_reduce, tracker == 6, "after {} maps", tracker + 1);
    }
}

/// A policy that has the splits of the first job read a second after its first tick, and those of
/// the second job next. It refuses jobs without maps.
struct ReadsLater;

impl Scheduler for ReadsLater {
    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { reading: true, ..PolicyNeeds::default() }
    }

    fn refuses(&self, _: &View<'_>, job: &JobSpec) -> Option<Reason> {
        (job.maps == 0).then_some(Reason::QueueFull(7))
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        orders.read(JobId(0), SimSpan::from_secs(1));
    }

    fn splits_read(&mut self, job: JobId, orders: &mut Orders<'_>) {
        if job == JobId(0) {
            orders.read(JobId(1), SimSpan::ZERO);
        }
    }

    fn offer(&mut self, _: &mut Offer<'_>) {}
}

fn read(bench: &Bench) -> Vec<u32> {
    let is_read = |fact: &Fact| match fact {
        Fact::Job(job, JobFact::Initialised) => Some(job.0),
        _ => None,
    };
    bench.facts.iter().filter_map(is_read).collect()
}

#[test]
fn splits_are_read_when_a_policy_says_so_that_wants_to() {
    for line in HadoopLine::ALL {
        let mut bench = bench_under(Box::new(ReadsLater), Hadoop { line, ..hadoop() });
        bench.submit(job(0, 1, 0)).submit(job(1, 1, 0)).hear(ToJobTracker::Tock);
        assert!(read(&bench).is_empty(), "{line}: a thread begins after a second");
        bench.at(1).hear(ToJobTracker::Start);
        assert_eq!(read(&bench), [0, 1], "{line}: the thread reads the next job at once");
    }
}

#[test]
fn a_job_whose_log_has_the_order_of_its_policy_is_read_when_it_was() {
    let mut traced = crate::mapred::traced::Traced::sample();
    traced.service.init = Some(TracedInit::SinceSubmission(SimSpan::from_secs(1)));
    let logged = |id| {
        let traced = Some(Arc::new(traced.clone()));
        Arc::new(JobSpec { traced, ..JobSpec::clone(&job(id, 1, 1)) })
    };
    let mut ordered = bench_under(Box::new(ReadsLater), hadoop());
    ordered.submit(logged(0)).submit(job(1, 1, 0)).at(1).hear(ToJobTracker::Start);
    assert_eq!(read(&ordered), [0, 1], "though the policy ordered the second one alone");
    let mut at_once = bench(hadoop());
    at_once.submit(logged(0));
    assert_eq!(read(&at_once), [0], "a policy without orders does not let it wait");
}

#[test]
fn jobs_not_ordered_to_be_read_are_read_when_another_policy_takes_over() {
    let successors: Vec<Box<dyn Scheduler>> = vec![Box::new(Greedy)];
    let options = JobTrackerOptions { successors, ..JobTrackerOptions::default() };
    let mut bench = bench_with(options, Box::new(ReadsLater), hadoop());
    bench.submit(job(0, 1, 0)).submit(job(1, 1, 0)).hear(ToJobTracker::Tock);
    bench.hear(ToJobTracker::ChangePolicy);
    assert_eq!(read(&bench), [1], "a thread is on its way to the first job");
    bench.at(1).hear(ToJobTracker::Start);
    assert_eq!(read(&bench), [1, 0]);
    bench.submit(job(2, 1, 0));
    assert_eq!(read(&bench), [1, 0, 2], "as it arrives");
}

/// The second order once made the count of busy threads wrong.
#[test]
fn a_job_that_is_being_read_is_not_read_again_for_the_next_policy() {
    let successors: Vec<Box<dyn Scheduler>> = vec![Box::new(ReadsLater)];
    let options = JobTrackerOptions { successors, ..JobTrackerOptions::default() };
    let mut bench = bench_with(options, Box::new(ReadsLater), hadoop());
    bench.submit(job(0, 1, 0)).submit(job(1, 1, 0)).hear(ToJobTracker::Tock);
    bench.hear(ToJobTracker::ChangePolicy).hear(ToJobTracker::Tock);
    bench.at(1).hear(ToJobTracker::Start);
    assert_eq!(read(&bench), [0, 1]);
}

#[test]
fn a_refused_job_is_over_and_the_policy_hears_no_more_of_it() {
    let mut bench = bench_under(Box::new(ReadsLater), hadoop());
    bench.submit(job(0, 0, 1));
    let told: Vec<String> = bench.facts.iter().map(|fact| format!("{fact:?}")).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("Submitted") && told[1].contains("SubmissionRefused(QueueFull(7))"));
    let over = [ToInjector::JobEnded(JobId(0), Outcome::Failed)];
    assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
    // A client may still kill it, which does nothing.
    bench.hear(ToJobTracker::KillJob(JobId(0)));
    assert_eq!((bench.facts.len(), bench.to_injector.len()), (2, 1));
}
