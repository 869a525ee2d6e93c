//! Trackers that are lost, blacklisted, unhealthy or excluded.

use super::*;
use crate::mapred::event::MemberFact;

#[test]
fn a_silent_tracker_is_given_up_and_its_completed_maps_run_again() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 2, 1));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    let done = [(maps[0], AttemptState::Succeeded), (maps[1], AttemptState::Running)];
    bench.at(4).beat_and_receive(0, &done);
    bench.at(600).beat_and_receive(1, &[]);
    bench.at(606).hear(ToJobTracker::Expire);
    assert!(
        bench.facts.iter().any(|fact| matches!(fact, Fact::Member(TrackerId(0), MemberFact::Lost)))
    );
    let again: Vec<AttemptId> = launches(&bench.at(607).beat_and_receive(1, &[]))
        .into_iter()
        .chain(launches(&bench.at(610).beat_and_receive(2, &[])))
        .collect();
    assert!(again.contains(&maps[0].task.attempt(1)), "{again:?}");
}

#[test]
fn of_a_lost_tracker_only_what_still_worked_is_cleaned_up_after() {
    for (state, is_unclean) in [(AttemptState::Running, true), (AttemptState::CommitPending, false)]
    {
        let mut bench = bench(Hadoop { task_cleanup: true, ..hadoop() });
        bench.submit(job(0, 1, 0));
        let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
        bench.at(4).beat_and_receive(0, &[(map, state)]);
        bench.at(600).beat_and_receive(1, &[]);
        bench.at(606).hear(ToJobTracker::Expire);
        let next = launches(&bench.at(607).beat_and_receive(1, &[]));
        let again = if is_unclean { vec![] } else { vec![map.task.attempt(1)] };
        assert_eq!(next, again, "{state:?}");
    }
}

/// A policy that resumes the first map at every tick, whatever its state.
struct Hopeful;

impl Scheduler for Hopeful {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        Greedy.offer(offer);
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        let first = TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 };
        orders.resume(first.attempt(0), Reason::Other("hope"));
    }
}

#[test]
fn a_tracker_that_was_given_up_gets_no_orders() {
    let mut bench = bench_under(Box::new(Hopeful), hadoop());
    bench.submit(job(0, 1, 0));
    let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
    bench.at(4).beat_and_receive(0, &[(map, AttemptState::Suspended)]);
    bench.hear(ToJobTracker::Tick);
    assert_eq!(bench.tracker.ledger.trackers[0].orders.len(), 1);
    bench.at(606).hear(ToJobTracker::Expire);
    // The map's output is still to be removed, so the ledger has its record.
    assert!(bench.tracker.ledger.attempt(map).is_some());
    bench.hear(ToJobTracker::Tick);
    assert!(bench.tracker.ledger.trackers[0].orders.is_empty());
}

/// A cluster in which jobs avoid a tracker after one failure, and which blacklists it after
/// `tracker_faults` faults.
fn unforgiving(tracker_faults: u32) -> Bench {
    let mut bench = bench(Hadoop {
        task_cleanup: false,
        tracker_failures: Count::of(1),
        tracker_faults: Count::of(tracker_faults),
        ..hadoop()
    });
    bench.everybody_joins();
    bench
}

impl Bench {
    /// Lets the only map of a job fail on a tracker and succeed on the last tracker, all within ten
    /// seconds.
    fn avoids(&mut self, id: u32, number: u32, secs: u64) {
        self.at(secs).submit(job(number, 1, 0));
        let map = launches(&self.beat_and_receive(id, &[]))[0];
        self.at(secs + 3).beat_and_receive(id, &[(map, AttemptState::Failed)]);
        let again = launches(&self.at(secs + 5).beat_and_receive(7, &[]))[0];
        self.at(secs + 8).beat_and_receive(7, &[(again, AttemptState::Succeeded)]);
    }

    fn blacklisted(&self) -> Vec<u32> {
        let listed = self.facts.iter().filter_map(|fact| match fact {
            Fact::Member(tracker, MemberFact::Blacklisted) => Some(tracker.0),
            _ => None,
        });
        listed.collect()
    }

    /// Returns whether a tracker without running tasks gets a task of a job that has many.
    fn gets_tasks(&mut self, id: u32, secs: u64) -> bool {
        !launches(&self.at(secs).beat_and_receive(id, &[])).is_empty()
    }
}

const DAY: u64 = 24 * 60 * 60;

