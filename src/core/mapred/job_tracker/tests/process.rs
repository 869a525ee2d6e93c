//! The JobTracker's process pauses, or dies and is restarted.

use super::*;
use crate::mapred::event::{JobFact, MemberFact};
use crate::mapred::hadoop::HadoopLine;
use crate::mapred::replicas::LaterCopy;
use crate::mapred::spec::Block;

#[test]
fn while_its_process_stands_still_heartbeats_and_jobs_wait() {
    let mut bench = bench(hadoop());
    bench.at(10).hear(ToJobTracker::Pause(SimSpan::from_secs(5)));
    bench.at(11).submit(job(0, 1, 0));
    assert!(bench.beat(0, &[]).is_empty() && bench.replies.is_empty());
    let submitted = |bench: &Bench| {
        bench.facts.iter().any(|f| matches!(f, Fact::Job(_, JobFact::Submitted(_))))
    };
    assert!(!submitted(&bench));
    bench.at(15).hear(ToJobTracker::Wake);
    assert!(submitted(&bench));
    bench.hear(ToJobTracker::Serve(0));
    let (to, reply, _) = bench.replies.last().expect("its turn has come");
    assert_eq!((*to, reply.queued), (TrackerId(0), SimSpan::from_secs(4)));
    assert_eq!(launches(&reply.directives).len(), 1);
}

#[test]
fn a_restart_fails_all_jobs_and_has_all_trackers_start_anew() {
    let (mut bench, _, reduces) = fetching();
    bench.at(100).hear(ToJobTracker::Restart(SimSpan::from_secs(60)));
    assert!(
        bench
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Job(JobId(0), JobFact::Ended(Outcome::Failed))))
    );
    let lost = bench.facts.iter().filter(|fact| matches!(fact, Fact::Member(_, MemberFact::Lost)));
    assert_eq!(lost.count(), 4, "only the trackers that had joined are lost");
    let heard = bench.replies.len();
    bench.at(110).beat(1, &[(reduces[0], AttemptState::Running)]);
    assert_eq!(bench.replies.len(), heard, "the process is dead and answers nothing");
    bench.at(160).hear(ToJobTracker::Wake);
    bench.at(170).send_again(1, &[(reduces[0], AttemptState::Running)]);
    assert!(bench.replies.last().unwrap().1.reinit);
    bench.receive();
    bench.joins_restarted = false;
    bench.submit(job(1, 1, 0));
    assert_eq!(bench.next(1, &[]).len(), 1, "it goes on with new jobs");
}

fn restart(recovers: bool) -> ToJobTracker {
    let span = SimSpan::from_secs(60);
    if recovers { ToJobTracker::RestartAndRecover(span) } else { ToJobTracker::Restart(span) }
}

fn of_line(line: HadoopLine) -> Hadoop {
    Hadoop { line, slow_start: Fraction::of(1.0), ..hadoop() }
}

#[test]
fn plans_of_a_dead_process_start_no_second_chain_of_turns() {
    let mut bench = bench(hadoop());
    bench.at(10).hear(ToJobTracker::Pause(SimSpan::from_secs(100)));
    bench.at(11).beat(0, &[]);
    // The process dies while a heartbeat waits, and is back long before the heartbeat's turn.
    bench.at(12).hear(ToJobTracker::Restart(SimSpan::from_secs(1)));
    assert_eq!(bench.refused, [(TrackerId(0), 1)], "the heartbeat that waits is refused at once");
    bench.at(13).hear(ToJobTracker::Wake);
    bench.send_again(0, &[]);
    assert_eq!(bench.replies.len(), 1, "the pause has ended");
    bench.beat(1, &[]);
    bench.beat(2, &[]);
    bench.hear(ToJobTracker::Serve(0));
    assert_eq!(bench.replies.len(), 1, "the old process had planned to serve it, not the new one");
    bench.hear(ToJobTracker::Serve(1));
    assert_eq!(bench.replies.len(), 2);
}

#[test]
fn a_process_that_is_gone_cannot_die_again() {
    let mut bench = bench(of_line(HadoopLine::V020));
    bench.submit(job(0, 4, 1));
    bench.at(10).hear(restart(true));
    // The process is back when the second restart is over, and still has its job.
    bench.at(40).hear(restart(false));
    bench.at(70).hear(ToJobTracker::Wake).beat(3, &[]);
    assert_eq!(bench.refused, [(TrackerId(3), 1)]);
    bench.at(100).hear(ToJobTracker::Wake).beat(3, &[]);
    assert_eq!((bench.refused.len(), bench.replies.len()), (1, 1));
    assert!(bench.to_injector.is_empty(), "no job is lost");
}

#[test]
fn the_heartbeats_that_find_nobody_are_refused() {
    let mut bench = bench(hadoop());
    bench.at(10).hear(restart(false));
    bench.at(11).beat(3, &[]);
    assert_eq!((bench.refused.as_slice(), bench.replies.len()), (&[(TrackerId(3), 1)][..], 0));
}

