//! Which sabotages of a study its expectations notice, and which expectations notice none.

use crate::plan::manifest::StudyManifest;
use crate::plan::spec::Study;
use crate::run::store::Store;
use mumakil_results::expect::{ExpectationVerdict, VerdictState};

use super::findings::{FindingsError, StudyFindings};
use super::study_runs::StudyRuns;

/// Returns the states of the verdicts on the expectations of a study whose runs are all done, by the
/// means.
pub fn verdict_states(
    sheet: &StudyManifest,
    store: &Store,
) -> Result<Vec<VerdictState>, FindingsError> {
    // Metrics are read run by run, and no verdict needs them.
    let sheet = StudyManifest { metrics: Vec::new(), ..sheet.clone() };
    let runs = StudyRuns::new(&sheet, store);
    let found = StudyFindings::of(&sheet, &runs)?;
    Ok(found.verdicts.iter().map(ExpectationVerdict::by_means).collect())
}

/// Returns whether an expectation holds as it should be and not under what is wrong.
pub fn is_broken(plain: &[VerdictState], wrong: &[VerdictState], place: usize) -> bool {
    plain[place] == VerdictState::Holds && wrong[place] != VerdictState::Holds
}

/// Which sabotages of a study its expectations notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Teeth {
    /// The effect of each sabotage.
    pub sabotages: Vec<SabotageOutcome>,
    /// The expectations that hold, whatever the sabotage.
    pub toothless: Vec<String>,
    /// The expectations that fail without any sabotage, and so can notice none.
    pub failing: Vec<String>,
}

/// The effect of a sabotage on the expectations of its study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SabotageOutcome {
    /// The name of the sabotage, or else its settings.
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
    pub fn of(study: &Study, plain: &[VerdictState], sabotaged: &[Vec<VerdictState>]) -> Self {
        let named = |places: &mut dyn Iterator<Item = usize>| -> Vec<String> {
            places.map(|place| study.expect[place].words().to_owned()).collect()
        };
        // Numbers without a bound cannot fail, and known gaps fail already.
        let held: Vec<usize> =
            (0..plain.len()).filter(|place| plain[*place] == VerdictState::Holds).collect();
        let breaks = |states: &[VerdictState], place| is_broken(plain, states, place);
        let outcomes = study.sabotages.iter().zip(sabotaged).map(|(sabotage, states)| {
            let mut broken = held.iter().copied().filter(|place| breaks(states, *place));
            let wanted = sabotage.fails.iter().map(|number| number - 1);
            let mut missed = wanted.filter(|place| !breaks(states, *place));
            let what = sabotage.what();
            SabotageOutcome { what, by: named(&mut broken), missed: named(&mut missed) }
        });
        let held = held.iter().copied();
        let mut toothless =
            held.filter(|place| !sabotaged.iter().any(|found| breaks(found, *place)));
        let mut failing = (0..plain.len()).filter(|place| plain[*place] == VerdictState::Fails);
        Self {
            sabotages: outcomes.collect(),
            toothless: named(&mut toothless),
            failing: named(&mut failing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_scenario::Draft;

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
            &[Holds, Holds, Holds, Fails, KnownGap, Reported],
            &[
                vec![Fails, Holds, Holds, Fails, KnownGap, Reported],
                vec![Holds, KnownGap, Holds, Holds, Holds, Reported],
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
