//! Trackers without news, which send brief heartbeats.

use super::failures::all;
use super::*;

/// A tracker that sends brief heartbeats when it can. Its first heartbeat is under way.
fn brief(change: impl FnOnce(&mut Hadoop)) -> Bench {
    brief_with(change, Vec::new())
}

/// A tracker as above, on which attempts fail or hang for these causes.
fn brief_with(change: impl FnOnce(&mut Hadoop), planned_failures: Vec<PlannedFailure>) -> Bench {
    let mut bench = tracker_with(change, planned_failures);
    bench.tracker.pulse.manner.is_brief = true;
    bench.until(secs(0));
    bench
}

impl Bench {
    /// Answers the heartbeat without orders.
    fn noted(&mut self) {
        let call = self.call.number;
        self.hear(ToTracker::Noted { call, queued: SimSpan::ZERO });
    }

    /// Sends the heartbeats up to an instant, all answered without orders; returns how many were
    /// full and how many brief.
    fn noted_until(&mut self, end: SimTime) -> (usize, u32) {
        let before = (self.statuses.len(), self.brief);
        while let Some(next) = self.own.iter().map(|(at, _)| *at).min().filter(|at| *at <= end) {
            let sent = self.call.number;
            self.until(next);
            if sent != self.call.number {
                self.noted();
            }
        }
        self.until(end);
        (self.statuses.len() - before.0, self.brief - before.1)
    }
}

#[test]
fn a_tracker_without_news_says_just_that() {
    let mut bench = brief(|_| {});
    bench.reply(vec![]);
    // The first heartbeat says that the process has just started, the second that it has not.
    assert_eq!(bench.noted_until(secs(3)), (1, 0));
    assert_eq!(bench.noted_until(secs(30)), (0, 9));
}

#[test]
fn a_brief_heartbeat_counts_the_answers_as_a_whole_one_does() {
    let mut bench = brief(|_| {});
    bench.reply(vec![]);
    bench.noted_until(secs(30));
    assert_eq!(
        bench.call.last_reply,
        Some(9),
        "the eleventh heartbeat names the tenth answer as the last"
    );
}

#[test]
fn a_launch_a_new_phase_and_the_end_are_told_in_full_and_once() {
    let mut bench = brief(|_| {});
    let launch = bench.launch(map(0));
    bench.reply(vec![launch]);
    // The map's process has started at 1 s, and works until 11 s.
    assert_eq!(bench.noted_until(secs(3)), (1, 0), "it runs");
    assert_eq!(bench.noted_until(secs(9)), (0, 2), "it goes on");
    assert_eq!(bench.noted_until(secs(12)), (1, 0), "it waits for its commit");
    assert_eq!(bench.state(map(0)), Some(AttemptState::CommitPending));
}

#[test]
fn how_far_an_attempt_is_only_those_tell_who_are_not_brief() {
    for (is_brief, told) in [(true, (0.0, secs(0))), (false, (0.5, secs(6)))] {
        let mut bench = brief(|hadoop| hadoop.progress_interval = SimSpan::ZERO);
        bench.tracker.pulse.manner.is_brief = is_brief;
        let launch = bench.launch(map(0));
        bench.reply(vec![launch]);
        bench.noted_until(secs(3));
        // The node becomes unhealthy, so the next heartbeat is a full one.
        bench.hear(ToTracker::Health(false));
        bench.noted_until(secs(6));
        let Report { progress, ran, state, .. } = bench.report(map(0)).unwrap();
        assert_eq!((progress, SimTime::ZERO + ran), told);
        assert_eq!(state, AttemptState::Running);
    }
}

#[test]
fn an_attempt_that_waits_for_its_commit_says_so_with_each_heartbeat() {
    let mut bench = brief(|_| {});
    let launch = bench.launch(map(0));
    bench.reply(vec![launch]);
    bench.noted_until(secs(12));
    assert_eq!(bench.noted_until(secs(21)), (3, 0));
}

#[test]
fn an_attempt_that_has_ended_is_gone_from_the_next_whole_heartbeat() {
    let mut bench = brief(|_| {});
    let launch = bench.launch(map(0));
    bench.reply(vec![launch]);
    bench.noted_until(secs(9));
    bench.until(secs(12)).reply(vec![Directive::Commit(map(0))]);
    bench.noted_until(secs(15));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Succeeded));
    assert_eq!(bench.noted_until(secs(18)), (1, 0));
    assert_eq!(bench.state(map(0)), None);
    assert_eq!(bench.noted_until(secs(30)), (0, 4));
}

#[test]
fn a_reduce_that_fetches_asks_with_each_heartbeat() {
    let mut bench = brief(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(reduce(0));
    bench.reply(vec![launch]);
    assert_eq!(bench.noted_until(secs(30)), (10, 0));
}

#[test]
fn an_attempt_that_hangs_is_given_up_by_a_brief_tracker_too() {
    let timeout = |hadoop: &mut Hadoop| hadoop.task_timeout = SimSpan::from_secs(60);
    let mut bench = brief_with(timeout, all(FailureKind::Hang, 0.5));
    let launch = bench.launch(map(0));
    bench.reply(vec![launch]);
    bench.noted_until(secs(120));
    assert_eq!(bench.end(map(0)).map(|(_, outcome)| outcome), Some(Outcome::Failed));
}

#[test]
fn a_sick_node_is_told_of_in_full() {
    let mut bench = brief(|_| {});
    bench.reply(vec![]);
    bench.noted_until(secs(9));
    bench.hear(ToTracker::Health(false));
    assert_eq!(bench.noted_until(secs(15)), (1, 1));
    assert!(bench.status().is_unhealthy);
}

#[test]
fn a_brief_heartbeat_that_is_lost_is_sent_again_as_it_was() {
    let mut bench = brief(|_| {});
    bench.tracker.pulse.manner.resends = true;
    bench.reply(vec![]);
    bench.noted_until(secs(3));
    bench.until(secs(6));
    let (call, whole) = (bench.call, bench.statuses.len());
    // A change meanwhile is for the next heartbeat.
    bench.hear(ToTracker::Health(false));
    bench.hear(ToTracker::NoReply(call.number));
    assert_eq!((bench.call, bench.brief, bench.statuses.len()), (call, 2, whole));
}
