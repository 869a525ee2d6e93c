//! One run: a scenario in, a recording out.
//!
//! This is where the parts meet:
//!
//! ```text
//! Prepared ─ assemble ─ RunCores: JobTracker, TaskTrackers, job injector, NameNode …
//!                     └ opening mail: trackers power on, jobs arrive, faults are due
//! RunPlan = cores + links + opening ─ runtime ─ events ─ Recorder ─ Summary and files
//!                                             └ Ending: done, out of time, or what broke
//! ```

mod kept;
mod prepared;

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

use crate::output::OutputError;
use crate::record::{
    LaterPolicy, OnProgress, RecordError, Recorder, RunFacts, Setup, Summary, Watcher,
};
use crate::verify::{Verifier, VerifierRules};
use mumakil_base::random::mumak::JavaRandom;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::tell::{self, Detail};
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::cluster::{Hdfs, ReadRates, Topology};
use mumakil_core::mapred::{
    CommitPending, ContendedResources, Core, Costs, Draws, ExternalWork, Fabric, FaultInjector,
    HeartbeatManner, JobId, JobTracker, Mail, MapOutputs, NameNode, ReplicationUpkeep, Scheduler,
    Setting, StopReason, TaskTracker, ToInjector, ToJobTracker, ToTracker, TrackerId,
    TrueDurations,
};
use mumakil_core::trace::TraceError;
use mumakil_results::tables::ReadError;
use mumakil_runtime::{
    self as runtime, ClockPace, Ending, Links, OpeningMail, RunCores, RunPlan, Stopwatch, Transport,
};
use mumakil_scenario::fault::{self, Effects};
use mumakil_scenario::workload::{Arrival, JobInjector, Submission, SubmissionWay, Workload};
use mumakil_scenario::{
    ClockSpec, LaterChange, RecordSpec, Registry, Scenario, ScenarioError, SchedulerChoice,
};

pub use kept::KeptRun;
pub use prepared::Prepared;

/// How a scenario is to be run.
#[derive(Default)]
pub struct Options {
    /// An empty folder for the outputs; without one there is only the summary.
    pub folder: Option<PathBuf>,
    /// Called from time to time with how far the run is.
    pub progress: Option<OnProgress>,
    /// Whether to check the invariants; on the virtual clock only.
    pub verify: bool,
    /// Further watchers of the facts, such as one that writes a trace for Perfetto.
    pub watchers: Vec<Box<dyn Watcher>>,
    /// How much real time it may take.
    pub time_limit: Option<Duration>,
    /// Whether the run goes on when the JobTracker finds it stalled, to check that nothing moves.
    pub outlasts: bool,
    /// A wrapper of each policy, if there is one.
    pub around: Option<WrapPolicy>,
    /// The pace at which a person lets it go on, if there is one; on the virtual clock only.
    pub pace: Option<Box<dyn ClockPace>>,
    /// The carrier of its messages; on the virtual clock only.
    pub transport: Transport,
}

/// Puts a policy into another that passes on what it does.
pub type WrapPolicy = Box<dyn Fn(Box<dyn Scheduler>) -> Box<dyn Scheduler>>;

/// The end of a run, beside its files.
#[derive(Debug)]
pub struct Emulated {
    /// The run in numbers.
    pub summary: Summary,
    /// Why it ended.
    pub stop: StopReason,
    /// How many jobs have ended, in the warm-up too.
    pub ended: u32,
    /// The jobs that were never submitted, by name.
    pub unsubmitted: Vec<Arc<str>>,
    /// How long the policy's decisions took, in real nanoseconds.
    pub decision_time: Histogram<u64>,
    /// The part of that, and of other questions, that another program took.
    pub elsewhere: Option<ExternalWork>,
    /// How late timers fired, in virtual microseconds; on the scaled clock only.
    pub lag: Option<Histogram<u64>>,
    /// Doubts that a reader should know before trusting the results.
    pub warnings: Vec<RunWarning>,
    /// The invariant checker, if it was asked for.
    pub verifier: Option<Verifier>,
}

