//! Jobs that are not in the order of their submission, and ids that several jobs have.
//!
//! Hadoop's `TraceBuilder` lists jobs as it finds their files, and its `Folder` makes one job of
//! the trace into several with the same id.

use rustc_hash::FxHashMap;

use super::record::LoggedJob;

/// Sorts jobs by their submission; jobs of the same instant keep their order. Returns how many of
/// them stood after a job that was submitted later.
///
/// The jobs of a trace are in memory anyway, so sorting them there costs least: a trace that is
/// sorted is only walked.
pub(super) fn sort_by<T>(jobs: &mut [T], submitted: impl Fn(&T) -> u64) -> u64 {
    let mut latest = 0;
    let latecomers = jobs.iter().map(&submitted).filter(|at| {
        latest = latest.max(*at);
        *at < latest
    });
    let late = latecomers.count() as u64;
    if 0 < late {
        jobs.sort_by_key(submitted);
    }
    late
}

/// Returns a note about jobs that were sorted; `None` if they were in order.
pub(super) fn told_order(late: u64) -> Option<String> {
    let what = match late {
        0 => return None,
        1 => "1 job of the trace stands".to_owned(),
        late => format!("{late} jobs of the trace stand"),
    };
    Some(format!("{what} after a job that was submitted later, so the jobs are sorted"))
}

/// The ids that several jobs have.
#[derive(Debug, Default)]
pub struct RepeatedIds {
    /// How often each id has come so far.
    met: FxHashMap<String, u32>,
    renamed: u64,
}

impl RepeatedIds {
    /// Gives a job a name of its own if a job before it has the same id: the id and a number.
    pub fn rename(&mut self, job: &mut LoggedJob) {
        let Some(times) = self.met.get_mut(&job.job_id) else {
            self.met.insert(job.job_id.clone(), 1);
            return;
        };
        let id = job.job_id.clone();
        *times += 1;
        let mut number = *times;
        self.renamed += 1;
        job.job_id = format!("{id}-{number}");
        // The trace may have that id as well.
        while self.met.contains_key(&job.job_id) {
            number += 1;
            job.job_id = format!("{id}-{number}");
        }
        self.met.insert(id, number);
        self.met.insert(job.job_id.clone(), 1);
    }

    /// Returns a note about jobs that were renamed; `None` if there are none.
    pub(super) fn note(&self) -> Option<String> {
        let what = match self.renamed {
            0 => return None,
            1 => "1 job of the trace has the id of another one and is".to_owned(),
            many => format!("{many} jobs of the trace have the ids of others and are"),
        };
        Some(format!("{what} numbered"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_sorted_and_those_of_one_instant_keep_their_order() {
        let mut jobs = [(5, 'a'), (4, 'b'), (5, 'c'), (4, 'd'), (6, 'e')];
        assert_eq!(sort_by(&mut jobs, |job| job.0), 2);
        assert_eq!(jobs.map(|job| job.1), ['b', 'd', 'a', 'c', 'e']);
        assert_eq!(sort_by(&mut jobs, |job| job.0), 0);
    }

    #[test]
    fn a_repeated_id_gets_a_number() {
        let mut repeats = RepeatedIds::default();
        let mut rename = |id: &str| {
            let mut job = LoggedJob { job_id: id.to_owned(), ..LoggedJob::default() };
            repeats.rename(&mut job);
            job.job_id
        };
        let names = ["a", "a-2", "a", "b", "a"].map(&mut rename);
        assert_eq!(names, ["a", "a-2", "a-3", "b", "a-4"]);
        assert_eq!(
            repeats.note().as_deref(),
            Some("2 jobs of the trace have the ids of others and are numbered")
        );
    }
}
