//! Attempts that fail or hang by themselves: the common part of the kinds of faults that strike
//! attempts.
//!
//! One draw decides whether an attempt is struck, and another draw at which point of its work. So a
//! larger share only adds attempts: the attempts of a smaller share are still struck, at the same
//! points.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use super::several::OneOrList;
use super::short_form::Shorten;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::units::{Bytes, Fraction};
use mumakil_core::mapred::{FailureKind, PlannedFailure, SlotKind};
use mumakil_yaml::{Path, YamlProblem};

/// The attempts that a fault strikes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StruckAttempts {
    /// The share of the described attempts that are struck; without this, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<Fraction>,
    /// The nodes; without this and `rack`, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// The jobs, by name: one or a list; without this, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<OneOrList<String>>,
    /// Whether maps or reduces are struck; without this, both.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<TaskWord>,
    /// Only attempts that need more memory than this for each slot that they take, by the job's
    /// `map_memory` or `reduce_memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_above: Option<Bytes>,
    /// The progress at which attempts are struck. A reduce is at a third when it has fetched and at
    /// two thirds when it has sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_progress: Option<Fraction>,
}

/// The kinds of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TaskWord {
    /// Maps.
    Map,
    /// Reduces.
    Reduce,
}

impl Shorten for StruckAttempts {
    type Bare = Fraction;
    const EXPECTED: &'static str =
        "a share from 0 to 1, such as 0.05 or 5 %, or a mapping such as {share: 5 %, kind: map}";

    fn lengthen(share: Fraction) -> Result<Self, String> {
        Ok(Self { share: Some(share), ..Self::default() })
    }

    fn bare(&self) -> Option<&Fraction> {
        let is_all = *self == Self { share: self.share, ..Self::default() };
        self.share.as_ref().filter(|_| is_all)
    }
}

/// A kind of fault that strikes attempts.
pub(super) trait AttemptFault {
    /// The way in which the attempts end.
    const HOW: FailureKind;
    /// The progress at which they are struck by default; `None` draws it for each attempt.
    const USUAL: Option<Fraction>;

    /// Returns the attempts that the fault strikes.
    fn attempts(&self) -> &StruckAttempts;
}

impl<S: AttemptFault> FaultKind for S {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.attempts().target())
    }

    fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        let doomed = self.attempts();
        for name in doomed.jobs.iter().flat_map(|OneOrList(names)| names) {
            known.has_job(name).map_err(|problem| problem.inside(&Path::of("jobs")))?;
        }
        Ok(())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let (site, doomed) = (effects.site, self.attempts());
        // `None` means all nodes, as for most faults: then no attempt needs a look-up of its node.
        let nodes = (!doomed.target().is_silent()).then(|| {
            let mut is_struck = vec![false; site.topology.len() as usize];
            for node in &cue.nodes {
                is_struck[node.index()] = true;
            }
            is_struck
        });
        // The jobs by number; the name of an entry with a `count` means all of its jobs.
        let jobs = doomed.jobs.as_ref().map(|OneOrList(names)| {
            let mut is_struck = vec![false; site.workload.arrivals.len()];
            for job in names.iter().flat_map(|name| site.jobs(name)) {
                is_struck[job.index()] = true;
            }
            is_struck
        });
        effects.planned_failures.push(PlannedFailure {
            how: S::HOW,
            share: doomed.share.unwrap_or(Fraction::of(1.0)),
            nodes: nodes.map(Into::into),
            jobs: jobs.map(Into::into),
            kind: doomed.kind.map(|kind| match kind {
                TaskWord::Map => SlotKind::Map,
                TaskWord::Reduce => SlotKind::Reduce,
            }),
            memory_above: doomed.memory_above,
            at_progress: doomed.at_progress.or(S::USUAL),
        });
    }
}

impl StruckAttempts {
    fn target(&self) -> FaultTarget<'_> {
        FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref())
    }
}
