//! One run: a scenario in, a folder of tables, histograms and a report out.
//!
//! ```text
//! scenario.yaml ── Prepared ── cores ── runtime ──┐ facts: what each actor did or learned
//!                                                 ├─ record ── jobs.csv, tasks.csv, summary.json …
//!                                                 └─ verify ── breaches of invariants
//! output: collects the files in a hidden folder, adds report.html, renames the folder
//! ```
//!
//! `verify` reads only the facts, not the state of the actors. Studies of many runs are in
//! `mumakil-study`.

pub mod emulation;
mod model;
pub mod output;
pub mod record;
#[cfg(test)]
#[path = "../../tests/it/registry.rs"]
mod testing;
pub mod verify;

pub use model::MODEL;
