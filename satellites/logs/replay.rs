//! A scenario, run with several seeds beside each other: the times of its jobs in each run.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use mumakil_cli::failure::Failure;
use mumakil_cli::progress::StudyBar;
use mumakil_cli::run;
use mumakil_core::cluster::PerSlot;
use mumakil_core::mapred::{Event, Fact, LedgerFact, Role, TaskKind};
use mumakil_results::tables::JobRow;
use mumakil_run::emulation::{Options, Prepared};
use mumakil_run::record::{RecordError, RunBooks, RunEnd, Watcher, job_row};
use mumakil_scenario::Registry;

/// The jobs of a run, by their numbers.
#[derive(Debug, Default)]
pub(super) struct SeedRun {
    pub(super) jobs: Vec<JobRow>,
    /// When the maps and the reduces of each job were first assigned, in milliseconds, the earliest
    /// first.
    pub(super) assigned: Vec<PerSlot<Vec<u64>>>,
}

impl SeedRun {
    /// Runs a scenario with a seed. Nothing of it is written.
    ///
    /// # Errors
    /// If the run does not end.
    pub(super) fn of(
        prepared: &Prepared,
        seed: u64,
        registry: &Registry,
        options: Options,
    ) -> Result<Self, Failure> {
        let mut seeded = prepared.clone();
        seeded.scenario.seed = seed;
        let jobs = Arc::new(Mutex::new(Self::default()));
        let watchers: Vec<Box<dyn Watcher>> = vec![Box::new(jobs.clone())];
        let emulated = seeded.emulate(registry, Options { watchers, ..options })?;
        run::verdict(&seeded, &emulated)?;
        Ok(std::mem::take(&mut *jobs.lock()))
    }
}

impl Watcher for SeedRun {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        if let Fact::Ledger(attempt, _, LedgerFact::Assigned { role: Role::Work, .. }) = event.fact
            && attempt.number == 0
            && matches!(attempt.task.kind, TaskKind::Map | TaskKind::Reduce)
        {
            let assigned = &mut self.assigned;
            let job = attempt.task.job.index();
            assigned.resize_with(assigned.len().max(job + 1), PerSlot::default);
            assigned[job][attempt.slot()].push(event.at.as_millis());
        }
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.jobs = end.books.jobs().map(job_row).collect();
        Ok(())
    }
}

/// Does work of which each piece stands alone on all processors; returns the results in order.
pub(super) fn in_parallel<T: Send>(
    count: usize,
    bar: &StudyBar,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(count);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    bar.more(count);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if count <= piece {
                        return;
                    }
                    let result = work(piece);
                    done.lock().push((piece, result));
                    bar.tick();
                }
            });
        }
    });
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|(piece, _)| *piece);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The jobs of runs that differ in their seed alone.
#[derive(Debug)]
pub(super) struct SeededJobs {
    /// Each job with the means of its instants. It has succeeded if it did in each run.
    pub(super) means: Vec<JobRow>,
    /// The shortest and the longest sojourn of each job, in milliseconds, by its name.
    pub(super) ranges: FxHashMap<String, [u64; 2]>,
    pub(super) runs: usize,
}

impl SeededJobs {
    /// Returns the jobs of some runs, of which there is at least one.
    pub(super) fn of(runs: &[Vec<JobRow>]) -> Self {
        let (first, others) = runs.split_first().expect("a run");
        let mut found = Self { means: Vec::new(), ranges: FxHashMap::default(), runs: runs.len() };
        for (place, row) in first.iter().enumerate() {
            let same = others.iter().filter_map(|run| run.get(place));
            let rows: Vec<&JobRow> = [row].into_iter().chain(same).collect();
            let sojourns = rows.iter().filter_map(|row| row.sojourn_ms);
            if let Some(range) = sojourns.clone().min().zip(sojourns.max()) {
                found.ranges.insert(row.name.to_string(), range.into());
            }
            found.means.push(mean_row(&rows));
        }
        found
    }
}

/// Returns the row of a job with the means of its instants in some runs.
fn mean_row(rows: &[&JobRow]) -> JobRow {
    let worse = rows.iter().find(|row| !row.outcome.is_measured()).unwrap_or(&rows[0]);
    let mut row = rows[0].clone();
    row.submit_ms = mean_of(rows, |row| Some(row.submit_ms)).unwrap_or(row.submit_ms);
    row.first_launch_ms = mean_of(rows, |row| row.first_launch_ms);
    row.maps_done_ms = mean_of(rows, |row| row.maps_done_ms);
    row.finish_ms = mean_of(rows, |row| row.finish_ms);
    row.sojourn_ms = row.finish_ms.and_then(|finish| finish.checked_sub(row.submit_ms));
    row.outcome = worse.outcome;
    row
}

/// Returns the mean of an instant in milliseconds; `None` if a run does not have it.
fn mean_of(rows: &[&JobRow], instant: fn(&JobRow) -> Option<u64>) -> Option<u64> {
    let all = rows.iter().map(|row| instant(row)).collect::<Option<Vec<u64>>>()?;
    let sum: u128 = all.iter().map(|at| u128::from(*at)).sum();
    Some(((sum + all.len() as u128 / 2) / all.len() as u128) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::tables::JobEnd;

    #[test]
    fn the_runs_of_a_job_have_a_mean_and_a_range() {
        let run = |finish: u64, outcome| {
            let (finish_ms, sojourn_ms) = (Some(finish), Some(finish - 100));
            let name = "a".into();
            vec![JobRow {
                name,
                submit_ms: 100,
                finish_ms,
                sojourn_ms,
                outcome,
                ..JobRow::default()
            }]
        };
        let jobs = SeededJobs::of(&[
            run(1_000, JobEnd::Succeeded),
            run(1_300, JobEnd::Succeeded),
            run(1_001, JobEnd::Succeeded),
        ]);
        assert_eq!((jobs.means[0].finish_ms, jobs.ranges["a"]), (Some(1_100), [900, 1_200]));
        let one_fails = SeededJobs::of(&[run(900, JobEnd::Succeeded), run(900, JobEnd::Failed)]);
        assert_eq!(one_fails.means[0].outcome, JobEnd::Failed);
    }
}
