//! An entry of `expect:` in a scenario or study.

use schemars::json_schema;
use serde::{Deserialize, Serialize, Serializer};

use super::{KnownGap, Published};
use mumakil_base::forms;

/// An expectation of the results: an expression, alone or with further information.
///
/// The expression is kept as text. The reader of a scenario or study parses it: complaints name the
/// line of the text, which only this reader knows.
// `remote` generates functions for the long form; the implementations below add the short form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Expectation {
    /// The expression.
    pub that: String,
    /// The expectation in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The published numbers or words with which to compare the measured numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
    /// The reason why the expectation does not hold, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_gap: Option<KnownGap>,
}

impl Expectation {
    /// Returns an expectation without further information.
    pub fn new(that: impl Into<String>) -> Self {
        Self { that: that.into(), what: None, published: None, known_gap: None }
    }

    /// Returns the expectation in words, or else its expression.
    pub fn words(&self) -> &str {
        self.what.as_deref().unwrap_or(&self.that)
    }
}

impl Serialize for Expectation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self == Self::new(&*self.that) {
            // Write the short form if it suffices, so that a resolved scenario looks as it was
            // written.
            true => to.serialize_str(&self.that),
            false => Self::serialize(self, to),
        }
    }
}

forms! {
    Expectation,
    expected: "an expression such as `mean(sojourn) < 15min`, or \
               {that: …, published: …, known_gap: …}",
    text: |that| Ok(Expectation::new(that)),
    map: |map| Expectation::deserialize(map),
    schema: "Expectation", |generator| {
        // Written by hand, since the derived schema has only the long form.
        let text = |about: &str| json_schema!({ "description": about, "type": "string" });
        json_schema!({
            "title": "an expression such as `mean(sojourn) < 15min`, or {that: expression, …}",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "that": text("The expression."),
                        "what": text("The same in words."),
                        "published": Published::json_schema(generator),
                        "known_gap": KnownGap::json_schema(generator),
                    },
                    "required": ["that"],
                    "additionalProperties": false,
                },
            ],
        })
    },
}

#[cfg(test)]
mod tests {
    use super::super::GapClass;
    use super::*;

    #[test]
    fn an_entry_is_a_text_or_has_more_to_say() {
        let yaml = "- mean(sojourn) < 15min\n\
                    - {that: locality.node >= 0.95, published: 98 %, known_gap: too few replicas}\n\
                    - {that: makespan < 1h, known_gap: {class: setting, why: too few replicas}}\n";
        let entries: Vec<Expectation> = serde_yaml::from_str(yaml).unwrap();
        assert_eq!(entries[0], Expectation::new("mean(sojourn) < 15min"));
        assert_eq!(entries[1].published, Some(Published::One("98 %".to_owned())));
        let class = |entry: &Expectation| entry.known_gap.as_ref().map(|gap| gap.class);
        let classes: Vec<_> = entries.iter().map(class).collect();
        assert_eq!(classes, [None, Some(None), Some(Some(GapClass::Setting))]);
        let printed = serde_yaml::to_string(&entries).unwrap();
        assert_eq!(serde_yaml::from_str::<Vec<Expectation>>(&printed).unwrap(), entries);
    }

    #[test]
    fn an_entry_of_another_shape_says_what_it_should_be() {
        let error = |yaml| serde_yaml::from_str::<Expectation>(yaml).unwrap_err().to_string();
        assert!(error("{thta: x}").contains("unknown field `thta`, expected one of `that`"));
        assert!(error("{published: x}").contains("missing field `that`"));
        assert!(error("7").contains("an expression such as `mean(sojourn) < 15min`"));
    }
}
