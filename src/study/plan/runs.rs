//! The runs of a study: a cell for each combination of the axes' values, and in each cell a run for
//! each seed.
//!
//! The name of a run is a hash of its resolved scenario, the content of its traces, and the version
//! and model of Mumakil. So a finished run is not repeated, even after the study is edited. A change that
//! could alter the results of a run gives the run another name.
//!
//! A policy that the user has built in may change while the version stays the same. So the hash of
//! a run with such a policy also covers the program file, and the run is repeated after each build.

mod hashes;
mod identity;
mod parts;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;
use serde_yaml::Value;

use self::hashes::Hashes;
use self::identity::{Identity, KeyTexts};
use self::parts::{PartShelves, ScenarioParts};
use crate::plan::axes::AxisPut;
use crate::plan::drawn::DrawnField;
use crate::plan::named_files::{self, NamedFile};
use crate::plan::spec::Study;
use mumakil_base::units::tell::{listed, quoted};
use mumakil_core::cluster::ClusterSpec;
use mumakil_core::mapred::PolicyProgram;
use mumakil_core::trace::TraceError;
use mumakil_results::expect::{KnownWords, combinations};
use mumakil_run::emulation::{EmulationError, Prepared};
use mumakil_scenario::workload::WorkloadSpec;
use mumakil_scenario::{
    ClockSpec, Draft, RecordSpec, Registry, Scenario, ScenarioError, SchedulerChoice, Warning,
};
use mumakil_yaml::{self as yaml, DisplacedSettings, Finding, Path, YamlProblem};

/// The largest number of runs in a study.
// Chosen: at one second a run, this takes twelve days. A larger number is most likely a mistake in
// `sweep`.
const MOST_RUNS: u128 = 1_000_000;

/// The runs of a study, and its warnings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The combinations of the axes' values that are not excluded; the last axis changes fastest.
    pub cells: Vec<Cell>,
    /// The runs, cell by cell and seed by seed.
    pub runs: Vec<PlannedRun>,
    /// Warnings about settings that probably do not do what the user meant.
    pub warnings: Vec<Warning>,
    /// The files that the scenarios name.
    pub files: Vec<NamedFile>,
    /// For each axis, its values in words, for messages.
    told: Vec<Vec<String>>,
}

/// A combination of the axes' values.
#[derive(Clone, Debug)]
pub struct Cell {
    /// For each axis, the index of the cell's value.
    pub values: Vec<usize>,
    /// The scenario without the seed; of a cell with draws, that of its first seed.
    scenario: ScenarioParts,
    /// In a cell with draws, the scenario of each seed.
    drawn: Vec<(u64, ScenarioParts)>,
}

/// A run of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The index of its cell in the plan.
    pub cell: usize,
    /// Its seed.
    pub seed: u64,
    /// Its name: sixteen hexadecimal digits of its hash.
    pub id: String,
}

