//! The emulated cluster as state machines without I/O: its hardware and file system (nodes, racks,
//! disks, HDFS) and its daemons (JobTracker, TaskTrackers, NameNode).
//!
//! No core reads a clock, owns a thread or opens a file. The trait of policies is here, too, since
//! the JobTracker calls it; the policies are in `mumakil-policies`. The reader of trace files is
//! here as well. `mumakil-runtime` runs the cores as actors, `mumakil-scenario` chooses them. The
//! crate depends on `mumakil-base` alone.
//!
//! ```text
//! message ─► core.handle(message, out) ─┬─► out.letters: to other cores, or to itself later
//!                                       └─► out.events: for tables, reports and watchers
//! ```

pub mod cluster;
pub mod mapred;
pub mod trace;
