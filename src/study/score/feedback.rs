//! Where a policy loses, in words: the jobs that lost most against the best baseline, why, and the
//! first decision that was another one.
//!
//! The runs of a contest record no more than their numbers need. So the few runs in question are
//! done again, with all that explanations read.

use std::collections::BTreeMap;

use tempfile::TempDir;

use crate::conclude::study_runs::StudyRuns;
use crate::plan::manifest::StudyManifest;
use crate::plan::runs::Plan;
use crate::run::store::Store;
use crate::score::contest::Contest;
use crate::score::scores::ContestNumbers;
use mumakil_base::units::tell::span;
use mumakil_results::explain::ExplainedJob;
use mumakil_results::first_difference::{FirstDifference, GivenSlot};
use mumakil_results::tables::{JobRow, ReadError, Results};
use mumakil_run::emulation::{EmulationError, Options, Prepared};
use mumakil_run::output::RunFolder;
use mumakil_run::output::results::RunResults;
use mumakil_scenario::Registry;

/// The most jobs that are told.
const MOST: usize = 3;

/// A job that took longer under a policy than under the best baseline.
struct LostJob {
    /// By how much longer, relative to the mean job of the baseline's run.
    loss: f64,
    scenario: usize,
    /// The index of the seed.
    seed: usize,
    job: u32,
    name: String,
    /// Its sojourn under the policy and under the baseline, in milliseconds.
    sojourns: [u64; 2],
}

/// The data from which a policy's losses are told.
pub(crate) struct Losses<'c> {
    pub(crate) contest: &'c Contest,
    pub(crate) plan: &'c Plan,
    pub(crate) sheet: &'c StudyManifest,
    pub(crate) store: &'c Store,
    pub(crate) numbers: &'c ContestNumbers<'c>,
    pub(crate) registry: &'c Registry,
}

/// The two runs in which a job lost, done again with all tables.
struct RedoneRuns {
    _folders: [TempDir; 2],
    results: [RunResults; 2],
}

impl Losses<'_> {
    /// Tells where a policy loses, in sentences; none if it loses nowhere.
    ///
    /// # Errors
    /// If runs cannot be read, or done again.
    pub(crate) fn tell(&self, policy: usize) -> Result<Vec<String>, EmulationError> {
        let mut redone: BTreeMap<(usize, usize), RedoneRuns> = BTreeMap::new();
        let mut told = Vec::new();
        for lost in self.most(policy)? {
            let key = (lost.scenario, lost.seed);
            let best = self.numbers.best_baseline(lost.scenario);
            let is_new = !redone.contains_key(&key);
            let runs = match redone.entry(key) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(self.redo(lost.scenario, lost.seed, [policy, best])?)
                }
            };
            let place = self.place(&lost);
            let base = self.numbers.label(best);
            let [own, other] = lost.sojourns.map(|ms| span(ms as f64 / 1e3));
            let job = format!("job {} (`{}`)", lost.job, lost.name);
            let why = why(&runs.results[0], lost.job)?;
            told.push(format!("{place}: {job} took {own}, and {other} under `{base}`{why}"));
            if is_new && let Some(words) = parting(&runs.results, base)? {
                told.push(format!("{place}: {words}"));
            }
        }
        Ok(told)
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
                let (own, base) = (jobs(own)?, jobs(base)?);
                let sojourns: Vec<u64> = base.iter().filter_map(|job| job.sojourn_ms).collect();
                let mean = sojourns.iter().sum::<u64>() as f64 / sojourns.len().max(1) as f64;
                for (own, base) in own.iter().zip(&base) {
                    let (Some(took), Some(other)) = (own.sojourn_ms, base.sojourn_ms) else {
                        continue;
                    };
                    if other < took {
                        all.push(LostJob {
                            loss: (took - other) as f64 / mean.max(1.0),
                            scenario,
                            seed,
                            job: own.job,
                            name: own.name.to_string(),
                            sojourns: [took, other],
                        });
                    }
                }
            }
        }
        // The sort is stable: equal losses stay in the order of scenarios, seeds and jobs.
        all.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        all.truncate(MOST);
        Ok(all)
    }

    /// Does the runs of two policies again, with all tables.
    fn redo(
        &self,
        scenario: usize,
        seed: usize,
        policies: [usize; 2],
    ) -> Result<RedoneRuns, EmulationError> {
        let redo = |policy: usize| -> Result<_, EmulationError> {
            let cell = self.contest.cell(scenario, policy);
            let mut runs =
                self.plan.runs.iter().filter(|run| self.plan.cells[run.cell].values == cell);
            let run = runs.nth(seed).expect("each cell has a run for each seed");
            let mut scenario = self.plan.scenario(run);
            (scenario.record.tasks, scenario.record.decisions) = (true, true);
            let room = TempDir::new().map_err(|source| {
                mumakil_run::output::OutputError::Write { path: std::env::temp_dir(), source }
            })?;
            let folder = RunFolder::create(&room.path().join("run"), false)?;
            let prepared = Prepared::new(scenario, self.registry)?;
            prepared.fill(&folder, self.registry, Options::default())?;
            folder.commit()?;
            let results = RunResults::new(room.path().join("run"));
            Ok((room, results))
        };
        let [own, base] = policies;
        let ((own_room, own), (base_room, base)) = (redo(own)?, redo(base)?);
        Ok(RedoneRuns { _folders: [own_room, base_room], results: [own, base] })
    }

    /// Returns the scenario and the seed of a loss in words.
    fn place(&self, lost: &LostJob) -> String {
        let label = &self.contest.suite.scenarios[lost.scenario].label;
        format!("`{label}`, seed {}", self.contest.suite.seeds[lost.seed])
    }
}

fn jobs(run: &RunResults) -> Result<Vec<JobRow>, ReadError> {
    let mut jobs = Vec::new();
    (run as &dyn Results).rows(|row: JobRow| {
        jobs.push(row);
        Ok(())
    })?;
    // The table is in the order of ends.
    jobs.sort_by_key(|row| row.job);
    Ok(jobs)
}

/// Returns the longest delay of a job and its cause, in words; empty without a delay.
fn why(run: &RunResults, job: u32) -> Result<String, ReadError> {
    let told = run.told()?;
    let Some(place) = told.jobs.iter().position(|one| one.row.job == job) else {
        return Ok(String::new());
    };
    let holders = told.holders();
    let mut explained = ExplainedJob::of(&told, place, &holders);
    explained.name_holders(&holders);
    let longest = explained.sums.iter().filter(|sum| sum.is_delay()).max_by_key(|sum| sum.ms);
    Ok(longest.map_or_else(String::new, |sum| {
        format!("; above all {}", sum.line(&told, explained.sojourn_ms))
    }))
}

/// Returns the first slot that two runs gave to different jobs, in words.
fn parting(runs: &[RunResults; 2], base: &str) -> Result<Option<String>, ReadError> {
    let Some(found) = FirstDifference::find([&runs[0], &runs[1]])? else { return Ok(None) };
    let names = jobs(&runs[0])?;
    let job = |slot: &Option<GivenSlot>| match slot {
        Some(slot) => {
            let name = names.iter().find(|row| row.job == slot.job);
            format!("to job {} (`{}`)", slot.job, name.map_or("", |row| row.name.as_str()))
        }
        None => "to no job".to_owned(),
    };
    let [own, other] = found.given.each_ref().map(job);
    let at = span(found.at() as f64 / 1e3);
    let (kind, number) = (found.kind.word(), found.number);
    Ok(Some(format!(
        "the decisions part at {at}: {kind} slot {number} goes {own}, and under `{base}` {other}"
    )))
}
