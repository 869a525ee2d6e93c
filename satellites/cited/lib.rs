//! The policies of systems that the papers argue with, one file each.
//!
//! ```text
//! drf, aria, dynamic-priority    orders of jobs: by shares, by deadlines, by budgets
//! las, edf                       orders that are ranks with a name of their own
//! offers                         several policies, each with its own jobs
//! quincy, flow                   a plan for all tasks, as the cheapest flow
//! ```

mod aria;
mod drf;
mod dynamic_priority;
pub mod flow;
mod offers;
mod quincy;
mod ranked;

pub use aria::{Aria, AriaOptions, DeadlineBound};
pub use drf::{Drf, DrfOptions, WeightedPool};
pub use dynamic_priority::{DynamicPriority, DynamicPriorityOptions, PoolBudget};
pub use offers::{FrameworkSpec, InnerPolicy, NodeSharing, Offers, OffersOptions};
pub use quincy::{Quincy, QuincyOptions};
pub use ranked::{
    ByNamedRank, EarliestDeadline, Edf, Las, LeastAttained, NamedRank, NamedRankOptions,
};

use std::sync::LazyLock;

use mumakil_cli::{Chapter, Satellite};
use mumakil_core::mapred::PolicyEntry;

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    Satellite {
        register: Some(|registry| _ = registry.bring_policies(entries().iter().cloned())),
        chapters: vec![Chapter::new("cited", include_str!("cited.md"))],
        ..Satellite::default()
    }
}

fn entries() -> &'static [PolicyEntry] {
    static ENTRIES: LazyLock<[PolicyEntry; 7]> = LazyLock::new(|| {
        [
            PolicyEntry::of::<Drf>(),
            PolicyEntry::of::<DynamicPriority>(),
            PolicyEntry::of::<Offers>(),
            PolicyEntry::of::<Quincy>(),
            PolicyEntry::of::<Las>(),
            PolicyEntry::of::<Edf>(),
            PolicyEntry::of::<Aria>(),
        ]
    });
    &*ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;
    use steps::{ALL, GrowthAxis, too_fast};

    #[path = "../../../src/policies/scheduler/tests/steps.rs"]
    mod steps;

    #[test]
    fn the_work_of_a_policy_grows_no_faster_than_sorting_what_there_is() {
        use GrowthAxis::{Jobs, Nodes, Pools, Sites, Tasks, Users};
        let found = [
            too_fast::<Aria>("{}", &ALL, &ALL),
            // Each pool pays as time passes, so all shares change.
            too_fast::<DynamicPriority>("{}", &ALL, &[Jobs, Users, Tasks, Nodes, Sites]),
            too_fast::<Drf>("{}", &ALL, &ALL),
            too_fast::<Las>("{}", &ALL, &[Jobs, Users, Pools]),
            too_fast::<Offers>("{others: {policy: fair}}", &ALL, &[Pools, Tasks, Nodes]),
            // Each plan is for all jobs and nodes.
            too_fast::<Quincy>("{}", &ALL, &[Tasks]),
            too_fast::<Quincy>("{fair: false, preemption: kill}", &ALL, &[Tasks]),
        ];
        assert_eq!(found.concat(), [""; 0]);
    }
}
