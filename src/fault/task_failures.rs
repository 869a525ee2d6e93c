//! Attempts fail by themselves, each at a random point of its work if nothing else is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::doomed::Doomed;
use super::short::Short;
use super::target::Target;
use super::{Cue, Effects, Kind, Known, Moment};
use crate::mapred::DoomKind;
use crate::yaml::Problem;

/// The share of map and reduce attempts that fail, or which of them do. Where nothing is said of how
/// far they come, each fails somewhere in the work of a map or in reducing; the time until then is
/// lost. Of several that fit an attempt, the last holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct TaskFailures(Short<Doomed>);

impl Kind for TaskFailures {
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
        doomed.apply(DoomKind::Failure, None, cue, effects);
    }
}
