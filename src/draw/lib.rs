//! Charts as SVG, and reports as single HTML files.
//!
//! ```text
//! Bars { groups, series … }.draw() ─ Drawing ─ svg()      a file of its own
//!                                        └ inline() ─┐
//! HtmlPage { sections: tables, texts, charts } ──────┴ html()   one file, no network
//! ```
//!
//! This crate knows nothing of runs: `mumakil-run` draws one run with it, `mumakil-study` many
//! runs.

pub mod chart;
pub mod page;
