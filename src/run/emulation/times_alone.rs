//! How long each job takes alone on the empty cluster, from a second run of the same jobs, one after
//! the other. The job's slowdown is measured against this time.
//!
//! These times depend on no policy and on no fault. So the runs of a study that differ in nothing
//! else share them: the jobs of a cluster run alone once for each seed.

use std::fs;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest as _, Sha256};

use super::{EmulationError, Options, Prepared};
use crate::output::{OutputError, RunFolder};
use crate::record::{RecordError, RunEnd, TableWriter, Watcher, keys_on};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{AutoSpan, StopReason};
use mumakil_results::tables::{JobRow, TableRow as _, read_rows};
use mumakil_scenario::workload::{Submission, SubmissionWay};
use mumakil_scenario::{ClockSpec, Name, RecordSpec, Registry, Scenario, SchedulerChoice};

/// The most times that are kept: some tens of megabytes.
const MOST: usize = 1 << 20;

/// The times that jobs take alone, as far as they are known, by the hash of the scenario of the
/// second run.
#[derive(Clone, Debug, Default)]
pub struct TimesAlone(Arc<Mutex<FxHashMap<[u8; 32], Arc<JobTimes>>>>);

/// The milliseconds that each job that succeeded takes alone, by its name; by its number with a `#`
/// if names repeat. The order of arrivals, and so the numbers, may differ between the two runs.
#[derive(Debug, Default)]
struct JobTimes {
    names_repeat: bool,
    times: FxHashMap<String, u64>,
}

impl TimesAlone {
    fn get(&self, hash: &[u8; 32]) -> Option<Arc<JobTimes>> {
        self.0.lock().get(hash).cloned()
    }

    fn keep(&self, hash: [u8; 32], times: Arc<JobTimes>) {
        let mut known = self.0.lock();
        let kept: usize = known.values().map(|known| known.times.len()).sum();
        if kept + times.times.len() <= MOST {
            known.insert(hash, times);
        }
    }
}

impl JobTimes {
    fn key(&self, job: u32, name: &str) -> String {
        if self.names_repeat { format!("#{job}") } else { name.to_owned() }
    }

    /// Adds the times to `jobs.csv`, in which their column is empty.
    fn add(&self, folder: &RunFolder, keys: &[&str]) -> Result<(), EmulationError> {
        let path = folder.path().join(JobRow::FILE);
        let read = |source| OutputError::Read { path: path.clone(), source };
        let table = fs::read(&path).map_err(read)?;
        let mut written = TableWriter::with(folder.path(), keys)?;
        let mut outcome = Ok(());
        read_rows(&*table, &path, |mut row: JobRow| {
            row.alone_ms = self.times.get(&self.key(row.job, &row.name)).copied();
            if outcome.is_ok() {
                outcome = written.row(&row);
            }
            Ok(())
        })?;
        outcome?;
        Ok(written.finish()?)
    }
}

impl Watcher for JobTimes {
    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        let mut names = FxHashSet::default();
        self.names_repeat = !end.books.jobs().all(|job| names.insert(&job.spec.name));
        for job in end.books.jobs() {
            let took = job.measured().map(SimSpan::as_millis);
            let key = self.key(job.spec.id.0, &job.spec.name);
            self.times.extend(took.map(|took| (key, took)));
        }
        Ok(())
    }
}

impl Prepared {
    /// Adds the times alone to `jobs.csv`; returns why the second run ended, or `None` if its times
    /// were known.
    pub(super) fn time_alone(
        &self,
        folder: &RunFolder,
        registry: &Registry,
        options: Options,
        known: &TimesAlone,
    ) -> Result<Option<StopReason>, EmulationError> {
        let keys = keys_on(&self.scenario.outputs());
        let scenario = self.scenario_alone();
        let hash = Sha256::digest(scenario.to_yaml()).into();
        if let Some(times) = known.get(&hash) {
            times.add(folder, &keys)?;
            return Ok(None);
        }
        let times = Arc::new(Mutex::new(JobTimes::default()));
        let options = Options { watchers: vec![Box::new(times.clone())], ..options };
        let stop = alone(scenario, registry)?.emulate(registry, options)?.stop;
        let times = Arc::new(std::mem::take(&mut *times.lock()));
        times.add(folder, &keys)?;
        if stop == StopReason::Done {
            known.keep(hash, times);
        }
        Ok(Some(stop))
    }

    /// Returns the scenario of the second run: the same jobs on a cluster that is otherwise idle.
    fn scenario_alone(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        scenario.workload.submission = Submission::Serial;
        scenario.workload.warm_start = None;
        // With one job at a time all policies choose the same job. But some policies hold slots
        // back, for example for locality; the default policy does not.
        scenario.scheduler = SchedulerChoice::default();
        // A scaled clock would add its lag and take hours.
        scenario.clock = ClockSpec::Virtual;
        // Slowdown is measured against an undisturbed cluster on which every job runs to its end.
        scenario.faults.clear();
        scenario.until = None;
        // The jobs of `later` need a time alone too, but its changes of policy do not apply.
        scenario.later.retain(|later| later.submit.is_some());
        // Names and expectations only tell of a run; runs that differ in them share their times.
        scenario.name = Name::from_text("alone");
        scenario.description.clear();
        scenario.experiment = None;
        scenario.expect.clear();
        scenario.record =
            RecordSpec { warm_up: AutoSpan::Fixed(SimSpan::ZERO), ..RecordSpec::default() };
        scenario
    }
}

fn alone(scenario: Scenario, registry: &Registry) -> Result<Prepared, EmulationError> {
    let mut alone = Prepared::new(scenario, registry)?;
    for arrival in &mut alone.workload.arrivals {
        // Jobs with an instant of submission also wait until the job before them has ended.
        arrival.way = SubmissionWay::Paced;
    }
    Ok(alone)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::output::results::RunResults;
    use mumakil_scenario as scenario;

    #[test]
    fn runs_that_differ_in_their_policy_share_the_times_and_others_do_not() {
        let registry = crate::testing::registry();
        let room = TempDir::new().unwrap();
        let known = TimesAlone::default();
        let keep = |name: &str, sets: &[&str]| {
            let text = "cluster: {nodes: 3}\nrecord: {alone: true}\n\
                        workload: {jobs: [{name: a, count: 3, maps: 9, map_time: 20s}]}";
            let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
            let scenario = scenario::parse("test.yaml", text, &sets, &registry).unwrap().scenario;
            let folder = RunFolder::create(&room.path().join(name), false).unwrap();
            let options = Options { alone: known.clone(), ..Options::default() };
            let prepared = Prepared::new(scenario, &registry).unwrap();
            let kept = prepared.fill(&folder, &registry, options).unwrap();
            let jobs: Vec<JobRow> = RunResults::new(folder.path()).all().unwrap();
            (kept.alone, jobs.iter().map(|job| job.alone_ms.unwrap()).collect::<Vec<_>>())
        };
        let (ran, times) = keep("fifo", &[]);
        assert_eq!(ran, Some(StopReason::Done));
        assert_eq!(
            keep("fair", &["scheduler=fair", "expect=[makespan > 0s]"]),
            (None, times.clone())
        );
        let (ran, others) = keep("seed", &["seed=7"]);
        assert_eq!(ran, Some(StopReason::Done));
        assert_ne!(others, times);
        assert_eq!(keep("nodes", &["cluster.nodes=4"]).0, Some(StopReason::Done));
    }
}
