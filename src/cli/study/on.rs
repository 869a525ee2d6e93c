//! `mumakil study STUDY --on ENGINE`: the runs are done elsewhere, by somebody else's engine.
//!
//! The study's folder is made ready here: it says what the study is, has the binary and the files, and
//! knows what runs cost. A task there is nothing but `mumakil study DIR --shard K/N`, and the end is
//! `mumakil study merge`. So a task may end in any way and be begun again, and what is missing at the
//! end is done by the same command as the first time.

mod kubernetes;
mod slurm;
mod ssh;
mod submitted;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use self::slurm::Slurm;
use self::ssh::Host;
pub(super) use self::submitted::Submitted;
use super::{Pace, folder, merge, plan, warn};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::lines::Lines;
use crate::cli::progress::StudyBar;
use crate::cli::terminal;
use crate::output::{OutputError, copy_file};
use crate::runtime::Transport;
use crate::scenario::Registry;
use crate::study::{
    Bring, Costs, Form, Plan, Shard, Share, Sheet, Store, Study, keep, write_sheet,
};
use crate::trace::sha256_of;
use crate::units::tell::counted;

/// The folder of a study's binary, and its name there.
const BINARY: [&str; 2] = ["bin", "mumakil"];

/// A queue is asked no more often; it has others to serve.
const ASK: Duration = Duration::from_secs(2);

/// An engine that does runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// The cluster that `sbatch` knows.
    Slurm,
    /// The cluster that `kubectl` knows.
    Kubernetes,
    /// Machines that `ssh` reaches.
    Ssh(Vec<Host>),
}

impl Engine {
    /// Reads `slurm`, `kubernetes`, or `ssh:` and hosts.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "slurm" => Ok(Self::Slurm),
            None if text == "kubernetes" => Ok(Self::Kubernetes),
            Some(("ssh", hosts)) => {
                hosts.split(',').map(Host::parse).collect::<Result<_, _>>().map(Self::Ssh)
            }
            _ => Err("expected `slurm`, `kubernetes`, or hosts, such as ssh:alpha,me@beta:2222"
                .to_owned()),
        }
    }
}

/// How runs are done elsewhere.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct On {
    /// Do the runs elsewhere: `slurm` submits an array of tasks and what puts them together, so does
    /// `kubernetes`; `ssh:HOST,HOST` does tasks on these machines and brings their runs back
    #[arg(long, value_name = "ENGINE", value_parser = Engine::parse, help_heading = "Elsewhere")]
    #[arg(conflicts_with = "shard")]
    pub(super) on: Option<Engine>,
    /// How many tasks the runs are divided into [default: 200; 8 for each host of ssh]
    #[arg(long, value_name = "NUMBER", requires = "on", help_heading = "Elsewhere")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Option<u32>,
    /// How long a task may take, as Slurm writes it or such as 2h; what it has not done by then it does
    /// when it is begun again
    #[arg(long, value_name = "TIME", requires = "on", help_heading = "Elsewhere")]
    time: Option<String>,
    /// The partition of the cluster
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "Elsewhere")]
    partition: Option<String>,
    /// Whose account the tasks are on
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "Elsewhere")]
    account: Option<String>,
    /// The claim of the volume that has the study's folder, and where in it that is (Kubernetes)
    #[arg(long, value_name = "CLAIM[:PATH]", requires = "on", help_heading = "Elsewhere")]
    volume: Option<String>,
    /// The image that tasks run in; it needs a shell and the C library, but no Mumakil (Kubernetes)
    #[arg(long, value_name = "IMAGE", requires = "on", help_heading = "Elsewhere")]
    image: Option<String>,
    /// How many tasks at a time [default: all] (Kubernetes)
    #[arg(long, value_name = "NUMBER", requires = "on", help_heading = "Elsewhere")]
    parallelism: Option<NonZero<usize>>,
    /// Print what would be written and submitted, and submit nothing
    #[arg(long, requires = "on", help_heading = "Elsewhere")]
    dry_run: bool,
    /// Wait for the end, with progress; the exit code is that of the study. With ssh it is always so
    #[arg(long, requires = "on", help_heading = "Elsewhere")]
    wait: bool,
    /// Further options for sbatch, ssh or kubectl, as they are
    #[arg(last = true, value_name = "OPTION", requires = "on")]
    options: Vec<String>,
}

/// What is to be done elsewhere.
pub(super) struct Work<'w> {
    pub(super) study: &'w Study,
    pub(super) out: &'w Path,
    pub(super) form: Option<Form>,
    pub(super) bring: Bring,
    pub(super) pace: Pace,
    pub(super) quiet: bool,
}

