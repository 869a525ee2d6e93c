//! Reports of a small run with hand-written files.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::record::{AttemptFate, LoadSummary, LocalityShares, RunFacts, WasteSummary};
use mumakil_core::mapred::PerSlot;
use mumakil_results::tables::testing::complete;
use mumakil_results::tables::{AttemptRow, JobRow, SlotsRow};
use mumakil_scenario as scenario;

const SCENARIO: &str = "
description: Is <b> bold?
cluster: {nodes: 2, map_slots: 1, reduce_slots: 1}
workload: {jobs: [{name: '<i>', maps: 2}, {name: b, maps: 1}]}
";

const JOBS: &str = "\
job,name,user,pool,class,maps,reduces,submit_ms,wait_ms,sojourn_ms,node_local,rack_local,off_rack,failed,killed,outcome,initialised_ms,running_ms,maps_done_ms,finish_ms
0,<i>,u,p,small,2,0,0,1000,9000,1,1,0,0,0,succeeded,100,900,6000,9000
1,b,u,q,large,1,0,500,2000,,0,0,0,1,0,unfinished,600,800,,
";

const TASKS: &str = "\
job,kind,task,attempt,node,start_ms,finish_ms,outcome,suspended_ms,suspensions,slots,launch_ms,start_up_ms,shuffle_ms,sort_ms,heard_ms,commit_ms,speculative,waited_ms,killed_code
0,map,0,0,node-0,1000,5000,succeeded,0,,1,950,,,,5500,,false,,
1,map,0,1,node-1,2500,,unfinished,0,,1,2400,,,,,,false,,
";

const TIMELINE: &str = "\
time_ms,kind,job,slots,pending
500,map,0,0,2
1000,map,0,1,1
2500,map,1,1,0
9000,map,0,0,0
";

/// A run whose parts a test can change before the report is made.
struct Run {
    folder: TempDir,
    scenario: Scenario,
    summary: Summary,
    warnings: Vec<String>,
}

impl Run {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in [
            ("jobs.csv", &*complete::<JobRow>(JOBS)),
            ("tasks.csv", &*complete::<AttemptRow>(TASKS)),
            ("timeline.csv", &*complete::<SlotsRow>(TIMELINE)),
            ("latency.hlog", ""),
            (
                "summary.json",
                r#"{"warm_up_s": 0, "policy": "fifo", "virtual_s": 10.0, "nodes": 2, "heartbeats": 10, "map_slots": 2, "reduce_slots": 2}"#,
            ),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let loaded =
            scenario::parse("test.yaml", SCENARIO, &[], &crate::testing::registry()).unwrap();
        Self { folder, scenario: loaded.scenario, summary: summary(), warnings: Vec::new() }
    }

    fn page(&self) -> HtmlPage {
        let place = |node: u32| NodeLabel {
            node: format!("node-{node}"),
            rack: "rack-0".to_owned(),
            group: String::new(),
        };
        let report = RunReport {
            scenario: &self.scenario,
            registry: &crate::testing::registry(),
            topology: &Topology::new(&self.scenario.cluster),
            labels: &[0, 1].map(place),
            summary: &self.summary,
            results: &RunResults::new(self.folder.path()),
            verdicts: &[],
            warnings: &self.warnings,
            digest: Some("jetaniro"),
        };
        report.page().unwrap()
    }

    fn sections(&self) -> Vec<String> {
        self.page().sections.into_iter().map(|section| section.title).collect()
    }
}

