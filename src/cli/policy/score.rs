//! `mumakil policy score`: how good a policy is, beside others on a suite of scenarios.

use std::time::Instant;

use serde_json::json;

use super::contest::{self, ContestOptions};
use super::contestant::contestant;
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::table::{Align, table};
use crate::cli::terminal;
use crate::external::BUSY;
use crate::scenario::Registry;
use crate::shell::quoted;
use crate::study::{Contest, PolicyScore, ScoredContest, Verdict, shown_ratio};
use crate::units::tell::counted;

/// Score a policy of your own, beside others on a suite of scenarios
///
/// The policy serves each scenario with several seeds, and so do the suite's baselines and its
/// bound, with the same jobs and the same random numbers. The score is the geometric mean of the
/// policy's ratios to the best baseline: below 1, it is better. A policy that is a program runs in
/// a sandbox, twice with each seed, and is out of the contest if it breaks a rule.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil policy score mine.py
  mumakil policy score ageing.yaml --suite standard --key 'nobody knows'
  mumakil policy score fair --json

Exit codes:
  0  the policy has a score
  1  it is out of the contest, or a run of a baseline failed: why is printed
  2  the suite, the policy or the command line is wrong
  3  the environment is at fault, such as a full disk or a machine that is too busy to judge the
     policy, or Mumakil itself")]
pub(in crate::cli) struct PolicyScoreArguments {
    /// The policy: a script (.py, .jl, .sh) or a program, a file such as mine.yaml with the value of
    /// `scheduler:`, or the name of a policy
    #[arg(value_name = "POLICY")]
    policy: String,
    #[command(flatten)]
    options: ContestOptions,
}

impl PolicyScoreArguments {
    /// Returns the arguments that score a policy on a suite.
    pub(in crate::cli) fn of(policy: String, suite: &str) -> Self {
        Self { policy, options: ContestOptions::of(suite) }
    }

    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        self.total(registry).map(drop)
    }

    /// Scores the policy, prints the score, and returns its total; `None` if a scenario has no
    /// ratio.
    pub(in crate::cli) fn total(self, registry: &Registry) -> Result<Option<f64>, Failure> {
        let began = now();
        let options = &self.options;
        let registry = contest::boxing(registry);
        let contest = options.contest(&[contestant(&self.policy, &registry)?], &registry)?;
        options.run(contest, &registry, false, |done, scored| {
            let score = &scored.scores[0];
            let feedback = scored.feedback(&score.policy, &registry)?;
            let command =
                format!("mumakil policy score {} {}", quoted(&self.policy), options.again());
            options.write_page(&done.out, scored, &feedback, &command)?;
            if options.json {
                let told = as_json(score, &feedback, began.elapsed().as_secs_f64());
                terminal::print_file(&format!("{told:#}\n"))?;
            } else {
                let mut lines = tell(&done.contest, score);
                lines += told_below("where it loses", &feedback);
                lines += contest::sandbox(&done.contest, &registry);
                lines += cost(scored, &score.policy)?;
                contest::print(lines, &done.out)?;
            }
            let (policy, reasons) = (&score.policy, score.disqualified.len() as u64);
            match score.verdict() {
                Verdict::Scored => Ok(score.total),
                Verdict::NotJudged => {
                    Err(Failure::environment(format!("`{policy}` is not judged: {BUSY}")))
                }
                Verdict::Out => Err(Failure::run(format!(
                    "`{policy}` is out of the contest, for {}",
                    counted(reasons, "reason")
                ))),
            }
        })
    }
}

/// Returns a score as JSON, for programs that search for policies.
pub(super) fn as_json(score: &PolicyScore, feedback: &[String], seconds: f64) -> serde_json::Value {
    let mut told = json!(score);
    told["feedback"] = json!(feedback);
    told["seconds"] = json!(seconds);
    told
}

fn tell(contest: &Contest, score: &PolicyScore) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let about = format!("   on the suite {}", contest.suite.name);
    lines.bold(score.title(), about);
    let head = ["scenario", "number", "ratio", "95 % interval", "to", "ratio", "to the bound"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows[0].extend(score.held_back.map(|_| "held back".to_owned()));
    let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "–".to_owned(), shown_ratio);
    for (one, (goal, bound)) in score.scenarios.iter().zip(contest.goals()) {
        let band = one.low.zip(one.high);
        let band = band.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{} to {}", shown_ratio(low), shown_ratio(high)),
        );
        let (best, bound) = (one.best.clone(), bound.to_owned());
        let (ratio_to_best, ratio_to_bound) = (ratio(one.ratio), ratio(one.bound));
        let mut row =
            vec![one.name.clone(), goal, ratio_to_best, band, best, ratio_to_bound, bound];
        row.extend(score.held_back.map(|_| ratio(one.held_back)));
        rows.push(row);
    }
    use Align::{Left, Right};
    lines += table(&rows, &[Left, Left, Right, Right, Left, Right, Left, Right][..rows[0].len()]);
    lines.bold(
        "  total    ",
        match score.total {
            Some(total) => format!("{} (below 1 is better)", shown_ratio(total)),
            None if !score.disqualified.is_empty() => "– (out of the contest)".to_owned(),
            None => "– (a scenario has no ratio)".to_owned(),
        },
    );
    if let Some(held_back) = score.held_back {
        let words = score.over_fitting().unwrap_or_default();
        lines.line(format!("  held back {}: {words}", shown_ratio(held_back)));
    }
    let heading = match score.verdict() {
        Verdict::NotJudged => "not judged",
        _ => "out of the contest",
    };
    lines + told_below(heading, &score.disqualified)
}

/// Returns sentences below a heading; nothing without sentences.
fn told_below(heading: &str, sentences: &[String]) -> TerminalLines {
    let mut lines = TerminalLines::default();
    if !sentences.is_empty() {
        lines.line(format!("  {heading}"));
    }
    for line in sentences.iter().flat_map(|sentence| sentence.lines()) {
        lines.line(format!("    {line}"));
    }
    lines
}

/// Returns a line about the time that a policy takes.
fn cost(scored: &ScoredContest<'_>, policy: &str) -> Result<TerminalLines, Failure> {
    Ok(match scored.cost(policy)? {
        Some(words) => TerminalLines::of(format!("  cost     {words}")),
        None => TerminalLines::default(),
    })
}

#[expect(clippy::disallowed_methods, reason = "users wait by the wall clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}
