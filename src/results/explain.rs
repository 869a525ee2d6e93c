//! Why a job took as long as it did: its sojourn, split into parts that add up to the millisecond.
//!
//! ```text
//! arrival                                                              end
//!  │ setup │ wait for map slots │ the last map │ fetching │ reducing │ cleanup │
//!                    └ who held them: job b 60 %, job c 30 %
//! ```
//!
//! [`story`] walks back from a job's end along the attempts that kept it waiting, and so finds
//! [`StoryPart`]s without a gap. It needs `jobs.csv` and `tasks.csv`, so any run's folder can be
//! explained; `decisions.csv`, where recorded, adds why slots were refused. [`SlotHolders`] finds
//! the jobs that held the slots meanwhile. [`ExplainedJob`] adds a job's stretches up by part and
//! rule.

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
