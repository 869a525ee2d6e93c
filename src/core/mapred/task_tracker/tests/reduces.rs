//! The outputs that reduces fetch, and those that they cannot fetch.

use super::*;
use crate::mapred::hadoop::HadoopLine;

#[test]
fn a_shuffle_ends_after_the_last_map_and_not_before() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let maps =
        |done| vec![MapsDone { job: JobId(0), done, total: 4, changes: 0, over_at: SimTime::ZERO }];
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    // Half of the output is available; it is fetched in two seconds, then the reduce waits.
    bench.until(secs(3));
    assert!(bench.report(reduce(0)).unwrap().wants_maps);
    bench.reply_with(vec![], maps(2));
    bench.until(secs(30));
    assert_eq!(bench.report(reduce(0)).unwrap().phase, AttemptPhase::Shuffle);
    // The other half takes two more seconds; then come one second of merging and five of reducing.
    bench.reply_with(vec![], maps(4));
    bench.until(secs(33));
    assert_eq!(bench.report(reduce(0)).unwrap().phase, AttemptPhase::Sort);
    bench.reply(vec![]);
    bench.until(secs(36)).reply(vec![]);
    bench.until(secs(39));
    assert_eq!(bench.state(reduce(0)), Some(AttemptState::CommitPending));
}

/// The map ends at 11 s.
#[test]
fn a_heartbeat_out_of_turn_does_not_ask_again_how_far_maps_are() {
    for (out_of_band, beats, asked) in [
        (true, [3, 6, 9, 11, 14], [true, true, true, false, true]),
        (false, [3, 6, 9, 12, 15], [true; 5]),
    ] {
        let mut bench = tracker(|hadoop| hadoop.out_of_band = out_of_band);
        bench.reduces = 1;
        let maps =
            MapsDone { job: JobId(0), done: 0, total: 4, changes: 0, over_at: SimTime::ZERO };
        let launches = [map(0), reduce(0)].map(|attempt| bench.launch(attempt)).to_vec();
        bench.until(secs(0)).reply_with(launches, vec![maps]);
        let asks = beats.map(|beat| {
            let sent = bench.statuses.len();
            bench.until(secs(beat));
            assert_eq!(bench.statuses.len(), sent + 1, "at {beat} s");
            let asks = bench.report(reduce(0)).unwrap().wants_maps;
            bench.reply_with(vec![], asks.then_some(maps).into_iter().collect());
            asks
        });
        assert_eq!(asks, asked, "out of band: {out_of_band}");
    }
}

/// Answers heartbeats every three seconds in a range: `done` of four maps have ended.
fn answer(bench: &mut Bench, seconds: std::ops::RangeInclusive<u64>, done: u32) {
    for second in seconds.step_by(3) {
        bench.until(secs(second));
        bench.reply_with(
            vec![],
            vec![MapsDone { job: JobId(0), done, total: 4, changes: 0, over_at: SimTime::ZERO }],
        );
    }
}

fn missing(index: u32, is_lost: bool) -> Missing {
    Missing { map: map(index), at: TrackerId(7), order: index, is_lost, is_unreadable: false }
}

#[test]
fn a_reduce_does_without_outputs_that_it_has_and_waits_for_the_others() {
    for (order, ends) in [(1, true), (2, false)] {
        let mut bench = tracker(|_| {});
        bench.reduces = 1;
        let launch = bench.launch(reduce(0));
        bench.until(secs(0)).reply(vec![launch]);
        // It fetches the outputs of two maps in two seconds.
        answer(&mut bench, 3..=9, 2);
        bench.missing = vec![missing(order, false)];
        answer(&mut bench, 12..=30, 4);
        let phase = bench.report(reduce(0)).map(|report| report.phase);
        assert_eq!(phase == Some(AttemptPhase::Shuffle), !ends, "{order}: {phase:?}");
        // The map of the missing output runs again, and ends after 36 s.
        bench.missing = vec![missing(order, true)];
        answer(&mut bench, 33..=36, 3);
        bench.missing.clear();
        answer(&mut bench, 39..=60, 4);
        assert!(bench.report(reduce(0)).is_none_or(|report| report.phase != AttemptPhase::Shuffle));
    }
}

