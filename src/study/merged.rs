//! A study's `latency.hlog`: the histograms of each cell, merged over its runs.
//!
//! A cell's histogram has the tag `NAME:AXIS=VALUE:…`; all intervals are as long as the runs of
//! cell together.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::sheet::{Sheet, SheetCell, StudyRuns};
use crate::expect::{ReadError, Results as _};
use crate::record::{tame, write_log};
use crate::units::{SimSpan, SimTime};

/// Returns the log, if the study's runs have recorded histograms.
pub(super) fn log(sheet: &Sheet, runs: &StudyRuns<'_>) -> Result<Option<Vec<u8>>, ReadError> {
    let (mut entries, mut longest) = (Vec::new(), SimTime::ZERO);
    for (place, cell) in sheet.cells.iter().enumerate() {
        let mut merged: BTreeMap<&str, Histogram<u64>> = BTreeMap::new();
        let mut length = SimTime::ZERO;
        for run in runs.of(place) {
            let Some(histograms) = run.recorded()? else { return Ok(None) };
            for (name, histogram) in histograms {
                let all = merged
                    .entry(name)
                    .or_insert_with(|| Histogram::new(3).expect("three digits are possible"));
                all.add(histogram).expect("the histogram grows");
            }
            let seconds = run.number("virtual_s")?.unwrap_or_default();
            length += SimSpan::from_micros((seconds * 1e6).round() as u64);
        }
        longest = longest.max(length);
        let of = described(sheet, cell);
        entries.extend(merged.into_iter().map(|(name, all)| (format!("{name}{of}"), all)));
    }
    let mut bytes = Vec::new();
    let entries = entries.iter().map(|(tag, histogram)| (tag.as_str(), histogram));
    write_log(&mut bytes, longest, entries).expect("memory takes it");
    Ok(Some(bytes))
}

/// Returns which cell it is, as it may stand in a tag.
fn described(sheet: &Sheet, cell: &SheetCell) -> String {
    let axes = sheet.axes.iter().zip(sheet.labels(cell));
    axes.map(|(axis, label)| format!(":{}={}", axis.short(), tame(label))).collect()
}
