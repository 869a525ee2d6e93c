//! Why a job took as long as it did: its sojourn, split into parts that add up to the millisecond.
//!
//! ```text
//! arrival                                                              end
//!  │ setup │ wait for map slots │ the last map │ fetching │ reducing │ cleanup │
//!                    └ held by job b (60 %) and job c (30 %)
//! ```
//!
//! [`story`] walks back from a job's end along the attempts that the job waited for, and splits the
//! job's time into [`StoryPart`]s without gaps. It needs `jobs.csv` and `tasks.csv`;
//! `decisions.csv`, if recorded, adds the reasons for which slots were refused. [`SlotHolders`]
//! finds the jobs that held the slots during a wait. [`ExplainedJob`] adds up the parts of a job's
//! time by cause and rule.

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
pub use read::{JobToExplain, RunToExplain, read};
pub use refused::{RefusedTime, ruled};
pub use story::{JobAttempt, StoryPart, story};
pub use sums::{ExplainedJob, PartSum};
