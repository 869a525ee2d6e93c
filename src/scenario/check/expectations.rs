//! Checks of `expect`: each expression makes sense for a single run, the run records the outputs
//! that the expression reads, and some job has each name that it selects by.

use std::collections::BTreeSet;

use super::Checked;
use crate::complaint::{misplaced, unusable};
use crate::spec::{RecordSpec, Scenario};
use crate::workload::jobs::JobEntry;
use mumakil_base::nearest::nearest;
use mumakil_results::expect::{Expr, ExprNeeds, ExprPlan, Space};
use mumakil_yaml::{Path, YamlProblem};

/// Checks each expectation. `jobs` has the jobs of the run; it is empty if they are in a file that
/// is not read yet.
pub(super) fn check(scenario: &Scenario, jobs: &[JobEntry], found: &mut Checked) {
    let known = KnownNames::of(scenario, jobs);
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
                if let Some(known) = &known {
                    known.look_for_unknown(index, &plan, found);
                }
            }
        }
    }
}

/// The names by which expectations can select jobs.
struct KnownNames {
    names: BTreeSet<String>,
    users: BTreeSet<String>,
    pools: BTreeSet<String>,
}

impl KnownNames {
    /// Returns the names, users and pools of the jobs. `None` if no job is known or nothing is
    /// expected.
    fn of(scenario: &Scenario, jobs: &[JobEntry]) -> Option<Self> {
        if jobs.is_empty() || scenario.expect.is_empty() {
            return None;
        }
        let later = scenario.later.iter().filter_map(|later| later.submit.as_ref());
        let jobs = || jobs.iter().chain(later.clone());
        Some(Self {
            names: jobs().flat_map(JobEntry::names).collect(),
            users: jobs().map(|job| job.user.clone()).collect(),
            pools: jobs().map(|job| job.pool_or_user().to_owned()).collect(),
        })
    }

    /// Warns of selections by a name, user or pool that no job has.
    fn look_for_unknown(&self, expectation: usize, plan: &ExprPlan, found: &mut Checked) {
        let mut told = BTreeSet::new();
        for (key, word) in plan.words() {
            let known = match key {
                "name" => &self.names,
                "user" => &self.users,
                "pool" => &self.pools,
                _ => continue,
            };
            // An expression may use the same name several times: one warning is enough.
            if known.contains(word) || !told.insert((key, word.to_owned())) {
                continue;
            }
            // `count` makes jobs `load-1`, `load-2`, … of the entry `load`, and no job `load`:
            // propose the first of them.
            let first = known.get(&format!("{word}-1")).map(String::as_str);
            let what_to_do = match first.or_else(|| nearest(word, known.iter().map(String::as_str)))
            {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("mend it, or leave `{key}` out"),
            };
            found.doubt(format!(
                "expect[{expectation}]: no job has the {key} `{word}`; {what_to_do}"
            ));
        }
    }
}

/// Returns the key of an output that the expression reads but that is off, if there is one.
fn unrecorded(needs: &ExprNeeds, scenario: &Scenario) -> Option<&'static str> {
    // With speculation, waste is recorded even if `record.waste` is off.
    let mut record = RecordSpec { waste: scenario.records_waste(), ..scenario.record.clone() };
    let mut outputs = record.read_by(needs).into_iter();
    outputs.find(|(_, is_on, is_read)| *is_read && !**is_on).map(|(key, ..)| key)
}
