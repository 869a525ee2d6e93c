//! Runs a case under the checker, and says what is wrong with it.
//!
//! A second run of the same case goes without actors, and its trackers tell everything with each
//! heartbeat: neither mailboxes nor what trackers leave unsaid may show in any event.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_yaml::Value;
use sha2::{Digest as _, Sha256};

use super::draw;
use mumakil_base::random::{Dist, Shape};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptFact, Event, Fact, MemberFact, Outcome, Scheduler, Stop, TaskId, WorldFact, Wrapper,
};
use mumakil_run::emulation::{Emulated, EmulationError, Options, Prepared, rules};
use mumakil_run::record::{Books, End, RecordError, Watcher};
use mumakil_runtime::{Cast, Transport};
use mumakil_scenario::scenario::{Registry, Scenario, parse};

/// How much real time a run may take: a hundred times what one should.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// How long a run that has stalled is watched: longer than any policy is patient by itself.
const WATCHED: SimSpan = SimSpan::from_secs(2 * 24 * 60 * 60);
/// How many violations are told.
const TOLD: usize = 5;

/// What a case has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// All is well, or there was nothing to run.
    Nothing,
    /// It could not go on, and said so.
    Deadlock,
    /// It had no end; nor has what goes wrong in it.
    Unended,
    /// It had no end.
    Endless,
    /// It was said that it could not go on, and it did: so.
    FalseStall(String),
    /// Invariants were broken.
    Broken(Vec<String>),
    /// The emulator or the policy panicked.
    Panic(String),
    /// The second run was another than the first.
    Differs,
}

impl Found {
    pub(super) const fn is_wrong(&self) -> bool {
        !matches!(self, Self::Nothing | Self::Deadlock | Self::Unended)
    }

    /// Returns whether something else shows the same mistake, as far as one can tell: the same words,
    /// but for numbers.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let bare = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
        match (self, other) {
            (Self::Broken(one), Self::Broken(other)) => {
                let kinds: Vec<String> = one.iter().map(|line| bare(line)).collect();
                other.iter().any(|line| kinds.contains(&bare(line)))
            }
            (Self::Panic(one), Self::Panic(other)) => bare(one) == bare(other),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Says what is wrong.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Nothing => "nothing is wrong".to_owned(),
            Self::Deadlock => "it came to a stall".to_owned(),
            Self::Unended | Self::Endless => {
                "it has no end: jobs are left after 30 days".to_owned()
            }
            Self::FalseStall(what) => format!("it was no stall: {what}"),
            Self::Broken(lines) => lines.join("\n"),
            Self::Panic(words) => format!("it panicked: {words}"),
            Self::Differs => {
                "the same run gave other events when it was done again, without actors and with \
                 whole heartbeats"
                    .to_owned()
            }
        }
    }
}

/// How cases are tried.
pub(super) struct Trial<'r> {
    pub(super) registry: &'r Registry,
    /// Whether each is run a second time, without actors and with whole heartbeats.
    pub(super) repeats: bool,
    /// Who takes part instead of the own cores: tests put some there that make mistakes.
    pub(super) recast: fn(Cast) -> Cast,
}

impl Trial<'_> {
    /// Tries a scenario.
    pub(super) fn of(&self, tree: &Value) -> Found {
        let loaded = parse("chaos.yaml", &draw::text(tree), &[], self.registry);
        let Ok(loaded) = loaded else { return Found::Nothing };
        let scenario = loaded.scenario;
        let first = Arc::new(Mutex::new(Print::default()));
        let run = match self.run(&scenario, first.clone(), Options::default()) {
            Ok(Some(run)) => run,
            Ok(None) => return Found::Nothing,
            Err(words) => return Found::Panic(words),
        };
        let verifier = run.verifier.as_ref().expect("it was asked for");
        if !verifier.violations().is_empty() {
            let lines = verifier.violations().iter().take(TOLD);
            return Found::Broken(lines.map(ToString::to_string).collect());
        }
        match run.stop {
            // What happens by chance may move what nothing else does.
            Stop::Stalled(_) if has(tree, &["loss", "delay", "crashes"]) => Found::Deadlock,
            // So may a heartbeat that is under way for longer than its tracker may be silent.
            Stop::Stalled(_) if lags_by_chance(&scenario) => Found::Deadlock,
            Stop::Stalled(_) => self.outlast(&scenario, &run),
            Stop::TimeUp | Stop::TimeLimit if has(tree, &FOR_EVER) => Found::Unended,
            // On machines slowed to a hundredth of a hundredth a task takes days: that is no fault, nor is
            // it one that the machine on which chaos runs is busy.
            Stop::TimeUp | Stop::TimeLimit
                if run.summary.virtual_s < 2.0 * first.lock().farther_s() =>
            {
                Found::Unended
            }
            Stop::TimeUp | Stop::TimeLimit => Found::Endless,
            Stop::Done if self.repeats => {
                let second = Arc::new(Mutex::new(Print::default()));
                let options = Options {
                    transport: Transport::Bare,
                    around: Some(Box::new(|policy| Box::new(Attentive(policy)))),
                    ..Options::default()
                };
                let again = self.run(&scenario, second.clone(), options);
                let is_same =
                    first.lock().hash.clone().finalize() == second.lock().hash.clone().finalize();
                if again.is_ok() && is_same { Found::Nothing } else { Found::Differs }
            }
            Stop::Done => Found::Nothing,
        }
    }

    /// Runs a scenario under the checker; none if its files or jobs do not fit, or what a panic said.
    pub(super) fn run<W: Watcher + 'static>(
        &self,
        scenario: &Scenario,
        watcher: Arc<Mutex<W>>,
        options: Options,
    ) -> Result<Option<Emulated>, String> {
        let options = Options {
            verify: true,
            watchers: vec![Box::new(watcher)],
            time_limit: Some(TIME_LIMIT),
            ..options
        };
        let emulated = catch_unwind(AssertUnwindSafe(|| {
            let prepared = Prepared::new(scenario.clone(), self.registry)?;
            prepared.emulate_as(self.registry, options, rules(scenario), self.recast)
        }));
        match emulated {
            Ok(Ok(run)) => Ok(Some(run)),
            Ok(Err(error @ (EmulationError::Policy { .. } | EmulationError::Bug { .. }))) => {
                Err(error.to_string())
            }
            Ok(Err(_)) => Ok(None),
            Err(_) => Err("before the run began".to_owned()),
        }
    }

    /// Lets a run go on that has stalled, and looks whether anything happens.
    fn outlast(&self, scenario: &Scenario, run: &Emulated) -> Found {
        let stalled_at = SimTime::ZERO + SimSpan::ceil_from_secs(run.summary.virtual_s);
        let until = scenario.until.unwrap_or(SimSpan::LONGEST);
        let until = until.min(stalled_at.saturating_since(SimTime::ZERO) + WATCHED);
        let scenario = Scenario { until: Some(until), ..scenario.clone() };
        let late = Arc::new(Mutex::new(Late { after: stalled_at, seen: None }));
        let options = Options { outlasts: true, ..Options::default() };
        match self.run(&scenario, late.clone(), options) {
            Ok(_) => {
                let seen = late.lock().seen.take();
                seen.map_or(Found::Deadlock, Found::FalseStall)
            }
            Err(words) => Found::Panic(words),
        }
    }
}

