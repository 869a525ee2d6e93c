//! The JobTracker's process stands still, or dies and is started again.

use super::*;

#[test]
fn while_its_process_stands_still_heartbeats_and_jobs_wait() {
    let mut bench = bench(hadoop());
    bench.at(10).hear(ToJobTracker::Pause(SimSpan::from_secs(5)));
    bench.at(11).submit(job(0, 1, 0));
    assert!(bench.beat(0, &[]).is_empty() && bench.replies.is_empty());
    let submitted = |bench: &Bench| bench.facts.iter().any(|f| matches!(f, Fact::JobSubmitted(_)));
    assert!(!submitted(&bench));
    bench.at(15).hear(ToJobTracker::Wake);
    assert!(submitted(&bench));
    bench.hear(ToJobTracker::Serve);
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
            .any(|fact| matches!(fact, Fact::JobEnded { job: JobId(0), outcome: Outcome::Failed }))
    );
    let lost = bench.facts.iter().filter(|fact| matches!(fact, Fact::TrackerLost(_)));
    assert_eq!(lost.count(), 4, "those that had joined");
    let heard = bench.replies.len();
    bench.at(110).beat(1, &[(reduces[0], AttemptState::Running)]);
    assert_eq!(bench.replies.len(), heard, "nobody is there");
    bench.at(160).hear(ToJobTracker::Wake);
    bench.at(170).send_again(1, &[(reduces[0], AttemptState::Running)]);
    assert!(bench.replies.last().unwrap().1.reinit);
    bench.receive();
    bench.joins_restarted = false;
    bench.submit(job(1, 1, 0));
    assert_eq!(bench.next(1, &[]).len(), 1, "it goes on with new jobs");
}
