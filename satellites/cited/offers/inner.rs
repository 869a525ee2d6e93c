//! A policy inside of a policy: its name and options, as they stand under `scheduler`.

use std::borrow::Cow;
use std::iter;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::Offers;
use mumakil_core::mapred::{
    Complaint, Policy, PolicyEntry, PolicySite, Scheduler, SchedulerChoice,
};
use mumakil_policies::scheduler::{self, Capacity};
use mumakil_yaml::{PathStep, YamlProblem};

/// A policy with its options, as under `scheduler`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InnerPolicy(SchedulerChoice);

impl InnerPolicy {
    /// Completes the options; returns complaints about them, each at the path of this policy.
    pub(super) fn settle(&mut self, site: &PolicySite<'_>) -> Vec<Complaint> {
        let Some(entry) = self.entry() else {
            let message = format!("there is no policy `{}` for a framework", self.0.name);
            let names: Vec<&str> = inner_entries().map(PolicyEntry::name).collect();
            return vec![Complaint::error(&[], message, format!("there are {}", names.join(", ")))];
        };
        let read;
        let options = match self.0.options() {
            Some(options) => options,
            None => {
                let (options, problems) = entry.read(self.0.written());
                let Some(options) = options.filter(|_| problems.is_empty()) else {
                    return problems.into_iter().map(|problem| complaint(entry, problem)).collect();
                };
                read = options;
                &*read
            }
        };
        let (settled, complaints) = options.settled(site);
        self.0 = self.0.checked(settled, Vec::new(), Vec::new());
        let mut below = complaints;
        below.iter_mut().for_each(|it| it.path.insert(0, entry.name().to_owned()));
        below
    }

    /// Returns the policy; a wrong one, of which [`InnerPolicy::settle`] complains, is `None`.
    pub(super) fn build(&self) -> Option<Box<dyn Scheduler>> {
        match self.0.options() {
            Some(options) => Some(options.build()),
            None => Some(self.entry()?.read(self.0.written()).0?.build()),
        }
    }

    fn entry(&self) -> Option<&'static PolicyEntry> {
        inner_entries().find(|entry| entry.name() == self.0.name)
    }
}

/// Returns the policies that a framework may have. `capacity` decides when the splits of jobs are
/// read, which only the policy of a whole run can do.
fn inner_entries() -> impl Iterator<Item = &'static PolicyEntry> {
    let others = [Offers::NAME, Capacity::NAME];
    scheduler::entries()
        .iter()
        .chain(crate::entries())
        .filter(move |entry| !others.contains(&entry.name()))
}

/// Returns a mistake in the options of a policy as a complaint.
fn complaint(entry: &PolicyEntry, problem: YamlProblem) -> Complaint {
    let steps = problem.path.0.into_iter().map(|step| match step {
        PathStep::Key(key) => key,
        PathStep::Index(index) => index.to_string(),
    });
    let hint = problem.hint.unwrap_or_else(|| format!("see `mumakil show {}`", entry.name()));
    let path = iter::once(entry.name().to_owned()).chain(steps).collect();
    Complaint { path, ..Complaint::error(&[], problem.message, hint) }
}

impl JsonSchema for InnerPolicy {
    fn schema_name() -> Cow<'static, str> {
        "InnerPolicy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": "a policy, as under `scheduler`" })
    }
}
