//! Mistakes planted on purpose. Tests check that the invariant checker finds each mistake in a
//! scenario made for it, and that chaos finds most mistakes within its first thousand cases.
//!
//! The code of the cores does not change. A mistake sits between a core and the rest, and falsifies
//! the messages to or from the core, so that the run goes as if the core were wrong. To plant
//! another mistake, implement [`Mistake`] and add it to [`PLANTED`] with words of the violation
//! that it must cause.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mumakil_core::mapred::{
    AttemptId, AttemptState, Core, Directive, Event, Fact, Heartbeat, JobFact, JobId, LaunchOrder,
    LedgerFact, Mail, MapReduce, MemberFact, Message, Outbox, Outcome, Reason, Reply, SlotCounts,
    SlotKind, TaskId, TaskKind, ToInjector, ToJobTracker, ToMapOutputs, ToNameNode, ToTracker,
    TrackerFact, TrackerId, TrackerStatus,
};
use mumakil_run::emulation::{Options, Prepared, rules};
use mumakil_run::verify::VerifierRules;
use mumakil_runtime::RunCores;
use mumakil_scenario as scenario;

/// A mistake of a core that receives messages of type `M`.
trait Mistake<M>: Send {
    /// Falsifies a message to the core.
    fn hear(&mut self, _msg: &mut M) {}
    /// Falsifies the messages and events from the core.
    fn say(&mut self, _out: &mut Outbox) {}
}

/// A core that makes a mistake.
struct Mistaken<M, W> {
    core: Box<dyn Core<Msg = M>>,
    mistake: W,
}

impl<M: Message<Protocol = MapReduce>, W: Mistake<M>> Core for Mistaken<M, W> {
    type Msg = M;

    fn handle(&mut self, msg: &M, out: &mut Outbox) {
        let mut heard = msg.clone();
        self.mistake.hear(&mut heard);
        let mut said = Outbox::at(out.now);
        self.core.handle(&heard, &mut said);
        self.mistake.say(&mut said);
        out.letters.append(&mut said.letters);
        out.events.append(&mut said.events);
        out.stop = out.stop.take().or(said.stop);
        out.calm = said.calm;
    }
}

/// Puts a mistake into the JobTracker.
fn job_tracker<W: Mistake<ToJobTracker> + Default + 'static>(cast: RunCores) -> RunCores {
    let mistake = W::default();
    RunCores { job_tracker: Box::new(Mistaken { core: cast.job_tracker, mistake }), ..cast }
}

/// Puts a mistake into the first TaskTracker.
fn first_tracker<W: Mistake<ToTracker> + Default + 'static>(mut cast: RunCores) -> RunCores {
    let core = cast.trackers.remove(0);
    cast.trackers.insert(0, Box::new(Mistaken { core, mistake: W::default() }));
    cast
}

/// Puts a mistake into the NameNode, if the run has one.
fn name_node<W: Mistake<ToNameNode> + Default + 'static>(cast: RunCores) -> RunCores {
    let mistaken = |core| -> Box<dyn Core<Msg = ToNameNode>> {
        Box::new(Mistaken { core, mistake: W::default() })
    };
    RunCores { name_node: cast.name_node.map(mistaken), ..cast }
}

/// Puts a mistake into `MapOutputs`, if the run has this core.
fn map_outputs<W: Mistake<ToMapOutputs> + Default + 'static>(cast: RunCores) -> RunCores {
    let mistaken = |core| -> Box<dyn Core<Msg = ToMapOutputs>> {
        Box::new(Mistaken { core, mistake: W::default() })
    };
    RunCores { map_outputs: cast.map_outputs.map(mistaken), ..cast }
}

/// A mistake that can be planted, and the violation that reveals it.
pub(super) struct Planted {
    pub(super) name: &'static str,
    /// Puts the mistake into the cores of a run.
    pub(super) plant: fn(RunCores) -> RunCores,
    /// Words of the violation that it causes.
    pub(super) words: &'static str,
}

