//! Counts a run's results again from its tables: a summary that leaves out a job, or a mean over the
//! wrong jobs, breaks no rule of the cluster and is wrong all the same.
//!
//! ```text
//! tasks.csv ── succeeded attempts, localities, times ──┐
//! jobs.csv ─── sojourns, waits, outcomes ──────────────┼─ must be what summary.json, nodes.csv,
//! timeline.csv, jobs.csv, nodes.csv ── slot time ──────┘  jobs.csv, expressions, explain say
//! ```
//!
//! This file reads the tables by their headings alone. It uses neither the types with which they are
//! written nor the books from which they are made: it would repeat their mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use mumakil_results::expect::{Expr, Space};
use mumakil_results::explain::ExplainedJob;
use mumakil_run::output::results::RunResults;

/// How far two times may be apart, in milliseconds: both ends of each are cut to milliseconds.
const CUT: f64 = 2.0;

/// The results of a run, as texts.
struct Recount<'f> {
    folder: &'f Path,
    summary: Value,
    jobs: Vec<CsvRow>,
    tasks: Vec<CsvRow>,
}

/// A row of a table: its cells, and the columns of the table.
struct CsvRow {
    columns: Rc<FxHashMap<String, usize>>,
    cells: csv::StringRecord,
}

impl CsvRow {
    fn get(&self, column: &str) -> Option<&str> {
        self.cells.get(*self.columns.get(column)?)
    }

    fn at(&self, column: &str) -> &str {
        self.get(column).unwrap_or_else(|| panic!("a table has the column `{column}`"))
    }
}

/// A difference between two counts, in words.
type Miscount = Result<(), String>;

/// Returns the first difference between a run's results, in words; `None` if all agree. `resolved` is
/// its resolved scenario.
pub(super) fn miscount(folder: &Path, resolved: &str) -> Option<String> {
    let counted = || {
        let read = fs::read_to_string(folder.join("summary.json"));
        let text = read.map_err(|error| format!("summary.json: {error}"))?;
        let summary = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let [jobs, tasks] = ["jobs.csv", "tasks.csv"].map(|name| rows(folder, name));
        let all = Recount { folder, summary, jobs: jobs?, tasks: tasks? };
        all.count_jobs()?;
        all.count_groups()?;
        all.count_attempts()?;
        all.count_slot_time()?;
        all.ask_expressions()?;
        all.add_up_explanations()?;
        all.follow_jobs(resolved)
    };
    counted().err()
}

/// Reads a table; a missing table has no rows.
fn rows(folder: &Path, name: &str) -> Result<Vec<CsvRow>, String> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let said = |error: csv::Error| format!("{name}: {error}");
    let mut reader = csv::Reader::from_path(path).map_err(said)?;
    let columns = reader.headers().map_err(said)?.iter().map(str::to_owned);
    let places: Rc<FxHashMap<String, usize>> = Rc::new(columns.zip(0..).collect());
    let rows = reader
        .records()
        .map(|cells| Ok(CsvRow { columns: places.clone(), cells: cells.map_err(said)? }));
    rows.collect()
}

/// Returns the number in a cell; `None` if the cell is empty or missing.
fn number(row: &CsvRow, column: &str) -> Option<f64> {
    row.get(column)?.parse().ok()
}

fn sum(rows: &[CsvRow], column: &str) -> f64 {
    rows.iter().filter_map(|row| number(row, column)).sum()
}

/// Compares two counts of `what`.
fn same(what: &str, told: Option<f64>, counted: Option<f64>, slack: f64) -> Miscount {
    let close = match (told, counted) {
        (Some(told), Some(counted)) => (told - counted).abs() <= slack,
        (told, counted) => told.is_none() && counted.is_none(),
    };
    let show =
        |number: Option<f64>| number.map_or("nothing".to_owned(), |number| number.to_string());
    let (told, counted) = (show(told), show(counted));
    if close { Ok(()) } else { Err(format!("{what} is {told}, but counted again it is {counted}")) }
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// Returns a quantile by linear interpolation between two numbers.
fn quantile(numbers: &[f64], share: f64) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len().checked_sub(1)? as f64);
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

/// Returns the sojourns, in milliseconds, of the jobs that succeeded.
fn sojourns<'r>(jobs: impl Iterator<Item = &'r CsvRow>) -> Vec<f64> {
    jobs.filter(|job| job.at("outcome") == "succeeded")
        .filter_map(|job| Some(number(job, "finish_ms")? - number(job, "submit_ms")?))
        .collect()
}

