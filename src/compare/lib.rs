//! Sides beside each other: runs, studies, values of an axis, policies, a log and its replay.
//!
//! ```text
//! sides                     rows              module
//! runs, studies             metrics, cells    side_table   numbers, and their change from the first side
//! runs; a log, its replay   jobs              job_pairs    the same job on two sides
//! runs                      slots             first_slot   the first that goes to another job
//! runs                      parts of a job    two_stories  where its time differs, and where that begins
//! values of an axis         seeds             paired       a ratio, its interval, and a verdict on it
//! ```
//!
//! The command and the study own their sides: they read folders and choose rows. This crate pairs
//! them, and owns the words and the tables. A table is a
//! [`PageTable`](mumakil_draw::page::PageTable): a page shows it, and a terminal prints the same.

mod first_slot;
mod job_difference;
mod job_pairs;
mod paired;
mod side_table;
mod two_stories;

pub use first_slot::{FirstSlot, GivenSlot, PartedSlots};
pub use job_pairs::{JobPair, JobPairs, Spread, spread_text};
pub use paired::{OutlyingRatio, Pair, RatioVerdict, family, shown_ratios};
pub use side_table::{ChangeColumn, SideRow, SideTable, longer, ratio};
pub use two_stories::{ExplainedRun, RunPair, TwoStories, is_same_job};
