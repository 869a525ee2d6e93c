//! Attempts fail by themselves; by default, each fails at a random point of its work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_form::ShortForm;
use super::struck_attempts::{AttemptFault, StruckAttempts};
use mumakil_base::units::Fraction;
use mumakil_core::mapred::FailureKind;

/// The share of attempts that fail, or a description of them. Without `at_progress`, a map fails
/// somewhere in its work, a reduce in its reduce phase. If several fit an attempt, the last one
/// applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct TaskFailures(ShortForm<StruckAttempts>);

impl AttemptFault for TaskFailures {
    const HOW: FailureKind = FailureKind::Failure;
    const USUAL: Option<Fraction> = None;

    fn attempts(&self) -> &StruckAttempts {
        let Self(ShortForm(doomed)) = self;
        doomed
    }
}
