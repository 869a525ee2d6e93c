//! Sides for tests: a run of two jobs, and a study of one axis.

use std::fs;

use super::*;
use mumakil_results::tables::testing::complete;
use mumakil_results::tables::{JobRow, TableRow};

const FACTS: &str = r#"{"scenario": "demo", "policy": "fifo", "seed": 1,
    "version": "0.0.0", "model": 1, "nodes": 2, "map_slots": 4, "reduce_slots": 2, "warm_up_s": 0,
    "jobs": 2, "jobs_succeeded": 2, "makespan_s": null,
    "slot_utilisation": {"map": 0.5, "reduce": null}, "attempts": 9,
    "attempts_failed": 2, "attempts_killed": 1}"#;

const HEADING: &str = "job,name,user,pool,class,maps,reduces,submit_ms,wait_ms,sojourn_ms,\
                       node_local,rack_local,off_rack,failed,killed,outcome\n";

/// Returns a run with two jobs, given their sojourns in seconds, and its folder. An older version
/// wrote it, without `suspensions`.
pub(in crate::compare) fn run(name: &str, sojourns: [u32; 2]) -> (tempfile::TempDir, ComparedSide) {
    let room = tempfile::TempDir::new().unwrap();
    let [a, b] = sojourns.map(|seconds| seconds * 1_000);
    let jobs = format!(
        "{HEADING}0,a,,,,1,0,0,3000,{a},1,0,0,0,0,succeeded\n1,b,,,,9,0,0,3000,{b},3,1,0,0,0,succeeded\n"
    );
    fs::write(room.path().join(SUMMARY), FACTS).unwrap();
    fs::write(room.path().join(JobRow::FILE), complete::<JobRow>(&jobs)).unwrap();
    let side = ComparedSide::of_run(room.path(), name.to_owned()).unwrap();
    (room, side)
}

/// Returns a study of one axis, `nodes`, with the mean sojourn for each label.
pub(in crate::compare) fn study(name: &str, means: &[(&str, f64)]) -> ComparedSide {
    let metric = ComparedMetric {
        text: "mean(sojourn)".to_owned(),
        unit: Unit::TIME,
        numbers: means.iter().map(|(_, mean)| Some(*mean)).collect(),
    };
    ComparedSide {
        name: name.to_owned(),
        model: (String::new(), 0),
        axes: vec!["cluster.nodes".to_owned()],
        cells: means.iter().map(|(nodes, _)| vec![(*nodes).to_owned()]).collect(),
        metrics: vec![metric],
        unsuccessful: 0,
        run: None,
    }
}
