//! The criteria by which a policy orders jobs: reports use them to say why the others waited.

use serde::{Deserialize, Serialize};

/// The criteria that order groups of jobs (pools, queues), and the jobs within a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precedence {
    /// The criterion between groups; of a policy without groups, the one between all jobs.
    pub groups: PrecedenceBy,
    /// The criterion between jobs of a group.
    pub jobs: PrecedenceBy,
}

/// The criterion by which one group or job is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrecedenceBy {
    /// A place in line: priority, arrival.
    Line,
    /// How far each is below its share.
    Share,
    /// The work left to do.
    Size,
    /// Something of the policy's own.
    #[default]
    Own,
}

impl Precedence {
    /// Returns the precedence of a policy without groups.
    pub const fn of_jobs(by: PrecedenceBy) -> Self {
        Self { groups: by, jobs: by }
    }
}
