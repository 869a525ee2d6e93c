//! A policy inside of a policy: its name and options, as they stand under `scheduler`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Offers;
use crate::scheduler::{Capacity, PolicyVisitor, SchedulerChoice, visit_policies};
use mumakil_core::mapred::{Complaint, Policy, PolicySite, Scheduler};

/// A policy with its options, as under `scheduler`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InnerPolicy(SchedulerChoice);

impl InnerPolicy {
    /// Completes the options; returns complaints about them, each at the path of this policy.
    pub(super) fn settle(&mut self, site: &PolicySite<'_>) -> Vec<Complaint> {
        let mut settler = InnerSettler { policy: self, site, complaints: None, names: Vec::new() };
        visit_policies(&mut settler);
        let InnerSettler { complaints, names, .. } = settler;
        complaints.unwrap_or_else(|| {
            let message = format!("there is no policy `{}` for a framework", self.0.name);
            vec![Complaint::error(&[], message, format!("there are {}", names.join(", ")))]
        })
    }

    /// Returns the policy; a wrong one, of which [`InnerPolicy::settle`] complains, is `None`.
    pub(super) fn build(&self) -> Option<Box<dyn Scheduler>> {
        let mut builder = InnerBuilder { policy: self, built: None };
        visit_policies(&mut builder);
        builder.built
    }

    fn options<O: DeserializeOwned>(&self) -> Result<O, serde_yaml::Error> {
        serde_yaml::with::singleton_map_recursive::deserialize(self.0.options.clone())
    }
}

/// Returns whether a framework may have this policy. `capacity` decides when the splits of jobs are
/// read, which only the policy of a whole run can do.
fn may_be_inside<P: Policy>() -> bool {
    P::NAME != Offers::NAME && P::NAME != Capacity::NAME
}

struct InnerSettler<'i> {
    policy: &'i mut InnerPolicy,
    site: &'i PolicySite<'i>,
    complaints: Option<Vec<Complaint>>,
    names: Vec<&'static str>,
}

impl PolicyVisitor for InnerSettler<'_> {
    fn visit<P: Policy>(&mut self) {
        if !may_be_inside::<P>() {
            return;
        }
        self.names.push(P::NAME);
        if self.policy.0.name != P::NAME {
            return;
        }
        let complaints = match self.policy.options::<P::Options>() {
            Ok(mut options) => {
                let complaints = P::settle(&mut options, self.site);
                self.policy.0.options = serde_yaml::with::singleton_map_recursive::serialize(
                    &options,
                    serde_yaml::value::Serializer,
                )
                .unwrap_or_default();
                let below = |mut complaint: Complaint| {
                    complaint.path.insert(0, P::NAME.to_owned());
                    complaint
                };
                complaints.into_iter().map(below).collect()
            }
            Err(error) => {
                let hint = format!("`mumakil show {}` lists its options", P::NAME);
                vec![Complaint::error(&[], format!("{}: {error}", P::NAME), hint)]
            }
        };
        self.complaints = Some(complaints);
    }
}

struct InnerBuilder<'i> {
    policy: &'i InnerPolicy,
    built: Option<Box<dyn Scheduler>>,
}

impl PolicyVisitor for InnerBuilder<'_> {
    fn visit<P: Policy>(&mut self) {
        if self.policy.0.name == P::NAME && may_be_inside::<P>() {
            let options = self.policy.options::<P::Options>().ok();
            self.built = options.map(|options| -> Box<dyn Scheduler> { Box::new(P::new(options)) });
        }
    }
}

impl JsonSchema for InnerPolicy {
    fn schema_name() -> Cow<'static, str> {
        "InnerPolicy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": "a policy, as under `scheduler`" })
    }
}
