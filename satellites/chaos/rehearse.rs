//! `mumakil policy try`: runs an external policy on random clusters, under the invariant checker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::hunt::{Cases, close};
use crate::{HuntCatch, HuntTally, Subject};
use mumakil_base::shell::{quoted, quoted_path};
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::{count, counted, percent};
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::policy::contestant::{command_of, find};
use mumakil_cli::run::real;
use mumakil_cli::{Program, known_programs, terminal};
use mumakil_core::mapred::{PolicyProgram, ProgramPermit};
use mumakil_run::output::write_file;

/// Try an external policy on random small clusters, and report its mistakes
///
/// Each number is a case: a small cluster, jobs, options and faults. It is run twice under the
/// checker of invariants. A policy is wrong if it launches a task that does not exist or where no
/// slot is free, lets a job starve, dies, gives no answer, or answers the same questions
/// differently. Each mistake is reported once, with the smallest scenario found that shows it.
#[derive(Debug, clap::Args)]
#[command(mut_arg("runs", |runs| runs.default_value("50")), after_help = "\
Examples:
  mumakil policy try mine.py
  mumakil policy try mine.py --runs 1000 --out wrong
  mumakil policy try -- java -cp classes Mine

Exit codes:
  0  nothing is wrong
  1  something is: what, and how to see it again, is printed
  2  the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(super) struct PolicyRehearseArguments {
    /// The policy: a script (.py, .jl, .sh) or a program
    #[arg(value_name = "FILE", required_unless_present = "command")]
    file: Option<PathBuf>,
    #[command(flatten)]
    cases: Cases,
    /// The policy's options, in YAML
    #[arg(long, value_name = "YAML")]
    options: Option<String>,
    /// The real time that the policy may take for an answer
    #[arg(long, value_name = "TIME", default_value = "10s")]
    timeout: SimSpan,
    /// The real time spent on making the scenario of each mistake smaller
    #[arg(long, value_name = "TIME", default_value = "10s")]
    shrink: SimSpan,
    /// Write the scenario of each mistake into this folder, as try-NUMBER.yaml
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print a last line of JSON: the numbers of cases and questions, the speed, and the mistakes
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "file")]
    command: Vec<String>,
}

impl PolicyRehearseArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        // Check this first: `--no-external` must hold for every way to start a program.
        if registry.permit().refusal().is_some() {
            let words = "`policy try` starts a program, and --no-external forbids to start one";
            return Err(Failure::input(words));
        }
        let command = match &self.file {
            Some(file) => command_of(file)?,
            None => self.command.clone(),
        };
        // Refuse a missing program now: it would look like a policy that dies in every case.
        find(&command[0])?;
        // The user has named it, so no run has to warn of it.
        let mut registry = registry.clone();
        // The program schedules slots, and other lines have none.
        registry.forget_lines();
        let remember = |program: &PolicyProgram| _ = known_programs::remember(&program.located);
        registry.permit_programs(ProgramPermit::Warned(Arc::new(remember)));
        if self.timeout.is_zero() {
            return Err(Failure::input(
                "--timeout 0s leaves no time to answer\n   = `10s` is usual",
            ));
        }
        let options = match self.options.as_deref().map(serde_yaml::from_str) {
            Some(Ok(options)) => options,
            Some(Err(error)) => {
                return Err(Failure::input(format!("--options is no YAML: {error}")));
            }
            None => serde_yaml::Value::Null,
        };
        let again = |seed| match &self.file {
            Some(file) => format!("{} --seed {seed} --runs 1", quoted_path(file)),
            None => {
                let command: Vec<String> = self.command.iter().map(|word| quoted(word)).collect();
                format!("--seed {seed} --runs 1 -- {}", command.join(" "))
            }
        };
        let subject = Subject::Program { command, options, timeout: self.timeout };
        let mut flaws = Vec::new();
        let tally = self.cases.hunt(subject, None, real(self.shrink), &registry, |flaw| {
            flaws.push(flaw.clone());
            show(flaw, &again(flaw.seed), self.out.as_deref())
        })?;
        let json = self.json.then(|| as_json(tally, &flaws).to_string());
        let ways = flaws.len() as u64;
        let found = format!("the policy is wrong in {}", counted(ways, "way"));
        close(&summary_lines(tally, ways == 0, again), json, (0 < ways).then_some(found))
    }
}

/// Prints a mistake, and the command that shows it again.
fn show(flaw: &HuntCatch, again: &str, folder: Option<&Path>) -> Result<(), Failure> {
    let HuntCatch { seed, cases, words, said, yaml } = flaw;
    let mut lines = TerminalLines::default();
    let mut words = words.lines();
    let of = format!(" (in {})", counted(*cases, "case"));
    lines.bold(format!("case {seed}: "), words.next().unwrap_or_default().to_owned() + &of);
    words.for_each(|line| lines.line(line));
    said.iter().for_each(|line| lines.line(format!("  said     {line}")));
    lines.line(format!("  again    mumakil policy try {again}"));
    if let Some(folder) = folder {
        let name = format!("try-{seed}.yaml");
        write_file(folder, &name, yaml.as_bytes())?;
        lines.line(format!("  or       mumakil run {} --verify", quoted_path(&folder.join(name))));
    } else {
        lines.line("  scenario");
        yaml.lines().for_each(|line| lines.line(format!("    {line}")));
    }
    lines.line("");
    Ok(terminal::print(&lines)?)
}

/// Returns a line about the cases, and about the program's speed.
fn summary_lines(tally: HuntTally, is_right: bool, again: impl Fn(u64) -> String) -> TerminalLines {
    let HuntTally { external_work, real, .. } = tally;
    let mut rest = String::new();
    if is_right {
        rest = format!(", {}, nothing wrong", counted(external_work.questions, "question"));
    }
    let mut lines = TerminalLines::default();
    lines.bold(counted(tally.runs, "case"), rest);
    if 0 < tally.unended {
        let cases = counted(tally.unended, "case");
        lines.line(format!(
            "  {cases} reached two days of simulated time or 20 s of real time, which counts as no mistake:"
        ));
        let others = tally.unended - tally.unended_own;
        if 0 < others {
            lines.line(format!("    {others} would not end under `fifo` either"));
        }
        if let Some(seed) = tally.first_unended_own {
            lines.line(format!(
                "    {} would end under `fifo`: your policy is slower there, or leaves jobs waiting (see {})",
                tally.unended_own, again(seed),
            ));
        }
    }
    if 0 < external_work.questions {
        lines.line(format!(
            "  it answers {} questions a second; {} of the time is the policy's",
            count(external_work.per_second() as u64),
            percent(external_work.share_of(real))
        ));
    }
    lines
}

fn as_json(tally: HuntTally, flaws: &[HuntCatch]) -> serde_json::Value {
    let HuntTally { runs, unended, unended_own, external_work, real, .. } = tally;
    let has_answered = 0 < external_work.questions;
    json!({
        "runs": runs,
        "questions": external_work.questions,
        "unended": unended,
        "unended_own": unended_own,
        "questions_per_s": has_answered.then(|| external_work.per_second()),
        "share_of_time": has_answered.then(|| external_work.share_of(real)),
        "wrong": flaws,
    })
}
