//! `mumakil policy new`: writes a simple policy, to be changed by the user.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::as_program;
use crate::failure::Failure;
use crate::lines::TerminalLines;
use crate::{Program, file, terminal};
use mumakil_base::disk;
use mumakil_external::template;
use mumakil_run::output::{AsideFolder, ReplacedFiles};

/// Write a policy to change, in Python, C++ or Rust
///
/// `mine.py` or `mine.cpp` is one file, with an adapter that speaks with Mumakil and a policy of
/// twenty lines below it. `mine/` or `mine.rs` is a folder with a small package in Rust. None of
/// them needs other packages.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil policy new mine.py
  mumakil policy try mine.py
  mumakil run quickstart --set 'scheduler={external: {command: [python3, mine.py]}}'")]
pub(crate) struct PolicyNewArguments {
    /// Where to write it: FILE.py, FILE.cpp, or a folder for a package in Rust
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Write a package in Rust, whatever the folder is called
    #[arg(long)]
    rust: bool,
}

impl PolicyNewArguments {
    pub(crate) fn run(self, _: &Program) -> Result<(), Failure> {
        let text = self.path.to_string_lossy();
        let extension = self.path.extension().map(|extension| extension.to_string_lossy());
        match extension.as_deref() {
            // This includes `mine.py --rust`, whose package is called `mine`.
            _ if self.rust => package(&self.path.with_extension("")),
            Some("py") => python(&self.path),
            Some("cpp") => cpp(&self.path),
            Some("rs") => package(&self.path.with_extension("")),
            None if text.ends_with('/') => package(&self.path),
            _ => Err(Failure::input(format!(
                "no policy to begin with is known for `{text}`\n   = say FILE.py for Python, FILE.cpp for C++, or FOLDER/ \
                 for a package in Rust; what another language has to say and hear is in `mumakil help \
                 external`, and FILE.py shows it on a hundred lines"
            ))),
        }
    }
}

fn python(path: &Path) -> Result<(), Failure> {
    write(path, template::PYTHON)?;
    let shown = path.display().to_string();
    next(std::slice::from_ref(&shown), &[], &["python3".to_owned(), shown.clone()])
}

fn cpp(path: &Path) -> Result<(), Failure> {
    write(path, template::CPP)?;
    let (file, program) = (path.display(), path.with_extension(""));
    let build = format!("c++ -O2 -std=c++17 -o {} {file}", program.display());
    next(&[file.to_string()], &[build], &[as_program(&program)])
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    refuse(path)?;
    file::write(path, false, |to| to.write_all(text.as_bytes()))
}

fn package(path: &Path) -> Result<(), Failure> {
    refuse(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !is_plain {
        return Err(Failure::input(format!(
            "no package in Rust can be called `{name}`\n   = letters, digits, `-` and `_` make a name"
        )));
    }
    // The package appears whole or not at all.
    let aside = AsideFolder::create(path, ReplacedFiles::Nothing)?;
    let sources = aside.path().join("src");
    disk::create_dir_all(&sources).map_err(|error| file::cannot(path, error))?;
    for (name, text) in template::rust(&name) {
        let target = aside.path().join(name);
        disk::write(&target, text.as_bytes()).map_err(|error| file::cannot(&target, error))?;
    }
    aside.put()?;
    let at = |rest: &str| path.join(rest).display().to_string();
    let build = format!("cargo build --release --manifest-path {}", at("Cargo.toml"));
    let program = at(&format!("target/release/{name}"));
    next(&[at("src/main.rs")], &[build], &[program])
}

/// Refuses a path that exists: the user's own policy would be lost.
fn refuse(path: &Path) -> Result<(), Failure> {
    // A broken symbolic link counts as existing: writing through it would make a file elsewhere.
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{} is there already\n   = choose another name, or remove it: nothing is overwritten",
        path.display()
    )))
}

/// Prints the files that were written, and the next commands to type.
fn next(wrote: &[String], before: &[String], command: &[String]) -> Result<(), Failure> {
    let mut lines = TerminalLines::default();
    wrote.iter().for_each(|path| lines.line(format!("wrote {path}: change the policy in it")));
    before.iter().for_each(|line| lines.line(format!("  {line}")));
    let file = command.last().expect("a command has a word");
    lines.line(format!("  mumakil policy try {file}"));
    let command = command.join(", ");
    lines.line("and then, in a scenario or a study:");
    lines.line(format!("  scheduler: {{external: {{command: [{command}]}}}}"));
    Ok(terminal::print(&lines)?)
}
