//! `faults.csv`.

use super::cell::CellText;
use crate::table;

table! {
    /// Faults of machines and of the JobTracker's process. There is a row for each change. A run
    /// without faults has no such table.
    "faults.csv" pub struct FaultRow {
        /// When it happened.
        at_ms: u64,
        /// The node, or the JobTracker.
        node: CellText,
        /// The rack of the node.
        rack: CellText,
        /// What happened.
        what: CellText,
        /// The speed of the processor from then on, as a factor of its usual speed.
        cpu: Option<f64>,
        /// The speed of the disks, likewise.
        disk: Option<f64>,
        /// The speed of the network, likewise.
        network: Option<f64>,
        /// The attempt that hangs.
        attempt: CellText,
        /// How many blocks are copied again because of the node.
        blocks: Option<u32>,
        /// How many bytes are copied again.
        bytes: Option<u64>,
    }
}
