//! `mumakil study`: from a scenario with axes to many runs, their tables and a report.
//! ```text
//! folder    STUDY is a file, a name, or the folder of results
//! Plan      the runs; a StudySession claims the folder and does the missing ones
//! at_work   signs of life during the work, for `status`
//! outcome   the last lines; merge: parts from several machines
//! elsewhere other machines, if a satellite brings them
//! ```

mod at_work;
mod cancel;
mod elsewhere;
mod folder;
mod merge;
mod outcome;
mod plan;
pub mod sabotage;
mod status;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rustc_hash::FxHashSet;

pub use self::at_work::AtWork;
use self::at_work::SignsOfLife;
pub use self::elsewhere::{
    ELSEWHERE, ElsewhereOptions, ElsewhereStudy, OtherMachines, OtherProgress,
};
pub use self::folder::command;
pub use self::merge::conclude_all;
use super::drive::DriveOption;
use super::failure::Failure;
use super::form::PrintedForm;
use super::lines::TerminalLines;
use super::open::OpenOption;
use super::progress::StudyBar;
use super::run::real;
use super::source::Overrides;
use super::{Program, source, terminal, verdicts};
use mumakil_base::files::{REPORT, SUMMARY};
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::counted;
use mumakil_core::mapred::{PolicyFailed, PolicyProgram};
use mumakil_run::MODEL;
use mumakil_run::output::OutputError;
use mumakil_runtime::Transport;
use mumakil_scenario::{Registry, Warning};
use mumakil_study::{
    BroughtFiles, Concluded, End, FolderAccess, FolderClaim, NextRun, Plan, PlanError, RunEffort,
    RunWarnings, Shard, SharedRuns, Store, StoreForm, Study, StudyManifest, WorkStep, conclude,
    failed, is_late, keep, read_manifest, write_manifest,
};

/// Run a scenario many times, with other values and other seeds
///
/// Results are kept run by run. A study that was interrupted continues when it is started again. A
/// study that was changed does only its new runs.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  mumakil study scaling-study
  mumakil study plan mine.yaml               how many runs, how long, how much room
  mumakil study mine.yaml --jobs 8 --out results
  mumakil study mine.yaml --shard 1/3 --out part-1   on one of three machines
  mumakil study merge part-1 part-2 part-3 --out results
  mumakil study mine.yaml --sabotage         do its expectations notice a wrong policy?
  mumakil study results                      go on with the study of this folder
  mumakil study results --join               do some of its runs beside other processes
  mumakil study status results               how far it is, also while others work on it

Exit codes:
  0  done, and every expectation holds or is a known gap
  1  an expectation fails, or a run failed; a sabotage is not noticed
  2  the study or the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself
  130, 143  interrupted (Ctrl-C), told to end (SIGTERM); start it again to go on")]
pub struct StudyArguments {
    #[command(subcommand)]
    command: Option<StudyCommand>,
    #[command(flatten)]
    run: StudyRunArguments,
}

#[derive(Debug, Subcommand)]
enum StudyCommand {
    Plan(plan::StudyPlanArguments),
    Merge(merge::StudyMergeArguments),
    Status(status::StudyStatusArguments),
    Cancel(cancel::StudyCancelArguments),
}

#[derive(Debug, Default, clap::Args)]
pub(super) struct StudyRunArguments {
    /// A file, the name of a study that Mumakil brings (see `mumakil list scenarios`), or the folder of a
    /// study, to go on with it
    #[arg(value_name = "STUDY", required = true)]
    pub(super) study: Option<PathBuf>,
    /// The folder for the results [default: out/NAME, or STUDY if that is a folder]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) pace: PaceOptions,
    /// Work on the study together with other processes in the same folder, here or on other
    /// machines: each takes the next free run, and the last process writes the results
    #[arg(long, conflicts_with = "shard")]
    pub(super) join: bool,
    /// Do only a part of the runs, in a folder of its own: 1/3 is the first of three; `mumakil study merge`
    /// joins the parts
    #[arg(long, value_name = "PART", value_parser = shard)]
    pub(super) shard: Option<Shard>,
    /// How runs are kept: each in a folder or in a ZIP file [default: folders, and packed for parts and
    /// for studies of more than 1,000 runs]
    #[arg(long, value_name = "FORM", value_parser = forms())]
    pub(super) keep: Option<StoreForm>,
    #[command(flatten)]
    pub(super) overrides: Overrides,
    /// Copy the files that the scenarios name into the folder, so that it can be given away
    #[arg(long)]
    pub(super) bring_files: bool,
    /// Try the sabotages of the study, too: which of its expectations fail under each
    #[arg(long, conflicts_with_all = ["shard", "join"])]
    pub(super) sabotage: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(super) quiet: bool,
    #[command(flatten)]
    pub(super) form: PrintedForm,
    #[command(flatten)]
    pub(super) open: OpenOption,
    #[command(flatten)]
    pub(super) elsewhere: ElsewhereOptions,
}

