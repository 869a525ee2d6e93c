//! The progress of a study over all its processes, read from the study's folder alone.
//!
//! Each run of the manifest is in one of four states:
//! ```text
//! done       it is in the store
//! running    the sign of a living process names it
//! failed     a note has the reason, and no living process is trying it again
//! left       any other run
//! ```
//! Reading the progress writes nothing and blocks no process.

use std::collections::BTreeMap;
use std::path::Path;

use indexmap::IndexSet;
use serde::Serialize;

use crate::plan::manifest::{StudyManifest, read_manifest};
use crate::run::failed;
use crate::run::store::Store;
use crate::watch::life_sign::{self, Life, LiveRun, SlowRun, WallInstant, WriterState};
use crate::watch::pace::remaining_s;
use crate::watch::sign_files::{LifeSign, signs};
use mumakil_base::files::SUMMARY;
use mumakil_base::shell::quoted_path;
use mumakil_run::output::OutputError;

/// The progress of a study. Every run is done, running, failed or left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// The study's name.
    pub study: String,
    /// The number of runs.
    pub runs: u64,
    /// The number of runs that are done.
    pub done: u64,
    /// The number of runs in progress.
    pub running: u64,
    /// The number of runs that have failed, without runs that are being tried again.
    pub failed: u64,
    /// The number of runs that are neither done, running nor failed.
    pub left: u64,
    /// Whether the study's results are written.
    pub is_concluded: bool,
    /// The number of runs that end in a minute, over all living processes.
    pub runs_a_minute: Option<f64>,
    /// The seconds that the running and the left runs take at the rate `runs_a_minute`; `None`
    /// without a rate or without such runs.
    pub rest_s: Option<f64>,
    /// The runs known to be in progress, longest first. A run that began after the last sign of its
    /// process is counted in `running`, but missing here.
    pub running_now: Vec<Running>,
    /// The slowest runs, slowest first.
    pub slowest: Vec<SlowRun>,
    /// The runs that have failed.
    pub failures: Vec<Failed>,
    /// The processes that work or have worked on the study.
    pub processes: Vec<StudyProcess>,
}

/// A run in progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Running {
    /// The run, as the sign of its process names it.
    #[serde(flatten)]
    pub going: LiveRun,
    /// The seconds since it began.
    pub for_s: f64,
    /// The machine on which it runs; `None` if the machine has no name.
    pub machine: Option<String>,
    /// The id of its process.
    pub pid: u32,
}

/// A run that has failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failed {
    /// Its name.
    pub run: String,
    /// Its description, and the reason.
    pub why: String,
    /// The command that repeats it.
    pub repeat: String,
}

/// A process that works, or has worked, on a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyProcess {
    /// The state of the process.
    #[serde(rename = "state")]
    pub fate: WriterState,
    /// The seconds since its last sign.
    pub silent_s: f64,
    /// Its last sign.
    #[serde(flatten)]
    pub life: Life,
}

impl Status {
    /// Reads the progress of a study.
    ///
    /// # Errors
    /// If the folder has no study or cannot be read.
    pub fn read(folder: &Path, now: WallInstant) -> Result<Self, OutputError> {
        let sheet = read_manifest(folder)?;
        // Read the signs before the store: a run that ends in between is then seen in both, and
        // counts as done. In the other order, the run would be seen in neither.
        let signs = signs(folder, now)?;
        let store = Store::of(folder)?;
        let failed = failed::read(&store)?.into_iter().map(|(run, why)| {
            let repeat = format!("mumakil run {}", quoted_path(&failed::path(&store, &run)));
            (run.clone(), Failed { run, why, repeat })
        });
        let failures = failed.collect();
        let is_concluded = folder.join(SUMMARY).is_file();
        Ok(Self { is_concluded, ..Self::of(&sheet, |run| store.has(run), failures, signs, now) })
    }

    fn of(
        sheet: &StudyManifest,
        has: impl Fn(&str) -> bool,
        mut failures: BTreeMap<String, Failed>,
        signs: Vec<LifeSign>,
        now: WallInstant,
    ) -> Self {
        let runs: IndexSet<&str> = sheet.runs().collect();
        let missing: IndexSet<&str> = runs.iter().copied().filter(|run| !has(run)).collect();
        let (mut begun, mut running_now) = (IndexSet::new(), Vec::new());
        for Life { pid, machine, running, .. } in at_work(&signs) {
            for going in running {
                // Two processes may do the same run, if one of them was wrongly taken for dead and
                // the other took the run over. Count the run once.
                let is_new = begun.insert(going.run.clone());
                if missing.contains(&*going.run) && is_new {
                    let for_s = now.since(going.since).as_secs_f64();
                    let (going, machine) = (going.clone(), machine.clone());
                    running_now.push(Running { going, for_s, machine, pid: *pid });
                }
            }
        }
        running_now.sort_by(|a: &Running, b| b.for_s.total_cmp(&a.for_s));
        failures.retain(|run, _| {
            missing.contains(&**run) && !running_now.iter().any(|running| running.going.run == *run)
        });
        // Show failures in the order of the study's runs.
        let failures: Vec<Failed> =
            missing.iter().filter_map(|run| failures.remove(*run)).collect();
        // A run in a sign may be done by now; its worker then does another run, which no sign names
        // yet. So count all runs in signs, but at most as many as are unfinished.
        let running = begun.len().min(missing.len() - failures.len());
        let left = missing.len() - running - failures.len();
        let rates = at_work(&signs).filter_map(|life| life.runs_a_minute);
        let runs_a_minute = Some(rates.sum()).filter(|rate| 0.0 < *rate);
        let rest = (left + running) as u64;
        let slow = signs.iter().flat_map(|sign| sign.life.slowest.iter().cloned());
        Self {
            study: sheet.study.clone(),
            runs: runs.len() as u64,
            done: (runs.len() - missing.len()) as u64,
            running: running as u64,
            failed: failures.len() as u64,
            left: left as u64,
            is_concluded: false,
            runs_a_minute,
            // A study without unfinished runs needs no estimate.
            rest_s: runs_a_minute.filter(|_| 0 < rest).map(|rate| remaining_s(rest, rate)),
            running_now,
            slowest: life_sign::slowest(slow.filter(|slow| runs.contains(&*slow.run)).collect()),
            failures,
            processes: signs
                .into_iter()
                .map(|LifeSign { life, fate }| {
                    let silent_s = now.since(life.seen).as_secs_f64();
                    StudyProcess { fate, silent_s, life }
                })
                .collect(),
        }
    }
}