/// Returns the waits, in milliseconds, of the jobs that launched a task.
fn waits<'r>(jobs: impl Iterator<Item = &'r CsvRow>) -> Vec<f64> {
    jobs.filter_map(|job| Some(number(job, "first_launch_ms")? - number(job, "submit_ms")?))
        .collect()
}

impl Recount<'_> {
    fn told(&self, path: &str) -> Option<f64> {
        path.split('.').try_fold(&self.summary, |value, key| value.get(key))?.as_f64()
    }

    /// Compares a time of the summary, in seconds, with one in milliseconds.
    fn same_time(&self, path: &str, counted: Option<f64>) -> Miscount {
        same(path, self.told(path).map(|seconds| seconds * 1e3), counted, CUT)
    }

    fn count_jobs(&self) -> Miscount {
        for job in &self.jobs {
            let name = job.at("name");
            let is_refused = job.at("outcome") == "refused";
            let finish = number(job, "finish_ms").filter(|_| !is_refused);
            let took = finish.zip(number(job, "submit_ms")).map(|(finish, submit)| finish - submit);
            same(&format!("the sojourn of {name}"), number(job, "sojourn_ms"), took, 0.0)?;
        }
        let of = |outcome: &str| {
            self.jobs.iter().filter(|job| job.at("outcome") == outcome).count() as f64
        };
        same("jobs", self.told("jobs"), Some(self.jobs.len() as f64), 0.0)?;
        for outcome in ["succeeded", "failed", "killed"] {
            let path = format!("jobs_{outcome}");
            same(&path, self.told(&path), Some(of(outcome)), 0.0)?;
        }
        same(
            "jobs_refused",
            Some(self.told("jobs_refused").unwrap_or(0.0)),
            Some(of("refused")),
            0.0,
        )?;
        let sojourns = sojourns(self.jobs.iter());
        self.same_time("mean_sojourn_s", mean(&sojourns))?;
        self.same_time("median_sojourn_s", quantile(&sojourns, 0.5))?;
        self.same_time("p95_sojourn_s", quantile(&sojourns, 0.95))?;
        self.same_time("mean_wait_s", mean(&waits(self.jobs.iter())))?;
        let there = || self.jobs.iter().filter(|job| job.at("outcome") != "refused");
        let ends: Option<Vec<f64>> = there().map(|job| number(job, "finish_ms")).collect();
        let last = ends.and_then(|ends| ends.into_iter().reduce(f64::max));
        let first = there().filter_map(|job| number(job, "submit_ms")).reduce(f64::min);
        self.same_time("makespan_s", last.zip(first).map(|(last, first)| last - first))
    }

    fn count_groups(&self) -> Miscount {
        for (groups, column) in [("pools", "pool"), ("users", "user")] {
            let Some(told) = self.summary.get(groups).and_then(Value::as_array) else { continue };
            let names: BTreeSet<&str> = self.jobs.iter().map(|job| job.at(column)).collect();
            same(groups, Some(told.len() as f64), Some(names.len() as f64), 0.0)?;
            for group in told {
                let name = group["name"].as_str().unwrap_or_default();
                let jobs = || self.jobs.iter().filter(|job| job.at(column) == name);
                let is = |key: &str| format!("{key} of the {column} {name}");
                let millis = |key: &str| group[key].as_f64().map(|seconds| seconds * 1e3);
                same(&is("jobs"), group["jobs"].as_f64(), Some(jobs().count() as f64), 0.0)?;
                let took = mean(&sojourns(jobs()));
                same(&is("mean_sojourn_s"), millis("mean_sojourn_s"), took, CUT)?;
                let waited = mean(&waits(jobs()));
                same(&is("mean_wait_s"), millis("mean_wait_s"), waited, CUT)?;
            }
            let shares: f64 = told.iter().filter_map(|group| group["slots"].as_f64()).sum();
            if shares != 0.0 {
                same(&format!("the slots of all {groups}"), Some(shares), Some(1.0), 1e-3)?;
            }
        }
        Ok(())
    }

    /// Returns the rows of maps and reduces, without those that tell of a lost output.
    fn work(&self) -> impl Iterator<Item = &CsvRow> {
        self.tasks
            .iter()
            .filter(|row| row.at("kind") == "map" || row.at("kind") == "reduce")
            .filter(|row| row.at("outcome") != "lost")
    }

    fn count_attempts(&self) -> Miscount {
        same("attempts", self.told("attempts"), Some(self.work().count() as f64), 0.0)?;
        let mut done: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for row in self.work() {
            let is = format!("the {} {} of job {}", row.at("kind"), row.at("task"), row.at("job"));
            // The JobTracker may give a tracker up, and hear so of an end before it comes.
            for order in [&["launch_ms", "start_ms", "finish_ms"][..], &["launch_ms", "heard_ms"]] {
                let times = order.iter().filter_map(|column| number(row, column));
                if !times.is_sorted() {
                    return Err(format!("the times of {is} are not in the order {order:?}"));
                }
            }
            if let Some((start, finish)) = number(row, "start_ms").zip(number(row, "finish_ms")) {
                let columns = ["start_up_ms", "shuffle_ms", "sort_ms"];
                let phases: f64 = columns.iter().filter_map(|phase| number(row, phase)).sum();
                if finish - start + 2.0 * CUT < phases {
                    return Err(format!("{is} has phases of {phases} ms in {} ms", finish - start));
                }
            }
            // A job may let some of its tasks fail.
            if row.at("outcome") == "succeeded" || row.at("outcome") == "failed" {
                done.entry((row.at("job"), row.at("kind"))).or_default().insert(row.at("task"));
            }
        }
        for job in self.jobs.iter().filter(|job| job.at("outcome") == "succeeded") {
            for (kind, column) in [("map", "maps"), ("reduce", "reduces")] {
                let tasks = done.get(&(job.at("job"), kind)).map_or(0, BTreeSet::len) as f64;
                let what = format!("{column} of {}, which succeeded,", job.at("name"));
                same(&what, number(job, column), Some(tasks), 0.0)?;
            }
        }
        for (place, column) in
            [("node", "node_local"), ("rack", "rack_local"), ("off-rack", "off_rack")]
        {
            let heard =
                self.work().filter(|row| row.at("kind") == "map" && !row.at("heard_ms").is_empty());
            let near =
                heard.filter(|row| row.at("outcome") == "succeeded" && row.at("locality") == place);
            let what = format!("maps with input at the distance {place}");
            same(&what, Some(sum(&self.jobs, column)), Some(near.count() as f64), 0.0)?;
        }
        Ok(())
    }

    /// Compares the slot time of nodes, of jobs over time, of jobs by its use, and of the summary.
    fn count_slot_time(&self) -> Miscount {
        let [nodes, timeline] = ["nodes.csv", "timeline.csv"].map(|name| rows(self.folder, name));
        let (nodes, timeline) = (nodes?, timeline?);
        let of_nodes = |kind: &str| sum(&nodes, &format!("{kind}_busy_ms"));
        let held = of_nodes("map") + of_nodes("reduce");
        // Each row is cut to milliseconds.
        let slack = CUT * (nodes.len() + self.jobs.len() + self.tasks.len()) as f64;
        same("the slot time of jobs.csv", Some(sum(&self.jobs, "held_ms")), Some(held), slack)?;
        for job in &self.jobs {
            let columns = ["useful_ms", "wasted_ms", "unfinished_ms"];
            let parts: f64 = columns.iter().filter_map(|part| number(job, part)).sum();
            let what = format!("the slot time of {}", job.at("name"));
            same(&what, number(job, "held_ms"), Some(parts), CUT * 3.0)?;
        }
        let end = self.told("virtual_s").unwrap_or_default() * 1e3;
        for kind in ["map", "reduce"] {
            let there = sum(&nodes, &format!("{kind}_slot_ms"));
            let told = self.told(&format!("slot_utilisation.{kind}"));
            let counted = (0.0 < there).then(|| of_nodes(kind) / there);
            same(
                &format!("slot_utilisation.{kind}"),
                told,
                counted,
                1e-4 + slack / there.max(1.0),
            )?;
        }
        let mut levels: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
        let mut area = 0.0;
        for row in &timeline {
            let at = number(row, "time_ms").unwrap_or_default();
            let level = number(row, "slots").unwrap_or_default();
            let of = levels.entry((row.at("job"), row.at("kind"))).or_default();
            let (since, before) = std::mem::replace(of, (at, level));
            area += (at - since) * before;
        }
        area += levels.values().map(|(since, level)| (end - since) * level).sum::<f64>();
        // The timeline is about the tasks of jobs, removals of their outputs included, but not about
        // setups and cleanups.
        let is_service = |row: &&CsvRow| row.at("kind") == "setup" || row.at("kind") == "cleanup";
        // One that is cut off with its node has its slot for as long as nobody knows.
        if self.tasks.iter().filter(is_service).any(|row| row.at("outcome") != "succeeded") {
            return Ok(());
        }
        let service = self.tasks.iter().filter(is_service).map(|row| {
            let finish = number(row, "finish_ms").unwrap_or(end);
            let start = number(row, "start_ms").unwrap_or(finish);
            (finish - start) * number(row, "slots").unwrap_or_default()
        });
        let counted = held - service.sum::<f64>();
        let slack = slack + CUT * timeline.len() as f64;
        same("the slot time of the timeline", Some(area), Some(counted), slack)
    }

    /// Compares expressions with the numbers in the tables.
    fn ask_expressions(&self) -> Miscount {
        let results = RunResults::new(self.folder);
        let sojourns = sojourns(self.jobs.iter());
        let seconds = |millis: Option<f64>| millis.map(|millis| millis / 1e3);
        let rows = self.work().filter(|row| row.at("kind") == "map");
        let maps: Vec<f64> = rows
            .filter_map(|row| Some(number(row, "finish_ms")? - number(row, "start_ms")?))
            .collect();
        let asked = [
            ("mean(sojourn)", seconds(mean(&sojourns))),
            ("p95(sojourn)", seconds(quantile(&sojourns, 0.95))),
            ("mean(wait)", seconds(mean(&waits(self.jobs.iter())))),
            ("mean(attempt.time, kind=map)", seconds(mean(&maps))),
        ];
        for (text, counted) in asked {
            let parsed = Expr::parse(text).and_then(|expr| expr.metric(&Space::default()));
            let plan = parsed.expect("the expression is correct");
            let told = plan.measure(&results, &[]).map_err(|error| format!("{text}: {error}"))?;
            same(text, told[0], counted, CUT / 1e3)?;
        }
        Ok(())
    }

    /// Compares the parts into which a job's time is explained with its sojourn.
    fn add_up_explanations(&self) -> Miscount {
        let told = RunResults::new(self.folder).told().map_err(|error| error.to_string())?;
        let holders = told.holders();
        for (place, job) in self.jobs.iter().enumerate() {
            let Some(took) = number(job, "sojourn_ms") else { continue };
            let parts: u64 =
                ExplainedJob::of(&told, place, &holders).sums.iter().map(|part| part.ms).sum();
            let what = format!("the explained time of {}", job.at("name"));
            same(&what, Some(parts as f64), Some(took), 0.0)?;
        }
        Ok(())
    }

    /// Checks that a job arrives only after the ends of the jobs that it follows (`after`).
    fn follow_jobs(&self, resolved: &str) -> Miscount {
        let scenario: serde_yaml::Value =
            serde_yaml::from_str(resolved).map_err(|error| error.to_string())?;
        let written = scenario["workload"]["jobs"].as_sequence().into_iter().flatten();
        for entry in written {
            let (name, leaders) = (&entry["name"], &entry["after"]);
            let called = |row: &&CsvRow| name.as_str() == Some(row.at("name"));
            let Some(job) = self.jobs.iter().find(called) else { continue };
            for leader in leaders.as_sequence().into_iter().flatten() {
                let mut jobs = self.jobs.iter();
                let leader = jobs.find(|row| leader.as_str() == Some(row.at("name")));
                let Some(leader) = leader else { continue };
                let ended = number(leader, "finish_ms");
                if ended.is_none_or(|ended| number(job, "submit_ms") < Some(ended)) {
                    let [job, leader] = [job, leader].map(|job| job.at("name"));
                    return Err(format!(
                        "{job} arrives before the end of {leader}, which it follows"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use mumakil_run::emulation::{Options, Prepared};
    use mumakil_run::output::RunFolder;
    use mumakil_scenario as scenario;

    /// Two pools, of which one has a job that is killed.
    const RUN: &str = "
cluster: {nodes: 4, racks: 2}
record: {sample: 0s, waste: true, report: false}
workload:
  jobs:
    - {name: a, maps: 12, reduces: 2, shuffle: 20MB, pool: p, user: ann, map_time: 20s, reduce_time: 9s}
    - {name: b, submit: 5s, maps: 6, pool: q, user: bob, map_time: 30s}
    - {name: c, submit: 20s, maps: 3, pool: q, user: ann, map_time: 10s}
    - {name: d, after: [c], maps: 1, pool: p, user: ann, map_time: 5s}
faults: [{at: 30s, kill: b}]
";

    /// Returns a folder with the results of the run, of which `change` may alter a file.
    fn results(file: &str, change: impl Fn(&str) -> String) -> (TempDir, Option<String>) {
        let registry = crate::testing::registry();
        let scenario = scenario::parse("run.yaml", RUN, &[], &registry).unwrap().scenario;
        let room = TempDir::new().unwrap();
        let folder = RunFolder::create(&room.path().join("run"), false).unwrap();
        let prepared = Prepared::new(scenario, &registry).unwrap();
        prepared.fill(&folder, &registry, Options::default()).unwrap();
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, change(&text)).unwrap();
        let resolved = fs::read_to_string(folder.path().join("scenario.resolved.yaml")).unwrap();
        let found = miscount(folder.path(), &resolved);
        (room, found)
    }

    #[test]
    fn results_of_a_run_agree() {
        assert_eq!(results("jobs.csv", str::to_owned).1, None);
    }

    /// Returns a table without the first row that `is_it` accepts.
    fn without(text: &str, is_it: impl Fn(&str) -> bool) -> String {
        let gone = text.lines().position(is_it).unwrap();
        let kept = text.lines().enumerate().filter(|(line, _)| *line != gone);
        kept.map(|(_, line)| format!("{line}\n")).collect()
    }

    /// Returns a summary with another number at a path.
    fn with(text: &str, path: &str, change: impl Fn(f64) -> f64) -> String {
        let mut summary: Value = serde_json::from_str(text).unwrap();
        let at = summary.pointer_mut(path).unwrap();
        *at = change(at.as_f64().unwrap()).into();
        summary.to_string()
    }

    #[test]
    fn planted_mistakes_of_the_results_are_found() {
        type Change = fn(&str) -> String;
        let planted: [(&str, Change, &str); 12] = [
            ("jobs.csv", |text| without(text, |line| line.contains(",c,ann,")), "jobs is 4"),
            ("tasks.csv", |text| without(text, |line| line.starts_with("0,map,3,")), "attempts is"),
            ("tasks.csv", |text| text.replace("0,map,3,0,", "0,map,4,0,"), "maps of a"),
            ("tasks.csv", |text| text.replacen(",node,1,", ",rack,1,", 1), "maps with input"),
            (
                "summary.json",
                |text| with(text, "/mean_sojourn_s", |mean| mean * 0.8),
                "mean_sojourn_s",
            ),
            ("summary.json", |text| with(text, "/p95_sojourn_s", |p95| p95 - 1.0), "p95_sojourn_s"),
            ("summary.json", |text| with(text, "/mean_wait_s", |wait| wait + 0.1), "mean_wait_s"),
            (
                "summary.json",
                |text| with(text, "/slot_utilisation/map", |share| share + 0.01),
                "slot_utilisation.map",
            ),
            (
                "summary.json",
                |text| with(text, "/pools/1/mean_sojourn_s", |mean| mean + 9.0),
                "of the pool q",
            ),
            (
                "jobs.csv",
                |text| {
                    let heading = text.lines().next().unwrap_or_default();
                    let held = heading.split(',').position(|name| name == "held_ms");
                    let without_held = |line: &str| {
                        let is_held = |place| line.starts_with("1,b,") && Some(place) == held;
                        let cells = line.split(',').enumerate();
                        let kept =
                            cells.map(|(place, cell)| if is_held(place) { "0" } else { cell });
                        kept.collect::<Vec<_>>().join(",") + "\n"
                    };
                    text.lines().map(without_held).collect()
                },
                "the slot time of jobs.csv",
            ),
            (
                "timeline.csv",
                |text| {
                    let others = text.lines().filter(|line| !line.contains(",map,2,"));
                    others.map(|line| format!("{line}\n")).collect()
                },
                "timeline",
            ),
            (
                "scenario.resolved.yaml",
                |text| text.replace("after:\n    - c", "after:\n    - a"),
                "d arrives before the end of a",
            ),
        ];
        for (file, change, words) in planted {
            let (_, found) = results(file, change);
            let found = found.unwrap_or_else(|| panic!("nothing is found in {file}: {words}"));
            assert!(found.contains(words), "{words}: {found}");
        }
    }
}
