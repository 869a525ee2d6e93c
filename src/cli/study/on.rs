//! `mumakil study STUDY --on ENGINE`: Slurm or Kubernetes runs the study on other machines.
//!
//! ```text
//! here     study.json, study.resolved.yaml, files/…, bin/mumakil    the folder, ready for tasks
//! engine   sbatch array.sh   or   kubectl apply -f job.yaml         200 tasks
//! task     bin/mumakil study . --join --jobs 1                      takes runs until none is left
//! last     the task that ends last writes the report
//! ```
//! A task may be killed and restarted at any moment. If runs are missing at the end, the same
//! command submits them again.

mod kubernetes;
mod slurm;
mod submitted;

use std::ffi::OsStr;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use self::kubernetes::Kubernetes;
use self::slurm::Slurm;
pub(super) use self::submitted::SubmittedArray;
use super::{PaceOptions, folder, merge, warn};
use crate::failure::Failure;
use crate::interrupt;
use crate::lines::{TerminalLines, plain};
use crate::progress::StudyBar;
use crate::terminal;
use mumakil_base::disk;
use mumakil_base::shell;
use mumakil_base::units::tell::counted;
use mumakil_core::trace::sha256_of;
use mumakil_run::output::{OutputError, copy_file, write_file};
use mumakil_runtime::Transport;
use mumakil_scenario::Registry;
use mumakil_study::{
    BroughtFiles, FolderAccess, Plan, Shard, Store, StoreForm, Study, StudyManifest, failed, keep,
    write_manifest,
};

/// The folder of the binary in a study's folder, and the binary's name.
const BINARY: [&str; 2] = ["bin", "mumakil"];

/// The default number of tasks.
// Chosen: enough to fill a user's share of a cluster, and far below Slurm's limit of 1000.
const TASKS: u32 = 200;

/// The time between two queries to a queue, which has other users to serve.
// Chosen; Slurm's administrators ask for seconds, not milliseconds, between calls of `squeue`.
const ASK: Duration = Duration::from_secs(2);

/// An engine that runs tasks on other machines.
trait Engine: Sync {
    /// Returns the engine's word on the command line, which also names its folder in the study's
    /// folder.
    fn word(&self) -> &'static str;

    /// Returns the engine's name, for messages.
    fn name(&self) -> &'static str;

    /// Returns the options that this engine supports but another engine may lack.
    fn supported_options(&self) -> &'static [&'static str];

    /// Returns the largest number of tasks in a job.
    fn most_tasks(&self) -> usize {
        usize::MAX
    }

    /// Returns the file for these tasks, and the command that submits it.
    fn order(
        &self,
        tasks: &EngineTasks<'_>,
        options: &ElsewhereArguments,
    ) -> Result<EngineOrder, Failure>;

    /// Returns the name of the submitted job, from the output of the command that submitted it.
    fn job(&self, printed: &str) -> Option<String>;

    /// Returns the options, each with a value, that say which cluster is meant: the queries about a job
    /// need those of its submission.
    fn place_options(&self) -> &'static [&'static str];

    /// Returns how many tasks of a job run and how many wait; `None` if the queue has none of them
    /// any more. `place` has the options of its place.
    fn state(&self, job: &str, place: &[String]) -> Result<Option<[u64; 2]>, String>;

    /// Returns the command that cancels a job; `place` has the options of its place.
    fn cancel(&self, job: &str, place: &[String]) -> Vec<String>;
}

/// All engines.
const ENGINES: [&dyn Engine; 2] = [&Slurm, &Kubernetes];

/// The tasks to submit to an engine.
struct EngineTasks<'t> {
    /// The name of the study.
    study: &'t str,
    /// The absolute path of the study's folder.
    folder: &'t Path,
    /// The number of tasks.
    count: usize,
    /// The number of this submission of the study, from 1.
    number: usize,
    /// The command line of each task, in the study's folder.
    words: String,
}

/// A file for an engine, and the command that submits it.
struct EngineOrder {
    /// The file's name in the engine's folder.
    file: &'static str,
    text: String,
    /// The command, called in the study's folder after the file is written.
    command: Vec<String>,
}

/// Tells what was submitted, and how to look at it and to cancel it.
fn tell_submitted(
    submitted: &SubmittedArray,
    tasks: &EngineTasks<'_>,
    missing: usize,
    out: &Path,
) -> Result<(), Failure> {
    let mut lines = TerminalLines::default();
    lines.bold(tasks.study, format!("   {}", submitted.told()));
    lines.line(format!(
        "  runs     {} for {}",
        counted(missing as u64, "run"),
        counted(tasks.count as u64, "task")
    ));
    lines.line(format!("  look     mumakil study status {}", shell::quoted_path(out)));
    lines.line(format!("  cancel   mumakil study cancel {}", shell::quoted_path(out)));
    Ok(terminal::print(&lines)?)
}

