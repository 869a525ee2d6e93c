//! The tables of a run, and the code that reads them.
//!
//! ```text
//! mumakil-run writes ─▶ jobs.csv, tasks.csv …   rows and columns: tables
//!                        ├─▶ expect    mean(sojourn) < 15min  →  holds, 12 min 3 s
//!                        └─▶ explain   job a: 40 % waiting for map slots, held by b
//! ```
//!
//! This crate declares each column of a table once. The words in cells, such as `failed`, come from
//! enums of this crate or of `mumakil-core`. The crate needs only the files of a run, not the code
//! that ran it.

pub mod expect;
pub mod explain;
pub mod tables;

pub use mumakil_base::worded;
