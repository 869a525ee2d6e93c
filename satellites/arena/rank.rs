//! `mumakil policy rank`: many policies on one suite, the best first.

use super::options::{self, ContestOptions};
use super::score::{as_json, now};
use mumakil_base::shell::quoted;
use mumakil_cli::failure::Failure;
use mumakil_cli::form::print_json;
use mumakil_cli::policy::contestant::contestants;
use mumakil_cli::study::{ElsewhereOptions, ElsewhereStudy, OtherProgress};
use mumakil_cli::table::markdown;
use mumakil_cli::{Program, terminal};
use mumakil_study::BroughtFiles;

/// Rank policies: score all of a folder on a suite
///
/// All policies serve the same jobs. The page has the ranking, mean against tail, and which policy
/// is best where. Runs are kept, so a further policy costs only its own runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil policy rank policies/
  mumakil policy rank policies/ fifo fair hfsp --suite standard

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
    elsewhere: ElsewhereOptions,
}

impl PolicyRankArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        let began = now();
        let options = &self.options;
        let registry = options::boxing(registry);
        let contest = options.contest(&contestants(&self.policies, &registry)?, &registry)?;
        if let Some((elsewhere, chosen)) = self.elsewhere.chosen(program) {
            let out = options.out(&contest);
            let work = ElsewhereStudy {
                study: &contest.study,
                out: &out,
                form: None,
                bring: BroughtFiles::FromElsewhere,
                pace: options.pace(&contest),
                quiet: options.json,
            };
            match elsewhere.run(chosen, &work, &registry)? {
                OtherProgress::Given => return Ok(()),
                // The runs of a policy may fail: that is told with the ranking.
                OtherProgress::Ended(Err(Failure::Run(_))) => {}
                OtherProgress::Ended(how) => how?,
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
                return print_json(&all);
            }
            if self.markdown {
                return Ok(terminal::print(&markdown(&scored.ranking()))?);
            }
            options::print(options::lines(done, scored, &[], &registry), &done.out)
        })
    }
}
