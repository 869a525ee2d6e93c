//! Changes that users make while jobs run.

use super::*;
use crate::mapred::event::JobFact;
use crate::mapred::message::HandEnd;
use crate::mapred::spec::{JobAlteration, Priority};

fn alter(job: u32, priority: Option<Priority>, pool: Option<&str>) -> ToJobTracker {
    let pool = pool.map(Into::into);
    ToJobTracker::Alter(Arc::new(JobAlteration { job: JobId(job), priority, pool }))
}

fn end(task: TaskId, fails: bool) -> ToJobTracker {
    ToJobTracker::EndTask(HandEnd { task, fails }.into())
}

/// Returns a running map of a job, which runs on the first tracker.
fn with_map(hadoop: Hadoop) -> (Bench, AttemptId) {
    let mut bench = bench(Hadoop { task_cleanup: false, ..hadoop });
    bench.everybody_joins().at(20).submit(job(0, 1, 0));
    let map = bench.next(0, &[])[0];
    bench.next(0, &[(map, AttemptState::Running)]);
    (bench, map)
}

/// Returns the attempts that the next heartbeat of the first tracker is told to kill.
fn killed(bench: &mut Bench, map: AttemptId) -> Vec<AttemptId> {
    bench.now += SimSpan::from_secs(1);
    kills(&bench.beat_and_receive(0, &[(map, AttemptState::Running)]))
}

#[test]
fn a_job_has_its_new_priority_and_pool_and_the_policy_hears_of_it_once() {
    struct Hears(Arc<std::sync::Mutex<Vec<JobChange>>>);
    impl Scheduler for Hears {
        fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
            if let JobChange::Altered { priority } = event.change {
                let job = view.job(event.job).unwrap();
                assert_eq!((job.priority(), &*job.spec().pool), (Priority::High, "web"));
                self.0.lock().unwrap().push(JobChange::Altered { priority });
            }
        }
        fn offer(&mut self, _: &mut Offer<'_>) {}
    }
    let heard = Arc::default();
    let mut bench = bench_under(Box::new(Hears(Arc::clone(&heard))), hadoop());
    bench.hear(alter(0, Some(Priority::Low), None));
    bench.submit(job(0, 1, 0));
    let change = || alter(0, Some(Priority::High), Some("web"));
    bench.hear(change()).hear(change()).hear(alter(0, None, Some("web")));
    assert_eq!(*heard.lock().unwrap(), [JobChange::Altered { priority: Priority::Normal }]);
    let told = |fact: &&Fact| matches!(fact, Fact::Job(_, JobFact::Altered(_)));
    assert_eq!(bench.facts.iter().filter(told).count(), 1);
}

#[test]
fn a_task_that_is_killed_by_hand_runs_again_without_a_failure() {
    let (mut bench, map) = with_map(Hadoop { max_attempts: Count::of(1), ..hadoop() });
    bench.hear(end(map.task, false));
    assert_eq!(killed(&mut bench, map), [map]);
    assert_eq!(bench.next(0, &[(map, AttemptState::Killed)]), [map.task.attempt(1)]);
    assert!(!bench.has_failed(map));
}

#[test]
fn a_task_that_is_failed_by_hand_counts_a_failure_though_its_tracker_says_killed() {
    let (mut bench, map) = with_map(hadoop());
    bench.hear(end(map.task, true));
    assert_eq!(killed(&mut bench, map), [map]);
    assert_eq!(bench.next(0, &[(map, AttemptState::Killed)]), [], "it failed on this tracker");
    assert!(bench.has_failed(map));
    assert_eq!(bench.next(1, &[]), [map.task.attempt(1)]);

    let (mut bench, map) = with_map(Hadoop { max_attempts: Count::of(1), ..hadoop() });
    bench.hear(end(map.task, true));
    killed(&mut bench, map);
    bench.next(0, &[(map, AttemptState::Killed)]);
    let over = [ToInjector::JobEnded(JobId(0), Outcome::Failed)];
    assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
}

#[test]
fn absent_processes_are_not_ended() {
    let (mut bench, map) = with_map(hadoop());
    let other = TaskId { index: 7, ..map.task };
    let unknown = TaskId { job: JobId(9), ..map.task };
    for task in [other, unknown] {
        bench.hear(end(task, false));
    }
    assert_eq!(killed(&mut bench, map), []);
    // A second request, or one for an attempt that is killed already, changes nothing.
    bench.hear(end(map.task, false));
    bench.hear(end(map.task, true));
    assert_eq!(killed(&mut bench, map), [map]);
    assert_eq!(bench.next(0, &[(map, AttemptState::Killed)]), [map.task.attempt(1)]);
    assert!(!bench.has_failed(map));
}
