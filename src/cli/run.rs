//! `mumakil run`: runs a scenario, and writes a folder of results and a few lines.

use std::path::PathBuf;
use std::time::Duration;

use super::drive::DriveOption;
use super::failure::Failure;
use super::lines::TerminalLines;
use super::open::OpenOption;
use super::progress::RunBar;
use super::source::{self, Overrides};
use super::story::RunStory;
use super::study::{PaceOptions, StudyRunArguments};
use super::{Program, interrupt, terminal, verdicts};
use mumakil_base::files::{REPORT, SUMMARY};
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::{counted, span};
use mumakil_core::mapred::StopReason;
use mumakil_results::explain::ExplainedJob;
use mumakil_run::emulation::{Emulated, KeptRun, Options, Prepared};
use mumakil_run::output::perfetto::{self, Perfetto};
use mumakil_run::output::results::RunResults;
use mumakil_run::output::{AsideFile, RunFolder};
use mumakil_runtime::Transport;
use mumakil_scenario::{ClockSpec, LoadedScenario, Registry, Scenario};

/// Run a scenario and write its results into a folder
///
/// The same scenario with the same seed gives the same bytes, on any machine: compare two runs by
/// the digest in the last lines.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil run quickstart
  mumakil run mine.yaml --seed 7 --out results/seven
  mumakil run mine.yaml --set cluster.nodes=50 --set hadoop.slow_start=0.8
  mumakil run mine.yaml --set 'cluster={preset: ec2-100, nodes: 50}' --force
  mumakil run mine.yaml --set scheduler=fifo,fair,hfsp    a study of the three
  mumakil run quickstart --clock 600x

