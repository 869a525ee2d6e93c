//! How the work of policies grows with what there is: no faster than sorting it.
//!
//! Something comes n times and then 8 n times, and the [steps](step) of the policy are compared: those to
//! take it in, and those of a fixed number of heartbeats, at which a job comes, a task ends and others are
//! launched.

use super::*;
use mumakil_core::mapred::testing::{Bench, steps_of};
use mumakil_core::mapred::{JobSpec, Outcome, PerSlot, Policy, SlotKind};

/// The number that grows from one measurement to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GrowthAxis {
    /// Jobs at once, of one user, in one pool.
    Jobs,
    /// Users with a job each, in one pool.
    Users,
    /// Pools with a job each.
    Pools,
    /// Tasks of a job.
    Tasks,
    /// Nodes, with work for all.
    Nodes,
    /// Nodes, with a job for each.
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

/// The steps of a policy.
#[derive(Clone, Copy, Debug)]
struct Steps {
    coming: u64,
    serving: u64,
}

/// As many as there are heartbeats and ends in what is measured.
const BEATS: u32 = 16;

/// So many there are at first.
const FEW: u32 = 128;

fn steps<P: Policy>(options: &str, of: GrowthAxis, count: u32) -> Steps {
    let options = serde_yaml::from_str(options).unwrap();
    let many = |those: &[GrowthAxis], few: u32| if those.contains(&of) { count } else { few };
    let (nodes, jobs) = (
        many(&[GrowthAxis::Nodes, GrowthAxis::Sites], BEATS),
        many(&[GrowthAxis::Jobs, GrowthAxis::Users, GrowthAxis::Pools, GrowthAxis::Sites], BEATS),
    );
    // So many that nobody runs out of them.
    let maps = many(&[GrowthAxis::Tasks], 0) + if of == GrowthAxis::Nodes { count } else { 6 };
    let name = |varies: bool, job: u32| if varies { format!("n{job}") } else { "one".to_owned() };
    let tell = |job: u32| {
        move |spec: &mut JobSpec| {
            spec.user = name(of == GrowthAxis::Users, job).into();
            spec.pool = name(of == GrowthAxis::Pools, job).into();
        }
    };
    let mut bench = Bench::new(P::new(options), nodes, PerSlot { map: 2, reduce: 1 });
    let coming = steps_of(|| {
        for job in 0..jobs {
            bench.job(maps, 1, tell(job));
        }
        bench.at(1.0).tick();
    });
    bench.fill();
    let serving = steps_of(|| {
        for beat in 0..BEATS {
            let now = bench.at(10.0 + f64::from(beat));
            now.job(maps, 1, tell(jobs + beat));
            if let Some(map) = now.running(beat).into_iter().find(|it| it.slot() == SlotKind::Map) {
                now.end(map, Outcome::Succeeded);
            }
            assert!(!now.tick().beat(beat).is_empty(), "a map has ended, and others wait");
        }
    });
    Steps { coming, serving }
}

/// The most that the steps of 8 n may be of those of n: sorting takes less than twice as many steps for
/// each of them, and to look at all for each takes 64 times as many.
const MOST: u64 = 16;

/// Returns where a policy's work grows faster; of what comes, these are looked at.
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
        too_fast::<Fair>("{}", &ALL),
        too_fast::<Fair>("{variant: paper}", &ALL),
        // As in Hadoop's code, all jobs are looked at when one comes.
        too_fast::<FairDeficit>("{}", &[GrowthAxis::Tasks, GrowthAxis::Nodes]),
        too_fast::<Capacity>("{}", &ALL),
        too_fast::<ModifiedFair>("{}", &ALL),
        too_fast::<Hfsp>("{}", &ALL),
        too_fast::<Hfsp>("{variant: hadoop}", &ALL),
        too_fast::<Hfsp>("{virtual_slots: parts}", &ALL),
    ];
    assert_eq!(found.concat(), [""; 0]);
}
