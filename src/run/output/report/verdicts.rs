//! Expectations and their verdicts, as a page shows them.

use super::{ReportBlocks, ReportSource, counted};
use mumakil_draw::page::{JudgedExpectation, Judgement, PageBlock, PublishedComparison};
use mumakil_results::expect::{Expectation, ExpectationVerdict, Figure, GapClass, VerdictState};

pub(super) fn blocks(ReportSource { run, .. }: &ReportSource<'_>) -> ReportBlocks {
    Ok(match run.verdicts {
        [] => Vec::new(),
        found => vec![PageBlock::Verdicts(verdicts(&run.scenario.expect, found))],
    })
}

/// Returns each expectation with its verdict.
pub fn verdicts(expected: &[Expectation], found: &[ExpectationVerdict]) -> Vec<JudgedExpectation> {
    expected.iter().zip(found).map(|(expected, found)| verdict(expected, found)).collect()
}

fn verdict(expected: &Expectation, found: &ExpectationVerdict) -> JudgedExpectation {
    // A single run has one cell, which needs no name.
    let place = (1 < found.cells && !found.worst.is_empty()).then(|| {
        format!(
            "holds in {} of {} cells; shown is the worst, {}",
            found.held, found.cells, found.worst
        )
    });
    let left_out = (0 < found.left_out)
        .then(|| format!("the study leaves {} out", counted(found.left_out as u64, "more cell")));
    let closed = found.gap_closed.then(|| "it holds now: the mark can go".to_owned());
    let gap = expected.known_gap.as_ref();
    let note: Vec<String> =
        [gap.map(|gap| gap.why.clone()), place, left_out, closed].into_iter().flatten().collect();
    JudgedExpectation {
        judgement: match found.state {
            VerdictState::Holds => Judgement::Holds,
            VerdictState::Fails => Judgement::Fails,
            VerdictState::KnownGap => Judgement::KnownGap,
            VerdictState::Reported => Judgement::Reported,
        },
        class: gap
            // A gap that has closed no longer has a class.
            .filter(|_| found.state == VerdictState::KnownGap)
            .and_then(|gap| gap.class)
            .map(GapClass::word),
        expectation: expected.what.clone().unwrap_or_else(|| expected.that.clone()),
        expression: expected.what.is_some().then(|| expected.that.clone()),
        published: expected.published.as_ref().map(ToString::to_string),
        measured: Some(found.measured.clone()),
        figures: found.figures.iter().map(beside).collect(),
        note: (!note.is_empty()).then(|| note.join("; ")),
    }
}

fn beside(figure: &Figure) -> PublishedComparison {
    PublishedComparison {
        what: figure.what.clone(),
        published: figure.published.text.clone(),
        ours: figure.told(),
        difference: figure.difference(),
    }
}