Exit codes:
  0  done (a simulated job that fails is a result)
  1  an expectation fails, or the run failed: the policy panicked, no job
     could continue, an invariant was broken
  2  the scenario or the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(crate) struct RunArguments {
    /// A file, or the name of a scenario that Mumakil brings (see `mumakil list scenarios`)
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The folder for the results [default: out/NAME-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// How time passes: `virtual`, or faster than real time by a factor, such as 600x
    #[arg(long)]
    clock: Option<ClockSpec>,
    /// Also write a trace of the run for the Perfetto UI (https://ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Replace the results of an earlier run; never anything else
    #[arg(long)]
    force: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Check the emulator's own invariants during the run; on the virtual clock only
    #[arg(long)]
    verify: bool,
    /// The real time that the run may take, such as 10min; results up to then are kept
    #[arg(long, value_name = "TIME")]
    time_limit: Option<SimSpan>,
    #[command(flatten)]
    drive: DriveOption,
    #[command(flatten)]
    open: OpenOption,
}

/// Returns the setting that names several schedulers, and the axis of a study that has them.
fn schedulers(sets: &[String]) -> Option<(usize, String)> {
    sets.iter().enumerate().find_map(|(place, set)| {
        let names = set.strip_prefix("scheduler=").filter(|names| names.contains(','))?;
        // A comma within braces belongs to the options of one policy.
        let are_names = !names.contains(['{', '[', '"', '\'']);
        are_names.then(|| (place, format!("sweep.scheduler=[{names}]")))
    })
}

impl RunArguments {
    pub(crate) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        match schedulers(&self.overrides.sets) {
            Some((place, axis)) => self.into_study(place, axis)?.run(program),
            None => self.run_one(registry),
        }
    }

    /// Returns the study that runs the scenario under each of several schedulers; `place` is the
    /// setting that names them.
    fn into_study(self, place: usize, axis: String) -> Result<StudyRunArguments, Failure> {
        let Self { scenario, out, overrides, clock, perfetto, force, quiet, .. } = self;
        if clock.is_some() || perfetto.is_some() {
            return Err(Failure::input(
                "--clock and --perfetto are for a single run, and `scheduler` names several policies",
            ));
        }
        let Overrides { seed, mut sets, .. } = overrides;
        sets.splice(place..=place, [axis, "compare=scheduler".to_owned()]);
        // As a single run does, so that jobs can be explained. Settings of the user come later.
        sets.insert(0, "record.tasks=true".to_owned());
        sets.extend(seed.map(|seed| format!("seed={seed}")));
        let pace = PaceOptions::of_run(self.time_limit, force, self.verify, self.drive);
        Ok(StudyRunArguments::of(scenario, out, sets, pace, quiet, self.open))
    }

    fn run_one(self, registry: &Registry) -> Result<(), Failure> {
        let overrides = Overrides { clock: self.clock, ..self.overrides };
        let (draft, loaded) = source::load(&self.scenario, overrides, registry)?;
        let LoadedScenario { scenario, warnings, .. } = loaded;
        refuse_real_time(&scenario, self.verify, self.drive)?;
        let prepared = source::prepare(&draft, scenario, registry)?;
        terminal::warn_all(&warnings, self.quiet);
        if !self.quiet {
            prepared.workload.left_out.iter().for_each(|part| terminal::warn(part));
        }
        let scenario = &prepared.scenario;
        let target =
            self.out.unwrap_or_else(|| format!("out/{}-{}", scenario.name, scenario.seed).into());
        // Refuse a trace inside the folder: committing replaces the folder as a whole, so the trace
        // would be lost.
        if self.perfetto.as_ref().is_some_and(|file| file.starts_with(&target)) {
            return Err(Failure::input(
                "--perfetto names a file in the folder of the results, which is replaced as a \
                 whole; name one outside it",
            ));
        }
        let bar = RunBar::default();
        // Handle signals before the folder exists: Ctrl-C removes the hidden, half-written folder.
        interrupt::guard_results(&bar);
        // Create the folder before the run, to refuse an existing folder now rather than after
        // hours of work.
        let folder = RunFolder::create(&target, self.force)?;
        let created = self.perfetto.map(|file| perfetto::create(&file, self.force));
        let trace = created.transpose()?;

        let progress = (!self.quiet).then(|| bar.watch(scenario, prepared.jobs()));
        let begin = |trace| Perfetto::begin(trace, &prepared.labels());
        let watcher = trace.as_ref().map(begin).transpose()?;
        let options = Options {
            progress,
            verify: self.verify,
            time_limit: self.time_limit.map(real),
            transport: self.drive.transport.unwrap_or(Transport::Actors),
            watchers: watcher.into_iter().map(|watcher| Box::new(watcher) as _).collect(),
            ..Options::default()
        };
        let kept = prepared.fill(&folder, registry, options);
        bar.clear();
        let kept = kept?;
        // Commit the folder last, so that no results appear if the trace cannot be written.
        let trace = trace.map(AsideFile::put).transpose()?;
        let target = folder.commit()?;

        if !self.quiet {
            let traced = trace.map_or_else(TerminalLines::default, |trace| {
                TerminalLines::of(format!(
                    "wrote {} (open it at https://ui.perfetto.dev)",
                    trace.display()
                ))
            });
            tell(&prepared, &kept, &target, traced)?;
        }
        let start = if prepared.scenario.record.report { REPORT } else { SUMMARY };
        self.open.show(&target.join(start));
        // Judge the run after its lines are printed: even a run that stalled has results to look
        // at.
        verdict_of_kept(&prepared, &kept)?;
        // Explanations need the table of attempts; without it there is nothing to check.
        if self.verify && prepared.scenario.record.tasks {
            check_explained(&target)?;
        }
        verdicts::judge(&kept.verdicts)
    }
}

/// Refuses options that only the virtual clock has.
fn refuse_real_time(scenario: &Scenario, verify: bool, drive: DriveOption) -> Result<(), Failure> {
    if scenario.clock == ClockSpec::Virtual {
        return Ok(());
    }
    if verify {
        return Err(Failure::input(
            "--verify reads events in the order of time, which only `--clock virtual` keeps",
        ));
    }
    if drive.transport == Some(Transport::Bare) {
        return Err(Failure::input(
            "`--drive bare` needs `--clock virtual`; real time needs actors",
        ));
    }
    Ok(())
}

