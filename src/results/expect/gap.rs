//! Known gaps: the reason why an expectation does not hold, and the class of the reason.

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use mumakil_base::{forms, worded};

/// The reason why an expectation does not hold, as `{class: model, why: …}` or as text alone.
// `remote` generates functions for the long form; the implementations below add the short form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct KnownGap {
    /// The class of the reason, if it is given.
    #[serde(deserialize_with = "said")]
    pub class: Option<GapClass>,
    /// The reason.
    pub why: String,
}

worded! {
    /// The class of the reason for a gap.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GapClass {
        /// The published figure has an error, or claims more than it can show.
        Published = "published",
        /// A part of the model is missing.
        Model = "model",
        /// A setting was not published.
        Setting = "setting",
    }
}

/// Reads the class, which the long form must have.
fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<GapClass>, D::Error> {
    GapClass::deserialize(from).map(Some)
}

impl Serialize for KnownGap {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.class {
            Some(_) => Self::serialize(self, to),
            None => to.serialize_str(&self.why),
        }
    }
}

const GAP: &str = "why it does not hold, or {class: published | model | setting, why: …}";

forms! {
    KnownGap, expected: GAP,
    text: |why| Ok(KnownGap { class: None, why: why.to_owned() }),
    map: |map| KnownGap::deserialize(map),
    schema: "KnownGap", |_| json_schema!({
        "title": GAP,
        "description": "Why it does not hold.",
        "anyOf": [
            { "type": "string" },
            {
                "type": "object",
                "properties": {
                    "class": {
                        "description": "Where the reason lies: in what was published, in a \
                            piece of the model that is missing, or in a setting that was not \
                            published.",
                        "enum": GapClass::ALL.map(GapClass::word),
                    },
                    "why": { "description": "The reason.", "type": "string" },
                },
                "required": ["class", "why"],
                "additionalProperties": false,
            },
        ],
    }),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_a_reason_or_has_a_class_too() {
        for (yaml, class) in [
            ("too few replicas", None),
            ("{class: published, why: too few replicas}", Some(GapClass::Published)),
            ("{class: model, why: too few replicas}", Some(GapClass::Model)),
            ("{class: setting, why: too few replicas}", Some(GapClass::Setting)),
        ] {
            let gap: KnownGap = serde_yaml::from_str(yaml).unwrap();
            assert_eq!((gap.class, &*gap.why), (class, "too few replicas"));
            let printed = serde_yaml::to_string(&gap).unwrap();
            assert_eq!(serde_yaml::from_str::<KnownGap>(&printed).unwrap(), gap);
        }
    }

    #[test]
    fn a_gap_of_no_class_that_there_is_says_which_there_are() {
        let error = |yaml| serde_yaml::from_str::<KnownGap>(yaml).unwrap_err().to_string();
        let told = error("{class: paper, why: x}");
        assert!(told.contains("expected one of `published`, `model`, `setting`"), "{told}");
        assert!(error("{why: x}").contains("missing field `class`"));
        assert!(error("7").contains("why it does not hold, or {class:"));
    }
}
