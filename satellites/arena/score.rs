//! `mumakil policy score`: how good a policy is, beside others on a suite of scenarios.

use std::time::Instant;

use serde_json::json;

use super::options::{self, ContestOptions};
use crate::page::shown;
use crate::scores::PolicyScore;
use crate::{ScoredContest, Verdict};
use mumakil_base::files::REPORT;
use mumakil_base::shell::quoted;
use mumakil_base::units::tell::counted;
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::policy::contestant::contestant;
use mumakil_cli::{Program, terminal};
use mumakil_core::mapred::PolicyFailed;

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
pub(super) struct PolicyScoreArguments {
    /// The policy: a script (.py, .jl, .sh) or a program, a file such as mine.yaml with the value of
    /// `scheduler:`, or the name of a policy
    #[arg(value_name = "POLICY")]
    policy: String,
    #[command(flatten)]
    options: ContestOptions,
    /// Fail unless the score is below this number
    #[arg(long, value_name = "NUMBER")]
    below: Option<f64>,
}

impl PolicyScoreArguments {
    /// Scores the policy and prints the score.
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let began = now();
        let options = &self.options;
        let registry = options::boxing(&program.registry);
        let contest = options.contest(&[contestant(&self.policy, &registry)?], &registry)?;
        options.run(contest, &registry, false, |done, scored| {
            let score = &scored.scores[0];
            let feedback = scored.feedback(&score.policy, &registry)?;
            let command =
                format!("mumakil policy score {} {}", quoted(&self.policy), options.again());
            let page = (&*done.out, REPORT);
            options.write_page(page, scored, &feedback, &command)?;
            if options.json {
                let told = as_json(score, &feedback, began.elapsed().as_secs_f64());
                terminal::print_file(&format!("{told:#}\n"))?;
            } else {
                let mut lines = options::lines(done, scored, &feedback, &registry);
                lines += cost(scored, &score.policy)?;
                options::print(lines, page)?;
            }
            let (policy, reasons) = (&score.policy, score.disqualified.len() as u64);
            match score.verdict() {
                Verdict::Scored => self.judge(score.total),
                Verdict::NotJudged => Err(Failure::environment(format!(
                    "`{policy}` is not judged: {}",
                    PolicyFailed::BUSY
                ))),
                Verdict::Out => Err(Failure::run(format!(
                    "`{policy}` is out of the contest, for {}",
                    counted(reasons, "reason")
                ))),
            }
        })
    }

    /// Returns a failure if the score should be below a number and is not.
    fn judge(&self, total: Option<f64>) -> Result<(), Failure> {
        let Some(below) = self.below.filter(|below| total.is_none_or(|total| *below <= total))
        else {
            return Ok(());
        };
        let total = total.map_or_else(|| "–".to_owned(), shown);
        Err(Failure::run(format!("the total is {total} and should be below {}", shown(below))))
    }
}

/// Returns a score as JSON, for programs that search for policies.
pub(super) fn as_json(score: &PolicyScore, feedback: &[String], seconds: f64) -> serde_json::Value {
    let mut told = json!(score);
    told["feedback"] = json!(feedback);
    told["seconds"] = json!(seconds);
    told
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
