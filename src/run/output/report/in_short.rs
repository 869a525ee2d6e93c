//! What comes first: what the run is about, its headlines, and what to think of before it is trusted.

use super::parties::Parties;
use super::{RunReport, headlines, warnings};
use mumakil_draw::page::PageBlock;
use mumakil_results::results::{ReadError, RunJobs};

pub(super) fn blocks(
    run: &RunReport<'_>,
    jobs: &RunJobs,
    _: &Parties,
) -> Result<Vec<PageBlock>, ReadError> {
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
    warnings.extend(warnings::warnings(&jobs.all, run.summary.virtual_s));
    if !warnings.is_empty() {
        blocks.push(PageBlock::Warnings(warnings));
    }
    Ok(blocks)
}
