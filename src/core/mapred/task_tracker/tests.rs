//! Tests of a tracker alone: they send it messages, and look at its letters and events.

mod brief;
mod failures;
mod reduces;
mod speeds;

use std::sync::Arc;

use super::*;
use crate::cluster::{ReadRates, Topology};
use crate::mapred::cost::{FailureKind, PlannedFailure};
use crate::mapred::hadoop::{Hadoop, HadoopLine, IntervalFuzz};
use crate::mapred::heartbeat::{AttemptPhase, HeartbeatCall, MapsDone, Missing, Report};
use crate::mapred::ids::{JobId, TaskId, TaskKind};
use crate::mapred::spec::{JobSpec, TaskBytes};
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Fraction, Rate};

fn secs(secs: u64) -> SimTime {
    SimTime::from_micros(secs * 1_000_000)
}

fn map(index: u32) -> AttemptId {
    TaskId { job: JobId(0), kind: TaskKind::Map, index }.attempt(0)
}

fn reduce(index: u32) -> AttemptId {
    TaskId { job: JobId(0), kind: TaskKind::Reduce, index }.attempt(0)
}

/// A job whose maps take 10 s, and whose reduces fetch for 4 s, merge for 1 s and reduce for 5 s.
fn job(reduces: u32) -> Arc<JobSpec> {
    let time = |secs| Some(SimSpan::from_secs(secs).into());
    let mut job = JobSpec::bare(0, 4, reduces);
    job.map.time = time(10);
    job.reduce.shuffle_time = time(4);
    job.reduce.sort_time = SimSpan::from_secs(1).into();
    job.reduce.time = time(5);
    job.memory = PerSlot { map: Bytes::from_mib(1), reduce: Bytes::from_mib(1) };
    Arc::new(job)
}

/// A tracker without a cluster: its letters to itself come back when they are due.
struct Bench {
    tracker: TaskTracker,
    now: SimTime,
    own: Vec<(SimTime, ToTracker)>,
    ends: Vec<(SimTime, AttemptId, Outcome)>,
    statuses: Vec<Arc<TrackerStatus>>,
    /// The last heartbeat.
    call: HeartbeatCall,
    /// How many heartbeats were brief.
    brief: u32,
    facts: Vec<Fact>,
    replies: u16,
    reduces: u32,
    /// The missing outputs in replies.
    missing: Vec<Missing>,
    /// Outputs that the tracker reports as lost.
    spoilt: Vec<AttemptId>,
    /// For each question about missing outputs, whether a running reduce asked.
    asked: Vec<bool>,
}

/// A tracker with two map slots and one reduce slot; tasks start up for 1 s, poll every second and
/// commit for 1 s.
fn tracker(change: impl FnOnce(&mut Hadoop)) -> Bench {
    tracker_with(change, Vec::new())
}

/// A tracker as above, on which attempts fail or hang for these causes.
fn tracker_with(change: impl FnOnce(&mut Hadoop), planned_failures: Vec<PlannedFailure>) -> Bench {
    tracker_of(change, planned_failures, HeartbeatManner::default())
}

fn tracker_of(
    change: impl FnOnce(&mut Hadoop),
    planned_failures: Vec<PlannedFailure>,
    manner: HeartbeatManner,
) -> Bench {
    let mut hadoop = Hadoop::of(HadoopLine::V020);
    hadoop.start_up = Dist::Constant(SimSpan::from_secs(1));
    hadoop.commit_time = SimSpan::from_secs(1);
    hadoop.copier_sleep = SimSpan::ZERO;
    hadoop.localisation = SimSpan::ZERO;
    change(&mut hadoop);
    let node = Node::plain(0, PerSlot { map: 2, reduce: 1 });
    let costs = Arc::new(Costs {
        seed: 1,
        hadoop,
        rates: ReadRates {
            rack: Rate::from_mb_per_s(50),
            off_rack: Rate::from_mb_per_s(25),
            uplink: Rate::from_mb_per_s(1_000),
        },
        topology: Arc::new(Topology::from_nodes(vec![node.clone()])),
        planned_failures,
        shared: None,
        may_slow_down: true,
    });
    let mut bench = Bench {
        tracker: TaskTracker::new(TrackerId(0), node, costs, SimSpan::ZERO, manner),
        now: SimTime::ZERO,
        own: Vec::new(),
        ends: Vec::new(),
        statuses: Vec::new(),
        call: HeartbeatCall::default(),
        brief: 0,
        facts: Vec::new(),
        replies: 0,
        reduces: 0,
        missing: Vec::new(),
        spoilt: Vec::new(),
        asked: Vec::new(),
    };
    bench.hear(ToTracker::PowerOn);
    bench
}

