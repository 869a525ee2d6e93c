//! The formats that Mumakil brings.

use super::batch::{
    AlibabaInstances, AlibabaTasks, GoogleCollections, GoogleJobs, GoogleTasks, SwfJobs,
};
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
            &SwfJobs,
            &GoogleTasks,
            &GoogleJobs,
            &GoogleCollections,
            &AlibabaTasks,
            &AlibabaInstances,
            &JobTable,
            &JobList,
        ])
    }
}
