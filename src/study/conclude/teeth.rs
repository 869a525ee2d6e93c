//! Which sabotages of a study its expectations notice, and which expectations notice none.

use crate::plan::manifest::StudyManifest;
use crate::plan::sabotage::Sabotage;
use crate::plan::spec::Study;
use crate::run::store::Store;
use mumakil_results::expect::{ExpectationVerdict, VerdictState};

use super::findings::{FindingsError, StudyFindings};
use super::study_runs::StudyRuns;

/// Returns the verdicts on the expectations of a study whose runs are all done.
///
/// # Errors
/// If a run's results cannot be read.
pub fn verdicts(
    sheet: &StudyManifest,
    store: &Store,
) -> Result<Vec<ExpectationVerdict>, FindingsError> {
    // Metrics are read run by run, and no verdict needs them.
    let sheet = StudyManifest { metrics: Vec::new(), ..sheet.clone() };
    let runs = StudyRuns::new(&sheet, store);
    Ok(StudyFindings::of(&sheet, &runs)?.verdicts)
}

/// What the sabotages of a study did to its expectations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Teeth {
    /// What each sabotage did.
    pub sabotages: Vec<SabotageOutcome>,
    /// The expectations that hold, whatever the sabotage.
    pub toothless: Vec<String>,
    /// The expectations that fail without any sabotage, and so can notice none.
    pub failing: Vec<String>,
}

/// What a sabotage did to the expectations of its study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SabotageOutcome {
    /// What is wrong, in words.
    pub what: String,
    /// The expectations that hold without the sabotage and fail under it.
    pub by: Vec<String>,
    /// The expectations that should fail under it and do not.
    pub missed: Vec<String>,
}

impl SabotageOutcome {
    /// Returns whether every expectation fails that should fail.
    pub fn is_noticed(&self) -> bool {
        self.missed.is_empty()
    }
}

impl Teeth {
    /// Returns what sabotages did; `plain` are the verdicts without, and `sabotaged` those under
    /// each sabotage.
    pub fn of(
        study: &Study,
        plain: &[ExpectationVerdict],
        sabotaged: &[Vec<ExpectationVerdict>],
    ) -> Self {
        let named = |places: &mut dyn Iterator<Item = usize>| -> Vec<String> {
            let name = |place: usize| study.expect[place].words().to_owned();
            places.map(name).collect()
        };
        let holds = |verdicts: &[ExpectationVerdict], place: usize| {
            verdicts[place].state == VerdictState::Holds
        };
        // Numbers without a bound cannot fail, and known gaps fail already.
        let held: Vec<usize> = (0..plain.len()).filter(|place| holds(plain, *place)).collect();
        let breaks = |verdicts: &[ExpectationVerdict], place: usize| {
            holds(plain, place) && !holds(verdicts, place)
        };
        let outcome = |(sabotage, verdicts): (&Sabotage, &Vec<ExpectationVerdict>)| {
            let mut broken = held.iter().copied().filter(|place| breaks(verdicts, *place));
            let wanted = sabotage.fails.iter().map(|number| number - 1);
            let mut missed = wanted.filter(|place| !breaks(verdicts, *place));
            let what = sabotage.what();
            SabotageOutcome { what, by: named(&mut broken), missed: named(&mut missed) }
        };
        let survives = |place: &usize| !sabotaged.iter().any(|found| breaks(found, *place));
        let fails = |place: &usize| plain[*place].state == VerdictState::Fails;
        Self {
            sabotages: study.sabotages.iter().zip(sabotaged).map(outcome).collect(),
            toothless: named(&mut held.iter().copied().filter(survives)),
            failing: named(&mut (0..plain.len()).filter(fails)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_scenario::Draft;

    fn verdicts(states: &[VerdictState]) -> Vec<ExpectationVerdict> {
        let verdict = |state: &VerdictState| ExpectationVerdict {
            state: *state,
            measured: String::new(),
            worst: String::new(),
            cells: 1,
            left_out: 0,
            held: 0,
            gap_closed: false,
            figures: Vec::new(),
        };
        states.iter().map(verdict).collect()
    }

    #[test]
    fn an_expectation_has_teeth_if_it_held_and_fails_under_some_sabotage() {
        use VerdictState::{Fails, Holds, KnownGap, Reported};
        let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n\
                    sweep: {seeds: 1}\n\
                    expect: [1 < 2, {that: 2 < 3, what: two}, 3 < 4, 4 < 5, 5 < 6, makespan]\n\
                    sabotage: [{as: slow, set: {'workload.jobs[0].map_time': 9s}, fails: [1, 2]},\n\
                    {set: {hadoop.heartbeat: 9s}, fails: [2]}]";
        let study = Study::of(Draft::of("test.yaml", yaml).unwrap()).unwrap();
        let teeth = Teeth::of(
            &study,
            &verdicts(&[Holds, Holds, Holds, Fails, KnownGap, Reported]),
            &[
                verdicts(&[Fails, Holds, Holds, Fails, KnownGap, Reported]),
                verdicts(&[Holds, KnownGap, Holds, Holds, Holds, Reported]),
            ],
        );
        let outcome = |what: &str, by: &str, missed: &[&str]| SabotageOutcome {
            what: what.to_owned(),
            by: vec![by.to_owned()],
            missed: missed.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert_eq!(
            teeth.sabotages,
            [outcome("slow", "1 < 2", &["two"]), outcome("hadoop.heartbeat: \"9s\"", "two", &[])]
        );
        assert_eq!([&teeth.toothless, &teeth.failing], [&["3 < 4"], &["4 < 5"]]);
    }
}
