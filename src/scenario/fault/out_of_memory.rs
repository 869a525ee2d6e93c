//! Attempts run out of memory: as soon as they have started, if nothing else is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_form::ShortForm;
use super::struck_attempts::{AttemptFault, StruckAttempts};
use mumakil_base::units::Fraction;
use mumakil_core::mapred::DoomKind;

/// The share of map and reduce attempts that fail for want of memory, or which of them do, such as
/// those with more than a slot has: `{memory_above: 1GiB}`. They fail as soon as their processes have
/// started, unless `at_progress` says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct OutOfMemory(ShortForm<StruckAttempts>);

impl AttemptFault for OutOfMemory {
    const HOW: DoomKind = DoomKind::OutOfMemory;
    const USUAL: Option<Fraction> = Some(Fraction::ZERO);

    fn attempts(&self) -> &StruckAttempts {
        let Self(ShortForm(doomed)) = self;
        doomed
    }
}
