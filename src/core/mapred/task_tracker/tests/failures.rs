//! Attempts that fail or hang.

use super::*;

/// Makes all attempts fail or hang.
pub(super) fn all(how: FailureKind, at_progress: f64) -> Vec<PlannedFailure> {
    let at_progress = Some(Fraction::of(at_progress));
    let share = Fraction::of(1.0);
    let doom = PlannedFailure {
        how,
        share,
        at_progress,
        nodes: None,
        jobs: None,
        kind: None,
        memory_above: None,
    };
    vec![doom]
}

#[test]
fn a_map_fails_at_its_share_of_the_progress_and_says_no_more_before() {
    let mut bench = tracker_with(|_| {}, all(FailureKind::Failure, 0.5));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.beat_until(secs(3), None);
    assert_eq!(bench.report(map(0)).unwrap().progress, 0.2);
    bench.beat_until(secs(30), None);
    // Its tracker waits three seconds for the process to report its end.
    assert_eq!(bench.end(map(0)), Some((secs(1 + 5 + 3), Outcome::Failed)));
}

#[test]
fn a_reduce_fails_in_the_phase_that_its_progress_is_in() {
    // The reduce starts up for 1 s, fetches for 4 s, merges for 1 s and reduces for 5 s; all maps
    // have already ended. Its tracker waits three seconds after the failure.
    for (progress, end) in [(0.0, 4.0), (0.25, 7.0), (0.5, 8.5), (1.0, 14.0)] {
        let mut bench =
            tracker_with(|hadoop| hadoop.poll = SimSpan::ZERO, all(FailureKind::Failure, progress));
        let launch = bench.launch(reduce(0));
        let maps =
            MapsDone { job: JobId(0), done: 4, total: 4, changes: 0, over_at: SimTime::ZERO };
        bench.until(secs(0)).reply_with(vec![launch], vec![maps]);
        bench.beat_until(secs(30), Some(secs(0)));
        let end = SimTime::ZERO + SimSpan::ceil_from_secs(end);
        assert_eq!(bench.end(reduce(0)), Some((end, Outcome::Failed)), "at {progress}");
    }
}

#[test]
fn a_reduce_that_fails_while_it_fetches_does_not_wait_for_the_last_map() {
    let mut bench = tracker_with(|_| {}, all(FailureKind::Failure, 0.25));
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3)).reply_with(
        vec![],
        vec![MapsDone { job: JobId(0), done: 2, total: 4, changes: 0, over_at: SimTime::ZERO }],
    );
    bench.until(secs(6)).reply_with(
        vec![],
        vec![MapsDone { job: JobId(0), done: 2, total: 4, changes: 0, over_at: SimTime::ZERO }],
    );
    bench.until(secs(9));
    assert_eq!(bench.end(reduce(0)), None, "half is there, and three quarters are fetched before");
    bench.reply_with(
        vec![],
        vec![MapsDone { job: JobId(0), done: 3, total: 4, changes: 0, over_at: SimTime::ZERO }],
    );
    bench.until(secs(15));
    assert_eq!(bench.end(reduce(0)), Some((secs(10 + 3), Outcome::Failed)));
}

#[test]
fn a_hanging_attempt_fails_at_the_first_heartbeat_after_the_timeout() {
    let timeout = |hadoop: &mut Hadoop| hadoop.task_timeout = SimSpan::from_secs(60);
    let mut bench = tracker_with(timeout, all(FailureKind::Hang, 0.5));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    // The attempt hangs from 6 s on; the heartbeats come at 66 and 69 s.
    bench.beat_until(secs(68), None);
    let Report { state, progress, .. } = bench.report(map(0)).unwrap();
    assert_eq!((state, progress), (AttemptState::Running, 0.5));
    bench.beat_until(secs(100), None);
    assert_eq!(bench.end(map(0)), Some((secs(69), Outcome::Failed)));
}

#[test]
fn without_a_timeout_a_hanging_attempt_is_left_alone_until_it_is_killed() {
    let never = |hadoop: &mut Hadoop| hadoop.task_timeout = SimSpan::ZERO;
    let mut bench = tracker_with(never, all(FailureKind::Hang, 0.0));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.beat_until(secs(86_399), None);
    assert_eq!(bench.end(map(0)), None);
    bench.until(secs(86_400)).reply(vec![Directive::Kill(map(0))]);
    assert_eq!(bench.end(map(0)), Some((secs(86_400), Outcome::Killed)));
}

#[test]
fn an_attempt_with_too_much_memory_for_its_slots_fails_as_soon_as_it_has_started() {
    let doom = |mib| {
        let memory_above = Some(Bytes::from_mib(mib));
        let [doom] = all(FailureKind::OutOfMemory, 0.0).try_into().unwrap();
        vec![PlannedFailure { memory_above, ..doom }]
    };
    let end = |mib| {
        let mut bench = tracker_with(|_| {}, doom(mib));
        bench.reduces = 1;
        let launch = bench.launch(map(0));
        bench.until(secs(0)).reply(vec![launch]);
        bench.beat_until(secs(30), None);
        bench.end(map(0))
    };
    // A map takes 1 MiB.
    assert_eq!(end(1), Some((secs(11), Outcome::Succeeded)));
    assert_eq!(end(0), Some((secs(1), Outcome::Failed)));
}

/// Returns the states that heartbeats reported of a map, without repetitions.
fn reported(bench: &Bench, attempt: AttemptId) -> Vec<AttemptState> {
    let reports = bench.statuses.iter().flat_map(|status| &status.reports);
    let mut states: Vec<AttemptState> =
        reports.filter(|report| report.attempt == attempt).map(|report| report.state).collect();
    states.dedup();
    states
}

#[test]
fn an_exception_needs_no_cleanup_attempt_and_other_failures_do() {
    use AttemptState as S;
    let bound = |how| {
        let memory_above = (how == FailureKind::OutOfMemory).then_some(Bytes::ZERO);
        let [doom] = all(how, 0.5).try_into().unwrap();
        vec![PlannedFailure { memory_above, ..doom }]
    };
    for (how, end, last) in [
        (FailureKind::Failure, 9, S::Failed),
        (FailureKind::OutOfMemory, 6, S::FailedUnclean),
        (FailureKind::Hang, 69, S::FailedUnclean),
    ] {
        let timeout = |hadoop: &mut Hadoop| hadoop.task_timeout = SimSpan::from_secs(60);
        let mut bench = tracker_with(timeout, bound(how));
        let launch = bench.launch(map(0));
        bench.until(secs(0)).reply(vec![launch]);
        bench.beat_until(secs(100), None);
        assert_eq!(bench.end(map(0)), Some((secs(end), Outcome::Failed)), "{how:?}");
        assert_eq!(reported(&bench, map(0)), [S::Running, last], "{how:?}");
    }
}

#[test]
fn a_killed_attempt_that_has_just_failed_gets_a_cleanup_attempt() {
    let mut bench = tracker_with(|_| {}, all(FailureKind::Failure, 0.5));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3)).reply(vec![]);
    // It has failed at 6 s, and its tracker would report that at 9 s.
    bench.until(secs(6)).reply(vec![Directive::Kill(map(0))]);
    bench.beat_until(secs(30), None);
    assert_eq!(bench.end(map(0)), Some((secs(6), Outcome::Killed)));
    assert_eq!(reported(&bench, map(0)).last(), Some(&AttemptState::KilledUnclean));
}
