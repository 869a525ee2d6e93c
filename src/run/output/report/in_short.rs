//! The head of the report: the subject of the run, its headline numbers, and warnings.

use super::{ReportBlocks, ReportSource, headlines, warnings};
use mumakil_draw::page::PageBlock;

pub(super) fn blocks(ReportSource { run, jobs, .. }: &ReportSource<'_>) -> ReportBlocks {
    let mut blocks = Vec::new();
    if !run.scenario.description.is_empty() {
        blocks.push(PageBlock::Text(run.scenario.description.clone()));
    }
    if let Some(experiment) = &run.scenario.experiment {
        blocks.push(PageBlock::Text(format!("Repeats {}: {}", experiment.id, experiment.what)));
        if !experiment.published.is_empty() {
            blocks.push(PageBlock::Text(format!("Published: {}", experiment.published)));
        }
    }
    blocks.push(PageBlock::Headlines(headlines::headlines(run.summary)));
    let mut warnings = run.warnings.to_vec();
    warnings.extend(warnings::warnings(&jobs.all));
    if !warnings.is_empty() {
        blocks.push(PageBlock::Warnings(warnings));
    }
    Ok(blocks)
}
