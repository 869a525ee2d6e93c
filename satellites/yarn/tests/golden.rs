//! Runs of the real ResourceManager, which must come out the same, line by line.
//!
//! The folders are found by the variable `MUMAKIL_GOLDEN`, or beside the repository. Without them
//! the test says so and passes.

mod files;
mod rows;

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use crate::tables::{RunTables, to_csv};
use crate::tests::{YarnEvent, YarnFaults};
use mumakil_core::protocol::RunStop;
use mumakil_runtime::{Ending, EventSink, Transport, run_virtual};
use parking_lot::Mutex;
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

/// The tables of a run, shared with the run.
type SharedTables = Arc<Mutex<(RunTables, GoldenRows)>>;

struct TableSink {
    nodes: Vec<String>,
    tables: SharedTables,
}

impl EventSink<YarnEvent> for TableSink {
    fn take(&mut self, events: &mut Vec<YarnEvent>) {
        let (tables, rows) = &mut *self.tables.lock();
        tables.take(events);
        rows.take(&self.nodes, events);
        events.clear();
    }
    fn flush(&mut self) {}
    fn is_broken(&self) -> bool {
        false
    }
}

fn run(folder: &Path, transport: Transport) -> (SharedTables, Ending) {
    let (spec, until, names) = files::read(folder);
    let tables = RunTables::new(&spec).with_names(names);
    let tables = Arc::new(Mutex::new((tables, GoldenRows::default())));
    let nodes = spec.nodes.iter().map(|node| node.name.clone()).collect();
    let sink = Box::new(TableSink { nodes, tables: tables.clone() });
    let (_, ending) = run_virtual(spec.plan(&YarnFaults::default(), until, sink), transport);
    (tables, ending)
}

/// Returns all tables as text.
fn texts(tables: &SharedTables) -> [(&'static str, String); 5] {
    let (tables, rows) = &*tables.lock();
    [
        ("containers", tables.containers()),
        ("jobs", tables.jobs()),
        ("heartbeats", to_csv(&rows.heartbeats)),
        ("reservations", to_csv(&rows.reservations)),
        ("shares", to_csv(&rows.shares)),
    ]
}

fn golden_runs() -> Vec<PathBuf> {
    let Some(folder) = golden_folder() else {
        eprintln!("skipped: no golden runs; set MUMAKIL_GOLDEN to their folder");
        return Vec::new();
    };
    let all = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let mut runs: Vec<PathBuf> = all.filter(|it| it.join("scenario.json").exists()).collect();
    runs.sort();
    runs
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
    let mut failed = Vec::new();
    for path in golden_runs() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (tables, ending) = run(&path, Transport::Bare);
        if !matches!(ending, Ending::Stopped(RunStop::Done | RunStop::TimeUp)) {
            failed.push(format!("{name}: {ending:?}"));
        }
        for (table, ours) in texts(&tables) {
            let golden = golden_lines(&path, table).filter(|lines| 1 < lines.len());
            let Some(golden) = golden else { continue };
            if table == "containers" {
                let ours: Vec<String> = ours.lines().map(str::to_owned).collect();
                let (mut left, golden) = (placements(&ours), placements(&golden));
                let all = golden.len();
                let mut equal = 0;
                for it in golden {
                    if let Some(at) = left.iter().position(|other| *other == it) {
                        left.swap_remove(at);
                        equal += 1;
                    }
                }
                eprintln!(
                    "{name}: {equal} of {all} containers placed the same, {left:?} more",
                    left = left.len()
                );
                if equal < all || !left.is_empty() {
                    failed.push(format!("{name}: {equal} of {all} containers"));
                }
            }
            if ours.lines().next() != Some(&golden[0]) {
                // This run tells only where containers were placed, and when.
                continue;
            }
            let (share, differences) = compare(&golden, &ours);
            eprintln!("{name}: {:.2} % of {table}\n{differences}", share * 100.0);
            if share < 1.0 {
                failed.push(format!("{name}: {table}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn actors_change_nothing_and_neither_does_another_time() {
    for path in golden_runs() {
        let [bare, again, actors] = [Transport::Bare, Transport::Bare, Transport::Actors]
            .map(|transport| texts(&run(&path, transport).0));
        assert!(bare == again, "{}: twice", path.display());
        assert!(bare == actors, "{}: actors", path.display());
    }
}
