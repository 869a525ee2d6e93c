//! The groups of jobs that a page distinguishes (pools, users, jobs or classes), and their colours.
//!
//! All charts of a page share one [`JobGroups`], so a pool, user, job or class has one colour on
//! the whole page. Runs of the same jobs give the same groups and colours, so their reports can be
//! compared.

use indexmap::{IndexMap, IndexSet};

use mumakil_draw::chart::{SeriesLook, SeriesStyles};
use mumakil_results::tables::JobRow;

/// The number of names that get a colour of their own. With more jobs, charts are by class instead
/// of by job.
// The number of colours in the chart's palette.
const FEW: usize = 8;

/// The groups of the jobs of a page, and the look of every name on the page.
#[derive(Clone, Debug)]
pub struct JobGroups {
    by: GroupBy,
    names: IndexSet<String>,
    looks: SeriesStyles,
}

/// The property by which jobs are grouped: pool if the jobs have several pools, else user if they
/// have several users, else job if there are few jobs, else class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupBy {
    Pool,
    User,
    Job,
    Class,
}

impl GroupBy {
    fn of(self, job: &JobRow) -> &str {
        match self {
            Self::Pool => &job.pool,
            Self::User => &job.user,
            Self::Job => &job.name,
            Self::Class => &job.class,
        }
    }
}

impl JobGroups {
    /// Returns the groups of the jobs of some runs; the groups of the first run come first.
    pub fn of<'j>(runs: impl IntoIterator<Item = &'j [JobRow]>) -> Self {
        let jobs: Vec<&JobRow> = runs.into_iter().flatten().collect();
        // One pool for all jobs, as under FIFO, distinguishes nothing: try the next property.
        let telling = [GroupBy::Pool, GroupBy::User].into_iter().find(|by| {
            let mut names = jobs.iter().map(|job| by.of(job));
            let first = names.next();
            names.any(|name| Some(name) != first)
        });
        let numbers: IndexSet<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        let by = match telling {
            Some(by) => by,
            // Group by job only if there is a colour for each job.
            None if numbers.len() <= FEW => GroupBy::Job,
            None => GroupBy::Class,
        };
        let names = in_order(&jobs, by);
        let mut looks = SeriesStyles::default();
        looks.add(names.iter().map(String::as_str));
        Self { by, names, looks }
    }

    /// Returns the groups with looks for the classes of jobs as well.
    pub fn with_classes(mut self, jobs: &[JobRow]) -> Self {
        self.looks.add(in_order(&jobs.iter().collect::<Vec<_>>(), GroupBy::Class));
        self
    }

    /// Returns the word for a group: `pool`, `user`, `job` or `class`.
    pub const fn word(&self) -> &'static str {
        match self.by {
            GroupBy::Pool => "pool",
            GroupBy::User => "user",
            GroupBy::Job => "job",
            GroupBy::Class => "class",
        }
    }

    /// Returns the names of the groups, in the order of their looks.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the index of a job's group.
    ///
    /// # Panics
    /// If the job belongs to none of the runs given to [`JobGroups::of`].
    pub fn number(&self, job: &JobRow) -> usize {
        self.names.get_index_of(self.by.of(job)).expect("each job belongs to a group")
    }

    /// Returns the look of a name on the page: a group, a class or an added name.
    pub fn look(&self, name: &str) -> SeriesLook {
        self.looks.of(name)
    }

    /// Adds further names, such as names of runs, each with a look of its own.
    pub fn add<S: Into<String>>(&mut self, names: impl IntoIterator<Item = S>) {
        self.looks.add(names);
    }
}

/// Returns the names in the order of the jobs. If there are more names than colours, names with the
/// most tasks come first, since the number of tasks does not depend on the policy.
fn in_order(jobs: &[&JobRow], by: GroupBy) -> IndexSet<String> {
    let mut tasks: IndexMap<&str, u64> = IndexMap::new();
    for job in jobs {
        *tasks.entry(by.of(job)).or_default() += u64::from(job.maps) + u64::from(job.reduces);
    }
    if FEW < tasks.len() {
        // A stable sort: of two names with equally many tasks, the earlier name comes first.
        tasks.sort_by(|_, a, _, b| b.cmp(a));
    }
    tasks.into_keys().map(str::to_owned).collect()
}

/// Returns the label of a group; the empty name means all jobs, or jobs without a class.
pub(super) fn called<'n>(name: &'n str, word: &str) -> &'n str {
    match (name, word) {
        ("", "class") => "no class",
        ("", _) => "all jobs",
        (name, _) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::tables::CellText;

    fn job(name: &str, pool: &str, user: &str, maps: u32) -> JobRow {
        let class = if maps < 10 { "small" } else { "large" };
        let [name, pool, user, class] = [name, pool, user, class].map(CellText::from);
        JobRow { name, pool, user, class, maps, ..JobRow::default() }
    }

    fn of(jobs: &[JobRow]) -> (&'static str, Vec<String>) {
        let parties = JobGroups::of([jobs]);
        (parties.word(), parties.names().map(str::to_owned).collect())
    }

    fn many(count: u32, pool: &str) -> Vec<JobRow> {
        (0..count).map(|i| job(&format!("j{i}"), pool, "u", i)).collect()
    }

    #[test]
    fn jobs_are_told_apart_by_pool_or_user_or_name_or_class() {
        assert_eq!(of(&[job("a", "p", "u", 1), job("b", "q", "u", 1)]).0, "pool");
        assert_eq!(of(&[job("a", "p", "u", 1), job("b", "p", "v", 1)]).0, "user");
        assert_eq!(of(&many(8, "p")).0, "job");
        assert_eq!(of(&many(9, "p")), ("class", ["small"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_name_has_one_look_in_all_charts_and_in_both_of_two_runs() {
        let [a, b, c] = [job("a", "p", "u", 3), job("b", "q", "u", 30), job("c", "r", "u", 5)];
        let (fifo, fair) = ([a.clone(), b.clone()], [b.clone(), a.clone(), c]);
        let one = JobGroups::of([&fifo[..]]).with_classes(&fifo);
        let both = JobGroups::of([&fifo[..], &fair[..]]).with_classes(&fair);
        for name in ["p", "q"] {
            assert_eq!(one.look(name), both.look(name), "{name}");
        }
        let looks: IndexSet<usize> =
            ["p", "q", "r", "small", "large"].map(|name| both.look(name).0).into_iter().collect();
        assert_eq!(looks.len(), 5, "no two names have the same look");
        assert_eq!((both.number(&fair[0]), both.look("q")), (1, SeriesLook(1)));
    }

    #[test]
    fn of_more_pools_than_colours_those_with_most_tasks_come_first() {
        let jobs: Vec<JobRow> =
            (0..9).map(|i| job("j", &format!("p{i}"), "u", if i == 8 { 99 } else { 5 })).collect();
        assert_eq!(of(&jobs).1[..3], ["p8", "p0", "p1"]);
        assert_eq!(of(&jobs[..8]).1[0], "p0");
    }

    #[test]
    fn runs_get_looks_behind_those_of_pools() {
        let mut parties = JobGroups::of([&[job("a", "p", "u", 3), job("b", "q", "u", 3)][..]]);
        parties.add(["fifo", "fair"]);
        assert_eq!(["fifo", "fair"].map(|name| parties.look(name)), [SeriesLook(2), SeriesLook(3)]);
    }
}
