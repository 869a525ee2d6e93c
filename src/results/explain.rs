//! Why a job took as long as it did: its sojourn, split into parts that add up to the millisecond.
//!
//! [`story`] walks back from a job's end along the attempts that kept it waiting, and so makes a row of
//! [`StoryPart`]es without a gap between the job's arrival and its end. It is made of what `jobs.csv` and
//! `tasks.csv` hold, so any run's folder can be explained, and of `decisions.csv` where that was recorded.
//! [`SlotHolders`] finds the jobs that held the slots for which a job waited. [`ExplainedJob`] is the result for a
//! job: its stretches, added up by part and rule.

mod away;
mod free;
mod holders;
mod order;
mod part;
mod read;
mod refused;
mod story;
mod sums;
mod tell;

pub use holders::{AttemptHold, HolderTime, SlotHolders};
pub use part::{SojournPart, WaitRule};
pub use read::{ToldJob, ToldRun, read};
pub use refused::{RefusedTime, ruled};
pub use story::{JobAttempt, StoryPart, story};
pub use sums::{ExplainedJob, PartSum};
