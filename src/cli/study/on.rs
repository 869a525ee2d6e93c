//! `mumakil study --on ENGINE`: others start the processes that do the parts of a study.
//!
//! Whatever the engine, its task K of N does `bin/mumakil study … --shard K/N` in the study's folder, or
//! in a copy of it, and may be ended and started again at any time. Only tasks with runs that are missing
//! are handed out. What engines have in common is here: the folder gets all that a task needs, and
//! [`Errand`] says what is to be done. Each engine has a file: pure functions make the texts, a thin layer
//! calls the engine's own programs.

mod kubernetes;
mod shell;
mod ssh;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};


use self::ssh::Host;
use crate::cli::failure::Failure;
use crate::disk;
use crate::output::{AsideFile, OutputError, Over, write_file};
use crate::scenario::{Registry, Starter};
use crate::study::{Form, Plan, Shard, Share, Sheet, Store, Study, write_sheet};
use crate::trace::sha256_of;
use crate::units::SimSpan;

/// What a task reads the study from, in the study's folder.
const STUDY_FILE: &str = "study.resolved.yaml";
/// The program that a task runs, in the study's folder.
const PROGRAM: &str = "bin/mumakil";

/// How the work is handed out.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "On other machines")]
pub(super) struct Options {
    /// Let others do the runs: ssh:HOST,HOST… or kubernetes
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(super) on: Option<Engine>,
    /// Into how many tasks the runs are divided [default: 8 a host with ssh, otherwise 200]
    #[arg(long, value_name = "NUMBER", requires = "on")]
    tasks: Option<NonZero<usize>>,
    /// How much real time a task may take, such as 2h (kubernetes)
    #[arg(long, value_name = "TIME", requires = "on")]
    time: Option<SimSpan>,
    /// How many tasks at a time [default: all] (kubernetes)
    #[arg(long, value_name = "NUMBER", requires = "on")]
    parallelism: Option<NonZero<usize>>,
    /// The volume claim that has the study's folder, and where in it that is (kubernetes)
    #[arg(long, value_name = "CLAIM[:PATH]", requires = "on")]
    volume: Option<String>,
    /// The image that tasks run in; it needs a shell and the C library, no Mumakil (kubernetes)
    #[arg(long, value_name = "IMAGE", requires = "on")]
    image: Option<String>,
    /// Write and print what would be handed to the engine, and hand it nothing
    #[arg(long, requires = "on")]
    dry_run: bool,
    /// Further options for the engine's own program, such as `-- -i key` for ssh
    #[arg(last = true, value_name = "OPTION", requires = "on")]
    further: Vec<String>,
}


/// Who does the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// Jobs of a Kubernetes cluster.
    Kubernetes,
    /// Machines, through `ssh`.
    Ssh(Vec<Host>),
}

/// Reads an engine.
fn engine(text: &str) -> Result<Engine, String> {
    match text.split_once(':') {
        None if text == "kubernetes" => Ok(Engine::Kubernetes),
        Some(("ssh", hosts)) => {
            let hosts = hosts.split(',').map(Host::parse).collect::<Result<Vec<_>, _>>()?;
            Ok(Engine::Ssh(hosts))
        }
        _ => Err("expected `kubernetes`, or `ssh:` and hosts, such as ssh:alpha,me@beta:2222".to_owned()),
    }
}

/// What the command line says besides.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) study: PathBuf,
    pub(super) sets: Vec<String>,
    pub(super) out: PathBuf,
    pub(super) quiet: bool,
}

/// What an engine is to do.
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

/// Hands a study to an engine.
pub(super) fn run(
    engine: Engine,
    study: &Study,
    request: Request,
    options: Options,
    jobs: Option<NonZero<usize>>,
    registry: &Registry,
) -> Result<(), Failure> {
    if study.search.is_some() {
        return Err(Failure::input("a search runs step by step, so it cannot be divided into tasks"));
    }
    let usual = match &engine {
        Engine::Kubernetes => 200,
        Engine::Ssh(hosts) => ssh::TASKS_A_HOST * hosts.len(),
    };
    let tasks = options.tasks.map_or(usual, NonZero::get);
    let errand = prepare(study, &request, tasks, registry)?;
    match engine {
        Engine::Kubernetes => kubernetes::run(&errand, &options),
        Engine::Ssh(hosts) => ssh::run(&errand, &hosts, &options, jobs, request.quiet),
    }
}

