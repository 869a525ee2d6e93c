//! The modified fair scheduler: each mechanism alone, the policy without them, and refused
//! settings.

use std::fmt::Write as _;
use std::fs;

use proptest::prelude::*;

use crate::Room;
use crate::fair::{self, EXACT, run};

/// The options that switch off the mechanisms, one for each mechanism.
const OFF: [&str; 5] = [
    "classification: false",
    "pool_allocation: false",
    "sorting: false",
    "delay_adjustment: false",
    "priority_adjustment: \"off\"",
];

/// Returns the content of a run's `tasks.csv`.
fn tasks(yaml: &str) -> String {
    fs::read_to_string(run(yaml).0.path().join("tasks.csv")).unwrap()
}

/// Returns the map slots that each job held at an instant, in seconds.
fn held(yaml: &str, jobs: usize, at: f64) -> Vec<f64> {
    fair::held(&run(yaml).0, jobs, at)
}

/// Returns a scenario with jobs of long maps. `jobs` has for each job its pool, its number of maps,
/// and its arrival.
fn long_jobs(cluster: &str, jobs: &[(&str, u32, u32)], options: &str) -> String {
    let job = |(number, (pool, maps, submit)): (usize, &(&str, u32, u32))| {
        format!("{{name: j{number}, pool: {pool}, maps: {maps}, submit: {submit}s, map_time: 1h}}")
    };
    let jobs: Vec<String> = jobs.iter().enumerate().map(job).collect();
    format!(
        "{EXACT}cluster: {{{cluster}}}\nuntil: 3min\nworkload: {{jobs: [{}]}}\n\
         scheduler: {{modified-fair: {{delay: {{w1: 0s, w2: 0s}}, {options}}}}}\n",
        jobs.join(", ")
    )
}

#[test]
fn small_jobs_have_a_pool_of_their_own_with_half_of_the_slots_that_one_could_use() {
    // With four slots in a node, a quarter of the jobs may be small.
    let jobs = [("a", 40, 0), ("a", 40, 0), ("a", 40, 0), ("a", 3, 60)];
    let held = |option: &str| {
        let options = format!("allocations: {{pools: {{a: {{max_maps: 5}}}}}}, {option}");
        held(&long_jobs("nodes: 2, map_slots: 4", &jobs, &options), 4, 100.0)
    };
    assert_eq!(held("sorting: true")[3], 2.0);
    assert_eq!(held("classification: false")[3], 0.0, "its pool has all that it may have");
    assert_eq!(held("pool_allocation: false")[3], 3.0, "as in `fair` the pool has no limit");
}

#[test]
fn small_jobs_that_are_too_many_stay_where_they_belong() {
    let jobs = [("a", 40, 0), ("a", 40, 0), ("a", 3, 60), ("a", 3, 60)];
    let options = "allocations: {pools: {a: {max_maps: 5}}}";
    assert_eq!(held(&long_jobs("nodes: 2, map_slots: 4", &jobs, options), 4, 100.0)[2..], [0.0; 2]);
}

#[test]
fn free_slots_are_allotted_by_what_is_pending() {
    let jobs = [("a", 40, 0), ("b", 10, 0)];
    let held = |option: &str| held(&long_jobs("nodes: 1, map_slots: 10", &jobs, option), 2, 100.0);
    assert_eq!(held("classification: false"), [8.0, 2.0]);
    assert_eq!(held("classification: false, pool_allocation: false"), [5.0, 5.0]);
    let bounds = "{pools: {a: {max_maps: 6}, b: {min_maps: 3}}}";
    let bounds = format!("classification: false, allocations: {bounds}");
    assert_eq!(held(&bounds), [6.0, 4.0], "b gets the slots above the maximum of a");
}

#[test]
fn the_job_with_most_pending_maps_goes_first() {
    // The jobs have 9, 6 and 3 pending maps. The first job gets slots until it also has 6 pending
    // maps; then the first two jobs take turns.
    let jobs = [("a", 9, 0), ("a", 6, 0), ("a", 3, 0)];
    let held = |option: &str| {
        let options = format!("classification: false, {option}");
        held(&long_jobs("nodes: 1, map_slots: 6", &jobs, &options), 3, 100.0)
    };
    assert_eq!(held("sorting: true"), [4.0, 2.0, 0.0]);
    assert_eq!(held("sorting: false"), [2.0, 2.0, 2.0]);
    let line = "allocations: {pools: {a: {order: fifo}}}";
    assert_eq!(held(line), [6.0, 0.0, 0.0], "a FIFO pool keeps its order");
}

/// Returns the paper's second experiment, with ten jobs.
fn unlike_jobs(seed: u64, scheduler: &str) -> String {
    format!(
        "seed: {seed}
hadoop: {{line: 1.x, heartbeat: 3s}}
cluster: {{preset: vm-8, map_slots: 2}}
workload: {{preset: mfs-b, mix: {{jobs: 10}}}}
scheduler: {scheduler}
"
    )
}

