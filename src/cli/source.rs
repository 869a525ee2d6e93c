//! `SCENARIO`: a file, or the name of a bundled scenario.

use std::path::Path;

use super::failure::Failure;
use mumakil_base::nearest::nearest;
use mumakil_base::shell::quoted_path;
use mumakil_results::expect::{Expr, KnownWords, Space};
use mumakil_run::emulation::Prepared;
use mumakil_scenario::{
    ClockSpec, Draft, LoadedScenario, Registry, STARTERS, Scenario, ScenarioError, Starter,
    unusable,
};
use mumakil_yaml::Path as Address;

/// Settings of the command line that override those of the scenario.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Overrides {
    /// The seed, instead of the scenario's
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Set a value, such as cluster.nodes=50
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// The clock, for commands that have `--clock`.
    #[arg(skip)]
    pub clock: Option<ClockSpec>,
}

/// Loads a scenario, and returns its text with it, for [`prepare`].
pub fn load(
    scenario: &Path,
    overrides: Overrides,
    registry: &Registry,
) -> Result<(Draft, LoadedScenario), Failure> {
    let mut draft = open(scenario, "scenario")?;
    // A study has no single scenario to run; the message names the right command.
    if draft.is_study() {
        return Err(Failure::input(format!(
            "{} is a study, of many runs; run it with `mumakil study {}`",
            scenario.display(),
            quoted_path(scenario)
        )));
    }
    overrides.put_over(&mut draft);
    let loaded = draft.resolve_with_files(registry)?;
    Ok((draft, loaded))
}

/// Reads the files of a scenario, and checks that its expectations select jobs and nodes that there
/// are. `draft` is its text.
pub fn prepare(
    draft: &Draft,
    scenario: Scenario,
    registry: &Registry,
) -> Result<Prepared, Failure> {
    let prepared = Prepared::new(scenario, registry)?;
    let mut known = KnownWords::default();
    prepared.add_words(&mut known);
    let mut findings = Vec::new();
    for (index, expected) in prepared.scenario.expect.iter().enumerate() {
        let plan = Expr::parse(&expected.that).and_then(|expr| expr.expectation(&Space::default()));
        // The scenario's own check has reported all other mistakes of an expression.
        let complaints = plan.map(|plan| plan.unknown_words(&known)).unwrap_or_default();
        findings.extend(complaints.into_iter().map(|complaint| {
            draft.finding(unusable(Address::of("expect").index(index), &complaint, &expected.that))
        }));
    }
    if findings.is_empty() { Ok(prepared) } else { Err(ScenarioError::invalid(findings).into()) }
}

/// Opens a study, with the settings of the command line applied.
pub fn open_study(study: &Path, overrides: &Overrides) -> Result<Draft, Failure> {
    let mut draft = open(study, "study")?;
    overrides.put_over(&mut draft);
    // A file with a `base` is meant as a study even if its `sweep` is missing: let the study's
    // reader report that.
    if !draft.is_study() && !draft.says("base") {
        return Err(Failure::input(format!(
            "{} has no `sweep`, so it is a scenario, of one run; run it with `mumakil run {}`",
            study.display(),
            quoted_path(study)
        )));
    }
    Ok(draft)
}

/// Opens a file or a bundled scenario; a file takes precedence.
pub fn open(path: &Path, kind: &str) -> Result<Draft, Failure> {
    let name = path.to_str().filter(|_| !path.is_file()).unwrap_or_default();
    if let Some(starter) = Starter::find(name) {
        return Ok(Draft::of(starter.name, starter.text)?);
    }
    // A word without a dot or a slash is meant as a name, so this error lists the known names; any
    // other word is meant as a file.
    if !name.is_empty() && !name.contains(['/', '\\', '.']) && !path.exists() {
        let is_study = kind == "study";
        let known = STARTERS.iter().filter(|starter| starter.is_study() == is_study);
        let names: Vec<&str> = known.map(|starter| starter.name).collect();
        let hint = match nearest(name, Starter::named().map(|starter| starter.name)) {
            Some(near) => format!("\n   = did you mean `{near}`?"),
            None => String::new(),
        };
        return Err(Failure::input(format!(
            "no {kind} `{name}`: there is no such file, and Mumakil brings {}{hint}",
            names.join(", ")
        )));
    }
    match hint_of_files(path) {
        Some(hint) => Err(Failure::input(format!("{} is no file\n   = {hint}", path.display()))),
        None => Ok(Draft::read(path)?),
    }
}