fn at_work(signs: &[LifeSign]) -> impl Iterator<Item = &Life> {
    signs.iter().filter(|sign| sign.fate == WriterState::AtWork).map(|sign| &sign.life)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::runs::Plan;
    use crate::plan::spec::Study;
    use crate::watch::life_sign::End;

    /// Returns the manifest of a study with two cells and three seeds.
    fn sheet() -> StudyManifest {
        let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n\
                    sweep: {cluster.nodes: [3, 4], seeds: 3}";
        let draft = mumakil_scenario::Draft::of("test.yaml", yaml).unwrap();
        let study = Study::of(draft).unwrap();
        let plan = Plan::new(&study, &crate::testing::registry()).unwrap();
        StudyManifest::new(&study, &plan)
    }

    fn at(secs: i64) -> WallInstant {
        WallInstant::of_millis(secs * 1_000)
    }

    /// Returns the sign of a process that does these runs, at twelve a minute.
    fn sign(pid: u32, running: &[&str], fate: WriterState) -> LifeSign {
        let mut life = Life::begin(Some("node".to_owned()), pid, at(0));
        for (number, run) in (0..).zip(running) {
            life.begins(run, format!("run {run}"), at(50 + number));
        }
        life.record_sign(12, at(60));
        LifeSign { life, fate }
    }

    fn failed(run: &str) -> (String, Failed) {
        let why = "it stalled".to_owned();
        (run.to_owned(), Failed { run: run.to_owned(), why, repeat: String::new() })
    }

    #[test]
    fn every_run_is_done_or_running_or_failed_or_left() {
        let sheet = sheet();
        let runs: Vec<&str> = sheet.runs().collect();
        // The first run has ended since the sign, so its process is at another run. The second run
        // failed and is tried again. The third and the fifth run have failed. The fourth run was in
        // progress when its process was killed.
        let failures = [failed(runs[1]), failed(runs[4]), failed(runs[2]), failed("other")];
        let signs = vec![
            sign(1, &[runs[0], runs[1]], WriterState::AtWork),
            sign(2, &[runs[3]], WriterState::Gone),
        ];
        let has = |run: &str| run == runs[0];
        let status = Status::of(&sheet, has, failures.into(), signs, at(90));
        let Status { done, running, failed, left, .. } = status;
        assert_eq!((status.runs, done, running, failed, left), (6, 1, 2, 2, 1));
        let now = &status.running_now[0];
        assert_eq!((&*now.going.run, now.for_s, now.pid), (runs[1], 39.0, 1));
        let failed: Vec<&str> = status.failures.iter().map(|failed| &*failed.run).collect();
        assert_eq!(failed, [runs[2], runs[4]], "in the order of the study");
        // Only the rates of living processes count: three unfinished runs at twelve a minute.
        assert_eq!((status.runs_a_minute, status.rest_s), (Some(12.0), Some(15.0)));
    }

    #[test]
    fn where_nobody_works_nothing_is_going_on_and_nothing_is_estimated() {
        let sheet = sheet();
        let runs: Vec<&str> = sheet.runs().collect();
        for fate in [WriterState::Gone, WriterState::Silent, WriterState::Ended(End::ToldToEnd)] {
            let signs = vec![sign(1, &runs[..1], fate)];
            let status = Status::of(&sheet, |_| false, BTreeMap::new(), signs, at(90));
            let told = (status.running, status.left, status.runs_a_minute, status.rest_s);
            assert_eq!(told, (0, 6, None, None));
            assert_eq!(status.processes[0].silent_s, 30.0);
        }
    }

    #[test]
    fn a_run_that_two_are_at_is_one() {
        let sheet = sheet();
        let runs: Vec<&str> = sheet.runs().collect();
        let signs = vec![
            sign(1, &runs[..1], WriterState::AtWork),
            sign(2, &runs[..1], WriterState::AtWork),
        ];
        let status = Status::of(&sheet, |_| false, BTreeMap::new(), signs, at(90));
        assert_eq!((status.running, status.left), (1, 5));
        assert_eq!(status.runs_a_minute, Some(24.0));
    }

    #[test]
    fn programs_read_what_became_of_each_process() {
        let signs =
            vec![sign(1, &[], WriterState::Gone), sign(2, &[], WriterState::Ended(End::ToldToEnd))];
        let status = Status::of(&sheet(), |_| false, BTreeMap::new(), signs, at(90));
        let json = serde_json::to_value(&status).unwrap();
        let [first, second] = [0, 1].map(|place| &json["processes"][place]["state"]);
        assert_eq!((first, second), (&"gone".into(), &"told to end".into()));
    }
}
