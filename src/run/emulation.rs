//! One run: its input is a scenario, its output a recording.
//!
//! The parts fit together like this:
//!
//! ```text
//! Prepared ─ assemble ─ RunCores: JobTracker, TaskTrackers, job injector, NameNode …
//!                     └ opening mail: trackers power on, jobs arrive, faults are due
//! RunPlan = cores + links + opening ─ runtime ─ events ─ Recorder ─ Summary and files
//!                                             └ Ending: done, out of time, or what broke
//! ```

mod bench;
mod fluid;
mod foretold;
mod kept;
mod prepared;
mod times_alone;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use rand::RngExt;

use crate::MODEL;
use crate::output::OutputError;
use crate::record::{
    LaterPolicy, OnProgress, RecordError, Recorder, RunFacts, Setup, Summary, Watcher,
};
use crate::verify::{Verifier, VerifierRules};
use mumakil_base::panics;
use mumakil_base::random::mumak::JavaRandom;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::tell::{self, Detail};
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::cluster::{Hdfs, ReadRates, Topology};
use mumakil_core::mapred::{
    AutoSpan, CommitPending, ContendedResources, Core, Costs, Draws, ExternalWork, Fabric,
    FaultInjector, HeartbeatManner, JobId, JobTracker, JobTrackerOptions, Mail, MapOutputs,
    NameNode, NotedRefusals, PolicyReload, ReplicationUpkeep, RunPermit, Scheduler, Setting,
    StopReason, TaskTracker, ToInjector, ToJobTracker, ToTracker, TrackerId, TrueDurations,
};
use mumakil_core::trace::TraceError;
use mumakil_results::tables::ReadError;
use mumakil_runtime::{
    self as runtime, ClockPace, Ending, Links, OpeningMail, RunCores, RunPlan, Stopwatch, Transport,
};
use mumakil_scenario::fault::{self, Effects};
use mumakil_scenario::workload::{Arrival, JobInjector, Submission, SubmissionWay, Workload};
use mumakil_scenario::{
    ClockSpec, LaterChange, PolicyStep, RecordSpec, Registry, Scenario, ScenarioError,
    SchedulerChoice,
};

pub use bench::bench;
pub use kept::KeptRun;
pub use prepared::Prepared;
pub use times_alone::TimesAlone;

/// Options of a run that are not part of its scenario.
#[derive(Default)]
pub struct Options {
    /// An empty folder for the output files; `None` makes only the summary.
    pub folder: Option<PathBuf>,
    /// Called a few times a second with the progress of the run.
    pub progress: Option<OnProgress>,
    /// Whether to check the invariants; works on the virtual clock only.
    pub verify: bool,
    /// Further watchers of the facts, such as the writer of a trace for Perfetto.
    pub watchers: Vec<Box<dyn Watcher>>,
    /// The longest real time that the run may take; `None` sets no limit.
    pub time_limit: Option<Duration>,
    /// Whether the run goes on after the JobTracker finds it stalled, to check that it stays
    /// stalled.
    pub outlasts: bool,
    /// Wraps each policy of the run; `None` leaves the policies as they are.
    pub around: Option<WrapPolicy>,
    /// Holds the run to the pace set in the live view; `None` if the run is not watched there.
    /// Works on the virtual clock only.
    pub pace: Option<Box<dyn ClockPace>>,
    /// How messages travel between the actors; used on the virtual clock only.
    pub transport: Transport,
    /// The times that jobs take alone, as far as other runs have found them. Runs that share it
    /// share these times.
    pub alone: TimesAlone,
    /// The name of the run in its study, kept in `perf.json`; `None` outside of studies.
    pub name_in_study: Option<String>,
}

/// Wraps a policy in another policy that forwards all calls to the first.
pub type WrapPolicy = Box<dyn Fn(Box<dyn Scheduler>) -> Box<dyn Scheduler>>;

/// The results of a run, apart from its files.
#[derive(Debug)]
pub struct Emulated {
    /// The run in numbers.
    pub summary: Summary,
    /// Why the run ended.
    pub stop: StopReason,
    /// How many jobs have ended, including jobs of the warm-up.
    pub ended: u32,
    /// The names of the jobs that were never submitted.
    pub unsubmitted: Vec<Arc<str>>,
    /// How long each decision of the policy took, in real nanoseconds.
    pub decision_time: Histogram<u64>,
    /// The cost of a policy that runs as another program; `None` for built-in policies.
    pub external_work: Option<ExternalWork>,
    /// How late timers fired, in virtual microseconds; `None` on the virtual clock.
    pub lag: Option<Histogram<u64>>,
    /// Doubts that a reader should know before trusting the results.
    pub warnings: Vec<RunWarning>,
    /// The invariant checker; `None` unless [`Options::verify`] is set.
    pub verifier: Option<Verifier>,
}

