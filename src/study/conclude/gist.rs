//! The gist of a study: some sentences with what matters, on top of the page and on the console.

use crate::conclude::comparisons::Comparison;
use crate::conclude::findings::{Metric, StudyFindings};
use crate::plan::manifest::StudyManifest;
use indexmap::IndexMap;
use mumakil_base::statistics::Band;
use mumakil_compare::RatioVerdict;
use mumakil_results::expect::{Unit, VerdictState, capital, in_words};

/// The most pairs of compared values that have a sentence each.
const MOST_PAIRS: usize = 2;

/// Returns the sentences: what the study compares, in its first metric, or else where this metric is
/// lowest and highest; then how many expectations hold.
pub fn gist(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(metric) = findings.metrics.first() {
        let mut pairs: IndexMap<(&str, &str), Vec<&Comparison>> = IndexMap::new();
        for one in findings.comparisons.iter().filter(|one| one.metric == metric.text) {
            pairs.entry((&one.base, &one.other)).or_default().push(one);
        }
        // A stable sort: pairs that differ alike stay in the order of the study.
        pairs.sort_by(|_, a, _, b| effect_of_all(b).total_cmp(&effect_of_all(a)));
        sentences.extend(pairs.values().take(MOST_PAIRS).map(|cells| compared(metric, cells)));
        if sentences.is_empty() {
            sentences.extend(extremes(sheet, metric));
        }
    }
    let states = [
        (VerdictState::Holds, "hold"),
        (VerdictState::Fails, "fail"),
        (VerdictState::Undecided, "undecided"),
        (VerdictState::KnownGap, "known gaps"),
    ];
    let counts = states.map(|(state, word)| {
        (findings.verdicts.iter().filter(|found| found.state == state).count(), word)
    });
    sentences.extend(listed_counts(counts, "").map(|counts| format!("Expectations: {counts}.")));
    sentences
}

/// Returns the counts above zero with their words; `None` without any.
fn listed_counts<const N: usize>(counts: [(usize, &str); N], of: &str) -> Option<String> {
    let some = counts.iter().filter(|(count, _)| 0 < *count);
    let told: Vec<String> = some
        .map(|(count, word)| match of {
            "" => format!("{count} {word}"),
            _ => format!("{word} in {count}{of}"),
        })
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// Returns how far the ratio of a decided comparison is from one, as a logarithm; 0 for others.
fn effect(one: &Comparison) -> f64 {
    let ratio = one.pair.ratio.filter(|_| one.pair.verdict.is_decided());
    ratio.map_or(0.0, |ratio| ratio.mean.ln().abs())
}

fn effect_of_all(cells: &[&Comparison]) -> f64 {
    cells.iter().map(|one| effect(one)).fold(0.0, f64::max)
}

/// Says in how many cells a metric is less and more under one value than under another.
fn compared(metric: &Metric, cells: &[&Comparison]) -> String {
    let (words, first) = (capital(&in_words(&metric.text)), cells[0]);
    if let [only] = cells {
        return format!("{words}, {}.", only.words);
    }
    let (less, more) =
        if metric.unit == Unit::TIME { ("shorter", "longer") } else { ("lower", "higher") };
    let verdicts = [
        (RatioVerdict::Less, less),
        (RatioVerdict::More, more),
        (RatioVerdict::Same, "the same"),
        (RatioVerdict::Undecided, "undecided"),
    ];
    let counts = verdicts.map(|(verdict, word)| {
        (cells.iter().filter(|one| one.pair.verdict == verdict).count(), word)
    });
    let decided = cells.iter().filter(|one| 0.0 < effect(one));
    let largest = decided.max_by(|a, b| effect(a).total_cmp(&effect(b)));
    let name = format!("{} against {}", first.other, first.base);
    format!(
        "{words}, {name}: {}{}.",
        listed_counts(counts, &format!(" of {} cells", cells.len())).unwrap_or_default(),
        // Its words begin with the two values, which are told already.
        largest.map_or_else(String::new, |one| format!("; most{}", &one.words[name.len()..])),
    )
}

/// Says in which cells a metric is lowest and highest, and whether their intervals overlap.
fn extremes(sheet: &StudyManifest, metric: &Metric) -> Option<String> {
    let space = sheet.space();
    let axes: Vec<usize> =
        (0..space.axes.len()).filter(|axis| 1 < space.axes[*axis].values.len()).collect();
    let cells = sheet.cells.iter().zip(&metric.cells);
    let mut found: Vec<_> =
        cells.filter_map(|(cell, found)| Some((cell, found.as_ref()?.mean))).collect();
    found.sort_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
    let (low, high) = (found.first()?, found.last()?);
    let words = capital(&in_words(&metric.text));
    if low.1.mean == high.1.mean {
        return Some(format!("{words} is {} in all cells.", metric.unit.show(low.1.mean)));
    }
    let overlap = match (low.1.band, high.1.band) {
        (Some(Band { high: end, .. }), Some(Band { low: begin, .. })) if begin <= end => {
            "; their 95 % intervals overlap"
        }
        _ => "",
    };
    let [low, high] = [low, high].map(|(cell, estimate)| {
        format!("{} with {}", metric.unit.show(estimate.mean), space.describe(&cell.values, &axes))
    });
    Some(format!("{words} is lowest, {low}, and highest, {high}{overlap}."))
}
