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
mod cast;
mod foretold;
mod kept;
mod policies;
mod prepared;
mod times_alone;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use self::policies::{RunPolicies, setting};
use crate::MODEL;
use crate::output::OutputError;
use crate::record::{
    OnProgress, RecordError, Recorder, Recording, RunFacts, Setup, Summary, Watcher,
};
use crate::verify::{Verifier, VerifierRules};
use mumakil_base::units::tell::{self, Detail};
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::cluster::{Hdfs, Topology};
use mumakil_core::mapred::{AutoSpan, CommitPending, ExternalWork, JobId, Scheduler, StopReason};
use mumakil_core::trace::TraceError;
use mumakil_results::tables::ReadError;
use mumakil_runtime::{self as runtime, ClockPace, Ending, RunCores, RunPlan, RunStats, Transport};
use mumakil_scenario::fault::{self, Effects};
use mumakil_scenario::workload::{ArrivalPace, Workload};
use mumakil_scenario::{
    ClockSpec, LineEnd, LineRun, RecordSpec, Registry, Scenario, ScenarioError,
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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunWarning {
    /// The scaled clock was late by more than a tenth of a heartbeat interval.
    #[error(
        "the clock was late by {} or more for one message in a hundred, of a heartbeat interval of \
         {}, which distorts the results; this machine seems to hold `--clock {holds}x`",
        mark(p99),
        mark(interval)
    )]
    Lag {
        /// The 99th percentile of the lag: one timer in a hundred fired at least this late.
        p99: SimSpan,
        /// The heartbeat interval.
        interval: SimSpan,
        /// The largest clock factor that this machine is likely to keep up with.
        holds: f64,
    },
    /// Every job was submitted before the warm-up was over.
    #[error("no job came after the warm-up, so the statistics say nothing; lower `record.warm_up`")]
    NothingCounted,
    /// No job was submitted before the run ended.
    #[error(
        "no job was submitted before the run ended, so the statistics say nothing; let it last \
         longer (`until`), or submit jobs earlier"
    )]
    NothingSubmitted,
    /// The run was too short to see the end of its warm-up, which it should find itself.
    #[error(
        "the run is too short to see the end of its warm-up (`record.warm_up: auto`), so the \
         statistics leave no job out; let more jobs arrive"
    )]
    NeverSettled,
    /// The run ended before some entries of the scenario were due.
    #[error(
        "{first}{} never happened: it was due at {}, and all jobs had ended at {}; leave it out, or \
         mend its time",
        and_more(others),
        mark(at),
        mark(end)
    )]
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
    #[error("{0}")]
    Policy(String),
}

/// Returns a time in the words of a warning.
fn mark(span: &SimSpan) -> String {
    tell::time(span.as_secs_f64(), Detail::Mark)
}

