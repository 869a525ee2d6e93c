//! Outputs of maps that reduces cannot fetch.

use super::*;
use crate::mapred::event::JobFact;

#[test]
fn a_reduce_is_told_what_it_cannot_fetch_beside_what_is_done() {
    let (mut bench, maps, reduces) = fetching();
    assert_eq!(bench.told(), (vec![2], vec![]));
    bench.befall(ToMapOutputs::Darkness(TrackerId(0)));
    let missing = |is_lost| {
        let named = |(order, map): (u32, &AttemptId)| Missing {
            map: *map,
            at: TrackerId(0),
            order,
            is_lost,
            is_unreadable: false,
        };
        (0..).zip(&maps).map(named).collect::<Vec<_>>()
    };
    bench.at(8).beat_and_receive(1, &[(reduces[0], AttemptState::Running)]);
    assert_eq!(bench.told(), (vec![2], missing(false)));
    // The reduce and two other attempts go on; the tracker of the maps is lost.
    let runs = (reduces[0], AttemptState::Running);
    bench.at(600).beat_and_receive(1, &[runs]);
    bench.at(606).hear(ToJobTracker::Expire);
    bench.next(1, &[runs, (maps[1].task.attempt(8), runs.1), (maps[1].task.attempt(9), runs.1)]);
    assert_eq!(bench.told(), (vec![0], missing(true)));
}

#[test]
fn a_reduce_cannot_fetch_from_the_other_side_of_a_cut() {
    let (mut bench, _, reduces) = fetching();
    let until = bench.now + SimSpan::from_secs(60);
    let nodes = [TrackerId(0), TrackerId(1)].into();
    let cut = Arc::new(NetworkCut { from: bench.now, until, nodes });
    bench.befall(ToMapOutputs::Cut(cut.clone()));
    // Only the second tracker is on the side of the maps' outputs.
    for (id, reduce, missing) in [(1, reduces[0], 0), (2, reduces[1], 2)] {
        bench.next(id, &[(reduce, AttemptState::Running)]);
        assert_eq!(bench.told().1.len(), missing);
    }
    bench.now = until;
    bench.befall(ToMapOutputs::Cut(cut));
    bench.next(2, &[(reduces[1], AttemptState::Running)]);
    assert_eq!(bench.told().1, []);
}

#[test]
fn blocks_on_a_lost_disk_cannot_be_read() {
    let (mut bench, _, reduces) = fetching();
    bench.befall(ToMapOutputs::DiskLost(TrackerId(0)));
    bench.next(2, &[(reduces[1], AttemptState::Running)]);
    let (done, missing) = bench.told();
    assert_eq!(done, [2], "the JobTracker does not know that the disk is lost");
    assert!(missing.len() == 2 && missing.iter().all(|m| m.is_unreadable && !m.is_lost));
}

#[test]
fn a_map_fails_after_three_complaints_of_its_output_and_runs_again() {
    let (mut bench, maps, reduces) = fetching();
    for (number, id) in [(0, 1), (1, 2)] {
        assert_eq!(bench.complain(id, reduces[number], maps[0]), []);
    }
    assert!(!bench.has_failed(maps[0]));
    let launched = bench.complain(3, reduces[2], maps[0]);
    assert!(bench.has_failed(maps[0]) && !bench.has_failed(maps[1]));
    assert_eq!(launched, [maps[0].task.attempt(1)], "the map runs again on another tracker");
    let (done, missing) = bench.told();
    assert_eq!((done[0], missing[0].map, missing[0].is_lost), (1, maps[0], true));
    // A late complaint is about an attempt whose output no longer counts.
    bench.complain(1, reduces[0], maps[0]);
    let runs = (reduces[2], AttemptState::Running);
    bench.next(3, &[runs, (maps[0].task.attempt(1), AttemptState::Succeeded)]);
    bench.next(3, &[runs]);
    let (done, missing) = bench.told();
    assert_eq!((done, missing), (vec![2], vec![]));
}

