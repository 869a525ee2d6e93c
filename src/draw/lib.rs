//! Charts as SVG, and reports as single HTML files.
//!
//! ```text
//! Bars { groups, series … }.draw() ─ Drawing ─ svg()      a file of its own
//!                                        └ inline() ─┐
//! HtmlPage { sections: tables, texts, charts } ──────┴ html()   one file, no network
//! ```
//!
//! This crate does not know about runs: `mumakil-run` uses it to draw one run, `mumakil-study` to
//! draw many runs.

pub mod chart;
pub mod page;
