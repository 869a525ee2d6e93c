//! The runs of a study: a cell for each combination of the axes' values, a run for each seed in it.
//!
//! A run is known by a hash of its resolved scenario and of this version of Mumakil, with the
//! content of the traces that it names. So the same run is never done twice, in this study or in a
//! later form of it, and a change that could change its results gives it another name.
//!
//! What a policy of somebody's own does, no version of ours tells: its runs are known by the
//! content of the program, too, and are done again when that was built anew.

use std::io;
use std::path::PathBuf;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};

use super::Study;
use crate::emulation::{EmulationError, Prepared};
use crate::expect::{Table, combinations};
use crate::scenario::{
    ClockSpec, Draft, Name, PolicyEntry, RecordSpec, Registry, Scenario, ScenarioError, Warning,
};
use crate::trace::{TraceError, hex, sha256_of};
use crate::yaml::{Displaced, Path, Problem};

/// More runs than that are a mistake.
const MOST_RUNS: u128 = 1_000_000;

/// What a study comes to.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The combinations of the axes' values, the last axis stepping fastest.
    pub cells: Vec<Cell>,
    /// The runs, cell by cell and seed by seed.
    pub runs: Vec<PlannedRun>,
    /// What is hardly meant as it stands.
    pub warnings: Vec<Warning>,
}

/// A combination of the axes' values.
#[derive(Clone, Debug)]
pub struct Cell {
    /// For each axis, which of its values.
    pub values: Vec<usize>,
    /// What tells it from the others, axis by axis.
    labels: Vec<String>,
    /// The scenario, but for the seed.
    scenario: Scenario,
}

/// A run that a study wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The number of its cell.
    pub cell: usize,
    /// Its seed.
    pub seed: u64,
    /// Its name: sixteen hexadecimal digits.
    pub id: String,
}