/// A reason why a study cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The scenario of a cell is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A cell's files do not fit the rest of its scenario.
    #[error(transparent)]
    Unfit(#[from] EmulationError),
    /// The program file is not found; the names of runs with a user's own policy depend on it.
    #[error("cannot find this program, whose digest is part of the runs' names")]
    Program(#[source] io::Error),
    /// There are too many runs.
    #[error("the study has {runs} runs, more than {MOST_RUNS}")]
    TooMany {
        /// The number of runs.
        runs: u128,
    },
    /// Every cell is excluded.
    #[error("`exclude` leaves no cell of the study")]
    Empty,
}

impl Plan {
    /// Returns the runs of a study.
    ///
    /// # Errors
    /// If the study cannot be planned; the variants of [`PlanError`] are the reasons.
    pub fn new(study: &Study, registry: &Registry) -> Result<Self, PlanError> {
        let mut planner = Planner::of(study, registry);
        let mut mistakes = Mistakes::default();
        for values in wanted(study)? {
            mistakes.note(planner.add_cell(values));
        }
        // A cell with mistakes has no jobs, whose names expressions may use.
        if mistakes.are_none() {
            mistakes.note(planner.check_options().map_or(Ok(()), |error| Err(error.into())));
            mistakes.note(planner.check_words());
        }
        mistakes.into_error().map_or_else(|| Ok(planner.into_plan()), Err)
    }

    /// Reads and plans a study, to tell all its mistakes together: those of its own keys, and those
    /// of its scenarios.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn check(study: Draft, registry: &Registry) -> Result<Self, PlanError> {
        let (study, findings) = Study::read(study, true)?;
        if findings.is_empty() {
            return Self::new(&study, registry);
        }
        let mut mistakes = Mistakes::default();
        mistakes.note(Err(ScenarioError::invalid(findings).into()));
        mistakes.note(Self::new(&study, registry).map(drop));
        Err(mistakes.into_error().expect("the study has mistakes"))
    }

    /// Returns whether each run gives the same results when it is repeated. This is so if no run
    /// uses the real-time clock.
    pub fn is_repeatable(&self) -> bool {
        self.cells.iter().all(|cell| cell.scenario.rest.clock == ClockSpec::Virtual)
    }

    /// Returns a run in words: `nodes 10, fair, seed 42`.
    pub fn describe(&self, run: usize) -> String {
        let PlannedRun { cell, seed, .. } = &self.runs[run];
        let chosen = self.told.iter().zip(&self.cells[*cell].values);
        let values = chosen.map(|(told, value)| told[*value].clone());
        values.chain([format!("seed {seed}")]).collect::<Vec<_>>().join(", ")
    }

    /// Returns a value of an axis in words: `nodes 10`.
    pub(crate) fn told(&self, axis: usize, value: usize) -> String {
        self.told[axis][value].clone()
    }

    /// Returns the first run of each cell.
    pub(crate) fn firsts(&self) -> impl Iterator<Item = &PlannedRun> {
        // Every cell has the same number of runs.
        self.runs.iter().step_by((self.runs.len() / self.cells.len().max(1)).max(1))
    }

    /// Returns the scenario of a run.
    pub fn scenario(&self, run: &PlannedRun) -> Scenario {
        let Cell { scenario, drawn: all, .. } = &self.cells[run.cell];
        let drawn = all.iter().find(|(seed, _)| *seed == run.seed);
        let scenario = drawn.map_or(scenario, |(_, scenario)| scenario);
        Scenario { seed: run.seed, ..scenario.scenario() }
    }

    /// Returns the first program that these runs start; `None` if they start none.
    pub fn program(&self, runs: &[usize]) -> Option<&PolicyProgram> {
        let cells: BTreeSet<usize> = runs.iter().map(|run| self.runs[*run].cell).collect();
        cells.into_iter().find_map(|cell| self.cells[cell].scenario.rest.programs.first())
    }

    /// Returns the seeds of each cell.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        // Each cell has the same seeds, so take the seeds of the first cell.
        self.runs.iter().take_while(|run| run.cell == 0).map(|run| run.seed)
    }
}

/// Makes the cells and runs of a plan, cell by cell.
struct Planner<'s> {
    study: &'s Study,
    registry: &'s Registry,
    cells: Vec<Cell>,
    runs: Vec<PlannedRun>,
    warnings: IndexSet<Warning>,
    shelves: PartShelves,
    texts: KeyTexts,
    hashes: Hashes,
    /// Settings that values of axes displace, each with these values.
    displaced: IndexMap<DisplacedSettings, IndexSet<String>>,
    /// The conditional settings that have an effect in some cell.
    heeded: FxHashSet<String>,
    /// The clusters, workloads, policies and faults that are known to fit each other.
    known_to_fit:
        FxHashSet<(*const ClusterSpec, *const WorkloadSpec, *const SchedulerChoice, String)>,
    /// The words by which expressions can select rows, if any expression does.
    words: KnownWords,
    /// The seed of the first cell's scenario; `None` before there is one.
    first_seed: Option<u64>,
}