#[test]
fn a_tracker_that_job_after_job_avoids_gets_no_tasks_for_a_day() {
    let mut bench = unforgiving(2);
    bench.avoids(0, 0, 20);
    assert!(bench.blacklisted().is_empty());
    bench.avoids(0, 1, 30);
    assert_eq!(bench.blacklisted(), [0]);
    assert_eq!((bench.tracker.ledger.active, bench.tracker.ledger.capacity.map), (7, 14));
    bench.submit(job(2, 60, 0));
    assert!(!bench.gets_tasks(0, 40));
    assert!(bench.gets_tasks(1, 41));
    // The last fault came at 38 s. One fault is left, but the tracker gets tasks: Hadoop's quirk.
    assert!(!bench.gets_tasks(0, DAY + 38));
    assert!(bench.gets_tasks(0, DAY + 39));
    assert_eq!((bench.tracker.ledger.active, bench.tracker.ledger.capacity.map), (8, 16));
    assert!(
        bench
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Member(TrackerId(0), MemberFact::Forgiven)))
    );
}

#[test]
fn a_restart_is_forgiven_everything_and_a_return_nothing() {
    let mut bench = unforgiving(1);
    bench.avoids(0, 0, 20);
    bench.submit(job(1, 60, 0));
    bench.joins_restarted = false;
    bench.last[0] = None;
    assert!(!bench.gets_tasks(0, 30));
    assert_eq!(bench.tracker.ledger.active, 7);
    bench.joins_restarted = true;
    bench.last[0] = None;
    assert!(bench.gets_tasks(0, 40));
    assert_eq!(bench.tracker.ledger.active, 8);
}

#[test]
fn trackers_are_blacklisted_only_if_they_are_worse_than_the_others() {
    let mut bench = unforgiving(1);
    for id in 0..4 {
        bench.avoids(id, id, 20 + u64::from(id) * 10);
    }
    // For the fourth tracker the average is four faults on five trackers.
    assert_eq!(bench.blacklisted(), [0, 1, 2]);
}

#[test]
fn a_tracker_whose_node_is_unwell_gets_no_tasks_until_it_is_well() {
    let mut bench = bench(hadoop());
    bench.everybody_joins().at(20).submit(job(0, 9, 0));
    bench.is_unhealthy = true;
    assert_eq!(bench.next(0, &[]), []);
    assert_eq!(bench.blacklisted(), [0]);
    assert_eq!(bench.tracker.ledger.active, 7);
    bench.is_unhealthy = false;
    assert_eq!(bench.next(0, &[]).len(), 2);
    assert!(
        bench
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Member(TrackerId(0), MemberFact::Forgiven)))
    );
}

#[test]
fn an_excluded_tracker_is_given_up_at_once_and_may_come_back_when_it_is_included() {
    let (mut bench, maps, reduces) = fetching();
    bench.hear(ToJobTracker::Exclude(TrackerId(0)));
    let lost = |fact: &Fact| matches!(fact, Fact::Member(TrackerId(0), MemberFact::Lost));
    assert_eq!(bench.facts.iter().filter(|fact| lost(fact)).count(), 1);
    assert_eq!(bench.next(0, &[]), []);
    let (_, reply, _) = bench.replies.last().unwrap();
    assert!(reply.disallowed && !reply.reinit);
    let again = bench.next(1, &[(reduces[0], AttemptState::Running)]);
    assert!(again.contains(&maps[0].task.attempt(1)), "its outputs are lost: {again:?}");
    bench.hear(ToJobTracker::Include(TrackerId(0)));
    bench.last[0] = None;
    bench.next(0, &[]);
    let joined = |fact: &Fact| matches!(fact, Fact::Member(TrackerId(0), MemberFact::Joined));
    assert_eq!(bench.facts.iter().filter(|fact| joined(fact)).count(), 2);
}

#[test]
fn without_blacklisting_a_bad_tracker_gets_tasks() {
    let mut bench = unforgiving(1);
    bench.tracker.ledger.hadoop.blacklist = false;
    bench.avoids(0, 0, 20);
    bench.submit(job(1, 60, 0));
    assert!(bench.gets_tasks(0, 30));
}

#[test]
fn without_blacklisting_a_bad_tracker_is_noted_until_its_faults_are_three_hours_old() {
    let mut bench = unforgiving(2);
    bench.tracker.ledger.hadoop.blacklist = false;
    let graylist = |bench: &Bench| {
        let listed = bench.facts.iter().filter_map(|fact| match fact {
            Fact::Member(tracker, MemberFact::Graylisted) => Some((tracker.0, true)),
            Fact::Member(tracker, MemberFact::OffGraylist) => Some((tracker.0, false)),
            _ => None,
        });
        listed.collect::<Vec<_>>()
    };
    bench.avoids(0, 0, 20);
    assert_eq!(graylist(&bench), []);
    // This fault comes in the second quarter-hour.
    bench.avoids(0, 1, 1_000);
    assert_eq!(graylist(&bench), [(0, true)]);
    // The first fault counts until twelve more quarter-hours have begun.
    bench.at(3 * 3_600 - 1).beat_and_receive(0, &[]);
    assert_eq!(graylist(&bench).len(), 1);
    bench.at(3 * 3_600).beat_and_receive(0, &[]);
    assert_eq!(graylist(&bench), [(0, true), (0, false)]);
    assert!(bench.blacklisted().is_empty());
}
