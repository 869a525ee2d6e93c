//! A JobTracker driven by hand: heartbeats in, directives out.

use std::sync::Arc;

use super::*;
use crate::cluster::{Cut, FileId, Node, Placement};
use crate::mapred::{
    Behind, Fact, FailedFetch, Input, Job, JobSpec, Launch, LaunchExpiry, Phase, Preemption, Reach,
    Reason, Role, Rule, TaskId, TaskKind,
};
use crate::units::{Bytes, Count, Fraction};

/// A JobTracker of eight nodes in two racks, with two map slots and a reduce slot each, and what it
/// has said and seen.
struct Bench {
    tracker: JobTracker,
    now: SimTime,
    calls: [u32; 8],
    last: [Option<u16>; 8],
    /// Whether a tracker that joins has just started, rather than been given up.
    joins_restarted: bool,
    /// Whether the health scripts of all nodes complain.
    is_unhealthy: bool,
    /// What the next heartbeat says that reduces cannot fetch.
    failed_fetches: Vec<FailedFetch>,
    replies: Vec<(TrackerId, Arc<Reply>, SimSpan)>,
    facts: Vec<Fact>,
    to_injector: Vec<ToInjector>,
    own: Vec<(SimTime, ToJobTracker)>,
    /// How far attempts are that are reported.
    progress: f32,
}

/// Fills every free slot, jobs in the order of their numbers.
struct Greedy;

impl Scheduler for Greedy {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        let jobs: Vec<JobId> = offer.running_jobs().map(Job::id).collect();
        let reason = Reason::Other("greedy");
        for job in jobs {
            while 0 < offer.free(SlotKind::Map)
                && offer.launch_map(job, Reach::Any, reason).is_some()
            {}
            while 0 < offer.free(SlotKind::Reduce) && offer.launch_reduce(job, reason).is_some() {}
        }
    }

    fn reads_progress(&self) -> bool {
        true
    }
}

fn hadoop() -> Hadoop {
    let line = include_str!("../../../scenarios/hadoop/0.20.yaml");
    Hadoop { setup_cleanup: false, ..serde_yaml::from_str(line).unwrap() }
}

fn bench(hadoop: Hadoop) -> Bench {
    bench_under(Box::new(Greedy), hadoop)
}

fn bench_under(policy: Box<dyn Scheduler>, hadoop: Hadoop) -> Bench {
    let node = |rack| Node::plain(rack, PerSlot { map: 2, reduce: 1 });
    let topology = Arc::new(Topology::from_nodes([0, 0, 0, 0, 1, 1, 1, 1].map(node).to_vec()));
    let hdfs = Hdfs::new(1, topology.clone(), 1, Placement::Random);
    let spec = JobTrackerSpec {
        per_heartbeat: SimSpan::from_millis(1),
        per_task: SimSpan::from_millis(2),
        per_job: SimSpan::ZERO,
        init: SimSpan::ZERO,
        init_threads: Count::of(4),
    };
    Bench {
        tracker: JobTracker::new(hadoop, topology, hdfs, spec, policy),
        now: SimTime::ZERO,
        calls: [0; 8],
        last: [None; 8],
        joins_restarted: true,
        is_unhealthy: false,
        failed_fetches: Vec::new(),
        replies: Vec::new(),
        facts: Vec::new(),
        to_injector: Vec::new(),
        own: Vec::new(),
        progress: 0.5,
    }
}

fn job(id: u32, maps: u32, reduces: u32) -> Arc<JobSpec> {
    let split = Bytes::from_mib(1);
    let input = Some(Input::File { file: FileId(id), split, last_split: split, more_copies: 0 });
    Arc::new(JobSpec { input, ..JobSpec::bare(id, maps, reduces) })
}

impl Bench {
    fn hear(&mut self, msg: ToJobTracker) -> &mut Self {
        let mut out = Outbox::default();
        self.tracker.handle(self.now, msg, &mut out);
        self.facts.extend(out.events.into_iter().map(|event| event.fact));
        for letter in out.letters {
            match letter.mail {
                Mail::Tracker(to, ToTracker::Reply(reply)) => {
                    self.replies.push((to, reply, letter.after));
                }
                Mail::Injector(msg) => self.to_injector.push(msg),
                Mail::JobTracker(msg) => self.own.push((self.now + letter.after, msg)),
                other => unreachable!("a JobTracker sends {other:?}"),
            }
        }
        // Jobs are read at once.
        while let Some(index) = self
            .own
            .iter()
            .position(|(at, m)| *at == self.now && matches!(m, ToJobTracker::Initialised(_)))
        {
            let (_, msg) = self.own.remove(index);
            self.hear(msg);
        }
        self
    }

    fn at(&mut self, secs: u64) -> &mut Self {
        self.now = SimTime::from_micros(secs * 1_000_000);
        self
    }

    fn submit(&mut self, spec: Arc<JobSpec>) -> &mut Self {
        self.hear(ToJobTracker::Submit(spec))
    }

    /// Sends a tracker's heartbeat; returns what it is told to do.
    fn beat(&mut self, id: u32, reports: &[(AttemptId, AttemptState)]) -> Vec<Directive> {
        self.calls[id as usize] += 1;
        self.send_again(id, reports)
    }

