//! Attempts run out of memory: as soon as they have started, if nothing else is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::doomed::Doomed;
use super::short::Short;
use super::target::Target;
use super::{Cue, Effects, Kind, Known, Moment};
use crate::mapred::DoomKind;
use crate::units::Fraction;
use crate::yaml::Problem;

/// The share of map and reduce attempts that fail for want of memory, or which of them do, such as
/// those with more than a slot has: `{memory_above: 1GiB}`. They fail as soon as their processes have
/// started, unless `at_progress` says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct OutOfMemory(Short<Doomed>);

impl Kind for OutOfMemory {
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
        doomed.apply(DoomKind::OutOfMemory, Some(Fraction::ZERO), cue, effects);
    }
}