/// A doubt that a reader should know before trusting the results.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunWarning {
    /// The scaled clock was late by more than a tenth of a heartbeat interval.
    Lag {
        /// How late one message in a hundred was, or later.
        p99: SimSpan,
        /// The heartbeat interval.
        interval: SimSpan,
        /// The largest factor that this machine seems to hold.
        holds: f64,
    },
    /// Every job was submitted before the warm-up was over.
    NothingCounted,
    /// No job was submitted before the run ended.
    NothingSubmitted,
    /// The run had ended before these were due.
    NeverDue {
        /// Where the first of them stands in the scenario.
        first: String,
        /// When that was due.
        at: SimSpan,
        /// How many others there are.
        others: usize,
        /// When the run ended.
        end: SimSpan,
    },
    /// The policy doubts jobs that come from files or are drawn.
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
    /// A file of the scenario does not go with the rest of it.
    #[error("{what}")]
    Unfit {
        /// The contradiction.
        what: String,
    },
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The results cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A file of the run cannot be read back.
    #[error(transparent)]
    ReadBack(#[from] ReadError),
    /// The folder of the results cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The person who held it up has given it up.
    #[error("the run was given up")]
    GivenUp,
    /// The policy cannot go on.
    #[error("the policy failed: {words}")]
    PolicyFailed {
        /// Which, and why.
        words: String,
    },
    /// The policy panicked.
    #[error("the policy `{policy}` panicked: {words}")]
    Policy {
        /// Its name.
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

impl EmulationError {
    /// Returns whether the disk is at fault: other runs would meet the same.
    pub fn is_of_the_disk(&self) -> bool {
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
        self.emulate_as(registry, options, rules(&self.scenario), |cast| cast)
    }

    /// Runs the scenario with these rules of the checker and the cast that `recast` returns. Tests
    /// put faulty cores there.
    pub fn emulate_as(
        &self,
        registry: &Registry,
        options: Options,
        rules: VerifierRules,
        recast: impl FnOnce(RunCores) -> RunCores,
    ) -> Result<Emulated, EmulationError> {
        let Self { scenario, topology, workload, .. } = self;
        let around = options.around;
        let setting = Setting {
            seed: scenario.seed,
            line: scenario.hadoop.line,
            folder: &scenario.folder,
            topology,
            tell: registry.tell(),
            may_start: registry.may_start(),
            overhear: registry.overhear(),
        };
        // Policies that run as another program return a farewell: called at the end, it lets the
        // program go and says how long it was waited for.
        let farewells = RefCell::new(Vec::new());
        let build = |choice: &SchedulerChoice| -> Result<Box<dyn Scheduler>, EmulationError> {
            // A policy is foreign code from its constructor on and may panic there.
            let built = catch_unwind(AssertUnwindSafe(|| {
                let mut policy = registry.build(choice)?;
                let begun = policy.begin(&setting);
                let begun = begun.map_err(|words| EmulationError::PolicyFailed { words })?;
                Ok::<_, EmulationError>((policy, begun))
            }));
            let (policy, begun) = built.unwrap_or_else(|panic| {
                let words = runtime::words_of_panic(&*panic);
                Err(EmulationError::Policy { policy: choice.title(), words })
            })?;
            farewells.borrow_mut().extend(begun);
            Ok(match &around {
                Some(around) => around(policy),
                None => policy,
            })
        };
        // All successors share this stopwatch, so the decision times are those of the whole run.
        let (policy, thinking) = Stopwatch::new(build(&scenario.scheduler)?);
        // Asked now, since the JobTracker owns the policy from `assemble` on.
        let precedence = policy.precedence();
        let is_virtual = scenario.clock == ClockSpec::Virtual;
        // The checker needs events in the order of time; on a scaled clock several threads send
        // them.
        let verifier = (options.verify && is_virtual).then(|| {
            // The checker's own file system: one shared with the emulator would share its mistakes.
            let files = Hdfs::of(scenario.seed, topology.clone(), &scenario.cluster.hdfs);
            // The recorder's thread held the other reference and has ended.
            let verifier = Verifier::new(rules);
            let has_files = scenario.hadoop.behaviour().has_files;
            Arc::new(Mutex::new(if has_files { verifier.with_files(files) } else { verifier }))
        });
        let verifying =
            verifier.iter().map(|verifier| -> Box<dyn Watcher> { Box::new(verifier.clone()) });
        let (events, recorder) = Recorder::start(Setup {
            settings: RecordSpec {
                // A workload that first fills the cluster extends the warm-up: its filling jobs do
                // not count.
                warm_up: scenario.record.warm_up.max(workload.warm_up),
                // Speculation turns the waste table on, whatever `record.waste` says.
                waste: scenario.records_waste(),
                ..scenario.record.clone()
            },
            folder: options.folder,
            labels: self.labels(),
            progress: options.progress,
            watchers: options.watchers.into_iter().chain(verifying).collect(),
            // The summary's part on faults needs the slot time lost to them, even without a waste
            // table.
            counts_losses: !scenario.faults.is_empty(),
        })?;

        let site = fault::FaultSite { seed: scenario.seed, topology, workload };
        let effects = Effects::of(&scenario.faults, site);
        let links = links(scenario, topology, &effects);
        let (mut followers, mut later_policies) = (Vec::new(), Vec::new());
        for Successor { at, choice, takes_over } in successors(scenario, &effects) {
            let follower = policy.successor(build(choice)?);
            // A successor after a restart is the same policy begun anew, so it is no later policy.
            if takes_over {
                let (name, precedence) = (choice.title(), follower.precedence());
                let at_s = (at - SimTime::ZERO).as_secs_f64();
                later_policies.push((at, LaterPolicy { at_s, policy: name, precedence }));
            }
            followers.push(follower);
        }
        let (cast, opening) = assemble(self, effects, policy, followers);
        let play = RunPlan {
            cast: recast(cast),
            links,
            opening,
            events: Box::new(events),
            until: scenario.until.map_or(SimTime::NEVER, |until| SimTime::ZERO + until),
            time_limit: options.time_limit,
            outlasts: options.outlasts,
            pace: options.pace,
        };
        let (stats, ending) = match (scenario.clock, options.transport) {
            (ClockSpec::Virtual, Transport::Actors) => runtime::run_virtual(play),
            (ClockSpec::Virtual, Transport::Bare) => runtime::run_bare(play),
            // On a scaled clock messages always travel between actors; there is no bare variant of
            // it.
            (ClockSpec::Scaled(factor), _) => runtime::run_scaled(play, factor),
        };

        let facts = RunFacts {
            scenario: scenario.name.to_string(),
            policy: scenario.scheduler.title(),
            precedence,
            later_policies: { later_policies.into_iter() }
                // A change that was due after the end never happened. The list is in the order of
                // time.
                .take_while(|(at, _)| *at <= stats.end)
                .map(|(_, later)| later)
                .collect(),
            seed: scenario.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            nodes: topology.len(),
            messages: stats.messages,
            ended: stats.end,
            // A run that broke down has no reason to stop: it ends below with an error.
            stop: match &ending {
                Ending::Stopped(stop) => Some(stop.clone()),
                Ending::PolicyFailed(_)
                | Ending::Panicked(_)
                | Ending::SinkBroke
                | Ending::GivenUp => None,
            },
        };
        // An error of the recorder comes first: a full disk also lets the sink break, with fewer
        // words.
        let recording = recorder.finish(facts, stats.lag.clone())?;
        let alone = "the recorder has let go of its watchers";
        let verifier =
            verifier.map(|verifier| Arc::into_inner(verifier).expect(alone).into_inner());
        let thinking = thinking.lock();
        let mut elsewhere = None;
        // A policy that failed has ended its program already, so there is nothing left to wait for.
        if let Ending::Stopped(_) = ending {
            for farewell in farewells.into_inner() {
                let done = farewell().map_err(|words| EmulationError::PolicyFailed { words })?;
                *elsewhere.get_or_insert_default() += done;
            }
        }
        // Both warnings mean that nothing counts, but their remedies differ.
        let nothing = match recording.submitted.is_empty() {
            true => RunWarning::NothingSubmitted,
            false => RunWarning::NothingCounted,
        };
        match ending {
            Ending::Stopped(stop) => Ok(Emulated {
                decision_time: thinking.decision_time.clone(),
                elsewhere,
                warnings: (self.doubts.iter().cloned().map(RunWarning::Policy))
                    .chain(lag_warning(scenario, topology, stats.lag.as_ref()))
                    .chain((recording.summary.jobs == 0).then_some(nothing))
                    .chain(
                        // A run cut off by `until` or a limit says so itself; what came later is no
                        // mistake.
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
            // Reached only if `finish` above had no error to report.
            Ending::SinkBroke => {
                Err(EmulationError::Bug { words: "the recorder stopped early".to_owned() })
            }
        }
    }
}

/// Returns the names of the jobs of which none was submitted.
fn unsubmitted(workload: &Workload, mut submitted: Vec<JobId>) -> Vec<Arc<str>> {
    // Sorted for the binary search: a look through all submitted jobs for each would be quadratic.
    submitted.sort_unstable();
    let jobs = workload.arrivals.iter().map(|arrival| &arrival.spec);
    let left = jobs.filter(|job| submitted.binary_search(&job.id).is_err());
    left.map(|job| job.name.clone()).collect()
}

/// Returns a warning if the run had ended before something was due. Entries after `until` are
/// warned of before the run.
fn never_due(scenario: &Scenario, end: SimTime) -> Option<RunWarning> {
    let end = end - SimTime::ZERO;
    // An entry after `until` was already reported when the scenario was checked.
    let is_possible = |at: SimSpan| scenario.until.is_none_or(|until| at < until);
    let mut late = scenario.due().filter(|(_, at)| end < *at && is_possible(*at));
    let (first, at) = late.next()?;
    Some(RunWarning::NeverDue { first, at, others: late.count(), end })
}

/// Returns a warning if the scaled clock was too late.
///
/// The pacer's lag in wall time does not depend on the factor, so dividing the factor by the excess
/// should bring the lag down to the limit.
fn lag_warning(
    scenario: &Scenario,
    topology: &Topology,
    lag: Option<&Histogram<u64>>,
) -> Option<RunWarning> {
    let ClockSpec::Scaled(factor) = scenario.clock else { return None };
    let p99 = SimSpan::from_micros(lag?.value_at_quantile(0.99));
    let interval = scenario.hadoop.heartbeat_interval(topology.len());
    // Chosen: waits are of the order of one interval, so a lag of a tenth already shows in them.
    let excess = p99.as_secs_f64() / (0.1 * interval.as_secs_f64());
    (1.0 < excess).then(|| RunWarning::Lag { p99, interval, holds: two_digits(factor / excess) })
}

/// Rounds down to two significant digits.
fn two_digits(value: f64) -> f64 {
    // The factor is advice for `--clock`, so two digits suffice, and rounding down stays on its
    // safe side.
    let step = 10f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / step).floor() * step;
    // Cuts off what binary fractions add: 0.7000000000000001.
    (rounded * 1e6).round() / 1e6
}

/// Returns what the invariant checker has to allow.
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

/// A policy that follows another.
struct Successor<'s> {
    at: SimTime,
    choice: &'s SchedulerChoice,
    /// Whether it takes over from another, rather than begin anew with the JobTracker's process.
    takes_over: bool,
}

/// Returns the policies that follow the first: one for each time that the JobTracker's process begins
/// anew or another is to take over, in the order in which that happens.
fn successors<'s>(scenario: &'s Scenario, effects: &Effects<'_>) -> Vec<Successor<'s>> {
    let restarts = effects.restarts.iter().map(|at| (*at, None));
    let changes = LaterChange::policies(&scenario.later);
    let changes = changes.map(|(at, choice)| (SimTime::ZERO + at, Some(choice)));
    let mut all: Vec<_> = restarts.chain(changes).collect();
    // At one instant faults come first, as in the opening.
    all.sort_by_key(|(at, _)| *at);
    let mut current = &scenario.scheduler;
    let follow = |(at, change): (SimTime, Option<&'s SchedulerChoice>)| {
        // A restart brings back the policy that is in force by then, not the first one.
        current = change.unwrap_or(current);
        Successor { at, choice: current, takes_over: change.is_some() }
    };
    all.into_iter().map(follow).collect()
}

/// Returns the cores of a scenario, and the messages that set them going.
fn assemble(
    prepared: &Prepared,
    effects: Effects<'_>,
    mut policy: Stopwatch,
    mut successors: Vec<Stopwatch>,
) -> (RunCores, OpeningMail) {
    let Prepared { scenario, topology, workload, .. } = prepared;
    let (seed, hadoop, cluster) = (scenario.seed, &scenario.hadoop, &scenario.cluster);
    let may_slow_down = effects.slow_down();
    let has_map_outputs = effects.may_lose_outputs();
    // Mumak's model has no file system: there the traces say where blocks are.
    let has_name_node = effects.may_lose_blocks() && hadoop.behaviour().has_files;
    let mut opening = opening(topology, &effects.absent, effects.opening);
    // Mail to a core that is not in the cast would have no receiver.
    if !has_name_node {
        opening.retain(|(_, mail)| !matches!(mail, Mail::NameNode(_)));
    }
    opening.extend(later(scenario, workload));
    // Last in the opening, so that the policy's clock starts after everything else of instant zero.
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
        dooms: effects.dooms,
        shared,
        may_slow_down,
    });
    // Any node will do: the truth takes its shape and sets its speed to one.
    if let Some((_, node)) = topology.nodes().next() {
        let truth = TrueDurations::new(costs.clone(), node);
        policy.foresee(&truth);
        successors.iter_mut().for_each(|policy| policy.foresee(&truth));
    }
    // Without faults that touch files no copy of a block changes, so nothing has to keep track of
    // them.
    let name_node = has_name_node.then(|| {
        let jobs = workload.arrivals.iter().map(|arrival| arrival.spec.clone()).collect();
        let upkeep = ReplicationUpkeep {
            dead_after: cluster.hdfs.dead_after(),
            pace: cluster.re_replication(),
        };
        let name_node = NameNode::new(seed, hdfs.clone(), topology.len(), upkeep, jobs);
        boxed(name_node.without(effects.absent))
    });
    let mut job_tracker = JobTracker::new(
        hadoop.clone(),
        topology.clone(),
        hdfs,
        cluster.jobtracker.clone(),
        Box::new(policy),
    );
    job_tracker.set_successors(
        successors.into_iter().map(|policy| -> Box<dyn Scheduler> { Box::new(policy) }),
    );
    if hadoop.draws == Draws::Mumak {
        job_tracker.draw_as_mumak(seed);
    }
    // Only STRESS asks how busy the cluster is; the sum costs a look-up for each map and heartbeat.
    if workload.submission == Submission::Stress {
        job_tracker.follow_maps();
    }
    if scenario.record.decisions {
        job_tracker.keep_refusals();
    }
    // Kept answers serve only heartbeats that are sent twice, as after a lost reply.
    if !effects.resends {
        job_tracker.forget_answers();
    }
    // A restarted JobTracker does not know what "as before" refers to. In this order:
    // `forgo_progress` changes the JobTracker and must run even when restarts forbid brief
    // heartbeats.
    let is_brief = job_tracker.forgo_progress() && effects.restarts.is_empty();
    if has_map_outputs {
        job_tracker.tell_outputs();
    }
    let manner =
        HeartbeatManner { resends: effects.resends, is_brief, asks_outputs: has_map_outputs };
    // Without a setting of its own, the first heartbeats are spread evenly over one interval.
    let spread = hadoop.heartbeat_phase.or(hadoop.heartbeat_interval(topology.len()));
    // Mumak draws all phases from one generator, in the order of the trackers.
    let mut java = JavaRandom::of_phases(seed);
    let mut phase_of = |id: TrackerId| match hadoop.draws {
        Draws::Own => {
            // A stream for each tracker: one more node leaves the phases of the others as they
            // were.
            let mut rng = stream(seed, Purpose::Phase, u64::from(id.0));
            SimSpan::from_micros(rng.random_range(0..=spread.as_micros()))
        }
        Draws::Mumak => {
            // Java's `nextInt` takes a positive `int` of milliseconds, so the span is fitted to
            // that.
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

fn boxed<C: Core + 'static>(core: C) -> Box<dyn Core<Msg = C::Msg>> {
    Box::new(core)
}

/// Returns the messages that set a run going: machines start, jobs arrive, faults happen.
fn opening(topology: &Topology, absent: &BTreeSet<TrackerId>, faults: OpeningMail) -> OpeningMail {
    let start = |(id, _)| (SimTime::ZERO, Mail::Tracker(id, ToTracker::PowerOn));
    // One message starts the injector; it then sets its own timer for each next job.
    let arrive = (SimTime::ZERO, ToInjector::Arrive.into());
    // A node that joins later powers on through its own fault's mail.
    let is_there = |(id, _): &(TrackerId, _)| !absent.contains(id);
    topology.nodes().filter(is_there).map(start).chain([arrive]).chain(faults).collect()
}

/// Returns the messages for what users do while the run goes on: submit jobs, change the policy.
fn later(scenario: &Scenario, workload: &Workload) -> OpeningMail {
    // The injector submits the other jobs by itself.
    let jobs = workload.arrivals.iter().filter(|arrival| arrival.way == SubmissionWay::Later);
    let submit = |arrival: &Arrival| {
        (SimTime::ZERO + arrival.delay, ToInjector::Submit(arrival.spec.id).into())
    };
    let changes = LaterChange::policies(&scenario.later);
    let change = |(at, _)| (SimTime::ZERO + at, ToJobTracker::ChangePolicy.into());
    jobs.map(submit).chain(changes.map(change)).collect()
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
        // Four times a tenth of the interval.
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
        assert_eq!(told("until=30min"), [], "the check has told of it");
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
