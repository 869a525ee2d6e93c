//! `mumakil papers --mutants`: tries wrong versions of single mechanisms on the experiments that should notice them.
//!
//! ```text
//! mutants.yaml   hfsp/limits: {what: virtual jobs may use all slots, files: [H-F2-limits]}
//! the source     mutated!(size.tasks, "hfsp/limits" => self.slots)       (`mumakil_base::mutants`)
//! noticed        an expectation of one of the files holds without the mutant, and fails with it
//! ```
//! Only a program with assertions has mutants (`make mutants`).

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::{ExperimentFile, files};
use mumakil_base::mutants::ChosenMutant;
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::counted;
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::progress::StudyBar;
use mumakil_cli::study::{AtWork, PaceOptions, StudySession};
use mumakil_cli::terminal;
use mumakil_results::expect::VerdictState;
use mumakil_scenario::{Draft, Registry, Starter};
use mumakil_study::{ConcludeError, Study, failed, is_broken, verdict_states};

/// How long a run under a mutant may take: some never end.
const LIMIT: SimSpan = SimSpan::from_secs(120);

/// A wrong version of a mechanism.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    /// The rule that it breaks, as what then happens.
    what: String,
    /// The experiments and bundled studies that should notice it; the first that does is enough.
    files: Vec<String>,
    /// Why no run can differ.
    equivalent: Option<String>,
}

/// Returns the mutants by their names.
fn list() -> IndexMap<String, Mutant> {
    serde_yaml::from_str(include_str!("mutants.yaml")).expect("a test reads the list")
}

/// A mutant that was tried, and its verdict.
#[derive(Debug, Serialize)]
struct MutantOutcome {
    mutant: String,
    what: String,
    verdict: MutantVerdict,
    /// The experiment that noticed it.
    by: Option<String>,
    /// The expectations of that experiment that fail, or why its run failed.
    fails: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum MutantVerdict {
    Noticed,
    Survives,
    /// It survives, and no run reaches its place.
    Unreached,
    Equivalent,
}

impl MutantVerdict {
    fn word(self) -> &'static str {
        match self {
            Self::Noticed => "noticed",
            Self::Survives => "SURVIVES",
            Self::Unreached => "UNREACHED",
            Self::Equivalent => "equivalent",
        }
    }
}

/// Tries mutants: those whose names begin with one of `chosen`, or all.
pub(super) struct MutantTrial<'r> {
    pub(super) chosen: &'r [String],
    pub(super) quick: bool,
    pub(super) json: bool,
    pub(super) pace: PaceOptions,
    pub(super) registry: &'r Registry,
}

/// A study and the verdicts on its expectations without any mutant.
struct PlainStudy {
    study: Study,
    states: Vec<VerdictState>,
}