impl<'s> Planner<'s> {
    fn of(study: &'s Study, registry: &'s Registry) -> Self {
        Self {
            study,
            registry,
            cells: Vec::new(),
            runs: Vec::new(),
            warnings: IndexSet::new(),
            shelves: PartShelves::default(),
            texts: KeyTexts::default(),
            hashes: Hashes::new(study.files.clone()),
            displaced: IndexMap::new(),
            heeded: FxHashSet::default(),
            known_to_fit: FxHashSet::default(),
            words: KnownWords::default(),
            first_seed: None,
        }
    }

    /// Adds the cell with these values of the axes, and its runs.
    fn add_cell(&mut self, values: Vec<usize>) -> Result<(), PlanError> {
        let study = self.study;
        let (first, identity) = self.resolve(&values, &[])?;
        // All cells have the seeds of the first one, whatever scenario they begin with.
        let seed = *self.first_seed.get_or_insert(first.rest.seed);
        let (cell, draws) = (self.cells.len(), study.draws(&values));
        let mut drawn = Vec::new();
        for seed in study.sweep.seeds.from(seed) {
            let id = if draws.is_empty() {
                identity.with(seed)
            } else {
                let drawn_values: Vec<_> = DrawnField::draw(draws, seed).collect();
                let (scenario, identity) = self.resolve(&values, &drawn_values)?;
                drawn.push((seed, scenario));
                identity.with(seed)
            };
            self.runs.push(PlannedRun { cell, seed, id });
        }
        let scenario = drawn.first().map_or(first, |(_, scenario)| scenario.clone());
        self.cells.push(Cell { values, scenario, drawn });
        Ok(())
    }

    /// Returns the scenario with these values of the axes and of drawn fields, and what decides its
    /// results apart from the seed.
    fn resolve(
        &mut self,
        values: &[usize],
        drawn: &[(&DrawnField, Value)],
    ) -> Result<(ScenarioParts, Identity), PlanError> {
        let Self { study, registry, .. } = *self;
        let mut draft = self.draft(values, drawn)?;
        let mut loaded = draft.resolve(registry)?;
        let digests = named_files::digests(&draft, &loaded, &study.files);
        if !digests.is_empty() {
            for (at, files) in digests {
                let origin = study.draft.origin(&Path::of("files"));
                draft.put(&at, files, origin).expect("the check has found the program there");
            }
            loaded = draft.resolve(registry)?;
        }
        let mut scenario = loaded.scenario;
        // All runs have the study's name; `study.json` says which cell a run belongs to.
        scenario.name = study.name.clone();
        record_only_what_is_read(study, &draft, &mut scenario.record)?;
        self.hashes.pin_files(&mut scenario)?;
        let program = self.hashes.program(&mut scenario, registry)?;
        self.heeded.extend(loaded.heeded);
        self.warnings.extend(loaded.warnings);
        let yaml = yaml::write(&scenario);
        let written = yaml.as_mapping().expect("a scenario has keys");
        let identity = Identity::of(written, program.as_deref(), &mut self.texts);
        let tree = written.get("faults").unwrap_or(&Value::Null);
        let faults = self.texts.of(&"faults".into(), tree).to_owned();
        let parts = self.shelves.share(scenario, written);
        // Check now whether a trace fits its cluster, so that no mistake shows only after an hour
        // of runs. Cells with the same cluster, jobs, policy and faults are checked once.
        let site = (
            Arc::as_ptr(&parts.cluster),
            Arc::as_ptr(&parts.workload),
            Arc::as_ptr(&parts.scheduler),
            faults,
        );
        // Compare only addresses: until the plan is made, `shelves` keeps exactly one copy of
        // equal parts.
        if self.known_to_fit.insert(site) {
            let prepared = Prepared::new(parts.scenario(), registry)?;
            if study.expressions.select_by_words() {
                prepared.add_words(&mut self.words);
            }
        }
        Ok((parts, identity))
    }

