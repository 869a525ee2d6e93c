//! Warnings about jobs of a run that did not succeed.

use super::counted;
use mumakil_results::tables::{JobEnd, JobRow};

/// The most jobs that a warning names; it counts the others.
// Chosen: a warning is one line; `jobs.csv` lists all jobs.
const NAMED: usize = 3;

/// Returns the warnings.
pub(super) fn warnings(jobs: &[JobRow]) -> Vec<String> {
    let ends = [
        (JobEnd::Failed, "failed"),
        (JobEnd::Killed, "killed"),
        (JobEnd::Refused, "refused at submission"),
        (JobEnd::Unfinished, "left unfinished"),
    ];
    let ended = ends.into_iter().filter_map(|(outcome, what)| {
        let found: Vec<&JobRow> = jobs.iter().filter(|job| job.outcome == outcome).collect();
        (!found.is_empty())
            .then(|| format!("{} {what}: {}.", counted(found.len() as u64, "job"), named(&found)))
    });
    ended.collect()
}

/// Returns the names of the first [`NAMED`] jobs, and the number of the others.
fn named(jobs: &[&JobRow]) -> String {
    let names: Vec<String> = jobs.iter().take(NAMED).map(|job| format!("`{}`", job.name)).collect();
    match jobs.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(job: u32, wait_s: Option<u64>, outcome: JobEnd) -> JobRow {
        let (name, wait_ms) = (format!("j{job}").into(), wait_s.map(|wait| wait * 1_000));
        JobRow { job, name, wait_ms, outcome, ..JobRow::default() }
    }

    #[test]
    fn a_refused_job_is_named() {
        let mut jobs: Vec<JobRow> = (0..2).map(|id| job(id, Some(20), JobEnd::Succeeded)).collect();
        jobs.push(job(2, None, JobEnd::Refused));
        assert_eq!(warnings(&jobs), ["1 job refused at submission: `j2`."]);
    }

    #[test]
    fn only_a_few_jobs_are_named() {
        let jobs: Vec<JobRow> = (0..5).map(|id| job(id, Some(1), JobEnd::Failed)).collect();
        assert_eq!(warnings(&jobs), ["5 jobs failed: `j0`, `j1`, `j2` and 2 more."]);
    }
}
