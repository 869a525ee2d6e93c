//! A user kills a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use mumakil_core::mapred::ToJobTracker;
use mumakil_yaml::YamlProblem;

/// The job that its user kills. If the job has a `count`, its name (`load`) means all of its
/// copies, and `load-2` only one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Kill(String);

impl Kill {
    pub(super) fn job(&self) -> &str {
        &self.0
    }
}

impl FaultKind for Kill {
    fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        known.has_job(&self.0)
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        effects.opening.extend(
            effects.site.jobs(&self.0).map(|id| (cue.at, ToJobTracker::KillJob(id).into())),
        );
    }
}