/// All mistakes that chaos finds. The NameNode's mistakes are not in the list, since chaos hardly
/// ever breaks all disks with a block before the block is read.
pub(super) const PLANTED: [Planted; 12] = [
    Planted {
        name: "slot used twice",
        plant: first_tracker::<SlotUsedTwice>,
        words: "and held them all",
    },
    Planted {
        name: "running attempt counted twice",
        plant: job_tracker::<CountedTwice>,
        words: "tasks after news of",
    },
    Planted {
        name: "success dropped",
        plant: job_tracker::<SuccessDropped>,
        words: "has ended, and the JobTracker came to rest without having heard of it",
    },
    Planted {
        name: "task launched twice",
        plant: job_tracker::<LaunchForgotten>,
        words: "was assigned, not as speculative, beside another attempt",
    },
    Planted {
        name: "re-run forgotten",
        plant: job_tracker::<RerunForgotten>,
        words: "which is idle and never received it",
    },
    Planted {
        name: "resumed elsewhere",
        plant: job_tracker::<ResumedElsewhere>,
        words: "but was not assigned to it",
    },
    Planted {
        name: "commit dropped",
        plant: job_tracker::<CommitDropped>,
        words: "for its commit, and the JobTracker came to rest",
    },
    Planted {
        name: "two successes among twins",
        plant: job_tracker::<TwoWinners>,
        words: "succeeded though another attempt of the task had",
    },
    Planted {
        name: "loser forgotten",
        plant: job_tracker::<LoserForgotten>,
        words: "has lost against another attempt of the task, and was not ended",
    },
    Planted {
        name: "fetched from a dead disk",
        plant: map_outputs::<DeadDiskFetched>,
        words: "was gone or not yet there",
    },
    Planted {
        name: "blacklisted tracker offered",
        plant: job_tracker::<BlacklistIgnored>,
        words: "which is blacklisted",
    },
    Planted {
        name: "job lost with the JobTracker",
        plant: job_tracker::<JobLost>,
        words: "came to rest and does not name it",
    },
];

/// The attempt that most mistakes affect: the first attempt of the first map of the first job.
const FIRST: AttemptId = TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 }.attempt(0);

/// A tracker uses a slot twice: it runs one map more than it has slots.
#[derive(Default)]
struct SlotUsedTwice;

impl Mistake<ToTracker> for SlotUsedTwice {
    fn say(&mut self, out: &mut Outbox) {
        for event in &mut out.events {
            if let Fact::Tracker(_, TrackerFact::Up(slots)) = &mut event.fact {
                slots[SlotKind::Map] = slots[SlotKind::Map].saturating_sub(1);
            }
        }
    }
}

/// The JobTracker misses that an attempt has succeeded.
#[derive(Default)]
struct SuccessDropped;

impl Mistake<ToJobTracker> for SuccessDropped {
    fn hear(&mut self, msg: &mut ToJobTracker) {
        if let ToJobTracker::Heartbeat(Heartbeat::Full(status)) = msg {
            let status: &mut TrackerStatus = Arc::make_mut(status);
            status.reports.retain(|report| {
                report.attempt != FIRST || report.state != AttemptState::Succeeded
            });
        }
    }
}

/// The JobTracker does not note a launch, and launches the task again.
#[derive(Default)]
struct LaunchForgotten;

impl Mistake<ToJobTracker> for LaunchForgotten {
    fn say(&mut self, out: &mut Outbox) {
        let again = FIRST.task.attempt(1);
        let repeated = out.events.iter().find_map(|Event { at, fact }| {
            let mut fact = fact.clone();
            match &mut fact {
                Fact::Ledger(attempt, _, LedgerFact::Assigned { .. }) if *attempt == FIRST => {
                    *attempt = again
                }
                _ => return None,
            }
            Some(Event { at: *at, fact })
        });
        out.events.extend(repeated);
        for letter in &mut out.letters {
            if let Mail::Tracker(_, ToTracker::Reply(reply)) = &mut letter.mail {
                let launch = reply.directives.iter().find_map(|directive| match directive {
                    Directive::Launch(launch) if launch.attempt == FIRST => Some(launch.clone()),
                    _ => None,
                });
                if let Some(mut launch) = launch {
                    launch.attempt = again;
                    Arc::make_mut(reply).directives.push(Directive::Launch(launch));
                }
            }
        }
    }
}

/// The JobTracker accepts the success of two attempts of one task.
#[derive(Default)]
struct TwoWinners;

