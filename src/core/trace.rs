//! Reads trace files exactly: every mistake is reported with its place, and no value is
//! interpreted.
//!
//! [`Records`] opens a file of any format, plain or gzipped, and gives one [`Record`] after the
//! other. [`Opening`] shows the first record of a file, which reveals the format. This module does
//! not know the meaning of the records: each trace format has a folder in
//! `mumakil-traces`.
//!
//! ```text
//! file ─► text, unpacked ─► a line, object or entry ─► T::parse ─┬─► record, and notes
//!                                                                └─► error, with its line
//! ```
//!
//! Any bytes become records or a [`TraceError`]. A pass holds one record at a time and the ids of
//! all jobs so far. Limits: a line has at most 1 MiB, an id 1 KiB, an object 1 GiB with brackets
//! nested a hundred deep. The jobs of a trace have at most 2,000,000 tasks that the trace does not
//! list, and no time is more than a hundred years away.

mod error;
mod file;
mod first_few;
pub mod json;
mod log_files;
mod opening;
mod records;
mod text;
mod words;

pub use error::{RecordFault, TextPlace, TraceError, clip};
pub use file::{TraceFile, sha256_of};
pub use first_few::FirstFew;
pub use log_files::is_many;
pub use opening::{FirstRecord, Opening};
pub use records::{Framing, LogForm, Notes, ParseLog, Record, Records, Strictness, Suspicion};
pub use text::{LARGEST_ENTRY, LONGEST_LINE, hex};