    /// Sends the same call again.
    fn send_again(&mut self, id: u32, reports: &[(AttemptId, AttemptState)]) -> Vec<Directive> {
        let mut occupied = PerSlot::<u32>::default();
        for (attempt, state) in reports {
            if matches!(state, AttemptState::Running | AttemptState::Unassigned) {
                occupied[attempt.slot()] += 1;
            }
        }
        let status = Status {
            tracker: TrackerId(id),
            call: self.calls[id as usize],
            last_reply: self.last[id as usize],
            restarted: self.joins_restarted && self.last[id as usize].is_none(),
            is_unhealthy: self.is_unhealthy,
            slots: PerSlot { map: 2, reduce: 1 },
            occupied,
            reports: reports
                .iter()
                .map(|(attempt, state)| Report {
                    attempt: *attempt,
                    state: *state,
                    phase: Phase::Work,
                    progress: self.progress,
                    ran: SimSpan::from_secs(10),
                    worked: SimSpan::from_secs(9),
                    wants_maps: attempt.task.kind == TaskKind::Reduce,
                })
                .collect(),
            failed_fetches: std::mem::take(&mut self.failed_fetches),
        };
        let before = self.replies.len();
        self.hear(ToJobTracker::Status(Arc::new(status)));
        self.replies[before..]
            .last()
            .map_or_else(Vec::new, |(_, reply, _)| reply.directives.clone())
    }

    /// Returns whether the JobTracker has learned, or decided, that an attempt failed.
    fn has_failed(&self, attempt: AttemptId) -> bool {
        self.facts.iter().any(|fact| {
            matches!(fact, Fact::Learned { attempt: other, state: AttemptState::Failed, .. }
                if *other == attempt)
        })
    }

    /// Lets every tracker send its first heartbeat.
    fn everybody_joins(&mut self) -> &mut Self {
        for id in 0..8 {
            self.at(u64::from(id) + 1).beat_and_receive(id, &[]);
        }
        self
    }

    /// Takes note of the last reply, as a tracker does that has received it.
    fn receive(&mut self) -> &mut Self {
        let (to, reply, _) = self.replies.last().expect("there was a reply");
        self.last[to.index()] = if reply.reinit { None } else { Some(reply.id) };
        self
    }

    /// Sends a heartbeat and receives its reply.
    fn beat_and_receive(
        &mut self,
        id: u32,
        reports: &[(AttemptId, AttemptState)],
    ) -> Vec<Directive> {
        let directives = self.beat(id, reports);
        self.receive();
        directives
    }
}

fn launches(directives: &[Directive]) -> Vec<AttemptId> {
    let launched = directives.iter().filter_map(|directive| match directive {
        Directive::Launch(Launch { attempt, role: Role::Work, .. }) => Some(*attempt),
        _ => None,
    });
    launched.collect()
}

fn kills(directives: &[Directive]) -> Vec<AttemptId> {
    let killed = directives.iter().filter_map(|directive| match directive {
        Directive::Kill(attempt) => Some(*attempt),
        _ => None,
    });
    killed.collect()
}

fn commits(directives: &[Directive]) -> Vec<AttemptId> {
    let allowed = directives.iter().filter_map(|directive| match directive {
        Directive::Commit(attempt) => Some(*attempt),
        _ => None,
    });
    allowed.collect()
}

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
    bench.hear(ToJobTracker::Serve);
    let (to, reply, _) = &bench.replies[1];
    assert_eq!((*to, reply.queued), (TrackerId(1), SimSpan::from_millis(1)));
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
fn a_first_contact_that_arrives_twice_registers_once() {
    let mut bench = bench(hadoop());
    bench.at(1).beat(0, &[]);
    bench.at(2).send_again(0, &[]);
    let joined = bench.facts.iter().filter(|fact| matches!(fact, Fact::TrackerJoined(_)));
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
        Fact::Assigned { counts, .. } => Some(counts.running),
        _ => None,
    });
    assert_eq!(running, Some(3), "three run by the job's count, in two slots");
}

#[test]
fn the_job_runs_after_its_setup_and_ends_after_its_cleanup() {
    let mut bench = bench(Hadoop { setup_cleanup: true, ..hadoop() });
    bench.submit(job(0, 1, 0));
    let setup = launches(&bench.at(1).beat_and_receive(0, &[]));
    assert_eq!(setup[0].task.kind, TaskKind::Setup);
    assert_eq!(setup.len(), 1, "a setup task is the only launch of its heartbeat");
    assert_eq!(launches(&bench.at(2).beat_and_receive(1, &[])), []);
    let map = launches(&bench.at(4).beat_and_receive(0, &[(setup[0], AttemptState::Succeeded)]));
    assert_eq!(map[0].task.kind, TaskKind::Map);
    bench.at(7).beat_and_receive(0, &[(map[0], AttemptState::CommitPending)]);
    let cleanup = launches(&bench.at(9).beat_and_receive(0, &[(map[0], AttemptState::Succeeded)]));
    assert_eq!(cleanup[0].task.kind, TaskKind::Cleanup);
    assert!(bench.to_injector.is_empty());
    bench.at(12).beat_and_receive(0, &[(cleanup[0], AttemptState::Succeeded)]);
    assert_eq!(bench.to_injector.len(), 1);
}

