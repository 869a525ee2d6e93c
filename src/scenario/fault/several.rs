//! Lists of names in which a single name needs no list around it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

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

impl<'de, T: ListedName + Deserialize<'de>> Deserialize<'de> for OneOrList<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OneOrListVisitor<T>(PhantomData<T>);
        impl<'de, T: ListedName + Deserialize<'de>> de::Visitor<'de> for OneOrListVisitor<T> {
            type Value = OneOrList<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrList<T>, E> {
                Ok(OneOrList(vec![T::deserialize(StrDeserializer::new(text))?]))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<OneOrList<T>, A::Error> {
                let names = Vec::deserialize(SeqAccessDeserializer::new(list))?;
                if names.len() < T::LEAST {
                    return Err(de::Error::invalid_length(names.len(), &self));
                }
                Ok(OneOrList(names))
            }
        }
        from.deserialize_any(OneOrListVisitor(PhantomData))
    }
}

impl<T: ListedName + JsonSchema> JsonSchema for OneOrList<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrListOf{}", T::schema_name()).into()
    }
    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let one = schemas.subschema_for::<T>();
        let mut list = json_schema!({ "type": "array", "items": one });
        if 0 < T::LEAST {
            list.insert("minItems".to_owned(), T::LEAST.into());
        }
        json_schema!({ "title": T::EXPECTED, "anyOf": [one, list] })
    }
}
