//! Readers of traces: files of jobs and hosts that other tools write, and Mumakil's own lists.
//!
//! Each format has a folder: the records of its files, the [`Source`](mumakil_scenario::workload::Source) that makes jobs for a
//! scenario, and the [`Format`], which recognises, reads and writes the files. The traits are in
//! `mumakil-scenario`, which knows no format; [`bring`] puts them all into its registry. Bytes become records in [`mumakil_core::trace`].
//!
//! | format | record | written by |
//! |---|---|---|
//! | SWIM, lines of columns | [`swim::SwimJob`] | [`mumakil_scenario::workload::format::TraceJob::write_to`] |
//! | Rumen's job trace | [`rumen::LoggedJob`] | [`mumakil_scenario::workload::format::TraceJob::write_to`] |
//! | Rumen's topology | [`rumen::LoggedTopology`] | [`rumen::LoggedTopology::write_to`] |
//! | jobs of YARN's SLS | [`sls::SlsJob`] | [`mumakil_scenario::workload::format::TraceJob::write_to`] |
//! | nodes of YARN's SLS | [`sls::SlsRack`] | [`sls::SlsRack::write_to`] |
//! | generator of YARN's SLS | [`sls::Synth`] | |
//! | batch jobs of other clusters (`batch`) | | |
//! | our own table of jobs, CSV | [`list::Row`] | [`list::write_table`] |
//! | our own list of jobs, YAML | [`list::ListEntry`] | [`list::write_yaml`] |
//!
//! ```
//! use mumakil_core::trace::{Records, Strictness};
//! use mumakil_traces::swim::SwimJob;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "job0\t49\t49\t740773\t2339561\t627471\n";
//! let mut jobs = Records::<SwimJob>::from_reader("jobs.tsv", text.as_bytes(), Strictness::Strict)?;
//! let job = jobs.next().expect("a job")?;
//! assert_eq!((job.id.as_str(), job.submit_s), ("job0", 49));
//! assert!(jobs.next().is_none());
//! assert!(jobs.sha256().is_some(), "the whole file was read");
//! # Ok(())
//! # }
//! ```

mod batch;
pub mod hadoop_xml;
mod hosts;
pub mod list;
pub mod rumen;
pub mod sls;
pub mod swim;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use crate::batch::FORMATS as BATCH;
use crate::list::format::{JOB_LIST, JOB_TABLE};
use crate::rumen::Rumen;
use crate::rumen::format::{RUMEN_JOBS, RUMEN_TOPOLOGY};
use crate::sls::Sls;
use crate::sls::format::{SLS_JOBS, SLS_NODES, SLS_SYNTH};
use crate::swim::Swim;
use crate::swim::format::SWIM_JOBS;
use mumakil_scenario::Registry;
use mumakil_scenario::workload::{Format, Formats, SourceEntry};

/// Adds to a registry all that this crate reads: kinds of workload, formats, and Hadoop's files of options.
pub fn bring(registry: &mut Registry) {
    registry.bring_sources(sources()).bring_formats(formats().iter());
    registry.option_files = Some(hadoop_xml::read);
}

/// Returns the kinds of workload whose jobs are read from a trace.
fn sources() -> [SourceEntry; 3] {
    [SourceEntry::of::<Rumen>(), SourceEntry::of::<Swim>(), SourceEntry::of::<Sls>()]
}

/// Returns the formats that Mumakil brings.
pub fn formats() -> Formats {
    let tools: [&Format; 6] =
        [&SWIM_JOBS, &RUMEN_JOBS, &RUMEN_TOPOLOGY, &SLS_JOBS, &SLS_NODES, &SLS_SYNTH];
    let batch = BATCH.iter().map(|columns| &columns.format);
    let mut formats = Formats::default();
    tools.into_iter().chain(batch).for_each(|format| _ = formats.add(format));
    formats.add(&JOB_TABLE).add(&JOB_LIST);
    formats
}
