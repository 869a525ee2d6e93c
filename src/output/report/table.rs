//! The table of jobs.

use super::count;
use super::jobs::JobRow;
use crate::chart::Unit;
use crate::page::{Cell, Column, Table};

/// It has so many rows: a page with all of a large trace would be slow.
const MOST: usize = 1_000;

/// Returns the jobs in the order of their numbers.
pub(super) fn jobs(jobs: &[JobRow]) -> Table {
    let caption = match jobs.len() {
        ..=MOST => "All jobs".to_owned(),
        _ => format!("The first {} jobs; jobs.csv has all", count(MOST as f64)),
    };
    let texts = ["Name", "Pool", "Class"].map(Column::text);
    let numbers =
        ["Maps", "Reduces", "Submitted", "Wait", "Sojourn", "Node-local", "Attempts lost"];
    let columns = texts.into_iter().chain(numbers.map(|title| Column::number(title, None)));
    Table {
        caption,
        columns: columns.chain([Column::text("Outcome")]).collect(),
        rows: jobs.iter().take(MOST).map(row).collect(),
    }
}

fn row(job: &JobRow) -> Vec<Cell> {
    let number = |number: u32| Cell::number(number.into(), count(number));
    let seconds = |value: Option<f64>| {
        value.map_or_else(Cell::unknown, |value| Cell::number(value, Unit::Seconds.text(value)))
    };
    let maps: f64 = job.local.iter().sum();
    let local = match job.local[0] / maps {
        share if share.is_finite() => Cell::number(share, Unit::Share.text(share)),
        _ => Cell::unknown(),
    };
    vec![
        Cell::text(&job.name),
        Cell::text(&job.pool),
        Cell::text(&job.class),
        number(job.maps),
        number(job.reduces),
        seconds(Some(job.submit)),
        seconds(job.wait),
        seconds(job.sojourn),
        local,
        number(job.failed + job.killed),
        Cell::text(&job.outcome),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_table_ends_early_and_says_so() {
        let table = jobs(&vec![JobRow::default(); MOST + 1]);
        assert_eq!(
            (table.rows.len(), table.caption.as_str()),
            (MOST, "The first 1,000 jobs; jobs.csv has all")
        );
        assert_eq!(table.columns.len(), table.rows[0].len());
        assert_eq!(jobs(&[]).caption, "All jobs");
    }
}
