//! `mumakil study status`: the progress of a study, over all machines that work on it.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::form::print_json;
use crate::lines::TerminalLines;
use crate::table::{Align, table};
use crate::{Program, terminal};
use mumakil_base::files::{REPORT, RESOLVED, STUDY};
use mumakil_base::units::tell::{count, counted, percent, span};
use mumakil_study::{End, FAILED, Life, Status, StudyProcess, WallInstant, WriterState, rate};

/// The most running runs, failed runs and processes printed.
const SHOWN: usize = 10;
/// The largest number of slow runs printed.
const SLOWEST: usize = 5;

/// Show the progress of a study
///
/// This works for any study's folder, also while processes work on it, on this machine or on
/// others. It only reads, so it may be called at any time. A process that was killed does not count
/// as being at work.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil study status out/scaling-study
  mumakil study status out/scaling-study --json | jq .left
  watch -n 10 mumakil study status out/scaling-study

Exit codes:
  0  it is told, however far the study is, and whatever has failed in it
  2  the folder has no study
  3  the folder cannot be read")]
pub(crate) struct StudyStatusArguments {
    /// The folder of the study's results
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print all of it as JSON
    #[arg(long)]
    json: bool,
}

impl StudyStatusArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        is_of_a_study(&self.folder)?;
        let status = Status::read(&self.folder, WallInstant::now())?;
        let engine = program.elsewhere.map_or(Ok(None), |it| it.status(&self.folder))?;
        let all = FullStatus { status, engines: engine.into_iter().collect() };
        if self.json {
            return print_json(&all);
        }
        Ok(terminal::print(&told(&all, &self.folder))?)
    }
}

/// The state of the folder, and of the other machines that have the study.
#[derive(serde::Serialize)]
struct FullStatus {
    #[serde(flatten)]
    status: Status,
    /// A line about the other machines.
    engines: Vec<String>,
}

/// Returns an error if a folder does not belong to a study; the error says what the folder is
/// instead.
pub(super) fn is_of_a_study(folder: &Path) -> Result<(), Failure> {
    if folder.join(STUDY).is_file() {
        return Ok(());
    }
    if !folder.exists() {
        return Err(Failure::input(format!(
            "there is no folder {}\n   = name one with a study's results, such as out/NAME",
            folder.display()
        )));
    }
    let why = if !folder.is_dir() {
        "is a file; name the folder of the study's results, such as out/NAME"
    } else if folder.join(RESOLVED).is_file() {
        "is the folder of a run, not of a study"
    } else {
        "has no study.json, so it is not the folder of a study, or the study is not planned yet"
    };
    Err(Failure::input(format!("{} {why}", folder.display())))
}

/// Returns the whole report in lines.
fn told(FullStatus { status, engines }: &FullStatus, folder: &Path) -> TerminalLines {
    let mut lines = TerminalLines::default();
    lines.bold(&status.study, format!("   {}", counted(status.runs, "run")));
    lines += counts(status);
    engines.iter().for_each(|engine| lines.line(format!("  engine     {engine}")));
    lines += running(status);
    lines += slowest(status);
    lines += ended(status);
    lines += failed(status, folder);
    lines + next(status, folder)
}

/// Returns the counts of runs, one below the other.
fn counts(status: &Status) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let at_work = || of(status, |fate| fate == WriterState::AtWork);
    let width = count(status.runs).len();
    let machines: std::collections::BTreeSet<&String> =
        at_work().filter_map(|one| one.life.machine.as_ref()).collect();
    let on = match machines.len() as u64 {
        0 => String::new(),
        machines => format!(" on {}", counted(machines, "machine")),
    };
    let processes = match at_work().count() as u64 {
        0 => String::new(),
        1 => format!("   in 1 process{on}"),
        processes => format!("   in {}{on}", counted(processes, "process")),
    };
    let share = format!("   {}", percent(status.done as f64 / (status.runs as f64).max(1.0)));
    for (name, number, rest) in [
        ("done", status.done, share),
        ("running", status.running, processes),
        ("failed", status.failed, String::new()),
        ("left", status.left, String::new()),
    ] {
        lines.line(format!("  {name:<9}  {:>width$}{rest}", count(number)));
    }
    if let Some(per_minute) = status.runs_a_minute {
        lines.line(format!("  rate       {}", rate(per_minute, "run")));
    }
    if let Some(rest) = status.rest_s {
        lines.line(format!("  rest       about {} at this rate", span(rest)));
    }
    lines
}

