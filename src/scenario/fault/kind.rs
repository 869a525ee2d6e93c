//! A kind of fault: what each says of itself.

use super::effects::{Effects, FaultCue};
use super::known::FaultContext;
use super::target::FaultTarget;
use mumakil_yaml::YamlProblem;

/// A kind of fault, with its options.
pub(super) trait FaultKind {
    /// When it happens.
    const MOMENT: FaultMoment;
    /// The key of the kind whose draws it shares, if not its own.
    const DRAWS_AS: Option<&'static str> = None;

    /// Whether a second one of the kind would take the place of the first.
    const HOLDS_ALONE: bool = false;

    /// Whether messages between trackers and JobTracker may be lost, late or doubled.
    const DISTURBS_MESSAGES: bool = false;

    /// Returns the nodes that it strikes, if it strikes some.
    fn target(&self) -> Option<FaultTarget<'_>> {
        None
    }

    /// Says what of the options does not fit, beside the nodes that it strikes; the path begins at the
    /// options.
    fn check(&self, _known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        Ok(())
    }

    /// Adds what it does to a run.
    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>);
}

/// When a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultMoment {
    /// At an instant, which the user names with `at`.
    Named,
    /// At the instant of `at` or, without that, from the beginning on.
    Open,
    /// From the beginning to the end.
    None,
}
