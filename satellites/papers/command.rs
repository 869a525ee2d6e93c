//! `mumakil papers`: repeats the published experiments and judges the results.

use std::path::{Path, PathBuf};

use crate::{
    ExperimentFile, FileOutcome, LIST, ListedExperiment, RepeatedExperiment, VerdictRow,
    VerdictTally,
};
use mumakil_base::files::REPORT;
use mumakil_base::nearest::nearest;
use mumakil_cli::Program;
use mumakil_cli::failure::Failure;
use mumakil_cli::form::print_json;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::open::OpenOption;
use mumakil_cli::progress::StudyBar;
use mumakil_cli::study::sabotage::{self, SabotageTally};
use mumakil_cli::study::{AtWork, PaceOptions, StudySession};
use mumakil_cli::table::{lines_of_table, markdown};
use mumakil_cli::{terminal, verdicts};
use mumakil_draw::page::{Judgement, PageCell, PageColumn};
use mumakil_results::expect::ExpectationVerdict;
use mumakil_scenario::Registry;
use mumakil_study::{BroughtFiles, Study, conclude};

/// Repeat the papers' experiments and say whether their effects show
///
/// Each experiment is a study or a scenario with expectations, taken from the published result. Runs
/// that are done already are not done again. Where the seeds of a file leave an expectation undecided,
/// more are run, up to four times as many.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil papers                    all of them
  mumakil papers DS-F1 MK-19        these
  mumakil papers delay-scheduling   a paper's
  mumakil papers --quick --json
  mumakil papers --sabotage H-F1    would it fail if the policy were wrong?

Exit codes:
  0  every expectation holds, is a known gap or is undecided
  1  an expectation fails, or a run failed; with --sabotage, a sabotage is not noticed, or an
     expectation holds under every sabotage
  2  an experiment or the command line is wrong
  3  the environment is at fault, or Mumakil itself")]
pub(super) struct PapersArguments {
    /// Ids of experiments, or the folder of a paper [default: all]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Fewer seeds: a first look, in minutes, which leaves more undecided
    #[arg(long)]
    quick: bool,
    /// Try the wrong policies and settings that each experiment names: which expectations fail
    /// under each, and which never do
    #[arg(long)]
    sabotage: bool,
    /// Try the mutants whose names begin so, or all
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, num_args = 0.., value_delimiter = ',', require_equals = true)]
    mutants: Option<Vec<String>>,
    /// Print an array of {id, expectation, published, measured, verdict, gap_class, figures}; with
    /// --sabotage of {id, sabotage, noticed, by}
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a line for each experiment, as a table in Markdown
    #[arg(long)]
    markdown: bool,
    /// The folder for the results
    #[arg(long, value_name = "DIR", default_value = "out/papers")]
    out: PathBuf,
    /// A folder of experiments, instead of those that Mumakil brings
    #[arg(long, value_name = "DIR")]
    scenarios: Option<PathBuf>,
    #[command(flatten)]
    pace: PaceOptions,
    #[command(flatten)]
    open: OpenOption,
}

