//! Tests that the work of policies grows no faster with their input than sorting does.
//!
//! The tests compare the [steps](step) of a policy for n items and for 8 n items: the steps to add
//! the items; the steps of a few heartbeats, before each of which a job arrives; and the steps of as
//! many heartbeats as items, before each of which a map and a reduce end.

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

/// The number of heartbeats before which a job arrives.
const BEATS: u32 = 16;

/// The number of items in the small measurement.
const FEW: u32 = 128;

/// Gives a job its user and its pool.
fn group(of: GrowthAxis, job: u32) -> impl FnOnce(&mut JobSpec) {
    let name = move |varies: bool| if varies { format!("n{job}") } else { "one".to_owned() };
    move |spec| {
        spec.user = name(of == GrowthAxis::Users).into();
        spec.pool = name(of == GrowthAxis::Pools).into();
    }
}

/// A policy to which the items have been added.
struct Items<P: Policy> {
    bench: PolicyBench<P>,
    nodes: u32,
    jobs: u32,
    /// The maps of each job.
    maps: u32,
    /// The steps to add them.
    coming: u64,
}

fn with<P: Policy>(options: &str, of: GrowthAxis, count: u32) -> Items<P> {
    let options = serde_yaml::from_str(options).unwrap();
    let many = |those: &[GrowthAxis], few: u32| if those.contains(&of) { count } else { few };
    let (nodes, jobs) = (
        many(&[GrowthAxis::Nodes, GrowthAxis::Sites], BEATS),
        many(&[GrowthAxis::Jobs, GrowthAxis::Users, GrowthAxis::Pools, GrowthAxis::Sites], BEATS),
    );
    // There are so many maps that no job runs out of them.
    let maps = many(&[GrowthAxis::Tasks], 0) + if of == GrowthAxis::Nodes { count } else { 6 };
    let mut bench = PolicyBench::new(P::new(options), nodes, PerSlot { map: 2, reduce: 1 });
    let coming = steps_of(|| {
        for job in 0..jobs {
            bench.submit(maps, 1, group(of, job));
        }
        bench.at(1.0).tick();
    });
    bench.fill();
    Items { bench, nodes, jobs, maps, coming }
}

/// Returns the steps to add the items, and those of a few heartbeats before each of which a job
/// arrives.
fn arriving<P: Policy>(options: &str, of: GrowthAxis, count: u32) -> [u64; 2] {
    let Items { mut bench, jobs, maps, coming, .. } = with::<P>(options, of, count);
    let serving = steps_of(|| {
        for beat in 0..BEATS {
            let now = bench.at(10.0 + f64::from(beat));
            now.submit(maps, 1, group(of, jobs + beat));
            if let Some(map) = now.running(beat).into_iter().find(|it| it.slot() == SlotKind::Map) {
                now.ends(map);
            }
            assert!(!now.tick().offer(beat).is_empty(), "a map has ended, and others wait");
        }
    });
    [coming, serving]
}

/// Returns the steps of as many heartbeats as items, before each of which a map and a reduce end.
fn offering<P: Policy>(options: &str, of: GrowthAxis, count: u32) -> u64 {
    let Items { mut bench, nodes, .. } = with::<P>(options, of, count);
    // At a tick, policies let further jobs in.
    bench.at(5.0).tick();
    let mut launched = 0;
    let steps = steps_of(|| {
        for beat in 0..count {
            let now = bench.at(10.0 + f64::from(beat) / 100.0);
            for kind in SlotKind::BOTH {
                let mut those = now.running(beat % nodes).into_iter();
                those.find(|it| it.slot() == kind).into_iter().for_each(|one| now.ends(one));
            }
            launched += now.offer(beat % nodes).len();
        }
    });
    assert!(0 < launched, "{} {of:?} {count}: {launched}", P::NAME);
    steps
}

/// The largest exponent with which the steps may grow where jobs arrive. To sort takes less than 16
/// times the steps for 8 times the items; to visit all items for each item takes 64 times.
const ARRIVING: f64 = 4.0 / 3.0;

/// The largest exponent with which the steps of as many heartbeats as items may grow.
const OFFERING: f64 = 1.2;

/// Returns, as text, the measurements in which the steps of a policy grow too fast. The steps to add
/// items are checked only for the axes in `axes`, those of as many heartbeats for `offers`.
#[expect(clippy::print_stdout, reason = "the exponents are read by people")]
pub(super) fn too_fast<P: Policy>(
    options: &str,
    axes: &[GrowthAxis],
    offers: &[GrowthAxis],
) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |of, what: &str, most, few: u64, many: u64| {
        let exponent = (many as f64 / few.max(1) as f64).log(8.0);
        let line = format!("{} {options}, {of:?}, {what}: {exponent:.2}", P::NAME);
        println!("{line} ({few} to {many} steps)");
        found.extend((most < exponent).then_some(line));
    };
    for of in ALL {
        let [few, many] = [FEW, 8 * FEW].map(|count| arriving::<P>(options, of, count));
        if axes.contains(&of) {
            compare(of, "coming", ARRIVING, few[0], many[0]);
        }
        compare(of, "serving", ARRIVING, few[1], many[1]);
    }
    for of in offers {
        // Small numbers tell little here, since the first heartbeats fill the nodes.
        let [few, many] = [2, 16].map(|times| offering::<P>(options, *of, times * FEW));
        compare(*of, "offering", OFFERING, few, many);
    }
    found
}