/// What is left to do of a study whose folder is ready.
#[derive(Debug)]
struct Errand {
    /// The study's folder, from the root.
    folder: PathBuf,
    sheet: Sheet,
    /// Into how many tasks the study is divided.
    tasks: usize,
    /// Those that have runs to do, from 1.
    left: Vec<usize>,
    /// How many runs are missing.
    missing: usize,
}

impl On {
    /// Has the runs of a study done.
    pub(super) fn run(self, work: &Work<'_>, registry: &Registry) -> Result<(), Failure> {
        let Work { study, out, form, bring, pace, quiet } = *work;
        let engine = self.on.clone().expect("whoever calls this has an engine");
        if study.search.is_some() {
            return Err(Failure::input(
                "a search runs step by step, so it cannot be divided into tasks",
            ));
        }
        self.check(&engine, pace)?;
        if form == Some(Form::Folders) {
            return Err(Failure::input(
                "tasks keep their runs packed; `unzip` in the folder `runs` makes folders of them",
            ));
        }
        let mut plan = Plan::new(study, registry)?;
        if !quiet {
            warn(&plan);
        }
        let earlier = Submitted::read(out)?;
        if let Some(earlier) = earlier.as_ref().filter(|_| !self.dry_run)
            && let Some(state) = earlier.state()
        {
            return Err(Failure::input(format!(
                "the study is in the queue already ({state}); `mumakil study status {0}` tells how far it \
                 is, `mumakil study cancel {0}` ends it",
                out.display()
            )));
        }
        let (usual, most) = match &engine {
            Engine::Slurm => (200, slurm::most_tasks()),
            Engine::Kubernetes => (200, usize::MAX),
            Engine::Ssh(hosts) => (ssh::TASKS_A_HOST * hosts.len(), usize::MAX),
        };
        let count = self.tasks.map_or(usual, |tasks| tasks as usize);
        let count = count.min(plan.distinct().len()).min(most);
        let alone = Pace { jobs: NonZero::new(1), ..pace };
        // What is wrong with it is told before anything is written.
        let slurm = Slurm::of(&self, study.name.as_str(), count, alone);
        let slurm = (engine == Engine::Slurm).then_some(slurm).transpose()?;
        if let Some(slurm) = slurm.as_ref().filter(|_| self.dry_run) {
            let all: Vec<usize> = (1..=count).collect();
            return Ok(terminal::print_file(&slurm.shown(out, &all))?);
        }
        let store = Store::of(out)?;
        // Nobody works here while the folder is made ready.
        let claim = store.claim(study.name.as_str(), Share::Alone, Form::Packed)?;
        store.refresh()?;
        let missing = plan.missing(&store, Shard::WHOLE).len();
        if missing == 0 {
            drop(claim);
            return merge::conclude_all(out, quiet);
        }
        let sheet = Sheet::new(study, &plan);
        write_sheet(&sheet, out)?;
        keep(study, &plan, &folder::command(), out, bring)?;
        let costs = match Costs::read(out)?.filter(|costs| costs.know(&plan)) {
            Some(costs) => costs,
            None => {
                let costs = Costs::of(&plan, &plan::measure(&plan, registry)?);
                costs.write(out)?;
                costs
            }
        };
        plan.weigh(&costs);
        copy_binary(out)?;
        // Dealt out once for all tasks.
        let is_missing = |(run, _): &(usize, usize)| !store.has(&plan.runs[*run].id);
        let left: BTreeSet<usize> =
            plan.dealt(count).filter(is_missing).map(|(_, part)| part + 1).collect();
        // The tasks claim it.
        drop(claim);
        let unread = |source| OutputError::Read { path: out.to_owned(), source };
        let folder = fs::canonicalize(out).map_err(unread)?;
        let left = left.into_iter().collect();
        let errand = Errand { folder, sheet, tasks: count, left, missing };
        let earlier = earlier.as_ref();
        let submitted = match (&engine, slurm) {
            (Engine::Ssh(hosts), _) => return ssh::run(&errand, hosts, &self, pace, quiet),
            (_, Some(slurm)) => Some(slurm.submit(out, &errand.left, earlier)?),
            (_, None) => kubernetes::submit(&errand, &self, alone, earlier)?,
        };
        let Some(submitted) = submitted else { return Ok(()) };
        submitted.write(out)?;
        if !quiet {
            let mut lines = Lines::default();
            lines.bold(study.name.as_str(), format!("   {}", submitted.told()));
            lines.line(format!(
                "  runs     {} in {}",
                counted(missing as u64, "run"),
                counted(errand.left.len() as u64, "task")
            ));
            lines.line(format!("  look     mumakil study status {}", out.display()));
            lines.line(format!("  cancel   mumakil study cancel {}", out.display()));
            terminal::print(&lines)?;
        }
        if self.wait { wait(&submitted, &plan, out, quiet) } else { Ok(()) }
    }

