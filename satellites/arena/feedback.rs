//! Where a policy loses, in words: the jobs that lost most against the best baseline, why, and the
//! first slot that went to another job.
//!
//! The runs of a contest record no more than their numbers need. So the few runs in question are
//! done again, with all that explanations read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tempfile::TempDir;

use crate::{ScoreError, ScoredContest};
use mumakil_compare::{ExplainedRun, JobPairs, RunPair};
use mumakil_results::tables::{JobRow, ReadError};
use mumakil_run::emulation::{EmulationError, Options, Prepared};
use mumakil_run::output::RunFolder;
use mumakil_run::output::results::RunResults;
use mumakil_scenario::Registry;
use mumakil_study::StudyRuns;

/// The most jobs that are named.
const MOST: usize = 3;

/// A job that took longer under a policy than under the best baseline.
struct LostJob {
    /// By how much longer, relative to the mean job of the baseline's run.
    loss: f64,
    scenario: usize,
    /// The index of the seed.
    seed: usize,
    job: u32,
}

/// The two runs in which a job lost, done again with all tables.
struct RedoneRuns {
    _folders: [TempDir; 2],
    results: [RunResults; 2],
}

impl ScoredContest<'_> {
    /// Tells where a policy loses against the best baseline, in sentences; none if it loses nowhere.
    ///
    /// # Errors
    /// If runs cannot be read, or done again.
    pub fn feedback(&self, policy: &str, registry: &Registry) -> Result<Vec<String>, ScoreError> {
        Ok(self.losses(self.contest.policy(policy), registry)?)
    }

    fn losses(&self, policy: usize, registry: &Registry) -> Result<Vec<String>, EmulationError> {
        let mut redone: BTreeMap<(usize, usize), RedoneRuns> = BTreeMap::new();
        let mut sentences = Vec::new();
        for lost in self.most(policy)? {
            let best = self.numbers.best_baseline(lost.scenario);
            let (runs, is_new) = match redone.entry((lost.scenario, lost.seed)) {
                Entry::Occupied(entry) => (entry.into_mut(), false),
                Entry::Vacant(entry) => {
                    (entry.insert(self.redo(&lost, [best, policy], registry)?), true)
                }
            };
            let runs = runs.pair([best, policy].map(|policy| self.numbers.label(policy)))?;
            let place = self.place(&lost);
            let jobs = runs.jobs();
            if let Some(job) = jobs.0.iter().find(|pair| pair.rows[1].job == lost.job) {
                let (name, why) = (job.name(), runs.sentence(job));
                sentences.push(format!("{place}: job {} (`{name}`) takes {why}", lost.job));
            }
            if is_new && let Some(slot) = runs.first_slot()? {
                let parted = slot.parted(runs.names(), |job| runs.0[0].tables.name_of(job));
                sentences.push(format!("{place}: {}", parted.sentence()));
            }
        }
        Ok(sentences)
    }

    /// Returns the jobs that lost most under a policy, on the public seeds.
    fn most(&self, policy: usize) -> Result<Vec<LostJob>, ReadError> {
        let runs = StudyRuns::new(self.sheet, self.store);
        let mut all: Vec<LostJob> = Vec::new();
        for scenario in 0..self.contest.suite.scenarios.len() {
            let best = self.numbers.best_baseline(scenario);
            let [own, base] =
                [policy, best].map(|one| runs.whole(&self.contest.cell(scenario, one)));
            let (Some(own), Some(base)) = (own, base) else { continue };
            let pairs = runs.of(own).zip(runs.of(base)).take(self.contest.public);
            for (seed, (own, base)) in pairs.enumerate() {
                let (own, base) = (own.all::<JobRow>()?, base.all::<JobRow>()?);
                let sojourns: Vec<u64> = base.iter().filter_map(|job| job.sojourn_ms).collect();
                let mean = sojourns.iter().sum::<u64>() as f64 / sojourns.len().max(1) as f64;
                let pairs = JobPairs::of(
                    [&base, &own]
                        .map(|jobs| jobs.iter().map(|job| (job, job.sojourn_ms)).collect()),
                );
                all.extend(pairs.0.iter().filter(|pair| 0 < pair.by()).map(|pair| LostJob {
                    loss: pair.by() as f64 / mean.max(1.0),
                    scenario,
                    seed,
                    job: pair.rows[1].job,
                }));
            }
        }
        // The sort is stable: equal losses stay in the order of scenarios, seeds and jobs.
        all.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        all.truncate(MOST);
        Ok(all)
    }

    /// Does the runs of two policies in which a job lost again, with all tables.
    fn redo(
        &self,
        lost: &LostJob,
        policies: [usize; 2],
        registry: &Registry,
    ) -> Result<RedoneRuns, EmulationError> {
        let redo = |policy: usize| -> Result<_, EmulationError> {
            let cell = self.contest.cell(lost.scenario, policy);
            let mut runs =
                self.plan.runs.iter().filter(|run| self.plan.cells[run.cell].values == cell);
            let run = runs.nth(lost.seed).expect("each cell has a run for each seed");
            let mut scenario = self.plan.scenario(run);
            (scenario.record.tasks, scenario.record.decisions) = (true, true);
            let room = TempDir::new().map_err(|source| {
                mumakil_run::output::OutputError::Write { path: std::env::temp_dir(), source }
            })?;
            let folder = RunFolder::create(&room.path().join("run"), false)?;
            let prepared = Prepared::new(scenario, registry)?;
            prepared.fill(&folder, registry, Options::default())?;
            folder.commit()?;
            let results = RunResults::new(room.path().join("run"));
            Ok((room, results))
        };
        let ((one_room, one), (other_room, other)) = (redo(policies[0])?, redo(policies[1])?);
        Ok(RedoneRuns { _folders: [one_room, other_room], results: [one, other] })
    }

    /// Returns the scenario and the seed of a loss in words.
    fn place(&self, lost: &LostJob) -> String {
        let label = &self.contest.suite.scenarios[lost.scenario].label;
        format!("`{label}`, seed {}", self.contest.suite.seeds[lost.seed])
    }
}

impl RedoneRuns {
    fn pair(&self, names: [&str; 2]) -> Result<RunPair<'_>, ReadError> {
        let [one, other] = &self.results;
        Ok(RunPair([
            ExplainedRun::new(names[0], one, one.told()?),
            ExplainedRun::new(names[1], other, other.told()?),
        ]))
    }
}
