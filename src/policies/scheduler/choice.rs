//! `scheduler: fair`: the policy that a scenario chooses, with its options.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};
use serde_yaml::{Mapping, Value};

use crate::external;

/// The policy of a scenario: its name, with its options.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerChoice {
    /// The name of the policy.
    pub name: String,
    /// The options of the policy; in a loaded scenario all of them.
    pub options: Value,
}

impl SchedulerChoice {
    /// Returns a policy with its default options.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), options: Mapping::new().into() }
    }

    /// Sets an option.
    pub fn set(&mut self, option: &str, value: Value) {
        if !self.options.is_mapping() {
            self.options = Mapping::new().into();
        }
        if let Some(options) = self.options.as_mapping_mut() {
            options.insert(option.into(), value);
        }
    }

    /// Returns the names to which the option `delay` gives waits of their own, under `jobs` or
    /// `pools`.
    pub fn delayed(&self, group: &str) -> impl Iterator<Item = &str> {
        let named = self.options.get("delay").and_then(|delay| delay.get(group));
        named
            .and_then(Value::as_mapping)
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| name.as_str())
    }

    /// Returns the name that reports show: the name of the policy, or of the program if the policy
    /// is a program.
    pub fn title(&self) -> String {
        external::title(&self.name, &self.options).unwrap_or_else(|| self.name.clone())
    }
}

/// The default is Hadoop's own default, `fifo`.
impl Default for SchedulerChoice {
    fn default() -> Self {
        Self::named("fifo")
    }
}

impl Serialize for SchedulerChoice {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.options {
            // A resolved scenario lists all options of a policy. If there are none, the policy has
            // no options: write just its name.
            Value::Mapping(options) if !options.is_empty() => {
                to.collect_map([(&self.name, options)])
            }
            _ => to.serialize_str(&self.name),
        }
    }
}

impl<'de> Deserialize<'de> for SchedulerChoice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ChoiceVisitor;
        impl<'de> de::Visitor<'de> for ChoiceVisitor {
            type Value = SchedulerChoice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a policy, or one name with its options")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<SchedulerChoice, E> {
                Ok(SchedulerChoice::named(name))
            }
            fn visit_map<A: de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<SchedulerChoice, A::Error> {
                let Some((name, options)) = map.next_entry::<String, Value>()? else {
                    return Err(de::Error::invalid_type(de::Unexpected::Map, &self));
                };
                if let Some(other) = map.next_key::<String>()? {
                    return Err(de::Error::custom(format!(
                        "`{name}` and `{other}`: a scenario has one policy, with its options below \
                         it, such as `scheduler: {{hfsp: {{weights: priority}}}}`"
                    )));
                }
                match options {
                    // `{fair: }` is `fair` with its defaults, like a bare `fair`.
                    Value::Null => Ok(SchedulerChoice::named(&name)),
                    options => Ok(SchedulerChoice { name, options }),
                }
            }
        }
        from.deserialize_any(ChoiceVisitor)
    }
}

/// The schema without any policies, which the schema of a scenario adds from its registry.
impl JsonSchema for SchedulerChoice {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}
