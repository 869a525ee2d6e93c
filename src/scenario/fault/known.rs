//! The scenario around faults, when they are checked.

use std::collections::BTreeMap;

use crate::workload::shared::copy;
use mumakil_core::mapred::Hadoop;
use mumakil_yaml::{Path, YamlProblem};

/// The cluster and the workload around faults, when they are checked.
#[derive(Clone, Debug, Default)]
pub struct FaultContext<'a> {
    /// How many nodes there are, if no file has still to say so.
    pub nodes: Option<u32>,
    /// How many nodes stand in each rack, if that is known.
    pub racks: Option<Vec<u32>>,
    /// The names of the jobs with their counts, if no file has still to say so.
    pub jobs: Option<BTreeMap<&'a str, u32>>,
    /// The protocol's settings, if they are known.
    pub hadoop: Option<&'a Hadoop>,
}

impl FaultContext<'_> {
    /// Says so if the workload has no such job; the path begins at the name.
    pub(super) fn has_job(&self, name: &str) -> Result<(), YamlProblem> {
        match &self.jobs {
            Some(jobs) if !jobs.contains_key(name) && !is_copy(name, jobs) => {
                let message = format!("there is no job `{name}` in the workload");
                let problem = YamlProblem::value(Path::default(), message);
                Err(problem.nearest(name, jobs.keys().copied()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a name is that of one of the jobs of an entry with a count, such as `a-2`.
fn is_copy(name: &str, jobs: &BTreeMap<&str, u32>) -> bool {
    let Some((of, number)) = copy(name) else { return false };
    jobs.get(of).is_some_and(|&count| 1 < count && number <= count)
}