#[test]
fn each_mechanism_can_be_switched_off_alone() {
    let with = |options: &str| {
        let pools = "allocations: {pools: {pool-1: {min_maps: 3, max_maps: 6}}}";
        tasks(&unlike_jobs(
            1,
            &format!("{{modified-fair: {{{pools}, delay: {{w1: 3s, w2: 3s}}, {options}}}}}"),
        ))
    };
    let all = with("sorting: true");
    for off in OFF {
        assert!(with(off) != all, "{off} changes nothing");
    }
    let priorities = ["table", "text"].map(|how| with(&format!("priority_adjustment: {how}")));
    assert_eq!(priorities[1], all, "the text is the default");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_pool_has_more_than_it_may_and_no_slot_idles_that_somebody_may_have(
        pools in prop::collection::vec((0u32..9, 9u32..30, 1u32..60), 1..6),
        sorting in prop::bool::ANY,
    ) {
        let mut declared = String::new();
        let mut jobs = Vec::new();
        let names = ["a", "b", "c", "d", "e"];
        for ((min, max, maps), name) in pools.iter().zip(names) {
            write!(declared, "{name}: {{min_maps: {min}, max_maps: {max}}}, ").unwrap();
            jobs.push((name, *maps, 0));
        }
        let options = format!(
            "classification: false, sorting: {sorting}, allocations: {{pools: {{{declared}}}}}"
        );
        let held = held(&long_jobs("nodes: 10, map_slots: 4", &jobs, &options), pools.len(), 150.0);
        let most: Vec<f64> = pools.iter().map(|(_, max, maps)| f64::from(*max.min(maps))).collect();
        for (held, most) in held.iter().zip(&most) {
            prop_assert!(held <= most, "{held} of {most}: {pools:?}");
        }
        prop_assert_eq!(held.iter().sum::<f64>(), most.iter().sum::<f64>().min(40.0));
    }

    #[test]
    fn without_its_mechanisms_it_is_fair(
        seed in 0u64..1_000,
        (min, max) in (0u32..4, 4u32..9),
        weight in 1u32..4,
        order in prop::sample::select(vec!["fair", "fifo"]),
        wait in 0u32..9,
        jobs in 1u32..4,
        reduces in prop::sample::select(vec!["reduce_order: srt", "reduce_gate: coupling"]),
    ) {
        let options = format!(
            "{reduces}, delay: {{w1: {wait}s, w2: 3s}}, allocations: {{pool_max_jobs: {jobs}, pools: {{pool-1: \
             {{min_maps: {min}, max_maps: {max}}}, pool-2: {{weight: {weight}, order: {order}}}}}}}"
        );
        let fair = tasks(&unlike_jobs(seed, &format!("{{fair: {{{options}}}}}")));
        let off = OFF.join(", ");
        let modified = format!("{{modified-fair: {{{options}, {off}}}}}");
        prop_assert_eq!(tasks(&unlike_jobs(seed, &modified)), fair);
    }
}

/// Returns the message of `mumakil check` about these options, and its exit code.
fn check(options: &str) -> (String, Option<i32>) {
    let yaml = format!(
        "workload: {{jobs: [{{name: a, pool: a, maps: 1}}]}}\nscheduler: {{modified-fair: {{{options}}}}}\n"
    );
    let room = Room::new();
    let output = room.write("mine.yaml", &yaml).mumakil("check mine.yaml").output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

#[test]
fn limits_of_a_format_are_named_with_their_places() {
    for (options, told) in [
        (
            "allocations: {pools: {outer: {pools: {in: {}}}}}",
            "`outer` has pools inside of it, and `modified-fair` knows no such pools\n  --> mine.yaml:2:66",
        ),
        ("update_interval: 0s", "at 0s time would stand still\n  --> mine.yaml:2:46"),
        ("priority_adjustment: tabel", "did you mean `table`?"),
        ("clasification: false", "did you mean `classification`?"),
        ("preemption: true", "unknown field `preemption`"),
    ] {
        let (said, code) = check(options);
        assert_eq!(code, Some(2), "{options}");
        assert!(said.contains(told), "{options}\n{said}");
    }
}

#[test]
fn times_after_which_others_kill_are_warned_of() {
    for (allocations, ignored) in [
        ("fair_share_after: 30s", vec!["fair_share_after"]),
        ("fair_share_after: 30s, min_share_after: 9s", vec!["fair_share_after", "min_share_after"]),
        (
            "pools: {a: {min_share_after: 9s}, b: {min_share_after: 9s}}",
            vec!["pools.a.min_share_after` (and 1 more)"],
        ),
        ("pools: {a: {min_maps: 1}}", vec![]),
    ] {
        let (said, code) = check(&format!("allocations: {{{allocations}}}"));
        assert_eq!(code, Some(0), "{allocations}\n{said}");
        let warnings: Vec<&str> = said
            .lines()
            .filter(|line| line.contains(" of `modified-fair` has no effect: "))
            .filter_map(|line| line.strip_prefix("warning: `allocations."))
            .collect();
        assert_eq!(warnings.len(), ignored.len(), "{allocations}\n{said}");
        assert!(warnings.iter().zip(ignored).all(|(said, key)| said.starts_with(key)), "{said}");
    }
}

#[test]
fn rounds_in_which_nothing_is_allotted_are_warned_of() {
    let (said, code) = check("maximum: round, pool_allocation: false");
    assert_eq!(code, Some(0));
    assert!(said.contains("has one only with `pool_allocation: true`"), "{said}");
    assert_eq!(check("maximum: round").0.matches("maximum").count(), 0);
}

#[test]
fn with_one_copy_and_a_writer_all_input_is_on_the_writers_node() {
    // By the preset of the cluster, one node has written the input; it has two of the sixteen map
    // slots.
    let tasks = tasks(&unlike_jobs(1, "fifo"));
    let local = tasks.lines().filter(|task| task.contains(",map,") && task.contains(",node,"));
    let (on_writer, elsewhere): (Vec<&str>, Vec<&str>) =
        local.partition(|task| task.contains(",node-1,"));
    assert!(!on_writer.is_empty() && elsewhere.is_empty(), "{elsewhere:?}");
}
