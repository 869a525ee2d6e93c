//! The settings of pools and queues that a fit tries.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_yaml::Value;

use crate::cluster::{InferredBy, InferredSetting, LoggedCluster, LoggedQueue, in_line, put_at};
use crate::configured;
use mumakil_core::cluster::PerSlot;

/// The most pools or queues whose settings are tried, those with the most tasks.
const MOST_QUEUES: usize = 6;

const FAIR: &str = "scheduler.fair.allocations";
const FAIR_DELAY: &str = "scheduler.fair.delay";
const FAIR_KILLS: &str = "scheduler.fair.preemption";
const CAPACITY: &str = "scheduler.capacity.allocations";

// Chosen: steps that a user would take, from one end to the other. Null leaves the key out; a share is
// of the slots of the cluster.

/// Values of each pool of `fair`.
const OF_POOL: &str = "
weight: [0.125, 0.25, 0.5, null, 2, 4, 8]
min_maps: [null, 0.05, 0.1, 0.2, 0.3, 0.5]
min_reduces: [null, 0.05, 0.1, 0.2, 0.3, 0.5]
max_jobs: [1, 2, 3, 5, 10, null]
order: [null, fifo]
";

/// The delay of all pools.
const DELAYS: &str = "[null, {w1: 0s, w2: 0s}, {w1: 1s, w2: 1s}, {w1: 3s, w2: 3s}, {w1: 5s, w2: 5s}, \
                      {w1: 10s, w2: 10s}, {w1: 15s, w2: 15s}]";

/// After how long pools get slots by kills.
const TIME_OUTS: &str = "
min_share_after: [null, 5s, 10s, 15s, 30s, 1min, 2min, 5min, 10min]
fair_share_after: [null, 5s, 10s, 15s, 30s, 1min, 2min, 5min, 10min]
";

/// Values of each queue of `capacity`; its capacity is in proportion to that of the first queue.
const OF_QUEUE: &str = "
capacity: [0.0625, 0.088, 0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1, 1.41, 2, 2.83, 4, 5.66, 8, 11.3, 16]
user_limit_factor: [null, 1.5, 2, 3, 5, 10]
minimum_user_limit: [null, 0.5, 0.34, 0.25, 0.2, 0.1]
maximum_capacity: [null, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2]
";

/// Settings, each with the values that are tried and the one that holds.
#[derive(Clone, Debug)]
pub(super) struct FitKnobs(Vec<FitKnob>);

#[derive(Clone, Debug)]
struct FitKnob {
    /// The setting of a scenario, and the keys in its value.
    setting: &'static str,
    keys: Vec<String>,
    values: Vec<Value>,
    /// The place of the value that holds, and of the usual one.
    at: usize,
    usual: usize,
}

impl FitKnob {
    fn new(setting: &'static str, keys: &[&str], values: Vec<Value>) -> Self {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let nothing = values.iter().position(Value::is_null);
        let one = values.iter().position(|value| value.as_u64() == Some(1));
        let usual = nothing.or(one).unwrap_or(0);
        Self { setting, keys, values, at: usual, usual }
    }

    /// Returns whether the configurations say the setting, or somebody told it.
    fn is_known(&self, cluster: &LoggedCluster, told: &[&str]) -> bool {
        let path = [&[self.setting.to_owned()][..], &self.keys].concat().join(".");
        let mut settings = cluster.settings.iter().filter(|one| one.path == self.setting);
        settings.any(|one| one.sure == InferredBy::Said)
            || told.iter().any(|told| {
                let rest = path.strip_prefix(told);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                    || told.starts_with(self.setting)
            })
    }
}

/// The pools or queues of a cluster, those with the most tasks first.
type Queues<'c> = [(&'c str, &'c LoggedQueue)];

