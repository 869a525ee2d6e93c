//! The slots that a policy promises to pools or queues, read from the options with which it runs:
//! the minimum shares of pools, and the guaranteed capacities of queues.
//!
//! No file of a run has them, for they do not change. What is said here is what the scenario says:
//! whether a pool gets it is for the reader of the chart to see.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_yaml::Value;

use super::capacity::{Queue, Queues, even, trunc};
use super::part::pools::{Pool, Pools};
use mumakil_core::mapred::PerSlot;

/// Returns the promises of a policy with these options on a cluster of so many slots, by the names of
/// pools and queues that have one. A policy that knows neither promises nothing, nor does one that
/// sorts jobs by their users: what they name is then no pool.
pub fn promised(options: &Value, slots: PerSlot<u64>) -> IndexMap<String, PerSlot<f64>> {
    let mut promised = IndexMap::new();
    let is_by_user = |key: &str| options.get(key).and_then(Value::as_str) == Some("user");
    let Some(allocations) = options.get("allocations") else { return promised };
    if is_by_user("pool_by") || is_by_user("queue_by") {
        return promised;
    }
    let slots = PerSlot { map: slots.map as f64, reduce: slots.reduce as f64 };
    if let Ok(pools) = Pools::deserialize(allocations) {
        of_pools(&pools.pools, &mut promised);
    } else if let Ok(queues) = Queues::deserialize(allocations) {
        of_queues(&queues.queues, 1.0, slots, &mut promised);
    }
    promised
}

fn of_pools(pools: &IndexMap<String, Pool>, promised: &mut IndexMap<String, PerSlot<f64>>) {
    for (name, pool) in pools {
        let min = PerSlot { map: pool.min_maps.get(), reduce: pool.min_reduces.get() };
        if 0 < min.map || 0 < min.reduce {
            let min = PerSlot { map: min.map.into(), reduce: min.reduce.into() };
            promised.insert(name.clone(), min);
        }
        of_pools(&pool.pools, promised);
    }
}

/// A queue has whole slots of the cluster, as the policy counts them. Queues that say nothing share
/// evenly what the others leave.
fn of_queues(
    queues: &IndexMap<String, Queue>,
    around: f64,
    slots: PerSlot<f64>,
    promised: &mut IndexMap<String, PerSlot<f64>>,
) {
    let left = even(queues);
    for (name, queue) in queues {
        let share = around * queue.capacity.map_or(left, |capacity| capacity.get());
        let whole = |slots: f64| f64::from(trunc(share * slots));
        promised
            .insert(name.clone(), PerSlot { map: whole(slots.map), reduce: whole(slots.reduce) });
        of_queues(&queue.queues, share, slots, promised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(options: &str) -> Vec<(String, f64, f64)> {
        let options: Value = serde_yaml::from_str(options).unwrap();
        let promised = promised(&options, PerSlot { map: 40, reduce: 20 });
        promised.into_iter().map(|(name, of)| (name, of.map, of.reduce)).collect()
    }

    #[test]
    fn pools_are_promised_their_minimum_shares() {
        let pools =
            "{allocations: {pools: {a: {min_maps: 5}, b: {}, c: {pools: {d: {min_reduces: 2}}}}}}";
        assert_eq!(of(pools), [("a".to_owned(), 5.0, 0.0), ("d".to_owned(), 0.0, 2.0)]);
    }

    #[test]
    fn queues_are_promised_their_share_of_the_queue_around_them() {
        let queues = "{allocations: {queues: {a: {capacity: 50%, queues: {b: {}, c: {}}}, d: {}}}}";
        let told: Vec<_> = of(queues).into_iter().map(|(name, map, _)| (name, map)).collect();
        let wanted = [("a", 20.0), ("b", 10.0), ("c", 10.0), ("d", 20.0)];
        assert_eq!(told, wanted.map(|(name, slots)| (name.to_owned(), slots)));
        // Of 40 slots 13.2 are 13, and of these 33 % a queue below has 4.356 of the cluster's.
        let uneven = "{allocations: {queues: {a: {capacity: 33%, queues: {b: {capacity: 33%}}}}}}";
        let told: Vec<f64> = of(uneven).into_iter().map(|(_, map, _)| map).collect();
        assert_eq!(told, [13.0, 4.0]);
    }

    #[test]
    fn who_has_no_pools_promises_nothing() {
        for options in ["{}", "{allocations: {}}", "{allocations: {pools: {a: {}}}}"] {
            assert!(of(options).is_empty(), "{options}");
        }
        assert!(of("{pool_by: user, allocations: {pools: {a: {min_maps: 5}}}}").is_empty());
    }
}
