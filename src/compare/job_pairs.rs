//! The same job on two sides: how long it takes on each.

use indexmap::IndexMap;

use crate::side_table::{ChangeColumn, SideRow, SideTable};
use mumakil_base::statistics::quantile_of_sorted;
use mumakil_draw::page::{PageCell, PageColumn};
use mumakil_results::expect::Unit;
use mumakil_results::tables::{JobRow, RunJobs};

/// A job on two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobPair<'a> {
    /// Its row on each side.
    pub rows: [&'a JobRow; 2],
    /// Its index among the jobs of each side.
    pub places: [usize; 2],
    /// How many milliseconds it takes on each side.
    pub took: [u64; 2],
}

/// The jobs that two sides have.
#[derive(Clone, Debug)]
pub struct JobPairs<'a>(pub Vec<JobPair<'a>>);

/// The 5th percentile, the median and the 95th percentile.
pub type Spread = [f64; 3];

impl JobPair<'_> {
    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.rows[0].name
    }

    /// Returns how many milliseconds longer it takes on the second side; negative if shorter.
    pub fn by(&self) -> i64 {
        self.took[1] as i64 - self.took[0] as i64
    }

    /// Returns the same in seconds.
    pub fn difference(&self) -> f64 {
        self.by() as f64 / 1e3
    }

    /// Returns the time on the second side divided by that on the first; `None` if that is zero.
    pub fn ratio(&self) -> Option<f64> {
        let [first, other] = self.took;
        (0 < first).then(|| other as f64 / first as f64)
    }
}

