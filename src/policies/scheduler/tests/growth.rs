//! The work of policies grows no faster with their input than sorting does.

use super::steps::{ALL, GrowthAxis, too_fast};
use super::*;

#[test]
fn the_work_of_a_policy_grows_no_faster_than_sorting_what_there_is() {
    let found = [
        too_fast::<Fifo>("{}", &ALL),
        too_fast::<NaiveFair>("{}", &ALL),
        too_fast::<FairSkip>("{}", &ALL),
        too_fast::<ByRank>("{jobs: -remaining}", &ALL),
        too_fast::<ByRank>("{jobs: age / remaining}", &ALL),
        too_fast::<ByRank>("{jobs: -remaining, preemption: kill}", &ALL),
        too_fast::<ByRank>("{jobs: -attained, preemption: eager}", &ALL),
        too_fast::<Fair>("{}", &ALL),
        too_fast::<Fair>("{variant: paper}", &ALL),
        // In Hadoop's code every arrival visits all jobs, so check the steps to add items for two
        // axes only.
        too_fast::<FairDeficit>("{}", &[GrowthAxis::Tasks, GrowthAxis::Nodes]),
        too_fast::<Capacity>("{}", &ALL),
        too_fast::<ModifiedFair>("{}", &ALL),
        too_fast::<Hfsp>("{}", &ALL),
        too_fast::<Hfsp>("{variant: hadoop}", &ALL),
    ];
    assert_eq!(found.concat(), [""; 0]);
}