fn running(status: &Status) -> TerminalLines {
    if status.running_now.is_empty() {
        return TerminalLines::default();
    }
    let mut rows = vec![["running", "for", "machine", "process"].map(str::to_owned).to_vec()];
    for now in status.running_now.iter().take(SHOWN) {
        let machine = now.machine.clone().unwrap_or_else(|| "–".to_owned());
        rows.push(vec![now.going.what.clone(), span(now.for_s), machine, now.pid.to_string()]);
    }
    let table = table(&rows, &[Align::Left, Align::Right, Align::Left, Align::Right]);
    TerminalLines::of("") + table + more(status.running_now.len(), SHOWN, "running")
}

fn slowest(status: &Status) -> TerminalLines {
    if status.slowest.is_empty() {
        return TerminalLines::default();
    }
    let mut rows = vec![["slowest", "took"].map(str::to_owned).to_vec()];
    for slow in status.slowest.iter().take(SLOWEST) {
        rows.push(vec![slow.what.clone(), span(slow.took_s)]);
    }
    TerminalLines::of("") + table(&rows, &[Align::Left, Align::Right])
}

/// Returns lines about processes that ended before their work was done.
fn ended(status: &Status) -> TerminalLines {
    let is_missed = |fate| match fate {
        WriterState::AtWork | WriterState::Ended(End::Done) => false,
        WriterState::Gone | WriterState::Silent | WriterState::Ended(_) => true,
    };
    let mut lines = TerminalLines::default();
    // Other processes have done the remaining runs, so an early end does not matter any more.
    if status.left == 0 {
        return lines;
    }
    let ended: Vec<&StudyProcess> = of(status, is_missed).collect();
    for (number, StudyProcess { fate, silent_s, life }) in ended.iter().enumerate().take(SHOWN) {
        let before = if number == 0 { "  ended    " } else { "           " };
        let who = process_name(life);
        let (ago, why) = (ago(*silent_s), life.why.as_deref().unwrap_or("it could not go on"));
        let words = match fate {
            WriterState::Gone => format!("{who} was killed; its last sign is of {ago}"),
            WriterState::Silent => {
                format!("{who} says nothing any more; its last sign is of {ago}")
            }
            WriterState::Ended(End::ToldToEnd) => format!("{who} was told to end {ago}"),
            WriterState::AtWork | WriterState::Ended(_) => format!("{who} failed {ago}: {why}"),
        };
        lines.line(before.to_owned() + &words);
    }
    let lead = if ended.is_empty() { TerminalLines::default() } else { TerminalLines::of("") };
    lead + lines + more(ended.len(), SHOWN, "that ended")
}

fn failed(status: &Status, folder: &Path) -> TerminalLines {
    let mut lines = TerminalLines::default();
    for (number, failed) in status.failures.iter().enumerate().take(SHOWN) {
        let before = if number == 0 { "  failed   " } else { "           " };
        let mut words = failed.why.lines();
        lines.line(before.to_owned() + words.next().unwrap_or_default());
        words.for_each(|line| lines.line(format!("           {line}")));
        lines.line(format!("             repeat it with `{}`", failed.repeat));
    }
    if status.failures.is_empty() {
        return lines;
    }
    let more = (status.failures.len().saturating_sub(SHOWN)) as u64;
    if 0 < more {
        let place = folder.join(FAILED);
        lines.line(format!("           … and {} more in {}", count(more), place.display()));
    }
    TerminalLines::of("") + lines
}

/// Returns the command to type next, if there is one.
fn next(status: &Status, folder: &Path) -> TerminalLines {
    let is_at_work = of(status, |fate| fate == WriterState::AtWork).next().is_some();
    let report = || folder.join(REPORT).display().to_string();
    let words = match (is_at_work, status.left, status.failed) {
        (true, _, _) => return TerminalLines::default(),
        (_, 0, 0) if status.is_concluded => format!("all is done: start with {}", report()),
        (_, 0, 0) => "every run is there; start the study again to have its report".to_owned(),
        (_, 0, _) if status.is_concluded => format!(
            "{} is of the combinations without failures; start the study again to try once more",
            report()
        ),
        (_, _, _) => "nobody is at work; start the study again to go on".to_owned(),
    };
    TerminalLines::of("") + TerminalLines::of(words)
}

fn of(status: &Status, is: impl Fn(WriterState) -> bool) -> impl Iterator<Item = &StudyProcess> {
    status.processes.iter().filter(move |process| is(process.fate))
}

fn process_name(life: &Life) -> String {
    let on = life.machine.as_ref().map_or_else(String::new, |machine| format!(" on {machine}"));
    format!("process {}{on}", life.pid)
}

fn ago(seconds: f64) -> String {
    format!("{} ago", span(seconds))
}

fn more(all: usize, shown: usize, what: &str) -> TerminalLines {
    match all.saturating_sub(shown) as u64 {
        0 => TerminalLines::default(),
        more => TerminalLines::of(format!("  … and {} more {what}", count(more))),
    }
}