    /// Returns the scenario of a cell as a draft, with the values of drawn fields.
    fn draft(
        &mut self,
        values: &[usize],
        drawn: &[(&DrawnField, Value)],
    ) -> Result<Draft, PlanError> {
        let study = self.study;
        let mut draft = study.base(values).clone();
        for (axis, value) in study.sweep.axes.iter().zip(values) {
            for put in &axis.values[*value].puts {
                let origin = study.draft.origin(&put.written);
                let Some(path) = self.path_of(put, &draft) else { continue };
                // A setting may displace other settings of the base, such as the options of
                // another policy. Warn of each displaced setting once.
                let put = draft.put(&path, put.value.clone(), origin).map_err(|message| {
                    let problem = YamlProblem::value(put.written.clone(), message);
                    ScenarioError::invalid(vec![study.draft.finding(problem)])
                })?;
                for mut gone in put {
                    let value = std::mem::take(&mut gone.by);
                    self.displaced.entry(gone).or_default().insert(value);
                }
            }
        }
        for (field, value) in drawn {
            let origin = study.draft.origin(&field.written);
            draft.put(&field.path, value.clone(), origin).map_err(|message| {
                let problem = YamlProblem::value(field.written.clone(), message);
                ScenarioError::invalid(vec![study.draft.finding(problem)])
            })?;
        }
        // Note the files of policies before the draft is resolved: resolving replaces their paths by
        // their content.
        self.hashes.note_files_of_policies(&draft)?;
        let folder = draft.folder();
        let kept = named_files::kept_of_policies(&draft, &study.files, &folder);
        for (at, value) in kept {
            let origin = study.draft.origin(&Path::of("files"));
            draft.put(&at, value, origin).expect("the field exists");
        }
        Ok(draft)
    }

    /// Returns the path at which a value of an axis is set in a cell; `None` if the cell's policy
    /// does not have this option.
    fn path_of(&self, put: &AxisPut, draft: &Draft) -> Option<Path> {
        let Some(option) = put.option() else { return Some(put.path.clone()) };
        let chosen = draft.tree().get("scheduler");
        let named = chosen.and_then(|value| match value {
            Value::Mapping(map) => map.keys().next()?.as_str(),
            name => name.as_str(),
        });
        let usual = SchedulerChoice::default().name;
        let policy = named.unwrap_or(&usual);
        // A policy that nobody knows is a mistake of its own.
        let has_it = self.registry.get(policy).is_none_or(|entry| entry.has_option(&option));
        has_it.then(|| Path::of("scheduler").key(policy).join(&option.0))
    }

    /// Returns an error about an option on an axis that no policy of the study has.
    fn check_options(&self) -> Option<ScenarioError> {
        let study = self.study;
        let policies: BTreeSet<&str> =
            self.cells.iter().map(|cell| &*cell.scenario.scheduler.name).collect();
        let unknown = study.sweep.axes.iter().filter_map(|axis| {
            let option = axis.values[0].puts.first()?.option()?;
            (!policies
                .iter()
                .any(|name| self.registry.get(name).is_some_and(|it| it.has_option(&option))))
            .then(|| {
                let names = listed(quoted(policies.iter().copied()), "and");
                let message = format!("`{option}` is no option of {names}");
                let hint = "at least one policy of the study must have it";
                let at = Path::of("sweep").key(&axis.name);
                study.draft.finding(YamlProblem::key(at, message).hint(hint))
            })
        });
        let findings: Vec<Finding> = unknown.collect();
        (!findings.is_empty()).then(|| ScenarioError::invalid(findings))
    }

    /// Checks that each word by which an expression selects is in the rows of some run.
    fn check_words(&mut self) -> Result<(), PlanError> {
        let Self { study, registry, words, runs, cells, .. } = self;
        if study.expressions.unknown_words(words).is_empty() {
            return Ok(());
        }
        // Names, users and pools may be drawn, so another seed may have the word.
        let mut known = FxHashSet::default();
        for run in &*runs {
            let parts = &cells[run.cell].scenario;
            if known.insert((Arc::as_ptr(&parts.workload), run.seed)) {
                let scenario = Scenario { seed: run.seed, ..parts.scenario() };
                Prepared::new(scenario, registry)?.add_words(words);
            }
        }
        let problems = study.expressions.unknown_words(words).into_iter();
        let findings: Vec<Finding> = problems.map(|problem| study.draft.finding(problem)).collect();
        if findings.is_empty() { Ok(()) } else { Err(ScenarioError::invalid(findings).into()) }
    }