/// Returns the engine with this word on the command line.
fn engine(word: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.word() == word)
}

/// The options for work on other machines.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ElsewhereArguments {
    /// Do the runs elsewhere: tasks on `slurm` or `kubernetes` take them until none is left
    #[arg(long, value_name = "ENGINE", help_heading = "Elsewhere")]
    #[arg(value_parser = ENGINES.map(Engine::word))]
    pub on: Option<String>,
    /// The number of tasks [default: 200]
    #[arg(long, value_name = "NUMBER", requires = "on", help_heading = "Elsewhere")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Option<u32>,
    /// The longest time of a task, such as 2h or in Slurm's form; another task, or the same one
    /// after a restart, does the runs left over
    #[arg(long, value_name = "TIME", requires = "on", help_heading = "Elsewhere")]
    time: Option<String>,
    /// The partition of the cluster (Slurm)
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "Elsewhere")]
    partition: Option<String>,
    /// The account that pays for the tasks (Slurm)
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "Elsewhere")]
    account: Option<String>,
    /// The claim of the volume with the study's folder, and the folder's path in it (Kubernetes)
    #[arg(long, value_name = "CLAIM[:PATH]", requires = "on", help_heading = "Elsewhere")]
    volume: Option<String>,
    /// The image that tasks run in; it needs a shell and the C library, but no Mumakil (Kubernetes)
    #[arg(long, value_name = "IMAGE", requires = "on", help_heading = "Elsewhere")]
    image: Option<String>,
    /// The number of tasks at the same time [default: all] (Kubernetes)
    #[arg(long, value_name = "NUMBER", requires = "on", help_heading = "Elsewhere")]
    parallelism: Option<NonZero<usize>>,
    /// Print the files and commands for the engine, and submit nothing
    #[arg(long, requires = "on", help_heading = "Elsewhere")]
    dry_run: bool,
    /// Wait for the end, with progress; the exit code is that of the study
    #[arg(long, requires = "on", help_heading = "Elsewhere")]
    wait: bool,
    /// Further options for sbatch or kubectl, passed unchanged
    #[arg(last = true, value_name = "OPTION", requires = "on")]
    options: Vec<String>,
}

/// A study to be run on other machines.
pub struct ElsewhereStudy<'w> {
    /// The study.
    pub study: &'w Study,
    /// Its folder.
    pub out: &'w Path,
    /// How its runs are kept.
    pub form: Option<StoreForm>,
    /// Which files it brings.
    pub bring: BroughtFiles,
    /// Its pace.
    pub pace: PaceOptions,
    /// Whether it prints nothing.
    pub quiet: bool,
}

impl ElsewhereArguments {
    /// Returns whether the command waits for the end.
    pub const fn waits(&self) -> bool {
        self.wait
    }

