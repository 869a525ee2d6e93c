//! Rumen, which wrote down the history of clusters: its records, the jobs of a scenario, the formats.

mod admitted;
mod attempt;
pub(super) mod format;
mod record;
pub(crate) mod source;
mod topology;

pub use admitted::RumenModel;
pub use attempt::{
    LoggedAttempt, LoggedLocation, LoggedOutcome, LoggedTask, ResourceUsage, TaskType,
};
pub use record::{LoggedCdf, LoggedJob, LoggedPriority, LoggedRanking, RumenJobType};
pub use source::{Rumen, RumenPenalty};
pub use topology::LoggedTopology;
