//! A user kills a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::mapred::{JobId, ToJobTracker};
use crate::units::SimTime;
use crate::workload::Workload;
use crate::yaml::{Path, Problem};

/// The job that its user kills; all of them if it has a `count`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Kill(String);

impl Kind for Kill {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        let Self(name) = self;
        match &known.jobs {
            Some(jobs) if !jobs.contains(name.as_str()) => {
                let message = format!("there is no job `{name}` in the workload");
                let problem = Problem::value(Path::default(), message);
                Err(problem.nearest(name, jobs.iter().copied()))
            }
            _ => Ok(()),
        }
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        let kill = |id| (at, ToJobTracker::KillJob(id).into());
        effects.opening.extend(jobs(effects.workload, &self.0).map(kill));
    }
}

/// Returns the jobs of a name: one, or all of an entry with a count.
fn jobs(workload: &Workload, name: &str) -> impl Iterator<Item = JobId> {
    let batch = workload.names.iter().position(|other| other == name);
    let arrivals = workload.arrivals.iter();
    arrivals.filter(move |job| Some(job.batch.index()) == batch).map(|job| job.spec.id)
}