#[test]
fn a_tracker_that_asks_what_is_missing_goes_on_with_the_answer() {
    let manner = HeartbeatManner { asks_outputs: true, ..HeartbeatManner::default() };
    let mut bench = tracker_of(|_| {}, Vec::new(), manner);
    bench.reduces = 1;
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    // While no reply counts maps, the tracker asks nothing. A reduce that has not started does not
    // complain.
    assert!(bench.asked.is_empty());
    let answer = |bench: &mut Bench, call, missing: &[Missing]| {
        let missing = Arc::new(missing.to_vec());
        bench.hear(ToTracker::OutOfReach { call, works: true, missing });
    };
    let known = |bench: &Bench| bench.own.iter().any(|(_, msg)| matches!(msg, ToTracker::Beat(_)));
    bench.until(secs(3));
    bench.reply_with(
        vec![],
        vec![MapsDone { job: JobId(0), done: 4, total: 4, changes: 0, over_at: SimTime::ZERO }],
    );
    assert_eq!(bench.asked, [true]);
    let call = bench.call.number;
    answer(&mut bench, call - 1, &[]);
    assert!(!known(&bench), "the answer was about another reply");
    answer(&mut bench, call, &[missing(3, false)]);
    assert!(known(&bench));
    bench.until(secs(30)).reply(vec![]);
    assert_eq!(bench.report(reduce(0)).unwrap().phase, AttemptPhase::Shuffle, "it misses one");
    bench.until(secs(33));
    bench.reply_with(
        vec![],
        vec![MapsDone { job: JobId(0), done: 4, total: 4, changes: 0, over_at: SimTime::ZERO }],
    );
    let call = bench.call.number;
    bench.hear(ToTracker::PowerOff);
    answer(&mut bench, call, &[]);
    assert!(!known(&bench), "its machine is off");
}

#[test]
fn attempts_an_answer_ends_call_for_no_heartbeat_before_the_answer_is_known() {
    let manner = HeartbeatManner { asks_outputs: true, ..HeartbeatManner::default() };
    let mut bench = tracker_of(|hadoop| hadoop.out_of_band = true, Vec::new(), manner);
    bench.reduces = 1;
    let launches = [map(0), reduce(0)].map(|attempt| bench.launch(attempt)).to_vec();
    bench.until(secs(0)).reply(launches);
    bench.until(secs(3));
    let maps =
        vec![MapsDone { job: JobId(0), done: 0, total: 4, changes: 0, over_at: SimTime::ZERO }];
    bench.reply_with(vec![Directive::Kill(map(0))], maps);
    let (call, missing) = (bench.call.number, Arc::default());
    let beats = |bench: &Bench| {
        bench.own.iter().filter(|(_, msg)| matches!(msg, ToTracker::Beat(_))).count()
    };
    assert_eq!((bench.asked.len(), beats(&bench)), (1, 0));
    bench.hear(ToTracker::OutOfReach { call, works: true, missing });
    assert_eq!(beats(&bench), 1);
}

#[test]
fn a_reduce_complains_after_seven_minutes_until_the_heartbeat_is_answered() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.missing = vec![missing(3, false)];
    answer(&mut bench, 3..=417, 4);
    assert_eq!(bench.status().failed_fetches, []);
    bench.until(secs(420));
    // The first failure is at 3 s.
    assert_eq!(bench.status().failed_fetches, [FailedFetch { reduce: reduce(0), map: map(3) }]);
    answer(&mut bench, 420..=420, 4);
    bench.until(secs(423));
    assert_eq!(bench.status().failed_fetches, [], "the complaint is sent once");
    answer(&mut bench, 423..=87_300, 4);
    assert_eq!(bench.state(reduce(0)), None, "the reduce has given up and reported that");
    let complaints = bench
        .facts
        .iter()
        .filter(|fact| matches!(fact, Fact::Attempt(_, _, AttemptFact::FetchFailed { .. })));
    assert_eq!(complaints.count(), 3);
}

/// The three reduces share 600 MB (360, 180 and 60 MB) and reduce 1 MB a second. After half a
/// minute a policy divides time by progress, and so learns how long each reduce takes.
#[test]
fn a_reduce_tells_how_much_of_its_own_share_it_has_reduced() {
    for (index, seconds) in [(0, 360.0), (1, 180.0), (2, 60.0)] {
        let mut spec = JobSpec::clone(&job(3));
        let shares = [360, 180, 60].map(|megabytes| Bytes::new(megabytes * 1_000_000));
        spec.reduce.shuffle = TaskBytes::Each(shares.into());
        (spec.reduce.time, spec.reduce.rate) = (None, Some(Rate::from_mb_per_s(1)));
        let (attempt, job) = (reduce(index), Arc::new(spec));
        let mut bench = tracker(|_| {});
        let launch = match bench.launch(attempt) {
            Directive::Launch(launch) => Directive::Launch(LaunchOrder { job, ..launch }),
            other => other,
        };
        bench.until(secs(0)).reply(vec![launch]);
        bench.until(secs(3)).reply_with(
            vec![],
            vec![MapsDone { job: JobId(0), done: 4, total: 4, changes: 0, over_at: SimTime::ZERO }],
        );
        for beat in 2..12 {
            bench.until(secs(3 * beat)).reply(vec![]);
        }
        // It has fetched from 3 to 7 s, and merged until 8 s.
        bench.until(secs(36));
        let Report { phase, worked, progress, .. } = bench.report(attempt).unwrap();
        assert_eq!((phase, worked), (AttemptPhase::Reduce, SimSpan::from_secs(28)));
        let told = worked.as_secs_f64() / (3.0 * f64::from(progress) - 2.0);
        assert!((told - seconds).abs() < 0.01, "reduce {index}: {told}");
    }
}

