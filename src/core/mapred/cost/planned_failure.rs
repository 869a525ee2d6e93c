//! Attempts that fail or hang by themselves: which attempts, and at which progress.

use std::sync::Arc;

use rand::RngExt;

use super::subject;
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::heartbeat::{AttemptPhase, LaunchOrder};
use crate::mapred::ids::AttemptId;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::{Bytes, Fraction, SimSpan};

/// A cause that makes some attempts fail or hang.
#[derive(Clone, Debug)]
pub struct PlannedFailure {
    /// How these attempts end.
    pub how: FailureKind,
    /// The share of the matching attempts that it strikes.
    pub share: Fraction,
    /// For each node, whether attempts there match; with `None` all do.
    pub nodes: Option<Arc<[bool]>>,
    /// For each job, whether its attempts match; with `None` all do.
    pub jobs: Option<Arc<[bool]>>,
    /// The kind of slot whose attempts match; with `None` attempts in both kinds of slot match.
    pub kind: Option<SlotKind>,
    /// Only attempts that use more memory than this for each slot match; with `None` all do.
    pub memory_above: Option<Bytes>,
    /// The progress at which attempts end; with `None`, at random in a map's work or in reducing.
    pub at_progress: Option<Fraction>,
}

/// How attempts fail or hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// They throw an exception. Hadoop's task process then removes its output itself.
    Failure,
    /// They stop making progress.
    Hang,
    /// They fail because memory is exhausted.
    OutOfMemory,
}

/// Where an attempt fails or hangs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailurePoint {
    /// The phase that it does not finish.
    pub phase: AttemptPhase,
    /// The share of the phase that it gets through, from 0 to 1.
    pub share: f64,
    /// How it ends there.
    pub how: FailureKind,
    /// How long it holds its slot after the failure: its tracker waits for it.
    pub lingers: SimSpan,
}

impl FailurePoint {
    /// Returns the end of an attempt that gets through a phase and then fails.
    pub const fn thrown(phase: AttemptPhase, lingers: SimSpan) -> Self {
        Self { phase, share: 1.0, how: FailureKind::Failure, lingers }
    }
}

impl FailureKind {
    const ALL: [Self; 3] = [Self::Failure, Self::Hang, Self::OutOfMemory];

    const fn purpose(self, kind: SlotKind) -> Purpose {
        match (self, kind) {
            (Self::Failure, SlotKind::Map) => Purpose::MapFailure,
            (Self::Failure, SlotKind::Reduce) => Purpose::ReduceFailure,
            (Self::Hang, SlotKind::Map) => Purpose::MapHang,
            (Self::Hang, SlotKind::Reduce) => Purpose::ReduceHang,
            (Self::OutOfMemory, SlotKind::Map) => Purpose::MapMemory,
            (Self::OutOfMemory, SlotKind::Reduce) => Purpose::ReduceMemory,
        }
    }
}

impl PlannedFailure {
    fn fits(&self, launch: &LaunchOrder, tracker: TrackerId) -> bool {
        let slot = launch.attempt.slot();
        let is_among = |of: &Option<Arc<[bool]>>, index: usize| {
            of.as_ref().is_none_or(|of| of.get(index).copied().unwrap_or(false))
        };
        self.kind.is_none_or(|kind| kind == slot)
            && is_among(&self.nodes, tracker.index())
            && is_among(&self.jobs, launch.attempt.job().index())
            && self.memory_above.is_none_or(|above| {
                // The bound is for each slot: an attempt with several slots may use as much in each.
                let slots = u64::from(launch.slots.max(1));
                above.get().saturating_mul(slots) < launch.job.memory[slot].get()
            })
    }

    /// Returns the point at which the cause makes an attempt fail or hang; `None` if it does not
    /// strike that attempt.
    fn strike(&self, seed: u64, attempt: AttemptId, lingers: SimSpan) -> Option<FailurePoint> {
        let slot = attempt.slot();
        let mut rng = stream(seed, self.how.purpose(slot), subject(attempt));
        // Draws are below 1: a share of 1 strikes every attempt, a share of 0 no attempt.
        if self.share.get() <= rng.random::<f64>() {
            return None;
        }
        let work = match slot {
            SlotKind::Map => AttemptPhase::Work,
            SlotKind::Reduce => AttemptPhase::Reduce,
        };
        let (phase, share) = match (self.at_progress.map(Fraction::get), slot) {
            (None, _) => (work, rng.random()),
            // No progress at all: the attempt does not get beyond its start-up.
            (Some(0.0), _) => (AttemptPhase::Start, 1.0),
            (Some(progress), SlotKind::Map) => (AttemptPhase::Work, progress),
            // Hadoop counts each phase of a reduce as a third of its progress.
            (Some(progress), SlotKind::Reduce) if progress <= 1.0 / 3.0 => {
                (AttemptPhase::Shuffle, (3.0 * progress).min(1.0))
            }
            (Some(progress), SlotKind::Reduce) if progress <= 2.0 / 3.0 => {
                (AttemptPhase::Sort, (3.0 * progress - 1.0).clamp(0.0, 1.0))
            }
            (Some(progress), SlotKind::Reduce) => {
                (AttemptPhase::Reduce, (3.0 * progress - 2.0).clamp(0.0, 1.0))
            }
        };
        let lingers = if self.how == FailureKind::Failure { lingers } else { SimSpan::ZERO };
        Some(FailurePoint { phase, share, how: self.how, lingers })
    }
}

/// Returns the point at which an attempt fails or hangs; `None` if it does neither. If several
/// causes of one kind match, the last one applies; if causes of several kinds match, the one with
/// the earliest point. An attempt that throws an exception holds its slot for another `lingers`.
pub(super) fn strike(
    planned_failures: &[PlannedFailure],
    seed: u64,
    launch: &LaunchOrder,
    tracker: TrackerId,
    lingers: SimSpan,
) -> Option<FailurePoint> {
    let order = |of: &FailurePoint| {
        let phase = match of.phase {
            AttemptPhase::Start => 0,
            AttemptPhase::Shuffle => 1,
            AttemptPhase::Sort => 2,
            AttemptPhase::Work
            | AttemptPhase::Reduce
            | AttemptPhase::Commit
            | AttemptPhase::Save => 3,
        };
        (phase, of.share)
    };
    let points = FailureKind::ALL.into_iter().filter_map(|how| {
        // Search from the end: a later fault of a scenario overrides an earlier one.
        let mut fitting = planned_failures.iter().rev().filter(|doom| doom.how == how);
        let doom = fitting.find(|doom| doom.fits(launch, tracker));
        doom.and_then(|doom| doom.strike(seed, launch.attempt, lingers))
    });
    // At the same point, a failure goes before a hang, and a hang before lack of memory.
    points.reduce(|one, other| if order(&other) < order(&one) { other } else { one })
}
