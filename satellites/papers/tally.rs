//! The number of rows in the table of verdicts, by verdict.

use super::VerdictRow;
use mumakil_base::units::tell::counted;
use mumakil_draw::page::Judgement;
use mumakil_results::expect::GapClass;

/// The number of rows with each verdict.
#[derive(Debug)]
pub struct VerdictTally<'r> {
    rows: &'r [VerdictRow],
}

impl<'r> VerdictTally<'r> {
    /// Returns the tally of these rows.
    pub fn of(rows: &'r [VerdictRow]) -> Self {
        Self { rows }
    }

    /// Returns the number of rows with this verdict.
    pub fn count(&self, verdict: Judgement) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// Returns the number of known gaps of each class, in words.
    pub fn classes(&self) -> String {
        let of = |class: Option<GapClass>| {
            let gaps = self.rows.iter().filter(|row| row.verdict == Judgement::KnownGap);
            gaps.filter(|row| row.gap_class == class).count()
        };
        let known = GapClass::ALL.map(|class| (of(Some(class)), class.word()));
        let counts = known.into_iter().chain([(of(None), "without a class")]);
        let told =
            counts.filter(|(count, _)| 0 < *count).map(|(count, word)| format!("{count} {word}"));
        told.collect::<Vec<_>>().join(", ")
    }
}

/// Prints a text such as `6 hold, 2 known gaps (1 published, 1 setting), 1 reported`.
impl std::fmt::Display for VerdictTally<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gaps = counted(self.count(Judgement::KnownGap) as u64, "known gap");
        let counts = [
            (Judgement::Holds, format!("{} hold", self.count(Judgement::Holds))),
            (Judgement::Fails, format!("{} fail", self.count(Judgement::Fails))),
            (Judgement::KnownGap, format!("{gaps} ({})", self.classes())),
            (Judgement::Undecided, format!("{} undecided", self.count(Judgement::Undecided))),
            (Judgement::Reported, format!("{} reported", self.count(Judgement::Reported))),
            (Judgement::Skipped, format!("{} skipped", self.count(Judgement::Skipped))),
        ];
        let told = counts.into_iter().filter(|(verdict, _)| 0 < self.count(*verdict));
        f.write_str(&told.map(|(_, text)| text).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_gaps_are_counted_by_their_classes() {
        let row = |verdict, gap_class| VerdictRow {
            id: String::new(),
            expectation: String::new(),
            published: String::new(),
            measured: String::new(),
            verdict,
            gap_class,
            figures: Vec::new(),
        };
        let gap = |class| row(Judgement::KnownGap, class);
        let mut rows = vec![row(Judgement::Reported, None), row(Judgement::Holds, None)];
        assert_eq!(VerdictTally::of(&rows).to_string(), "1 hold, 1 reported");
        rows.push(gap(Some(GapClass::Setting)));
        assert_eq!(
            VerdictTally::of(&rows).to_string(),
            "1 hold, 1 known gap (1 setting), 1 reported"
        );
        rows.extend([gap(Some(GapClass::Published)), gap(Some(GapClass::Setting)), gap(None)]);
        assert_eq!(
            VerdictTally::of(&rows).to_string(),
            "1 hold, 4 known gaps (1 published, 2 setting, 1 without a class), 1 reported"
        );
    }
}