impl Bench {
    fn hear(&mut self, msg: ToTracker) {
        let mut out = Outbox::at(self.now);
        self.tracker.handle(&msg, &mut out);
        for letter in out.letters {
            match letter.mail {
                Mail::JobTracker(ToJobTracker::Heartbeat(heartbeat)) => {
                    self.call = heartbeat.call();
                    match heartbeat {
                        Heartbeat::Full(status) => self.statuses.push(status),
                        Heartbeat::AsBefore(_) => self.brief += 1,
                    }
                }
                Mail::MapOutputs(ToMapOutputs::Spoilt(map)) => self.spoilt.push(*map),
                Mail::MapOutputs(ToMapOutputs::Ask { works, .. }) => self.asked.push(works),
                Mail::Tracker(_, msg) => self.own.push((self.now + letter.after, msg)),
                other => unreachable!("a tracker alone sends {other:?}"),
            }
        }
        for event in &out.events {
            if let Fact::Attempt(attempt, _, AttemptFact::Ended { outcome, .. }) = event.fact {
                self.ends.push((event.at, attempt, outcome));
            }
        }
        self.facts.extend(out.events.into_iter().map(|event| event.fact));
    }

    /// Lets time pass; timers of the tracker fire on the way.
    fn until(&mut self, time: SimTime) -> &mut Self {
        while let Some(index) =
            (0..self.own.len()).filter(|i| self.own[*i].0 <= time).min_by_key(|i| self.own[*i].0)
        {
            let (at, msg) = self.own.remove(index);
            self.now = at;
            self.hear(msg);
        }
        self.now = time;
        self
    }

    /// Answers the heartbeat that is under way.
    fn reply(&mut self, directives: Vec<Directive>) -> &mut Self {
        self.reply_with(directives, Vec::new())
    }

    fn reply_with(&mut self, directives: Vec<Directive>, maps: Vec<MapsDone>) -> &mut Self {
        let call = self.call.number;
        let reply = Reply {
            call,
            id: self.replies,
            interval: SimSpan::from_secs(3),
            directives,
            maps,
            missing: self.missing.clone(),
            ..Reply::default()
        };
        self.replies += 1;
        self.hear(ToTracker::Reply(Arc::new(reply)));
        self
    }

    /// Sets the speeds of the node.
    fn slow(&mut self, cpu: f64, network: f64) -> &mut Self {
        let speeds = Speeds { cpu, network, ..Speeds::USUAL };
        self.hear(ToTracker::Speeds(Arc::new(speeds)));
        self
    }

    /// Answers heartbeats until `end`, with all maps done from an instant on.
    fn beat_until(&mut self, end: SimTime, maps_done: Option<SimTime>) -> &mut Self {
        loop {
            let next = self.own.iter().map(|(at, _)| *at).min().filter(|next| *next <= end);
            let Some(next) = next else { break };
            let beats = self.statuses.len();
            self.until(next);
            if beats < self.statuses.len() {
                let done = if maps_done.is_some_and(|at| at <= next) { 4 } else { 0 };
                self.reply_with(
                    vec![],
                    vec![MapsDone {
                        job: JobId(0),
                        done,
                        total: 4,
                        changes: 0,
                        over_at: SimTime::ZERO,
                    }],
                );
            }
        }
        self.until(end)
    }

    /// Returns when and how an attempt ended; `None` before.
    fn end(&self, attempt: AttemptId) -> Option<(SimTime, Outcome)> {
        let ends = self.ends.iter().find(|(_, other, _)| *other == attempt);
        ends.map(|(at, _, outcome)| (*at, *outcome))
    }

    /// Launches an attempt at the first heartbeat, and answers those of 3, 6 and 9 s.
    fn run(&mut self, attempt: AttemptId) {
        let launch = self.launch(attempt);
        self.until(secs(0)).reply(vec![launch]);
        for beat in 1..4 {
            self.until(secs(3 * beat)).reply(vec![]);
        }
    }

