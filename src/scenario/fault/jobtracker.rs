//! The JobTracker's process pauses, or dies and is restarted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::ToJobTracker;
use mumakil_yaml::{Path, YamlProblem};

/// The JobTracker answers no messages for a while: one of `pause` and `restart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobTrackerProcess {
    /// How long its process pauses, as for a garbage collection. After a pause longer than
    /// `hadoop.expiry`, it may declare all trackers lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<SimSpan>,
    /// How long its process is down before it is restarted. Meanwhile heartbeats fail and are
    /// repeated each second; jobs wait. `recover` decides what happens to jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restart: Option<SimSpan>,
    /// Whether the restarted JobTracker recovers jobs (`mapred.jobtracker.restart.recover`).
    /// Without this, all unfinished jobs fail. With it, 0.20 keeps attempts that have ended; 0.21
    /// and 1.x run all tasks of a job anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    recover: bool,
}

impl FaultKind for JobTrackerProcess {
    fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        if self.pause.is_some() == self.restart.is_some() {
            let message = "it is one of `pause: 30s` and `restart: 2min`";
            return Err(YamlProblem::value(Path::default(), message));
        }
        // The checks below concern only `recover`.
        if !self.recover {
            return Ok(());
        }
        let (message, hint) = match known.hadoop {
            _ if self.restart.is_none() => (
                "a paused JobTracker keeps its jobs, so it recovers none".to_owned(),
                "leave it out",
            ),
            Some(hadoop) if hadoop.behaviour().recovery.is_none() => {
                let message =
                    format!("the JobTracker of Hadoop {} cannot recover jobs", hadoop.line);
                (message, "leave it out, or set `hadoop.line` to 0.20, 0.21 or 1.x")
            }
            // If `hadoop` has mistakes, the version is unknown, so this cannot be checked.
            Some(_) | None => return Ok(()),
        };
        let problem = YamlProblem::value(Path::of("recover"), message);
        Err(YamlProblem { hint: Some(hint.to_owned()), ..problem })
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let at = cue.at;
        if let Some(span) = self.pause {
            effects.opening.push((at, ToJobTracker::Pause(span).into()));
        }
        if let Some(span) = self.restart {
            effects.restarts.push(at);
            let restart = match self.recover {
                true => ToJobTracker::RestartAndRecover(span),
                false => ToJobTracker::Restart(span),
            };
            effects.opening.push((at, restart.into()));
        }
    }
}
