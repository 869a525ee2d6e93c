//! The criteria by which a policy orders jobs: reports use them to say why jobs waited.

use serde::{Deserialize, Serialize};

/// The criteria that order groups of jobs (pools, queues), and the jobs within a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precedence {
    /// The criterion between groups; without groups, the criterion between all jobs.
    pub groups: PrecedenceBy,
    /// The criterion between jobs of a group.
    pub jobs: PrecedenceBy,
}

/// The criterion that decides which group or job comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceBy {
    /// The place in the queue: priority, then arrival.
    Line,
    /// How far a group or job is below its share.
    Share,
    /// The work left to do.
    Size,
    /// A criterion of the policy itself, which reports do not know.
    #[default]
    Own,
}

impl Precedence {
    /// Returns the precedence of a policy without groups.
    pub const fn of_jobs(by: PrecedenceBy) -> Self {
        Self { groups: by, jobs: by }
    }
}