/// A doubt that a reader should know before trusting the results.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunWarning {
    /// The scaled clock was late by more than a tenth of a heartbeat interval.
    Lag {
        /// The 99th percentile of the lag: one timer in a hundred fired at least this late.
        p99: SimSpan,
        /// The heartbeat interval.
        interval: SimSpan,
        /// The largest clock factor that this machine is likely to keep up with.
        holds: f64,
    },
    /// Every job was submitted before the warm-up was over.
    NothingCounted,
    /// No job was submitted before the run ended.
    NothingSubmitted,
    /// The run was too short to see the end of its warm-up, which it should find itself.
    NeverSettled,
    /// The run ended before some entries of the scenario were due.
    NeverDue {
        /// The path of the first of these entries, for example `faults[0]`.
        first: String,
        /// When the first entry was due.
        at: SimSpan,
        /// The number of further entries that were never due.
        others: usize,
        /// When the run ended.
        end: SimSpan,
    },
    /// A warning of the policy about jobs that come from files or are drawn at random.
    Policy(String),
}

impl fmt::Display for RunWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lag { p99, interval, holds } => write!(
                f,
                "the clock was late by {} or more for one message in a hundred, of a heartbeat \
                 interval of {}, which distorts the results; this machine seems to hold \
                 `--clock {holds}x`",
                tell::time(p99.as_secs_f64(), Detail::Mark),
                tell::time(interval.as_secs_f64(), Detail::Mark),
            ),
            Self::NothingCounted => f.write_str(
                "no job came after the warm-up, so the statistics say nothing; lower \
                 `record.warm_up`",
            ),
            Self::NothingSubmitted => f.write_str(
                "no job was submitted before the run ended, so the statistics say nothing; let it \
                 last longer (`until`), or submit jobs earlier",
            ),
            Self::NeverSettled => f.write_str(
                "the run is too short to see the end of its warm-up (`record.warm_up: auto`), so \
                 the statistics leave no job out; let more jobs arrive",
            ),
            Self::NeverDue { first, at, others, end } => {
                let others = match others {
                    0 => String::new(),
                    others => format!(" (and {others} more)"),
                };
                write!(
                    f,
                    "{first}{others} never happened: it was due at {}, and all jobs had ended at {}; \
                     leave it out, or mend its time",
                    tell::time(at.as_secs_f64(), Detail::Mark),
                    tell::time(end.as_secs_f64(), Detail::Mark),
                )
            }
            Self::Policy(doubt) => f.write_str(doubt),
        }
    }
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// The policy cannot be built from its options.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A file that the scenario names contradicts the rest of the scenario.
    #[error("{what}")]
    Unfit {
        /// The contradiction.
        what: String,
    },
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] NamedTraceError),
    /// The results cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A file of the run cannot be read back.
    #[error(transparent)]
    ReadBack(#[from] ReadError),
    /// The folder of the results cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The person who paused the run has cancelled it.
    #[error("the run was given up")]
    GivenUp,
    /// The run comes to times that are later than it can tell.
    #[error(
        "the run goes on beyond {} years, which is more than a run can tell; end it with `until`, \
         or lower the times of its jobs and intervals",
        SimTime::LAST.as_micros() / (365 * 86_400 * 1_000_000)
    )]
    BeyondTime,
    /// The policy reported an error and cannot go on.
    #[error("the policy failed: {words}")]
    PolicyFailed {
        /// The policy's name and its error.
        words: String,
    },
    /// The policy panicked.
    #[error("the policy `{policy}` panicked: {words}")]
    Policy {
        /// The policy's name.
        policy: String,
        /// The panic's message.
        words: String,
    },
    /// The emulator panicked.
    #[error("a fault of Mumakil's own: {words}")]
    Bug {
        /// The panic's message.
        words: String,
    },
}

/// An error in a trace, and the key of the scenario that names the trace.
#[derive(Debug)]
pub struct NamedTraceError {
    key: String,
    // Boxed, since every function of a run returns it.
    error: Box<TraceError>,
}

