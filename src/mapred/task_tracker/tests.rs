//! A tracker driven by hand: a message in, letters and events out.

mod brief;

use std::sync::Arc;

use super::*;
use crate::cluster::{ReadRates, Topology};
use crate::mapred::{
    Call, Doom, DoomKind, Fuzz, Hadoop, JobId, JobSpec, MapsDone, Missing, Phase, Report,
    TaskBytes, TaskId, TaskKind,
};
use crate::random::Dist;
use crate::units::{Bytes, Fraction, Rate};

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

/// A tracker with its own small world: letters to itself come back when they are due.
struct Bench {
    tracker: TaskTracker,
    now: SimTime,
    own: Vec<(SimTime, ToTracker)>,
    ends: Vec<(SimTime, AttemptId, Outcome)>,
    statuses: Vec<Arc<Status>>,
    /// The last heartbeat.
    call: Call,
    /// How many heartbeats said that all is as before.
    brief: u32,
    facts: Vec<Fact>,
    replies: u16,
    reduces: u32,
    /// What replies say that reduces cannot fetch.
    missing: Vec<Missing>,
    /// Outputs that it says are gone.
    spoilt: Vec<AttemptId>,
}

/// Two map slots and one reduce slot; one second of start-up, a poll every second, commits of 1 s.
fn tracker(change: impl FnOnce(&mut Hadoop)) -> Bench {
    tracker_with(change, Vec::new())
}

/// The same, on which these attempts end badly.
fn tracker_with(change: impl FnOnce(&mut Hadoop), dooms: Vec<Doom>) -> Bench {
    let line = include_str!("../../../scenarios/hadoop/0.20.yaml");
    let mut hadoop: Hadoop = serde_yaml::from_str(line).unwrap();
    hadoop.start_up = Dist::Constant(SimSpan::from_secs(1));
    hadoop.commit_time = SimSpan::from_secs(1);
    change(&mut hadoop);
    let node = Node::plain(0, PerSlot { map: 2, reduce: 1 });
    let costs = Arc::new(Costs {
        seed: 1,
        hadoop,
        rates: ReadRates { rack: Rate::from_mb_per_s(50), off_rack: Rate::from_mb_per_s(25) },
        topology: Arc::new(Topology::from_nodes(vec![node.clone()])),
        dooms,
        shared: None,
        may_slow_down: true,
    });
    let mut bench = Bench {
        tracker: TaskTracker::new(TrackerId(0), node, costs, SimSpan::ZERO, Manner::default()),
        now: SimTime::ZERO,
        own: Vec::new(),
        ends: Vec::new(),
        statuses: Vec::new(),
        call: Call::default(),
        brief: 0,
        facts: Vec::new(),
        replies: 0,
        reduces: 0,
        missing: Vec::new(),
        spoilt: Vec::new(),
    };
    bench.hear(ToTracker::PowerOn);
    bench
}

impl Bench {
    fn hear(&mut self, msg: ToTracker) {
        let mut out = Outbox::default();
        self.tracker.handle(self.now, &msg, &mut out);
        for letter in out.letters {
            match letter.mail {
                Mail::JobTracker(ToJobTracker::Heartbeat(heartbeat)) => {
                    self.call = heartbeat.call();
                    match heartbeat {
                        Heartbeat::Full(status) => self.statuses.push(status),
                        Heartbeat::AsBefore(_) => self.brief += 1,
                    }
                }
                Mail::JobTracker(ToJobTracker::Spoilt(map)) => self.spoilt.push(*map),
                Mail::Tracker(_, msg) => self.own.push((self.now + letter.after, msg)),
                other => unreachable!("a tracker alone sends {other:?}"),
            }
        }
        for event in &out.events {
            if let Fact::Ended { attempt, outcome, .. } = event.fact {
                self.ends.push((event.at, attempt, outcome));
            }
        }
        self.facts.extend(out.events.into_iter().map(|event| event.fact));
    }

    /// Lets time pass; what the tracker planned happens on the way.
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

    /// Gives the node other speeds.
    fn slow(&mut self, cpu: f64, network: f64) -> &mut Self {
        let speeds = Speeds { cpu, network, ..Speeds::USUAL };
        self.hear(ToTracker::Speeds(Arc::new(speeds)));
        self
    }

    /// Answers heartbeats until then, with all maps done from an instant on.
    fn beat_until(&mut self, end: SimTime, maps_done: Option<SimTime>) -> &mut Self {
        loop {
            let next = self.own.iter().map(|(at, _)| *at).min().filter(|next| *next <= end);
            let Some(next) = next else { break };
            let beats = self.statuses.len();
            self.until(next);
            if beats < self.statuses.len() {
                let done = if maps_done.is_some_and(|at| at <= next) { 4 } else { 0 };
                self.reply_with(vec![], vec![MapsDone { job: JobId(0), done, total: 4 }]);
            }
        }
        self.until(end)
    }