    fn launch(&self, attempt: AttemptId) -> Directive {
        let job = job(self.reduces);
        Directive::Launch(LaunchOrder::work(attempt, job))
    }

    fn status(&self) -> &TrackerStatus {
        self.statuses.last().expect("a heartbeat was sent")
    }

    fn report(&self, attempt: AttemptId) -> Option<Report> {
        self.status().reports.iter().find(|report| report.attempt == attempt).copied()
    }

    fn state(&self, attempt: AttemptId) -> Option<AttemptState> {
        self.report(attempt).map(|report| report.state)
    }
}

#[test]
fn with_a_fuzz_every_interval_is_another_between_its_ends() {
    let [early, late] = [200, 100].map(SimSpan::from_millis);
    for (fuzz, shortest, longest) in
        [(IntervalFuzz::NONE, 3_000, 3_000), (IntervalFuzz { early, late }, 2_800, 3_100)]
    {
        let mut bench = tracker(|hadoop| hadoop.heartbeat_fuzz = fuzz);
        bench.until(SimTime::ZERO);
        let gaps = (0..500).map(|_| {
            let sent_at = bench.now;
            bench.reply(Vec::new());
            let next = bench.own[0].0;
            bench.until(next);
            (next - sent_at).as_micros() / 1_000
        });
        let gaps: Vec<u64> = gaps.collect();
        let (least, most) = (*gaps.iter().min().unwrap(), *gaps.iter().max().unwrap());
        assert!(shortest <= least && most <= longest, "{least} {most}");
        assert!(least <= shortest + 5 && longest <= most + 5, "{least} {most}");
        let mean = gaps.iter().sum::<u64>() as f64 / 500.0;
        assert!((mean - (shortest + longest) as f64 / 2.0).abs() < 12.0, "{mean}");
    }
}

#[test]
fn the_next_heartbeat_is_due_an_interval_after_the_reply() {
    let mut bench = tracker(|_| {});
    bench.until(secs(0));
    assert_eq!(bench.statuses.len(), 1);
    bench.until(secs(2)).reply(vec![]);
    bench.until(SimTime::from_micros(4_999_999));
    assert_eq!(bench.statuses.len(), 1);
    bench.until(secs(5));
    assert_eq!(bench.statuses.len(), 2);
}

#[test]
fn a_second_copy_of_a_reply_changes_nothing() {
    let mut bench = tracker(|_| {});
    bench.until(secs(0)).reply(vec![]);
    let call = bench.status().call.number;
    let launch = bench.launch(map(0));
    let copy = Reply { call, directives: vec![launch], ..Reply::default() };
    bench.hear(ToTracker::Reply(Arc::new(copy)));
    bench.until(secs(3));
    assert_eq!(bench.state(map(0)), None);
}

#[test]
fn an_attempt_waits_until_a_slot_is_really_free() {
    let mut bench = tracker(|_| {});
    let launches = [map(0), map(1), map(2)].map(|attempt| bench.launch(attempt)).to_vec();
    bench.until(secs(0)).reply(launches);
    bench.until(secs(3));
    assert_eq!(bench.state(map(1)), Some(AttemptState::Running));
    assert_eq!(bench.state(map(2)), Some(AttemptState::Unassigned));
    assert_eq!(bench.status().occupied.map, 3, "an attempt that waits counts as taking a slot");
}

#[test]
fn nobody_overtakes_an_attempt_that_waits_for_several_slots() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = |bench: &Bench, attempt, slots| match bench.launch(attempt) {
        Directive::Launch(launch) => Directive::Launch(LaunchOrder { slots, ..launch }),
        other => other,
    };
    let launches = [(0, 1), (1, 2), (2, 1)].map(|(index, slots)| launch(&bench, map(index), slots));
    bench.until(secs(0)).reply(launches.to_vec());
    let states = |bench: &Bench| [0, 1, 2].map(|index| bench.state(map(index)).unwrap());
    use AttemptState::{Running, Succeeded, Unassigned};
    bench.until(secs(3)).reply(vec![]);
    assert_eq!(states(&bench), [Running, Unassigned, Unassigned], "though a slot is free");
    assert_eq!(bench.status().occupied.map, 4);
    for beat in 2..4 {
        bench.until(secs(3 * beat)).reply(vec![]);
    }
    bench.until(secs(12));
    assert_eq!(states(&bench), [Succeeded, Running, Unassigned]);
    let two =
        |fact: &Fact| matches!(fact, Fact::Attempt(_, _, AttemptFact::Started { slots: 2, .. }));
    assert!(bench.facts.iter().any(two));
}