    /// Submits a study's missing runs, and waits for the end if the user wants that.
    pub fn run(self, work: &ElsewhereStudy<'_>, registry: &Registry) -> Result<(), Failure> {
        let ElsewhereStudy { study, out, form, bring, pace, quiet } = *work;
        let engine = self.on.as_deref().and_then(engine).expect("clap accepts only known engines");
        self.check(engine, pace)?;
        // Hundreds of tasks that create folders on a shared disk would slow each other down.
        if form == Some(StoreForm::Folders) {
            return Err(Failure::input(
                "tasks keep their runs packed; `unzip` in the folder `runs` makes folders of them",
            ));
        }
        let plan = Plan::new(study, registry)?;
        warn(&plan, quiet);
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
        pace.expect_own_runs(out, &store)?;
        let missing = match pace.anew {
            true => plan.distinct(),
            false => plan.missing(&store, Shard::WHOLE),
        };
        let program = plan.program(&missing);
        if let Some(program) = program.filter(|_| registry.permit().refusal().is_some()) {
            return Err(super::unstartable(program));
        }
        let missing = missing.len();
        let most = (self.tasks.unwrap_or(TASKS) as usize).min(engine.most_tasks());
        let here = std::path::absolute(out);
        let folder = here.map_err(|source| OutputError::Read { path: out.to_owned(), source })?;
        let tasks = EngineTasks {
            study: study.name.as_str(),
            folder: &fs::canonicalize(&folder).unwrap_or(folder),
            // Use no more tasks than runs: further tasks would find no run to do. If no run is
            // missing, use one task, to have an order that can be shown.
            count: most.min(missing).max(1),
            number: 1 + earlier.as_ref().map_or(0, SubmittedArray::number),
            words: task_words(pace, program.is_some()),
        };
        // Refuse wrong options before any file is written.
        let order = engine.order(&tasks, &self)?;
        if self.dry_run {
            return Ok(terminal::print_file(&order.shown(engine, out))?);
        }
        // Keep other processes out while the folder is prepared.
        let claim = store.claim(tasks.study, FolderAccess::Alone, StoreForm::Packed)?;
        if pace.anew {
            claim.remove_all()?;
        }
        let sheet = StudyManifest::new(study, &plan);
        write_manifest(&sheet, out)?;
        keep(study, &plan, &folder::command(), out, bring)?;
        if missing == 0 {
            return merge::conclude_all(&claim, quiet);
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
        let submitted = SubmittedArray::new(engine.word(), job, &tasks, place);
        submitted.write(out)?;
        if !quiet {
            tell_submitted(&submitted, &tasks, missing, out)?;
        }
        if self.wait { wait(&submitted, &plan, &sheet, &store, quiet) } else { Ok(()) }
    }

    /// Refuses options that the engine does not support: ignoring them would mislead the user.
    fn check(&self, engine: &dyn Engine, pace: PaceOptions) -> Result<(), Failure> {
        for (option, is_said) in [
            ("--time", self.time.is_some()),
            ("--partition", self.partition.is_some()),
            ("--account", self.account.is_some()),
            ("--volume", self.volume.is_some()),
            ("--image", self.image.is_some()),
            ("--parallelism", self.parallelism.is_some()),
            // A task has one core, so it does one run at a time.
            ("--jobs", pace.jobs.is_some()),
        ] {
            if is_said && !engine.supported_options().contains(&option) {
                return Err(Failure::input(format!("--on {} has no {option}", engine.word())));
            }
        }
        Ok(())
    }
}

impl EngineOrder {
    /// Returns the file and the command, for readers.
    fn shown(&self, engine: &dyn Engine, out: &Path) -> String {
        let words: Vec<String> = self.command.iter().map(|word| shell::quoted(word)).collect();
        let path = out.join(engine.word()).join(self.file);
        // A line end in the name of the folder would end the comment.
        let [path, out] = [&*path, out].map(|path| plain(&path.to_string_lossy()).into_owned());
        let text = &self.text;
        format!("### {path}\n{text}\n### in {out}\n$ {}\n", words.join(" "))
    }