#[test]
fn in_mumak_a_reduce_is_let_go_by_a_heartbeat_that_has_reported_it() {
    for (line, waits) in [(HadoopLine::Mumak, true), (HadoopLine::V020, false)] {
        let mut bench = tracker(|hadoop| {
            hadoop.line = line;
            hadoop.commit_pending = CommitPending::None;
        });
        bench.reduces = 1;
        let launch = bench.launch(reduce(0));
        let all =
            vec![MapsDone { job: JobId(0), done: 4, total: 4, changes: 0, over_at: SimTime::ZERO }];
        bench.until(secs(0)).reply_with(vec![launch], all);
        bench.until(secs(3)).reply(vec![]);
        // It starts for a second and fetches for four.
        bench.until(secs(6));
        assert_eq!(
            bench.report(reduce(0)).unwrap().phase == AttemptPhase::Shuffle,
            waits,
            "{line}"
        );
    }
}

#[test]
fn an_attempt_that_gives_up_as_a_heartbeat_is_written_calls_for_no_second_one() {
    let mut bench = tracker(|hadoop| hadoop.out_of_band = true);
    bench.reduces = 1;
    bench.missing = vec![missing(0, false)];
    let launch = bench.launch(reduce(0));
    let there =
        vec![MapsDone { job: JobId(0), done: 4, total: 4, changes: 0, over_at: SimTime::ZERO }];
    bench.until(secs(0)).reply_with(vec![launch], there.clone());
    // It gives up after a day: thirty pauses, each 1.3 times as long as the one before.
    for _ in 0..100_000 {
        let next = bench.own.iter().map(|(at, _)| *at).min().unwrap();
        let (before, ended) = (bench.statuses.len(), bench.ends.len());
        bench.until(next);
        let sent = bench.statuses.len() - before;
        assert!(sent <= 1, "{sent} heartbeats at {next}");
        if ended < bench.ends.len() {
            return;
        }
        if sent == 1 {
            bench.reply_with(vec![], there.clone());
        }
    }
    panic!("the reduce does not give up");
}

/// Returns when the shuffle of a reduce ends that starts at 0 s, with start-up at 1 s, if its
/// tracker learns at these instants how many of four maps have ended.
fn shuffled(change: impl FnOnce(&mut Hadoop), fetch: SimSpan, known: &[(u64, u32)]) -> SimSpan {
    let mut spec = JobSpec::clone(&job(1));
    spec.reduce.shuffle_time = Some(fetch.into());
    let mut bench = tracker(|hadoop| {
        hadoop.copier_sleep = SimSpan::from_secs(5);
        change(hadoop);
    });
    bench.reduces = 1;
    let launch = match bench.launch(reduce(0)) {
        Directive::Launch(launch) => {
            Directive::Launch(LaunchOrder { job: Arc::new(spec), ..launch })
        }
        other => other,
    };
    bench.until(secs(0)).reply(vec![launch]);
    for beat in 1..40 {
        bench.until(secs(3 * beat));
        let done = known.iter().rfind(|(at, _)| *at <= 3 * beat).map_or(0, |(_, done)| *done);
        bench.reply_with(
            vec![],
            vec![MapsDone { job: JobId(0), done, total: 4, changes: 0, over_at: SimTime::ZERO }],
        );
    }
    let phases = bench.facts.iter().find_map(|fact| match fact {
        Fact::Attempt(_, _, AttemptFact::Ended { phases, .. }) => Some(phases.shuffle),
        _ => None,
    });
    // The commit is never permitted, so the tracker still runs the attempt.
    phases.unwrap_or_else(|| {
        let kill = vec![Directive::Kill(reduce(0))];
        bench.until(secs(120)).reply(kill);
        bench
            .facts
            .iter()
            .find_map(|fact| match fact {
                Fact::Attempt(_, _, AttemptFact::Ended { phases, .. }) => Some(phases.shuffle),
                _ => None,
            })
            .expect("it has been killed")
    })
}