impl PapersArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        #[cfg(debug_assertions)]
        if let Some(chosen) = &self.mutants {
            let Self { quick, json, pace, .. } = self;
            return crate::mutants::MutantTrial { chosen, quick, json, pace, registry }.run();
        }
        let files = crate::files(self.scenarios.as_deref()).map_err(|error| {
            let folder = self.scenarios.as_deref().unwrap_or(Path::new("")).display().to_string();
            Failure::Input(anyhow::Error::new(error).context(format!("cannot read {folder}")))
        })?;
        let mut experiments = Vec::new();
        for file in files {
            experiments.extend(file.listed()?.map(|listed| (listed, file)));
        }
        let chosen = self.chosen(&experiments)?;
        // Check before any run: a folder with other content is refused, not mixed with results.
        crate::check(&self.out)?;
        let (bar, at_work) = (StudyBar::new("run", false), AtWork::default());
        at_work.guard(&bar.bar);
        let mut repeated = Vec::new();
        for listed in chosen {
            let ListedExperiment { id, what } = listed;
            let mut experiment = RepeatedExperiment {
                id: id.to_owned(),
                what: what.to_owned(),
                published: String::new(),
                files: Vec::new(),
            };
            for (_, file) in experiments.iter().filter(|(of, _)| *of == listed) {
                self.repeat(file, &mut experiment, registry, &bar, &at_work)?;
            }
            // The experiment is listed but has no file: report that instead of leaving the
            // experiment out.
            if experiment.files.is_empty() {
                let why = "no scenario repeats it yet".to_owned();
                experiment.files.push(FileOutcome::Skipped(why));
            }
            repeated.push(experiment);
        }
        bar.clear();
        crate::report(&repeated, &self.out)?;
        self.open.show(&self.out.join(REPORT));
        let rows: Vec<VerdictRow> = repeated.iter().flat_map(RepeatedExperiment::rows).collect();
        let noticed = SabotageTally::of(repeated.iter().flat_map(RepeatedExperiment::teeth));
        self.print(&repeated, &rows, noticed)?;
        verdicts::fail_if_any(rows.iter().filter(|row| row.verdict == Judgement::Fails).count())?;
        noticed.judge()
    }

    /// Returns the experiments that the user asks for, in the order of the list.
    fn chosen(
        &self,
        files: &[(ListedExperiment, ExperimentFile)],
    ) -> Result<Vec<ListedExperiment>, Failure> {
        let paper = |listed: &ListedExperiment, name: &str| {
            files.iter().any(|(of, file)| {
                let folder = file.path.parent().and_then(Path::file_name).unwrap_or_default();
                folder == name && of == listed
            })
        };
        let asked =
            |listed: &ListedExperiment, name: &String| listed.id == name || paper(listed, name);
        for name in &self.ids {
            if !LIST.iter().any(|listed| asked(listed, name)) {
                let known = LIST.iter().map(|listed| listed.id);
                let near = nearest(name, known.clone());
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
                };
                return Err(Failure::input(format!("no experiment `{name}`; {hint}")));
            }
        }
        let all = self.ids.is_empty();
        let asked_for =
            LIST.iter().filter(|listed| all || self.ids.iter().any(|name| asked(listed, name)));
        Ok(asked_for.copied().collect())
    }

    fn repeat(
        &self,
        file: &ExperimentFile,
        experiment: &mut RepeatedExperiment,
        registry: &Registry,
        bar: &StudyBar,
        at_work: &AtWork,
    ) -> Result<(), Failure> {
        // The file itself names the folder of its traces, so read it twice: first without the
        // traces.
        let about = Study::of_any(file.draft(None)?)?.experiment.unwrap_or_default();
        experiment.published.clone_from(&about.published);
        let folder = match &about.needs {
            None => None,
            Some(needs) => match mumakil_study::needed_folder(needs) {
                Some(folder) => Some(folder),
                None => {
                    let why = missing(needs);
                    bar.beside(|| terminal::warn(&format!("{} is skipped: {why}", experiment.id)));
                    experiment.files.push(FileOutcome::Skipped(why));
                    return Ok(());
                }
            },
        };
        let mut study = Study::of_any(file.draft(folder.as_deref())?)?;
        if self.quick {
            study.limit_seeds(about.quick_seeds);
        }
        let out = self.out.join(study.name.as_str());
        let mut session = StudySession::new(out, None, self.pace, registry, bar, at_work)?;
        let mut most = None;
        let (sheet, concluded) = loop {
            session.keep(study.clone(), BroughtFiles::Links);
            let sheet = session.run(&study, true)?;
            let concluded = conclude(&sheet, &session.store, &session.out)?;
            let most = *most.get_or_insert(MOST_TIMES * sheet.seeds.len());
            let wanted = wanted_seeds(&concluded.findings.verdicts, sheet.seeds.len(), most);
            if self.quick || !wanted.is_some_and(|seeds| study.raise_seeds(seeds)) {
                break (sheet, Box::new(concluded));
            }
        };
        // Hide the bar meanwhile, or it would overwrite the warning.
        for doubt in session.doubts() {
            bar.beside(|| terminal::warn(&format!("{}: {doubt}", experiment.id)));
        }
        let plain = &concluded.findings.verdicts;
        let teeth = self.sabotage.then(|| session.sabotage(&study, plain)).transpose()?;
        session.ends()?;
        experiment.files.push(FileOutcome::Run { sheet: Box::new(sheet), concluded, teeth });
        Ok(())
    }

    fn print(
        &self,
        repeated: &[RepeatedExperiment],
        rows: &[VerdictRow],
        noticed: SabotageTally,
    ) -> Result<(), Failure> {
        if self.json {
            if self.sabotage {
                let all = repeated.iter().flat_map(RepeatedExperiment::sabotages);
                return print_json(&all.collect::<Vec<_>>());
            }
            return print_json(&rows);
        }
        let tally = VerdictTally::of(rows);
        if self.markdown {
            let mut table = crate::summary(repeated);
            let mut sum = format!("{tally}.");
            if self.sabotage {
                sum += &format!(" {noticed}.");
                table.columns.push(PageColumn::text("sabotages"));
                for (row, experiment) in table.rows.iter_mut().zip(repeated) {
                    row.push(PageCell::text(SabotageTally::of(experiment.teeth()).noticed()));
                }
            }
            return Ok(terminal::print(
                &(markdown(&table) + TerminalLines::of("") + TerminalLines::of(sum)),
            )?);
        }
        let mut lines = TerminalLines::default();
        if self.sabotage {
            for experiment in repeated {
                lines.bold(&experiment.id, format!("   {}", experiment.what));
                lines += experiment.teeth().map(sabotage::tell).sum();
            }
            lines.line(noticed.to_string());
        } else {
            lines = lines_of_table(&crate::overview(rows), usize::MAX);
            lines.end();
            lines.line(tally.to_string());
        }
        Ok(terminal::print(&(lines + terminal::results_line(&self.out, REPORT)))?)
    }
}

/// How many times the seeds of its file an experiment may have, to be decided.
// Chosen: all experiments then take a little more than twice as long.
const MOST_TIMES: usize = 4;

/// Returns how many seeds would decide more expectations; `None` if that is more than `most`.
fn wanted_seeds(verdicts: &[ExpectationVerdict], seeds: usize, most: usize) -> Option<usize> {
    let wanted = verdicts.iter().filter_map(|found| Some(seeds + found.more_seeds?));
    wanted.filter(|wanted| *wanted <= most).max()
}

/// Returns why an experiment is skipped that `needs` a folder.
fn missing(needs: &str) -> String {
    match needs.split_once('/') {
        None => {
            format!("it needs files in a folder that {needs} names; `scenarios/papers` says which")
        }
        Some((variable, folder)) => format!(
            "it needs the folder `{folder}`, in the folder that {variable} names or beside it"
        ),
    }
}