/// Plans, and makes the folder have all that a task needs.
fn prepare(
    study: &Study,
    request: &Request,
    tasks: usize,
    registry: &Registry,
) -> Result<Errand, Failure> {
    let plan = Plan::new(study, registry)?;
    super::warn(&plan);
    let sheet = Sheet::new(study, &plan);
    let store = Store::of(&request.out)?;
    let share = Share::Part(Shard::WHOLE);
    let _claim = store.claim(&sheet.study, share, Form::usual(share, plan.runs.len()))?;
    write_sheet(&sheet, &request.out)?;
    keep_study(request)?;
    keep_program(&request.out)?;
    let tasks = tasks.min(plan.distinct().len());
    let missing = |index| plan.missing(&store, Shard { index, count: tasks }).len();
    let missing: Vec<usize> = (0..tasks).map(missing).collect();
    let left = (1..).zip(&missing).filter(|(_, runs)| 0 < **runs).map(|(task, _)| task).collect();
    let unread = |source| OutputError::Read { path: request.out.clone(), source };
    let folder = fs::canonicalize(&request.out).map_err(unread)?;
    Ok(Errand { folder, sheet, tasks, left, missing: missing.into_iter().sum() })
}

/// Keeps in the folder what the study is.
fn keep_study(request: &Request) -> Result<(), Failure> {
    if !request.sets.is_empty() {
        return Err(Failure::input("--set does not reach the tasks yet; write it into the study"));
    }
    let name = request.study.to_str().filter(|_| !request.study.is_file()).unwrap_or_default();
    let text = match Starter::find(name) {
        Some(starter) => starter.text.to_owned(),
        None => {
            let unread = |source| OutputError::Read { path: request.study.clone(), source };
            fs::read_to_string(&request.study).map_err(unread)?
        }
    };
    Ok(write_file(&request.out, STUDY_FILE, text.as_bytes())?)
}

/// Copies this program into the folder, unless it is there. It is replaced in one step: tasks that run
/// go on with the old one.
fn keep_program(folder: &Path) -> Result<(), Failure> {
    let own = std::env::current_exe().map_err(|error| {
        Failure::Environment(anyhow::Error::new(error).context("cannot find this program's own file"))
    })?;
    let target = folder.join(PROGRAM);
    if target.is_file() && sha256_of(&own)? == sha256_of(&target)? {
        return Ok(());
    }
    let unread = |source| OutputError::Read { path: own.clone(), source };
    let unwritten = |source| OutputError::Write { path: target.clone(), source };
    let mut aside = AsideFile::create(&target, Over::Anything)?;
    let mut source = fs::File::open(&own).map_err(unread)?;
    std::io::copy(&mut source, aside.file()).map_err(unwritten)?;
    let permissions = fs::metadata(&own).map_err(unread)?.permissions();
    aside.put()?;
    disk::change(&target, || fs::set_permissions(&target, permissions)).map_err(unwritten)?;
    Ok(())
}

/// Returns the words with which a task does its part, in the folder or a copy of it.
fn task_words(part: &str) -> String {
    format!("{PROGRAM} study {STUDY_FILE} --out . --shard {part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_known_by_its_word() {
        let host = |text| Host::parse(text).unwrap();
        assert_eq!(engine("kubernetes"), Ok(Engine::Kubernetes));
        assert_eq!(engine("ssh:a,b:22"), Ok(Engine::Ssh(vec![host("a"), host("b:22")])));
        for wrong in ["", "ssh", "pbs", "kubernetes:a", "ssh:", "ssh:a,,b", "ssh:-oProxyCommand=x"] {
            assert!(engine(wrong).is_err(), "{wrong}");
        }
    }
}