/// A policy that launches nothing until it has learned of a job.
struct Attentive(u32);

impl Scheduler for Attentive {
    fn job_changed(&mut self, _: &View<'_>, event: &JobEvent) {
        self.0 += u32::from(event.change == JobChange::Submitted);
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        if self.0 == 1 {
            Greedy.offer(offer);
        }
    }
}

#[test]
fn a_process_that_is_started_again_begins_with_a_new_policy() {
    let successors: Vec<Box<dyn Scheduler>> = vec![Box::new(Attentive(0))];
    let options = JobTrackerOptions { successors, ..JobTrackerOptions::default() };
    let mut bench = bench_with(options, Box::new(Attentive(0)), hadoop());
    bench.submit(job(0, 1, 0));
    bench.at(10).hear(restart(false));
    bench.at(70).hear(ToJobTracker::Wake).submit(job(1, 1, 0));
    bench.joins_restarted = true;
    assert_eq!(bench.next(0, &[]).len(), 1, "for the old policy this would be the second job");
}

/// Returns the last state of an attempt that the JobTracker learned.
fn last(bench: &Bench, attempt: AttemptId) -> Option<AttemptState> {
    bench.facts.iter().rev().find_map(|fact| match *fact {
        Fact::Ledger(other, _, LedgerFact::Learned { state, .. }) if other == attempt => {
            Some(state)
        }
        _ => None,
    })
}

/// Two maps of four have ended on the first tracker, and two run on the second; then the process
/// dies and comes back.
fn recovered(line: HadoopLine) -> (Bench, Vec<AttemptId>, Vec<AttemptId>) {
    let mut bench = bench(of_line(line));
    bench.submit(job(0, 4, 1));
    let done = launches(&bench.at(1).beat_and_receive(0, &[]));
    let running = launches(&bench.at(2).beat_and_receive(1, &[]));
    bench.at(4).end_maps(&done);
    bench.at(5).beat_and_receive(1, &running_all(&running));
    bench.at(10).hear(restart(true));
    bench.at(70).hear(ToJobTracker::Wake);
    assert!(bench.to_injector.is_empty(), "no job is lost");
    (bench, done, running)
}

fn running_all(attempts: &[AttemptId]) -> Vec<(AttemptId, AttemptState)> {
    attempts.iter().map(|attempt| (*attempt, AttemptState::Running)).collect()
}

#[test]
fn in_later_lines_a_recovered_job_begins_anew() {
    for line in [HadoopLine::V021, HadoopLine::V1] {
        let (mut bench, done, running) = recovered(line);
        assert!(
            bench.facts.iter().any(|fact| matches!(fact, Fact::Job(JobId(0), JobFact::BegunAnew)))
        );
        for attempt in done.iter().chain(&running) {
            assert_eq!(last(&bench, *attempt), Some(AttemptState::Killed), "{attempt}");
        }
        // Both trackers are unknown and must start anew.
        for (id, maps) in [(0, &[][..]), (1, &running[..])] {
            assert_eq!(bench.next(id, &running_all(maps)), []);
            assert!(bench.replies.last().unwrap().1.reinit);
        }
        bench.joins_restarted = false;
        let again = [bench.next(0, &[]), bench.next(1, &[])].concat();
        assert_eq!(again.len(), 4, "all maps run again");
        assert!(again.iter().all(|attempt| attempt.number == 1), "under new names: {again:?}");
    }
}

#[test]
fn in_020_a_recovered_job_keeps_what_has_ended_where_something_has() {
    let (mut bench, done, running) = recovered(HadoopLine::V020);
    // No attempt has ended on the second tracker: it is not in the history, and must start anew.
    for attempt in &running {
        assert_eq!(last(&bench, *attempt), Some(AttemptState::Killed));
    }
    assert_eq!(bench.next(1, &running_all(&running)), []);
    assert!(bench.replies.last().unwrap().1.reinit);
    bench.joins_restarted = false;
    assert_eq!(bench.next(1, &[]), [], "the first tracker has sent no heartbeat yet");
    // The first tracker is in the history, and goes on.
    bench.next(0, &[]);
    assert!(!bench.replies.last().unwrap().1.reinit);
    let mut again = bench.replies.last().map(|(_, reply, _)| launches(&reply.directives)).unwrap();
    again.sort();
    assert_eq!(again, [running[0].task.attempt(1), running[1].task.attempt(1)]);
    for attempt in &done {
        assert_eq!(last(&bench, *attempt), Some(AttemptState::Succeeded));
    }
    let ended: Vec<_> = again.iter().map(|map| (*map, AttemptState::Succeeded)).collect();
    let reduces = bench.next(0, &ended);
    assert_eq!(reduces.len(), 1);
    bench.next(0, &[(reduces[0], AttemptState::Succeeded)]);
    let over = [ToInjector::JobEnded(JobId(0), Outcome::Succeeded)];
    assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
}

