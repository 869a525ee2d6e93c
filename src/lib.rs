//! Mumakil: an actor-model, in-process emulator of a Hadoop MapReduce v1 cluster.
//!
//! Every TaskTracker, the JobTracker and the source of jobs are actors. They exchange the
//! heartbeats and directives of the real protocol over links with latency, on a virtual clock. A
//! second of real time is enough for a night of a hundred machines. Stale views, waits for the next
//! heartbeat and slots counted twice are not scripted: they have the same causes as on a real
//! cluster.
//!
//! # A run in ten lines
//! ```
//! use mumakil::emulation::{Options, emulate};
//! use mumakil::scenario;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let yaml = "cluster: {nodes: 10}
//! workload: {jobs: [{name: count, maps: 60, reduces: 4, map_time: 20s, reduce_time: 10s}]}";
//! let registry = mumakil::registry();
//! let scenario = scenario::parse("example", yaml, &[], &registry)?.scenario;
//! let run = emulate(&scenario, &registry, Options::default())?;
//! assert_eq!(run.summary.jobs_succeeded, 1);
//! assert!(run.summary.makespan_s > Some(60.0), "three waves of 20 s");
//! # Ok(())
//! # }
//! ```
//! With [`emulation::Options::folder`] the run also writes its tables and histograms. [`cli::run`]
//! is the whole command line, for a program with its own policies, trace formats or kinds of
//! workload: see [`guide::extending`]. The [`guide`] is part of this documentation, too.
//!
//! Three programs in `examples/` of the sources show more: `run` reads the tables of a run, `policy` is a
//! policy with its test on a [`mapred::PolicyBench`], and `study` does the runs of a study.
//!
//! # The order of events
//! Mumakil relies on these rules, and users of this crate may do so, too.
//!
//! - Time is whole microseconds ([`units::SimTime`]). Only the clock advances it, and passes it to
//!   the cores.
//! - Messages that arrive at the same instant are handled in the order in which they were sent.
//!   Even a message that takes no time is delivered after the messages that were sent before it for
//!   the same instant.
//! - On the virtual clock, time advances only when no actor has work left. A handler is never
//!   interrupted, and never sees two instants.
//! - Neither the order of a hash map nor the wall clock affects a run. So the same scenario with
//!   the same seed gives the same results, byte by byte, on any machine and under any load.
//! - Every random number comes from a stream named by (seed, purpose, subject) ([`random`]): a task
//!   takes the same time under every policy, and when it is killed and run again.
//! - A scaled clock (`clock: 600x`) gives up the second, third and fourth of these guarantees,
//!   since it uses real threads and queues.
//!
//! # The map
//! A module uses only modules above it in this list.
//!
//! | module | |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates, shares, and their written forms |
//! | [`random`] | the random stream of each purpose and subject; distributions |
//! | [`statistics`] | means, quantiles, confidence intervals |
//! | [`chart`] | charts as SVG: data in, markup out |
//! | [`page`] | a report as one HTML file |
//! | [`theory`] | closed forms: the expected results of a run |
//! | [`dense`] | lists indexed by dense numbers, which grow on demand |
//! | [`nearest`] | the known name that a misspelt one may mean |
//! | [`mutants`] | wrong versions of single mechanisms, in builds with assertions |
//! | [`panics`] | the panics that no code has answered for |
//! | [`expression`] | the syntax of expectations and of ranks |
//! | [`files`] | the names of a run's files |
//! | [`disk`] | all operations that change the disk |
//! | [`shell`] | words of a command that is shown, quoted for a shell |
//! | [`yaml`] | files that users write: trees, their layers, and mistakes with their places |
//! | [`trace`] | files of records: read exactly, with the place of every mistake |
//! | [`cluster`] | the hardware: nodes, racks, disks, links, and the blocks of HDFS |
//! | [`protocol`] | what a core is: messages in, letters and events out |
//! | [`mapred`] | the protocol and its cores without I/O, such as JobTracker and TaskTracker |
//! | [`runtime`] | the only place that uses actix: actors, clocks, links |
//! | [`tables`] | the rows of a run's tables: each column described once |
//! | [`expect`] | the language of metrics and expectations |
//! | [`workload`] | the jobs, and the core that submits them |
//! | [`external`] | a policy in another process, and the lines of JSON that it exchanges |
//! | [`scheduler`] | the policies, one file each, and the sizes of jobs that some of them estimate |
//! | [`fault`] | the faults of a run: options, check and effects of each in one file |
//! | [`scenario`] | the YAML: read, checked, resolved; the registry of policies and formats |
//! | [`traces`] | the traces of other tools and lists of jobs: their readers and formats |
//! | [`record`] | events become tables, timelines and histograms |
//! | [`explain`] | a job's time in parts that add up, and the holders of the slots it waited for |
//! | [`compare`] | sides beside each other: runs, studies, policies, a log and its replay |
//! | [`verify`] | a checker of invariants that trusts only the events |
//! | [`output`] | the folder of a run: whole or not at all; its digest |
//! | [`emulation`] | all of these together: a scenario in, a recording out |
//! | [`study`] | many scenarios: axes, runs and results |
//! | [`guide`] | how to use all this: the chapters that `mumakil help` shows |
//! | [`cli`] | the command line, one file for each subcommand, and what satellites add to it |
//!
//! The cores read no clock, own no thread and do no I/O: a message comes in, messages go out. A
//! unit test calls the cores directly, and the actors around them are a few lines.

pub use mumakil_base::{
    dense, disk, expression, files, mutants, nearest, panics, random, shell, statistics, text_form,
    theory, units,
};
pub use mumakil_compare as compare;
pub use mumakil_core::{cluster, mapred, protocol, trace};
pub use mumakil_draw::{chart, page};
pub use mumakil_external as external;
pub use mumakil_policies::scheduler;
pub use mumakil_results::{expect, explain, table, tables};
pub use mumakil_run::{MODEL, emulation, output, record, verify};
pub use mumakil_runtime as runtime;
pub use mumakil_scenario::{self as scenario, fault, workload};
pub use mumakil_study as study;
pub use mumakil_traces as traces;
pub use mumakil_yaml as yaml;

pub mod cli;
pub mod guide;

/// Returns the satellites: crates that add to the program, and that nothing else names. Without the
/// line of one here, its line in `Cargo.toml` and its folder, all else builds and works.
pub fn satellites() -> Vec<cli::Satellite> {
    vec![
        mumakil_arena::satellite(),
        mumakil_chaos::satellite(),
        mumakil_cited::satellite(),
        mumakil_course::satellite(),
        mumakil_fleet::satellite(),
        mumakil_live::satellite(),
        mumakil_logs::satellite(),
        mumakil_papers::satellite(),
        mumakil_yarn::satellite(),
    ]
}

/// Returns a registry of the policies, kinds of workload and formats of traces that Mumakil brings.
pub fn registry() -> scenario::Registry {
    let mut registry = scenario::Registry::new();
    registry.bring_policies(scheduler::entries().iter().cloned());
    registry.bring_policies([mapred::PolicyEntry::of::<external::External>()]);
    traces::bring(&mut registry);
    satellites().iter().filter_map(|it| it.register).for_each(|register| register(&mut registry));
    registry
}
