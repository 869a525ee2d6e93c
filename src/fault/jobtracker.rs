//! The JobTracker's process stands still for a while, or dies and is started again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cue, Effects, Kind, Known, Moment};
use crate::mapred::ToJobTracker;
use crate::units::SimSpan;
use crate::yaml::{Path, Problem};

/// The JobTracker answers nobody for a while: one of `pause` and `restart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JobTrackerProcess {
    /// For so long its process stands still, as for a collection of garbage. Heartbeats wait in its
    /// line. If that takes longer than `hadoop.expiry`, it may miss all trackers then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause: Option<SimSpan>,
    /// Its process dies and is started again after so long. Heartbeats find nobody meanwhile; jobs are
    /// submitted as soon as it is back, and trackers try again after `hadoop.rpc_timeout`. It recovers
    /// no jobs, which is Hadoop's default: all that have not ended fail, and trackers are told to start
    /// anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restart: Option<SimSpan>,
}

impl Kind for JobTrackerProcess {
    const MOMENT: Moment = Moment::Named;

    fn check(&self, _: &Known<'_>) -> Result<(), Problem> {
        let is_one = self.pause.is_some() != self.restart.is_some();
        let message = "it is one of `pause: 30s` and `restart: 2min`";
        is_one.then_some(()).ok_or_else(|| Problem::value(Path::default(), message))
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let at = cue.at;
        if let Some(span) = self.pause {
            effects.opening.push((at, ToJobTracker::Pause(span).into()));
        }
        if let Some(span) = self.restart {
            effects.resends = true;
            effects.opening.push((at, ToJobTracker::Restart(span).into()));
        }
    }
}
