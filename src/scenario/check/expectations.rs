//! Whether expectations make sense in a single run, and whether it records what they read.

use super::Checked;
use crate::expect::{Expr, Needs, Space, Table};
use crate::scenario::spec::Scenario;
use crate::yaml::{Path, Problem};

/// Looks at each expectation.
pub(super) fn check(scenario: &Scenario, found: &mut Checked) {
    for (index, expected) in scenario.expect.iter().enumerate() {
        let at = Path::of("expect").index(index);
        let text = &expected.that;
        match Expr::parse(text).and_then(|expr| expr.expectation(&Space::default())) {
            Err(complaint) => found.problems.push(Problem::expression(at, &complaint, text)),
            Ok(plan) => {
                if let Some(published) = &expected.published
                    && let Err(misfit) = plan.check_published(published)
                {
                    let at = at.clone().key("published");
                    found.problems.push(Problem::published(at, misfit));
                }
                if let Some(setting) = unrecorded(&plan.needs(), scenario) {
                    let message = format!("`{text}` reads what this scenario does not record");
                    let hint = format!("add `record: {{{setting}: true}}`");
                    found.problems.push(Problem::value(at, message).hint(hint));
                }
            }
        }
    }
}

/// Returns a setting that is off but needed.
fn unrecorded(needs: &Needs, scenario: &Scenario) -> Option<&'static str> {
    let record = &scenario.record;
    let reads = |table| needs.columns.contains_key(&table);
    let settings = [
        ("tasks", record.tasks, reads(Table::Tasks)),
        ("timeline", record.timeline, reads(Table::Timeline)),
        ("alone", record.alone, reads(Table::Alone)),
        ("chains", record.chains, reads(Table::Chains)),
        ("waste", scenario.records_waste(), needs.reads_waste()),
        ("histograms", record.histograms, !needs.histograms.is_empty()),
    ];
    settings.into_iter().find(|(_, is_on, is_read)| *is_read && !is_on).map(|(name, ..)| name)
}
