//! The expressions of a chart: one, or several with names.

use indexmap::IndexMap;
use schemars::json_schema;
use serde::{Deserialize, Serialize, de};

use mumakil_base::forms;

/// The expressions of a chart: one, or several with names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One expression, without a name.
    One(String),
    /// Several expressions, by their names.
    More(IndexMap<String, String>),
}

const ONE_OR_MORE: &str = "an expression, or several as {name: expression}";

forms! {
    OneOrMore, expected: ONE_OR_MORE,
    text: |text| Ok(OneOrMore::One(text.to_owned())),
    map: |map| {
        let texts = IndexMap::deserialize(map)?;
        if texts.is_empty() {
            return Err(de::Error::invalid_length(0, &ONE_OR_MORE));
        }
        Ok(OneOrMore::More(texts))
    },
    schema: "OneOrMore", |_| json_schema!({
        "title": ONE_OR_MORE,
        "anyOf": [
            { "type": "string" },
            { "type": "object", "additionalProperties": { "type": "string" } },
        ],
    }),
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