impl NamedTraceError {
    /// Returns an error in a trace that this key of the scenario names.
    pub fn new(key: String, error: TraceError) -> Self {
        Self { key, error: error.into() }
    }
}

impl fmt::Display for NamedTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  in `{}` of the scenario", self.error, self.key)
    }
}

impl std::error::Error for NamedTraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message includes that of the trace's error.
        std::error::Error::source(&*self.error)
    }
}

impl EmulationError {
    /// Returns whether the disk caused the error. Other runs would then fail in the same way.
    pub fn is_disk_error(&self) -> bool {
        matches!(self, Self::Output(_) | Self::Record(_) | Self::ReadBack(_))
    }
}

/// Runs a scenario.
///
/// # Errors
/// If the results cannot be written, or if the policy or the emulator panics.
pub fn emulate(
    scenario: &Scenario,
    registry: &Registry,
    options: Options,
) -> Result<Emulated, EmulationError> {
    Prepared::new(scenario.clone(), registry)?.emulate(registry, options)
}

/// Returns the run and the cluster in which the policies of a scenario work.
fn setting<'s>(
    scenario: &'s Scenario,
    topology: &'s Topology,
    registry: &'s Registry,
) -> Setting<'s> {
    Setting {
        seed: scenario.seed,
        line: scenario.hadoop.line,
        folder: &scenario.folder,
        topology,
        tell: registry.tell(),
        programs: RunPermit { issued: registry.permit(), declared: &scenario.programs },
        launcher: registry.launcher(),
        estimators: registry.estimators(),
        overhear: registry.overhear(),
    }
}

impl Prepared {
    /// Runs the scenario.
    ///
    /// # Errors
    /// As [`emulate`].
    pub fn emulate(
        &self,
        registry: &Registry,
        options: Options,
    ) -> Result<Emulated, EmulationError> {
        if self.scenario.record.warm_up != AutoSpan::Auto {
            return self.emulate_as(registry, options, rules(&self.scenario), |cast| cast);
        }
        let settled = self.settle(registry, &options)?;
        let mut known = self.clone();
        known.scenario.record.warm_up = AutoSpan::Fixed(settled.warm_up);
        let mut emulated =
            known.emulate_as(registry, options, rules(&self.scenario), |cast| cast)?;
        emulated.summary.warm_up_jobs = Some(settled.jobs);
        if !settled.is_settled {
            emulated.warnings.push(RunWarning::NeverSettled);
        }
        Ok(emulated)
    }

