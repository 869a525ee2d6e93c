//! The users and pools of the jobs of a mix.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rand::Rng;
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize, Serializer, de};

use crate::workload::jobs::user;
use mumakil_base::forms;
use mumakil_base::random::pick;
use mumakil_base::units::Factor;

/// The names of users or pools that jobs get.
#[derive(Clone, Debug, PartialEq)]
pub enum Names {
    /// The same name for all jobs.
    One(String),
    /// A name for each job from several.
    Several(NameChoices),
}

/// A rule that picks the user or the pool of each job from several names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NameChoices {
    /// In turn, and again from the first.
    InTurn(Vec<String>),
    /// At random, by weights.
    Weighted(#[schemars(with = "BTreeMap<String, Factor>")] IndexMap<String, Factor>),
    /// A new name for each job: this text with `-1`, `-2`, … behind it.
    Numbered(String),
}

impl Names {
    /// Returns the name of the job with a number, from 1.
    pub(super) fn get<R: Rng>(&self, number: u32, rng: &mut R) -> String {
        match self {
            Self::One(name) => name.clone(),
            Self::Several(NameChoices::InTurn(names)) => {
                names[(number as usize - 1) % names.len()].clone()
            }
            Self::Several(NameChoices::Weighted(names)) => {
                let place = pick(names.values().map(|weight| weight.get()), rng);
                let (name, _) = names.get_index(place).expect("a place among the names");
                name.clone()
            }
            Self::Several(NameChoices::Numbered(name)) => format!("{name}-{number}"),
        }
    }
}

impl NameChoices {
    /// Returns a problem with the names, if there is one.
    fn fault(&self) -> Option<&'static str> {
        match self {
            Self::InTurn(names) if names.is_empty() => Some("`in_turn` has at least one name"),
            Self::Weighted(names) if names.values().all(|weight| weight.get() == 0.0) => {
                Some("`weighted` has a name whose weight is above zero")
            }
            _ => None,
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::One(user())
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(name) => to.serialize_str(name),
            Self::Several(names) => serde_yaml::with::singleton_map::serialize(names, to),
        }
    }
}

const EXPECTED: &str = "a name, or several such as {in_turn: [ann, bob]}, \
                        {weighted: {ann: 3, bob: 1}} or {numbered: user}";

forms! {
    Names, expected: EXPECTED,
    text: |name| Ok(Names::One(name.to_owned())),
    map: |map| {
        let names = NameChoices::deserialize(map)?;
        match names.fault() {
            Some(fault) => Err(de::Error::custom(fault)),
            None => Ok(Names::Several(names)),
        }
    },
    schema: "Names", |schemas| {
        let several = schemas.subschema_for::<NameChoices>();
        json_schema!({ "title": EXPECTED, "anyOf": [{ "type": "string" }, several] })
    },
}
