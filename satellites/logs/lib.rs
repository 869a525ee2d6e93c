//! The logs that Hadoop keeps of its jobs: their reader, the cluster that they show, and how well a
//! replay of them fits.
//!
//! ```text
//! history, jhist   a job as a JobTracker logs it, or an application master; job_log: its parts
//! format           the logs among the formats of traces
//! cluster          LogReading: the cluster that a log shows, as settings of a scenario
//!   configured     what the configurations of jobs say
//!   losses         the trackers that were lost, as faults
//!   trace_cluster  the cluster, printed or written
//!   replay         a scenario with several seeds
//!   fit, knobs     the settings of queues that fit best
//!   predict        replays on it, its error, and runs with other settings
//! anonymise        the log without names
//! ```

mod anonymise;
pub mod cluster;
mod configured;
mod fit;
mod format;
mod history;
mod jhist;
mod job_log;
mod knobs;
pub mod losses;
mod predict;
mod replay;
mod trace_cluster;

use mumakil_cli::{Chapter, Command, CommandGroup, Satellite};

pub use format::LOGS;

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    use CommandGroup::BringYourOwn;
    Satellite {
        commands: vec![
            Command::of("trace cluster", BringYourOwn, trace_cluster::TraceClusterArguments::run),
            Command::of("trace anonymise", BringYourOwn, anonymise::TraceAnonymiseArguments::run),
            Command::of("predict", BringYourOwn, predict::PredictArguments::run).starts_runs(),
        ],
        chapters: vec![Chapter::new("logs", include_str!("logs.md"))],
        register: Some(|registry| _ = registry.bring_formats([&format::JOB_HISTORY])),
        ..Satellite::default()
    }
}