impl<'a> JobPairs<'a> {
    /// Pairs the jobs of two sides by their names, or by their numbers if names repeat. Expressions
    /// of a study pair jobs in the same way. Each job comes with its time; without one it has no
    /// pair.
    pub fn of(sides: [Vec<(&'a JobRow, Option<u64>)>; 2]) -> Self {
        // Use names only if they are unique on both sides: both must have the same kind of key.
        let unique = sides.iter().all(|side| {
            let names: IndexMap<&str, ()> =
                side.iter().map(|(job, _)| (job.name.as_str(), ())).collect();
            names.len() == side.len()
        });
        let key = |job: &'a JobRow| if unique { (job.name.as_str(), 0) } else { ("", job.job) };
        let [first, other] = sides;
        let others: IndexMap<(&str, u32), (&JobRow, Option<u64>)> =
            other.into_iter().map(|(job, took)| (key(job), (job, took))).collect();
        let pairs = first.into_iter().enumerate().filter_map(|(place, (job, took))| {
            let (twin, _, (row, takes)) = others.get_full(&key(job))?;
            Some(JobPair { rows: [job, row], places: [place, twin], took: [took?, (*takes)?] })
        });
        Self(pairs.collect())
    }

    /// Pairs the jobs of two runs that succeeded in both, without those of the warm-up.
    pub fn measured(runs: [&'a RunJobs; 2]) -> Self {
        Self::of(runs.map(|run| {
            let with_time = run.all.iter().map(|job| {
                let counts = run.counts(job) && job.outcome.is_measured();
                (job, job.sojourn_ms.filter(|_| counts))
            });
            with_time.collect()
        }))
    }

    /// Returns the jobs in the order of their differences, the largest first. Equal differences stay
    /// in the order of the jobs.
    #[must_use]
    pub fn most_first(mut self) -> Self {
        self.0.sort_by_key(|pair| std::cmp::Reverse(pair.by().unsigned_abs()));
        self
    }

    /// Returns the jobs that differ.
    #[must_use]
    pub fn changes(mut self) -> Self {
        self.0.retain(|pair| pair.by() != 0);
        self
    }

    /// Returns the spread of the differences in seconds, and that of the ratios; `None` without jobs.
    pub fn spreads(&self) -> Option<[Spread; 2]> {
        let differences = spread(self.0.iter().map(JobPair::difference).collect())?;
        Some([differences, spread(self.0.iter().filter_map(JobPair::ratio).collect())?])
    }

    /// Returns the jobs side by side.
    pub fn table(
        &self,
        caption: impl Into<String>,
        sides: [&str; 2],
        changes: &'static [ChangeColumn],
    ) -> SideTable {
        let rows = self.0.iter().map(|pair| {
            let number = pair.rows[0].job;
            SideRow {
                keys: vec![
                    PageCell::number(number.into(), number.to_string()),
                    PageCell::text(pair.name()),
                ],
                unit: Unit::TIME,
                values: pair.took.map(|took| Some(took as f64 / 1e3)).into(),
                notes: Vec::new(),
            }
        });
        SideTable {
            caption: caption.into(),
            keys: vec![PageColumn::number("job"), PageColumn::text("name")],
            sides: sides.map(str::to_owned).into(),
            changes,
            rows: rows.collect(),
            notes: Vec::new(),
        }
    }
}

fn spread(mut values: Vec<f64>) -> Option<Spread> {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share| quantile_of_sorted(&values, share);
    Some([at(0.05)?, at(0.5)?, at(0.95)?])
}

/// Prints the three numbers of a spread.
pub fn spread_text(spread: Spread, show: impl Fn(f64) -> String) -> String {
    let [low, median, high] = spread.map(show);
    format!("p5 {low}, median {median}, p95 {high}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use mumakil_base::units::SimTime;
    use mumakil_results::tables::JobEnd;

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
        let JobPairs(pairs) = JobPairs::measured([&first, &other]);
        let [pair] = pairs[..] else { panic!("{pairs:?}") };
        assert_eq!((pair.name(), pair.places, pair.took), ("b", [1, 0], [20_000, 5_000]));
        assert_eq!((pair.difference(), pair.ratio()), (-15.0, Some(0.25)));
    }

    #[test]
    fn jobs_whose_names_repeat_are_paired_by_their_numbers() {
        let (first, other) = (jobs(&[("a", 10.0), ("a", 20.0)]), jobs(&[("a", 1.0), ("b", 2.0)]));
        let pairs = JobPairs::measured([&first, &other]);
        assert_eq!(pairs.0.iter().map(|pair| pair.took[1]).collect::<Vec<_>>(), [1_000, 2_000]);
    }

    #[test]
    fn a_job_that_did_not_succeed_or_does_not_count_has_no_pair() {
        let mut first = jobs(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]);
        first.all[0].sojourn_ms = None;
        first.warm_up = SimTime::from_micros(1);
        first.all[2].submit_ms = 1;
        first.all[3].submit_ms = 1;
        first.all[3].outcome = JobEnd::Killed;
        let other = jobs(&[("a", 1.0), ("b", 1.0), ("c", 3.0), ("d", 1.0)]);
        assert_eq!(JobPairs::measured([&first, &other]).0.len(), 1);
    }

    #[test]
    fn changes_begin_with_the_largest() {
        let first = jobs(&[("a", 10.0), ("b", 20.0), ("c", 30.0)]);
        let other = jobs(&[("a", 12.0), ("b", 20.0), ("c", 10.0)]);
        let changes = JobPairs::measured([&first, &other]).changes().most_first();
        assert_eq!(changes.0.iter().map(JobPair::name).collect::<Vec<_>>(), ["c", "a"]);
    }

    proptest! {
        #[test]
        fn a_run_beside_itself_has_no_changes(sojourns in prop::collection::vec(0.0..1e6, 0..40)) {
            let named: Vec<(String, f64)> =
                sojourns.iter().enumerate().map(|(i, s)| (i.to_string(), *s)).collect();
            let named: Vec<(&str, f64)> = named.iter().map(|(n, s)| (n.as_str(), *s)).collect();
            let jobs = jobs(&named);
            let pairs = JobPairs::measured([&jobs, &jobs]);
            prop_assert_eq!(pairs.0.len(), jobs.all.len());
            prop_assert!(pairs.spreads().is_none_or(|[_, ratios]| ratios == [1.0; 3]));
            prop_assert!(pairs.changes().0.is_empty());
        }
    }
}
