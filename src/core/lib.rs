//! The emulated cluster: what stands (nodes, racks, disks, HDFS) and what runs on it (JobTracker,
//! TaskTrackers, NameNode, map outputs) as state machines without I/O.
//!
//! A message comes in, messages go out; no core reads a clock, owns a thread or opens a file. The trait of
//! policies is here, too, since the JobTracker asks it; the policies are in `mumakil-policies`. So is the
//! reader of files of records. `mumakil-runtime` makes actors of the cores, `mumakil-scenario` says which
//! there are. The crate stands on `mumakil-base` alone.

pub mod cluster;
pub mod mapred;
pub mod trace;