/// The options for doing runs.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct PaceOptions {
    /// The number of runs at the same time [default: one for each core]
    #[arg(long, short, value_name = "NUMBER")]
    pub jobs: Option<NonZero<usize>>,
    /// The real time that each run may take, such as 10min; a run that takes longer has failed
    #[arg(long, value_name = "TIME")]
    pub(super) time_limit: Option<SimSpan>,
    /// Replace earlier results: remove the runs that the folder has, and do all of them again
    #[arg(long, alias = "anew")]
    pub(super) force: bool,
    /// Whether runs that the folder has are a mistake, unless they are done anew
    #[arg(skip)]
    pub(super) begins: bool,
    /// Check invariants during each run, and that no policy lets a job starve; a run whose policy is
    /// a program is done twice
    #[arg(long)]
    pub verify: bool,
    #[command(flatten)]
    pub(super) drive: DriveOption,
}

impl PaceOptions {
    /// Returns a pace at which no run takes longer than `limit`, unless the user says otherwise.
    pub fn limited(self, limit: SimSpan) -> Self {
        Self { time_limit: self.time_limit.or(Some(limit)), ..self }
    }

    /// Refuses to go on with the runs of another model, or for `mumakil run` with any, unless they
    /// are done anew.
    fn expect_own_runs(self, out: &Path, store: &Store) -> Result<(), Failure> {
        if self.begins && !self.force && !store.is_empty() {
            let words = "exists already (--force replaces the results of an earlier run)";
            return Err(Failure::input(format!("{} {words}", out.display())));
        }
        let there = read_manifest(out).ok().filter(|there| there.is_foreign() && !store.is_empty());
        let Some(there) = there.filter(|_| !self.force) else { return Ok(()) };
        let of = |model, version: &str| format!("model {model} (Mumakil {version})");
        Err(Failure::input(format!(
            "the runs in {} are of {}, and this program is of {}: one table cannot have both\n   = \
             `--force` does all runs again; or go on with the program that began",
            out.display(),
            of(there.model, &there.version),
            of(MODEL, env!("CARGO_PKG_VERSION")),
        )))
    }
}

impl StudyArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        match self.command {
            Some(StudyCommand::Plan(arguments)) => arguments.run(registry),
            Some(StudyCommand::Merge(arguments)) => arguments.run(program),
            Some(StudyCommand::Status(arguments)) => arguments.run(program),
            Some(StudyCommand::Cancel(arguments)) => arguments.run(program),
            None => self.run.run(program),
        }
    }
}