#[test]
fn a_job_is_as_far_as_its_running_attempts_are_together() {
    use AttemptState::{Running, Succeeded};
    let mut bench = bench(hadoop());
    bench.everybody_joins().submit(job(0, 3, 1));
    let maps = launches(&bench.at(20).beat_and_receive(0, &[]));
    let progress = |bench: &Bench| {
        let view = View { now: bench.now, heard: None, ledger: &bench.tracker.ledger };
        let job = view.job(JobId(0)).unwrap().tasks(SlotKind::Map).progress();
        (job, view.progress(maps[0]), view.progress(maps[1]))
    };
    assert_eq!(progress(&bench), (0.0, 0.0, 0.0));
    bench.at(23).beat_and_receive(0, &[(maps[0], Running), (maps[1], Running)]);
    assert_eq!(progress(&bench), (1.0, 0.5, 0.5), "half of each");
    bench.at(26).beat_and_receive(0, &[(maps[0], Succeeded), (maps[1], Running)]);
    assert_eq!(progress(&bench), (0.5, 0.0, 0.5));
}

#[test]
fn reduces_wait_for_the_slow_start() {
    let mut bench = bench(hadoop());
    // A twentieth of forty maps is two.
    bench.submit(job(0, 40, 1));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    let is_reduce = |attempt: &AttemptId| attempt.task.kind == TaskKind::Reduce;
    assert!(!maps.iter().any(is_reduce));
    let one = [(maps[0], AttemptState::Succeeded), (maps[1], AttemptState::Running)];
    let after_one = launches(&bench.at(4).beat_and_receive(0, &one));
    assert!(!after_one.iter().any(is_reduce));
    let two = [(maps[1], AttemptState::Succeeded), (after_one[0], AttemptState::Running)];
    let after_two = launches(&bench.at(7).beat_and_receive(0, &two));
    assert!(after_two.iter().any(is_reduce));
}

#[test]
fn a_failed_attempt_is_cleaned_up_after_before_its_task_runs_again() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 1, 1));
    let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
    let told = bench.at(4).beat_and_receive(0, &[(map, AttemptState::FailedUnclean)]);
    let cleaning = |directive: &Directive| {
        matches!(directive, Directive::Launch(launch)
            if launch.attempt == map && launch.role == Role::TaskCleanup)
    };
    assert!(told.len() == 1 && cleaning(&told[0]), "{told:?}");
    assert_eq!(launches(&bench.at(5).beat_and_receive(1, &[])), []);
    bench.at(7).beat_and_receive(0, &[(map, AttemptState::Failed)]);
    let again = launches(&bench.at(8).beat_and_receive(1, &[]));
    assert_eq!(again, [map.task.attempt(1)]);
}

#[test]
fn a_task_that_fails_too_often_fails_its_job() {
    let mut bench = bench(Hadoop { task_cleanup: false, ..hadoop() });
    bench.everybody_joins().submit(job(0, 1, 0));
    for number in 0..4 {
        let at = u64::from(number) * 10 + 20;
        let map = launches(&bench.at(at).beat_and_receive(number, &[]))[0];
        assert_eq!(map.number, number);
        // The tracker on which it failed does not get it again.
        let failed = [(map, AttemptState::Failed)];
        assert_eq!(launches(&bench.at(at + 3).beat_and_receive(number, &failed)), []);
    }
    assert!(matches!(bench.to_injector[0], ToInjector::JobEnded(JobId(0), Outcome::Failed)));
}

#[test]
fn a_silent_tracker_is_given_up_and_its_completed_maps_run_again() {
    let mut bench = bench(hadoop());
    bench.submit(job(0, 2, 1));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    let done = [(maps[0], AttemptState::Succeeded), (maps[1], AttemptState::Running)];
    bench.at(4).beat_and_receive(0, &done);
    bench.at(600).beat_and_receive(1, &[]);
    bench.at(606).hear(ToJobTracker::Expire);
    assert!(bench.facts.iter().any(|fact| matches!(fact, Fact::TrackerLost(TrackerId(0)))));
    let again: Vec<AttemptId> = launches(&bench.at(607).beat_and_receive(1, &[]))
        .into_iter()
        .chain(launches(&bench.at(610).beat_and_receive(2, &[])))
        .collect();
    assert!(again.contains(&maps[0].task.attempt(1)), "{again:?}");
}

#[test]
fn of_a_lost_tracker_only_what_still_worked_is_cleaned_up_after() {
    for (state, is_unclean) in [(AttemptState::Running, true), (AttemptState::CommitPending, false)]
    {
        let mut bench = bench(Hadoop { task_cleanup: true, ..hadoop() });
        bench.submit(job(0, 1, 0));
        let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
        bench.at(4).beat_and_receive(0, &[(map, state)]);
        bench.at(600).beat_and_receive(1, &[]);
        bench.at(606).hear(ToJobTracker::Expire);
        let next = launches(&bench.at(607).beat_and_receive(1, &[]));
        let again = if is_unclean { vec![] } else { vec![map.task.attempt(1)] };
        assert_eq!(next, again, "{state:?}");
    }
}

