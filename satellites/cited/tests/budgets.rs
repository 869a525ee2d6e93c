//! Shares that pools buy: their slots, and the time for which a budget lasts.

use crate::Room;

/// Ann pays 2 for each of her 60 slots in 20 s: her budget of 7,200 lasts for 20 minutes. Tasks take up
/// to half a minute, so shares change within a minute.
#[test]
fn a_budget_buys_slots_for_as_long_as_it_lasts() {
    let room = Room::new();
    let yaml = |policy: &str| {
        format!(
            "hadoop: {{line: \"1.x\", heartbeat: 1s, setup_cleanup: false}}
cluster: {{nodes: 30, racks: 1, map_slots: 3, reduce_slots: 0}}
until: 30min
workload:
  jobs:
    - {{name: a, pool: ann, maps: 9000, input: 0, map_time: {{uniform: {{from: 20s, to: 30s}}}}}}
    - {{name: b, pool: bob, maps: 9000, input: 0, map_time: {{uniform: {{from: 20s, to: 30s}}}}}}
scheduler: {policy}
expect:
  - 57 < mean(slots[pool=ann, kind=map], time=2min..19min) <= 61
  - 27 < mean(slots[pool=bob, kind=map], time=2min..19min) <= 31
  - mean(slots[pool=ann, kind=map], time=22min..29min) < 1
  - 86 < mean(slots[pool=bob, kind=map], time=22min..29min) <= 90
"
        )
    };
    room.write("a.yaml", &yaml("{dynamic-priority: {pools: {ann: {budget: 7200, spending: 2}}}}"));
    room.mumakil("run a.yaml --verify --out a").assert().success();
    room.write("b.yaml", &yaml("{dynamic-priority: {pools: {ann: {spending: 2}}}}"));
    room.mumakil("run b.yaml --out b").assert().code(1);
}