    fn into_plan(self) -> Plan {
        let Self { study, cells, runs, mut warnings, hashes, displaced, heeded, .. } = self;
        // A setting without effect in one cell may have an effect in another: warn only if the
        // setting has no effect in any cell.
        warnings.retain(|warning| match warning {
            Warning::Idle { setting, .. } => !heeded.contains(setting),
            _ => true,
        });
        // An axis of policies may displace the policy options of the base in every cell: warn once.
        warnings.extend(displaced.into_iter().map(|(gone, values)| {
            let by = values.into_iter().collect::<Vec<_>>().join("`, `");
            Warning::Displaced(DisplacedSettings { by, ..gone })
        }));
        Plan {
            cells,
            runs,
            warnings: warnings.into_iter().collect(),
            files: hashes.named.into_values().collect(),
            told: study.sweep.axes.iter().map(crate::plan::axes::Axis::told).collect(),
        }
    }
}

/// The mistakes of all cells, each once.
#[derive(Default)]
struct Mistakes {
    findings: Vec<Finding>,
    /// The first error that has no place in a file.
    other: Option<PlanError>,
}

impl Mistakes {
    fn note(&mut self, step: Result<(), PlanError>) {
        match step {
            Ok(()) => {}
            Err(PlanError::Scenario(ScenarioError::Invalid { findings })) => {
                for finding in findings {
                    if !self.findings.contains(&finding) {
                        self.findings.push(finding);
                    }
                }
            }
            Err(other) => {
                self.other.get_or_insert(other);
            }
        }
    }

    fn are_none(&self) -> bool {
        self.findings.is_empty() && self.other.is_none()
    }

    /// Returns the mistakes as one error, if there are any.
    fn into_error(self) -> Option<PlanError> {
        if self.findings.is_empty() {
            return self.other;
        }
        Some(ScenarioError::invalid(self.findings).into())
    }
}

impl Cell {
    /// Returns the parts of its scenario on which its offered load depends; equal parts are shared.
    pub(crate) fn load_parts(&self) -> (&Arc<ClusterSpec>, &Arc<WorkloadSpec>, &Arc<Scenario>) {
        let ScenarioParts { cluster, workload, rest, .. } = &self.scenario;
        (cluster, workload, rest)
    }
}

/// Makes the runs record only the files that the study reads, since there may be thousands of runs.
/// Settings of the draft take precedence. Returns an error now, not after all runs, if the draft
/// switches off a file that the study reads.
fn record_only_what_is_read(
    study: &Study,
    draft: &Draft,
    record: &mut RecordSpec,
) -> Result<(), ScenarioError> {
    // Runs write reports only if the study asks for them.
    record.report &= draft.says("record.report");
    let mut problems = Vec::new();
    for (key, setting, is_read) in record.read_by(&study.expressions.needs) {
        let path = &format!("record.{key}");
        if !draft.says(path) {
            *setting = is_read;
        } else if is_read && !*setting {
            let message = "this leaves out what the study reads";
            let problem = YamlProblem::value(Path::of(path), message);
            problems
                .push(draft.finding(problem.hint("remove it: the study records what it reads")));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ScenarioError::invalid(problems)) }
}