    /// Returns when an attempt ended and how, once it has.
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
        Directive::Launch(Launch::work(attempt, job))
    }

    fn status(&self) -> &Status {
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
        [(Fuzz::NONE, 3_000, 3_000), (Fuzz { early, late }, 2_800, 3_100)]
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
    assert_eq!(bench.status().occupied.map, 3, "what waits counts as taking a slot");
}

#[test]
fn nobody_overtakes_an_attempt_that_waits_for_several_slots() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = |bench: &Bench, attempt, slots| match bench.launch(attempt) {
        Directive::Launch(launch) => Directive::Launch(Launch { slots, ..launch }),
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
    let two = |fact: &Fact| matches!(fact, Fact::Started { slots: 2, .. });
    assert!(bench.facts.iter().any(two));
}

#[test]
fn progress_is_what_the_child_said_last() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3)).reply(vec![]);
    // At 6 s the child last spoke at 6 s: 5 s into ten seconds of work.
    bench.until(secs(6));
    assert_eq!(bench.report(map(0)).unwrap().progress, 0.5);
    bench.until(secs(8)).reply(vec![]);
    bench.until(secs(11));
    let report = bench.report(map(0)).unwrap();
    assert_eq!((report.state, report.progress), (AttemptState::Succeeded, 1.0));
}

