//! Runs of the real ResourceManager, which must come out the same, line by line.
//!
//! The folders are found by the variable `MUMAKIL_GOLDEN`, or beside the repository. Without them
//! the test says so and passes.

mod files;
mod rows;

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::tables::to_csv;
use crate::{RunTables, YarnStop, run_yarn};
use mumakil_base::units::{SimSpan, SimTime};
use rows::GoldenRows;

fn golden_folder() -> Option<PathBuf> {
    let given = env::var_os("MUMAKIL_GOLDEN").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/yarn");
    given.or(Some(beside)).filter(|folder| folder.is_dir())
}

/// Returns the lines of a table, packed or not; `None` if there is none.
fn golden_lines(folder: &Path, table: &str) -> Option<Vec<String>> {
    let mut text = String::new();
    if let Ok(bytes) = fs::read(folder.join(format!("{table}.csv.gz"))) {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = fs::read_to_string(folder.join(format!("{table}.csv"))).ok()?;
    }
    Some(text.lines().map(str::to_owned).collect())
}

fn run(folder: &Path) -> (RunTables, GoldenRows, YarnStop) {
    let spec = files::read(folder);
    let (mut tables, mut rows) = (RunTables::new(&spec), GoldenRows::default());
    let nodes: Vec<String> = spec.nodes.iter().map(|node| node.name.clone()).collect();
    let until = SimTime::ZERO + SimSpan::from_secs(24 * 3_600);
    let stop = run_yarn(spec, until, |events| {
        tables.take(events);
        rows.take(&nodes, events);
    });
    (tables, rows, stop)
}

/// Compares a table with the golden one, and returns the share of golden lines that are here, with
/// the first differences.
fn compare(golden: &[String], ours: &str) -> (f64, String) {
    let ours: Vec<&str> = ours.lines().collect();
    assert!(ours.first().copied() == golden.first().map(String::as_str), "{ours:?}");
    let here: std::collections::BTreeSet<&str> = ours.iter().copied().collect();
    let there: std::collections::BTreeSet<&str> = golden.iter().map(String::as_str).collect();
    let mut differences = String::new();
    for line in golden.iter().filter(|line| !here.contains(line.as_str())).take(5) {
        writeln!(differences, "  - {line}").unwrap();
    }
    for line in ours.iter().filter(|line| !there.contains(*line)).take(5) {
        writeln!(differences, "  + {line}").unwrap();
    }
    let equal = golden.iter().filter(|line| here.contains(line.as_str())).count();
    (equal as f64 / golden.len().max(ours.len()) as f64, differences)
}

/// Returns the node and the instant of each container, by its number.
fn placements(lines: &[String]) -> Vec<(String, String, String)> {
    let fields = lines.iter().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    fields.map(|it| (it[0].to_owned(), it[6].to_owned(), it[10].to_owned())).collect()
}

#[test]
fn golden_runs_come_out_the_same() {
    let Some(folder) = golden_folder() else {
        eprintln!("skipped: no golden runs; set MUMAKIL_GOLDEN to their folder");
        return;
    };
    let mut runs: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    runs.retain(|path| path.join("scenario.json").exists());
    runs.sort();
    let mut failed = Vec::new();
    for path in runs {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (tables, rows, stop) = run(&path);
        if stop != YarnStop::Done {
            failed.push(format!("{name}: {stop:?}"));
        }
        let ours = [
            ("containers", tables.containers()),
            ("jobs", tables.jobs()),
            ("heartbeats", to_csv(&rows.heartbeats)),
            ("reservations", to_csv(&rows.reservations)),
            ("shares", to_csv(&rows.shares)),
        ];
        for (table, ours) in ours {
            let Some(golden) = golden_lines(&path, table).filter(|lines| 1 < lines.len()) else {
                continue;
            };
            if table == "containers" {
                let lines: Vec<String> = ours.lines().map(str::to_owned).collect();
                let mut left = placements(&lines);
                let golden = placements(&golden);
                let mut equal = 0;
                for it in &golden {
                    if let Some(at) = left.iter().position(|other| other == it) {
                        left.swap_remove(at);
                        equal += 1;
                    }
                }
                eprintln!("{name}: {equal} of {} containers placed the same", golden.len());
            }
            let (share, differences) = compare(&golden, &ours);
            eprintln!("{name}: {table} {:.2} %\n{differences}", share * 100.0);
            if share < 1.0 {
                failed.push(format!("{name}: {table}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
