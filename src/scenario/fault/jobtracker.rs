//! The JobTracker's process stands still for a while, or dies and is started again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::{FaultKind, FaultMoment};
use super::known::FaultContext;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::ToJobTracker;
use mumakil_yaml::{Path, YamlProblem};

/// The JobTracker answers nobody for a while: one of `pause` and `restart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobTrackerProcess {
    /// For so long its process stands still, as for a collection of garbage. Heartbeats wait in its
    /// line. If that takes longer than `hadoop.expiry`, it may miss all trackers then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<SimSpan>,
    /// Its process dies and is started again after so long. Heartbeats find nobody meanwhile and are
    /// tried again each second; jobs are submitted as soon as it is back. Its policy begins anew. `recover` tells
    /// the fate of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restart: Option<SimSpan>,
    /// Whether it recovers jobs when it is started again (`mapred.jobtracker.restart.recover`). Without
    /// this, all that have not ended fail, and trackers are told to start anew. With it they go on as in
    /// their line of Hadoop: 0.20 keeps what has ended, and what runs where something has ended; 0.21
    /// and 1.x run all tasks of a job anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    recover: bool,
}

impl FaultKind for JobTrackerProcess {
    const MOMENT: FaultMoment = FaultMoment::Named;

    fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        if self.pause.is_some() == self.restart.is_some() {
            let message = "it is one of `pause: 30s` and `restart: 2min`";
            return Err(YamlProblem::value(Path::default(), message));
        }
        // The rest looks at `recover` only.
        if !self.recover {
            return Ok(());
        }
        let (message, hint) = match known.hadoop {
            _ if self.restart.is_none() => {
                ("a process that stands still knows its jobs".to_owned(), "leave it out")
            }
            Some(hadoop) if hadoop.behaviour().recovery.is_none() => {
                let message = format!("a JobTracker of the line {} recovers no jobs", hadoop.line);
                (message, "leave it out, or set `hadoop.line` to 0.20, 0.21 or 1.x")
            }
            // Where `hadoop` has mistakes its line is not
            // known, and nothing can be said against it.
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