#[test]
fn progress_is_what_the_child_said_last() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3)).reply(vec![]);
    // At 6 s the process has just reported its progress, after five of its ten seconds of work.
    bench.until(secs(6));
    assert_eq!(bench.report(map(0)).unwrap().progress, 0.5);
    bench.until(secs(8)).reply(vec![]);
    bench.until(secs(11));
    let report = bench.report(map(0)).unwrap();
    assert_eq!((report.state, report.progress), (AttemptState::Succeeded, 1.0));
}

/// The process last reported its progress at 9 s, but says once more that it is done.
#[test]
fn an_ended_attempt_has_run_to_its_end_and_not_to_its_last_report_of_progress() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    bench.run(map(0));
    bench.until(secs(12));
    assert_eq!(SimTime::ZERO + bench.report(map(0)).unwrap().ran, secs(11));
}

#[test]
fn a_commit_waits_for_leave_and_its_slot_is_reported_free_meanwhile() {
    let mut bench = tracker(|_| {});
    bench.run(map(0));
    // Start-up and work end at 11 s; the heartbeat of 12 s reports that.
    bench.until(secs(12));
    assert_eq!(bench.state(map(0)), Some(AttemptState::CommitPending));
    assert_eq!(bench.status().occupied.map, 0, "the quirk");
    // After the permission, the process asks for the first time at 12 s, and commits for 1 s.
    bench.reply(vec![Directive::Commit(map(0))]);
    bench.until(SimTime::from_micros(12_999_999));
    assert!(
        !bench
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Attempt(_, _, AttemptFact::Ended { .. })))
    );
    bench.until(secs(15));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Succeeded));
    let phases = bench.facts.iter().find_map(|fact| match fact {
        Fact::Attempt(_, _, AttemptFact::Ended { phases, .. }) => Some(*phases),
        _ => None,
    });
    assert_eq!(phases.unwrap().commit, Some(SimSpan::from_secs(2)));
}

#[test]
fn with_slot_held_a_commit_is_reported_in_its_slot() {
    let mut bench = tracker(|hadoop| hadoop.commit_pending = CommitPending::SlotHeld);
    bench.run(map(0));
    bench.until(secs(12));
    assert_eq!(bench.state(map(0)), Some(AttemptState::CommitPending));
    assert_eq!(bench.status().occupied.map, 1);
}

#[test]
fn maps_of_jobs_with_reduces_do_not_commit() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    bench.run(map(0));
    bench.until(secs(12));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Succeeded));
}

#[test]
fn an_ended_attempt_is_reported_once() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    bench.run(map(0));
    bench.until(secs(12)).reply(vec![]);
    bench.until(secs(15));
    assert_eq!(bench.state(map(0)), None);
}

#[test]
fn a_suspended_attempt_keeps_its_work_and_gives_its_slot_up() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    // It has worked for five of its ten seconds.
    bench.until(secs(6)).reply(vec![Directive::Suspend(map(0))]);
    bench.until(secs(9));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Suspended));
    assert_eq!(bench.status().occupied.map, 0);
    bench.until(secs(60)).reply(vec![Directive::Resume(map(0))]);
    bench.until(secs(64)).reply(vec![]);
    assert_eq!(bench.state(map(0)), Some(AttemptState::Running));
    bench.until(secs(67));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Succeeded));
    let ended = bench.facts.iter().find_map(|fact| match fact {
        Fact::Attempt(_, _, AttemptFact::Ended { phases, .. }) => Some(phases.suspended),
        _ => None,
    });
    assert_eq!(ended, Some(SimSpan::from_secs(54)));
}

#[test]
fn a_resume_before_the_start_does_not_keep_an_attempt_from_its_slot() {
    let mut bench = tracker(|_| {});
    let launches = [map(0), map(1), map(2)].map(|attempt| bench.launch(attempt)).to_vec();
    bench.until(secs(0)).reply(launches);
    bench.until(secs(3)).reply(vec![Directive::Resume(map(2)), Directive::Kill(map(0))]);
    bench.until(secs(6));
    assert_eq!(bench.state(map(2)), Some(AttemptState::Running));
}

