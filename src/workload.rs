//! What arrives: jobs, and the injector that submits them.

mod jobs;

pub use jobs::{JobEntry, Penalty};