impl Mistake<ToJobTracker> for TwoWinners {
    fn say(&mut self, out: &mut Outbox) {
        let also_won = out.events.iter().find_map(|Event { at, fact }| {
            let Fact::Ledger(
                attempt,
                tracker,
                LedgerFact::Ordered { reason: Reason::LostRace(_), .. },
            ) = *fact
            else {
                return None;
            };
            let (state, counts) = (AttemptState::Succeeded, SlotCounts::default());
            Some(Event {
                at: *at,
                fact: Fact::Ledger(attempt, tracker, LedgerFact::Learned { state, counts }),
            })
        });
        out.events.extend(also_won);
    }
}

/// The JobTracker forgets to kill the other attempts of a task that has succeeded.
#[derive(Default)]
struct LoserForgotten;

impl Mistake<ToJobTracker> for LoserForgotten {
    fn say(&mut self, out: &mut Outbox) {
        for (_, reply) in replies(out) {
            reply.directives.retain(|directive| !matches!(directive, Directive::Kill(_)));
        }
    }
}

/// Returns the JobTracker's replies to heartbeats, each with the tracker that receives it.
fn replies(out: &mut Outbox) -> impl Iterator<Item = (TrackerId, &mut Reply)> {
    out.letters.iter_mut().filter_map(|letter| match &mut letter.mail {
        Mail::Tracker(tracker, ToTracker::Reply(reply)) => Some((*tracker, Arc::make_mut(reply))),
        _ => None,
    })
}

/// The JobTracker counts an attempt twice at its launch.
#[derive(Default)]
struct CountedTwice;

impl Mistake<ToJobTracker> for CountedTwice {
    fn say(&mut self, out: &mut Outbox) {
        for event in &mut out.events {
            if let Fact::Ledger(FIRST, _, LedgerFact::Assigned { counts, .. }) = &mut event.fact {
                counts.running += 1;
            }
        }
    }
}

/// The JobTracker notes that a map with lost output is launched again, but does not tell the
/// tracker.
#[derive(Default)]
struct RerunForgotten {
    succeeded: BTreeSet<AttemptId>,
    lost: BTreeSet<TaskId>,
}

impl Mistake<ToJobTracker> for RerunForgotten {
    fn say(&mut self, out: &mut Outbox) {
        for event in &out.events {
            match event.fact {
                Fact::Ledger(
                    attempt,
                    _,
                    LedgerFact::Learned { state: AttemptState::Succeeded, .. },
                ) => {
                    self.succeeded.insert(attempt);
                }
                Fact::Ledger(attempt, _, LedgerFact::Learned { .. })
                    if self.succeeded.remove(&attempt) =>
                {
                    self.lost.insert(attempt.task);
                }
                _ => {}
            }
        }
        let is_forgotten = |directive: &Directive| match directive {
            Directive::Launch(launch) => self.lost.contains(&launch.attempt.task),
            _ => false,
        };
        for (_, reply) in replies(out) {
            reply.directives.retain(|directive| !is_forgotten(directive));
        }
    }
}

/// The JobTracker lets the next tracker resume an attempt that another tracker has suspended.
#[derive(Default)]
struct ResumedElsewhere {
    launches: BTreeMap<AttemptId, LaunchOrder>,
    homeless: Vec<(TrackerId, LaunchOrder)>,
}

impl Mistake<ToJobTracker> for ResumedElsewhere {
    fn say(&mut self, out: &mut Outbox) {
        for (tracker, reply) in replies(out) {
            let external_work = self.homeless.extract_if(.., |(at, _)| *at != tracker);
            let moved: Vec<LaunchOrder> = external_work.map(|(_, launch)| launch).collect();
            for directive in std::mem::take(&mut reply.directives) {
                match &directive {
                    Directive::Launch(launch) => {
                        self.launches.insert(launch.attempt, launch.clone());
                    }
                    Directive::Resume(attempt) => {
                        self.homeless.push((tracker, self.launches[attempt].clone()));
                        continue;
                    }
                    _ => {}
                }
                reply.directives.push(directive);
            }
            reply.directives.extend(moved.into_iter().map(Directive::Launch));
        }
    }
}

/// The JobTracker misses that attempts wait for their commit.
#[derive(Default)]
struct CommitDropped;

impl Mistake<ToJobTracker> for CommitDropped {
    fn hear(&mut self, msg: &mut ToJobTracker) {
        let ToJobTracker::Heartbeat(Heartbeat::Full(status)) = msg else { return };
        for report in &mut Arc::<TrackerStatus>::make_mut(status).reports {
            if report.state == AttemptState::CommitPending {
                report.state = AttemptState::Running;
            }
        }
    }
}

