//! Attempts hang: they stop making progress until their trackers kill them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_form::ShortForm;
use super::struck_attempts::{AttemptFault, StruckAttempts};
use mumakil_base::units::Fraction;
use mumakil_core::mapred::FailureKind;

/// The share of attempts that hang, or a description of them. They stop making progress at a point
/// that is drawn as with `task_failures`, keep their slots, and fail after `hadoop.task_timeout`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Hangs(ShortForm<StruckAttempts>);

impl AttemptFault for Hangs {
    const HOW: FailureKind = FailureKind::Hang;
    const USUAL: Option<Fraction> = None;

    fn attempts(&self) -> &StruckAttempts {
        let Self(ShortForm(doomed)) = self;
        doomed
    }
}
