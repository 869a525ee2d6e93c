//! The expressions of a study: in its metrics, expectations and charts.

use crate::plan::spec::Keys;
use mumakil_results::expect::{
    Expectation, Expr, ExprComplaint, ExprNeeds, ExprPlan, KnownWords, Space,
};
use mumakil_scenario::{misplaced, unusable};
use mumakil_yaml::{Path, YamlProblem};

/// The demands of a study's expressions on its runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct StudyExpressions {
    /// The data that the runs must record.
    pub(crate) needs: ExprNeeds,
    /// The expressions that select rows by words, each with its place in the study and its text.
    selecting: Vec<(Path, String, ExprPlan)>,
}

impl StudyExpressions {
    /// Checks all expressions of a study, and notes their mistakes.
    pub(crate) fn of(
        keys: &Keys,
        metrics: &[String],
        space: &Space,
        problems: &mut Vec<YamlProblem>,
    ) -> Self {
        let mut all = Self::default();
        let mut misfits = Vec::new();
        let mut add = |at: Path, text: &str, planned: Result<ExprPlan, ExprComplaint>| match planned
        {
            Ok(plan) => all.add(at, text, plan),
            Err(complaint) => problems.push(unusable(at, &complaint, text)),
        };
        for (index, text) in metrics.iter().enumerate() {
            let planned = Expr::parse(text).and_then(|expr| expr.metric(space));
            add(Path::of("metrics").index(index), text, planned);
        }
        for (index, Expectation { that, published, .. }) in keys.expect.iter().enumerate() {
            let at = Path::of("expect").index(index);
            let planned = Expr::parse(that).and_then(|expr| expr.expectation(space));
            if let (Ok(plan), Some(published)) = (&planned, published)
                && let Err(misfit) = plan.check_published(published)
            {
                misfits.push(misplaced(at.key("published"), misfit));
            }
            add(at, that, planned);
        }
        problems.append(&mut misfits);
        for (index, chart) in keys.charts.iter().enumerate() {
            // If `compare` is wrong, do not also report that each chart of ratios lacks its
            // compared axis.
            if chart.ratio.is_some() && keys.compare.is_some() && space.compared.is_none() {
                continue;
            }
            let at = Path::of("charts").index(index);
            match chart.expressions(space) {
                Ok(Self { needs, selecting }) => {
                    all.needs.add(needs);
                    let placed = selecting
                        .into_iter()
                        .map(|(inside, text, plan)| (at.join(&inside.0), text, plan));
                    all.selecting.extend(placed);
                }
                Err(problem) => problems.push(problem.inside(&at)),
            }
        }
        all
    }

    pub(crate) fn add(&mut self, at: Path, text: &str, plan: ExprPlan) {
        self.needs.add(plan.needs());
        if plan.selects_by_words() {
            self.selecting.push((at, text.to_owned(), plan));
        }
    }

    /// Leaves out the words by which expressions select: they are not checked then.
    pub(crate) fn forget_words(&mut self) {
        self.selecting.clear();
    }

    /// Returns whether any expression selects rows by words.
    pub(crate) const fn select_by_words(&self) -> bool {
        !self.selecting.is_empty()
    }

    /// Returns a mistake for each word by which an expression selects and that is not known.
    pub(crate) fn unknown_words(&self, known: &KnownWords) -> Vec<YamlProblem> {
        let problems = self.selecting.iter().flat_map(|(at, text, plan)| {
            let complaints = plan.unknown_words(known).into_iter();
            complaints.map(|complaint| unusable(at.clone(), &complaint, text))
        });
        problems.collect()
    }
}