impl StudyRunArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        let (path, out) = folder::find(self.study.expect("clap requires STUDY"), self.out)?;
        let registry = &folder::registry(&path, registry);
        let study = Study::of(source::open_study(&path, &self.overrides)?)?;
        // A process that joins may do any run of the study: its shard is the whole study, shared
        // with other processes.
        let shard = self.shard.or(self.join.then_some(Shard::WHOLE));
        let out = out.unwrap_or_else(|| format!("out/{}", study.name).into());
        let elsewhere = self.elsewhere.chosen(program);
        let bring = match (self.bring_files, elsewhere) {
            (true, _) => BroughtFiles::All,
            // Other machines may reach only files on the study's own file system.
            (false, Some(_)) => BroughtFiles::FromElsewhere,
            (false, None) => BroughtFiles::Links,
        };
        if let Some((elsewhere, options)) = elsewhere {
            let (form, pace, quiet) = (self.keep, self.pace, self.quiet);
            let work = ElsewhereStudy { study: &study, out: &out, form, bring, pace, quiet };
            return match elsewhere.run(options, &work, registry)? {
                OtherProgress::Given => Ok(()),
                OtherProgress::Ended(how) => how,
            };
        }
        let (bar, at_work) = (StudyBar::new("run", self.quiet), AtWork::default());
        // Do this before the first write: from here on, Ctrl-C removes half-written files.
        at_work.guard(&bar.bar);
        let mut session = StudySession::new(out, shard, self.pace, registry, &bar, &at_work)?;
        session.form = self.keep;
        session.keep(study.clone(), bring);
        let sheet = session.run(&study, self.quiet)?;
        // A process with a shard does not write the results here: `leave` writes them, in the
        // process that ends last.
        if let Some(shard) = shard {
            bar.clear();
            return session.leave(shard, &sheet, self.quiet);
        }
        let Concluded { findings, .. } = conclude(&sheet, &session.store, &session.out)?;
        let plain = &findings.verdicts;
        let teeth = self.sabotage.then(|| session.sabotage(&study, plain)).transpose()?;
        bar.clear();
        // Write the last sign after `conclude`: until then this process is at work, and writing the
        // report may fail.
        session.ends()?;
        if !self.quiet {
            let cells = outcome::cells(&sheet, &findings);
            if !self.form.print(Some(&session.out), &[cells])? {
                let teeth = teeth.iter().map(sabotage::tell).sum();
                let wrote = terminal::results_line(&session.out, REPORT);
                let done = TerminalLines::of(format!("  ran      {}", session.outcome()));
                terminal::print(&(outcome::tell(&sheet, &findings) + teeth + done + wrote))?;
            }
            session.warn();
        }
        self.open.show(&session.out.join(REPORT));
        verdicts::judge(&findings.verdicts)?;
        sabotage::SabotageTally::of(&teeth).judge()
    }
}

/// The work on a study, or on several studies that share a bar.
pub struct StudySession<'r> {
    /// The folder of the runs.
    pub store: Store,
    /// The claim of the folder, from the first run on.
    claim: Option<FolderClaim>,
    /// The folder of the study.
    pub out: PathBuf,
    /// The study that is still to be written into the folder; `None` if there is none.
    kept: Option<(Study, BroughtFiles)>,
    /// The part of the study to do; `None` for a process that has the folder for itself.
    shard: Option<Shard>,
    /// How runs are kept; `None` if the user does not say.
    form: Option<StoreForm>,
    pace: PaceOptions,
    registry: &'r Registry,
    bar: &'r StudyBar,
    at_work: &'r AtWork,
    /// The signs of life, from the first run on.
    signs: Option<SignsOfLife>,
    /// The number of runs in the part, and the number of runs that this process has tried.
    mine: usize,
    done: usize,
    /// The ids of the runs that failed.
    failed: Vec<String>,
    /// The number of workers at the same time.
    workers: usize,
    /// The warnings about the studies, as far as the user has seen them.
    warned: Vec<Warning>,
    doubts: RunWarnings,
    began: Instant,
}

impl<'r> StudySession<'r> {
    /// Returns a session that has begun nothing yet.
    pub fn new(
        out: PathBuf,
        shard: Option<Shard>,
        pace: PaceOptions,
        registry: &'r Registry,
        bar: &'r StudyBar,
        at_work: &'r AtWork,
    ) -> Result<Self, Failure> {
        Ok(Self {
            store: Store::of(&out)?,
            claim: None,
            out,
            kept: None,
            shard,
            form: None,
            pace,
            registry,
            bar,
            at_work,
            signs: None,
            mine: 0,
            done: 0,
            failed: Vec::new(),
            workers: 0,
            warned: Vec::new(),
            doubts: RunWarnings::default(),
            began: outcome::now(),
        })
    }

    /// Sets the study to write into the folder, with the files that it names.
    pub fn keep(&mut self, study: Study, which: BroughtFiles) {
        self.kept = Some((study, which));
    }

