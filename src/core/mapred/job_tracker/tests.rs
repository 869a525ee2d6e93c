//! Tests of a JobTracker alone: they send it heartbeats, and look at its orders. This file has the
//! test bench; the tests are in the submodules, by topic.

mod alterations;
mod attempts;
mod fetches;
mod heartbeats;
mod jobs;
mod process;
mod second_tries;
mod settings;
mod trackers;

use std::sync::Arc;

use super::*;
use crate::cluster::{FileId, NetworkCut, Node, PerSlot, Placement, SlotKind};
use crate::mapred::event::{AttemptState, Fact, LedgerFact, Role};
use crate::mapred::hadoop::{FailedMaps, HadoopLine, LaunchExpiry};
use crate::mapred::heartbeat::{
    AttemptPhase, Directive, FailedFetch, LaunchOrder, Missing, Reply, Report, TrackerStatus,
};
use crate::mapred::ids::{AttemptId, TaskId, TaskKind};
use crate::mapred::job::{Job, JobChange, JobEvent};
use crate::mapred::map_cache::MapReach;
use crate::mapred::map_outputs::MapOutputs;
use crate::mapred::message::ToMapOutputs;
use crate::mapred::reason::Reason;
use crate::mapred::replicas::Replicas;
use crate::mapred::scheduler::{Offer, PolicyNeeds, Preemption};
use crate::mapred::spec::{Input, JobSpec};
use crate::mapred::speculation::{Hadoop020Options, Rule};
use mumakil_base::units::{Bytes, Count, Fraction};

/// A JobTracker of eight nodes in two racks, with two map slots and a reduce slot each, and its
/// replies and events.
struct Bench {
    tracker: JobTracker,
    /// The core that knows which outputs of maps can be fetched.
    outputs: MapOutputs,
    now: SimTime,
    calls: [u32; 8],
    last: [Option<u16>; 8],
    /// Whether the process of a tracker that joins has just started; otherwise the JobTracker had
    /// declared the tracker lost.
    joins_restarted: bool,
    /// Whether the health scripts of all nodes report an error.
    is_unhealthy: bool,
    /// The complaints of reduces that the next heartbeat carries.
    failed_fetches: Vec<FailedFetch>,
    replies: Vec<(TrackerId, Arc<Reply>, SimSpan)>,
    facts: Vec<Fact>,
    /// The trackers whose heartbeats were refused, with the numbers of these heartbeats.
    refused: Vec<(TrackerId, u32)>,
    to_injector: Vec<ToInjector>,
    own: Vec<(SimTime, ToJobTracker)>,
    /// The progress in the reports on attempts.
    progress: f32,
}

/// A policy that fills every free slot, with the jobs in the order of their numbers.
struct Greedy;

impl Scheduler for Greedy {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        let jobs: Vec<JobId> = offer.running_jobs().map(Job::id).collect();
        let reason = Reason::Other("greedy");
        for job in jobs {
            while 0 < offer.free(SlotKind::Map)
                && offer.launch_map(job, MapReach::Any, reason).is_some()
            {}
            while 0 < offer.free(SlotKind::Reduce) && offer.launch_reduce(job, reason).is_some() {}
        }
    }

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { progress: true, ..PolicyNeeds::default() }
    }
}

fn hadoop() -> Hadoop {
    Hadoop { setup_cleanup: false, ..Hadoop::of(HadoopLine::V020) }
}

fn bench(hadoop: Hadoop) -> Bench {
    bench_under(Box::new(Greedy), hadoop)
}

fn bench_under(policy: Box<dyn Scheduler>, hadoop: Hadoop) -> Bench {
    bench_with(JobTrackerOptions::default(), policy, hadoop)
}

fn bench_with(options: JobTrackerOptions, policy: Box<dyn Scheduler>, hadoop: Hadoop) -> Bench {
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
    let options = JobTrackerOptions { tells_outputs: true, ..options };
    Bench {
        tracker: JobTracker::new(hadoop, topology, hdfs, spec, policy, options),
        outputs: MapOutputs::default(),
        now: SimTime::ZERO,
        calls: [0; 8],
        last: [None; 8],
        joins_restarted: true,
        is_unhealthy: false,
        failed_fetches: Vec::new(),
        replies: Vec::new(),
        facts: Vec::new(),
        refused: Vec::new(),
        to_injector: Vec::new(),
        own: Vec::new(),
        progress: 0.5,
    }
}

fn job(id: u32, maps: u32, reduces: u32) -> Arc<JobSpec> {
    let split = Bytes::from_mib(1);
    let input = Some(Input::File {
        file: FileId(id),
        split,
        last_split: split,
        more_copies: 0,
        without_extra_copies: [].into(),
    });
    Arc::new(JobSpec { input, ..JobSpec::bare(id, maps, reduces) })
}

