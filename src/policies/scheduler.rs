//! The scheduling policies, one file or folder each, and the code that they share.
//!
//! ```text
//! heartbeat with free slots ─▶ JobTracker ─offer─▶ policy
//!     its own order      which job comes first: by arrival, share, capacity or size
//!     estimator          how large is the job, as far as it is known?
//!     shared::load       has this tracker its part of the load already?
//!     shared::reduces    which job's reduces, and how many of them
//!     shared::delay      is the job's input near enough, or does the job wait?
//!     launch ─▶ a directive in the heartbeat's answer
//! ```

mod capacity;
mod estimator;
mod fair;
mod fair_deficit;
mod fifo;
mod hfsp;
mod modified_fair;
mod naive;
mod rank;
pub mod shared;
#[cfg(test)]
mod tests;
mod yardsticks;

pub use capacity::{Capacity, CapacityOptions, JavaMaps, Queue, QueueBy, Queues, Rules};
pub use estimator::{Estimator, MeasuredTask, SizeError, SizeFormula, SizeFormulas};
pub use fair::{Fair, FairOptions, FairVariant, LaunchCap};
pub use fair_deficit::{FairDeficit, FairDeficitOptions};
pub use fifo::{Fifo, FifoOptions};
pub use hfsp::{
    Confidence, Hfsp, HfspOptions, HfspOrder, HfspVariant, LateOrder, SparedAttempts, Victims,
    Weights,
};
pub use modified_fair::{Maximum, ModifiedFair, ModifiedFairOptions, PriorityAdjustment};
pub use naive::{FairSkip, FairSkipOptions, FewestFirst, NaiveFair, NaiveFairOptions};
pub use rank::{ByRank, RankFormula, RankOptions, VictimChoice};
pub use shared::suspensions::{KillOrWait, SlotTaking, SuspendedSpec};
pub use yardsticks::{BySize, Fsp, Ps, Srpt, YardstickOptions};

use std::sync::LazyLock;

use mumakil_core::mapred::PolicyEntry;

/// Returns the policies that Mumakil brings, in the order in which users see them.
pub fn entries() -> &'static [PolicyEntry] {
    static ENTRIES: LazyLock<[PolicyEntry; 12]> = LazyLock::new(|| {
        [
            PolicyEntry::of::<Fifo>(),
            PolicyEntry::of::<NaiveFair>(),
            PolicyEntry::of::<FairSkip>(),
            PolicyEntry::of::<Fair>(),
            PolicyEntry::of::<FairDeficit>(),
            PolicyEntry::of::<ModifiedFair>(),
            PolicyEntry::of::<Capacity>(),
            PolicyEntry::of::<Hfsp>(),
            PolicyEntry::of::<ByRank>(),
            PolicyEntry::of::<Ps>(),
            PolicyEntry::of::<Fsp>(),
            PolicyEntry::of::<Srpt>(),
        ]
    });
    &*ENTRIES
}
