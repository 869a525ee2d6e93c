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
            VerdictState::Undecided => Judgement::Undecided,
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
        measured: Some(measured(found)),
        figures: found.figures.iter().map(beside).collect(),
        note: (!note.is_empty()).then(|| note.join("; ")),
    }
}

/// Returns the measured numbers as a true sentence: of an expectation that does not hold, the
/// verdict has the comparison that does not hold.
fn measured(found: &ExpectationVerdict) -> String {
    match found.state {
        VerdictState::Fails | VerdictState::KnownGap => unmet(&found.measured),
        VerdictState::Holds | VerdictState::Undecided | VerdictState::Reported => {
            found.measured.clone()
        }
    }
}

/// Returns a comparison that does not hold as a true sentence: `86.8 %, not within 15.0 points of
/// 68.0 %`, or `17.0 s > 16.0 s` for `17.0 s <= 16.0 s`.
fn unmet(comparison: &str) -> String {
    const OPPOSITES: [(&str, &str); 7] = [
        (" within ", ", not within "),
        (" <= ", " > "),
        (" >= ", " < "),
        (" < ", " >= "),
        (" > ", " <= "),
        (" == ", " != "),
        (" != ", " == "),
    ];
    let is_number = comparison.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let found = |sign: &str| comparison.matches(sign).count();
    let mut signs = OPPOSITES.iter().filter(|(sign, _)| 0 < found(sign));
    match (signs.next(), signs.next()) {
        // Other texts say why there is no number, or how often the expectation holds.
        (Some(_), _) if !is_number => comparison.to_owned(),
        (Some((sign, opposite)), None) if found(sign) == 1 => {
            comparison.replacen(sign, opposite, 1)
        }
        // Any part of a longer comparison may be the one that does not hold.
        (Some(_), _) => format!("does not hold: {comparison}"),
        (None, _) => comparison.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_that_fails_is_not_claimed() {
        for (comparison, told) in [
            ("86.8 % within 15.0 points of 68.0 %", "86.8 %, not within 15.0 points of 68.0 %"),
            (
                "17.0 s <= 16.0 s (2 seeds: difference 1.0 s)",
                "17.0 s > 16.0 s (2 seeds: difference 1.0 s)",
            ),
            ("-2 == 3", "-2 != 3"),
            ("1 < 3 < 2", "does not hold: 1 < 3 < 2"),
            ("1 < 2 and 3 < 2", "does not hold: 1 < 2 and 3 < 2"),
            ("in 1 of 2 seeds: all(sojourn < 5s)", "in 1 of 2 seeds: all(sojourn < 5s)"),
            ("5.0 s, 9.0 s", "5.0 s, 9.0 s"),
        ] {
            assert_eq!(unmet(comparison), told);
        }
    }
}
