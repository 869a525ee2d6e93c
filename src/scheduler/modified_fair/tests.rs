//! The modified fair scheduler's rules, each on a small cluster driven by hand.

use super::*;
use crate::mapred::JobId;
use crate::mapred::SlotKind::Map;
use crate::mapred::bench::Bench;

/// Returns so many trackers of four map slots; nobody waits for locality.
fn bench(trackers: u32, options: &str) -> Bench<ModifiedFair> {
    let yaml = format!("{{delay: {{w1: 0s, w2: 0s}}, {options}}}");
    let options: ModifiedFairOptions = serde_yaml::from_str(&yaml).unwrap();
    Bench::new(ModifiedFair::new(options), trackers, PerSlot { map: 4, reduce: 2 })
}

/// Submits jobs, by their pools and maps.
fn submit<const N: usize>(bench: &mut Bench<ModifiedFair>, jobs: [(&str, u32); N]) -> [JobId; N] {
    jobs.map(|(pool, maps)| bench.job_of(pool, maps, 0))
}

#[test]
fn slots_that_become_free_together_are_all_taken_at_once() {
    let mut bench = bench(1, "classification: false");
    let [b, c] = submit(&mut bench, [("b", 2), ("c", 2)]);
    bench.tick().fill();
    let [a] = submit(&mut bench, [("a", 40)]);
    bench.tick().fill();
    for job in [b, c] {
        bench.succeed(job, Map, 2);
    }
    assert_eq!(bench.beat(0).len(), 4, "though the last round had nothing to allot");
    assert_eq!(bench.held(Map, [a, b, c]), [4, 0, 0]);
}
