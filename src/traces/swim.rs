//! SWIM, whose traces have bytes but no tasks: its records, the jobs of a scenario, the format.
//!
//! ```text
//! record   job0  49  49  740773  2339561  627471: id, submission, gap, input, shuffle, output
//! sizes    how many maps and reduces a job has for its bytes
//! source   the jobs of a run: which of them, how large, how fast
//! format   the jobs of an inspection or a conversion, by the default rules
//! ```

pub(crate) mod format;
mod record;
mod sizes;
pub(crate) mod source;

pub use record::SwimJob;
pub use source::{AtLeast, Mapping, Swim, SwimRange};
