//! `nodes.csv`.

use super::cell::{CellText, SlotMillis};
use crate::table;

table! {
    /// The work of each node, and the bytes that came to it. Slot time is in slots times
    /// milliseconds. Bytes are of maps and reduces that succeeded, and of copies that HDFS made
    /// again. A reduce fetches from the nodes where the job's maps ran, from each map equally much.
    #[derive(Default)]
    "nodes.csv" pub struct NodeRow {
        /// Its name.
        #[key = "node"]
        node: CellText,
        /// Its rack.
        #[key = "rack"]
        rack: CellText,
        /// Its group, such as `group-1` for the first of `cluster.groups`; empty for other nodes.
        #[key = "group"]
        group: CellText,
        /// Its map slots at its first start.
        map_slots: u32,
        /// Its reduce slots at its first start.
        reduce_slots: u32,
        /// The time of its map slots while its tracker ran.
        #[quantity = "node.slot_time.map"]
        map_slot_ms: SlotMillis,
        /// The time of its map slots that attempts held.
        #[quantity = "node.busy.map"]
        map_busy_ms: SlotMillis,
        /// The time of its reduce slots while its tracker ran.
        #[quantity = "node.slot_time.reduce"]
        reduce_slot_ms: SlotMillis,
        /// The time of its reduce slots that attempts held.
        #[quantity = "node.busy.reduce"]
        reduce_busy_ms: SlotMillis,
        /// The share of its memory that attempts held, where `cluster.resources` counts it.
        #[quantity = "node.utilisation.memory"]
        #[record = "by_node"]
        memory_share: Option<f64>,
        /// The share of its cores that attempts held, where `cluster.resources` counts them.
        #[quantity = "node.utilisation.cores"]
        #[record = "by_node"]
        cores_share: Option<f64>,
        /// Its energy in kWh, where `cluster.watts` counts it.
        #[quantity = "node.energy"]
        #[record = "expenses"]
        energy_kwh: Option<f64>,
        /// The price of the hours in which its tracker ran, where `cluster.price` has one.
        #[quantity = "node.cost"]
        #[record = "expenses"]
        cost: Option<f64>,
        /// The number of map and reduce attempts that ended on it.
        #[quantity = "node.attempts"]
        attempts: u32,
        /// The number of those that failed.
        #[quantity = "node.failed"]
        failed: u32,
        /// The number of those that were killed.
        #[quantity = "node.killed"]
        killed: u32,
        /// The bytes of input that its maps read from its own disks.
        #[quantity = "input.node"]
        input_node_bytes: u64,
        /// The bytes of input that its maps read from other nodes of its rack.
        #[quantity = "input.rack"]
        input_rack_bytes: u64,
        /// The bytes of input that its maps read from other racks.
        #[quantity = "input.off_rack"]
        input_off_rack_bytes: u64,
        /// The bytes that its reduces fetched from its own disks.
        #[quantity = "shuffle.node"]
        shuffle_node_bytes: u64,
        /// The bytes that its reduces fetched from other nodes of its rack.
        #[quantity = "shuffle.rack"]
        shuffle_rack_bytes: u64,
        /// The bytes that its reduces fetched from other racks.
        #[quantity = "shuffle.off_rack"]
        shuffle_off_rack_bytes: u64,
        /// The bytes of blocks that were copied to it again while another node of its rack had them.
        #[quantity = "copies.rack"]
        copies_rack_bytes: u64,
        /// The bytes of blocks that were copied to it again from other racks.
        #[quantity = "copies.off_rack"]
        copies_off_rack_bytes: u64,
    }
}
