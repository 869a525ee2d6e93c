//! The options for work on other machines, and the submission of a study's missing runs.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::Fleet;
use crate::engine::{BINARY, ENGINES, Engine, EngineTasks, engine};
use crate::submitted::SubmittedArray;
use mumakil_base::shell;
use mumakil_base::units::tell::counted;
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::progress::StudyBar;
use mumakil_cli::study::{ELSEWHERE, ElsewhereStudy, OtherProgress, conclude_all};
use mumakil_cli::{interrupt, terminal};
use mumakil_core::trace::sha256_of;
use mumakil_run::output::{OutputError, copy_file};
use mumakil_scenario::Registry;
use mumakil_study::{
    FolderAccess, Plan, Shard, Store, StoreForm, StudyManifest, failed, write_manifest,
};

/// The default number of tasks.
// Chosen: enough to fill a user's share of a cluster, and far below Slurm's limit of 1000.
const TASKS: u32 = 200;

/// The time between two queries to a queue, which has other users to serve.
// Chosen; Slurm's administrators ask for seconds, not milliseconds, between calls of `squeue`.
const ASK: Duration = Duration::from_secs(2);

/// The options for work on other machines.
#[derive(Debug, clap::Args)]
pub(crate) struct FleetOptions {
    /// Do the runs elsewhere: tasks on `slurm` or `kubernetes` take them until none is left
    #[arg(long, value_name = "ENGINE", help_heading = "Elsewhere", group = ELSEWHERE)]
    #[arg(value_parser = ENGINES.map(Engine::word))]
    pub(crate) on: Option<String>,
    /// The number of tasks [default: 200]
    #[arg(long, value_name = "NUMBER", requires = "on", help_heading = "Elsewhere")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tasks: Option<u32>,
    /// The longest time of a task, such as 2h or in Slurm's form; another task, or the same one
    /// after a restart, does the runs left over
    #[arg(long, value_name = "TIME", requires = "on", help_heading = "Elsewhere")]
    pub(crate) time: Option<String>,
    /// The partition of the cluster (Slurm)
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "Elsewhere")]
    pub(crate) partition: Option<String>,
    /// The account that pays for the tasks (Slurm)
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "Elsewhere")]
    pub(crate) account: Option<String>,
    /// The claim of the volume with the study's folder, and the folder's path in it (Kubernetes)
    #[arg(long, value_name = "CLAIM[:PATH]", requires = "on", help_heading = "Elsewhere")]
    pub(crate) volume: Option<String>,
    /// The image that tasks run in; it needs a shell and the C library, but no Mumakil (Kubernetes)
    #[arg(long, value_name = "IMAGE", requires = "on", help_heading = "Elsewhere")]
    pub(crate) image: Option<String>,
    /// The number of tasks at the same time [default: all] (Kubernetes)
    #[arg(long, value_name = "NUMBER", requires = "on", help_heading = "Elsewhere")]
    pub(crate) parallelism: Option<NonZero<usize>>,
    /// Print the files and commands for the engine, and submit nothing
    #[arg(long, requires = "on", help_heading = "Elsewhere")]
    pub(crate) dry_run: bool,
    /// Wait for the end, with progress; the exit code is that of the study
    #[arg(long, requires = "on", help_heading = "Elsewhere")]
    pub(crate) wait: bool,
    /// Further options for sbatch or kubectl, passed unchanged
    #[arg(last = true, value_name = "OPTION", requires = "on")]
    pub(crate) options: Vec<String>,
}

impl FleetOptions {
    /// Submits a study's missing runs, and waits for the end if the user wants that.
    pub(crate) fn run(
        self,
        work: &ElsewhereStudy<'_>,
        registry: &Registry,
    ) -> Result<OtherProgress, Failure> {
        let ElsewhereStudy { study, out, quiet, .. } = *work;
        let engine = self.on.as_deref().and_then(engine).expect("clap accepts only known engines");
        self.check(engine, work)?;
        let plan = work.plan(registry)?;
        let earlier = SubmittedArray::read(out)?;
        // Refuse a second submission while the first is in the queue: the second would overwrite
        // the note about the first.
        let in_queue = earlier.as_ref().filter(|_| !self.dry_run).and_then(SubmittedArray::state);
        if let Some(state) = in_queue {
            return Err(Failure::input(format!(
                "the study is in the queue already ({state}); `mumakil study status {0}` tells how far it \
                 is, `mumakil study cancel {0}` ends it",
                shell::quoted_path(out)
            )));
        }
        let store = Store::of(out)?;
        let missing = work.missing(&plan, &store, registry)?;
        let most = (self.tasks.unwrap_or(TASKS) as usize).min(engine.most_tasks());
        let here = std::path::absolute(out);
        let folder = here.map_err(|source| OutputError::Read { path: out.to_owned(), source })?;
        let tasks = EngineTasks {
            study: study.name.as_str(),
            folder: &fs::canonicalize(&folder).unwrap_or(folder),
            // Use no more tasks than runs: further tasks would find no run to do. If no run is
            // missing, use one task, to have an order that can be shown.
            count: most.min(missing.len()).max(1),
            number: 1 + earlier.map_or(0, |earlier| earlier.number),
            words: format!("{}/{} {}", BINARY[0], BINARY[1], work.arguments(&plan, &missing)),
        };
        // Refuse wrong options before any file is written.
        let order = engine.order(&tasks, &self)?;
        if self.dry_run {
            terminal::print_file(&order.shown(engine, out))?;
            return Ok(OtherProgress::Given);
        }
        // Keep other processes out while the folder is prepared.
        let claim = store.claim(tasks.study, FolderAccess::Alone, StoreForm::Packed)?;
        let sheet = work.keep(&plan, &claim)?;
        if missing.is_empty() {
            let done = conclude_all(&claim, Some(&Fleet), quiet);
            return Ok(OtherProgress::Ended(done));
        }
        copy_binary(out)?;
        // Remove the notes about failed runs: a task skips a run that has a note, and a new
        // submission should repeat it.
        failed::keep_only(&store, &[] as &[&str])?;
        // Give the lock back before submitting: a task may start at once, and would wait for the
        // lock.
        drop(claim);
        let job = order.submit(engine, out)?;
        let place = place(&self.options, engine.place_options());
        let submitted = SubmittedArray::new(engine, job, &tasks, place);
        submitted.write(out)?;
        if !quiet {
            terminal::print(&lines(&submitted, &tasks, missing.len(), out))?;
        }
        Ok(match self.wait {
            true => OtherProgress::Ended(wait(&submitted, &plan, &sheet, &store, quiet)),
            false => OtherProgress::Given,
        })
    }

