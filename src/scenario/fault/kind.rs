//! The trait of a kind of fault.

use super::effects::{Effects, FaultCue};
use super::known::FaultContext;
use super::target::FaultTarget;
use mumakil_yaml::YamlProblem;

/// What holds for all faults of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaultTraits {
    pub(super) key: &'static str,
    /// When such a fault happens.
    pub(super) moment: FaultMoment,
    /// The key of the kind that draws the same nodes; mostly its own.
    pub(super) draws_as: &'static str,
    /// Whether a second fault of the kind replaces the first.
    pub(super) holds_alone: bool,
    /// Whether the fault may lose, delay or double messages between trackers and JobTracker.
    pub(super) disturbs_messages: bool,
}

impl FaultTraits {
    /// Returns the traits that most kinds have.
    pub(super) const fn new(key: &'static str, moment: FaultMoment) -> Self {
        Self { key, moment, draws_as: key, holds_alone: false, disturbs_messages: false }
    }
}

/// The options of a kind of fault.
pub(super) trait FaultKind {
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