/// Returns the combinations of the axes' values that are not excluded.
fn wanted(study: &Study) -> Result<Vec<Vec<usize>>, PlanError> {
    let axes = &study.sweep.axes;
    let seeds = study.sweep.seeds.from(0).len() as u128;
    let values = axes.iter().map(|axis| axis.values.len() as u128);
    // Saturate: ten axes of 10000 values overflow even 128 bits.
    let runs = values.fold(seeds, u128::saturating_mul);
    if MOST_RUNS < runs {
        return Err(PlanError::TooMany { runs });
    }
    let choices = axes.iter().map(|axis| (0..axis.values.len()).collect());
    let mut cells = combinations(&choices.collect::<Vec<_>>());
    cells.retain(|cell| {
        !study.excluded.iter().any(|rule| {
            // An entry of `exclude` that does not name an axis covers all values of the axis.
            let mut parts = rule.iter().zip(cell);
            parts.all(|(part, value)| part.as_ref().is_none_or(|values| values.contains(value)))
        })
    });
    if cells.is_empty() {
        return Err(PlanError::Empty);
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use mumakil_core::mapred::{Offer, Policy, Scheduler};
    use mumakil_core::trace::hex;
    use mumakil_run::MODEL;
    use mumakil_scenario::Name;

    const ONE_JOB: &str = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n";

    /// A policy of the user that has the name of a built-in policy.
    struct OwnKeys;

    impl Scheduler for OwnKeys {
        fn offer(&mut self, _: &mut Offer<'_>) {}
    }

    impl Policy for OwnKeys {
        const NAME: &'static str = "fifo";
        const ABOUT: &'static str = "does nothing";
        type Options = ();
        fn new((): ()) -> Self {
            Self
        }
    }

    /// Plans a study with one job and the given settings.
    fn plan(yaml: &str) -> Result<Plan, String> {
        plan_with(yaml, &crate::testing::registry())
    }

    fn plan_with(yaml: &str, registry: &Registry) -> Result<Plan, String> {
        let study = Study::of(Draft::of("test.yaml", &format!("{ONE_JOB}{yaml}")).unwrap());
        Plan::new(&study.unwrap(), registry).map_err(|error| error.to_string())
    }

    #[test]
    fn the_name_of_a_study_does_not_make_other_runs() {
        let [one, other] = ["name: a", "name: b\ndescription: the same"]
            .map(|name| plan(&format!("{name}\nsweep: {{seeds: 2}}")).unwrap().runs);
        assert_eq!(one, other);
        assert_ne!(one, plan("name: a\nsweep: {seeds: 2}\nuntil: 5s").unwrap().runs);
    }

    #[test]
    fn a_name_is_the_hash_of_version_program_and_scenario() {
        let planned = plan("sweep: {cluster.nodes: [3, 4], seeds: [0, 7, 18446744073709551615]}");
        let planned = planned.unwrap();
        for run in &planned.runs {
            let scenario = Scenario {
                name: Name::from_text("run"),
                description: String::new(),
                ..planned.scenario(run)
            };
            let version = env!("CARGO_PKG_VERSION");
            let text = format!("{version}\0{MODEL}\0\0{}\0", scenario.to_yaml());
            assert_eq!(run.id, hex(&Sha256::digest(text)[..8]));
        }
    }

    #[test]
    fn scenarios_are_an_axis_and_seeds_draw_their_fields() {
        let yaml = "sweep:
  scenario:
    - {as: plain, value: {cluster: {nodes: 3}, seed: 9}}
    - {name: drawn, cluster: {nodes: 4}, draw: {cluster.nodes: [20, 30], cluster.racks: {from: 1, to: 4}}}
  scheduler: [fifo, fair]
  seeds: 8";
        let planned = plan(yaml).unwrap();
        let axis = |cell: &Cell| cell.values[0];
        assert_eq!(planned.runs.len(), 2 * 2 * 8);
        assert_eq!(planned.describe(0), "plain, fifo, seed 9");
        let nodes = |run: &PlannedRun| planned.scenario(run).cluster.nodes.get();
        let of = |base: usize| {
            let is_one = |run: &&PlannedRun| axis(&planned.cells[run.cell]) == base;
            planned.runs.iter().filter(is_one).collect::<Vec<_>>()
        };
        assert!(of(0).into_iter().all(|run| nodes(run) == 3));
        let drawn: BTreeSet<u32> = of(1).into_iter().map(nodes).collect();
        assert_eq!(drawn, BTreeSet::from([20, 30]));
        let seeds = |base: usize| of(base).iter().map(|run| run.seed).collect::<Vec<_>>();
        assert_eq!(seeds(0), seeds(1), "all scenarios have the seeds of the first one");
        // Both policies have the same conditions with the same seed.
        let (fifo, fair): (Vec<_>, Vec<_>) = of(1).into_iter().partition(|run| run.cell % 2 == 0);
        for (one, other) in fifo.iter().zip(&fair) {
            let [one, other] = [one, other].map(|run| planned.scenario(run));
            assert_eq!((one.seed, one.cluster), (other.seed, other.cluster));
        }
        let distinct: BTreeSet<&str> = planned.runs.iter().map(|run| &*run.id).collect();
        assert_eq!(distinct.len(), planned.runs.len());
    }

    #[test]
    fn mistakes_on_the_axis_of_scenarios_are_told_in_their_places() {
        for (yaml, said) in [
            ("sweep: {scenario: quickstart}", "expected a list of scenarios"),
            ("sweep: {scenario: [quikstart]}", "did you mean `quickstart`?"),
            ("base: quickstart\nsweep: {scenario: [faults]}", "so this has no effect"),
            ("sweep: {scenario: [quickstart, quickstart]}", "are called `quickstart`"),
            ("sweep: {scenario: [{as: x, value: {cluster: {nods: 3}}}]}", "test.yaml:2:46"),
            ("sweep: {scenario: [{name: x, draw: {cluster.nodes: [0]}}]}", "cluster.nodes"),
        ] {
            let study = Draft::of("test.yaml", &format!("{ONE_JOB}{yaml}"));
            let study = study.and_then(Study::of).map_err(|error| error.to_string());
            let planned = study.and_then(|study| {
                Plan::new(&study, &crate::testing::registry()).map_err(|error| error.to_string())
            });
            let error = planned.unwrap_err();
            assert!(error.contains(said), "{yaml}: {error}");
        }
    }

    #[test]
    fn a_missing_trace_is_told_with_its_key() {
        let yaml = "sweep: {workload: [{swim: {file: no-such.tsv}}], seeds: 1}";
        let wrong = plan(yaml).unwrap_err();
        assert!(wrong.ends_with("in `workload.swim.file` of the scenario"), "{wrong}");
    }

    #[test]
    fn cells_share_what_is_equal_in_them() {
        let planned = plan("sweep: {cluster.nodes: [3, 4], hadoop.heartbeat: [3s, 4s]}").unwrap();
        let [a, b, c, d] = &planned.cells[..] else { panic!("{planned:?}") };
        let workloads = [a, b, c, d].map(|cell| Arc::as_ptr(&cell.scenario.workload));
        assert!(workloads.iter().all(|workload| *workload == workloads[0]));
        assert!(Arc::ptr_eq(&a.scenario.cluster, &b.scenario.cluster));
        assert!(Arc::ptr_eq(&a.scenario.rest, &c.scenario.rest));
        assert!(!Arc::ptr_eq(&a.scenario.cluster, &c.scenario.cluster));
        assert_eq!(
            planned.scenario(&planned.runs[3]).cluster.nodes,
            planned.cells[3].scenario.cluster.nodes
        );
    }

    #[test]
    fn runs_of_somebodys_own_policy_are_known_by_the_program() {
        let mut registry = crate::testing::registry();
        registry.add::<OwnKeys>();
        let ids = |registry: &Registry| plan_with("sweep: {seeds: 2}", registry).unwrap().runs;
        assert_ne!(ids(&registry), ids(&crate::testing::registry()));
        assert_eq!(ids(&registry), ids(&registry));
    }

    #[test]
    fn runs_that_somebodys_own_policy_takes_over_are_known_by_the_program() {
        let ours = crate::testing::registry();
        let mut registry = crate::testing::registry();
        registry.add::<OwnKeys>();
        let ids = |policy, registry| {
            let yaml = format!(
                "scheduler: fair\nlater: [{{at: 1min, scheduler: {policy}}}]\nsweep: {{seeds: 2}}"
            );
            plan_with(&yaml, registry).unwrap().runs
        };
        assert_ne!(ids("fifo", &registry), ids("fifo", &ours));
        assert_eq!(ids("ps", &registry), ids("ps", &ours));
    }

    #[test]
    fn quantities_that_are_read_must_be_recorded() {
        let error = |record| {
            plan(&format!("metrics: [mean(task.time)]\nsweep: {{seeds: 2}}\n{record}")).unwrap_err()
        };
        let told = error("record: {tasks: false}");
        assert!(told.starts_with("this leaves out what the study reads"), "{told}");
        assert!(told.contains("test.yaml:4:17   record.tasks"), "{told}");
        assert!(plan("sweep: {seeds: 2}\nrecord: {tasks: false}").is_ok());
    }

    #[test]
    fn every_cell_is_looked_at_before_anything_runs() {
        let warnings = plan("sweep: {cluster.nodes: [9, 1, 2]}").unwrap().warnings;
        let warned: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warned.len(), 2, "{warned:?}");
        assert!(warned[1].starts_with("3 copies of a block on 2 nodes"), "{warned:?}");
        let misfit = "sweep: {cluster.nodes: [9, 1]}\nfaults: [{stop: node-5, at: 1min}]";
        assert!(plan(misfit).unwrap_err().contains("node-5"));
    }

    #[test]
    fn a_filter_that_selects_nothing_is_a_mistake_in_its_place() {
        let error = plan(
            "sweep: {cluster.nodes: [3, 4]}\nclasses: {small: maps <= 2, large: true}\n\
             metrics: ['mean(sojourn, class=smal)', 'mean(sojourn, class=large)']\n\
             expect: ['max(wait, user=ann) < 1h', 'mean(task.time, node=node-4) < 1h']\n\
             charts: [{bars: 'mean(sojourn[name=b])', over: nodes}]",
        );
        let error = error.unwrap_err();
        for told in [
            "column 21 of `mean(sojourn, class=smal)`: there is no class `smal`",
            "^^^^ did you mean `small`?",
            "metrics[0]",
            "there is no user `ann`",
            "expect[0]",
            "there is no name `b`",
            "charts[0].bars",
        ] {
            assert!(error.contains(told), "{told}: {error}");
        }
        assert_eq!(error.matches("error: ").count(), 2, "three in all: {error}");
        // Another axis value, or another seed, may have what the first has not.
        let drawn = "workload: {mix: {jobs: 1, types: {a: {maps: 1}, b: {maps: 1}}}}\n";
        let study = |seeds| {
            let yaml = format!(
                "{drawn}metrics: ['mean(sojourn, name=[a-1, b-1])']\nsweep: {{seeds: {seeds}}}"
            );
            Plan::new(
                &Study::of(Draft::of("test.yaml", &yaml).unwrap()).unwrap(),
                &crate::testing::registry(),
            )
        };
        assert!(study(1).unwrap_err().to_string().contains("there is no name"));
        assert!(study(30).is_ok());
    }

    #[test]
    fn mistakes_of_the_study_and_of_all_its_cells_are_told_together() {
        let yaml = "scheduler: fairr\nsweep: {cluster.racks: [1, 9, x], seeds: 2}\n\
                    cluster: {nodes: 3, hdfs: {replication: 0}}\nmetrics: [mean(sojurn)]";
        let draft = Draft::of("test.yaml", &format!("{ONE_JOB}{yaml}")).unwrap();
        let error = Plan::check(draft, &crate::testing::registry()).unwrap_err().to_string();
        for told in ["unknown policy `fairr`", "text \"x\"", "integer `0`", "unknown name `sojurn`"]
        {
            assert!(error.contains(told), "{told}: {error}");
        }
        // Each mistake is in all three cells, and is told once.
        assert_eq!(error.matches("error: ").count(), 3, "four in all: {error}");
    }

    #[test]
    fn too_many_runs_are_counted_and_refused() {
        let axes = |count: usize| {
            let axis = |number| format!("\"workload.jobs[0].x{number}\": [1, 2]");
            (0..count).map(axis).collect::<Vec<_>>().join(", ")
        };
        for (sweep, runs) in [
            ("cluster.nodes: {from: 1, to: 1001, step: 1}, seeds: 1000".to_owned(), 1_001_000),
            (axes(127), 1 << 127),
            (axes(128), u128::MAX),
        ] {
            let error = plan(&format!("sweep: {{{sweep}}}")).unwrap_err();
            assert_eq!(error, format!("the study has {runs} runs, more than 1000000"));
        }
    }
}