/// Two maps of a job have ended on the first tracker, and three reduces run on the next ones.
fn fetching() -> (Bench, Vec<AttemptId>, Vec<AttemptId>) {
    let mut bench = bench(Hadoop { slow_start: Fraction::of(1.0), ..hadoop() });
    bench.submit(job(0, 2, 3));
    let maps = launches(&bench.at(1).beat_and_receive(0, &[]));
    bench.at(4).end_maps(&maps);
    let reduces = (1..4).map(|id| bench.next(id, &[])[0]).collect();
    (bench, maps, reduces)
}

impl Bench {
    /// Lets maps end on the first tracker, which gets no reduce.
    fn end_maps(&mut self, maps: &[AttemptId]) {
        let ended = maps.iter().map(|map| (*map, AttemptState::Succeeded));
        let full = TaskId { job: JobId(0), kind: TaskKind::Reduce, index: 0 }.attempt(9);
        let reports: Vec<_> = ended.chain([(full, AttemptState::Running)]).collect();
        self.beat_and_receive(0, &reports);
    }

    fn told(&self) -> (Vec<MapsDone>, Vec<Missing>) {
        let (_, reply, _) = self.replies.last().expect("there was a reply");
        (reply.maps.clone(), reply.missing.clone())
    }

    /// Lets a reduce, which runs on this tracker, complain of a map; returns what is launched there.
    fn complain(&mut self, id: u32, reduce: AttemptId, map: AttemptId) -> Vec<AttemptId> {
        self.failed_fetches.push(FailedFetch { reduce, map });
        self.next(id, &[(reduce, AttemptState::Running)])
    }

    /// Sends a tracker's heartbeat a second later; returns what is launched there.
    fn next(&mut self, id: u32, reports: &[(AttemptId, AttemptState)]) -> Vec<AttemptId> {
        self.now += SimSpan::from_secs(1);
        launches(&self.beat_and_receive(id, reports))
    }
}

#[test]
fn a_reduce_is_told_what_it_cannot_fetch_beside_what_is_done() {
    let (mut bench, maps, reduces) = fetching();
    let done = |done| vec![MapsDone { job: JobId(0), done, total: 2 }];
    assert_eq!(bench.told(), (done(2), vec![]));
    bench.hear(ToJobTracker::Darkness(TrackerId(0)));
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
    assert_eq!(bench.told(), (done(2), missing(false)));
    // The others go on, and so does this reduce; the tracker of the maps is missed.
    let runs = (reduces[0], AttemptState::Running);
    bench.at(600).beat_and_receive(1, &[runs]);
    bench.at(606).hear(ToJobTracker::Expire);
    bench.next(1, &[runs, (maps[1].task.attempt(8), runs.1), (maps[1].task.attempt(9), runs.1)]);
    assert_eq!(bench.told(), (done(0), missing(true)));
}

#[test]
fn a_reduce_cannot_fetch_from_the_other_side_of_a_cut() {
    let (mut bench, _, reduces) = fetching();
    let until = bench.now + SimSpan::from_secs(60);
    let nodes = [TrackerId(0), TrackerId(1)].into();
    let cut = Arc::new(Cut { from: bench.now, until, nodes });
    bench.hear(ToJobTracker::Cut(cut.clone()));
    // The second tracker is on the side of the maps' outputs, and nobody else is.
    for (id, reduce, missing) in [(1, reduces[0], 0), (2, reduces[1], 2)] {
        bench.next(id, &[(reduce, AttemptState::Running)]);
        assert_eq!(bench.told().1.len(), missing);
    }
    bench.now = until;
    bench.hear(ToJobTracker::Cut(cut));
    bench.next(2, &[(reduces[1], AttemptState::Running)]);
    assert_eq!(bench.told().1, []);
}

#[test]
fn what_lay_on_a_lost_disk_cannot_be_read() {
    let (mut bench, _, reduces) = fetching();
    bench.hear(ToJobTracker::DiskLost(TrackerId(0)));
    bench.next(2, &[(reduces[1], AttemptState::Running)]);
    let (done, missing) = bench.told();
    assert_eq!(done[0].done, 2, "the JobTracker does not know");
    assert!(missing.len() == 2 && missing.iter().all(|m| m.is_unreadable && !m.is_lost));
}

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