    /// Runs the scenario with the given rules of the checker and with the cores that `recast`
    /// returns. Tests use it to run faulty cores.
    pub fn emulate_as(
        &self,
        registry: &Registry,
        options: Options,
        rules: VerifierRules,
        recast: impl FnOnce(RunCores) -> RunCores,
    ) -> Result<Emulated, EmulationError> {
        let begun = kept::now();
        let Self { scenario, topology, workload, .. } = self;
        let around = options.around;
        let setting = setting(scenario, topology, registry);
        // A policy that runs as another program has a farewell: a function that ends the program
        // after the run and returns how long Mumakil waited for its answers.
        let farewells = RefCell::new(Vec::new());
        let build = |choice: &SchedulerChoice| -> Result<Box<dyn Scheduler>, EmulationError> {
            // A policy is foreign code; even its constructor may panic.
            let built = catch_unwind(AssertUnwindSafe(|| {
                let mut policy = registry.build(choice)?;
                let begun = policy.begin(&setting);
                let begun = begun.map_err(|words| EmulationError::PolicyFailed { words })?;
                Ok::<_, EmulationError>((policy, begun))
            }));
            let (policy, begun) = built.unwrap_or_else(|panic| {
                panics::answered();
                let words = runtime::words_of_panic(&*panic);
                Err(EmulationError::Policy { policy: choice.title(), words })
            })?;
            farewells.borrow_mut().extend(begun);
            Ok(match &around {
                Some(around) => around(policy),
                None => policy,
            })
        };
        // All later policies of the run share this stopwatch, so the decision times cover the whole
        // run.
        let (policy, thinking) = Stopwatch::new(build(&scenario.scheduler)?);
        // Read this now: from `assemble` on, the JobTracker owns the policy.
        let precedence = policy.precedence();
        let is_virtual = scenario.clock == ClockSpec::Virtual;
        // The checker needs events in the order of time; on a scaled clock several threads send
        // them.
        let verifier = (options.verify && is_virtual).then(|| {
            // The checker has a file system of its own: a file system shared with the emulator
            // would share the emulator's mistakes.
            let files = Hdfs::of(scenario.seed, topology.clone(), &scenario.cluster.hdfs);
            let verifier = Verifier::new(rules).with_room(topology);
            let has_files = scenario.hadoop.behaviour().has_files;
            Arc::new(Mutex::new(if has_files { verifier.with_files(files) } else { verifier }))
        });
        let verifying =
            verifier.iter().map(|verifier| -> Box<dyn Watcher> { Box::new(verifier.clone()) });
        let (events, recorder) = Recorder::start(Setup {
            settings: RecordSpec {
                warm_up: AutoSpan::Fixed(self.warm_up()),
                // Speculation turns the waste table on, whatever `record.waste` says.
                waste: scenario.records_waste(),
                ..scenario.record.clone()
            },
            folder: options.folder,
            labels: self.labels(),
            progress: options.progress,
            watchers: options.watchers.into_iter().chain(verifying).collect(),
            // The summary states the slot time lost to faults even when no waste table is written.
            counts_losses: !scenario.faults.is_empty(),
            demands: self.demands(),
        })?;

        let site = fault::FaultSite { seed: scenario.seed, topology, workload };
        let effects = Effects::of(&scenario.faults, site);
        let links = links(scenario, topology, &effects);
        let (mut followers, mut later_policies) = (Vec::new(), Vec::new());
        for Successor { at, choice, takes_over } in successors(scenario, &effects) {
            let follower = policy.successor(build(&choice)?);
            // After a restart of the JobTracker, the successor is the same policy again. Only a
            // policy that takes over counts as a later policy.
            if takes_over {
                let (name, precedence) = (choice.title(), follower.precedence());
                let at_s = (at - SimTime::ZERO).as_secs_f64();
                later_policies.push((at, LaterPolicy { at_s, policy: name, precedence }));
            }
            followers.push(follower);
        }
        let reloads = LaterChange::course(&scenario.later, &scenario.scheduler).into_iter();
        let reloads = reloads.filter(|step| !step.takes_over);
        let reloads = reloads.filter_map(|step| registry.reload(&step.choice)).collect();
        let is_watched = options.pace.is_some();
        let (cast, opening) = assemble(self, effects, policy, followers, reloads, is_watched);
        let play = RunPlan {
            cast: recast(cast),
            links,
            opening,
            events: Box::new(events),
            until: scenario.until.map_or(SimTime::NEVER, |until| SimTime::ZERO + until),
            // The time to read and build the cluster and the jobs counts, too.
            time_limit: (options.time_limit)
                .map(|limit| limit.saturating_sub(self.took + begun.elapsed())),
            outlasts: options.outlasts,
            pace: options.pace,
        };
        let (stats, ending) = match (scenario.clock, options.transport) {
            (ClockSpec::Virtual, Transport::Actors) => runtime::run_virtual(play),
            (ClockSpec::Virtual, Transport::Bare) => runtime::run_bare(play),
            // A scaled clock always uses actors; direct calls exist only on the virtual clock.
            (ClockSpec::Scaled(factor), _) => runtime::run_scaled(play, factor),
        };

        let facts = RunFacts {
            scenario: scenario.name.to_string(),
            policy: scenario.scheduler.title(),
            precedence,
            later_policies: { later_policies.into_iter() }
                // Stop at the first change that was due after the run's end: the list is in the
                // order of time.
                .take_while(|(at, _)| *at <= stats.end)
                .map(|(_, later)| later)
                .collect(),
            seed: scenario.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: MODEL,
            nodes: topology.len(),
            messages: stats.messages,
            ended: stats.end,
            // A run that broke down has no stop reason: it ends below with an error.
            stop: match &ending {
                Ending::Stopped(stop) => Some(stop.clone()),
                Ending::PolicyFailed(_)
                | Ending::Panicked(_)
                | Ending::BeyondTime
                | Ending::SinkBroke
                | Ending::GivenUp => None,
            },
        };
        // Report an error of the recorder first: a full disk also breaks the sink, whose error says
        // less.
        let recording = recorder.finish(facts, stats.lag.clone())?;
        // The recorder's thread held the other reference to the checker, and that thread has ended.
        let alone = "the recorder has dropped its watchers";
        let verifier =
            verifier.map(|verifier| Arc::into_inner(verifier).expect(alone).into_inner());
        let thinking = thinking.lock();
        let mut external_work = None;
        // A policy that failed has already ended its program.
        if let Ending::Stopped(_) = ending {
            for farewell in farewells.into_inner() {
                let done = farewell().map_err(|words| EmulationError::PolicyFailed { words })?;
                *external_work.get_or_insert_default() += done;
            }
        }
        // Both warnings mean that the statistics are empty, but their remedies differ.
        let nothing = match recording.submitted.is_empty() {
            true => RunWarning::NothingSubmitted,
            false => RunWarning::NothingCounted,
        };
        match ending {
            Ending::Stopped(stop) => Ok(Emulated {
                decision_time: thinking.decision_time.clone(),
                external_work,
                warnings: (self.doubts.iter().cloned().map(RunWarning::Policy))
                    .chain(lag_warning(scenario, topology, stats.lag.as_ref()))
                    .chain((recording.summary.jobs == 0).then_some(nothing))
                    .chain(
                        // A run that `until` or a limit cuts off reports that itself. Entries that
                        // are due after its end are no mistake.
                        (stop == StopReason::Done)
                            .then(|| never_due(scenario, stats.end))
                            .flatten(),
                    )
                    .collect(),
                stop,
                ended: recording.ended,
                unsubmitted: unsubmitted(workload, recording.submitted),
                summary: recording.summary,
                lag: stats.lag,
                verifier,
            }),
            Ending::PolicyFailed(words) => Err(EmulationError::PolicyFailed { words }),
            Ending::Panicked(words) if thinking.panicked => {
                Err(EmulationError::Policy { policy: scenario.scheduler.title(), words })
            }
            Ending::Panicked(words) => Err(EmulationError::Bug { words }),
            Ending::GivenUp => Err(EmulationError::GivenUp),
            Ending::BeyondTime => Err(EmulationError::BeyondTime),
            // This point is reached only if `finish` above had no error to report.
            Ending::SinkBroke => {
                Err(EmulationError::Bug { words: "the recorder stopped early".to_owned() })
            }
        }
    }
}