/// Returns how many further entries there are, if there are any.
fn and_more(others: &usize) -> String {
    if *others == 0 { String::new() } else { format!(" (and {others} more)") }
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
        let line = registry.line_of(&scenario.hadoop);
        let site = fault::FaultSite { seed: scenario.seed, topology, workload };
        let effects = Effects::of(&scenario.faults, site);
        let (policies, acting) = RunPolicies::begin(self, registry, options.around, &effects)?;
        // The checker needs events in the order of time; on a scaled clock several threads send
        // them.
        let verify = options.verify && scenario.clock == ClockSpec::Virtual;
        let is_checked = verify && line.is_none();
        let verifier = is_checked.then(|| Arc::new(Mutex::new(self.verifier(rules))));
        let mut watchers = options.watchers;
        watchers.extend(verifier.iter().map(|it| -> Box<dyn Watcher> { Box::new(it.clone()) }));
        let (transport, folder) = (options.transport, options.folder.clone());
        let setup = self.setup(options.folder, options.progress, watchers);
        let (sender, recorder) = Recorder::start(setup)?;
        let events = Box::new(sender);
        // The time to read and build the cluster and the jobs counts, too.
        let time_limit =
            options.time_limit.map(|limit| limit.saturating_sub(self.took + begun.elapsed()));
        let until = scenario.until.map_or(SimTime::NEVER, |until| SimTime::ZERO + until);
        let (stats, ending, of_line) = if let Some(line) = line {
            let (folder, pace) = (folder.as_deref(), options.pace);
            let run =
                LineRun { scenario, site, events, folder, pace, time_limit, transport, verify };
            let LineEnd { stats, ending, breaches } =
                line.play(run).map_err(|(path, source)| RecordError::Write { path, source })?;
            (stats, ending, verify.then(|| Verifier::of_breaches(breaches)))
        } else {
            let links = cast::links(scenario, topology, &effects);
            let (cast, opening) = cast::assemble(self, effects, acting, options.pace.is_some());
            let (cast, outlasts, pace) = (recast(cast), options.outlasts, options.pace);
            let play = RunPlan { cast, links, opening, events, until, time_limit, outlasts, pace };
            let (stats, ending) = drive(play, scenario.clock, transport);
            (stats, ending, None)
        };
        let facts = self.facts(&policies, &stats, &ending);
        // Report an error of the recorder first: a full disk also breaks the sink, whose error says
        // less.
        let recording = recorder.finish(facts, stats.lag.clone())?;
        // The recorder's thread held the other reference to the checker, and that thread has ended.
        let alone = "the recorder has dropped its watchers";
        let verifier = verifier
            .map(|verifier| Arc::into_inner(verifier).expect(alone).into_inner())
            .or(of_line);
        let (decision_time, external_work) = policies.end(&ending)?;
        let stop = stopped(ending)?;
        Ok(Emulated {
            decision_time,
            external_work,
            warnings: self.warnings(&recording, &stop, &stats),
            stop,
            ended: recording.ended,
            unsubmitted: unsubmitted(workload, recording.submitted),
            summary: recording.summary,
            lag: stats.lag,
            verifier,
        })
    }

    /// Returns the options of the recording.
    fn setup(
        &self,
        folder: Option<PathBuf>,
        progress: Option<OnProgress>,
        watchers: Vec<Box<dyn Watcher>>,
    ) -> Setup {
        let Self { scenario, workload, topology, .. } = self;
        Setup {
            settings: RecordSpec { warm_up: AutoSpan::Fixed(self.warm_up()), ..scenario.outputs() },
            chains: if scenario.record.chains { workload.chains() } else { Vec::new() },
            folder,
            labels: self.labels(),
            progress,
            watchers,
            // The summary states the slot time lost to faults even if `jobs.csv` has no waste.
            counts_losses: !scenario.faults.is_empty(),
            demands: self.demands(),
            is_batch: scenario.workload.pace == ArrivalPace::Batch,
            topology: Some(topology.clone()),
        }
    }

    fn verifier(&self, rules: VerifierRules) -> Verifier {
        let Self { scenario, topology, .. } = self;
        let verifier = Verifier::new(rules).with_room(topology);
        match scenario.hadoop.behaviour().has_files {
            // The checker has a file system of its own: a file system shared with the emulator
            // would share the emulator's mistakes.
            true => {
                let hdfs = &scenario.cluster.hdfs;
                verifier.with_files(Hdfs::of(scenario.seed, topology.clone(), hdfs))
            }
            false => verifier,
        }
    }

    fn facts(&self, policies: &RunPolicies, stats: &RunStats, ending: &Ending) -> RunFacts {
        let Self { scenario, topology, .. } = self;
        RunFacts {
            scenario: scenario.name.to_string(),
            policy: scenario.scheduler.title(),
            precedence: policies.precedence,
            later_policies: policies.later_until(stats.end),
            seed: scenario.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: MODEL,
            nodes: topology.len(),
            messages: stats.messages,
            ended: stats.end,
            // A run that broke down has no stop reason: it ends with an error.
            stop: match ending {
                Ending::Stopped(stop) => Some(stop.clone()),
                Ending::PolicyFailed(_)
                | Ending::Panicked(_)
                | Ending::BeyondTime
                | Ending::SinkBroke
                | Ending::GivenUp => None,
            },
        }
    }

    fn warnings(&self, found: &Recording, stop: &StopReason, stats: &RunStats) -> Vec<RunWarning> {
        let Self { scenario, topology, .. } = self;
        // Both mean that the statistics are empty, but their remedies differ.
        let nothing = match found.submitted.is_empty() {
            true => RunWarning::NothingSubmitted,
            false => RunWarning::NothingCounted,
        };
        let policy = self.doubts.iter().cloned().map(RunWarning::Policy);
        // A run that `until` or a limit cuts off reports that itself. Entries that are due after its
        // end are no mistake.
        let never_due = (*stop == StopReason::Done).then(|| never_due(scenario, stats.end));
        policy
            .chain(lag_warning(scenario, topology, stats.lag.as_ref()))
            .chain((found.summary.jobs == 0).then_some(nothing))
            .chain(never_due.flatten())
            .collect()
    }
}

fn drive(play: RunPlan, clock: ClockSpec, transport: Transport) -> (RunStats, Ending) {
    match clock {
        ClockSpec::Virtual => runtime::run_mapreduce(play, transport),
        // A scaled clock always uses actors; direct calls exist only on the virtual clock.
        ClockSpec::Scaled(factor) => runtime::run_scaled(play, factor),
    }
}

/// Returns why a run has stopped.
///
/// # Errors
/// If it broke down.
fn stopped(ending: Ending) -> Result<StopReason, EmulationError> {
    Err(match ending {
        Ending::Stopped(stop) => return Ok(stop),
        Ending::PolicyFailed(words) => EmulationError::PolicyFailed { words },
        Ending::Panicked(words) => EmulationError::Bug { words },
        Ending::GivenUp => EmulationError::GivenUp,
        Ending::BeyondTime => EmulationError::BeyondTime,
        // This point is reached only if the recorder had no error to report.
        Ending::SinkBroke => EmulationError::Bug { words: "the recorder stopped early".to_owned() },
    })
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
    let mut late = (scenario.due())
        .filter(|(_, at)| end < *at && scenario.until.is_none_or(|until| *at < until));
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
        let registry = crate::testing::registry();
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
    fn entries_due_after_the_last_job_draw_a_warning() {
        let text = "
workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}
faults: [{at: 1s, stop: node-9}, {at: 1h, stop: node-2}]
later: [{at: 2h, scheduler: fair}]
";
        let registry = crate::testing::registry();
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
        let registry = crate::testing::registry();
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
