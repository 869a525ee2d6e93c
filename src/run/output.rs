//! The folder that a run leaves: whole or not at all, and comparable by a word.
//!
//! Files are filled aside and put in their place when they are whole ([`HiddenOutput`]), a run as a folder
//! ([`RunFolder`]). [`Digest`] names the bytes of all results by eight letters that two people can compare
//! on the telephone; `perf.json` ([`write_perf`]) is the one file that is not among them. The [`report`] shows
//! the others.

mod aside;
mod digest;
mod error;
mod folder;
mod json;
mod leftovers;
mod pack;
mod perf;
pub mod perfetto;
mod place;
pub mod report;
pub mod results;

pub use aside::{
    AsideFile, AsideFolder, HIDDEN, HiddenOutput, ReplacedFiles, copy_file, remove_unfinished,
    write_file,
};
pub use digest::Digest;
pub use error::OutputError;
pub use folder::RunFolder;
pub use json::{read_json, read_json_if_there, write_json};
pub use leftovers::{lock_of, machine};
pub use pack::{PackedRun, Packer, Packs, seal};
pub use perf::{peak_memory, write_perf};
pub use place::RunPlace;