#[test]
fn a_killed_attempt_leaves_output_behind_only_if_it_ran() {
    let mut bench = tracker(|_| {});
    let launches = [map(0), map(1), map(2)].map(|attempt| bench.launch(attempt)).to_vec();
    bench.until(secs(0)).reply(launches);
    let kills = [map(2), map(0)].map(Directive::Kill).to_vec();
    bench.until(secs(3)).reply(kills);
    bench.until(secs(6));
    assert_eq!(bench.state(map(0)), Some(AttemptState::KilledUnclean));
    assert_eq!(bench.state(map(2)), Some(AttemptState::Killed));
}

#[test]
fn with_its_disk_a_tracker_loses_what_works_but_not_what_waits() {
    let mut bench = tracker(|_| {});
    let launches = [0, 1, 2].map(|index| bench.launch(map(index))).to_vec();
    bench.until(secs(0)).reply(launches);
    bench.until(secs(2)).hear(ToTracker::DiskLost);
    bench.until(secs(3));
    let states = [0, 1, 2].map(|index| bench.state(map(index)));
    let failed = Some(AttemptState::FailedUnclean);
    assert_eq!(states, [failed, failed, Some(AttemptState::Running)]);
}

#[test]
fn with_its_disk_a_tracker_loses_what_maps_have_left_that_ended() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launches = [0, 1].map(|index| bench.launch(map(index))).to_vec();
    bench.until(secs(0)).reply(launches);
    // A second of start-up and ten of work; the next heartbeat is a second later.
    bench.until(secs(11)).hear(ToTracker::DiskLost);
    assert_eq!(bench.spoilt, [map(0), map(1)]);
}

#[test]
fn a_tracker_that_is_disallowed_ends_until_it_is_started_again() {
    let mut bench = tracker(|_| {});
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3));
    let call = bench.status().call.number;
    let disallowed = Reply { call, disallowed: true, ..Reply::default() };
    bench.hear(ToTracker::Reply(Arc::new(disallowed)));
    assert!(matches!(bench.facts.last(), Some(Fact::Tracker(TrackerId(0), TrackerFact::Down))));
    let sent = bench.statuses.len();
    bench.until(secs(60));
    assert_eq!(bench.statuses.len(), sent, "it is silent");
    bench.hear(ToTracker::PowerOn);
    bench.until(secs(61));
    assert!(bench.status().restarted && bench.status().reports.is_empty());
}

#[test]
fn out_of_band_a_heartbeat_follows_the_end_of_an_attempt_at_once() {
    let mut bench = tracker(|hadoop| hadoop.out_of_band = true);
    bench.reduces = 1;
    bench.run(map(0));
    bench.until(secs(11));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Succeeded));
}

#[test]
fn a_tracker_that_is_told_to_start_anew_drops_everything() {
    let mut bench = tracker(|_| {});
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3));
    let call = bench.status().call.number;
    bench.hear(ToTracker::Reply(Arc::new(Reply { call, reinit: true, ..Reply::default() })));
    bench.until(secs(3));
    assert_eq!(bench.status().call.last_reply, None);
    assert!(bench.status().reports.is_empty());
}

#[test]
fn in_mumak_a_map_that_ends_with_the_next_heartbeat_is_reported_by_it() {
    for (line, state) in
        [(HadoopLine::Mumak, AttemptState::Succeeded), (HadoopLine::V020, AttemptState::Running)]
    {
        let mut bench = tracker(|hadoop| {
            hadoop.line = line;
            hadoop.start_up = Dist::Constant(SimSpan::ZERO);
            hadoop.commit_pending = CommitPending::None;
        });
        let Directive::Launch(mut launch) = bench.launch(map(0)) else { unreachable!() };
        Arc::make_mut(&mut launch.job).map.time = Some(SimSpan::from_secs(3).into());
        bench.until(secs(0)).reply(vec![Directive::Launch(launch)]);
        bench.until(secs(3));
        assert_eq!(bench.state(map(0)), Some(state), "{line}");
    }
}

#[test]
fn a_process_that_crashes_takes_its_attempts_along_and_comes_back_empty() {
    let mut bench = tracker(|_| {});
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(2)).hear(ToTracker::Crash);
    assert_eq!(bench.end(map(0)), Some((secs(2), Outcome::Killed)));
    bench.until(secs(5)).hear(ToTracker::PowerOn);
    bench.until(secs(5));
    let status = bench.status();
    assert!(status.restarted && status.call.last_reply.is_none() && status.reports.is_empty());
}