fn summary() -> Summary {
    Summary {
        run: RunFacts {
            scenario: "demo".to_owned(),
            policy: "fifo".to_owned(),
            seed: 1,
            version: "0.0.0".to_owned(),
            nodes: 2,
            ..RunFacts::default()
        },
        map_slots: 2,
        reduce_slots: 2,
        warm_up_s: 0.0,
        warm_up_jobs: None,
        jobs: 2,
        jobs_succeeded: 1,
        jobs_failed: 0,
        jobs_killed: 0,
        jobs_refused: 0,
        attempts: 2,
        attempts_failed: 0,
        attempts_killed: 0,
        suspensions: 0,
        maps: 3,
        reduces: 0,
        makespan_s: Some(9.0),
        mean_sojourn_s: Some(9.0),
        median_sojourn_s: Some(9.0),
        p95_sojourn_s: Some(9.0),
        mean_wait_s: Some(1.5),
        locality: LocalityShares { node: Some(0.5), rack: Some(0.5), off_rack: Some(0.0) },
        slot_utilisation: PerSlot { map: Some(0.4), reduce: Some(0.0) },
        resource_utilisation: None,
        expenses: None,
        maps_wait: None,
        load: LoadSummary::CLOSED_LOOP,
        waste: None,
        faults: None,
        pools: Vec::new(),
        users: Vec::new(),
        heartbeats: 10,
        messages: 30,
        virtual_s: 10.0,
        stopped: None,
    }
}

