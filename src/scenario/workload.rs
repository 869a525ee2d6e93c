//! Workloads: the sources of jobs, and the injector that submits the jobs.
//!
//! Every source turns its input into a list of [`JobEntry`], as a scenario may write it itself.
//! `build` makes the jobs of a run from this list, for all sources.
//!
//! Each trace format has a folder: the records of its files, the [`Source`] that makes jobs for a
//! scenario, and the [`Format`], which recognises, reads and writes the files. Code for all traces
//! is above these folders: [`exchange`] and [`format`](mod@format) here, and the reading of files
//! in [`mumakil_core::trace`]. Only `builtin` names all formats.
//!
//! | format | record | written by |
//! |---|---|---|
//! | SWIM, lines of columns | [`swim::SwimJob`] | [`format::ForeignJob::write_to`] |
//! | Rumen's job trace | [`rumen::LoggedJob`] | [`format::ForeignJob::write_to`] |
//! | Rumen's topology | [`rumen::LoggedTopology`] | [`rumen::LoggedTopology::write_to`] |
//! | jobs of YARN's SLS | [`sls::SlsJob`] | [`format::ForeignJob::write_to`] |
//! | nodes of YARN's SLS | [`sls::SlsRack`] | [`sls::SlsRack::write_to`] |
//! | generator of YARN's SLS | [`sls::Synth`] | |
//! | batch jobs of other clusters (`batch`) | | |
//! | our own table of jobs, CSV | [`list::Row`] | [`list::write_table`] |
//! | our own list of jobs, YAML | [`list::ListEntry`] | [`list::write_yaml`] |
//!
//! ```
//! use mumakil_core::trace::{Records, Strictness};
//! use mumakil_scenario::workload::swim::SwimJob;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "job0\t49\t49\t740773\t2339561\t627471\n";
//! let mut jobs = Records::<SwimJob>::from_reader("jobs.tsv", text.as_bytes(), Strictness::Strict)?;
//! let job = jobs.next().expect("a job")?;
//! assert_eq!((job.id.as_str(), job.submit_s), ("job0", 49));
//! assert!(jobs.next().is_none());
//! assert!(jobs.sha256().is_some(), "the whole file was read");
//! # Ok(())
//! # }
//! ```

pub(crate) mod arrivals;
mod batch;
mod build;
mod builtin;
mod chains;
mod demand;
mod disjoint_sets;
pub mod exchange;
pub mod format;
mod hosts;
mod injector;
pub(crate) mod jobs;
pub mod list;
pub(crate) mod mix;
mod pace;
pub mod rumen;
pub(crate) mod shared;
mod shares;
mod site;
pub mod sls;
pub(crate) mod source;
pub(crate) mod spec;
mod stress;
pub(crate) mod submission;
pub mod swim;
#[cfg(test)]
mod testing;

pub use arrivals::{Arrival, BatchId, SubmissionWay, Workload};
pub use demand::{JobDemand, OfferedWork};
pub use format::{Format, Formats};
pub use injector::JobInjector;
pub use jobs::{JobEntry, Penalty, TaskCount};
pub use list::{JobFile, ListSource};
pub use mix::{Arrivals, JobType, Mix, NameChoices, Names};
pub use pace::ArrivalPace;
pub use rumen::{Rumen, RumenModel, RumenPenalty};
pub use shares::ReduceShares;
pub use site::WorkloadSite;
pub use sls::Sls;
pub use source::{FoundJobs, Source, SourceKind};
pub use spec::{WarmStart, WorkloadSpec};
pub use submission::Submission;
pub use swim::{AtLeast, Mapping, Swim, SwimRange};
