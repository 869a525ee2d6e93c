//! Mistakes planted on purpose, to see that the invariant checker finds each of them.
//!
//! The cores themselves stay as they are. A mistake sits between a core and the world, and
//! falsifies what the core hears or what it says, so that the run goes as if the core were wrong.
//! To plant another one, implement [`Mistake`] and add it to [`planted_mistakes_are_found`] with
//! the words of a violation that it must cause.

use std::sync::Arc;

use super::{Options, Prepared, emulate_as, rules};
use crate::mapred::{
    AttemptId, AttemptState, Core, Counts, Directive, Event, Fact, JobId, Mail, Message, Outbox,
    Reason, SlotKind, Status, TaskId, TaskKind, ToJobTracker, ToTracker,
};
use crate::runtime::Cast;
use crate::scenario::{self, Registry};
use crate::units::SimTime;
use crate::verify::Rules;

/// A way in which a core that is told `M` is wrong.
trait Mistake<M>: Send {
    /// Falsifies what a core is about to hear.
    fn hear(&self, _msg: &mut M) {}
    /// Falsifies what a core has just said.
    fn say(&self, _out: &mut Outbox) {}
}

/// A core that makes a mistake.
struct Mistaken<M, W> {
    core: Box<dyn Core<Msg = M>>,
    mistake: W,
}

impl<M: Message, W: Mistake<M>> Core for Mistaken<M, W> {
    type Msg = M;

    fn handle(&mut self, now: SimTime, mut msg: M, out: &mut Outbox) {
        self.mistake.hear(&mut msg);
        let mut said = Outbox::default();
        self.core.handle(now, msg, &mut said);
        self.mistake.say(&mut said);
        out.letters.append(&mut said.letters);
        out.events.append(&mut said.events);
        out.stop = out.stop.take().or(said.stop);
        out.calm = said.calm;
    }
}

/// Lets the JobTracker make a mistake.
fn job_tracker(mistake: impl Mistake<ToJobTracker> + 'static) -> impl FnOnce(Cast) -> Cast {
    |cast| Cast { job_tracker: Box::new(Mistaken { core: cast.job_tracker, mistake }), ..cast }
}

/// Lets the first TaskTracker make a mistake.
fn first_tracker(mistake: impl Mistake<ToTracker> + 'static) -> impl FnOnce(Cast) -> Cast {
    |mut cast| {
        let core = cast.trackers.remove(0);
        cast.trackers.insert(0, Box::new(Mistaken { core, mistake }));
        cast
    }
}

/// The attempt that most mistakes concern: the first of the first map of the first job.
const FIRST: AttemptId = TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 }.attempt(0);

/// A tracker uses a slot twice: it runs one map more than it has slots.
struct SlotUsedTwice;

impl Mistake<ToTracker> for SlotUsedTwice {
    fn say(&self, out: &mut Outbox) {
        for event in &mut out.events {
            if let Fact::TrackerUp { slots, .. } = &mut event.fact {
                slots[SlotKind::Map] -= 1;
            }
        }
    }
}

/// The JobTracker overlooks that an attempt has succeeded.
struct SuccessDropped;

impl Mistake<ToJobTracker> for SuccessDropped {
    fn hear(&self, msg: &mut ToJobTracker) {
        if let ToJobTracker::Status(status) = msg {
            let status: &mut Status = Arc::make_mut(status);
            status.reports.retain(|report| {
                report.attempt != FIRST || report.state != AttemptState::Succeeded
            });
        }
    }
}

/// The JobTracker does not note that it has launched a task, and launches it again.
struct LaunchForgotten;

impl Mistake<ToJobTracker> for LaunchForgotten {
    fn say(&self, out: &mut Outbox) {
        let again = FIRST.task.attempt(1);
        let repeated = out.events.iter().find_map(|Event { at, fact }| {
            let mut fact = fact.clone();
            match &mut fact {
                Fact::Assigned { attempt, .. } if *attempt == FIRST => *attempt = again,
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

/// The JobTracker takes the success of a second attempt, and that of the first as well.
struct TwoWinners;

impl Mistake<ToJobTracker> for TwoWinners {
    fn say(&self, out: &mut Outbox) {
        let also_won = out.events.iter().find_map(|Event { at, fact }| {
            let Fact::Ordered { attempt, tracker, reason: Reason::LostRace(_), .. } = *fact else {
                return None;
            };
            let (state, counts) = (AttemptState::Succeeded, Counts::default());
            Some(Event { at: *at, fact: Fact::Learned { attempt, tracker, state, counts } })
        });
        out.events.extend(also_won);
    }
}

/// The JobTracker forgets to have the losers killed.
struct LoserForgotten;

impl Mistake<ToJobTracker> for LoserForgotten {
    fn say(&self, out: &mut Outbox) {
        for letter in &mut out.letters {
            if let Mail::Tracker(_, ToTracker::Reply(reply)) = &mut letter.mail {
                let directives = &mut Arc::make_mut(reply).directives;
                directives.retain(|directive| !matches!(directive, Directive::Kill(_)));
            }
        }
    }
}

/// One of four nodes takes ten times as long, and its maps are tried a second time.
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

/// Returns what the checker finds, were no job allowed to be left.
fn found(recast: impl FnOnce(Cast) -> Cast) -> Vec<String> {
    found_in(TWO_JOBS, recast)
}

fn found_in(yaml: &str, recast: impl FnOnce(Cast) -> Cast) -> Vec<String> {
    let registry = Registry::builtin();
    let scenario = scenario::parse("test.yaml", yaml, &[], &registry).unwrap().scenario;
    let rules = Rules { cut_off: false, ..rules(&scenario) };
    let options = Options { verify: true, ..Options::default() };
    let prepared = Prepared::new(scenario, &registry).unwrap();
    let run = emulate_as(&prepared, &registry, options, rules, recast);
    let verifier = run.unwrap().verifier.unwrap();
    verifier.violations().iter().map(ToString::to_string).collect()
}

#[test]
fn a_run_without_mistakes_passes_the_checker() {
    for yaml in [TWO_JOBS, SLOW_NODE] {
        assert_eq!(found_in(yaml, |cast| cast), Vec::<String>::new());
    }
}

#[test]
fn planted_mistakes_are_found() {
    for (name, found, words) in [
        ("slot used twice", found(first_tracker(SlotUsedTwice)), "which has 1 and held them all"),
        (
            "success dropped",
            found(job_tracker(SuccessDropped)),
            "job 0 map 0 attempt 0 has ended, and the JobTracker came to rest",
        ),
        (
            "launch forgotten",
            found(job_tracker(LaunchForgotten)),
            "job 0 map 0 attempt 1 was assigned, not as",
        ),
        (
            "two winners",
            found_in(SLOW_NODE, job_tracker(TwoWinners)),
            "succeeded though another attempt of the task had",
        ),
        (
            "loser forgotten",
            found_in(SLOW_NODE, job_tracker(LoserForgotten)),
            "has lost against another attempt of the task, and was not ended",
        ),
    ] {
        assert!(found.iter().any(|line| line.contains(words)), "{name}: {found:?}");
    }
}