/// Returns the names of the jobs that were never submitted.
fn unsubmitted(workload: &Workload, mut submitted: Vec<JobId>) -> Vec<Arc<str>> {
    // Sorted for binary search; a linear search for each job would be quadratic.
    submitted.sort_unstable();
    let jobs = workload.arrivals.iter().map(|arrival| &arrival.spec);
    let left = jobs.filter(|job| submitted.binary_search(&job.id).is_err());
    left.map(|job| job.name.clone()).collect()
}

/// Returns a warning if the run ended before an entry of the scenario was due.
fn never_due(scenario: &Scenario, end: SimTime) -> Option<RunWarning> {
    let end = end - SimTime::ZERO;
    // Entries after `until` were already reported when the scenario was checked.
    let is_possible = |at: SimSpan| scenario.until.is_none_or(|until| at < until);
    let mut late = scenario.due().filter(|(_, at)| end < *at && is_possible(*at));
    let (first, at) = late.next()?;
    Some(RunWarning::NeverDue { first, at, others: late.count(), end })
}

/// Returns a warning if the scaled clock lagged too far behind.
///
/// The lag in wall time does not depend on the clock's factor. So a factor divided by `excess`
/// should bring the lag in virtual time down to the limit.
fn lag_warning(
    scenario: &Scenario,
    topology: &Topology,
    lag: Option<&Histogram<u64>>,
) -> Option<RunWarning> {
    let ClockSpec::Scaled(factor) = scenario.clock else { return None };
    let p99 = SimSpan::from_micros(lag?.value_at_quantile(0.99));
    let interval = scenario.hadoop.heartbeat_interval(topology.len());
    // Chosen: waits are about one heartbeat interval long, so a lag of a tenth of an interval
    // already distorts them.
    let excess = p99.as_secs_f64() / (0.1 * interval.as_secs_f64());
    (1.0 < excess).then(|| RunWarning::Lag { p99, interval, holds: two_digits(factor / excess) })
}

/// Rounds down to two significant digits.
fn two_digits(value: f64) -> f64 {
    // The factor is advice for `--clock`, so two digits suffice; rounding down keeps it achievable.
    let step = 10f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / step).floor() * step;
    // Removes the noise of binary fractions, as in 0.7000000000000001.
    (rounded * 1e6).round() / 1e6
}

