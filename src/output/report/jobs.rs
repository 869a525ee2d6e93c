//! The jobs of a run, read back, and grouped by class.

use indexmap::IndexMap;

use crate::expect::{ReadError, Results, Row, Table};

const COLUMNS: [&str; 16] = [
    "job",
    "name",
    "user",
    "pool",
    "class",
    "maps",
    "reduces",
    "submit_ms",
    "wait_ms",
    "sojourn_ms",
    "node_local",
    "rack_local",
    "off_rack",
    "failed",
    "killed",
    "outcome",
];

/// A job, with times in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobRow {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its pool; may be empty.
    pub pool: String,
    /// Its class; may be empty.
    pub class: String,
    /// How many maps it has.
    pub maps: u32,
    /// How many reduces it has.
    pub reduces: u32,
    /// When it was submitted.
    pub submit: f64,
    /// From there to its first launch.
    pub wait: Option<f64>,
    /// From there to its end.
    pub sojourn: Option<f64>,
    /// Its maps that succeeded on the node, in the rack and elsewhere.
    pub local: [f64; 3],
    /// How many of its attempts failed.
    pub failed: u32,
    /// How many of its attempts were killed.
    pub killed: u32,
    /// How it ended, or `unfinished`.
    pub outcome: String,
    /// Whether it came after the warm-up, so that statistics have it.
    pub is_counted: bool,
}

impl JobRow {
    fn of(row: &Row<'_>, warm_up: f64) -> Result<Self, String> {
        let seconds = |column| Ok::<_, String>(row.number(column)?.map(|millis| millis / 1e3));
        let count = |column| Ok::<_, String>(row.number(column)?.unwrap_or_default());
        let submit = seconds(7)?.unwrap_or_default();
        Ok(Self {
            id: row.id(0)?,
            name: row.text(1).to_owned(),
            user: row.text(2).to_owned(),
            pool: row.text(3).to_owned(),
            class: row.text(4).to_owned(),
            maps: row.id(5)?,
            reduces: row.id(6)?,
            submit,
            wait: seconds(8)?,
            sojourn: seconds(9)?,
            local: [count(10)?, count(11)?, count(12)?],
            failed: row.id(13)?,
            killed: row.id(14)?,
            outcome: row.text(15).to_owned(),
            is_counted: warm_up <= submit,
        })
    }
}

/// Reads the jobs of a run, in the order of their numbers.
///
/// # Errors
/// If they cannot be read.
pub fn read_jobs(results: &dyn Results) -> Result<Vec<JobRow>, ReadError> {
    let warm_up = results.warm_up()?.as_secs_f64();
    let mut jobs = Vec::new();
    results.rows(Table::Jobs, &COLUMNS, &mut |row| {
        jobs.push(JobRow::of(row, warm_up)?);
        Ok(())
    })?;
    Ok(jobs)
}

/// Returns the sojourn times of the jobs that count, by class, in the order in which classes come.
pub fn sojourns_by_class(jobs: &[JobRow]) -> IndexMap<&str, Vec<f64>> {
    let mut classes: IndexMap<&str, Vec<f64>> = IndexMap::new();
    for job in jobs.iter().filter(|job| job.is_counted) {
        classes.entry(&job.class).or_default().extend(job.sojourn);
    }
    classes.retain(|_, sojourns| !sojourns.is_empty());
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_the_warm_up_is_in_no_class() {
        let job = |class: &str, sojourn, is_counted| JobRow {
            class: class.to_owned(),
            sojourn: Some(sojourn),
            is_counted,
            ..JobRow::default()
        };
        let jobs = [job("small", 1.0, false), job("large", 90.0, true)];
        assert_eq!(sojourns_by_class(&jobs), IndexMap::from([("large", vec![90.0])]));
    }
}
