//! Pictures: a chart is SVG, a report is one HTML file; data in, markup out.
//!
//! ```text
//! Bars { groups, series … }.draw() ─ Drawing ─ svg()      a file of its own
//!                                        └ inline() ─┐
//! HtmlPage { sections: tables, texts, charts } ──────┴ html()   one file, no network
//! ```
//!
//! Nothing here knows what is drawn. `mumakil-run` draws a run with it, `mumakil-study` many runs.

pub mod chart;
pub mod page;