#[test]
fn a_map_fails_after_three_complaints_of_its_output_and_runs_again() {
    let (mut bench, maps, reduces) = fetching();
    for (number, id) in [(0, 1), (1, 2)] {
        assert_eq!(bench.complain(id, reduces[number], maps[0]), []);
    }
    assert!(!bench.has_failed(maps[0]));
    let launched = bench.complain(3, reduces[2], maps[0]);
    assert!(bench.has_failed(maps[0]) && !bench.has_failed(maps[1]));
    assert_eq!(launched, [maps[0].task.attempt(1)], "not where it failed");
    let (done, missing) = bench.told();
    assert_eq!((done[0].done, missing[0].map, missing[0].is_lost), (1, maps[0], true));
    // A complaint that comes late is of an attempt that nobody counts on.
    bench.complain(1, reduces[0], maps[0]);
    let runs = (reduces[2], AttemptState::Running);
    bench.next(3, &[runs, (maps[0].task.attempt(1), AttemptState::Succeeded)]);
    bench.next(3, &[runs]);
    let (done, missing) = bench.told();
    assert_eq!((done[0].done, missing), (2, vec![]));
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
    assert!(!bench.has_failed(maps[0]), "three of seven");
    bench.complain(4, reduces[3], maps[0]);
    assert!(bench.has_failed(maps[0]), "four of seven");
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
            // Full, so that the map does not run again here.
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
            .any(|fact| matches!(fact, Fact::JobEnded { job: JobId(0), outcome: Outcome::Failed }))
    );
}

/// A map is assigned at 20 s to a tracker that then goes on to say this of it.
fn launched_and(launch_expiry: LaunchExpiry, says: Option<AttemptState>) -> (Bench, AttemptId) {
    let mut bench = bench(Hadoop { launch_expiry, ..hadoop() });
    bench.everybody_joins().submit(job(0, 1, 0));
    let map = launches(&bench.at(20).beat_and_receive(0, &[]))[0];
    let reports: Vec<_> = says.map(|state| (map, state)).into_iter().collect();
    for at in [300, 610] {
        assert_eq!(kills(&bench.at(at).beat_and_receive(0, &reports)), []);
        (1..8).for_each(|id| drop(bench.at(at + u64::from(id)).beat_and_receive(id, &[])));
    }
    bench.at(620).hear(ToJobTracker::Expire);
    assert!(!bench.has_failed(map), "ten minutes ago, not longer");
    bench.at(621).hear(ToJobTracker::Expire);
    (bench, map)
}

#[test]
fn a_launch_that_its_tracker_forgets_fails_and_never_counts() {
    let (mut bench, map) = launched_and(LaunchExpiry::Reported, None);
    assert!(bench.has_failed(map));
    let again = launches(&bench.at(622).beat_and_receive(1, &[]))[0];
    assert_eq!(again, map.task.attempt(1), "the task runs again, elsewhere");
    let told = bench.at(623).beat_and_receive(0, &[(map, AttemptState::CommitPending)]);
    assert!(kills(&told).contains(&map) && commits(&told).is_empty(), "{told:?}");
    bench.at(626).beat_and_receive(0, &[(map, AttemptState::Succeeded)]);
    assert!(bench.to_injector.is_empty(), "the late success is nobody's");
    bench.at(627).beat_and_receive(1, &[(again, AttemptState::Succeeded)]);
    assert_eq!(bench.to_injector.len(), 1);
}

#[test]
fn a_launch_that_waits_for_its_slot_fails_where_only_a_start_counts() {
    let waits = Some(AttemptState::Unassigned);
    let (bench, map) = launched_and(LaunchExpiry::Reported, waits);
    assert!(!bench.has_failed(map));
    let (mut bench, map) = launched_and(LaunchExpiry::Started, waits);
    assert!(bench.has_failed(map));
    let told = bench.at(622).beat_and_receive(0, &[(map, AttemptState::Unassigned)]);
    assert_eq!(kills(&told), [map]);
    let (bench, map) = launched_and(LaunchExpiry::Started, Some(AttemptState::Running));
    assert!(!bench.has_failed(map));
}

#[test]
fn a_job_avoids_a_tracker_on_which_too_much_failed() {
    let once = Count::of(1);
    let mut bench = bench(Hadoop { task_cleanup: false, tracker_failures: once, ..hadoop() });
    // Fewer than a quarter of the trackers may be avoided: one of eight.
    bench.everybody_joins().submit(job(0, 60, 0));
    let maps = launches(&bench.at(20).beat_and_receive(0, &[]));
    let failed: Vec<_> = maps.iter().map(|map| (*map, AttemptState::Failed)).collect();
    assert_eq!(launches(&bench.at(24).beat_and_receive(0, &failed)), []);
    assert_ne!(launches(&bench.at(25).beat_and_receive(1, &[])), []);
}

#[test]
fn a_killed_job_whose_last_failure_ends_it_does_not_end_what_is_left_twice() {
    let (once, all) = (Count::of(1), Fraction::of(1.0));
    let mut bench = bench(Hadoop { max_attempts: once, map_failures: all, ..hadoop() });
    bench.submit(job(0, 6, 0));
    let maps = [0, 1].map(|id| launches(&bench.at(u64::from(id) + 1).beat_and_receive(id, &[])));
    for (id, maps) in (0..).zip(maps) {
        let failed: Vec<_> = maps.iter().map(|map| (*map, AttemptState::FailedUnclean)).collect();
        // Each tracker removes the output of one map; two more maps wait for that.
        bench.at(u64::from(id) + 4).beat_and_receive(id, &failed);
    }
    bench.at(20).hear(ToJobTracker::KillJob(JobId(0)));
    let over = [ToInjector::JobEnded(JobId(0), Outcome::Killed)];
    assert_eq!(format!("{:?}", bench.to_injector), format!("{over:?}"));
}

