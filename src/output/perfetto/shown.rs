//! What the slice of an attempt says, and which flows begin and end at it.

use std::fmt::Write;

use super::FLOWS;
use super::packet::Slice;
use crate::mapred::{AttemptId, JobSpec, Locality, Outcome, Role, TaskId, TaskKind};
use crate::record::Attempt;

/// An attempt, or the removal of its output.
pub(super) struct Shown<'a> {
    pub(super) id: AttemptId,
    pub(super) role: Role,
    pub(super) job: &'a JobSpec,
    /// What is known of it besides; of a removal, nothing.
    pub(super) known: Option<&'a Attempt>,
    /// How it ended, if it has.
    pub(super) outcome: Option<Outcome>,
}

impl Shown<'_> {
    /// Adds the name: that of the job, and the task as Hadoop calls it, such as `m_12`.
    pub(super) fn name(&self, to: &mut String) {
        let TaskId { kind, index, .. } = self.id.task;
        let name = &self.job.name;
        match kind {
            TaskKind::Map => write!(to, "{name} m_{index}"),
            TaskKind::Reduce => write!(to, "{name} r_{index}"),
            TaskKind::Setup | TaskKind::Cleanup => write!(to, "{name} {}", kind.word()),
        }
        .expect("a string takes every text");
    }

    pub(super) fn category(&self) -> &'static str {
        match self.role {
            Role::Work => self.id.task.kind.word(),
            Role::TaskCleanup => "task-cleanup",
        }
    }

    /// Adds the arguments, and the flows that begin here.
    pub(super) fn describe(&self, slice: &mut Slice<'_>) {
        let AttemptId { task, number } = self.id;
        slice.number("job", task.job.0).number("task", task.index).number("attempt", number);
        if let Some(grant) = self.known.and_then(|known| known.grant) {
            if let Some(locality) = grant.locality {
                slice.value("locality", Locality::word(locality));
            }
            if grant.speculative {
                slice.truth("speculative");
            }
            slice.text("reason", &grant.reason.to_string());
        }
        slice.value("outcome", self.outcome.map_or("unfinished", Outcome::word));
        for flow in self.flows_out() {
            slice.flow(flow);
        }
    }

    /// Returns the flows from a map that succeeded, one to each reduce.
    fn flows_out(&self) -> impl Iterator<Item = u64> {
        let index = self.id.task.index;
        let has_flows = self.succeeds_as(TaskKind::Map) && index < FLOWS;
        let reduces = if has_flows { self.job.reduces } else { 0 };
        (0..reduces).map(move |reduce| self.flow(index, reduce))
    }

    /// Returns the flows to a reduce that succeeded, one from each map.
    pub(super) fn flows_in(&self) -> impl Iterator<Item = u64> {
        let maps = if self.succeeds_as(TaskKind::Reduce) { self.job.maps.min(FLOWS) } else { 0 };
        (0..maps).map(|map| self.flow(map, self.id.task.index))
    }

    fn succeeds_as(&self, kind: TaskKind) -> bool {
        let is_work = self.role == Role::Work && self.id.task.kind == kind;
        is_work && self.outcome == Some(Outcome::Succeeded)
    }

    /// Returns the name of a flow. Jobs and tasks have 24 bits, as in [`crate::random::stream`].
    fn flow(&self, map: u32, reduce: u32) -> u64 {
        // Above all others, so that none is 0.
        1 << 56 | u64::from(self.job.id.0) << 32 | u64::from(reduce) << 8 | u64::from(map)
    }
}