#[test]
fn a_commit_waits_for_leave_and_its_slot_is_reported_free_meanwhile() {
    let mut bench = tracker(|_| {});
    bench.run(map(0));
    // Start-up and work end at 11 s; the heartbeat of 12 s says so.
    bench.until(secs(12));
    assert_eq!(bench.state(map(0)), Some(AttemptState::CommitPending));
    assert_eq!(bench.status().occupied.map, 0, "the quirk");
    // The child asks at 12 s for the first time after the leave, and commits for 1 s.
    bench.reply(vec![Directive::Commit(map(0))]);
    bench.until(SimTime::from_micros(12_999_999));
    assert!(!bench.facts.iter().any(|fact| matches!(fact, Fact::Ended { .. })));
    bench.until(secs(15));
    assert_eq!(bench.state(map(0)), Some(AttemptState::Succeeded));
    let phases = bench.facts.iter().find_map(|fact| match fact {
        Fact::Ended { phases, .. } => Some(*phases),
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
fn a_shuffle_ends_after_the_last_map_and_not_before() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let maps = |done| vec![MapsDone { job: JobId(0), done, total: 4 }];
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    // Half of the output is there; it is fetched in two seconds, then the reduce waits.
    bench.until(secs(3));
    assert!(bench.report(reduce(0)).unwrap().wants_maps);
    bench.reply_with(vec![], maps(2));
    bench.until(secs(30));
    assert_eq!(bench.report(reduce(0)).unwrap().phase, Phase::Shuffle);
    // The other half takes two more seconds, then one of merging and five of reducing.
    bench.reply_with(vec![], maps(4));
    bench.until(secs(33));
    assert_eq!(bench.report(reduce(0)).unwrap().phase, Phase::Sort);
    bench.reply(vec![]);
    bench.until(secs(36)).reply(vec![]);
    bench.until(secs(39));
    assert_eq!(bench.state(reduce(0)), Some(AttemptState::CommitPending));
}

/// Answers heartbeats every three seconds, up to one: so many of four maps are done.
fn answer(bench: &mut Bench, seconds: std::ops::RangeInclusive<u64>, done: u32) {
    for second in seconds.step_by(3) {
        bench.until(secs(second));
        bench.reply_with(vec![], vec![MapsDone { job: JobId(0), done, total: 4 }]);
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
        assert_eq!(phase == Some(Phase::Shuffle), !ends, "{order}: {phase:?}");
        // Its map runs again, and then has.
        bench.missing = vec![missing(order, true)];
        answer(&mut bench, 33..=36, 3);
        bench.missing.clear();
        answer(&mut bench, 39..=60, 4);
        assert!(bench.report(reduce(0)).is_none_or(|report| report.phase != Phase::Shuffle));
    }
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
    assert_eq!(bench.status().failed_fetches, [], "it is said once");
    answer(&mut bench, 423..=87_300, 4);
    assert_eq!(bench.state(reduce(0)), None, "it has given up and said so");
    let complaints = bench.facts.iter().filter(|fact| matches!(fact, Fact::FetchFailed { .. }));
    assert_eq!(complaints.count(), 3);
}

/// Of 600 MB the reduces have 360, 180 and 60, and they reduce 1 MB a second. What a policy learns of
/// them after half a minute, time over progress, is how long each takes.
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
            Directive::Launch(launch) => Directive::Launch(Launch { job, ..launch }),
            other => other,
        };
        bench.until(secs(0)).reply(vec![launch]);
        bench
            .until(secs(3))
            .reply_with(vec![], vec![MapsDone { job: JobId(0), done: 4, total: 4 }]);
        for beat in 2..12 {
            bench.until(secs(3 * beat)).reply(vec![]);
        }
        // It has fetched from 3 to 7 s, and merged until 8 s.
        bench.until(secs(36));
        let Report { phase, worked, progress, .. } = bench.report(attempt).unwrap();
        assert_eq!((phase, worked), (Phase::Reduce, SimSpan::from_secs(28)));
        let told = worked.as_secs_f64() / (3.0 * f64::from(progress) - 2.0);
        assert!((told - seconds).abs() < 0.01, "reduce {index}: {told}");
    }
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
        Fact::Ended { phases, .. } => Some(phases.suspended),
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
    assert!(matches!(bench.facts.last(), Some(Fact::TrackerDown(TrackerId(0)))));
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
    for (line, state) in [("mumak", AttemptState::Succeeded), ("0.20", AttemptState::Running)] {
        let mut bench = tracker(|hadoop| {
            hadoop.line = line.to_owned();
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
fn in_mumak_a_reduce_is_let_go_by_a_heartbeat_that_has_reported_it() {
    for (line, waits) in [("mumak", true), ("0.20", false)] {
        let mut bench = tracker(|hadoop| {
            hadoop.line = line.to_owned();
            hadoop.commit_pending = CommitPending::None;
        });
        bench.reduces = 1;
        let launch = bench.launch(reduce(0));
        let all = vec![MapsDone { job: JobId(0), done: 4, total: 4 }];
        bench.until(secs(0)).reply_with(vec![launch], all);
        bench.until(secs(3)).reply(vec![]);
        // It starts for a second and fetches for four.
        bench.until(secs(6));
        assert_eq!(bench.report(reduce(0)).unwrap().phase == Phase::Shuffle, waits, "{line}");
    }
}

#[test]
fn a_slow_node_stretches_what_is_left_from_that_instant_on() {
    let mut bench = tracker(|_| {});
    bench.reduces = 1;
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    // A second of start-up; of ten seconds of work four pass, then four at half the speed, and the
    // last four at the usual one.
    bench.beat_until(secs(5), None).slow(0.5, 1.0);
    bench.beat_until(secs(6), None);
    assert_eq!(bench.report(map(0)).unwrap().progress, 0.45);
    bench.beat_until(secs(9), None).slow(1.0, 1.0);
    bench.beat_until(secs(20), None);
    assert_eq!(bench.end(map(0)), Some((secs(13), Outcome::Succeeded)));
}

#[test]
fn what_starts_on_a_slow_node_is_slow_from_its_start() {
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
    // The heartbeat of 6 s says that all maps are there. Of four seconds of fetching three are done
    // at 9 s, and the last takes four.
    bench.beat_until(secs(9), Some(secs(6))).slow(1.0, 0.25);
    bench.beat_until(secs(40), Some(secs(6)));
    assert_eq!(bench.end(reduce(0)), Some((secs(13 + 1 + 5), Outcome::Succeeded)));
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

/// Lets all attempts end badly.
fn all(how: DoomKind, at_progress: f64) -> Vec<Doom> {
    let at_progress = Some(Fraction::of(at_progress));
    let share = Fraction::of(1.0);
    let doom =
        Doom { how, share, at_progress, nodes: None, jobs: None, kind: None, memory_above: None };
    vec![doom]
}

#[test]
fn a_map_fails_at_its_share_of_the_progress_and_says_no_more_before() {
    let mut bench = tracker_with(|_| {}, all(DoomKind::Failure, 0.5));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.beat_until(secs(3), None);
    assert_eq!(bench.report(map(0)).unwrap().progress, 0.2);
    bench.beat_until(secs(30), None);
    assert_eq!(bench.end(map(0)), Some((secs(1 + 5), Outcome::Failed)));
}

#[test]
fn a_reduce_fails_in_the_phase_that_its_progress_is_in() {
    // Start-up, then fetching for 4 s, merging for 1 s, reducing for 5 s; all maps are there at once.
    for (progress, end) in [(0.0, 1.0), (0.25, 4.0), (0.5, 5.5), (1.0, 11.0)] {
        let mut bench =
            tracker_with(|hadoop| hadoop.poll = SimSpan::ZERO, all(DoomKind::Failure, progress));
        let launch = bench.launch(reduce(0));
        let maps = MapsDone { job: JobId(0), done: 4, total: 4 };
        bench.until(secs(0)).reply_with(vec![launch], vec![maps]);
        bench.beat_until(secs(30), Some(secs(0)));
        let end = SimTime::ZERO + SimSpan::ceil_from_secs(end);
        assert_eq!(bench.end(reduce(0)), Some((end, Outcome::Failed)), "at {progress}");
    }
}

#[test]
fn a_reduce_that_fails_while_it_fetches_does_not_wait_for_the_last_map() {
    let mut bench = tracker_with(|_| {}, all(DoomKind::Failure, 0.25));
    let launch = bench.launch(reduce(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.until(secs(3)).reply_with(vec![], vec![MapsDone { job: JobId(0), done: 2, total: 4 }]);
    bench.until(secs(6)).reply_with(vec![], vec![MapsDone { job: JobId(0), done: 2, total: 4 }]);
    bench.until(secs(9));
    assert_eq!(bench.end(reduce(0)), None, "half is there, and three quarters are fetched before");
    bench.reply_with(vec![], vec![MapsDone { job: JobId(0), done: 3, total: 4 }]);
    bench.until(secs(12));
    assert_eq!(bench.end(reduce(0)), Some((secs(10), Outcome::Failed)));
}

#[test]
fn a_hanging_attempt_fails_at_the_first_heartbeat_after_the_timeout() {
    let timeout = |hadoop: &mut Hadoop| hadoop.task_timeout = SimSpan::from_secs(60);
    let mut bench = tracker_with(timeout, all(DoomKind::Hang, 0.5));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    // It hangs from 6 s on; the heartbeats are those of 66 and 69 s.
    bench.beat_until(secs(68), None);
    let Report { state, progress, .. } = bench.report(map(0)).unwrap();
    assert_eq!((state, progress), (AttemptState::Running, 0.5));
    bench.beat_until(secs(100), None);
    assert_eq!(bench.end(map(0)), Some((secs(69), Outcome::Failed)));
}

#[test]
fn without_a_timeout_a_hanging_attempt_is_left_alone_until_it_is_killed() {
    let never = |hadoop: &mut Hadoop| hadoop.task_timeout = SimSpan::ZERO;
    let mut bench = tracker_with(never, all(DoomKind::Hang, 0.0));
    let launch = bench.launch(map(0));
    bench.until(secs(0)).reply(vec![launch]);
    bench.beat_until(secs(86_399), None);
    assert_eq!(bench.end(map(0)), None);
    bench.until(secs(86_400)).reply(vec![Directive::Kill(map(0))]);
    assert_eq!(bench.end(map(0)), Some((secs(86_400), Outcome::Killed)));
}

#[test]
fn who_takes_too_much_memory_for_its_slots_fails_as_soon_as_it_has_started() {
    let doom = |mib| {
        let memory_above = Some(Bytes::from_mib(mib));
        let [doom] = all(DoomKind::OutOfMemory, 0.0).try_into().unwrap();
        vec![Doom { memory_above, ..doom }]
    };
    let end = |mib| {
        let mut bench = tracker_with(|_| {}, doom(mib));
        bench.reduces = 1;
        let launch = bench.launch(map(0));
        bench.until(secs(0)).reply(vec![launch]);
        bench.beat_until(secs(30), None);
        bench.end(map(0))
    };
    // A map takes 1 MiB.
    assert_eq!(end(1), Some((secs(11), Outcome::Succeeded)));
    assert_eq!(end(0), Some((secs(1), Outcome::Failed)));
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
fn what_gives_up_as_a_heartbeat_is_written_calls_for_no_second_one() {
    let mut bench = tracker(|hadoop| hadoop.out_of_band = true);
    bench.reduces = 1;
    bench.missing = vec![missing(0, false)];
    let launch = bench.launch(reduce(0));
    let there = vec![MapsDone { job: JobId(0), done: 4, total: 4 }];
    bench.until(secs(0)).reply_with(vec![launch], there.clone());
    // Its patience lasts a day: thirty pauses, each longer by 1.3.
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

#[test]
fn a_heartbeat_that_is_refused_is_sent_again_each_second_until_somebody_answers() {
    let mut bench = tracker(|_| {});
    bench.until(secs(0));
    let call = bench.status().call.number;
    for sent in 1..4 {
        assert_eq!(bench.statuses.len(), sent as usize);
        // Two copies have come, and both are refused.
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
            Directive::Launch(Launch::work(attempt, Arc::new(job)))
        };
        let speeds = Speeds { cpu, disk, ..Speeds::USUAL };
        bench.hear(ToTracker::Speeds(Arc::new(speeds)));
        bench.until(secs(0)).reply(vec![large(map(0))]);
        bench.until(secs(3)).reply(vec![Directive::Suspend(map(0)), large(map(1))]);
        bench.beat_until(secs(60), None);
        let started = bench.facts.iter().find_map(|fact| match fact {
            Fact::Ended { attempt, phases, .. } if *attempt == map(1) => Some(phases.start_up),
            _ => None,
        });
        assert_eq!(started, Some(SimSpan::from_secs(start_up)), "cpu {cpu}, disk {disk}");
    }
}
