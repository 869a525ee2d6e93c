//! Job by job: the sojourn time of each job in two runs, of the jobs that succeeded in both.

use indexmap::IndexMap;

use crate::statistics::quantile_of_sorted;
use crate::tables::{JobRow, RunJobs};

/// A job that succeeded in both runs, with its sojourn times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobPair<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its sojourn in the first run.
    pub(super) first: f64,
    /// Its sojourn in the other run.
    pub(super) other: f64,
}

/// The jobs that succeeded in both of two runs.
#[derive(Clone, Debug)]
pub(super) struct Pairs<'a>(pub(super) Vec<JobPair<'a>>);

/// The 5th percentile, the median and the 95th percentile.
pub(super) type Spread = [f64; 3];

impl JobPair<'_> {
    /// Returns how much longer the job took in the other run, in seconds; negative if shorter.
    pub(super) fn difference(&self) -> f64 {
        self.other - self.first
    }

    /// Returns the sojourn in the other run divided by that in the first; `None` if the first is
    /// zero.
    pub(super) fn ratio(&self) -> Option<f64> {
        (0.0 < self.first).then(|| self.other / self.first)
    }
}

impl<'a> Pairs<'a> {
    /// Pairs jobs by their names, or by their numbers if names repeat. Leaves out the jobs of the
    /// warm-up. Expressions of a study pair jobs in the same way.
    pub(super) fn new(first: &'a RunJobs, other: &'a RunJobs) -> Self {
        let sojourns = |jobs: &'a RunJobs| {
            jobs.counted().filter_map(|job| Some((job, job.measured_s()?))).collect::<Vec<_>>()
        };
        let by_name = |jobs: &'a RunJobs| -> IndexMap<&str, u32> {
            jobs.all.iter().map(|job| (job.name.as_str(), job.job)).collect()
        };
        let are_unique = |jobs: &'a RunJobs| by_name(jobs).len() == jobs.all.len();
        // Use names only if they are unique in both runs: both must have the same kind of key.
        let unique = are_unique(first) && are_unique(other);
        let key = |job: &'a JobRow| if unique { (job.name.as_str(), 0) } else { ("", job.job) };
        let others: IndexMap<(&str, u32), f64> =
            sojourns(other).into_iter().map(|(job, sojourn)| (key(job), sojourn)).collect();
        let pair = |(job, first): (&'a JobRow, f64)| {
            Some(JobPair { name: &job.name, first, other: *others.get(&key(job))? })
        };
        Self(sojourns(first).into_iter().filter_map(pair).collect())
    }

    /// Returns how many jobs that count did not succeed in one of the runs: they have no pair.
    pub(super) fn unsuccessful(jobs: &RunJobs) -> usize {
        jobs.counted().filter(|job| job.measured_s().is_none()).count()
    }

    /// Returns the number of jobs that were faster in the other run.
    pub(super) fn faster(&self) -> usize {
        self.0.iter().filter(|pair| pair.difference() < 0.0).count()
    }

    /// Returns the number of jobs that were slower in the other run.
    pub(super) fn slower(&self) -> usize {
        self.0.iter().filter(|pair| 0.0 < pair.difference()).count()
    }

    /// Returns the spread of the differences; `None` without jobs.
    pub(super) fn differences(&self) -> Option<Spread> {
        spread(self.0.iter().map(JobPair::difference).collect())
    }

    /// Returns the spread of the ratios; `None` without jobs.
    pub(super) fn ratios(&self) -> Option<Spread> {
        spread(self.0.iter().filter_map(JobPair::ratio).collect())
    }

    /// Returns the jobs that differ, the largest differences first.
    pub(super) fn changes(&self) -> Vec<&JobPair<'a>> {
        let mut changed: Vec<&JobPair<'a>> =
            self.0.iter().filter(|pair| pair.difference() != 0.0).collect();
        // The sort is stable: equal differences stay in the order of the jobs.
        changed.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
        changed
    }
}

fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share| quantile_of_sorted(&values, share);
    Some([at(0.05)?, at(0.5)?, at(0.95)?])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tables::JobEnd;
    use crate::units::SimTime;

    fn jobs(sojourns: &[(&str, f64)]) -> RunJobs {
        let job = |(job, (name, sojourn)): (u32, &(&str, f64))| JobRow {
            job,
            name: (*name).into(),
            sojourn_ms: Some((sojourn * 1e3).round() as u64),
            outcome: JobEnd::Succeeded,
            ..JobRow::default()
        };
        RunJobs { all: (0..).zip(sojourns).map(job).collect(), ..RunJobs::default() }
    }

    #[test]
    fn jobs_are_paired_by_their_names() {
        let (first, other) = (jobs(&[("a", 10.0), ("b", 20.0)]), jobs(&[("b", 5.0), ("c", 1.0)]));
        let pairs = Pairs::new(&first, &other);
        assert_eq!(pairs.0, [JobPair { name: "b", first: 20.0, other: 5.0 }]);
        assert_eq!((pairs.0[0].difference(), pairs.0[0].ratio()), (-15.0, Some(0.25)));
    }

    #[test]
    fn jobs_whose_names_repeat_are_paired_by_their_numbers() {
        let (first, other) = (jobs(&[("a", 10.0), ("a", 20.0)]), jobs(&[("a", 1.0), ("b", 2.0)]));
        let pairs = Pairs::new(&first, &other);
        assert_eq!(pairs.0.iter().map(|pair| pair.other).collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn what_did_not_succeed_or_does_not_count_has_no_pair() {
        let mut first = jobs(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]);
        first.all[0].sojourn_ms = None;
        first.warm_up = SimTime::from_micros(1);
        first.all[2].submit_ms = 1;
        first.all[3].submit_ms = 1;
        first.all[3].outcome = JobEnd::Killed;
        let other = jobs(&[("a", 1.0), ("b", 1.0), ("c", 3.0), ("d", 1.0)]);
        assert_eq!(Pairs::new(&first, &other).0.len(), 1);
    }

    #[test]
    fn changes_begin_with_the_largest() {
        let first = jobs(&[("a", 10.0), ("b", 20.0), ("c", 30.0)]);
        let other = jobs(&[("a", 12.0), ("b", 20.0), ("c", 10.0)]);
        let pairs = Pairs::new(&first, &other);
        let names: Vec<&str> = pairs.changes().iter().map(|pair| pair.name).collect();
        assert_eq!(names, ["c", "a"]);
        assert_eq!((pairs.faster(), pairs.slower()), (1, 1));
    }

    proptest! {
        #[test]
        fn a_run_beside_itself_has_no_changes(sojourns in prop::collection::vec(0.0..1e6, 0..40)) {
            let named: Vec<(String, f64)> =
                sojourns.iter().enumerate().map(|(i, s)| (i.to_string(), *s)).collect();
            let named: Vec<(&str, f64)> = named.iter().map(|(n, s)| (n.as_str(), *s)).collect();
            let jobs = jobs(&named);
            let pairs = Pairs::new(&jobs, &jobs);
            prop_assert_eq!(pairs.0.len(), jobs.all.len());
            prop_assert!(pairs.changes().is_empty());
            prop_assert!(pairs.ratios().is_none_or(|spread| spread == [1.0; 3]));
        }
    }
}
