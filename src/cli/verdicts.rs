//! The verdicts on expectations, in lines.

use super::failure::Failure;
use super::lines::TerminalLines;
use mumakil_base::units::tell::counted;
use mumakil_results::expect::{Expectation, ExpectationVerdict, Figure, VerdictState};

/// Returns the lines about all expectations.
pub fn tell(expected: &[Expectation], found: &[ExpectationVerdict]) -> TerminalLines {
    expected.iter().zip(found).map(|(expected, found)| line(expected, found)).sum()
}

fn line(expected: &Expectation, found: &ExpectationVerdict) -> TerminalLines {
    let mut lines = TerminalLines::of(format!("  {:<8} {}", word(found.state), expected.words()));
    let mut more = |words: &str| lines.line(format!("           {words}"));
    // Without a title, the expression stands in its place: show it only once.
    if expected.what.is_some() {
        more(&expected.that);
    }
    more(&found.measured);
    if 1 < found.cells && !found.worst.is_empty() {
        let (held, cells, worst) = (found.held, found.cells, &found.worst);
        more(&format!("holds in {held} of {cells} cells; shown is the worst, {worst}"));
    }
    if 0 < found.left_out {
        let cells = counted(found.left_out as u64, "more cell");
        more(&format!("the study leaves {cells} out"));
    }
    match (&found.figures[..], &expected.published) {
        ([], Some(published)) => more(&format!("published: {published}")),
        ([], None) => {}
        (figures, _) => figures.iter().for_each(|figure| more(&beside(figure))),
    }
    if let Some(gap) = expected.known_gap.as_ref().filter(|_| found.state == VerdictState::KnownGap)
    {
        let class = gap.class.map(|class| format!(" ({})", class.word())).unwrap_or_default();
        more(&format!("known{class}: {}", gap.why));
    }
    if found.gap_closed {
        more("it is marked as a known gap, and the mark can go");
    }
    lines
}

/// Returns a published number and the measured number, in words.
fn beside(figure: &Figure) -> String {
    let what = if figure.what.is_empty() { "" } else { &format!("{}: ", figure.what) };
    format!("{what}published {}, ours {}", figure.published.text, figure.compared())
}

/// Returns the word for a verdict's state, for readers.
pub fn word(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Holds => "holds",
        VerdictState::Fails => "FAILS",
        VerdictState::KnownGap => "gap",
        VerdictState::Undecided => "undecided",
        VerdictState::Reported => "reported",
    }
}

/// Returns a failure if expectations have failed.
pub fn judge(found: &[ExpectationVerdict]) -> Result<(), Failure> {
    fail_if_any(found.iter().filter(|found| found.state == VerdictState::Fails).count())
}

/// Returns the failure for this number of failed expectations; none for zero.
pub fn fail_if_any(failed: usize) -> Result<(), Failure> {
    match failed {
        0 => Ok(()),
        1 => Err(Failure::run("1 expectation does not hold")),
        _ => Err(Failure::run(format!("{} do not hold", counted(failed as u64, "expectation")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::expect::{GapClass, KnownGap, PublishedNumber, Unit};

    #[test]
    fn a_known_gap_says_of_which_class_it_is_and_why() {
        let found = ExpectationVerdict {
            state: VerdictState::KnownGap,
            measured: "2 min < 1 min".to_owned(),
            worst: String::new(),
            cells: 1,
            left_out: 0,
            held: 0,
            holds_by_means: false,
            gap_closed: false,
            more_seeds: None,
            figures: Vec::new(),
        };
        for (class, last) in [(None, "known: a"), (Some(GapClass::Model), "known (model): a")] {
            let known_gap = Some(KnownGap { class, why: "a".to_owned() });
            let expected = Expectation { known_gap, ..Expectation::new("makespan < 1min") };
            let told = line(&expected, &found);
            let shown = ["gap      makespan < 1min", "2 min < 1 min", last];
            assert_eq!(told.bare().lines().map(str::trim).collect::<Vec<_>>(), shown);
        }
    }

    #[test]
    fn a_published_number_stands_beside_ours() {
        let figure = Figure {
            what: "nodes=10".to_owned(),
            published: PublishedNumber::parse("2min").unwrap(),
            ours: Some(150.0),
            unit: Unit::TIME,
        };
        assert_eq!(beside(&figure), "nodes=10: published 2min, ours 2 min 30 s (1.25 ×)");
        let unknown = Figure { what: String::new(), ours: None, ..figure };
        assert_eq!(beside(&unknown), "published 2min, ours –");
    }

    #[test]
    fn an_expectation_in_words_says_what_they_stand_for_and_in_how_many_cells_it_holds() {
        let what = Some("large clusters are quick".to_owned());
        let expected = Expectation { what, ..Expectation::new("makespan < 1min") };
        let found = ExpectationVerdict {
            state: VerdictState::Fails,
            measured: "2 min < 1 min".to_owned(),
            worst: "nodes=10".to_owned(),
            cells: 3,
            left_out: 0,
            held: 2,
            holds_by_means: false,
            gap_closed: false,
            more_seeds: None,
            figures: Vec::new(),
        };
        let lines = [
            "  FAILS    large clusters are quick",
            "           makespan < 1min",
            "           2 min < 1 min",
            "           holds in 2 of 3 cells; shown is the worst, nodes=10",
        ];
        assert_eq!(tell(&[expected], &[found]).bare().lines().collect::<Vec<_>>(), lines);
    }
}
