//! The formats that Mumakil brings.

use super::format::Formats;
use super::list::format::{JobList, JobTable};
use super::rumen::format::{RumenJobs, RumenTopology};
use super::sls::format::{SlsJobs, SlsNodes, SlsSynth};
use super::swim::format::SwimJobs;

impl Formats {
    /// Returns the formats that Mumakil brings.
    pub fn builtin() -> Self {
        Self(vec![
            &SwimJobs,
            &RumenJobs,
            &RumenTopology,
            &SlsJobs,
            &SlsNodes,
            &SlsSynth,
            &JobTable,
            &JobList,
        ])
    }
}
