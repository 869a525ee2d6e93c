//! Pictures: a chart is SVG, a report is one HTML file; data in, markup out.
//!
//! Nothing here knows what is drawn. The crate stands on `mumakil-base` for numbers and their units;
//! `mumakil-run` draws a run with it, `mumakil-study` many runs.

pub mod chart;
pub mod page;
