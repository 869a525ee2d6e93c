//! The scenario: one YAML file that says everything about a run.
//!
//! A text becomes a [`Scenario`] in steps: the YAML is read into a tree ([`Draft`]), the command
//! line's `--set` is laid over it, presets are laid under it (`preset`), the tree becomes
//! typed, and what no single field can say is checked (`check`). No step stops at the
//! first mistake: all of them are reported together, each with its place in the text
//! ([`mumakil_yaml`]). Behind this module nothing is checked again.

mod check;
mod classes;
mod complaint;
mod draft;
mod error;
mod later;
mod preset;
mod reference;
mod registry;
mod schema;
mod spec;
mod starter;

use mumakil_core::trace::TraceFile;
use mumakil_yaml as yaml;

pub use check::Warning;
pub use classes::{ClassRule, Comparison, Counted};
pub use draft::Draft;
pub use error::ScenarioError;
pub use later::Later;
pub use reference::Reference;
pub use registry::{PolicyEntry, Registry, SchedulerChoice};
pub use schema::{generator, schema, shape};
pub use spec::{ClockSpec, Experiment, Name, RecordSpec, Scenario};
pub use starter::{STARTERS, Starter};

pub use complaint::{misplaced, unusable};

/// Larger files are refused unread.
const LARGEST_FILE: u64 = 16 << 20;

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario, with every value in place.
    pub scenario: Scenario,
    /// What is hardly meant as it stands.
    pub warnings: Vec<Warning>,
    /// The settings that somebody said and that matter, of those that do not always.
    pub heeded: Vec<String>,
}

/// Reads a scenario from a file, with what `path=value` puts over it.
///
/// # Errors
/// If the file cannot be read, or with everything that is wrong in it.
pub fn load(
    path: &std::path::Path,
    sets: &[String],
    registry: &Registry,
) -> Result<Loaded, ScenarioError> {
    Draft::read(path)?.with(sets).resolve(registry)
}

/// Reads a scenario from a text; `name` stands for the file in messages, and names the scenario if
/// it does not do so itself.
///
/// # Errors
/// With everything that is wrong in the text.
pub fn parse(
    name: &str,
    text: &str,
    sets: &[String],
    registry: &Registry,
) -> Result<Loaded, ScenarioError> {
    Draft::of(name, text)?.with(sets).resolve(registry)
}

impl Scenario {
    /// Returns the scenario as YAML, with every value but the defaults of jobs, which may be many;
    /// reading it gives an equal one.
    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(&yaml::write(self)).expect("a tree can be written as YAML")
    }

    /// Returns the files that the scenario names.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut TraceFile> {
        self.keyed_files_mut().map(|(_, file)| file)
    }

    /// Returns the files that the scenario names, each with its key.
    fn keyed_files_mut(&mut self) -> impl Iterator<Item = (String, &mut TraceFile)> {
        let nodes =
            self.cluster.topology.as_mut().map(|file| ("cluster.topology".to_owned(), file));
        self.workload.files_mut().chain(nodes)
    }

    /// Returns the class of a job that names none: the first whose rule it fits.
    pub fn class_of(&self, maps: u32, reduces: u32) -> Option<&str> {
        let mut classes = self.classes.iter();
        classes.find(|(_, rule)| rule.fits(maps, reduces)).map(|(class, _)| class.as_str())
    }
}

#[cfg(test)]
mod tests;
