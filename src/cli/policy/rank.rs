//! `mumakil policy rank`: many policies on one suite, the best first.

use serde_json::json;

use super::contest::{self, ContestOptions};
use super::contestant::contestants;
use super::score::{as_json, now};
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::study::{ElsewhereArguments, ElsewhereStudy};
use crate::cli::table::{Align, table};
use crate::cli::terminal;
use crate::scenario::Registry;
use crate::shell::quoted;
use crate::study::{BroughtFiles, Contest, ScoredContest, Verdict, shown_ratio};

/// Rank policies: score all of a folder on a suite
///
/// All policies serve the same jobs. The page has the ranking, mean against tail, and which policy
/// is best where. Runs are kept, so a further policy costs only its own runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil policy rank policies/
  mumakil policy rank policies/ fifo fair hfsp --suite standard
  mumakil policy rank policies/ --on slurm --wait

Exit codes:
  0  done; policies that are out of the contest are told
  1  a run of a baseline failed
  2  the suite, a policy or the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(super) struct PolicyRankArguments {
    /// Folders of policies, files, or names of policies
    #[arg(value_name = "DIR", required = true)]
    policies: Vec<String>,
    #[command(flatten)]
    options: ContestOptions,
    /// Print the ranking as a table in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    #[command(flatten)]
    on: ElsewhereArguments,
}

impl PolicyRankArguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let began = now();
        let options = &self.options;
        let registry = contest::boxing(registry);
        let contest = options.contest(&contestants(&self.policies, &registry)?, &registry)?;
        if self.on.on.is_some() {
            let out = options.out(&contest);
            let work = ElsewhereStudy {
                study: &contest.study,
                out: &out,
                form: None,
                bring: BroughtFiles::FromElsewhere,
                pace: options.pace(&contest),
                quiet: options.json,
            };
            let waits = self.on.waits();
            let done = self.on.clone().run(&work, &registry);
            match done {
                // The runs of a policy may fail: that is told with the ranking.
                Err(Failure::Run(_)) if waits => {}
                done => done?,
            }
            if !waits {
                return Ok(());
            }
        }
        options.run(contest, &registry, true, |done, scored| {
            let policies: Vec<String> = self.policies.iter().map(|word| quoted(word)).collect();
            let command = format!("mumakil policy rank {} {}", policies.join(" "), options.again());
            options.write_page(&done.out, scored, &[], &command)?;
            if options.json {
                let seconds = began.elapsed().as_secs_f64();
                let all: Vec<_> =
                    scored.ranked().iter().map(|score| as_json(score, &[], seconds)).collect();
                return Ok(terminal::print_file(&format!("{:#}\n", json!(all)))?);
            }
            if self.markdown {
                return Ok(terminal::print(&markdown(scored))?);
            }
            let lines = tell(&done.contest, scored) + contest::sandbox(&done.contest, &registry);
            contest::print(lines, &done.out)
        })
    }
}

/// Returns the rows of the ranking, with a head.
fn rows(scored: &ScoredContest<'_>) -> Vec<Vec<String>> {
    let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "–".to_owned(), shown_ratio);
    let ranked = scored.ranked();
    let held_back = ranked.iter().any(|score| score.held_back.is_some());
    let mut head = vec!["policy".to_owned(), "total".to_owned()];
    head.extend(held_back.then(|| "held back".to_owned()));
    head.extend(["mean".to_owned(), "tail".to_owned()]);
    head.extend(ranked[0].scenarios.iter().map(|one| one.name.clone()));
    let mut rows = vec![head];
    for score in ranked {
        let mut row = vec![
            score.title(),
            match score.verdict() {
                Verdict::Scored => ratio(score.total),
                other => other.words().to_owned(),
            },
        ];
        row.extend(held_back.then(|| ratio(score.held_back)));
        row.extend(scored.mean_and_tail(score).map(ratio));
        row.extend(score.scenarios.iter().map(|one| ratio(one.ratio)));
        rows.push(row);
    }
    rows
}

fn tell(contest: &Contest, scored: &ScoredContest<'_>) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let about = "   ratios to the best baseline of each scenario; below 1 is better".to_owned();
    lines.bold(format!("suite {}", contest.suite.name), about);
    let rows = rows(scored);
    let align: Vec<Align> =
        std::iter::once(Align::Left).chain((1..rows[0].len()).map(|_| Align::Right)).collect();
    lines += table(&rows, &align);
    for score in scored.ranked() {
        for why in score.reasons() {
            let (policy, verdict) = (&score.policy, score.verdict().words());
            let mut words = why.lines();
            lines.line(format!("  {policy} is {verdict}: {}", words.next().unwrap_or_default()));
            words.for_each(|line| lines.line(format!("    {line}")));
        }
    }
    lines
}

/// Returns the ranking as a table in Markdown.
fn markdown(scored: &ScoredContest<'_>) -> TerminalLines {
    let mut lines = TerminalLines::default();
    for (number, row) in rows(scored).iter().enumerate() {
        lines.line(format!("| {} |", row.join(" | ")));
        if number == 0 {
            let rule: Vec<&str> = row
                .iter()
                .enumerate()
                .map(|(place, _)| if place == 0 { "---" } else { "---:" })
                .collect();
            lines.line(format!("| {} |", rule.join(" | ")));
        }
    }
    lines
}