/// Returns the deviations that the invariant checker must allow in this scenario.
pub fn rules(scenario: &Scenario) -> VerifierRules {
    let hadoop = &scenario.hadoop;
    VerifierRules {
        cut_off: scenario.until.is_some(),
        commit_not_counted: hadoop.commit_pending == CommitPending::NotCounted,
        // Hadoop's `mapred.max.map.failures.percent` and its twin for reduces: above zero, a job
        // may succeed without some of its tasks.
        failed_tasks: hadoop.map_failures != Fraction::ZERO
            || hadoop.reduce_failures != Fraction::ZERO,
        max_attempts: Some(hadoop.max_attempts.get()),
        losers_go_on: !hadoop.kill_orphans,
    }
}

/// The policy after a restart of the JobTracker or a change of policy.
struct Successor {
    at: SimTime,
    choice: SchedulerChoice,
    /// Whether it replaces another policy; if not, a restart begins the same policy anew.
    takes_over: bool,
}

/// Returns the policies that follow the first, in the order of time: one for each restart of the
/// JobTracker and one for each change of policy.
fn successors(scenario: &Scenario, effects: &Effects<'_>) -> Vec<Successor> {
    let restarts = effects.restarts.iter().map(|at| (*at, None));
    let changes = LaterChange::course(&scenario.later, &scenario.scheduler).into_iter();
    let changes = changes.map(|step| (SimTime::ZERO + step.at, Some(step)));
    let mut all: Vec<_> = restarts.chain(changes).collect();
    // At the same instant a restart comes before a change of policy, as in the opening.
    all.sort_by_key(|(at, _)| *at);
    let mut current = scenario.scheduler.clone();
    let follow = |(at, step): (SimTime, Option<PolicyStep>)| {
        // A restart begins the current policy anew, not the first one, and with the pools or queues
        // that it has read last.
        let takes_over = step.as_ref().map(|step| step.takes_over);
        current = step.map_or_else(|| current.clone(), |step| step.choice);
        let is_new = takes_over != Some(false);
        is_new.then(|| Successor { at, choice: current.clone(), takes_over: takes_over.is_some() })
    };
    all.into_iter().filter_map(follow).collect()
}

