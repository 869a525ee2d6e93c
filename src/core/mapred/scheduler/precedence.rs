//! By what a policy decides whom a slot goes to first: what tells why the others waited.

use serde::{Deserialize, Serialize};

/// By what groups of jobs (pools, queues) go before one another, and jobs before others of their group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precedence {
    /// Groups among one another; for a policy without groups, jobs whosoever they are.
    pub groups: PrecedenceBy,
    /// Jobs within a group.
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
    /// Returns that of a policy for which groups do not count.
    pub const fn of_jobs(by: PrecedenceBy) -> Self {
        Self { groups: by, jobs: by }
    }
}
