//! The table of jobs.

use super::{ReportBlocks, ReportSource, count};
use mumakil_base::units::tell;
use mumakil_draw::page::{PageBlock, PageCell, PageColumn, PageTable};
use mumakil_results::tables::{JobRow, TableRow};

/// The most rows of the table. Chosen: browsers are slow with the thousands of jobs of a large
/// trace.
const MOST: usize = 1_000;

pub(super) fn blocks(ReportSource { jobs, .. }: &ReportSource<'_>) -> ReportBlocks {
    Ok(vec![PageBlock::Table(table(&jobs.all))])
}

/// Returns the table of jobs, in the order of their numbers.
fn table(jobs: &[JobRow]) -> PageTable {
    let caption = match jobs.len() {
        ..=MOST => "All jobs".to_owned(),
        _ => format!("The first {} jobs; {} has all", count(MOST as f64), JobRow::FILE),
    };
    let texts = ["Name", "Pool", "Class"].map(PageColumn::text);
    let numbers =
        ["Maps", "Reduces", "Submitted", "Wait", "Sojourn", "Node-local", "Attempts lost"];
    let columns = texts.into_iter().chain(numbers.map(PageColumn::number));
    PageTable::new(
        caption,
        columns.chain([PageColumn::text("Outcome")]),
        jobs.iter().take(MOST).map(row),
    )
}

fn row(job: &JobRow) -> Vec<PageCell> {
    let number = |number: u32| PageCell::number(number.into(), count(number));
    let seconds = |value| PageCell::maybe(value, tell::span);
    let maps: u64 = job.maps_by_distance().iter().sum();
    let local = (0 < maps).then(|| job.node_local as f64 / maps as f64);
    vec![
        PageCell::text(&*job.name),
        PageCell::text(&*job.pool),
        PageCell::text(&*job.class),
        number(job.maps),
        number(job.reduces),
        seconds(Some(job.submit_s())),
        seconds(job.wait_s()),
        seconds(job.sojourn_s()),
        PageCell::maybe(local, tell::percent),
        number(job.failed + job.killed),
        PageCell::text(job.outcome.word()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_table_ends_early_and_says_so() {
        let table = table(&vec![JobRow::default(); MOST + 1]);
        assert_eq!(
            (table.rows.len(), table.caption.as_str()),
            (MOST, "The first 1,000 jobs; jobs.csv has all")
        );
        assert_eq!(table.columns.len(), table.rows[0].len());
        assert_eq!(super::table(&[]).caption, "All jobs");
    }
}