/// Returns the cores of a scenario, and the messages that start them.
fn assemble(
    prepared: &Prepared,
    effects: Effects<'_>,
    mut policy: Stopwatch,
    mut successors: Vec<Stopwatch>,
    reloads: Vec<PolicyReload>,
    is_watched: bool,
) -> (RunCores, OpeningMail) {
    let Prepared { scenario, topology, workload, .. } = prepared;
    let (seed, hadoop, cluster) = (scenario.seed, &scenario.hadoop, &scenario.cluster);
    let may_slow_down = effects.slow_down();
    let has_map_outputs = effects.may_lose_outputs();
    // Mumak's model has no file system: its traces say where blocks are.
    let has_name_node = effects.may_lose_blocks() && hadoop.behaviour().has_files;
    let mut opening = opening(topology, &effects.absent, effects.opening);
    // Without a NameNode, mail to it would have no receiver.
    if !has_name_node {
        opening.retain(|(_, mail)| !matches!(mail, Mail::NameNode(_)));
    }
    opening.extend(later(scenario, workload));
    // This message comes last: the policy's clock starts after all other events of instant zero.
    if hadoop.behaviour().ticks_last {
        opening.push((SimTime::ZERO, ToJobTracker::Start.into()));
    }
    let hdfs = Hdfs::of(seed, topology.clone(), &cluster.hdfs);
    let shared = ContendedResources::new(seed, cluster, topology.clone(), hdfs.clone());
    let fabric = shared.as_ref().map(|shared| boxed(Fabric::new(shared.resources())));
    let costs = Arc::new(Costs {
        seed,
        hadoop: hadoop.clone(),
        rates: ReadRates::new(cluster),
        topology: topology.clone(),
        planned_failures: effects.planned_failures,
        shared,
        may_slow_down,
    });
    // Any node will do: `TrueDurations` copies the node and sets the speed of the copy to one.
    if let Some((_, node)) = topology.nodes().next() {
        let truth = TrueDurations::new(costs.clone(), node);
        let policies = std::iter::once(&mut policy).chain(&mut successors);
        policies.filter(|policy| policy.foresees()).for_each(|policy| policy.foresee(&truth));
    }
    // Only faults change the copies of blocks, so a run whose faults lose no blocks needs no
    // NameNode.
    let name_node = has_name_node.then(|| {
        let jobs = workload.arrivals.iter().map(|arrival| arrival.spec.clone()).collect();
        let upkeep = ReplicationUpkeep {
            dead_after: cluster.hdfs.dead_after(),
            pace: cluster.re_replication(),
        };
        let name_node = NameNode::new(seed, hdfs.clone(), topology.len(), upkeep, jobs);
        boxed(name_node.without(effects.absent))
    });
    let job_tracker = JobTracker::new(
        hadoop.clone(),
        topology.clone(),
        hdfs,
        cluster.jobtracker.clone(),
        Box::new(policy),
        JobTrackerOptions {
            seed: Some(seed),
            successors: boxed_policies(successors),
            reloads,
            refusals: match () {
                () if scenario.record.decisions => NotedRefusals::Emitted,
                () if is_watched => NotedRefusals::Watched,
                () => NotedRefusals::None,
            },
            // Only the STRESS submission asks for the progress of all maps.
            follows_maps: workload.submission == Submission::Stress,
            tells_standings: scenario.record.shares,
            tells_outputs: has_map_outputs,
            may_hear_twice: effects.resends,
            forgoes_progress: true,
        },
    );
    // A brief heartbeat says "as before", which a restarted JobTracker cannot understand.
    let is_brief = job_tracker.forgoes_progress() && effects.restarts.is_empty();
    let manner =
        HeartbeatManner { resends: effects.resends, is_brief, asks_outputs: has_map_outputs };
    // If the scenario sets no `heartbeat_phase`, the first heartbeats are spread over one interval.
    let spread = hadoop.heartbeat_phase.or(hadoop.heartbeat_interval(topology.len()));
    // Mumak draws all phases from one generator, in the order of the trackers.
    let mut java = JavaRandom::of_phases(seed);
    let mut phase_of = |id: TrackerId| match hadoop.draws {
        Draws::Own => {
            // Each tracker has a random stream of its own: adding a node does not change other
            // phases.
            let mut rng = stream(seed, Purpose::Phase, u64::from(id.0));
            SimSpan::from_micros(rng.random_range(0..=spread.as_micros()))
        }
        Draws::Mumak => {
            // Java's `nextInt` takes a positive `int`, here of milliseconds.
            let millis = i32::try_from(spread.as_millis()).unwrap_or(i32::MAX);
            SimSpan::from_millis(java.below(millis.max(1)) as u64)
        }
    };
    let trackers = topology.nodes().map(|(id, node)| {
        let phase = phase_of(id);
        boxed(TaskTracker::new(id, node.clone(), costs.clone(), phase, manner))
    });
    let mishaps = effects.mishaps;
    let nature = (!mishaps.is_empty()).then(|| {
        let nature = FaultInjector::new(topology.len(), mishaps, fabric.is_some());
        boxed(if has_name_node { nature.tell_name_node() } else { nature })
    });
    let cast = RunCores {
        nature,
        name_node,
        map_outputs: has_map_outputs.then(|| boxed(MapOutputs::default())),
        job_tracker: Box::new(job_tracker),
        injector: Box::new(JobInjector::new(workload.clone())),
        trackers: trackers.collect(),
        fabric,
    };
    (cast, opening)
}

fn boxed_policies(policies: Vec<Stopwatch>) -> Vec<Box<dyn Scheduler>> {
    policies.into_iter().map(|policy| -> Box<dyn Scheduler> { Box::new(policy) }).collect()
}

fn boxed<C: Core + 'static>(core: C) -> Box<dyn Core<Msg = C::Msg>> {
    Box::new(core)
}

/// Returns the messages that start a run: machines start, jobs arrive, faults happen.
fn opening(topology: &Topology, absent: &BTreeSet<TrackerId>, faults: OpeningMail) -> OpeningMail {
    let start = |(id, _)| (SimTime::ZERO, Mail::Tracker(id, ToTracker::PowerOn));
    // One message starts the injector; it then sets its own timer for each next job.
    let arrive = (SimTime::ZERO, ToInjector::Arrive.into());
    // A node that joins later is powered on by a message of the fault that adds it.
    let is_there = |(id, _): &(TrackerId, _)| !absent.contains(id);
    topology.nodes().filter(is_there).map(start).chain([arrive]).chain(faults).collect()
}

