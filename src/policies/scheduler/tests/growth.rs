//! The work of policies grows no faster with their input than sorting does.

use super::steps::{ALL, GrowthAxis, too_fast};
use super::*;

#[test]
fn the_work_of_a_policy_grows_no_faster_than_sorting_what_there_is() {
    use GrowthAxis::{Jobs, Nodes, Pools, Sites, Tasks, Users};
    // Where the number of jobs does not grow that wait at one node.
    const SOME: [GrowthAxis; 2] = [Tasks, Nodes];
    const MORE: [GrowthAxis; 3] = [Tasks, Nodes, Sites];
    let found = [
        // As in Hadoop, it asks all jobs for reduces, also those whose reduces must wait.
        too_fast::<Fifo>("{}", &ALL, &MORE),
        too_fast::<NaiveFair>("{}", &ALL, &ALL),
        too_fast::<FairSkip>("{}", &ALL, &ALL),
        too_fast::<ByRank>("{jobs: -remaining}", &ALL, &ALL),
        // All ranks change with time.
        too_fast::<ByRank>("{jobs: age / remaining}", &ALL, &SOME),
        too_fast::<ByRank>("{jobs: -remaining, preemption: kill}", &ALL, &ALL),
        // The ranks of all jobs that hold slots change with time.
        too_fast::<ByRank>("{jobs: -attained}", &ALL, &[Jobs, Users, Pools]),
        too_fast::<ByRank>("{jobs: -attained, preemption: eager}", &ALL, &[Jobs, Users, Pools]),
        // As Fifo.
        too_fast::<Fair>("{}", &ALL, &SOME),
        too_fast::<Fair>("{variant: paper}", &ALL, &ALL),
        // In Hadoop's code every arrival visits all jobs.
        too_fast::<FairDeficit>("{}", &[Tasks, Nodes], &ALL),
        too_fast::<Capacity>("{}", &ALL, &ALL),
        too_fast::<ModifiedFair>("{}", &ALL, &ALL),
        too_fast::<Srpt>("{}", &ALL, &ALL),
        // A job whose maps have ended joins the order of reduces, and a measured sample changes that of
        // maps: each time, all jobs are put in order.
        too_fast::<Fsp>("{}", &ALL, &MORE),
        too_fast::<Hfsp>("{}", &ALL, &MORE),
        too_fast::<Hfsp>("{variant: hadoop}", &ALL, &SOME),
    ];
    assert_eq!(found.concat(), [""; 0]);
}
