//! Workloads: where jobs come from, and the injector that submits them.
//!
//! Every source makes the same of what it reads: a list of [`JobEntry`], as a scenario may write
//! it out itself. `build` makes jobs of it, for all sources.
//!
//! A trace has a folder: what a record of its files is, what of it makes jobs of a scenario
//! ([`Source`]), and how its files are told from others, read as jobs and written ([`Format`]). All that
//! is common to traces is above them: [`exchange`] and [`format`](mod@format) here, and the reading of files in
//! [`mumakil_core::trace`]. Only `builtin` names all formats.
//!
//! | format | record | written by |
//! |---|---|---|
//! | SWIM, lines of columns | [`swim::SwimJob`] | [`format::ForeignJob::write_to`] |
//! | Rumen's job trace | [`rumen::LoggedJob`] | [`format::ForeignJob::write_to`] |
//! | Rumen's topology | [`rumen::LoggedTopology`] | [`rumen::LoggedTopology::write_to`] |
//! | jobs of YARN's SLS | [`sls::SlsJob`] | [`format::ForeignJob::write_to`] |
//! | nodes of YARN's SLS | [`sls::SlsRack`] | [`sls::SlsRack::write_to`] |
//! | generator of YARN's SLS | [`sls::Synth`] | |
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
mod build;
mod builtin;
mod chains;
mod disjoint_sets;
pub mod exchange;
pub mod format;
mod hosts;
mod injector;
pub(crate) mod jobs;
pub mod list;
pub(crate) mod mix;
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
pub use format::{Format, Formats};
pub use injector::JobInjector;
pub use jobs::{JobEntry, Penalty, TaskCount};
pub use list::{JobFile, ListSource};
pub use mix::{Arrivals, JobType, Mix, NameChoices, Names};
pub use rumen::{Rumen, RumenModel, RumenPenalty};
pub use shares::ReduceShares;
pub use site::WorkloadSite;
pub use sls::Sls;
pub use source::{FoundJobs, Source, SourceKind};
pub use spec::{WarmStart, WorkloadSpec};
pub use submission::Submission;
pub use swim::{AtLeast, Mapping, Swim, SwimPace, SwimRange};