#[test]
fn where_many_reduces_run_three_complaints_are_too_few() {
    let mut bench = bench(Hadoop { slow_start: Fraction::of(1.0), ..hadoop() });
    bench.submit(job(0, 2, 7));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    bench.at(4).end_maps(&maps);
    let reduces: Vec<_> = (1..8).map(|id| bench.next(id, &[])[0]).collect();
    for id in 1..4 {
        bench.complain(id, reduces[id as usize - 1], maps[0]);
    }
    assert!(!bench.has_failed(maps[0]), "three complaints are less than half of seven");
    bench.complain(4, reduces[3], maps[0]);
    assert!(bench.has_failed(maps[0]), "four complaints are more than half of seven");
}

#[test]
fn a_map_whose_output_cannot_be_fetched_for_the_fourth_time_fails_its_job() {
    let (mut bench, maps, reduces) = fetching();
    let mut map = maps[0];
    for (number, id) in [(0, 0), (1, 5), (2, 6), (3, 7)] {
        map = map.task.attempt(number);
        if 0 < number {
            assert_eq!(bench.next(id, &[]), [map]);
            bench.next(id, &[(map, AttemptState::Succeeded)]);
        }
        for (reduce, at) in reduces.iter().zip(1..) {
            bench.failed_fetches.push(FailedFetch { reduce: *reduce, map });
            // The slots of this tracker are taken, so that the map does not run again here.
            let others = [8, 9].map(|number| maps[1].task.attempt(number));
            let running = [*reduce, others[0], others[1]].map(|id| (id, AttemptState::Running));
            bench.next(at, &running);
        }
        assert!(bench.has_failed(map));
    }
    assert!(
        bench
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Job(JobId(0), JobFact::Ended(Outcome::Failed))))
    );
}

#[test]
fn a_job_keeps_the_hosts_that_its_splits_had_when_it_was_submitted() {
    let mut bench = bench(hadoop());
    let same_file = |id| {
        let input = job(0, 1, 0).input.clone();
        Arc::new(JobSpec { input, ..JobSpec::bare(id, 1, 0) })
    };
    let hosts = |bench: &Bench, id| {
        let mut hosts = Vec::new();
        bench.tracker.ledger.known(JobId(id)).locate(0, &mut hosts);
        hosts
    };
    bench.submit(same_file(0));
    let before = hosts(&bench, 0);
    assert_eq!(before.len(), 1);
    let mut files = Replicas::clone(&bench.tracker.ledger.files);
    files.dead.insert_mut(before[0]);
    bench.hear(ToJobTracker::Replicas(files.into())).submit(same_file(1));
    assert_eq!((hosts(&bench, 0), hosts(&bench, 1)), (before, vec![]));
}

#[test]
fn outputs_on_a_lost_disk_cannot_be_read_even_before_their_report() {
    let mut bench = bench(Hadoop { slow_start: Fraction::of(1.0), ..hadoop() });
    bench.submit(job(0, 2, 1));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    // When the disk is lost, the first map has ended; the second runs on and ends with a readable
    // output.
    bench.at(3).befall(ToMapOutputs::DiskLost(TrackerId(0)));
    bench.befall(ToMapOutputs::Spoilt(maps[0].into()));
    bench.at(4).end_maps(&maps);
    let reduce = bench.next(1, &[])[0];
    bench.next(1, &[(reduce, AttemptState::Running)]);
    let (_, missing) = bench.told();
    let [Missing { map, is_unreadable: true, is_lost: false, .. }] = missing[..] else {
        panic!("{missing:?}")
    };
    assert_eq!(map, maps[0]);
}

#[test]
fn maps_take_along_where_blocks_are_as_soon_as_something_has_befallen_a_node() {
    let mut bench = bench(hadoop());
    bench.everybody_joins().submit(job(0, 1, 0));
    let told = |directives: &[Directive]| {
        let launches = directives.iter().filter_map(|directive| match directive {
            Directive::Launch(launch) => Some(launch.files.clone()),
            _ => None,
        });
        launches.collect::<Vec<_>>()
    };
    let first = bench.at(9).beat_and_receive(0, &[]);
    assert!(matches!(told(&first)[..], [None]));
    let mut files = Replicas::clone(&bench.tracker.ledger.files);
    files.off.insert_mut(TrackerId(7));
    let files = Arc::new(files);
    bench.hear(ToJobTracker::Replicas(files.clone())).submit(job(1, 1, 0));
    let second = told(&bench.at(10).beat_and_receive(1, &[]));
    assert!(matches!(&second[..], [Some(now)] if Arc::ptr_eq(now, &files)));
}

