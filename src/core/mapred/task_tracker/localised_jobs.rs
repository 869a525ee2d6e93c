//! The jobs whose files a tracker has copied to its node.
//!
//! The first attempts of a job on a tracker wait until the job's files are there; the start-up time
//! of an attempt contains that wait. Later attempts are spared it.

use crate::mapred::ids::JobId;
use mumakil_base::units::{SimSpan, SimTime};

/// A tracker remembers at most this many jobs. If as many others have run there since, the files of
/// a job are copied again; without a bound, each tracker would remember every job of a trace.
const MOST: usize = 256;

/// The jobs whose files are on the node of a tracker, or are on their way.
#[derive(Debug, Default)]
pub(super) struct LocalisedJobs {
    /// Each job with the instant at which its files are there, the one that was used last at the
    /// end.
    jobs: Vec<(JobId, SimTime)>,
    /// The newest job that has run here.
    newest: Option<JobId>,
}

impl LocalisedJobs {
    /// Returns how much of `whole`, the time that copying a job's files takes, an attempt is spared
    /// that starts now. If the files are not on their way yet, it copies them.
    pub(super) fn spares(&mut self, job: JobId, now: SimTime, whole: SimSpan) -> SimSpan {
        if whole.is_zero() {
            return SimSpan::ZERO;
        }
        // Do not search for a job that is newer than all; others are most often among the last.
        if Some(job) <= self.newest
            && let Some(place) = self.jobs.iter().rposition(|(known, _)| *known == job)
        {
            self.jobs[place..].rotate_left(1);
            let there = self.jobs.last().map_or(now, |(_, there)| *there);
            return whole.saturating_sub(there.saturating_since(now));
        }
        if self.jobs.len() == MOST {
            self.jobs.drain(..MOST / 2);
        }
        self.jobs.push((job, now + whole));
        self.newest = self.newest.max(Some(job));
        SimSpan::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> SimTime {
        SimTime::from_micros(secs * 1_000_000)
    }

    #[test]
    fn the_first_attempts_of_a_job_wait_for_its_files_and_later_ones_do_not() {
        let (mut jobs, secs) = (LocalisedJobs::default(), SimSpan::from_secs);
        let mut spares = |job, second| jobs.spares(JobId(job), at(second), secs(4));
        assert_eq!(spares(0, 10), secs(0), "the first attempt waits");
        assert_eq!(spares(0, 11), secs(1), "the second one waits for the rest");
        assert_eq!(spares(1, 12), secs(0), "another job has other files");
        assert_eq!(spares(0, 14), secs(4));
        assert_eq!(spares(0, 99), secs(4));
        jobs = LocalisedJobs::default();
        assert_eq!(jobs.spares(JobId(0), at(100), secs(4)), secs(0));
        assert_eq!(jobs.spares(JobId(7), at(100), secs(0)), secs(0));
    }

    #[test]
    fn a_job_in_use_is_remembered_however_many_others_come() {
        let (mut jobs, whole) = (LocalisedJobs::default(), SimSpan::from_secs(1));
        let mut spares = |job, second| jobs.spares(JobId(job), at(second), whole);
        spares(0, 0);
        for other in 1..10_000 {
            assert_eq!(spares(other, 10), SimSpan::ZERO, "{other}");
            if other % 100 == 0 {
                assert_eq!(spares(0, 10), whole, "{other}");
            }
        }
        assert_eq!(spares(1, 20), SimSpan::ZERO, "forgotten long ago");
    }
}
