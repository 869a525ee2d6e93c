//! The jobs by pool and by user, if there are several.

use super::{ReportBlocks, ReportSource, count};
use crate::record::GroupSummary;
use mumakil_draw::chart::AxisUnit;
use mumakil_draw::page::{PageBlock, PageCell, PageColumn, PageTable};

pub(super) fn blocks(ReportSource { run, .. }: &ReportSource<'_>) -> ReportBlocks {
    let groups = [("Pool", &run.summary.pools), ("User", &run.summary.users)];
    let several = groups.into_iter().filter(|(_, groups)| !groups.is_empty());
    Ok(several.map(|(word, groups)| PageBlock::Table(table(word, groups))).collect())
}

fn table(word: &str, groups: &[GroupSummary]) -> PageTable {
    let seconds = |value| PageCell::maybe(value, |seconds| AxisUnit::Seconds.text(seconds));
    let sojourn = |group: &GroupSummary| {
        let left_out = match group.jobs_left_out {
            0 => String::new(),
            jobs => format!(" ({} left out)", count(jobs as f64)),
        };
        PageCell::maybe(group.mean_sojourn_s, |seconds| AxisUnit::Seconds.text(seconds) + &left_out)
    };
    let row = |group: &GroupSummary| {
        vec![
            PageCell::text(&*group.name),
            PageCell::number(group.jobs as f64, count(group.jobs as f64)),
            sojourn(group),
            seconds(group.p95_sojourn_s),
            seconds(group.mean_wait_s),
            PageCell::maybe(group.slots, |share| AxisUnit::Share.text(share)),
        ]
    };
    let numbers = ["Jobs", "Mean sojourn", "95th percentile", "Mean wait", "Share of slot time"];
    let columns = numbers.map(|title| PageColumn::number(title, None));
    PageTable {
        caption: format!("By {}", word.to_lowercase()),
        columns: [PageColumn::text(word)].into_iter().chain(columns).collect(),
        rows: groups.iter().map(row).collect(),
    }
}
