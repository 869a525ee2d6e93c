//! Settings that have no effect are reported: options of policies, and hosts beside a file of hosts.

use mumakil::scenario::{self, Warning};

use crate::{names, root};

const JOB: &str = "workload: {jobs: [{name: a, maps: 1}]}\n";

/// Returns the settings that warnings report as without effect.
fn idle(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let loaded = scenario::parse("test.yaml", text, &sets, &mumakil::registry()).unwrap();
    let setting = |warning| match warning {
        Warning::Idle { setting, .. } => setting,
        other => panic!("{other}"),
    };
    loaded.warnings.into_iter().map(setting).collect()
}

#[test]
fn pools_and_queues_that_the_policy_ignores_draw_a_warning() {
    for (said, path) in [
        ("max_maps: 1", "allocations.pools.a.max_maps"),
        ("order: fifo", "allocations.pools.a.order"),
    ] {
        let pools = format!("allocations: {{pools: {{max_reduces: {{}}, a: {{{said}}}}}}}");
        let told = |policy: &str| {
            let is_idle = |told: &String| told.contains(" has no effect: ");
            options_told(policy, &pools).into_iter().filter(is_idle).collect::<Vec<_>>()
        };
        let warning = format!(
            "`{path}` of `fair-deficit` has no effect: it has one only with the policy `fair`; change \
             that, or leave it out"
        );
        assert_eq!(told("fair-deficit"), [warning]);
        assert_eq!(told("fair"), [""; 0], "{said}");
    }
    let v1 = "it has one only with `rules: 1.x`; change that, or leave it out";
    let earlier = "it has one only with `rules` other than `1.x`; change that, or leave it out";
    for (said, path, why) in [
        ("wait_factor: 2", "wait_factor", v1),
        ("allocations: {max_system_jobs: 7}", "allocations.max_system_jobs", v1),
        ("allocations: {maps_per_heartbeat: 7}", "allocations.maps_per_heartbeat", v1),
        (
            "allocations: {queues: {a: {capacity: 1, queues: {default: {user_limit_factor: 2}}}}}",
            "allocations.queues.a.queues.default.user_limit_factor",
            v1,
        ),
        (
            "allocations: {queues: {max_active_tasks: {capacity: 0}, \
             default: {capacity: 1, max_active_tasks: 300000}}}",
            "allocations.queues.default.max_active_tasks",
            v1,
        ),
        (
            "allocations: {queues: {default: {max_active_tasks_per_user: 7}}}",
            "allocations.queues.default.max_active_tasks_per_user",
            v1,
        ),
        (
            "allocations: {queues: {default: {max_initialised_per_user: 7}}}",
            "allocations.queues.default.max_initialised_per_user",
            earlier,
        ),
    ] {
        for rules in ["0.20", "0.21", "1.x"] {
            let told = options_told("capacity", &format!("rules: \"{rules}\", {said}"));
            let warning = format!("`{path}` of `capacity` has no effect: {why}");
            let is_idle = (rules == "1.x") == (why == earlier);
            assert_eq!(told.contains(&warning), is_idle, "{rules}, {said}: {told:?}");
        }
    }
}

/// Returns the warnings and mistakes of a policy with these options.
fn options_told(policy: &str, options: &str) -> Vec<String> {
    let text = format!("{JOB}scheduler: {{{policy}: {{{options}}}}}");
    let warnings = scenario::parse("test.yaml", &text, &[], &mumakil::registry()).unwrap().warnings;
    warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn an_option_of_a_policy_without_effect_is_told() {
    let (rate, paper) = ("srt: {shuffle_rate: 1MB/s}", "variant: paper");
    let all = ["fifo", "naive-fair", "fair-skip", "fair", "fair-deficit", "modified-fair"];
    for policy in all.into_iter().chain(["capacity"]) {
        assert_eq!(
            options_told(policy, rate),
            [format!(
                "`srt` of `{policy}` has no effect: it has one only with `reduce_order: srt`; change \
                 that, or leave it out"
            )]
        );
        assert_eq!(options_told(policy, &format!("{rate}, reduce_order: srt")), [""; 0]);
    }
    for (policy, said, idle, heeded) in [
        ("fair", "max_load_difference: 1", paper, "variant: hadoop"),
        ("fair", "tracker_load: current", paper, "variant: hadoop"),
        ("fair", "preemption_interval: 1s", "preemption: false", "preemption: true"),
        ("fair", "update_interval: 1s", paper, "variant: hadoop"),
        ("hfsp", "suspended: {most: 3, few: 1}", "preemption: wait", "preemption: eager"),
        ("fsp", "suspended: {most: 3, few: 1}", "preemption: kill", "preemption: eager"),
    ] {
        let option = said.split(':').next().unwrap();
        let is_idle = |others: &str| {
            let told = options_told(policy, &format!("{said}, {others}"));
            told.iter().any(|told| told.contains(&format!("`{option}` of `")))
        };
        assert!(is_idle(idle), "{policy}: {said}, {idle}");
        assert!(!is_idle(heeded), "{policy}: {said}, {heeded}");
    }
    let after = "allocations: {fair_share_after: 1s, min_share_after: 1s}";
    assert_eq!(options_told("fair", &format!("{after}, {paper}")).len(), 2);
    assert_eq!(options_told("fair", after), [""; 0], "they end all waiting for input");
    for policy in ["fsp", "srpt", "hfsp"] {
        assert_eq!(options_told(policy, "preemption: wait"), [""; 0], "{policy}");
    }
}

fn resolved(text: &str) -> String {
    let loaded = scenario::parse("test.yaml", text, &[], &mumakil::registry());
    loaded.unwrap().scenario.to_yaml()
}

#[test]
fn nodes_without_effect_are_told_where_a_file_names_the_hosts() {
    let numbers = "nodes: 3, racks: 2, groups: [{count: 2, speed: 0.5}]";
    let told = ["cluster.nodes", "cluster.racks", "cluster.groups"];
    let rumen = |file: &str| format!("workload: {{rumen: {{trace: jobs.json{file}}}}}");
    let cluster = format!("{}\ncluster: {{{numbers}", rumen(""));
    assert_eq!(idle(&format!("{cluster}, topology: t.json}}"), &[]), told);
    assert_eq!(idle(&format!("{cluster}}}"), &[]), [""; 0]);
    let sls = "workload: {sls: {file: jobs.json, nodes: nodes.json}}";
    for workload in [rumen(", topology: t.json").as_str(), sls] {
        assert_eq!(idle(&format!("{workload}\ncluster: {{{numbers}}}"), &[]), told, "{workload}");
        assert_eq!(idle(workload, &["cluster.nodes=3"]), ["cluster.nodes"], "{workload}");
        assert_eq!(idle(&resolved(workload), &[]), [""; 0], "{workload}");
    }
}

#[test]
fn the_presets_of_workloads_are_in_use_as_a_whole() {
    for workload in names(&root().join("scenarios/workloads")) {
        let workload = workload.trim_end_matches(".yaml");
        assert_eq!(idle(&format!("workload: {workload}"), &[]), [""; 0], "{workload}");
    }
}
