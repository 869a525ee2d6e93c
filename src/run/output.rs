//! The folder of a run's results: written as a whole or not at all, and comparable by its digest.
//!
//! ```text
//! .mumakil-HOST-a1b2c3/   hidden while the run fills it (RunFolder, HiddenOutput)
//!    │ rename, when it is whole
//! runs/fifo/              jobs.csv, tasks.csv, summary.json …  → digest jetaniro
//!    │                    scenario, report.html, perf.json: not in the digest
//!    └ or packed into one file
//! ```
//!
//! [`Digest`] is a hash of the results, printed as eight letters that two people can compare by
//! telephone. `perf.json` keeps it, and the checksum of each file ([`RunChecksums`]), by which a
//! reader notices an edited or swapped run.

mod aside;
mod checksums;
mod digest;
mod error;
mod folder;
mod json;
mod leftovers;
mod pack;
mod perf;
pub mod perfetto;
mod place;
mod prometheus;
pub mod report;
pub mod results;

pub use aside::{
    AsideFile, AsideFolder, HIDDEN, HiddenOutput, ReplacedFiles, copy_file, last_put,
    remove_unfinished, write_file,
};
pub use checksums::RunChecksums;
pub use digest::Digest;
pub use error::OutputError;
pub use folder::{RunFolder, check_runs};
pub use json::{read_json, read_json_if_there, write_json};
pub use leftovers::{lock_of, machine};
pub use pack::{PackedRun, Packs, pack};
pub use perf::{DecisionCost, peak_memory, write_perf};
pub use place::RunPlace;
pub(crate) use prometheus::prometheus_text;