#[test]
fn maps_whose_splits_tell_of_copies_made_later_take_along_where_blocks_are() {
    let mut bench = bench(hadoop());
    bench.everybody_joins();
    let usual = bench.tracker.ledger.files.clone();
    let mut files = Replicas::clone(&usual);
    files.dead.insert_mut(TrackerId(7));
    bench.hear(ToJobTracker::Replicas(files.into())).submit(job(0, 1, 0));
    bench.hear(ToJobTracker::Replicas(usual)).submit(job(1, 1, 0));
    let launched = bench.at(10).beat_and_receive(0, &[]);
    let told = launched.iter().filter_map(|directive| match directive {
        Directive::Launch(launch) => Some(launch.files.is_some()),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_machine_that_goes_before_its_tracker_has_joined_leaves_nothing_out_of_reach() {
    for (goes_before, missing) in [(true, 0), (false, 2)] {
        let mut bench = bench(Hadoop { slow_start: Fraction::of(1.0), ..hadoop() });
        let gone = || ToMapOutputs::Darkness(TrackerId(0));
        if goes_before {
            bench.befall(gone());
        }
        bench.submit(job(0, 2, 1));
        let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
        if !goes_before {
            bench.befall(gone());
        }
        bench.at(4).end_maps(&maps);
        let reduce = bench.next(1, &[])[0];
        bench.next(1, &[(reduce, AttemptState::Running)]);
        assert_eq!(bench.told().1.len(), missing);
    }
}

#[test]
fn an_answer_is_about_the_maps_that_the_reply_counts() {
    let (mut bench, maps, reduces) = fetching();
    let runs = (reduces[0], AttemptState::Running);
    bench.next(1, &[runs]);
    let old = bench.replies.last().unwrap().clone();
    // The first output has been lost since the reply: the trackers cannot fetch it, though the
    // reply counts it.
    for (reduce, at) in reduces.iter().zip(1..) {
        bench.complain(at, *reduce, maps[0]);
    }
    bench.next(1, &[runs]);
    let (done, lost) = bench.told();
    assert_eq!((done, lost[0].map, lost[0].is_lost), (vec![1], maps[0], true));
    bench.replies.push(old);
    let (done, missing) = bench.told();
    assert_eq!((done, missing.len()), (vec![2], 1));
    assert_eq!((missing[0].map, missing[0].is_lost), (maps[0], false));
}

#[test]
fn a_node_cut_off_twice_is_so_until_the_last_cut_is_over() {
    let mut bench = bench(hadoop());
    let cut = |from: u64, until: u64, nodes: &[u32]| {
        let [from, until] = [from, until].map(|secs| SimTime::from_micros(secs * 1_000_000));
        Arc::new(NetworkCut { from, until, nodes: nodes.iter().copied().map(TrackerId).collect() })
    };
    // The second and the third cut end at the same time; one of their messages is the last.
    let cuts = [cut(10, 30, &[0]), cut(20, 40, &[0, 1]), cut(25, 40, &[0])];
    for (now, cut) in [(10, 0), (20, 1), (25, 2), (30, 0), (40, 1), (40, 2)] {
        bench.at(now).befall(ToMapOutputs::Cut(cuts[cut].clone()));
    }
    let told = bench.facts.iter().filter_map(|fact| match fact {
        Fact::World(WorldFact::Incident { tracker: Some(node), incident }) => {
            Some((node.0, *incident))
        }
        _ => None,
    });
    let (off, on) = (Incident::CutOff, Incident::Reconnected);
    assert_eq!(told.collect::<Vec<_>>(), [(0, off), (1, off), (1, on), (0, on)]);
}

#[test]
fn a_job_that_is_over_keeps_nothing_of_where_its_blocks_were() {
    let mut bench = bench(hadoop());
    let files = Arc::new(Replicas::clone(&bench.tracker.ledger.files));
    bench.hear(ToJobTracker::Replicas(files.clone())).submit(job(0, 1, 0));
    let usual = Arc::new(Replicas::clone(&files));
    bench.hear(ToJobTracker::Replicas(usual));
    assert_eq!(Arc::strong_count(&files), 2, "the job has it in its splits");
    bench.hear(ToJobTracker::KillJob(JobId(0)));
    assert_eq!(Arc::strong_count(&files), 1);
}
