//! The same scenario with the same seed gives the same bytes.

use std::fs;
use std::hint;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::{Room, files, scenarios};

/// The one file that may differ.
const PERF: &str = "perf.json";

fn run(room: &Room, scenario: &str, out: &str) {
    room.mumakil(&format!("run {scenario} --quiet --verify --out {out}")).assert().success();
}

/// Asserts that two runs wrote the same files. The failure names the first line that differs.
fn assert_same(one: &Path, other: &Path) {
    assert_eq!(files(one), files(other));
    for file in files(one).into_iter().filter(|file| file != PERF) {
        let [left, right] = [one, other].map(|folder| fs::read(folder.join(&file)).unwrap());
        if left != right {
            let [left, right] = [&left, &right].map(|bytes| String::from_utf8_lossy(bytes));
            let lines = || left.lines().zip(right.lines());
            let line = lines().take_while(|(left, right)| left == right).count();
            panic!("{file}:{}: {:?}", line + 1, lines().nth(line));
        }
    }
}

/// Calls `work` while every core is kept busy.
fn while_all_cores_spin(work: impl FnOnce()) {
    let done = AtomicBool::new(false);
    let cores = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        work();
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn every_scenario_gives_the_same_bytes_again_also_on_a_busy_machine_and_without_actors() {
    for scenario in scenarios::runs() {
        let room = Room::new();
        run(&room, &scenario, "first");
        run(&room, &scenario, "again");
        assert_same(&room.path("first"), &room.path("again"));
        while_all_cores_spin(|| run(&room, &scenario, "busy"));
        assert_same(&room.path("first"), &room.path("busy"));
        // Actors only carry messages, so a run without them gives the same files.
        run(&room, &format!("{scenario} --drive bare"), "bare");
        assert_same(&room.path("first"), &room.path("bare"));
    }
}

#[test]
fn a_shared_network_gives_the_same_bytes_again_too() {
    let room = Room::new();
    let shared = "fb2009-like --set cluster.network.model=shared --set cluster.contention=true";
    run(&room, shared, "first");
    run(&room, shared, "again");
    assert_same(&room.path("first"), &room.path("again"));
    run(&room, "first/scenario.resolved.yaml", "resolved");
    assert_same(&room.path("first"), &room.path("resolved"));
}

#[test]
fn a_resolved_scenario_gives_the_same_bytes_as_the_short_one() {
    for scenario in scenarios::runs() {
        let room = Room::new();
        run(&room, &scenario, "short");
        run(&room, "short/scenario.resolved.yaml", "resolved");
        assert_same(&room.path("short"), &room.path("resolved"));
    }
}

#[test]
fn another_seed_gives_another_run() {
    let room = Room::new();
    for seed in [1, 2] {
        run(&room, &format!("quickstart --seed {seed}"), &seed.to_string());
    }
    let [one, two] = ["1/tasks.csv", "2/tasks.csv"].map(|file| fs::read(room.path(file)).unwrap());
    assert_ne!(one, two);
}