impl Bench {
    fn hear(&mut self, msg: ToJobTracker) -> &mut Self {
        let mut out = Outbox::at(self.now);
        self.tracker.handle(&msg, &mut out);
        self.facts.extend(out.events.into_iter().map(|event| event.fact));
        for letter in out.letters {
            match letter.mail {
                Mail::Tracker(to, ToTracker::Reply(reply)) => {
                    self.replies.push((to, reply, letter.after));
                }
                Mail::Tracker(to, ToTracker::Noted { call, queued }) => {
                    let last = self.replies.iter().rfind(|(tracker, ..)| *tracker == to);
                    let interval = last.map_or(SimSpan::ZERO, |(_, reply, _)| reply.interval);
                    let id = self.last[to.index()].map_or(0, |last| last.wrapping_add(1));
                    let reply = Reply { call, id, interval, queued, ..Reply::default() };
                    self.replies.push((to, Arc::new(reply), letter.after));
                }
                Mail::Injector(msg) => self.to_injector.push(msg),
                Mail::MapOutputs(msg) => _ = self.befall(msg),
                Mail::Tracker(to, ToTracker::Refused(call)) => self.refused.push((to, call)),
                Mail::JobTracker(msg) => self.own.push((self.now + letter.after, msg)),
                other => unreachable!("a JobTracker sends {other:?}"),
            }
        }
        // The splits of jobs are read at once.
        while let Some(index) = self
            .own
            .iter()
            .position(|(at, m)| *at == self.now && matches!(m, ToJobTracker::Initialised(..)))
        {
            let (_, msg) = self.own.remove(index);
            self.hear(msg);
        }
        self
    }

    /// Sends a message to the core [`MapOutputs`]; returns the answer, if the message was a
    /// question.
    fn befall(&mut self, msg: ToMapOutputs) -> Option<Vec<Missing>> {
        let mut out = Outbox::at(self.now);
        self.outputs.handle(&msg, &mut out);
        self.facts.extend(out.events.into_iter().map(|event| event.fact));
        out.letters.pop_front().map(|letter| match letter.mail {
            Mail::Tracker(_, ToTracker::OutOfReach { missing, .. }) => missing.to_vec(),
            other => unreachable!("{other:?} from the outputs of maps"),
        })
    }

    fn at(&mut self, secs: u64) -> &mut Self {
        self.now = SimTime::from_micros(secs * 1_000_000);
        self
    }

    fn submit(&mut self, spec: Arc<JobSpec>) -> &mut Self {
        self.hear(ToJobTracker::Submit(spec))
    }

    /// Sends a tracker's heartbeat; returns the orders in the reply.
    fn beat(&mut self, id: u32, reports: &[(AttemptId, AttemptState)]) -> Vec<Directive> {
        self.calls[id as usize] += 1;
        self.send_again(id, reports)
    }

    fn call(&self, id: u32) -> HeartbeatCall {
        let (number, last_reply) = (self.calls[id as usize], self.last[id as usize]);
        HeartbeatCall { tracker: TrackerId(id), number, last_reply }
    }

    /// Sends the same heartbeat again.
    fn send_again(&mut self, id: u32, reports: &[(AttemptId, AttemptState)]) -> Vec<Directive> {
        let mut occupied = PerSlot::<u32>::default();
        for (attempt, state) in reports {
            if matches!(state, AttemptState::Running | AttemptState::Unassigned) {
                occupied[attempt.slot()] += 1;
            }
        }
        let status = TrackerStatus {
            call: self.call(id),
            restarted: self.joins_restarted && self.last[id as usize].is_none(),
            is_unhealthy: self.is_unhealthy,
            slots: PerSlot { map: 2, reduce: 1 },
            occupied,
            reports: reports
                .iter()
                .map(|(attempt, state)| Report {
                    attempt: *attempt,
                    state: *state,
                    phase: AttemptPhase::Work,
                    progress: self.progress,
                    ran: SimSpan::from_secs(10),
                    worked: SimSpan::from_secs(9),
                    wants_maps: attempt.task.kind == TaskKind::Reduce,
                    saved: 0.0,
                })
                .collect(),
            failed_fetches: std::mem::take(&mut self.failed_fetches),
        };
        let before = self.replies.len();
        self.hear(ToJobTracker::Heartbeat(Heartbeat::Full(Arc::new(status))));
        self.replies[before..]
            .last()
            .map_or_else(Vec::new, |(_, reply, _)| reply.directives.clone())
    }

    /// Returns whether the JobTracker has learned, or decided, that an attempt failed.
    fn has_failed(&self, attempt: AttemptId) -> bool {
        self.facts.iter().any(|fact| {
            matches!(fact, Fact::Ledger(other, _, LedgerFact::Learned { state: AttemptState::Failed, .. })
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

    /// Notes that the tracker which got the last reply has received it.
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
        Directive::Launch(LaunchOrder { attempt, role: Role::Work, .. }) => Some(*attempt),
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

    /// Returns how many maps of each job the last reply counts, and which of their outputs its
    /// tracker cannot fetch.
    fn told(&mut self) -> (Vec<u32>, Vec<Missing>) {
        let (tracker, reply, _) = self.replies.last().expect("there was a reply");
        let (tracker, reply) = (*tracker, reply.clone());
        let ask = ToMapOutputs::Ask { tracker, works: true, reply: reply.clone() };
        let missing = [reply.missing.clone(), self.befall(ask).unwrap()].concat();
        (reply.maps.iter().map(|maps| maps.done).collect(), missing)
    }

    /// Lets a reduce, which runs on this tracker, complain of a map; returns the launches in the
    /// reply.
    fn complain(&mut self, id: u32, reduce: AttemptId, map: AttemptId) -> Vec<AttemptId> {
        self.failed_fetches.push(FailedFetch { reduce, map });
        self.next(id, &[(reduce, AttemptState::Running)])
    }

    /// Sends a tracker's heartbeat a second later; returns the launches in the reply.
    fn next(&mut self, id: u32, reports: &[(AttemptId, AttemptState)]) -> Vec<AttemptId> {
        self.now += SimSpan::from_secs(1);
        launches(&self.beat_and_receive(id, reports))
    }
}
