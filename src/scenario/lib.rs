//! Scenarios: a cluster, a workload, faults and a policy in YAML, read, checked and resolved.
//!
//! ```text
//! scenario.yaml, --set path=value   the user's words
//!   Draft        one tree: the file, the arguments laid over it
//!   preset       the presets of hadoop, cluster and workload laid under it
//!   Scenario     the tree as types
//!   check        rules about several fields at once
//!   the result   the scenario and its warnings, for `mumakil-run`
//! ```
//!
//! No step stops at the first mistake: all mistakes are reported together, each with its position
//! in the text ([`mumakil_yaml`]). After this crate nothing is checked again, except against the
//! content of a trace or topology file.
//!
//! The crate builds on `mumakil-yaml`, which reads trees and reports mistakes with their positions,
//! and on the crates whose options it gathers: `mumakil-core`, and `mumakil-results` for
//! expectations. It knows no policy and no trace: the crate at the top puts their entries into the
//! [`Registry`].

mod check;
mod classes;
mod complaint;
mod draft;
mod error;
pub mod fault;
mod later;
mod line;
mod preset;
mod reference;
mod registry;
mod schema;
mod shape;
mod spec;
mod starter;
#[cfg(test)]
mod tests;
pub mod workload;

pub use check::Warning;
pub use classes::{ClassComparison, ClassCount, ClassRule};
pub use complaint::{misplaced, unusable};
pub use draft::{Draft, LoadedScenario, STUDY_KEYS, load, parse};
pub use error::ScenarioError;
pub use later::{AlteredJob, LaterChange, NamedTask, PolicyStep};
pub use line::{LineEmulation, LineEnd, LineRun};
#[doc(hidden)]
pub use mumakil_bundled as bundled_files;
pub use mumakil_core::mapred::{PolicyEntry, SchedulerChoice};
pub use preset::{hadoop_preset, presets};
pub use reference::Reference;
pub use registry::{CheckedChoice, Registry, option_files};
pub use schema::{generator, schema};
pub use shape::{shape, shapes};
pub use spec::{ClockSpec, Experiment, Name, RecordSpec, Scenario};
pub use starter::{EXERCISES, STARTERS, Starter};
