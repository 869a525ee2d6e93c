//! Nodes that are slow for a while.

use super::*;

#[test]
fn a_slow_node_stretches_what_is_left_from_that_instant_on() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    // A second of start-up; then ten seconds of work: four seconds at full speed, four at half the
    // speed, and four at full speed again.
    bench.beat_until(secs(5), None).slow(0.5, 1.0);
    bench.beat_until(secs(6), None);
    assert_eq!(bench.report(map(0)).unwrap().progress, 0.45);
    bench.beat_until(secs(9), None).slow(1.0, 1.0);
    bench.beat_until(secs(20), None);
    assert_eq!(bench.end(map(0)), Some((secs(13), Outcome::Succeeded)));
}

#[test]
fn an_attempt_on_a_slow_node_is_slow_from_its_start() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    bench.slow(0.5, 1.0);
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.beat_until(secs(30), None);
    assert_eq!(bench.end(map(0)), Some((secs(22), Outcome::Succeeded)));
}

#[test]
fn a_slow_connection_stretches_fetching_alone() {
    let mut bench = tracker(|hadoop| hadoop.commit_pending = CommitPending::None);
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    // The heartbeat of 6 s reports that all maps have ended. Of four seconds of fetching three are
    // done at 9 s, and the last takes four.
    bench.beat_until(secs(9), Some(secs(6))).slow(1.0, 0.25);
    bench.beat_until(secs(40), Some(secs(6)));
    assert_eq!(bench.end(reduce(0)), Some((secs(13 + 1 + 5), Outcome::Succeeded)));
}

#[test]
fn a_reduce_whose_node_gets_slow_before_it_fetches_fetches_slowly() {
    let mut bench = tracker(|hadoop| {
        hadoop.commit_pending = CommitPending::None;
        hadoop.start_up = Dist::Constant(SimSpan::from_secs(5));
    });
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.beat_until(secs(2), Some(secs(3))).slow(1.0, 0.25);
    bench.beat_until(secs(60), Some(secs(3)));
    // Four seconds of fetching take sixteen, after five of start-up.
    assert_eq!(bench.end(reduce(0)), Some((secs(5 + 16 + 1 + 5), Outcome::Succeeded)));
}

#[test]
fn a_stopped_attempt_goes_on_at_the_speed_that_its_node_has_then() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3)).reply(vec![Directive::Suspend(map(0))]);
    bench.until(secs(4)).slow(0.5, 0.5);
    bench.until(secs(6)).reply(vec![Directive::Resume(map(0))]);
    bench.beat_until(secs(40), None);
    // Two of the ten seconds were done.
    assert_eq!(bench.end(map(0)), Some((secs(6 + 16), Outcome::Succeeded)));
}

#[test]
fn swapping_goes_at_the_pace_of_the_disk_and_starting_up_at_that_of_the_cores() {
    for (cpu, disk, start_up) in [(1.0, 1.0, 11), (0.5, 1.0, 12), (1.0, 0.5, 21)] {
        let mut bench = tracker(|_| {});
        bench.reduces = 1;
        // A thousand megabytes, at 100 a second.
        let size = Bytes::new(1_000_000_000);
        let node = Node { memory: size, ..bench.tracker.node.clone() };
        bench.tracker.memory = Memory::new(&node);
        let large = |attempt| {
            let mut job = (*job(1)).clone();
            job.memory.map = size;
            Directive::Launch(LaunchOrder::work(attempt, Arc::new(job)))
        };
        let speeds = Speeds { cpu, disk, ..Speeds::USUAL };
        bench.hear(ToTracker::Speeds(Arc::new(speeds)));
        bench.until(secs(0)).reply(vec![large(map(0))]);
        bench.until(secs(3)).reply(vec![Directive::Suspend(map(0)), large(map(1))]);
        bench.beat_until(secs(60), None);
        let started = bench.facts.iter().find_map(|fact| match fact {
            Fact::Attempt(attempt, _, AttemptFact::Ended { phases, .. }) if *attempt == map(1) => {
                Some(phases.start_up)
            }
            _ => None,
        });
        assert_eq!(started, Some(SimSpan::from_secs(start_up)), "cpu {cpu}, disk {disk}");
    }
}
