//! Heartbeats: served one after another, answered once, and the contents of a reply.

use super::*;
use crate::mapred::event::{JobFact, MemberFact};
use crate::mapred::hadoop::HadoopLine;

#[test]
fn a_free_slot_gets_a_map_and_the_reply_takes_the_time_of_serving() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 1, 0));
    let launched = launches(&bench.at(1).beat(0, &[]));
    assert_eq!(launched.len(), 1);
    let (_, _, took) = bench.replies[0];
    assert_eq!(took, SimSpan::from_millis(1 + 2));
}

#[test]
fn a_heartbeat_waits_while_another_is_served() {
    let mut bench = bench(hadoop());
    bench.at(1).beat(0, &[]);
    assert!(bench.beat(1, &[]).is_empty());
    assert_eq!(bench.replies.len(), 1, "the second waits in line");
    bench.now += SimSpan::from_millis(1);
    bench.hear(ToJobTracker::Serve(0));
    let (to, reply, _) = &bench.replies[1];
    assert_eq!((*to, reply.queued), (TrackerId(1), SimSpan::from_millis(1)));
}

/// A clock that is late by 1.5 ms does not make services longer: at that instant the second service
/// has ended, and the third is half done.
#[test]
fn a_jobtracker_that_hears_late_that_it_is_free_has_worked_since() {
    let mut bench = bench(hadoop());
    bench.at(1).beat(0, &[]);
    bench.beat(1, &[]);
    bench.beat(2, &[]);
    bench.now += SimSpan::from_micros(2_500);
    bench.hear(ToJobTracker::Serve(0));
    let took: Vec<u64> = bench.replies.iter().map(|(_, _, took)| took.as_micros()).collect();
    assert_eq!(took, [1_000, 0, 500]);
    // A heartbeat that arrives after both services finds the JobTracker free.
    bench.now += SimSpan::from_micros(500);
    bench.beat(3, &[]);
    assert_eq!(bench.replies[3].2, SimSpan::from_millis(1));
}

#[test]
fn a_call_that_is_sent_again_gets_the_same_answer_and_changes_nothing() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 8, 0));
    bench.at(1).beat_and_receive(0, &[]);
    let first = launches(&bench.at(4).beat(0, &[]));
    assert_eq!(first.len(), 2);
    let facts = bench.facts.len();
    let again = launches(&bench.at(5).send_again(0, &[]));
    assert_eq!(first, again);
    assert_eq!(bench.facts.len(), facts);
}

#[test]
fn where_no_call_comes_twice_answers_go_with_those_who_got_them() {
    for (may_hear_twice, kept) in [(true, 2), (false, 1)] {
        let options = JobTrackerOptions { may_hear_twice, ..JobTrackerOptions::default() };
        let mut bench = bench_with(options, Box::new(Greedy), hadoop());
        bench.at(1).beat(0, &[]);
        assert_eq!(Arc::strong_count(&bench.replies[0].1), kept);
    }
}

#[test]
fn a_first_contact_that_arrives_twice_registers_once() {
    let mut bench = bench(hadoop());
    bench.at(1).beat(0, &[]);
    bench.at(2).send_again(0, &[]);
    let joined =
        bench.facts.iter().filter(|fact| matches!(fact, Fact::Member(_, MemberFact::Joined)));
    assert_eq!(joined.count(), 1);
}

#[test]
fn an_unknown_tracker_is_told_to_start_anew() {
    let mut bench = bench(hadoop());
    bench.last[0] = Some(7);
    bench.at(1).beat(0, &[]);
    assert!(bench.replies[0].1.reinit);
}

#[test]
fn the_leave_to_commit_comes_with_the_reply_to_the_report() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 1, 0));
    let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
    let told = bench.at(4).beat_and_receive(0, &[(map, AttemptState::CommitPending)]);
    assert_eq!(commits(&told), [map]);
    bench.at(7).beat_and_receive(0, &[(map, AttemptState::Succeeded)]);
    let over = [ToInjector::JobEnded(JobId(0), Outcome::Succeeded)];
    assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
}

#[test]
fn while_an_attempt_commits_its_slot_is_offered_and_its_job_counts_it() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 3, 0));
    let first = launches(&bench.at(1).beat_and_receive(0, &[]));
    assert_eq!(first.len(), 2);
    let pending = first.iter().map(|a| (*a, AttemptState::CommitPending)).collect::<Vec<_>>();
    let next = launches(&bench.at(4).beat_and_receive(0, &pending));
    assert_eq!(next.len(), 1);
    let running = bench.facts.iter().rev().find_map(|fact| match fact {
        Fact::Ledger(_, _, LedgerFact::Assigned { counts, .. }) => Some(counts.running),
        _ => None,
    });
    assert_eq!(running, Some(3), "three run by the job's count, in two slots");
}