/// Why a study cannot be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A cell has no sound scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// What a cell's files hold does not go with the rest of it.
    #[error(transparent)]
    Unfit(#[from] EmulationError),
    /// The program that has the policy is not found.
    #[error("cannot find the program, by which the runs of the policy `{policy}` are known")]
    Program {
        /// The policy.
        policy: String,
        /// Why.
        source: io::Error,
    },
    /// There are too many runs.
    #[error("the study has {runs} runs, more than {MOST_RUNS}")]
    TooMany {
        /// How many.
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
    /// With what is wrong in the scenario of some cell.
    pub fn new(study: &Study, registry: &Registry) -> Result<Self, PlanError> {
        let (mut cells, mut runs) = (Vec::new(), Vec::new());
        let (mut warnings, mut hashes) = (IndexSet::new(), Hashes::default());
        let mut displaced: IndexMap<Displaced, IndexSet<String>> = IndexMap::new();
        let mut known_to_fit = FxHashSet::default();
        for values in wanted(study)? {
            let mut draft = study.base.clone();
            for (axis, value) in study.sweep.axes.iter().zip(&values) {
                for put in &axis.values[*value].puts {
                    let origin = study.draft.origin(&put.written);
                    let put =
                        draft.put(&put.path, put.value.clone(), origin).map_err(|message| {
                            let problem = Problem::value(put.written.clone(), message);
                            ScenarioError::invalid(vec![study.draft.finding(problem)])
                        })?;
                    for mut gone in put {
                        let value = std::mem::take(&mut gone.by);
                        displaced.entry(gone).or_default().insert(value);
                    }
                }
            }
            let loaded = draft.resolve(registry)?;
            let mut scenario = loaded.scenario;
            scenario.name = study.name.clone();
            record_only_what_is_read(study, &draft, &mut scenario.record)?;
            hashes.pin_traces(&mut scenario)?;
            let program = hashes.program(&scenario.scheduler.name, registry)?;
            warnings.extend(loaded.warnings);
            // What only the files' content shows is shown before anything runs. It is read once for
            // all cells with the same cluster, jobs and policy.
            let Scenario { cluster, workload, faults, scheduler, .. } = &scenario;
            let site = (cluster, workload, faults, scheduler);
            if known_to_fit.insert(serde_yaml::to_string(&site).expect("it was YAML")) {
                Prepared::new(scenario.clone(), registry)?;
            }
            for seed in study.sweep.seeds.from(scenario.seed) {
                let id = identity(Scenario { seed, ..scenario.clone() }, program.as_deref());
                runs.push(PlannedRun { cell: cells.len(), seed, id });
            }
            let labels =
                study.sweep.axes.iter().zip(&values).map(|(axis, value)| axis.tell(*value));
            cells.push(Cell { labels: labels.collect(), values, scenario });
        }
        // An axis of choices leaves out on purpose what the base says of one of them: told once.
        warnings.extend(displaced.into_iter().map(|(gone, values)| {
            let by = values.into_iter().collect::<Vec<_>>().join("`, `");
            Warning::Displaced(Displaced { by, ..gone })
        }));
        Ok(Self { cells, runs, warnings: warnings.into_iter().collect() })
    }

    /// Returns whether every run gives the same results again: none has a clock of real time.
    pub fn is_repeatable(&self) -> bool {
        self.cells.iter().all(|cell| cell.scenario.clock == ClockSpec::Virtual)
    }

    /// Tells which run it is: `nodes 10, fair, seed 42`.
    pub fn describe(&self, run: usize) -> String {
        let PlannedRun { cell, seed, .. } = &self.runs[run];
        let labels = &self.cells[*cell].labels;
        labels.iter().cloned().chain([format!("seed {seed}")]).collect::<Vec<_>>().join(", ")
    }

    /// Returns the scenario of a run.
    pub fn scenario(&self, run: &PlannedRun) -> Scenario {
        Scenario { seed: run.seed, ..self.cells[run.cell].scenario.clone() }
    }
}

/// Sets what the runs record, unless the draft does so itself: thousands of runs need not keep what
/// nobody reads. What is read must be recorded, or it would be missed when all is done.
fn record_only_what_is_read(
    study: &Study,
    draft: &Draft,
    record: &mut RecordSpec,
) -> Result<(), ScenarioError> {
    let reads = |table| study.needs.columns.contains_key(&table);
    let mut problems = Vec::new();
    for (path, setting, is_read) in [
        ("record.tasks", &mut record.tasks, reads(Table::Tasks)),
        ("record.timeline", &mut record.timeline, reads(Table::Timeline)),
        ("record.histograms", &mut record.histograms, !study.needs.histograms.is_empty()),
        ("record.alone", &mut record.alone, reads(Table::Alone)),
        ("record.chains", &mut record.chains, reads(Table::Chains)),
        ("record.waste", &mut record.waste, study.needs.reads_waste()),
        ("record.report", &mut record.report, false),
    ] {
        if !draft.says(path) {
            *setting = is_read;
        } else if is_read && !*setting {
            let message = "the study reads what this does not record";
            let problem = Problem::value(Path::of(path), message);
            problems.push(draft.finding(problem.hint("leave it out: what is read is recorded")));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(ScenarioError::invalid(problems)) }
}

/// Returns the combinations of the axes' values that are not excluded.
fn wanted(study: &Study) -> Result<Vec<Vec<usize>>, PlanError> {
    let axes = &study.sweep.axes;
    let seeds = study.sweep.seeds.from(0).len() as u128;
    let values = axes.iter().map(|axis| axis.values.len() as u128);
    let runs = values.fold(seeds, u128::saturating_mul);
    if MOST_RUNS < runs {
        return Err(PlanError::TooMany { runs });
    }
    let choices = axes.iter().map(|axis| (0..axis.values.len()).collect());
    let mut cells = combinations(&choices.collect::<Vec<_>>());
    let hits = |rule: &Vec<Option<Vec<usize>>>, cell: &Vec<usize>| {
        let hit = |(part, value): (&Option<Vec<usize>>, &usize)| {
            part.as_ref().is_none_or(|values| values.contains(value))
        };
        rule.iter().zip(cell).all(hit)
    };
    cells.retain(|cell| !study.excluded.iter().any(|rule| hits(rule, cell)));
    if cells.is_empty() {
        return Err(PlanError::Empty);
    }
    Ok(cells)
}

/// Returns the name of a run. What the study is called, and said to be for, changes nothing in it.
fn identity(scenario: Scenario, program: Option<&str>) -> String {
    let scenario =
        Scenario { name: Name::from_text("run"), description: String::new(), ..scenario };
    let mut hash = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), program.unwrap_or_default(), &scenario.to_yaml()] {
        hash.update(part);
        hash.update([0]);
    }
    hex(&hash.finalize()[..8])
}

