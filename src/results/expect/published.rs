//! Published numbers, or a published claim in words.

use std::fmt;

use schemars::json_schema;
use serde::de::{Deserialize, Unexpected};
use serde::{Serialize, Serializer};

use mumakil_base::expression::{Operation, Syntax, Unit, parse};
use mumakil_base::forms;

/// A published claim: `nearly all`, `98 %`, or a list with a published number for each measured
/// number.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Published {
    /// Words, or one number as it was written.
    One(String),
    /// A published number for each measured number; `None` where no number was published.
    Each(Vec<Option<PublishedNumber>>),
}

/// A number as it was published, with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedNumber {
    /// Its value in seconds, in bytes, as a share, or without a unit.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// The number as it was written.
    pub text: String,
}

impl PublishedNumber {
    /// Reads a number with its unit, such as `2.0`, `-39 %` or `2983s`; `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        // Use the parser of expressions, so that units mean the same as in expressions.
        let (sign, literal) = match parse(text).ok()?.item {
            Syntax::Literal(literal) => (1.0, literal),
            Syntax::Operation(Operation::Negate, mut parts) => match parts.pop()?.item {
                Syntax::Literal(literal) => (-1.0, literal),
                _ => return None,
            },
            _ => return None,
        };
        let text = text.trim().to_owned();
        Some(Self { value: sign * literal.value, unit: literal.unit, text })
    }
}

impl Published {
    /// Returns the number of a claim that is a single number.
    pub fn number(&self) -> Option<PublishedNumber> {
        match self {
            Self::One(text) => PublishedNumber::parse(text),
            Self::Each(_) => None,
        }
    }
}

/// Prints the claim as it was written, with a dash for each missing number.
impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(text) => f.write_str(text),
            Self::Each(numbers) => {
                let told = numbers.iter().map(|number| match number {
                    Some(number) => &*number.text,
                    None => "–",
                });
                f.write_str(&told.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Serialize for PublishedNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

const NUMBER: &str = "a number with its unit, such as `98 %`, `2983s` or `2.0`";

forms! {
    PublishedNumber, expected: NUMBER,
    text or number: |text| PublishedNumber::parse(text)
        .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &NUMBER)),
    schema: "PublishedNumber",
        |_| json_schema!({ "title": NUMBER, "type": ["string", "number"] }),
}

const CLAIM: &str = "a text, a number with its unit, or a list of such numbers";

forms! {
    Published, expected: CLAIM,
    text or number: |text| Ok(Published::One(text.to_owned())),
    list: |list| Vec::deserialize(list).map(Published::Each),
    schema: "Published", |generator| {
        let number = PublishedNumber::json_schema(generator);
        json_schema!({
            "title": CLAIM,
            "description": "What was published about it. A number is shown beside ours; in a list \
                there is one for each that is measured, or `~`.",
            "anyOf": [
                number,
                { "type": "array", "items": { "anyOf": [number, { "type": "null" }] } },
            ],
        })
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Published {
        serde_yaml::from_str(yaml).unwrap()
    }

    #[test]
    fn a_number_has_a_unit_of_the_language() {
        for (text, value, unit) in [
            ("2.0", 2.0, Unit::PLAIN),
            ("-39 %", -0.39, Unit::SHARE),
            ("2983s", 2_983.0, Unit::TIME),
            ("1h 30min", 5_400.0, Unit::TIME),
            ("2GiB", 2_147_483_648.0, Unit::BYTES),
        ] {
            let number = PublishedNumber::parse(text).unwrap();
            assert_eq!((number.value, number.unit, &*number.text), (value, unit, text));
        }
        for words in ["about 9 min", "rises", "5 % and 11 %", "2 * 3", "98 % of all", ""] {
            assert_eq!(PublishedNumber::parse(words), None, "{words}");
        }
    }

    #[test]
    fn published_results_are_words_or_numbers() {
        assert_eq!(read("rises"), Published::One("rises".to_owned()));
        assert_eq!(read("rises").number(), None);
        assert_eq!(read("2").number().unwrap().value, 2.0);
        let each = read("[5 %, ~, 2.5, -3]");
        assert_eq!(each.to_string(), "5 %, –, 2.5, -3");
        for yaml in ["rises", "98 %", "2.5", "[5 %, ~, 2.5, -3]"] {
            let printed = serde_yaml::to_string(&read(yaml)).unwrap();
            assert_eq!(read(&printed), read(yaml));
        }
    }

    #[test]
    fn a_list_has_numbers_only() {
        let error = serde_yaml::from_str::<Published>("[5 %, rises]").unwrap_err().to_string();
        assert!(error.contains("a number with its unit, such as `98 %`"), "{error}");
    }
}
