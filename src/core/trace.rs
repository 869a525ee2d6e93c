//! Files of records: read exactly, with a place for every mistake, nothing interpreted.
//!
//! [`Records`] is the way in, the same for every format: it opens a file, plain or gzipped, and
//! gives one [`Record`] after the other. [`Opening`] shows the first record of a file, which tells
//! its format. This module does not know what the records of a trace are or become: each trace has
//! a folder in the workload.
//!
//! ```text
//! file ─► text, unpacked ─► a line, object or entry ─► T::parse ─┬─► record, and notes
//!                                                                └─► error, with its line
//! ```
//!
//! Any bytes become records or a [`TraceError`]. A pass holds one record at a time and the ids of
//! the jobs that it has seen: a line has at most 1 MiB, an object at most 1 GiB and a hundred
//! brackets within each other, an id at most 1 KiB. The jobs of a trace have at most 2,000,000
//! tasks that it does not list, and none of its times is more than a hundred years away.

mod error;
mod file;
mod first_few;
pub mod json;
mod opening;
mod records;
mod text;
mod words;

pub use error::{RecordFault, TextPlace, TraceError, clip};
pub use file::{TraceFile, sha256_of};
pub use first_few::FirstFew;
pub use opening::{FirstRecord, Opening};
pub use records::{Framing, Notes, Record, Records, Strictness, Suspicion};
pub use text::{LARGEST_ENTRY, LONGEST_LINE, hex};