    /// Prints the warnings of the runs.
    pub fn warn(&self) {
        self.doubts().for_each(|doubt| terminal::warn(&doubt));
    }

    /// Returns the warnings of the runs.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        self.doubts.told()
    }

    /// Returns the work that this process did so far.
    fn outcome(&self) -> outcome::StudyOutcome {
        outcome::StudyOutcome {
            runs: self.done,
            mine: self.mine,
            real: self.began.elapsed(),
            workers: self.workers,
        }
    }

    /// Writes the last sign of life: the work is done.
    pub fn ends(&self) -> Result<(), Failure> {
        Ok(self.at_work.ends(End::Done, None)?)
    }

    /// Does the missing runs of a study.
    pub fn run(&mut self, study: &Study, quiet: bool) -> Result<StudyManifest, Failure> {
        let done = self.run_missing(study, quiet);
        self.signed(done)
    }

    /// Writes a failure into the last sign of life.
    fn signed<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        if let (Err(failure), Some(_)) = (&done, &self.signs) {
            // The caller reports the failure; an error in writing the sign does not matter beside
            // it.
            let _ = self.at_work.ends(End::Failed, Some(failure.words()));
        }
        done
    }

    /// Plans a study, and prints the warnings about it that the user has not seen.
    ///
    /// # Errors
    /// Also if runs are missing whose policy is a program that may not be started.
    fn plan(&mut self, study: &Study, quiet: bool) -> Result<Plan, Failure> {
        let plan = Plan::new(study, self.registry)?;
        if self.pace.drive.transport == Some(Transport::Bare) && !plan.is_repeatable() {
            return Err(Failure::input(
                "`--drive bare` needs `clock: virtual`, and runs of this study have another clock",
            ));
        }
        let untold = plan.warnings.iter().filter(|warning| !self.warned.contains(warning));
        let new: Vec<Warning> = untold.cloned().collect();
        terminal::warn_all(&new, quiet);
        self.warned.extend(new);
        if self.registry.permit().refusal().is_some() {
            let missing = plan.missing(&self.store, self.shard.unwrap_or(Shard::WHOLE));
            plan.program(&missing).map_or(Ok(()), |program| Err(unstartable(program)))?;
        }
        Ok(plan)
    }

    /// Does the missing runs of a study, in a folder where no other process works. Runs that fail
    /// are noted there; those that were late are tried again alone before.
    pub fn run_all(&mut self, study: &Study) -> Result<(Plan, StudyManifest), Failure> {
        let done = self.begin(study, true).and_then(|(plan, sheet)| {
            self.say_study(&plan, &sheet)?;
            self.work_alone(&plan)?;
            self.try_late_again(&plan)?;
            Ok((plan, sheet))
        });
        self.signed(done)
    }

    /// Removes runs that this process has the folder of.
    pub fn remove(&self, runs: &[&str]) -> Result<(), Failure> {
        Ok(self.claim.as_ref().map_or(Ok(()), |claim| claim.remove(runs))?)
    }

    fn run_missing(&mut self, study: &Study, quiet: bool) -> Result<StudyManifest, Failure> {
        let (plan, sheet) = self.begin(study, quiet)?;
        match self.shard {
            None => self.run_alone(&plan, &sheet, quiet)?,
            Some(part) => self.run_shared(part, &plan, &sheet)?,
        }
        Ok(sheet)
    }

    /// Plans a study, and claims the folder.
    fn begin(&mut self, study: &Study, quiet: bool) -> Result<(Plan, StudyManifest), Failure> {
        let plan = self.plan(study, quiet)?;
        if !quiet {
            warn_of_clock(&plan);
        }
        let sheet = StudyManifest::new(study, &plan);
        if self.claim.is_none() {
            // Another process may be doing the runs that would be removed.
            if self.pace.force && self.shard.is_some() {
                return Err(Failure::input("--force needs the folder for itself"));
            }
            self.pace.expect_own_runs(&self.out, &self.store)?;
            let claim = self.claim(&sheet, quiet)?;
            if self.pace.force {
                claim.remove_all()?;
            }
            self.claim = Some(claim);
        }
        // Find the runs that other processes have finished since the store was opened.
        self.store.refresh()?;
        if self.signs.is_none() {
            self.signs = Some(self.at_work.begin(self.out.clone(), self.share())?);
        }
        Ok((plan, sheet))
    }

    /// Writes the study and its manifest into the folder.
    fn say_study(&mut self, plan: &Plan, sheet: &StudyManifest) -> Result<(), Failure> {
        write_manifest(sheet, &self.out)?;
        if let Some((study, which)) = self.kept.take() {
            keep(&study, plan, &folder::command(), &self.out, which)?;
        }
        Ok(())
    }

    /// Does all missing runs, in a folder where no other process works. If some runs fail, the
    /// results of the other runs are written.
    fn run_alone(
        &mut self,
        plan: &Plan,
        sheet: &StudyManifest,
        quiet: bool,
    ) -> Result<(), Failure> {
        self.say_study(plan, sheet)?;
        self.work_alone(plan)?;
        if self.failed.is_empty() {
            return Ok(());
        }
        self.bar.clear();
        let failed: Vec<&str> = self.failed.iter().map(String::as_str).collect();
        let rest = sheet.without(&failed);
        if let Some(rest) = &rest {
            conclude(rest, &self.store, &self.out)?;
        }
        self.ends()?;
        if !quiet {
            self.warn();
        }
        Err(outcome::failed(&failed, &self.store, rest.is_some())?)
    }

    /// Does the missing runs of a plan in a folder where no other process works.
    fn work_alone(&mut self, plan: &Plan) -> Result<(), Failure> {
        let missing = plan.missing(&self.store, Shard::WHOLE);
        self.mine = plan.part(Shard::WHOLE).count();
        let left = missing.len();
        self.work(plan, missing.into_iter().map(|run| Ok(NextRun::Run(run))), left)?;
        // Keep only the notes about runs that failed now: notes about runs that have succeeded
        // since, or that the study no longer has, would mislead `status`.
        Ok(failed::keep_only(&self.store, &self.failed)?)
    }

    /// Does those runs again, one at a time, that failed at a limit of time: others at the same time
    /// may have kept them back. The first run of a cell that is late again speaks for the others.
    fn try_late_again(&mut self, plan: &Plan) -> Result<(), Failure> {
        let told = failed::read(&self.store)?;
        let again: Vec<usize> = (0..plan.runs.len())
            .filter(|run| told.get(&plan.runs[*run].id).is_some_and(|why| is_late(why)))
            .collect();
        let mut judged = Vec::new();
        for run in again {
            let (id, cell) = (&plan.runs[run].id, plan.runs[run].cell);
            if judged.contains(&cell) {
                continue;
            }
            self.failed.retain(|failed| failed != id);
            self.work(plan, [Ok(NextRun::Run(run))].into_iter(), 1)?;
            let why = failed::read(&self.store)?.remove(id);
            if why.is_some_and(|why| !PolicyFailed::is_busy(&why)) {
                judged.push(cell);
            }
        }
        Ok(failed::keep_only(&self.store, &self.failed)?)
    }

    /// Does the missing runs of a part, except runs that other processes have taken.
    fn run_shared(
        &mut self,
        part: Shard,
        plan: &Plan,
        sheet: &StudyManifest,
    ) -> Result<(), Failure> {
        let sign = self.signs.as_ref().expect("`run_missing` has begun the signs").name.clone();
        self.mine = plan.part(part).count();
        if part != Shard::WHOLE {
            // Try the failed runs of a part again: the part has a folder of its own, so no other
            // process would.
            let own: FxHashSet<&str> = plan.part(part).map(|run| &*plan.runs[run].id).collect();
            let noted = failed::noted(&self.store)?.into_iter();
            noted.filter(|id| own.contains(&**id)).for_each(|id| failed::forget(&self.store, &id));
        }
        let shared = SharedRuns::new(plan, part, &self.store, &sign)?;
        let left = shared.left();
        // All runs are done and reported already: leave the folder as it is.
        if left == 0 && self.has_results_of(sheet) {
            return Ok(());
        }
        self.say_study(plan, sheet)?;
        if 0 < left {
            // Remove the summary, which marks a complete study: these runs are still missing.
            let _ = fs::remove_file(self.out.join(SUMMARY));
        }
        self.work(plan, shared, left)
    }

    /// Claims the folder. A process that joins waits while another process has the folder for
    /// itself, for example to write the results.
    fn claim(&self, sheet: &StudyManifest, quiet: bool) -> Result<FolderClaim, Failure> {
        let form =
            self.form.unwrap_or_else(|| StoreForm::usual(self.share(), sheet.runs().count()));
        let claim = || self.store.claim(&sheet.study, self.share(), form);
        let mut claimed = claim();
        // A process that joins tries again until the other process ends. A process that wants the
        // folder for itself gives up at once.
        while self.shard.is_some() && matches!(claimed, Err(OutputError::Busy { .. })) {
            if !quiet {
                let out = self.out.display();
                terminal::warn(&format!(
                    "another process works in {out} alone; waiting until it ends"
                ));
            }
            self.store.wait()?;
            claimed = claim();
        }
        Ok(claimed?)
    }

    fn share(&self) -> FolderAccess {
        self.shard.map_or(FolderAccess::Alone, |_| FolderAccess::Together)
    }

    /// Returns whether the folder has the results of a study, with or without its failed runs.
    fn has_results_of(&self, sheet: &StudyManifest) -> bool {
        self.out.join(SUMMARY).is_file()
            && read_manifest(&self.out).is_ok_and(|kept| kept == *sheet)
    }

    /// Does the runs of an iterator and shows the progress; `left` is the expected number of runs.
    fn work(
        &mut self,
        plan: &Plan,
        runs: impl Iterator<Item = Result<NextRun, OutputError>> + Send,
        left: usize,
    ) -> Result<(), Failure> {
        self.at_work.has(self.mine, self.mine - left)?;
        self.bar.more(left);
        let workers = workers(plan, self.pace.jobs, left);
        self.workers = self.workers.max(workers);
        let claim = self.claim.as_ref().expect("a process that works has claimed the folder");
        // Note the indices of failed runs: unlike names, they can be sorted below.
        let mut failed = Vec::new();
        let PaceOptions { time_limit, verify, drive: DriveOption { transport }, .. } = self.pace;
        let transport = transport.unwrap_or_default();
        let effort = RunEffort { workers, time_limit: time_limit.map(real), transport, verify };
        let worked = plan.work(runs, claim, self.registry, effort, |step| match step {
            WorkStep::Begun { run } => {
                self.at_work.begins(&plan.runs[run].id, plan.describe(run));
                self.bar.begin(run, plan.describe(run));
            }
            WorkStep::Done { run, warnings } => {
                self.done += 1;
                self.doubts.note(warnings);
                self.at_work.has_done(&plan.runs[run].id);
                self.bar.end(run);
            }
            WorkStep::Failed { run } => {
                self.done += 1;
                self.at_work.has_failed(&plan.runs[run].id);
                self.bar.fail(run);
                failed.push(run);
            }
            WorkStep::OfOthers { runs } => {
                self.at_work.leaves(runs);
                (0..runs).for_each(|_| self.bar.tick());
            }
        });
        if let Err(error) = worked {
            self.bar.clear();
            return Err(error.into());
        }
        self.store.refresh()?;
        // Workers end in any order, but messages follow the order of the study.
        failed.sort_unstable();
        self.failed.extend(failed.into_iter().map(|run| plan.runs[run].id.clone()));
        Ok(())
    }

    /// Ends the work on a shard, which is a part of the study, or the whole study beside other
    /// processes. The last process writes the results.
    fn leave(mut self, shard: Shard, sheet: &StudyManifest, quiet: bool) -> Result<(), Failure> {
        self.ends()?;
        let done = self.outcome();
        // Give up the shared lock: the exclusive lock waits for all shared ones, even our own.
        self.claim = None;
        self.store.refresh()?;
        let noted = failed::noted(&self.store)?;
        let undone = sheet.runs().filter(|id| !self.store.has(id) && !noted.contains(*id));
        let missing = undone.collect::<FxHashSet<_>>().len();
        // The process that gets this lock is alone: all others have ended. It writes no runs, so
        // any `StoreForm` will do.
        match self.store.claim(&sheet.study, FolderAccess::Alone, StoreForm::Packed) {
            Ok(claim) if missing == 0 && !self.has_results_of(sheet) => {
                return merge::conclude_all(&claim, None, quiet);
            }
            // Another process is still at work and will be the last, or the results are written
            // already.
            Ok(_) | Err(OutputError::Busy { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if !self.failed.is_empty() {
            let failed: Vec<&str> = self.failed.iter().map(String::as_str).collect();
            return Err(outcome::failed(&failed, &self.store, false)?);
        }
        if !quiet {
            let out = self.out.display();
            let mut lines = match shard {
                Shard::WHOLE => TerminalLines::of(done.to_string()),
                Shard { index, count } => {
                    TerminalLines::of(format!("part {} of {count}: {done}", index + 1))
                }
            };
            lines.line(match missing {
                _ if shard != Shard::WHOLE => {
                    format!("wrote {out} (put the parts together with `mumakil study merge`)")
                }
                0 if self.has_results_of(sheet) => format!("the results are in {out}"),
                0 => format!("another process writes the results into {out}"),
                missing => {
                    format!("{} left to other processes in {out}", counted(missing as u64, "run"))
                }
            });
            terminal::print(&lines)?;
            self.warn();
        }
        Ok(())
    }
}

/// Returns the number of workers for `runs` runs; without `jobs` one for each core.
fn workers(plan: &Plan, jobs: Option<NonZero<usize>>, runs: usize) -> usize {
    let most = jobs.or_else(|| thread::available_parallelism().ok());
    // In real time, simultaneous runs would delay each other.
    most.filter(|_| plan.is_repeatable()).map_or(1, NonZero::get).min(runs)
}

/// Prints the warnings of a plan; with `quiet` only those that a user must not miss.
fn warn(plan: &Plan, quiet: bool) {
    terminal::warn_all(&plan.warnings, quiet);
    if !quiet {
        warn_of_clock(plan);
    }
}

fn warn_of_clock(plan: &Plan) {
    if !plan.is_repeatable() {
        terminal::warn(
            &"runs on a scaled clock cannot be repeated exactly; they go one at a time, since others \
              beside them would make them late",
        );
    }
}

/// Returns the failure of a study whose runs need a program that may not be started.
fn unstartable(program: &PolicyProgram) -> Failure {
    Failure::input(format!(
        "the policy of runs that are left to do is a program, `{program}`, which may not be started here\n   \
         = with `--external` Mumakil starts it"
    ))
}

/// Parses a shard, such as `2/5`.
fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(index, count)| {
        Some((index.parse::<usize>().ok()?, count.parse::<usize>().ok()?))
    });
    match parts {
        Some((index @ 1.., count)) if index <= count => Ok(Shard { index: index - 1, count }),
        _ => Err("expected a part and how many there are, such as 1/3".to_owned()),
    }
}

fn forms() -> impl TypedValueParser<Value = StoreForm> {
    PossibleValuesParser::new(["folders", "packed"]).map(|name| match &*name {
        "folders" => StoreForm::Folders,
        _ => StoreForm::Packed,
    })
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Scenario(error) => error.into(),
            PlanError::Trace(error) => error.into(),
            PlanError::Unfit(error) => error.into(),
            PlanError::Program(_) => Self::Environment(error.into()),
            PlanError::TooMany { .. } | PlanError::Empty => Self::input(error.to_string()),
        }
    }
}

/// Returns a duration in words.
fn lasted(real: Duration) -> String {
    mumakil_base::units::tell::span(real.as_secs_f64())
}

impl std::fmt::Display for outcome::StudyOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let workers = counted(self.workers as u64, "worker");
        match self.runs {
            0 if self.mine == 0 => f.write_str("nothing: there are more parts than runs"),
            0 => f.write_str("nothing: every run was there"),
            runs => {
                write!(f, "{} in {} with {workers}", counted(runs as u64, "run"), lasted(self.real))
            }
        }
    }
}
