//! The jobs by pool and by user, if there are several.

use rustc_hash::FxHashMap;

use super::{ReportBlocks, ReportSource, count};
use crate::record::{GroupSummary, ResourceShares};
use mumakil_base::statistics::quantile;
use mumakil_base::units::tell;
use mumakil_draw::page::{PageBlock, PageCell, PageColumn, PageTable};
use mumakil_results::tables::{JobRow, RunJobs};

pub(super) fn blocks(ReportSource { run, jobs, .. }: &ReportSource<'_>) -> ReportBlocks {
    let pool: fn(&JobRow) -> &str = |job| &job.pool;
    let groups =
        [("Pool", &run.summary.pools, pool), ("User", &run.summary.users, |job| &job.user)];
    let several = groups.into_iter().filter(|(_, groups, _)| !groups.is_empty());
    let table = |(word, groups, of): (&str, &Vec<GroupSummary>, fn(&JobRow) -> &str)| {
        PageBlock::Table(table(word, groups, &medians(jobs, of)))
    };
    Ok(several.map(table).collect())
}

/// Returns the median sojourn of each group in seconds.
fn medians(jobs: &RunJobs, of: fn(&JobRow) -> &str) -> FxHashMap<&str, f64> {
    let mut sojourns: FxHashMap<&str, Vec<f64>> = FxHashMap::default();
    for job in jobs.counted() {
        sojourns.entry(of(job)).or_default().extend(job.measured_s());
    }
    sojourns.into_iter().filter_map(|(name, all)| Some((name, quantile(&all, 0.5)?))).collect()
}

fn table(word: &str, groups: &[GroupSummary], medians: &FxHashMap<&str, f64>) -> PageTable {
    let seconds = |value| PageCell::maybe(value, tell::span);
    let sojourn = |group: &GroupSummary| {
        let left_out = match group.jobs_left_out {
            0 => String::new(),
            jobs => format!(" ({} left out)", count(jobs as f64)),
        };
        PageCell::maybe(group.mean_sojourn_s, |seconds| tell::span(seconds) + &left_out)
    };
    let rows = groups.iter().map(|group| {
        vec![
            PageCell::text(&*group.name),
            PageCell::number(group.jobs as f64, count(group.jobs as f64)),
            sojourn(group),
            seconds(medians.get(&*group.name).copied()),
            seconds(group.p95_sojourn_s),
            seconds(group.mean_wait_s),
            PageCell::maybe(group.slots, tell::percent),
            shown(group, |shares| shares.memory),
            shown(group, |shares| shares.cores),
        ]
    });
    let numbers = [
        "Jobs",
        "Mean sojourn",
        "Median",
        "95th percentile",
        "Mean wait",
        "Share of slot time",
        "Of the memory",
        "Of the cores",
    ];
    let columns = numbers.map(PageColumn::number);
    PageTable::new(
        format!("By {}", word.to_lowercase()),
        [PageColumn::text(word)].into_iter().chain(columns),
        rows,
    )
    .without_empty_columns()
}

/// Returns a share of the memory or cores that a group holds; an empty cell where they are not
/// counted.
fn shown(group: &GroupSummary, of: fn(ResourceShares) -> Option<f64>) -> PageCell {
    let share = group.resources.and_then(of);
    share.map_or_else(PageCell::default, |share| PageCell::number(share, tell::percent(share)))
}
