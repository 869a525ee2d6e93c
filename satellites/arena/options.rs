//! The common code of `mumakil policy score` and `policy rank`: the suite, its runs, the page.

use std::path::{Path, PathBuf};

use crate::{Contest, SUITES, ScoreError, ScoredContest, Suite};
use mumakil_base::nearest::nearest;
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::open::OpenOption;
use mumakil_cli::policy::contestant::Contestant;
use mumakil_cli::progress::StudyBar;
use mumakil_cli::study::{AtWork, PaceOptions, StudySession};
use mumakil_cli::table::lines_of;
use mumakil_cli::terminal;
use mumakil_core::mapred::ProgramPermit;
use mumakil_external::sandbox::SandboxParts;
use mumakil_run::output::write_file;
use mumakil_scenario::{Draft, Registry};
use mumakil_study::{BroughtFiles, Plan, StudyManifest};

/// The options of a contest.
#[derive(Debug, Default, clap::Args)]
pub(super) struct ContestOptions {
    /// The suite: small, standard, papers or hostile, or a file
    #[arg(long, value_name = "SUITE", default_value = "small")]
    pub(super) suite: String,
    /// Also use seeds that this text decides: a policy that nobody has tuned to them should be as
    /// good there
    #[arg(long, value_name = "TEXT")]
    pub(super) key: Option<String>,
    /// The folder for runs and page; runs of baselines are not done twice [default: out/score-SUITE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) pace: PaceOptions,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    open: OpenOption,
}

/// A contest whose runs are done, or have failed.
pub(super) struct DoneContest {
    pub(super) contest: Contest,
    pub(super) plan: Plan,
    pub(super) sheet: StudyManifest,
    pub(super) out: PathBuf,
}

impl ContestOptions {
    pub(super) fn contest(
        &self,
        contestants: &[Contestant],
        registry: &Registry,
    ) -> Result<Contest, Failure> {
        Ok(Contest::new(suite(&self.suite)?, contestants, self.key.as_deref(), registry)?)
    }

    pub(super) fn out(&self, contest: &Contest) -> PathBuf {
        self.out.clone().unwrap_or_else(|| format!("out/{}", contest.study.name).into())
    }

    /// Returns the pace of the runs: policies that are scored are watched.
    pub(super) fn pace(&self, contest: &Contest) -> PaceOptions {
        let mut pace = self.pace.limited(contest.suite.limits.run);
        pace.verify = true;
        pace
    }

    /// Does the runs of a contest, and hands the scores to `show`. Keeps the runs of baselines and
    /// bounds, or those of all policies.
    pub(super) fn run<T>(
        &self,
        contest: Contest,
        registry: &Registry,
        keeps_all: bool,
        show: impl FnOnce(&DoneContest, &ScoredContest<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let out = self.out(&contest);
        let (bar, at_work) = (StudyBar::new("run", self.json), AtWork::default());
        at_work.guard(&bar.bar);
        let pace = self.pace(&contest);
        let mut session = StudySession::new(out.clone(), None, pace, registry, &bar, &at_work)?;
        session.keep(contest.study.clone(), BroughtFiles::Links);
        let (plan, sheet) = session.run_all(&contest.study)?;
        bar.clear();
        let store = session.store.clone();
        let done = DoneContest { contest, plan, sheet, out };
        let scored = ScoredContest::of(&done.contest, &done.plan, &done.sheet, &store, registry)?;
        let shown = show(&done, &scored);
        if !keeps_all {
            // A search scores thousands of policies: their runs would fill the disk.
            let own = done.contest.own_cells();
            let cells = done.sheet.cells.iter().filter(|cell| own.contains(&cell.values));
            let runs: Vec<&str> = cells.flat_map(|cell| &cell.runs).map(String::as_str).collect();
            session.remove(&runs)?;
        }
        session.ends()?;
        shown
    }

    pub(super) fn write_page(
        &self,
        (folder, page): (&Path, &str),
        scored: &ScoredContest<'_>,
        feedback: &[String],
        command: &str,
    ) -> Result<(), Failure> {
        write_file(folder, page, scored.page(feedback, command).html().as_bytes())?;
        self.open.show(&folder.join(page));
        Ok(())
    }

    /// Returns the words of the command line that repeat a contest, after the policies.
    pub(super) fn again(&self) -> String {
        // The key stays a secret.
        let key = if self.key.is_some() { " --key KEY" } else { "" };
        format!("--suite {}{key}", mumakil_base::shell::quoted(&self.suite))
    }
}

/// Returns a registry that starts programs in a sandbox alone, if it may start any. It does not warn of
/// them: the user has named them, or their folder, on the command line.
pub(super) fn boxing(registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    if registry.permit().refusal().is_none() {
        registry.permit_programs(ProgramPermit::Boxed);
    }
    registry
}

/// Returns the lines of a contest, and about the sandbox of policies that are programs.
pub(super) fn lines(
    done: &DoneContest,
    scored: &ScoredContest<'_>,
    feedback: &[String],
    registry: &Registry,
) -> TerminalLines {
    let mut lines = TerminalLines::default();
    lines.bold(scored.title(), "");
    scored.gist().iter().for_each(|sentence| lines.line(format!("  {sentence}")));
    lines += lines_of(&scored.sections(feedback), usize::MAX);
    if let Some(launcher) = registry.launcher.as_deref().filter(|_| done.contest.starts_program) {
        lines.line(format!("  sandbox  {}", SandboxParts::of_system(launcher).words()));
    }
    lines
}

/// Returns the suite that the user names: a file, or one that Mumakil brings.
fn suite(named: &str) -> Result<Suite, Failure> {
    let path = Path::new(named);
    if path.is_file() {
        return Ok(Suite::of(&Draft::read(path)?)?);
    }
    if let Some(suite) = SUITES.iter().find(|suite| suite.name == named) {
        return Ok(Suite::of(&Draft::of(suite.name, suite.text)?)?);
    }
    let names = SUITES.iter().map(|suite| suite.name);
    let hint = match nearest(named, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mumakil show small` shows how a suite is written".to_owned(),
    };
    Err(Failure::input(format!(
        "no suite `{named}`: there is no such file, and Mumakil brings {}\n   = {hint}",
        names.collect::<Vec<_>>().join(", ")
    )))
}

impl From<ScoreError> for Failure {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::Conclude(error) => error.into(),
            ScoreError::Emulation(error) => error.into(),
            ScoreError::Baseline(words) => Self::run(words),
        }
    }
}

/// Prints what a contest has found, and where its page is.
pub(super) fn print(lines: TerminalLines, (folder, page): (&Path, &str)) -> Result<(), Failure> {
    Ok(terminal::print(&(lines + terminal::results_line(folder, page)))?)
}
