//! The results of a run, and everything that is read from them.
//!
//! ```text
//! mumakil-run writes ─▶ jobs.csv, tasks.csv …   rows and columns: tables
//!                        ├─▶ expect    mean(sojourn) < 15min  →  holds, 12 min 3 s
//!                        ├─▶ explain   job a: 40 % waiting for map slots, held by b
//!                        └─▶ parting   map slot 17 goes to a in one run, to b in the other
//! ```
//!
//! Each column of a table is declared once, here. The words in cells are those of `mumakil-core`.
//! Nothing here depends on how a run came about.

pub mod expect;
pub mod explain;
pub mod first_difference;
pub mod tables;
mod worded;
