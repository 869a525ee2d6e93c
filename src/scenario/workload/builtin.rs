//! The formats that Mumakil brings.

use super::batch;
use super::format::{Format, Formats};
use super::list::format::{JobList, JobTable};
use super::rumen::format::{JobHistory, RumenJobs, RumenTopology};
use super::sls::format::{SlsJobs, SlsNodes, SlsSynth};
use super::swim::format::SwimJobs;

impl Formats {
    /// Returns the formats that Mumakil brings.
    pub fn builtin() -> Self {
        let tools: [&dyn Format; 7] =
            [&SwimJobs, &RumenJobs, &RumenTopology, &JobHistory, &SlsJobs, &SlsNodes, &SlsSynth];
        let batch = batch::FORMATS.iter().map(|format| format as &dyn Format);
        let own: [&dyn Format; 2] = [&JobTable, &JobList];
        Self(tools.into_iter().chain(batch).chain(own).collect())
    }
}
