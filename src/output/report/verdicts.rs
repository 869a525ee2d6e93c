//! Expectations and what became of them, as a page shows them.

use super::counted;
use crate::expect::{self, Expectation, State};
use crate::page::{Judgement, Verdict};

/// Returns the verdicts beside what was expected.
pub fn verdicts(expected: &[Expectation], found: &[expect::Verdict]) -> Vec<Verdict> {
    expected.iter().zip(found).map(|(expected, found)| verdict(expected, found)).collect()
}

fn verdict(expected: &Expectation, found: &expect::Verdict) -> Verdict {
    let place = (1 < found.cells && !found.worst.is_empty()).then(|| {
        format!(
            "holds in {} of {} cells; shown is the worst, {}",
            found.held, found.cells, found.worst
        )
    });
    let left_out = (0 < found.left_out)
        .then(|| format!("the study leaves {} out", counted(found.left_out as u64, "more cell")));
    let closed = found.gap_closed.then(|| "it holds now: the mark can go".to_owned());
    let note: Vec<String> =
        [expected.known_gap.clone(), place, left_out, closed].into_iter().flatten().collect();
    Verdict {
        judgement: match found.state {
            State::Holds => Judgement::Holds,
            State::Fails => Judgement::Fails,
            State::KnownGap => Judgement::KnownGap,
            State::Reported => Judgement::Reported,
        },
        expectation: expected.what.clone().unwrap_or_else(|| expected.that.clone()),
        expression: expected.what.is_some().then(|| expected.that.clone()),
        published: expected.published.clone(),
        measured: Some(found.measured.clone()),
        note: (!note.is_empty()).then(|| note.join("; ")),
    }
}
