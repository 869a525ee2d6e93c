//! The formats that Mumakil brings.

use super::format::Formats;
use super::list::format::{JobList, JobTable};
use super::rumen::format::{JobHistory, RumenJobs, RumenTopology};
use super::sls::format::{SlsJobs, SlsNodes, SlsSynth};
use super::swim::format::SwimJobs;

impl Formats {
    /// Returns the formats that Mumakil brings.
    pub fn builtin() -> Self {
        Self(vec![
            &SwimJobs,
            &RumenJobs,
            &RumenTopology,
            &JobHistory,
            &SlsJobs,
            &SlsNodes,
            &SlsSynth,
            &JobTable,
            &JobList,
        ])
    }
}
