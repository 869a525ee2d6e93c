//! Checks of `expect`: each expression makes sense for a single run, and the run records the outputs
//! that the expression reads.

use super::Checked;
use crate::complaint::{misplaced, unusable};
use crate::spec::Scenario;
use mumakil_results::expect::{Expr, ExprNeeds, Space};
use mumakil_yaml::{Path, YamlProblem};

pub(super) fn check(scenario: &Scenario, found: &mut Checked) {
    for (index, expected) in scenario.expect.iter().enumerate() {
        let at = Path::of("expect").index(index);
        let text = &expected.that;
        // A single scenario varies nothing, so an expression over the cells of a study is a mistake
        // here.
        match Expr::parse(text).and_then(|expr| expr.expectation(&Space::default())) {
            Err(complaint) => found.problems.push(unusable(at, &complaint, text)),
            Ok(plan) => {
                if let Some(published) = &expected.published
                    && let Err(misfit) = plan.check_published(published)
                {
                    found.problems.push(misplaced(at.clone().key("published"), misfit));
                }
                if let Some(setting) = unrecorded(&plan.needs(), scenario) {
                    let message = format!("`{text}` reads what this scenario does not record");
                    let hint = format!("add `record: {{{setting}: true}}`");
                    found.problems.push(YamlProblem::value(at, message).hint(hint));
                }
            }
        }
    }
}

/// Returns the key of an output that the expression reads but that is off, if there is one.
fn unrecorded(needs: &ExprNeeds, scenario: &Scenario) -> Option<&'static str> {
    let mut recorded = scenario.outputs();
    let mut outputs = recorded.read_by(needs).into_iter();
    outputs.find(|(_, is_on, is_read)| *is_read && !**is_on).map(|(key, ..)| key)
}
