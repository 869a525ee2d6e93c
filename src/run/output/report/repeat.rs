//! How to repeat the run, and which results a repetition gives again.

use super::{ReportBlocks, ReportSource};
use mumakil_base::files::RESOLVED;
use mumakil_draw::page::PageBlock;

pub(super) fn blocks(ReportSource { run, .. }: &ReportSource<'_>) -> ReportBlocks {
    let promise = match run.digest {
        Some(digest) => format!(
            "In the folder of this report; it gives the same bytes, whose digest is `{digest}`."
        ),
        None => "In the folder of this report; on a scaled clock no run is like another, but with \
                 `--clock virtual` they are."
            .to_owned(),
    };
    Ok(vec![PageBlock::Code(format!("mumakil run {RESOLVED}")), PageBlock::Text(promise)])
}
