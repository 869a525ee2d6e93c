//! A policy as the user names it: a program, a file with a formula, or a policy that Mumakil brings.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_yaml::{Mapping, Value};

use super::as_program;
use crate::failure::Failure;
use crate::file;
use mumakil_base::nearest::nearest;
use mumakil_scenario::{Registry, SchedulerChoice};

/// The interpreter of Python.
const PYTHON: &str = "python3";

/// The extensions of files that are no programs: policies with their options.
const YAML: [&str; 2] = ["yaml", "yml"];

/// A policy to be scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Contestant {
    /// Its name, which differs from those of all others in the contest.
    pub name: String,
    /// The policy with its options, as the value of `scheduler:`.
    pub scheduler: Value,
}

/// Returns the policy that the user names: the path of a file, or the name of a policy.
pub fn contestant(named: &str, registry: &Registry) -> Result<Contestant, Failure> {
    let path = Path::new(named);
    if path.exists() {
        return of_file(path, registry);
    }
    if registry.get(named).is_some() {
        return Ok(Contestant { name: named.to_owned(), scheduler: named.into() });
    }
    if named.contains(['/', '.']) {
        command_of(path)?;
    }
    let hint = match nearest(named, registry.names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "it is a program, a file such as mine.yaml with the value of `scheduler:`, or the name of \
                 a policy (`mumakil list schedulers`)"
            .to_owned(),
    };
    Err(Failure::input(format!("there is no policy `{named}`\n   = {hint}")))
}

/// Returns whether a file is no program, but has a policy with its options.
pub fn is_yaml(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| YAML.contains(&extension))
}

fn of_file(path: &Path, registry: &Registry) -> Result<Contestant, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let scheduler = match is_yaml(path) {
        true => of_yaml(path, registry)?,
        false => {
            if registry.permit().refusal().is_some() {
                return Err(Failure::input(format!(
                    "`{name}` is a program, and --no-external forbids to start one"
                )));
            }
            let command = command_of(path)?;
            // Refuse a missing program now: it would look like a policy that dies in every run.
            find(&command[0])?;
            let options = [
                ("name".into(), Value::from(&*name)),
                ("command".into(), absolute(command, Path::new("")).into()),
            ];
            Mapping::from_iter([("external".into(), Mapping::from_iter(options).into())]).into()
        }
    };
    Ok(Contestant { name, scheduler })
}

/// Returns the interpreter that `python3` stands for; `None` if it does not say. The name may be a
/// script that chooses a version, and a script starts processes, which a sandbox forbids.
fn python() -> Option<String> {
    let asked = Command::new(PYTHON).args(["-c", "import sys; print(sys.executable)"]).output();
    let told = String::from_utf8(asked.ok()?.stdout).ok()?;
    let program = told.trim();
    Path::new(program).is_file().then(|| program.to_owned())
}

/// Reads a file with the value of `scheduler:`.
fn of_yaml(path: &Path, registry: &Registry) -> Result<Value, Failure> {
    let text = fs::read_to_string(path).map_err(|error| file::cannot(path, error))?;
    let shown = path.display();
    let mut tree: Value = serde_yaml::from_str(&text)
        .map_err(|error| Failure::input(format!("{shown} is no YAML: {error}")))?;
    // The whole line `scheduler: …` of a scenario is meant in the same way.
    if let Some(inner) = tree.get("scheduler") {
        tree = inner.clone();
    }
    let is_choice = tree.is_string() || tree.as_mapping().is_some_and(|map| map.len() == 1);
    if !is_choice {
        return Err(Failure::input(format!(
            "{shown} has no policy\n   = expected the value of `scheduler:`, such as `rank: {{jobs: age / \
             remaining}}`"
        )));
    }
    change_programs(&mut tree, registry, |options| {
        let command = options.get("command").and_then(Value::as_sequence).into_iter().flatten();
        let words = command.filter_map(|word| Some(word.as_str()?.to_owned())).collect();
        let command = absolute(words, path.parent().unwrap_or(Path::new("")));
        options.insert("command".into(), command.into());
    });
    Ok(tree)
}

/// Returns a command whose files are named by their whole paths, since a study has a folder of its
/// own, and whose interpreter is one that a sandbox lets start.
fn absolute(mut command: Vec<String>, folder: &Path) -> Vec<String> {
    if command.first().is_some_and(|program| program == PYTHON) {
        command[0] = python().unwrap_or_else(|| PYTHON.to_owned());
    }
    let words = command.into_iter().map(|word| {
        let beside = folder.join(&word);
        let file = if beside.is_file() { beside } else { PathBuf::from(&word) };
        match file.canonicalize() {
            Ok(path) if path.is_file() => path.to_string_lossy().into_owned(),
            _ => word,
        }
    });
    words.collect()
}

/// Returns the command that runs a file.
pub fn command_of(file: &Path) -> Result<Vec<String>, Failure> {
    let text = file.to_string_lossy().into_owned();
    if file.is_dir() {
        return Err(Failure::input(format!(
            "{text} is a folder\n   = build the package, and try the program: `mumakil policy try \
             {text}/target/release/NAME`"
        )));
    }
    if !file.is_file() {
        return Err(Failure::input(format!(
            "there is no {text}\n   = `mumakil policy new {text}` writes one to change"
        )));
    }
    // Choose the interpreter by the ending: a new script is seldom executable.
    let interpreter = match file.extension().and_then(|extension| extension.to_str()) {
        Some("py") => PYTHON,
        Some("jl") => "julia",
        Some("sh") => "sh",
        _ if is_program(file) => {
            return Ok(vec![as_program(file)]);
        }
        _ => {
            return Err(Failure::input(format!(
                "{text} is no program, and how it is run is not known\n   = say how: `mumakil policy \
                 try -- COMMAND {text}`"
            )));
        }
    };
    Ok(vec![interpreter.to_owned(), text])
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns an error if a program is not in the folders of PATH, where the system looks for it.
pub fn find(program: &str) -> Result<(), Failure> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let is_there = match program.contains('/') {
        true => is_program(Path::new(program)),
        false => env::split_paths(&folders).any(|folder| is_program(&folder.join(program))),
    };
    if is_there {
        return Ok(());
    }
    Err(Failure::input(format!(
        "there is no program `{program}`\n   = is it installed, and in PATH?"
    )))
}

/// Changes the options of each program that a policy, the value of `scheduler:`, starts. Returns
/// whether there are any. A program that is missed here does not start: the command line permits
/// programs in a sandbox alone.
pub fn change_programs(
    scheduler: &mut Value,
    registry: &Registry,
    mut change: impl FnMut(&mut Mapping),
) -> bool {
    let Ok(choice) = serde_yaml::from_value::<SchedulerChoice>(scheduler.clone()) else {
        return false;
    };
    let programs = registry.programs(&choice);
    for at in &programs {
        let options = at.get_mut(scheduler).and_then(Value::as_mapping_mut);
        change(options.expect("the program is named there"));
    }
    !programs.is_empty()
}