/// Reduces do not learn that outputs are out of reach, and fetch outputs that are lost.
#[derive(Default)]
struct DeadDiskFetched;

impl Mistake<ToMapOutputs> for DeadDiskFetched {
    fn say(&mut self, out: &mut Outbox) {
        for letter in &mut out.letters {
            if let Mail::Tracker(_, ToTracker::OutOfReach { missing, .. }) = &mut letter.mail {
                *missing = Arc::default();
            }
        }
    }
}

/// The JobTracker gives tasks to a blacklisted tracker again without forgiving it.
#[derive(Default)]
struct BlacklistIgnored;

impl Mistake<ToJobTracker> for BlacklistIgnored {
    fn say(&mut self, out: &mut Outbox) {
        out.events.retain(|event| !matches!(event.fact, Fact::Member(_, MemberFact::Forgiven)));
    }
}

/// The restarted JobTracker forgets a job that it had before the restart, and reports nothing.
#[derive(Default)]
struct JobLost {
    restarts: bool,
}

impl Mistake<ToJobTracker> for JobLost {
    fn hear(&mut self, msg: &mut ToJobTracker) {
        self.restarts = matches!(msg, ToJobTracker::Restart(_));
    }

    fn say(&mut self, out: &mut Outbox) {
        let lost = out.events.iter().find_map(|event| match event.fact {
            Fact::Job(job, JobFact::Ended(Outcome::Failed)) if self.restarts => Some(job),
            _ => None,
        });
        let Some(lost) = lost else { return };
        let is_end =
            |fact: &Fact| matches!(fact, Fact::Job(job, JobFact::Ended(_)) if *job == lost);
        out.events.retain(|event| !is_end(&event.fact));
        out.letters.retain(|letter| {
            let is_told =
                |msg: &ToInjector| matches!(msg, ToInjector::JobEnded(job, _) if *job == lost);
            !matches!(&letter.mail, Mail::Injector(msg) if is_told(msg))
        });
    }
}

/// The NameNode learns of only the first lost disk. It takes all other disks to be whole, so blocks
/// are copied and read from nodes that lack them.
#[derive(Default)]
struct CopiedFromNobody {
    has_heard: bool,
}

impl Mistake<ToNameNode> for CopiedFromNobody {
    fn hear(&mut self, msg: &mut ToNameNode) {
        if let ToNameNode::DiskLost(node) = *msg
            && std::mem::replace(&mut self.has_heard, true)
        {
            // Put in a message that has no effect, because its number is stale.
            *msg = ToNameNode::Missed(node, u32::MAX);
        }
    }
}

/// The NameNode does not hear that a machine is off: maps still read there.
#[derive(Default)]
struct OffUnheard;

impl Mistake<ToNameNode> for OffUnheard {
    fn hear(&mut self, msg: &mut ToNameNode) {
        if let ToNameNode::Off(node) = *msg {
            *msg = ToNameNode::Missed(node, u32::MAX);
        }
    }
}

/// The NameNode does not hear that a machine is back: maps find no node with their blocks.
#[derive(Default)]
struct OnUnheard;

impl Mistake<ToNameNode> for OnUnheard {
    fn hear(&mut self, msg: &mut ToNameNode) {
        if let ToNameNode::On(node) = *msg {
            *msg = ToNameNode::Missed(node, u32::MAX);
        }
    }
}

/// One of four nodes takes ten times as long, and its maps get second attempts.
const SLOW_NODE: &str = "
hadoop: {speculation: {hadoop-0.20: {after: 20s}}}
cluster: {nodes: 4, map_slots: 2, groups: [{count: 1, speed: 0.1}]}
workload: {jobs: [{name: a, maps: 12, map_time: 20s, count: 2, every: 2min}]}
until: 1h
";

const TWO_JOBS: &str = "
cluster: {nodes: 2, map_slots: 2, reduce_slots: 1}
workload:
  jobs:
    - {name: a, maps: 12, map_time: 20s, count: 2}
    - {name: b, maps: 8, reduces: 2, map_time: 10s, reduce_time: 10s}
until: 1h
";

