//! Settings that jobs set themselves, beside jobs that have the cluster's.

use super::*;
use crate::mapred::settings::JobSettings;

/// A job with settings of its own.
fn with(id: u32, maps: u32, reduces: u32, settings: JobSettings) -> Arc<JobSpec> {
    Arc::new(JobSpec { settings, ..JobSpec::clone(&job(id, maps, reduces)) })
}

/// Lets the attempts of a map fail, each on another tracker; returns how many there were.
fn failures(settings: JobSettings) -> u32 {
    let mut bench = bench(Hadoop { task_cleanup: false, ..hadoop() });
    bench.everybody_joins().at(20).submit(with(0, 1, 0, settings));
    for id in 0..8 {
        let Some(map) = bench.next(id, &[]).pop() else { return id };
        bench.next(id, &[(map, AttemptState::Failed)]);
    }
    panic!("the map is launched again and again");
}

#[test]
fn a_task_fails_as_often_as_its_job_lets_it() {
    let twice = PerSlot { map: Some(Count::of(2)), reduce: Some(Count::of(9)) };
    assert_eq!(failures(JobSettings::default()), 4, "the cluster's");
    assert_eq!(failures(JobSettings { attempts: twice, ..JobSettings::default() }), 2);
}

#[test]
fn a_job_that_may_lose_maps_succeeds_without_them() {
    let attempts = PerSlot { map: Some(Count::of(1)), reduce: None };
    let all = PerSlot { map: Some(Fraction::of(1.0)), reduce: None };
    for (failures, outcome) in [(PerSlot::default(), Outcome::Failed), (all, Outcome::Succeeded)] {
        let mut bench = bench(Hadoop { task_cleanup: false, ..hadoop() });
        let settings = JobSettings { attempts, failures, ..JobSettings::default() };
        bench.everybody_joins().at(20).submit(with(0, 1, 0, settings));
        let map = bench.next(0, &[])[0];
        bench.next(0, &[(map, AttemptState::Failed)]);
        let over = [ToInjector::JobEnded(JobId(0), outcome)];
        assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
    }
}

#[test]
fn each_job_has_a_slow_start_of_its_own() {
    let reduces = |share: Option<Fraction>| {
        let mut bench = bench(Hadoop { slow_start: Fraction::of(0.5), ..hadoop() });
        let settings = JobSettings { slow_start: share, ..JobSettings::default() };
        bench.everybody_joins().at(20).submit(with(0, 4, 1, settings));
        let maps = bench.next(0, &[]);
        let is_reduce = |attempt: &AttemptId| attempt.task.kind == TaskKind::Reduce;
        let one = [(maps[0], AttemptState::Succeeded), (maps[1], AttemptState::Running)];
        maps.iter().any(is_reduce) || bench.next(0, &one).iter().any(is_reduce)
    };
    assert!(!reduces(None), "half of the maps are two");
    assert!(reduces(Some(Fraction::of(0.25))));
    assert!(reduces(Some(Fraction::ZERO)));
    assert!(!reduces(Some(Fraction::of(1.0))));
}

#[test]
fn a_job_avoids_a_tracker_as_soon_as_it_says() {
    let goes_back = |failures: Option<u32>| {
        let mut bench = bench(Hadoop { task_cleanup: false, ..hadoop() });
        let tracker_failures = failures.map(Count::of);
        let settings = JobSettings { tracker_failures, ..JobSettings::default() };
        bench.everybody_joins().at(20).submit(with(0, 9, 0, settings));
        let maps = bench.next(0, &[]);
        !bench
            .next(0, &[(maps[0], AttemptState::Failed), (maps[1], AttemptState::Failed)])
            .is_empty()
    };
    assert!(goes_back(None));
    assert!(goes_back(Some(3)));
    assert!(!goes_back(Some(2)));
}

#[test]
fn a_job_without_speculation_gets_no_second_attempts() {
    let second = |kinds: PerSlot<Option<bool>>, rule: Hadoop020Options| {
        let rule = Speculation::By(Rule::Hadoop020(rule));
        let mut bench = bench(Hadoop { speculation: rule, ..hadoop() });
        let settings = JobSettings { speculation: kinds, ..JobSettings::default() };
        bench.everybody_joins().at(10).submit(with(0, 4, 0, settings));
        let fast = launches(&bench.at(11).beat_and_receive(0, &[]));
        let slow = launches(&bench.at(12).beat_and_receive(1, &[]));
        for (id, progress, maps) in [(0, 0.9, fast), (1, 0.1, slow)] {
            bench.progress = progress;
            let reports: Vec<_> = maps.iter().map(|map| (*map, AttemptState::Running)).collect();
            bench.at(80 + u64::from(id)).beat_and_receive(id, &reports);
        }
        bench.next(2, &[]).len()
    };
    let (all, off) = (Hadoop020Options::default(), Some(false));
    let no_maps = Hadoop020Options { maps: false, ..all };
    assert_eq!(second(PerSlot::default(), all), 2);
    assert_eq!(second(PerSlot { map: off, reduce: None }, all), 0);
    assert_eq!(second(PerSlot { map: None, reduce: off }, all), 2);
    assert_eq!(second(PerSlot::default(), no_maps), 0);
    assert_eq!(second(PerSlot { map: Some(true), reduce: None }, no_maps), 2);
}