/// A policy that launches a map of the first job at every heartbeat, and suspends a running map if
/// no slot is free.
struct Pushy;

impl Scheduler for Pushy {
    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { full_trackers: true, ..PolicyNeeds::default() }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        let is_full = offer.free(SlotKind::Map) == 0;
        let launched = offer.launch_map(JobId(0), MapReach::Any, Reason::Other("pushy"));
        let launched = launched.expect("the job has maps for all").attempt;
        if is_full {
            let victim = offer.view().reports(offer.tracker())[0].attempt;
            assert!(offer.preempt(victim, Preemption::Suspend, launched));
        }
    }
}

#[test]
fn where_more_is_held_than_there_are_slots_one_may_be_taken_for_another() {
    let mut bench = bench_under(Box::new(Pushy), hadoop());
    bench.submit(job(0, 9, 0));
    let mut running = Vec::new();
    // The tracker has two slots, and ignores orders to suspend an attempt.
    for beat in 1..5 {
        let launched = launches(&bench.at(beat * 3).beat_and_receive(0, &running));
        assert_eq!(launched.len(), 1, "at heartbeat {beat}");
        running.push((launched[0], AttemptState::Running));
    }
}

#[test]
fn ticks_of_mumak_are_counted_from_the_start_and_come_after_the_heartbeats_of_their_instant() {
    let line = Hadoop { line: HadoopLine::Mumak, ..hadoop() };
    let mut bench = bench_under(Box::new(Ticking), line);
    bench.at(0).hear(ToJobTracker::Start);
    let ticks = |bench: &Bench| {
        let ticks = bench.own.iter().filter(|(_, msg)| matches!(msg, ToJobTracker::Tick));
        ticks.map(|(at, _)| at.as_millis()).collect::<Vec<_>>()
    };
    assert_eq!(ticks(&bench), [500]);
    bench.now = SimTime::from_micros(500_000);
    bench.own.clear();
    bench.hear(ToJobTracker::Tick);
    assert!(matches!(bench.own[..], [(at, ToJobTracker::Tock)] if at == bench.now));
    bench.own.clear();
    bench.hear(ToJobTracker::Tock);
    assert_eq!(ticks(&bench), [1_000]);
}

/// A policy with a tick twice a second, at which it does nothing.
struct Ticking;

impl Scheduler for Ticking {
    fn offer(&mut self, _: &mut Offer<'_>) {}

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { tick_every: Some(SimSpan::from_millis(500)), ..PolicyNeeds::default() }
    }
}

/// A policy that names its job this many times as held back.
struct NamesOften(u32);

impl Scheduler for NamesOften {
    fn withheld(&self, _: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        (0..self.0).for_each(|_| say(JobId(0), SlotKind::Map, Reason::JobLimit));
    }

    fn offer(&mut self, _: &mut Offer<'_>) {}
}

/// Heartbeats come every three seconds. With five hundred jobs the JobTracker asks the policy in
/// every fifth interval, with thousands of jobs within half a minute. Open refusals are emitted at
/// the end of the run.
#[test]
fn the_more_jobs_are_held_back_the_less_often_it_asks_for_them() {
    for (jobs, asked) in [(99, 40), (250, 20), (500, 8), (9_000, 4)] {
        let refusals = NotedRefusals::Emitted;
        let options = JobTrackerOptions { refusals, ..JobTrackerOptions::default() };
        let mut bench = bench_with(options, Box::new(NamesOften(jobs)), hadoop());
        bench.submit(job(0, 9, 0));
        for beat in 0..40 {
            bench.at(beat * 3).beat_and_receive(0, &[]);
        }
        let is_told = |fact: &Fact| matches!(fact, Fact::Job(_, JobFact::Refused { .. }));
        assert!(!bench.facts.iter().any(is_told), "one row after the other");
        bench.hear(ToJobTracker::Over);
        let rows = bench.facts.iter().filter_map(|fact| match fact {
            Fact::Job(_, JobFact::Refused { times, reason: Reason::JobLimit, .. }) => Some(*times),
            _ => None,
        });
        assert_eq!(rows.collect::<Vec<_>>(), [jobs * asked], "{jobs} jobs");
    }
}
