//! `containers.csv`.

use super::cell::CellText;
use crate::table;

table! {
    /// The containers of a run of YARN. They are in the order in which their masters heard of their
    /// ends; all others come last. Two clocks are out of phase for each container: it is allocated at a
    /// heartbeat of its node, and its master gets it at a call of its own.
    #[derive(Default)]
    "containers.csv" pub struct ContainerRow {
        /// The number of the job.
        job: u32,
        /// Its number in its application, from 1; numbers of containers that were tried in vain are
        /// missing.
        number: u32,
        /// Its use: `am`, `map`, `reduce`, or `none` if its master never used it.
        kind: CellText,
        /// The number of its task among the job's maps or reduces, from 0; empty for other uses.
        task: Option<u32>,
        /// The priority of the ask for it; lower numbers come first.
        priority: u32,
        /// A node that its task asked for, wherever the container is; empty if any would do.
        asked_host: CellText,
        /// Its node.
        node: CellText,
        /// Its memory in MiB.
        memory_mib: u32,
        /// Its cores.
        cores: u32,
        /// When a node was first kept for it; empty if it was allocated at once.
        reserved_ms: Option<u64>,
        /// When it got its node.
        allocated_ms: u64,
        /// When its master got it.
        acquired_ms: Option<u64>,
        /// When it began on its node.
        launched_ms: Option<u64>,
        /// When the ResourceManager learned that it runs.
        running_ms: Option<u64>,
        /// When its node said that it has ended.
        finished_ms: Option<u64>,
        /// When its master looked at its end.
        heard_ms: Option<u64>,
        /// From its allocation until its master got it.
        acquisition_ms: Option<u64>,
        /// From then until it began.
        launch_ms: Option<u64>,
        /// How it ended: `completed`, `killed` or `expired`; empty if it has not.
        exit: CellText,
    }
}