/// Returns the messages for the actions of users during the run: submitting jobs, changing the
/// policy or what it goes by, ending tasks.
fn later(scenario: &Scenario, workload: &Workload) -> OpeningMail {
    // The injector submits the other jobs by itself.
    let jobs = workload.arrivals.iter().filter(|arrival| arrival.way == SubmissionWay::Later);
    let submit = |arrival: &Arrival| {
        (SimTime::ZERO + arrival.delay, ToInjector::Submit(arrival.spec.id).into())
    };
    let changes = LaterChange::policies(&scenario.later);
    let change = |(at, _)| (SimTime::ZERO + at, ToJobTracker::ChangePolicy.into());
    let course = LaterChange::course(&scenario.later, &scenario.scheduler).into_iter();
    let reloads = course.filter(|step| !step.takes_over);
    let reload = |step: PolicyStep| (SimTime::ZERO + step.at, ToJobTracker::Reload.into());
    (jobs.map(submit).chain(changes.map(change)).chain(reloads.map(reload)))
        .chain(LaterChange::mail(&scenario.later, workload))
        .collect()
}

fn links(scenario: &Scenario, topology: &Topology, effects: &Effects<'_>) -> Links {
    Links {
        loss: effects.loss,
        duplication: effects.duplication,
        late: effects.late,
        late_by: effects.late_by.clone(),
        cuts: effects.cuts.clone(),
        ..Links::new(scenario.seed, &scenario.cluster.network, topology)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_scenario as scenario;

    #[test]
    fn a_clock_that_is_too_late_names_a_factor_that_holds() {
        let text = "
clock: 1000x
hadoop: {heartbeat: 3s}
cluster: {nodes: 2}
workload: {jobs: [{name: a, maps: 1}]}
";
        let registry = Registry::builtin();
        let scenario = scenario::parse("test.yaml", text, &[], &registry).unwrap().scenario;
        let topology = Topology::new(&scenario.cluster);
        let mut lag = Histogram::<u64>::new(3).unwrap();
        lag.record_n(299_000, 100).unwrap();
        assert_eq!(lag_warning(&scenario, &topology, Some(&lag)), None);
        // The lag is four times the limit of a tenth of the interval.
        lag.record_n(1_200_000, 100).unwrap();
        let Some(RunWarning::Lag { holds, .. }) = lag_warning(&scenario, &topology, Some(&lag))
        else {
            panic!("no warning");
        };
        assert_eq!(holds, 240.0);
    }

    #[test]
    fn what_was_due_after_the_last_job_had_ended_is_told() {
        let text = "
workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}
faults: [{at: 1s, stop: node-9}, {at: 1h, stop: node-2}]
later: [{at: 2h, scheduler: fair}]
";
        let registry = Registry::builtin();
        let told = |set: &str| {
            let set = [set.to_owned()];
            let scenario = scenario::parse("test.yaml", text, &set, &registry).unwrap().scenario;
            emulate(&scenario, &registry, Options::default()).unwrap().warnings
        };
        let [RunWarning::NeverDue { first, others: 1, .. }] = &told("seed=1")[..] else {
            panic!("{:?}", told("seed=1"));
        };
        assert_eq!(first, "faults[1]");
        assert_eq!(told("until=30min"), [], "cut off by `until`: no warning");
    }

    #[test]
    fn a_warm_up_is_blamed_only_where_jobs_were_submitted() {
        let text = "workload: {jobs: [{name: a, submit: 10s, maps: 1, map_time: 1s}]}";
        let registry = Registry::builtin();
        let told = |set: &str| {
            let set = [set.to_owned()];
            let scenario = scenario::parse("test.yaml", text, &set, &registry).unwrap().scenario;
            emulate(&scenario, &registry, Options::default()).unwrap().warnings
        };
        assert_eq!(told("until=5s"), [RunWarning::NothingSubmitted]);
        assert_eq!(told("record.warm_up=1min"), [RunWarning::NothingCounted]);
    }

    #[test]
    fn factors_are_rounded_down_to_two_digits() {
        for (value, rounded) in [(1234.0, 1200.0), (99.9, 99.0), (0.876, 0.87), (5.0, 5.0)] {
            assert_eq!(two_digits(value), rounded, "{value}");
        }
    }
}
