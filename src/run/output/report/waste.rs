//! Useful and wasted slot time, if waste was recorded.

use super::{ReportBlocks, ReportSource, count};
use crate::record::{AttemptFate, WasteSummary};
use mumakil_base::units::tell;
use mumakil_draw::page::{PageBlock, PageCell, PageColumn, PageTable};
use mumakil_results::tables::{JobRow, TableRow};

pub(super) fn blocks(ReportSource { run, .. }: &ReportSource<'_>) -> ReportBlocks {
    let Some(waste) = &run.summary.waste else { return Ok(Vec::new()) };
    let mut blocks = vec![PageBlock::Table(table(waste))];
    if 0 < waste.second_attempts {
        let [launched, won] =
            [waste.second_attempts, waste.second_attempts_won].map(|number| count(number as f64));
        blocks.push(PageBlock::Text(format!(
            "Slow tasks got {launched} second attempts, of which {won} were the first to end."
        )));
    }
    Ok(blocks)
}

fn table(waste: &WasteSummary) -> PageTable {
    let fates = AttemptFate::ALL.into_iter().filter(|&fate| 0.0 < waste.by_fate[fate]);
    let rows = fates.map(|fate| {
        let seconds = waste.by_fate[fate];
        let share = (0.0 < waste.held_s).then(|| seconds / waste.held_s);
        vec![
            PageCell::text(fate.word()),
            PageCell::number(seconds, tell::span(seconds)),
            PageCell::maybe(share, tell::percent),
        ]
    });
    PageTable::new(
        format!("Useful and wasted slot time; {} has it by job", JobRow::FILE),
        [
            PageColumn::text("Slot time"),
            PageColumn::number("Slots × time"),
            PageColumn::number("Share"),
        ],
        rows,
    )
}
