//! Attempts that fail, and launches that no tracker reports.

use super::*;

#[test]
fn a_failed_attempt_is_cleaned_up_after_before_its_task_runs_again() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 1, 1));
    let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
    let told = bench.at(4).beat_and_receive(0, &[(map, AttemptState::FailedUnclean)]);
    let cleaning = |directive: &Directive| {
        matches!(directive, Directive::Launch(launch)
            if launch.attempt == map && launch.role == Role::TaskCleanup)
    };
    assert!(told.len() == 1 && cleaning(&told[0]), "{told:?}");
    assert_eq!(launches(&bench.at(5).beat_and_receive(1, &[])), []);
    bench.at(7).beat_and_receive(0, &[(map, AttemptState::Failed)]);
    let again = launches(&bench.at(8).beat_and_receive(1, &[]));
    assert_eq!(again, [map.task.attempt(1)]);
}

/// Three of four reduces run. The second fails, then the first is killed.
#[test]
fn in_the_line_1_x_the_reduce_that_has_failed_most_often_runs_again_first() {
    for (failed_maps, order) in [(FailedMaps::Front, [0, 1, 3]), (FailedMaps::First, [1, 0, 3])] {
        let slow_start = Fraction::ZERO;
        let mut bench = bench(Hadoop { failed_maps, slow_start, task_cleanup: false, ..hadoop() });
        bench.everybody_joins().submit(job(0, 1, 4));
        // A map would take the place of the reduce.
        let full = TaskId { job: JobId(0), kind: TaskKind::Reduce, index: 0 }.attempt(9);
        let reduce = |launched: Vec<AttemptId>| launched.last().map(|it| it.task.index);
        let reduces =
            [0, 1, 2].map(|id| *bench.next(id, &[]).last().expect("one for each tracker"));
        for (id, state) in [(1, AttemptState::Failed), (0, AttemptState::Killed)] {
            let reports = [(reduces[id as usize], state), (full, AttemptState::Running)];
            bench.next(id, &reports);
        }
        assert_eq!([3, 4, 5].map(|id| reduce(bench.next(id, &[]))), order.map(Some));
    }
}

#[test]
fn a_task_that_fails_too_often_fails_its_job() {
    let mut bench = bench(Hadoop { task_cleanup: false, ..hadoop() });
    bench.everybody_joins().submit(job(0, 1, 0));
    for number in 0..4 {
        let at = u64::from(number) * 10 + 20;
        let map = launches(&bench.at(at).beat_and_receive(number, &[]))[0];
        assert_eq!(map.number, number);
        // The tracker on which the map failed does not get it again.
        let failed = [(map, AttemptState::Failed)];
        assert_eq!(launches(&bench.at(at + 3).beat_and_receive(number, &failed)), []);
    }
    assert!(matches!(bench.to_injector[0], ToInjector::JobEnded(JobId(0), Outcome::Failed)));
}

/// At 20 s a map is assigned to a tracker, which then reports it in the state `says`; with `None`
/// it does not report it.
fn launched_and(launch_expiry: LaunchExpiry, says: Option<AttemptState>) -> (Bench, AttemptId) {
    let mut bench = bench(Hadoop { launch_expiry, ..hadoop() });
    bench.everybody_joins().submit(job(0, 1, 0));
    let map = launches(&bench.at(20).beat_and_receive(0, &[]))[0];
    let reports: Vec<_> = says.map(|state| (map, state)).into_iter().collect();
    for at in [300, 610] {
        assert_eq!(kills(&bench.at(at).beat_and_receive(0, &reports)), []);
        (1..8).for_each(|id| drop(bench.at(at + u64::from(id)).beat_and_receive(id, &[])));
    }
    bench.at(620).hear(ToJobTracker::Expire);
    assert!(!bench.has_failed(map), "the launch was not more than ten minutes ago");
    bench.at(621).hear(ToJobTracker::Expire);
    (bench, map)
}

#[test]
fn a_launch_that_its_tracker_forgets_fails_and_never_counts() {
    let (mut bench, map) = launched_and(LaunchExpiry::Reported, None);
    assert!(bench.has_failed(map));
    let again = launches(&bench.at(622).beat_and_receive(1, &[]))[0];
    assert_eq!(again, map.task.attempt(1), "the task runs again, elsewhere");
    let told = bench.at(623).beat_and_receive(0, &[(map, AttemptState::CommitPending)]);
    assert!(kills(&told).contains(&map) && commits(&told).is_empty(), "{told:?}");
    bench.at(626).beat_and_receive(0, &[(map, AttemptState::Succeeded)]);
    assert!(bench.to_injector.is_empty(), "the late success counts for no job");
    bench.at(627).beat_and_receive(1, &[(again, AttemptState::Succeeded)]);
    assert_eq!(bench.to_injector.len(), 1);
}

#[test]
fn a_launch_that_waits_for_its_slot_fails_where_only_a_start_counts() {
    let waits = Some(AttemptState::Unassigned);
    let (bench, map) = launched_and(LaunchExpiry::Reported, waits);
    assert!(!bench.has_failed(map));
    let (mut bench, map) = launched_and(LaunchExpiry::Started, waits);
    assert!(bench.has_failed(map));
    let told = bench.at(622).beat_and_receive(0, &[(map, AttemptState::Unassigned)]);
    assert_eq!(kills(&told), [map]);
    let (bench, map) = launched_and(LaunchExpiry::Started, Some(AttemptState::Running));
    assert!(!bench.has_failed(map));
}

#[test]
fn a_job_avoids_a_tracker_on_which_too_much_failed() {
    let once = Count::of(1);
    let mut bench = bench(Hadoop { task_cleanup: false, tracker_failures: once, ..hadoop() });
    // Fewer than a quarter of the trackers may be avoided: one of eight.
    bench.everybody_joins().submit(job(0, 60, 0));
    let maps = launches(&bench.at(20).beat_and_receive(0, &[]));
    let failed: Vec<_> = maps.iter().map(|map| (*map, AttemptState::Failed)).collect();
    assert_eq!(launches(&bench.at(24).beat_and_receive(0, &failed)), []);
    assert_ne!(launches(&bench.at(25).beat_and_receive(1, &[])), []);
}
