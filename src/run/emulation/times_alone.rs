//! `alone.csv`: how long each job takes alone, from a second run of the same jobs, one after the
//! other.
//!
//! These times depend on no policy and on no fault. So the runs of a study that differ in nothing
//! else share them: the jobs of a cluster run alone once for each seed.

use std::fs;
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use sha2::{Digest as _, Sha256};

use super::{EmulationError, Options, Prepared};
use crate::output::{OutputError, RunFolder};
use crate::record::alone_table;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{AutoSpan, StopReason};
use mumakil_results::tables::{AloneRow, TableRow as _};
use mumakil_scenario::workload::{Submission, SubmissionWay};
use mumakil_scenario::{ClockSpec, Name, RecordSpec, Registry, Scenario, SchedulerChoice};

/// The most bytes that are kept. Chosen: the times of millions of jobs.
const MOST: usize = 64 << 20;

/// The times that jobs take alone, as far as they are known: the content of `alone.csv`, by the
/// hash of the scenario of the second run.
#[derive(Clone, Debug, Default)]
pub struct TimesAlone(Arc<Mutex<KnownTimes>>);

#[derive(Debug, Default)]
struct KnownTimes {
    files: FxHashMap<[u8; 32], Arc<[u8]>>,
    bytes: usize,
}

impl TimesAlone {
    fn get(&self, hash: &[u8; 32]) -> Option<Arc<[u8]>> {
        self.0.lock().files.get(hash).cloned()
    }

    fn keep(&self, hash: [u8; 32], file: Vec<u8>) {
        let mut known = self.0.lock();
        if known.bytes + file.len() <= MOST {
            known.bytes += file.len();
            known.files.insert(hash, file.into());
        }
    }
}

impl Prepared {
    /// Writes `alone.csv`; returns why the second run ended, or `None` if its times were known.
    pub(super) fn time_alone(
        &self,
        folder: &RunFolder,
        registry: &Registry,
        options: Options,
        known: &TimesAlone,
    ) -> Result<Option<StopReason>, EmulationError> {
        let scenario = self.scenario_alone();
        let hash = Sha256::digest(scenario.to_yaml()).into();
        if let Some(file) = known.get(&hash) {
            folder.write(AloneRow::FILE, file)?;
            return Ok(None);
        }
        let watchers = vec![alone_table(folder.path())?];
        let stop =
            alone(scenario, registry)?.emulate(registry, Options { watchers, ..options })?.stop;
        if stop == StopReason::Done {
            let path = folder.path().join(AloneRow::FILE);
            let file = fs::read(&path).map_err(|source| OutputError::Read { path, source })?;
            known.keep(hash, file);
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
        // The jobs of `later` need a row in `alone.csv` too, but its changes of policy do not
        // apply.
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
            (kept.alone, fs::read_to_string(folder.path().join(AloneRow::FILE)).unwrap())
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
