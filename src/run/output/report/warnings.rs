//! Warnings about jobs of a run: failed jobs and starved jobs.

use super::counted;
use mumakil_base::statistics::quantile;
use mumakil_draw::chart::AxisUnit;
use mumakil_results::tables::{JobEnd, JobRow};

/// The most jobs that a warning names; it counts the others.
// Chosen: a warning is one line; `jobs.csv` lists all jobs.
const NAMED: usize = 3;

/// A job starves if it waits this many times as long as the median job, and at least [`LONG`]
/// seconds. The second condition is for runs in which most jobs start at once: ten times their wait
/// is still short.
// Both chosen: ten times the median is unusual even in a full cluster, and ten minutes is Hadoop's
// own time-out for tasks and trackers.
const STARVED: f64 = 10.0;
const LONG: f64 = 600.0;

/// Returns the warnings. The run ended at second `until`.
pub(super) fn warnings(jobs: &[JobRow], until: f64) -> Vec<String> {
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
    ended.chain(starvation(jobs, until)).collect()
}

fn starvation(jobs: &[JobRow], until: f64) -> Option<String> {
    // A job without a launch waited until its own end or the end of the run.
    let waited = |job: &JobRow| {
        job.wait_s().or(job.sojourn_s()).unwrap_or((until - job.submit_s()).max(0.0))
    };
    // A refused job does not wait.
    let jobs = || jobs.iter().filter(|job| job.outcome != JobEnd::Refused);
    let waits: Vec<f64> = jobs().map(waited).collect();
    let median = quantile(&waits, 0.5)?;
    let mut starved: Vec<&JobRow> =
        jobs().filter(|job| (STARVED * median).max(LONG) < waited(job)).collect();
    // Sort by wait, the longest first, then by number, so that equal runs name the same jobs.
    starved.sort_by(|a, b| waited(b).total_cmp(&waited(a)).then(a.job.cmp(&b.job)));
    let longest = waited(starved.first()?);
    Some(format!(
        "{} starved: waited for a first slot ten times as long as the median job ({}), and up to \
         {}: {}.",
        counted(starved.len() as u64, "job"),
        AxisUnit::Seconds.text(median),
        AxisUnit::Seconds.text(longest),
        named(&starved)
    ))
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
    fn a_job_that_waits_much_longer_than_others_starves() {
        let mut jobs: Vec<JobRow> = (0..9).map(|id| job(id, Some(20), JobEnd::Succeeded)).collect();
        assert_eq!(warnings(&jobs, 5e3), Vec::<String>::new());
        jobs.push(job(9, Some(599), JobEnd::Succeeded));
        assert_eq!(warnings(&jobs, 5e3), Vec::<String>::new(), "599 s is not long");
        jobs.push(job(10, Some(601), JobEnd::Succeeded));
        jobs.push(job(11, None, JobEnd::Unfinished));
        assert_eq!(
            warnings(&jobs, 5e3),
            [
                "1 job left unfinished: `j11`.",
                "2 jobs starved: waited for a first slot ten times as long as the median job \
                 (20 s), and up to 1 h 23 min: `j11`, `j10`.",
            ]
        );
    }

    #[test]
    fn a_refused_job_is_named_and_starves_not() {
        let mut jobs: Vec<JobRow> = (0..2).map(|id| job(id, Some(20), JobEnd::Succeeded)).collect();
        jobs.push(job(2, None, JobEnd::Refused));
        assert_eq!(warnings(&jobs, 5e3), ["1 job refused at submission: `j2`."]);
    }

    #[test]
    fn only_a_few_jobs_are_named() {
        let jobs: Vec<JobRow> = (0..5).map(|id| job(id, Some(1), JobEnd::Failed)).collect();
        assert_eq!(warnings(&jobs, 9.0), ["5 jobs failed: `j0`, `j1`, `j2` and 2 more."]);
    }
}
