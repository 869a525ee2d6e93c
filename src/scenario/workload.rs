//! Workloads: the sources of jobs, and the injector that submits the jobs.
//!
//! Every source turns its input into a list of [`JobEntry`], as a scenario may write it itself.
//! `build` makes the jobs of a run from this list, for all sources.
//!
//! A [`Source`] may read a trace; its file has a [`Format`], which recognises, reads and writes such
//! files. The readers themselves are in `mumakil-traces`.

pub(crate) mod arrivals;
mod build;
mod chains;
mod demand;
mod disjoint_sets;
pub mod exchange;
pub mod format;
mod injector;
pub(crate) mod jobs;
mod list;
pub(crate) mod mix;
mod pace;
pub(crate) mod shared;
mod shares;
mod site;
pub(crate) mod source;
pub(crate) mod spec;
mod stress;
pub(crate) mod submission;

pub use arrivals::{Arrival, BatchId, SubmissionWay, Workload};
pub use demand::{JobDemand, OfferedWork};
pub use format::{Format, Formats};
pub use injector::JobInjector;
pub use jobs::{
    DrawnTimes, FEWER_TASKS, JobEntry, LatestSubmission, MOST_JOBS, Penalty, Phases, TaskCores,
    TaskCount, in_order, too_many_tasks,
};
pub use list::{JobFile, ListSource};
pub use mix::{Arrivals, JobType, Mix, NameChoices, Names};
pub use pace::ArrivalPace;
pub use shared::{ONE_SIZE, TakenNames, file_clashes};
pub use shares::ReduceShares;
pub use site::WorkloadSite;
pub use source::{FoundJobs, Source, SourceEntry, SourceKind};
pub use spec::{WarmStart, WorkloadSpec};
pub use submission::Submission;