/// Returns a hint about a path that is a folder or does not exist: the file that the user may mean.
fn hint_of_files(path: &Path) -> Option<String> {
    let files = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let all = entries.map(|entry| entry.path());
        let mut files: Vec<_> =
            all.filter(|file| file.extension() == Some("yaml".as_ref())).collect();
        files.sort();
        files
    };
    if path.is_dir() {
        let first = files(path).into_iter().next();
        return Some(first.map_or_else(
            || "it is a folder: name a scenario's file".to_owned(),
            |file| format!("it is a folder: name a file in it, such as {}", file.display()),
        ));
    }
    if path.exists() {
        return None;
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let beside = files(folder.unwrap_or(".".as_ref()));
    let names = beside.iter().filter_map(|file| file.file_name()?.to_str());
    let near = nearest(path.file_name()?.to_str()?, names)?;
    Some(format!("did you mean {}?", path.with_file_name(near).display()))
}

impl Overrides {
    /// Applies the command line's settings to a draft.
    pub fn put_over(&self, draft: &mut Draft) {
        self.sets.iter().for_each(|set| draft.set(&format!("--set {set}"), set));
        if let Some(seed) = self.seed {
            // Apply `--seed` after `--set`: the option takes precedence over `--set seed=…`.
            draft.set(&format!("--seed {seed}"), &format!("seed={seed}"));
        }
        if let Some(clock) = self.clock {
            draft.set(&format!("--clock {clock}"), &format!("clock={clock}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_starter_is_named_after_its_file_and_opens_with_its_question() {
        let registry = crate::testing::registry();
        let runs = STARTERS.iter().filter(|starter| !starter.is_study());
        // A satellite, which is not here, brings the line of these.
        for starter in runs.filter(|starter| !starter.text.contains("\nhadoop: yarn")) {
            let (_, loaded) = load(starter.name.as_ref(), Overrides::default(), &registry).unwrap();
            assert_eq!(loaded.scenario.name.as_str(), starter.name);
            assert!(starter.question().ends_with('?'), "{}", starter.question());
        }
    }

    #[test]
    fn a_scenario_is_not_taken_for_a_study_nor_a_study_for_a_scenario() {
        let words = |failure: Failure| match failure {
            Failure::Input(error) => error.to_string(),
            other => panic!("{other:?}"),
        };
        let study = words(open_study("quickstart".as_ref(), &Overrides::default()).unwrap_err());
        assert!(study.ends_with("run it with `mumakil run quickstart`"), "{study}");
        let overrides =
            Overrides { sets: vec!["sweep.seeds=2".to_owned()], ..Overrides::default() };
        assert!(open_study("quickstart".as_ref(), &overrides).is_ok());
        let starter = STARTERS.iter().find(|starter| starter.is_study()).unwrap().name;
        let one =
            load(starter.as_ref(), Overrides::default(), &crate::testing::registry()).unwrap_err();
        assert!(words(one).ends_with(&format!("run it with `mumakil study {starter}`")));
    }

    #[test]
    fn the_command_line_has_the_last_word() {
        let overrides = Overrides {
            sets: vec!["seed=1".to_owned(), "clock=2x".to_owned()],
            seed: Some(7),
            clock: Some(ClockSpec::Virtual),
        };
        let (_, loaded) =
            load("quickstart".as_ref(), overrides, &crate::testing::registry()).unwrap();
        assert_eq!((loaded.scenario.seed, loaded.scenario.clock), (7, ClockSpec::Virtual));
    }
}