#[test]
fn in_020_what_runs_joins_in_again_and_what_never_arrived_runs_anew() {
    let mut bench = bench(of_line(HadoopLine::V020));
    bench.submit(job(0, 4, 0));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    let one = [(maps[0], AttemptState::Succeeded), (maps[1], AttemptState::Running)];
    let third = launches(&bench.at(4).beat_and_receive(0, &one));
    assert_eq!(third.len(), 1);
    bench.at(10).hear(restart(true));
    bench.at(70).hear(ToJobTracker::Wake);
    // The reply that launched the third map was lost with the process.
    let told = bench.next(0, &[(maps[1], AttemptState::Running)]);
    assert_eq!(last(&bench, third[0]), Some(AttemptState::Killed));
    assert_ne!(last(&bench, maps[1]), Some(AttemptState::Killed));
    assert_eq!(told.len(), 1);
    assert_eq!(bench.tracker.ledger.known(JobId(0)).maps.running, 2);
}

#[test]
fn in_020_what_waits_for_its_slot_over_a_restart_fails_in_the_end() {
    let launch_expiry = LaunchExpiry::Started;
    let mut bench = bench(Hadoop { launch_expiry, ..of_line(HadoopLine::V020) });
    bench.submit(job(0, 3, 0));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    let waits = (maps[1], AttemptState::Unassigned);
    bench.at(4).beat_and_receive(0, &[(maps[0], AttemptState::Succeeded), waits]);
    bench.at(10).hear(restart(true));
    bench.at(70).hear(ToJobTracker::Wake);
    bench.at(73).beat_and_receive(0, &[waits]);
    assert!(bench.tracker.ledger.attempt(maps[1]).is_some());
    for at in [300, 600, 670] {
        bench.at(at).beat_and_receive(0, &[waits]);
    }
    // The ten minutes until the launch expires begin with the first heartbeat of its tracker.
    bench.at(673).hear(ToJobTracker::Expire);
    assert!(!bench.has_failed(maps[1]));
    bench.at(674).hear(ToJobTracker::Expire);
    assert!(bench.has_failed(maps[1]));
}

/// A policy that notes at each change whether the second job has arrived.
#[derive(Default)]
struct Patient(Arc<std::sync::Mutex<Vec<bool>>>);

impl Scheduler for Patient {
    fn job_changed(&mut self, view: &View<'_>, _: &JobEvent) {
        self.0.lock().unwrap().push(view.job(JobId(1)).is_some());
    }

    fn offer(&mut self, _: &mut Offer<'_>) {}
}

#[test]
fn events_during_a_pause_reach_the_policy_one_after_another() {
    let heard = Arc::default();
    let mut bench = bench_under(Box::new(Patient(Arc::clone(&heard))), hadoop());
    bench.hear(ToJobTracker::Pause(SimSpan::from_secs(60)));
    bench.at(1).submit(job(0, 1, 0)).submit(job(1, 1, 0));
    bench.at(60).hear(ToJobTracker::Wake);
    assert_eq!(heard.lock().unwrap().first(), Some(&false), "the second job had not arrived yet");
}

#[test]
fn in_020_a_tracker_of_the_history_that_stays_silent_is_waited_for_until_it_is_missed() {
    let (mut bench, ..) = recovered(HadoopLine::V020);
    bench.joins_restarted = false;
    bench.last[1] = None;
    bench.now = SimTime::from_micros(600_000_000);
    assert_eq!(bench.next(1, &[]), []);
    // The tracker's silence counts from 70 s, when the process was back.
    bench.at(670).hear(ToJobTracker::Expire);
    assert_eq!(bench.next(1, &[]), []);
    bench.at(672).hear(ToJobTracker::Expire);
    assert_eq!(bench.next(1, &[]).len(), 2, "its maps run again");
}

#[test]
fn a_job_that_is_submitted_again_finds_the_copies_that_were_made_meanwhile() {
    let mut bench = bench(of_line(HadoopLine::V1));
    bench.everybody_joins().submit(job(0, 1, 0));
    let hosts = |bench: &Bench| {
        let mut hosts = Vec::new();
        bench.tracker.ledger.known(JobId(0)).locate(0, &mut hosts);
        hosts
    };
    let before = hosts(&bench);
    bench.at(10).hear(restart(true));
    // The JobTracker is down while the node loses its block and while the copy arrives.
    let mut files = Replicas::clone(&bench.tracker.ledger.files);
    files.wiped.insert_mut(before[0]);
    let to = TrackerId(7 - before[0].0);
    let copy = LaterCopy { node: to, number: 0 };
    files.later.insert_mut(Block::of(&job(0, 1, 0), 0).unwrap(), vec![copy]);
    bench.at(20).hear(ToJobTracker::Replicas(files.into()));
    assert_eq!(hosts(&bench), before);
    bench.at(70).hear(ToJobTracker::Wake);
    assert_eq!(hosts(&bench), [to]);
}
