//! A correct run that passes, and for each invariant a run that breaks it.

mod blocks;

use proptest::prelude::*;

use super::*;
use crate::record::tests::stream::{Stream, again, map, reduce};
use AttemptState::{CommitPending, Failed, Killed, KilledUnclean, Running, Succeeded, Suspended};
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::cluster::{CountedResources, FileId, Node, Placement, Topology};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, AttemptState, Block, Incident, Input, JobId, JobSpec, Order, Outcome,
    PerSlot, PhaseTimes, Reason, Role, Split, TaskId, TaskKind, TrackerFact, TrackerId,
};

/// Returns the violations in a stream, whose jobs need not have ended.
fn found(stream: Stream) -> String {
    verdict(stream, VerifierRules { cut_off: true, ..VerifierRules::default() })
}

fn verdict(stream: Stream, rules: VerifierRules) -> String {
    let mut verifier = Verifier::new(rules);
    stream.events.iter().for_each(|event| verifier.check(event));
    let stop = if rules.cut_off { StopReason::TimeUp } else { StopReason::Done };
    verifier.check_end(stream.now, &stop);
    let lines: Vec<_> = verifier.violations().iter().map(Violation::to_string).collect();
    lines.join("\n")
}

/// Two trackers with two map slots and a reduce slot each, and a job of two maps and a reduce.
fn cluster() -> Stream {
    Stream::default().up(0, 2, 1).up(1, 2, 1).submit(JobSpec::bare(0, 2, 1))
}

/// The stream of `cluster`, with the first map running on the first tracker.
fn one_map() -> Stream {
    cluster().assign(map(0, 0), 0, (1, 1)).at(1_000).start(map(0, 0), 0)
}

trait Whole {
    /// Adds an attempt, from its assignment until the JobTracker learns of its success.
    fn whole(self, attempt: AttemptId, tracker: u32) -> Self;
}

impl Whole for Stream {
    fn whole(self, attempt: AttemptId, tracker: u32) -> Self {
        self.assign(attempt, tracker, (1, 0))
            .start(attempt, tracker)
            .end(attempt, tracker, Outcome::Succeeded)
            .learn(attempt, tracker, Succeeded, (0, 0))
    }
}

/// A run with many kinds of facts: a removed output of an attempt, a lost map, a suspension, a
/// blacklisted tracker.
fn eventful() -> Stream {
    let last = reduce(0, 0);
    let phases = PhaseTimes::default();
    let committed = PhaseTimes { commit: Some(SimSpan::from_secs(1)), ..phases };
    let (outcome, role, cleaner) = (Outcome::Killed, Role::TaskCleanup, TrackerId(1));
    one_map()
        .at(2_000)
        .learn(map(0, 0), 0, Running, (1, 1))
        .end(map(0, 0), 0, Outcome::Killed)
        .learn(map(0, 0), 0, KilledUnclean, (1, 1))
        .grant(map(0, 0), 1, (1, 1), |grant| grant.role = role)
        .fact(Fact::Attempt(map(0, 0), cleaner, AttemptFact::Started { role, slots: 1 }))
        // The JobTracker declares the tracker lost, but the tracker goes on.
        .grant(map(0, 0), 0, (1, 1), |grant| grant.role = role)
        .fact(Fact::Attempt(map(0, 0), TrackerId(0), AttemptFact::Started { role, slots: 1 }))
        .fact(Fact::Attempt(map(0, 0), cleaner, AttemptFact::Ended { role, outcome, phases }))
        .fact(Fact::Attempt(map(0, 0), TrackerId(0), AttemptFact::Ended { role, outcome, phases }))
        .learn(map(0, 0), 0, Killed, (0, 2))
        .whole(map(0, 1), 0)
        // The map's output is lost with the tracker, which comes back.
        .fact(Fact::Tracker(TrackerId(0), TrackerFact::Down))
        .fact(Fact::Member(TrackerId(0), MemberFact::Lost))
        .learn(map(0, 1), 0, Killed, (0, 2))
        .up(0, 2, 1)
        .fact(Fact::Member(TrackerId(0), MemberFact::Blacklisted))
        .whole(again(map(0, 0)), 1)
        .fact(Fact::Member(TrackerId(0), MemberFact::Forgiven))
        .whole(again(map(0, 1)), 0)
        .fact(Fact::Job(JobId(0), JobFact::MapsDone))
        .at(3_000)
        .assign(last, 1, (1, 0))
        .start(last, 1)
        .learn(last, 1, Running, (1, 0))
        .suspend(last, 1)
        .learn(last, 1, Suspended, (1, 0))
        .resume(last, 1)
        .learn(last, 1, Running, (1, 0))
        .fact(Fact::Attempt(last, TrackerId(1), AttemptFact::CommitPending))
        .learn(last, 1, CommitPending, (1, 0))
        .end_after(last, 1, Outcome::Succeeded, committed)
        .heartbeat(1, 2_000, 1_000)
        .learn(last, 1, Succeeded, (0, 0))
        .job_ended(0, Outcome::Succeeded)
}