#[test]
fn a_reduce_sleeps_five_seconds_whenever_it_knows_of_no_output() {
    let secs = SimSpan::from_secs;
    let millis = SimSpan::from_millis;
    // Its shuffle begins at 1 s. It looks for outputs at 6, 11, 16, … s as long as it knows of none.
    // It ends with the next question for outputs, which it asks every second.
    for (known, ends) in [
        (&[(3, 4)][..], secs(6 + 1)),
        // It learns of the last map at 6 s, as it wakes, which is too late.
        (&[(6, 4)][..], secs(11 + 1)),
        (&[(9, 4)][..], secs(11 + 1)),
        // It fetches at 6 s for no time at all, sleeps, and so on.
        (&[(3, 2), (9, 3), (12, 4)][..], secs(16 + 1)),
    ] {
        assert_eq!(shuffled(|_| {}, SimSpan::ZERO, known) + secs(1), ends, "{known:?}");
    }
    // Outputs that it learns of while it fetches are fetched at once: from 6 s on 2 s for each.
    assert_eq!(shuffled(|_| {}, secs(8), &[(3, 1), (6, 4)]) + secs(1), secs(6 + 8 + 1));
    // It has fetched one output at 6.5 s, and wakes at 11.5 s for the others, which take 1.5 s.
    assert_eq!(shuffled(|_| {}, secs(2), &[(3, 1), (9, 4)]) + secs(1), secs(14));
    assert_eq!(shuffled(|_| {}, millis(1_800), &[(3, 1), (9, 4)]) + secs(1), secs(13));
    // Without sleep it fetches each output as soon as it knows of it, and ends at once.
    let awake = |hadoop: &mut Hadoop| hadoop.copier_sleep = SimSpan::ZERO;
    assert_eq!(shuffled(awake, secs(2), &[(3, 1), (9, 4)]) + secs(1), millis(10_500));
    // If it learns of each output at once, it sleeps, but asks no last question.
    let at_once = |hadoop: &mut Hadoop| hadoop.poll = SimSpan::ZERO;
    assert_eq!(shuffled(at_once, secs(2), &[(3, 4)]) + secs(1), secs(6 + 2));
}

/// Returns when a reduce of a trace ends its shuffle, in seconds, if all maps have ended at `over`
/// and the reduce is launched at `at`. Its shuffle takes 6 s after the last map.
fn logged_shuffle(line: HadoopLine, at: u64, over: u64) -> u64 {
    let traced = Some(Arc::new(crate::mapred::traced::Traced::sample()));
    let spec = Arc::new(JobSpec { traced, ..JobSpec::clone(&job(1)) });
    let mut bench = tracker(|hadoop| {
        hadoop.line = line;
        hadoop.copier_sleep = SimSpan::from_secs(5);
    });
    let launch = Directive::Launch(LaunchOrder::work(reduce(0), spec));
    for beat in (0..60).step_by(3) {
        bench.until(secs(beat));
        let (done, over_at) = if over <= beat { (4, secs(over)) } else { (3, SimTime::ZERO) };
        let maps = vec![MapsDone { job: JobId(0), done, total: 4, changes: 0, over_at }];
        bench.reply_with((beat == at).then(|| launch.clone()).into_iter().collect(), maps);
    }
    bench.until(secs(60)).reply(vec![Directive::Kill(reduce(0))]);
    let shuffled = bench.facts.iter().find_map(|fact| match fact {
        Fact::Attempt(_, _, AttemptFact::Ended { phases, .. }) => Some(phases.shuffle),
        _ => None,
    });
    at + shuffled.expect("it has been killed").as_micros() / 1_000_000
}

#[test]
fn a_logged_shuffle_goes_on_after_the_last_map_as_long_as_in_the_log() {
    // The last map ends at 10 s; the reduce hears of it at 12 s.
    assert_eq!(logged_shuffle(HadoopLine::V020, 0, 10), 16);
    assert_eq!(logged_shuffle(HadoopLine::V020, 12, 10), 18, "launched later, it needs it all");
    // Without waiting for the last map, three quarters of it are over by then.
    assert_eq!(logged_shuffle(HadoopLine::Mumak, 0, 10), 13, "as before");
}

#[test]
fn a_commit_asked_for_during_a_heartbeat_begins_with_its_answer() {
    for out_of_band in [true, false] {
        let mut bench = tracker(|hadoop| hadoop.out_of_band = out_of_band);
        let launch = bench.launch(map(0));
        bench.until(secs(0)).reply(vec![launch]);
        // The map ends at 11 s and asks then and every second. An out-of-band heartbeat reports that
        // at once; a regular one is sent at 12 s. Either is answered 0.3 s later.
        for beat in [3, 6, 9] {
            bench.until(secs(beat)).reply(vec![]);
        }
        let sent = secs(if out_of_band { 11 } else { 12 });
        bench.until(sent + SimSpan::from_millis(300)).reply(vec![Directive::Commit(map(0))]);
        bench.beat_until(secs(20), None);
        // A commit takes a second.
        assert_eq!(
            bench.end(map(0)),
            Some((sent + SimSpan::from_millis(1_300), Outcome::Succeeded))
        );
    }
}