    /// Checks that the engine heeds what is said: what nobody heeds must not pass.
    fn check(&self, engine: &Engine, pace: Pace) -> Result<(), Failure> {
        let name = match engine {
            Engine::Slurm => "slurm",
            Engine::Kubernetes => "kubernetes",
            Engine::Ssh(_) => "ssh",
        };
        let (slurm, kubernetes) = (name == "slurm", name == "kubernetes");
        for (option, is_said, is_heeded) in [
            ("--time", self.time.is_some(), slurm || kubernetes),
            ("--partition", self.partition.is_some(), slurm),
            ("--account", self.account.is_some(), slurm),
            ("--volume", self.volume.is_some(), kubernetes),
            ("--image", self.image.is_some(), kubernetes),
            ("--parallelism", self.parallelism.is_some(), kubernetes),
            // A task there has one core.
            ("--jobs", pace.jobs.is_some(), !slurm && !kubernetes),
        ] {
            if is_said && !is_heeded {
                return Err(Failure::input(format!("--on {name} has no {option}")));
            }
        }
        Ok(())
    }
}

/// Waits until nothing of it is in the queue any more, and ends as the study does.
#[expect(clippy::disallowed_methods, reason = "the queue is asked now and then")]
fn wait(submitted: &Submitted, plan: &Plan, out: &Path, quiet: bool) -> Result<(), Failure> {
    let bar = StudyBar::new("run", quiet);
    interrupt::guard(
        bar.bar(),
        "; the tasks go on: `mumakil study status` shows them, `mumakil study cancel` ends them",
    );
    let store = Store::of(out)?;
    let mut left = plan.missing(&store, Shard::WHOLE);
    bar.more(left.len());
    while submitted.state().is_some() {
        thread::sleep(ASK);
        store.refresh()?;
        let before = left.len();
        left.retain(|run| !store.has(&plan.runs[*run].id));
        (left.len()..before).for_each(|_| bar.tick());
    }
    bar.clear();
    merge::conclude_all(out, quiet)
}

/// Copies this program into a study's folder, so that a newer one in its place, or none where tasks
/// run, changes nothing. One that is the same stays, as tasks may be running it.
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

/// The folder that this process was begun in.
const HERE: &str = ".";

/// Returns what a program of an engine prints that is called in a folder, or why it does not do it.
fn ask(words: &[impl AsRef<OsStr>], folder: impl AsRef<Path>) -> Result<String, String> {
    let program = words[0].as_ref();
    let mut command = Command::new(program);
    command.args(&words[1..]).current_dir(folder).stdin(Stdio::null());
    let asked = command.output();
    let asked =
        asked.map_err(|error| format!("`{}` cannot be started: {error}", program.display()))?;
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if asked.status.success() { Ok(told(&asked.stdout)) } else { Err(told(&asked.stderr)) }
}

/// Returns the words with which a task does its part, in the folder or a copy of it.
fn task_words(part: &str, pace: Pace) -> String {
    let mut words = format!("{}/{} study . --shard {part}", BINARY[0], BINARY[1]);
    if let Some(jobs) = pace.jobs {
        words += &format!(" --jobs {jobs}");
    }
    if let Some(limit) = pace.time_limit {
        words += &format!(" --time-limit {limit}");
    }
    if pace.drive.transport == Transport::Bare {
        words += " --drive bare";
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_known_by_its_word() {
        let host = |text| Host::parse(text).unwrap();
        assert_eq!(Engine::parse("slurm"), Ok(Engine::Slurm));
        assert_eq!(Engine::parse("kubernetes"), Ok(Engine::Kubernetes));
        assert_eq!(Engine::parse("ssh:a,b:22"), Ok(Engine::Ssh(vec![host("a"), host("b:22")])));
        for wrong in ["", "ssh", "pbs", "slurm:a", "ssh:", "ssh:a,,b", "ssh:-oProxyCommand=x"] {
            assert!(Engine::parse(wrong).is_err(), "{wrong}");
        }
    }
}