#[test]
fn a_clean_run_passes() {
    assert_eq!(verdict(eventful(), VerifierRules::default()), "");
}

proptest! {
    /// The checker finds breaches, but must not panic.
    #[test]
    fn a_stream_in_any_order_is_checked_to_its_end(
        events in Just(eventful().events).prop_shuffle()
    ) {
        prop_assert_ne!(found(Stream { events, ..Stream::default() }), "");
    }
}

/// The checker notices each dropped fact except the listed facts, on which no later fact depends.
#[test]
fn a_fact_that_is_dropped_is_missed() {
    let mut blind = Vec::new();
    for index in 0..eventful().events.len() {
        let mut stream = eventful();
        let Event { fact, .. } = stream.events.remove(index);
        if verdict(stream, VerifierRules::default()).is_empty() {
            blind.push(brief(&fact));
        }
    }
    insta::assert_snapshot!(blind.join("\n"), @r"
    job 0 map 0 attempt 0 learned to be Running
    job 0 map 0 attempt 0 started its TaskCleanup
    job 0 map 0 attempt 0 started its TaskCleanup
    job 0 map 0 attempt 0 ended its TaskCleanup
    job 0 map 1 attempt 0 learned to be Succeeded
    MapsDone
    job 0 reduce 0 attempt 0 learned to be Running
    job 0 reduce 0 attempt 0 learned to be Running
    Heartbeat
    ");
}

fn brief(fact: &Fact) -> String {
    match fact {
        Fact::Ledger(attempt, _, LedgerFact::Learned { state, .. }) => {
            format!("{attempt} learned to be {state:?}")
        }
        Fact::Attempt(attempt, _, AttemptFact::Started { role, .. }) => {
            format!("{attempt} started its {role:?}")
        }
        Fact::Attempt(attempt, _, AttemptFact::Ended { role, .. }) => {
            format!("{attempt} ended its {role:?}")
        }
        Fact::Job(_, JobFact::MapsDone) => "MapsDone".to_owned(),
        Fact::Tracker(_, TrackerFact::Heartbeat { .. }) => "Heartbeat".to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_job_may_succeed_without_some_tasks_where_that_is_allowed() {
    let stream = cluster().whole(map(0, 0), 0).whole(reduce(0, 0), 0);
    let stream =
        stream.fact(Fact::Job(JobId(0), JobFact::MapsDone)).job_ended(0, Outcome::Succeeded);
    assert_eq!(
        verdict(stream, VerifierRules { failed_tasks: true, ..VerifierRules::default() }),
        ""
    );
}

#[test]
fn a_race_has_one_winner_and_a_killed_loser() {
    let other = again(map(0, 0));
    let stream = one_map()
        .grant(other, 1, (2, 1), |grant| grant.speculative = true)
        .start(other, 1)
        .end(map(0, 0), 0, Outcome::Succeeded)
        .end(other, 1, Outcome::Succeeded)
        .learn(other, 1, Succeeded, (1, 1))
        .learn(map(0, 0), 0, Killed, (0, 1));
    assert_eq!(found(stream), "");
}

/// A second attempt of the first map runs beside the first attempt, on the other tracker.
fn race() -> Stream {
    let other = again(map(0, 0));
    one_map().grant(other, 1, (2, 1), |grant| grant.speculative = true).start(other, 1)
}

#[test]
fn a_loser_may_run_until_its_trackers_next_reply() {
    let won = race().end(again(map(0, 0)), 1, Outcome::Succeeded).learn(
        again(map(0, 0)),
        1,
        Succeeded,
        (1, 1),
    );
    let late = won.heartbeat(0, 1, 0).heartbeat(0, 1, 0);
    assert_eq!(found(late.end(map(0, 0), 0, Outcome::Killed)), "", "a reply was on its way");
}

#[test]
fn a_loser_that_is_forgotten_is_found() {
    let won = race().end(again(map(0, 0)), 1, Outcome::Succeeded).learn(
        again(map(0, 0)),
        1,
        Succeeded,
        (1, 1),
    );
    let late = won.heartbeat(0, 1, 0).heartbeat(0, 1, 0).heartbeat(0, 1, 0);
    assert_eq!(
        found(late),
        "at 1 s: job 0 map 0 attempt 0 on node-1 has lost against another attempt of the task, and \
         was not ended"
    );
}

#[test]
fn a_second_attempt_beside_the_first_on_its_node_is_found() {
    let other = again(map(0, 0));
    assert_eq!(
        found(one_map().grant(other, 0, (2, 1), |grant| grant.speculative = true)),
        "at 1 s: job 0 map 0 attempt 1 was assigned to node-1, which has another attempt of the task"
    );
}

#[test]
fn a_second_attempt_beside_nobody_is_found() {
    assert_eq!(
        found(cluster().grant(map(0, 0), 0, (1, 1), |grant| grant.speculative = true)),
        "at 0 s: job 0 map 0 attempt 0 is marked speculative, but its task has no other unfinished attempt"
    );
}

#[test]
fn a_second_attempt_of_what_is_done_is_found() {
    let other = again(map(0, 0));
    let stream = cluster().whole(map(0, 0), 0).grant(other, 1, (1, 1), |_| {});
    assert_eq!(
        found(stream),
        "at 0 s: job 0 map 0 attempt 1 was assigned though the task had succeeded"
    );
}

#[test]
fn a_wrong_count_of_what_waits_is_found() {
    assert_eq!(
        found(cluster().assign(map(0, 0), 0, (1, 2))),
        "at 0 s: job 0 is counted to have 2 map tasks waiting after news of job 0 map 0 attempt 0, \
         but has 1"
    );
    let failed = one_map().end(map(0, 0), 0, Outcome::Failed).learn(map(0, 0), 0, Failed, (0, 1));
    let given_up =
        VerifierRules { cut_off: true, max_attempts: Some(1), ..VerifierRules::default() };
    assert_eq!(verdict(failed, given_up), "", "one task is given up");
}

#[test]
fn slot_time_that_does_not_add_up_is_found() {
    // The first map holds two slots for 2 s. The second map holds one slot for 3 s and is killed,
    // so its slot time is not useful.
    let stream = || {
        cluster()
            .assign(map(0, 0), 0, (1, 1))
            .start_in(2, map(0, 0), 0)
            .assign(map(0, 1), 1, (2, 0))
            .start(map(0, 1), 1)
            .at(2_000)
            .end(map(0, 0), 0, Outcome::Succeeded)
            .learn(map(0, 0), 0, Succeeded, (1, 0))
            .at(3_000)
            .end(map(0, 1), 1, Outcome::Killed)
            .learn(map(0, 1), 1, Killed, (0, 1))
    };
    let told = |useful_s, failed_s, held_s| {
        let mut verifier =
            Verifier::new(VerifierRules { cut_off: true, ..VerifierRules::default() });
        stream().events.iter().for_each(|event| verifier.check(event));
        let mut told = WasteSummary { held_s, ..WasteSummary::default() };
        told.by_fate[AttemptFate::Useful] = useful_s;
        told.by_fate[AttemptFate::Failed] = failed_s;
        verifier.check_waste(stream().now, &told);
        let lines: Vec<_> = verifier.violations().iter().map(Violation::to_string).collect();
        lines.join("\n")
    };
    assert_eq!(told(4.0, 3.0, 7.0), "");
    assert_eq!(
        told(4.0, 2.5, 7.0),
        "at 3 s: slots are told to have been held for 6500000 us, but trackers held them for \
         7000000 us"
    );
    assert_eq!(
        told(3.0, 4.0, 7.0),
        "at 3 s: slots are told to have been of use for 3000000 us, but what succeeded held 4000000 us"
    );
}

/// The first map has succeeded, and a reduce complains `complaints` times about its output.
fn complained_of(complaints: usize) -> Stream {
    let complaint =
        || Fact::Attempt(reduce(0, 0), TrackerId(1), AttemptFact::FetchFailed { map: map(0, 0) });
    let stream =
        cluster().whole(map(0, 0), 0).assign(reduce(0, 0), 1, (1, 0)).start(reduce(0, 0), 1);
    (0..complaints).fold(stream, |stream, _| stream.fact(complaint())).learn(
        map(0, 0),
        0,
        Failed,
        (0, 2),
    )
}

#[test]
fn a_map_fails_after_its_success_only_if_reduces_have_complained() {
    assert_eq!(found(complained_of(3)), "");
    assert_eq!(
        found(complained_of(2)),
        "at 0 s: job 0 map 0 attempt 0 had succeeded and has failed, with 2 complaints of its output"
    );
    let idle =
        Fact::Attempt(reduce(0, 0), TrackerId(0), AttemptFact::FetchFailed { map: map(0, 0) });
    let stream = cluster().assign(reduce(0, 0), 0, (1, 0)).fact(idle);
    assert_eq!(
        found(stream),
        "at 0 s: job 0 reduce 0 attempt 0 complained of a fetch on node-1 but was not working there"
    );
}

#[test]
fn virtual_time_that_runs_back_is_found() {
    let stream = Stream::default().at(2_000).up(0, 1, 1).at(1_000).heartbeat(0, 1, 0);
    assert_eq!(found(stream).lines().next().unwrap(), "at 1 s: virtual time ran back from 2 s");
}

#[test]
fn a_slot_counted_twice_is_found() {
    let third = map(0, 2);
    let stream = Stream::default()
        .up(0, 2, 1)
        .submit(JobSpec::bare(0, 3, 0))
        .assign(map(0, 0), 0, (1, 2))
        .assign(map(0, 1), 0, (2, 1))
        .assign(third, 0, (3, 0))
        .start(map(0, 0), 0)
        .start(map(0, 1), 0)
        .start(third, 0);
    assert_eq!(
        found(stream),
        "at 0 s: job 0 map 2 attempt 0 took a map slot of node-1, which has 2 and held them all"
    );
}

#[test]
fn memory_given_twice_is_found() {
    let node = Node { memory: Bytes::from_mib(3), ..Node::plain(0, PerSlot { map: 4, reduce: 0 }) };
    let topology = Arc::new(Topology::from_nodes(vec![node]).counting(CountedResources::Memory));
    let memory = PerSlot { map: Bytes::from_mib(2), reduce: Bytes::ZERO };
    let found = |ends_first: bool| {
        let mut stream = Stream::default()
            .up(0, 4, 0)
            .submit(JobSpec { memory, ..JobSpec::bare(0, 2, 0) })
            .assign(map(0, 0), 0, (1, 1))
            .start(map(0, 0), 0);
        if ends_first {
            stream = stream.order(map(0, 0), 0, Order::Kill, Reason::JobOver);
        }
        let stream = stream.assign(map(0, 1), 0, (2, 0)).start(map(0, 1), 0);
        let mut verifier = Verifier::new(VerifierRules::default()).with_room(&topology);
        stream.events.iter().for_each(|event| verifier.check(event));
        let lines = verifier.violations().iter().map(Violation::to_string);
        lines.filter(|line| line.contains("memory")).collect::<Vec<_>>()
    };
    let told = "at 0 s: job 0 map 1 attempt 0 was launched on node-1, which has too little memory or \
                too few cores left";
    assert_eq!(found(false), [told]);
    assert_eq!(found(true), [""; 0], "the order to kill and the launch travel together");
}

#[test]
fn an_attempt_of_several_slots_takes_them_all() {
    let stream = Stream::default()
        .up(0, 2, 1)
        .submit(JobSpec::bare(0, 2, 0))
        .assign(map(0, 0), 0, (1, 1))
        .assign(map(0, 1), 0, (2, 0))
        .start_in(2, map(0, 0), 0)
        .start(map(0, 1), 0);
    assert_eq!(
        found(stream),
        "at 0 s: job 0 map 1 attempt 0 took a map slot of node-1, which has 2 and held them all"
    );
}

#[test]
fn resuming_into_a_full_tracker_is_found() {
    let stream = Stream::default()
        .up(0, 1, 1)
        .submit(JobSpec::bare(0, 2, 0))
        .assign(map(0, 0), 0, (1, 1))
        .start(map(0, 0), 0)
        .suspend(map(0, 0), 0)
        .assign(map(0, 1), 0, (2, 0))
        .start(map(0, 1), 0)
        .resume(map(0, 0), 0);
    assert_eq!(
        found(stream),
        "at 0 s: job 0 map 0 attempt 0 took a map slot of node-1, which has 1 and held them all"
    );
}

#[test]
fn a_tracker_that_dies_with_attempts_is_found() {
    let stream = one_map().fact(Fact::Tracker(TrackerId(0), TrackerFact::Down));
    assert_eq!(found(stream), "at 1 s: node-1 died with job 0 map 0 attempt 0 on it");
}

#[test]
fn trackers_come_and_go_in_turns() {
    let tracker = TrackerId(0);
    let up = Fact::Tracker(tracker, TrackerFact::Up(PerSlot::default()));
    let down = || Stream::default().fact(Fact::Tracker(tracker, TrackerFact::Down));
    let lost = || Stream::default().fact(Fact::Member(tracker, MemberFact::Lost));
    let joined = || Stream::default().up(0, 1, 1).fact(Fact::Member(tracker, MemberFact::Joined));
    assert_eq!(
        found(Stream::default().up(0, 1, 1).fact(up)),
        "at 0 s: node-1 started though it was up"
    );
    assert_eq!(found(down()), "at 0 s: node-1 died though it was down");
    assert_eq!(found(joined()), "at 0 s: node-1 joined twice");
    assert_eq!(found(lost()), "at 0 s: node-1 was given up though it had not joined");
    let listed = |stream: Stream| stream.fact(Fact::Member(tracker, MemberFact::Blacklisted));
    assert_eq!(found(listed(listed(Stream::default()))), "at 0 s: node-1 was blacklisted twice");
    assert_eq!(
        found(Stream::default().fact(Fact::Member(tracker, MemberFact::Forgiven))),
        "at 0 s: node-1 was forgiven though it was not blacklisted"
    );
}

#[test]
fn impossible_heartbeats_are_found() {
    assert_eq!(
        found(Stream::default().heartbeat(0, 5, 0)),
        "at 0 s: node-1 had a reply to a heartbeat while it was down"
    );
    assert_eq!(
        found(Stream::default().up(0, 1, 1).heartbeat(0, 5, 6)),
        "at 0 s: node-1's heartbeat waited longer in the queue than it took"
    );
}

#[test]
fn an_attempt_on_a_tracker_that_is_down_is_found() {
    let stream = cluster()
        .assign(map(0, 0), 0, (1, 1))
        .fact(Fact::Tracker(TrackerId(0), TrackerFact::Down))
        .start(map(0, 0), 0);
    assert_eq!(
        found(stream).lines().next().unwrap(),
        "at 0 s: job 0 map 0 attempt 0 started on node-1, which was down"
    );
}

#[test]
fn a_task_launched_twice_is_found() {
    assert_eq!(
        found(one_map().start(map(0, 0), 0)),
        "at 1 s: job 0 map 0 attempt 0 started a second time, on node-1"
    );
    assert_eq!(
        found(one_map().assign(map(0, 0), 1, (1, 1))),
        "at 1 s: job 0 map 0 attempt 0 was assigned twice"
    );
    assert_eq!(
        found(one_map().assign(again(map(0, 0)), 1, (2, 1))),
        "at 1 s: job 0 map 0 attempt 1 was assigned, not as speculative, beside another attempt \
         of the task"
    );
}

#[test]
fn an_attempt_on_two_trackers_is_found() {
    assert_eq!(
        found(one_map().start(map(0, 0), 1)),
        "at 1 s: job 0 map 0 attempt 0 started on node-2 but was not assigned to it\n\
         at 1 s: job 0 map 0 attempt 0 started a second time, on node-2"
    );
}

#[test]
fn an_attempt_that_nobody_assigned_is_found() {
    assert_eq!(
        found(cluster().start(map(0, 0), 0)),
        "at 0 s: job 0 map 0 attempt 0 started on node-1 but was not assigned to it"
    );
}

#[test]
fn an_attempt_that_starts_after_its_end_is_found() {
    let stream = cluster()
        .assign(map(0, 0), 0, (1, 1))
        .end(map(0, 0), 0, Outcome::Killed)
        .start(map(0, 0), 0);
    assert_eq!(found(stream), "at 0 s: job 0 map 0 attempt 0 started on node-1 after it had ended");
}

#[test]
fn only_what_works_waits_for_its_commit_or_is_suspended() {
    let attempt = map(0, 0);
    let idle = || cluster().assign(attempt, 0, (1, 1));
    assert_eq!(
        found(idle().fact(Fact::Attempt(attempt, TrackerId(0), AttemptFact::CommitPending))),
        "at 0 s: job 0 map 0 attempt 0 on node-1 waits for its commit but was not working there"
    );
    assert_eq!(
        found(idle().suspend(attempt, 0)),
        "at 0 s: job 0 map 0 attempt 0 was suspended on node-1 but was not working there"
    );
}

#[test]
fn a_commit_that_nobody_allowed_is_found() {
    let phases = PhaseTimes { commit: Some(SimSpan::from_secs(1)), ..PhaseTimes::default() };
    assert_eq!(
        found(one_map().end_after(map(0, 0), 0, Outcome::Succeeded, phases)),
        "at 1 s: job 0 map 0 attempt 0 committed before the JobTracker knew that it waits for that"
    );
}

#[test]
fn resuming_elsewhere_is_found() {
    assert_eq!(
        found(one_map().suspend(map(0, 0), 0).resume(map(0, 0), 1)),
        "at 1 s: job 0 map 0 attempt 0 was resumed on node-2 but was not suspended there"
    );
}

#[test]
fn an_attempt_that_ends_without_a_start_or_twice_is_found() {
    let killed = || one_map().end(map(0, 0), 0, Outcome::Killed);
    assert_eq!(
        found(cluster().assign(map(0, 0), 0, (1, 1)).end(map(0, 0), 0, Outcome::Succeeded)),
        "at 0 s: job 0 map 0 attempt 0 ended on node-1 as succeeded but had not started there"
    );
    assert_eq!(
        found(killed().end(map(0, 0), 0, Outcome::Killed)),
        "at 1 s: job 0 map 0 attempt 0 ended a second time, on node-1"
    );
}

#[test]
fn a_jobs_life_in_a_wrong_order_is_found() {
    let id = JobId(0);
    let spec = || std::sync::Arc::new(JobSpec::bare(0, 2, 1));
    assert_eq!(
        found(cluster().fact(Fact::Job(id, JobFact::Submitted(spec())))),
        "at 0 s: job 0 was submitted twice"
    );
    assert_eq!(
        found(cluster().fact(Fact::Job(id, JobFact::Initialised))),
        "at 0 s: job 0 was initialised twice"
    );
    assert_eq!(
        found(
            Stream::default()
                .fact(Fact::Job(id, JobFact::Submitted(spec())))
                .fact(Fact::Job(id, JobFact::Running))
        ),
        "at 0 s: job 0 became running without being initialised, or for the second time"
    );
    assert_eq!(
        found(cluster().fact(Fact::Job(id, JobFact::MapsDone))),
        "at 0 s: the maps of job 0 are said to be done, but 0 of 2 have succeeded"
    );
    assert_eq!(
        found(Stream::default().fact(Fact::Job(id, JobFact::Running))),
        "at 0 s: job 0 is not known, or has ended"
    );
}

#[test]
fn a_job_that_ends_twice_or_never_is_found() {
    let ended = cluster().job_ended(0, Outcome::Killed).job_ended(0, Outcome::Killed);
    assert_eq!(found(ended), "at 0 s: job 0 ended twice");
    assert_eq!(verdict(cluster(), VerifierRules::default()), "at 0 s: job 0 never ended");
}

#[test]
fn a_job_is_refused_only_at_its_submission() {
    let refused = |stream: Stream| {
        stream.fact(Fact::Job(JobId(0), JobFact::SubmissionRefused(Reason::QueueFull(1))))
    };
    let spec = || JobSpec::bare(0, 2, 1);
    let submitted = || Stream::default().refuse(spec(), Reason::QueueFull(1));
    assert_eq!(verdict(submitted(), VerifierRules::default()), "", "it is over");
    assert_eq!(found(refused(cluster())), "at 0 s: job 0 is refused, but not at its submission");
    assert_eq!(
        found(submitted().fact(Fact::Job(JobId(0), JobFact::Initialised))),
        "at 0 s: job 0 is not known, or has ended"
    );
}

#[test]
fn a_completion_that_was_dropped_is_found() {
    let stream = cluster().whole(map(0, 0), 0).whole(reduce(0, 0), 0);
    assert_eq!(
        found(stream.job_ended(0, Outcome::Succeeded)),
        "at 0 s: job 0 reduce 0 attempt 0 had all its input, but the output of map 1 was gone or not \
         yet there\nat 0 s: job 0 succeeded with 1 of 2 map tasks succeeded"
    );
}

/// The machine dies 2 s after the end of the maps. A reduce that was assigned before the machine
/// died may have fetched from it.
#[test]
fn a_fetch_from_a_machine_that_was_dead_before_the_reduce_was_assigned_is_found() {
    let maps = || cluster().whole(map(0, 0), 0).whole(map(0, 1), 1).at(2_000);
    let reduce = reduce(0, 0);
    let died = Fact::Tracker(TrackerId(0), TrackerFact::Down);
    let early = maps().assign(reduce, 1, (1, 0)).fact(died.clone()).at(3_000).start(reduce, 1);
    assert_eq!(found(early.end(reduce, 1, Outcome::Succeeded)), "");
    let late = maps().fact(died).at(3_000).assign(reduce, 1, (1, 0)).start(reduce, 1);
    assert_eq!(
        found(late.end(reduce, 1, Outcome::Succeeded)),
        "at 3 s: job 0 reduce 0 attempt 0 had all its input, but the output of map 0 was gone or not \
         yet there"
    );
}

/// One reply may be on its way when the attempt is assigned; the next reply brings the order.
#[test]
fn a_launch_that_an_idle_tracker_is_not_told_of_is_found() {
    let told = |replies: u32| {
        let stream = cluster().assign(map(0, 0), 0, (1, 1));
        (0..replies).fold(stream, |stream, _| stream.heartbeat(0, 2_000, 1_000))
    };
    assert_eq!(found(told(2)), "");
    let breach =
        "job 0 map 0 attempt 0 was assigned to node-1, which is idle and never received it";
    assert_eq!(found(told(3)), format!("at 0 s: {breach}"));
}

/// A stalled run must name each job, and no attempt may wait for a commit.
#[test]
fn a_job_that_is_not_named_at_a_stall_is_found_and_so_is_a_wait_for_a_commit() {
    let mut verifier = Verifier::new(VerifierRules { cut_off: true, ..VerifierRules::default() });
    let joined = Fact::Member(TrackerId(0), MemberFact::Joined);
    let stream = one_map().fact(joined).fact(Fact::Attempt(
        map(0, 0),
        TrackerId(0),
        AttemptFact::CommitPending,
    ));
    stream.events.iter().for_each(|event| verifier.check(event));
    let before = verifier.violations().len();
    verifier.check_end(stream.now, &StopReason::Stalled(Box::default()));
    let found: Vec<_> = verifier.violations()[before..].iter().map(Violation::to_string).collect();
    let nameless =
        "at 1 s: job 0 has not ended, and the JobTracker came to rest and does not name it";
    let waiting = "at 1 s: job 0 map 0 attempt 0 waits on node-1 for its commit, and the JobTracker \
                   came to rest";
    assert_eq!(found, [nameless, waiting]);
}

#[test]
fn an_assignment_by_a_job_tracker_that_is_away_is_found() {
    let met = |incident| Fact::befell(None, incident);
    for away in [Incident::Gone, Incident::Pauses] {
        let stream = cluster().fact(met(away)).assign(map(0, 0), 0, (1, 1));
        let breach =
            "job 0 map 0 attempt 0 was assigned while the JobTracker stood still or was gone";
        assert_eq!(found(stream), format!("at 0 s: {breach}"));
    }
    let back = cluster().fact(met(Incident::Gone)).fact(met(Incident::Back));
    assert_eq!(found(back.assign(map(0, 0), 0, (1, 1))), "");
}

#[test]
fn an_assignment_that_must_not_be_is_found() {
    let setup = TaskId { job: JobId(0), kind: TaskKind::Setup, index: 0 }.attempt(0);
    let spec = std::sync::Arc::new(JobSpec::bare(0, 1, 0));
    let unready = Stream::default().up(0, 1, 1).fact(Fact::Job(JobId(0), JobFact::Submitted(spec)));
    assert_eq!(
        found(cluster().assign(map(0, 2), 0, (1, 1))).lines().next().unwrap(),
        "at 0 s: job 0 has no map 2"
    );
    assert_eq!(
        found(unready.assign(setup, 0, (0, 0))),
        "at 0 s: job 0 setup 0 attempt 0 was assigned before its job was running"
    );
    assert_eq!(
        found(cluster().assign(map(0, 0), 7, (1, 1))),
        "at 0 s: job 0 map 0 attempt 0 was assigned to node-8, which has not joined"
    );
    let listed = cluster().fact(Fact::Member(TrackerId(0), MemberFact::Blacklisted));
    assert_eq!(
        found(listed.assign(map(0, 0), 0, (1, 1))),
        "at 0 s: job 0 map 0 attempt 0 was assigned to node-1, which is blacklisted"
    );
    assert_eq!(
        found(cluster().whole(map(0, 0), 0).assign(again(map(0, 0)), 1, (1, 1))),
        "at 0 s: job 0 map 0 attempt 1 was assigned though the task had succeeded"
    );
    assert_eq!(
        found(one_map().grant(map(0, 0), 1, (1, 1), |grant| grant.role = Role::TaskCleanup)),
        "at 1 s: job 0 map 0 attempt 0 is to be cleaned up after but did not end badly"
    );
    assert_eq!(
        found(cluster().job_ended(0, Outcome::Killed).assign(map(0, 0), 0, (1, 1))),
        "at 0 s: job 0 is not known, or has ended"
    );
}

#[test]
fn a_status_that_was_processed_twice_is_found() {
    let twice = |state, counts| {
        let stream = one_map().end(map(0, 0), 0, Outcome::Succeeded);
        found(stream.learn(map(0, 0), 0, state, counts).learn(map(0, 0), 0, state, counts))
    };
    assert_eq!(
        twice(Running, (1, 1)),
        "at 1 s: job 0 map 0 attempt 0 is learned to be Running a second time"
    );
    assert_eq!(
        twice(Succeeded, (0, 1)),
        "at 1 s: job 0 map 0 attempt 0 is learned to be Succeeded a second time"
    );
}

#[test]
fn news_after_the_verdict_is_found() {
    let stream = one_map().end(map(0, 0), 0, Outcome::Failed).learn(map(0, 0), 0, Failed, (0, 2));
    assert_eq!(
        found(stream.learn(map(0, 0), 0, Running, (0, 2))),
        "at 1 s: job 0 map 0 attempt 0 is learned to be Running after it had ended as failed"
    );
}

#[test]
fn news_of_what_never_happened_is_found() {
    for (state, counts) in [(Succeeded, (0, 1)), (CommitPending, (1, 1)), (Suspended, (1, 1))] {
        assert_eq!(
            found(one_map().learn(map(0, 0), 0, state, counts)),
            format!(
                "at 1 s: job 0 map 0 attempt 0 is learned to be {state:?}, which never happened \
                 on its tracker"
            )
        );
    }
    assert_eq!(
        found(one_map().learn(map(0, 0), 1, Running, (1, 1))),
        "at 1 s: job 0 map 0 attempt 0 is heard of from node-2 but was not assigned to it"
    );
    assert_eq!(
        found(one_map().learn(map(0, 1), 0, Killed, (1, 1))),
        "at 1 s: job 0 map 1 attempt 0 is heard of from node-1 but was not assigned to it"
    );
}

#[test]
fn a_task_that_succeeds_twice_is_found() {
    let other = again(map(0, 0));
    let stream = one_map()
        .grant(other, 1, (2, 1), |grant| grant.speculative = true)
        .start(other, 1)
        .end(map(0, 0), 0, Outcome::Succeeded)
        .end(other, 1, Outcome::Succeeded)
        .learn(other, 1, Succeeded, (1, 1))
        .learn(map(0, 0), 0, Succeeded, (0, 1));
    assert_eq!(
        found(stream),
        "at 1 s: job 0 map 0 attempt 0 succeeded though another attempt of the task had"
    );
}

#[test]
fn a_map_that_is_lost_without_its_tracker_is_found() {
    assert_eq!(
        found(cluster().whole(map(0, 0), 0).learn(map(0, 0), 0, Killed, (0, 2))),
        "at 0 s: job 0 map 0 attempt 0 had succeeded and is lost, but node-1 is not"
    );
}

#[test]
fn a_wrong_count_is_found() {
    assert_eq!(
        found(cluster().assign(map(0, 0), 0, (2, 1))),
        "at 0 s: job 0 is counted to run 2 map tasks after news of job 0 map 0 attempt 0, but \
         runs 1"
    );
}

#[test]
fn an_attempt_that_waits_for_its_commit_need_not_be_counted() {
    let pending = one_map()
        .fact(Fact::Attempt(map(0, 0), TrackerId(0), AttemptFact::CommitPending))
        .learn(map(0, 0), 0, CommitPending, (0, 1));
    let rules =
        VerifierRules { cut_off: true, commit_not_counted: true, ..VerifierRules::default() };
    assert_eq!(verdict(pending, rules), "");
}

#[test]
fn leftovers_of_an_ended_job_may_still_end() {
    let stream = one_map().job_ended(0, Outcome::Killed).end(map(0, 0), 0, Outcome::Killed);
    assert_eq!(found(stream.learn(map(0, 0), 0, Killed, (0, 0))), "");
}

#[test]
fn a_flood_of_violations_is_counted() {
    let mut stream = Stream::default();
    for _ in 0..1_000 {
        stream = stream.heartbeat(0, 1, 0);
    }
    let mut verifier = Verifier::new(VerifierRules::default());
    stream.events.iter().for_each(|event| verifier.check(event));
    assert_eq!((verifier.violations().len(), verifier.more()), (100, 900));
}

/// A job whose first map and reduce have succeeded is begun anew, and both successes become void.
fn begun_anew() -> Stream {
    cluster()
        .whole(map(0, 0), 0)
        .whole(map(0, 1), 1)
        .assign(reduce(0, 0), 1, (1, 0))
        .at(1_500)
        .start(reduce(0, 0), 1)
        .learn(reduce(0, 0), 1, Running, (1, 0))
        .end(reduce(0, 0), 1, Outcome::Succeeded)
        .learn(reduce(0, 0), 1, Succeeded, (0, 0))
        .fact(Fact::Job(JobId(0), JobFact::BegunAnew))
}

#[test]
fn a_study_begun_anew_runs_once_more() {
    let anew = begun_anew()
        .learn(map(0, 0), 0, Killed, (0, 0))
        .learn(map(0, 1), 1, Killed, (0, 0))
        .learn(reduce(0, 0), 1, Killed, (0, 0))
        .fact(Fact::Job(JobId(0), JobFact::Initialised))
        .fact(Fact::Job(JobId(0), JobFact::Running))
        .whole(again(map(0, 0)), 0);
    assert_eq!(found(anew), "");
}

#[test]
fn a_success_that_is_kept_when_its_job_is_begun_anew_is_found() {
    let kept = begun_anew()
        .learn(map(0, 0), 0, Killed, (0, 0))
        .fact(Fact::Job(JobId(0), JobFact::Initialised));
    let says = "job 0 was initialised anew, and 2 of its attempts still count from before";
    let found = found(kept);
    assert!(found.ends_with(says), "{found}");
}

#[test]
fn a_reduce_that_is_taken_back_for_nothing_is_found() {
    let lost = cluster()
        .assign(reduce(0, 0), 1, (1, 0))
        .start(reduce(0, 0), 1)
        .learn(reduce(0, 0), 1, Running, (1, 0))
        .end(reduce(0, 0), 1, Outcome::Succeeded)
        .learn(reduce(0, 0), 1, Succeeded, (0, 0))
        .learn(reduce(0, 0), 1, Killed, (0, 1));
    assert_ne!(found(lost), "");
}

#[test]
fn a_graylist_that_makes_no_sense_is_found() {
    let on = |stream: Stream| stream.fact(Fact::Member(TrackerId(0), MemberFact::Graylisted));
    let off = |stream: Stream| stream.fact(Fact::Member(TrackerId(0), MemberFact::OffGraylist));
    assert_eq!(found(off(on(Stream::default()))), "");
    assert_eq!(found(on(on(Stream::default()))), "at 0 s: node-1 was graylisted twice");
    assert_eq!(
        found(off(Stream::default())),
        "at 0 s: node-1 left the graylist though it was not on it"
    );
}

#[test]
fn acts_of_an_absent_jobtracker_are_found() {
    let of_nobody = |incident| Fact::befell(None, incident);
    let submitted = || {
        let job = Fact::Job(JobId(0), JobFact::Submitted(JobSpec::bare(0, 1, 0).into()));
        Stream::default().up(0, 2, 1).fact(job)
    };
    let away = |fact: Fact| found(submitted().fact(of_nobody(Incident::Gone)).fact(fact));
    let back = |fact: Fact| {
        let stream = submitted();
        let stream = stream.fact(of_nobody(Incident::Pauses)).fact(of_nobody(Incident::Back));
        found(stream.fact(fact))
    };
    let words = "while the JobTracker stood still or was gone";
    let initialised = Fact::Job(JobId(0), JobFact::Initialised);
    assert_eq!(away(initialised.clone()), format!("at 0 s: job 0 was initialised {words}"));
    let running = away(Fact::Job(JobId(0), JobFact::Running));
    assert!(running.starts_with(&format!("at 0 s: job 0 was let run {words}")), "{running}");
    let joined = Fact::Member(TrackerId(0), MemberFact::Joined);
    assert!(away(joined).contains(&format!("node-1 joined {words}")));
    assert_eq!(back(initialised), "");
}
