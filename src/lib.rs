//! Mumakil: an actor-model, in-process emulator of a Hadoop MapReduce v1 cluster.
//!
//! Every TaskTracker, the JobTracker and the source of jobs are actors. They exchange the
//! heartbeats and directives of the real protocol over links that take time, on a virtual clock. A
//! night of a hundred machines passes in a second. Stale views, waits for the next heartbeat and
//! slots counted twice are not scripted: they arise here for the same reasons as on a real cluster.
//!
//! # A run in ten lines
//! ```
//! use mumakil::emulation::{Options, emulate};
//! use mumakil::scenario::{self, Registry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let yaml = "cluster: {nodes: 10}
//! workload: {jobs: [{name: count, maps: 60, reduces: 4, map_time: 20s, reduce_time: 10s}]}";
//! let registry = Registry::builtin();
//! let scenario = scenario::parse("example", yaml, &[], &registry)?.scenario;
//! let run = emulate(&scenario, &registry, Options::default())?;
//! assert_eq!(run.summary.jobs_succeeded, 1);
//! assert!(run.summary.makespan_s > Some(60.0), "three waves of 20 s");
//! # Ok(())
//! # }
//! ```
//! With [`emulation::Options::folder`] the run leaves its tables and histograms as well. The whole
//! command line is [`cli::run`], for a binary with policies, trace formats or kinds of workload of its
//! own: see [`guide::extending`]. The whole [`guide`] is here, too.
//!
//! # The order of events
//! Users of this crate build on the following, and so may you.
//!
//! - Time is whole microseconds ([`units::SimTime`]). Only the clock keeps it, and passes it to the
//!   cores.
//! - Messages that arrive at the same instant are handled in the order in which they were sent. One that takes
//!   no time is still delivered after those that were sent before it for the same instant.
//! - On the virtual clock time moves on only when no actor has anything left to do. A handler is
//!   never interrupted and never sees two instants.
//! - No hash map's order and no wall clock has a part in this. So the same scenario with the same
//!   seed gives the same bytes, on any machine, whatever its load.
//! - Every random number comes from a stream named by (seed, purpose, subject) ([`random`]): the
//!   same task takes the same time under every policy, killed and run again or not.
//! - A scaled clock (`clock: 600x`) gives up the second to fourth of these for real threads and
//!   real queues.
//!
//! # The map
//! A module names only those above it in this list.
//!
//! | module | |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates, shares, and how people write them |
//! | [`random`] | the random stream of each purpose and subject; distributions |
//! | [`statistics`] | means, quantiles, bands of confidence |
//! | [`chart`] | charts as SVG: data in, markup out |
//! | [`page`] | a report as one HTML file |
//! | [`theory`] | closed forms: what a run should show |
//! | [`dense`] | lists indexed by dense numbers, which grow on demand |
//! | [`nearest`] | the known name that a misspelt one may mean |
//! | [`files`] | the names of a run's files |
//! | [`disk`] | all operations that change the disk |
//! | [`trace`] | files of records: read exactly, with a place for every mistake, nothing interpreted |
//! | [`cluster`] | the hardware: nodes, racks, disks, links, and the blocks of HDFS |
//! | [`mapred`] | the protocol, and its cores without I/O: JobTracker, TaskTracker, the trait of policies |
//! | [`tables`] | the rows of a run's tables: each column described once |
//! | [`expect`] | the language of metrics and expectations |
//! | [`yaml`] | files that people write: trees, their layers, and mistakes with their places |
//! | [`workload`] | the jobs, and the core that submits them |
//! | [`scheduler`] | the policies, one file each |
//! | [`external`] | a policy that is another process, and the lines of JSON between |
//! | [`fault`] | the faults of a run: options, check and effects of each in one file |
//! | [`scenario`] | the YAML: read, checked, resolved; the registry of policies, workloads and formats |
//! | [`runtime`] | the only place that knows actix: actors, clocks, links |
//! | [`record`] | facts become tables, timelines and histograms |
//! | [`explain`] | a job's time, split into parts that add up, and the holders of the slots that it waited for |
//! | [`first_difference`] | the first difference of two runs of the same jobs, and its consequences |
//! | [`verify`] | a checker of invariants that trusts only the facts |
//! | [`output`] | the folder of a run: whole or not at all; its digest |
//! | [`emulation`] | all of these together: a scenario in, a recording out |
//! | [`study`] | many scenarios: axes, runs and results; and random scenarios under the checker |
//! | [`guide`] | how to use all this: the chapters that `mumakil help` shows |
//! | [`live`] | a run that people watch in a browser, hold up and meddle with |
//! | [`cli`] | the command line, one file for each subcommand |
//!
//! The cores read no clock, own no thread and do no I/O: a message comes in, messages go out. A
//! unit test drives them by hand, and the actors around them are a few lines.

pub use mumakil_base::{dense, disk, files, nearest, random, statistics, text_form, theory, units};
pub use mumakil_core::{cluster, mapred, trace};
pub use mumakil_draw::{chart, page};
pub use mumakil_policies::{external, scheduler};
pub use mumakil_results::{expect, explain, first_difference, numbers_as_text, table, tables};
pub use mumakil_run::{emulation, output, record, verify};
pub use mumakil_runtime as runtime;
pub use mumakil_scenario::{self as scenario, fault, workload};
pub use mumakil_study::{self as study, chaos};
pub use mumakil_yaml as yaml;

pub mod cli;
pub mod guide;
pub mod live;
