//! The results of a run and all that is read from them: the rows of its tables, expectations, explanations and
//! where two runs part.
//!
//! Each column of a table is told once, here; `mumakil-run` writes the rows, reports and comparisons
//! read them. The words that cells hold are those of `mumakil-core`. Nothing here has to do with how a run
//! came about.

pub mod expect;
pub mod explain;
pub mod first_difference;
pub mod tables;
mod worded;