/// Launches a map of the first job at every heartbeat, and suspends what runs if there is no room.
struct Pushy;

impl Scheduler for Pushy {
    fn wants_full_trackers(&self) -> bool {
        true
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        let is_full = offer.free(SlotKind::Map) == 0;
        let launched = offer.launch_map(JobId(0), Reach::Any, Reason::Other("pushy"));
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
    // Two slots; what is to be suspended does not heed it.
    for beat in 1..5 {
        let launched = launches(&bench.at(beat * 3).beat_and_receive(0, &running));
        assert_eq!(launched.len(), 1, "at heartbeat {beat}");
        running.push((launched[0], AttemptState::Running));
    }
}

/// Lets the first map go on whenever it has time, whatever has become of it.
struct Hopeful;

impl Scheduler for Hopeful {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        Greedy.offer(offer);
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        let first = TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 };
        orders.resume(first.attempt(0), Reason::Other("hope"));
    }
}

#[test]
fn a_tracker_that_was_given_up_gets_no_orders() {
    let mut bench = bench_under(Box::new(Hopeful), hadoop());
    bench.submit(job(0, 1, 0));
    let map = launches(&bench.at(1).beat_and_receive(0, &[]))[0];
    bench.at(4).beat_and_receive(0, &[(map, AttemptState::Suspended)]);
    bench.hear(ToJobTracker::Tick);
    assert_eq!(bench.tracker.ledger.trackers[0].orders.len(), 1);
    bench.at(606).hear(ToJobTracker::Expire);
    // Its output is still to be removed, so it is on the books.
    assert!(bench.tracker.ledger.attempt(map).is_some());
    bench.hear(ToJobTracker::Tick);
    assert!(bench.tracker.ledger.trackers[0].orders.is_empty());
}

/// A cluster that avoids a tracker after one failure, and blacklists it after so many faults.
fn unforgiving(tracker_faults: u32) -> Bench {
    let mut bench = bench(Hadoop {
        task_cleanup: false,
        tracker_failures: Count::of(1),
        tracker_faults: Count::of(tracker_faults),
        ..hadoop()
    });
    bench.everybody_joins();
    bench
}

impl Bench {
    /// A job of one map fails on a tracker and succeeds on the last one, all within ten seconds.
    fn avoids(&mut self, id: u32, number: u32, secs: u64) {
        self.at(secs).submit(job(number, 1, 0));
        let map = launches(&self.beat_and_receive(id, &[]))[0];
        self.at(secs + 3).beat_and_receive(id, &[(map, AttemptState::Failed)]);
        let again = launches(&self.at(secs + 5).beat_and_receive(7, &[]))[0];
        self.at(secs + 8).beat_and_receive(7, &[(again, AttemptState::Succeeded)]);
    }

    fn blacklisted(&self) -> Vec<u32> {
        let listed = self.facts.iter().filter_map(|fact| match fact {
            Fact::TrackerBlacklisted(tracker) => Some(tracker.0),
            _ => None,
        });
        listed.collect()
    }

    /// Returns whether a tracker without tasks gets one of a job that has many.
    fn gets_tasks(&mut self, id: u32, secs: u64) -> bool {
        !launches(&self.at(secs).beat_and_receive(id, &[])).is_empty()
    }
}

const DAY: u64 = 24 * 60 * 60;

#[test]
fn a_tracker_that_job_after_job_avoids_gets_no_tasks_for_a_day() {
    let mut bench = unforgiving(2);
    bench.avoids(0, 0, 20);
    assert!(bench.blacklisted().is_empty());
    bench.avoids(0, 1, 30);
    assert_eq!(bench.blacklisted(), [0]);
    assert_eq!((bench.tracker.ledger.active, bench.tracker.ledger.capacity.map), (7, 14));
    bench.submit(job(2, 60, 0));
    assert!(!bench.gets_tasks(0, 40));
    assert!(bench.gets_tasks(1, 41));
    // The last fault came at 38 s. One is left, but the tracker gets tasks: the quirk.
    assert!(!bench.gets_tasks(0, DAY + 38));
    assert!(bench.gets_tasks(0, DAY + 39));
    assert_eq!((bench.tracker.ledger.active, bench.tracker.ledger.capacity.map), (8, 16));
    assert!(bench.facts.iter().any(|fact| matches!(fact, Fact::TrackerForgiven(TrackerId(0)))));
}

#[test]
fn a_restart_is_forgiven_everything_and_a_return_nothing() {
    let mut bench = unforgiving(1);
    bench.avoids(0, 0, 20);
    bench.submit(job(1, 60, 0));
    bench.joins_restarted = false;
    bench.last[0] = None;
    assert!(!bench.gets_tasks(0, 30));
    assert_eq!(bench.tracker.ledger.active, 7);
    bench.joins_restarted = true;
    bench.last[0] = None;
    assert!(bench.gets_tasks(0, 40));
    assert_eq!(bench.tracker.ledger.active, 8);
}