#[test]
fn a_report_has_what_was_recorded() {
    let all = [
        "In short",
        "Sojourn",
        "Slots",
        "Locality",
        "Why jobs took so long",
        "Jobs",
        "How to repeat it",
    ];
    assert_eq!(Run::new().sections(), all);
    let html = Run::new().page().html();
    for text in [
        "fifo · 2 nodes · 2 jobs · seed 1 · clock virtual",
        "1 succeeded, 1 left",
        "Slots that maps hold, by pool",
        "Maps that wait for a slot",
        "p: mean",
        "Attempts over time, by pool",
        "<title>&lt;i&gt; map (p)</title>",
        "class=\"bars c-0\" d=\"M0 0h4000v.88h-4000z\" data-bars=\"0\" data-fate=\"succeeded\"",
        "class=\"bars c-1\" d=\"M1500 2h7500v.88h-7500z\" data-bars=\"0, attempt 1\" data-fate=\"still running\"",
        "1 job left unfinished: <code>b</code>.",
        "style=\"width:44.44%\" title=\"maps: 44.4 %\"",
        "<li>the last map 4.0\u{a0}s, 44.4\u{a0}%</li>",
        "mumakil run scenario.resolved.yaml",
        "<code>jetaniro</code>",
    ] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn jobs_are_shown_by_their_arrival_and_pools_by_what_they_lack() {
    let run = Run::new();
    let html = run.page().html();
    for text in [
        "How long jobs take, by their arrival",
        "&lt;i&gt;: Arrival 0 s, Sojourn time 9 s",
        "Jobs in the cluster, by pool",
        "q: mean 0.95, at most 1",
        "Map slots that a pool lacks of an equal share",
    ] {
        assert!(html.contains(text), "{text}\n{html}");
    }
    assert!(!html.contains("Slowdown by size of job"));
    let with_time = |(line, cell)| format!("{line},{cell}\n");
    let jobs: String = JOBS.lines().zip(["alone_ms", "3000", ""]).map(with_time).collect();
    fs::write(run.folder.path().join("jobs.csv"), complete::<JobRow>(&jobs)).unwrap();
    assert!(run.page().html().contains("2–10 (1 job): one value, 3×"));
    // Jobs that come at one instant have no course.
    let jobs = JOBS.replace("large,1,0,500,", "large,1,0,0,");
    fs::write(run.folder.path().join("jobs.csv"), complete::<JobRow>(&jobs)).unwrap();
    assert!(!run.page().html().contains("by their arrival"));
}

#[test]
fn unrecorded_tables_are_left_out() {
    let mut run = Run::new();
    let record = &mut run.scenario.record;
    (record.tasks, record.timeline, record.histograms) = (false, false, false);
    for name in ["tasks.csv", "timeline.csv", "latency.hlog"] {
        fs::remove_file(run.folder.path().join(name)).unwrap();
    }
    assert_eq!(run.sections(), ["In short", "Sojourn", "Locality", "Jobs", "How to repeat it"]);
}

#[test]
fn a_report_tells_what_slots_were_held_for_if_it_was_recorded() {
    let mut run = Run::new();
    assert!(!run.page().html().contains("Useful and wasted slot time"));
    let mut waste = WasteSummary {
        held_s: 100.0,
        second_attempts: 3,
        second_attempts_won: 2,
        ..WasteSummary::default()
    };
    waste.by_fate[AttemptFate::Useful] = 75.0;
    waste.by_fate[AttemptFate::Speculative] = 25.0;
    run.summary.waste = Some(waste);
    let html = run.page().html();
    for text in ["Useful and wasted slot time", "speculative", "got 3 second attempts, of which 2"]
    {
        assert!(html.contains(text), "{text}");
    }
    assert!(!html.contains("preempted"), "no attempt was preempted");
}

#[test]
fn too_many_attempts_are_counted_by_node_and_interval() {
    let mut run = Run::new();
    run.summary.map_slots = 301;
    let html = run.page().html();
    assert!(html.contains("A cell is a node for 41.7 ms"), "{html}");
    assert!(html.contains("All 2 attempts are in it."), "{html}");
    assert!(html.contains("mostly p; up to three fifths of the slots held"), "{html}");
}

#[test]
fn a_pool_has_one_colour_on_the_whole_page() {
    let html = Run::new().page().html();
    // The stack of slots, its legend and the bars all use the same colour class.
    for (pool, colour) in [("p", "c-0"), ("q", "c-1")] {
        let of_pool =
            |mark: &str| html.contains(&mark.replace("POOL", pool).replace("C-N", colour));
        let drawn = format!("<title>{pool}: mean");
        let before = html.split(&drawn).next().unwrap();
        let path = &before[before.rfind("<path").unwrap()..];
        assert!(path.contains(colour), "{pool}: {path}");
        assert!(of_pool("bars C-N"), "{pool}");
    }
}

#[test]
fn nothing_of_a_scenario_is_markup() {
    let mut run = Run::new();
    run.warnings = vec!["<script>".to_owned()];
    let html = run.page().html();
    assert_eq!(html.matches("<script>").count(), 1, "only the page's own script");
    assert!(html.contains("Is &lt;b&gt; bold?") && !html.contains("<i>"), "{html}");
}

#[test]
fn a_run_in_which_no_job_ended_has_a_report() {
    let run = Run::new();
    let heading = |table: &str| format!("{}\n", table.lines().next().unwrap());
    let file = |name: &str| run.folder.path().join(name);
    fs::write(file("jobs.csv"), complete::<JobRow>(&heading(JOBS))).unwrap();
    fs::write(file("tasks.csv"), complete::<AttemptRow>(&heading(TASKS))).unwrap();
    assert_eq!(run.sections(), ["In short", "Slots", "Jobs", "How to repeat it"]);
}

#[test]
fn faults_of_machines_are_drawn_over_time() {
    let run = Run::new();
    assert!(!run.page().html().contains("Nodes in trouble"));
    let faults = "\
at_ms,node,rack,what,cpu,disk,network
1000,node-0,rack-0,slow,0.5,1.0,1.0
2000,node-1,rack-0,tracker gone,,,
4000,node-0,rack-0,machine off,,,
6000,node-0,rack-0,machine on,,,
7000,node-1,rack-0,tracker back,,,
7000,node-1,rack-0,cut off,,,
7000,jobtracker,,jobtracker pauses,,,
8000,node-1,rack-0,attempt hangs,,,
8000,node-1,rack-0,reconnected,,,
9000,node-0,rack-0,usual speed,1.0,1.0,1.0
";
    fs::write(run.folder.path().join("faults.csv"), faults).unwrap();
    let html = run.page().html();
    // The chart begins at zero, as the run does. A machine that is off does not count as slow.
    for text in [
        "Nodes in trouble",
        "off: mean 0.2, at most 1",
        "without a tracker: mean 0.5, at most 1",
        "cut off: mean 0.1, at most 1",
        "slow: mean 0.6, at most 1",
    ] {
        assert!(html.contains(text), "{text}\n{html}");
    }
}
