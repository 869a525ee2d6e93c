//! Attempts hang: from some point on they make no progress, until their trackers lose patience.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::doomed::Doomed;
use super::short::Short;
use super::target::Target;
use super::{Cue, Effects, Kind, Known, Moment};
use crate::mapred::DoomKind;
use crate::yaml::Problem;

/// The share of map and reduce attempts that hang, or which of them do. They make no progress from
/// a point on that is drawn as with `task_failures`, keep their slots, and fail at the first
/// heartbeat after `hadoop.task_timeout`; if that is `0s`, never.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Hangs(Short<Doomed>);

impl Kind for Hangs {
    const MOMENT: Moment = Moment::None;

    fn target(&self) -> Option<Target<'_>> {
        let Self(Short(doomed)) = self;
        Some(doomed.target())
    }

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        let Self(Short(doomed)) = self;
        doomed.check(known)
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let Self(Short(doomed)) = self;
        doomed.apply(DoomKind::Hang, None, cue, effects);
    }
}
