//! The emulated cluster as state machines without I/O, called *cores*: its hardware and file system
//! (nodes, racks, disks, HDFS) and its daemons (JobTracker, TaskTrackers, NameNode).
//!
//! No core reads a clock, owns a thread or opens a file. Two modules here are no cores: the reader
//! of trace files, and the trait of policies, which the JobTracker calls. The policies themselves
//! are in `mumakil-policies`. `mumakil-run` builds the cores of a scenario, `mumakil-runtime` runs
//! them as actors. This crate depends on
//! `mumakil-base`, and on `mumakil-yaml`, with which entries of policies read options.
//!
//! ```text
//! message ─► core.handle(message, out) ─┬─► out.letters: to other cores, or to itself later
//!                                       └─► out.events: for tables, reports and watchers
//! ```

pub mod cluster;
pub mod mapred;
pub mod protocol;
pub mod trace;
