//! Lines of Hadoop whose protocol is not MapReduce v1's, such as `hadoop: yarn`. Satellites emulate
//! them.
//!
//! A line brings presets for `hadoop` and `cluster`, and policies of its own. Its preset says
//! `protocol: {NAME: SETTINGS}`: by that a run knows who plays it. The facts of its runs are those
//! of MapReduce, so all tables and reports are made as for any other run.

use std::path::PathBuf;
use std::time::Duration;
use std::{io, path};

use schemars::{Schema, SchemaGenerator};
use serde_yaml::Value;

use super::check::{Checked, Warning};
use super::registry::Registry;
use super::spec::Scenario;
use super::starter::Starter;
use crate::fault::FaultSite;
use crate::workload::Workload;
use mumakil_base::units::SimTime;
use mumakil_base::units::tell::{listed, quoted};
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::{Hadoop, PolicyEntry, SchedulerChoice};
use mumakil_runtime::{ClockPace, Ending, EventSink, RunStats, Transport};
use mumakil_yaml::{Path, YamlProblem};

/// The emulation of a line of Hadoop whose protocol is not MapReduce v1's.
pub trait LineEmulation: Sync {
    /// Returns the presets of `hadoop` and `cluster`; the name is that of the line and its protocol.
    fn presets(&self) -> &[Starter; 2];

    /// Returns the policies, its default first.
    fn policies(&self) -> Vec<PolicyEntry>;

    /// Returns the JSON Schema of the protocol's settings.
    fn schema(&self, schemas: SchemaGenerator) -> Schema;

    /// Returns whether a key below `hadoop` or `cluster` has an effect.
    fn heeds(&self, key: &str) -> bool;

    /// Returns what of a scenario cannot be emulated.
    fn problems(&self, scenario: &Scenario) -> Vec<YamlProblem>;

    /// Gives the nodes of a cluster their slots, by which tables count their work.
    fn equip(&self, scenario: &Scenario, topology: &mut Topology);

    /// Checks the jobs of a loaded scenario, when all files are read. Returns warnings.
    ///
    /// # Errors
    /// If they cannot run in the cluster; the error says why.
    fn check(
        &self,
        scenario: &Scenario,
        topology: &Topology,
        workload: &Workload,
    ) -> Result<Vec<String>, String>;

    /// Runs a scenario.
    ///
    /// # Errors
    /// If a table of its own cannot be written.
    fn play(&self, run: LineRun<'_>) -> Result<LineEnd, (PathBuf, io::Error)>;
}

/// A run of a line: its input and its output.
pub struct LineRun<'r> {
    /// The scenario.
    pub scenario: &'r Scenario,
    /// The nodes and the jobs.
    pub site: FaultSite<'r>,
    /// Takes the facts of the run.
    pub events: Box<dyn EventSink>,
    /// The folder for tables of its own; `None` writes none.
    pub folder: Option<&'r path::Path>,
    /// Holds the run to the pace set in the live view; `None` if nobody watches it.
    pub pace: Option<Box<dyn ClockPace>>,
    /// How long the run may take in real time.
    pub time_limit: Option<Duration>,
    /// How messages travel on the virtual clock.
    pub transport: Transport,
    /// Whether its invariants are checked.
    pub verify: bool,
}

/// The end of a run of a line.
pub struct LineEnd {
    /// Its measures.
    pub stats: RunStats,
    /// How it ended.
    pub ending: Ending,
    /// The invariants that it broke, in words.
    pub breaches: Vec<(SimTime, String)>,
}

impl dyn LineEmulation + '_ {
    /// Returns the name of the line.
    pub fn name(&self) -> &'static str {
        self.presets()[0].name
    }

    fn policy_names(&self) -> Vec<&'static str> {
        self.policies().iter().map(PolicyEntry::name).collect()
    }
}

impl Registry {
    /// Returns the line that a scenario's protocol belongs to; `None` for MapReduce v1's.
    pub fn line_of(&self, hadoop: &Hadoop) -> Option<&'static dyn LineEmulation> {
        let name = hadoop.protocol.keys().next()?.as_str()?;
        self.lines.iter().copied().find(|line| line.name() == name)
    }

    /// Checks that the protocol, the policies and the settings of a scenario fit each other. `said`
    /// lists the keys that the user wrote.
    pub(super) fn check_line(
        &self,
        scenario: &Scenario,
        intact: impl Fn(&str) -> bool,
        said: &[String],
    ) -> Checked {
        let mut found = Checked::default();
        if !["hadoop", "cluster", "scheduler"].into_iter().all(intact) {
            return found;
        }
        let line = self.line_of(&scenario.hadoop);
        if let (None, Some(name)) = (line, scenario.hadoop.protocol.keys().next()) {
            let name = name.as_str().unwrap_or_default();
            let known = self.lines.iter().map(|line| line.name());
            let at = Path::of("hadoop.protocol").key(name);
            found.problems.push(YamlProblem::unknown("protocol", name, known, at));
        }
        for choice in scenario.policies() {
            found.problems.extend(self.misplaced_policy(line, choice));
        }
        let Some(line) = line else { return found };
        found.problems.extend(line.problems(scenario));
        for setting in said.iter().filter(|key| !line.heeds(key)).cloned() {
            let name = line.name();
            let message = format!("`{setting}` has no effect with `hadoop: {name}`; leave it out");
            found.warnings.push(Warning::Idle { setting, message });
        }
        found
    }

    /// Returns the problem with a policy of another line.
    fn misplaced_policy(
        &self,
        line: Option<&dyn LineEmulation>,
        choice: &SchedulerChoice,
    ) -> Option<YamlProblem> {
        let name = &*choice.name;
        let owner = self.lines.iter().find(|line| line.policy_names().contains(&name));
        let (message, hint) = match (line, owner) {
            (Some(line), None) => {
                let own = line.policy_names();
                let twin = own.iter().find(|own| own.ends_with(&format!("-{name}")));
                let line = line.name();
                let hint = match twin {
                    Some(twin) => format!("its namesake is `{twin}`"),
                    None => {
                        format!("with `hadoop: {line}` there are {}", listed(quoted(own), "and"))
                    }
                };
                (format!("`{name}` schedules slots, and `{line}` has none"), hint)
            }
            (None, Some(owner)) => {
                let owner = owner.name();
                let message = format!("`{name}` schedules containers of `{owner}`");
                (message, format!("write `hadoop: {owner}`, too"))
            }
            _ => return None,
        };
        Some(YamlProblem::key(Path::of("scheduler").key(name), message).hint(hint))
    }

    /// Returns the name of the policy that a line takes unless the scenario names one.
    pub(super) fn default_policy(&self, hadoop: &Value) -> Option<&'static str> {
        let name = hadoop.get("protocol")?.as_mapping()?.keys().next()?.as_str()?;
        let line = self.lines.iter().find(|line| line.name() == name)?;
        line.policy_names().first().copied()
    }
}
