//! The commit-pending quirk, as `timeline.csv` shows it.

use std::collections::BTreeMap;

use mumakil::emulation::{Options, emulate};
use mumakil::scenario;

/// A row of the timeline.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    running: i64,
    slots: i64,
}

/// Returns the map rows of `commit-pending.yaml` by instant and job.
fn timeline(mode: &str) -> BTreeMap<u64, BTreeMap<u32, Row>> {
    let registry = mumakil::registry();
    let text = include_str!("../../scenarios/commit-pending.yaml");
    let sets = [format!("hadoop.commit_pending={mode}")];
    let loaded = scenario::parse("commit-pending.yaml", text, &sets, &registry).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { folder: Some(folder.path().to_owned()), verify: true, ..Options::default() };
    let run = emulate(&loaded.scenario, &registry, options).unwrap();
    assert!(run.verifier.unwrap().violations().is_empty());
    let mut rows: BTreeMap<u64, BTreeMap<u32, Row>> = BTreeMap::new();
    let mut table = csv::Reader::from_path(folder.path().join("timeline.csv")).unwrap();
    for row in table.deserialize() {
        let (time, kind, job, _pool, running, slots, _suspended, _pending): (
            u64,
            String,
            u32,
            String,
            i64,
            i64,
            u32,
            u32,
        ) = row.unwrap();
        if kind == "map" {
            rows.entry(time).or_default().insert(job, Row { running, slots });
        }
    }
    rows
}

/// The map slots of the scenario's cluster.
const SLOTS: i64 = 4;

/// Returns the longest time, in milliseconds, in which the jobs count more running maps than there
/// are slots, and whether a job then held a slot that another job counted.
fn overcounted(mode: &str) -> (u64, bool) {
    let mut now: BTreeMap<u32, Row> = BTreeMap::new();
    let (mut longest, mut began, mut is_shared) = (0, None, false);
    for (time, changes) in timeline(mode) {
        now.extend(changes);
        if now.values().map(|row| row.running).sum::<i64>() <= SLOTS {
            longest = longest.max(began.take().map_or(0, |began| time - began));
            continue;
        }
        began.get_or_insert(time);
        let held_by = |counts_more: bool| {
            now.values().any(|row| 0 < row.running && (row.slots < row.running) == counts_more)
        };
        is_shared |= held_by(true) && held_by(false);
    }
    (longest, is_shared)
}

#[test]
fn with_the_quirk_a_slot_is_counted_twice_for_about_a_heartbeat() {
    let (longest, is_shared) = overcounted("quirk");
    assert!(is_shared, "no slot of a job is counted by another");
    // Heartbeats come every 3 s, and the two trackers send their heartbeats at different times.
    assert!((1_000..=4_500).contains(&longest), "{longest} ms");
}

#[test]
fn without_the_quirk_no_slot_is_counted_twice() {
    assert_eq!(overcounted("slot-held").0, 0);
    assert_eq!(overcounted("not-counted").0, 0);
}
