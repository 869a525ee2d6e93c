//! Lists of names in which a single name needs no list around it.

use schemars::{JsonSchema, json_schema};
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize, Serializer, de};

use mumakil_base::forms;
use mumakil_core::cluster::RackName;

/// One name, or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OneOrList<T>(pub(super) Vec<T>);

/// A name that a [`OneOrList`] may hold.
pub(super) trait ListedName {
    /// The expected values, in the words of an error.
    const EXPECTED: &'static str;
    /// The least number of names in a list.
    const LEAST: usize;
}

/// The name of a job. A list needs at least one.
impl ListedName for String {
    const EXPECTED: &'static str = "the name of a job, or a list of them";
    const LEAST: usize = 0;
}

impl ListedName for RackName {
    const EXPECTED: &'static str = "a rack such as rack-2, or a list of them";
    const LEAST: usize = 1;
}

/// Writes a list of names; a single name without the list around it.
pub(super) fn one_or_list<T: Serialize, S: Serializer>(
    names: &[T],
    to: S,
) -> Result<S::Ok, S::Error> {
    match names {
        [only] => only.serialize(to),
        names => names.serialize(to),
    }
}

impl<T: Serialize> Serialize for OneOrList<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        one_or_list(&self.0, to)
    }
}

forms! {
    OneOrList<T>, of: [T: ListedName + Deserialize<'de>], expected: T::EXPECTED,
    text: |text| Ok(OneOrList(vec![T::deserialize(StrDeserializer::new(text))?])),
    list: |list| {
        let names = Vec::deserialize(list)?;
        if names.len() < T::LEAST {
            return Err(de::Error::invalid_length(names.len(), &T::EXPECTED));
        }
        Ok(OneOrList(names))
    },
    schema: format!("OneOrListOf{}", T::schema_name()), of: [T: ListedName + JsonSchema], |schemas| {
        let one = schemas.subschema_for::<T>();
        let mut list = json_schema!({ "type": "array", "items": one });
        if 0 < T::LEAST {
            list.insert("minItems".to_owned(), T::LEAST.into());
        }
        json_schema!({ "title": T::EXPECTED, "anyOf": [one, list] })
    },
}