impl MutantTrial<'_> {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let (bar, at_work) = (StudyBar::new("run", false), AtWork::default());
        at_work.guard(&bar.bar);
        let mut plain = IndexMap::new();
        let mut outcomes = Vec::new();
        let is_chosen = |name: &str| {
            self.chosen.is_empty() || self.chosen.iter().any(|it| name.starts_with(&**it))
        };
        for (name, mutant) in list().into_iter().filter(|(name, _)| is_chosen(name)) {
            outcomes.push(self.outcome(name, mutant, &mut plain, &bar, &at_work)?);
        }
        bar.clear();
        self.print(&outcomes)?;
        let survive = outcomes.iter().filter(|outcome| {
            matches!(outcome.verdict, MutantVerdict::Survives | MutantVerdict::Unreached)
        });
        match survive.count() as u64 {
            0 => Ok(()),
            count => Err(Failure::run(format!("{} not noticed", counted(count, "mutant")))),
        }
    }

    fn outcome(
        &self,
        name: String,
        mutant: Mutant,
        plain: &mut IndexMap<String, PlainStudy>,
        bar: &StudyBar,
        at_work: &AtWork,
    ) -> Result<MutantOutcome, Failure> {
        let Mutant { what, files, equivalent } = mutant;
        let mut outcome = MutantOutcome {
            mutant: name,
            what,
            verdict: MutantVerdict::Unreached,
            by: None,
            fails: Vec::new(),
        };
        if equivalent.is_some() {
            outcome.verdict = MutantVerdict::Equivalent;
            return Ok(outcome);
        }
        for file in files {
            if !plain.contains_key(&file) {
                let study = self.study(&file)?;
                let states = self.states(&study, bar, at_work)?.map_err(|why| {
                    Failure::run(format!("{file} fails without any mutant: {why}"))
                })?;
                plain.insert(file.clone(), PlainStudy { study, states });
            }
            let PlainStudy { study, states } = &plain[&file];
            let chosen = ChosenMutant::of(&outcome.mutant);
            outcome.fails = match self.states(study, bar, at_work)? {
                Err(why) => vec![why],
                Ok(found) => (0..found.len())
                    .filter(|place| is_broken(states, &found, *place))
                    .map(|place| study.expect[place].words().to_owned())
                    .collect(),
            };
            if !outcome.fails.is_empty() {
                (outcome.verdict, outcome.by) = (MutantVerdict::Noticed, Some(file));
                return Ok(outcome);
            }
            if chosen.is_met() {
                outcome.verdict = MutantVerdict::Survives;
            }
        }
        Ok(outcome)
    }

    /// Returns the study of an experiment's file, or of a name that the program brings.
    fn study(&self, name: &str) -> Result<Study, Failure> {
        let stem = |file: &ExperimentFile| file.path.file_stem().is_some_and(|stem| stem == name);
        let files = files(None).expect("the program has them");
        let draft = match (files.iter().find(|file| stem(file)), Starter::find(name)) {
            (Some(file), _) => file.draft(None)?,
            (None, Some(starter)) => Draft::of(starter.name, starter.text)?,
            (None, None) => return Err(Failure::input(format!("`{name}` is no experiment"))),
        };
        let mut study = Study::of_any(draft)?;
        if let (true, Some(about)) = (self.quick, &study.experiment) {
            study.limit_seeds(about.quick_seeds);
        }
        Ok(study)
    }

    /// Does the runs of a study in a folder of their own, and returns the verdicts by the means, or why a run
    /// failed.
    fn states(
        &self,
        study: &Study,
        bar: &StudyBar,
        at_work: &AtWork,
    ) -> Result<Result<Vec<VerdictState>, String>, Failure> {
        let folder = TempDir::new()?;
        let (out, pace) = (folder.path().join("runs"), self.pace.limited(LIMIT));
        let mut session = StudySession::new(out, None, pace, self.registry, bar, at_work)?;
        let (_, sheet) = session.run_all(study)?;
        session.ends()?;
        let failed = failed::read(&session.store).map_err(ConcludeError::from)?;
        Ok(match failed.into_values().next() {
            Some(why) => Err(why),
            None => Ok(verdict_states(&sheet, &session.store).map_err(ConcludeError::from)?),
        })
    }

    fn print(&self, outcomes: &[MutantOutcome]) -> Result<(), Failure> {
        if self.json {
            let json = serde_json::to_string_pretty(outcomes).expect("texts are JSON");
            return Ok(terminal::print_file(&(json + "\n"))?);
        }
        let mut lines = TerminalLines::default();
        for MutantOutcome { mutant, what, verdict, by, fails } in outcomes {
            lines.line(format!("{:<11} {mutant}: {what}", verdict.word()));
            for fails in by.iter().flat_map(|by| fails.iter().map(move |it| format!("{by}: {it}")))
            {
                lines.line(format!("              {fails}"));
            }
        }
        let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
        lines.line(format!(
            "{}: {} noticed, {} survive, {} unreached, {} equivalent",
            counted(outcomes.len() as u64, "mutant"),
            count(MutantVerdict::Noticed),
            count(MutantVerdict::Survives),
            count(MutantVerdict::Unreached),
            count(MutantVerdict::Equivalent),
        ));
        Ok(terminal::print(&lines)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Adds the names of mutants in the Rust files of a folder: `"a/b" =>`.
    fn find(folder: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                find(&path, names);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("mutants.rs")
            {
                let text = fs::read_to_string(&path).unwrap();
                let parts: Vec<&str> = text.split('"').collect();
                let is_mutant = |around: &&[&str]| {
                    let is_named = around[0].find('/').is_some_and(|at| 0 < at);
                    is_named && around[1].starts_with(" =>")
                };
                names.extend(parts.windows(2).filter(is_mutant).map(|around| around[0].to_owned()));
            }
        }
    }

    #[test]
    fn the_source_has_the_mutants_of_the_list() {
        let (mut listed, mut there) = (Vec::new(), Vec::new());
        for (name, Mutant { files, equivalent, .. }) in list() {
            assert!(files.is_empty() == equivalent.is_some(), "{name} needs files, or a reason");
            listed.push(name);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for folder in ["src", "satellites"] {
            find(&root.join(folder), &mut there);
        }
        listed.sort_unstable();
        there.sort_unstable();
        there.dedup();
        // Mutants may be gone with a satellite that is deleted (`tests/satellites/run`).
        if std::env::var_os("MUMAKIL_WITHOUT").is_none() {
            assert_eq!(listed, there);
        }
    }
}