#[test]
fn trackers_are_blacklisted_only_if_they_are_worse_than_the_others() {
    let mut bench = unforgiving(1);
    for id in 0..4 {
        bench.avoids(id, id, 20 + u64::from(id) * 10);
    }
    // For the fourth the average is four faults on five trackers.
    assert_eq!(bench.blacklisted(), [0, 1, 2]);
}

#[test]
fn a_tracker_whose_node_is_unwell_gets_no_tasks_until_it_is_well() {
    let mut bench = bench(hadoop());
    bench.everybody_joins().at(20).submit(job(0, 9, 0));
    bench.is_unhealthy = true;
    assert_eq!(bench.next(0, &[]), []);
    assert_eq!(bench.blacklisted(), [0]);
    assert_eq!(bench.tracker.ledger.active, 7);
    bench.is_unhealthy = false;
    assert_eq!(bench.next(0, &[]).len(), 2);
    assert!(bench.facts.iter().any(|fact| matches!(fact, Fact::TrackerForgiven(TrackerId(0)))));
}

#[test]
fn an_excluded_tracker_is_given_up_at_once_and_may_come_back_when_it_is_included() {
    let (mut bench, maps, reduces) = fetching();
    bench.hear(ToJobTracker::Exclude(TrackerId(0)));
    let lost = |fact: &Fact| matches!(fact, Fact::TrackerLost(TrackerId(0)));
    assert_eq!(bench.facts.iter().filter(|fact| lost(fact)).count(), 1);
    assert_eq!(bench.next(0, &[]), []);
    let (_, reply, _) = bench.replies.last().unwrap();
    assert!(reply.disallowed && !reply.reinit);
    let again = bench.next(1, &[(reduces[0], AttemptState::Running)]);
    assert!(again.contains(&maps[0].task.attempt(1)), "its outputs are lost: {again:?}");
    bench.hear(ToJobTracker::Include(TrackerId(0)));
    bench.last[0] = None;
    bench.next(0, &[]);
    let joined = |fact: &Fact| matches!(fact, Fact::TrackerJoined(TrackerId(0)));
    assert_eq!(bench.facts.iter().filter(|fact| joined(fact)).count(), 2);
}

#[test]
fn without_blacklisting_a_bad_tracker_gets_tasks() {
    let mut bench = unforgiving(1);
    bench.tracker.ledger.hadoop.blacklist = false;
    bench.avoids(0, 0, 20);
    bench.submit(job(1, 60, 0));
    assert!(bench.gets_tasks(0, 30));
}

#[test]
fn a_twentieth_of_the_maps_is_taken_in_single_precision() {
    let mut bench = bench(hadoop());
    bench.everybody_joins();
    bench.at(20).submit(job(0, 140, 1));
    // In double precision 0.05 times 140 is a little more than seven.
    for tracker in 0..7 {
        let at = 20 + 2 * u64::from(tracker);
        let launched = launches(&bench.at(at).beat_and_receive(tracker, &[]));
        let reports =
            [(launched[0], AttemptState::Succeeded), (launched[1], AttemptState::Running)];
        let launched = launches(&bench.at(at + 1).beat_and_receive(tracker, &reports));
        let has_reduce = launched.iter().any(|id| id.task.kind == TaskKind::Reduce);
        assert_eq!(has_reduce, tracker == 6, "after {} maps", tracker + 1);
    }
}

