//! `shares.csv`.

use super::cell::CellText;
use crate::table;
use mumakil_core::cluster::SlotKind;

table! {
    /// The slots and shares of the policy's pools or queues over time. A row says what has changed
    /// since the last heartbeat interval. A policy without pools has no rows.
    "shares.csv" pub struct ShareRow {
        /// When the JobTracker looked.
        time_ms: u64,
        /// The kind of slots.
        kind: SlotKind,
        /// The pool or queue.
        pool: CellText,
        /// The slots that the JobTracker counted for it.
        held: u32,
        /// The slots that the policy thought its due; empty if the policy computes no shares.
        share: Option<f64>,
        /// The slots that it is guaranteed.
        min_share: u32,
    }
}
