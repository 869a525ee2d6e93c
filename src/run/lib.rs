//! One run: a scenario in, a folder of tables, histograms and a report out.
//!
//! Here the cores of `mumakil-core`, the actors of `mumakil-runtime` and the plan of `mumakil-scenario` meet.
//! Facts are recorded as rows of `mumakil-results`, a checker watches the same facts and trusts nothing
//! else, and the folder is written whole or not at all. Many runs are the matter of `mumakil-study`.

pub mod emulation;
pub mod output;
pub mod record;
pub mod verify;
