//! What can be said of `capacity`, and what is wrong with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node::{Node, ROUNDING};
use super::queues::{self, QueueBy, Queues};
use super::tree::Tree;
use crate::mapred::{Complaint, Job, PerSlot, Site, SlotKind};
use crate::scheduler::part::delay::DelaySpec;
use crate::scheduler::part::file_or::FileOr;
use crate::scheduler::part::srt::{ReduceOrder, SrtSpec};
use crate::units::{Bytes, Count, Factor};

/// More slots than any tracker has.
const MOST_SLOTS: u64 = 1_000_000;

/// The options of `capacity`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CapacityOptions {
    /// Whose rules hold: those of a line of Hadoop, or `auto`, those of the scenario's.
    pub rules: Rules,
    /// The queues, and what holds for all of them.
    pub allocations: FileOr<Queues>,
    /// What a job's queue is: the one that it names, or its user.
    pub queue_by: QueueBy,
    /// The memory of a map slot: maps of more memory take several slots. Without, each takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_slot: Option<Bytes>,
    /// The memory of a reduce slot, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_slot: Option<Bytes>,
    /// How often a job without input in the rack is passed over, in parts of its maps that are left,
    /// or of the trackers; without, the share of trackers that hold its input. Rules of 1.x only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_factor: Option<Factor>,
    /// How long jobs wait for their input, in place of what the rules say; not said unless given.
    pub delay: DelaySpec,
    /// How many maps a heartbeat brings at most. Rules of 1.x only; the others bring one.
    pub maps_per_heartbeat: Count<1, 32_767>,
    /// In what order the jobs of a queue get slots for reduces: `as_maps` or `srt`.
    pub reduce_order: ReduceOrder,
    /// How `srt` reckons.
    pub srt: SrtSpec,
}

/// The line of Hadoop whose rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Rules {
    /// Those of the scenario's line.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// One task a heartbeat, reduce or map, wherever its input is.
    #[serde(rename = "0.20")]
    V20,
    /// One reduce and one map a heartbeat, wherever its input is.
    #[serde(rename = "0.21")]
    V21,
    /// As many maps as there are slots, but only one without input in the rack, for which its job
    /// has waited; and one reduce. A user gets no more than its limit, even if slots stay idle.
    #[serde(rename = "1.x")]
    V1,
}

impl Default for CapacityOptions {
    fn default() -> Self {
        Self {
            rules: Rules::Auto,
            allocations: FileOr::default(),
            queue_by: QueueBy::Pool,
            map_slot: None,
            reduce_slot: None,
            wait_factor: None,
            delay: DelaySpec::NONE,
            maps_per_heartbeat: Count::of(32_767),
            reduce_order: ReduceOrder::AsMaps,
            srt: SrtSpec::default(),
        }
    }
}

impl CapacityOptions {
    /// Looks at the options where they are to be used.
    pub(super) fn settle(&mut self, site: &Site<'_>) -> Vec<Complaint> {
        if self.rules == Rules::Auto {
            self.rules = match site.line {
                "0.20" => Rules::V20,
                "1.x" => Rules::V1,
                _ => Rules::V21,
            };
        }
        let mut complaints = queues::settle(&mut self.allocations, site, self.queue_by);
        complaints.extend(no_memory(self));
        if complaints.iter().all(|complaint| complaint.is_warning) {
            complaints.extend(slotless(&self.allocations.given(), self.rules, site));
        }
        complaints
    }

    /// Returns how many slots each of a job's tasks takes.
    pub(super) fn width(&self, job: &Job) -> PerSlot<u32> {
        let memory = job.spec().memory;
        let slots = |slot: Option<Bytes>, memory: Bytes| {
            let slots = slot.map_or(1, |slot| memory.get().div_ceil(slot.get().max(1)));
            slots.clamp(1, MOST_SLOTS) as u32
        };
        PerSlot {
            map: slots(self.map_slot, memory.map),
            reduce: slots(self.reduce_slot, memory.reduce),
        }
    }
}

/// Complains about slots without memory.
fn no_memory(options: &CapacityOptions) -> Vec<Complaint> {
    let slots = [("map_slot", options.map_slot), ("reduce_slot", options.reduce_slot)];
    let empty = slots.into_iter().filter(|(_, memory)| *memory == Some(Bytes::ZERO));
    let complaint = |(key, _): (&str, _)| Complaint {
        path: vec![key.to_owned()],
        message: "a slot has some memory".to_owned(),
        hint: "leave it out, and every task takes one slot".to_owned(),
        is_warning: false,
    };
    empty.map(complaint).collect()
}

/// Warns of queues that never get a slot, or whose jobs never run.
fn slotless(queues: &Queues, rules: Rules, site: &Site<'_>) -> Vec<Complaint> {
    let tree = Tree::new(queues, rules);
    let mut complaints = Vec::new();
    for id in tree.ids().filter(|id| tree.is_leaf(*id)) {
        let node = tree.node(id);
        let Node { name, share, most_share, .. } = node;
        if rules == Rules::V1 && node.system_jobs(queues.max_system_jobs.get()).0 == 0 {
            complaints.push(Complaint {
                path: vec!["allocations".to_owned(), "queues".to_owned()],
                message: format!("`{name}` may initialise no job"),
                hint: "by the rules of 1.x it has its share of all jobs: give it one".to_owned(),
                is_warning: true,
            });
            continue;
        }
        // By the rules of 0.21 nobody serves a queue to which nothing is guaranteed.
        let share = if rules == Rules::V21 { *share } else { most_share.unwrap_or(1.0) };
        for kind in SlotKind::BOTH {
            let (slots, word) = (site.slots[kind], kind.word());
            if 0 < slots && share * slots as f64 + ROUNDING < 1.0 {
                complaints.push(Complaint {
                    path: vec!["allocations".to_owned(), "queues".to_owned()],
                    message: format!("`{name}` never gets one of the {slots} {word} slots"),
                    hint: "give it a larger share, or take a larger cluster".to_owned(),
                    is_warning: true,
                });
            }
        }
    }
    complaints
}