    /// Writes the file and submits it to the engine; returns the name of the job.
    fn submit(&self, engine: &dyn Engine, out: &Path) -> Result<String, Failure> {
        let folder = out.join(engine.word());
        let logs = folder.join(LOGS);
        disk::create_dir_all(&logs).map_err(|source| OutputError::Write { path: logs, source })?;
        write_file(&folder, self.file, self.text.as_bytes())?;
        let refused = |why: &str| {
            let file = format!("{}/{}", engine.word(), self.file);
            Failure::input(format!("{} does not take {file}: {why}", engine.name()))
        };
        let printed = ask(&self.command, out).map_err(|why| refused(&why))?;
        engine.job(&printed).ok_or_else(|| refused(&printed))
    }
}

/// The folder of the tasks' logs, in the engine's folder.
const LOGS: &str = "logs";

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
        bar.bar(),
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
    merge::conclude_all(&claim, quiet)
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

/// Calls a program of an engine in a folder; returns its output, or the reason of its failure.
fn ask(words: &[impl AsRef<OsStr>], folder: impl AsRef<Path>) -> Result<String, String> {
    let program = words[0].as_ref();
    let mut command = Command::new(program);
    // Give the program no stdin: if it asks for a password, it must fail rather than wait.
    command.args(&words[1..]).current_dir(folder).stdin(Stdio::null());
    let asked = command.output();
    let asked =
        asked.map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if asked.status.success() { Ok(told(&asked.stdout)) } else { Err(told(&asked.stderr)) }
}

/// Calls a program of an engine in the current folder; returns what [`ask`] does.
fn ask_engine(words: &[impl AsRef<OsStr>]) -> Result<String, String> {
    ask(words, PathBuf::from("."))
}

/// Returns the command line of a task in the study's folder. The task may start a program that the
/// study names, as the user was told at the submission.
fn task_words(pace: PaceOptions, starts_program: bool) -> String {
    let mut words = format!("{}/{} study . --join --jobs 1", BINARY[0], BINARY[1]);
    if let Some(limit) = pace.time_limit {
        words += &format!(" --time-limit {limit}");
    }
    if pace.drive.transport == Some(Transport::Bare) {
        words += " --drive bare";
    }
    if pace.verify {
        words += " --verify";
    }
    if starts_program {
        words += " --external";
    }
    words
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_yaml::Value;

    use super::*;
    use crate::drive::DriveOption;

    fn on() -> ElsewhereArguments {
        ElsewhereArguments {
            on: None,
            tasks: None,
            time: Some("90min".to_owned()),
            partition: Some("long".to_owned()),
            account: None,
            volume: Some("disk:a: \"b\"".to_owned()),
            image: Some("debian:stable-slim".to_owned()),
            parallelism: NonZero::new(20),
            dry_run: false,
            wait: false,
            options: vec!["--comment=it's mine".to_owned()],
        }
    }

    /// Returns the order for eight tasks, and its text for readers.
    fn order(engine: &dyn Engine) -> (EngineOrder, String) {
        let time_limit = "10min".parse().ok();
        let pace = PaceOptions {
            time_limit,
            drive: DriveOption { transport: Some(Transport::Bare) },
            ..PaceOptions::default()
        };
        let (folder, words) = (Path::new("/data/it's a study"), task_words(pace, false));
        let tasks = EngineTasks { study: "Two_nodes.v1", folder, count: 8, number: 2, words };
        let order = engine.order(&tasks, &on()).unwrap();
        let shown = order.shown(engine, Path::new("out/small"));
        (order, shown)
    }

    #[test]
    fn a_line_end_in_the_folder_ends_no_comment() {
        let shown = order(&Slurm).0.shown(&Slurm, Path::new("a\n$ rm -r b"));
        assert!(shown.contains("\n### in a\\n$ rm -r b\n"), "{shown}");
        assert!(!shown.contains("\n$ rm"), "{shown}");
    }

    #[test]
    fn slurm_gets_a_script_as_people_read_it() {
        insta::assert_snapshot!(order(&Slurm).1);
    }

    #[test]
    fn kubernetes_gets_a_manifest_as_people_read_it() {
        let (order, shown) = order(&Kubernetes);
        insta::assert_snapshot!(shown);
        let job: Value = serde_yaml::from_str(&order.text).unwrap();
        let (spec, pod) = (&job["spec"], &job["spec"]["template"]["spec"]);
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&8.into(), &8.into()));
        assert_eq!(pod["activeDeadlineSeconds"], 5_400);
        assert_eq!(pod["containers"][0]["volumeMounts"][0]["subPath"], "a: \"b\"");
    }

    /// Executes a pod's script, with a fake program that notes its arguments and exits with this
    /// code. Returns the exit code of the script, and the arguments.
    fn pod(code: i32) -> (Option<i32>, String) {
        let room = tempfile::TempDir::new().unwrap();
        fs::create_dir(room.path().join(BINARY[0])).unwrap();
        let program = room.path().join(BINARY[0]).join(BINARY[1]);
        fs::write(&program, format!("#!/bin/sh\necho \"$@\" > said\nexit {code}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let job: Value = serde_yaml::from_str(&order(&Kubernetes).0.text).unwrap();
        let command = &job["spec"]["template"]["spec"]["containers"][0]["command"];
        let here = shell::quoted(&room.path().display().to_string());
        let script = command[2].as_str().unwrap().replace("cd /study", &format!("cd {here}"));
        let ended = Command::new("sh").args(["-c", &script]).status().unwrap().code();
        (ended, fs::read_to_string(room.path().join("said")).unwrap())
    }

    #[test]
    fn a_pod_is_begun_again_unless_its_runs_failed() {
        let words = "study . --join --jobs 1 --time-limit 10min --drive bare\n";
        for (code, ended) in [(0, 0), (1, 0), (3, 3), (137, 137)] {
            assert_eq!(pod(code), (Some(ended), words.to_owned()));
        }
    }

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

    #[test]
    fn jobs_are_known_by_what_engines_print() {
        assert_eq!(Slurm.job("123;east"), Some("123".to_owned()));
        assert_eq!(Slurm.job("sbatch: error"), None);
        assert_eq!(Kubernetes.job("job.batch/mumakil-a-1"), Some("mumakil-a-1".to_owned()));
        assert_eq!(Kubernetes.job("pod/a"), None);
    }
}
