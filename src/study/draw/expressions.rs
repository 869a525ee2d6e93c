//! The expressions of a chart: one, or several with names.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};

/// The expressions of a chart: one, or several with names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One expression, without a name.
    One(String),
    /// Several expressions, by their names.
    More(IndexMap<String, String>),
}

impl JsonSchema for OneOrMore {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMore".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "an expression, or several as {name: expression}",
            "anyOf": [
                { "type": "string" },
                { "type": "object", "additionalProperties": { "type": "string" } },
            ],
        })
    }
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ExpressionsVisitor;

        impl<'de> de::Visitor<'de> for ExpressionsVisitor {
            type Value = OneOrMore;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression, or several as {name: expression}")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMore, E> {
                Ok(OneOrMore::One(text.to_owned()))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<OneOrMore, A::Error> {
                let texts = IndexMap::deserialize(MapAccessDeserializer::new(map))?;
                if texts.is_empty() {
                    return Err(de::Error::invalid_length(0, &self));
                }
                Ok(OneOrMore::More(texts))
            }
        }
        from.deserialize_any(ExpressionsVisitor)
    }
}

impl OneOrMore {
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One(_))
    }

    /// Returns the expressions with their names; the name of a single expression is empty.
    pub(super) fn parts(&self) -> Vec<(&str, &str)> {
        match self {
            Self::One(text) => vec![("", text)],
            Self::More(texts) => {
                texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
            }
        }
    }
}
