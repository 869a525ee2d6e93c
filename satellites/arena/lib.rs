//! Scores a policy: it serves a suite of scenarios, and its results are set beside those of other
//! policies.
//!
//! ```text
//! suite      small.yaml: scenarios, seeds, baselines, a bound          a study without policies
//!   + policies + key
//! contest    the study: scenarios × policies × (public + held-back seeds)
//!   its runs, done like those of any study, under the checker
//! scores     scenario by scenario: policy / best baseline, policy / bound; the geometric mean
//! feedback   the jobs that lost most, why, and where the decisions parted
//! ```

mod contest;
mod feedback;
mod options;
mod page;
mod rank;
mod score;
mod scores;
mod suite;

pub use contest::Contest;
pub use mumakil_cli::policy::contestant::Contestant;
pub use suite::{SUITES, Suite};

use self::scores::{ContestNumbers, PolicyScore, RunFailures};
use mumakil_base::worded;
use mumakil_cli::{Chapter, Command, CommandGroup, Satellite};
use mumakil_core::mapred::PolicyFailed;
use mumakil_run::emulation::EmulationError;
use mumakil_run::output::DecisionCost;
use mumakil_scenario::Registry;
use mumakil_study::{ConcludeError, Plan, Store, StudyManifest, StudyRuns};

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    let score = score::PolicyScoreArguments::run;
    let rank = rank::PolicyRankArguments::run;
    Satellite {
        commands: vec![
            Command::of("policy score", CommandGroup::BringYourOwn, score).starts_runs(),
            Command::of("policy rank", CommandGroup::BringYourOwn, rank).does_study().starts_runs(),
        ],
        chapters: vec![Chapter::new("scores", include_str!("scores.md"))],
        suites: SUITES,
        suite_schema: Some(Suite::schema),
        ..Satellite::default()
    }
}

/// A reason why policies cannot be scored.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// The numbers of the runs cannot be made.
    #[error(transparent)]
    Conclude(#[from] ConcludeError),
    /// A run cannot be done again.
    #[error(transparent)]
    Emulation(#[from] EmulationError),
    /// A baseline or the bound fails, so nothing can be set beside it.
    #[error("{0}")]
    Baseline(String),
}

worded! {
    /// Whether a policy has a place in the contest.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Verdict {
        /// It has a score.
        Scored = "scored",
        /// The machine was too busy to tell.
        NotJudged = "not judged",
        /// It has broken a rule.
        Out = "out",
    }
}

impl Verdict {
    /// Returns the verdict on a policy, by the reasons why its runs failed.
    fn of(reasons: &[String]) -> Self {
        match reasons {
            [] => Self::Scored,
            all if all.iter().all(|why| PolicyFailed::is_busy(why)) => Self::NotJudged,
            _ => Self::Out,
        }
    }
}

impl PolicyScore {
    /// Returns whether the policy has a place in the contest.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.disqualified)
    }

    /// Returns why the policy has no place, as sentences, without what was exchanged with it.
    pub fn reasons(&self) -> impl Iterator<Item = String> {
        self.disqualified.iter().map(|why| PolicyFailed::without_dialogue(why))
    }
}

/// A contest whose runs are done, or have failed.
pub struct ScoredContest<'c> {
    contest: &'c Contest,
    plan: &'c Plan,
    sheet: &'c StudyManifest,
    store: &'c Store,
    numbers: ContestNumbers<'c>,
    /// The scores, in the order of the policies.
    pub scores: Vec<PolicyScore>,
}

impl<'c> ScoredContest<'c> {
    /// Reads the scores of all policies.
    ///
    /// # Errors
    /// If runs cannot be read, or a run of a baseline has failed.
    pub fn of(
        contest: &'c Contest,
        plan: &'c Plan,
        sheet: &'c StudyManifest,
        store: &'c Store,
        registry: &Registry,
    ) -> Result<Self, ScoreError> {
        let failures = RunFailures::read(contest, plan, store).map_err(ConcludeError::from)?;
        if let Some(words) = failures.of_others(contest) {
            return Err(ScoreError::Baseline(words));
        }
        let oracles = contest.oracles(plan, registry);
        let read = ContestNumbers::read(contest, sheet, store, oracles);
        let numbers = read.map_err(ConcludeError::from)?;
        let scores = contest.policies.iter().map(|it| numbers.score(it, &failures)).collect();
        Ok(Self { contest, plan, sheet, store, numbers, scores })
    }

    /// Returns how long the decisions of a policy took in real time, in words; `None` if no run of it
    /// is there.
    pub fn cost(&self, policy: &str) -> Result<Option<String>, ScoreError> {
        let place = self.contest.policy(policy);
        let runs = StudyRuns::new(self.sheet, self.store);
        let mut cost = DecisionCost::default();
        for scenario in 0..self.contest.suite.scenarios.len() {
            let Some(cell) = runs.whole(&self.contest.cell(scenario, place)) else { continue };
            for run in runs.of(cell) {
                let of_run = run.decision_cost();
                cost += of_run.map_err(|error| ConcludeError::Findings(error.into()))?;
            }
        }
        Ok((0 < cost.decisions).then(|| cost.words()))
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    const BUSY: &str = PolicyFailed::BUSY;

    #[test]
    fn a_policy_that_only_a_busy_machine_held_up_is_not_judged() {
        let late =
            format!("it did not answer within 30 s: {BUSY}\n  asked    …\n  in `one`, seed 1");
        assert_eq!(Verdict::of(&[]), Verdict::Scored);
        assert_eq!(Verdict::of(from_ref(&late)), Verdict::NotJudged);
        assert_eq!(Verdict::of(&[late, "it ended with exit code 3".to_owned()]), Verdict::Out);
    }

    #[test]
    fn a_policy_cannot_excuse_itself_with_a_busy_machine() {
        for why in [
            format!("it ended with exit code 1\n  said     mine.py: {BUSY}"),
            format!("what it says is no answer: unknown variant `{BUSY}`, expected one of `hello`"),
        ] {
            assert_eq!(Verdict::of(from_ref(&why)), Verdict::Out, "{why}");
        }
    }
}
