//! Rumen, which recorded the history of clusters: its records, the jobs of a scenario, the formats.
//!
//! ```text
//! record, attempt   a job of the trace, as its JSON has it
//! history, jhist    a job as a JobTracker logs it, or an application master; job_log: its parts
//! topology          the racks and hosts of its cluster
//! admitted          which jobs run, and their tasks by number
//! order, survey     the order of jobs; what the log tells about its cluster
//! cluster           the cluster that a log shows, as settings of a scenario
//! properties        the settings in a job's logged configuration
//! statistics        the distributions of a job's attempts
//! source            the jobs of a run: as measured, or as Mumak reads them
//! format            the jobs of an inspection or a conversion, and jobs written for Rumen
//! ```

mod admitted;
mod attempt;
mod cluster;
pub(crate) mod format;
mod history;
mod jhist;
mod job_log;
mod order;
mod properties;
mod record;
pub(crate) mod source;
mod statistics;
mod survey;
mod topology;

pub use admitted::RumenModel;
pub use attempt::{
    LoggedAttempt, LoggedLocation, LoggedOutcome, LoggedTask, ResourceUsage, TaskType,
};
pub use cluster::{InferredBy, InferredSetting, LogReading, LoggedCluster, LoggedTimes};
pub use record::{LoggedCdf, LoggedJob, LoggedPriority, LoggedRanking, RumenJobType};
pub use source::{Rumen, RumenPenalty};
pub use topology::LoggedTopology;
