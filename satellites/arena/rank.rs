//! `mumakil policy rank`: many policies on one suite, the best first.

use std::fs;
use std::path::{Path, PathBuf};

use super::options::{self, ContestOptions};
use super::score::{as_json, now};
use mumakil_base::shell::quoted;
use mumakil_cli::failure::Failure;
use mumakil_cli::form::print_json;
use mumakil_cli::policy::contestant::{Contestant, command_of, contestant, is_yaml};
use mumakil_cli::study::{ElsewhereOptions, ElsewhereStudy, OtherProgress};
use mumakil_cli::table::markdown;
use mumakil_cli::{Program, file, terminal};
use mumakil_scenario::Registry;
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
            // The page of a score, in the same folder, stays.
            let page = (&*done.out, "rank.html");
            options.write_page(page, scored, &[], &command)?;
            if options.json {
                let seconds = began.elapsed().as_secs_f64();
                let all: Vec<_> =
                    scored.ranked().iter().map(|score| as_json(score, &[], seconds)).collect();
                return print_json(&all);
            }
            if self.markdown {
                return Ok(terminal::print(&markdown(&scored.ranking()))?);
            }
            options::print(options::lines(done, scored, &[], &registry), page)
        })
    }
}

/// Returns the policies that the user names: files, names, and all policies of folders.
fn contestants(named: &[String], registry: &Registry) -> Result<Vec<Contestant>, Failure> {
    let mut all: Vec<Contestant> = Vec::new();
    for one in named {
        let path = Path::new(one);
        let found = match path.is_dir() {
            true => of_folder(path, registry)?,
            false => vec![contestant(one, registry)?],
        };
        for one in found {
            if all.iter().any(|other| other.name == one.name) {
                return Err(Failure::input(format!("two policies are called `{}`", one.name)));
            }
            all.push(one);
        }
    }
    Ok(all)
}

/// Returns the policies of a folder: its scripts, its programs and its files with formulas.
fn of_folder(folder: &Path, registry: &Registry) -> Result<Vec<Contestant>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| file::cannot(folder, error))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // The system lists them in any order.
    found.sort();
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_file() && !name.starts_with('.') && (is_yaml(path) || command_of(path).is_ok())
    });
    if found.is_empty() {
        let shown = folder.display();
        return Err(Failure::input(format!(
            "there is no policy in {shown}\n   = a policy is a script, a program, or a file such as \
             mine.yaml with the value of `scheduler:`"
        )));
    }
    found.iter().map(|path| contestant(&path.to_string_lossy(), registry)).collect()
}
