//! A bench for tests of policies, described as a scenario is.

use std::fs;

use mumakil::emulation::{EmulationError, bench};
use mumakil::mapred::{Policy, PolicyBench, Reason, SlotKind};
use mumakil::scenario::Warning;
use mumakil::scheduler::{Capacity, Fair, Hfsp};
use tempfile::TempDir;

/// Returns a bench of a scenario with the allocation file `pools.xml` in its folder.
fn bench_of<P: Policy>(text: &str) -> Result<(PolicyBench<P>, Vec<Warning>), EmulationError> {
    let folder = TempDir::new().unwrap();
    let pools = r#"<allocations><pool name="poor"><minMaps>3</minMaps></pool></allocations>"#;
    fs::write(folder.path().join("pools.xml"), pools).unwrap();
    let file = folder.path().join("bench.yaml");
    bench(&file.display().to_string(), text, &mumakil::registry())
}

#[test]
fn a_bench_reads_the_allocation_file_that_its_options_name() {
    let text = "cluster: {nodes: 4, map_slots: 1}\nscheduler: {fair: {allocations: pools.xml}}";
    let (mut bench, warnings) = bench_of::<Fair>(text).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let jobs = ["rich", "poor"].map(|pool| bench.submit_to(pool, 9, 0));
    bench.tick().fill();
    assert_eq!(bench.held(SlotKind::Map, jobs), [1, 3], "`poor` is promised three maps");
    let holdings = bench.holdings(SlotKind::Map).into_iter();
    let poor = holdings.map(|(pool, held)| (pool, held.min_share)).find(|held| held.0 == "poor");
    assert_eq!(poor, Some(("poor".to_owned(), 3)));
}

#[test]
fn a_bench_refuses_what_a_scenario_refuses() {
    let mistake = |text: &str| bench_of::<Fair>(text).err().unwrap().to_string();
    let text = "cluster: {nodes: 2}\nscheduler:\n  fair: {alocations: pools.xml}";
    let words = mistake(text);
    assert!(words.contains("bench.yaml:3:10"), "{words}");
    assert!(words.contains("did you mean `allocations`?"), "{words}");
    assert!(mistake("scheduler: {fair: {allocations: gone.xml}}").contains("gone.xml"));
    assert!(mistake("hadoop: {slow_start: 2}\nscheduler: fair").contains("hadoop.slow_start"));
    assert!(mistake("scheduler: fifo").contains("`fair` was asked for, not `fifo`"));
    let words = bench_of::<Hfsp>("scheduler: {hfsp: {estimator: {named: x}}}").err().unwrap();
    assert!(words.to_string().contains("unknown estimator `x`"), "{words}");
}

#[test]
fn a_bench_is_of_the_hadoop_of_its_scenario() {
    let queues = "{capacity: {allocations: {max_system_jobs: 1, queues: {default: {capacity: 100 %, \
                  accept_factor: 1}}}}}";
    for (line, interval_ms, refused) in [("0.20", 3_000, None), ("1.x", 300, Some(1))] {
        let text = format!("hadoop: {{line: '{line}', max_attempts: 1}}\nscheduler: {queues}");
        let (mut bench, _) = bench_of::<Capacity>(&text).unwrap();
        assert_eq!(bench.view().heartbeat_interval().as_millis(), interval_ms, "{line}");
        let first = bench.submit(1, 0, |_| {});
        let second = bench.submit_unread(1, 0, |_| {}).err();
        assert_eq!(second, refused.map(Reason::QueueFull), "`rules: auto` follows {line}");
        bench.tick();
        let map = bench.offer(0)[0];
        bench.fails(map);
        assert!(!bench.view().job(first).unwrap().is_running(), "one attempt may not fail");
    }
}