/// The content of each trace, and of this program: each is hashed once.
#[derive(Default)]
struct Hashes {
    known: IndexMap<PathBuf, String>,
}

impl Hashes {
    fn of(&mut self, path: PathBuf) -> Result<String, TraceError> {
        if let Some(hash) = self.known.get(&path) {
            return Ok(hash.clone());
        }
        let hash = sha256_of(&path)?;
        self.known.insert(path, hash.clone());
        Ok(hash)
    }

    /// Notes in a scenario what each trace of it holds.
    fn pin_traces(&mut self, scenario: &mut Scenario) -> Result<(), TraceError> {
        let folder = scenario.folder.clone();
        for file in scenario.files_mut() {
            let hash = self.of(file.find(&folder))?;
            file.pin(&folder, Some(&hash))?;
        }
        Ok(())
    }

    /// Returns the hash of this program, if what the policy does is not known by our version.
    fn program(&mut self, policy: &str, registry: &Registry) -> Result<Option<String>, PlanError> {
        if registry.get(policy).is_some_and(PolicyEntry::is_builtin) {
            return Ok(None);
        }
        let path = std::env::current_exe();
        let path = path.map_err(|source| PlanError::Program { policy: policy.into(), source })?;
        Ok(Some(self.of(path)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::{Offer, Policy, Scheduler};

    const ONE_JOB: &str = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n";

    /// A policy of somebody's own, by the name of one of ours.
    struct Own;

    impl Scheduler for Own {
        fn offer(&mut self, _: &mut Offer<'_>) {}
    }

    impl Policy for Own {
        const NAME: &'static str = "fifo";
        const ABOUT: &'static str = "does nothing";
        type Options = ();
        fn new((): ()) -> Self {
            Self
        }
    }

    /// Plans the study of one job that a text adds to.
    fn plan(yaml: &str) -> Result<Plan, String> {
        plan_with(yaml, &Registry::builtin())
    }

    fn plan_with(yaml: &str, registry: &Registry) -> Result<Plan, String> {
        let study = Study::of(Draft::of("test.yaml", &format!("{ONE_JOB}{yaml}")).unwrap());
        Plan::new(&study.unwrap(), registry).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_study_is_called_does_not_make_other_runs() {
        let [one, other] = ["name: a", "name: b\ndescription: the same"]
            .map(|name| plan(&format!("{name}\nsweep: {{seeds: 2}}")).unwrap().runs);
        assert_eq!(one, other);
        assert_ne!(one, plan("name: a\nsweep: {seeds: 2}\nuntil: 5s").unwrap().runs);
    }

    #[test]
    fn runs_of_somebodys_own_policy_are_known_by_the_program() {
        let mut registry = Registry::builtin();
        registry.add::<Own>();
        let ids = |registry: &Registry| plan_with("sweep: {seeds: 2}", registry).unwrap().runs;
        assert_ne!(ids(&registry), ids(&Registry::builtin()));
        assert_eq!(ids(&registry), ids(&registry));
    }

    #[test]
    fn what_is_read_must_be_recorded() {
        let error = |record| {
            plan(&format!("metrics: [mean(task.time)]\nsweep: {{seeds: 2}}\n{record}")).unwrap_err()
        };
        let told = error("record: {tasks: false}");
        assert!(told.starts_with("the study reads what this does not record"), "{told}");
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
