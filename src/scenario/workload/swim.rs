//! SWIM, whose traces know bytes and no tasks: its records, the jobs of a scenario, the format.

pub(super) mod format;
mod record;
mod sizes;
pub(crate) mod source;

pub use record::SwimJob;
pub use source::{AtLeast, Mapping, Swim, SwimPace, SwimRange};
