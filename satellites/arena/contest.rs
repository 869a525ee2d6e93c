//! A contest: the study in which policies serve a suite beside its baselines and its bound.

use serde::Serialize;
use serde_yaml::{Mapping, Value};
use sha2::{Digest as _, Sha256};

use crate::suite::{PolicyLimits, Suite};
use mumakil_cli::policy::contestant::{Contestant, change_programs};
use mumakil_scenario::{Name, Registry, ScenarioError};
use mumakil_study::{Axis, Plan, SCENARIO, SEEDS, Study};
use mumakil_yaml::{Origin, Path};

/// The numbers that every contest measures beside those of the suite, to draw mean against tail.
pub(crate) const MEAN: &str = "mean(sojourn)";
pub(crate) const TAIL: &str = "p95(sojourn)";

/// The axis of policies.
pub(crate) const POLICIES: &str = "scheduler";

/// The study of a suite and the policies to be scored.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The study.
    pub study: Study,
    /// The suite.
    pub suite: Suite,
    /// The labels of the scored policies on the axis of policies.
    pub policies: Vec<String>,
    /// Whether a policy to be scored starts a program.
    pub starts_program: bool,
    /// How many seeds are public; the others are held back.
    pub(crate) public: usize,
}

impl Contest {
    /// Returns the contest of some policies. With a key, as many seeds are held back as are public.
    ///
    /// # Errors
    /// If the suite has mistakes.
    pub fn new(
        suite: Suite,
        contestants: &[Contestant],
        key: Option<&str>,
        registry: &Registry,
    ) -> Result<Self, ScenarioError> {
        let mut schedulers: Vec<(String, Value)> = suite.baselines.clone();
        let bounds = suite.scenarios.iter().map(|one| one.bound.clone());
        let mut starts_program = false;
        let mut scored = contestants.to_vec();
        for one in &mut scored {
            starts_program |= change_programs(&mut one.scheduler, registry, |options| {
                options.extend(suite.limits.options());
            });
        }
        let scored = scored.into_iter().map(|one| (one.name, one.scheduler));
        for one in bounds.chain(scored) {
            // A baseline may be scored, too: it takes part once.
            if !schedulers.contains(&one) {
                schedulers.push(one);
            }
        }
        let named = schedulers.iter().map(|(label, value)| -> Value {
            Mapping::from_iter([
                ("as".into(), label.as_str().into()),
                ("value".into(), value.clone()),
            ])
            .into()
        });
        let schedulers: Vec<Value> = named.collect();
        let public = suite.seeds.len();
        let held = key.into_iter().flat_map(|key| (0..public).map(move |number| held(key, number)));
        let seeds: Vec<Value> = suite.seeds.iter().copied().chain(held).map(Value::from).collect();
        let mut metrics = vec![MEAN, TAIL];
        for scenario in &suite.scenarios {
            if !metrics.contains(&&*scenario.goal.text) {
                metrics.push(&scenario.goal.text);
            }
        }
        let metrics: Vec<Value> = metrics.into_iter().map(Value::from).collect();
        let name = Name::from_text(&format!("score-{}", suite.name));
        let compare = [
            ("axis".into(), POLICIES.into()),
            ("base".into(), suite.baselines[0].0.as_str().into()),
        ];
        let mut draft = suite.draft.clone();
        let sweep = Path::of("sweep");
        for (path, value) in [
            (Path::of("name"), name.as_str().into()),
            (sweep.key(POLICIES), schedulers.into()),
            (sweep.key(SEEDS), seeds.into()),
            (Path::of("metrics"), metrics.into()),
            (Path::of("compare"), Mapping::from_iter(compare).into()),
        ] {
            let origin = Origin::argument(&format!("{path}=…"));
            draft.put(&path, value, origin).expect("the root is a mapping");
        }
        let study = Study::of(draft)?;
        let policies = contestants.iter().map(|one| one.name.clone()).collect();
        Ok(Self { study, suite, policies, starts_program, public })
    }

    /// Returns for each policy whether it uses the true sizes of jobs.
    pub(crate) fn oracles(&self, plan: &Plan, registry: &Registry) -> Vec<bool> {
        let foresees = |policy: usize| {
            let cell = self.cell(0, policy);
            let mut runs = plan.runs.iter();
            let run = runs.find(|run| plan.cells[run.cell].values == cell);
            run.is_some_and(|run| registry.foresees(&plan.scenario(run).scheduler))
        };
        (0..self.axis(POLICIES).values.len()).map(foresees).collect()
    }

    /// Returns the goal of each scenario in words, such as `less mean(sojourn)`, and the label of its
    /// bound.
    pub fn goals(&self) -> impl Iterator<Item = (String, &str)> {
        self.suite.scenarios.iter().map(|one| (one.goal.words(), &*one.bound.0))
    }

    /// Returns the cells of policies that are neither a baseline nor a bound: for each cell, the
    /// indices of its values on the axes.
    pub fn own_cells(&self) -> Vec<Vec<usize>> {
        let suite = &self.suite;
        let baselines = suite.baselines.iter().map(|(label, _)| label);
        let usual: Vec<&String> =
            baselines.chain(suite.scenarios.iter().map(|one| &one.bound.0)).collect();
        let own = self.policies.iter().filter(|policy| !usual.contains(policy));
        let policies: Vec<usize> = own.map(|policy| self.policy(policy)).collect();
        let scenarios = 0..suite.scenarios.len();
        scenarios
            .flat_map(|one| policies.iter().map(move |policy| self.cell(one, *policy)))
            .collect()
    }

    pub(crate) fn axis(&self, name: &str) -> &Axis {
        let mut axes = self.study.sweep.axes.iter();
        axes.find(|axis| axis.name == name).expect("the contest has made the axis")
    }

    /// Returns the index of a policy on the axis of policies.
    pub(crate) fn policy(&self, label: &str) -> usize {
        let place = self.axis(POLICIES).values.iter().position(|value| value.label == label);
        place.expect("the contest has made the value")
    }

    /// Returns the cell of a scenario and a policy, given by their indices.
    pub(crate) fn cell(&self, scenario: usize, policy: usize) -> Vec<usize> {
        (self.study.sweep.axes.iter())
            .map(|axis| if axis.name == SCENARIO { scenario } else { policy })
            .collect()
    }
}

/// Returns a held-back seed. Without the key it cannot be computed, and seeds of other keys differ.
fn held(key: &str, number: usize) -> u64 {
    let hash = Sha256::digest(format!("{number}\0{key}"));
    let bytes = <[u8; 8]>::try_from(&hash[..8]).expect("a hash is longer");
    u64::from_be_bytes(bytes)
}

impl PolicyLimits {
    /// Returns the options that limit a program.
    fn options(&self) -> [(Value, Value); 2] {
        let Self { memory, processor, answer, wait, .. } = *self;
        let sandbox =
            [("memory", yaml(memory)), ("processor", yaml(processor)), ("answer", yaml(answer))];
        let sandbox = sandbox.map(|(key, limit)| (Value::from(key), limit));
        [("timeout".into(), yaml(wait)), ("sandbox".into(), Mapping::from_iter(sandbox).into())]
    }
}

fn yaml(limit: impl Serialize) -> Value {
    serde_yaml::to_value(limit).expect("limits can be written as YAML")
}
