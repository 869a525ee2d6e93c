//! Rumen, which recorded the history of clusters: its records, the jobs of a scenario, the formats.
//!
//! ```text
//! record, attempt   a job of the trace, as its JSON has it
//! topology          the racks and hosts of its cluster
//! admitted          which jobs run, and their tasks by number
//! order, survey     the order of jobs; what the log tells about its cluster
//! properties        the settings in a job's logged configuration
//! localisations     how long first attempts waited for the files of their job
//! statistics        the distributions of a job's attempts
//! source            the jobs of a run: as measured, or as Mumak reads them
//! format            the jobs of an inspection or a conversion, and jobs written for Rumen
//! ```

mod admitted;
mod attempt;
pub(crate) mod format;
mod localisations;
mod order;
mod properties;
mod record;
pub(crate) mod source;
mod statistics;
mod survey;
mod topology;

pub use admitted::{NumberedTasks, RumenModel, RunnableJob, map_time};
pub use attempt::{
    LoggedAttempt, LoggedLocation, LoggedOutcome, LoggedTask, ResourceUsage, TaskType, named,
};
pub use format::{RUMEN_JOBS, read_jobs};
pub use localisations::Localisations;
pub use order::RepeatedIds;
pub use properties::{
    MAP_SPECULATION, OUT_OF_BAND, POLICY, PropertyNames, REDUCE_SPECULATION, pool, property,
    reads_on_order,
};
pub use record::{LoggedCdf, LoggedJob, LoggedPriority, LoggedRanking, RumenJobType};
pub use source::{Rumen, RumenPenalty};
pub use survey::{LogHearing, LogSurvey, median, success};
pub use topology::LoggedTopology;
