//! The sabotages of a study, and which of its expectations notice them.

use super::{StudySession, outcome};
use crate::failure::Failure;
use crate::lines::TerminalLines;
use mumakil_base::units::tell::counted;
use mumakil_results::expect::{ExpectationVerdict, VerdictState};
use mumakil_study::{ConcludeError, SabotageOutcome, Study, StudyManifest, Teeth, verdict_states};

impl StudySession<'_> {
    /// Tries the sabotages of a study whose own runs are done, with these verdicts. A run that a
    /// sabotage does not change is not done again, and the folder keeps the results of the study
    /// itself.
    pub fn sabotage(
        &mut self,
        study: &Study,
        plain: &[ExpectationVerdict],
    ) -> Result<Teeth, Failure> {
        let numbers = 0..study.sabotages.len();
        let states = numbers.map(|number| self.run_beside(&study.sabotaged(number)?));
        let sabotaged = states.collect::<Result<Vec<_>, _>>();
        let plain: Vec<VerdictState> = plain.iter().map(ExpectationVerdict::by_means).collect();
        Ok(Teeth::of(study, &plain, &self.signed(sabotaged)?))
    }

    /// Does the missing runs of a sabotaged study, beside those of the study itself; returns the
    /// states of its verdicts.
    fn run_beside(&mut self, study: &Study) -> Result<Vec<VerdictState>, Failure> {
        let plan = self.plan(study, true)?;
        self.work_alone(&plan)?;
        if !self.failed.is_empty() {
            self.bar.clear();
            let failed: Vec<&str> = self.failed.iter().map(String::as_str).collect();
            return Err(outcome::failed(&failed, &self.store, false)?);
        }
        let sheet = StudyManifest::new(study, &plan);
        Ok(verdict_states(&sheet, &self.store).map_err(ConcludeError::from)?)
    }
}

/// Returns the lines about sabotages; a sabotage that nobody noticed and an expectation that
/// notices none are as loud as a failure.
pub fn tell(teeth: &Teeth) -> TerminalLines {
    let mut lines: TerminalLines = teeth.sabotages.iter().map(line).sum();
    for name in &teeth.toothless {
        lines.line(format!("  TOOTHLESS  {name}"));
    }
    for name in &teeth.failing {
        lines.line(format!("  fails without sabotage, too: {name}"));
    }
    lines
}

fn line(outcome: &SabotageOutcome) -> TerminalLines {
    let word = if outcome.is_noticed() { "noticed" } else { "UNNOTICED" };
    let mut lines = TerminalLines::of(format!("  {word:<11}{}", outcome.what));
    for name in &outcome.by {
        lines.line(format!("             fails: {name}"));
    }
    for name in &outcome.missed {
        lines.line(format!("             should fail, but holds: {name}"));
    }
    lines
}

/// The totals of some studies.
#[derive(Clone, Copy, Debug, Default)]
pub struct SabotageTally {
    tried: usize,
    unnoticed: usize,
    toothless: usize,
}

impl SabotageTally {
    /// Returns the totals of these studies.
    pub fn of<'t>(all: impl IntoIterator<Item = &'t Teeth>) -> Self {
        let mut tally = Self::default();
        for teeth in all {
            tally.tried += teeth.sabotages.len();
            tally.unnoticed += teeth.sabotages.iter().filter(|it| !it.is_noticed()).count();
            tally.toothless += teeth.toothless.len();
        }
        tally
    }

    /// Returns how many sabotages are noticed, such as `2 of 3`.
    pub fn noticed(self) -> String {
        format!("{} of {}", self.tried - self.unnoticed, self.tried)
    }

    /// Returns a failure unless every sabotage is noticed, and every expectation notices one.
    pub fn judge(self) -> Result<(), Failure> {
        match self {
            Self { unnoticed: 0, toothless: 0, .. } => Ok(()),
            Self { unnoticed, toothless, .. } => Err(Failure::run(format!(
                "{} not noticed, {} toothless",
                counted(unnoticed as u64, "sabotage"),
                counted(toothless as u64, "expectation")
            ))),
        }
    }
}

impl std::fmt::Display for SabotageTally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tried, unnoticed, toothless } = *self;
        let noticed = tried - unnoticed;
        let toothless = counted(toothless as u64, "toothless expectation");
        write!(f, "{noticed} of {} noticed, {toothless}", counted(tried as u64, "sabotage"))
    }
}
