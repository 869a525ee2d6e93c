//! The options of `capacity`, and their checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash_order::JavaMaps;
use super::node::{QueueNode, ROUNDING};
use super::queues::{QueueBy, Queues, queues_or_file, unknown_names};
use super::rules::Rules;
use super::tree::QueueTree;
use crate::scheduler::shared::delay::DelaySpec;
use crate::scheduler::shared::names::in_allocations;
use crate::scheduler::shared::reduces::Reduces;
use mumakil_base::units::{Bytes, Factor};
use mumakil_core::mapred::{Complaint, ExpectedJob, PerSlot, PolicySite, SlotKind};

/// A number of slots that exceeds the slots of every tracker.
// Chosen: the widths of tasks are cut off here, so that they fit into 32 bits; `too_wide` then
// complains about the absurd memory sizes behind them.
const MOST_SLOTS: u64 = 1_000_000;

/// The options of `capacity`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CapacityOptions {
    /// Which version of Hadoop gives the rules.
    pub rules: Rules,
    /// The Java whose order of a `HashMap` equal queues have at first.
    #[schemars(extend("x-only-if" = {"rules": {"not": "0.21"}}))]
    pub hash_maps: JavaMaps,
    /// The queues, and the settings of all queues.
    #[schemars(schema_with = "queues_or_file")]
    pub allocations: Queues,
    /// How the queue of a job is chosen.
    pub queue_by: QueueBy,
    /// The memory of a map slot. Maps that need more take several slots. Without this, each map
    /// takes one slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_slot: Option<Bytes>,
    /// As `map_slot`, for reduces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_slot: Option<Bytes>,
    /// How often a job without input in the rack is skipped: this factor times its remaining maps,
    /// or the trackers if fewer. Without this, the factor is the share of trackers that hold its
    /// input.
    #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_factor: Option<Factor>,
    /// How long jobs wait for their input, instead of the rules' own waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelaySpec>,
}

impl CapacityOptions {
    /// Checks the options against the cluster and the workload, and resolves `auto`.
    pub(super) fn settle(&mut self, site: &PolicySite<'_>) -> Vec<Complaint> {
        if self.rules == Rules::Auto {
            self.rules = Rules::of(site.line);
        }
        let (rules, queue_by) = (self.rules, self.queue_by);
        let mut complaints = self.allocations.check(rules);
        // Further checks would only repeat errors in other words.
        if complaints.iter().all(|complaint| complaint.is_warning) {
            let names = site.jobs.iter().map(|job| queue_by.choose(job.pool, job.user));
            complaints.extend(unknown_names(&self.allocations.queues, &names.collect()));
        }
        complaints = in_allocations(complaints);
        let no_memory = no_memory(self);
        // If a slot has no memory, widths have no meaning.
        if no_memory.is_empty() {
            complaints.extend(self.too_wide(site));
        }
        complaints.extend(no_memory);
        if complaints.iter().all(|complaint| complaint.is_warning) {
            complaints.extend(slotless(&self.allocations, self.rules, queue_by, site));
        }
        complaints
    }

    /// Returns how many slots each task of a job takes, given the memory that it needs.
    pub(super) fn width(&self, memory: PerSlot<Bytes>) -> PerSlot<u32> {
        let slots = |slot: Option<Bytes>, memory: Bytes| {
            // Hadoop rounds up to whole slots. Slots without memory are reported by `no_memory`.
            let slots = slot.map_or(1, |slot| memory.get().div_ceil(slot.get().max(1)));
            slots.clamp(1, MOST_SLOTS) as u32
        };
        PerSlot {
            map: slots(self.map_slot, memory.map),
            reduce: slots(self.reduce_slot, memory.reduce),
        }
    }

    /// Complains about tasks that fit on no node. Hadoop rejects their jobs when they are
    /// submitted.
    fn too_wide(&self, site: &PolicySite<'_>) -> Vec<Complaint> {
        let complaint = |kind: SlotKind| {
            let largest =
                site.jobs.iter().map(|job| job.memory).max_by_key(|memory| memory[kind])?;
            let (most, word) = (site.most_slots[kind], kind.word());
            let width = self.width(largest)[kind];
            let message = format!(
                "a {word} of {} takes {width} slots, and no node has more than {most}",
                largest[kind]
            );
            let hint =
                format!("give a slot more memory, a node more {word} slots, or the job less");
            let key = format!("{word}_slot");
            (most < width && 0 < most).then(|| Complaint::error(&[&key], message, hint))
        };
        SlotKind::BOTH.into_iter().filter_map(complaint).collect()
    }
}

fn no_memory(options: &CapacityOptions) -> Vec<Complaint> {
    let slots = [("map_slot", options.map_slot), ("reduce_slot", options.reduce_slot)];
    let empty = slots.into_iter().filter(|(_, memory)| *memory == Some(Bytes::ZERO));
    empty
        .map(|(key, _): (&str, _)| {
            let hint = "leave it out, and every task takes one slot";
            Complaint::error(&[key], "a slot has some memory", hint)
        })
        .collect()
}

/// Warns of queues that never get a slot, or whose jobs never run.
fn slotless(
    queues: &Queues,
    rules: Rules,
    queue_by: QueueBy,
    site: &PolicySite<'_>,
) -> Vec<Complaint> {
    let tree = QueueTree::new(queues, rules, JavaMaps::Auto, Reduces::default());
    // If no job needs the slots, the warning foretells nothing.
    let complaint = |is_needed: bool, message: String, hint: &str| Complaint {
        foretells_stall: is_needed,
        ..Complaint::warning(&["allocations", "queues"], message, hint)
    };
    let mut complaints = Vec::new();
    for id in tree.ids().filter(|id| tree.is_leaf(*id)) {
        let node = tree.node(id);
        let QueueNode { name, share, most_share, .. } = node;
        let mut jobs = site
            .jobs
            .iter()
            .filter(|job: &&ExpectedJob<'_>| tree.leaf(queue_by.choose(job.pool, job.user)) == id);
        if rules == Rules::V1 && node.system_jobs(queues.max_system_jobs.get()).0 == 0 {
            let message = format!("`{name}` may initialise no job");
            let hint = "by the rules of 1.x it has its share of all jobs: give it one";
            complaints.push(complaint(jobs.next().is_some(), message, hint));
            continue;
        }
        // With the rules of 0.21, a queue without guaranteed slots is never served.
        let share = if rules == Rules::V21 { *share } else { most_share.unwrap_or(1.0) };
        for kind in SlotKind::BOTH {
            let (slots, word) = (site.slots[kind], kind.word());
            let (message, hint) = if slots == 0 {
                continue;
            } else if share * slots as f64 + ROUNDING < 1.0 {
                let message = format!("`{name}` never gets one of the {slots} {word} slots");
                (message, "give it a larger share, or take a larger cluster")
            } else if rules == Rules::V1 && node.user_slots(node.share * slots as f64) == 0 {
                let message = format!("no user of `{name}` ever gets a {word} slot");
                (message, "raise its `user_limit_factor`, or take a larger cluster")
            } else {
                continue;
            };
            let is_needed = jobs.clone().any(|job| job.has_tasks[kind]);
            complaints.push(complaint(is_needed, message, hint));
        }
    }
    complaints
}