/// Prints the lines about a run with results, and then `more` lines about other files.
pub fn tell(
    prepared: &Prepared,
    KeptRun { emulated, digest, verdicts, real, gist, .. }: &KeptRun,
    target: &std::path::Path,
    more: TerminalLines,
) -> Result<(), Failure> {
    let scenario = &prepared.scenario;
    let violations = emulated.verifier.as_ref();
    let story = RunStory {
        summary: &emulated.summary,
        gist,
        real: *real,
        lag: emulated.lag.as_ref().map(|lag| lag.value_at_quantile(0.99) as f64 / 1e6),
        // A run in real time, or one that its time limit ended, may give other bytes on another
        // machine.
        digest: (scenario.clock == ClockSpec::Virtual && emulated.stop != StopReason::TimeLimit)
            .then(|| digest.to_string()),
        external_work: emulated.external_work,
        violations: violations.map(|found| found.violations().len() as u64 + found.more()),
    };
    let start = if scenario.record.report { REPORT } else { SUMMARY };
    let judged = verdicts::tell(&scenario.expect, verdicts);
    terminal::print(&(story.tell() + judged + terminal::results_line(target, start) + more))?;
    emulated.warnings.iter().for_each(|warning| terminal::warn(warning));
    Ok(())
}

/// Checks that the parts of each job's time add up to its sojourn.
fn check_explained(folder: &std::path::Path) -> Result<(), Failure> {
    let told =
        RunResults::new(folder).told().map_err(|error| Failure::Environment(error.into()))?;
    let holders = told.holders();
    for place in 0..told.jobs.len() {
        let job = &told.jobs[place];
        if !ExplainedJob::of(&told, place, &holders).is_whole(job) {
            return Err(Failure::run(format!(
                "the run broke its invariants: the parts of the time of job {} do not add up to it",
                job.row.job
            )));
        }
    }
    Ok(())
}

/// Returns a span as real time.
pub fn real(limit: SimSpan) -> Duration {
    Duration::from_micros(limit.as_micros())
}

/// Returns an error if the run failed; its results are written already.
pub fn verdict(prepared: &Prepared, emulated: &Emulated) -> Result<(), Failure> {
    if let Some(verifier) = &emulated.verifier
        && !verifier.violations().is_empty()
    {
        let found = verifier.violations().len() as u64 + verifier.more();
        // Show the first ten violations: later ones mostly follow from them.
        let shown = verifier.violations().iter().take(10);
        let lines: String = shown.map(|violation| format!("\n  {violation}")).collect();
        return Err(Failure::run(format!(
            "the run broke its invariants: {}{lines}{}",
            counted(found, "violation"),
            if 10 < found { "\n  …" } else { "" }
        )));
    }
    let left = || counted(prepared.jobs() - u64::from(emulated.ended), "job");
    let (after, policy) = (span(emulated.summary.virtual_s), prepared.scenario.scheduler.title());
    match &emulated.stop {
        StopReason::Done | StopReason::TimeUp => Ok(()),
        StopReason::Stalled(stall) => {
            let lines: String =
                stall.to_string().lines().map(|line| format!("\n  {line}")).collect();
            let lines = lines + &unsubmitted(&emulated.unsubmitted);
            Err(Failure::run(format!(
                "the run stalled after {after}: {} left under `{policy}`, and nothing can move any \
                 more{lines}",
                left()
            )))
        }
        StopReason::TimeLimit => Err(Failure::run(format!(
            "the run took as long as --time-limit allows: it came to {after}, with {} left under \
             `{policy}`",
            left()
        ))),
    }
}

/// Returns an error if a run with a folder failed, or if it lacks the isolated times that it should
/// have.
pub fn verdict_of_kept(prepared: &Prepared, kept: &KeptRun) -> Result<(), Failure> {
    verdict(prepared, &kept.emulated)?;
    kept.lacks_alone().map_or(Ok(()), |why| {
        Err(Failure::run(format!("not all jobs have a time alone and a slowdown: {why}")))
    })
}

/// Returns a line about jobs that were never submitted; empty if there are none.
fn unsubmitted(jobs: &[std::sync::Arc<str>]) -> String {
    let Some(first) = jobs.first() else { return String::new() };
    let others = match jobs.len() - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!("\n  never submitted, since others have to end before: {first}{others}")
}