#[test]
fn ticks_of_mumak_are_counted_from_the_start_and_come_after_the_heartbeats_of_their_instant() {
    let line = Hadoop { line: "mumak".to_owned(), ..hadoop() };
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

/// Does nothing twice a second.
struct Ticking;

impl Scheduler for Ticking {
    fn offer(&mut self, _: &mut Offer<'_>) {}

    fn tick_every(&self) -> Option<SimSpan> {
        Some(SimSpan::from_millis(500))
    }
}

/// Lets the first job be read when its time comes.
struct ReadsLater;

impl Scheduler for ReadsLater {
    fn orders_reading(&self) -> bool {
        true
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        orders.read(JobId(0));
    }

    fn offer(&mut self, _: &mut Offer<'_>) {}
}

#[test]
fn in_mumak_splits_are_read_when_a_policy_says_so_that_wants_to() {
    for (line, at_once) in [("mumak", 0), ("0.21", 1)] {
        let hadoop = Hadoop { line: line.to_owned(), ..hadoop() };
        let mut bench = bench_under(Box::new(ReadsLater), hadoop);
        let read = |bench: &Bench| {
            let is_read = |fact: &&Fact| matches!(fact, Fact::JobInitialised(_));
            bench.facts.iter().filter(is_read).count()
        };
        bench.hear(ToJobTracker::Submit(job(0, 1, 0)));
        assert_eq!(read(&bench), at_once, "{line}");
        bench.hear(ToJobTracker::Tock).hear(ToJobTracker::Tock);
        assert_eq!(read(&bench), 1, "{line}: and once only");
    }
}

// ---- second attempts ----

/// Four maps run: two on the first tracker, which are almost done, and two on the second, which are
/// not. The third gets second attempts of these two.
fn race(reduces: u32) -> (Bench, [AttemptId; 2], [AttemptId; 2]) {
    let by = Rule::Hadoop020(Behind::default());
    let mut bench = bench(Hadoop { speculation: Speculation::By(by), ..hadoop() });
    bench.everybody_joins().at(10).submit(job(0, 4, reduces));
    let fast = maps(&launches(&bench.at(11).beat_and_receive(0, &[])));
    let slow = maps(&launches(&bench.at(12).beat_and_receive(1, &[])));
    bench.progress = 0.9;
    bench.at(71).beat_and_receive(0, &fast.map(|map| (map, AttemptState::Running)));
    bench.progress = 0.1;
    bench.at(72).beat_and_receive(1, &slow.map(|map| (map, AttemptState::Running)));
    let again = maps(&launches(&bench.at(73).beat_and_receive(2, &[])));
    (bench, slow, again)
}

fn maps(launched: &[AttemptId]) -> [AttemptId; 2] {
    let maps = launched.iter().copied().filter(|attempt| attempt.slot() == SlotKind::Map);
    maps.collect::<Vec<_>>().try_into().expect("two maps are launched")
}

#[test]
fn slow_maps_get_a_second_attempt_on_another_node() {
    let (mut bench, slow, again) = race(0);
    let mut expected = slow.map(|map| map.task.attempt(1));
    expected.sort();
    let mut launched = again;
    launched.sort();
    assert_eq!(launched, expected);
    let tried = bench.facts.iter().filter(|fact| {
        matches!(fact, Fact::Assigned { speculative: true, waited: SimSpan::ZERO, .. })
    });
    assert_eq!(tried.count(), 2);
    assert_eq!(launches(&bench.at(74).beat_and_receive(3, &[])), [], "two are enough");
}

#[test]
fn before_a_minute_has_passed_nothing_is_slow() {
    let by = Rule::Hadoop020(Behind::default());
    let mut bench = bench(Hadoop { speculation: Speculation::By(by), ..hadoop() });
    bench.everybody_joins().at(10).submit(job(0, 4, 0));
    let fast = maps(&launches(&bench.at(11).beat_and_receive(0, &[])));
    let slow = maps(&launches(&bench.at(12).beat_and_receive(1, &[])));
    bench.progress = 0.9;
    bench.at(69).beat_and_receive(0, &fast.map(|map| (map, AttemptState::Running)));
    bench.progress = 0.1;
    bench.at(70).beat_and_receive(1, &slow.map(|map| (map, AttemptState::Running)));
    assert_eq!(launches(&bench.at(71).beat_and_receive(2, &[])), []);
    assert_eq!(launches(&bench.at(72).beat_and_receive(3, &[])).len(), 2);
}

#[test]
fn the_first_to_succeed_wins_and_the_other_is_killed() {
    let (mut bench, slow, again) = race(1);
    let [one, other] = again;
    let running = (other, AttemptState::Running);
    bench.at(80).beat_and_receive(2, &[(one, AttemptState::Succeeded), running]);
    let beaten = one.task.attempt(0);
    let by_whom = bench.facts.iter().find_map(|fact| match *fact {
        Fact::Ordered { attempt, reason: Reason::LostRace(by), .. } => Some((attempt, by)),
        _ => None,
    });
    assert_eq!(by_whom, Some((beaten, one)));
    let reports = slow.map(|map| (map, AttemptState::Running));
    assert_eq!(kills(&bench.at(81).beat_and_receive(1, &reports)), [beaten]);
    // Its success comes too late.
    let reports = slow.map(|map| {
        (map, if map == beaten { AttemptState::Succeeded } else { AttemptState::Running })
    });
    bench.at(82).beat_and_receive(1, &reports);
    let state = bench.facts.iter().rev().find_map(|fact| match *fact {
        Fact::Learned { attempt, state, .. } if attempt == beaten => Some(state),
        _ => None,
    });
    assert_eq!(state, Some(AttemptState::Killed));
}

#[test]
fn the_first_to_wait_for_its_commit_wins() {
    let (mut bench, slow, again) = race(0);
    let [one, other] = slow;
    let reports = [(one, AttemptState::CommitPending), (other, AttemptState::Running)];
    assert_eq!(commits(&bench.at(80).beat_and_receive(1, &reports)), [one]);
    let rival = one.task.attempt(1);
    let reports = again.map(|map| {
        (map, if map == rival { AttemptState::CommitPending } else { AttemptState::Running })
    });
    let directives = bench.at(81).beat_and_receive(2, &reports);
    assert_eq!((commits(&directives), kills(&directives)), (Vec::new(), vec![rival]));
}

#[test]
fn a_task_waits_again_only_when_both_attempts_are_gone() {
    let (mut bench, slow, again) = race(0);
    bench.at(80).beat_and_receive(1, &slow.map(|map| (map, AttemptState::Killed)));
    assert_eq!(launches(&bench.at(81).beat_and_receive(3, &[])), []);
    let killed = again.map(|map| (map, AttemptState::Killed));
    let launched = maps(&launches(&bench.at(82).beat_and_receive(2, &killed)));
    assert!(launched.iter().all(|map| map.number == 2), "{launched:?}");
}
