//! YARN in virtual time: a satellite of cores, schedulers and their settings.
//!
//! ```text
//! line                 `hadoop: yarn`: a scenario ─► what a run is made from
//! policies, settings   options and Hadoop's XML ─► a scheduler and its limits
//! run                  what a run is made from, and its cores for the drives of `runtime`
//! node_manager         a node: containers that end by the clock, heartbeats
//! application_master   a job's master: asks, launches, hears
//! mapreduce_master     the same as MapReduce's own does it
//! resource_manager     answers both, and lets a scheduler decide
//! scheduler            the books that all schedulers share
//! fifo, fair, capacity one scheduler each
//! fault                nodes and masters that fail
//! event ─► translator  what has happened, in MapReduce's words, for all tables and reports
//!       ─► checker     the rules that hold in every run
//! ```
//!
//! The cores do what Hadoop 2.7.3's ResourceManager and the simulators of its Scheduler Load
//! Simulator (SLS) do, to the millisecond. Two clocks are out of phase for each container: it is
//! allocated at a node's heartbeat, and its master gets it at its own next call.

mod application_master;
mod capacity;
mod checker;
mod event;
mod fair;
mod fault;
mod fifo;
mod line;
mod mapreduce_master;
mod message;
mod node_manager;
mod policies;
mod resource_manager;
mod run;
mod scheduler;
mod settings;
mod size;
#[cfg(test)]
#[path = "tests/tables.rs"]
mod tables;
#[cfg(test)]
mod tests;
mod translator;

use mumakil_cli::{Chapter, Satellite};

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    Satellite {
        register: Some(|registry| _ = registry.bring_line(&line::YarnLine)),
        chapters: vec![Chapter::new("yarn", include_str!("yarn.md"))],
        ..Satellite::default()
    }
}
