//! Tests that the work of policies grows no faster with their input than sorting does.
//!
//! The tests compare the [steps](step) of a policy for n items and for 8 n items: the steps to add
//! the items, and the steps of a fixed number of heartbeats. In each of these heartbeats a job
//! arrives, a task ends and tasks are launched.

use super::*;
use mumakil_core::mapred::{JobSpec, PerSlot, Policy, PolicyBench, SlotKind, steps_of};

/// The input that grows from one measurement to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GrowthAxis {
    /// Jobs that exist at once, of one user, in one pool.
    Jobs,
    /// Users with one job each, in one pool.
    Users,
    /// Pools with one job each.
    Pools,
    /// The tasks of one job.
    Tasks,
    /// Nodes, with enough work for all of them.
    Nodes,
    /// Nodes, with one job for each node.
    Sites,
}

const ALL: [GrowthAxis; 6] = [
    GrowthAxis::Jobs,
    GrowthAxis::Users,
    GrowthAxis::Pools,
    GrowthAxis::Tasks,
    GrowthAxis::Nodes,
    GrowthAxis::Sites,
];

/// The steps of a policy in one measurement.
#[derive(Clone, Copy, Debug)]
struct Steps {
    coming: u64,
    serving: u64,
}

/// The number of heartbeats and of ended tasks in a measurement.
const BEATS: u32 = 16;

/// The number of items in the small measurement.
const FEW: u32 = 128;

fn steps<P: Policy>(options: &str, of: GrowthAxis, count: u32) -> Steps {
    let options = serde_yaml::from_str(options).unwrap();
    let many = |those: &[GrowthAxis], few: u32| if those.contains(&of) { count } else { few };
    let (nodes, jobs) = (
        many(&[GrowthAxis::Nodes, GrowthAxis::Sites], BEATS),
        many(&[GrowthAxis::Jobs, GrowthAxis::Users, GrowthAxis::Pools, GrowthAxis::Sites], BEATS),
    );
    // There are so many maps that no job runs out of them.
    let maps = many(&[GrowthAxis::Tasks], 0) + if of == GrowthAxis::Nodes { count } else { 6 };
    let name = |varies: bool, job: u32| if varies { format!("n{job}") } else { "one".to_owned() };
    let tell = |job: u32| {
        move |spec: &mut JobSpec| {
            spec.user = name(of == GrowthAxis::Users, job).into();
            spec.pool = name(of == GrowthAxis::Pools, job).into();
        }
    };
    let mut bench = PolicyBench::new(P::new(options), nodes, PerSlot { map: 2, reduce: 1 });
    let coming = steps_of(|| {
        for job in 0..jobs {
            bench.submit(maps, 1, tell(job));
        }
        bench.at(1.0).tick();
    });
    bench.fill();
    let serving = steps_of(|| {
        for beat in 0..BEATS {
            let now = bench.at(10.0 + f64::from(beat));
            now.submit(maps, 1, tell(jobs + beat));
            if let Some(map) = now.running(beat).into_iter().find(|it| it.slot() == SlotKind::Map) {
                now.ends(map);
            }
            assert!(!now.tick().offer(beat).is_empty(), "a map has ended, and others wait");
        }
    });
    Steps { coming, serving }
}

/// The largest factor by which the steps may grow from n to 8 n items. Sorting takes less than
/// twice as many steps for each item, so less than 16 times in all; visiting all items for each
/// item takes 64 times.
const MOST: u64 = 16;

/// Returns, as text, the measurements in which the steps of a policy grow too fast. The steps to
/// add items are checked only for the axes in `coming`.
fn too_fast<P: Policy>(options: &str, coming: &[GrowthAxis]) -> Vec<String> {
    let mut found = Vec::new();
    for of in ALL {
        let [few, many] = [FEW, 8 * FEW].map(|count| steps::<P>(options, of, count));
        let mut tell = |what: &str, few: u64, many: u64| {
            if MOST * few < many {
                found.push(format!("{}, {of:?}, {what}: {few} to {many} steps", P::NAME));
            }
        };
        if coming.contains(&of) {
            tell("coming", few.coming, many.coming);
        }
        tell("serving", few.serving, many.serving);
    }
    found
}

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
        too_fast::<Aria>("{}", &ALL),
        too_fast::<DynamicPriority>("{}", &ALL),
        too_fast::<Drf>("{}", &ALL),
        too_fast::<Offers>("{others: {policy: fair}}", &ALL),
        too_fast::<Quincy>("{}", &ALL),
        too_fast::<Quincy>("{fair: false, preemption: true}", &ALL),
        too_fast::<ModifiedFair>("{}", &ALL),
        too_fast::<Hfsp>("{}", &ALL),
        too_fast::<Hfsp>("{variant: hadoop}", &ALL),
    ];
    assert_eq!(found.concat(), [""; 0]);
}
