//! The emulated cluster: what stands (nodes, racks, disks, HDFS) and what runs on it (JobTracker,
//! TaskTrackers, NameNode, map outputs) as state machines without I/O.
//!
//! No core reads a clock, owns a thread or opens a file. The trait of policies is here, too, since
//! the JobTracker asks it; the policies are in `mumakil-policies`. So is the reader of files of
//! records. `mumakil-runtime` makes actors of the cores, `mumakil-scenario` says which there are.
//! The crate stands on `mumakil-base` alone.
//!
//! ```text
//! message ─► core.handle(message, out) ─┬─► out.letters: to other cores, or to itself later
//!                                       └─► out.events: for tables, reports and watchers
//! ```

pub mod cluster;
pub mod mapred;
pub mod trace;
