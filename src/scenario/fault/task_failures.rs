//! Attempts fail by themselves, each at a random point of its work if nothing else is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_form::ShortForm;
use super::struck_attempts::{AttemptFault, StruckAttempts};
use mumakil_base::units::Fraction;
use mumakil_core::mapred::DoomKind;

/// The share of map and reduce attempts that fail, or which of them do. Where nothing is said of how
/// far they come, each fails somewhere in the work of a map or in reducing; the time until then is
/// lost. Of several that fit an attempt, the last holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct TaskFailures(ShortForm<StruckAttempts>);

impl AttemptFault for TaskFailures {
    const HOW: DoomKind = DoomKind::Failure;
    const USUAL: Option<Fraction> = None;

    fn attempts(&self) -> &StruckAttempts {
        let Self(ShortForm(doomed)) = self;
        doomed
    }
}
