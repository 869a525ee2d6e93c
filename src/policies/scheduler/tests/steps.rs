//! Tests that the work of policies grows no faster with their input than sorting does.
//!
//! The tests compare the [steps](step) of a policy for n items and for 8 n items: the steps to add
//! the items, and the steps of a fixed number of heartbeats. In each of these heartbeats a job
//! arrives, a task ends and tasks are launched.

use mumakil_core::mapred::{JobSpec, PerSlot, Policy, PolicyBench, SlotKind, steps_of};

/// The input that grows from one measurement to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GrowthAxis {
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

pub(super) const ALL: [GrowthAxis; 6] = [
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
pub(super) fn too_fast<P: Policy>(options: &str, coming: &[GrowthAxis]) -> Vec<String> {
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
