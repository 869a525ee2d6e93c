//! The scenario against which faults are checked.

use std::collections::BTreeMap;

use crate::workload::shared::copy;
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::Hadoop;
use mumakil_yaml::{Path, YamlProblem};

/// The cluster and the workload against which faults are checked; a field that is not known yet is
/// `None`.
#[derive(Clone, Debug, Default)]
pub struct FaultContext<'a> {
    /// The number of nodes; not known before the run if a file gives it.
    pub nodes: Option<u32>,
    /// The number of nodes in each rack.
    pub racks: Option<Vec<u32>>,
    /// The nodes with their names; not known before the run.
    pub topology: Option<&'a Topology>,
    /// The names of the jobs with their counts; not known before the run if a file gives them.
    pub jobs: Option<BTreeMap<&'a str, u32>>,
    /// The settings of the protocol.
    pub hadoop: Option<&'a Hadoop>,
}

impl FaultContext<'_> {
    /// Checks that the workload has a job with this name; the path of a problem begins at the name.
    pub(crate) fn has_job(&self, name: &str) -> Result<(), YamlProblem> {
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

/// Returns whether a name is one copy of an entry with a count, such as `a-2`.
fn is_copy(name: &str, jobs: &BTreeMap<&str, u32>) -> bool {
    let Some((of, number)) = copy(name) else { return false };
    jobs.get(of).is_some_and(|&count| 1 < count && number <= count)
}