/// A policy that is told all that trackers may say.
struct Attentive(Box<dyn Scheduler>);

impl Wrapper for Attentive {
    fn inner(&self) -> &dyn Scheduler {
        &*self.0
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.0)
    }

    fn reads_reports_inner(&self) -> bool {
        true
    }
}

/// What goes wrong again and again, so that a run may have no end by chance.
const FOR_EVER: [&str; 8] = [
    "loss",
    "delay",
    "duplication",
    "crashes",
    "slow_spells",
    "task_failures",
    "hangs",
    "out_of_memory",
];

/// Returns whether the latency of its network is drawn from a distribution that has no largest value.
pub(super) fn lags_by_chance(scenario: &Scenario) -> bool {
    let network = &scenario.cluster.network;
    let pods = network.pods.as_ref().and_then(|pods| pods.latency.as_ref());
    let latencies = [Some(&network.latency), Some(&network.cross_rack), pods];
    let is_bounded = |dist: &Dist<SimSpan>| {
        matches!(dist, Dist::Constant(_) | Dist::Drawn(Shape::Uniform { .. }))
    };
    !latencies.into_iter().flatten().all(is_bounded)
}

/// Returns whether a scenario has a fault of one of these kinds.
pub(super) fn has(tree: &Value, kinds: &[&str]) -> bool {
    let faults = tree.get("faults").and_then(Value::as_sequence);
    let is_one = |fault: &Value| kinds.iter().any(|kind| fault.get(*kind).is_some());
    faults.into_iter().flatten().any(is_one)
}

/// The hash of all events, and how far they have come.
#[derive(Default)]
pub(super) struct Print {
    pub(super) hash: Sha256,
    /// The tasks of which an attempt has ever succeeded. What is done again and again is in it once.
    done: BTreeSet<TaskId>,
    /// When the last one joined them.
    farther_at: SimTime,
}

impl Print {
    fn farther_s(&self) -> f64 {
        self.farther_at.as_secs_f64()
    }
}

impl Watcher for Print {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        self.hash.update(format!("{event:?}"));
        if let Fact::Attempt(attempt, _, AttemptFact::Ended { outcome: Outcome::Succeeded, .. }) =
            &event.fact
            && self.done.insert(attempt.task)
        {
            self.farther_at = event.at;
        }
        Ok(())
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// The first thing that happens after an instant.
struct Late {
    after: SimTime,
    seen: Option<String>,
}

impl Watcher for Late {
    fn see(&mut self, event: &Event, books: &Books) -> Result<(), RecordError> {
        // Words change nothing, nor does how fast a machine is that does nothing, nor what reduces say
        // that nobody has killed when their job ended.
        let is_nothing = match event.fact {
            Fact::Member(_, MemberFact::Noted(_))
            | Fact::World(WorldFact::Incident { .. })
            | Fact::Member(_, MemberFact::Graylisted)
            | Fact::Member(_, MemberFact::OffGraylist)
            | Fact::World(WorldFact::Copy { .. }) => true,
            Fact::Attempt(attempt, _, AttemptFact::FetchFailed { .. }) => {
                books.job(attempt.job()).is_some_and(|job| job.ended.is_some())
            }
            _ => false,
        };
        if self.after < event.at && self.seen.is_none() && !is_nothing {
            self.seen = Some(format!("at {}: {:?}", event.at, event.fact));
        }
        Ok(())
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}
