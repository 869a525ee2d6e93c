//! Trace files of other tools: read and written exactly, nothing interpreted.
//!
//! [`Records`] is the way in, the same for every format: it opens a file, plain or gzipped, and
//! gives one record after the other. [`Opening`] shows what its format can be told by; what is made
//! of the records of a format is said by a `Format` of the workload.
//!
//! | format | record | written by |
//! |---|---|---|
//! | SWIM, lines of columns | [`swim::SwimJob`] | [`swim::SwimJob::write_to`] |
//! | Rumen's job trace | [`rumen::LoggedJob`] | [`rumen::LoggedJob::write_to`] |
//! | Rumen's topology | [`rumen::LoggedTopology`] | [`rumen::LoggedTopology::write_to`] |
//! | jobs of YARN's SLS | [`sls::SlsJob`] | [`sls::SlsJob::write_to`] |
//! | nodes of YARN's SLS | [`sls::SlsRack`] | [`sls::SlsRack::write_to`] |
//! | generator of YARN's SLS | [`sls::Synth`] | |
//! | our own table of jobs, CSV | [`list::Row`] | `workload` |
//! | our own list of jobs, YAML | [`list::Entry`] | `workload` |
//!
//! ```
//! use mumakil::trace::{Records, Strictness, swim::SwimJob};
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
//!
//! Whatever the bytes of a file, what comes of them is records or a [`TraceError`]. A pass holds one
//! record at a time and the ids of the jobs that it has seen: a line has at most 1 MiB, an object
//! at most 1 GiB and a hundred brackets within each other, an id at most 1 KiB. The jobs of a trace
//! have at most 2,000,000 tasks that it does not list, and none of its times is more than a hundred
//! years away.

mod error;
mod file;
mod json;
pub mod list;
mod opening;
mod records;
pub mod rumen;
pub mod sls;
pub mod swim;
mod text;
mod words;

pub use error::{RecordFault, TextPlace, TraceError};
pub use file::{TraceFile, sha256_of};
pub use opening::{First, Opening};
pub use records::{FirstFew, Framing, Notes, Record, Records, Strictness, Suspicion};
pub(crate) use text::{LARGEST_ENTRY, LONGEST_LINE, hex};