/// A machine dies with outputs of maps, long before the reduces start.
const LOST_MAPS: &str = "
hadoop: {expiry: 30s, slow_start: 1}
cluster: {nodes: 3, map_slots: 2, reduce_slots: 1}
workload: {jobs: [{name: a, maps: 12, reduces: 3, map_time: 20s, reduce_time: 10s}]}
faults: [{at: 30s, stop: node-1}, {at: 100s, start: node-1}]
until: 1h
";

/// A machine dies with outputs of maps, before all reduces have started.
const LOST_OUTPUTS: &str = "
hadoop: {expiry: 40s, slow_start: 1}
cluster: {nodes: 3, map_slots: 2, reduce_slots: 1}
workload: {jobs: [{name: a, maps: 12, reduces: 12, map_time: 20s, reduce_time: 10s}]}
faults: [{at: 80s, stop: node-1}]
until: 1h
";

/// All disks break at once, so the job's input is lost.
const LOST_DISKS: &str = "
cluster: {nodes: 4, hdfs: {replication: 2}}
workload: {jobs: [{name: a, submit: 5min, maps: 6, map_time: 20s}]}
faults: [{at: 1min, disk: {nodes: all}}]
until: 1h
";

/// Blocks have one copy, and a machine is off for a while; one job reads during that time, and
/// another job later.
const AWAY: &str = "
cluster: {nodes: 4, hdfs: {replication: 1}}
workload:
  jobs:
    - {name: a, submit: 90s, maps: 12, map_time: 20s}
    - {name: b, submit: 1h, maps: 12, map_time: 20s}
faults: [{at: 1min, stop: node-1}, {at: 30min, start: node-1}]
until: 3h
";

/// Returns the violations that the checker finds in a run; every unfinished job counts as a
/// violation, too.
fn found_in(yaml: &str, recast: impl FnOnce(RunCores) -> RunCores) -> Vec<String> {
    let registry = crate::testing::registry();
    let scenario = scenario::parse("test.yaml", yaml, &[], &registry).unwrap().scenario;
    let rules = VerifierRules { cut_off: false, ..rules(&scenario) };
    let options = Options { verify: true, ..Options::default() };
    let prepared = Prepared::new(scenario, &registry).unwrap();
    let run = prepared.emulate_as(&registry, options, rules, recast);
    let verifier = run.unwrap().verifier.unwrap();
    verifier.violations().iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_without_mistakes_passes_the_checker() {
    for yaml in [TWO_JOBS, SLOW_NODE, LOST_MAPS, LOST_OUTPUTS, LOST_DISKS, AWAY] {
        assert_eq!(found_in(yaml, |cast| cast), Vec::<String>::new());
    }
}

#[test]
fn planted_mistakes_are_found() {
    for (plant, yaml, words) in [
        (
            first_tracker::<SlotUsedTwice> as fn(RunCores) -> RunCores,
            TWO_JOBS,
            "which has 1 and held them all",
        ),
        (
            job_tracker::<SuccessDropped>,
            TWO_JOBS,
            "job 0 map 0 attempt 0 has ended, and the JobTracker came to rest",
        ),
        (job_tracker::<LaunchForgotten>, TWO_JOBS, "job 0 map 0 attempt 1 was assigned, not as"),
        (job_tracker::<CommitDropped>, TWO_JOBS, "for its commit, and the JobTracker came to rest"),
        (job_tracker::<TwoWinners>, SLOW_NODE, "succeeded though another attempt of the task had"),
        (
            job_tracker::<LoserForgotten>,
            SLOW_NODE,
            "has lost against another attempt of the task, and was not ended",
        ),
        (job_tracker::<RerunForgotten>, LOST_MAPS, "which is idle and never received it"),
        (map_outputs::<DeadDiskFetched>, LOST_OUTPUTS, "was gone or not yet there"),
        (name_node::<CopiedFromNobody>, LOST_DISKS, "has read its block, but no node had it"),
        (name_node::<CopiedFromNobody>, LOST_DISKS, "which did not have its block or was off"),
        (name_node::<OffUnheard>, AWAY, "reads as if nothing had befallen the nodes"),
        (name_node::<OnUnheard>, AWAY, "found no node with its block, although a node"),
    ] {
        let found = found_in(yaml, plant);
        assert!(found.iter().any(|line| line.contains(words)), "{words}: {found:?}");
    }
}