#[test]
fn a_process_that_comes_back_has_the_slots_that_are_configured_by_then() {
    let mut bench = tracker(|_| {});
    bench.until(secs(0)).reply(vec![]);
    let slots = bench.status().slots;
    let more = PerSlot { map: Some(slots.map + 3), reduce: None };
    bench.until(secs(2)).hear(ToTracker::Slots(more.into()));
    bench.until(secs(4));
    assert_eq!(bench.status().slots, slots, "the process has not started again");
    bench.hear(ToTracker::Crash);
    bench.until(secs(5)).hear(ToTracker::PowerOn);
    bench.until(secs(5));
    assert_eq!(bench.status().slots, PerSlot { map: slots.map + 3, ..slots });
}

#[test]
fn a_process_that_comes_back_speaks_at_once_and_in_the_line_1_x_after_the_shortest_interval() {
    for (line, waits) in [(HadoopLine::V020, 0), (HadoopLine::V021, 0), (HadoopLine::V1, 3)] {
        let mut bench = tracker(|hadoop| hadoop.line = line);
        bench.until(secs(0)).reply(vec![]);
        assert_eq!(bench.statuses.len(), 1, "{line}: the start is spread otherwise");
        bench.until(secs(1)).hear(ToTracker::Crash);
        bench.until(secs(60)).hear(ToTracker::PowerOn);
        let (next, _) = bench.own.last().expect("a heartbeat is planned");
        assert_eq!(*next, secs(60 + waits), "{line}");
    }
}

#[test]
fn a_heartbeat_that_is_refused_is_sent_again_each_second_until_somebody_answers() {
    let mut bench = tracker(|_| {});
    bench.until(secs(0));
    let call = bench.status().call.number;
    for sent in 1..4 {
        assert_eq!(bench.statuses.len(), sent as usize);
        // Two copies of the heartbeat have arrived, and both are refused.
        bench.hear(ToTracker::Refused(call));
        bench.hear(ToTracker::Refused(call));
        bench.until(secs(sent));
    }
    assert_eq!((bench.statuses.len(), bench.status().call.number), (4, call));
    bench.reply(vec![]);
    bench.hear(ToTracker::Refused(call));
    bench.until(SimTime::from_micros(5_999_999));
    assert_eq!(bench.statuses.len(), 4, "the next one is due in three seconds");
}

#[test]
fn a_process_whose_heartbeat_is_refused_tries_again_though_the_one_before_it_was_refused_just_now()
{
    let mut bench = tracker(|_| {});
    bench.until(secs(0));
    bench.hear(ToTracker::Refused(bench.call.number));
    bench.until(SimTime::from_micros(100_000)).hear(ToTracker::Crash);
    bench.until(SimTime::from_micros(300_000)).hear(ToTracker::PowerOn);
    bench.until(SimTime::from_micros(300_000));
    assert_eq!(bench.statuses.len(), 2);
    bench.hear(ToTracker::Refused(bench.call.number));
    bench.until(SimTime::from_micros(1_300_000));
    assert_eq!(bench.statuses.len(), 3);
}

#[test]
fn only_the_first_attempts_of_a_job_wait_for_its_files() {
    let mut bench = tracker(|hadoop| hadoop.localisation = SimSpan::from_millis(400));
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    let launch = bench.launch(map(1));
    bench.until(secs(3)).reply(vec![launch]);
    bench.beat_until(secs(30), None);
    // Each map works for 10 s, and starts up for 1 s if it waits for the files.
    assert_eq!(bench.end(map(0)), Some((secs(11), Outcome::Succeeded)));
    let later = secs(3) + SimSpan::from_millis(10_600);
    assert_eq!(bench.end(map(1)), Some((later, Outcome::Succeeded)));
    // A process that has crashed leaves no files of jobs.
    bench.hear(ToTracker::Crash);
    bench.until(secs(40)).hear(ToTracker::PowerOn);
    let launch = bench.launch(map(2));
    bench.until(secs(40)).reply(vec![launch]);
    bench.beat_until(secs(60), None);
    assert_eq!(bench.end(map(2)), Some((secs(51), Outcome::Succeeded)));
}