impl FitKnobs {
    /// Returns the knobs for what is not known of a cluster with these slots. `told` has the paths of
    /// settings that somebody told.
    pub(super) fn of(cluster: &LoggedCluster, slots: PerSlot<u32>, told: &[&str]) -> Self {
        let policy = cluster.settings.iter().find(|one| one.path == "scheduler");
        let mut queues: Vec<(&str, &LoggedQueue)> =
            cluster.queues.iter().map(|(name, queue)| (name.as_str(), queue)).collect();
        queues.sort_by_key(|(_, queue)| Reverse(queue.tasks));
        let mut all = match policy.map(|one| one.value.as_str()) {
            Some("fair") => of_fair(&queues, slots, cluster.has_kills),
            Some("capacity") => of_capacity(&queues),
            _ => Vec::new(),
        };
        all.retain(|knob| !knob.is_known(cluster, told));
        Self(all)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the knobs with one of them at each of its other values that are at most so far away.
    pub(super) fn turned(&self, knob: usize, reach: usize) -> Vec<Self> {
        let FitKnob { at, ref values, .. } = self.0[knob];
        let end = at.saturating_add(reach).saturating_add(1).min(values.len());
        let others = (at.saturating_sub(reach)..end).filter(|other| *other != at);
        others.map(|other| self.with(knob, other)).collect()
    }

    /// Returns the knobs with one of them at its usual value; `None` if it is there.
    pub(super) fn turned_back(&self, knob: usize) -> Option<Self> {
        let FitKnob { at, usual, .. } = self.0[knob];
        (at != usual).then(|| self.with(knob, usual))
    }

    fn with(&self, knob: usize, at: usize) -> Self {
        let mut turned = self.clone();
        turned.0[knob].at = at;
        turned
    }

    /// Returns the knobs at their usual values.
    pub(super) fn usual(&self) -> Self {
        let mut usual = self.clone();
        usual.0.iter_mut().for_each(|knob| knob.at = knob.usual);
        usual
    }

    /// Returns the settings as the knobs stand, over what the cluster has.
    pub(super) fn settings(&self, cluster: &LoggedCluster) -> Vec<InferredSetting> {
        let mut values: BTreeMap<&'static str, Value> = BTreeMap::new();
        for knob in &self.0 {
            let value = values.entry(knob.setting).or_insert_with(|| {
                let known = cluster.settings.iter().find(|one| one.path == knob.setting);
                known
                    .map_or(Value::Null, |one| serde_yaml::from_str(&one.value).unwrap_or_default())
            });
            if !knob.values[knob.at].is_null() {
                let keys: Vec<&str> = knob.keys.iter().map(String::as_str).collect();
                put_at(value, &keys, knob.values[knob.at].clone());
            }
        }
        if let Some(queues) = values.get_mut(CAPACITY).and_then(|all| all.get_mut("queues")) {
            configured::share_out(queues);
        }
        // Time-outs without kills would have no effect.
        let has_time_out = values.get(FAIR).is_some_and(|pools| {
            ["fair_share_after", "min_share_after"].iter().any(|key| pools.get(key).is_some())
        });
        if has_time_out && !cluster.settings.iter().any(|one| one.path == FAIR_KILLS) {
            values.insert(FAIR_KILLS, "kill".into());
        }
        let kept = values.into_iter().filter(|(_, value)| !value.is_null());
        kept.map(|(path, value)| InferredSetting {
            path,
            value: in_line(&value),
            sure: InferredBy::Fitted,
            reason: String::new(),
        })
        .collect()
    }
}

fn table(text: &str) -> IndexMap<String, Vec<Value>> {
    serde_yaml::from_str(text).expect("a list of values for each key")
}

fn of_fair(queues: &Queues<'_>, slots: PerSlot<u32>, has_kills: bool) -> Vec<FitKnob> {
    let mut all = Vec::new();
    for (key, values) in table(OF_POOL) {
        let slots = match key.as_str() {
            "min_maps" => Some(slots.map),
            "min_reduces" => Some(slots.reduce),
            _ => None,
        };
        let values = slots.map_or(values.clone(), |slots| counts(&values, slots));
        // One pool alone has all slots, and of several one may keep its weight.
        let skipped = match key.as_str() {
            "weight" => 1,
            "min_maps" | "min_reduces" if queues.len() == 1 => 1,
            _ => 0,
        };
        let pools = queues.iter().take(MOST_QUEUES).skip(skipped);
        all.extend(
            pools.map(|(pool, _)| FitKnob::new(FAIR, &["pools", pool, &key], values.clone())),
        );
    }
    let delays = serde_yaml::from_str(DELAYS).expect("a list of values");
    all.push(FitKnob::new(FAIR_DELAY, &[], delays));
    let time_outs = table(TIME_OUTS).into_iter().filter(|_| has_kills);
    all.extend(time_outs.map(|(key, values)| FitKnob::new(FAIR, &[&key], values)));
    all
}

/// Returns shares of some slots as numbers of them, each once; what is no share stays.
fn counts(shares: &[Value], slots: u32) -> Vec<Value> {
    let counted = shares.iter().map(|share| match share.as_f64() {
        Some(share) => Value::from((share * f64::from(slots)).round() as u64),
        None => share.clone(),
    });
    let mut counts: Vec<Value> = counted.filter(|count| count.as_u64() != Some(0)).collect();
    counts.dedup();
    counts
}

fn of_capacity(queues: &Queues<'_>) -> Vec<FitKnob> {
    let mut all = Vec::new();
    for (key, values) in table(OF_QUEUE) {
        for (place, (name, queue)) in queues.iter().enumerate() {
            let keys = ["queues", name, &key];
            let is_tried = place < MOST_QUEUES;
            match key.as_str() {
                // The shares of the others are in proportion to these.
                "capacity" if place == 0 || !is_tried => {
                    all.push(FitKnob::new(CAPACITY, &keys, vec![1.into()]));
                }
                "minimum_user_limit" if queue.users.len() < 2 => {}
                "maximum_capacity" if queues.len() == 1 => {}
                _ if is_tried => all.push(FitKnob::new(CAPACITY, &keys, values.clone())),
                _ => {}
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_slots_are_counts() {
        let shares = &table(OF_POOL)["min_maps"];
        let expected: Vec<Value> = serde_yaml::from_str("[null, 1, 2, 3, 5]").unwrap();
        assert_eq!(counts(shares, 10), expected);
        assert_eq!(counts(shares, 1), serde_yaml::from_str::<Vec<Value>>("[null, 1]").unwrap());
    }

    #[test]
    fn usual_values_leave_pools_out_and_share_slots_evenly() {
        let queue = LoggedQueue::default();
        let queues = [("a", &queue), ("b", &queue)];
        for knob in of_fair(&queues, PerSlot { map: 40, reduce: 20 }, true) {
            assert!(knob.values[knob.usual].is_null(), "{knob:?}");
        }
        let all = of_capacity(&queues);
        let shares = all.iter().filter(|knob| knob.keys[2] == "capacity");
        assert!(shares.clone().all(|knob| knob.values[knob.usual].as_u64() == Some(1)), "{all:?}");
        assert_eq!(shares.map(|knob| knob.values.len()).collect::<Vec<_>>(), [1, 17]);
        assert!(!all.iter().any(|knob| knob.keys[2] == "minimum_user_limit"), "of one user");
    }
}
