//! The trait of a kind of fault.

use super::effects::{Effects, FaultCue};
use super::known::FaultContext;
use super::target::FaultTarget;
use mumakil_yaml::YamlProblem;

/// A kind of fault, with its options.
pub(super) trait FaultKind {
    /// When such a fault happens.
    const MOMENT: FaultMoment;
    /// The key of another kind that draws the same nodes; `None` if this kind draws its own.
    const DRAWS_AS: Option<&'static str> = None;

    /// Whether a second fault of the kind replaces the first.
    const HOLDS_ALONE: bool = false;

    /// Whether the fault may lose, delay or double messages between trackers and JobTracker.
    const DISTURBS_MESSAGES: bool = false;

    /// Returns the nodes that the fault strikes; `None` if it strikes no nodes.
    fn target(&self) -> Option<FaultTarget<'_>> {
        None
    }

    /// Checks the options except the struck nodes; the path of a problem begins at the options.
    fn check(&self, _known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        Ok(())
    }

    /// Adds its effects to those of the run.
    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>);
}

/// When a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultMoment {
    /// At an instant, which the user names with `at`.
    Named,
    /// At the instant of `at`; without `at`, at the beginning of the run.
    Open,
    /// From the beginning of the run to its end.
    None,
}