    /// Refuses options that the engine does not support: ignoring them would mislead the user.
    fn check(&self, engine: &dyn Engine, work: &ElsewhereStudy<'_>) -> Result<(), Failure> {
        for (option, is_said) in [
            ("--time", self.time.is_some()),
            ("--partition", self.partition.is_some()),
            ("--account", self.account.is_some()),
            ("--volume", self.volume.is_some()),
            ("--image", self.image.is_some()),
            ("--parallelism", self.parallelism.is_some()),
            // A task has one core, so it does one run at a time.
            ("--jobs", work.pace.jobs.is_some()),
        ] {
            if is_said && !engine.supported_options().contains(&option) {
                return Err(Failure::input(format!("--on {} has no {option}", engine.word())));
            }
        }
        // Hundreds of tasks that create folders on a shared disk would slow each other down.
        if work.form == Some(StoreForm::Folders) {
            return Err(Failure::input(
                "tasks keep their runs packed; `unzip` in the folder `runs` makes folders of them",
            ));
        }
        Ok(())
    }
}

/// Returns lines about what was submitted, and how to look at it and to cancel it.
fn lines(
    submitted: &SubmittedArray,
    tasks: &EngineTasks<'_>,
    missing: usize,
    out: &Path,
) -> TerminalLines {
    let mut lines = TerminalLines::default();
    lines.bold(tasks.study, format!("   {}", submitted.told()));
    let [runs, tasks] = [(missing, "run"), (tasks.count, "task")]
        .map(|(number, thing)| counted(number as u64, thing));
    lines.line(format!("  runs     {runs} for {tasks}"));
    let out = shell::quoted_path(out);
    lines.line(format!("  look     mumakil study status {out}"));
    lines.line(format!("  cancel   mumakil study cancel {out}"));
    lines
}

/// Waits until the queue has no task of the job, and ends with the study's outcome.
#[expect(clippy::disallowed_methods, reason = "the queue is asked now and then")]
fn wait(
    submitted: &SubmittedArray,
    plan: &Plan,
    sheet: &StudyManifest,
    store: &Store,
    quiet: bool,
) -> Result<(), Failure> {
    let bar = StudyBar::new("run", quiet);
    interrupt::guard(
        &bar.bar,
        "; the tasks go on: `mumakil study status` shows them, `mumakil study cancel` ends them",
    );
    let mut left = plan.missing(store, Shard::WHOLE);
    bar.more(left.len());
    while submitted.state().is_some() {
        thread::sleep(ASK);
        store.refresh()?;
        let before = left.len();
        left.retain(|run| !store.has(&plan.runs[*run].id));
        (left.len()..before).for_each(|_| bar.tick());
    }
    bar.clear();
    let claim = store.claim(&sheet.study, FolderAccess::Alone, StoreForm::Packed)?;
    // If some runs failed, the last task has written the results without them. Conclude again, so
    // that this command reports the failed runs.
    write_manifest(sheet, store.folder())?;
    conclude_all(&claim, Some(&Fleet), quiet)
}

/// Returns the options with one of these names, with their values: `-n a`, `-na`, `--name a` and
/// `--name=a`.
fn place(options: &[String], names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if names.contains(&&**option) {
            found.push(option.clone());
            found.extend(options.next().cloned());
        } else if names.iter().any(|name| {
            let rest = option.strip_prefix(name);
            rest.is_some_and(|rest| !name.starts_with("--") || rest.starts_with('='))
        }) {
            found.push(option.clone());
        }
    }
    found
}

/// Copies this program into a study's folder: tasks may run where Mumakil is not installed, and a
/// later update here must not affect them. An equal program there stays, as tasks may be running
/// it.
fn copy_binary(out: &Path) -> Result<(), Failure> {
    let target = out.join(BINARY[0]).join(BINARY[1]);
    let own = std::env::current_exe().map_err(|source| {
        let context = "cannot find this program, which the tasks are to run";
        Failure::Environment(anyhow::Error::new(source).context(context))
    })?;
    if sha256_of(&target).ok() == Some(sha256_of(&own)?) {
        return Ok(());
    }
    Ok(copy_file(&own, &target)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::Kubernetes;
    use crate::slurm::Slurm;

    #[test]
    fn the_options_of_the_place_go_to_all_queries() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let options =
            words("--mem=2G -M east --comment --clustersx --clusters=west -Mnorth --wait");
        let place = place(&options, Slurm.place_options());
        assert_eq!(place, words("-M east --clusters=west -Mnorth"));
        assert_eq!(Slurm.cancel("1", &place[..2]), words("scancel -M east 1"));
        let cancel = Kubernetes.cancel("a", &words("-n mine"));
        assert_eq!(cancel, words("kubectl delete job a --ignore-not-found -n mine"));
    }
}
