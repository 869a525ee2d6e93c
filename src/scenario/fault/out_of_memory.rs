//! Attempts run out of memory: by default as soon as they have started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_form::ShortForm;
use super::struck_attempts::{AttemptFault, StruckAttempts};
use mumakil_base::units::Fraction;
use mumakil_core::mapred::FailureKind;

/// The share of attempts that fail for lack of memory, as soon as they have started, or a
/// description of them such as `{memory_above: 1GiB}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct OutOfMemory(ShortForm<StruckAttempts>);

impl AttemptFault for OutOfMemory {
    const HOW: FailureKind = FailureKind::OutOfMemory;
    const USUAL: Option<Fraction> = Some(Fraction::ZERO);

    fn attempts(&self) -> &StruckAttempts {
        let Self(ShortForm(doomed)) = self;
        doomed
    }
}
