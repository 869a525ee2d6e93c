//! A study's `latency.hlog`: the histograms of each cell, merged over its runs.
//!
//! A cell's histogram has the tag `NAME:AXIS=VALUE:…`. All intervals have the same length, which is
//! the largest total length of a cell's runs.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::conclude::study_runs::StudyRuns;
use crate::plan::manifest::{ManifestCell, StudyManifest};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_results::tables::{ReadError, Results as _};
use mumakil_run::record::{file_safe_name, write_log};

/// Returns the log; `None` unless all runs have histograms. Only the histograms of one cell are in
/// memory at a time.
pub(crate) fn log(
    sheet: &StudyManifest,
    runs: &StudyRuns<'_>,
) -> Result<Option<Vec<u8>>, ReadError> {
    let mut longest = SimTime::ZERO;
    for place in 0..sheet.cells.len() {
        let mut length = SimTime::ZERO;
        for run in runs.of(place) {
            // If one run lacks histograms, the merged histogram of its cell would wrongly look
            // complete.
            if !run.has_histograms() {
                return Ok(None);
            }
            let seconds = run.number("virtual_s")?.unwrap_or_default();
            length += SimSpan::from_micros((seconds * 1e6).round() as u64);
        }
        longest = longest.max(length);
    }
    let mut result = Ok(());
    let cells = sheet.cells.iter().enumerate().map_while(|(place, cell)| {
        let merged = merged(runs, place).map_err(|error| result = Err(error)).ok()?;
        let of = described(sheet, cell);
        Some(merged.into_iter().map(move |(name, all)| (format!("{name}{of}"), all)))
    });
    let mut bytes = Vec::new();
    write_log(&mut bytes, longest, cells.flatten()).expect("memory takes it");
    result.map(|()| Some(bytes))
}

/// Returns the merged histograms of a cell, by name.
fn merged(
    runs: &StudyRuns<'_>,
    place: usize,
) -> Result<BTreeMap<String, Histogram<u64>>, ReadError> {
    let mut merged: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    for run in runs.of(place) {
        for (name, histogram) in run.histograms(|_| true)? {
            let all = merged
                .entry(name)
                // Use three digits, as the runs do, so that merging loses nothing.
                .or_insert_with(|| Histogram::new(3).expect("three digits are possible"));
            all.add(histogram).expect("the histogram grows");
        }
    }
    Ok(merged)
}

/// Returns the cell's values in the form that a tag allows.
fn described(sheet: &StudyManifest, cell: &ManifestCell) -> String {
    let axes = sheet.axes.iter().zip(sheet.labels(cell));
    axes.map(|(axis, label)| format!(":{}={}", axis.short(), file_safe_name(label))).collect()
}
